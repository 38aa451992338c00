"""Linear operators that are given by their size: Identity, ScaledIdentity and Zeros."""

from headrace._src.core import dtypes
from headrace._src.core.errors import invalid_argument
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.constants import ones, zeros
from headrace._src.ops.arrays.filling import ones_like
from headrace._src.ops.arrays.shaping import expand_dims
from headrace._src.ops.debugging.assertions import assert_non_negative, assert_positive
from headrace._src.ops.linalg.diagonals import diag_part, set_diag
from headrace._src.ops.linear_operators.base import LinearOperator, arguments, shared
from headrace._src.ops.linear_operators.dense import non_variable
from headrace._src.ops.linear_operators.diagonal import LinearOperatorDiag, diagonal_product
from headrace._src.ops.linear_operators.shapes import (
    adjoint_if,
    assert_nonzero,
    assert_zero_imaginary,
    batch_of,
    common_batch,
    commuting_positive_definite,
    commuting_self_adjoint,
    dimension_of,
    joined,
    product_non_singular,
    real_part,
    static_value,
    with_batch,
)
from headrace._src.ops.linear_operators.specs import sliced_shape
from headrace._src.ops.math.arithmetic import minimum
from headrace._src.ops.math.complex_numbers import conj
from headrace._src.ops.math.elementwise import abs as absolute
from headrace._src.ops.math.elementwise import log, sqrt
from headrace._src.ops.math.powers import pow as power


def _size(operator, argument, value, proper):
    """A number of rows or columns as an integer scalar."""
    tensor = _shape_argument(operator, argument, value, 0)
    if proper:
        assert_non_negative(tensor, message=f"{operator}: {argument} must not be negative")
    known = static_value(tensor)
    if known is not None and known < 0:
        raise ValueError(f"{operator}: {argument} must not be negative, got {known}.")
    return cast(tensor, dtypes.int32) if known is None else to_tensor(int(known), dtypes.int32)


def _batch_shape(operator, value, proper):
    """A batch shape as an integer vector, or None."""
    if value is None:
        return None
    if isinstance(value, TensorShape):
        value = value.as_list()
    tensor = to_tensor(value, dtypes.int32) if isinstance(value, (list, tuple)) and not value else value
    tensor = _shape_argument(operator, "batch_shape", tensor, 1)
    if proper:
        assert_non_negative(tensor, message=f"{operator}: batch_shape must not be negative")
    known = static_value(tensor)
    if known is not None and (known < 0).any():
        raise ValueError(f"{operator}: batch_shape must not be negative, got {known.tolist()}.")
    return cast(tensor, dtypes.int32)


def _shape_argument(operator, argument, value, rank):
    if getattr(type(value), "reads_as_tensor", False):
        raise TypeError(f"{operator}: {argument} must not be a variable.")
    tensor = to_tensor(value)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{operator}: {argument} must be integer, got {tensor.dtype.name}.")
    if tensor.shape.rank is not None and tensor.shape.rank != rank:
        raise ValueError(f"{operator}: {argument} must have {rank} dimensions, got shape {tensor.shape}.")
    return tensor


def _known_dim(tensor):
    value = static_value(tensor)
    return None if value is None else int(value)


def _known_batch(tensor):
    if tensor is None:
        return TensorShape([])
    value = static_value(tensor)
    return TensorShape([None] * tensor.shape[0]) if value is None else TensorShape(value.tolist())


class _Sized(LinearOperator):
    """What Identity and Zeros share: they are made of a size, a batch shape and a dtype."""

    def _batch_shape_argument(self):
        return () if self._batch_shape is None else self._batch_shape

    def __getitem__(self, slices) -> LinearOperator:
        return type(self)(**{**self.parameters, "batch_shape": sliced_shape(self.batch_shape, slices)})

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {}


