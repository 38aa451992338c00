"""LinearOperator, the base class of matrices that are known by what they do rather than by their elements.

A subclass gives its shape and its product with a matrix, and whatever else it can do better than through its dense
form. The arguments of its constructor are kept as they are, so that variables are read when they are used.
"""

from typing import Any

import numpy as np

from headrace._src.core.composite import CompositeTensor
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.attached import open_class
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.shaping import expand_dims, squeeze
from headrace._src.ops.debugging.assertions import assert_equal, assert_less, assert_positive
from headrace._src.ops.linalg import matrices
from headrace._src.ops.linalg.decompositions import cholesky, eigvalsh
from headrace._src.ops.linalg.diagonals import diag_part
from headrace._src.ops.linalg.singular_values import svd
from headrace._src.ops.linalg.solving import det, slogdet
from headrace._src.ops.linear_operators.description import DescribedMatrix
from headrace._src.ops.linear_operators.shapes import (
    adjoint_if,
    real_part,
    solve_dense,
    solve_positive,
)
from headrace._src.ops.linear_operators.specs import sliced, spec_class
from headrace._src.ops.math.elementwise import abs as absolute
from headrace._src.ops.math.elementwise import exp, log
from headrace._src.ops.math.reductions import reduce_max, reduce_min, reduce_sum


