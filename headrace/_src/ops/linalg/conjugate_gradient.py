"""Linear equations solved by the method of conjugate gradients."""

import collections

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import BROADCAST_ARGS, BROADCAST_TO
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.linalg.lengths import norm
from headrace._src.ops.math.complex_numbers import CONJ, REAL
from headrace._src.ops.math.reductions import reduce_any, reduce_sum

CGState = collections.namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def _dot(x, y):
    return reduce_sum((CONJ(x) if x.dtype.is_complex else x) * y, axis=-1)


def _along(x):
    """A number per vector, in a shape that broadcasts with the vectors."""
    return EXPAND_DIMS(x, -1)


def _length(x):
    length = norm(x, axis=-1)
    return REAL(length, Tout=x.dtype.real_dtype) if x.dtype.is_complex else length


def _step(operator, preconditioner, state):
    z = operator.matvec(state.p)
    alpha = _along(state.gamma / _dot(state.p, z))
    x = state.x + alpha * state.p
    r = state.r - alpha * z
    q = r if preconditioner is None else preconditioner.matvec(r)
    gamma = _dot(r, q)
    p = q + _along(gamma / state.gamma) * state.p
    return CGState(state.i + 1, x, r, p, gamma)


@api("linalg.experimental.conjugate_gradient")
def conjugate_gradient(
    operator, rhs, preconditioner=None, x=None, tol=1e-05, max_iter=20, name="conjugate_gradient"
) -> CGState:
    """Solve `operator @ x == rhs` for a self-adjoint, positive definite operator.

    Args:
        operator: a `tf.linalg.LinearOperator`, or anything with `matvec` and `batch_shape`.
        rhs: the right-hand sides, vectors along the last axis.
        preconditioner: an operator close to the inverse of `operator`, or None.
        x: where to begin; zero by default.
        tol: the length of the residual, relative to that of `rhs`, at which to stop.
        max_iter: the largest number of steps.
        name: accepted for compatibility.

    Returns:
        A namedtuple (i, x, r, p, gamma): the number of steps, the solution, the residual, the last
        direction, and the product of the residual with its preconditioned self.

    Raises:
        ValueError: when the operator is not known to be self-adjoint and positive definite.
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("conjugate_gradient: operator must be self-adjoint and positive definite.")
    rhs = to_tensor(rhs, hint=operator.dtype)
    dims = SHAPE(rhs, out_type=dtypes.int32)
    batch = BROADCAST_ARGS(dims[:-1], operator.batch_shape_tensor())
    if preconditioner is not None:
        batch = BROADCAST_ARGS(batch, preconditioner.batch_shape_tensor())
    full = CONCAT([batch, dims[-1:]], 0)
    r = BROADCAST_TO(rhs, full)
    limit = to_tensor(tol, rhs.dtype.real_dtype) * _length(r)
    if x is None:
        x = zeros(full, rhs.dtype)
    else:
        x = to_tensor(x, hint=rhs.dtype)
        r = rhs - operator.matvec(x)
    p = r if preconditioner is None else preconditioner.matvec(r)
    state = CGState(to_tensor(np.int32(0)), x, r, p, _dot(r, p))
    eager = type(r) is EagerTensor
    for _ in range(int(max_iter)):
        going = reduce_any(_length(state.r) > limit)
        if eager:
            if not going:
                break
            state = _step(operator, preconditioner, state)
        else:
            # A graph makes all the steps, and keeps the state from the one on that is good enough.
            after = _step(operator, preconditioner, state)
            state = CGState(*(SELECT_V2(going, new, old) for new, old in zip(after, state)))
    return state
