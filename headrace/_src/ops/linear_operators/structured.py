"""Linear operators with a structure of their own: Householder, Permutation, Toeplitz and Tridiag."""

from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.errors import invalid_argument
from headrace._src.core.shapes import broadcast_static_shape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.constants import ones, zeros
from headrace._src.ops.arrays.filling import range_
from headrace._src.ops.arrays.gathering import gather
from headrace._src.ops.arrays.joining import concat, stack
from headrace._src.ops.arrays.measuring import known_rank, shape
from headrace._src.ops.arrays.padding import pad_axis
from headrace._src.ops.arrays.rearranging import reverse, roll
from headrace._src.ops.arrays.shaping import expand_dims
from headrace._src.ops.arrays.sorting import argsort
from headrace._src.ops.debugging.assertions import assert_equal
from headrace._src.ops.linalg.banded import compact_diagonals, tridiagonal_matmul, tridiagonal_solve
from headrace._src.ops.linalg.diagonals import diag as diagonal_matrix
from headrace._src.ops.linalg.lengths import norm
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.linalg.matrices import eye, matrix_transpose
from headrace._src.ops.linear_operators.base import LinearOperator, arguments, shared
from headrace._src.ops.linear_operators.circulant import in_dtype, to_complex
from headrace._src.ops.linear_operators.dense import non_variable
from headrace._src.ops.linear_operators.shapes import (
    adjoint_if,
    batch_of,
    common_batch,
    dimension_of,
    joined,
    static_value,
    with_batch,
    with_common_batch,
)
from headrace._src.ops.math.comparison import equal
from headrace._src.ops.math.complex_numbers import conj
from headrace._src.ops.math.elementwise import abs as absolute
from headrace._src.ops.math.elementwise import square
from headrace._src.ops.signal.fourier import fft, ifft


def _vector(operator, argument, value):
    """An argument of shape `[..., N]`: a variable as it is, anything else as a tensor."""
    value = non_variable(value, argument)
    if value.shape.rank == 0:
        raise ValueError(f"{operator}: {argument} must have at least 1 dimension, got a scalar.")
    return value


