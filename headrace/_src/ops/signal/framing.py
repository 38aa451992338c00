"""Signals in overlapping frames, and short-time Fourier transforms of them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO, SUM
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import SHAPE, known_value
from headrace._src.ops.arrays.padding import PAD, PAD_CONSTANT, pad_axis
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.division import DIV_NO_NAN
from headrace._src.ops.math.elementwise import CEIL, LOG
from headrace._src.ops.math.powers import POW
from headrace._src.ops.math.reductions import PROD
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.signal.fourier import irfft, rfft
from headrace._src.ops.signal.window_functions import hann_window


def scalar(name, argument, value):
    """A size as an int, or as an int32 tensor when it is symbolic."""
    if isinstance(value, (int, np.integer)):
        return int(value)
    tensor = to_tensor(value, None if isinstance(value, Tensor) else dtypes.int32)
    if tensor.shape.rank not in (None, 0):
        raise ValueError(f"signal.{name}: {argument} must be a scalar, got shape {tensor.shape}.")
    value = known_value(tensor)
    return tensor if value is None else int(value)


def _size(x, axis):
    size = x.shape[axis]
    return SHAPE(x, out_type=dtypes.int32)[axis] if size is None else size


def _maximum(x, y):
    if isinstance(x, int) and isinstance(y, int):
        return max(x, y)
    return MAXIMUM(x, y)


def _require_positive(name, step):
    require(step > 0, f"{name}: frame_step must be positive", step)


@api("signal.frame")
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None) -> Tensor:
    """A signal as overlapping frames.

    Args:
        signal: a tensor.
        frame_length: the number of samples in a frame.
        frame_step: from the beginning of one frame to that of the next.
        pad_end: also make the frames that begin in the signal and end after it.
        pad_value: fills those.
        axis: the axis that the frames are cut from.
        name: accepted for compatibility.

    Returns:
        A tensor with two axes, frames and samples, instead of `axis`.

    Raises:
        ValueError: when sizes are no scalars, or the signal is one.

    >>> tf.signal.frame([1, 2, 3, 4, 5], frame_length=3, frame_step=2).numpy().tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    signal = to_tensor(signal)
    length = scalar("frame", "frame_length", frame_length)
    step = scalar("frame", "frame_step", frame_step)
    axis = scalar("frame", "axis", axis)
    rank = signal.shape.rank
    if rank is None:
        raise ValueError("signal.frame: the rank of the signal must be known.")
    if rank < 1:
        raise ValueError(f"signal.frame: signal must have rank 1 or more, got shape {signal.shape}.")
    if not -rank <= axis < rank:
        raise IndexError(f"signal.frame: axis must be in [{-rank}, {rank}), got {axis}.")
    axis %= rank
    size = _size(signal, axis)
    _require_positive("signal.frame", step)
    if isinstance(length, int) and length < 0:
        raise errors.invalid_argument(f"signal.frame: frame_length must not be negative, got {length}.")
    if pad_end:
        count = _maximum(0, 0 - (0 - size) // step)
        missing = _maximum(0, length + step * (count - 1) - size)
        pads = [[0, 0] if i != axis else [0, missing] for i in range(rank)]
        signal = PAD_CONSTANT(signal, pads, to_tensor(pad_value, signal.dtype))
    else:
        count = _maximum(0, 1 + (size - length) // step)
    starts = EXPAND_DIMS(RANGE(0, count, 1) * step, 1)
    places = starts + EXPAND_DIMS(RANGE(0, length, 1), 0)
    # TF: the gradient is dense, as that of a Reshape, whatever the axis.
    signal = RESHAPE(signal, [_size(signal, i) for i in range(rank)])
    return GATHER_V2(signal, places, axis, name=name)


@api("signal.overlap_and_add")
def overlap_and_add(signal, frame_step, name=None) -> Tensor:
    """The signal that adds up from overlapping frames.

    Args:
        signal: frames along the last axis but one, samples along the last.
        frame_step: from the beginning of one frame to that of the next.
        name: accepted for compatibility.

    Returns:
        A tensor with one axis instead of those two, of length `(frames - 1) * frame_step + frame_length`.

    Raises:
        ValueError: when the rank is below 2, or the step no integer.

    >>> tf.signal.overlap_and_add([[1, 1, 1], [1, 1, 1]], 2).numpy().tolist()
    [1, 1, 2, 1, 1]
    """
    signal = to_tensor(signal)
    if signal.shape.rank is not None and signal.shape.rank < 2:
        raise ValueError(
            f"signal.overlap_and_add: signal must have rank 2 or more, got shape {signal.shape}."
        )
    step = to_tensor(frame_step)
    if not step.dtype.is_integer:
        raise ValueError(f"signal.overlap_and_add: frame_step must be an integer, got {step.dtype.name}.")
    step = scalar("overlap_and_add", "frame_step", step)
    frames, length = _size(signal, -2), _size(signal, -1)
    _require_positive("signal.overlap_and_add", step)
    total = (frames - 1) * step + length
    # Samples that meet carry the same number: they are summed as segments.
    starts = EXPAND_DIMS(RANGE(0, frames, 1) * step, 1)
    places = RESHAPE(starts + EXPAND_DIMS(RANGE(0, length, 1), 0), [-1])
    dims = SHAPE(signal, out_type=dtypes.int32)
    batch = PROD(dims[:-2], [0])
    flat = RESHAPE(signal, PACK([batch, frames * length], axis=0))
    sums = UNSORTED_SEGMENT_SUM(TRANSPOSE(flat, [1, 0]), places, _maximum(total, 0))
    shape = CONCAT([dims[:-2], RESHAPE(to_tensor(total, dtypes.int32), [1])], 0)
    return RESHAPE(TRANSPOSE(sums, [1, 0]), shape, name=name)


def _enclosing_power_of_two(value):
    """The smallest power of two that is not below `value`."""
    if isinstance(value, int):
        return 1 << max(value - 1, 0).bit_length() if value > 0 else 1
    exponent = CEIL(
        LOG(cast(value, dtypes.float32)) / to_tensor(float(np.log(2.0)), dtypes.float32)
    )
    return cast(POW(to_tensor(2.0), exponent), dtypes.int32)


def _as_lengths(fft_length):
    """A number of points as the list that transforms take."""
    return [fft_length] if isinstance(fft_length, int) else RESHAPE(fft_length, [1])


@api("signal.stft")
def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None) -> Tensor:
    """The short-time Fourier transform of real signals along the last axis.

    Args:
        signals: a float32 or float64 tensor.
        frame_length: the number of samples in a frame.
        frame_step: from the beginning of one frame to that of the next.
        fft_length: the number of points of the transform; by default the next power of two.
        window_fn: `(length, dtype=...)` to the window that frames are multiplied with, or None.
        pad_end: also make the frames that end after the signal, with zeros.
        name: accepted for compatibility.

    Returns:
        A complex tensor, frames along the last axis but one, frequencies along the last.

    >>> tf.signal.stft(tf.ones([12]), 4, 4).shape
    TensorShape([3, 3])
    """
    signals = to_tensor(signals)
    if signals.shape.rank is not None and signals.shape.rank < 1:
        raise ValueError(f"signal.stft: signals must have rank 1 or more, got shape {signals.shape}.")
    length = scalar("stft", "frame_length", frame_length)
    step = scalar("stft", "frame_step", frame_step)
    points = (
        _enclosing_power_of_two(length) if fft_length is None else scalar("stft", "fft_length", fft_length)
    )
    frames = frame(signals, length, step, pad_end=pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return rfft(frames, _as_lengths(points), name=name)


@api("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None) -> Callable[..., Any]:
    """The window for `tf.signal.inverse_stft` that undoes the one of `tf.signal.stft`.

    Args:
        frame_step: from the beginning of one frame to that of the next.
        forward_window_fn: the window function of the forward transform.
        name: accepted for compatibility.

    Returns:
        A function `(frame_length, dtype)` to a window.
    """
    step = scalar("inverse_stft_window_fn", "frame_step", frame_step)
    if isinstance(step, int) and step < 1:
        raise errors.invalid_argument(f"signal.inverse_stft_window_fn: frame_step must be positive, got {step}.")

    def inverse_stft_window_fn_inner(frame_length, dtype):
        length = scalar("inverse_stft_window_fn", "frame_length", frame_length)
        window = forward_window_fn(length, dtype=dtype)
        # What overlaps at a sample is the window at all distances that are multiples of the step.
        overlaps = 0 - (0 - length) // step
        squares = PAD(window * window, [[0, overlaps * step - length]])
        sums = SUM(RESHAPE(squares, [overlaps, step]), [0], keep_dims=True)
        denominator = RESHAPE(BROADCAST_TO(sums, [overlaps, step]), [-1])
        # TF: where no window reaches, the result is zero.
        return DIV_NO_NAN(window, denominator[:length])

    return inverse_stft_window_fn_inner


@api("signal.inverse_stft")
def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None) -> Tensor:
    """Signals from their short-time Fourier transform.

    Args:
        stfts: a complex tensor, as `tf.signal.stft` returns it.
        frame_length: the number of samples in a frame.
        frame_step: from the beginning of one frame to that of the next.
        fft_length: the number of points of the transform; by default the next power of two.
        window_fn: `(length, dtype=...)` to the window that frames are multiplied with, or None; to get the
            signal back it must be that of `tf.signal.inverse_stft_window_fn`.
        name: accepted for compatibility.

    Returns:
        A real tensor.
    """
    stfts = to_tensor(stfts)
    if stfts.shape.rank is not None and stfts.shape.rank < 2:
        raise ValueError(f"signal.inverse_stft: stfts must have rank 2 or more, got shape {stfts.shape}.")
    length = scalar("inverse_stft", "frame_length", frame_length)
    step = scalar("inverse_stft", "frame_step", frame_step)
    points = (
        _enclosing_power_of_two(length)
        if fft_length is None
        else scalar("inverse_stft", "fft_length", fft_length)
    )
    frames = irfft(stfts, _as_lengths(points))
    frames = _fitted(frames, length, points)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=stfts.dtype.real_dtype)
    return overlap_and_add(frames, step, name=name)


def _fitted(frames, length, points):
    """Frames cut off or padded with zeros to `length` samples."""
    if isinstance(length, int) and isinstance(points, int):
        if points >= length:
            return frames[..., :length]
        return pad_axis(frames, -1, 0, length - points)
    return pad_axis(frames[..., :length], -1, 0, _maximum(length - points, 0))
