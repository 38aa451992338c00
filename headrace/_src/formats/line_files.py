"""Files of lines and of records of one length, read like files of TFRecords."""

from headrace._src.core import errors
from headrace._src.formats import streams
from headrace._src.formats.block_reader import BlockReader


class TextLineReader(BlockReader):
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

    def _read_pieces(self):
        parts, have = [self._rest], len(self._rest)
        while True:
            block = self._input.read()
            have += len(block)
            self._input.check_size(have)
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


class FixedLengthReader(BlockReader):
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

    def _read_pieces(self):
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
