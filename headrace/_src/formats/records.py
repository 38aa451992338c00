"""TFRecord files: lengths and data, each followed by a masked CRC32C; whole files may be compressed."""

import struct
from collections.abc import Iterator

import numpy as np

from headrace._src.core import errors
from headrace._src.formats import streams
from headrace._src.formats.checksums import masked_checksums, masked_crc32c

_HEADER = struct.Struct("<QI")  # the length and its checksum
_HEADER_SIZE = 12
_FOOTER_SIZE = 4  # the checksum of the data
OVERHEAD = _HEADER_SIZE + _FOOTER_SIZE
_KNOWN_HEADERS = 1 << 14  # so many different lengths are remembered as checked


class RecordReader:
    """The records of a TFRecord file, as bytes, in order.

    The file is read in blocks, and each block is split at once, so that a record costs little Python; memory is
    bounded by the block and the longest record. All checksums are verified. Records before a damaged place are given
    out before the error is raised, which is then raised by each further read. For one thread at a time.

    Args:
        path: str, bytes or PathLike.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: the size of blocks in bytes; None or 0 for 256 KiB.

    Raises:
        NotFoundError, FailedPreconditionError, PermissionDeniedError: no file there, a directory, not readable.
        DataLossError: (while reading) naming the file, the number and offset of the record and what is wrong with it.

    >>> with tf.io.TFRecordWriter("/tmp/headrace_doc.tfrecord") as writer:
    ...     writer.write(b"one")
    ...     writer.write(b"two")
    >>> list(RecordReader("/tmp/headrace_doc.tfrecord"))
    [b'one', b'two']
    """

    def __init__(self, path, compression_type: str | None = "", buffer_size: int | None = None):
        self._input = streams.open_input(path, compression_type, buffer_size)
        self.path = self._input.path
        self._forget(0, 0)

    def _forget(self, offset: int, number: int) -> None:
        self._block = b""  # what was read and is not split yet
        self._start = offset  # where the block begins in the (decompressed) file
        self._records: list[bytes] = []  # split and checked
        self._ends: list[int] = []  # where the data of each of them ends in the block that they came from
        self._shift = 0  # from there to where the next one starts in the file
        self._next = 0  # the index of the next among them
        self._first = number  # the number in the file of the first of them
        self._base = offset  # where the first of them starts
        self._error: errors.OpError | None = None

    @property
    def offset(self) -> int:
        """Where the next record starts, in bytes from the beginning of the (decompressed) file."""
        return self._shift + self._ends[self._next - 1] if self._next else self._base

    @property
    def record_number(self) -> int:
        """How many records come before the next one."""
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
            raise errors.invalid_argument(f"{self.path}; no record starts at a negative offset, got state {state}.")
        self._input.seek(offset)
        self._forget(offset, number)

    def read_many(self, count: int) -> list[bytes]:
        """The next records, up to `count`; fewer only at the end of the file or before a damaged place."""
        taken: list[bytes] = []
        while len(taken) < count:
            if self._next == len(self._records):
                try:
                    if not self._fill():
                        break
                except errors.OpError:
                    if taken:
                        break  # the error is kept for the next call
                    raise
            start = self._next
            self._next = min(start + count - len(taken), len(self._records))
            taken += self._records[start : self._next]
        return taken

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        index = self._next
        if index >= len(self._records):
            if not self._fill():
                raise StopIteration
            index = 0
        self._next = index + 1
        return self._records[index]

    def _fill(self) -> bool:
        """Puts the next records into `_records`, all of which were given out; False at the end of the file."""
        if self._error is not None:
            raise self._error.with_traceback(None)
        self._first, self._base = self.record_number, self.offset
        self._records, self._ends, self._next = [], [], 0
        try:
            while not self._records:
                if not self._read():
                    return False
                self._split()
        except errors.OpError as error:
            self._error = error
            raise
        return True

    def _read(self) -> bool:
        """Adds to the block: the rest of its first record if that was begun, else as many bytes as a block has."""
        rest = self._block
        if len(rest) < _HEADER_SIZE:
            more = self._input.read()
            if not more:
                if rest:
                    raise self._truncated(self._start, self._first, len(rest), None)
                return False
            self._block = rest + more if rest else more
            return True
        length = self._checked_length(rest[:_HEADER_SIZE], self._start, self._first)
        missing = length + OVERHEAD - len(rest)
        bound = self._input.bound()
        if bound is not None and missing > bound:
            raise self._truncated(self._start, self._first, len(rest) + bound, length)
        # A short remainder comes with a whole block, a long one alone.
        more = self._input.read() if missing <= self._input.buffer_size else self._input.read_exactly(missing)
        if not more:
            raise self._truncated(self._start, self._first, len(rest), length)
        self._block = rest + more
        return True

    def _split(self) -> None:
        """Moves the whole records of the block to `_records`; what remains of it is the beginning of one."""
        block, position = self._block, 0
        last = len(block) - _FOOTER_SIZE
        records, ends, known = self._records, self._ends, _KNOWN
        problem = None
        while True:
            # This loop is all the Python there is per record. A header that is not known is new, damaged or incomplete.
            try:
                while True:
                    start = position + _HEADER_SIZE
                    end = start + known[block[position:start]]
                    if end > last:
                        break
                    records.append(block[start:end])
                    ends.append(end)
                    position = end + _FOOTER_SIZE
                break
            except KeyError:
                if position + _HEADER_SIZE > len(block):
                    break
            try:
                self._checked_length(block[position:start], self._start + position, self._first + len(records))
            except errors.DataLossError as error:
                problem = error
                break
        if records:
            # The stored checksums: 4 bytes from each end on, at any alignment.
            stored = np.ndarray((len(block) - 3,), "<u4", block, strides=(1,))[np.array(ends)]
            wrong = (stored != masked_checksums(records)).nonzero()[0]
            if len(wrong):
                index = int(wrong[0])
                length, end = len(records[index]), self._start + ends[index]
                problem = errors.data_loss(
                    f"{self._where('corrupted', end - length - _HEADER_SIZE, self._first + index)}: the "
                    f"checksum of its data ({length} bytes from byte {end - length} on) does not match."
                )
                del records[index:], ends[index:]
        self._shift = self._start + _FOOTER_SIZE
        self._block = block[position:]
        self._start += position
        if problem is not None:
            if not records:
                raise problem
            self._error = problem

    def _checked_length(self, header: bytes, offset: int, number: int) -> int:
        length, checksum = _HEADER.unpack(header)
        if masked_crc32c(header[:8]) != checksum:
            hint = "Is this a TFRecord file?"
            if offset == 0 and header[:2] == b"\x1f\x8b":
                hint = "It looks like a GZIP file: pass compression_type='GZIP'."
            elif offset == 0 and header[0] & 0x0F == 8 and (header[0] * 256 + header[1]) % 31 == 0:
                hint = "It may be a ZLIB file: then pass compression_type='ZLIB'."
            raise errors.data_loss(
                f"{self._where('corrupted', offset, number)}: the checksum of its length does not match. {hint}"
            )
        if len(_KNOWN) >= _KNOWN_HEADERS:
            _KNOWN.clear()
        _KNOWN[header] = length
        return length

    def _truncated(self, offset: int, number: int, have: int, length: int | None) -> errors.OpError:
        needs = (
            f"its header has {_HEADER_SIZE} bytes"
            if length is None
            else f"with {length} bytes of data it has {length + OVERHEAD}"
        )
        return errors.data_loss(
            f"{self._where('truncated', offset, number)}: {needs}, but {have} bytes are left in the file."
        )

    def _where(self, what: str, offset: int, number: int) -> str:
        return f"{self.path}; {what} record {number} at byte {offset}"

    def close(self) -> None:
        """Closes the file."""
        self._input.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


# Headers whose checksum was found right, with their length: most files have few different lengths.
_KNOWN: dict[bytes, int] = {}


class _Headers(dict):
    """From lengths to the 12 bytes before the data; made when first asked for."""

    def __missing__(self, length: int) -> bytes:
        packed = struct.pack("<Q", length)
        header = packed + struct.pack("<I", masked_crc32c(packed))
        if len(self) >= _KNOWN_HEADERS:
            self.clear()
        self[length] = header
        return header


_headers = _Headers()


def framed(data: bytes) -> bytes:
    """One record."""
    return b"".join([_headers[len(data)], data, struct.pack("<I", masked_crc32c(data))])


def framed_together(records: list[bytes]) -> bytes:
    """Many records: the bytes of `framed` for each of them, joined."""
    pieces: list[bytes] = [b""] * (3 * len(records))
    pieces[0::3] = map(_headers.__getitem__, map(len, records))
    pieces[1::3] = records
    pieces[2::3] = masked_checksums(records).astype("<u4", copy=False).view("V4").tolist()
    return b"".join(pieces)
