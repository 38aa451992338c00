"""Which checkpoints a 1.x saver has written, which of them it keeps, and which are to be removed."""

import logging
import time

from headrace._src.checkpoint import folder_state
from headrace._src.core import errors

_logger = logging.getLogger("tensorflow")
_HOUR = 3600.0


class KeptCheckpoints:
    """The last checkpoints of a saver, with the times when they were saved.

    Args:
        max_to_keep: how many are kept; 0 or None: all, and none is noted.
        hours: one of so many hours is never removed.
    """

    def __init__(self, max_to_keep: int | None, hours: float):
        self._max_to_keep = max_to_keep
        self._hours = hours
        self._kept: list[tuple[str, float]] = []  # the oldest first
        self._superfluous: list[tuple[str, float]] = []
        self._next_to_stay = time.time() + hours * _HOUR

    @property
    def paths(self) -> list[str]:
        """The checkpoints, the oldest first."""
        return [path for path, _ in self._kept]

    def set(self, kept: list[tuple[str, float]]) -> None:
        """Takes over a list."""
        self._kept = list(kept)

    def recover(self, paths) -> None:
        """Takes over those checkpoints that are there."""
        found = []
        for path in paths:
            times = folder_state.get_checkpoint_mtimes([path])
            if times:
                found.append((path, times[0]))
        self._kept = found

    def add(self, path: str) -> None:
        """Notes a new checkpoint; the oldest is to be removed if there are too many."""
        if not self._max_to_keep:
            return
        self._kept = [item for item in self._kept if item[0] != path]
        self._kept.append((path, time.time()))
        if len(self._kept) > self._max_to_keep:
            self._superfluous.append(self._kept.pop(0))

    def remove_old(self, version: int, meta_graph_suffix: str) -> None:
        """Removes the files of a checkpoint that is one too many. What cannot be removed stays, with a warning."""
        if not self._superfluous:
            return
        path, saved = self._superfluous.pop(0)
        if saved > self._next_to_stay:
            self._next_to_stay += self._hours * _HOUR
            return
        try:
            folder_state.remove_checkpoint(path, version, meta_graph_suffix)
        except errors.OpError as error:
            _logger.warning("Ignoring: %s", error)
