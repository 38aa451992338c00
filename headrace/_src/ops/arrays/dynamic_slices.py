"""XLA's slices at places that are only known when the program runs, which Keras uses under XLA's names."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import lax
from headrace._src.core.shapes import TensorShape
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.measuring import SHAPE

_INDICES = frozenset({dtypes.int32, dtypes.int64, dtypes.uint8})


def _window(name, shape, sizes, indices):
    """The window of these sizes, moved so that it lies within an array of that shape."""
    if len(sizes) != len(shape) or indices.shape != (len(shape),):
        raise errors.invalid_argument(
            f"{name}: the window and its indices must have one number for each of the {len(shape)} dimensions of "
            f"input, got sizes {list(sizes)} and indices of shape {list(indices.shape)}."
        )
    if any(size > n for size, n in zip(sizes, shape)):
        raise errors.invalid_argument(f"{name}: a window of {list(sizes)} does not fit into input of {list(shape)}.")
    starts = [min(max(int(i), 0), n - size) for i, n, size in zip(indices, shape, sizes)]
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes))


def _update(input, update, indices):
    result = input.copy()
    result[_window("XlaDynamicUpdateSlice", input.shape, update.shape, indices)] = update
    return result


def _slice(input, start_indices, size_indices):
    return input[_window("XlaDynamicSlice", input.shape, tuple(map(int, size_indices)), start_indices)]


def _infer_slice(input, start_indices, size_indices):
    if size_indices.value is None:
        return TensorShape(None if input.shape.rank is None else [None] * input.shape.rank)
    return TensorShape([int(n) for n in size_indices.value])


def _grad_update(node, dy):
    zeros = ZEROS_LIKE(node.update)
    shape = SHAPE(node.update, out_type=node.indices.dtype)
    return (
        DYNAMIC_UPDATE_SLICE(dy, zeros, node.indices) if node.wants(0) else None,
        DYNAMIC_SLICE(dy, node.indices, shape) if node.wants(1) else None,
        None,
    )


def _grad_slice(node, dy):
    zeros = ZEROS_LIKE(node.input)
    return DYNAMIC_UPDATE_SLICE(zeros, dy, node.start_indices), None, None


DYNAMIC_UPDATE_SLICE = Op(
    "XlaDynamicUpdateSlice",
    "input: T, update: T, indices: Tindices -> output: T",
    infer=lambda input, update, indices: input.shape,
    kernel=_update,
    lower=lambda ctx, input, update, indices: lax.dynamic_update_slice(input, update, tuple(indices)),
    saves=("update", "indices"),
    grad=_grad_update,
    Tindices=_INDICES,
)

DYNAMIC_SLICE = Op(
    "XlaDynamicSlice",
    "input: T, start_indices: Tindices, size_indices: Tindices -> output: T",
    infer=_infer_slice,
    kernel=_slice,
    lower=lambda ctx, input, start_indices, size_indices: lax.dynamic_slice(
        input, tuple(start_indices), tuple(int(n) for n in np.asarray(size_indices))
    ),
    static=("size_indices",),
    saves=("input", "start_indices"),
    grad=_grad_slice,
    Tindices=_INDICES,
)


def dynamic_update_slice(x, updates, indices):
    """`x` with a window of it, which begins at `indices`, replaced by `updates`."""
    return DYNAMIC_UPDATE_SLICE(to_tensor(x), to_tensor(updates), to_tensor(indices))


def dynamic_slice(x, indices, slice_sizes):
    """The window of `x` that begins at `indices`."""
    return DYNAMIC_SLICE(to_tensor(x), to_tensor(indices), to_tensor(slice_sizes, to_tensor(indices).dtype))
