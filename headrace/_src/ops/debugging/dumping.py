"""Dumping what ops compute, in the files that TensorBoard's Debugger V2 reads."""

import atexit
import collections
import os
import re
import socket
import sys
import threading
import time
import uuid
import weakref

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import HOST, context
from headrace._src.core.thread_state import carried
from headrace._src.core.tracebacks import IMPLEMENTATION
from headrace._src.formats import records, wire
from headrace._src.op.api import api
from headrace._src.op.observers import add_observer, output_arrays, remove_observer
from headrace._src.version import VERSION

MODES = {"NO_TENSOR": 1, "CURT_HEALTH": 2, "CONCISE_HEALTH": 3, "FULL_HEALTH": 4, "SHAPE": 5, "FULL_TENSOR": 7}
_FILES = ("metadata", "source_files", "stack_frames", "graphs", "execution", "graph_execution_traces")
_SHAPE_DIMENSIONS = 6


def _summary(mode, array, dtype):
    """What a mode keeps of a tensor, as an encoded `TensorProto`; empty when it keeps nothing of this dtype."""
    if mode == "FULL_TENSOR":
        return wire.tensor_proto(array, dtype)
    if mode == "SHAPE":
        if dtype._kind not in "fciub":
            return b""
        shape = list(array.shape)[-_SHAPE_DIMENSIONS:]
        shape += [0] * (_SHAPE_DIMENSIONS - len(shape))
        numbers = [-1, dtype.as_datatype_enum, array.ndim, array.size, *shape]
        return wire.tensor_proto(np.array(numbers, np.float64), dtypes.float64)
    if dtype._kind != "f":
        return b""
    wide = array.astype(np.float64)
    negative, positive, nan = (
        int(np.count_nonzero(test(wide))) for test in (np.isneginf, np.isposinf, np.isnan)
    )
    if mode == "CURT_HEALTH":
        numbers = [-1, float(negative + positive + nan > 0)]
    elif mode == "CONCISE_HEALTH":
        numbers = [-1, array.size, negative, positive, nan]
    else:
        finite = wide[np.isfinite(wide)]
        counts = [int(np.count_nonzero(test)) for test in (finite < 0, finite == 0, finite > 0)]
        head = [-1, -1, dtype.as_datatype_enum, array.ndim, array.size]
        numbers = [*head, negative, positive, nan, *counts]
    return wire.tensor_proto(np.array(numbers, np.float64), dtypes.float64)


