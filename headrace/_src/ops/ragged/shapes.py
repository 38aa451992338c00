"""Functions that take or give a `DynamicRaggedShape`: shape, reshape, broadcast_to, zeros, ones, fill."""

from headrace._src.core import dtypes, errors
from headrace._src.op.convert import to_tensor
from headrace._src.op.dispatch import dispatch_for_types
from headrace._src.ops.arrays import broadcasting, constants, filling, measuring, shaping
from headrace._src.ops.arrays.broadcasting import BROADCAST_ARGS, BROADCAST_TO
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.ragged.broadcasting import Operand, broadcast_partitions, outer_shape
from headrace._src.ops.ragged.dynamic_shape import DynamicRaggedShape
from headrace._src.ops.ragged.row_arithmetic import cast_to, require
from headrace._src.ops.ragged.row_partition import RowPartition
from headrace._src.ops.ragged.tensor import RaggedTensor, tensor_or_ragged


@dispatch_for_types(measuring.shape, RaggedTensor)
def shape(input, out_type=None, name=None):
    """The shape of a ragged tensor."""
    out_type = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    return DynamicRaggedShape.from_tensor(input).with_dtype(out_type)


@dispatch_for_types(shaping.reshape, RaggedTensor, DynamicRaggedShape)
def reshape(tensor, shape, name=None):
    """The elements of a tensor or ragged tensor in another shape, which may be ragged."""
    tensor = tensor_or_ragged(tensor)
    flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor
    if not isinstance(shape, DynamicRaggedShape):
        return shaping.reshape(flat, shape, name=name)
    return shape._add_row_partitions(RESHAPE(flat, shape.inner_shape, name=name))


@dispatch_for_types(constants.zeros, DynamicRaggedShape)
def zeros(shape, dtype=dtypes.float32, name=None, layout=None):
    """A ragged tensor of zeros."""
    return shape._add_row_partitions(constants.zeros(shape.inner_shape, dtype))


@dispatch_for_types(constants.ones, DynamicRaggedShape)
def ones(shape, dtype=dtypes.float32, name=None, layout=None):
    """A ragged tensor of ones."""
    return shape._add_row_partitions(constants.ones(shape.inner_shape, dtype))


@dispatch_for_types(filling.fill, DynamicRaggedShape)
def fill(dims, value, name=None):
    """A ragged tensor of one value."""
    return dims._add_row_partitions(filling.fill(dims.inner_shape, value))


def _operand(shape, rank, ragged_rank):
    """A shape of a higher rank as an operand, and its inner shape."""
    dtype = shape.dtype
    if not shape.rank:
        shape = DynamicRaggedShape._from_inner_shape(to_tensor([1], dtype))
    partitions = list(shape.row_partitions)
    nrows = shape._dimension(0)
    inner = shape.inner_shape
    missing = rank - shape.rank
    if not partitions and missing:
        # Without partitions dimensions of size 1 are put before the others.
        ones = FILL([missing], to_tensor(1, dtype))
        return _operand(DynamicRaggedShape._from_inner_shape(CONCAT([ones, inner], 0)), rank, ragged_rank)
    for _ in range(missing):
        partitions.insert(0, RowPartition.from_uniform_row_length(nrows, nrows=1, validate=False, dtype=dtype))
        nrows = to_tensor(1, dtype)
    whole = DynamicRaggedShape(partitions, inner, dtype)._with_num_row_partitions(ragged_rank)
    return Operand(nrows, list(whole.row_partitions)), whole.inner_shape


def _target(shapes):
    """The rank and the number of partitions of what shapes broadcast to."""
    if any(one.rank is None for one in shapes):
        raise ValueError("Ragged broadcasting needs shapes of known rank.")
    rank = max(1, *(one.rank for one in shapes))
    ragged_rank = max((rank - one.rank + one.num_row_partitions for one in shapes if one.num_row_partitions), default=0)
    return rank, ragged_rank


def _lengths(name, value):
    tensor = to_tensor(value)
    if tensor.dtype not in dtypes.INDEX:
        raise ValueError(f"broadcast_dynamic_shape: {name} must be int32 or int64, got {tensor.dtype.name}.")
    return tensor


@dispatch_for_types(broadcasting.broadcast_dynamic_shape, DynamicRaggedShape)
def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape to which two shapes broadcast."""
    shapes = [
        one if isinstance(one, DynamicRaggedShape) else DynamicRaggedShape._from_inner_shape(_lengths(name, one))
        for name, one in (("shape_x", shape_x), ("shape_y", shape_y))
    ]
    dtype = dtypes.int64 if any(one.dtype is dtypes.int64 for one in shapes) else dtypes.int32
    shapes = [one.with_dtype(dtype) for one in shapes]
    rank, ragged_rank = _target(shapes)
    if not ragged_rank:
        inner = BROADCAST_ARGS(*(one.inner_shape for one in shapes))
        return DynamicRaggedShape._from_inner_shape(inner)
    parts = [_operand(one, rank, ragged_rank) for one in shapes]
    _, partitions = broadcast_partitions([operand for operand, _ in parts], dtype)
    inner = BROADCAST_ARGS(*(inner[1:] for _, inner in parts))
    nvals = EXPAND_DIMS(partitions[-1].nvals(), 0)
    return DynamicRaggedShape(partitions, CONCAT([nvals, inner], 0), dtype)


@dispatch_for_types(broadcasting.broadcast_to, RaggedTensor, DynamicRaggedShape)
def broadcast_to(input, shape, name=None):
    """A tensor or ragged tensor repeated until it has a given, possibly ragged, shape."""
    if not isinstance(shape, DynamicRaggedShape):
        raise ValueError(
            "broadcast_to: the shape for a ragged tensor must be a tf.experimental.DynamicRaggedShape, got "
            f"{type(shape).__name__}."
        )
    value = tensor_or_ragged(input)
    if not shape.num_row_partitions and not isinstance(value, RaggedTensor):
        return broadcasting.broadcast_to(value, shape.inner_shape)
    dtype = shape.dtype
    if isinstance(value, RaggedTensor):
        value = value.with_row_splits_dtype(dtype)
    if value.shape.rank is None or shape.rank is None:
        raise ValueError("broadcast_to: the ranks of input and shape must be known.")
    own = value.ragged_rank if isinstance(value, RaggedTensor) else 0
    if value.shape.rank > shape.rank:
        raise errors.invalid_argument(f"Cannot broadcast shape {value.shape} to {shape}.")
    ragged_rank = max(shape.num_row_partitions, shape.rank - value.shape.rank + own if own else 0)
    goal, inner = _operand(shape, shape.rank, ragged_rank)
    operand, flat = outer_shape(value, shape.rank, ragged_rank, dtype)
    nrows, partitions = broadcast_partitions([goal, operand], dtype)
    # The shape itself must not have been broadcast: then some number of rows or values would be another.
    for mine, wanted in zip(
        (nrows, *(p.nvals() for p in partitions)), (goal.nrows, *(p.nvals() for p in goal.partitions))
    ):
        require(EQUAL(mine, wanted), f"Cannot broadcast shape {value.shape} to {shape}")
    if operand.index is not None:
        flat = GATHER_V2(flat, operand.index, 0)
    flat = BROADCAST_TO(flat, cast_to(inner, dtype))
    return RaggedTensor._from_nested_row_partitions(flat, partitions, validate=False)
