"""`tf.experimental.numpy`: joining, splitting and rearranging arrays, and picking elements."""

import numbers
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.infer import normalize_axis
from headrace._src.ops.arrays import (
    broadcasting,
    constants,
    filling,
    gathering,
    joining,
    measuring,
    padding,
    rearranging,
    selecting,
    shaping,
    splitting,
)
from headrace._src.ops.arrays.measuring import known_rank
from headrace._src.ops.linalg import diagonals
from headrace._src.ops.math import arithmetic, clipping, division
from headrace._src.ops.numpy_api.types import as_array, cast, promote


@api("experimental.numpy.reshape", dispatch=False)
def reshape(a, newshape, order="C") -> Tensor:
    """The same elements in another shape, read row by row ("C") or column by column ("F")."""
    if order not in ("C", "F"):
        raise ValueError(f"experimental.numpy.reshape: order must be 'C' or 'F', got {order!r}.")
    x = as_array(a)
    target = [newshape] if isinstance(newshape, numbers.Integral) else newshape
    if order == "C":
        return shaping.reshape(x, target)
    target = shaping.reshape(as_array(target), [-1])
    return rearranging.transpose(shaping.reshape(rearranging.transpose(x), target[::-1]))


@api("experimental.numpy.ravel", dispatch=False)
def ravel(a) -> Tensor:
    """All elements in one row."""
    return shaping.reshape(as_array(a), [-1])


@api("experimental.numpy.flatten", dispatch=False)
def flatten(a, order="C") -> Tensor:
    """All elements in one row."""
    return reshape(a, -1, order)


@api("experimental.numpy.expand_dims", dispatch=False)
def expand_dims(a, axis) -> Tensor:
    """A new axis of length 1."""
    return shaping.expand_dims(as_array(a), axis)


@api("experimental.numpy.squeeze", dispatch=False)
def squeeze(a, axis=None) -> Tensor:
    """Without the axes of length 1, or without those named."""
    return shaping.squeeze(as_array(a), axis)


@api("experimental.numpy.transpose", dispatch=False)
def transpose(a, axes=None) -> Tensor:
    """With the axes in another order, reversed by default."""
    return rearranging.transpose(as_array(a), axes)


@api("experimental.numpy.swapaxes", dispatch=False)
def swapaxes(a, axis1, axis2) -> Tensor:
    """With two axes exchanged."""
    x = as_array(a)
    order = list(range(x.shape.rank))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return rearranging.transpose(x, order)


@api("experimental.numpy.moveaxis", dispatch=False)
def moveaxis(a, source, destination) -> Tensor:
    """With axes moved to other places."""
    x = as_array(a)
    rank = x.shape.rank
    sources = [s % rank for s in np.ravel(source).tolist()]
    places = [d % rank for d in np.ravel(destination).tolist()]
    if len(sources) != len(places):
        raise ValueError("experimental.numpy.moveaxis: source and destination must have the same length.")
    order = [axis for axis in range(rank) if axis not in sources]
    for place, axis in sorted(zip(places, sources)):
        order.insert(place, axis)
    return rearranging.transpose(x, order)


@api("experimental.numpy.broadcast_to", dispatch=False)
def broadcast_to(array, shape) -> Tensor:
    """Repeated to a larger shape."""
    return broadcasting.broadcast_to(as_array(array), [shape] if isinstance(shape, numbers.Integral) else shape)


@api("experimental.numpy.broadcast_arrays", dispatch=False)
def broadcast_arrays(*args, **kwargs) -> list[Tensor]:
    """All arguments repeated to their common shape."""
    if kwargs.pop("subok", False) or kwargs:
        raise ValueError("experimental.numpy.broadcast_arrays: keyword arguments are not supported.")
    arrays = [as_array(arg) for arg in args]
    shape = np.broadcast_shapes(*[tuple(x.shape) for x in arrays])
    return [broadcasting.broadcast_to(x, list(shape)) for x in arrays]


def _at_least(rank, place):
    def function(*arys):
        results = []
        for value in arys:
            x = as_array(value)
            missing = rank - x.shape.rank
            results.append(place(x, missing) if missing > 0 else x)
        return results[0] if len(results) == 1 else results

    return function


def _front(x, missing):
    return shaping.reshape(x, [1] * missing + x.shape.as_list())


def _around(x, missing):
    shape = x.shape.as_list()
    return shaping.reshape(x, [[1, 1, 1], [1, *shape, 1], [*shape, 1]][len(shape)])


