"""Images and volumes: three-dimensional convolutions and pools, patches, resizing by matrices, local normalization."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor
from headrace._src.lite.building import Unsupported, converts

_PADDING = {"SAME": 0, "VALID": 1}


def _sizes(step, name):
    """Depth, height and width of an attribute."""
    if step.attrs.get("data_format", "NDHWC") != "NDHWC":
        raise Unsupported("data_format must be NDHWC")
    batch, *sizes, channels = step.attrs.get(name) or [1, 1, 1, 1, 1]
    if batch != 1 or channels != 1:
        raise Unsupported(f"{name} must be 1 for batches and channels")
    return [int(size) for size in sizes]


def _volume_options(step):
    if step.attrs["padding"] not in _PADDING:
        raise Unsupported("explicit padding has no counterpart")
    (depth, height, width), (deep, down, across) = _sizes(step, "strides"), _sizes(step, "dilations")
    return {
        "padding": _PADDING[step.attrs["padding"]], "strideD": depth, "strideH": height, "strideW": width,
        "dilationDFactor": deep, "dilationHFactor": down, "dilationWFactor": across,
    }  # fmt: skip


@converts("Conv3D")
def _conv(builder, step):
    builder.emit("CONV_3D", step.inputs, step.outputs, "Conv3DOptions", **_volume_options(step))


@converts("Conv3DBackpropInputV2")
def _transposed_conv(builder, step):
    sizes, filters, x = step.inputs
    inputs = [builder.integers(sizes), filters, x]
    builder.emit("CONV_3D_TRANSPOSE", inputs, step.outputs, "Conv3DOptions", **_volume_options(step))


@converts("MaxPool3D", "AvgPool3D")
def _pool(builder, step):
    """A pool of planes, and then one of their sequence: maxima and means of all parts are those of parts."""
    x = builder.tensor(step.inputs[0])
    output = builder.tensor(step.outputs[0])
    if None in (x.shape or [None])[1:] or None in (output.shape or [None])[1:]:
        raise Unsupported("sizes but that of the batch must be known when the model is converted")
    depth, height, width, channels = x.shape[1:]
    deeper, higher, wider, _ = output.shape[1:]
    (near, down, across), (deep, tall, wide) = _sizes(step, "strides"), _sizes(step, "ksize")
    code = "MAX_POOL_2D" if step.type == "MaxPool3D" else "AVERAGE_POOL_2D"
    padding = _PADDING[step.attrs["padding"]]

    def pooled(source, dims, strides, window):
        return builder.compute(
            code, [source], dims, x.dtype, "Pool2DOptions", padding=padding, strideH=strides[0], strideW=strides[1],
            filterHeight=window[0], filterWidth=window[1],
        )  # fmt: skip

    planes = builder.reshaped(x, [None, height, width, channels])
    planes = pooled(planes, [None, higher, wider, channels], (down, across), (tall, wide))
    rows = builder.reshaped(planes, [None, depth, higher * wider, channels])
    rows = pooled(rows, [None, deeper, higher * wider, channels], (near, 1), (deep, 1))
    shape = builder.constant([-1, deeper, higher, wider, channels], dtypes.int32)
    builder.emit("RESHAPE", [rows, shape], [output], "ReshapeOptions", newShape=shape.value)


@converts("LRN")
def _local_normalization(builder, step):
    numbers = {name: float(step.attrs[name]) for name in ("bias", "alpha", "beta")}
    builder.emit(
        "LOCAL_RESPONSE_NORMALIZATION", step.inputs, step.outputs, "LocalResponseNormalizationOptions",
        radius=int(step.attrs["depth_radius"]), **numbers,
    )  # fmt: skip


@converts("ExtractImagePatches")
def _patches(builder, step):
    """A convolution whose filters take one number each."""
    x = step.inputs[0]
    channels = x.shape.as_list()[-1] if x.shape.rank else None
    if channels is None or x.dtype != dtypes.float32:
        raise Unsupported("the number of channels must be known, and numbers float32")
    (_, rows, columns, _), (_, down, across, _) = step.attrs["ksizes"], step.attrs["strides"]
    _, low, right, _ = step.attrs["rates"]
    count = rows * columns * channels
    filters = builder.constant(np.eye(count, dtype=np.float32).reshape(count, rows, columns, channels))
    bias = builder.constant(np.zeros(count, np.float32))
    builder.emit(
        "CONV_2D", [x, filters, bias], step.outputs, "Conv2DOptions", padding=_PADDING[step.attrs["padding"]],
        strideH=int(down), strideW=int(across), dilationHFactor=int(low), dilationWFactor=int(right),
    )  # fmt: skip


@converts("ResizeBicubic", "ResizeArea", "ScaleAndTranslate")
def _resized(builder, step):
    """Resizing is a product with a matrix along each axis; the op itself tells them, from single points."""
    x = builder.tensor(step.inputs[0])
    output = builder.tensor(step.outputs[0])
    if x.shape is None or None in x.shape[1:] or output.shape is None or None in output.shape[1:]:
        raise Unsupported("sizes but that of the batch must be known when the model is converted")
    _, height, width, channels = x.shape
    _, higher, wider, _ = output.shape
    if x.dtype != dtypes.float32:
        x = builder.cast(x, dtypes.float32)
    vertical = _matrix(builder, step, height, higher, 0)
    horizontal = _matrix(builder, step, width, wider, 1)
    columns = builder.reshaped(x, [None, height, width * channels])
    columns = _product(builder, vertical, columns, [None, higher, width * channels])
    rows = builder.reshaped(columns, [None, width, channels])
    rows = _product(builder, horizontal, rows, [None, wider, channels])
    shape = builder.constant([-1, higher, wider, channels], dtypes.int32)
    builder.emit("RESHAPE", [rows, shape], [output], "ReshapeOptions", newShape=shape.value)


def _product(builder, matrix, x, dims):
    return builder.compute("BATCH_MATMUL", [matrix, x], dims, x.dtype, "BatchMatMulOptions")


def _matrix(builder, step, before, after, axis):
    """How numbers along an axis become those of another size: what the op makes of images with one point each."""
    points = np.eye(before, dtype=np.float32)
    images = points.reshape((1, before, 1, before) if axis == 0 else (1, 1, before, before))
    sizes = [1, 1]
    sizes[axis] = after
    others = [EagerTensor(np.array(sizes, np.int32), dtypes.int32)]
    for tensor in step.inputs[2:]:  # a scale and an offset of each axis
        given = np.array(builder.known(tensor, "scale"), np.float32)
        given[1 - axis] = 1.0 if tensor is step.inputs[2] else 0.0
        others.append(EagerTensor(given, dtypes.float32))
    names = ("align_corners", "half_pixel_centers", "kernel_type", "antialias")
    attrs = {name: step.attrs[name] for name in names if name in step.attrs}
    made = step.record(EagerTensor(images, dtypes.float32), *others, **attrs)
    return builder.constant(np.asarray(made._a).reshape(1, after, before), dtypes.float32)
