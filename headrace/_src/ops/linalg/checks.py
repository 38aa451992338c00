"""What the ops of linear algebra share: checks of shapes, small floats, batches with failures."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape

# What TensorFlow declares for most of these ops; its CPU has no float16, here float32 does the work.
MATRIX_TYPES = frozenset({dtypes.float16, dtypes.float32, dtypes.float64}) | dtypes.COMPLEX


def check_matrix(op: str, shape: tuple, square: bool = False, argument: str = "input"):
    """InvalidArgumentError unless the shape is that of (square) matrices."""
    if len(shape) < 2:
        raise errors.invalid_argument(f"{op}: {argument} must have rank 2 or more, got shape {tuple(shape)}.")
    if square and shape[-1] != shape[-2]:
        raise errors.invalid_argument(f"{op}: {argument} must be square matrices, got shape {tuple(shape)}.")


def infer_matrix(op: str, spec, square: bool = False, argument: str = "input") -> TensorShape:
    """The shape of a spec of (square) matrices, as far as it is known."""
    shape = spec.shape
    if shape.rank is None:
        return shape
    if shape.rank < 2:
        raise errors.invalid_argument(f"{op}: {argument} must have rank 2 or more, got shape {shape}.")
    if square:
        rows, columns = shape[-2], shape[-1]
        if rows is not None and columns is not None and rows != columns:
            raise errors.invalid_argument(f"{op}: {argument} must be square matrices, got shape {shape}.")
        size = rows if rows is not None else columns
        return shape[:-2].concatenate([size, size])
    return shape


def infer_square(op: str):
    """The shape rule of ops that map square matrices to matrices of the same size."""
    return lambda x, **attrs: infer_matrix(op, x, square=True)


def widened(x):
    """float16 as float32, which LAPACK knows; for NumPy arrays and jax values."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def one_by_one(function, x: np.ndarray, results: list[np.ndarray]):
    """Fill `results` with `function(matrix)` for each matrix of a batch, NaN where LAPACK gives up."""
    for index in np.ndindex(x.shape[:-2]):
        try:
            values = function(x[index])
        except np.linalg.LinAlgError:
            values = [np.nan] * len(results)
        for result, value in zip(results, values):
            result[index] = value
    return results


def not_invertible(op: str):
    return errors.invalid_argument(f"{op}: the input matrix is not invertible.")
