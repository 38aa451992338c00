"""Files of lines and of records of one length, read like files of TFRecords."""

from collections.abc import Iterator

from headrace._src.core import errors
from headrace._src.formats import streams


class _BlockReader:
    """What both have in common: pieces that are split block by block, and a place to go on from.

    The protocol is that of `records.RecordReader`.
    """

    def __init__(self, path, compression_type: str | None, buffer_size: int | None):
        self._input = streams.open_input(path, compression_type, buffer_size)
        self.path = self._input.path
        self._forget(0, 0)

    def _forget(self, offset: int, number: int) -> None:
        self._rest = b""  # read, and not yet split
        self._pieces: list[bytes] = []  # split
        self._next = 0  # the index of the next among them
        self._first = number  # the number in the file of the first of them
        self._base = offset  # where the first of them starts
        self._error: errors.OpError | None = None

    @property
    def offset(self) -> int:
        """Where the next piece starts, in bytes from the beginning of the (decompressed) file."""
        return self._base + self._length_of(self._next)

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
        if self._error is not None:
            raise self._error.with_traceback(None)
        self._base, self._first = self.offset, self.record_number
        self._pieces, self._next = [], 0
        try:
            return self._split()
        except errors.OpError as error:
            self._error = error
            raise

    def _split(self) -> bool:
        """Puts the next pieces into `_pieces`; False at the end of the file."""
        raise NotImplementedError

    def _length_of(self, count: int) -> int:
        """The bytes in the file of the first `count` pieces."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the file."""
        self._input.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


class TextLineReader(_BlockReader):
    r"""The lines of a file, as bytes without their ends.

    Args:
        path: str, bytes or PathLike.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: the size of blocks in bytes; None or 0 for 256 KiB.

    >>> tf.io.write_file("/tmp/headrace_doc.txt", "one\ntwo\r\nthree")
    >>> list(TextLineReader("/tmp/headrace_doc.txt"))
    [b'one', b'two', b'three']
    """

    def __init__(self, path, compression_type: str | None = "", buffer_size: int | None = None):
        super().__init__(path, compression_type, buffer_size)

    def _forget(self, offset, number):
        super()._forget(offset, number)
        self._stored: list[bytes] = []  # the lines as they are in the file, of which one may lack its end
        self._complete = True

    def _split(self):
        parts = [self._rest]
        while True:
            block = self._input.read()
            end = block.rfind(b"\n")
            if end >= 0:
                parts.append(block[:end])
                self._rest = block[end + 1 :]
                break
            if not block:
                self._rest = b""
                # TF: a last line of carriage returns alone is no line.
                if not b"".join(parts).strip(b"\r"):
                    return False
                self._complete = False
                break
            parts.append(block)
        text = b"".join(parts)
        self._stored = text.split(b"\n")
        # TF: carriage returns are dropped wherever they stand.
        self._pieces = text.replace(b"\r", b"").split(b"\n") if b"\r" in text else self._stored
        return True

    def _length_of(self, count):
        ends = count if self._complete or count < len(self._stored) else count - 1
        return sum(map(len, self._stored[:count])) + ends


class FixedLengthReader(_BlockReader):
    """The records of a file that all have the same length, between a header and a footer that are skipped.

    Args:
        path: str, bytes or PathLike.
        record_bytes: the length of a record.
        header_bytes: the length of what comes before the first record.
        footer_bytes: the length of what comes after the last record.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: the size of blocks in bytes; None or 0 for 256 KiB.

    Raises:
        InvalidArgumentError: for a length below the smallest possible, and for a file that cannot be split so.
        DataLossError: (while reading) for a compressed file that cannot be split so.
    """

    def __init__(
        self,
        path,
        record_bytes: int,
        header_bytes: int = 0,
        footer_bytes: int = 0,
        compression_type: str | None = "",
        buffer_size: int | None = None,
    ):
        for name, value, least in (
            ("record_bytes", record_bytes, 1),
            ("header_bytes", header_bytes, 0),
            ("footer_bytes", footer_bytes, 0),
        ):
            if value < least:
                raise errors.invalid_argument(f"{name} must be >= {least}, got {value}.")
        self._size, self._header, self._footer = int(record_bytes), int(header_bytes), int(footer_bytes)
        super().__init__(path, compression_type, buffer_size)
        if isinstance(self._input, streams.PlainInput):
            total = self._input.bound()
            if total is not None:
                self._check(total, errors.invalid_argument)

    def _check(self, total: int, error) -> None:
        body = total - self._header - self._footer
        if body < 0 or body % self._size:
            raise error(
                f"{self.path}; without the header ({self._header} bytes) and the footer ({self._footer} bytes) the "
                f"file has {body} bytes, which is no multiple of the record length ({self._size} bytes)."
            )

    def _forget(self, offset, number):
        super()._forget(max(offset, self._header), number)
        self._before = self._header if offset < self._header else 0  # bytes to pass over first

    def _split(self):
        if self._before:
            passed = len(self._input.read_exactly(self._before))
            if passed < self._before:
                self._check(passed, errors.data_loss)
            self._before = 0
        # The last bytes may be the footer: they are kept back until the file goes on.
        needed = self._size + self._footer
        parts, have = [self._rest], len(self._rest)
        while have < needed:
            missing = needed - have
            more = self._input.read() if missing <= self._input.buffer_size else self._input.read_exactly(missing)
            if not more:
                self._check(self._base + have, errors.data_loss)
                self._rest = b"".join(parts)
                return False
            parts.append(more)
            have += len(more)
        data, size = b"".join(parts), self._size
        end = (have - self._footer) // size * size
        self._pieces = [data[start : start + size] for start in range(0, end, size)]
        self._rest = data[end:]
        return True

    def _length_of(self, count):
        return count * self._size