@api("linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """The operator of reflections at the hyperplanes through the origin that are normal to given vectors.

    Args:
        reflection_axis: the vectors, of shape `[..., N]`, of any length but 0.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; a reflection is self-adjoint, and
            not positive definite.
        name: of the operator.

    Raises:
        ValueError: when a hint contradicts that.

    >>> tf.linalg.LinearOperatorHouseholder([2.0, 0.0]).matvec([3.0, 4.0]).numpy().tolist()
    [-3.0, 4.0]
    """

    def __init__(
        self,
        reflection_axis,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorHouseholder",
    ) -> None:
        parameters = arguments(locals())
        self._reflection_axis = _vector(name, "reflection_axis", reflection_axis)
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_positive_definite is True:
            raise ValueError("A Householder operator is always non-positive definite.")
        if is_square is False:
            raise ValueError("A Householder operator is always square.")
        known = shared(parameters, is_self_adjoint=True, is_positive_definite=False, is_square=True)
        super().__init__(dtype=self._reflection_axis.dtype, **known)

    @property
    def reflection_axis(self) -> Tensor:
        """The vectors, as they were given."""
        return self._reflection_axis

    def _shape(self):
        known = self._reflection_axis.shape
        return known.concatenate(known[-1:])

    def _shape_tensor(self):
        return to_tensor(joined(shape(self._reflection_axis), dimension_of(to_tensor(self._reflection_axis), -1)))

    def _assert_non_singular(self):
        return None

    def _assert_positive_definite(self):
        raise invalid_argument("Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return None

    def _unit(self):
        axis = to_tensor(self._reflection_axis)
        return axis / norm(axis, axis=-1, keepdims=True)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_if(adjoint_arg, x)
        unit = expand_dims(self._unit(), -1)
        return x - 2 * unit * matmul(unit, x, adjoint_a=True)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _to_dense(self):
        unit = expand_dims(self._unit(), -1)
        return eye(self._rows(), dtype=self.dtype) - 2 * matmul(unit, unit, adjoint_b=True)

    def _diag_part(self):
        return 1 - 2 * cast(square(absolute(self._unit())), self.dtype)

    def _trace(self):
        return cast(self._rows() - 2, self.dtype) * ones(self._batch(), self.dtype)

    def _determinant(self):
        return -ones(self._batch(), self.dtype)

    def _log_abs_determinant(self):
        return zeros(self._batch(), self.dtype)

    def _eigvals(self):
        rest = ones(joined(self._batch(), self._rows() - 1), self.dtype)
        return concat([-ones(joined(self._batch(), 1), self.dtype), rest], -1)

    def _cond(self):
        return ones(self._batch(), self.dtype)

    def _linop_adjoint(self):
        return self

    def _linop_inverse(self):
        return self

    @property
    def _composite_tensor_fields(self):
        return ("reflection_axis",)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"reflection_axis": 1}


@api("linalg.LinearOperatorPermutation")
class LinearOperatorPermutation(LinearOperator):
    """The operator of permutation matrices: row i of a product is row `perm[i]` of what is multiplied.

    Args:
        perm: permutations of 0 to N - 1, integers of shape `[..., N]`.
        dtype: of the matrix.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: of the operator.

    Raises:
        TypeError: when `perm` is not integer.
        ValueError: when it is no permutation, or hints say that the matrix is singular or not square.

    >>> tf.linalg.LinearOperatorPermutation([2, 0, 1]).matvec([1.0, 2.0, 3.0]).numpy().tolist()
    [3.0, 1.0, 2.0]
    """

    def __init__(
        self,
        perm,
        dtype=dtypes.float32,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorPermutation",
    ) -> None:
        parameters = arguments(locals())
        self._perm = _vector(name, "perm", perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"{name}: perm must be integer, got {self._perm.dtype.name}.")
        known = static_value(self._perm)
        if isinstance(known, np.ndarray) and (np.sort(known, axis=-1) != np.arange(known.shape[-1])).any():
            raise ValueError(f"{name}: perm must hold each of 0 to {known.shape[-1] - 1} once, got {known.tolist()}.")
        if is_non_singular is False:
            raise ValueError("A Permutation operator is always non-singular.")
        if is_square is False:
            raise ValueError("A Permutation operator is always square.")
        super().__init__(dtype=dtype, **shared(parameters, is_square=True))

    @property
    def perm(self) -> Tensor:
        """The permutations, as they were given."""
        return self._perm

    def _shape(self):
        known = self._perm.shape
        return known.concatenate(known[-1:])

    def _shape_tensor(self):
        return to_tensor(joined(shape(self._perm), dimension_of(to_tensor(self._perm), -1)))

    def _assert_non_singular(self):
        return None

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_if(adjoint_arg, x)
        perm = to_tensor(self._perm)
        if adjoint:
            perm = argsort(perm, axis=-1)
        if perm.shape.rank == 1:
            return gather(x, perm, axis=-2)
        batch = common_batch(batch_of(perm, 1), batch_of(x))
        x, perm = with_batch(x, batch), with_batch(perm, batch, 1)
        return gather(x, perm, axis=-2, batch_dims=known_rank(self.name, "x", x) - 2)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self):
        perm = expand_dims(self._perm, -1)
        return cast(equal(perm, range_(0, self._rows(), dtype=perm.dtype)), self.dtype)

    def _diag_part(self):
        perm = to_tensor(self._perm)
        return cast(equal(perm, range_(0, self._rows(), dtype=perm.dtype)), self.dtype)

    def _log_abs_determinant(self):
        return zeros(self._batch(), self.dtype)

    def _cond(self):
        return ones(self._batch(), self.dtype)

    @property
    def _composite_tensor_fields(self):
        return ("perm", "dtype")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"perm": 1}


@api("linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """The operator of a square matrix with constant diagonals, which multiplies by way of Fourier transforms.

    Args:
        col: the first column, of shape `[..., N]`.
        row: the first row, of shape `[..., N]`; its first element is not used.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: of the operator.

    Raises:
        ValueError: when `is_square` is False, or `col` and `row` are not of one size.

    >>> tf.linalg.LinearOperatorToeplitz([1.0, 2.0, 3.0], [1.0, 4.0, 5.0]).to_dense().numpy().tolist()
    [[1.0, 4.0, 5.0], [2.0, 1.0, 4.0], [3.0, 2.0, 1.0]]
    """

    def __init__(
        self,
        col,
        row,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorToeplitz",
    ) -> None:
        parameters = arguments(locals())
        self._row = _vector(name, "row", row)
        self._col = _vector(name, "col", col)
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        super().__init__(dtype=self._row.dtype, **shared(parameters, is_square=True))
        if not self._row.shape[-1:].is_compatible_with(self._col.shape[-1:]):
            raise ValueError(f"{name}: row and col must have one size, got {self._row.shape} and {self._col.shape}.")

    @property
    def col(self) -> Tensor:
        """The first column, as it was given."""
        return self._col

    @property
    def row(self) -> Tensor:
        """The first row, as it was given."""
        return self._row

    def _shape(self):
        known = broadcast_static_shape(self._row.shape, self._col.shape)
        return known.concatenate(known[-1:])

    def _shape_tensor(self):
        row, col = to_tensor(self._row), to_tensor(self._col)
        size = dimension_of(row, -1)
        return to_tensor(joined(common_batch(batch_of(row, 1), batch_of(col, 1)), size, size))

    def _assert_self_adjoint(self):
        message = "The first row is not the conjugate of the first column, so the operator is not self-adjoint."
        return assert_equal(conj(self._row), to_tensor(self._col), message=message)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        # The matrix is a corner of a circulant one, twice as large, whose first column is the column, a zero and
        # the row backwards.
        x = adjoint_if(adjoint_arg, x)
        col, row = with_common_batch([to_tensor(self._col), to_tensor(self._row)], 1)
        first = concat([col, 0 * col[..., :1], reverse(row[..., 1:], [-1])], -1)
        spectrum = fft(to_complex(first))
        rows = matrix_transpose(x)
        padded = pad_axis(rows, -1, 0, self._rows())
        transformed = fft(to_complex(padded)) * expand_dims(conj(spectrum) if adjoint else spectrum, -2)
        return in_dtype(matrix_transpose(ifft(transformed)[..., : self._rows()]), self.dtype)

    def _to_dense(self):
        size = self._rows()
        col, row = with_common_batch([to_tensor(self._col), to_tensor(self._row)], 1)
        diagonals = concat([reverse(row[..., 1:], [-1]), col], -1)  # from the upper right to the lower left
        places = range_(size)
        return gather(diagonals, expand_dims(places, -1) - places + (size - 1), axis=-1)

    def _diag_part(self):
        first = with_batch(to_tensor(self._col)[..., :1], self._batch(), 1)
        return first * ones([self._rows()], self.dtype)

    def _trace(self):
        first = with_batch(to_tensor(self._col)[..., 0], self._batch(), 0)
        return cast(self._rows(), self.dtype) * first

    @property
    def _composite_tensor_fields(self):
        return ("col", "row")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"col": 1, "row": 1}


_FORMATS = ("compact", "matrix", "sequence")


@api("linalg.LinearOperatorTridiag")
class LinearOperatorTridiag(LinearOperator):
    """The operator of a square matrix whose elements are zero apart from three diagonals.

    Args:
        diagonals: the diagonals above, on and below the main one. In "compact" format the rows of a tensor of shape
            `[..., 3, N]`, of which the last element of the first row and the first of the last row are not used; as
            a "sequence", a list of three such vectors; or in "matrix" format the matrix itself.
        diagonals_format: which of the three.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: of the operator.

    Raises:
        ValueError: for another format.

    >>> operator = tf.linalg.LinearOperatorTridiag([[1.0, 2.0, 0.0], [3.0, 4.0, 5.0], [0.0, 6.0, 7.0]])
    >>> operator.to_dense().numpy().tolist()
    [[3.0, 1.0, 0.0], [6.0, 4.0, 2.0], [0.0, 7.0, 5.0]]
    """

    def __init__(
        self,
        diagonals,
        diagonals_format="compact",
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorTridiag",
    ) -> None:
        parameters = arguments(locals())
        if diagonals_format not in _FORMATS:
            raise ValueError(f"{name}: diagonals_format must be one of {_FORMATS}, got {diagonals_format!r}.")
        if diagonals_format == "sequence":
            self._diagonals = [non_variable(part, "diagonals") for part in diagonals]
            dtype = self._diagonals[0].dtype
        else:
            self._diagonals = non_variable(diagonals, "diagonals")
            dtype = self._diagonals.dtype
        self._diagonals_format = diagonals_format
        super().__init__(dtype=dtype, **shared(parameters))

    @property
    def diagonals(self) -> Any:
        """The diagonals, as they were given."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        return self._diagonals_format

    def _shape(self):
        if self._diagonals_format == "matrix":
            return self._diagonals.shape
        if self._diagonals_format == "sequence":
            known = self._diagonals[1].shape
            for other in (self._diagonals[0].shape, self._diagonals[2].shape):
                known = broadcast_static_shape(known[:-1], other[:-1]).concatenate(known[-1:])
            return known.concatenate(known[-1:])
        known = self._diagonals.shape
        return known[:-2].concatenate([known[-1], known[-1]])

    def _shape_tensor(self):
        rows = self._rows_of_diagonals()
        size = dimension_of(rows, -1)
        return to_tensor(joined(batch_of(rows), size, size))

    def _rows_of_diagonals(self, adjoint=False):
        """The diagonals in the compact format, of the matrix or of its adjoint."""
        rows = compact_diagonals(self._diagonals, self._diagonals_format)
        if not adjoint:
            return rows
        return conj(
            stack([roll(rows[..., 2, :], -1, -1), rows[..., 1, :], roll(rows[..., 0, :], 1, -1)], axis=-2)
        )

    def _assert_self_adjoint(self):
        rows = self._rows_of_diagonals()
        message = "The diagonals above and below are not conjugates, so the operator is not self-adjoint."
        assert_equal(rows[..., 0, :-1], conj(rows[..., 2, 1:]), message=message)
        if rows.dtype.is_complex:
            main = rows[..., 1, :]
            assert_equal(main, conj(main), message="The diagonal is not real, so the operator is not self-adjoint.")

    def _with_common_batch(self, x, adjoint, adjoint_arg):
        return with_common_batch([self._rows_of_diagonals(adjoint), adjoint_if(adjoint_arg, x)])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return tridiagonal_matmul(*self._with_common_batch(x, adjoint, adjoint_arg))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return tridiagonal_solve(*self._with_common_batch(rhs, adjoint, adjoint_arg))

    def _diag_part(self):
        return self._rows_of_diagonals()[..., 1, :]

    def _to_dense(self):
        if self._diagonals_format == "matrix":
            return to_tensor(self._diagonals)
        return diagonal_matrix(self._rows_of_diagonals(), k=(-1, 1), align="LEFT_RIGHT")

    @property
    def _composite_tensor_fields(self):
        return ("diagonals", "diagonals_format")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"diagonals": {"compact": 2, "matrix": 2, "sequence": [1, 1, 1]}[self._diagonals_format]}
