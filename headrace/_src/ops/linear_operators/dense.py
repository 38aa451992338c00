"""Linear operators that keep their elements: LinearOperatorFullMatrix and LinearOperatorLowerTriangular."""

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.attached import method_of
from headrace._src.ops.arrays.constants import convert_to_tensor
from headrace._src.ops.arrays.measuring import shape
from headrace._src.ops.linalg.decompositions import cholesky
from headrace._src.ops.linalg.diagonals import diag_part
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.linalg.matrices import band_part
from headrace._src.ops.linalg.solving import triangular_solve
from headrace._src.ops.linear_operators.base import LinearOperator, arguments, shared
from headrace._src.ops.linear_operators.shapes import (
    adjoint_if,
    assert_nonzero,
    commuting_self_adjoint,
    product_non_singular,
    product_square,
)
from headrace._src.ops.math.elementwise import abs as absolute
from headrace._src.ops.math.elementwise import log
from headrace._src.ops.math.reductions import reduce_prod, reduce_sum
from headrace._src.program.module import Module

_MATRIX_TYPES = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def non_variable(value, name: str):
    """A variable, or a module that stands for a tensor, as it is; anything else as a tensor."""
    deferred = isinstance(value, Module) and hasattr(value, "dtype") and hasattr(value, "shape")
    if deferred or getattr(type(value), "reads_as_tensor", False):
        return value
    return convert_to_tensor(value, name=name)


@api("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(LinearOperator):
    """The operator of a matrix that is given by its elements.

    Args:
        matrix: of shape `[..., M, N]`, floating or complex.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: of the operator.

    Raises:
        TypeError: for other dtypes.
        ValueError: when the matrix has fewer than two dimensions.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> operator.trace().numpy().item()
    5.0
    """

    def __init__(
        self,
        matrix,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorFullMatrix",
    ) -> None:
        parameters = arguments(locals())
        self._matrix = non_variable(matrix, "matrix")
        if self._matrix.dtype not in _MATRIX_TYPES:
            raise TypeError(
                f"{name}: matrix must have one of the dtypes {[dtype.name for dtype in _MATRIX_TYPES]}, got "
                f"{self._matrix.dtype.name}."
            )
        _check_matrix(name, "matrix", self._matrix)
        super().__init__(dtype=self._matrix.dtype, **shared(parameters))

    @property
    def matrix(self) -> Tensor:
        """The matrix, as it was given."""
        return self._matrix

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return shape(self._matrix)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self):
        return convert_to_tensor(self._matrix)

    @property
    def _composite_tensor_fields(self):
        return ("matrix",)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"matrix": 2}


def _check_matrix(operator, argument, matrix):
    if matrix.shape.rank is not None and matrix.shape.rank < 2:
        raise ValueError(f"{operator}: {argument} must have at least 2 dimensions, got shape {matrix.shape}.")


@api("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(LinearOperator):
    """The operator of the lower triangle of a matrix; what is above the diagonal is ignored.

    Args:
        tril: of shape `[..., N, N]`.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: of the operator.

    Raises:
        ValueError: when `is_square` is False, or `tril` has fewer than two dimensions.

    >>> operator = tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]])
    >>> operator.determinant().numpy().item()
    8.0
    """

    def __init__(
        self,
        tril,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowerTriangular",
    ) -> None:
        parameters = arguments(locals())
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._tril = non_variable(tril, "tril")
        _check_matrix(name, "tril", self._tril)
        super().__init__(dtype=self._tril.dtype, **shared(parameters, is_square=True))

    @property
    def tril(self) -> Tensor:
        """The matrix whose lower triangle counts, as it was given."""
        return self._tril

    def _shape(self):
        return self._tril.shape

    def _shape_tensor(self):
        return shape(self._tril)

    def _get_tril(self):
        return band_part(self._tril, -1, 0)

    def _get_diag(self):
        return diag_part(self._tril)

    def _assert_non_singular(self):
        return assert_nonzero(self._get_diag(), "Singular operator: the diagonal has zeros.")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return matmul(self._get_tril(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _linop_matmul(self, left_operator, right_operator):
        # A triangular matrix times a diagonal one is triangular.
        if isinstance(left_operator, LinearOperatorLowerTriangular) and right_operator._is_diagonal:
            elements = left_operator.to_dense() * right_operator._as_row()
            return triangular_product(left_operator, right_operator, elements)
        return super()._linop_matmul(left_operator, right_operator)

    def _determinant(self):
        return reduce_prod(self._get_diag(), axis=-1)

    def _log_abs_determinant(self):
        return reduce_sum(log(absolute(self._get_diag())), axis=-1)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return triangular_solve(self._tril, adjoint_if(adjoint_arg, rhs), lower=True, adjoint=adjoint)

    def _to_dense(self):
        return self._get_tril()

    def _eigvals(self):
        return self._get_diag()

    @property
    def _composite_tensor_fields(self):
        return ("tril",)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"tril": 2}


def triangular_product(left, right, elements) -> LinearOperatorLowerTriangular:
    """The operator of `elements`, the product of a triangular and a diagonal operator."""
    return LinearOperatorLowerTriangular(
        elements,
        is_non_singular=product_non_singular(left, right),
        is_self_adjoint=commuting_self_adjoint(left, right),
        is_square=product_square(left, right),
    )


@method_of(LinearOperator)
def _linop_cholesky(self):
    """What the base class makes of operators that do not know better."""
    return LinearOperatorLowerTriangular(
        cholesky(self.to_dense()), is_non_singular=True, is_self_adjoint=False, is_square=True
    )
