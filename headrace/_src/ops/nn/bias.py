"""Adding a bias to each channel: BiasAdd and its gradient."""

from __future__ import annotations

from math import prod

import numpy as np

from headrace._src.core import dtypes, errors, large_arrays
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.traits import FAILS_BY_SHAPE
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO, SUM
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.linalg.product_kernels import column_sums
from headrace._src.ops.math.arithmetic import ADD
from headrace._src.ops.math.half_kernels import converted, widened

# NumPy adds to a row at a time. So to so many elements a bias is added that is repeated until it has so many numbers:
# 1.25 million elements of 32 channels take 0.13 ms instead of 0.24.
_MANY, _LONG_RUN = 1 << 15, 1 << 10


def _channel(op, shape, data_format):
    """The axis of the channels."""
    if data_format not in ("NHWC", "NCHW"):
        raise errors.invalid_argument(f"{op}: data_format must be 'NHWC' or 'NCHW', got {data_format!r}.")
    if len(shape) < 2:
        raise errors.invalid_argument(
            f"{op}: value must have at least 2 dimensions, got shape {tuple(shape)}."
        )
    return 1 if data_format == "NCHW" else len(shape) - 1


def _checked_channel(op, value_shape, bias_shape, data_format):
    axis = _channel(op, value_shape, data_format)
    if len(bias_shape) != 1:
        raise errors.invalid_argument(f"{op}: bias must be a vector, got shape {tuple(bias_shape)}.")
    if None not in (value_shape[axis], bias_shape[0]) and value_shape[axis] != bias_shape[0]:
        raise errors.invalid_argument(
            f"{op}: bias must have {value_shape[axis]} entries, one per channel of value of shape "
            f"{tuple(value_shape)}, got {bias_shape[0]}."
        )
    return axis


def _bias_add(value, bias, data_format="NHWC"):
    axis = _checked_channel("BiasAdd", value.shape, bias.shape, data_format)
    bias = bias.reshape(-1, *(1,) * (value.ndim - axis - 1))
    if value.dtype == np.float16:  # NumPy would convert each number on its own
        return converted(widened(value) + widened(bias), value.dtype)
    return value + bias


def _kernel(value, bias, data_format="NHWC"):
    run = value.ndim - 1
    is_repeated = value.size >= _MANY and run > 1 and value.shape[-1] * 2 <= _LONG_RUN and value.flags.c_contiguous
    if not is_repeated or data_format != "NHWC" or value.dtype == np.float16:
        return _bias_add(value, bias, data_format)
    _checked_channel("BiasAdd", value.shape, bias.shape, data_format)
    while run > 1 and prod(value.shape[run:]) < _LONG_RUN:
        run -= 1
    repeated = np.tile(bias, prod(value.shape[run:-1]))
    return large_arrays.divided(np.add, value.reshape(-1, repeated.size), repeated).reshape(value.shape)


def _infer(value, bias, data_format="NHWC"):
    if value.shape.rank is not None and bias.shape.rank is not None:
        _checked_channel("BiasAdd", value.shape.as_list(), bias.shape.as_list(), data_format)
    return value.shape


def _grad_bias_add(node, dy):
    data_format = node.attrs.get("data_format", "NHWC")
    return dy, BIAS_ADD_GRAD(dy, data_format=data_format) if node.wants(1) else None


def _vectorize_bias_add(batch, node, value, bias):
    if node.attrs.get("data_format", "NHWC").endswith("C"):
        return ADD(*batch.aligned([Batched(batch.stack(value), True), bias]))
    images, count = batch.merged(value)
    return batch.parted(batch.apply(node, [images, unstacked(bias, "bias")])[0], count)


BIAS_ADD = Op(
    "BiasAdd",
    'value: T, bias: T, *, data_format: string = "NHWC" -> output: T',
    traits=FAILS_BY_SHAPE,
    T=dtypes.NUMBER,
    infer=_infer,
    kernel=_kernel,
    lower=lambda ctx, value, bias, data_format: _bias_add(value, bias, data_format),
    grad=_grad_bias_add,
    vectorize=_vectorize_bias_add,
)

BIAS_ADD_V1 = Op(
    "BiasAddV1",
    "value: T, bias: T -> output: T",
    T=dtypes.NUMBER,
    infer=_infer,
    kernel=_kernel,
    lower=lambda ctx, value, bias: _bias_add(value, bias),
    grad=_grad_bias_add,
    vectorize=_vectorize_bias_add,
)


def _bias_gradient(dy, data_format):
    axis = _channel("BiasAddGrad", dy.shape, data_format)
    channels = dy.shape[axis]
    if axis == dy.ndim - 1 and dy.dtype in (np.float32, np.float64):
        return column_sums(dy.reshape(-1, channels) if channels else np.zeros((0, 0), dy.dtype))
    others = tuple(a for a in range(dy.ndim) if a != axis)
    if dy.dtype.itemsize == 2 and dy.dtype.kind in "fV":
        return widened(dy).sum(others).astype(dy.dtype)
    return dy.sum(others, dtype=dy.dtype)


def _lower_bias_gradient(ctx, dy, data_format):
    axis = _channel("BiasAddGrad", dy.shape, data_format)
    return jnp.sum(dy, tuple(a for a in range(dy.ndim) if a != axis), dtype=dy.dtype)


def _infer_bias_gradient(out_backprop, data_format):
    if out_backprop.shape.rank is None:
        return TensorShape([None])
    axis = _channel("BiasAddGrad", out_backprop.shape.as_list(), data_format)
    return TensorShape([out_backprop.shape[axis]])


def _grad_bias_gradient(node, db):
    shape = node.out_backprop_shape
    if node.attrs["data_format"] == "NCHW":
        if isinstance(shape, tuple):
            db = RESHAPE(db, [-1, *[1] * (len(shape) - 2)])
        else:
            ones = ONES_LIKE(shape[2:])
            db = RESHAPE(db, CONCAT([[-1], ones], 0))
    return (BROADCAST_TO(db, shape),)


def _vectorize_bias_add_grad(batch, node, dy):
    rank = batch.rank(dy)
    channels = rank - 1 if node.attrs["data_format"].endswith("C") else 1
    return SUM(dy.tensor, to_tensor([i + 1 for i in range(rank) if i != channels], dtypes.int32))


BIAS_ADD_GRAD = Op(
    "BiasAddGrad",
    'out_backprop: T, *, data_format: string = "NHWC" -> output: T',
    T=dtypes.NUMBER,
    infer=_infer_bias_gradient,
    kernel=_bias_gradient,
    lower=_lower_bias_gradient,
    saves=("out_backprop_shape",),
    grad=_grad_bias_gradient,
    vectorize=_vectorize_bias_add_grad,
)


@api("nn.bias_add")
def bias_add(value, bias, data_format=None, name=None) -> Tensor:
    """Adds one number to each channel.

    Args:
        value: a tensor of at least two dimensions.
        bias: a vector with one entry per channel, of the same type.
        data_format: "N...C" (the default) if the channels come last, "NC..." if they come second.
        name: a name for the operation.

    >>> tf.nn.bias_add([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]).numpy().tolist()
    [[11.0, 22.0], [13.0, 24.0]]
    """
    if data_format is None or (data_format.startswith("N") and data_format.endswith("C")):
        layout = "NHWC"
    elif data_format.startswith("NC"):
        layout = "NCHW"
    else:
        raise ValueError(f"bias_add: data_format must be 'N...C' or 'NC...', got {data_format!r}.")
    return BIAS_ADD(value, bias, data_format=layout, name=name)