@api("linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(_Sized):
    """The operator of the identity matrix.

    Args:
        num_rows: its size, a non-negative integer.
        batch_shape: for batches of it: integers; None means none.
        dtype: float32 by default.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints, all True.
        assert_proper_shapes: whether to check the sizes also where they are only known when the program runs.
        name: of the operator.

    Raises:
        ValueError: when a size is negative or not of the right rank, or a hint is False.
        TypeError: when a size is no integer, or a variable.

    >>> tf.linalg.LinearOperatorIdentity(2).matvec([3.0, 4.0]).numpy().tolist()
    [3.0, 4.0]
    """

    _is_identity = True

    def __init__(
        self,
        num_rows,
        batch_shape=None,
        dtype=None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorIdentity",
    ) -> None:
        dtype = dtypes.as_dtype(dtype or dtypes.float32)
        parameters = arguments(locals())
        if is_self_adjoint is False:
            raise ValueError("An identity operator is always self adjoint.")
        if is_non_singular is False:
            raise ValueError("An identity operator is always non-singular.")
        if is_positive_definite is False:
            raise ValueError("An identity operator is always positive-definite.")
        if is_square is False:
            raise ValueError("An identity operator is always square.")
        super().__init__(dtype=dtype, **shared(parameters))
        self._num_rows = _size(name, "num_rows", num_rows, assert_proper_shapes)
        self._batch_shape = _batch_shape(name, batch_shape, assert_proper_shapes)

    def _shape(self):
        size = _known_dim(self._num_rows)
        return _known_batch(self._batch_shape).concatenate([size, size])

    def _shape_tensor(self):
        return to_tensor(joined(self._batch_shape_argument(), self._num_rows, self._num_rows))

    def _assert_non_singular(self):
        return None

    def _assert_positive_definite(self):
        return None

    def _assert_self_adjoint(self):
        return None

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return with_batch(adjoint_if(adjoint_arg, x), self._batch())

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return ones(self._batch(), self.dtype)

    def _log_abs_determinant(self):
        return zeros(self._batch(), self.dtype)

    def _trace(self):
        return cast(self._rows(), self.dtype) * ones(self._batch(), self.dtype)

    def _diag_part(self):
        return ones(joined(self._batch(), self._rows()), self.dtype)

    def _eigvals(self):
        return self._diag_part()

    def _cond(self):
        return ones(self._batch(), self.dtype)

    def add_to_tensor(self, mat, name="add_to_tensor") -> Tensor:
        """The identity plus the matrices `mat`, whose batch dimensions the result has."""
        with self._name_scope(name):
            mat = to_tensor(mat)
            self._check_input_dtype(mat)
            return set_diag(mat, 1 + diag_part(mat))

    def _linop_adjoint(self):
        return self

    def _linop_inverse(self):
        return self

    def _linop_cholesky(self):
        return self

    def _linop_matmul(self, left_operator, right_operator):
        return right_operator if isinstance(left_operator, LinearOperatorIdentity) else left_operator

    def _linop_solve(self, left_operator, right_operator):
        return right_operator

    @property
    def _composite_tensor_prefer_static_fields(self):
        return ("num_rows", "batch_shape")

    @property
    def _composite_tensor_fields(self):
        return ("num_rows", "batch_shape", "dtype", "assert_proper_shapes")


@api("linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(LinearOperator):
    """The operator of a multiple of the identity matrix.

    Args:
        num_rows: its size, a non-negative integer.
        multiplier: the factor; its shape is the batch shape.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        assert_proper_shapes: whether to check the size also where it is only known when the program runs.
        name: of the operator.

    Raises:
        ValueError: when `is_square` is False, or `is_self_adjoint` is False for a real multiplier.

    >>> tf.linalg.LinearOperatorScaledIdentity(2, 3.0).determinant().numpy().item()
    9.0
    """

    _is_scaled_identity = True

    def __init__(
        self,
        num_rows,
        multiplier,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorScaledIdentity",
    ) -> None:
        parameters = arguments(locals())
        self._multiplier = non_variable(multiplier, "multiplier")
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        super().__init__(dtype=self._multiplier.dtype, **shared(parameters, is_self_adjoint=is_self_adjoint))
        self._num_rows = _size(name, "num_rows", num_rows, assert_proper_shapes)

    @property
    def multiplier(self) -> Tensor:
        """The factor, as it was given."""
        return self._multiplier

    def _shape(self):
        size = _known_dim(self._num_rows)
        return self._multiplier.shape.concatenate([size, size])

    def _shape_tensor(self):
        factor = to_tensor(self._multiplier)
        return to_tensor(joined(batch_of_scalar(factor), self._num_rows, self._num_rows))

    def _factor(self, adjoint=False, dims=2):
        """The factor with `dims` more dimensions."""
        factor = conj(self._multiplier) if adjoint else to_tensor(self._multiplier)
        for _ in range(dims):
            factor = expand_dims(factor, -1)
        return factor

    def _assert_non_singular(self):
        return assert_nonzero(self._multiplier, "The multiplier is zero, so the operator is singular.")

    def _assert_positive_definite(self):
        return assert_positive(real_part(self._factor(dims=0)), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self):
        return assert_zero_imaginary(self._factor(dims=0), "The multiplier is not real.")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return adjoint_if(adjoint_arg, x) * self._factor(adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return adjoint_if(adjoint_arg, rhs) / self._factor(adjoint)

    def _determinant(self):
        return power(self._factor(dims=0), cast(self._rows(), self.dtype))

    def _log_abs_determinant(self):
        size = absolute(self._multiplier)
        return cast(self._rows(), size.dtype) * log(size)  # TF: real, also when the operator is complex

    def _trace(self):
        return self._factor(dims=0) * cast(self._rows(), self.dtype)

    def _diag_part(self):
        return self._factor(dims=1) * ones([self._rows()], self.dtype)

    def _eigvals(self):
        return self._diag_part()

    def _cond(self):
        return ones_like(self._factor(dims=0))

    def add_to_tensor(self, mat, name="add_to_tensor") -> Tensor:
        """The operator plus the matrices `mat`, whose batch dimensions the result has."""
        with self._name_scope(name):
            mat = to_tensor(mat)
            self._check_input_dtype(mat)
            return set_diag(mat, diag_part(mat) + self._factor(dims=1))

    def _scaled(self, factor, **hints):
        return LinearOperatorScaledIdentity(self._num_rows, factor, is_square=True, **hints)

    def _linop_adjoint(self):
        return self._scaled(
            conj(self._multiplier),
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _linop_inverse(self):
        return self._scaled(
            1.0 / self._factor(dims=0),
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _linop_cholesky(self):
        return self._scaled(
            sqrt(self._multiplier), is_non_singular=True, is_self_adjoint=True, is_positive_definite=True
        )

    def _linop_matmul(self, left_operator, right_operator):
        if isinstance(left_operator, LinearOperatorScaledIdentity):
            if isinstance(right_operator, LinearOperatorScaledIdentity):
                factor = left_operator._factor(dims=0) * right_operator._factor(dims=0)
                return self._scaled_product(left_operator, right_operator, factor)
            if isinstance(right_operator, LinearOperatorDiag):
                elements = left_operator._factor(dims=1) * right_operator.diag
                return diagonal_product(left_operator, right_operator, elements)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator, right_operator):
        if isinstance(left_operator, LinearOperatorScaledIdentity):
            if isinstance(right_operator, LinearOperatorScaledIdentity):
                factor = right_operator._factor(dims=0) / left_operator._factor(dims=0)
                return self._scaled_product(left_operator, right_operator, factor)
            if isinstance(right_operator, LinearOperatorDiag):
                elements = right_operator.diag / left_operator._factor(dims=1)
                return diagonal_product(left_operator, right_operator, elements)
        return super()._linop_solve(left_operator, right_operator)

    def _scaled_product(self, left, right, factor):
        return self._scaled(
            factor,
            is_non_singular=product_non_singular(left, right),
            is_self_adjoint=commuting_self_adjoint(left, right),
            is_positive_definite=commuting_positive_definite(left, right),
        )

    @property
    def _composite_tensor_prefer_static_fields(self):
        return ("num_rows",)

    @property
    def _composite_tensor_fields(self):
        return ("num_rows", "multiplier", "assert_proper_shapes")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"multiplier": 0}


def batch_of_scalar(x):
    """All dimensions of a tensor whose elements are one matrix each."""
    return joined(batch_of(expand_dims(x, -1), 1))


@api("linalg.LinearOperatorZeros")
class LinearOperatorZeros(_Sized):
    """The operator of a matrix of zeros.

    Args:
        num_rows: a non-negative integer.
        num_columns: by default the same.
        batch_shape: for batches of it: integers; None means none.
        dtype: float32 by default.
        is_non_singular, is_positive_definite: hints, False.
        is_self_adjoint, is_square: hints; give False for both if the matrix is not square.
        assert_proper_shapes: whether to check the sizes also where they are only known when the program runs.
        name: of the operator.

    Raises:
        ValueError: when sizes or hints are not those of such a matrix.
        TypeError: when a size is no integer, or a variable.

    >>> tf.linalg.LinearOperatorZeros(2).matvec([3.0, 4.0]).numpy().tolist()
    [0.0, 0.0]
    """

    _is_zeros = True

    def __init__(
        self,
        num_rows,
        num_columns=None,
        batch_shape=None,
        dtype=None,
        is_non_singular=False,
        is_self_adjoint=True,
        is_positive_definite=False,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorZeros",
    ) -> None:
        dtype = dtypes.as_dtype(dtype or dtypes.float32)
        parameters = arguments(locals())
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        super().__init__(dtype=dtype, **shared(parameters))
        self._num_rows = _size(name, "num_rows", num_rows, assert_proper_shapes)
        self._num_columns = (
            self._num_rows if num_columns is None else _size(name, "num_columns", num_columns, assert_proper_shapes)
        )
        self._batch_shape = _batch_shape(name, batch_shape, assert_proper_shapes)
        rows, columns = _known_dim(self._num_rows), _known_dim(self._num_columns)
        if is_square and rows is not None and columns is not None and rows != columns:
            raise ValueError(
                f"{name}: is_square is True, but there are {rows} rows and {columns} columns. Pass is_square=False "
                "and is_self_adjoint=False."
            )

    def _shape(self):
        sizes = [_known_dim(self._num_rows), _known_dim(self._num_columns)]
        return _known_batch(self._batch_shape).concatenate(sizes)

    def _shape_tensor(self):
        return to_tensor(joined(self._batch_shape_argument(), self._num_rows, self._num_columns))

    def _assert_non_singular(self):
        raise invalid_argument("Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        raise invalid_argument("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return None

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        batch = common_batch(self._batch(), batch_of(x))
        rows = self._columns() if adjoint else self._rows()
        return zeros(joined(batch, rows, dimension_of(x, -2 if adjoint_arg else -1)), self.dtype)

    def _to_dense(self):
        return zeros(joined(self._batch(), self._rows(), self._columns()), self.dtype)

    def _determinant(self):
        return zeros(self._batch(), self.dtype)

    def _trace(self):
        return zeros(self._batch(), self.dtype)

    def _diag_part(self):
        rows, columns = self._rows(), self._columns()
        known = isinstance(rows, int) and isinstance(columns, int)
        return zeros(joined(self._batch(), min(rows, columns) if known else minimum(rows, columns)), self.dtype)

    def _eigvals(self):
        return self._diag_part()

    def add_to_tensor(self, mat, name="add_to_tensor") -> Tensor:
        """The matrices `mat` themselves, with batch dimensions that are broadcast."""
        with self._name_scope(name):
            mat = to_tensor(mat)
            self._check_input_dtype(mat)
            return with_batch(mat, self._batch())

    def _zero_product(self, other):
        """This operator, as its product with another one from either side."""
        if not (self.is_square and other.is_square):
            raise ValueError("The product of LinearOperatorZeros and another operator needs both to be square.")
        return self

    def _linop_matmul(self, left_operator, right_operator):
        if isinstance(left_operator, LinearOperatorZeros):
            return left_operator._zero_product(right_operator)
        return super()._linop_matmul(left_operator, right_operator)

    @property
    def _composite_tensor_prefer_static_fields(self):
        return ("num_rows", "num_columns", "batch_shape")

    @property
    def _composite_tensor_fields(self):
        return ("num_rows", "num_columns", "batch_shape", "dtype", "assert_proper_shapes")