@api("linalg.LinearOperator")
@open_class
class LinearOperator(DescribedMatrix, CompositeTensor):
    """Base class of linear operators: (batches of) matrices of shape `[..., M, N]`.

    An operator multiplies (`operator @ x`), solves, has a determinant and so on, without making the matrix where its
    structure allows it. Hints say what is known about the matrix; they are trusted, choose faster algorithms, and
    can be checked with `assert_...`.

    A subclass defines `_shape`, `_shape_tensor` and `_matmul`, and may define `_solve`, `_determinant`, `_to_dense`
    and the others that have a default here.

    Args:
        dtype: of the matrix, and of what it can be multiplied with.
        graph_parents: accepted for compatibility.
        is_non_singular: whether the matrix has an inverse; None when it is not known.
        is_self_adjoint: whether it is equal to its conjugate transpose.
        is_positive_definite: whether `x^H A x` has a positive real part for every nonzero x. It need not be
            self-adjoint.
        is_square: whether there are as many rows as columns.
        name: by default that of the class.
        parameters: the arguments of the subclass's constructor, by name.

    Raises:
        ValueError: when hints contradict each other.

    >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> operator.matvec([3.0, 4.0]).numpy().tolist()
    [3.0, 8.0]
    """

    # What kind of operator it is, for files that its class's file imports: they cannot ask with `isinstance`.
    _is_identity = _is_scaled_identity = _is_zeros = _is_diagonal = False

    # Defaults that are made of subclasses are attached where these are: `_composed`, `_solved_composed`,
    # `_linop_adjoint` and `_linop_inverse` by derived.py, `_linop_cholesky` by dense.py.

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        cls._spec_class = spec_class(cls)

    def __new__(cls, *args, **kwargs):
        if cls._shape is LinearOperator._shape or cls._shape_tensor is LinearOperator._shape_tensor:
            raise TypeError(f"{cls.__name__} cannot be made: it does not define _shape and _shape_tensor.")
        if cls._matmul is LinearOperator._matmul:
            raise TypeError(f"{cls.__name__} cannot be made: it does not define _matmul.")
        return super().__new__(cls)

    # Checks that run.

    def assert_non_singular(self, name="assert_non_singular") -> Any:
        """Raise unless the matrix is non-singular, by a condition number that is small enough.

        Raises:
            InvalidArgumentError: when it is singular.
        """
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self):
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        number = real_part(self.cond())
        limit = 1.0 / (100.0 * np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps)
        return assert_less(
            number, to_tensor(limit, number.dtype), message="Singular matrix up to precision epsilon."
        )

    def assert_positive_definite(self, name="assert_positive_definite") -> Any:
        """Raise unless the matrix is positive definite.

        Raises:
            InvalidArgumentError: when it is not.
            NotImplementedError: when the hints do not say that it is self-adjoint and positive definite, and the
                class has no way of its own.
        """
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self):
        if not self._can_use_cholesky():
            raise NotImplementedError(
                f"{self.name}.assert_positive_definite needs the hints is_self_adjoint and is_positive_definite."
            )
        diagonal = diag_part(cholesky(self.to_dense()))
        return assert_positive(real_part(diagonal), message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name="assert_self_adjoint") -> Any:
        """Raise unless the matrix is equal to its conjugate transpose.

        Raises:
            InvalidArgumentError: when it is not.
        """
        with self._name_scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self):
        dense = self.to_dense()
        return assert_equal(dense, matrices.adjoint(dense), message="Matrix was not equal to its adjoint.")

    def _check_input_dtype(self, arg):
        if arg.dtype != self.dtype:
            raise TypeError(f"{self.name}: expected an argument of dtype {self.dtype.name}, got {arg.dtype.name}.")

    # Products.

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul") -> Tensor:
        """The product of the matrix and `x`.

        Args:
            x: matrices of the operator's dtype, with as many rows as the operator has columns and batch dimensions
                that broadcast; or another operator.
            adjoint: multiply with the conjugate transpose instead.
            adjoint_arg: multiply with the conjugate transpose of `x`.
            name: of the operations.

        Returns:
            A tensor; an operator if `x` is one.

        Raises:
            ValueError: when the dimensions do not fit.
            TypeError: when the dtypes differ.
        """
        if isinstance(x, LinearOperator):
            left, right = self._operands(x, adjoint, adjoint_arg)
            with self._name_scope(name):
                return self._linop_matmul(left, right)
        with self._name_scope(name):
            x = self._matrix_argument(x, self.shape, -2 if adjoint else -1, adjoint_arg)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        raise NotImplementedError("_matmul is not implemented.")

    def _operands(self, x, adjoint, adjoint_arg):
        """This operator and `x`, or their adjoints."""
        left = self.adjoint() if adjoint else self
        right = x.adjoint() if adjoint_arg else x
        if not right.range_dimension.is_compatible_with(left.domain_dimension):
            raise ValueError(
                f"{self.name}: the operators do not fit: {left.domain_dimension} columns times "
                f"{right.range_dimension} rows."
            )
        return left, right

    def _matrix_argument(self, x, shape, axis, adjoint_arg):
        """The argument of a product or of solve as a tensor, if it fits the dimension `axis` of `shape`."""
        x = to_tensor(x)
        self._check_input_dtype(x)
        if shape.rank is not None and x.shape.rank is not None:
            if x.shape.rank < 2:
                # TF: the class of the error.
                raise IndexError(f"{self.name}: the argument must be a matrix, got shape {x.shape}.")
            shape.dims[axis].assert_is_compatible_with(x.shape.dims[-1 if adjoint_arg else -2])
        return x

    def _vector_argument(self, x, shape, axis):
        x = to_tensor(x)
        self._check_input_dtype(x)
        if shape.rank is not None and x.shape.rank is not None:
            if x.shape.rank < 1:
                raise IndexError(f"{self.name}: the argument must be a vector, got a scalar.")
            shape.dims[axis].assert_is_compatible_with(x.shape.dims[-1])
        return x

    def __matmul__(self, other):
        return self.matmul(other)

    def _linop_matmul(self, left_operator, right_operator):
        """The product of two operators, in the simplest form that is known."""
        if right_operator._is_identity:
            return left_operator
        if right_operator._is_zeros:
            return right_operator._zero_product(left_operator)
        return left_operator._composed(right_operator)

    def matvec(self, x, adjoint=False, name="matvec") -> Tensor:
        """The product of the matrix and the vectors `x`; see `matmul`."""
        with self._name_scope(name):
            x = self._vector_argument(x, self.shape, -2 if adjoint else -1)
            return self._matvec(x, adjoint=adjoint)

    def _matvec(self, x, adjoint=False):
        return squeeze(self.matmul(expand_dims(x, -1), adjoint=adjoint), -1)

    # Solving.

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve") -> Tensor:
        """The X with `A X = rhs`.

        Args:
            rhs: matrices as in `matmul`, or an operator.
            adjoint: solve with the conjugate transpose of the matrix.
            adjoint_arg: with the conjugate transpose of `rhs` on the right-hand side.
            name: of the operations.

        Raises:
            NotImplementedError: when the matrix is singular or not square, by its hints or shape.
            InvalidArgumentError: when it turns out to be singular.
        """
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to not be square."
            )
        if isinstance(rhs, LinearOperator):
            left, right = self._operands(rhs, adjoint, adjoint_arg)
            with self._name_scope(name):
                return self._linop_solve(left, right)
        with self._name_scope(name):
            rhs = self._matrix_argument(rhs, self.shape, -1 if adjoint else -2, adjoint_arg)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._dense_solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _dense_solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = adjoint_if(adjoint_arg, rhs)
        if self._can_use_cholesky():
            return solve_positive(self.to_dense(), rhs)
        return solve_dense(self.to_dense(), rhs, adjoint=adjoint)

    def _linop_solve(self, left_operator, right_operator):
        """The inverse of one operator times another, in the simplest form that is known."""
        if right_operator._is_identity:
            return left_operator.inverse()
        return left_operator._solved_composed(right_operator)

    def solvevec(self, rhs, adjoint=False, name="solve") -> Tensor:
        """The x with `A x = rhs`, for vectors; see `solve`."""
        with self._name_scope(name):
            rhs = self._vector_argument(rhs, self.shape, -1 if adjoint else -2)
            return self._solvevec(rhs, adjoint=adjoint)

    def _solvevec(self, rhs, adjoint=False):
        return squeeze(self.solve(expand_dims(rhs, -1), adjoint=adjoint), -1)

    # Other operators.

    def adjoint(self, name="adjoint") -> "LinearOperator":
        """The operator of the conjugate transpose; this operator itself when it is self-adjoint."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return self._linop_adjoint()

    H = property(adjoint, None, None, "The operator of the conjugate transpose.")

    def inverse(self, name="inverse") -> "LinearOperator":
        """The operator of the inverse matrix.

        Raises:
            ValueError: when the matrix is singular or not square, by its hints or shape.
        """
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._name_scope(name):
            return self._linop_inverse()

    def cholesky(self, name="cholesky") -> "LinearOperator":
        """The operator L, lower triangular, with `L L^H = A`.

        Raises:
            ValueError: when the hints do not say that the matrix is self-adjoint and positive definite.
        """
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._name_scope(name):
            return self._linop_cholesky()

    # Numbers and tensors.

    def determinant(self, name="det") -> Tensor:
        """The determinant of every matrix.

        Raises:
            NotImplementedError: when it is not square.
        """
        self._refuse_determinant()
        with self._name_scope(name):
            return self._determinant()

    def _refuse_determinant(self):
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")

    def _determinant(self):
        if self._can_use_cholesky():
            return exp(self.log_abs_determinant())
        return det(self.to_dense())

    def log_abs_determinant(self, name="log_abs_det") -> Tensor:
        """The logarithm of the absolute value of the determinant, in the operator's dtype."""
        self._refuse_determinant()
        with self._name_scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self):
        if self._can_use_cholesky():
            diagonal = diag_part(cholesky(self.to_dense()))
            return 2 * reduce_sum(log(diagonal), axis=-1)
        return slogdet(self.to_dense())[1]

    def to_dense(self, name="to_dense") -> Tensor:
        """The matrix itself, as a tensor."""
        with self._name_scope(name):
            return self._to_dense()

    def _to_dense(self):
        return self.matmul(matrices.eye(self._columns(), batch_shape=self._batch(), dtype=self.dtype))

    def diag_part(self, name="diag_part") -> Tensor:
        """The diagonal of every matrix."""
        with self._name_scope(name):
            return self._diag_part()

    def _diag_part(self):
        return diag_part(self.to_dense())

    def trace(self, name="trace") -> Tensor:
        """The sum of the diagonal of every matrix."""
        with self._name_scope(name):
            return self._trace()

    def _trace(self):
        return reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x, name="add_to_tensor") -> Tensor:
        """The matrix plus the tensor `x`, with broadcasting."""
        with self._name_scope(name):
            x = to_tensor(x)
            self._check_input_dtype(x)
            return self._add_to_tensor(x)

    def _add_to_tensor(self, x):
        return self.to_dense() + x

    def eigvals(self, name="eigvals") -> Tensor:
        """The eigenvalues of every matrix.

        Raises:
            NotImplementedError: when the hints do not say that it is self-adjoint.
        """
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        with self._name_scope(name):
            return self._eigvals()

    def _eigvals(self):
        return eigvalsh(self.to_dense())

    def cond(self, name="cond") -> Tensor:
        """The condition number of every matrix: its largest singular value divided by its smallest."""
        with self._name_scope(name):
            return self._cond()

    def _cond(self):
        if self.is_self_adjoint:
            values = absolute(self.eigvals())
        else:
            values = svd(self.to_dense(), compute_uv=False)
        values = real_part(values)
        return reduce_max(values, axis=-1) / reduce_min(values, axis=-1)

    # A composite tensor with batch dimensions.

    @property
    def _composite_tensor_fields(self) -> tuple:
        """The arguments of the constructor that the type spec describes, apart from the hints."""
        return tuple(key for key in self.parameters if key != "name" and not key.startswith("is_"))

    @property
    def _composite_tensor_prefer_static_fields(self) -> tuple:
        """Those of them that become part of the spec where their values are known."""
        return ()

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict:
        """For every argument that has the batch dimensions: how many dimensions it has besides them."""
        raise NotImplementedError(f"{type(self).__name__} cannot be sliced.")

    @property
    def _type_spec(self):
        return self._spec_class.from_operator(self)

    def _convert_variables_to_tensors(self):
        spec = self._type_spec
        return spec._from_components(_read_variables(spec._to_components(self)))

    def __getitem__(self, slices) -> "LinearOperator":
        return sliced(self, slices)


def _read_variables(value):
    if isinstance(value, dict):
        return {key: _read_variables(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_read_variables(item) for item in value]
    return value._convert_variables_to_tensors() if isinstance(value, LinearOperator) else to_tensor(value)


def arguments(scope: dict) -> dict:
    """The arguments of a constructor by name, from its `locals()`."""
    return {name: value for name, value in scope.items() if name not in ("self", "__class__")}


_SHARED = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square", "name")


def shared(parameters: dict, **known) -> dict:
    """What a constructor passes on to its base: its parameters, and of them the hints and the name.

    Args:
        parameters: the arguments of the constructor, by name.
        known: hints, or a name, in the place of those among `parameters`.
    """
    return {key: parameters[key] for key in _SHARED} | known | {"parameters": parameters}
