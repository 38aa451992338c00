"""Changing the shape of a tensor without changing its elements."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import shape_from_value


def _target_shape(size, shape):
    """The shape asked for, with a -1 filled in."""
    shape = tuple(int(n) for n in np.asarray(shape).ravel())
    for i, n in enumerate(shape):
        if n < -1:
            raise errors.invalid_argument(f"Reshape: size {i} must be non-negative, not {n}.")
    if shape.count(-1) > 1:
        raise errors.invalid_argument(f"Reshape: only one dimension of shape may be -1, got {shape}.")
    known = math.prod(n for n in shape if n != -1)
    if -1 in shape:
        if known == 0 and size == 0:
            return tuple(0 if n == -1 else n for n in shape)
        if known == 0 or size % known:
            raise errors.invalid_argument(
                f"Reshape: input has {size} elements, which shape {shape} does not divide."
            )
        return tuple(size // known if n == -1 else n for n in shape)
    if known != size:
        raise errors.invalid_argument(
            f"Reshape: input has {size} elements, but shape {shape} has {known}."
        )
    return shape


def _reshape(tensor, shape):
    if shape.ndim != 1:
        raise errors.invalid_argument(f"Reshape: shape must be a vector, got shape {shape.shape}.")
    return tensor.reshape(_target_shape(tensor.size, shape))


def _infer_reshape(tensor, shape):
    target = shape_from_value(shape)
    size = tensor.shape.num_elements()
    if target.rank is not None and size is not None and shape.value is not None:
        return TensorShape(_target_shape(size, shape.value))
    return target


def _lower_reshape(ctx, tensor, shape):
    return jnp.reshape(tensor, _target_shape(tensor.size, shape))


def _grad_reshape(node, dy):
    return RESHAPE(dy, node.tensor_shape), None


RESHAPE = Op(
    "Reshape",
    "tensor: T, shape: Tshape -> output: T",
    Tshape=dtypes.INDEX,
    infer=_infer_reshape,
    kernel=_reshape,
    lower=_lower_reshape,
    static=("shape",),
    saves=("tensor_shape",),
    grad=_grad_reshape,
)


@api("reshape")
def reshape(tensor, shape, name=None):
    """The same elements in another shape; one dimension of `shape` may be -1.

    >>> tf.reshape([1, 2, 3, 4], [2, -1])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>

    Raises:
        InvalidArgumentError: when the number of elements differs.
    """
    return RESHAPE(tensor, shape, name=name)

