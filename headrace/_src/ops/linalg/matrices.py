"""Simple functions of matrices: identity, transposes, bands, traces, cross products."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.constants import ones
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import RANK
from headrace._src.ops.arrays.rearranging import CONJUGATE_TRANSPOSE, TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.linalg.diagonals import MATRIX_DIAG, diag_part
from headrace._src.ops.math.arithmetic import MINIMUM
from headrace._src.ops.math.limit_kernels import kept


def _check_band(input, num_lower, num_upper):
    if input.ndim < 2:
        raise errors.invalid_argument(
            f"MatrixBandPart: input must have rank 2 or more, got shape {input.shape}."
        )
    for name, number in (("num_lower", num_lower), ("num_upper", num_upper)):
        if number.ndim:
            raise errors.invalid_argument(
                f"MatrixBandPart: {name} must be a scalar, got shape {number.shape}."
            )


def _band_part(input, num_lower, num_upper):
    _check_band(input, num_lower, num_upper)
    rows, columns = input.shape[-2:]
    lower, upper = int(num_lower), int(num_upper)
    if lower > rows:
        raise errors.invalid_argument(
            f"MatrixBandPart: num_lower must be negative or at most {rows}, the rows, got {lower}."
        )
    if upper > columns:
        raise errors.invalid_argument(
            f"MatrixBandPart: num_upper must be negative or at most {columns}, the columns, got {upper}."
        )
    if upper < 0 and lower < 0:
        return input
    row, column = np.arange(rows, dtype=np.int32)[:, None], np.arange(columns, dtype=np.int32)
    inside = column <= row + upper if upper >= 0 else column >= row - lower
    if lower >= 0 and upper >= 0:
        inside &= column >= row - lower
    return kept(inside, input)


def _lower_band_part(ctx, input, num_lower, num_upper):
    _check_band(input, num_lower, num_upper)
    rows, columns = input.shape[-2:]
    ctx.check(
        num_lower <= rows,
        errors.InvalidArgumentError,
        f"MatrixBandPart: num_lower must be negative or at most the number of rows {rows}.",
    )
    ctx.check(
        num_upper <= columns,
        errors.InvalidArgumentError,
        f"MatrixBandPart: num_upper must be negative or at most the number of columns {columns}.",
    )
    above = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    inside = ((num_lower < 0) | (-above <= num_lower)) & ((num_upper < 0) | (above <= num_upper))
    return jnp.where(inside, input, jnp.zeros((), input.dtype))


MATRIX_BAND_PART = Op(
    "MatrixBandPart",
    "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    T=dtypes.ANY - dtypes.STRING,
    Tindex=dtypes.INDEX,
    infer=same_as_input,
    kernel=_band_part,
    lower=_lower_band_part,
    saves=("num_lower", "num_upper"),
    grad=lambda node, dy: (MATRIX_BAND_PART(dy, node.num_lower, node.num_upper), None, None),
    vectorize=on_last_axes(),
)


@api("linalg.band_part")
def band_part(input, num_lower, num_upper, name=None) -> Tensor:
    """Matrices with everything outside a band around the main diagonal set to zero.

    Args:
        input: a tensor of rank 2 or more.
        num_lower: how many diagonals below the main one to keep; negative: all.
        num_upper: how many above.
        name: accepted for compatibility.

    >>> tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy().tolist()
    [[1, 0], [3, 4]]
    """
    if not isinstance(num_lower, Tensor) and not isinstance(num_upper, Tensor):
        num_lower, num_upper = to_tensor(num_lower, dtypes.int64), to_tensor(num_upper, dtypes.int64)
    return MATRIX_BAND_PART(input, num_lower, num_upper, name=name)


def _check_cross(a, b):
    if not a.ndim:
        raise errors.invalid_argument(f"Cross: inputs must have rank 1 or more, got shape {a.shape}.")
    if a.shape != b.shape:
        raise errors.invalid_argument(f"Cross: inputs must have the same shape, got {a.shape} and {b.shape}.")
    if a.shape[-1] != 3:
        raise errors.failed_precondition(
            f"Cross: cross products are only defined for vectors of 3 elements, got shape {a.shape}."
        )


def _cross(xp, a, b):
    _check_cross(a, b)
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    return xp.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], -1)


CROSS = Op(
    "Cross",
    "a: T, b: T -> product: T",
    T=dtypes.REAL,
    infer=lambda a, b: a.shape.merge_with(b.shape),
    kernel=lambda a, b: _cross(np, a, b),
    lower=lambda ctx, a, b: _cross(jnp, a, b),
    saves=("a", "b"),
    grad=lambda node, dy: (CROSS(node.b, dy), CROSS(dy, node.a)),
    vectorize=on_last_axes(2),
)


@api("linalg.cross")
def cross(a, b, name=None) -> Tensor:
    """The cross product of vectors of 3 elements, along the last axis.

    >>> tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy().tolist()
    [0, 0, 1]
    """
    return CROSS(a, b, name=name)


@api("linalg.trace")
def trace(x, name=None) -> Tensor:
    """The sum of the main diagonal of matrices.

    >>> int(tf.linalg.trace([[1, 2], [3, 4]]))
    5
    """
    return SUM(diag_part(to_tensor(x)), [-1], name=name)


@api("linalg.matrix_transpose")
def matrix_transpose(a, name="matrix_transpose", conjugate=False) -> Tensor:
    """The last two axes exchanged.

    Args:
        a: a tensor of rank 2 or more.
        name: accepted for compatibility.
        conjugate: take the complex conjugate as well.

    Raises:
        ValueError: when the rank is below 2.

    >>> tf.linalg.matrix_transpose([[1, 2, 3]]).numpy().tolist()
    [[1], [2], [3]]
    """
    a = to_tensor(a)
    rank = a.shape.rank
    if rank is None:
        count = RANK(a)
        order = CONCAT([RANGE(0, count - 2, 1), [count - 1, count - 2]], 0)
    elif rank < 2:
        raise ValueError(f"matrix_transpose: a must have rank 2 or more, got shape {a.shape}.")
    else:
        order = [*range(rank - 2), rank - 1, rank - 2]
    op = CONJUGATE_TRANSPOSE if conjugate and a.dtype.is_complex else TRANSPOSE
    return op(a, order, name=name)


@api("linalg.adjoint")
def adjoint(matrix, name=None) -> Tensor:
    """The conjugate transpose of matrices.

    >>> tf.linalg.adjoint([[1, 1j]]).numpy().tolist()
    [[(1-0j)], [-1j]]
    """
    return matrix_transpose(matrix, name=name, conjugate=True)


@api("eye", "linalg.eye", scope="eye")
def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None) -> Tensor:
    """Identity matrices.

    Args:
        num_rows: the number of rows, an integer or scalar tensor.
        num_columns: the number of columns; as many as rows when left out.
        batch_shape: the leading axes.
        dtype: the element type.
        name: accepted for compatibility.

    Raises:
        TypeError: when a size is no integer.

    >>> tf.eye(2).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    dtype = dtypes.as_dtype(dtype)
    columns = num_rows if num_columns is None else num_columns
    for size in (num_rows, columns):
        if not isinstance(size, (int, np.integer, Tensor)) and not hasattr(size, "__tf_tensor__"):
            raise TypeError(
                f"eye: num_rows and num_columns must be integers, got {num_rows!r} and {num_columns!r}."
            )
    batch = [] if batch_shape is None else batch_shape
    if isinstance(batch, (str, bytes)):
        raise TypeError(f"eye: batch_shape must be a list of integers, got {batch!r}.")
    if not isinstance(batch, Tensor):
        batch = list(batch)
    known = not isinstance(batch, Tensor) and all(
        isinstance(n, (int, np.integer)) for n in (num_rows, columns, *batch)
    )
    if known:
        shape = [*batch, min(num_rows, columns)]
    else:
        num_rows, columns = (to_tensor(n, hint=dtypes.int32) for n in (num_rows, columns))
        length = RESHAPE(MINIMUM(num_rows, columns), [1])
        batch = batch if isinstance(batch, Tensor) else to_tensor(batch, dtypes.int32)
        shape = CONCAT([batch, length], 0)
    diagonal = ones(shape, dtype)
    padding = False if dtype is dtypes.bool else 0
    return MATRIX_DIAG(diagonal, 0, num_rows, columns, padding, name=name)