@api("experimental.numpy.atleast_1d", dispatch=False)
def atleast_1d(*arys) -> Tensor:
    """Scalars as vectors of one element."""
    return _at_least(1, _front)(*arys)


@api("experimental.numpy.atleast_2d", dispatch=False)
def atleast_2d(*arys) -> Tensor:
    """Vectors as matrices of one row."""
    return _at_least(2, _front)(*arys)


@api("experimental.numpy.atleast_3d", dispatch=False)
def atleast_3d(*arys) -> Tensor:
    """With axes added before and after."""
    return _at_least(3, _around)(*arys)


@api("experimental.numpy.concatenate", dispatch=False)
def concatenate(arys, axis=0) -> Tensor:
    """Joined along an axis; `axis=None` joins all elements."""
    if not isinstance(arys, (list, tuple)):
        arys = [arys]
    if not arys:
        raise ValueError("experimental.numpy.concatenate: need at least one array.")
    arrays = promote(*arys)
    if axis is None:
        arrays, axis = [shaping.reshape(x, [-1]) for x in arrays], 0
    return joining.concat(arrays, axis)


@api("experimental.numpy.append", dispatch=False)
def append(arr, values, axis=None) -> Tensor:
    """Joined; without an axis, all elements in one row."""
    return concatenate([arr, values], axis)


@api("experimental.numpy.stack", dispatch=False)
def stack(arrays, axis=0) -> Tensor:
    """Joined along a new axis."""
    if not isinstance(arrays, (list, tuple)):
        x = as_array(arrays)
        return x if not axis else moveaxis(x, 0, axis)
    return joining.stack(promote(*arrays), axis)


@api("experimental.numpy.hstack", dispatch=False)
def hstack(tup) -> Tensor:
    """Joined along the second axis; vectors along the first."""
    arrays = [atleast_1d(x) for x in tup]
    return concatenate(arrays, 0 if arrays[0].shape.rank == 1 else 1)


@api("experimental.numpy.vstack", dispatch=False)
def vstack(tup) -> Tensor:
    """Joined along the first axis, vectors as rows."""
    return concatenate([atleast_2d(x) for x in tup], 0)


@api("experimental.numpy.dstack", dispatch=False)
def dstack(tup) -> Tensor:
    """Joined along the third axis."""
    return concatenate([atleast_3d(x) for x in tup], 2)


@api("experimental.numpy.split", dispatch=False)
def split(ary, indices_or_sections, axis=0) -> list[Tensor]:
    """Cut into equal parts, or at the given positions."""
    x = as_array(ary)
    if isinstance(indices_or_sections, numbers.Integral):
        return splitting.split(x, int(indices_or_sections), axis)
    length = x.shape[axis]
    cuts = np.clip([0, *np.asarray(indices_or_sections).tolist(), length], 0, length)
    return splitting.split(x, np.maximum(np.diff(cuts), 0).tolist(), axis)


@api("experimental.numpy.hsplit", dispatch=False)
def hsplit(ary, indices_or_sections) -> list[Tensor]:
    """Cut along the second axis; vectors along the first."""
    x = as_array(ary)
    return split(x, indices_or_sections, 0 if x.shape.rank == 1 else 1)


@api("experimental.numpy.vsplit", dispatch=False)
def vsplit(ary, indices_or_sections) -> list[Tensor]:
    """Cut along the first axis."""
    return split(ary, indices_or_sections, 0)


@api("experimental.numpy.dsplit", dispatch=False)
def dsplit(ary, indices_or_sections) -> list[Tensor]:
    """Cut along the third axis."""
    return split(ary, indices_or_sections, 2)


@api("experimental.numpy.tile", dispatch=False)
def tile(a, reps) -> Tensor:
    """Repeated as a whole."""
    x = as_array(a)
    counts = shaping.reshape(as_array(reps), [-1])
    length = counts.shape[0]
    if length is None:
        raise ValueError("experimental.numpy.tile: the number of reps must be known.")
    rank = max(length, x.shape.rank)
    counts = joining.concat([constants.ones([rank - length], counts.dtype), counts], 0)
    return splitting.tile(_front(x, rank - x.shape.rank), counts)


@api("experimental.numpy.repeat", dispatch=False)
def repeat(a, repeats, axis=None) -> Tensor:
    """Each element repeated."""
    return splitting.repeat(as_array(a), repeats, axis)


