"""Diagonals of matrices: making a matrix from them, taking them out, replacing them."""

import functools

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.constants import zeros

ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def _band(op, k):
    """(lowest, highest) diagonal that `k` asks for."""
    k = np.asarray(k)
    if k.ndim > 1:
        raise errors.invalid_argument(f"{op}: k must be a scalar or vector, got shape {k.shape}.")
    if k.size not in (1, 2):
        raise errors.invalid_argument(f"{op}: k must have one or two elements, got {k.size}.")
    values = k.ravel().tolist()
    lower, upper = values[0], values[-1]
    if lower > upper:
        raise errors.invalid_argument(
            f"{op}: the lower index of k must not be larger than the upper one: {lower} > {upper}."
        )
    return lower, upper


def _check_alignment(op, align):
    if align not in ALIGNMENTS:
        raise errors.invalid_argument(f"{op}: align must be one of {list(ALIGNMENTS)}, got {align!r}.")


def _check_bounds(op, lower, upper, rows, columns):
    for name, k in (("lower", lower), ("upper", upper)):
        if not (-rows < k < columns or k == 0):
            raise errors.invalid_argument(
                f"{op}: the {name} index of k is out of bounds: {k}, not between {-rows} and {columns}."
            )


def _longest(rows, columns, lower, upper):
    """The length of the longest diagonal in the band."""
    return max(min(rows + min(upper, 0), columns - max(lower, 0)), 0)


def _places(rows, columns, lower, upper, width, align):
    """Where the entries of packed diagonals lie: row and column of each, and which of them are padding."""
    above, below = (side == "LEFT" for side in align.split("_"))
    d = np.arange(upper, lower - 1, -1)[:, None]
    length = np.minimum(rows + np.minimum(d, 0), columns - np.maximum(d, 0))
    to_the_left = ((d >= 0) & above) | ((d <= 0) & below)
    n = np.arange(width)[None, :] - np.where(to_the_left, 0, width - length)
    return n - np.minimum(d, 0), n + np.maximum(d, 0), (n >= 0) & (n < length)


def _scalar(op, padding_value):
    if padding_value.size != 1:
        raise errors.invalid_argument(
            f"{op}: padding_value must be a scalar, got shape {padding_value.shape}."
        )
    return padding_value.reshape(())


def _run(rows, columns, d, length):
    """The slice of a flattened matrix that is diagonal `d`."""
    start = max(-d, 0) * columns + max(d, 0)
    return slice(start, start + max(length - 1, -1) * (columns + 1) + 1 if length else start, columns + 1)


# Taking diagonals out.


def _part(op, xp, input, k, padding_value, align):
    if input.ndim < 2:
        raise errors.invalid_argument(f"{op}: input must have rank 2 or more, got shape {input.shape}.")
    _check_alignment(op, align)
    lower, upper = _band(op, k)
    rows, columns = input.shape[-2:]
    _check_bounds(op, lower, upper, rows, columns)
    padding = _scalar(op, padding_value)
    if lower == upper:
        return xp.diagonal(input, lower, -2, -1)
    width = _longest(rows, columns, lower, upper)
    row, column, real = _places(rows, columns, lower, upper, width, align)
    if not input.size:
        return xp.broadcast_to(padding, (*input.shape[:-2], *real.shape))
    found = input[..., np.where(real, row, 0), np.where(real, column, 0)]
    return xp.where(real, found, padding)


def _infer_part(input, k=None, padding_value=None, align=None):
    shape = input.shape
    if shape.rank is None:
        return UNKNOWN
    if shape.rank < 2:
        raise errors.invalid_argument(f"MatrixDiagPart: input must have rank 2 or more, got shape {shape}.")
    if k is not None and k.value is None:
        return UNKNOWN
    lower, upper = (0, 0) if k is None else _band("MatrixDiagPart", k.value)
    rows, columns = shape[-2], shape[-1]
    width = None
    if rows is not None and columns is not None:
        _check_bounds("MatrixDiagPart", lower, upper, rows, columns)
        width = _longest(rows, columns, lower, upper)
    return shape[:-2].concatenate([width] if lower == upper else [upper - lower + 1, width])


def _zero(dtype):
    return np.zeros((), dtype)


