"""What lists of tensors hold: TensorFlow Lite has none, so that each is one tensor, whose first axis is the list.

The element of a list has one dtype and one rank. Both are known from what makes the list and from what is put in or
taken out anywhere: also in the bodies of loops that the list goes through.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from headrace._src.core import dtypes
from headrace._src.graph.building.operation import called_graphs
from headrace._src.lite.building import Unsupported
from headrace._src.ops.arrays.filling import CONST

_LOOPS = ("While", "StatelessWhile")
_BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
_ANY = object()  # a size of which nothing was said yet


class ListType(NamedTuple):
    """Dtype and sizes of an element, and how many there are; None for sizes that are not known."""

    dtype: dtypes.DType
    dims: list[int | None]
    count: int | None


class ListTypes:
    """The types of the lists of a graph, and of those that its loops and branches run."""

    def __init__(self, nodes: Iterable[Any] = ()):
        self._same: dict[int, int] = {}  # a tensor, by identity, to another one that is the same list
        self._facts: dict[int, _Facts] = {}
        self._kept: list = []  # whose identities are known
        self.read(nodes)

    def read(self, nodes: Iterable[Any]) -> None:
        """Learn from operations."""
        for node in nodes:
            rule = _RULES.get(node.type)
            if rule is not None:
                rule(self, node)

    def of(self, tensor: Any) -> ListType:
        """The type of a list.

        Raises:
            Unsupported: too little is known of it.
        """
        facts = self._facts.get(self._root(tensor))
        if facts is None or facts.dtype is None or facts.dims is None:
            raise Unsupported("a list of tensors (TensorArray) whose elements have no known rank; give element_shape")
        if facts.differs:
            raise Unsupported("a list of tensors (TensorArray) whose elements have several shapes")
        count = None if facts.count is _ANY else facts.count
        return ListType(facts.dtype, [None if size is _ANY else size for size in facts.dims], count)

    def learn(self, tensor: Any, dtype: Any = None, dims: Any = None, count: Any = _ANY) -> None:
        """Take note of what is said of a list."""
        self._facts.setdefault(self._root(tensor), _Facts()).learn(dtype, dims, count)

    def join(self, one: Any, other: Any) -> None:
        """Two tensors are the same list, maybe at two times."""
        if one.dtype != dtypes.variant:
            return
        first, second = self._root(one), self._root(other)
        if first != second:
            self._same[second] = first
            facts = self._facts.pop(second, None)
            if facts is not None:
                self._facts.setdefault(first, _Facts()).learn(facts.dtype, facts.dims, facts.count)
                self._facts[first].differs |= facts.differs

    def _root(self, tensor):
        self._kept.append(tensor)
        place = id(tensor)
        while place in self._same:
            place = self._same[place]
        return place


class _Facts:
    """What was said of a list so far."""

    def __init__(self):
        self.dtype = self.dims = None
        self.count: Any = _ANY
        self.differs = False

    def learn(self, dtype, dims, count):
        self.dtype = self.dtype or dtype
        if dims is not None:
            if self.dims is None:
                self.dims = [_ANY if size is None else size for size in dims]
            elif len(dims) != len(self.dims):
                self.differs = True
            else:
                self.dims = [self._merged(one, other) for one, other in zip(self.dims, dims)]
        if count is not _ANY:
            self.count = count if self.count is _ANY or self.count == count else None

    def _merged(self, one, other):
        if one is _ANY or one is None:
            return _ANY if other is None else other
        self.differs |= other not in (one, None, _ANY)
        return one


def _dims(shape):
    return None if shape.rank is None else shape.as_list()


def _constant(tensor):
    """The value of a tensor that is a constant, or None."""
    operation = tensor.op
    return operation.attrs["value"]._a if operation.record is CONST else None


def _element_dims(tensor):
    """The sizes that an input `element_shape` says; a single number stands for any shape."""
    value = _constant(tensor)
    return None if value is None or value.ndim == 0 else [None if size < 0 else int(size) for size in value]


def _from_tensor(types, node):
    dims = _dims(node.inputs[0].shape)
    types.learn(
        node.outputs[0], node.inputs[0].dtype, None if dims is None else dims[1:], None if dims is None else dims[0]
    )


def _reserved(types, node):
    count = _constant(node.inputs[1])
    types.learn(
        node.outputs[0], node.attrs["element_dtype"], _element_dims(node.inputs[0]),
        None if count is None else int(count),
    )  # fmt: skip


def _empty(types, node):
    types.learn(node.outputs[0], node.attrs["element_dtype"], _element_dims(node.inputs[0]), None)


def _set(types, node):
    types.join(node.inputs[0], node.outputs[0])
    item = node.inputs[2]
    types.learn(node.outputs[0], item.dtype, _dims(item.shape))
    if node.attrs.get("resize_if_index_out_of_bounds"):
        types.learn(node.outputs[0], count=None)


def _pushed(types, node):
    types.join(node.inputs[0], node.outputs[0])
    types.learn(node.outputs[0], node.inputs[1].dtype, _dims(node.inputs[1].shape), None)


def _popped(types, node):
    types.join(node.inputs[0], node.outputs[0])
    types.learn(node.outputs[0], node.outputs[1].dtype, _dims(node.outputs[1].shape), None)


def _taken(types, node):
    types.learn(node.inputs[0], node.outputs[0].dtype, _dims(node.outputs[0].shape))


def _stacked(types, node):
    dims = _dims(node.outputs[0].shape)
    types.learn(node.inputs[0], node.outputs[0].dtype, None if dims is None else dims[1:])


def _resized(types, node):
    types.join(node.inputs[0], node.outputs[0])
    types.learn(node.outputs[0], count=None)


def _passed(types, node):
    types.join(node.inputs[0], node.outputs[0])


def _loop(types, node):
    for name in ("cond", "body"):
        function = node.attrs[name]
        types.read(function.nodes)
        for outer, inner in zip(node.inputs, function.inputs):
            types.join(outer, inner)
    for given, computed, outer in zip(node.inputs, node.attrs["body"].outputs, node.outputs):
        types.join(given, computed)
        types.join(given, outer)


def _branch(types, node):
    for function in called_graphs(node.attrs):
        types.read(function.nodes)
        for outer, inner in zip(node.inputs[1:], function.inputs):
            types.join(outer, inner)
        for computed, outer in zip(function.outputs, node.outputs):
            types.join(outer, computed)


_RULES = {
    "TensorListFromTensor": _from_tensor, "TensorListReserve": _reserved, "EmptyTensorList": _empty,
    "TensorListSetItem": _set, "TensorListPushBack": _pushed, "TensorListPopBack": _popped,
    "TensorListGetItem": _taken, "TensorListStack": _stacked, "TensorListGather": _stacked,
    "TensorListResize": _resized, "Identity": _passed, **dict.fromkeys(_LOOPS, _loop),
    **dict.fromkeys(_BRANCHES, _branch),
}  # fmt: skip
