"""`tf.experimental.numpy`: products of vectors and matrices, and random numbers."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays import filling, joining, measuring, shaping
from headrace._src.ops.arrays.measuring import known_rank
from headrace._src.ops.linalg import einsum as linalg_einsum
from headrace._src.ops.linalg import matmul as linalg_matmul
from headrace._src.ops.math import complex_numbers
from headrace._src.ops.numpy_api import shapes
from headrace._src.ops.numpy_api.types import as_array, as_dtype, as_float, cast, default_float, promote
from headrace._src.ops.random import distributions, seeds, uniform_and_normal


@api("experimental.numpy.matmul", dispatch=False)
def matmul(x1, x2) -> Tensor:
    """The matrix product; vectors count as a row on the left and as a column on the right."""
    a, b = promote(x1, x2)
    known_rank("experimental.numpy.matmul", "x1", a), known_rank("experimental.numpy.matmul", "x2", b)
    if not a.shape.rank or not b.shape.rank:
        raise ValueError("experimental.numpy.matmul: operands must not be scalars; use multiply.")
    kind = a.dtype
    if kind is dtypes.bool:
        a, b = cast(a, dtypes.int32), cast(b, dtypes.int32)
    if a.shape.rank == 1 and b.shape.rank == 1:
        result = linalg_einsum.tensordot(a, b, axes=1)
    elif a.shape.rank == 1:
        result = shaping.squeeze(linalg_matmul.matmul(shaping.expand_dims(a, 0), b), -2)
    elif b.shape.rank == 1:
        result = shaping.squeeze(linalg_matmul.matmul(a, shaping.expand_dims(b, 1)), -1)
    else:
        result = linalg_matmul.matmul(a, b)
    return cast(result, kind)


@api("experimental.numpy.dot", dispatch=False)
def dot(a, b) -> Tensor:
    """The sum of products over the last axis of `a` and the second-last of `b`."""
    a, b = promote(a, b)
    known_rank("experimental.numpy.dot", "a", a), known_rank("experimental.numpy.dot", "b", b)
    if not a.shape.rank or not b.shape.rank:
        return a * b
    if b.shape.rank == 1:
        return linalg_einsum.tensordot(a, b, axes=[[-1], [-1]])
    return linalg_einsum.tensordot(a, b, axes=[[-1], [-2]])


@api("experimental.numpy.inner", dispatch=False)
def inner(a, b) -> Tensor:
    """The sum of products over the last axes."""
    a, b = promote(a, b)
    known_rank("experimental.numpy.inner", "a", a), known_rank("experimental.numpy.inner", "b", b)
    if not a.shape.rank or not b.shape.rank:
        return a * b
    return linalg_einsum.tensordot(a, b, axes=[[-1], [-1]])


@api("experimental.numpy.outer", dispatch=False)
def outer(a, b) -> Tensor:
    """All products of an element of `a` and one of `b`."""
    a, b = promote(a, b)
    return shaping.reshape(a, [-1, 1]) * shaping.reshape(b, [-1])


@api("experimental.numpy.vdot", dispatch=False)
def vdot(a, b) -> Tensor:
    """The sum of products of all elements, the first ones conjugated."""
    a, b = promote(a, b)
    a, b = shaping.reshape(a, [-1]), shaping.reshape(b, [-1])
    return linalg_einsum.tensordot(complex_numbers.conj(a) if a.dtype.is_complex else a, b, axes=1)


@api("experimental.numpy.tensordot", dispatch=False)
def tensordot(a, b, axes=2) -> Tensor:
    """The sum of products over chosen axes."""
    a, b = promote(a, b)
    return linalg_einsum.tensordot(a, b, axes)


@api("experimental.numpy.einsum", dispatch=False)
def einsum(subscripts, *operands, **kwargs) -> Tensor:
    """Sums of products in Einstein's notation."""
    casting = kwargs.pop("casting", "safe")
    optimize = kwargs.pop("optimize", False)
    if kwargs or casting != "safe":
        raise ValueError("experimental.numpy.einsum: only `optimize` is supported.")
    plan = "greedy" if optimize in (False, True) else optimize
    return linalg_einsum.einsum(subscripts, *promote(*operands), optimize=plan)


