"""Fourier transforms along any axes, and shifts of the zero frequency to the middle."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.filling import RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.measuring import SHAPE, known_rank
from headrace._src.ops.arrays.padding import PAD
from headrace._src.ops.arrays.rearranging import ROLL
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.arithmetic import MINIMUM
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.division import FLOOR_MOD
from headrace._src.ops.math.reductions import PROD
from headrace._src.ops.signal.fourier import COMPLEX_OF, REAL_OF, half, half_weights, known_lengths, scaled


def _plan(op, shape, fft_length, axes):
    """(lengths, axes in [0, rank)), checked."""
    rank = len(shape)
    if fft_length.ndim != 1 or fft_length.shape != axes.shape:
        raise errors.invalid_argument(
            f"{op}: fft_length and axes must be vectors of the same length, got shapes {fft_length.shape} "
            "and "
            f"{axes.shape}."
        )
    lengths, places = [int(n) for n in fft_length], [int(a) for a in axes]
    for a in places:
        if not -rank <= a < rank:
            raise errors.invalid_argument(f"{op}: axes must be in [{-rank}, {rank}), got {places}.")
    places = [a % rank for a in places]
    if len(set(places)) != len(places):
        raise errors.invalid_argument(f"{op}: axes must be different, got {places}.")
    for n in lengths:
        if n < 1:
            raise errors.invalid_argument(f"{op}: fft_length must be positive, got {lengths}.")
    return lengths, places


def _infer(op, input, fft_length, axes, last):
    rank = input.shape.rank
    if rank is None:
        return UNKNOWN
    if fft_length.value is None or axes.value is None:
        return TensorShape([None] * rank)
    lengths, places = _plan(op, input.shape, np.asarray(fft_length.value), np.asarray(axes.value))
    dims = input.shape.as_list()
    for place, n in zip(places, lengths):
        dims[place] = n
    if places:
        dims[places[-1]] = last(lengths[-1])
    return TensorShape(dims)


def _resized(x, shape):
    """`x` cut off or padded with zeros to `shape`, the transpose of padding or cutting off."""
    if isinstance(shape, tuple) and x.shape.is_fully_defined():
        dims = x.shape.as_list()
        if tuple(dims) == shape:
            return x
        kept = [min(n, m) for n, m in zip(dims, shape)]
        x = SLICE(x, [0] * len(kept), kept)
        return PAD(x, [[0, n - m] for n, m in zip(shape, kept)])
    shape = to_tensor(shape, dtypes.int32)
    kept = MINIMUM(shape, SHAPE(x, out_type=dtypes.int32))
    zeros = ZEROS_LIKE(kept)
    return PAD(SLICE(x, zeros, kept), PACK([zeros, shape - kept], axis=1))


def _points(fft_length):
    return PROD(fft_length, [0])


def _weighted(x, node, inner):
    """`x` with the weights of frequencies along the last one of the axes."""
    rank = known_rank("fftnd", "the spectrum", x)
    place = FLOOR_MOD(node.axes[-1], rank)
    last = node.fft_length[-1]
    count = last // 2 + 1
    weights = half_weights(last, count, x.dtype, inner)
    here = EQUAL(RANGE(0, rank, 1), place)
    return x * RESHAPE(weights, SELECT_V2(here, count, to_tensor(1, dtypes.int32)))


def _complex_transform(name, inverse, partner):
    def transform(xp, input, fft_length, axes):
        lengths, places = _plan(name, input.shape, fft_length, axes)
        if not places:
            return input
        return (xp.fft.ifftn if inverse else xp.fft.fftn)(input, lengths, places).astype(input.dtype)

    def grad(node, dy):
        dx = partner()(dy, node.fft_length, node.axes)
        dx = scaled(dx, _points(node.fft_length), divide=inverse)
        return _resized(dx, node.input_shape), None, None

    return Op(
        name,
        "input: Tcomplex, fft_length: int32, axes: int32 -> output: Tcomplex",
        Tcomplex=dtypes.COMPLEX,
        infer=lambda input, fft_length, axes: _infer(name, input, fft_length, axes, int),
        kernel=lambda *arrays: transform(np, *arrays),
        lower=lambda ctx, *values: transform(jnp, *values),
        static=("fft_length", "axes"),
        saves=("input_shape", "fft_length", "axes"),
        grad=grad,
    )


# The partner of a transform, which its gradient applies, may be defined after it.
FFTND = _complex_transform("FFTND", False, lambda: IFFTND)
IFFTND = _complex_transform("IFFTND", True, lambda: FFTND)


def _rfftnd(xp, input, fft_length, axes, Tcomplex):
    lengths, places = _plan("RFFTND", input.shape, fft_length, axes)
    return xp.fft.rfftn(input, lengths, places).astype(Tcomplex._np)


def _grad_rfftnd(node, dy):
    dx = IRFFTND(_weighted(dy, node, 0.5), node.fft_length, node.axes, Treal=node.input_dtype)
    return _resized(scaled(dx, _points(node.fft_length)), node.input_shape), None, None


RFFTND = Op(
    "RFFTND",
    "input: Treal, fft_length: int32, axes: int32, *, Tcomplex: type = complex64 -> output: Tcomplex",
    Treal=frozenset(COMPLEX_OF),
    infer=lambda input, fft_length, axes, Tcomplex: _infer("RFFTND", input, fft_length, axes, half),
    kernel=lambda *arrays, Tcomplex: _rfftnd(np, *arrays, Tcomplex),
    lower=lambda ctx, *values, Tcomplex: _rfftnd(jnp, *values, Tcomplex),
    static=("fft_length", "axes"),
    saves=("input_shape", "input_dtype", "fft_length", "axes"),
    grad=_grad_rfftnd,
    Tcomplex=dtypes.COMPLEX,
)


def _irfftnd(xp, input, fft_length, axes, Treal):
    lengths, places = _plan("IRFFTND", input.shape, fft_length, axes)
    return xp.fft.irfftn(input, lengths, places).astype(Treal._np)


def _grad_irfftnd(node, dy):
    dx = _weighted(RFFTND(dy, node.fft_length, node.axes, Tcomplex=node.input_dtype), node, 2.0)
    return _resized(scaled(dx, _points(node.fft_length), divide=True), node.input_shape), None, None


IRFFTND = Op(
    "IRFFTND",
    "input: Tcomplex, fft_length: int32, axes: int32, *, Treal: type = float32 -> output: Treal",
    Tcomplex=dtypes.COMPLEX,
    infer=lambda input, fft_length, axes, Treal: _infer("IRFFTND", input, fft_length, axes, int),
    kernel=lambda *arrays, Treal: _irfftnd(np, *arrays, Treal),
    lower=lambda ctx, *values, Treal: _irfftnd(jnp, *values, Treal),
    static=("fft_length", "axes"),
    saves=("input_shape", "input_dtype", "fft_length", "axes"),
    grad=_grad_irfftnd,
    Treal=frozenset(COMPLEX_OF),
)


@api("fftnd")
def fftnd_op(input, fft_length, axes, name=None) -> Tensor:
    """The Fourier transform along `axes`, with that many points along each; see `tf.signal.fftnd`."""
    return FFTND(input, fft_length, axes, name=name)


@api("ifftnd")
def ifftnd_op(input, fft_length, axes, name=None) -> Tensor:
    """The inverse Fourier transform along `axes`; see `tf.signal.ifftnd`."""
    return IFFTND(input, fft_length, axes, name=name)


@api("rfftnd")
def rfftnd_op(input, fft_length, axes, Tcomplex=dtypes.complex64, name=None) -> Tensor:
    """The Fourier transform of real tensors along `axes`; see `tf.signal.rfftnd`."""
    return RFFTND(input, fft_length, axes, Tcomplex=dtypes.as_dtype(Tcomplex), name=name)


@api("irfftnd")
def irfftnd_op(input, fft_length, axes, Treal=dtypes.float32, name=None) -> Tensor:
    """The inverse of `tf.rfftnd`; see `tf.signal.irfftnd`."""
    return IRFFTND(input, fft_length, axes, Treal=dtypes.as_dtype(Treal), name=name)


def _arguments(name, x, fft_length, axes, inverse_of_real=False):
    """Lengths and axes as lists of ints."""
    rank = x.shape.rank
    if rank is None:
        raise ValueError(f"signal.{name}: the rank of the input must be known.")
    lengths = None if fft_length is None else known_lengths(fft_length)
    places = None if axes is None else known_lengths(axes)
    if places is None:
        places = list(range(rank)) if lengths is None else list(range(rank - len(lengths), rank))
    if lengths is None:
        for a in places:
            if not -rank <= a < rank:
                raise errors.invalid_argument(
                    f"signal.{name}: axes must be in [{-rank}, {rank}), got {places}."
                )
        lengths = [x.shape[a] for a in places]
        if None in lengths:
            raise ValueError(f"signal.{name}: give fft_length, since the shape {x.shape} is not known.")
        if inverse_of_real and lengths:
            lengths[-1] = 2 * (lengths[-1] - 1)
    return lengths, places


def _normalized(name, x, lengths, norm, inverse):
    """`x` by the convention that `norm` names; the ops themselves divide in the inverse transform."""
    if norm in (None, "backward"):
        return x
    points = float(math.prod(lengths))
    if norm == "ortho":
        return scaled(x, math.sqrt(points), divide=not inverse)
    if norm == "forward":
        return scaled(x, points, divide=not inverse)
    raise ValueError(f"signal.{name}: norm must be 'backward', 'ortho' or 'forward', got {norm!r}.")


@api("signal.fftnd")
def fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None) -> Tensor:
    """The discrete Fourier transform along some axes.

    Args:
        input_tensor: a complex tensor.
        fft_length: the number of points along each of the axes; the input is cut off or padded with zeros.
        axes: the axes; by default the last ones, as many as `fft_length` has entries, or all.
        norm: where to divide by the number of points: "backward" (in the inverse, the default), "forward", or
            "ortho" (by its square root in both).
        name: accepted for compatibility.

    >>> tf.signal.fftnd(tf.ones([2, 2], tf.complex64)).numpy().real.tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    x = to_tensor(input_tensor)
    lengths, places = _arguments("fftnd", x, fft_length, axes)
    return _normalized("fftnd", FFTND(x, lengths, places, name=name), lengths, norm, False)


