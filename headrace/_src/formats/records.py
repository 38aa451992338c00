"""TFRecord files: lengths and data, each followed by a masked CRC32C; whole files may be compressed."""

import struct

import numpy as np

from headrace._src.core import errors
from headrace._src.formats.block_reader import BlockReader
from headrace._src.formats.checksums import masked_checksums, masked_crc32c

_HEADER = struct.Struct("<QI")  # the length and its checksum
_HEADER_SIZE = 12
_FOOTER_SIZE = 4  # the checksum of the data
OVERHEAD = _HEADER_SIZE + _FOOTER_SIZE
_LEAST_RUN = 64  # so many records of one length are worth an array
_BETWEEN_RUNS = 64  # after so many records that are not, it is tried again
_KNOWN_HEADERS = 1 << 14  # so many different lengths are remembered as checked


class RecordReader(BlockReader):
    """The records of a TFRecord file, as bytes, in order.

    All checksums are verified. Memory is bounded by the block and the longest record. See `BlockReader`.

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
        super().__init__(path, compression_type, buffer_size)

    def _forget(self, offset, number):
        super()._forget(offset, number)
        self._start = offset  # where the rest, of which records are still to be split off, begins in the file
        self._ends = np.empty(0, np.intp)  # where the data of each record ends in the block that it came from
        self._shift = 0  # from there to where the next one starts, counted from the first of them

    def _length_of(self, count):
        return self._shift + int(self._ends[count - 1])

    def _read_pieces(self):
        while not self._pieces:
            if not self._read():
                return False
            self._split()
        return True

    def _read(self) -> bool:
        """Adds to the rest: a whole block, or what its first record lacks if that is more; False at the end."""
        rest = self._rest
        if len(rest) < _HEADER_SIZE:
            more = self._input.read()
            if not more:
                if rest:
                    raise self._truncated(self._start, self._first, len(rest), None)
                return False
            self._rest = rest + more if rest else more
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
        self._rest = rest + more
        return True

    def _split(self) -> None:
        """Moves the whole records of the rest to `_pieces`; what remains of it is the beginning of one."""
        block, position = self._rest, 0
        last = len(block) - _FOOTER_SIZE
        records, known, problem = self._pieces, _KNOWN, None
        found: list[np.ndarray] = []  # where the data of records end, in parts
        ends: list[int] = []  # the same, for the records since the last part
        complete = True
        while complete:
            alike, length = _run_of_alike(block, position)
            if alike:
                stride = length + OVERHEAD
                start = position + _HEADER_SIZE
                records += np.ndarray((alike,), f"V{length}", block, start, (stride,)).tolist()
                found += [np.array(ends, np.intp), np.arange(start + length, start + alike * stride, stride)]
                ends = []
                position += alike * stride
            # This loop is all the Python there is per record. A header that is not known is new, damaged or incomplete.
            try:
                for _ in range(_BETWEEN_RUNS):
                    start = position + _HEADER_SIZE
                    end = start + known[block[position:start]]
                    if end > last:
                        complete = False
                        break
                    records.append(block[start:end])
                    ends.append(end)
                    position = end + _FOOTER_SIZE
            except KeyError:
                if position + _HEADER_SIZE > len(block):
                    break
                try:
                    self._checked_length(block[position:start], self._start + position, self._first + len(records))
                except errors.DataLossError as error:
                    problem = error
                    break
        self._ends = np.concatenate([*found, np.array(ends, np.intp)])
        if records:
            # The stored checksums: 4 bytes from each end on, at any alignment.
            stored = np.ndarray((len(block) - 3,), "<u4", block, strides=(1,))[self._ends]
            wrong = (stored != masked_checksums(records)).nonzero()[0]
            if len(wrong):
                index = int(wrong[0])
                length, end = len(records[index]), self._start + int(self._ends[index])
                problem = errors.data_loss(
                    f"{self._where('corrupted', end - length - _HEADER_SIZE, self._first + index)}: the "
                    f"checksum of its data ({length} bytes from byte {end - length} on) does not match."
                )
                del records[index:]
        self._shift = self._start + _FOOTER_SIZE - self._base
        self._rest = block[position:]
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


# Headers whose checksum was found right, with their length: most files have few different lengths.
_KNOWN: dict[bytes, int] = {}


def _run_of_alike(block: bytes, position: int) -> tuple[int, int]:
    """How many records of the same length come next, if many, and their length; (0, 0) otherwise."""
    header = block[position : position + _HEADER_SIZE]
    length = _KNOWN.get(header)
    if not length:
        return 0, 0
    stride = length + OVERHEAD
    count = (len(block) - position) // stride
    far = position + stride * (_LEAST_RUN - 1)
    if count < _LEAST_RUN or block[far : far + _HEADER_SIZE] != header:
        return 0, 0
    _, checksum = _HEADER.unpack(header)
    same = np.ndarray((count,), "<u8", block, position, (stride,)) == length
    same &= np.ndarray((count,), "<u4", block, position + 8, (stride,)) == checksum
    count = count if same.all() else int(same.argmin())
    return (count, length) if count >= _LEAST_RUN else (0, 0)


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
