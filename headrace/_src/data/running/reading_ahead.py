"""Cursors over cheap sources, such as files, that read more elements than they are asked for."""

from __future__ import annotations

import numpy as np

from headrace._src.core import errors
from headrace._src.data.running.stages import Cursor, joined, stacked

_MOST_ELEMENTS = 4096
_MOST_BYTES = 4 << 20
_FIRST = 64


class BlockAhead(Cursor):
    """What cursors have in common that read more than they are asked for: a block, some of which was given out.

    Args:
        inner: what is read.
        by_blocks: whether it gives blocks faster than elements.
    """

    def __init__(self, inner: Cursor, by_blocks: bool):
        self._inner = inner
        self._by_blocks = by_blocks
        # The state of the source at the beginning of the block; None when the block itself is less to keep than that.
        self._before: dict | None = None
        self._block: tuple | None = None
        self._at = self._count = 0  # elements of the block: given out, and all
        self._next_count = _FIRST
        self._number = 0  # of elements that were given out

    def _fill(self, least: int):
        """Read the next block, at least so many elements if there are."""
        before = self._inner.state() if self._by_blocks else None
        block = self._read(max(least, self._next_count))
        self._block, self._before, self._at = block, before, 0
        self._count = 0 if block is None else block[0].shape[0]
        if block is not None:
            self._compute()
            size = max(1, (sum(bytes_of(part) for part in block) + self._bytes_made()) // self._count)
            self._next_count = max(1, min(2 * self._next_count, _MOST_ELEMENTS, _MOST_BYTES // size))
        return block

    def _read(self, count):
        parts: list = []
        try:
            if not self._by_blocks:
                while len(parts) < count and (element := self._inner.next()) is not None:
                    parts.append(element)
                return stacked(parts) if parts else None
            missing = count
            while missing and (block := self._inner.block(missing)) is not None:
                parts.append(block)
                missing -= block[0].shape[0]
        except errors.OpError as error:
            if not parts:
                raise
            self._failure = error
        return (joined(parts) if self._by_blocks else stacked(parts)) if parts else None

    _failure: errors.OpError | None = None  # of the source, after the block

    def _ready(self, count):
        """Whether there are elements to give out."""
        while self._at == self._count:
            self._check()
            if self._fill(count) is None:
                return False
        return True

    def _taken(self, count) -> slice:
        """The place in the block of the next elements, so many at most, which are given out."""
        at = self._at
        self._at = min(at + count, self._count)
        self._number += self._at - at
        return slice(at, self._at)

    def skip(self, count):
        self._check()
        here = min(count, self._count - self._at)
        self._at += here
        more = 0
        if here < count:
            self._drop()
            more = self._inner.skip(count - here)
        self._number += here + more
        return here + more

    def _check(self):
        if self._failure is not None and self._at == self._count:
            failure, self._failure = self._failure, None
            self._drop()
            raise failure

    def _drop(self):
        self._block = self._before = None
        self._at = self._count = 0

    def state(self):
        state = {"number": self._number, "given": 0}
        if self._block is None:
            return {**state, "inner": self._inner.state()}
        if self._before is not None:
            return {**state, "given": self._at, "inner": self._before}
        if self._failure is not None:
            raise self._failure
        rest = [part[self._at :].copy() for part in self._block]
        return {**state, "inner": self._inner.state(), "rest": rest}

    def restore(self, state):
        self._drop()
        self._failure = None
        self._number = state["number"]
        self._inner.restore(state["inner"])
        if state["given"]:
            self._inner.skip(state["given"])
        if "rest" in state:
            self._block = tuple(state["rest"])
            self._count = self._block[0].shape[0]
            self._compute()

    def _compute(self):
        """What is computed of a new block."""

    def _bytes_made(self) -> int:
        """How large that is."""
        return 0

    def close(self):
        self._inner.close()


def bytes_of(part: np.ndarray) -> int:
    """About how much memory the contents of an array take."""
    if part.dtype != object:
        return part.nbytes
    flat = part.ravel()
    return sum(map(len, flat.tolist())) if flat.size and isinstance(flat[0], bytes) else 64 * flat.size


class AheadCursor(BlockAhead):
    """The elements of another cursor, read as blocks also by those who want them one by one."""

    def next(self):
        if not self._ready(1):
            return None
        at = self._at
        self._at, self._number = at + 1, self._number + 1
        return tuple([part[at, ...] for part in self._block])

    def block(self, count):
        if not self._ready(count):
            return None
        taken = self._taken(count)
        return tuple([part[taken] for part in self._block])