@api("signal.ifftnd")
def ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None) -> Tensor:
    """The inverse of `tf.signal.fftnd`, with the same arguments."""
    x = to_tensor(input_tensor)
    lengths, places = _arguments("ifftnd", x, fft_length, axes)
    return _normalized("ifftnd", IFFTND(x, lengths, places, name=name), lengths, norm, True)


@api("signal.rfftnd")
def rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None) -> Tensor:
    """The Fourier transform of real tensors along some axes.

    The last one of the axes has only the frequencies that are not negative. For the arguments see
    `tf.signal.fftnd`.
    """
    x = to_tensor(input_tensor)
    if x.dtype not in COMPLEX_OF:
        raise ValueError(f"signal.rfftnd: input must be float32 or float64, got {x.dtype.name}.")
    lengths, places = _arguments("rfftnd", x, fft_length, axes)
    result = RFFTND(x, lengths, places, Tcomplex=COMPLEX_OF[x.dtype], name=name)
    return _normalized("rfftnd", result, lengths, norm, False)


@api("signal.irfftnd")
def irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None) -> Tensor:
    """The inverse of `tf.signal.rfftnd`; `fft_length` counts the points of the result."""
    x = to_tensor(input_tensor)
    if x.dtype not in REAL_OF:
        raise ValueError(f"signal.irfftnd: input must be complex64 or complex128, got {x.dtype.name}.")
    lengths, places = _arguments("irfftnd", x, fft_length, axes, inverse_of_real=True)
    result = IRFFTND(x, lengths, places, Treal=REAL_OF[x.dtype], name=name)
    return _normalized("irfftnd", result, lengths, norm, True)


