"""`tf.train.CheckpointManager`: numbered checkpoints of one object in a folder, of which some are kept."""

import contextlib
import copy
import logging
import os
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.checkpoint.checkpoints import refuse_functions
from headrace._src.checkpoint.folder_state import checkpoint_exists, get_checkpoint_state, write_state
from headrace._src.checkpoint.graph_saving import session_of
from headrace._src.checkpoint.options import CheckpointOptions
from headrace._src.core.context import context
from headrace._src.formats import bundle_files, durable_files, files, folder_locks
from headrace._src.op.api import api

_logger = logging.getLogger("tensorflow")
_DATA_FILE = re.compile(r"(?P<prefix>.*)\.data-\d{5}-of-\d{5}", re.DOTALL)


@api("train.CheckpointManager")
class CheckpointManager:
    """Saves numbered checkpoints into a folder, and deletes old ones.

    What it knows is in the file `checkpoint` of the folder, so that a new manager goes on where one before it stopped.
    Nothing is deleted before the new checkpoint, and the file that names it, would survive a power cut. Data of
    checkpoints that a crash has left without an index is removed after the first save.

    Args:
        checkpoint: a `tf.train.Checkpoint`.
        directory: the folder; it is made when it is first needed.
        max_to_keep: how many checkpoints to keep; None keeps all.
        keep_checkpoint_every_n_hours: one that would be deleted stays for ever if it is so much newer than the last
            one that stayed. It is not among `checkpoints` then.
        checkpoint_name: what the names of the files begin with.
        step_counter: a variable that counts steps; needed for `checkpoint_interval`.
        checkpoint_interval: `save` does nothing before so many steps since it last saved.
        init_fn: a function that `restore_or_initialize` calls if there is no checkpoint.
        last_checkpoint_step: the step at which the last checkpoint was saved, for `checkpoint_interval`.

    Raises:
        ValueError: `max_to_keep` is not positive, or there is an interval without a counter.

    >>> import tempfile
    >>> step = tf.Variable(0)
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), tempfile.mkdtemp(), max_to_keep=2)
    >>> for _ in range(3):
    ...     _ = step.assign_add(1)
    ...     path = manager.save()
    >>> [path.split("/")[-1] for path in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    >>> _ = step.assign(0)
    >>> manager.restore_or_initialize() == manager.latest_checkpoint, int(step)
    (True, 3)
    """

    def __init__(
        self,
        checkpoint: Any,
        directory: "str | os.PathLike[str]",
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint = checkpoint
        self._max_to_keep = max_to_keep
        self._keep_every = keep_checkpoint_every_n_hours
        self._directory = os.fspath(directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._checkpoint_interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_checkpoint_step = last_checkpoint_step
        self._is_tidy = False
        self._latest: str | None = None
        self._active: dict[str, float] = {}  # checkpoints, oldest first, and when they were saved
        self._read_state()

    def _read_state(self):
        state, now = get_checkpoint_state(self._directory), time.time()
        if state is None:
            # Somewhat before now, so that the next one is newer even where clocks are coarse.
            self._last_preserved = now - 1.0
            return
        self._latest = state.model_checkpoint_path
        self._last_preserved = state.last_preserved_timestamp
        if now < self._last_preserved:
            _logger.warning(
                "time.time() returned a value %f seconds behind the last preserved checkpoint timestamp.",
                self._last_preserved - now,
            )
            self._last_preserved = now
        times = state.all_model_checkpoint_timestamps or [self._last_preserved] * len(state.all_model_checkpoint_paths)
        for path, saved in zip(state.all_model_checkpoint_paths, times):
            # TF: what is not newer than the last one that stays for ever, as all is that no manager has saved, stays.
            if min(saved, now) > self._last_preserved:
                self._active[path] = min(saved, now)

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps are between two checkpoints, at least."""
        return self._checkpoint_interval

    @property
    def checkpoint(self) -> Any:
        """The `tf.train.Checkpoint`."""
        return self._checkpoint

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the newest checkpoint, for `tf.train.Checkpoint.restore`; None if there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints that may be deleted in future, oldest first."""
        return list(self._active)

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: CheckpointOptions | None = None
    ) -> str | None:
        """Saves a checkpoint, then deletes those that are too many.

        Args:
            checkpoint_number: the number at the end of its name: an int, tensor or variable. Without it, that of the
                checkpoint's `save_counter`, which counts in any case.
            check_interval: False saves also where `checkpoint_interval` says not yet, but never twice at one step.
            options: a `tf.train.CheckpointOptions`. With `enable_async`, `checkpoints` and `latest_checkpoint` change
                when the files are written.

        Returns:
            The path of the checkpoint; None where `checkpoint_interval` says not yet.

        Raises:
            What went wrong when the last one was written in the background.
            NotImplementedError: inside of a `tf.function`.
        """
        refuse_functions()
        if self._checkpoint_interval is not None and not self._is_time(check_interval):
            return None
        counted = self._count()
        number = counted if checkpoint_number is None else _integer("checkpoint_number", checkpoint_number)
        options = CheckpointOptions() if options is None else copy.copy(options)
        options.experimental_write_callbacks = [*(options.experimental_write_callbacks or ()), self._record]
        return self._checkpoint._write(f"{self._prefix}-{number}", options)

    def _count(self):
        """Counts a save, and returns the number of this one."""
        counter = self._checkpoint.save_counter
        if context.graph is not None:
            return self._checkpoint._saver.graph_saver.next_number(counter, session_of(None))
        counter.assign_add(1)
        return _integer("save_counter", counter)

    def _is_time(self, check_interval):
        """Whether there are enough steps since the last checkpoint; if so, there is one for this step now."""
        step, last = _integer("step_counter", self._step_counter), self._last_checkpoint_step
        if last is not None and (step == last or (check_interval and step < last + self._checkpoint_interval)):
            return False
        self._last_checkpoint_step = step
        return True

    def _record(self, path):
        """Notes a checkpoint that has been written, and deletes those that are too many."""
        self._active.pop(path, None)  # one that was written again is the newest
        self._active[path] = time.time()
        self._latest = path
        with self._only_writer():
            # Those that are to be deleted are still named, so that the next manager deletes what a crash leaves.
            self._write_state()
            if self._sweep():
                self._write_state()
            self._tidy()

    def _only_writer(self):
        place = durable_files.local_path(self._directory)
        return contextlib.nullcontext() if place is None else folder_locks.only_writer(place)

    def _write_state(self):
        write_state(
            self._directory,
            self._latest,
            list(self._active),
            save_relative_paths=True,
            all_model_checkpoint_timestamps=list(self._active.values()),
            last_preserved_timestamp=self._last_preserved,
        )

    def _sweep(self) -> bool:
        """Deletes what is too much. Returns whether the state has changed."""
        count = len(self._active)
        if self._max_to_keep is None or count <= self._max_to_keep:
            return False
        # One that somebody else has deleted does not count: another, which is there, would go in its place.
        for path in [path for path in self._active if path != self._latest and not checkpoint_exists(path)]:
            bundle_files.remove_bundles([path])
            del self._active[path]
        while len(self._active) > self._max_to_keep:
            path, saved = next(iter(self._active.items()))
            if self._keep_every and saved - self._keep_every * 3600 >= self._last_preserved:
                self._last_preserved = saved
            else:
                bundle_files.remove_bundles([path])
            del self._active[path]  # not before it is gone: the next save tries again
        return len(self._active) != count

    def _tidy(self):
        """Removes, once, the data of checkpoints that were not written to their end."""
        if self._is_tidy:
            return
        start = os.path.basename(self._prefix) + "-"
        names = set(files.names_in(self._directory or "."))
        for name in sorted(names):
            match = _DATA_FILE.fullmatch(name)
            prefix = match["prefix"] if match else ""
            number = prefix.removeprefix(start)
            index = bundle_files.index_path(prefix)
            if number != prefix and number.isdecimal() and not {index, index + bundle_files.PENDING} & names:
                durable_files.remove(os.path.join(self._directory, name))
        self._is_tidy = True

    def restore_or_initialize(self) -> str | None:
        """Restores the newest checkpoint; calls `init_fn` if there is none.

        Returns:
            The path of the checkpoint; None if there is none.
        """
        self.sync()  # the first one may just be being written
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._checkpoint_interval is not None:
                self._last_checkpoint_step = _integer("step_counter", self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
            _logger.info("Customized initialization is done through the passed `init_fn`.")
        return None

    def sync(self) -> None:
        """Waits until all that was saved is on the disk.

        Raises:
            What went wrong when it was written in the background.
        """
        self._checkpoint.sync()


def _integer(argument, value):
    """What an argument says that is an int, or a tensor or variable of one."""
    if context.graph is not None and not isinstance(value, int):
        value = session_of(None).run(value)
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "iu":
        raise TypeError(f"CheckpointManager: {argument} must be an int, or a tensor or variable of one, got {value!r}.")
    return int(array)
