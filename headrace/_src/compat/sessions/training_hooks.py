"""Hooks of training: summaries, log lines, an end after some steps or at a loss that is no number."""

import logging
import time
from typing import Any

import numpy as np

from headrace._src.compat.sessions.session_hooks import SecondOrStepTimer, SessionRunArgs, SessionRunHook
from headrace._src.compat.summaries.file_writers import FileWriterCache
from headrace._src.compat.training.steps_and_rates import get_global_step
from headrace._src.core.lazy import LazyModule
from headrace._src.op.api import api

_events = LazyModule("headrace._src.formats.event_messages")
_logger = logging.getLogger("tensorflow")


def step_for(hook: str) -> Any:
    """The global step.

    Raises:
        RuntimeError: there is none.
    """
    step = get_global_step()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return step


@api("compat.v1.train.StopAtStepHook")
class StopAtStepHook(SessionRunHook):
    """Stops after so many steps, or at a step.

    Args:
        num_steps: how many steps after the beginning.
        last_step: the number of the last step.

    Raises:
        ValueError: both are given, or none.
    """

    def __init__(self, num_steps=None, last_step=None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        self._step = step_for("StopAtStepHook")

    def after_create_session(self, session, coord) -> None:
        if self._last_step is None:
            self._last_step = session.run(self._step) + self._num_steps

    def before_run(self, run_context) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values) -> None:
        # What came with the run may have been read before the step was counted.
        reached = run_values.results + 1 >= self._last_step
        if reached and run_context.session.run(self._step) >= self._last_step:
            run_context.request_stop()


@api("compat.v1.train.SummarySaverHook")
class SummarySaverHook(SessionRunHook):
    """Writes summaries every few steps or seconds, and those of the first step.

    Args:
        save_steps, save_secs: how often; one of them.
        output_dir: the folder of the file.
        summary_writer: a `FileWriter`, if there is no folder.
        scaffold: has the operation.
        summary_op: the operation, or a list; either this or a scaffold.

    Raises:
        ValueError: both or none of scaffold and summary_op.
    """

    def __init__(
        self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None, summary_op=None
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._writer = summary_writer
        self._folder = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._next_step: int | None = None
        self._step = step_for("SummarySaverHook")

    def before_run(self, run_context) -> SessionRunArgs:
        self._due = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        wanted: dict[str, Any] = {}
        operations = self._summary_op if self._scaffold is None else self._scaffold.summary_op
        if self._due and operations is not None:
            wanted["summary"] = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        return SessionRunArgs(wanted)

    def after_run(self, run_context, run_values) -> None:
        if self._writer is None:
            return
        step = run_context.session.run(self._step)  # in the run itself it is read before or after the step
        if self._next_step is None:
            log = _events.SessionLog(status=_events.SessionLog.START)
            self._writer.add_session_log(log, step)
        if self._due:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session=None) -> None:
        if self._writer is not None:
            self._writer.flush()


@api("compat.v1.train.StepCounterHook")
class StepCounterHook(SessionRunHook):
    """Writes and logs how many steps there are in a second.

    Args:
        every_n_steps, every_n_secs: how often; one of them.
        output_dir: the folder of the event file.
        summary_writer: a `FileWriter`, if there is no folder.
    """

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._writer = summary_writer
        self._folder = output_dir

    def begin(self) -> None:
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._step = step_for("StepCounterHook")
        self._tag = f"{self._step.op.name}/sec"

    def before_run(self, run_context) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values) -> None:
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = run_context.session.run(self._step)
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds:
                self._log_and_record(steps, seconds, step)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        speed = elapsed_steps / elapsed_time
        if self._writer is not None:
            value = dict(tag=self._tag, simple_value=speed)
            self._writer.add_summary(_events.Summary(value=[value]), global_step)
        _logger.info("%s: %g", self._tag, speed)


@api("compat.v1.train.LoggingTensorHook")
class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors every few runs or seconds, or at the end.

    Args:
        tensors: a dictionary of labels to tensors or their names, or a list of them.
        every_n_iter, every_n_secs: how often; one of them.
        at_end: whether at the end.
        formatter: makes the text, given the values by label.

    Raises:
        ValueError: it would never log.
    """

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tensors = tensors if isinstance(tensors, dict) else {_label(item): item for item in tensors}
        self._formatter = formatter
        self._timer = None if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._at_end = at_end

    def begin(self) -> None:
        self._count = 0
        if self._timer is not None:
            self._timer.reset()

    def before_run(self, run_context) -> SessionRunArgs | None:
        self._due = self._timer is not None and self._timer.should_trigger_for_step(self._count)
        return SessionRunArgs(dict(self._tensors)) if self._due else None

    def after_run(self, run_context, run_values) -> None:
        if self._due:
            self._log(run_values.results)
        self._count += 1

    def end(self, session) -> None:
        if self._at_end:
            self._log(session.run(dict(self._tensors)))

    def _log(self, values):
        seconds = None
        if self._timer is not None:
            seconds, _ = self._timer.update_last_triggered_step(self._count)
        if self._formatter is not None:
            text = self._formatter(values)
        else:
            text = ", ".join(f"{label} = {value}" for label, value in values.items())
        _logger.info("%s%s", text, "" if seconds is None else f" ({seconds:.3f} sec)")


def _label(item):
    return item if isinstance(item, str) else item.name


@api("compat.v1.train.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """A loss is no number any more."""

    def __str__(self):
        return "NaN loss during training."


@api("compat.v1.train.NanTensorHook")
class NanTensorHook(SessionRunHook):
    """Ends training when a loss is no number.

    Args:
        loss_tensor: the loss.
        fail_on_nan_loss: whether it ends with an error.
    """

    def __init__(self, loss_tensor, fail_on_nan_loss=True) -> None:
        self._loss = loss_tensor
        self._fails = fail_on_nan_loss

    def before_run(self, run_context) -> SessionRunArgs:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values) -> None:
        if not np.isnan(run_values.results).any():
            return
        if self._fails:
            _logger.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        _logger.warning("Model diverged with loss = NaN.")
        run_context.request_stop()


@api("compat.v1.train.FinalOpsHook")
class FinalOpsHook(SessionRunHook):
    """Computes something at the end.

    Args:
        final_ops: what to compute.
        final_ops_feed_dict: what to feed.
    """

    def __init__(self, final_ops, final_ops_feed_dict=None) -> None:
        self._wanted = final_ops
        self._feeds = final_ops_feed_dict
        self._values = None

    @property
    def final_ops_values(self) -> Any:
        """What was computed; None before the end."""
        return self._values

    def end(self, session) -> None:
        if self._wanted is not None:
            self._values = session.run(self._wanted, feed_dict=self._feeds)


@api("compat.v1.train.FeedFnHook")
class FeedFnHook(SessionRunHook):
    """Feeds each run what a function returns: tensors to values."""

    def __init__(self, feed_fn) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context) -> SessionRunArgs:
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


@api("compat.v1.train.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """Waits at the first run until the global step has reached a number, which others count."""

    def __init__(self, wait_until_step) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._is_reached = False
        self._step = step_for("_GlobalStepWaiterHook")

    def before_run(self, run_context) -> None:
        while not self._is_reached:
            self._is_reached = run_context.session.run(self._step) >= self._wait_until_step
            if not self._is_reached:
                time.sleep(0.5)
