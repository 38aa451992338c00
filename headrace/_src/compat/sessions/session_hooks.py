"""What is called around the runs of a monitored session: `SessionRunHook`, and what it is told and may ask for."""

import time
from typing import Any, NamedTuple

from headrace._src.op.api import api


class _Args(NamedTuple):
    fetches: Any
    feed_dict: Any
    options: Any


@api("compat.v1.train.SessionRunArgs")
class SessionRunArgs(_Args):
    """What a run computes: as the arguments of `Session.run`.

    Args:
        fetches: a tensor, operation, or a structure of them.
        feed_dict: tensors to values.
        options: a `RunOptions`.
    """

    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


@api("compat.v1.train.SessionRunValues")
class SessionRunValues(NamedTuple):
    """What a run gave: the values of what a hook asked for, and the options and metadata of the run."""

    results: Any
    options: Any
    run_metadata: Any


@api("compat.v1.train.SessionRunContext")
class SessionRunContext:
    """A run of a monitored session, as hooks see it.

    Args:
        original_args: what the user asked for, a `SessionRunArgs`.
        session: the session.
    """

    def __init__(self, original_args, session) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    original_args = property(lambda self: self._original_args, doc="What the user asked for.")
    session = property(lambda self: self._session, doc="The session.")
    stop_requested = property(lambda self: self._stop_requested, doc="Whether a hook has asked to stop.")

    def request_stop(self) -> None:
        """Let `should_stop` of the session be True from now on."""
        self._stop_requested = True


@api("compat.v1.train.SessionRunHook")
class SessionRunHook:
    """Base of what is called around the runs of a monitored session. All methods may be left out."""

    def begin(self) -> None:
        """Called once, before the session is made: operations can be added to the graph."""

    def after_create_session(self, session, coord) -> None:
        """Called when a session was made: the graph is complete, and variables have values."""

    def before_run(self, run_context) -> SessionRunArgs | None:
        """Called before each run; returns what else is to be computed, or None."""

    def after_run(self, run_context, run_values) -> None:
        """Called after each run, with the values of what `before_run` asked for."""

    def end(self, session) -> None:
        """Called at the end, unless an error was the reason of it."""


@api("compat.v1.train.CheckpointSaverListener")
class CheckpointSaverListener:
    """Base of what is called around each save of a `CheckpointSaverHook`. All methods may be left out."""

    def begin(self) -> None:
        """Called once, before the session is made."""

    def before_save(self, session, global_step_value) -> None:
        """Called before a checkpoint is written."""

    def after_save(self, session, global_step_value) -> Any:
        """Called after a checkpoint is written. If it returns True, training stops."""

    def end(self, session, global_step_value) -> None:
        """Called at the end."""


@api("compat.v1.train.SecondOrStepTimer")
class SecondOrStepTimer:
    """Tells when something is due again that happens every few seconds, or every few steps.

    Args:
        every_secs: seconds between two times.
        every_steps: steps between two times.

    Raises:
        ValueError: both are given, or none.
    """

    def __init__(self, every_secs=None, every_steps=None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        """Forget when it was the last time."""
        self._last_step: int | None = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step) -> bool:
        """Whether it is due at a step; the first time it is, at the same step again it is not."""
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step) -> tuple:
        """Say that it was done at a step; returns the seconds and steps since the time before, or (None, None)."""
        now = time.time()
        if self._last_time is None:
            elapsed = (None, None)
        else:
            elapsed = (now - self._last_time, step - self._last_step)
        self._last_time, self._last_step = now, step
        return elapsed

    def last_triggered_step(self) -> int | None:
        """The step at which it was done last."""
        return self._last_step
