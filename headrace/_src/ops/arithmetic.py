"""Arithmetic on two tensors that broadcast: add, subtract, multiply, divide, powers, extremes."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jnp
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import broadcast, same_as_input
from headrace._src.ops.broadcasting import sum_to


def _grad_neg(node, dy):
    return (NEG(dy),)


NEG = Op(
    "Neg",
    "x: T -> y: T",
    T=dtypes.FLOATING | dtypes.SIGNED | dtypes.COMPLEX,
    infer=same_as_input,
    kernel=np.negative,
    lower=lambda ctx, x: jnp.negative(x),
    grad=_grad_neg,
)


@api("math.negative", "negative")
def negative(x, name=None):
    """`-x`, element-wise."""
    return NEG(x, name=name)


def _grad_add(node, dy):
    return sum_to(dy, node.x_shape, node.y_shape), sum_to(dy, node.y_shape, node.x_shape)


ADD = Op(
    "AddV2",
    "x: T, y: T -> z: T",
    T=dtypes.NUMBER,
    infer=broadcast,
    kernel=np.add,
    lower=lambda ctx, x, y: jnp.add(x, y),
    saves=("x_shape", "y_shape"),
    grad=_grad_add,
)

def _grad_subtract(node, dy):
    return sum_to(dy, node.x_shape, node.y_shape), sum_to(NEG(dy), node.y_shape, node.x_shape)


SUB = Op(
    "Sub",
    "x: T, y: T -> z: T",
    T=dtypes.NUMBER,
    infer=broadcast,
    kernel=np.subtract,
    lower=lambda ctx, x, y: jnp.subtract(x, y),
    saves=("x_shape", "y_shape"),
    grad=_grad_subtract,
)


@api("math.subtract", "subtract")
def subtract(x, y, name=None):
    """`x - y`, element-wise, with broadcasting."""
    return SUB(x, y, name=name)
