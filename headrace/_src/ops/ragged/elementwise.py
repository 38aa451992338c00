"""The element-wise functions on ragged tensors: applied to the innermost values, after broadcasting rows."""

from headrace._src.core.tensor import Tensor
from headrace._src.op.dispatch import Dispatcher, dispatch_for_all, signature_of
from headrace._src.ops.ragged.broadcasting import broadcast_values, with_partitions
from headrace._src.ops.ragged.tensor import RaggedTensor, tensor_or_ragged


@dispatch_for_all(RaggedTensor)
def _dispatch(function, args, kwargs):
    count = function._operands.ragged_count
    if not count:
        return Dispatcher.NOT_SUPPORTED
    written = signature_of(function)
    try:
        bound = written.bind(*args, **kwargs).arguments
    except TypeError:
        return Dispatcher.NOT_SUPPORTED
    names = list(written.parameters)[:count]
    operands = [bound.get(name) for name in names]
    if not any(isinstance(operand, RaggedTensor) for operand in operands):
        return Dispatcher.NOT_SUPPORTED
    options = {name: value for name, value in bound.items() if name not in names}
    if count == 1:
        return operands[0].with_flat_values(function(operands[0].flat_values, **options))
    return binary(function, *operands, **options)


def binary(function, x, y, **options):
    """A function of two broadcasting tensors, at least one of them ragged."""
    x, y = as_operands(x, y)
    (left, right), partitions = broadcast_values([x, y])
    result = function(left, right, **options)
    # Assertions return nothing, or in a graph their operation.
    return with_partitions(result, partitions) if isinstance(result, Tensor) else result


def as_operands(*values):
    """Tensors and ragged tensors; Python values take the dtype of the first tensor among them if they can."""
    hint = next((value.dtype for value in values if isinstance(value, RaggedTensor)), None)
    return [tensor_or_ragged(value, hint=hint) for value in values]
