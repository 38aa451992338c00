"""Choosing from ragged tensors: gather, gather_nd, where, boolean_mask, partitions."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.dispatch import dispatch_for_types
from headrace._src.ops.arrays import gathering, partitioning, selecting
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL, RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.indexing import boolean_mask as dense_boolean_mask
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.ranking import TOP_K_V2
from headrace._src.ops.arrays.selecting import SELECT_V2, WHERE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.arrays.splitting import TILE
from headrace._src.ops.math.arithmetic import ADD, MUL, NEG
from headrace._src.ops.math.comparison import EQUAL, GREATER_EQUAL, LESS, LOGICAL_AND
from headrace._src.ops.math.reductions import ALL
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM
from headrace._src.ops.ragged.broadcasting import broadcast_values, with_partitions
from headrace._src.ops.ragged.gather_op import RAGGED_GATHER
from headrace._src.ops.ragged.joining import with_ragged_rank
from headrace._src.ops.ragged.row_arithmetic import cast_to, dimensions, require
from headrace._src.ops.ragged.row_partition import RowPartition
from headrace._src.ops.ragged.tensor import RaggedTensor, merge_dims, normalized_axis, tensor_or_ragged


@dispatch_for_types(gathering.gather, RaggedTensor)
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """Slices of `params` at `indices` along a dimension; either may be ragged."""
    dtype = next(x.row_splits.dtype for x in (params, indices) if isinstance(x, RaggedTensor))
    params = tensor_or_ragged(params)
    indices = tensor_or_ragged(indices, hint=dtype)
    if isinstance(indices, RaggedTensor) and indices.row_splits.dtype is not dtype:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype()."
        )
    if batch_dims != indices.shape.rank:
        batch_dims = normalized_axis(batch_dims, indices.shape.rank, "batch_dims")
    if params.shape.rank is not None and batch_dims >= params.shape.rank:
        raise ValueError(f"gather: batch_dims must be less than params.shape.rank, got {batch_dims}.")
    axis = batch_dims if axis is None else normalized_axis(axis, params.shape.rank)
    if axis < batch_dims:
        raise ValueError(f"gather: axis ({axis}) must not be less than batch_dims ({batch_dims}).")
    if batch_dims:
        return _batch_gather(params, indices, batch_dims, axis)
    if axis:
        return _axis_gather(params, indices, axis)
    return gather_rows(params, indices)


def gather_rows(params, indices):
    """Rows of a tensor or ragged tensor at indices that may be ragged too."""
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather_rows(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return GATHER_V2(params, indices, 0)
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("gather: the rank of indices must be known.")
    splits, values = RAGGED_GATHER(
        list(params.nested_row_splits),
        params.flat_values,
        indices,
        OUTPUT_RAGGED_RANK=rank + params.ragged_rank - 1,
    )
    # TF: what was uniform in the parameters or the indices is ragged in the result.
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def _row_offsets(params, indices, ids, dtype):
    """Indices within rows as indices of the values: `ids` says for each of them which row it is in.

    TF: an index past the end of its row would read the next row; here it is an error.
    """
    starts = GATHER_V2(params.row_starts(), ids, 0)
    lengths = GATHER_V2(params.row_lengths(), ids, 0)
    inner = CAST(indices, DstT=dtype) if indices.dtype is not dtype else indices
    for _ in range(inner.shape.rank - 1):
        starts, lengths = EXPAND_DIMS(starts, -1), EXPAND_DIMS(lengths, -1)
    inside = LOGICAL_AND(GREATER_EQUAL(inner, to_tensor(0, dtype)), LESS(inner, lengths))
    require(ALL(inside, list(range(inner.shape.rank))), "gather: an index is outside its row", indices)
    return ADD(inner, starts)


def _axis_gather(params, indices, axis):
    """Along a dimension other than the first: the same indices in every row."""
    if not isinstance(params, RaggedTensor):
        if not isinstance(indices, RaggedTensor):
            return gathering.gather(params, indices, axis=axis)
        params = with_ragged_rank(params, axis)
    if axis > 1:
        return params.with_values(_axis_gather(params.values, indices, axis - 1))
    dtype = params.row_splits.dtype
    repeated = _repeated(indices, params.nrows(), dtype)
    return _batch_gather_rows(params, repeated)


def _repeated(indices, count, dtype):
    """Indices, once for each row: with a new first dimension of that size."""
    if not isinstance(indices, RaggedTensor):
        ones = np.ones(indices.shape.rank, dtype._np)
        multiples = CONCAT([EXPAND_DIMS(count, 0), to_tensor(ones, dtype)], 0)
        return TILE(EXPAND_DIMS(indices, 0), multiples)
    numbers = RANGE(to_tensor(0, dtype), indices.nrows(), to_tensor(1, dtype))
    order = TILE(numbers, EXPAND_DIMS(count, 0))
    copies = gather_rows(indices, order)
    partition = RowPartition.from_uniform_row_length(indices.nrows(), nrows=count, validate=False)
    return RaggedTensor._from_row_partition(copies, partition, validate=False)


def _batch_gather_rows(params, indices):
    """`params[b, indices[b]]` for each row b."""
    dtype = params.row_splits.dtype
    if isinstance(indices, RaggedTensor):
        places = _offset_ragged(params, indices, indices.value_rowids(), dtype)
        return gather_rows(params.values, indices.with_values(places))
    ids = RANGE(to_tensor(0, dtype), params.nrows(), to_tensor(1, dtype))
    return gather_rows(params.values, _row_offsets(params, indices, ids, dtype))


def _offset_ragged(params, indices, ids, dtype):
    """The values of ragged indices, shifted by the start of the row that `ids` says."""
    inner = indices.values
    if not isinstance(inner, RaggedTensor):
        return _row_offsets(params, inner, ids, dtype)
    deeper = GATHER_V2(ids, inner.value_rowids(), 0)
    return inner.with_values(_offset_ragged(params, inner, deeper, dtype))


def _batch_gather(params, indices, batch_dims, axis):
    """Each batch of the indices chooses from the same batch of the parameters."""
    if not params.shape[:batch_dims].is_compatible_with(indices.shape[:batch_dims]):
        raise ValueError(
            f"batch shape from indices {indices.shape[:batch_dims]} does not match params shape {params.shape}"
        )
    if batch_dims > 1:
        params, indices = with_ragged_rank(params, 1), with_ragged_rank(indices, 1)
        require(
            ALL(EQUAL(params.row_splits, indices.row_splits), [0]),
            "gather: the batches of params and indices have different shapes",
        )
        inner = _batch_gather(params.values, indices.values, batch_dims - 1, axis - 1)
        return indices.with_values(inner)
    params = with_ragged_rank(params, axis)
    if axis > 1:
        # The indices of a batch are repeated for every row in it.
        ids = params.value_rowids()
        for _ in range(axis - 2):
            params_inner = params.values
            ids = GATHER_V2(ids, params_inner.value_rowids(), 0)
        return _under(params, axis - 1, lambda inner: _batch_gather_rows(inner, gather_rows(indices, ids)))
    return _batch_gather_rows(params, indices)


def _under(value, depth, function):
    """Apply a function to what is inside the outermost partitions."""
    if not depth:
        return function(value)
    return value.with_values(_under(value.values, depth - 1, function))


@dispatch_for_types(gathering.gather_nd, RaggedTensor)
def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """Slices of a ragged tensor at the index vectors in the last dimension of `indices`."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    dtype = next(x.row_splits.dtype for x in (params, indices) if isinstance(x, RaggedTensor))
    params = tensor_or_ragged(params)
    indices = tensor_or_ragged(indices, hint=dtype)
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("indices.rank may not be None.")
    if rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    depth = indices.shape[-1]
    if depth is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(_gather_nd_dense(params, indices.flat_values, depth, dtype))
    if rank == 1:
        return gather_nd(params, EXPAND_DIMS(indices, 0))[0]
    return _gather_nd_dense(params, indices, depth, dtype)


