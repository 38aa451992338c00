"""Spectrograms on the mel scale, and their cepstral coefficients."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.padding import PAD
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.arrays.spacing import LINSPACE
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM
from headrace._src.ops.math.elementwise import LOG, RSQRT
from headrace._src.ops.signal.cosine_transforms import dct

# The scale of HTK.
_BREAK_HERTZ = 700.0
_HIGH_Q = 1127.0


def _to_mel(hertz):
    """Frequencies in mel."""
    return _HIGH_Q * LOG(1 + hertz / _BREAK_HERTZ)


def _check(num_mel_bins, sample_rate, lower, upper, dtype):
    if num_mel_bins <= 0:
        raise ValueError(f"linear_to_mel_weight_matrix: num_mel_bins must be positive, got {num_mel_bins}.")
    if lower < 0.0:
        raise ValueError(f"linear_to_mel_weight_matrix: lower_edge_hertz must not be negative, got {lower}.")
    if lower >= upper:
        raise ValueError(
            f"linear_to_mel_weight_matrix: lower_edge_hertz {lower} must be below upper_edge_hertz {upper}."
        )
    if isinstance(sample_rate, EagerTensor):
        sample_rate = sample_rate.numpy()
    if not isinstance(sample_rate, Tensor):
        if sample_rate <= 0.0:
            raise ValueError(f"linear_to_mel_weight_matrix: sample_rate must be positive, got {sample_rate}.")
        if upper > sample_rate / 2:
            raise ValueError(
                "linear_to_mel_weight_matrix: upper_edge_hertz must not be above half of sample_rate, got "
                f"{upper} "
                f"for {sample_rate}."
            )
    if not dtype.is_floating:
        raise ValueError(f"linear_to_mel_weight_matrix: dtype must be floating, got {dtype.name}.")


def _spaced(start, stop, count):
    return LINSPACE(start, stop, to_tensor(count, dtypes.int32))


@api("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins=20,
    num_spectrogram_bins=129,
    sample_rate=8000,
    lower_edge_hertz=125.0,
    upper_edge_hertz=3800.0,
    dtype=dtypes.float32,
    name=None,
) -> Tensor:
    """A matrix that turns spectrograms with linear frequencies into such on the mel scale.

    Args:
        num_mel_bins: the number of bands.
        num_spectrogram_bins: the number of frequencies, from zero to half of the sample rate.
        sample_rate: samples per second; a number or a scalar tensor.
        lower_edge_hertz: where the lowest band begins.
        upper_edge_hertz: where the highest band ends.
        dtype: a floating dtype.
        name: accepted for compatibility.

    Returns:
        A tensor of shape [num_spectrogram_bins, num_mel_bins].

    Raises:
        ValueError: when the frequencies are not in order.

    >>> tf.signal.linear_to_mel_weight_matrix(20, 129).shape
    TensorShape([129, 20])
    """
    dtype = dtypes.as_dtype(dtype)
    _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
    rate = (
        cast(sample_rate, dtype) if isinstance(sample_rate, Tensor) else to_tensor(float(sample_rate), dtype)
    )
    zero = to_tensor(0.0, dtype)
    # The lowest frequency belongs to no band.
    if num_spectrogram_bins < 0:
        raise errors.invalid_argument(f"num_spectrogram_bins must not be negative, got {num_spectrogram_bins}.")
    linear = _spaced(zero, rate / 2, max(num_spectrogram_bins, 1))[1:]
    bins = EXPAND_DIMS(_to_mel(linear), 1)
    low, high = (_to_mel(to_tensor(edge, dtype)) for edge in (lower_edge_hertz, upper_edge_hertz))
    edges = _spaced(low, high, num_mel_bins + 2)
    lower, center, upper = (
        RESHAPE(edges[i : i + num_mel_bins], [1, num_mel_bins]) for i in range(3)
    )
    rising = (bins - lower) / (center - lower)
    falling = (upper - bins) / (upper - center)
    triangles = MAXIMUM(zero, MINIMUM(rising, falling))
    return PAD(triangles, [[1, 0], [0, 0]], name=name)


@api("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None) -> Tensor:
    """Mel-frequency cepstral coefficients: the cosine transform of logarithmic mel spectrograms.

    Args:
        log_mel_spectrograms: a float32 or float64 tensor with mel bands along the last axis.
        name: accepted for compatibility.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: when there is no band.
    """
    x = to_tensor(log_mel_spectrograms)
    count = x.shape[-1] if x.shape.rank else None
    if count is None:
        count = SHAPE(x, out_type=dtypes.int32)[-1]
    elif count == 0:
        raise ValueError(f"mfccs_from_log_mel_spectrograms: there are no mel bins, the shape is {x.shape}.")
    weight = (
        to_tensor(float(1 / np.sqrt(2.0 * count)), x.dtype)
        if isinstance(count, int)
        else RSQRT(cast(count, x.dtype) * 2)
    )
    return dct(x, type=2) * weight
