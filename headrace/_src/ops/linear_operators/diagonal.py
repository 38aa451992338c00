"""LinearOperatorDiag: the linear operator of a diagonal matrix."""

from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.measuring import shape
from headrace._src.ops.arrays.shaping import expand_dims
from headrace._src.ops.debugging.assertions import assert_positive
from headrace._src.ops.linalg.diagonals import diag as diagonal_matrix
from headrace._src.ops.linalg.diagonals import diag_part, set_diag
from headrace._src.ops.linear_operators.base import LinearOperator, arguments, shared
from headrace._src.ops.linear_operators.dense import LinearOperatorLowerTriangular, non_variable, triangular_product
from headrace._src.ops.linear_operators.shapes import (
    adjoint_if,
    assert_nonzero,
    assert_zero_imaginary,
    commuting_positive_definite,
    commuting_self_adjoint,
    dimension_of,
    joined,
    product_non_singular,
    product_square,
    real_part,
)
from headrace._src.ops.math.complex_numbers import conj
from headrace._src.ops.math.elementwise import abs as absolute
from headrace._src.ops.math.elementwise import log, sqrt
from headrace._src.ops.math.reductions import reduce_max, reduce_min, reduce_prod, reduce_sum


@api("linalg.LinearOperatorDiag")
class LinearOperatorDiag(LinearOperator):
    """The operator of a square diagonal matrix.

    Args:
        diag: the diagonal, of shape `[..., N]`.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`. A
            real diagonal matrix is self-adjoint.
        name: of the operator.

    Raises:
        ValueError: when `is_square` is False, `is_self_adjoint` is False for a real diagonal, or `diag` is a scalar.

    >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
    >>> operator.inverse().diag.numpy().tolist()
    [0.5, 0.25]
    """

    _is_diagonal = True

    def __init__(
        self,
        diag,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorDiag",
    ) -> None:
        parameters = arguments(locals())
        self._diag = non_variable(diag, "diag")
        if self._diag.shape.rank == 0:
            raise ValueError(f"{name}: diag must have at least 1 dimension, got a scalar.")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(dtype=self._diag.dtype, **shared(parameters, is_self_adjoint=is_self_adjoint, is_square=True))

    @property
    def diag(self) -> Tensor:
        """The diagonal, as it was given."""
        return self._diag

    def _shape(self):
        known = self._diag.shape
        return known.concatenate(known[-1:])

    def _shape_tensor(self):
        return to_tensor(joined(shape(self._diag), dimension_of(self._diag, -1)))

    def _as_row(self):
        return expand_dims(self._diag, -2)

    def _as_column(self):
        return expand_dims(self._diag, -1)

    def _assert_non_singular(self):
        return assert_nonzero(self._diag, "Singular operator: the diagonal has zeros.")

    def _assert_positive_definite(self):
        message = "The diagonal has elements whose real part is not positive, so the operator is not positive definite."
        return assert_positive(real_part(to_tensor(self._diag)), message=message)

    def _assert_self_adjoint(self):
        message = "The diagonal is not real, so the operator is not self-adjoint."
        return assert_zero_imaginary(to_tensor(self._diag), message)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        column = self._as_column()
        return (conj(column) if adjoint else column) * adjoint_if(adjoint_arg, x)

    def _matvec(self, x, adjoint=False):
        return (conj(self._diag) if adjoint else to_tensor(self._diag)) * x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        column = self._as_column()
        return adjoint_if(adjoint_arg, rhs) / (conj(column) if adjoint else column)

    def _determinant(self):
        return reduce_prod(self._diag, axis=-1)

    def _log_abs_determinant(self):
        return cast(reduce_sum(log(absolute(self._diag)), axis=-1), self.dtype)

    def _to_dense(self):
        return diagonal_matrix(self._diag)

    def _diag_part(self):
        return to_tensor(self._diag)

    def _add_to_tensor(self, x):
        return set_diag(x, diag_part(x) + self._diag)

    def _eigvals(self):
        return to_tensor(self._diag)

    def _cond(self):
        size = absolute(self._diag)
        return reduce_max(size, axis=-1) / reduce_min(size, axis=-1)

    # Operators that are diagonal too.

    def _linop_adjoint(self):
        return LinearOperatorDiag(conj(self._diag), **self._hints())

    def _linop_inverse(self):
        return LinearOperatorDiag(1.0 / to_tensor(self._diag), **self._hints())

    def _linop_cholesky(self):
        return LinearOperatorDiag(
            sqrt(self._diag), is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True
        )

    def _hints(self):
        return {
            "is_non_singular": self.is_non_singular,
            "is_self_adjoint": self.is_self_adjoint,
            "is_positive_definite": self.is_positive_definite,
            "is_square": True,
        }

    def _linop_matmul(self, left_operator, right_operator):
        if isinstance(left_operator, LinearOperatorDiag):
            if isinstance(right_operator, LinearOperatorDiag):
                elements = left_operator._diag * to_tensor(right_operator._diag)
                return diagonal_product(left_operator, right_operator, elements)
            if right_operator._is_scaled_identity:
                scale = expand_dims(right_operator.multiplier, -1)
                return diagonal_product(left_operator, right_operator, left_operator._diag * scale)
            if isinstance(right_operator, LinearOperatorLowerTriangular):
                elements = left_operator._as_column() * right_operator.to_dense()
                return triangular_product(left_operator, right_operator, elements)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator, right_operator):
        if isinstance(left_operator, LinearOperatorDiag):
            if isinstance(right_operator, LinearOperatorDiag):
                elements = right_operator._diag / to_tensor(left_operator._diag)
                return diagonal_product(left_operator, right_operator, elements)
            if right_operator._is_scaled_identity:
                scale = expand_dims(right_operator.multiplier, -1)
                return diagonal_product(left_operator, right_operator, scale / to_tensor(left_operator._diag))
            if isinstance(right_operator, LinearOperatorLowerTriangular):
                elements = right_operator.to_dense() / left_operator._as_column()
                return triangular_product(left_operator, right_operator, elements)
        return super()._linop_solve(left_operator, right_operator)

    @property
    def _composite_tensor_fields(self):
        return ("diag",)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"diag": 1}


def diagonal_product(left, right, elements) -> LinearOperatorDiag:
    """The operator of the diagonal `elements`, a product or quotient of two operators that are diagonal."""
    return LinearOperatorDiag(
        elements,
        is_non_singular=product_non_singular(left, right),
        is_self_adjoint=commuting_self_adjoint(left, right),
        is_positive_definite=commuting_positive_definite(left, right),
        is_square=product_square(left, right),
    )
