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
_VERIFIED_AT_ONCE = 512  # records: few enough to stay in the caches
_KNOWN_HEADERS = 1 << 14  # so many different lengths are remembered as checked


class RecordSpans:
    """Records where they stand in a block of a file, without an object for each.

    Args:
        block: the bytes.
        starts, stops: of the data of records in it, int64.
    """

    __slots__ = ("block", "starts", "stops")

    def __init__(self, block: bytes, starts: np.ndarray, stops: np.ndarray):
        self.block = block
        self.starts = starts
        self.stops = stops

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, index: int) -> bytes:
        return self.block[self.starts[index] : self.stops[index]]

    def records(self, start: int, stop: int) -> list[bytes]:
        """Some of the records as objects."""
        return [self[index] for index in range(start, stop)]


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
        self._is_whole = False  # whether the rest may hold whole records

    def _length_of(self, count):
        return self._shift + int(self._ends[count - 1])

    def _read_pieces(self):
        while not self._pieces:
            if not self._read():
                return False
            self._split()
        return True

    def read_spans(self, multiple: int, size: int) -> RecordSpans | None:
        """The next records, as they stand in the file; None at its end.

        Args:
            multiple: so many records, or a multiple of that, are given if there are; fewer at the end of the file and
                before a damaged place only.
            size: about so many bytes are read at once.
        """
        if self._next < len(self._pieces):
            return self._pieces_as_spans()
        if self._error is not None:
            raise self._error.with_traceback(None)
        self._base, self._first = self.offset, self.record_number
        self._pieces, self._next, self._ends = [], 0, self._ends[:0]
        before, self._input.buffer_size = self._input.buffer_size, size
        try:
            return self._spans(multiple)
        except errors.OpError as error:
            self._error = error
            raise
        finally:
            self._input.buffer_size = before

    def _spans(self, multiple):
        starts = ends = self._ends
        while len(ends) < multiple:
            if not len(ends):
                if not self._read():
                    return None
            else:
                more = self._input.read()
                if not more:
                    break
                self._rest += more
            starts, ends, position, problem = self._find(self._rest)
            if problem is not None:
                break
        block, count = self._rest, len(ends)
        if count > multiple and problem is None:
            count -= count % multiple  # the others are read once more, with what follows them
            position = int(ends[count - 1]) + _FOOTER_SIZE
            self._is_whole = True
        good, wrong = self._verified(block, starts[:count], ends[:count], keep=False)
        count = len(good)
        self._take(block, ends[:count], position, wrong or problem)
        spans = RecordSpans(block, starts[:count], ends[:count])
        self._base, self._first, self._ends = self._base + self._length_of(count), self._first + count, ends[:0]
        return spans

    def _pieces_as_spans(self):
        pieces = self._pieces[self._next :]
        self._next = len(self._pieces)
        stops = np.fromiter(map(len, pieces), np.int64, len(pieces)).cumsum()
        starts = np.concatenate([[0], stops[:-1]])
        return RecordSpans(b"".join(pieces), starts, stops)

    def _read(self) -> bool:
        """Adds to the rest: a whole block, or what its first record lacks if that is more; False at the end.

        Where the rest holds whole records already, it stays as it is.
        """
        if self._is_whole:
            self._is_whole = False
            return True
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
        self._input.check_size(length)
        # A short remainder comes with a whole block, a long one alone.
        more = self._input.read() if missing <= self._input.buffer_size else self._input.read_exactly(missing)
        if not more:
            raise self._truncated(self._start, self._first, len(rest), length)
        self._rest = rest + more
        return True

    def _split(self) -> None:
        """Moves the whole records of the rest to `_pieces`; what remains of it is the beginning of one."""
        block = self._rest
        starts, ends, position, problem = self._find(block)
        self._pieces, wrong = self._verified(block, starts, ends, keep=True)
        self._take(block, ends[: len(self._pieces)], position, wrong or problem)

    def _take(self, block, ends, position, problem):
        """Let the records that end there be given out next, and the rest of the block wait for more."""
        self._ends = ends
        self._shift = self._start + _FOOTER_SIZE - self._base
        self._rest = block[position:]
        self._start += position
        if problem is not None:
            if not len(ends):
                raise problem
            self._error = problem

    def _find(self, block: bytes):
        """Where the data of the whole records of a block begin and end, where the rest begins, and what is wrong there.

        Returns:
            Two arrays, a position in the block, and an error or None.
        """
        position, known, problem = 0, _KNOWN, None
        last = len(block) - _FOOTER_SIZE
        found: list[tuple] = []  # starts and ends, in parts
        starts: list[int] = []  # the same, for the records since the last part
        ends: list[int] = []
        count = 0  # of records in parts
        complete = True
        while complete:
            alike, length = _run_of_alike(block, position)
            if alike:
                stride = length + OVERHEAD
                start = position + _HEADER_SIZE
                firsts = np.arange(start, start + alike * stride, stride)
                found += [(np.array(starts, np.intp), np.array(ends, np.intp)), (firsts, firsts + length)]
                count += len(starts) + alike
                starts, ends = [], []
                position += alike * stride
            # This loop is all the Python there is per record. A header that is not known is new, damaged or incomplete.
            try:
                for _ in range(_BETWEEN_RUNS):
                    start = position + _HEADER_SIZE
                    end = start + known[block[position:start]]
                    if end > last:
                        complete = False
                        break
                    starts.append(start)
                    ends.append(end)
                    position = end + _FOOTER_SIZE
            except KeyError:
                if position + _HEADER_SIZE > len(block):
                    break
                number = self._first + count + len(starts)
                try:
                    self._checked_length(block[position:start], self._start + position, number)
                except errors.DataLossError as error:
                    problem = error
                    break
        found.append((np.array(starts, np.intp), np.array(ends, np.intp)))
        firsts, lasts = (np.concatenate(parts) for parts in zip(*found))
        return firsts, lasts, position, problem

    def _verified(self, block: bytes, starts, ends, keep: bool):
        """Compare the checksums of data.

        Args:
            block: what the records stand in, one behind the other.
            starts, ends: of their data.
            keep: whether the records are wanted.

        Returns:
            The records before the first wrong one (or only as many items), and an error for that one, or None.
        """
        records: list = []
        # The stored checksums: 4 bytes from each end on, at any alignment.
        stored = np.ndarray((max(0, len(block) - 3),), "<u4", block, strides=(1,))
        for at in range(0, len(ends), _VERIFIED_AT_ONCE):
            firsts, lasts = starts[at : at + _VERIFIED_AT_ONCE], ends[at : at + _VERIFIED_AT_ONCE]
            data = _cut(block, firsts, lasts)
            wrong = (stored[lasts] != masked_checksums(data)).nonzero()[0]
            good = int(wrong[0]) if len(wrong) else len(data)
            records += data[:good] if keep else [None] * good
            if len(wrong):
                length, end = len(data[good]), self._start + int(lasts[good])
                return records, errors.data_loss(
                    f"{self._where('corrupted', end - length - _HEADER_SIZE, self._first + at + good)}: the "
                    f"checksum of its data ({length} bytes from byte {end - length} on) does not match."
                )
        return records, None

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


def _cut(block: bytes, starts: np.ndarray, ends: np.ndarray) -> list[bytes]:
    """The data of records that stand one behind the other in a block."""
    length = int(ends[0] - starts[0])
    if length and len(ends) > 1 and not np.count_nonzero(ends - starts != length):
        stride = length + OVERHEAD
        return np.ndarray((len(ends),), f"V{length}", block, int(starts[0]), (stride,)).tolist()
    return [block[start:end] for start, end in zip(starts.tolist(), ends.tolist())]


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
