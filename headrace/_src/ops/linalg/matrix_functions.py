"""Functions of matrices by power series: exponential, logarithm, square root."""

import warnings

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jax_linalg, jnp, scipy_linalg
from headrace._src.core.product_threads import on_one_thread, one_thread, one_thread_of_scipy
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.linalg.checks import MATRIX_TYPES, check_matrix, infer_square, widened
from headrace._src.ops.linalg.matrices import adjoint


@on_one_thread(one_thread, one_thread_of_scipy)
def _each(input, op, function):
    """`function` of each matrix; NaN for those that are not finite, or whose result is not of this dtype."""
    check_matrix(op, input.shape, square=True)
    x = widened(input)
    result = np.full(x.shape, np.nan, x.dtype)
    if not x.size:
        return result.astype(input.dtype, copy=False)
    for index in np.ndindex(x.shape[:-2]):
        matrix = x[index]
        if not np.isfinite(matrix).all():
            continue
        value = function(matrix)
        if np.iscomplexobj(value) and not np.iscomplexobj(matrix):
            value = _real_root(np, value)
        result[index] = value
    return result.astype(input.dtype, copy=False)


def _real_root(xp, root):
    """The real part of complex matrices that are real but for rounding; NaN for the others."""
    largest = xp.max(xp.abs(root), (-2, -1), keepdims=True)
    imaginary = xp.max(xp.abs(root.imag), (-2, -1), keepdims=True)
    return xp.where(imaginary > largest * np.sqrt(np.finfo(root.dtype).eps), np.nan, root.real)


def _derivative(op, x, dy):
    """The gradient of any analytic function of matrices: a block of the function of a larger matrix.

    f([[A, E], [0, A]]) has the derivative of f at A in the direction E in its upper right corner; its
    transpose is the derivative at the conjugate transpose of A.
    """
    size = x.shape[-1]
    a = adjoint(x)
    block = CONCAT([CONCAT([a, dy], -1), CONCAT([ZEROS_LIKE(a), a], -1)], -2)
    if size is None:
        size = SHAPE(x, out_type=dtypes.int32)[-1]
    return (op(block)[..., :size, size:],)


def _lower_exponential(ctx, input):
    x = widened(input)
    if not x.size:
        return input
    return jax_linalg.expm(x, max_squarings=64).astype(input.dtype)


# TF: TensorFlow has retired this op and computes the exponential from others, with a loop.
MATRIX_EXPONENTIAL = Op(
    "MatrixExponential",
    "input: T -> output: T",
    T=MATRIX_TYPES,
    infer=infer_square("MatrixExponential"),
    kernel=lambda input: _each(input, "MatrixExponential", scipy_linalg.expm),
    lower=_lower_exponential,
    saves=("input",),
    grad=lambda node, dy: _derivative(MATRIX_EXPONENTIAL, node.input, dy),
    vectorize=on_last_axes(),
)


@api("linalg.expm")
def expm(input, name=None) -> Tensor:
    """The exponential of square matrices: the sum of their powers over factorials.

    >>> tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return MATRIX_EXPONENTIAL(input, name=name)


def _logarithm(matrix):
    if np.linalg.matrix_rank(matrix) < len(matrix):
        return np.full(matrix.shape, np.nan, matrix.dtype)
    with warnings.catch_warnings():
        # SciPy says what it thinks of the result's precision.
        warnings.simplefilter("ignore", RuntimeWarning)
        return scipy_linalg.logm(matrix.astype(np.complex128))


MATRIX_LOGARITHM = Op(
    "MatrixLogarithm",
    "input: T -> output: T",
    T=dtypes.COMPLEX,
    infer=infer_square("MatrixLogarithm"),
    kernel=lambda input: _each(input, "MatrixLogarithm", _logarithm),
    lower=None,  # XLA has no Schur decomposition with reordering, and jax no logarithm of matrices
    saves=("input",),
    grad=lambda node, dy: _derivative(MATRIX_LOGARITHM, node.input, dy),  # TensorFlow has none
    vectorize=on_last_axes(),
)


@api("linalg.logm")
def logm(input, name=None) -> Tensor:
    """The principal logarithm of complex square matrices; NaN for singular ones.

    >>> np.round(tf.linalg.logm(tf.eye(2, dtype=tf.complex64)).numpy(), 3).tolist()
    [[0j, 0j], [0j, 0j]]
    """
    return MATRIX_LOGARITHM(input, name=name)


def _lower_square_root(ctx, input):
    x = widened(input)
    if not x.size:
        return input
    flat = x.reshape(-1, *x.shape[-2:])
    root = jnp.stack([jax_linalg.sqrtm(matrix) for matrix in flat]).reshape(x.shape)
    if not jnp.iscomplexobj(x):
        root = _real_root(jnp, root)
    return root.astype(input.dtype)


MATRIX_SQUARE_ROOT = Op(
    "MatrixSquareRoot",
    "input: T -> output: T",
    T=MATRIX_TYPES,
    infer=infer_square("MatrixSquareRoot"),
    kernel=lambda input: _each(input, "MatrixSquareRoot", scipy_linalg.sqrtm),
    lower=_lower_square_root,
    saves=("input",),
    grad=lambda node, dy: _derivative(MATRIX_SQUARE_ROOT, node.input, dy),
    vectorize=on_last_axes(),
)


@api("linalg.sqrtm", "matrix_square_root")
def sqrtm(input, name=None) -> Tensor:
    """The principal square root of square matrices; NaN for real matrices whose root is not real.

    >>> np.round(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy(), 3).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return MATRIX_SQUARE_ROOT(input, name=name)
