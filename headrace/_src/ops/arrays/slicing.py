"""Slices with strides: reading them, writing them, and their gradients."""

import functools

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched, NoRule, Ragged, Rule, known_array, unstacked, value_of
from headrace._src.op.bound_kernels import binder, remembering
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import if_useful, known_elements
from headrace._src.op.infer import UNKNOWN, shape_from_value
from headrace._src.op.lowering import NeedsValue
from headrace._src.op.registry import lookup
from headrace._src.op.traits import UNCHECKED
from headrace._src.ops.arrays.broadcasting import sum_to
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.measuring import SHAPE, checked_dims, checked_vector

_MASKS = (
    "begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, "
    "shrink_axis_mask: int = 0"
)
_MAX_ENTRIES = 32  # as many as a mask has bits


class Selection:
    """A slice specification resolved for one shape.

    Attributes:
        index: what NumPy takes, one entry per dimension of the input or None for a new one.
        shape: the shape of the result.
    """

    __slots__ = ("index", "shape")

    def __init__(self, index, shape):
        self.index = index
        self.shape = shape


def _entries(rank, count, ellipsis_mask, new_axis_mask):
    """What each entry of the specification means: (entry or None, input axis or None), in order.

    An entry of None selects the whole axis; an axis of None makes a new one.
    """
    ellipses = [i for i in range(count) if ellipsis_mask >> i & 1]
    if len(ellipses) > 1:
        raise errors.invalid_argument("StridedSlice: multiple ellipses in slice spec are not allowed.")
    at = ellipses[0] if ellipses else count
    given = sum(1 for i in range(count) if i != at and not new_axis_mask >> i & 1)
    if given > rank:
        raise errors.invalid_argument(
            f"StridedSlice: index out of range, {given} dimensions are indexed but input has only {rank}."
        )
    entries, axis = [], 0
    for i in range(count + (not ellipses)):
        if i == at:
            entries.extend((None, axis + k) for k in range(rank - given))
            axis += rank - given
        elif new_axis_mask >> i & 1:
            entries.append((i, None))
        else:
            entries.append((i, axis))
            axis += 1
    return entries


