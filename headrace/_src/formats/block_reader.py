"""What readers of records, lines and fixed lengths have in common."""

from collections.abc import Iterator

from headrace._src.core import errors
from headrace._src.formats import streams


class BlockReader:
    """An iterator of the pieces (records, lines) of a file, as bytes, with a place to go on from.

    The file is read in blocks, and each block is split at once. Pieces before a damaged place are given out before the
    error is raised, which is then raised by each further read. For one thread at a time.

    Attributes:
        path: the file, as text.
    """

    def __init__(self, path, compression_type: str | None, buffer_size: int | None):
        self._input = streams.open_input(path, compression_type, buffer_size)
        self.path = self._input.path
        self._forget(0, 0)

    def _forget(self, offset: int, number: int) -> None:
        self._rest = b""  # read, and not split yet
        self._pieces: list[bytes] = []  # split
        self._next = 0  # the index of the next among them
        self._first = number  # the number in the file of the first of them
        self._base = offset  # where the first of them starts
        self._error: errors.OpError | None = None

    @property
    def offset(self) -> int:
        """Where the next piece starts, in bytes from the beginning of the (decompressed) file."""
        return self._base + self._length_of(self._next) if self._next else self._base

    @property
    def record_number(self) -> int:
        """How many pieces come before the next one."""
        return self._first + self._next

    @property
    def state(self) -> tuple[int, int]:
        """(offset, record_number): what `seek` takes."""
        return self.offset, self.record_number

    def seek(self, state: tuple[int, int]) -> None:
        """Goes to a state that this or another reader of the file had.

        Takes no time in plain files. A compressed file is decompressed up to there.
        """
        offset, number = (int(part) for part in state)
        if offset < 0 or number < 0:
            raise errors.invalid_argument(f"{self.path}; nothing starts at a negative offset, got state {state}.")
        self._input.seek(offset)
        self._forget(offset, number)

    def read_many(self, count: int) -> list[bytes]:
        """The next pieces, up to `count`; fewer only at the end of the file or before a damaged place."""
        taken: list[bytes] = []
        while len(taken) < count:
            if self._next == len(self._pieces):
                try:
                    if not self._fill():
                        break
                except errors.OpError:
                    if taken:
                        break  # the error is kept for the next call
                    raise
            start = self._next
            self._next = min(start + count - len(taken), len(self._pieces))
            taken += self._pieces[start : self._next]
        return taken

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        index = self._next
        if index >= len(self._pieces):
            if not self._fill():
                raise StopIteration
            index = 0
        self._next = index + 1
        return self._pieces[index]

    def _fill(self) -> bool:
        """Puts the next pieces into `_pieces`, all of which were given out; False at the end of the file."""
        if self._error is not None:
            raise self._error.with_traceback(None)
        self._base, self._first = self.offset, self.record_number
        self._pieces, self._next = [], 0
        try:
            return self._read_pieces()
        except errors.OpError as error:
            self._error = error
            raise

    def _read_pieces(self) -> bool:
        """Reads on until there are `_pieces`; False at the end of the file. May leave an `_error` for later."""
        raise NotImplementedError

    def _length_of(self, count: int) -> int:
        """The bytes in the file of the first `count` pieces, of which there is at least one."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the file."""
        self._input.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
