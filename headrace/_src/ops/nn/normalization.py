"""Normalising by statistics: moments, batch normalisation, unit length."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.infer import whole
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.shaping import SQUEEZE
from headrace._src.ops.math.arithmetic import MUL, maximum, squared_difference
from headrace._src.ops.math.complex_numbers import complex as make_complex
from headrace._src.ops.math.complex_numbers import conj, imag, real
from headrace._src.ops.math.elementwise import RECIPROCAL, RSQRT, SQUARE
from headrace._src.ops.math.reductions import PROD, reduce_mean, reduce_sum

_SMALL = (dtypes.float16, dtypes.bfloat16)


def _drop(x, axes):
    """`x`, reduced with its axes kept, without them."""
    if isinstance(axes, (int, np.integer)):
        axes = [axes]
    if isinstance(axes, (list, tuple, np.ndarray)):
        return SQUEEZE(x, squeeze_dims=[int(a) for a in axes]) if len(axes) else x
    return reduce_sum(x, axes)


@api("nn.moments", scope="moments")
def moments(x, axes, shift=None, keepdims=False, name=None) -> tuple[Tensor, Tensor]:
    """The mean and the variance of `x` over `axes`.

    The variance is the mean of squared deviations, without the correction for small samples.

    Args:
        x: a tensor.
        axes: the axes to reduce.
        shift: not used.
        keepdims: whether the axes stay, with length 1.
        name: a name for the operation.

    Returns:
        The two tensors `mean` and `variance`.

    >>> mean, variance = tf.nn.moments([1.0, 2.0, 3.0, 6.0], axes=[0])
    >>> float(mean), float(variance)
    (3.0, 3.5)
    """
    x = to_tensor(x)
    # Small floats would lose too much in sums of squares.
    wide = cast(x, dtypes.float32) if x.dtype in _SMALL else x
    mean = reduce_mean(wide, axes, keepdims=True)
    # TensorFlow stops the gradient at the mean, where it is zero; but that loses the second derivative.
    variance = reduce_mean(squared_difference(wide, mean), axes, keepdims=True)
    if not keepdims:
        mean, variance = _drop(mean, axes), _drop(variance, axes)
    if wide is not x:
        mean, variance = cast(mean, x.dtype), cast(variance, x.dtype)
    return mean, variance


@api("nn.weighted_moments")
def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None) -> tuple[Tensor, Tensor]:
    """The mean and the variance of `x` over `axes`, each value counted with its weight.

    Args:
        x: a tensor.
        axes: the axes to reduce.
        frequency_weights: weights of a shape that broadcasts with `x`.
        keepdims: whether the axes stay, with length 1.
        name: a name for the operation.

    Returns:
        The two tensors `mean` and `variance`.

    >>> mean, variance = tf.nn.weighted_moments([1.0, 5.0], axes=[0], frequency_weights=[3.0, 1.0])
    >>> float(mean), float(variance)
    (2.0, 3.0)
    """
    x = to_tensor(x)
    kind = x.dtype
    weights = to_tensor(frequency_weights)
    if not (kind.is_floating or kind.is_complex):
        raise errors.invalid_argument(f"nn.weighted_moments: x must be floating or complex, got {kind.name}.")
    if kind in _SMALL:
        x = cast(x, dtypes.float32)
    if weights.dtype != x.dtype:
        weights = cast(weights, x.dtype)
    every = weights + ZEROS_LIKE(x)
    divisor = RECIPROCAL(reduce_sum(every, axes, keepdims=True))
    mean = reduce_sum(weights * x, axes, keepdims=True) * divisor
    variance = reduce_sum(weights * squared_difference(x, mean), axes, keepdims=True) * divisor
    if not keepdims:
        mean, variance = _drop(mean, axes), _drop(variance, axes)
    if kind in _SMALL:
        mean, variance = cast(mean, kind), cast(variance, kind)
    return mean, variance


@api("nn.sufficient_statistics")
def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None) -> tuple[Tensor, Tensor, Tensor, Any]:
    """What `normalize_moments` needs: the count, the sum and the sum of squares of `x` over `axes`.

    Args:
        x: a tensor.
        axes: the axes to reduce, a list.
        shift: None, or a value near the mean that is subtracted first, for precision.
        keepdims: whether the axes stay, with length 1.
        name: a name for the operation.

    Returns:
        The count, the sum, the sum of squares, and the shift.

    >>> count, total, squares, _ = tf.nn.sufficient_statistics([1.0, 2.0, 3.0], axes=[0])
    >>> float(count), float(total), float(squares)
    (3.0, 6.0, 14.0)
    """
    axes = sorted({whole(a, "axes") for a in axes})
    x = to_tensor(x)
    if x.shape.rank is not None and axes and not -x.shape.rank <= axes[0] <= axes[-1] < x.shape.rank:
        raise IndexError(
            f"nn.sufficient_statistics: axes must be in [{-x.shape.rank}, {x.shape.rank}), got {axes}."
        )
    if x.shape.rank is not None and all(x.shape[a] is not None for a in axes):
        number = int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
        count = to_tensor(np.array(number, x.dtype.as_numpy_dtype))
    else:
        sizes = GATHER_V2(SHAPE(x), axes, 0)
        count = cast(PROD(sizes, [0]), x.dtype)
    if shift is None:
        return (
            count,
            reduce_sum(x, axes, keepdims=keepdims),
            reduce_sum(SQUARE(x), axes, keepdims=keepdims),
            None,
        )
    shift = to_tensor(shift, hint=x.dtype)
    return (
        count,
        reduce_sum(x - shift, axes, keepdims=keepdims),
        reduce_sum(squared_difference(x, shift), axes, keepdims=keepdims),
        shift,
    )


@api("nn.normalize_moments")
def normalize_moments(counts, mean_ss, variance_ss, shift, name=None) -> tuple[Tensor, Tensor]:
    """The mean and the variance from sufficient statistics.

    Args:
        counts: how many values there were.
        mean_ss: their sum, less `shift` each.
        variance_ss: the sum of their squares, less `shift` each.
        shift: None, or the value that was subtracted.
        name: a name for the operation.

    Returns:
        The two tensors `mean` and `variance`.

    >>> mean, variance = tf.nn.normalize_moments(3.0, 6.0, 14.0, None)
    >>> round(float(mean), 4), round(float(variance), 4)
    (2.0, 0.6667)
    """
    mean_ss, variance_ss = to_tensor(mean_ss), to_tensor(variance_ss)
    divisor = RECIPROCAL(to_tensor(counts, hint=mean_ss.dtype))
    shifted = mean_ss * divisor
    mean = shifted if shift is None else shifted + shift
    return mean, variance_ss * divisor - SQUARE(shifted)


@api("nn.batch_normalization", scope="batchnorm")
def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None) -> Tensor:
    """Shifts and scales `x` by given statistics: `(x - mean) / sqrt(variance + epsilon) * scale + offset`.

    Args:
        x: a tensor.
        mean: the mean, of a shape that broadcasts with `x`.
        variance: the variance, likewise.
        offset: what is added at the end, or None.
        scale: what is multiplied, or None.
        variance_epsilon: a small number that keeps the divisor from zero.
        name: a name for the operation.

    >>> tf.nn.batch_normalization([1.0, 3.0], 2.0, 4.0, 10.0, 2.0, 0.0).numpy()
    array([ 9., 11.], dtype=float32)
    """
    x, variance = to_tensor(x), to_tensor(variance)
    gain = RSQRT(variance + variance_epsilon)
    if scale is not None:
        gain = gain * scale
    rest = -mean * gain if offset is None else offset - mean * gain
    return x * cast(gain, x.dtype) + cast(rest, x.dtype)


@api("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None
) -> Tensor:
    """Batch normalisation under its old name.

    Args:
        input: data of shape (batch, rows, columns, channels).
        mean: the mean of each channel.
        variance: the variance of each channel.
        beta: what is added at the end.
        gamma: what is multiplied.
        variance_epsilon: a small number that keeps the divisor from zero.
        scale_after_normalization: whether `gamma` is used.
        name: a name for the operation.
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon, name=name)


@api("math.l2_normalize", "linalg.l2_normalize", "nn.l2_normalize", result_scope="l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None) -> Tensor:
    """`x` divided by its Euclidean length along `axis`.

    Args:
        x: a tensor.
        axis: the axis or axes; None for all.
        epsilon: the least that the squared length is taken to be.
        name: a name for the operation.
        dim: the old name of `axis`.

    >>> tf.math.l2_normalize([3.0, 4.0]).numpy()
    array([0.6, 0.8], dtype=float32)
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("l2_normalize: axis and dim are the same argument, give one of them.")
        axis = dim
    x = to_tensor(x)
    if x.dtype.is_complex:
        squares = reduce_sum(real(x * conj(x)), axis, keepdims=True)
        factor = RSQRT(maximum(squares, epsilon))
        return make_complex(real(x) * factor, imag(x) * factor, name=name)
    squares = reduce_sum(SQUARE(x), axis, keepdims=True)
    return MUL(x, RSQRT(maximum(squares, epsilon)), name=name)