@api("experimental.numpy.kron", dispatch=False)
def kron(a, b) -> Tensor:
    """The Kronecker product."""
    a, b = promote(a, b)
    rank = max(a.shape.rank, b.shape.rank)
    a_shape = [1] * (rank - a.shape.rank) + a.shape.as_list()
    b_shape = [1] * (rank - b.shape.rank) + b.shape.as_list()
    left = shaping.reshape(a, [n for size in a_shape for n in (size, 1)])
    right = shaping.reshape(b, [n for size in b_shape for n in (1, size)])
    return shaping.reshape(left * right, [m * n for m, n in zip(a_shape, b_shape)])


@api("experimental.numpy.cross", dispatch=False)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None) -> Tensor:
    """The cross product of vectors of 2 or 3 elements along an axis."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promote(a, b)
    move = shapes.moveaxis
    a, b = move(a, axisa, -1), move(b, axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("experimental.numpy.cross: vectors must have 2 or 3 elements.")
    flat = a.shape[-1] == 2 and b.shape[-1] == 2

    def parts(x):
        found = [x[..., i] for i in range(x.shape[-1])]
        return found if len(found) == 3 else [*found, filling.zeros_like(found[0])]

    (a0, a1, a2), (b0, b1, b2) = parts(a), parts(b)
    last = a0 * b1 - a1 * b0
    if flat:
        return last
    result = joining.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, last], axis=-1)
    return move(result, -1, axisc) if result.shape.rank > 1 else result


# Random numbers.


@api("experimental.numpy.random.seed", dispatch=False)
def seed(s) -> None:
    """Seed what follows; the same as `tf.random.set_seed`."""
    try:
        s = int(s)
    except TypeError:
        raise ValueError(f"experimental.numpy.random.seed: the seed must be an integer, got {s!r}.") from None
    seeds.set_seed(s)


def _shape(size):
    if size is None:
        return []
    return [size] if np.isscalar(size) else size


@api("experimental.numpy.random.uniform", dispatch=False)
def uniform(low=0.0, high=1.0, size=None) -> Tensor:
    """Uniform in [low, high)."""
    kind = default_float()
    low, high = cast(as_float(low), kind), cast(as_float(high), kind)
    shape = measuring.shape(low + high) if size is None else _shape(size)
    return low + (high - low) * uniform_and_normal.uniform(shape, dtype=kind)


@api("experimental.numpy.random.random", dispatch=False)
def random(size=None) -> Tensor:
    """Uniform in [0, 1)."""
    return uniform_and_normal.uniform(_shape(size), dtype=default_float())


@api("experimental.numpy.random.rand", dispatch=False)
def rand(*size) -> Tensor:
    """Uniform in [0, 1), with the dimensions as arguments."""
    return uniform_and_normal.uniform(size, dtype=default_float())


@api("experimental.numpy.random.standard_normal", dispatch=False)
def standard_normal(size=None) -> Tensor:
    """Standard normal."""
    return uniform_and_normal.normal(_shape(size), dtype=default_float())


@api("experimental.numpy.random.randn", dispatch=False)
def randn(*args) -> Tensor:
    """Standard normal, with the dimensions as arguments."""
    return uniform_and_normal.normal(args, dtype=default_float())


@api("experimental.numpy.random.randint", dispatch=False)
def randint(low, high=None, size=None, dtype=np.int64) -> Tensor:
    """Integers in [low, high), or in [0, low)."""
    if high is None:
        low, high = 0, low
    kind = as_dtype(dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"experimental.numpy.random.randint: dtype must be int32 or int64, got {kind.name}.")
    return uniform_and_normal.uniform(_shape(size), minval=low, maxval=high, dtype=kind)


@api("experimental.numpy.random.poisson", dispatch=False)
def poisson(lam=1.0, size=None) -> Tensor:
    """Poisson-distributed integers."""
    rate = as_array(lam)
    rate = rate if rate.dtype.is_floating else cast(rate, default_float())
    if size is None:
        return cast(distributions.poisson([], rate), dtypes.int64)
    return cast(distributions.poisson(_shape(size), rate), dtypes.int64)
