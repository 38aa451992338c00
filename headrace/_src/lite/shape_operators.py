"""Operations on shapes and places: reshaping, slicing, joining, gathering, reductions."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.lite.building import Unsupported, converts

_REDUCTIONS = {
    "Mean": "MEAN", "Sum": "SUM", "Max": "REDUCE_MAX", "Min": "REDUCE_MIN", "Prod": "REDUCE_PROD", "All": "REDUCE_ALL",
    "Any": "REDUCE_ANY",
}  # fmt: skip


# Operations that differ from operators in nothing but their names: the operator, and which inputs must be int32.
_SAME = {
    "Transpose": ("TRANSPOSE", (1,)), "ExpandDims": ("EXPAND_DIMS", (1,)), "Slice": ("SLICE", (1, 2)),
    "GatherNd": ("GATHER_ND", (1,)), "Pad": ("PAD", (1,)), "PadV2": ("PADV2", (1,)), "Tile": ("TILE", (1,)),
    "Fill": ("FILL", (0,)), "Rank": ("RANK", ()), "TopKV2": ("TOPK_V2", (1,)), "Range": ("RANGE", ()),
    "SpaceToBatchND": ("SPACE_TO_BATCH_ND", (1, 2)), "BatchToSpaceND": ("BATCH_TO_SPACE_ND", (1, 2)),
}  # fmt: skip


@converts(*_SAME)
def _same(builder, step):
    code, integers = _SAME[step.type]
    inputs = [builder.integers(x) if number in integers else x for number, x in enumerate(step.inputs)]
    builder.emit(code, inputs, step.outputs, f"{step.type}Options")


@converts(*_REDUCTIONS)
def _reduction(builder, step):
    x, axes = step.inputs
    keeps = bool(step.attrs["keep_dims"])
    builder.emit(_REDUCTIONS[step.type], [x, builder.integers(axes)], step.outputs, "ReducerOptions", keepDims=keeps)


@converts("Reshape")
def _reshape(builder, step):
    x, shape = step.inputs
    wanted = builder.value(shape)
    if wanted is None:
        wanted = _with_one_unknown(builder, step)
    given = builder.integers(shape) if wanted is None else builder.constant(wanted, dtypes.int32, "shape")
    options = {} if wanted is None else {"newShape": np.asarray(wanted, np.int32)}
    builder.emit("RESHAPE", [x, given], step.outputs, "ReshapeOptions", **options)


def _with_one_unknown(builder, step):
    """The shape as a constant with one -1, where only one of its sizes is not known."""
    output = step.outputs[0].shape
    if output.rank is not None and sum(size is None for size in output.as_list()) <= 1:
        return np.array([-1 if size is None else size for size in output.as_list()], np.int32)
    return None


@converts("Squeeze")
def _squeezed(builder, step):
    dims = np.asarray(step.attrs["squeeze_dims"], np.int32)
    builder.emit("SQUEEZE", step.inputs, step.outputs, "SqueezeOptions", squeezeDims=dims)


@converts("ConcatV2")
def _joined(builder, step):
    *parts, axis = step.inputs
    number = int(builder.known(axis, "axis"))
    builder.emit("CONCATENATION", parts, step.outputs, "ConcatenationOptions", axis=number)


@converts("Pack")
def _packed(builder, step):
    builder.emit(
        "PACK", step.inputs, step.outputs, "PackOptions", valuesCount=len(step.inputs), axis=int(step.attrs["axis"])
    )


@converts("Unpack")
def _unpacked(builder, step):
    builder.emit(
        "UNPACK", step.inputs, step.outputs, "UnpackOptions", num=len(step.outputs), axis=int(step.attrs["axis"])
    )


@converts("Split")
def _split(builder, step):
    axis, x = step.inputs
    builder.emit("SPLIT", [builder.integers(axis), x], step.outputs, "SplitOptions", numSplits=len(step.outputs))


@converts("SplitV")
def _split_by_sizes(builder, step):
    x, sizes, axis = step.inputs
    builder.emit(
        "SPLIT_V", [x, builder.integers(sizes), builder.integers(axis)], step.outputs, "SplitVOptions",
        numSplits=len(step.outputs),
    )  # fmt: skip


@converts("StridedSlice")
def _strided(builder, step):
    x, *places = step.inputs
    masks = {name: int(step.attrs[f"{name}_mask"]) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    builder.emit(
        "STRIDED_SLICE", [x, *[builder.integers(one) for one in places]], step.outputs, "StridedSliceOptions",
        beginMask=masks["begin"], endMask=masks["end"], ellipsisMask=masks["ellipsis"], newAxisMask=masks["new_axis"],
        shrinkAxisMask=masks["shrink_axis"],
    )  # fmt: skip


@converts("GatherV2")
def _gathered(builder, step):
    x, indices, axis = step.inputs
    builder.emit(
        "GATHER", [x, builder.integers(indices)], step.outputs, "GatherOptions",
        axis=int(builder.known(axis, "axis")), batchDims=int(step.attrs["batch_dims"]),
    )  # fmt: skip


@converts("MirrorPad")
def _mirrored(builder, step):
    x, sizes = step.inputs
    mode = {"REFLECT": 0, "SYMMETRIC": 1}[step.attrs["mode"]]
    builder.emit("MIRROR_PAD", [x, builder.integers(sizes)], step.outputs, "MirrorPadOptions", mode=mode)


@converts("BroadcastTo")
def _broadcast(builder, step):
    x, shape = step.inputs
    builder.emit("BROADCAST_TO", [x, builder.integers(shape)], step.outputs, "BroadcastToOptions", version=2)


@converts("Shape")
def _shape(builder, step):
    number = 2 if step.outputs[0].dtype == dtypes.int32 else 4
    builder.emit("SHAPE", step.inputs, step.outputs, "ShapeOptions", outType=number)


@converts("ArgMax", "ArgMin")
def _place_of_extreme(builder, step):
    x, axis = step.inputs
    number = 2 if step.outputs[0].dtype == dtypes.int32 else 4
    code = "ARG_MAX" if step.type == "ArgMax" else "ARG_MIN"
    builder.emit(code, [x, builder.integers(axis)], step.outputs, f"{step.type}Options", outputType=number)


@converts("OneHot")
def _one_hot(builder, step):
    indices, depth, on, off = step.inputs
    builder.emit(
        "ONE_HOT", [builder.integers(indices), builder.integers(depth), on, off], step.outputs, "OneHotOptions",
        axis=int(step.attrs["axis"]),
    )  # fmt: skip


@converts("Cumsum")
def _running_sum(builder, step):
    x, axis = step.inputs
    builder.emit(
        "CUMSUM", [x, builder.integers(axis)], step.outputs, "CumsumOptions", exclusive=bool(step.attrs["exclusive"]),
        reverse=bool(step.attrs["reverse"]),
    )  # fmt: skip


@converts("ReverseV2")
def _reversed(builder, step):
    x, axes = step.inputs
    if len(np.atleast_1d(builder.known(axes, "axis"))) != 1:
        raise Unsupported("one axis is reversed at a time")
    builder.emit("REVERSE_V2", [x, builder.integers(axes)], step.outputs, "ReverseV2Options")


@converts("ResizeBilinear", "ResizeNearestNeighbor")
def _resized(builder, step):
    x, size = step.inputs
    code = "RESIZE_BILINEAR" if step.type == "ResizeBilinear" else "RESIZE_NEAREST_NEIGHBOR"
    builder.emit(
        code, [x, builder.integers(size)], step.outputs, f"{step.type}Options",
        version=3 if step.attrs["half_pixel_centers"] else 1,
        alignCorners=bool(step.attrs["align_corners"]), halfPixelCenters=bool(step.attrs["half_pixel_centers"]),
    )  # fmt: skip


@converts("SpaceToDepth", "DepthToSpace")
def _blocks(builder, step):
    code = "SPACE_TO_DEPTH" if step.type == "SpaceToDepth" else "DEPTH_TO_SPACE"
    builder.emit(code, step.inputs, step.outputs, f"{step.type}Options", blockSize=int(step.attrs["block_size"]))
