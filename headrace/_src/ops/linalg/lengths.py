"""Lengths of vectors and matrices."""

import numpy as np

from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.linalg.singular_values import svd
from headrace._src.ops.math.complex_numbers import COMPLEX_ABS, CONJ
from headrace._src.ops.math.elementwise import ABS, SQRT
from headrace._src.ops.math.reductions import reduce_max, reduce_sum


def _checked_axis(ord, axis):
    """(axes as a tuple or None, whether it is a norm of matrices)."""
    if isinstance(axis, (list, tuple)) and len(axis) == 2:
        axis = tuple(axis)
        if not all(isinstance(a, (int, np.integer)) for a in axis) or axis[0] == axis[1]:
            raise ValueError(f"norm: axis must be None, an integer, or two different integers, got {axis}.")
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(f"norm: for matrices ord must be 'fro', 'euclidean', 1, 2 or inf, got {ord!r}.")
        return axis, True
    if not (axis is None or isinstance(axis, (int, np.integer))):
        raise ValueError(f"norm: axis must be None, an integer, or two different integers, got {axis!r}.")
    if ord != "euclidean" and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
        raise ValueError(f"norm: for vectors ord must be 'euclidean' or a positive number, got {ord!r}.")
    return (None if axis is None else (axis,)), False


def _spectral(tensor, axis):
    """The largest singular value of matrices that lie along two axes, which are kept as ones."""
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError("norm: for the 2-norm of matrices the rank must be known.")
    axis = [a % rank for a in axis]
    order = [a for a in range(rank) if a not in axis] + axis
    s = svd(TRANSPOSE(tensor, order), compute_uv=False)
    largest = EXPAND_DIMS(reduce_max(s, axis=-1, keepdims=True), -1)
    return TRANSPOSE(largest, np.argsort(order).tolist())


@api("norm", "linalg.norm", scope="norm")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None) -> Tensor:
    """The norm of vectors, matrices, or a whole tensor.

    Args:
        tensor: a floating or complex tensor.
        ord: "euclidean", or p for the p-th root of the sum of p-th powers, `np.inf` for the largest
            magnitude. For matrices: "fro" or "euclidean", 1 (largest column sum), 2 (largest singular
            value), `np.inf` (largest row sum).
        axis: None for the whole tensor, an integer for vectors along that axis, two integers for matrices.
        keepdims: keep the reduced axes with length one.
        name: accepted for compatibility.

    Raises:
        ValueError: when `ord` or `axis` is none of these.

    >>> float(tf.norm([3.0, 4.0]))
    5.0
    """
    axes, of_matrices = _checked_axis(ord, axis)
    tensor = to_tensor(tensor)
    if ord in ("fro", "euclidean", 2):
        if of_matrices and ord == 2:
            result = _spectral(tensor, axes)
        else:
            square = tensor * CONJ(tensor) if tensor.dtype.is_complex else tensor * tensor
            # TF: the norm of a complex tensor is complex.
            result = SQRT(reduce_sum(square, axes, keepdims=True))
    else:
        result = (COMPLEX_ABS if tensor.dtype.is_complex else ABS)(
            tensor, **({"Tout": tensor.dtype.real_dtype} if tensor.dtype.is_complex else {})
        )
        if ord == 1:
            result = reduce_sum(result, None if axes is None else axes[0], keepdims=True)
            if of_matrices:
                result = reduce_max(result, axes[-1], keepdims=True)
        elif ord == np.inf:
            if of_matrices:
                result = reduce_sum(result, axes[1], keepdims=True)
            result = reduce_max(result, None if axes is None else axes[0], keepdims=True)
        else:
            power = to_tensor(ord, result.dtype)
            root = to_tensor(1.0 / ord, result.dtype)
            result = reduce_sum(result**power, axes, keepdims=True) ** root
    if keepdims:
        return result
    if axes is None:
        return RESHAPE(result, [], name=name)
    return SQUEEZE(result, squeeze_dims=list(axes), name=name)


@api("linalg.normalize")
def normalize(tensor, ord="euclidean", axis=None, name=None) -> tuple[Tensor, Tensor]:
    """`tensor` divided by its norm along `axis`.

    Args:
        tensor: a floating or complex tensor.
        ord: as in `tf.norm`.
        axis: as in `tf.norm`.
        name: accepted for compatibility.

    Returns:
        (normalized, norm), the norm with the reduced axes kept as ones.

    >>> tf.linalg.normalize([3.0, 4.0])[1].numpy().tolist()
    [5.0]
    """
    tensor = to_tensor(tensor)
    length = norm(tensor, ord, axis, keepdims=True)
    if length.dtype is not tensor.dtype:
        length = CAST(length, DstT=tensor.dtype)
    return tensor / length, length