def _shifted(x, axes, back):
    x = to_tensor(x)
    rank = x.shape.rank
    if axes is None:
        if rank is None:
            raise ValueError("signal.fftshift: without axes, the rank of x must be known.")
        places = list(range(rank))
    else:
        if isinstance(axes, Tensor) and axes.dtype not in dtypes.INDEX:
            raise errors.invalid_argument(f"signal.fftshift: axes must be int32 or int64, got {axes.dtype.name}.")
        places = [axes] if isinstance(axes, (int, np.integer)) else known_lengths(axes)
    shifts = []
    for a in places:
        if rank is not None and not -rank <= a < rank:
            raise errors.invalid_argument(
                f"signal.fftshift: axes must be in [{-rank}, {rank}), got {places}."
            )
        size = x.shape[a] if rank is not None else None
        if size is None:
            size = SHAPE(x, out_type=dtypes.int32)[a]
        shifts.append(0 - size // 2 if back else size // 2)
    return ROLL(x, shifts, places)


@api("signal.fftshift")
def fftshift(x, axes=None, name=None) -> Tensor:
    """Frequencies moved so that zero is in the middle.

    Args:
        x: a tensor.
        axes: the axes, an integer or several; by default all.
        name: accepted for compatibility.

    >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy().tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shifted(x, axes, back=False)


@api("signal.ifftshift")
def ifftshift(x, axes=None, name=None) -> Tensor:
    """The inverse of `tf.signal.fftshift`.

    >>> tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy().tolist()
    [0, 1, 2, -2, -1]
    """
    return _shifted(x, axes, back=True)
