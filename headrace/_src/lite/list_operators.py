"""Lists of tensors, as a `TensorArray` and loops make them: each is one tensor, whose first axis is the list.

An element whose sizes are not all known when the model is converted, as when the batch is not, is kept with 1 in their
place until the first one is set; the list then grows to the sizes that this one has.
"""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes
from headrace._src.lite.building import Unsupported, converts
from headrace._src.lite.models import LiteTensor


@converts("TensorListFromTensor", "TensorListStack")
def _same(builder, step):
    builder.same(step.outputs[0], step.inputs[0])


@converts("TensorListReserve")
def _reserved(builder, step):
    output = builder.tensor(step.outputs[0])
    count = builder.vector(builder.integers(step.inputs[1]))
    _fill(builder, output, count)


@converts("EmptyTensorList")
def _empty(builder, step):
    _fill(builder, builder.tensor(step.outputs[0]), builder.constant([0], dtypes.int32))


def _fill(builder, output, count):
    """Zeros for as many elements."""
    sizes = [1 if size is None else size for size in output.shape[1:]]
    shape = builder.joined([count, builder.constant(sizes, dtypes.int32)]) if sizes else count
    zero = b"" if output.dtype == dtypes.string else 0
    builder.emit("FILL", [shape, builder.constant(zero, output.dtype)], [output], "FillOptions")


@converts("TensorListSetItem")
def _set(builder, step):
    handle, index, item = step.inputs
    held = builder.tensor(handle)
    if step.attrs.get("resize_if_index_out_of_bounds"):
        held = _long_enough(builder, held, builder.integers(index))
    fitting = _fitting(builder, held, item)
    row = builder.compute("EXPAND_DIMS", [item, builder.constant(0, dtypes.int32)], [1, *held.shape[1:]], held.dtype)
    zero = builder.constant(0, dtypes.int32)
    start = builder.compute(
        "PACK", [builder.integers(index), *[zero] * (len(held.shape) - 1)], [len(held.shape)], dtypes.int32,
        "PackOptions", valuesCount=len(held.shape), axis=0,
    )  # fmt: skip
    builder.emit("DYNAMIC_UPDATE_SLICE", [fitting, row, start], step.outputs, "DynamicUpdateSliceOptions")


def _long_enough(builder, held, index):
    """The list with zeros after it, so that there is such an element."""
    one = builder.constant(1, dtypes.int32)
    needed = builder.compute("ADD", [index, one], [], dtypes.int32, "AddOptions")
    lacking = builder.compute("SUB", [needed, _length(builder, held)], [], dtypes.int32, "SubOptions")
    more = builder.compute(
        "MAXIMUM", [lacking, builder.constant(0, dtypes.int32)], [], dtypes.int32, "MaximumMinimumOptions"
    )
    rank = len(held.shape)
    flat = builder.joined([
        builder.constant([0], dtypes.int32), builder.vector(more), builder.constant([0] * (2 * rank - 2), dtypes.int32)
    ] if rank > 1 else [builder.constant([0], dtypes.int32), builder.vector(more)])  # fmt: skip
    sizes = builder.reshaped(flat, [rank, 2])
    return builder.compute("PAD", [held, sizes], [None, *held.shape[1:]], held.dtype, "PadOptions")


def _fitting(builder, held, item):
    """The list with elements of the sizes that an item has."""
    if None not in held.shape[1:]:
        return held
    shape = builder.compute("SHAPE", [item], [len(held.shape) - 1], dtypes.int32, "ShapeOptions", outType=2)
    wanted = builder.joined([builder.vector(_length(builder, held)), shape])
    return builder.compute("BROADCAST_TO", [held, wanted], held.shape, held.dtype, "BroadcastToOptions", version=2)


def _length(builder, held):
    """How many elements there are."""
    if held.shape[0] is not None:
        return builder.constant(held.shape[0], dtypes.int32)
    shape = builder.compute("SHAPE", [held], [len(held.shape)], dtypes.int32, "ShapeOptions", outType=2)
    return builder.compute(
        "GATHER", [shape, builder.constant(0, dtypes.int32)], [], dtypes.int32, "GatherOptions", axis=0
    )


@converts("TensorListGetItem")
def _item(builder, step):
    handle, index, _ = step.inputs
    builder.emit("GATHER", [handle, builder.integers(index)], step.outputs, "GatherOptions", axis=0)


@converts("TensorListGather")
def _items(builder, step):
    handle, indices, _ = step.inputs
    builder.emit("GATHER", [handle, builder.integers(indices)], step.outputs, "GatherOptions", axis=0)


@converts("TensorListLength")
def _count(builder, step):
    length = _length(builder, builder.tensor(step.inputs[0]))
    builder.emit("RESHAPE", [length, builder.constant(np.zeros(0), dtypes.int32)], step.outputs, "ReshapeOptions")


@converts("TensorListPushBack")
def _pushed(builder, step):
    handle, item = step.inputs
    held = builder.tensor(handle)
    row = builder.compute("EXPAND_DIMS", [item, builder.constant(0, dtypes.int32)], [1, *held.shape[1:]], held.dtype)
    builder.emit("CONCATENATION", [_fitting(builder, held, item), row], step.outputs, "ConcatenationOptions", axis=0)


@converts("TensorListPopBack")
def _popped(builder, step):
    held = builder.tensor(step.inputs[0])
    rest, item = step.outputs
    one = builder.constant(1, dtypes.int32)
    last = builder.compute("SUB", [_length(builder, held), one], [], dtypes.int32, "SubOptions")
    builder.emit("GATHER", [held, last], [item], "GatherOptions", axis=0)
    _first(builder, held, last, rest)


def _first(builder, held, count, output):
    """The first elements of a list."""
    rank = len(held.shape)
    begin = builder.constant([0] * rank, dtypes.int32)
    size = builder.joined([builder.vector(count), builder.constant([-1] * (rank - 1), dtypes.int32)][: min(rank, 2)])
    builder.emit("SLICE", [held, begin, size], [output], "SliceOptions")


@converts("TensorListResize")
def _resized(builder, step):
    handle, count = step.inputs
    held = builder.tensor(handle)
    wanted = builder.integers(count)
    last = builder.compute("SUB", [wanted, builder.constant(1, dtypes.int32)], [], dtypes.int32, "SubOptions")
    _first(builder, _long_enough(builder, held, last), wanted, step.outputs[0])


@converts("TensorListElementShape")
def _shape_of_elements(builder, step):
    held = builder.tensor(step.inputs[0])
    if None in held.shape[1:]:
        raise Unsupported("the shape of elements must be known when the model is converted")
    value: LiteTensor = builder.constant(held.shape[1:], step.outputs[0].dtype)
    shape = builder.constant([len(held.shape) - 1], dtypes.int32)
    builder.emit("RESHAPE", [value, shape], step.outputs, "ReshapeOptions")
