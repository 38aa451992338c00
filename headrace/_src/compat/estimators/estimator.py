"""`Estimator`: trains, evaluates, predicts with and exports what a `model_fn` describes, each in a graph of its own."""

import copy
import logging
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from headrace._src.checkpoint.folder_state import latest_checkpoint
from headrace._src.checkpoint.reading import load_checkpoint
from headrace._src.compat.estimators import calling, evaluation, exporting, prediction
from headrace._src.compat.estimators.run_config import RunConfig
from headrace._src.compat.estimators.specs import EstimatorSpec, ModeKeys
from headrace._src.compat.graph_keys import GraphKeys, add_to_collection, get_collection
from headrace._src.compat.saving.saver import Saver
from headrace._src.compat.saving.warm_starting import warm_start
from headrace._src.compat.sessions.checkpoint_hook import CheckpointSaverHook
from headrace._src.compat.sessions.monitored_sessions import MonitoredTrainingSession
from headrace._src.compat.sessions.scaffold import Scaffold
from headrace._src.compat.sessions.session_hooks import SessionRunHook
from headrace._src.compat.sessions.training_hooks import LoggingTensorHook, NanTensorHook, StopAtStepHook
from headrace._src.compat.summaries import summary_operations
from headrace._src.compat.training.steps_and_rates import create_global_step
from headrace._src.formats import files
from headrace._src.op.api import api

_logger = logging.getLogger("tensorflow")