def _grad_part(node, dy):
    return _placed_on_zeros(node, dy, 0, "RIGHT_LEFT")


def _placed_on_zeros(node, dy, k, align):
    """A matrix of the input's shape that is zero outside the diagonals `dy`."""
    return (MATRIX_SET_DIAG(zeros(node.input_shape, dy.dtype), dy, k, align=align),)


MATRIX_DIAG_PART_MAIN = Op(
    "MatrixDiagPart",
    "input: T -> diagonal: T",
    infer=_infer_part,
    kernel=lambda input: _part("MatrixDiagPart", np, input, 0, _zero(input.dtype), "RIGHT_LEFT"),
    lower=lambda ctx, input: _part("MatrixDiagPart", jnp, input, 0, _zero(input.dtype), "RIGHT_LEFT"),
    saves=("input_shape",),
    grad=_grad_part,
    vectorize=on_last_axes(),
)

MATRIX_DIAG_PART_LEFT = Op(
    "MatrixDiagPartV2",
    "input: T, k: int32, padding_value: T -> diagonal: T",
    infer=_infer_part,
    kernel=functools.partial(_part, "MatrixDiagPartV2", np, align="LEFT_LEFT"),
    lower=lambda ctx, *inputs: _part("MatrixDiagPartV2", jnp, *inputs, align="LEFT_LEFT"),
    static=("k",),
    saves=("input_shape", "k"),
    grad=lambda node, dy: (*_placed_on_zeros(node, dy, node.k, "LEFT_LEFT"), None, None),
    vectorize=on_last_axes(),
)

MATRIX_DIAG_PART = Op(
    "MatrixDiagPartV3",
    "input: T, k: int32, padding_value: T, *, align: string = 'RIGHT_LEFT' -> diagonal: T",
    infer=_infer_part,
    kernel=functools.partial(_part, "MatrixDiagPartV3", np),
    lower=lambda ctx, *inputs, align: _part("MatrixDiagPartV3", jnp, *inputs, align),
    static=("k",),
    saves=("input_shape", "k"),
    # TF: padding_value has no gradient.
    grad=lambda node, dy: (*_placed_on_zeros(node, dy, node.k, node.attrs["align"]), None, None),
    vectorize=on_last_axes(),
)


def _padding(like, padding_value):
    """TF: False, not 0, pads booleans."""
    return bool(padding_value) if getattr(like, "dtype", None) == dtypes.bool else padding_value


