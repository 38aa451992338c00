"""Rules of vectorization for ops that take strings apart, and that count and encode what is found in each."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.graph.vectorizing.ragged_rules import (
    Ragged,
    call_op,
    known_value,
    ragged_rule,
    rank_of,
    slice_of,
    to_int64,
)
from headrace._src.graph.vectorizing.rules import Batched, NoRule, unstacked
from headrace._src.op.convert import to_tensor


def _single_strings(x):
    """The strings of elements that are vectors of one string."""
    if isinstance(x, Ragged) or x.tensor.shape.as_list()[1:] != [1]:
        raise NoRule("it takes several strings for each element")
    return call_op("Reshape", x.tensor, [-1])


@ragged_rule("StringSplitV2")
def _string_split(batch, node, x, separator):
    strings = _single_strings(x)
    indices, values, _ = batch.apply(node, [strings, unstacked(separator, "separator")])
    rows = call_op("StridedSlice", indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, ellipsis_mask=0,
                 new_axis_mask=0, shrink_axis_mask=2)  # fmt: skip
    ends = call_op("Range", to_tensor(0, dtypes.int64), batch.count() + 1, to_tensor(1, dtypes.int64))
    rows, ends = call_op("ExpandDims", rows, 0), call_op("ExpandDims", ends, 0)
    splits = call_op("LowerBound", rows, ends, out_type=dtypes.int64)[0]
    lengths = batch.lengths(splits)
    shapes = call_op("Pack", [call_op("OnesLike", lengths), lengths], axis=1)
    return [Ragged(indices * to_tensor([[0, 1]], dtypes.int64), splits), Ragged(values, splits), shapes]


@ragged_rule("UnicodeDecode")
def _unicode_decode(batch, node, x):
    splits, characters = batch.apply(node, [_single_strings(x)])
    whole = to_int64(splits)
    lengths = call_op("Cast", batch.lengths(whole), DstT=splits.dtype)
    return [call_op("Pack", [call_op("ZerosLike", lengths), lengths], axis=1), Ragged(characters, whole)]


def _rows_of_rows(batch, splits: Ragged, values: Ragged):
    """Row splits of each element, for its own values, as those of all elements, and how many rows each element has."""
    count = batch.lengths(splits.splits)
    one, zero = to_tensor(1, dtypes.int64), to_tensor(0, dtypes.int64)
    batch.require(count >= one)
    own, first = to_int64(splits.tensor), batch.starts(splits.splits)
    begins = call_op("GatherV2", own, first, to_tensor(0))
    ends = call_op("GatherV2", own, first + count - one, to_tensor(0))
    batch.require(call_op("Equal", begins, zero))
    batch.require(call_op("Equal", ends, batch.lengths(values.splits)))
    starts = Ragged(own + batch.spread(Batched(batch.starts(values.splits), True), splits.splits), splits.splits)
    starts = batch.picked(starts, call_op("ZerosLike", count), count - one)
    whole = call_op("ConcatV2", [starts.tensor, slice_of(values.splits, -1, None)], to_tensor(0))
    return whole, starts.splits


@ragged_rule("UnicodeEncode")
def _unicode_encode(batch, node, values, splits):
    if not isinstance(values, Ragged) or not isinstance(splits, Ragged):
        raise NoRule("it makes strings of values that do not differ in number")
    whole, rows = _rows_of_rows(batch, splits, values)
    return Ragged(batch.apply(node, [values, whole])[0], rows)


@ragged_rule("RaggedTensorToVariant")
def _to_variant(batch, node, splits, values):
    if node.attrs["batched_input"] or not isinstance(values, Ragged) or len(splits) > 1:
        raise NoRule("it has several levels")
    nested = [values.splits]
    if splits:
        if not isinstance(splits[0], Ragged):
            raise NoRule("it has as many rows for each element")
        whole, rows = _rows_of_rows(batch, splits[0], values)
        nested = [rows, whole]
    return call_op("RaggedTensorToVariant", nested, values.tensor, batched_input=True)


@ragged_rule("Bincount")
def _bincount(batch, node, x, size, weights):
    if not isinstance(x, Ragged) or isinstance(size, Ragged) or unstacked(weights, "weights").shape.num_elements() != 0:
        raise NoRule("it has weights")
    if weights.tensor.dtype not in dtypes.INDEX:
        raise NoRule("its sums are no integers")
    sizes = to_int64(batch.stack(size))
    zero = to_tensor(0, dtypes.int64)
    batch.require(sizes >= zero)
    splits = batch.splits_of(sizes)
    numbers = to_int64(x.tensor)
    batch.require(numbers >= zero)
    batch.require(numbers < batch.spread(Batched(sizes, True), x.splits))  # others would be left out
    places = numbers + batch.spread(Batched(batch.starts(splits), True), x.splits)
    whole = call_op("Cast", splits[-1], DstT=dtypes.int32)
    return Ragged(call_op("Bincount", call_op("Cast", places, DstT=dtypes.int32), whole, weights.tensor), splits)


@ragged_rule("Cumsum")
def _cumsum(batch, node, x, axis):
    is_plain = isinstance(x, Ragged) and not node.attrs["exclusive"] and not node.attrs["reverse"]
    if not is_plain or not x.tensor.dtype.is_integer:
        raise NoRule("its sums depend on the order")
    if rank_of(batch, x) != 1 or int(known_value(axis, "axis")) not in (0, -1):
        raise NoRule("it sums along several axes")
    sums = call_op("Cumsum", x.tensor, to_tensor(0))
    with_zero = call_op("ConcatV2", [to_tensor([0], sums.dtype), sums], to_tensor(0))
    before = call_op("GatherV2", with_zero, batch.starts(x.splits), to_tensor(0))
    return x.like(sums - batch.spread(Batched(before, True), x.splits))


@ragged_rule("ParseExampleV2")
def _parse_example(batch, node, serialized, names, sparse_keys, dense_keys, ragged_keys, defaults):
    if isinstance(serialized, Ragged) or not serialized.stacked or rank_of(batch, serialized) != 0:
        raise NoRule("it parses several records for each element")
    if unstacked(names, "names").shape.num_elements() != 0:
        raise NoRule("records have names")
    attrs, count = node.attrs, node.attrs["num_sparse"]
    shapes = attrs["dense_shapes"]
    if any(shape is None or None in shape[1:] for shape in shapes):
        raise NoRule("it has features of unknown size")
    sequences = [i for i, shape in enumerate(shapes) if shape and shape[0] is None]
    if any(list(shapes[i][1:]) for i in sequences):
        raise NoRule("it has sequences of tensors")
    fixed = [i for i in range(len(shapes)) if i not in sequences]
    dense_names = known_value(dense_keys, "keys").tolist()
    defaults = [unstacked(value, "defaults") for value in defaults]
    # All that differs in size is parsed as ragged features: there, only the sizes of elements come with the values.
    keys = [unstacked(sparse_keys, "keys"), unstacked(ragged_keys, "keys"), _strings(dense_names, sequences)]
    value_types = [*attrs["sparse_types"], *attrs["ragged_value_types"], *(defaults[i].dtype for i in sequences)]
    none = to_tensor(np.empty(0, object), dtypes.string)
    outputs = batch.apply(
        node,
        [serialized, none, none, _strings(dense_names, fixed), call_op("ConcatV2", keys, to_tensor(0)),
         [defaults[i] for i in fixed]],
        dict(num_sparse=0, sparse_types=[], ragged_value_types=value_types,
             ragged_split_types=[dtypes.int64] * len(value_types), dense_shapes=[shapes[i] for i in fixed]),
    )  # fmt: skip
    dense, values, splits = outputs[: len(fixed)], outputs[len(fixed) : -len(value_types) or None], []
    if value_types:
        splits = outputs[-len(value_types) :]
    ragged = [Ragged(value, split) for value, split in zip(values, splits)]
    sparse, sequence = ragged[:count], dict(zip(sequences, ragged[len(ragged) - len(sequences) :]))
    ragged = ragged[count : len(ragged) - len(sequences)]
    places = dict(zip(fixed, dense))
    return [
        *(_positions(batch, x) for x in sparse),
        *sparse,
        *(call_op("ExpandDims", batch.lengths(x.splits), 1) for x in sparse),
        *(sequence[i] if i in sequence else places[i] for i in range(len(shapes))),
        *ragged,
        *(Batched(to_tensor(np.empty(0, kind._np)), False) for kind in attrs["ragged_split_types"]),
    ]


def _strings(items, places):
    array = np.empty(len(places), object)
    array[:] = [items[i] for i in places]
    return to_tensor(array, dtypes.string)


def _positions(batch, x):
    """The indices of sparse vectors that have all their values."""
    zeros = call_op("ZerosLike", batch.starts(x.splits))
    numbers = call_op("RaggedRange", zeros, batch.lengths(x.splits), to_tensor(1, dtypes.int64))[1]
    return Ragged(call_op("ExpandDims", numbers, 1), x.splits, counts=True)


@ragged_rule("SparseToDense")
def _sparse_to_dense(batch, node, indices, shape, values, default):
    without_gaps = isinstance(indices, Ragged) and indices.counts and isinstance(values, Ragged)
    if not without_gaps or indices.splits is not values.splits or not _are_lengths(batch, shape, values.splits):
        raise NoRule("it has gaps")
    return values


def _are_lengths(batch, shape, splits):
    """Whether a stacked value is the number of rows of each element, as parsing gives it."""
    tensor = shape.tensor
    op = getattr(tensor, "op", None)
    return op is not None and op.record.name == "ExpandDims" and op.inputs[0] is batch.lengths(splits)
