"""From the outputs of the parsing ops to a dictionary of dense, sparse and ragged tensors."""

from headrace._src.core import dtypes
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ONES_LIKE, RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE, SIZE
from headrace._src.ops.arrays.selecting import SELECT_V2, WHERE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.comparison import EQUAL, LOGICAL_NOT
from headrace._src.ops.math.cumulative import CUMSUM
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_MAX, UNSORTED_SEGMENT_SUM
from headrace._src.ops.parsing.features import (
    RaggedFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    SparseFeature,
    UniformRowLength,
    VarLenFeature,
)
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.arranging import reorder
from headrace._src.ops.sparse.tensor import SparseTensor


def assemble(features, request, outputs, batched):
    """Key to tensor for the features, given what ParseExampleV2 returned.

    Args:
        features: key to feature.
        request: the `Request` made from them.
        outputs: the outputs of the op.
        batched: whether there is a dimension for the examples.
    """
    sparse = {
        key: SparseTensor(*parts)
        for key, *parts in zip(request.sparse, outputs.sparse_indices, outputs.sparse_values, outputs.sparse_shapes)
    }
    dense = dict(zip(request.dense, outputs.dense_values))
    ragged = dict(zip(request.ragged, zip(outputs.ragged_values, outputs.ragged_row_splits)))
    return collect(features, sparse, dense, ragged, batched)


def _place(feature):
    # TF: sparse features come first, then dense ones, ragged ones, and those that are made of several.
    if isinstance(feature, SparseFeature):
        return 3
    if isinstance(feature, RaggedFeature):
        return 2
    return 0 if isinstance(feature, VarLenFeature) else 1


def collect(features, sparse, dense, ragged, batched):
    """Key to tensor for the features, given sparse tensors, dense ones, and (values, splits) of ragged ones by key."""
    result = {}
    for key in sorted(features, key=lambda key: (_place(features[key]), key)):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            result[key] = _merged(feature, sparse)
        elif isinstance(feature, RaggedFeature):
            value_key = key if feature.value_key is None else feature.value_key
            result[key] = _ragged(feature, value_key, ragged, batched)
        else:
            result[key] = sparse[key] if key in sparse else dense[key]
    return result


def _merged(feature, sparse):
    """The sparse tensor that several features describe."""
    one = isinstance(feature.index_key, str)
    keys = [feature.index_key] if one else list(feature.index_key)
    sizes = [feature.size] if one else list(feature.size)
    if len(keys) != len(sizes):
        raise ValueError(f"SparseFeature: {len(keys)} index keys, but {len(sizes)} sizes: {feature!r}.")
    values, places = sparse[feature.value_key], [sparse[key] for key in keys]
    columns = [EXPAND_DIMS(place.values, 1) for place in places]
    indices = CONCAT([places[0].indices[:, :-1], *columns], 1)
    shape = CONCAT([values.dense_shape[:-1], to_tensor(sizes, dtypes.int64)], 0)
    merged = SparseTensor(indices, values.values, shape)
    return merged if feature.already_sorted else reorder(merged)


def _cast(tensor, dtype):
    return tensor if tensor.dtype is dtype else CAST(tensor, DstT=dtype)


def _ragged(feature, value_key, ragged, batched):
    items, splits = ragged[value_key]
    dtype = feature.row_splits_dtype
    if not batched:
        for partition in reversed(feature.partitions):
            items = _cut(items, partition, ragged, dtype, feature.validate)
        return items
    counts = splits[1:] - splits[:-1]
    for partition in reversed(feature.partitions):
        if isinstance(partition, UniformRowLength):
            items = _cut(items, partition, ragged, dtype, feature.validate)
            counts = counts // partition.length
            continue
        flat, bounds = ragged[partition.key]
        lengths, counts = _lengths(partition, _cast(flat, dtype), bounds, counts)
        items = RaggedTensor.from_row_lengths(items, lengths, validate=feature.validate)
    if feature.partitions:
        splits = CONCAT([to_tensor([0], dtype), CUMSUM(counts, 0)], 0)
    return RaggedTensor.from_row_splits(items, splits, validate=False)


