"""Turning the graph of one element into operations on a whole batch where sizes differ from element to element.

Such a value of all elements is `Ragged`: the rows of the elements one after another, and where those of each begin.
Ops on other values are converted by the rules of `vectorization_rules`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.graph.vectorizing.rules import RULES, Batch, Batched, NoRule, flatten, unstacked, value_of
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import REGISTRY
from headrace._src.op.traits import ELEMENTWISE, EQUAL_SHAPES


def call_op(name, *inputs, **attrs):
    return REGISTRY[name](*inputs, **attrs)


def to_int64(tensor):
    return tensor if tensor.dtype is dtypes.int64 else call_op("Cast", tensor, DstT=dtypes.int64)


class Ragged:
    """A value whose first dimension differs from element to element.

    Args:
        values: the rows of all elements.
        splits: where those of each element begin, and at last where they end, as int64.
        counts: whether the rows of each element are 0, 1, 2 ..., as the indices of sparse vectors without gaps are.
    """

    stacked = True

    def __init__(self, values, splits, counts=False):
        self.tensor = values
        self.splits = splits
        self.counts = counts

    def like(self, values) -> Ragged:
        """Other rows, as many for each element."""
        return Ragged(values, self.splits)


RAGGED_RULES: dict = {}
# These have a rule here that applies to stacked values too.
_MAKE_RAGGED = {"StringSplitV2", "ParseExampleV2", "Range", "Fill", "UnicodeDecode"}
# These take functions apart.
_CALLS = {"PartitionedCall", "StatefulPartitionedCall"}


def ragged_rule(*names):
    """Decorator: as `rule`, for operations of which an input is `Ragged`, or which make ragged values."""

    def declare(function):
        for name in names:
            RAGGED_RULES[name] = function
        return function

    return declare


class RaggedBatch(Batch):
    """The conversion of a graph for many elements at once, whose sizes may differ.

    Args:
        size: how many elements there are, a scalar tensor.
    """

    def __init__(self, size):
        super().__init__(size, fallback=False, warn=False, on_host=True)
        self._rows: dict = {}  # by the identity of splits: these, the lengths of elements, the elements of rows

    def of_size(self, size):
        raise NoRule("loops have other sizes")

    def _convert(self, graph, node, values):
        inputs = self._inputs(node, values)
        flat = flatten(inputs)
        name = node.record.name
        is_ragged = any(isinstance(x, Ragged) for x in flat)
        if name not in _CALLS and (is_ragged or (name in _MAKE_RAGGED and any(x.stacked for x in flat))):
            results = self._by_rule(node, inputs)
        else:
            results = super()._convert(graph, node, values)
            # What a function returns is ragged as it is.
            results = [x.tensor if isinstance(x, Batched) and isinstance(x.tensor, Ragged) else x for x in results]
        for result, tensor in zip(results, node.outputs):
            if name not in _CALLS and isinstance(result, Batched) and result.stacked:
                if not tensor.shape.is_fully_defined() and not result.tensor.shape[1:].is_fully_defined():
                    raise NoRule("a size may differ from element to element")
        return results

    def _by_rule(self, node, inputs):
        found = RAGGED_RULES.get(node.record.name) or _elementwise_rule(node.record)
        if found is None or node.custom_gradient is not None:
            raise NoRule("there is no converter for sizes that differ")
        result = found(self, node, *inputs)
        if not isinstance(result, (list, tuple)) or isinstance(result, Batched):
            result = [result]
        return [x if x is None or isinstance(x, (Batched, Ragged)) else Batched(x, True) for x in result]

    def apply(self, node, inputs, attrs=None, op=None):
        """As for other batches; of ragged values, the rows are given to the op."""
        return super().apply(node, [x.tensor if isinstance(x, Ragged) else x for x in inputs], attrs, op)

    def _tell_shape(self, value, inner):
        if not isinstance(value, Ragged):
            super()._tell_shape(value, inner)
        elif inner.shape.rank is not None:
            value.tensor.set_shape(TensorShape([None]).concatenate(inner.shape[1:]))

    def stack(self, value):
        if isinstance(value, Ragged):
            raise NoRule("sizes differ from element to element")
        return super().stack(value)

    # Arithmetic of rows.

    def count(self):
        """The number of elements as int64."""
        return to_int64(self.size)

    def _of(self, splits):
        return self._rows.setdefault(id(splits), {"splits": splits})

    def starts(self, splits):
        """Where the rows of each element begin."""
        known = self._of(splits)
        if "starts" not in known:
            known["starts"] = slice_of(splits, None, -1)
        return known["starts"]

    def lengths(self, splits):
        """How many rows each element has."""
        known = self._of(splits)
        if "lengths" not in known:
            known["lengths"] = slice_of(splits, 1, None) - self.starts(splits)
        return known["lengths"]

    def owners(self, splits):
        """The number of the element of each row."""
        known = self._of(splits)
        if "owners" not in known:
            total = splits[-1]
            rows = call_op("Range", to_tensor(0, dtypes.int64), total, to_tensor(1, dtypes.int64))
            sorted_ends, rows = call_op("ExpandDims", slice_of(splits, 1, None), 0), call_op("ExpandDims", rows, 0)
            known["owners"] = call_op("UpperBound", sorted_ends, rows, out_type=dtypes.int64)[0]
        return known["owners"]

    def splits_of(self, lengths):
        """The splits of rows that are so many for each element."""
        sums = call_op("Cumsum", lengths, to_tensor(0))
        return call_op("ConcatV2", [to_tensor([0], dtypes.int64), sums], to_tensor(0))

    def spread(self, value: Batched, splits):
        """A stacked value, repeated for each row of its element."""
        return call_op("GatherV2", value.tensor, self.owners(splits), to_tensor(0))

    def picked(self, x: Ragged, starts, stops) -> Ragged:
        """Of each element the rows from one place up to another, both counted from its first row."""
        before = self.starts(x.splits)
        splits, places = call_op("RaggedRange", before + starts, before + stops, to_tensor(1, dtypes.int64))
        return Ragged(call_op("GatherV2", x.tensor, places, to_tensor(0)), splits)

    def joined(self, parts) -> Ragged:
        """Values, given as rows and how many of them each element has, one after another."""
        total = parts[0][1]
        for _, lengths in parts[1:]:
            total = total + lengths
        splits = self.splits_of(total)
        at, places = self.starts(splits), []
        for _, lengths in parts:
            places.append(call_op("RaggedRange", at, at + lengths, to_tensor(1, dtypes.int64))[1])
            at = at + lengths
        order = call_op("InvertPermutation", call_op("ConcatV2", places, to_tensor(0)))
        values = call_op("ConcatV2", [values for values, _ in parts], to_tensor(0))
        return Ragged(call_op("GatherV2", values, order, to_tensor(0)), splits)

    def require(self, condition):
        """Fail unless this holds for all elements: one by one, they then say what is wrong."""
        holds = call_op("All", condition, to_tensor([0]), keep_dims=False)
        call_op("Assert", holds, [to_tensor("an element cannot be computed with others")])


def slice_of(vector, begin, end):
    """A slice of a vector."""
    return call_op(
        "StridedSlice", vector, [begin or 0], [end or 0], [1], begin_mask=int(begin is None), end_mask=int(end is None),
        ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0,
    )  # fmt: skip


def known_value(value, what):
    known = value_of(unstacked(value, what))
    if known is None:
        raise NoRule(f"its {what} is not known")
    return known


def rank_of(batch, value):
    rank = value.tensor.shape.rank
    if rank is None:
        raise NoRule("the rank of a tensor is unknown")
    return rank if isinstance(value, Ragged) else rank - value.stacked


def _inner_dims(x: Ragged) -> list:
    dims = x.tensor.shape[1:]
    if dims.rank is None or not dims.is_fully_defined():
        raise NoRule("more than one size may differ")
    return dims.as_list()


# Ops that make ragged values; those that take strings apart are in `ragged_vectorization_strings`.


@ragged_rule("Range")
def _range(batch, node, start, limit, delta):
    if node.outputs[0].dtype not in dtypes.INDEX or any(isinstance(x, Ragged) for x in (start, limit, delta)):
        raise NoRule("its numbers are no integers")
    start, limit, delta = (batch.stack(x) for x in (start, limit, delta))
    zero = to_tensor(0, start.dtype)
    up = call_op("LogicalAnd", delta > zero, start <= limit)
    batch.require(call_op("LogicalOr", up, call_op("LogicalAnd", delta < zero, start >= limit)))
    splits, values = call_op("RaggedRange", start, limit, delta)
    return Ragged(values, splits)


@ragged_rule("Fill")
def _fill(batch, node, dims, value):
    if isinstance(dims, Ragged) or isinstance(value, Ragged):
        raise NoRule("its sizes differ")
    if not dims.stacked:
        return RULES["Fill"](batch, node, dims, value)
    if dims.tensor.shape.as_list()[1:] != [1] or rank_of(batch, value):
        raise NoRule("it has several dimensions")
    lengths = to_int64(call_op("Reshape", dims.tensor, [-1]))
    batch.require(lengths >= to_tensor(0, dtypes.int64))
    splits = batch.splits_of(lengths)
    if value.stacked:
        return Ragged(batch.spread(value, splits), splits)
    return Ragged(call_op("Fill", call_op("ExpandDims", splits[-1], 0), value.tensor), splits)


# Ops that treat each row by itself.


def _elementwise_rule(record):
    """The rule that the trait ELEMENTWISE implies; None for other ops."""
    if ELEMENTWISE not in record.traits or EQUAL_SHAPES in record.traits:
        return None
    return _unary if len(record.signature.inputs) == 1 else _broadcasting


def _unary(batch, node, x):
    return x.like(batch.apply(node, [x])[0])


@ragged_rule("LookupTableFindV2")
def _find(batch, node, table, keys, default):
    if not isinstance(keys, Ragged):
        raise NoRule("its default values differ")
    return keys.like(batch.apply(node, [unstacked(table, "table"), keys, unstacked(default, "default value")])[0])


def _aligned(batch, inputs):
    """Tensors of rows that broadcast against each other as the inputs of each element would."""
    ragged = [x for x in inputs if isinstance(x, Ragged)]
    splits, rank = ragged[0].splits, rank_of(batch, ragged[0])
    tensors = []
    for x in inputs:
        own = rank_of(batch, x)
        if isinstance(x, Ragged):
            if x.splits is not splits or own != rank:
                raise NoRule("its inputs differ in size")
            tensors.append(x.tensor)
        elif own >= rank and not (own == rank and not x.stacked and x.tensor.shape[0] == 1):
            raise NoRule("its inputs differ in rank")
        elif not x.stacked:
            tensors.append(x.tensor)
        else:
            tensor = batch.spread(x, splits)
            for _ in range(rank - 1 - own):
                tensor = call_op("ExpandDims", tensor, 1)
            tensors.append(tensor)
    return ragged[0], tensors


def _broadcasting(batch, node, *inputs):
    first, tensors = _aligned(batch, inputs)
    return first.like(batch.apply(node, tensors)[0])


@ragged_rule("StringJoin")
def _string_join(batch, node, inputs):
    if any(not isinstance(x, Ragged) and rank_of(batch, x) for x in inputs):
        raise NoRule("its inputs differ in rank")
    first, tensors = _aligned(batch, inputs)
    return first.like(batch.apply(node, [tensors])[0])


@ragged_rule("GatherV2")
def _gather(batch, node, params, indices, axis):
    if not isinstance(indices, Ragged) or params.stacked or node.attrs["batch_dims"]:
        raise NoRule("it takes rows of values whose sizes differ")
    if int(known_value(axis, "axis")) not in (0, -rank_of(batch, params)):
        raise NoRule("its axis is not the first")
    return indices.like(batch.apply(node, [params, indices, axis])[0])


@ragged_rule("OneHot")
def _one_hot(batch, node, indices, depth, on, off):
    if not isinstance(indices, Ragged) or node.attrs["axis"] not in (-1, rank_of(batch, indices)):
        raise NoRule("its axis is not the last")
    others = [unstacked(value, "parameter") for value in (depth, on, off)]
    return indices.like(batch.apply(node, [indices, *others])[0])


# Sizes and shapes.


@ragged_rule("Shape")
def _shape(batch, node, x):
    dtype, lengths = node.attrs["out_type"], batch.lengths(x.splits)
    sizes = [lengths, *(call_op("ZerosLike", lengths) + to_tensor(n, dtypes.int64) for n in _inner_dims(x))]
    return call_op("Cast", call_op("Pack", sizes, axis=1), DstT=dtype)


@ragged_rule("Size")
def _size(batch, node, x):
    count = int(np.prod(_inner_dims(x), dtype=np.int64))
    return call_op("Cast", batch.lengths(x.splits) * to_tensor(count, dtypes.int64), DstT=node.attrs["out_type"])


@ragged_rule("Rank")
def _rank(batch, node, x):
    return Batched(to_tensor(rank_of(batch, x), dtypes.int32), False)


def _stacked(batch, x: Ragged, size: int, shape):
    """A ragged value whose elements all have so many rows, stacked."""
    batch.require(call_op("Equal", batch.lengths(x.splits), to_tensor(size, dtypes.int64)))
    return call_op("Reshape", x.tensor, batch.with_size([int(n) for n in shape]))


@ragged_rule("EnsureShape")
def _ensure_shape(batch, node, x):
    shape, dims = node.attrs["shape"], _inner_dims(x)
    if shape is None:
        return x
    if len(shape) != len(dims) + 1 or any(n not in (None, -1, own) for n, own in zip(shape[1:], dims)):
        raise NoRule("its shape does not fit")
    return x if shape[0] in (None, -1) else _stacked(batch, x, shape[0], [shape[0], *dims])


@ragged_rule("Reshape")
def _reshape(batch, node, x, shape):
    if not isinstance(x, Ragged):
        raise NoRule("its shape differs")
    if not isinstance(shape, Ragged) and shape.stacked and rank_of(batch, x) == 1 and shape.tensor.shape[1] == 1:
        batch.require(call_op("Equal", to_int64(shape.tensor[:, 0]), batch.lengths(x.splits)))
        return x
    wanted, dims = known_value(shape, "shape").tolist(), _inner_dims(x)
    stride = int(np.prod(dims, dtype=np.int64))
    inner = int(np.prod(wanted[1:], dtype=np.int64))
    if wanted and wanted[0] == -1 and inner == stride and stride > 0:
        return x.like(call_op("Reshape", x.tensor, [-1, *wanted[1:]]))
    if -1 in wanted or not stride or np.prod(wanted, dtype=np.int64) % stride:
        raise NoRule("its shape differs")
    return _stacked(batch, x, int(np.prod(wanted, dtype=np.int64)) // stride, wanted)


@ragged_rule("ExpandDims")
def _expand_dims(batch, node, x, axis):
    at = int(known_value(axis, "axis"))
    if at < 0:
        at += rank_of(batch, x) + 1
    if at <= 0:
        raise NoRule("a size after the first differs")
    return x.like(call_op("ExpandDims", x.tensor, at))


@ragged_rule("Squeeze")
def _squeeze(batch, node, x):
    axes = [axis % rank_of(batch, x) for axis in node.attrs["squeeze_dims"]]
    if not axes or 0 in axes:
        raise NoRule("it removes the axis whose size differs")
    return x.like(call_op("Squeeze", x.tensor, squeeze_dims=axes))


def _bound(batch, value, lengths):
    """The first bound of slices, counted from the first row of elements and within these."""
    known = None if value.stacked else value_of(value.tensor)
    tensor = value.tensor[:, 0] if value.stacked else value.tensor[0]
    tensor = to_int64(tensor)
    zero = to_tensor(0, dtypes.int64)
    if known is None:
        tensor = call_op("SelectV2", tensor < zero, tensor + lengths, tensor)
    elif known[0] < 0:
        tensor = tensor + lengths
    return tensor, call_op("Maximum", zero, call_op("Minimum", tensor, lengths))


def _keeps_rows(attrs, steps, rank):
    """Whether a slice has all that there is along the first axis."""
    if attrs["ellipsis_mask"] & 1:
        others = len(steps) - 1 - (attrs["new_axis_mask"] >> 1).bit_count()
        return others < rank
    whole = attrs["begin_mask"] & attrs["end_mask"] & ~attrs["shrink_axis_mask"] & ~attrs["new_axis_mask"]
    return bool(whole & 1) and steps[0] == 1


def _without_first(value):
    if value.stacked:
        return Batched(value.tensor[:, 1:], True)
    known = value_of(value.tensor)
    return Batched(value.tensor[1:] if known is None else to_tensor(known[1:]), False)


@ragged_rule("StridedSlice")
def _strided_slice(batch, node, x, begin, end, strides):
    attrs = node.attrs
    if not isinstance(x, Ragged):
        raise NoRule("its bounds differ")
    steps = known_value(strides, "strides")
    if _keeps_rows(attrs, steps, rank_of(batch, x)):
        return x.like(batch.apply(node, [x, unstacked(begin, "begin"), unstacked(end, "end"), strides])[0])
    if attrs["ellipsis_mask"] == 1 and len(steps) == 2:  # which stands for no axis: otherwise rows are kept
        attrs = {name: value >> 1 if name.endswith("mask") else value for name, value in attrs.items()}
        begin, end, steps = _without_first(begin), _without_first(end), steps[1:]
    if len(steps) != 1 or steps[0] != 1 or attrs["ellipsis_mask"] or attrs["new_axis_mask"]:
        raise NoRule("it takes part of several axes")
    lengths = batch.lengths(x.splits)
    zeros = call_op("ZerosLike", lengths)
    if attrs["shrink_axis_mask"]:
        place = zeros + _bound(batch, begin, lengths)[0]
        batch.require(call_op("LogicalAnd", place >= zeros, place < lengths))
        return call_op("GatherV2", x.tensor, batch.starts(x.splits) + place, to_tensor(0))
    first = zeros if attrs["begin_mask"] else zeros + _bound(batch, begin, lengths)[1]
    last = lengths if attrs["end_mask"] else zeros + _bound(batch, end, lengths)[1]
    return batch.picked(x, first, call_op("Maximum", first, last))


def _parts(batch, value, inner):
    """A value as rows, and how many of them each element has."""
    if isinstance(value, Ragged):
        return value.tensor, batch.lengths(value.splits)
    tensor = value.tensor
    dims = tensor.shape[value.stacked :]
    if not dims.is_fully_defined() or dims.as_list()[1:] != inner:
        raise NoRule("its inputs differ in shape")
    lengths = call_op("Fill", call_op("ExpandDims", batch.size, 0), to_tensor(dims[0], dtypes.int64))
    if value.stacked:
        return call_op("Reshape", tensor, [-1, *inner]), lengths
    return call_op("Tile", tensor, batch.join(batch.size_vector(), [1] * len(inner))), lengths


@ragged_rule("ConcatV2")
def _concat(batch, node, values, axis):
    first = next(x for x in values if isinstance(x, Ragged))
    at = int(known_value(axis, "axis"))
    at = at + rank_of(batch, first) if at < 0 else at
    if at:
        if not all(isinstance(x, Ragged) and x.splits is first.splits for x in values):
            raise NoRule("its inputs differ in size")
        return first.like(call_op("ConcatV2", [x.tensor for x in values], to_tensor(at)))
    inner = _inner_dims(first)
    if any(isinstance(x, Ragged) and _inner_dims(x) != inner for x in values):
        raise NoRule("its inputs differ in shape")
    return batch.joined([_parts(batch, x, inner) for x in values])


def _padded(batch, x, paddings, value):
    if not isinstance(x, Ragged) or rank_of(batch, x) != 1 or isinstance(paddings, Ragged):
        raise NoRule("it pads several axes")
    sizes = to_int64(batch.stack(paddings))
    batch.require(call_op("Reshape", sizes >= to_tensor(0, dtypes.int64), [-1]))
    parts: list[Any] = [(x.tensor, batch.lengths(x.splits))]
    for side, place in ((0, 0), (1, 2)):
        lengths = sizes[:, 0, side]
        total = call_op("Sum", lengths, to_tensor([0]), keep_dims=True)
        parts.insert(place, (call_op("Fill", total, value), lengths))
    return batch.joined(parts)


@ragged_rule("Pad")
def _pad(batch, node, x, paddings):
    dtype = node.outputs[0].dtype
    return _padded(batch, x, paddings, to_tensor(b"" if dtype is dtypes.string else 0, dtype))


@ragged_rule("PadV2")
def _pad_with(batch, node, x, paddings, value):
    return _padded(batch, x, paddings, unstacked(value, "value"))


# Reductions. Sums of floating numbers are left out: their last bits depend on the order.


def _check_whole(batch, node, x, axes):
    if not isinstance(x, Ragged) or rank_of(batch, x) != 1 or node.attrs["keep_dims"]:
        raise NoRule("it keeps axes")
    if known_value(axes, "axes").ravel().tolist() not in ([0], [-1]):
        raise NoRule("its axes are not known")


@ragged_rule("Sum", "Max", "Min")
def _reduced(batch, node, x, axes):
    _check_whole(batch, node, x, axes)
    if not x.tensor.dtype.is_integer:
        raise NoRule("its numbers are no integers")
    name = f"UnsortedSegment{node.record.name}"
    return call_op(name, x.tensor, batch.owners(x.splits), batch.count())


@ragged_rule("ReduceJoin")
def _reduce_join(batch, node, x, axes):
    _check_whole(batch, node, x, axes)
    separator = node.attrs["separator"]
    return call_op("UnsortedSegmentJoin", x.tensor, batch.owners(x.splits), batch.count(), separator=separator)
