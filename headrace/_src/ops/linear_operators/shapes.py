"""What linear operators share: batch shapes that are known or not, solving with broadcast batches, hints, checks."""

import functools

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape, broadcast_static_shape
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import broadcast_dynamic_shape, broadcast_to
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.joining import concat
from headrace._src.ops.arrays.measuring import get_static_value, shape
from headrace._src.ops.arrays.rearranging import transpose
from headrace._src.ops.arrays.shaping import reshape
from headrace._src.ops.debugging.assertions import assert_equal, assert_less
from headrace._src.ops.linalg.decompositions import cholesky
from headrace._src.ops.linalg.matrices import adjoint
from headrace._src.ops.linalg.solving import cholesky_solve, solve
from headrace._src.ops.math.complex_numbers import imag, real
from headrace._src.ops.math.elementwise import abs as absolute

# A shape is a tuple of ints where it is known, and an int32 vector otherwise.


def dims_of(x, start: int = 0, stop: int | None = None):
    """Dimensions of a tensor as a tuple of ints, or as an int32 vector when one of them is unknown."""
    if x.shape.rank is not None:
        dims = x.shape.as_list()[start:stop]
        if None not in dims:
            return tuple(dims)
    return shape(x)[start:stop]


def batch_of(x, event: int = 2):
    """The dimensions of a tensor before the last `event` ones."""
    return dims_of(x, 0, -event)


def dimension_of(x, axis: int):
    """One dimension: an int, or an int32 scalar when it is unknown."""
    if x.shape.rank is not None and x.shape[axis] is not None:
        return x.shape[axis]
    return shape(x)[axis]


def joined(*parts):
    """Shapes one after the other; a part may also be a single dimension."""
    parts = [part if isinstance(part, tuple) or not _is_scalar(part) else (part,) for part in parts]
    if all(isinstance(part, tuple) and all(isinstance(n, int) for n in part) for part in parts):
        return sum(parts, ())
    return concat([to_tensor(part, dtypes.int32) for part in parts if not (isinstance(part, tuple) and not part)], 0)


def _is_scalar(part):
    return isinstance(part, (int, np.integer)) or getattr(getattr(part, "shape", None), "rank", None) == 0


def common_batch(*shapes):
    """The shape to which several shapes broadcast."""

    def both(a, b):
        if isinstance(a, tuple) and isinstance(b, tuple):
            return tuple(broadcast_static_shape(TensorShape(a), TensorShape(b)).as_list())
        return broadcast_dynamic_shape(to_tensor(a, dtypes.int32), to_tensor(b, dtypes.int32))

    return functools.reduce(both, shapes)


def with_batch(x, batch, event: int = 2):
    """`x` repeated so that its batch dimensions are at least `batch`."""
    mine = batch_of(x, event)
    wanted = common_batch(mine, batch)
    if isinstance(wanted, tuple) and isinstance(mine, tuple) and wanted == mine:
        return x
    return broadcast_to(x, joined(wanted, dims_of(x, -event) if event else ()))


def with_common_batch(matrices, event: int = 2) -> list:
    """Tensors repeated so that their batch dimensions are the same."""
    batch = common_batch(*[batch_of(x, event) for x in matrices])
    return [with_batch(x, batch, event) for x in matrices]


def static_value(x):
    """The value of something like a tensor as a NumPy array, if it is known before the program runs."""
    return None if x is None else get_static_value(x)


# Solving.


def solve_dense(matrix, rhs, adjoint=False):
    """`tf.linalg.solve`, with batch dimensions that broadcast."""
    if matrix.shape.rank == 2 and rhs.shape.rank is not None and rhs.shape.rank > 2:
        # One matrix and many right-hand sides: put them side by side, so that it is factored once.
        rank = rhs.shape.rank
        moved = transpose(rhs, [rank - 2, *range(rank - 2), rank - 1])
        flat = solve(matrix, reshape(moved, joined(dimension_of(rhs, -2), -1)), adjoint=adjoint)
        return transpose(reshape(flat, dims_of(moved)), [*range(1, rank - 1), 0, rank - 1])
    matrix, rhs = with_common_batch([matrix, rhs])
    return solve(matrix, rhs, adjoint=adjoint)


def solve_positive(matrix, rhs):
    """`solve_dense` for matrices that are self-adjoint and positive definite."""
    return cholesky_solve(cholesky(matrix), rhs)


def adjoint_if(condition, x):
    """`x`, or its adjoint."""
    return adjoint(x) if condition else x


def total(parts, dtype):
    """The sum of logarithms, which are real or complex by the kind of operator; in `dtype` if they are not alike."""
    if any(part.dtype != parts[0].dtype for part in parts):
        parts = [cast(part, dtype) for part in parts]
    return functools.reduce(lambda a, b: a + b, parts)


# Hints of a product from those of its factors.


def product_non_singular(a, b):
    """Whether a product is non-singular: True, False or None, which means unknown."""
    if a.is_non_singular is False or b.is_non_singular is False:
        return False
    return a.is_non_singular and b.is_non_singular


def commuting_self_adjoint(a, b):
    """Whether the product of two operators that commute is self-adjoint."""
    if a.is_self_adjoint is True and b.is_self_adjoint is True:
        return True
    if {a.is_self_adjoint, b.is_self_adjoint} == {True, False}:
        return False
    return None


def commuting_positive_definite(a, b):
    """Whether the product of two operators that commute is positive definite."""
    hints = (a.is_positive_definite, a.is_self_adjoint, b.is_positive_definite, b.is_self_adjoint)
    return True if all(hint is True for hint in hints) else None


def product_square(a, b):
    """Whether a product is a square matrix."""
    return True if a.is_square and b.is_square else None


# Checks.


def assert_nonzero(x, message):
    """Raises InvalidArgumentError where an element of `x` is zero."""
    size = absolute(x)
    return assert_less(to_tensor(0, size.dtype), size, message=message)


def assert_zero_imaginary(x, message):
    """Raises InvalidArgumentError where an element of `x` is not real."""
    if x.dtype.is_complex:
        part = imag(x)
        return assert_equal(to_tensor(0, part.dtype), part, message=message)
    return None


def real_part(x):
    """The real part of a tensor of any dtype."""
    return real(x) if x.dtype.is_complex else x