@api("linalg.diag_part")
def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT") -> Tensor:
    """Diagonals of matrices.

    Args:
        input: a tensor of rank 2 or more.
        name: accepted for compatibility.
        k: the diagonal: 0 the main one, positive above it, negative below; or a pair, for a band.
        padding_value: fills up the shorter diagonals of a band.
        align: where those stand, above and below the main diagonal: "RIGHT_LEFT", "LEFT_RIGHT",
            "LEFT_LEFT" or "RIGHT_RIGHT".

    Returns:
        A tensor with the last two axes replaced by one, the diagonal, or by two for a band: highest first.

    >>> tf.linalg.diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    return MATRIX_DIAG_PART(input, k, _padding(input, padding_value), align=align, name=name)


# Making a matrix.


def _matrix_size(op, width, lower, upper, rows, columns):
    """(rows, columns), with what is -1 filled in."""
    least_rows, least_columns = width - min(upper, 0), width + max(lower, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    elif rows == -1:
        rows = least_rows
    elif columns == -1:
        columns = least_columns
    if rows < least_rows or columns < least_columns:
        raise errors.invalid_argument(
            f"{op}: the matrix must have at least {least_rows} rows and {least_columns} columns, "
            f"got {rows} and {columns}."
        )
    if rows != least_rows and columns != least_columns:
        raise errors.invalid_argument(
            f"{op}: {rows} rows and {columns} columns do not fit diagonals of length {width}, k from {lower} "
            f"to {upper}: {least_rows} rows or {least_columns} columns were expected."
        )
    return rows, columns


def _size(op, name, value):
    value = np.asarray(value)
    if value.ndim:
        raise errors.invalid_argument(f"{op}: {name} must be a scalar, got shape {value.shape}.")
    return int(value)


def _check_diagonals(op, diagonal, lower, upper):
    if diagonal.ndim < 1:
        raise errors.invalid_argument(f"{op}: diagonal must have rank 1 or more, got shape {diagonal.shape}.")
    if lower != upper and (diagonal.ndim < 2 or diagonal.shape[-2] != upper - lower + 1):
        raise errors.invalid_argument(
            f"{op}: k from {lower} to {upper} are {upper - lower + 1} diagonals, got shape {diagonal.shape}."
        )


def _make(op, xp, diagonal, k, num_rows, num_cols, padding_value, align):
    _check_alignment(op, align)
    lower, upper = _band(op, k)
    _check_diagonals(op, diagonal, lower, upper)
    rows, columns = _matrix_size(
        op, diagonal.shape[-1], lower, upper, _size(op, "num_rows", num_rows), _size(op, "num_cols", num_cols)
    )
    batch = diagonal.shape[: -1 if lower == upper else -2]
    if padding_value.ndim:
        raise errors.invalid_argument(f"{op}: padding_value must be a scalar, got shape {padding_value.shape}.")
    matrix = xp.full((*batch, rows, columns), padding_value, diagonal.dtype)
    return _place(xp, matrix, diagonal, lower, upper, align)


def _place(xp, matrix, diagonal, lower, upper, align):
    """`matrix`, which is the caller's own, with its diagonals replaced."""
    rows, columns = matrix.shape[-2:]
    width = diagonal.shape[-1]
    if xp is np and lower == upper:
        flat = matrix.reshape(*matrix.shape[:-2], rows * columns)
        flat[..., _run(rows, columns, lower, width)] = diagonal
        return matrix
    row, column, real = _places(rows, columns, lower, upper, width, align)
    row, column = row[real], column[real]
    values = diagonal.reshape(*matrix.shape[:-2], *real.shape)[..., real]
    if xp is np:
        matrix[..., row, column] = values
        return matrix
    return matrix.at[..., row, column].set(values)


def _infer_make(diagonal, k=None, num_rows=None, num_cols=None, padding_value=None, align=None):
    shape = diagonal.shape
    if shape.rank is None or (k is not None and k.value is None):
        return UNKNOWN
    lower, upper = (0, 0) if k is None else _band("MatrixDiag", k.value)
    if shape.rank < (1 if lower == upper else 2):
        raise errors.invalid_argument(f"MatrixDiag: diagonal has too low a rank, got shape {shape}.")
    batch = shape[: -1 if lower == upper else -2]
    if k is None:
        return batch.concatenate([shape[-1], shape[-1]])
    if shape[-1] is None or num_rows.value is None or num_cols.value is None:
        return batch.concatenate([None, None])
    sizes = (_size("MatrixDiag", "size", spec.value) for spec in (num_rows, num_cols))
    return batch.concatenate(_matrix_size("MatrixDiag", shape[-1], lower, upper, *sizes))


MATRIX_DIAG_MAIN = Op(
    "MatrixDiag",
    "diagonal: T -> output: T",
    infer=_infer_make,
    kernel=lambda d: _make("MatrixDiag", np, d, 0, -1, -1, _zero(d.dtype), "RIGHT_LEFT"),
    lower=lambda ctx, d: _make("MatrixDiag", jnp, d, 0, -1, -1, _zero(d.dtype), "RIGHT_LEFT"),
    grad=lambda node, dy: (MATRIX_DIAG_PART_MAIN(dy),),
    vectorize=on_last_axes(),
)

MATRIX_DIAG_LEFT = Op(
    "MatrixDiagV2",
    "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    infer=_infer_make,
    kernel=functools.partial(_make, "MatrixDiagV2", np, align="LEFT_LEFT"),
    lower=lambda ctx, *inputs: _make("MatrixDiagV2", jnp, *inputs, align="LEFT_LEFT"),
    static=("k", "num_rows", "num_cols"),
    saves=("k",),
    grad=lambda node, dy: (MATRIX_DIAG_PART_LEFT(dy, node.k, 0), None, None, None, None),
    vectorize=on_last_axes(),
)

