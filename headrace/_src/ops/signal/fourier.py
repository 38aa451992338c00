"""Fourier transforms along one, two or three last axes, of complex and of real tensors."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, scipy_fft
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN, whole
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import SHAPE, SIZE, known_value
from headrace._src.ops.arrays.padding import PAD
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.comparison import EQUAL, LOGICAL_OR
from headrace._src.ops.math.division import FLOOR_MOD
from headrace._src.ops.math.reductions import PROD

COMPLEX_OF = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
REAL_OF = {complex_: real for real, complex_ in COMPLEX_OF.items()}
_REAL = frozenset(COMPLEX_OF)


def _check_rank(op, shape, rank):
    if len(shape) < rank:
        raise errors.invalid_argument(f"{op}: input must have rank {rank} or more, got shape {tuple(shape)}.")


def last_axes(rank):
    return tuple(range(-rank, 0))


# From so many elements on SciPy is used: it transforms several rows at a time, but takes a while to import.
_MANY = 4096


def _functions(xp, x):
    """The module with the transforms, for NumPy arrays or jax values."""
    return scipy_fft if xp is np and x.size >= _MANY else xp.fft


# Complex transforms


def number_of(shape, axes):
    """The product of some dimensions: a number, or a scalar tensor for a shape that is known only later."""
    if isinstance(shape, tuple):
        return float(math.prod(shape[axis] for axis in axes))
    places = FLOOR_MOD(
        to_tensor(list(axes), dtypes.int32), SIZE(shape, out_type=dtypes.int32)
    )
    return PROD(GATHER_V2(shape, places, 0), [0])


def scaled(x, number, divide=False):
    """`x` times (or divided by) a real number, given as Python float or as a scalar tensor."""
    if isinstance(number, float):
        return x * to_tensor((1.0 / number if number else 1.0) if divide else number, x.dtype)
    number = cast(number, x.dtype)
    return x / number if divide else x * number


def _infer_same(op, rank):
    def infer(input):
        if input.shape.rank is not None:
            _check_rank(op, input.shape, rank)
        return input.shape

    return infer


def _complex_transform(name, rank, inverse, partner):
    axes = last_axes(rank)

    def transform(xp, input):
        _check_rank(name, input.shape, rank)
        if not input.size:
            return input
        functions = _functions(xp, input)
        return (functions.ifftn if inverse else functions.fftn)(input, axes=axes).astype(input.dtype)

    def grad(node, dy):
        # The adjoint of the transform is its inverse, up to the number of points.
        return (scaled(partner()(dy), number_of(node.input_shape, axes), divide=inverse),)

    return Op(
        name,
        "input: Tcomplex -> output: Tcomplex",
        Tcomplex=dtypes.COMPLEX,
        infer=_infer_same(name, rank),
        kernel=lambda input: transform(np, input),
        lower=lambda ctx, input: transform(jnp, input),
        saves=("input_shape",),
        grad=grad,
        vectorize=on_last_axes(),
    )


# The partner of a transform, which its gradient applies, may be defined after it.
FFT = _complex_transform("FFT", 1, False, lambda: IFFT)
IFFT = _complex_transform("IFFT", 1, True, lambda: FFT)
FFT2D = _complex_transform("FFT2D", 2, False, lambda: IFFT2D)
IFFT2D = _complex_transform("IFFT2D", 2, True, lambda: FFT2D)
FFT3D = _complex_transform("FFT3D", 3, False, lambda: IFFT3D)
IFFT3D = _complex_transform("IFFT3D", 3, True, lambda: FFT3D)


def _complex(input):
    """The input as a complex tensor: Python numbers become complex64."""
    return input if hasattr(input, "dtype") else to_tensor(input, dtypes.complex64)


@api("signal.fft")
def fft(input, name=None) -> Tensor:
    """The discrete Fourier transform along the last axis: `sum(x[n] * exp(-2j * pi * k * n / N))`.

    >>> tf.signal.fft([1, 1, 1, 1]).numpy().real.tolist()
    [4.0, 0.0, 0.0, 0.0]
    """
    return FFT(_complex(input), name=name)


@api("signal.ifft")
def ifft(input, name=None) -> Tensor:
    """The inverse of `tf.signal.fft`, along the last axis."""
    return IFFT(_complex(input), name=name)


@api("signal.fft2d")
def fft2d(input, name=None) -> Tensor:
    """The discrete Fourier transform along the last two axes."""
    return FFT2D(_complex(input), name=name)


@api("signal.ifft2d")
def ifft2d(input, name=None) -> Tensor:
    """The inverse of `tf.signal.fft2d`, along the last two axes."""
    return IFFT2D(_complex(input), name=name)


@api("signal.fft3d")
def fft3d(input, name=None) -> Tensor:
    """The discrete Fourier transform along the last three axes."""
    return FFT3D(_complex(input), name=name)


@api("signal.ifft3d")
def ifft3d(input, name=None) -> Tensor:
    """The inverse of `tf.signal.fft3d`, along the last three axes."""
    return IFFT3D(_complex(input), name=name)


# Transforms of real tensors: the last axis has only the frequencies that are not negative.


def _lengths(op, fft_length, rank):
    if fft_length.shape != (rank,):
        raise errors.invalid_argument(f"{op}: fft_length must have shape [{rank}], got {fft_length.shape}.")
    lengths = tuple(int(n) for n in fft_length)
    for n in lengths:
        if n < 0:
            raise errors.invalid_argument(f"{op}: fft_length must not be negative, got {lengths}.")
    return lengths


def half(length):
    """The number of frequencies of a real signal that are not negative."""
    return length // 2 + 1 if length else 0


def _cropped(op, input, wanted):
    """The first entries along the last axes; too few are an error."""
    rank = len(wanted)
    for axis, n in zip(range(-rank, 0), wanted):
        if input.shape[axis] < n:
            raise errors.invalid_argument(
                f"{op}: axis {axis} of input must have length {n} or more, got shape {input.shape}."
            )
    return input[(..., *(slice(n) for n in wanted))]


def _check_empty(op, input, lengths):
    if 0 in lengths and input.size:
        raise errors.invalid_argument(f"{op}: fft_length must be positive, got {lengths}.")


def half_weights(last, count, dtype, inner):
    """A weight per frequency: `inner` for those that stand for two, 1 for the first and a middle one."""
    k = RANGE(0, count, 1)
    single = LOGICAL_OR(EQUAL(k, 0), EQUAL(k * 2, last))
    return cast(SELECT_V2(single, to_tensor(1.0), to_tensor(inner)), dtype)


def padded_back(grad, shape, rank):
    """The gradient of a cropped input: zeros where it was cut off."""
    if isinstance(shape, tuple) and grad.shape.is_fully_defined():
        if tuple(grad.shape) == shape:
            return grad
        return PAD(grad, [[0, n - m] for n, m in zip(shape, grad.shape.as_list())])
    missing = to_tensor(shape, dtypes.int32) - SHAPE(grad, out_type=dtypes.int32)
    return PAD(grad, PACK([ZEROS_LIKE(missing), missing], axis=1))


def _last_size(x):
    size = x.shape[-1]
    return SHAPE(x, out_type=dtypes.int32)[-1] if size is None else size


def _forward_transform(name, rank, partner):
    axes = last_axes(rank)

    def transform(xp, input, fft_length, Tcomplex):
        _check_rank(name, input.shape, rank)
        lengths = _lengths(name, fft_length, rank)
        if input.dtype.itemsize * 2 != Tcomplex._np.itemsize:
            raise errors.invalid_argument(
                f"{name}: the complex dtype for {input.dtype} is not {Tcomplex.name}."
            )
        x = _cropped(name, input, lengths)
        _check_empty(name, input, lengths)
        if not x.size or 0 in lengths:
            return xp.zeros((*x.shape[:-1], half(lengths[-1])), Tcomplex._np)
        return _functions(xp, x).rfftn(x, axes=axes).astype(Tcomplex._np)

    def infer(input, fft_length, Tcomplex):
        return _infer_real(name, rank, input, fft_length, half)

    def grad(node, dy):
        # Frequencies between the first and a middle one stand for two, but came out once.
        weights = half_weights(node.fft_length[-1], _last_size(dy), dy.dtype, 0.5)
        real = node.input_dtype
        dx = partner()(dy * weights, node.fft_length, Treal=real)
        size = PROD(node.fft_length, [0])
        return padded_back(scaled(dx, size), node.input_shape, rank), None

    return Op(
        name,
        "input: Treal, fft_length: int32, *, Tcomplex: type = complex64 -> output: Tcomplex",
        Treal=_REAL,
        Tcomplex=dtypes.COMPLEX,
        infer=infer,
        kernel=lambda input, fft_length, Tcomplex: transform(np, input, fft_length, Tcomplex),
        lower=lambda ctx, input, fft_length, Tcomplex: transform(jnp, input, fft_length, Tcomplex),
        static=("fft_length",),
        saves=("input_shape", "input_dtype", "fft_length"),
        grad=grad,
        vectorize=on_last_axes(),
    )


def _inverse_transform(name, rank, partner):
    axes = last_axes(rank)

    def transform(xp, input, fft_length, Treal):
        _check_rank(name, input.shape, rank)
        lengths = _lengths(name, fft_length, rank)
        if input.dtype.itemsize != Treal._np.itemsize * 2:
            raise errors.invalid_argument(f"{name}: the real dtype for {input.dtype} is not {Treal.name}.")
        x = _cropped(name, input, (*lengths[:-1], half(lengths[-1])))
        _check_empty(name, input, lengths)
        if not x.size or 0 in lengths:
            return xp.zeros((*x.shape[:-1], lengths[-1]), Treal._np)
        return _functions(xp, x).irfftn(x, lengths, axes=axes).astype(Treal._np)

    def infer(input, fft_length, Treal):
        return _infer_real(name, rank, input, fft_length, int)

    def grad(node, dy):
        complex_ = node.input_dtype
        dx = partner()(dy, node.fft_length, Tcomplex=complex_)
        weights = half_weights(node.fft_length[-1], _last_size(dx), complex_, 2.0)
        size = PROD(node.fft_length, [0])
        return padded_back(scaled(dx * weights, size, divide=True), node.input_shape, rank), None

    return Op(
        name,
        "input: Tcomplex, fft_length: int32, *, Treal: type = float32 -> output: Treal",
        Tcomplex=dtypes.COMPLEX,
        Treal=_REAL,
        infer=infer,
        kernel=lambda input, fft_length, Treal: transform(np, input, fft_length, Treal),
        lower=lambda ctx, input, fft_length, Treal: transform(jnp, input, fft_length, Treal),
        static=("fft_length",),
        saves=("input_shape", "input_dtype", "fft_length"),
        grad=grad,
        vectorize=on_last_axes(),
    )


def _infer_real(op, rank, input, fft_length, last):
    if input.shape.rank is None:
        return UNKNOWN
    _check_rank(op, input.shape, rank)
    sizes = [None] * rank
    if fft_length.value is not None:
        sizes = list(_lengths(op, np.asarray(fft_length.value), rank))
        sizes[-1] = last(sizes[-1])
    return TensorShape(input.shape[:-rank]).concatenate(sizes)


RFFT = _forward_transform("RFFT", 1, lambda: IRFFT)
IRFFT = _inverse_transform("IRFFT", 1, lambda: RFFT)
RFFT2D = _forward_transform("RFFT2D", 2, lambda: IRFFT2D)
IRFFT2D = _inverse_transform("IRFFT2D", 2, lambda: RFFT2D)
RFFT3D = _forward_transform("RFFT3D", 3, lambda: IRFFT3D)
IRFFT3D = _inverse_transform("IRFFT3D", 3, lambda: RFFT3D)


def known_lengths(fft_length):
    """fft_length as a list of ints, or None when it is symbolic."""
    if not hasattr(fft_length, "dtype"):
        if not isinstance(fft_length, (list, tuple)):
            raise TypeError(f"fft_length must be a list of integers, got {fft_length!r}.")
        if all(isinstance(n, (int, np.integer)) for n in fft_length):
            return [int(n) for n in fft_length]
        fft_length = to_tensor(fft_length, dtypes.int32)
    array = fft_length if isinstance(fft_length, np.ndarray) else known_value(fft_length)
    return None if array is None else [whole(n, "fft_length") for n in np.ravel(array)]


def _pad_for(input, wanted, rank):
    """Zeros at the ends of the last axes, where they are shorter than wanted."""
    shape = input.shape
    if shape.is_fully_defined() and isinstance(wanted, list):
        pads = [[0, 0]] * (shape.rank - rank)
        pads += [[0, max(n - m, 0)] for n, m in zip(wanted, shape.as_list()[-rank:])]
        return PAD(input, pads) if any(after for _, after in pads) else input
    dims = SHAPE(input, out_type=dtypes.int32)
    wanted = to_tensor(wanted, dtypes.int32)
    missing = MAXIMUM(wanted - dims[-rank:], 0)
    after = CONCAT([ZEROS_LIKE(dims[:-rank]), missing], 0)
    return PAD(input, PACK([ZEROS_LIKE(after), after], axis=1))


def _checked_input(name, input_tensor, rank, table):
    input_tensor = to_tensor(input_tensor)
    if input_tensor.dtype not in table:
        allowed = " or ".join(dtype.name for dtype in table)
        raise ValueError(f"signal.{name}: input must be {allowed}, got {input_tensor.dtype.name}.")
    shape = input_tensor.shape
    if shape.rank is not None and shape.rank < rank:
        raise ValueError(f"signal.{name}: input must have rank {rank} or more, got shape {shape}.")
    return input_tensor, table[input_tensor.dtype]


def _real_transform(name, op, rank, input_tensor, fft_length, label):
    x, complex_ = _checked_input(name, input_tensor, rank, COMPLEX_OF)
    if fft_length is None:
        if x.shape.rank is not None and x.shape[-rank:].is_fully_defined():
            lengths = x.shape.as_list()[-rank:]
        else:
            lengths = SHAPE(x, out_type=dtypes.int32)[-rank:]
        return op(x, lengths, Tcomplex=complex_, name=label)
    lengths = known_lengths(fft_length)
    if lengths is None:
        return op(_pad_for(x, fft_length, rank), fft_length, Tcomplex=complex_, name=label)
    if len(lengths) == rank:
        x = _pad_for(x, lengths, rank)
    return op(x, lengths, Tcomplex=complex_, name=label)


def _inverse_real_transform(name, op, rank, input_tensor, fft_length, label):
    x, real = _checked_input(name, input_tensor, rank, REAL_OF)
    if fft_length is None:
        if x.shape.rank is not None and x.shape[-rank:].is_fully_defined():
            lengths = x.shape.as_list()[-rank:]
            lengths[-1] = max(2 * (lengths[-1] - 1), 0)
        else:
            dims = SHAPE(x, out_type=dtypes.int32)[-rank:]
            last = MAXIMUM(2 * (dims[-1:] - 1), 0)
            lengths = CONCAT([dims[:-1], last], 0)
        return op(x, lengths, Treal=real, name=label)
    lengths = known_lengths(fft_length)
    if lengths is None:
        lengths = to_tensor(fft_length)
        wanted = CONCAT([lengths[:-1], lengths[-1:] // 2 + 1], 0)
        return op(_pad_for(x, wanted, rank), lengths, Treal=real, name=label)
    if len(lengths) == rank:
        x = _pad_for(x, [*lengths[:-1], half(lengths[-1])], rank)
    return op(x, lengths, Treal=real, name=label)


@api("signal.rfft")
def rfft(input_tensor, fft_length=None, name=None) -> Tensor:
    """The Fourier transform of real signals along the last axis, without the negative frequencies.

    Args:
        input_tensor: a float32 or float64 tensor.
        fft_length: the number of points, in a list; signals are cut off or padded with zeros to it.
        name: accepted for compatibility.

    Returns:
        A complex tensor with `fft_length // 2 + 1` frequencies.

    Raises:
        ValueError: when the dtype is another one, or the rank too low.

    >>> tf.signal.rfft([1.0, 1.0, 1.0, 1.0]).numpy().real.tolist()
    [4.0, 0.0, 0.0]
    """
    return _real_transform("rfft", RFFT, 1, input_tensor, fft_length, name)


@api("signal.rfft2d")
def rfft2d(input_tensor, fft_length=None, name=None) -> Tensor:
    """As `tf.signal.rfft`, along the last two axes; `fft_length` has two entries."""
    return _real_transform("rfft2d", RFFT2D, 2, input_tensor, fft_length, name)


@api("signal.rfft3d")
def rfft3d(input_tensor, fft_length=None, name=None) -> Tensor:
    """As `tf.signal.rfft`, along the last three axes; `fft_length` has three entries."""
    return _real_transform("rfft3d", RFFT3D, 3, input_tensor, fft_length, name)


@api("signal.irfft")
def irfft(input_tensor, fft_length=None, name=None) -> Tensor:
    """The inverse of `tf.signal.rfft`, along the last axis.

    Args:
        input_tensor: a complex tensor.
        fft_length: the number of points of the result, in a list; without it an even number is assumed.
        name: accepted for compatibility.

    Returns:
        A real tensor.

    >>> np.round(tf.signal.irfft(tf.signal.rfft([1.0, 2.0, 3.0]), [3]).numpy(), 4).tolist()
    [1.0, 2.0, 3.0]
    """
    return _inverse_real_transform("irfft", IRFFT, 1, input_tensor, fft_length, name)


@api("signal.irfft2d")
def irfft2d(input_tensor, fft_length=None, name=None) -> Tensor:
    """As `tf.signal.irfft`, along the last two axes; `fft_length` has two entries."""
    return _inverse_real_transform("irfft2d", IRFFT2D, 2, input_tensor, fft_length, name)


@api("signal.irfft3d")
def irfft3d(input_tensor, fft_length=None, name=None) -> Tensor:
    """As `tf.signal.irfft`, along the last three axes; `fft_length` has three entries."""
    return _inverse_real_transform("irfft3d", IRFFT3D, 3, input_tensor, fft_length, name)
