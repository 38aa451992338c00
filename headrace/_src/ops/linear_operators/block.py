"""Linear operators made of blocks: LinearOperatorBlockDiag and LinearOperatorBlockLowerTriangular."""

import functools
from typing import Any

from headrace._src.core import nest
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.joining import concat
from headrace._src.ops.arrays.splitting import split
from headrace._src.ops.linalg import matrices
from headrace._src.ops.linear_operators.base import LinearOperator, arguments, shared
from headrace._src.ops.linear_operators.dense import LinearOperatorFullMatrix
from headrace._src.ops.linear_operators.derived import checked_operators, common_static_batch
from headrace._src.ops.linear_operators.identity import LinearOperatorScaledIdentity
from headrace._src.ops.linear_operators.shapes import (
    common_batch,
    dimension_of,
    dims_of,
    joined,
    product_square,
    total,
    with_common_batch,
)


class _Blocks(LinearOperator):
    """What operators of blocks share: arguments that may be lists of blocks, and how they are cut into blocks.

    Subclasses define `_diagonal`, the operators on the diagonal, and products and solutions of lists of blocks.
    """

    @property
    def operators(self) -> list:
        """The operators that the blocks are."""
        return self._operators

    @property
    def _diagonal(self) -> list:
        raise NotImplementedError

    def _multiply_blocks(self, blocks, adjoint, adjoint_arg):
        raise NotImplementedError

    def _solve_blocks(self, blocks, adjoint, adjoint_arg):
        raise NotImplementedError

    def _widths(self):
        """The columns of each block of columns."""
        return [operator._columns() for operator in self._diagonal]

    def _heights(self):
        return [operator._rows() for operator in self._diagonal]

    def _every(self):
        return nest.flatten(self._operators)

    def _shape(self):
        rows = sum((operator.range_dimension for operator in self._diagonal), 0)
        columns = sum((operator.domain_dimension for operator in self._diagonal), 0)
        return common_static_batch(self._every()).concatenate([rows, columns])

    def _shape_tensor(self):
        batch = common_batch(*[operator._batch() for operator in self._every()])
        return to_tensor(joined(batch, sum(self._heights()), sum(self._widths())))

    # Arguments in blocks.

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul") -> Any:
        """The product of the matrix and `x`; see `tf.linalg.LinearOperator.matmul`.

        Args:
            x: matrices, another operator, or a list of the blocks of rows of a matrix; then the result is a list.
            adjoint: multiply with the conjugate transpose instead.
            adjoint_arg: multiply with the conjugate transpose of `x`, or of every block.
            name: of the operations.
        """
        dims = self._heights() if adjoint else self._widths()
        if _are_blocks(x, dims, -1 if adjoint_arg else -2):
            with self._name_scope(name):
                blocks = self._checked_blocks(x, dims, -1 if adjoint_arg else -2)
                return self._multiply_blocks(blocks, adjoint, adjoint_arg)
        return super().matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg, name=name)

    def matvec(self, x, adjoint=False, name="matvec") -> Any:
        """The product of the matrix and the vectors `x`, or the list of the blocks of a vector."""
        dims = self._heights() if adjoint else self._widths()
        if _are_blocks(x, dims, -1):
            with self._name_scope(name):
                blocks = [block[..., None] for block in self._checked_blocks(x, dims, -1)]
                return [block[..., 0] for block in self._multiply_blocks(blocks, adjoint, False)]
        return super().matvec(x, adjoint=adjoint, name=name)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve") -> Any:
        """The X with `A X = rhs`; see `tf.linalg.LinearOperator.solve`. `rhs` may also be a list of blocks."""
        dims = self._widths() if adjoint else self._heights()
        if self._is_regular() and _are_blocks(rhs, dims, -1 if adjoint_arg else -2):
            with self._name_scope(name):
                blocks = self._checked_blocks(rhs, dims, -1 if adjoint_arg else -2)
                return self._solve_blocks(blocks, adjoint, adjoint_arg)
        return super().solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg, name=name)

    def solvevec(self, rhs, adjoint=False, name="solve") -> Any:
        """The x with `A x = rhs`, for vectors or the list of the blocks of a vector."""
        dims = self._widths() if adjoint else self._heights()
        if self._is_regular() and _are_blocks(rhs, dims, -1):
            with self._name_scope(name):
                blocks = [block[..., None] for block in self._checked_blocks(rhs, dims, -1)]
                return [block[..., 0] for block in self._solve_blocks(blocks, adjoint, False)]
        return super().solvevec(rhs, adjoint=adjoint, name=name)

    def _is_regular(self):
        return self.is_non_singular is not False and self.is_square is not False

    def _checked_blocks(self, blocks, dims, axis):
        blocks = [to_tensor(block) for block in blocks]
        for block, dim in zip(blocks, dims):
            self._check_input_dtype(block)
            if block.shape.rank is not None:
                if block.shape.rank < -axis:
                    raise IndexError(f"{self.name}: a block must have {-axis} dimensions, got shape {block.shape}.")
                if isinstance(dim, int) and block.shape[axis] not in (None, dim):
                    raise ValueError(f"{self.name}: a block must have size {dim}, got shape {block.shape}.")
        return blocks

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        blocks = split(x, self._heights() if adjoint else self._widths(), axis=-1 if adjoint_arg else -2)
        return concat(with_common_batch(self._multiply_blocks(blocks, adjoint, adjoint_arg)), -2)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        blocks = split(rhs, self._widths() if adjoint else self._heights(), axis=-1 if adjoint_arg else -2)
        return concat(with_common_batch(self._solve_blocks(blocks, adjoint, adjoint_arg)), -2)

    # What depends on the diagonal blocks only.

    def _determinant(self):
        return functools.reduce(lambda a, b: a * b, [operator.determinant() for operator in self._diagonal])

    def _log_abs_determinant(self):
        return total([operator.log_abs_determinant() for operator in self._diagonal], self.dtype)

    def _trace(self):
        if not all(operator.is_square for operator in self._diagonal):
            return super()._trace()
        return functools.reduce(lambda a, b: a + b, [operator.trace() for operator in self._diagonal])

    def _diag_part(self):
        if not all(operator.is_square for operator in self._diagonal):
            return super()._diag_part()
        return concat(with_common_batch([operator.diag_part() for operator in self._diagonal], 1), -1)

    def _eigvals(self):
        return concat(with_common_batch([operator.eigvals() for operator in self._diagonal], 1), -1)

    def _assert_non_singular(self):
        for operator in self._diagonal:
            operator.assert_non_singular()

    @property
    def _composite_tensor_fields(self):
        return ("operators",)


