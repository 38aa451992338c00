"""Discrete cosine transforms of types I to IV, and the modified one of overlapping frames."""

import math

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.padding import pad_axis
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.arrays.splitting import SPLIT
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.complex_numbers import COMPLEX, REAL
from headrace._src.ops.math.elementwise import RSQRT
from headrace._src.ops.math.trigonometry import COS, SIN
from headrace._src.ops.signal.fourier import COMPLEX_OF, fft, irfft, rfft
from headrace._src.ops.signal.framing import frame, overlap_and_add, scalar
from headrace._src.ops.signal.window_functions import vorbis_window


def _checked(x, dct_type, n, axis, norm):
    if axis != -1:
        raise NotImplementedError(f"signal.dct: axis must be -1, got {axis}.")
    if n is not None and n < 1:
        raise ValueError(f"signal.dct: n must be a positive integer or None, got {n}.")
    if dct_type not in (1, 2, 3, 4):
        raise ValueError(f"signal.dct: type must be 1, 2, 3 or 4, got {dct_type}.")
    if dct_type == 1:
        if norm == "ortho":
            raise ValueError("signal.dct: type 1 has no norm.")
        if x.shape.rank is not None and x.shape[-1] is not None and x.shape[-1] < 2:  # TF: also where n makes it longer
            raise ValueError(f"signal.dct: type 1 needs two or more samples, got shape {x.shape}.")
    if norm not in (None, "ortho"):
        raise ValueError(f"signal.dct: norm must be None or 'ortho', got {norm!r}.")


def _resized(x, n):
    """The last axis cut off or padded with zeros to n samples."""
    if n is None:
        return x
    x = x[..., :n]
    size = x.shape[-1]
    if size is None:
        size = SHAPE(x, out_type=dtypes.int32)[-1]
    elif size == n:
        return x
    return pad_axis(x, -1, 0, n - size)


def _size(x):
    size = x.shape[-1]
    return SHAPE(x, out_type=dtypes.int32)[-1] if size is None else size


def _number(value, dtype):
    return to_tensor(float(value), dtype) if isinstance(value, (int, float)) else cast(value, dtype)


def _turned(size, dtype, sign, offset=0.0):
    """exp(sign * i * pi * (k + offset) / (2 * size)) for each k, as complex numbers."""
    angle = cast(RANGE(0, size, 1), dtype) + to_tensor(offset, dtype)
    angle = angle * to_tensor(sign * math.pi * 0.5, dtype) / _number(size, dtype)
    return COMPLEX(COS(angle), SIN(angle), Tout=COMPLEX_OF[dtype])


def _real(x):
    return REAL(x, Tout=x.dtype.real_dtype)


def _weights(size, dtype, first, others):
    """`first` for the first sample and `others` for the rest, each divided by the root of the size."""
    at_first = EQUAL(RANGE(0, size, 1), 0)
    weights = SELECT_V2(at_first, to_tensor(first, dtype), to_tensor(others, dtype))
    return weights * RSQRT(_number(size, dtype))


def _as_complex(x):
    return COMPLEX(x, ZEROS_LIKE(x), Tout=COMPLEX_OF[x.dtype])


def _lengths(size):
    return [size] if isinstance(size, int) else RESHAPE(size, [1])


def _dct1(x, size, norm):
    """x[0] + (-1)^k x[N-1] + 2 sum of x[n] cos(pi k n / (N - 1)): the transform of the signal mirrored."""
    return _real(rfft(CONCAT([x, x[..., -2:0:-1]], -1)))


def _dct2(x, size, norm):
    """2 sum of x[n] cos(pi k (2n + 1) / 2N)."""
    spectrum = rfft(x, _lengths(2 * size))[..., :size]
    result = 2 * _real(spectrum * _turned(size, x.dtype, -1.0))
    return result * _weights(size, x.dtype, 0.5, math.sqrt(0.5)) if norm else result


def _dct3(x, size, norm):
    """x[0] + 2 sum over n > 0 of x[n] cos(pi n (2k + 1) / 2N)."""
    if norm:
        x = x * _weights(size, x.dtype, 1.0, math.sqrt(0.5))
    values = _as_complex(x * _number(2 * size, x.dtype)) * _turned(size, x.dtype, 1.0)
    return irfft(values, _lengths(2 * size))[..., :size]


def _dct4(x, size, norm):
    """2 sum of x[n] cos(pi (2n + 1) (2k + 1) / 4N)."""
    values = _as_complex(x) * _turned(size, x.dtype, -1.0)
    doubled = pad_axis(values, -1, 0, size)
    result = 2 * _real(fft(doubled)[..., :size] * _turned(size, x.dtype, -1.0, 0.5))
    return result * _weights(size, x.dtype, math.sqrt(0.5), math.sqrt(0.5)) if norm else result


