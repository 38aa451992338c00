"""Linear operators that are diagonal after a Fourier transform: LinearOperatorCirculant, ...2D and ...3D."""

from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.constants import ones
from headrace._src.ops.arrays.shaping import expand_dims, reshape
from headrace._src.ops.debugging.assertions import assert_less_equal, assert_positive
from headrace._src.ops.linalg.matrices import matrix_transpose
from headrace._src.ops.linear_operators.base import LinearOperator, arguments, shared
from headrace._src.ops.linear_operators.dense import non_variable
from headrace._src.ops.linear_operators.shapes import (
    assert_nonzero,
    assert_zero_imaginary,
    batch_of,
    commuting_positive_definite,
    commuting_self_adjoint,
    dims_of,
    joined,
    product_non_singular,
    real_part,
)
from headrace._src.ops.math.complex_numbers import conj, imag
from headrace._src.ops.math.elementwise import abs as absolute
from headrace._src.ops.math.elementwise import log
from headrace._src.ops.math.reductions import reduce_max, reduce_min, reduce_prod, reduce_sum
from headrace._src.ops.signal.fourier import fft, fft2d, fft3d, ifft, ifft2d, ifft3d


def to_complex(x):
    """`x` in the complex dtype in which Fourier transforms of its dtype are computed."""
    if x.dtype.is_complex:
        return x
    return cast(x, dtypes.complex128 if x.dtype in (dtypes.float64, dtypes.int64) else dtypes.complex64)


def in_dtype(x, dtype):
    """`x` in a dtype, without its imaginary part if that is real."""
    return cast(real_part(x) if not dtype.is_complex else x, dtype)


class _Circulant(LinearOperator):
    """What circulant operators share; subclasses say over how many dimensions, and how they are transformed."""

    block_depth = 0  # the number of dimensions of the spectrum without those of the batch
    _fft = None
    _ifft = None

    def __init__(self, parameters) -> None:
        name, is_self_adjoint = parameters["name"], parameters["is_self_adjoint"]
        self._spectrum = non_variable(parameters["spectrum"], "spectrum")
        known = self._spectrum.shape.rank
        if known is not None and known < self.block_depth:
            raise ValueError(f"{name}: spectrum must have at least {self.block_depth} dimensions, got {known}.")
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(f"{name}: a real spectrum makes the operator self-adjoint, got is_self_adjoint=False.")
            is_self_adjoint = True
        if parameters["is_square"] is False:
            raise ValueError(f"{name}: a circulant operator is always square, got is_square=False.")
        dtype = dtypes.as_dtype(parameters["input_output_dtype"])
        super().__init__(dtype=dtype, **shared(parameters, is_self_adjoint=is_self_adjoint, is_square=True))

    @property
    def spectrum(self) -> Tensor:
        """The eigenvalues, as they were given."""
        return self._spectrum

    @property
    def block_shape(self) -> TensorShape:
        """The static shape of the spectrum without its batch dimensions."""
        return self._spectrum.shape[-self.block_depth :]

    def block_shape_tensor(self) -> Tensor:
        """The shape of the spectrum without its batch dimensions, as an int32 vector."""
        return to_tensor(dims_of(to_tensor(self._spectrum), -self.block_depth), dtypes.int32)

    def _shape(self):
        known = self._spectrum.shape
        if known.rank is None:
            return known
        size = known[-self.block_depth :].num_elements()
        return known[: -self.block_depth].concatenate([size, size])

    def _shape_tensor(self):
        size = reduce_prod(self.block_shape_tensor())
        return to_tensor(joined(batch_of(to_tensor(self._spectrum), self.block_depth), size, size))

    def convolution_kernel(self, name="convolution_kernel") -> Tensor:
        """The inverse Fourier transform of the spectrum: what a product convolves with, in the operator's dtype."""
        with self._name_scope(name):
            return in_dtype(type(self)._ifft(to_complex(to_tensor(self._spectrum))), self.dtype)

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum") -> Any:
        """Raise unless the spectrum is the Fourier transform of something real.

        Raises:
            InvalidArgumentError: when the imaginary part of the convolution kernel is not small.
        """
        with self._name_scope(name):
            spectrum = to_complex(to_tensor(self._spectrum))
            size = absolute(imag(type(self)._ifft(spectrum)))
            # What rounding may leave of the imaginary part.
            precision = np.finfo(size.dtype.as_numpy_dtype).eps
            limit = cast(10 * precision, size.dtype) * reduce_max(absolute(spectrum))
            return assert_less_equal(size, limit, message="The spectrum is not Hermitian")

    def _assert_non_singular(self):
        return assert_nonzero(self._spectrum, "Singular operator: the spectrum has zeros.")

    def _assert_positive_definite(self):
        message = "Not positive definite: the real part of the spectrum is not positive."
        return assert_positive(real_part(to_tensor(self._spectrum)), message=message)

    def _assert_self_adjoint(self):
        return assert_zero_imaginary(to_tensor(self._spectrum), "Not self-adjoint: the spectrum is not real.")

    # Products.

    def _transformed(self, x, adjoint_arg, change):
        """The columns of `x` with `change` applied to their Fourier transforms."""
        dtype = to_complex(to_tensor(self._spectrum)).dtype
        # Columns become rows, so that the last dimensions are those of the transform.
        rows = conj(x) if adjoint_arg else matrix_transpose(x)
        blocks = reshape(rows, joined(dims_of(rows, 0, -1), self._block()))
        result = type(self)._ifft(change(type(self)._fft(cast(blocks, dtype))))
        rows = reshape(result, joined(dims_of(result, 0, -self.block_depth), self._columns()))
        return in_dtype(matrix_transpose(rows), self.dtype)

    def _block(self):
        known = self.block_shape
        return tuple(known.as_list()) if known.is_fully_defined() else self.block_shape_tensor()

    def _factor(self, adjoint):
        spectrum = expand_dims(to_complex(to_tensor(self._spectrum)), -self.block_depth - 1)
        return conj(spectrum) if adjoint else spectrum

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        factor = self._factor(adjoint)
        return self._transformed(x, adjoint_arg, lambda blocks: blocks * factor)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        factor = self._factor(adjoint)
        return self._transformed(rhs, adjoint_arg, lambda blocks: blocks / factor)

    # Numbers, all of which the spectrum tells.

    def _axes(self):
        return list(range(-self.block_depth, 0))

    def _determinant(self):
        return in_dtype(reduce_prod(self._spectrum, axis=self._axes()), self.dtype)

    def _log_abs_determinant(self):
        return in_dtype(reduce_sum(log(absolute(self._spectrum)), axis=self._axes()), self.dtype)

    def _trace(self):
        return in_dtype(reduce_sum(self._spectrum, axis=self._axes()), self.dtype)

    def _diag_part(self):
        mean = self._trace() / cast(self._columns(), self.dtype)
        return expand_dims(mean, -1) * ones([self._columns()], self.dtype)

    def _eigvals(self):
        spectrum = to_tensor(self._spectrum)
        return reshape(spectrum, joined(batch_of(spectrum, self.block_depth), self._columns()))

    def _cond(self):
        size = absolute(self._spectrum)
        return reduce_max(size, axis=self._axes()) / reduce_min(size, axis=self._axes())

    # Circulant operators from circulant operators.

    def _with(self, spectrum, is_non_singular, is_self_adjoint, is_positive_definite):
        return type(self)(
            spectrum,
            input_output_dtype=self.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
        )

    def _linop_adjoint(self):
        spectrum = conj(self._spectrum)
        return self._with(spectrum, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite)

    def _linop_inverse(self):
        spectrum = 1.0 / to_tensor(self._spectrum)
        return self._with(spectrum, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite)

    def _linop_matmul(self, left_operator, right_operator):
        if _both(type(self), left_operator, right_operator):
            spectrum = left_operator.spectrum * to_tensor(right_operator.spectrum)
            return self._combined(left_operator, right_operator, spectrum)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator, right_operator):
        if _both(type(self), left_operator, right_operator):
            spectrum = right_operator.spectrum / to_tensor(left_operator.spectrum)
            return self._combined(left_operator, right_operator, spectrum)
        return super()._linop_solve(left_operator, right_operator)

    def _combined(self, left, right, spectrum):
        return self._with(
            spectrum,
            product_non_singular(left, right),
            commuting_self_adjoint(left, right),
            commuting_positive_definite(left, right),
        )

    @property
    def _composite_tensor_fields(self):
        return ("spectrum", "input_output_dtype")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"spectrum": self.block_depth}


