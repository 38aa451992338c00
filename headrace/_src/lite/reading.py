"""A `.tflite` file, read: its graphs, tensors, operators and signatures, after everything in it was checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headrace._src.formats.flatbuffer_reading import BrokenFlatbuffer, FlatbufferFile
from headrace._src.lite import schema
from headrace._src.lite.operator_checks import check_operator

_BYTES = {
    "FLOAT32": 4, "FLOAT16": 2, "INT32": 4, "UINT8": 1, "INT64": 8, "BOOL": 1, "INT16": 2, "COMPLEX64": 8, "INT8": 1,
    "FLOAT64": 8, "COMPLEX128": 16, "UINT64": 8, "UINT32": 4, "UINT16": 2, "BFLOAT16": 2,
}  # fmt: skip
_MOST_BYTES = 1 << 40  # of one tensor


@dataclass
class FileTensor:
    """A tensor of a file: its sizes are -1 where they are not known; `data` are the bytes of a constant."""

    name: str
    type: str
    shape: list[int]
    buffer: int
    data: np.ndarray | None
    scales: list[float] = field(default_factory=list)
    zero_points: list[int] = field(default_factory=list)
    is_variable: bool = False


@dataclass
class FileOperator:
    """An operator of a file: numbers of its tensors, -1 for those that are left out."""

    code: str
    version: int
    inputs: list[int]
    outputs: list[int]
    options: dict[str, Any]


@dataclass
class FileGraph:
    """A graph of a file."""

    name: str
    tensors: list[FileTensor]
    inputs: list[int]
    outputs: list[int]
    operators: list[FileOperator]


@dataclass
class FileSignature:
    """A signature of a file: names of inputs and outputs to the numbers of tensors of a graph."""

    key: str
    graph: int
    inputs: dict[str, int]
    outputs: dict[str, int]


@dataclass
class FileModel:
    """What a `.tflite` file says."""

    description: str
    graphs: list[FileGraph]
    signatures: list[FileSignature]
    metadata: dict[str, bytes]
    size: int

    @property
    def minimum_runtime(self) -> str:
        """The oldest runtime that the file says it needs."""
        return self.metadata.get("min_runtime_version", b"").rstrip(b"\0").decode("ascii", "replace")

    def operators(self) -> set[tuple[str, int]]:
        """The operators of all graphs, as (code, version)."""
        return {(one.code, one.version) for graph in self.graphs for one in graph.operators}


def read_model(data: bytes) -> FileModel:
    """Read a file.

    Raises:
        BrokenFlatbuffer: it is no model, or one whose parts do not fit each other.
    """
    file = FlatbufferFile(data, b"TFL3")
    root = file.root
    if root.number(0, "uint32") != 3:
        raise BrokenFlatbuffer(f"models have version 3, this one has {root.number(0, 'uint32')}")
    codes = [_code(table) for table in root.tables(1)]
    buffers = [_buffer(table, data) for table in root.tables(4)]
    graphs = [_graph(table, codes, buffers) for table in root.tables(2)]
    if not graphs:
        raise BrokenFlatbuffer("it has no graph")
    metadata = {}
    for table in root.tables(6):
        number = table.number(1, "uint32")
        content = _item(buffers, number, "buffer")
        metadata[table.text(0) or ""] = b"" if content is None else bytes(content)
    signatures = [_signature(table, graphs) for table in root.tables(7)]
    model = FileModel(root.text(3) or "", graphs, signatures, metadata, len(data))
    _check_calls(model)
    return model


def _item(items, number, what):
    if not 0 <= number < len(items):
        raise BrokenFlatbuffer(f"there is no {what} {number}, only {len(items)}")
    return items[number]


def _code(table):
    number = max(table.number(0, "int8"), table.number(3, "int32"))
    name = schema.name_of("BuiltinOperator", number)
    if name is None:
        raise BrokenFlatbuffer(f"there is no operator of number {number}")
    version = table.number(2, "int32", 1)
    return (f"CUSTOM {table.text(1)}" if name == "CUSTOM" else name), version


def _buffer(table, data):
    offset, size = table.number(1, "uint64"), table.number(2, "uint64")
    if offset > 1:  # a large one stands after the tables
        if offset + size > len(data):
            raise BrokenFlatbuffer("a buffer is outside of the file")
        return np.frombuffer(data, np.uint8, size, offset)
    found = table.numbers(0, "uint8")
    return found if found is not None and found.size else None


def _numbers(table, slot):
    found = table.numbers(slot, "int32")
    return [] if found is None else found.tolist()


def _graph(table, codes, buffers):
    tensors = [_tensor(one, buffers) for one in table.tables(0)]
    operators = [_operator(one, codes, tensors) for one in table.tables(3)]
    graph = FileGraph(table.text(4) or "", tensors, _numbers(table, 1), _numbers(table, 2), operators)
    for number in (*graph.inputs, *graph.outputs):
        _item(tensors, number, "tensor")
    return graph


def _tensor(table, buffers):
    kind = schema.name_of("TensorType", table.number(1, "int8"))
    if kind is None:
        raise BrokenFlatbuffer(f"there is no type of number {table.number(1, 'int8')}")
    number = table.number(2, "uint32")
    data = _item(buffers, number, "buffer")
    shape, signature = _numbers(table, 0), _numbers(table, 7)
    made = FileTensor(
        table.text(3) or "", kind, signature or shape, number, data, is_variable=table.number(5, "bool", False)
    )
    if any(size < 0 for size in shape) or any(size < -1 for size in signature) or (
        signature and len(signature) != len(shape)
    ):  # fmt: skip
        raise BrokenFlatbuffer(f"the tensor {made.name!r} has the shape {shape}")
    _check_size(made, shape, table.table(6) is not None)
    quantization = table.table(4)
    if quantization is not None:
        scales, zeros = quantization.numbers(2, "float32"), quantization.numbers(3, "int64")
        made.scales = [] if scales is None else scales.tolist()
        made.zero_points = [] if zeros is None else zeros.tolist()
        _check_quantization(made, quantization.number(6, "int32"))
    return made


def _check_size(tensor, shape, is_sparse):
    """A constant has as many bytes as its shape says."""
    width = _BYTES.get(tensor.type)
    size = math.prod(shape) * (width or 1)
    if size > _MOST_BYTES:
        raise BrokenFlatbuffer(f"the tensor {tensor.name!r} would have {size} bytes")
    if tensor.data is None or is_sparse:
        return
    if width is not None and tensor.data.size != size:
        raise BrokenFlatbuffer(f"the tensor {tensor.name!r} needs {size} bytes, and has {tensor.data.size}")
    if tensor.type == "STRING":
        _check_strings(tensor, math.prod(shape))


def _check_strings(tensor, count):
    """Strings begin with their number and the places where they begin and end."""
    data = tensor.data
    places = np.frombuffer(data[: data.size // 4 * 4].tobytes(), "<i4")
    fits = places.size and 0 <= places[0] == count and places.size >= count + 2
    if fits:
        ends = places[1 : count + 2]
        fits = bool(ends[0] == 4 * (count + 2) and np.all(np.diff(ends) >= 0) and ends[-1] <= data.size)
    if not fits:
        raise BrokenFlatbuffer(f"the strings of the tensor {tensor.name!r} are broken")


def _check_quantization(tensor, axis):
    scales, zeros = tensor.scales, tensor.zero_points
    if not all(math.isfinite(scale) and scale >= 0.0 for scale in scales):
        raise BrokenFlatbuffer(f"the tensor {tensor.name!r} has a scale that is no number above zero")
    if len(scales) > 1:
        size = tensor.shape[axis] if 0 <= axis < len(tensor.shape) else None
        if size != len(scales) or len(zeros) not in (0, 1, len(scales)):
            raise BrokenFlatbuffer(f"the tensor {tensor.name!r} has {len(scales)} scales along axis {axis}")
    elif zeros and len(zeros) != len(scales):
        raise BrokenFlatbuffer(f"the tensor {tensor.name!r} has {len(zeros)} zero points")


def _operator(table, codes, tensors):
    code, version = _item(codes, table.number(0, "uint32"), "code of an operator")
    inputs, outputs = _numbers(table, 1), _numbers(table, 2)
    for number in (*inputs, *outputs):
        if number != -1:
            _item(tensors, number, "tensor")
    if -1 in outputs:
        raise BrokenFlatbuffer(f"an output of {code} is left out")
    kind = schema.name_of("BuiltinOptions", table.number(3, "uint8"))
    options = table.table(4)
    made = {} if kind is None or options is None else schema.read_options(kind, options)
    check_operator(code, inputs, outputs, kind if options is not None else None, made, [one.type for one in tensors])
    return FileOperator(code, version, inputs, outputs, made)


def _signature(table, graphs):
    number = table.number(4, "uint32")
    graph = _item(graphs, number, "graph")

    def named(slot, numbers):
        found = {}
        for one in table.tables(slot):
            place = one.number(1, "uint32")
            if place not in numbers:
                raise BrokenFlatbuffer(f"a signature names the tensor {place}, which its graph does not give or take")
            found[one.text(0) or ""] = place
        return found

    return FileSignature(table.text(2) or "", number, named(0, graph.inputs), named(1, graph.outputs))


def _check_calls(model):
    """Graphs that operators run are there, take and give as much, and none runs itself."""
    runs: list[list[int]] = []
    for graph in model.graphs:
        found = []
        for one in graph.operators:
            for name, number in one.options.items():
                if name.endswith("SubgraphIndex"):
                    _item(model.graphs, number, "graph")
                    found.append(number)
                    _check_call(one, name, model.graphs[number])
        runs.append(found)
    _check_order(runs)


def _check_call(one, name, called):
    if name == "initSubgraphIndex":
        fits = not called.inputs and not called.outputs
    elif one.code == "IF":
        fits = len(called.inputs) == len(one.inputs) - 1 and len(called.outputs) == len(one.outputs)
    else:
        outputs = 1 if name == "condSubgraphIndex" else len(one.outputs)
        fits = len(called.inputs) == len(one.inputs) == len(one.outputs) and len(called.outputs) == outputs
    if not fits:
        raise BrokenFlatbuffer(f"{one.code} does not fit the graph {called.name!r} that it runs")


def _check_order(runs):
    """No graph runs itself, also not by others."""
    waiting = [len(found) for found in runs]
    users: list[list[int]] = [[] for _ in runs]
    for graph, found in enumerate(runs):
        for other in found:
            users[other].append(graph)
    done = [graph for graph, count in enumerate(waiting) if not count]
    for graph in done:
        for user in users[graph]:
            waiting[user] -= 1
            if not waiting[user]:
                done.append(user)
    if len(done) != len(runs):
        raise BrokenFlatbuffer("a graph runs itself")
