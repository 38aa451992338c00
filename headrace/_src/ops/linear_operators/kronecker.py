"""LinearOperatorKronecker: the linear operator of the Kronecker product of other operators' matrices."""

import functools
import math

from headrace._src.core.errors import invalid_argument
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.shaping import expand_dims, reshape
from headrace._src.ops.linalg.matrices import matrix_transpose
from headrace._src.ops.linear_operators.base import LinearOperator, arguments
from headrace._src.ops.linear_operators.block import hints_of_all
from headrace._src.ops.linear_operators.derived import checked_operators, common_static_batch
from headrace._src.ops.linear_operators.shapes import (
    adjoint_if,
    batch_of,
    common_batch,
    dimension_of,
    dims_of,
    joined,
    total,
)
from headrace._src.ops.math.powers import pow as power


@api("linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(LinearOperator):
    """The operator of the Kronecker product of other operators' matrices.

    Args:
        operators: a list of operators of one dtype.
        is_non_singular, is_self_adjoint, is_positive_definite: hints; by default True if all operators have it.
        is_square: a hint; see `tf.linalg.LinearOperator`.
        name: by default the names of the operators with "_x_" between them.

    Raises:
        ValueError: when no operator is given, or a hint contradicts those of the operators.
        TypeError: when dtypes differ.

    >>> a, b = tf.linalg.LinearOperatorDiag([1.0, 2.0]), tf.linalg.LinearOperatorFullMatrix([[3.0, 4.0]])
    >>> tf.linalg.LinearOperatorKronecker([a, b]).to_dense().numpy().tolist()
    [[3.0, 4.0, 0.0, 0.0], [0.0, 0.0, 6.0, 8.0]]
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ) -> None:
        parameters = arguments(locals())
        self._operators = checked_operators("LinearOperatorKronecker", operators)
        super().__init__(
            dtype=operators[0].dtype,
            is_square=is_square,
            name=name or "_x_".join(operator.name for operator in operators),
            parameters=parameters,
            **hints_of_all("Kronecker product", operators, parameters),
        )

    @property
    def operators(self) -> list:
        """The operators, from left to right."""
        return self._operators

    def _shape(self):
        rows = math.prod(operator.range_dimension for operator in self._operators)
        columns = math.prod(operator.domain_dimension for operator in self._operators)
        return common_static_batch(self._operators).concatenate([rows, columns])

    def _shape_tensor(self):
        batch = common_batch(*[operator._batch() for operator in self._operators])
        rows = math.prod(operator._rows() for operator in self._operators)
        return to_tensor(joined(batch, rows, math.prod(operator._columns() for operator in self._operators)))

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        sizes = [operator._rows() if adjoint else operator._columns() for operator in self._operators]
        rows = self._columns() if adjoint else self._rows()
        x = adjoint_if(adjoint_arg, x)
        return self._apply(x, sizes, rows, lambda operator, part: operator.matmul(part, adjoint))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        if not all(operator.is_square is not False for operator in self._operators):
            return self._dense_solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        sizes = [operator._columns() if adjoint else operator._rows() for operator in self._operators]
        rows = self._rows() if adjoint else self._columns()
        rhs = adjoint_if(adjoint_arg, rhs)
        return self._apply(rhs, sizes, rows, lambda operator, part: operator.solve(part, adjoint))

    def _apply(self, x, sizes, rows, step):
        """Apply the operators one after the other, each to its own dimension of the rows of `x`.

        The rows count in mixed radix, first operator slowest. Each step multiplies along the slowest dimension, and
        puts the result behind all others as the fastest one; after the last step, only the columns are before them.
        """
        columns = dimension_of(x, -1)
        for operator, size in zip(self._operators, sizes):
            x = step(operator, reshape(x, joined(batch_of(x), size, -1)))
            x = matrix_transpose(x)
        return matrix_transpose(reshape(x, joined(batch_of(x), columns, rows)))

    def _is_factored(self):
        return all(operator.is_square for operator in self._operators)

    def _determinant(self):
        if not self._is_factored():
            return super()._determinant()
        # det(A x B) = det(A)^rows(B) det(B)^rows(A)
        parts = [power(operator.determinant(), self._exponent(operator, self.dtype)) for operator in self._operators]
        return functools.reduce(lambda a, b: a * b, parts)

    def _log_abs_determinant(self):
        if not self._is_factored():
            return super()._log_abs_determinant()
        logarithms = [(operator.log_abs_determinant(), operator) for operator in self._operators]
        return total([value * self._exponent(operator, value.dtype) for value, operator in logarithms], self.dtype)

    def _exponent(self, operator, dtype):
        return cast(self._rows() // operator._rows(), dtype)

    def _trace(self):
        if not self._is_factored():
            return super()._trace()
        return functools.reduce(lambda a, b: a * b, [operator.trace() for operator in self._operators])

    def _diag_part(self):
        if not self._is_factored():
            return super()._diag_part()
        return functools.reduce(_vector_product, [operator.diag_part() for operator in self._operators])

    def _eigvals(self):
        return functools.reduce(_vector_product, [operator.eigvals() for operator in self._operators])

    def _to_dense(self):
        return functools.reduce(_matrix_product, [operator.to_dense() for operator in self._operators])

    def _assert_non_singular(self):
        if not self._is_factored():
            raise invalid_argument(f"{self.name}: all factors of a Kronecker product must be square for an inverse.")
        for operator in self._operators:
            operator.assert_non_singular()

    def _assert_self_adjoint(self):
        if not self._is_factored():
            raise invalid_argument(f"{self.name}: all factors of a self-adjoint Kronecker product must be square.")
        for operator in self._operators:
            operator.assert_self_adjoint()

    def _of(self, operators):
        return LinearOperatorKronecker(
            operators,
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
            is_square=self.is_square,
        )

    def _linop_adjoint(self):
        return self._of([operator.adjoint() for operator in self._operators])

    def _linop_inverse(self):
        return self._of([operator.inverse() for operator in self._operators])

    def _linop_cholesky(self):
        factors = [operator.cholesky() for operator in self._operators]
        return LinearOperatorKronecker(factors, is_non_singular=True, is_square=True)

    @property
    def _composite_tensor_fields(self):
        return ("operators",)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"operators": [0] * len(self._operators)}


def _vector_product(a, b):
    product = expand_dims(a, -1) * expand_dims(b, -2)
    return reshape(product, joined(batch_of(product), -1))


def _matrix_product(a, b):
    product = expand_dims(expand_dims(a, -1), -3) * expand_dims(expand_dims(b, -2), -4)
    rows, columns = dimension_of(a, -2) * dimension_of(b, -2), dimension_of(a, -1) * dimension_of(b, -1)
    return reshape(product, joined(dims_of(product, 0, -4), rows, columns))