def _gather_nd_dense(params, indices, depth, dtype):
    """Index vectors in a dense tensor of rank 2 or more."""
    if not isinstance(params, RaggedTensor):
        return gathering.gather_nd(params, indices)
    rank = indices.shape.rank
    if rank > 2:
        nested = RaggedTensor.from_tensor(indices, ragged_rank=rank - 2, row_splits_dtype=dtype)
        return nested.with_flat_values(_gather_nd_dense(params, nested.flat_values, depth, dtype))
    count = dimensions(indices, dtype)[0]
    if depth == 0:
        whole = RaggedTensor.from_uniform_row_length(params, params.nrows(), nrows=1, validate=False)
        return gather_rows(whole, FILL(EXPAND_DIMS(count, 0), to_tensor(0, dtype)))
    indices = cast_to(indices, dtype)
    places = indices[:, 0]
    current = params
    for column in range(1, depth):
        current = with_ragged_rank(current, 1)
        require(
            ALL(_inside(places, current.nrows()), [0]),
            "gather_nd: an index is out of bounds",
            indices,
        )
        places = _row_offsets(current, indices[:, column], places, dtype)
        current = current.values
    return gather_rows(current, places)


def _inside(places, count):
    return LOGICAL_AND(
        GREATER_EQUAL(places, to_tensor(0, places.dtype)), LESS(places, count)
    )