@api("experimental.numpy.flip", dispatch=False)
def flip(m, axis=None) -> Tensor:
    """Backwards along axes, all by default."""
    x = as_array(m)
    axes = list(range(x.shape.rank)) if axis is None else np.ravel(axis).tolist()
    return rearranging.reverse(x, axes)


@api("experimental.numpy.fliplr", dispatch=False)
def fliplr(m) -> Tensor:
    """Backwards along the second axis."""
    return rearranging.reverse(as_array(m), [1])


@api("experimental.numpy.flipud", dispatch=False)
def flipud(m) -> Tensor:
    """Backwards along the first axis."""
    return rearranging.reverse(as_array(m), [0])


@api("experimental.numpy.roll", dispatch=False)
def roll(a, shift, axis=None) -> Tensor:
    """Shifted, with what falls off put back at the other end."""
    x = as_array(a)
    if axis is not None:
        return rearranging.roll(x, shift, axis)
    return shaping.reshape(rearranging.roll(shaping.reshape(x, [-1]), shift, 0), measuring.shape(x))


@api("experimental.numpy.rot90", dispatch=False)
def rot90(m, k=1, axes=(0, 1)) -> Tensor:
    """Turned by 90 degrees k times, in the plane of two axes."""
    x = as_array(m)
    one, two = (axis % x.shape.rank for axis in axes)
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return flip(flip(x, one), two)
    order = list(range(x.shape.rank))
    order[one], order[two] = order[two], order[one]
    return rearranging.transpose(flip(x, two), order) if k == 1 else flip(rearranging.transpose(x, order), two)


@api("experimental.numpy.pad", dispatch=False)
def pad(array, pad_width, mode, **kwargs) -> Tensor:
    """With elements added at the ends; mode "constant", "reflect" or "symmetric"."""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"experimental.numpy.pad: mode {mode!r} is not supported.")
    x = as_array(array)
    widths = np.broadcast_to(np.asarray(pad_width), (x.shape.rank, 2)).tolist()
    value = cast(as_array(kwargs.get("constant_values", 0)), x.dtype)
    return padding.pad(x, widths, mode.upper(), constant_values=value)


def _size(x, axis):
    """The length of an axis: an int, or in a graph a scalar tensor if it is unknown."""
    size = x.shape[axis]
    return measuring.shape(x)[axis] if size is None else size


def _larger(a, b):
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else arithmetic.maximum(a, b)


def _smaller(a, b):
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else arithmetic.minimum(a, b)


@api("experimental.numpy.diagonal", dispatch=False)
def diagonal(a, offset=0, axis1=0, axis2=1) -> Tensor:
    """A diagonal in the plane of two axes."""
    x = as_array(a)
    if known_rank("experimental.numpy.diagonal", "a", x) < 2:
        raise ValueError("experimental.numpy.diagonal: requires an array of at least two dimensions.")
    x = moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = _size(x, -2), _size(x, -1)
    length = _larger(0, _smaller(rows + min(offset, 0), columns - max(offset, 0)))
    start = offset if offset >= 0 else -offset * columns
    flat = shaping.reshape(x, [*(_size(x, i) for i in range(x.shape.rank - 2)), rows * columns])
    positions = filling.range_(length) * (columns + 1) + start
    return gathering.gather(flat, positions, axis=-1)


@api("experimental.numpy.diag", dispatch=False)
def diag(v, k=0) -> Tensor:
    """The k-th diagonal of a matrix, or a matrix with this diagonal."""
    x = as_array(v)
    if x.shape.rank == 2:
        return diagonal(x, k)
    if x.shape.rank != 1:
        raise ValueError("experimental.numpy.diag: input must be 1- or 2-d.")
    return diagonals.diag(x, k=k)


@api("experimental.numpy.diagflat", dispatch=False)
def diagflat(v, k=0) -> Tensor:
    """A matrix with all elements on the k-th diagonal."""
    return diag(ravel(v), k)


def _triangle(m, k, below):
    x = as_array(m)
    if known_rank("experimental.numpy", "the array", x) < 2:
        raise ValueError("experimental.numpy: the array must have at least two dimensions.")
    rows, columns = filling.range_(_size(x, -2))[:, None], filling.range_(_size(x, -1))
    keep = columns <= rows + k if below else columns >= rows + k
    return selecting.where(keep, x, filling.zeros_like(x))