def _both(kind, left, right):
    return isinstance(left, kind) and isinstance(right, kind)


@api("linalg.LinearOperatorCirculant")
class LinearOperatorCirculant(_Circulant):
    """The operator of a circulant matrix: every column is the one before, rotated by one.

    It multiplies by way of Fourier transforms: the spectrum is the transform of the first column.

    Args:
        spectrum: the eigenvalues, of shape `[..., N]`, real or complex.
        input_output_dtype: of the matrix and what it can be multiplied with; the imaginary part of results is
            dropped if it is real.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`. With
            a real spectrum the operator is self-adjoint.
        name: of the operator.

    Raises:
        ValueError: when the spectrum has too few dimensions, or hints contradict it.

    >>> operator = tf.linalg.LinearOperatorCirculant([6.0, 0.0, 0.0], input_output_dtype=tf.float32)
    >>> operator.matvec([1.0, 2.0, 3.0]).numpy().tolist()
    [12.0, 12.0, 12.0]
    """

    block_depth = 1
    _fft = staticmethod(fft)
    _ifft = staticmethod(ifft)

    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant",
    ) -> None:
        parameters = arguments(locals())
        super().__init__(parameters)


@api("linalg.LinearOperatorCirculant2D")
class LinearOperatorCirculant2D(_Circulant):
    """The operator of a block-circulant matrix with circulant blocks: a periodic convolution of images.

    Args:
        spectrum: the eigenvalues, of shape `[..., N0, N1]`; the matrix is of size N0 N1.
        input_output_dtype: of the matrix and what it can be multiplied with.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: of the operator.
    """

    block_depth = 2
    _fft = staticmethod(fft2d)
    _ifft = staticmethod(ifft2d)

    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant2D",
    ) -> None:
        parameters = arguments(locals())
        super().__init__(parameters)


@api("linalg.LinearOperatorCirculant3D")
class LinearOperatorCirculant3D(_Circulant):
    """The operator of a nested block-circulant matrix: a periodic convolution of volumes.

    Args:
        spectrum: the eigenvalues, of shape `[..., N0, N1, N2]`; the matrix is of size N0 N1 N2.
        input_output_dtype: of the matrix and what it can be multiplied with.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: of the operator.
    """

    block_depth = 3
    _fft = staticmethod(fft3d)
    _ifft = staticmethod(ifft3d)

    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant3D",
    ) -> None:
        parameters = arguments(locals())
        super().__init__(parameters)
