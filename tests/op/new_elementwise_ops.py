"""Two new element-wise ops, written as CONTRIBUTING says: test_new_elementwise_op.py tries them."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jnp
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import broadcast, same_as_input
from headrace._src.op.traits import ELEMENTWISE, FAILS_BY_SHAPE, IDEMPOTENT, NEVER_FAILS

KERNEL_CALLS: list = []  # the shape of what each call was given
LOWERINGS: list = []


def _cube(x):
    KERNEL_CALLS.append(x.shape)
    return x * x * x


def _lower_cube(ctx, x):
    LOWERINGS.append(x.shape)
    return x * x * x


def _grad_cube(node, dy):
    return (dy * 3.0 * node.x * node.x,)


CUBE = Op("TestCube", "x: T -> y: T", traits=ELEMENTWISE | NEVER_FAILS, T=dtypes.FLOATING,
          infer=same_as_input, kernel=_cube, lower=_lower_cube, saves=("x",), grad=_grad_cube)  # fmt: skip


@api("test_cube", of=CUBE, sparse=True)
def cube(x, name=None):
    """`x * x * x`, element-wise."""
    return CUBE(x, name=name)


LARGER = Op("TestLarger", "x: T, y: T -> z: T", traits=ELEMENTWISE | FAILS_BY_SHAPE | IDEMPOTENT, T=dtypes.FLOATING,
            infer=broadcast, kernel=np.maximum, lower=lambda ctx, x, y: jnp.maximum(x, y), grad=None)  # fmt: skip


@api("test_larger", of=LARGER)
def larger(x, y, name=None):
    """The larger one of each pair of elements."""
    return LARGER(x, y, name=name)