def _cut(items, partition, ragged, dtype, validate):
    """The items of one example cut into rows; a uniform length makes a dense dimension where it can."""
    if isinstance(partition, UniformRowLength):
        if isinstance(items, RaggedTensor):
            length = to_tensor(partition.length, dtype)
            return RaggedTensor.from_uniform_row_length(items, length, validate=validate)
        inner = SHAPE(items, out_type=dtypes.int32)[1:]
        return RESHAPE(items, CONCAT([to_tensor([-1, partition.length]), inner], 0))
    flat = _cast(ragged[partition.key][0], dtype)
    if isinstance(partition, RowSplits):
        return RaggedTensor.from_row_splits(items, flat, validate=validate)
    if isinstance(partition, RowLengths):
        return RaggedTensor.from_row_lengths(items, flat, validate=validate)
    if isinstance(partition, RowStarts):
        return RaggedTensor.from_row_starts(items, flat, validate=validate)
    if isinstance(partition, RowLimits):
        return RaggedTensor.from_row_limits(items, flat, validate=validate)
    return RaggedTensor.from_value_rowids(items, flat, validate=validate)


def _lengths(partition, flat, bounds, counts):
    """The partitions of all examples as lengths of rows, one example behind the other.

    Args:
        partition: how the rows are described.
        flat: the descriptions of all examples, one behind the other.
        bounds: where those of each example begin and end.
        counts: how many items each example has.

    Returns:
        The lengths, and how many rows each example has.
    """
    rows = bounds[1:] - bounds[:-1]
    if isinstance(partition, RowLengths):
        return flat, rows
    if isinstance(partition, RowLimits):
        # The first row of an example begins at 0.
        return flat - _before(flat, bounds, rows), rows
    owners = _owners(rows)
    if isinstance(partition, RowStarts):
        # The last row of an example ends with its items.
        ends = CONCAT([flat[1:], flat[:1]], 0)
        last = EQUAL(_positions(flat) + 1, GATHER_V2(bounds[1:], owners, 0))
        return SELECT_V2(last, GATHER_V2(counts, owners, 0), ends) - flat, rows
    if isinstance(partition, RowSplits):
        first = EQUAL(_positions(flat), GATHER_V2(bounds[:-1], owners, 0))
        inner = WHERE(LOGICAL_NOT(first))[:, 0]
        differences = flat - _before(flat, bounds, rows)
        return GATHER_V2(differences, inner, 0), MAXIMUM(rows - 1, _zero(rows))
    count = SIZE(rows, out_type=dtypes.int32)
    highest = UNSORTED_SEGMENT_MAX(flat + 1, owners, count)
    rows = MAXIMUM(highest, _zero(rows))
    offsets = CUMSUM(rows, 0, exclusive=True)
    rowids = flat + GATHER_V2(offsets, owners, 0)
    total = CAST(SUM(rows, 0), DstT=dtypes.int32)
    return UNSORTED_SEGMENT_SUM(ONES_LIKE(rowids), rowids, total), rows


def _zero(tensor):
    return to_tensor(0, tensor.dtype)


def _positions(flat):
    size = SIZE(flat, out_type=flat.dtype)
    return RANGE(_zero(flat), size, to_tensor(1, flat.dtype))


def _owners(rows):
    """For each description the example that it belongs to."""
    return RaggedTensor.from_row_lengths(_counted(rows), rows, validate=False).value_rowids()


def _counted(rows):
    total = SUM(rows, 0)
    return RANGE(_zero(rows), total, to_tensor(1, rows.dtype))


def _before(flat, bounds, rows):
    """For each description the one before it, 0 for the first of an example."""
    earlier = CONCAT([flat[-1:], flat[:-1]], 0)
    first = EQUAL(_positions(flat), GATHER_V2(bounds[:-1], _owners(rows), 0))
    return SELECT_V2(first, ZEROS_LIKE(flat), earlier)
