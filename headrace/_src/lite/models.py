"""A model of TensorFlow Lite while it is made: graphs of tensors and operators, and the file that they become."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.formats.flatbuffers import Scalar, Vector, written
from headrace._src.lite import schema
from headrace._src.lite.runtimes import oldest_runtime

_NO_TENSOR = -1
_LAST_SHORT_CODE = 127
PART_PREFIX = "part_"  # what names of tensors in loops and branches begin with
_CALLS = re.compile(r"^((Stateful)?PartitionedCall(_\d+)?/)+")  # what the operations of a called function begin with


class LiteTensor:
    """A tensor of a graph.

    Args:
        name: for those who look at the model.
        dtype: of its elements.
        shape: its sizes, None for those that are not known; None when its rank is not.
        value: of a constant.
    """

    def __init__(self, name: str, dtype: dtypes.DType, shape: list | None, value: np.ndarray | None = None):
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.value = value
        self.resource: Any = None  # the variable or table that it is a handle of


@dataclass
class LiteOperator:
    """An operator: its code, inputs (None for one that is left out), outputs and options."""

    code: str
    inputs: list[LiteTensor | None]
    outputs: list[LiteTensor]
    kind: str = ""  # the name of the table of options
    options: dict = field(default_factory=dict)
    version: int = 1
    has_effects: bool = False  # it stays though nobody reads its results


@dataclass
class LiteGraph:
    """A graph, its inputs and outputs."""

    name: str
    inputs: list[LiteTensor] = field(default_factory=list)
    outputs: list[LiteTensor] = field(default_factory=list)
    operators: list[LiteOperator] = field(default_factory=list)
    is_part: bool = False  # of a loop or branch of another graph


@dataclass
class LiteSignature:
    """A function of a model by name: inputs and outputs of a graph by theirs."""

    key: str
    graph: int
    inputs: dict[str, LiteTensor]
    outputs: dict[str, LiteTensor]


def model_bytes(graphs: list[LiteGraph], signatures: list[LiteSignature], minimum_runtime: str = "") -> bytes:
    """The file of a model."""
    return _Model(graphs, signatures, minimum_runtime or _needed_runtime(graphs)).bytes()


def _needed_runtime(graphs):
    return oldest_runtime((one.code, one.version) for graph in graphs for one in graph.operators)


class _Model:
    def __init__(self, graphs, signatures, minimum_runtime):
        self._graphs = graphs
        self._signatures = signatures
        self._minimum = minimum_runtime
        self._buffers: list = [{}]  # the first is empty, and stands for none
        self._constants: dict[int, int] = {}  # by the identity of an array, its buffer
        self._codes: dict[tuple, int] = {}
        self._names: dict[str, int] = {}  # how often each was asked for
        self._places: list[dict[int, int]] = []

    def bytes(self):
        subgraphs = [self._subgraph(graph) for graph in self._graphs]
        metadata = len(self._buffers)
        self._buffers.append(_buffer(np.frombuffer(self._minimum.encode().ljust(16, b"\0"), np.uint8)))
        signatures = [self._signature(one) for one in self._signatures]
        root: dict[int, Any] = {
            0: Scalar("uint32", 3), 1: [_operator_code(*key) for key in self._codes], 2: subgraphs,
            3: "made by headrace", 4: self._buffers,
            6: [{0: "min_runtime_version", 1: Scalar("uint32", metadata)}],
        }  # fmt: skip
        if signatures:
            root[7] = signatures
        return written(root, b"TFL3")

    def _subgraph(self, graph):
        places: dict[int, int] = {}
        tensors = []

        def number(tensor):
            if tensor is None:
                return _NO_TENSOR
            if id(tensor) not in places:
                places[id(tensor)] = len(tensors)
                tensors.append(self._tensor(tensor, f"{PART_PREFIX}{len(self._places)}/" if graph.is_part else ""))
            return places[id(tensor)]

        inputs = [number(tensor) for tensor in graph.inputs]
        operators = [self._operator(one, number) for one in graph.operators]
        outputs = [number(tensor) for tensor in graph.outputs]
        self._places.append(places)
        return {
            0: tensors, 1: Vector(np.array(inputs, np.int32)), 2: Vector(np.array(outputs, np.int32)), 3: operators,
            4: graph.name,
        }  # fmt: skip

    def _tensor(self, tensor, prefix):
        dims = tensor.shape
        table: dict[int, Any] = {
            1: Scalar("int8", schema.type_number(tensor.dtype)), 2: Scalar("uint32", self._buffer_of(tensor)),
            3: self._name_of(prefix + _CALLS.sub("", tensor.name)),
        }  # fmt: skip
        if dims is not None:
            table[0] = Vector(np.array([1 if size is None else size for size in dims], np.int32))
            table[8] = Scalar("bool", True)
            if None in dims:
                table[7] = Vector(np.array([-1 if size is None else size for size in dims], np.int32))
        return table

    def _name_of(self, base):
        """A name for a tensor, which no other has: the quantizer knows tensors by their names."""
        count = self._names.get(base, 0)
        self._names[base] = count + 1
        return self._name_of(f"{base}_{count}") if count else base

    def _buffer_of(self, tensor):
        if tensor.value is None:
            return 0
        key = id(tensor.value)
        if key not in self._constants:
            self._constants[key] = len(self._buffers)
            self._buffers.append(_buffer(_raw(tensor.value)))
        return self._constants[key]

    def _operator(self, one, number):
        code = self._codes.setdefault((one.code, one.version), len(self._codes))
        table: dict[int, Any] = {
            0: Scalar("uint32", code), 1: Vector(np.array([number(x) for x in one.inputs], np.int32)),
            2: Vector(np.array([number(x) for x in one.outputs], np.int32)),
        }  # fmt: skip
        if one.kind:
            table[3] = Scalar("uint8", schema.enum("BuiltinOptions")[one.kind])
            table[4] = schema.options(one.kind, **one.options)
        return table

    def _signature(self, one):
        places = self._places[one.graph]

        def maps(named):
            return [{0: name, 1: Scalar("uint32", places[id(tensor)])} for name, tensor in named.items()]

        return {0: maps(one.inputs), 1: maps(one.outputs), 2: one.key, 4: Scalar("uint32", one.graph)}


def _operator_code(name, version):
    number = schema.enum("BuiltinOperator")[name]
    return {
        0: Scalar("int8", min(number, _LAST_SHORT_CODE)), 2: Scalar("int32", version), 3: Scalar("int32", number),
    }  # fmt: skip


def _buffer(data):
    return {0: Vector(data, 16)}


def _raw(array):
    if array.dtype != object:
        return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
    items = array.ravel().tolist()  # strings: their number, where each begins, where the last ends, and all of them
    starts = np.cumsum([4 * (len(items) + 2), *map(len, items)]).astype("<i4")
    return np.frombuffer(np.int32(len(items)).tobytes() + starts.tobytes() + b"".join(items), np.uint8)