@api("experimental.numpy.tril", dispatch=False)
def tril(m, k=0) -> Tensor:
    """What is on and below the k-th diagonal."""
    return _triangle(m, k, below=True)


@api("experimental.numpy.triu", dispatch=False)
def triu(m, k=0) -> Tensor:
    """What is on and above the k-th diagonal."""
    return _triangle(m, k, below=False)


@api("experimental.numpy.take", dispatch=False)
def take(a, indices, axis=None, out=None, mode="clip") -> Tensor:
    """Elements at positions along an axis; positions outside are clipped, or counted around with mode "wrap"."""
    if out is not None:
        raise ValueError("experimental.numpy.take: out is not supported.")
    if mode not in ("clip", "wrap"):
        raise ValueError(f"experimental.numpy.take: the mode {mode!r} is not supported; use 'clip' or 'wrap'.")
    x, positions = as_array(a), as_array(indices)
    if axis is None:
        x, axis = shaping.reshape(x, [-1]), 0
    size = cast(measuring.shape(x)[axis], positions.dtype)
    if mode == "wrap":
        positions = division.floormod(positions, size)
    else:
        positions = clipping.clip_by_value(positions, cast(as_array(0), positions.dtype), size - 1)
    return gathering.gather(x, positions, axis=axis)


@api("experimental.numpy.take_along_axis", dispatch=False)
def take_along_axis(arr, indices, axis) -> Tensor:
    """Elements at positions that differ from row to row."""
    x, positions = as_array(arr), as_array(indices)
    if axis is None:
        return gathering.gather(shaping.reshape(x, [-1]), shaping.reshape(positions, [-1]))
    rank = known_rank("experimental.numpy.take_along_axis", "arr", x)
    axis = normalize_axis(axis, rank, "experimental.numpy.take_along_axis")
    positions = selecting.where(positions < 0, positions + cast(measuring.shape(x)[axis], positions.dtype), positions)
    outer = [i for i in range(rank) if i != axis]
    shape = [_size(positions, i) for i in range(rank)]
    for i in outer:
        shape[i] = _larger(_size(x, i), shape[i])
    x_shape = [_size(x, i) if i == axis else shape[i] for i in range(rank)]
    x, positions = broadcasting.broadcast_to(x, x_shape), broadcasting.broadcast_to(positions, shape)
    order = [*outer, axis]
    back = np.argsort(order).tolist()
    picked = gathering.gather(
        rearranging.transpose(x, order), rearranging.transpose(positions, order), axis=rank - 1, batch_dims=rank - 1
    )
    return rearranging.transpose(picked, back)


@api("experimental.numpy.compress", dispatch=False)
def compress(condition, a, axis=None) -> Tensor:
    """The elements at which a condition holds, along an axis."""
    keep, x = cast(as_array(condition), dtypes.bool), as_array(a)
    if keep.shape.rank != 1:
        raise ValueError("experimental.numpy.compress: condition must be a 1-d array.")
    if axis is None:
        x, axis = shaping.reshape(x, [-1]), 0
    positions = shaping.reshape(selecting.where(keep), [-1])
    return gathering.gather(x, positions, axis=axis)


@api("experimental.numpy.nonzero", dispatch=False)
def nonzero(a) -> list[Tensor]:
    """The positions of what is not zero, one array per axis."""
    x = atleast_1d(a)
    positions = selecting.where(cast(x, dtypes.bool))
    return joining.unstack(positions, x.shape.rank, axis=1)


@api("experimental.numpy.where", dispatch=False)
def where(condition, x=None, y=None) -> Any:
    """`x` where the condition holds, `y` elsewhere; with the condition alone, where it holds."""
    keep = cast(as_array(condition), dtypes.bool)
    if x is None and y is None:
        return nonzero(keep)
    if x is None or y is None:
        raise ValueError("experimental.numpy.where: both x and y must be given, or none.")
    x, y = promote(x, y)
    return selecting.where(keep, x, y)


@api("experimental.numpy.select", dispatch=False)
def select(condlist, choicelist, default=0) -> Tensor:
    """For each element, the choice of the first condition that holds."""
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"experimental.numpy.select: {len(condlist)} conditions, but {len(choicelist)} choices."
        )
    *choices, result = promote(*choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices))):
        result = selecting.where(cast(as_array(condition), dtypes.bool), choice, result)
    return result
