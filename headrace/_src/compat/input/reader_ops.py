"""The ops of readers: from a queue of file names to records, one after another."""

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator

import numpy as np

from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.formats import files, streams, wire
from headrace._src.formats.line_files import TextLineReader as LinesOfFile
from headrace._src.formats.records import RecordReader
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN
from headrace._src.state.queue_storage import QueueStorage

_Records = Iterator[tuple[bytes, bytes]]
_WORK_STARTED, _WORK_FINISHED, _RECORDS, _CURRENT = 1, 2, 3, 4  # fields of TensorFlow's message ReaderBaseState


class Reader:
    """Takes names from a queue and gives the records of each, with a key that says where a record was.

    Args:
        open_work: from the name of a file to its records.
        whole: whether each name gives one record, so that its state can be saved between any two.
    """

    def __init__(self, open_work: Callable[[bytes], _Records], whole: bool = False):
        self._open = open_work
        self._whole = whole
        self._lock = threading.Lock()
        self._forget()

    def _forget(self):
        self._records: _Records | None = None
        self._started = self.finished = self.produced = 0
        self._current = b""

    def read(self, queue: QueueStorage) -> tuple[bytes, bytes]:
        """The next record with its key; waits for names where the queue is empty.

        Raises:
            OutOfRangeError: the queue is closed and empty.
        """
        with self._lock:
            while True:
                if self._records is None:
                    self._begin(queue)
                found = self._next()
                if found is not None:
                    return found

    def read_up_to(self, queue: QueueStorage, count: int) -> list[tuple[bytes, bytes]]:
        """Up to `count` records of one file."""
        with self._lock:
            found: list[tuple[bytes, bytes]] = []
            while not found:
                if self._records is None:
                    self._begin(queue)
                while len(found) < count:
                    record = self._next()
                    if record is None:
                        break
                    found.append(record)
                    if self._records is None:
                        break
            return found

    def _begin(self, queue):
        ((name,),) = queue.take()
        self._current = bytes(name[()])
        self._records = iter(self._open(self._current))
        self._started += 1

    def _next(self):
        assert self._records is not None
        try:
            record = next(self._records, None)
        except errors.OpError:
            self._records = None
            raise
        if record is None:
            self._records = None
            self.finished += 1
            return None
        self.produced += 1
        if self._whole:
            self._records = None
            self.finished += 1
        return record

    def reset(self) -> None:
        """Begin anew."""
        with self._lock:
            self._forget()

    def state(self) -> bytes:
        """What it has done, for `restore`.

        Raises:
            UnimplementedError: it is in the middle of a file.
        """
        if not self._whole:
            raise errors.UnimplementedError(None, None, "Only readers that give one record for each name have a state.")
        counts = ((_WORK_STARTED, self._started), (_WORK_FINISHED, self.finished), (_RECORDS, self.produced))
        return b"".join(wire.integer(field, count) for field, count in counts if count) + (
            wire.message(_CURRENT, self._current) if self._current else b""
        )

    def restore(self, state: bytes) -> None:
        """Go on from a state.

        Raises:
            InvalidArgumentError: these bytes are none.
            UnimplementedError: such readers have no state.
        """
        self.state()
        found = _fields(state)
        with self._lock:
            self._records = None
            self._started, self.finished = found.get(_WORK_STARTED, 0), found.get(_WORK_FINISHED, 0)
            self.produced, self._current = found.get(_RECORDS, 0), found.get(_CURRENT, b"")


def _fields(data: bytes) -> dict:
    """The fields of a saved state.

    Raises:
        InvalidArgumentError: these bytes are none.
    """
    found, position = {}, 0

    def number():
        nonlocal position
        value = shift = 0
        while position < len(data) and shift < 64:
            byte = data[position]
            position += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise errors.invalid_argument("ReaderRestoreStateV2: state is not the state of a reader.")

    while position < len(data):
        tag = number()
        value = number()
        if tag == _CURRENT << 3 | 2 and position + value <= len(data):
            found[_CURRENT] = data[position : position + value]
            position += value
        elif tag & 7 == 0 and tag >> 3 in (_WORK_STARTED, _WORK_FINISHED, _RECORDS) and value < 1 << 63:
            found[tag >> 3] = value
        else:
            raise errors.invalid_argument("ReaderRestoreStateV2: state is not the state of a reader.")
    return found


def _records(compression):
    def of(name):
        with contextlib.closing(RecordReader(name, compression)) as reader:
            offset = reader.offset
            for record in reader:
                yield name + b":%d" % offset, record
                offset = reader.offset

    return of


def _lines(skipped):
    def of(name):
        with contextlib.closing(LinesOfFile(name)) as reader:
            for number, line in enumerate(reader, 1):
                if number > skipped:
                    yield name + b":%d" % number, line

    return of


def _pieces(record, header, footer, hop, encoding):
    def of(name):
        with contextlib.closing(streams.open_input(name, encoding)) as stream:
            held, start, number, ended = b"", header, 0, False
            while True:
                while len(held) - start < record + footer and not ended:
                    block = stream.read()
                    ended = not block
                    held, start = (held + block, start) if start > len(held) else (held[start:] + block, 0)
                if len(held) - start < record + footer:
                    return
                yield name + b":%d" % number, held[start : start + record]
                start, number = start + (hop or record), number + 1

    return of