def _one_axis(axis, n, begin, end, stride, begin_masked, end_masked, shrink):
    """The index for one axis of length `n`, and the length of the result (None when it disappears)."""
    if stride == 0:
        raise errors.invalid_argument(f"StridedSlice: strides[{axis}] must be non-zero.")
    if shrink:
        if stride < 0:
            raise errors.invalid_argument("StridedSlice: only stride 1 allowed on non-range indexing.")
        if not -n <= begin < n:
            raise errors.invalid_argument(
                f"StridedSlice: slice index {begin} of dimension {axis} out of bounds, its size is {n}."
            )
        return (begin + n if begin < 0 else begin), None
    low, high = (0, n) if stride > 0 else (-1, n - 1)
    if begin_masked:
        begin = low if stride > 0 else high
    else:
        begin = min(max(begin + n if begin < 0 else begin, low), high)
    if end_masked:
        end = high if stride > 0 else low
    else:
        end = min(max(end + n if end < 0 else end, low), high)
    length = max(0, -((begin - end) // stride))
    if not length:
        return slice(0, 0, 1), 0
    return slice(begin, None if end < 0 else end, stride), length


@functools.lru_cache(maxsize=1024)
def resolve(
    shape, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
) -> Selection:
    """The selection that TensorFlow's slice specification makes in an array of that shape."""
    if not len(begin) == len(end) == len(strides):
        raise errors.invalid_argument(
            f"StridedSlice: begin, end and strides must be of equal size, got {len(begin)}, {len(end)} and "
            f"{len(strides)} elements."
        )
    if len(begin) > _MAX_ENTRIES:
        raise errors.invalid_argument(f"StridedSlice: at most {_MAX_ENTRIES} entries, got {len(begin)}.")
    index, dims = [], []
    for i, axis in _entries(len(shape), len(begin), ellipsis_mask, new_axis_mask):
        if i is None:
            index.append(slice(None))
            dims.append(shape[axis])
        elif axis is None:
            index.append(None)
            dims.append(1)
        else:
            bits = (begin_mask >> i & 1, end_mask >> i & 1, shrink_axis_mask >> i & 1)
            entry, length = _one_axis(axis, shape[axis], begin[i], end[i], strides[i], *bits)
            index.append(entry)
            if length is not None:
                dims.append(length)
    return Selection(tuple(index), tuple(dims))


def _selection(shape, begin, end, strides, masks):
    bounds = [
        tuple(checked_vector("StridedSlice", argument, array))
        for argument, array in (("begin", begin), ("end", end), ("strides", strides))
    ]
    return resolve(tuple(shape), *bounds, **masks)


def _strided_slice(input, begin, end, strides, **masks):
    # The trailing ellipsis makes NumPy give an array also where no dimension is left.
    return input[(*_selection(input.shape, begin, end, strides, masks).index, ...)]


@binder("StridedSlice", "begin", "end", "strides")
def _bind_strided_slice(begin, end, strides, **masks):
    index_in = remembering(lambda shape: (*_selection(shape, begin, end, strides, masks).index, ...))
    return lambda input, *bounds, **attrs: input[index_in(input.shape)]


def _lower_strided_slice(ctx, input, begin, end, strides, **masks):
    if isinstance(begin, np.ndarray) and isinstance(end, np.ndarray):
        return _select(input, _selection(input.shape, begin, end, strides, masks))
    starts, lengths, dims = _window(ctx, input.shape, begin, strides, masks)
    return jnp.reshape(lax.dynamic_slice(input, starts, lengths), dims)


def _select(x, selection):
    return x[selection.index] if selection.index else x


def _window(ctx, shape, begin, strides, masks):
    """Indices known only at run time, of which each takes one element or the whole of its axis: `x[i, :]`.

    Returns:
        Where the part begins, how long it is along each axis, and the shape of the result.
    """
    whole, shrink_axis_mask = masks["begin_mask"] & masks["end_mask"], masks["shrink_axis_mask"]
    starts, lengths, dims = [], [], []
    for i, axis in _entries(len(shape), begin.shape[0], masks["ellipsis_mask"], masks["new_axis_mask"]):
        if axis is None:
            dims.append(1)
            continue
        n = shape[axis]
        lengths.append(n)
        starts.append(0)
        if i is not None and shrink_axis_mask >> i & 1:
            at = begin[i]
            ctx.check(
                (at >= -n) & (at < n),
                errors.InvalidArgumentError,
                f"StridedSlice: slice index of dimension {axis} out of bounds, its size is {n}.",
            )
            starts[-1], lengths[-1] = jnp.where(at < 0, at + n, at), 1
            continue
        if i is not None and not (whole >> i & 1 and int(strides[i]) == 1):
            raise NeedsValue("bounds that are known only at run time")
        dims.append(n)
    return [jnp.asarray(start, begin.dtype) for start in starts], lengths, dims


def _infer_strided_slice(input, begin, end, strides, **masks):
    shape = input.shape
    if shape.rank is None:
        return UNKNOWN
    lengths = [spec.shape[0] for spec in (begin, end, strides) if spec.shape.rank == 1]
    count = next((n for n in lengths if n is not None), None)
    if count is None:
        return UNKNOWN
    values = [None if s.value is None else tuple(s.value.tolist()) for s in (begin, end, strides)]
    if shape.is_fully_defined() and None not in values:
        return TensorShape(resolve(tuple(shape), *values, **masks).shape)
    dims = []
    for i, axis in _entries(shape.rank, count, masks["ellipsis_mask"], masks["new_axis_mask"]):
        if i is None:
            dims.append(shape[axis])
        elif axis is None:
            dims.append(1)
        elif not masks["shrink_axis_mask"] >> i & 1:
            dims.append(_inferred_length(shape[axis], i, axis, values, masks))
    return TensorShape(dims)


def _inferred_length(n, i, axis, values, masks):
    begin, end, strides = values
    whole_begin, whole_end = masks["begin_mask"] >> i & 1, masks["end_mask"] >> i & 1
    if strides is None or (begin is None and not whole_begin) or (end is None and not whole_end):
        return None
    low, high = begin[i] if begin else 0, end[i] if end else 0
    if n is None:
        return None
    return _one_axis(axis, n, low, high, strides[i], whole_begin, whole_end, 0)[1]


def _grad_strided_slice(node, dy):
    shape = node.input_shape
    if isinstance(shape, tuple):
        shape = EagerTensor(np.array(shape, node.begin.dtype._np), node.begin.dtype)
    elif shape.dtype is not node.begin.dtype:
        shape = CAST(shape, DstT=node.begin.dtype)
    return STRIDED_SLICE_GRAD(shape, node.begin, node.end, node.strides, dy, **node.attrs), None, None, None


def _partial_strided_slice(
    input, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
):
    elements = known_elements(input)
    bounds = [spec.value for spec in (begin, end, strides)]
    if not isinstance(elements, list) or any(b is None or b.size != 1 for b in bounds):
        return None
    if ellipsis_mask or new_axis_mask:
        return None
    first, last, step = (int(b.reshape(())) for b in bounds)
    if shrink_axis_mask:
        return elements[first] if -len(elements) <= first < len(elements) else None
    return if_useful(elements[slice(None if begin_mask else first, None if end_mask else last, step)])


def _shifted_masks(masks):
    """The masks of a slice of one element, with a full axis in front."""
    masks = {name: bits << 1 for name, bits in masks.items()}
    masks["begin_mask"] |= 1
    masks["end_mask"] |= 1
    return masks


def _shifted_bounds(batch, begin, end, strides):
    return [
        batch.join([0], unstacked(begin, "begin")),
        batch.join([0], unstacked(end, "end")),
        batch.join([1], unstacked(strides, "strides")),
    ]


def _vectorize_strided_slice(batch, node, x, begin, end, strides):
    if begin.stacked:
        return _row_of_each(batch, node, x, begin)
    return batch.apply(node, [x, *_shifted_bounds(batch, begin, end, strides)], _shifted_masks(node.attrs))


def _row_of_each(batch, node, x, begin):
    """`x[i]`, where each element has its own i."""
    attrs = node.attrs
    if attrs["shrink_axis_mask"] != 1 or attrs["begin_mask"] or attrs["new_axis_mask"] or begin.tensor.shape[-1] != 1:
        raise NoRule("its bounds differ between elements")
    index = begin.tensor[:, 0]
    length = SHAPE(x.tensor, out_type=index.dtype)[int(x.stacked)]
    index = lookup("SelectV2")(index < 0, index + length, index)
    return lookup("GatherV2")(x.tensor, index, int(x.stacked), batch_dims=int(x.stacked))


def _keeps_rows(masks, steps, rank):
    """Whether a slice has all that there is along the first axis."""
    if masks["ellipsis_mask"] & 1:
        others = len(steps) - 1 - (masks["new_axis_mask"] >> 1).bit_count()
        return others < rank
    whole = masks["begin_mask"] & masks["end_mask"] & ~masks["shrink_axis_mask"] & ~masks["new_axis_mask"]
    return bool(whole & 1) and steps[0] == 1


def _without_first(value):
    if value.stacked:
        return Batched(value.tensor[:, 1:], True)
    known = value_of(value.tensor)
    return Batched(value.tensor[1:] if known is None else to_tensor(known[1:]), False)


def _vectorize_ragged_strided_slice(batch, node, x, begin, end, strides):
    masks = node.attrs
    if not isinstance(x, Ragged):
        raise NoRule("its bounds differ")
    steps = known_array(strides, "strides")
    if _keeps_rows(masks, steps, batch.rank(x)):
        return x.like(batch.apply(node, [x, unstacked(begin, "begin"), unstacked(end, "end"), strides])[0])
    if masks["ellipsis_mask"] == 1 and len(steps) == 2:  # which stands for no axis: otherwise rows are kept
        masks = {name: bits >> 1 for name, bits in masks.items()}
        begin, end, steps = _without_first(begin), _without_first(end), steps[1:]
    if len(steps) != 1 or steps[0] != 1 or masks["ellipsis_mask"] or masks["new_axis_mask"]:
        raise NoRule("it takes part of several axes")
    lengths = batch.lengths(x.splits)
    if masks["shrink_axis_mask"]:
        return batch.row(x, batch.places(begin, lengths))
    first = None if masks["begin_mask"] else batch.places(begin, lengths)
    last = None if masks["end_mask"] else batch.places(end, lengths)
    return batch.picked(x, first, last)


STRIDED_SLICE = Op(
    "StridedSlice",
    f"input: T, begin: Index, end: Index, strides: Index, *, {_MASKS} -> output: T",
    traits=UNCHECKED,
    flexible=("begin", "end"),
    node_name="strided_slice",
    partial=_partial_strided_slice,
    Index=dtypes.INDEX | {dtypes.int16},
    infer=_infer_strided_slice,
    kernel=_strided_slice,
    lower=_lower_strided_slice,
    static=("begin", "end", "strides"),
    saves=("input_shape", "begin", "end", "strides"),
    grad=_grad_strided_slice,
    vectorize=Rule(_vectorize_strided_slice, _vectorize_ragged_strided_slice),
)


def _zeros(shape, dtype):
    return np.full(shape, b"", object) if dtype == np.object_ else np.zeros(shape, dtype)


def _strided_slice_grad(shape, begin, end, strides, dy, **masks):
    dims = checked_dims("StridedSliceGrad", "shape", checked_vector("StridedSliceGrad", "shape", shape))
    selection = _selection(dims, begin, end, strides, masks)
    if dy.shape != selection.shape:
        raise errors.invalid_argument(
            f"StridedSliceGrad: dy must have the shape of the slice, {selection.shape}, got {dy.shape}."
        )
    out = _zeros(dims, dy.dtype)
    out[(*selection.index, ...)] = dy
    return out


@binder("StridedSliceGrad", "shape", "begin", "end", "strides")
def _bind_strided_slice_grad(shape, begin, end, strides, **masks):
    if shape.ndim != 1 or shape.size == 0 or shape.min() < 0 or shape.astype(float).prod() > 1 << 27:
        return None
    dims = tuple(shape.tolist())

    def check(found):
        selection = _selection(dims, begin, end, strides, masks)
        return (*selection.index, ...) if found == selection.shape else None

    index_for = remembering(check)

    def kernel(shape, begin, end, strides, dy, **attrs):
        index = index_for(dy.shape)
        if index is None:
            return _strided_slice_grad(shape, begin, end, strides, dy, **masks)
        out = _zeros(dims, dy.dtype)
        out[index] = dy
        return out

    return kernel


def _lower_strided_slice_grad(ctx, shape, begin, end, strides, dy, **masks):
    dims = tuple(shape.tolist())
    if not (isinstance(begin, np.ndarray) and isinstance(end, np.ndarray)):
        starts, lengths, _ = _window(ctx, dims, begin, strides, masks)
        return lax.dynamic_update_slice(jnp.zeros(dims, dy.dtype), jnp.reshape(dy, lengths), starts)
    selection = _selection(dims, begin, end, strides, masks)
    padding = _padding(dims, selection)
    if padding is not None:
        lengths = [n - before - after for n, (before, after, _) in zip(dims, padding)]
        return lax.pad(jnp.reshape(dy, lengths), np.zeros((), dy.dtype), padding)
    return _lower_write(jnp.zeros(dims, dy.dtype), selection, dy)


def _padding(dims, selection):
    """What lies around a selection, as `lax.pad` takes it; None when the selection leaves gaps."""
    entries = [entry for entry in selection.index if entry is not None]
    padding = []
    for n, entry in zip(dims, entries):
        if isinstance(entry, int):
            entry = slice(entry % n, entry % n + 1)
        start, stop, step = entry.indices(n)
        if step != 1 or stop < start:
            return None
        padding.append((start, n - stop, 0))
    return padding + [(0, 0, 0)] * (len(dims) - len(padding))


def _lower_write(x, selection, value):
    # New axes have length 1 and are no part of x: drop them from the value.
    kept = [entry for entry in selection.index if not isinstance(entry, int)]
    dims = [n for entry, n in zip(kept, selection.shape) if entry is not None]
    return x.at[tuple(entry for entry in selection.index if entry is not None)].set(jnp.reshape(value, dims))


def _infer_strided_slice_grad(shape, begin, end, strides, dy, **masks):
    return shape_from_value(shape)


def _grad_strided_slice_grad(node, dy):
    sliced = STRIDED_SLICE(dy, node.begin, node.end, node.strides, **node.attrs)
    return None, None, None, None, sliced


def _vectorize_strided_slice_grad(batch, node, shape, begin, end, strides, dy):
    dtype = shape.tensor.dtype
    bounds = [batch.with_size(unstacked(shape, "shape")), *_shifted_bounds(batch, begin, end, strides)]
    return batch.apply(node, [*(to_tensor(value, dtype) for value in bounds), dy], _shifted_masks(node.attrs))


STRIDED_SLICE_GRAD = Op(
    "StridedSliceGrad",
    f"shape: Index, begin: Index, end: Index, strides: Index, dy: T, *, {_MASKS} -> output: T",
    traits=UNCHECKED,
    flexible=("begin", "end"),
    Index=dtypes.INDEX | {dtypes.int16},
    infer=_infer_strided_slice_grad,
    kernel=_strided_slice_grad,
    lower=_lower_strided_slice_grad,
    static=("shape", "begin", "end", "strides"),
    saves=("begin", "end", "strides"),
    grad=_grad_strided_slice_grad,
    vectorize=_vectorize_strided_slice_grad,
)


def _update(input, begin, end, strides, value, **masks):
    out = input.copy()
    _write("TensorStridedSliceUpdate", out, _selection(input.shape, begin, end, strides, masks), value)
    return out


def _write(op, array, selection, value):
    """Write a value, which may broadcast, into the selected part of an array."""
    try:
        array[(*selection.index, ...)] = _trimmed(value, len(selection.shape))
    except ValueError:
        raise errors.invalid_argument(
            f"{op}: a value of shape {value.shape} does not broadcast to the slice, which has shape "
            f"{selection.shape}."
        ) from None


def _trimmed(value, rank):
    """A value without leading dimensions of 1 that a slice of that rank has no place for."""
    extra = value.ndim - rank
    return value.reshape(value.shape[extra:]) if extra > 0 and set(value.shape[:extra]) == {1} else value


def _lower_update(ctx, input, begin, end, strides, value, **masks):
    if not (isinstance(begin, np.ndarray) and isinstance(end, np.ndarray)):
        starts, lengths, dims = _window(ctx, input.shape, begin, strides, masks)
        full = jnp.broadcast_to(_trimmed(value, len(dims)), dims)
        return lax.dynamic_update_slice(input, jnp.reshape(full, lengths), starts)
    selection = _selection(input.shape, begin, end, strides, masks)
    value = _trimmed(value, len(selection.shape))
    return _lower_write(input, selection, jnp.broadcast_to(value, selection.shape))


def _grad_update(node, dy):
    bounds = (node.begin, node.end, node.strides)
    kept = sliced = None
    if node.wants(4):
        sliced = STRIDED_SLICE(dy, *bounds, **node.attrs)
        shape, whole = node.value_shape, sliced.shape
        if not (isinstance(shape, tuple) and whole == shape):
            whole = tuple(whole) if whole.is_fully_defined() else SHAPE(sliced)
            sliced = sum_to(sliced, shape, whole)
    if node.wants(0):
        kept = TENSOR_STRIDED_SLICE_UPDATE(dy, *bounds, zeros((), dy.dtype), **node.attrs)
    return kept, None, None, None, sliced


TENSOR_STRIDED_SLICE_UPDATE = Op(
    "TensorStridedSliceUpdate",
    f"input: T, begin: Index, end: Index, strides: Index, value: T, *, {_MASKS} -> output: T",
    flexible=("begin", "end"),
    Index=dtypes.INDEX,
    infer=lambda input, begin, end, strides, value, **masks: input.shape,
    kernel=_update,
    lower=_lower_update,
    static=("begin", "end", "strides"),
    saves=("begin", "end", "strides", "value_shape"),
    grad=_grad_update,
)


@api("strided_slice")
def strided_slice(
    input_,
    begin,
    end,
    strides=None,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
    var=None,
    name=None,
) -> Tensor:
    """What `input_[begin:end:strides]` gives, with the bounds as vectors.

    Args:
        input_: a tensor.
        begin, end, strides: one integer per indexed dimension; strides default to 1.
        begin_mask, end_mask: bit i set: no bound on that side of dimension i.
        ellipsis_mask: bit i set: entry i is an ellipsis.
        new_axis_mask: bit i set: entry i makes a new dimension.
        shrink_axis_mask: bit i set: entry i takes one element, `begin[i]`, and the dimension disappears.
        var: the variable that was read to get `input_`; then the result can be assigned to.
        name: a name for the operation.

    >>> tf.strided_slice([1, 2, 3, 4, 5], [1], [5], [2]).numpy().tolist()
    [2, 4]
    """
    if strides is None:
        begin = to_tensor(begin)
        strides = lookup("OnesLike")(begin)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    result = STRIDED_SLICE(input_, begin, end, strides, name=name, **masks)
    if var is not None:
        result.assign = functools.partial(var._assign_slice, begin, end, strides, masks)
    return result


def write_slice(array, begin, end, strides, masks, value):
    """Write `value`, which may broadcast, into the slice of a NumPy array, in place."""
    _write("StridedSliceAssign", array, _selection(array.shape, begin, end, strides, masks), value)