class _WarmStart(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any = ".*"
    var_name_to_vocab_info: dict | None = None
    var_name_to_prev_var_name: dict | None = None


@api("estimator.WarmStartSettings", "compat.v1.estimator.WarmStartSettings", dispatch=False)
class WarmStartSettings(_WarmStart):
    """With what variables begin: the arguments of `tf.compat.v1.train.warm_start`.

    Args:
        ckpt_to_initialize_from: a checkpoint, or a folder.
        vars_to_warm_start: which variables.
        var_name_to_vocab_info: the words of rows, by the names of variables.
        var_name_to_prev_var_name: other names in the checkpoint.

    Raises:
        ValueError: there is no checkpoint to begin with.

    >>> tf.estimator.WarmStartSettings("folder").vars_to_warm_start
    '.*'
    """

    __slots__ = ()

    def __new__(cls, ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None,
                var_name_to_prev_var_name=None):  # fmt: skip
        if not ckpt_to_initialize_from:
            raise ValueError("WarmStartSettings: ckpt_to_initialize_from must name a checkpoint or a folder.")
        return super().__new__(
            cls, ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )  # fmt: skip


@api("estimator.Estimator", "compat.v1.estimator.Estimator", dispatch=False)
class Estimator:
    """Trains, evaluates and predicts with a model that a function describes.

    Args:
        model_fn: a function of features, and perhaps labels, mode, params and config, that returns an `EstimatorSpec`.
        model_dir: the folder of checkpoints and summaries; a new one by default.
        config: a `RunConfig`.
        params: what `model_fn` gets as `params`.
        warm_start_from: a checkpoint with whose values variables begin, or a `WarmStartSettings`.

    Raises:
        ValueError: `model_fn` does not fit, or `config` names another folder.

    >>> def model(features, labels, mode):
    ...     w = tf.compat.v1.get_variable("w", initializer=0.0)
    ...     loss = tf.reduce_mean((features["x"] * w - labels) ** 2)
    ...     optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    ...     train = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    ...     return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
    >>> data = lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [2.0, 4.0])).repeat(50)
    >>> estimator = tf.estimator.Estimator(model).train(data)
    >>> round(float(estimator.get_variable_value("w")), 3)
    2.0
    """

    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None) -> None:
        if model_fn is None:
            raise ValueError("Estimator: model_fn must be a function, got None.")
        calling.check_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(dict(params) if isinstance(params, dict) else params or {})
        self._config = _with_folder(config, model_dir)
        self._warm_start = _warm_start_settings(warm_start_from)
        _logger.info("Using config: %s", self._config)

    config = property(lambda self: copy.copy(self._config), doc="How it runs, a `RunConfig`.")
    model_dir = property(lambda self: self._config.model_dir, doc="The folder of checkpoints.")
    params = property(lambda self: copy.deepcopy(self._params), doc="What `model_fn` gets as params.")

    @property
    def model_fn(self) -> Any:
        """A function of features, labels, mode and config that calls the user's."""

        def public(features, labels, mode, config) -> EstimatorSpec:
            return calling.call_model(self._model_fn, features, labels, mode, self.params, config)

        return public

    # What has been saved.

    def latest_checkpoint(self) -> str | None:
        """The latest checkpoint; None if there is none."""
        return latest_checkpoint(self.model_dir)

    def get_variable_names(self) -> list[str]:
        """The names of all variables of the latest checkpoint.

        Raises:
            ValueError: there is no checkpoint yet.
        """
        return sorted(self._reader().get_variable_to_shape_map())

    def get_variable_value(self, name) -> np.ndarray:
        """The value of a variable in the latest checkpoint.

        Raises:
            ValueError: there is no checkpoint yet.
        """
        return self._reader().get_tensor(name)

    def _reader(self):
        if self.latest_checkpoint() is None:
            raise ValueError(f"Estimator: there is no checkpoint in {self.model_dir}; train it first.")
        return load_checkpoint(self.model_dir)

    def eval_dir(self, name=None) -> str:
        """The folder of the summaries of evaluations.

        Args:
            name: that of the evaluation.
        """
        return files.join(self.model_dir, "eval" if not name else f"eval_{name}")

    # Training.

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None) -> "Estimator":
        """Trains, from the latest checkpoint on, until the data ends or so many steps are done.

        Args:
            input_fn: a function that returns a dataset, or tensors, of features and labels.
            hooks: `SessionRunHook` objects.
            steps: how many steps.
            max_steps: the step at which training ends, over all calls.
            saving_listeners: `CheckpointSaverListener` objects.

        Raises:
            ValueError: both steps and max_steps are given, or one is not positive.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Estimator.train: give steps or max_steps, not both.")
        for name, count in (("steps", steps), ("max_steps", max_steps)):
            if count is not None and count <= 0:
                raise ValueError(f"Must specify {name} > 0, given: {count}")
        if max_steps is not None and self._saved_step() >= max_steps:
            _logger.info("No training: a checkpoint of step %d or later is there already.", max_steps)
            return self
        every = checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            every.append(StopAtStepHook(steps, max_steps))
        loss = self._train(input_fn, every, list(saving_listeners or ()))
        _logger.info("Loss for final step: %s.", loss)
        return self

    def _saved_step(self):
        path = self.latest_checkpoint()
        reader = None if path is None else load_checkpoint(path)
        if reader is None or not reader.has_tensor(GraphKeys.GLOBAL_STEP):
            return -1
        return int(reader.get_tensor(GraphKeys.GLOBAL_STEP))

    def _train(self, input_fn, hooks, listeners):
        config = self._config
        with calling.fresh_graph(config.tf_random_seed).as_default() as graph:
            step = create_global_step(graph)
            result, input_hooks = calling.call_input(input_fn, ModeKeys.TRAIN, self.params, config)
            spec = self._call_model(*calling.features_and_labels(result), ModeKeys.TRAIN)
            if self._warm_start is not None and self.latest_checkpoint() is None:
                _logger.info("Warm-starting with WarmStartSettings: %s", self._warm_start)
                warm_start(*self._warm_start)
            _add_loss_summary(spec.loss)
            if not get_collection(GraphKeys.SAVERS) and (spec.scaffold is None or spec.scaffold.saver is None):
                add_to_collection(GraphKeys.SAVERS, Saver(
                    sharded=True, max_to_keep=config.keep_checkpoint_max, defer_build=True, save_relative_paths=True,
                    keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
                ))  # fmt: skip
            often = config.log_step_count_steps or 100
            logged = LoggingTensorHook({"loss": spec.loss, "step": step}, every_n_iter=often)
            every = [*input_hooks, *hooks, NanTensorHook(spec.loss), logged, *spec.training_hooks]
            return self._run_training(spec, every, listeners)

    def _run_training(self, spec, hooks, listeners):
        """The steps; returns the last loss."""
        config, scaffold = self._config, spec.scaffold or Scaffold()
        chief_hooks, loss = [*spec.training_chief_hooks], None
        saving = [hook for hook in (*hooks, *chief_hooks) if isinstance(hook, CheckpointSaverHook)]
        if not saving and (config.save_checkpoints_secs or config.save_checkpoints_steps):
            saving = [CheckpointSaverHook(
                self.model_dir, config.save_checkpoints_secs, config.save_checkpoints_steps, scaffold=scaffold,
                save_graph_def=config.checkpoint_save_graph_def,
            )]  # fmt: skip
            _logger.info("Create CheckpointSaverHook.")
            chief_hooks = [*chief_hooks, *saving]
        if listeners and not saving:
            raise ValueError("Estimator.train: saving_listeners need checkpoints, which the RunConfig turns off.")
        if saving:
            saving[0]._listeners.extend(listeners)
        with MonitoredTrainingSession(
            checkpoint_dir=self.model_dir, scaffold=scaffold, hooks=hooks, chief_only_hooks=chief_hooks,
            save_checkpoint_secs=0, save_summaries_steps=config.save_summary_steps, config=config.session_config,
            log_step_count_steps=config.log_step_count_steps, save_graph_def=config.checkpoint_save_graph_def,
        ) as session:  # fmt: skip
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
        if loss is None:
            _logger.warning("No step of training was made: does input_fn give any batch?")
        return loss

    def _call_model(self, features, labels, mode):
        return calling.call_model(self._model_fn, features, labels, mode, self.params, self._config)

    # Using what was trained.

    def _checkpoint_to_use(self, given, what):
        path = given or self.latest_checkpoint()
        if path is None:
            _logger.info("There is no checkpoint in %s: variables have their initial values %s.", self.model_dir, what)
        return path

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None) -> dict:
        """Computes the loss and the metrics over the data, and writes them to an event file.

        Args:
            input_fn: a function that returns a dataset, or tensors, of features and labels.
            steps: how many batches; all by default.
            hooks: `SessionRunHook` objects.
            checkpoint_path: a checkpoint; the latest by default.
            name: of the evaluation, for the folder of summaries.

        Returns:
            The loss, the metrics and "global_step", by name.
        """
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        path = self._checkpoint_to_use(checkpoint_path, "in this evaluation")
        with calling.fresh_graph(self._config.tf_random_seed).as_default() as graph:
            step = create_global_step(graph)
            result, input_hooks = calling.call_input(input_fn, ModeKeys.EVAL, self.params, self._config)
            spec = self._call_model(*calling.features_and_labels(result), ModeKeys.EVAL)
            every = [*input_hooks, *checked_hooks(hooks), *spec.evaluation_hooks]
            return evaluation.evaluate(spec, step, every, steps, path, self._config, self.eval_dir(name))

    def predict(
        self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True
    ) -> Iterator:
        """Predictions, one example after another.

        Args:
            input_fn: a function that returns a dataset, or tensors, of features.
            predict_keys: which of the predictions; all by default.
            hooks: `SessionRunHook` objects.
            checkpoint_path: a checkpoint; the latest by default.
            yield_single_examples: whether examples come one by one, or batches.

        Raises:
            ValueError: no prediction has one of the keys, or batches are of different sizes.
        """
        path = self._checkpoint_to_use(checkpoint_path, "in these predictions")
        with calling.fresh_graph(self._config.tf_random_seed).as_default() as graph:
            create_global_step(graph)
            result, input_hooks = calling.call_input(input_fn, ModeKeys.PREDICT, self.params, self._config)
            spec = self._call_model(calling.features_alone(result), None, ModeKeys.PREDICT)
            every = [*input_hooks, *checked_hooks(hooks), *spec.prediction_hooks]
            wanted = prediction.chosen(spec.predictions, predict_keys)
        return prediction.predict(graph, spec, wanted, every, path, self._config, yield_single_examples)

    def export_saved_model(
        self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False, checkpoint_path=None,
        experimental_mode=ModeKeys.PREDICT,
    ) -> bytes:  # fmt: skip
        """Writes the model as a SavedModel, into a new folder that is named by the time.

        Args:
            export_dir_base: where the new folder is made.
            serving_input_receiver_fn: makes the inputs: see `tf.estimator.export`.
            assets_extra: other files that are copied into it, by their path in "assets.extra".
            as_text: whether the message is written as text.
            checkpoint_path: a checkpoint; the latest by default.
            experimental_mode: the mode in which `model_fn` is called.

        Returns:
            The path of the new folder.

        Raises:
            ValueError: there is no checkpoint.
        """
        functions = {experimental_mode: serving_input_receiver_fn}
        return self.experimental_export_all_saved_models(
            export_dir_base, functions, assets_extra, as_text, checkpoint_path
        )

    def export_savedmodel(
        self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False, checkpoint_path=None,
        strip_default_attrs=False,
    ) -> bytes:  # fmt: skip
        """The older name of `export_saved_model`."""
        return self.export_saved_model(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
        )

    def experimental_export_all_saved_models(
        self, export_dir_base, input_receiver_fn_map, assets_extra=None, as_text=False, checkpoint_path=None
    ) -> bytes:
        """As `export_saved_model`, with a graph for each of several modes.

        Args:
            input_receiver_fn_map: functions that make inputs, by mode.
        """
        path = checkpoint_path or self.latest_checkpoint()
        if path is None:
            raise ValueError(f"Estimator: there is no checkpoint in {self.model_dir}; train it first.")

        def call(features, labels, mode):
            return self._call_model(features, labels, mode)

        return exporting.export(
            call, files.path_string(export_dir_base), input_receiver_fn_map, assets_extra, as_text, path, self._config
        )


def checked_hooks(hooks) -> list:
    """The hooks as a list.

    Raises:
        TypeError: one is no hook.
    """
    listed = list(hooks or ())
    for hook in listed:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Estimator: hooks must be SessionRunHook objects, got {hook!r}.")
    return listed


def _with_folder(config, model_dir):
    if config is None:
        config = RunConfig()
    if not isinstance(config, RunConfig):
        raise ValueError(f"Estimator: config must be a RunConfig, got {config!r}.")
    folder = files.path_string(model_dir) if model_dir else None
    if folder and config.model_dir and folder != files.path_string(config.model_dir):
        raise ValueError(f"Estimator: model_dir is {folder!r}, but the RunConfig says {config.model_dir!r}.")
    folder = folder or config.model_dir
    if not folder:
        folder = tempfile.mkdtemp()
        _logger.warning("Estimator: no model_dir is given, so checkpoints go to a new folder, %s.", folder)
    return config.replace(model_dir=files.path_string(folder))


def _warm_start_settings(given):
    if given is None or isinstance(given, WarmStartSettings):
        return given
    return WarmStartSettings(files.path_string(given))


def _add_loss_summary(loss):
    """A summary of the loss, where the model has none of that name."""
    if not any(summary.op.name == "loss" for summary in get_collection(GraphKeys.SUMMARIES)):
        summary_operations.scalar("loss", loss)