# Readers that were made under a name outside of sessions, as long as somebody has them.
_shared: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def _reader_op(name, attrs, make):
    """An op that makes a reader, once for each session, and returns its handle."""

    def kernel(container, shared_name, **attrs):
        if not shared_name:
            return make(**attrs)
        kept = _shared if context.resources is None else context.resources
        key = ("reader", container, shared_name)
        reader = kept.get(key)
        return kept.setdefault(key, make(**attrs)) if reader is None else reader

    return Op(
        name,
        f"*, {attrs}container: string = '', shared_name: string = '' -> reader_handle: resource",
        infer=lambda **attrs: SCALAR,
        kernel=kernel,
        lower=None,  # files are read on the host
        stateful=True,
        grad=None,
    )


TEXT_LINE_READER = _reader_op("TextLineReaderV2", "skip_header_lines: int = 0, ",
                              lambda skip_header_lines: Reader(_lines(skip_header_lines)))
TF_RECORD_READER = _reader_op("TFRecordReaderV2", "compression_type: string = '', ",
                              lambda compression_type: Reader(_records(_text(compression_type))))
WHOLE_FILE_READER = _reader_op("WholeFileReaderV2", "",
                               lambda: Reader(lambda name: iter([(name, files.read(name))]), whole=True))
IDENTITY_READER = _reader_op("IdentityReaderV2", "", lambda: Reader(lambda name: iter([(name, name)]), whole=True))


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _fixed(header_bytes, record_bytes, footer_bytes, hop_bytes, encoding):
    lengths = {"header_bytes": (header_bytes, 0), "record_bytes": (record_bytes, 1), "footer_bytes": (footer_bytes, 0),
               "hop_bytes": (hop_bytes, 0)}
    for label, (value, least) in lengths.items():
        if value < least:
            raise errors.invalid_argument(f"FixedLengthRecordReader: {label} must be at least {least}, got {value}.")
    return Reader(_pieces(record_bytes, header_bytes, footer_bytes, hop_bytes, _text(encoding)))


FIXED_LENGTH_READER = _reader_op(
    "FixedLengthRecordReaderV2",
    "header_bytes: int = 0, record_bytes: int, footer_bytes: int = 0, hop_bytes: int = 0, encoding: string = '', ",
    _fixed,
)


def _reader(handle) -> Reader:
    reader = handle[()] if handle.ndim == 0 else None
    if not isinstance(reader, Reader):
        raise errors.invalid_argument("reader_handle must be the handle of a reader.")
    return reader


def _queue(handle) -> QueueStorage:
    queue = handle[()] if handle.ndim == 0 else None
    if not isinstance(queue, QueueStorage):
        raise errors.invalid_argument("queue_handle must be the handle of a queue.")
    if [dtype.name for dtype in queue.dtypes] != ["string"]:
        raise errors.invalid_argument("A reader takes names from a queue of strings; the components of this one are "
                                      f"{[dtype.name for dtype in queue.dtypes]}.")
    return queue


def _use_op(name, text, infer, kernel):
    """An op that uses a reader."""
    return Op(name, text, infer=infer, kernel=kernel, lower=None,  # files are read on the host
              stateful=True, grad=None, quiet=False)  # it may wait for other threads


def _object(value: bytes):
    array = np.empty((), object)
    array[()] = value
    return array


def _read(reader_handle, queue_handle):
    key, value = _reader(reader_handle).read(_queue(queue_handle))
    return _object(key), _object(value)


def _read_up_to(reader_handle, queue_handle, num_records):
    if num_records < 1:
        raise errors.invalid_argument(f"ReaderReadUpToV2: num_records must be positive, got {int(num_records)}.")
    found = _reader(reader_handle).read_up_to(_queue(queue_handle), int(num_records))
    return tuple(np.array([*part, None], object)[:-1] for part in zip(*found))


READER_READ = _use_op("ReaderReadV2", "reader_handle: resource, queue_handle: resource -> key: string, value: string",
                      lambda reader, queue: (SCALAR, SCALAR), _read)
READER_READ_UP_TO = _use_op(
    "ReaderReadUpToV2",
    "reader_handle: resource, queue_handle: resource, num_records: int64 -> keys: string, values: string",
    lambda reader, queue, count: (UNKNOWN.with_rank(1), UNKNOWN.with_rank(1)), _read_up_to,
)  # fmt: skip
READER_NUM_RECORDS = _use_op(
    "ReaderNumRecordsProducedV2", "reader_handle: resource -> records_produced: int64", lambda reader: SCALAR,
    lambda reader_handle: np.asarray(_reader(reader_handle).produced, np.int64),
)  # fmt: skip
READER_NUM_WORK = _use_op(
    "ReaderNumWorkUnitsCompletedV2", "reader_handle: resource -> units_completed: int64", lambda reader: SCALAR,
    lambda reader_handle: np.asarray(_reader(reader_handle).finished, np.int64),
)  # fmt: skip
READER_STATE = _use_op(
    "ReaderSerializeStateV2", "reader_handle: resource -> state: string", lambda reader: SCALAR,
    lambda reader_handle: _object(_reader(reader_handle).state()),
)  # fmt: skip


def _restore(reader_handle, state):
    _reader(reader_handle).restore(state[()])


def _reset(reader_handle):
    _reader(reader_handle).reset()


READER_RESTORE = _use_op("ReaderRestoreStateV2", "reader_handle: resource, state: string -> ",
                         lambda reader, state: (), _restore)
READER_RESET = _use_op("ReaderResetV2", "reader_handle: resource -> ", lambda reader: (), _reset)
