"""Rules of vectorization for shapes: reshaping, joining, splitting, slicing, padding, filling."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.graph.vectorizing.rules import (
    Batched,
    NoRule,
    rule,
    shifted,
    shifted_axes,
    unstacked,
    value_of,
)
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import RESHAPE, SHAPE, SQUEEZE
from headrace._src.ops.math.reductions import PROD


def _static_or(node, shape):
    """The static shape of the node's output when it is known, which says what a -1 stands for."""
    static = node.outputs[0].shape
    return static.as_list() if static.is_fully_defined() else shape


@rule("Reshape")
def _reshape(batch, node, x, shape):
    wanted = _static_or(node, None) or unstacked(shape, "shape")
    return RESHAPE(batch.stack(x), batch.with_size(wanted))


@rule("EnsureShape")
def _ensure_shape(batch, node, x):
    shape = node.attrs["shape"]
    size = batch.size if isinstance(batch.size, int) else None
    return batch.apply(node, [x], {"shape": None if shape is None else (size, *shape)})


@rule("ExpandDims")
def _expand_dims(batch, node, x, dim):
    return batch.apply(node, [x, shifted_axes(dim)])


@rule("Squeeze")
def _squeeze(batch, node, x):
    dims = list(node.attrs["squeeze_dims"])
    if not dims:
        shape = x.tensor.shape[1:]
        if not shape.is_fully_defined():
            raise NoRule("it squeezes dimensions that are not known")
        dims = [i for i, n in enumerate(shape.as_list()) if n == 1]
        if not dims:
            return x.tensor
    return batch.apply(node, [x], {"squeeze_dims": [shifted(dim) for dim in dims]})


@rule("Transpose", "ConjugateTranspose")
def _transpose(batch, node, x, perm):
    order = unstacked(perm, "permutation")
    known = value_of(order)
    full = [0, *(int(n) + 1 for n in known)] if known is not None else batch.join([0], order + 1)
    return batch.apply(node, [batch.stack(x), full])


@rule("Shape")
def _shape(batch, node, x):
    shape, dtype = batch.shape_of_element(x), node.attrs["out_type"]
    return Batched(to_tensor(shape, dtype) if isinstance(shape, list) else CAST(shape, DstT=dtype), False)


@rule("Rank")
def _rank(batch, node, x):
    return Batched(to_tensor(batch.rank(x), dtypes.int32), False)


@rule("Size")
def _size(batch, node, x):
    shape = to_tensor(batch.shape_of_element(x), dtypes.int32)
    total = PROD(shape, 0, keep_dims=False)
    return Batched(CAST(total, DstT=node.attrs["out_type"]), False)


@rule("ConcatV2")
def _concat(batch, node, values, axis):
    return batch.apply(node, [[batch.stack(x) for x in values], shifted_axes(axis)])


@rule("Concat")
def _concat_first(batch, node, axis, values):
    return batch.apply(node, [shifted_axes(axis), [batch.stack(x) for x in values]])


@rule("Pack")
def _pack(batch, node, values):
    return batch.apply(node, [[batch.stack(x) for x in values]], {"axis": shifted(node.attrs["axis"])})


@rule("Unpack")
def _unpack(batch, node, x):
    return batch.apply(node, [x], {**node.attrs, "axis": shifted(node.attrs["axis"])})


@rule("Split")
def _split(batch, node, axis, x):
    return batch.apply(node, [shifted_axes(axis), x])


@rule("SplitV")
def _split_sizes(batch, node, x, sizes, axis):
    return batch.apply(node, [x, unstacked(sizes, "sizes"), shifted_axes(axis)])


@rule("BroadcastTo")
def _broadcast_to(batch, node, x, shape):
    wanted = _static_or(node, None) or unstacked(shape, "shape")
    rank = len(wanted) if isinstance(wanted, list) else wanted.shape[0]
    if rank is None:
        raise NoRule("the rank of its output is unknown")
    return BROADCAST_TO(batch.with_rank(Batched(batch.stack(x), True), rank), batch.with_size(wanted))


