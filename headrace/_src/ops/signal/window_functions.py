"""Windows for short-time transforms: Hann, Hamming, Kaiser, Kaiser-Bessel derived, Vorbis."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import eager_constant, to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import FILL, RANGE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.bessel import I0E
from headrace._src.ops.math.cumulative import CUMSUM
from headrace._src.ops.math.elementwise import EXP, SQRT
from headrace._src.ops.math.trigonometry import COS, SIN


def _checked(name, window_length, dtype):
    """The length as an int if it is known, otherwise as an int32 tensor; and the dtype."""
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"signal.{name}: dtype must be floating, got {dtype.name}.")
    if not isinstance(window_length, int):
        length = to_tensor(window_length, None if hasattr(window_length, "dtype") else dtypes.int32)
        if length.shape.rank not in (None, 0):
            raise ValueError(f"signal.{name}: window_length must be a scalar, got shape {length.shape}.")
        array = getattr(length, "_a", None)
        window_length = length if array is None else int(array)
    if isinstance(window_length, int) and window_length >= 2**31:
        raise errors.invalid_argument(f"signal.{name}: window_length must be less than 2**31, got {window_length}.")
    return window_length, dtype


def _raised_cosine(name, window_length, periodic, dtype, a, b):
    length, dtype = _checked(name, window_length, dtype)
    if isinstance(length, int) and length == 1:
        return FILL([1], to_tensor(1, dtype))
    count = cast(RANGE(0, length, 1), dtype)
    # A periodic window of even length is a symmetric one of the next length without its end.
    even = 1 - length % 2
    if not isinstance(periodic, Tensor):
        periodic = bool(eager_constant(periodic, dtypes.bool)._a)
    elif periodic.dtype is not dtypes.bool:
        raise ValueError(f"signal.{name}: periodic must be a bool, got a tensor of dtype {periodic.dtype.name}.")
    n = length + (even if periodic else 0) - 1
    if isinstance(n, int):
        step = to_tensor(2 * math.pi, dtype) * count / to_tensor(n, dtype)
    else:
        step = to_tensor(2 * math.pi, dtype) * count / cast(n, dtype)
    return to_tensor(a, dtype) - to_tensor(b, dtype) * COS(step)


@api("signal.hann_window")
def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None) -> Tensor:
    """The Hann window: half of one minus a cosine.

    Args:
        window_length: the number of samples.
        periodic: for spectral analysis; otherwise symmetric, for filter design.
        dtype: a floating dtype.
        name: accepted for compatibility.

    >>> np.round(tf.signal.hann_window(4).numpy(), 3).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _raised_cosine("hann_window", window_length, periodic, dtype, 0.5, 0.5)


@api("signal.hamming_window")
def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None) -> Tensor:
    """The Hamming window: 0.54 minus 0.46 times a cosine. For the arguments see `tf.signal.hann_window`."""
    return _raised_cosine("hamming_window", window_length, periodic, dtype, 0.54, 0.46)


@api("signal.kaiser_window")
def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None) -> Tensor:
    """The Kaiser window, made of a Bessel function.

    Args:
        window_length: the number of samples.
        beta: how narrow it is.
        dtype: a floating dtype.
        name: accepted for compatibility.
    """
    length, dtype = _checked("kaiser_window", window_length, dtype)
    if isinstance(length, int) and length == 1:
        return FILL([1], to_tensor(1, dtype))
    wide = dtype if dtype.size >= 4 else dtypes.float32
    if isinstance(length, int):
        middle = to_tensor((length - 1) / 2, wide)
        limit = (length - 1) / 2 + 0.1
        positions = RANGE(*(to_tensor(x, dtypes.float32) for x in (-(length - 1) / 2, limit, 1.0)))
        positions = cast(positions, wide)
    else:
        middle = cast(length - 1, wide) / 2
        positions = cast(RANGE(0, length, 1), wide) - middle
    beta = to_tensor(beta, wide) if not hasattr(beta, "dtype") else cast(beta, wide)
    ratio = positions / middle
    inside = MAXIMUM(1 - ratio * ratio, 0)
    argument = beta * SQRT(inside)
    window = EXP(argument - beta) * I0E(argument) / I0E(beta)
    return cast(window, dtype)


@api("signal.kaiser_bessel_derived_window")
def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None) -> Tensor:
    """The Kaiser-Bessel derived window, whose squares add up to one when windows overlap by half.

    Args:
        window_length: the number of samples, even.
        beta: the parameter of the Kaiser window that it is made of.
        dtype: a floating dtype.
        name: accepted for compatibility.
    """
    length, dtype = _checked("kaiser_bessel_derived_window", window_length, dtype)
    kaiser = kaiser_window(length // 2 + 1, beta, dtype)
    total = CUMSUM(kaiser, 0)
    rising = SQRT(total[:-1] / total[-1])
    return CONCAT([rising, rising[::-1]], 0)


@api("signal.vorbis_window")
def vorbis_window(window_length, dtype=dtypes.float32, name=None) -> Tensor:
    """The window of the Vorbis codec, whose squares add up to one when windows overlap by half.

    Args:
        window_length: the number of samples.
        dtype: a floating dtype.
        name: accepted for compatibility.
    """
    length, dtype = _checked("vorbis_window", window_length, dtype)
    count = cast(RANGE(0, length, 1), dtype)
    width = to_tensor(length, dtype) if isinstance(length, int) else cast(length, dtype)
    inner = SIN(np.pi / width * (count + 0.5))
    return SIN(np.pi / 2 * inner * inner)
