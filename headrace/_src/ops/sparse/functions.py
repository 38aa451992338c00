"""Dense functions on sparse tensors: those that leave zeros zero, and shape, size, rank and cast."""

from headrace._src.core import dtypes
from headrace._src.op.convert import to_tensor
from headrace._src.op.dispatch import Dispatcher, dispatch_for_all, dispatch_for_types, signature_of
from headrace._src.ops.arrays import casting, measuring
from headrace._src.ops.arrays.measuring import SIZE
from headrace._src.ops.math.reductions import PROD
from headrace._src.ops.ragged.row_arithmetic import cast_to
from headrace._src.ops.sparse.tensor import SparseTensor


@dispatch_for_all(SparseTensor)
def _dispatch(function, args, kwargs):
    if not function._operands.sparse:
        return Dispatcher.NOT_SUPPORTED
    try:
        bound = signature_of(function).bind(*args, **kwargs).arguments
    except TypeError:
        return Dispatcher.NOT_SUPPORTED
    value = bound.get("x")
    if not isinstance(value, SparseTensor):
        return Dispatcher.NOT_SUPPORTED
    return value.with_values(function(value.values))


@dispatch_for_types(casting.cast, SparseTensor)
def cast(x, dtype, name=None):
    """A sparse tensor with its values cast."""
    return x.with_values(casting.cast(x.values, dtype))


@dispatch_for_types(measuring.shape, SparseTensor)
def shape(input, out_type=None, name=None):
    """The dense shape of a sparse tensor."""
    return cast_to(input.dense_shape, dtypes.int32 if out_type is None else dtypes.as_dtype(out_type))


@dispatch_for_types(measuring.size, SparseTensor)
def size(input, out_type=None, name=None):
    """The number of elements of a sparse tensor, zeros included."""
    out_type = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    return PROD(cast_to(input.dense_shape, out_type), [0])


@dispatch_for_types(measuring.rank, SparseTensor)
def rank(input, name=None):
    """The number of dimensions of a sparse tensor, as a scalar tensor."""
    known = input.dense_shape.shape[0]
    return to_tensor(known, dtypes.int32) if known is not None else SIZE(input.dense_shape)