@rule("Fill")
def _fill(batch, node, dims, value):
    wanted = _static_or(node, None)
    if wanted is None:
        wanted = unstacked(dims, "shape")
    rank = len(wanted) if isinstance(wanted, list) else wanted.shape[0]
    if rank is None:
        raise NoRule("the rank of its output is unknown")
    return BROADCAST_TO(batch.with_rank(value, rank), batch.with_size(wanted))


@rule("Tile")
def _tile(batch, node, x, multiples):
    return batch.apply(node, [x, batch.join([1], unstacked(multiples, "multiples"))])


def _padded(batch, paddings):
    """Paddings with none for the batch."""
    tensor = unstacked(paddings, "paddings")
    known = value_of(tensor)
    if known is not None:
        return to_tensor(np.concatenate([np.zeros((1, 2), known.dtype), known.reshape(-1, 2)]))
    return CONCAT([to_tensor([[0, 0]], tensor.dtype), tensor], 0)


@rule("Pad", "MirrorPad", "MirrorPadGrad")
def _pad(batch, node, x, paddings):
    return batch.apply(node, [x, _padded(batch, paddings)])


@rule("PadV2")
def _pad_with(batch, node, x, paddings, value):
    return batch.apply(node, [batch.stack(x), _padded(batch, paddings), unstacked(value, "constant")])


@rule("OneHot")
def _one_hot(batch, node, indices, depth, on, off):
    attrs = {"axis": shifted(node.attrs["axis"])}
    rest = [unstacked(depth, "depth"), unstacked(on, "value"), unstacked(off, "value")]
    return batch.apply(node, [indices, *rest], attrs)


# Slices.


def shifted_masks(attrs):
    """The masks of a strided slice with a full axis in front."""
    masks = {name: bits << 1 for name, bits in attrs.items()}
    masks["begin_mask"] |= 1
    masks["end_mask"] |= 1
    return masks


def _bounds(batch, begin, end, strides):
    return [
        batch.join([first], unstacked(value, what))
        for first, value, what in ((0, begin, "begin"), (0, end, "end"), (1, strides, "strides"))
    ]


@rule("StridedSlice")
def _strided_slice(batch, node, x, begin, end, strides):
    if begin.stacked:
        return _row(batch, node, x, begin)
    return batch.apply(node, [x, *_bounds(batch, begin, end, strides)], shifted_masks(node.attrs))


def _row(batch, node, x, begin):
    """`x[i]`, where each element has its own i."""
    attrs = node.attrs
    if attrs["shrink_axis_mask"] != 1 or attrs["begin_mask"] or attrs["new_axis_mask"] or begin.tensor.shape[-1] != 1:
        raise NoRule("its bounds differ between elements")
    index = SQUEEZE(begin.tensor, squeeze_dims=[1])
    length = SHAPE(x.tensor, out_type=index.dtype)
    length = GATHER_V2(length, int(x.stacked), 0)
    index = SELECT_V2(index < 0, index + length, index)
    if x.stacked:
        return GATHER_V2(x.tensor, index, 1, batch_dims=1)
    return GATHER_V2(x.tensor, index, 0)


@rule("StridedSliceGrad")
def _strided_slice_grad(batch, node, shape, begin, end, strides, dy):
    full = batch.with_size(unstacked(shape, "shape"))
    dtype = shape.tensor.dtype
    inputs = [to_tensor(v, dtype) if isinstance(v, list) else v for v in (full, *_bounds(batch, begin, end, strides))]
    return batch.apply(node, [*inputs, dy], shifted_masks(node.attrs))


@rule("Slice")
def _slice(batch, node, x, begin, size):
    if not begin.stacked:
        return batch.apply(
            node, [batch.stack(x), batch.join([0], begin.tensor), batch.join([-1], unstacked(size, "size"))]
        )
    shape = node.outputs[0].shape
    if not shape.is_fully_defined():
        raise NoRule("its begin differs between elements, and its size is not known")
    result = batch.stack(x)
    whole = batch.shape_of_element(Batched(result, True))
    starts = begin.tensor
    for axis, count in enumerate(shape.as_list()):
        if isinstance(whole, list) and whole[axis] == count:
            continue
        indices = starts[:, axis : axis + 1] + to_tensor(np.arange(count), starts.dtype)
        result = GATHER_V2(result, indices, axis + 1, batch_dims=1)
    return result
