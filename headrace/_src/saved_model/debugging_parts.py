"""What helps to find errors in a SavedModel: the lines that made operations; checks, and models without them."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

from headrace._src.formats import files
from headrace._src.formats.graph_messages import GraphDebugInfo, NodeDef
from headrace._src.saved_model.constants import DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB
from headrace._src.saved_model.model_contents import parsed

# Without checks, an operation does nothing, or hands its first input on.
_TO_NOTHING = frozenset({"Assert", "PrintV2"})
_TO_IDENTITY = frozenset({"CheckNumerics", "CheckNumericsV2", "Print"})
_MADE_NOWHERE = ("", 0, "")
_keeping_lines = contextvars.ContextVar("keeping_lines", default=False)


def strip_check(proto: NodeDef) -> None:
    """Make an operation that checks or prints one that does not. What comes after it still waits for its inputs."""
    if proto.op in _TO_NOTHING:
        inputs = [f"^{name.removeprefix('^').partition(':')[0]}" for name in proto.input]
        proto.op = "NoOp"
        kind = None
    elif proto.op in _TO_IDENTITY:
        inputs = [*proto.input[:1], *(name for name in proto.input if name.startswith("^"))]
        proto.op = "Identity"
        kind = proto.attr["T"]
    else:
        return
    attributes = {name: proto.attr[name] for name in ("_output_shapes",) if name in proto.attr}
    if kind is not None:
        attributes["T"] = kind
    kept = {name: value.SerializeToString() for name, value in attributes.items()}
    proto.attr.clear()
    for name, data in kept.items():
        proto.attr[name].MergeFromString(data)
    del proto.input[:]
    proto.input.extend(dict.fromkeys(inputs))


class DebugInformation:
    """Collects which line of a program made which operation."""

    def __init__(self) -> None:
        self._message = GraphDebugInfo()
        self._files: dict[str, int] = {}
        self._frames: dict[tuple, int] = {}

    def add(self, function: str, nodes: dict[str, Any]) -> None:
        """Add the operations of a function, by their names."""
        for name, operation in nodes.items():
            file, line, python_function = operation.location
            if file:
                self._message.name_to_trace_id[f"{name}@{function}"] = self._frame(file, line, python_function)

    def _frame(self, file, line, function):
        key = file, line, function
        if key not in self._frames:
            if file not in self._files:
                self._files[file] = len(self._files)
                self._message.files.append(file)
            number = self._frames[key] = len(self._frames) + 1
            frame = self._message.frames_by_id[number]
            frame.file_index, frame.line, frame.func = self._files[file], line, function
            self._message.traces_by_id[number].frame_id.append(number)
        return self._frames[key]

    def serialized(self) -> bytes:
        """The `GraphDebugInfo` message."""
        return self._message.SerializeToString(deterministic=True)


# Lines of operations that go through a SavedModel.


@contextlib.contextmanager
def lines_kept() -> Iterator[None]:
    """Lets SavedModels of the block have the lines that made operations, and operations that are loaded know them."""
    token = _keeping_lines.set(True)
    try:
        yield
    finally:
        _keeping_lines.reset(token)


def wants_lines() -> bool:
    """Whether this is within `lines_kept`."""
    return _keeping_lines.get()


class SavedLines:
    """Which line of a program made which operation of a SavedModel, as far as it says so.

    Args:
        folder: that of the SavedModel.

    Raises:
        DataLossError: the file that says so is damaged.
    """

    def __init__(self, folder: str) -> None:
        path = files.join(folder, DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB)
        data = files.read(path) if files.exists(path) else b""
        self._message = parsed(GraphDebugInfo, data, folder, "the file of its lines")

    def of(self, function: str, node: str) -> tuple[str, int, str]:
        """File, line and function; empty if it is not known."""
        message = self._message
        trace = message.traces_by_id.get(message.name_to_trace_id.get(f"{node}@{function}", 0))
        frame = message.frames_by_id.get(trace.frame_id[0]) if trace and trace.frame_id else None
        if frame is None or not 0 <= frame.file_index < len(message.files):
            return _MADE_NOWHERE
        return message.files[frame.file_index], frame.line, frame.func