class DebugEventsWriter:
    """Writes one run: metadata, source files, stack frames, devices and what ops computed.

    Args:
        dump_root: the folder of the files.
        mode: one of `MODES`.
        circular_buffer_size: how many executions to keep for the end of the run; 0 or less writes all at once.
        op_regex: only outputs of ops whose type matches are kept (the op itself is recorded in any case).
        tensor_dtypes: only outputs of these dtypes, or for which this function of a dtype says so.
    """

    def __init__(self, dump_root, mode, circular_buffer_size, op_regex=None, tensor_dtypes=None):
        os.makedirs(dump_root, exist_ok=True)
        self.dump_root = dump_root
        self.mode = mode
        self.host = socket.gethostname()
        self.run_id = uuid.uuid4().hex[:8]
        self._op_regex = None if op_regex is None else re.compile(op_regex)
        by_list = tensor_dtypes is not None and not callable(tensor_dtypes)
        self._wanted = tensor_dtypes.__contains__ if by_list else tensor_dtypes
        prefix = os.path.join(dump_root, f"tfdbg_events.{int(time.time())}.{self.host}.")
        self._files = {name: open(prefix + name, "ab") for name in _FILES}  # until Close
        self._lock = threading.RLock()
        self._buffer = collections.deque(maxlen=circular_buffer_size) if circular_buffer_size > 0 else None
        self._source_files: dict[str, int] = {}
        self._frames: dict[tuple, str] = {}
        self._devices: dict[str, int] = {}
        self._numbers: dict[int, tuple] = {}
        self._count = 0
        metadata = wire.text(1, VERSION) + wire.text(2, "debug.Event:1") + wire.text(3, self.run_id)
        self._write("metadata", wire.message(3, metadata))
        self.FlushNonExecutionFiles()

    def _write(self, name, body):
        self._files[name].write(records.framed(wire.double(1, time.time()) + body))

    def _number(self, array):
        """The number of a tensor, known by its array as long as that lives."""
        entry = self._numbers.get(id(array))
        if entry is not None and entry[0]() is array:
            return entry[1]
        key = id(array)

        def forget(reference):
            if self._numbers.get(key, (None,))[0] is reference:
                del self._numbers[key]

        self._numbers[key] = (weakref.ref(array, forget), self._count)
        self._count += 1
        return self._count - 1

    def _device(self, name):
        if name not in self._devices:
            self._devices[name] = len(self._devices) + 1
            device = wire.text(1, name) + wire.integer(2, self._devices[name])
            self._write("graphs", wire.message(12, device))
        return self._devices[name]

    def _frame_id(self, path, line, function):
        key = (path, line, function)
        if key not in self._frames:
            if path not in self._source_files:
                self._source_files[path] = len(self._source_files)
                source = wire.text(1, path) + wire.text(2, self.host)
                source += b"".join(wire.text(3, text) for text in _source_lines(path))
                self._write("source_files", wire.message(4, source))
            self._frames[key] = str(uuid.uuid4())
            place = wire.integer(1, self._source_files[path]) + wire.integer(2, line) + wire.text(4, function)
            frame = wire.text(1, self._frames[key]) + wire.message(2, place)
            self._write("stack_frames", wire.message(6, frame))
        return self._frames[key]

    def _code_location(self):
        """Where the user's program is: the frames outside this package, outermost first."""
        frames = []
        frame = sys._getframe(1)
        while frame is not None:
            path = frame.f_code.co_filename
            if not path.startswith(IMPLEMENTATION):
                frames.append((os.path.abspath(path), frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
        return wire.text(1, self.host) + b"".join(wire.text(2, self._frame_id(*f)) for f in reversed(frames))

    def _kept(self, op, array):
        dtype = dtypes.FROM_NUMPY.get(array.dtype, dtypes.string)
        if array.dtype == object and not all(isinstance(item, bytes) for item in array.ravel().tolist()):
            return b""  # handles of resources
        if self.mode == "NO_TENSOR":
            return None
        if self._op_regex is not None and not self._op_regex.match(op.name):
            return b""
        if self._wanted is not None and not self._wanted(dtype):
            return b""
        return _summary(self.mode, array, dtype)

    def record(self, op, arrays, attrs, results):
        """Record one op that has run."""
        outputs = [np.asarray(array) for array in output_arrays(op, results)]
        inputs = [array for value in arrays for array in (value if isinstance(value, list) else [value])]
        with self._lock:
            if self._files["execution"].closed:
                return
            body = wire.text(1, op.name) + wire.integer(2, len(outputs))
            body += wire.integers(4, [self._number(array) for array in inputs])
            body += wire.integers(5, [self._number(array) for array in outputs])
            body += wire.integer(6, MODES[self.mode])
            for array in outputs:
                summary = self._kept(op, array)
                if summary is not None:
                    body += wire.message(7, summary)
            body += wire.message(8, self._code_location())
            body += wire.integers(9, [self._device(context.device or HOST)] * len(outputs))
            event = records.framed(wire.double(1, time.time()) + wire.message(9, body))
            if self._buffer is None:
                self._files["execution"].write(event)
            else:
                self._buffer.append(event)

    def FlushNonExecutionFiles(self):
        """Write out all but executions."""
        with self._lock:
            for name in ("metadata", "source_files", "stack_frames", "graphs"):
                self._files[name].flush()

    def FlushExecutionFiles(self):
        """Write out the executions that are kept so far."""
        with self._lock:
            while self._buffer:
                self._files["execution"].write(self._buffer.popleft())
            self._files["execution"].flush()

    def Close(self):
        """Write out everything and close the files."""
        with self._lock:
            if not self._files["execution"].closed:
                self.FlushNonExecutionFiles()
                self.FlushExecutionFiles()
                for file in self._files.values():
                    file.close()


def _source_lines(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


class _State(threading.local):
    writer = None
    observer = None


_state = carried(_State())


@api("debugging.experimental.enable_dump_debug_info", dispatch=False)
def enable_dump_debug_info(
    dump_root,
    tensor_debug_mode="NO_TENSOR",
    circular_buffer_size=1000,
    op_regex=None,
    tensor_dtypes=None,
) -> DebugEventsWriter:
    """Record the ops of this thread in files that TensorBoard's Debugger V2 reads.

    Functions run op by op meanwhile, those with `jit_compile=True` too.

    Args:
        dump_root: the folder of the files.
        tensor_debug_mode: what to keep of results: "NO_TENSOR", "CURT_HEALTH" (whether there is a NaN or an
            infinity), "CONCISE_HEALTH" (how many), "FULL_HEALTH" (dtype and shape too), "SHAPE" or
            "FULL_TENSOR".
        circular_buffer_size: keep only so many of the last ops, and write them when recording ends; 0 or
            less writes all of them, as they run.
        op_regex: keep results only of ops whose type matches this regular expression.
        tensor_dtypes: keep results only of these dtypes; or a function of a dtype that says which.

    Returns:
        The writer, whose `FlushExecutionFiles` writes out what is kept so far.

    Raises:
        ValueError: for another mode, or when this thread already records in another way.
    """
    if tensor_debug_mode not in MODES:
        raise ValueError(
            f"debugging.experimental.enable_dump_debug_info: tensor_debug_mode must be one of {list(MODES)}, "
            f"got {tensor_debug_mode!r}."
        )
    if not isinstance(circular_buffer_size, int):
        raise TypeError(
            f"debugging.experimental.enable_dump_debug_info: circular_buffer_size must be an int, got "
            f"{circular_buffer_size!r}."
        )
    if tensor_dtypes is not None and not callable(tensor_dtypes):
        if not isinstance(tensor_dtypes, (list, tuple)):
            raise ValueError(
                f"debugging.experimental.enable_dump_debug_info: tensor_dtypes must be a list of dtypes or a "
                f"function, got {tensor_dtypes!r}."
            )
        tensor_dtypes = [dtypes.as_dtype(dtype) for dtype in tensor_dtypes]
    writer = _state.writer
    if writer is not None:
        if (writer.dump_root, writer.mode) == (dump_root, tensor_debug_mode):
            return writer
        if writer.dump_root == dump_root:
            raise ValueError(
                f"debugging.experimental.enable_dump_debug_info: {dump_root!r} is being written in the mode "
                f"{writer.mode}, not {tensor_debug_mode}."
            )
        disable_dump_debug_info()
    writer = DebugEventsWriter(dump_root, tensor_debug_mode, circular_buffer_size, op_regex, tensor_dtypes)

    def observe(op, arrays, attrs, results):
        if _state.writer is writer:
            writer.record(op, arrays, attrs, results)

    _state.writer, _state.observer = writer, observe
    add_observer(observe)
    atexit.register(writer.Close)
    return writer


@api("debugging.experimental.disable_dump_debug_info", dispatch=False)
def disable_dump_debug_info() -> None:
    """Stop what `enable_dump_debug_info` began in this thread, and write out what is left."""
    writer = _state.writer
    if writer is not None:
        remove_observer(_state.observer)
        _state.writer = _state.observer = None
        writer.Close()
        atexit.unregister(writer.Close)