_TRANSFORMS = {1: _dct1, 2: _dct2, 3: _dct3, 4: _dct4}


@api("signal.dct")
def dct(input, type=2, n=None, axis=-1, norm=None, name=None) -> Tensor:
    """The discrete cosine transform along the last axis.

    Args:
        input: a float32 or float64 tensor.
        type: 1, 2, 3 or 4.
        n: the number of samples; the input is cut off or padded with zeros to it.
        axis: -1.
        norm: "ortho" to make the transform orthonormal (not for type 1).
        name: accepted for compatibility.

    Raises:
        ValueError: when an argument is none of these.
        NotImplementedError: for another axis.

    >>> np.round(tf.signal.dct([1.0, 1.0], norm="ortho").numpy(), 3).tolist()
    [1.414, 0.0]
    """
    x = to_tensor(input)
    _checked(x, type, n, axis, norm)
    if x.dtype not in COMPLEX_OF:
        raise TypeError(f"signal.dct: input must be float32 or float64, got {x.dtype.name}.")
    x = _resized(x, n)
    size = _size(x)
    if isinstance(size, int) and size == 0:
        return x
    return _TRANSFORMS[type](x, size, norm)


@api("signal.idct")
def idct(input, type=2, n=None, axis=-1, norm=None, name=None) -> Tensor:
    """The inverse of `tf.signal.dct` of the same type, up to a factor unless the norm is "ortho".

    The inverse of type 2 is type 3 and the other way round; types 1 and 4 are their own inverses.

    Args:
        input: a float32 or float64 tensor.
        type: 1, 2, 3 or 4.
        n: the number of samples.
        axis: -1.
        norm: "ortho" or None.
        name: accepted for compatibility.
    """
    x = to_tensor(input)
    _checked(x, type, n, axis, norm)
    return dct(x, type={1: 1, 2: 3, 3: 2, 4: 4}[type], n=n, axis=axis, norm=norm, name=name)


def _window(window_fn, length, dtype):
    """The window; without a function a constant, whose squares add up to one when frames overlap by half."""
    return to_tensor(math.sqrt(0.5), dtype) if window_fn is None else window_fn(length, dtype=dtype)


@api("signal.mdct")
def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None) -> Tensor:
    """The modified discrete cosine transform: of frames that overlap by half.

    Args:
        signals: a float32 or float64 tensor.
        frame_length: the number of samples in a frame, a multiple of 4.
        window_fn: `(length, dtype=...)` to the window that frames are multiplied with, or None.
        pad_end: also make the frames that end after the signal, with zeros.
        norm: "ortho" or None.
        name: accepted for compatibility.

    Returns:
        A tensor with frames along the last axis but one, and half as many coefficients as samples.

    Raises:
        ValueError: when the frame length is no multiple of 4.
    """
    signals = to_tensor(signals)
    if signals.shape.rank is not None and signals.shape.rank < 1:
        raise ValueError(f"signal.mdct: signals must have rank 1 or more, got shape {signals.shape}.")
    length = scalar("mdct", "frame_length", frame_length)
    if isinstance(length, int) and length % 4:
        raise ValueError(f"signal.mdct: frame_length must be a multiple of 4, got {length}.")
    frames = frame(signals, length, length // 2, pad_end=pad_end)
    frames = frames * _window(window_fn, length, frames.dtype)
    a, b, c, d = SPLIT(-1, frames, num_split=4)
    folded = CONCAT([-c[..., ::-1] - d, a - b[..., ::-1]], -1)
    return dct(folded, type=4, norm=norm, name=name)


@api("signal.inverse_mdct")
def inverse_mdct(mdcts, window_fn=vorbis_window, norm=None, name=None) -> Tensor:
    """Signals from their modified discrete cosine transform.

    Args:
        mdcts: a tensor as `tf.signal.mdct` returns it.
        window_fn: the window function of the forward transform, or None.
        norm: the norm of the forward transform.
        name: accepted for compatibility.
    """
    mdcts = to_tensor(mdcts)
    if mdcts.shape.rank is not None and mdcts.shape.rank < 2:
        raise ValueError(f"signal.inverse_mdct: mdcts must have rank 2 or more, got shape {mdcts.shape}.")
    count = _size(mdcts)
    folded = idct(mdcts, type=4, norm=norm)
    first, second = SPLIT(-1, folded, num_split=2)
    frames = CONCAT([second, -second[..., ::-1], -first[..., ::-1], -first], -1)
    if norm is None:
        frames = frames * (0.5 / _number(count, mdcts.dtype))
    frames = frames * _window(window_fn, 2 * count, mdcts.dtype)
    return overlap_and_add(frames, count, name=name)