MATRIX_DIAG = Op(
    "MatrixDiagV3",
    "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T, *, "
    "align: string = 'RIGHT_LEFT' -> output: T",
    infer=_infer_make,
    kernel=functools.partial(_make, "MatrixDiagV3", np),
    lower=lambda ctx, *inputs, align: _make("MatrixDiagV3", jnp, *inputs, align),
    static=("k", "num_rows", "num_cols"),
    saves=("k",),
    # TF: padding_value has no gradient.
    grad=lambda node, dy: (
        MATRIX_DIAG_PART(dy, node.k, 0, align=node.attrs["align"]),
        None,
        None,
        None,
        None,
    ),
    vectorize=on_last_axes(),
)


@api("linalg.diag")
def diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT") -> Tensor:
    """Matrices with given diagonals.

    Args:
        diagonal: the entries along the last axis; for a band of diagonals, along the last two, highest first.
        name: accepted for compatibility.
        k: the diagonal: 0 the main one, positive above it, negative below; or a pair, for a band.
        num_rows: the number of rows; -1 for the smallest that fits.
        num_cols: the number of columns; -1 for the smallest that fits. If both are -1, the matrix is square.
        padding_value: fills the rest of the matrix.
        align: where shorter diagonals stand: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT".

    >>> tf.linalg.diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    padding_value = _padding(diagonal, padding_value)
    return MATRIX_DIAG(diagonal, k, num_rows, num_cols, padding_value, align=align, name=name)


# Replacing diagonals.


def _set(op, xp, input, diagonal, k, align):
    if input.ndim < 2:
        raise errors.invalid_argument(f"{op}: input must have rank 2 or more, got shape {input.shape}.")
    _check_alignment(op, align)
    lower, upper = _band(op, k)
    rows, columns = input.shape[-2:]
    _check_bounds(op, lower, upper, rows, columns)
    _check_diagonals(op, diagonal, lower, upper)
    wanted = (_longest(rows, columns, lower, upper),)
    if lower != upper:
        wanted = (upper - lower + 1, *wanted)
    if diagonal.shape != input.shape[:-2] + wanted:
        raise errors.invalid_argument(
            f"{op}: for input of shape {input.shape} and k from {lower} to {upper}, diagonal must have shape "
            f"{input.shape[:-2] + wanted}, got {diagonal.shape}."
        )
    return _place(xp, np.array(input) if xp is np else input, diagonal, lower, upper, align)


def _infer_set(input, diagonal, k=None, align=None):
    if input.shape.rank is not None and input.shape.rank < 2:
        raise errors.invalid_argument(
            f"MatrixSetDiag: input must have rank 2 or more, got shape {input.shape}."
        )
    return input.shape


def _grad_set(node, dy, k, align):
    rest = diagonals = None
    if node.wants(0):
        rest = MATRIX_SET_DIAG(dy, zeros(node.diagonal_shape, dy.dtype), k, align=align)
    if node.wants(1):
        diagonals = MATRIX_DIAG_PART(dy, k, 0, align=align)
    return rest, diagonals


MATRIX_SET_DIAG_MAIN = Op(
    "MatrixSetDiag",
    "input: T, diagonal: T -> output: T",
    infer=_infer_set,
    kernel=lambda input, diagonal: _set("MatrixSetDiag", np, input, diagonal, 0, "RIGHT_LEFT"),
    lower=lambda ctx, input, diagonal: _set("MatrixSetDiag", jnp, input, diagonal, 0, "RIGHT_LEFT"),
    saves=("diagonal_shape",),
    grad=lambda node, dy: _grad_set(node, dy, 0, "RIGHT_LEFT"),
    vectorize=on_last_axes(2),
)

MATRIX_SET_DIAG_LEFT = Op(
    "MatrixSetDiagV2",
    "input: T, diagonal: T, k: int32 -> output: T",
    infer=_infer_set,
    kernel=functools.partial(_set, "MatrixSetDiagV2", np, align="LEFT_LEFT"),
    lower=lambda ctx, *inputs: _set("MatrixSetDiagV2", jnp, *inputs, align="LEFT_LEFT"),
    static=("k",),
    saves=("diagonal_shape", "k"),
    grad=lambda node, dy: (*_grad_set(node, dy, node.k, "LEFT_LEFT"), None),
    vectorize=on_last_axes(2),
)

MATRIX_SET_DIAG = Op(
    "MatrixSetDiagV3",
    "input: T, diagonal: T, k: int32, *, align: string = 'RIGHT_LEFT' -> output: T",
    infer=_infer_set,
    kernel=functools.partial(_set, "MatrixSetDiagV3", np),
    lower=lambda ctx, *inputs, align: _set("MatrixSetDiagV3", jnp, *inputs, align),
    static=("k",),
    saves=("diagonal_shape", "k"),
    grad=lambda node, dy: (*_grad_set(node, dy, node.k, node.attrs["align"]), None),
    vectorize=on_last_axes(2),
)


@api("linalg.set_diag")
def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT") -> Tensor:
    """Matrices with some diagonals replaced.

    Args:
        input: a tensor of rank 2 or more.
        diagonal: the new entries, in the form in which `tf.linalg.diag_part` gives them.
        name: accepted for compatibility.
        k: the diagonal, or a pair for a band of diagonals.
        align: where shorter diagonals of a band stand.

    >>> tf.linalg.set_diag([[1, 2], [3, 4]], [8, 9]).numpy().tolist()
    [[8, 2], [3, 9]]
    """
    return MATRIX_SET_DIAG(input, diagonal, k, align=align, name=name)


# Diagonals of tensors: element i of a tensor goes to element (i, i).


def _tensor_diag(xp, diagonal):
    if not diagonal.ndim:
        raise errors.invalid_argument("Diag: diagonal must have rank 1 or more, got a scalar.")
    matrix = _make("Diag", xp, diagonal.reshape(-1), 0, -1, -1, _zero(diagonal.dtype), "RIGHT_LEFT")
    return matrix.reshape(diagonal.shape + diagonal.shape)


def _infer_tensor_diag(diagonal):
    return UNKNOWN if diagonal.shape.rank is None else diagonal.shape.concatenate(diagonal.shape)


_TENSOR_TYPES = dtypes.FLOATING | dtypes.COMPLEX | dtypes.INTEGER | dtypes.BOOL

DIAG = Op(
    "Diag",
    "diagonal: T -> output: T",
    T=_TENSOR_TYPES - {dtypes.int8, dtypes.bool},
    infer=_infer_tensor_diag,
    kernel=functools.partial(_tensor_diag, np),
    lower=lambda ctx, diagonal: _tensor_diag(jnp, diagonal),
    grad=lambda node, dy: (DIAG_PART(dy),),
)


@api("linalg.tensor_diag")
def tensor_diag(diagonal, name=None) -> Tensor:
    """A tensor of twice the rank that holds `diagonal[i]` at `[i, i]` for every index i, and zero elsewhere.

    >>> tf.linalg.tensor_diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    return DIAG(diagonal, name=name)


