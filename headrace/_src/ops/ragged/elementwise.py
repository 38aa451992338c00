"""The element-wise functions on ragged tensors: applied to the innermost values, after broadcasting rows."""

from headrace._src.core.tensor import Tensor
from headrace._src.op.api import PUBLIC
from headrace._src.op.dispatch import Dispatcher, global_dispatchers, signature_of
from headrace._src.op.type_dispatch import (
    BINARY_ELEMENTWISE,
    BINARY_ELEMENTWISE_ASSERTIONS,
    UNARY_ELEMENTWISE,
)
from headrace._src.ops.ragged.broadcasting import broadcast_values, with_partitions
from headrace._src.ops.ragged.tensor import RaggedTensor, tensor_or_ragged

# Functions of one tensor that TensorFlow maps over flat values, besides the common list.
_ALSO_UNARY = """
bitcast dtypes.saturate_cast io.decode_compressed image.adjust_brightness image.adjust_gamma
image.convert_image_dtype image.random_brightness image.stateless_random_brightness math.nextafter
""".split()

# In these a ragged tensor means something else than in the common lists.
_NOT_HERE = {"nn.log_softmax"}

_kinds: dict = {}
_seen = 0


def _kind(function):
    """How many leading arguments of a public function are tensors that it treats element by element."""
    global _seen
    if len(PUBLIC) != _seen:
        # Files are loaded when first used, so that there may be more functions now.
        _seen = len(PUBLIC)
        for names, count in (
            (UNARY_ELEMENTWISE + _ALSO_UNARY, 1),
            (BINARY_ELEMENTWISE + BINARY_ELEMENTWISE_ASSERTIONS, 2),
        ):
            for name in names:
                # Not PUBLIC[name], which would load the function's file.
                known = dict.get(PUBLIC, name)
                if known is not None and name not in _NOT_HERE:
                    _kinds[id(known)] = count
    return _kinds.get(id(function))


def _dispatch(function, args, kwargs):
    count = _kind(function)
    if count is None:
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


global_dispatchers.append(_dispatch)