@dispatch_for_types(selecting.where, RaggedTensor)
def where(condition, x=None, y=None, name=None):
    """`x` where the condition is true and `y` elsewhere; or the coordinates of what is true."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    if x is None:
        return _coordinates(condition)
    condition = tensor_or_ragged(condition, dtypes.bool)
    hint = next((v.dtype for v in (x, y) if isinstance(v, RaggedTensor)), None)
    x, y = tensor_or_ragged(x, hint=hint), tensor_or_ragged(y, hint=hint)
    flats, partitions = broadcast_values([condition, x, y])
    return with_partitions(SELECT_V2(*flats), partitions)


def _coordinates(condition):
    """The indices of the true (or non-zero) elements, int64 [n, rank]."""
    found = WHERE(condition.flat_values)
    if found.shape[1] is None:
        raise ValueError("where: the rank of the condition must be known.")
    places, inner = found[:, 0], found[:, 1:]
    columns = []
    for partition in reversed(condition._nested_row_partitions):
        offsets = cast_to(partition.offsets_in_rows(), dtypes.int64)
        columns.insert(0, GATHER_V2(offsets, places, 0))
        places = GATHER_V2(cast_to(partition.value_rowids(), dtypes.int64), places, 0)
    return CONCAT([PACK([places, *columns], axis=1), inner], 1)


@api("ragged.boolean_mask")
def boolean_mask(data, mask, name=None) -> Tensor | RaggedTensor:
    """The elements at which a mask is true, in the rows in which they were.

    >>> tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, False]])
    <tf.RaggedTensor [[1, 3], []]>
    >>> tf.ragged.boolean_mask(tf.ragged.constant([[1, 2], [3]]), [False, True])
    <tf.RaggedTensor [[3]]>

    Args:
        data: a tensor or ragged tensor.
        mask: booleans; its shape is a prefix of that of the data.
        name: a name for the operation.

    Returns:
        A ragged tensor whose ragged rank is that of the mask's dimensions but the last, or of the data.

    Raises:
        ValueError: when the mask is a scalar or its shape is seen not to fit.
        InvalidArgumentError: when rows have different lengths.
    """
    data = tensor_or_ragged(data)
    mask = tensor_or_ragged(mask, dtypes.bool)
    if mask.shape.rank is None:
        raise ValueError("mask.shape.ndims must be known statically.")
    if mask.shape.rank == 0:
        raise ValueError("mask cannot be scalar.")
    return _masked(data, mask)


def _masked(data, mask):
    rank = mask.shape.rank
    if rank == 1:
        data.shape[:1].assert_is_compatible_with(mask.shape)
        if not isinstance(data, RaggedTensor):
            return dense_boolean_mask(data, mask)
        kept = RESHAPE(WHERE(mask), [-1])
        return gather_rows(data, cast_to(kept, data.row_splits.dtype))
    dtype = next((x.row_splits.dtype for x in (data, mask) if isinstance(x, RaggedTensor)), dtypes.int64)
    if not isinstance(mask, RaggedTensor):
        mask = RaggedTensor.from_tensor(mask, ragged_rank=rank - 1, row_splits_dtype=dtype)
    elif mask.ragged_rank < rank - 1:
        mask = with_ragged_rank(mask, rank - 1)
    data = (
        with_ragged_rank(data, 1)
        if isinstance(data, RaggedTensor)
        else RaggedTensor.from_tensor(data, row_splits_dtype=dtype)
    )
    x, y = data.row_splits, mask.row_splits
    if type(x) is EagerTensor and type(y) is EagerTensor:
        require(bool(np.array_equal(x._a, y._a)), "boolean_mask: data and mask have rows of different lengths", y)
    else:
        require(ALL(EQUAL(x, y), [0]), "boolean_mask: row lengths of data and mask differ")
    values = _masked(data.values, mask.values)
    if rank > 2:
        # The rows of the mask's own rows keep their number.
        return data.with_values(values)
    trues = CAST(mask.values, DstT=dtype)
    lengths = UNSORTED_SEGMENT_SUM(trues, mask.value_rowids(), mask.nrows())
    return RaggedTensor.from_row_lengths(values, lengths, validate=False)


@api("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(data, partitions, num_partitions, name=None) -> RaggedTensor:
    """Rows of `data` sorted by partition: row p of the result holds those whose partition is p.

    >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], num_partitions=2)
    <tf.RaggedTensor [[b'b'], [b'a', b'c']]>

    Args:
        data: a tensor or ragged tensor.
        partitions: int32 or int64; its shape is a prefix of that of the data.
        num_partitions: the number of partitions.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when a partition is not in [0, num_partitions).
    """
    data = tensor_or_ragged(data)
    partitions = tensor_or_ragged(partitions)
    if partitions.dtype not in dtypes.INDEX:
        raise ValueError(f"partitions must be int32 or int64, got {partitions.dtype.name}.")
    rank = partitions.shape.rank
    if rank is None:
        raise ValueError("partitions must have known rank.")
    if rank == 0:
        if isinstance(data, RaggedTensor):
            data = RaggedTensor.from_uniform_row_length(data, data.nrows(), nrows=1, validate=False)
        else:
            data = EXPAND_DIMS(data, 0)
        partitions = EXPAND_DIMS(partitions, 0)
        rank = 1
    ragged = next((x for x in (data, partitions) if isinstance(x, RaggedTensor)), None)
    dtype = partitions.dtype if ragged is None else ragged.row_splits.dtype
    count = cast_to(to_tensor(num_partitions, hint=partitions.dtype), partitions.dtype)
    partitions.shape.assert_is_compatible_with(data.shape[:rank])
    if rank > 1:
        if isinstance(partitions, RaggedTensor):
            own = with_ragged_rank(data, partitions.ragged_rank)
            for x, y in zip(own.nested_row_splits, partitions.nested_row_splits):
                same = ALL(EQUAL(x, y), [0])
                require(same, "stack_dynamic_partitions: the ragged shapes of data and partitions differ")
        data = merge_dims(data, 0, rank - 1)
        partitions = merge_dims(partitions, 0, rank - 1)
    require(
        ALL(_inside(partitions, count), [0]),
        "stack_dynamic_partitions: partitions must be at least 0 and less than num_partitions",
        partitions,
    )
    order = _stable_order(partitions)
    return RaggedTensor.from_value_rowids(
        gather_rows(data, order),
        cast_to(GATHER_V2(partitions, order, 0), dtype),
        nrows=cast_to(count, dtype),
        validate=False,
    )


def _stable_order(partitions):
    """The permutation that sorts a vector, equal elements in their order."""
    if type(partitions) is EagerTensor:
        return EagerTensor(np.argsort(partitions._a, kind="stable"), dtypes.int64)
    size = SHAPE(partitions, out_type=dtypes.int64)[0]
    places = RANGE(to_tensor(0, dtypes.int64), size, to_tensor(1, dtypes.int64))
    # Distinct keys make any sorting stable; the largest come first, so they are negated.
    keys = ADD(MUL(cast_to(partitions, dtypes.int64), size), places)
    return cast_to(TOP_K_V2(NEG(keys), cast_to(size, dtypes.int32)).indices, dtypes.int64)


@dispatch_for_types(partitioning.dynamic_partition, RaggedTensor)
def dynamic_partition(data, partitions, num_partitions, name=None):
    """The rows of each partition as a list of tensors or ragged tensors."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    stacked = stack_dynamic_partitions(data, partitions, num_partitions)
    return [stacked[i] for i in range(num_partitions)]
