"""`train_and_evaluate`: training with evaluations at its checkpoints, and exports of what is good."""

import logging
from typing import Any, NamedTuple

from headrace._src.compat.estimators.estimator import Estimator, checked_hooks
from headrace._src.compat.estimators.exporters import Exporter
from headrace._src.compat.sessions.session_hooks import CheckpointSaverListener, SecondOrStepTimer
from headrace._src.formats import files
from headrace._src.op.api import api

_logger = logging.getLogger("tensorflow")


class _TrainFields(NamedTuple):
    input_fn: Any
    max_steps: int | None
    hooks: tuple
    saving_listeners: tuple


@api("estimator.TrainSpec", "compat.v1.estimator.TrainSpec", dispatch=False)
class TrainSpec(_TrainFields):
    """How `train_and_evaluate` trains.

    Args:
        input_fn: a function that returns a dataset, or tensors, of features and labels.
        max_steps: the step at which training ends; None: when the data ends.
        hooks: `SessionRunHook` objects.
        saving_listeners: `CheckpointSaverListener` objects.

    Raises:
        ValueError: max_steps is not positive.
        TypeError: input_fn cannot be called, or a hook is none.

    >>> tf.estimator.TrainSpec(lambda: None, max_steps=10).max_steps
    10
    """

    __slots__ = ()

    def __new__(cls, input_fn, max_steps=None, hooks=None, saving_listeners=None):
        _check_input("TrainSpec", input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, tuple(checked_hooks(hooks)), tuple(saving_listeners or ()))


class _EvalFields(NamedTuple):
    input_fn: Any
    steps: int | None
    name: str | None
    hooks: tuple
    exporters: tuple
    start_delay_secs: int
    throttle_secs: int


@api("estimator.EvalSpec", "compat.v1.estimator.EvalSpec", dispatch=False)
class EvalSpec(_EvalFields):
    """How `train_and_evaluate` evaluates.

    Args:
        input_fn: a function that returns a dataset, or tensors, of features and labels.
        steps: how many batches; None for all.
        name: of the evaluation, for the folder of summaries.
        hooks: `SessionRunHook` objects.
        exporters: `tf.estimator.Exporter` objects.
        start_delay_secs: accepted: evaluation follows training in the same process.
        throttle_secs: how many seconds are between two evaluations at least.

    Raises:
        ValueError: a number is negative.
        TypeError: input_fn cannot be called, a hook or an exporter is none.
    """

    __slots__ = ()

    def __new__(
        cls, input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120, throttle_secs=600
    ):
        _check_input("EvalSpec", input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        for label, seconds in (("start_delay_secs", start_delay_secs), ("throttle_secs", throttle_secs)):
            if seconds < 0:
                raise ValueError(f"Must specify {label} >= 0, given: {seconds}")
        listed = [exporters] if isinstance(exporters, Exporter) else list(exporters or ())
        for exporter in listed:
            if not isinstance(exporter, Exporter):
                raise TypeError(f"EvalSpec: exporters must be tf.estimator.Exporter objects, got {exporter!r}.")
        names = [exporter.name for exporter in listed]
        if len(set(names)) != len(names):
            raise ValueError(f"EvalSpec: exporters must have different names, got {names}.")
        return super().__new__(
            cls, input_fn, steps, name, tuple(checked_hooks(hooks)), tuple(listed), start_delay_secs, throttle_secs
        )


def _check_input(label, input_fn):
    if not callable(input_fn):
        raise TypeError(f"{label}: input_fn must be a function, got {input_fn!r}.")


class _Evaluating(CheckpointSaverListener):
    """Evaluates when a checkpoint has been written, if the last time is long enough ago."""

    def __init__(self, estimator, spec, max_steps) -> None:
        self._estimator = estimator
        self._spec = spec
        self._max_steps = max_steps
        self.results: tuple = (None, [])
        self._evaluated: int | None = None

    def begin(self) -> None:
        self._timer = SecondOrStepTimer(every_secs=self._spec.throttle_secs)
        self._is_first = True

    def after_save(self, session, global_step_value) -> None:
        if self._is_first:  # before the first step there is nothing new
            self._is_first = False
            self._timer.update_last_triggered_step(global_step_value)
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
            self._timer.update_last_triggered_step(global_step_value)
        else:
            _logger.info("Skip evaluation at step %d: throttle_secs have not passed.", global_step_value)

    def end(self, session, global_step_value) -> None:
        if self._evaluated != global_step_value:
            self._evaluate(global_step_value)

    def _evaluate(self, step):
        self._evaluated = int(step)
        spec, estimator = self._spec, self._estimator
        found = estimator.evaluate(spec.input_fn, spec.steps, spec.hooks, name=spec.name)
        is_last = self._max_steps is not None and step >= self._max_steps
        paths = []
        for exporter in spec.exporters:
            folder = files.join(estimator.model_dir, "export", exporter.name)
            paths.append(exporter.export(estimator, folder, estimator.latest_checkpoint(), found, is_last))
        self.results = (found, [path for path in paths if path])


@api("estimator.train_and_evaluate", "compat.v1.estimator.train_and_evaluate", dispatch=False)
def train_and_evaluate(estimator, train_spec, eval_spec) -> tuple:
    """Trains, evaluates at checkpoints and at the end, and exports.

    Args:
        estimator: an `Estimator`.
        train_spec: a `TrainSpec`.
        eval_spec: an `EvalSpec`.

    Returns:
        What the last evaluation has found, and the folders of what was exported then.

    Raises:
        TypeError: an argument is of another type.
    """
    for value, kind in ((estimator, Estimator), (train_spec, TrainSpec), (eval_spec, EvalSpec)):
        if not isinstance(value, kind):
            raise TypeError(f"train_and_evaluate: expected a {kind.__name__}, got {value!r}.")
    evaluating = _Evaluating(estimator, eval_spec, train_spec.max_steps)
    listeners = [*train_spec.saving_listeners, evaluating]
    estimator.train(train_spec.input_fn, train_spec.hooks, max_steps=train_spec.max_steps, saving_listeners=listeners)
    return evaluating.results