def _tensor_diag_part(xp, input):
    half, odd = divmod(input.ndim, 2)
    if odd:
        raise errors.invalid_argument(f"DiagPart: input must have an even rank, got shape {input.shape}.")
    if input.shape[:half] != input.shape[half:]:
        raise errors.invalid_argument(
            f"DiagPart: the two halves of the shape of input must be equal, got {input.shape}."
        )
    size = int(np.prod(input.shape[:half]))
    return xp.diagonal(input.reshape(size, size)).reshape(input.shape[:half])


def _infer_tensor_diag_part(input):
    rank = input.shape.rank
    if rank is None:
        return UNKNOWN
    if rank % 2:
        raise errors.invalid_argument(f"DiagPart: input must have an even rank, got shape {input.shape}.")
    return TensorShape(input.shape[: rank // 2]).merge_with(input.shape[rank // 2 :])


DIAG_PART = Op(
    "DiagPart",
    "input: T -> diagonal: T",
    T=_TENSOR_TYPES,
    infer=_infer_tensor_diag_part,
    kernel=functools.partial(_tensor_diag_part, np),
    lower=lambda ctx, input: _tensor_diag_part(jnp, input),
    grad=lambda node, dy: (DIAG(dy),),
)


@api("linalg.tensor_diag_part")
def tensor_diag_part(input, name=None) -> Tensor:
    """The elements `[i, i]` of a tensor whose shape is some shape twice, for every index i.

    >>> tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    return DIAG_PART(input, name=name)