def _are_blocks(x, dims, axis) -> bool:
    """Whether the argument `x` is a list of blocks of the sizes `dims`, and not the nested list of one tensor."""
    if not isinstance(x, (list, tuple)) or len(x) != len(dims):
        return False
    if not any(isinstance(block, (list, tuple, dict)) for block in x):
        return True
    sizes = [_size_along(to_tensor(block).shape, axis) for block in x]
    if all(size == dim for size, dim in zip(sizes, dims)):
        return True
    if len(set(sizes)) == 1 and sizes[0] == sum(dims):
        return False
    raise ValueError(f"The blocks have the sizes {sizes}, but {dims} are needed.")


def _size_along(shape, axis):
    if shape.rank < -axis:
        raise IndexError(f"A block must have {-axis} dimensions, got shape {shape}.")
    return shape[axis]


@api("linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(_Blocks):
    """The operator with other operators along its diagonal, and zeros elsewhere.

    Args:
        operators: a list of operators of one dtype.
        is_non_singular, is_self_adjoint, is_positive_definite: hints; by default True if all operators have it.
        is_square: True by default; give False if a block is not square.
        name: by default the names of the operators with "_ds_" between them.

    Raises:
        ValueError: when no operator is given, or a hint contradicts those of the operators.
        TypeError: when dtypes differ.

    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.linalg.LinearOperatorBlockDiag([a, tf.linalg.LinearOperatorIdentity(1)]).to_dense().numpy().tolist()
    [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name=None,
    ) -> None:
        parameters = arguments(locals())
        self._operators = checked_operators("LinearOperatorBlockDiag", operators)
        super().__init__(
            dtype=operators[0].dtype,
            is_square=is_square,
            name=name or "_ds_".join(operator.name for operator in operators),
            parameters=parameters,
            **hints_of_all("direct sum", operators, parameters),
        )

    @property
    def _diagonal(self):
        return list(self._operators)

    def _multiply_blocks(self, blocks, adjoint, adjoint_arg):
        return [
            operator.matmul(block, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for operator, block in zip(self._operators, blocks)
        ]

    def _solve_blocks(self, blocks, adjoint, adjoint_arg):
        return [
            operator.solve(block, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for operator, block in zip(self._operators, blocks)
        ]

    def _to_dense(self):
        blocks = with_common_batch([operator.to_dense() for operator in self._operators])
        return concat(padded_rows(blocks, self._widths()), -2)

    def _assert_self_adjoint(self):
        for operator in self._operators:
            operator.assert_self_adjoint()

    def _assert_positive_definite(self):
        for operator in self._operators:
            operator.assert_positive_definite()

    # Operators of the same blocks.

    def _of(self, operators, is_self_adjoint=None, is_positive_definite=None):
        return LinearOperatorBlockDiag(
            operators,
            is_non_singular=self.is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=self.is_square,
        )

    def _linop_adjoint(self):
        blocks = [operator.adjoint() for operator in self._operators]
        return self._of(blocks, self.is_self_adjoint, self.is_positive_definite)

    def _linop_inverse(self):
        blocks = [operator.inverse() for operator in self._operators]
        return self._of(blocks, self.is_self_adjoint, self.is_positive_definite)

    def _linop_cholesky(self):
        return LinearOperatorBlockDiag(
            [operator.cholesky() for operator in self._operators], is_non_singular=True, is_square=True
        )

    def _linop_matmul(self, left_operator, right_operator):
        if _match(left_operator, right_operator):
            pairs = zip(left_operator.operators, right_operator.operators)
            square = product_square(left_operator, right_operator)
            return LinearOperatorBlockDiag([a.matmul(b) for a, b in pairs], is_square=square)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator, right_operator):
        if _match(left_operator, right_operator):
            pairs = zip(left_operator.operators, right_operator.operators)
            square = product_square(left_operator, right_operator)
            return LinearOperatorBlockDiag([a.solve(b) for a, b in pairs], is_square=square)
        return super()._linop_solve(left_operator, right_operator)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"operators": [0] * len(self._operators)}


def _match(left, right):
    """Whether two operators are block-diagonal with blocks that can be multiplied one by one."""
    if not (isinstance(left, LinearOperatorBlockDiag) and isinstance(right, LinearOperatorBlockDiag)):
        return False
    pairs = list(zip(left.operators, right.operators))
    return len(left.operators) == len(right.operators) and all(
        a.domain_dimension.is_compatible_with(b.range_dimension) for a, b in pairs
    )


def hints_of_all(kind, operators, given) -> dict:
    """The hints of something that has a property when all operators have it.

    Raises:
        ValueError: when a given hint says that it has not.
    """
    hints = {}
    for hint in ("is_non_singular", "is_self_adjoint", "is_positive_definite"):
        hints[hint] = given[hint]
        if all(getattr(operator, hint) for operator in operators):
            if given[hint] is False:
                raise ValueError(f"{hint} is False, but the {kind} of operators that all have it has it too.")
            hints[hint] = True
    return hints


def padded_rows(blocks, widths) -> list:
    """Blocks of rows, each of which ends at its own block of columns, with zeros on both sides."""
    total, rows = sum(widths), []
    for i, block in enumerate(blocks):
        end = sum(widths[: i + 1])
        start = end - dimension_of(block, -1)
        sides = [_zeros_beside(block, count) for count in (start, total - end)]
        rows.append(concat([part for part in (sides[0], block, sides[1]) if part is not None], -1))
    return rows


def _zeros_beside(block, count):
    if isinstance(count, int) and count == 0:
        return None
    return zeros(joined(dims_of(block, 0, -1), count), block.dtype)


@api("linalg.LinearOperatorBlockLowerTriangular")
class LinearOperatorBlockLowerTriangular(_Blocks):
    """The operator with other operators as blocks on and below its diagonal, and zeros above.

    Args:
        operators: rows of blocks, each a list of operators that is one longer than the one before. The last ones of
            the rows are square.
        is_non_singular: whether all operators on the diagonal are; this follows from them.
        is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: of the operator.

    Raises:
        ValueError: when blocks do not fit, or hints contradict those of the operators.
        TypeError: when dtypes differ.

    >>> a, b = tf.linalg.LinearOperatorDiag([1.0, 2.0]), tf.linalg.LinearOperatorFullMatrix([[3.0, 4.0]])
    >>> rows = [[a], [b, tf.linalg.LinearOperatorIdentity(1)]]
    >>> tf.linalg.LinearOperatorBlockLowerTriangular(rows).to_dense().numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [3.0, 4.0, 1.0]]
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorBlockLowerTriangular",
    ) -> None:
        parameters = arguments(locals())
        if not operators:
            raise ValueError(f"{name}: expected at least one row of operators.")
        for i, row in enumerate(operators):
            if len(row) != i + 1:
                raise ValueError(f"{name}: operators[{i}] must have {i + 1} blocks, got {len(row)}.")
        checked_operators(name, nest.flatten(operators))
        diagonal = [row[-1] for row in operators]
        # TF: what the caller says is only compared with what the blocks say.
        if all(operator.is_non_singular for operator in diagonal):
            if is_non_singular is False:
                raise ValueError(f"{name}: it is non-singular, as the blocks on the diagonal are.")
            is_non_singular = True
        elif any(operator.is_non_singular is False for operator in diagonal):
            if is_non_singular is True:
                raise ValueError(f"{name}: it is singular, as a block on the diagonal is.")
            is_non_singular = False
        else:
            is_non_singular = None
        if is_square is False:
            raise ValueError(f"{name}: it is always square, got is_square=False.")
        for i, operator in enumerate(diagonal):
            if operator.is_square is False:
                raise ValueError(f"{name}: operators[{i}][-1] is on the diagonal, so it must be square.")
        self._operators = [list(row) for row in operators]
        super().__init__(dtype=diagonal[0].dtype, **shared(parameters, is_non_singular=is_non_singular, is_square=True))
        self._check_dimensions()

    def _check_dimensions(self):
        for i, row in enumerate(self._operators):
            for j, operator in enumerate(row):
                for found, wanted, what in (
                    (operator.range_dimension, row[-1].range_dimension, "rows"),
                    (operator.domain_dimension, self._operators[j][-1].domain_dimension, "columns"),
                ):
                    if not found.is_compatible_with(wanted):
                        raise ValueError(f"{self.name}: operators[{i}][{j}] must have {wanted} {what}, got {found}.")

    @property
    def _diagonal(self):
        return [row[-1] for row in self._operators]

    def _multiply_blocks(self, blocks, adjoint, adjoint_arg):
        def product(i, j, block):
            return self._operators[i][j].matmul(block, adjoint=adjoint, adjoint_arg=adjoint_arg)

        count = len(blocks)
        if adjoint:
            return [_sum(product(i, j, blocks[i]) for i in range(j, count)) for j in range(count)]
        return [_sum(product(i, j, blocks[j]) for j in range(i + 1)) for i in range(count)]

    def _solve_blocks(self, blocks, adjoint, adjoint_arg):
        blocks = [matrices.adjoint(block) for block in blocks] if adjoint_arg else blocks
        count = len(blocks)
        found = [None] * count
        for i in reversed(range(count)) if adjoint else range(count):  # back or forward substitution
            rest = blocks[i]
            for j in range(i + 1, count) if adjoint else range(i):
                operator = self._operators[j][i] if adjoint else self._operators[i][j]
                rest = rest - operator.matmul(found[j], adjoint=adjoint)
            found[i] = self._operators[i][i].solve(rest, adjoint=adjoint)
        return found

    def _to_dense(self):
        rows = []
        for row in self._operators:
            rows.append(concat(with_common_batch([operator.to_dense() for operator in row]), -1))
        return concat(padded_rows(with_common_batch(rows), self._widths()), -2)

    def _linop_inverse(self):
        if len(self._operators) == 1:
            return LinearOperatorBlockLowerTriangular(
                [[self._operators[0][0].inverse()]], is_non_singular=self.is_non_singular, is_square=True
            )
        # The row i of the inverse is -A_ii^-1 (sum over k of A_ik times the rows k before it), then A_ii^-1.
        rows = []
        for i, row in enumerate(self._operators):
            inverse = row[-1].inverse()
            before = [
                _negative(inverse.matmul(_added([row[k].matmul(rows[k][j]) for k in range(j, i)]))) for j in range(i)
            ]
            rows.append([*before, inverse])
        return LinearOperatorBlockLowerTriangular(rows, is_non_singular=self.is_non_singular, is_square=True)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"operators": [[0] * len(row) for row in self._operators]}


def _sum(tensors):
    return functools.reduce(lambda a, b: a + b, tensors)


def _negative(operator):
    factor = to_tensor(-1, operator.dtype)
    return LinearOperatorScaledIdentity(operator._rows(), factor).matmul(operator)


def _added(operators):
    """The sum of operators, as one that keeps its elements."""
    return LinearOperatorFullMatrix(_sum(operator.to_dense() for operator in operators))
