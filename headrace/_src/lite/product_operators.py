"""Products: dense layers, convolutions, pools, batches of matrices."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.lite.building import Unsupported, converts
from headrace._src.lite.models import LiteTensor
from headrace._src.lite.terms import Term

_PADDING = {"SAME": 0, "VALID": 1}


@converts("MatMul")
def _matmul(builder, step):
    a, b = step.inputs
    weights = builder.value(b)
    if weights is None or a.dtype != dtypes.float32 or step.attrs["transpose_a"]:
        _batch_matmul(builder, step, bool(step.attrs["transpose_a"]), bool(step.attrs["transpose_b"]))
        return
    kernel = weights if step.attrs["transpose_b"] else np.ascontiguousarray(weights.T)
    builder.emit(
        "FULLY_CONNECTED", [a, builder.constant(kernel, name=builder.tensor(b).name), None], step.outputs,
        "FullyConnectedOptions",
    )  # fmt: skip


@converts("BatchMatMulV2", "BatchMatMul", "BatchMatMulV3")
def _batch_product(builder, step):
    _batch_matmul(builder, step, bool(step.attrs["adj_x"]), bool(step.attrs["adj_y"]))


def _batch_matmul(builder, step, x_transposed, y_transposed):
    x, y = step.inputs
    weights = builder.value(y)
    rank = x.shape.rank
    if weights is not None and not x_transposed and rank is not None and x.dtype == dtypes.float32:
        if weights.ndim <= rank and weights.size == np.prod(weights.shape[-2:]):  # one matrix for all
            matrix = weights.reshape(weights.shape[-2:])
            kernel = matrix if y_transposed else np.ascontiguousarray(matrix.T)
            kernel = builder.constant(kernel, name=builder.tensor(y).name)
            builder.emit(
                "FULLY_CONNECTED", [x, kernel, None], step.outputs, "FullyConnectedOptions",
                version=1 if rank == 2 else 5, keepNumDims=rank != 2,
            )  # fmt: skip
            return
    builder.emit("BATCH_MATMUL", step.inputs, step.outputs, "BatchMatMulOptions", adjX=x_transposed, adjY=y_transposed)


def _window(step, name="strides"):
    """Height and width of an attribute of a convolution or pool."""
    if step.attrs.get("data_format", "NHWC") != "NHWC":
        raise Unsupported("data_format must be NHWC")
    batch, height, width, channels = step.attrs.get(name) or [1, 1, 1, 1]
    if batch != 1 or channels != 1:
        raise Unsupported(f"{name} must be 1 for batches and channels")
    return int(height), int(width)


def _padding(builder, step, x):
    """The padding of a convolution, and its input: explicit padding is an operator before it."""
    kind = step.attrs["padding"]
    if kind != "EXPLICIT":
        return _PADDING[kind], x
    sizes = np.asarray(step.attrs["explicit_paddings"], np.int32).reshape(4, 2)
    dims = None if x.shape.rank is None else [
        None if size is None else size + int(more) for size, more in zip(x.shape.as_list(), sizes.sum(1))
    ]  # fmt: skip
    padded = LiteTensor(f"{step.name}/padded", x.dtype, dims)
    builder.emit("PAD", [x, builder.constant(sizes)], [padded], "PadOptions")
    return _PADDING["VALID"], padded


def _moved(builder, filters, places):
    """Filters with their axes in another order."""
    held = builder.tensor(filters)
    if held.value is not None:
        return builder.constant(np.ascontiguousarray(held.value.transpose(places)), name=held.name)
    dims = [None] * 4 if held.shape is None else [held.shape[place] for place in places]
    order = builder.constant(places, dtypes.int32)
    return builder.compute("TRANSPOSE", [held, order], dims, held.dtype, "TransposeOptions")


@converts("Conv2D")
def _conv(builder, step):
    x, filters = step.inputs
    height, width = _window(step)
    down, across = _window(step, "dilations")
    padding, source = _padding(builder, step, x)
    kernel = _moved(builder, filters, (3, 0, 1, 2))
    if kernel.shape[0] is None:
        raise Unsupported("the number of filters must be known when the model is converted")
    bias = builder.constant(np.zeros(kernel.shape[0], np.float32), name=f"{step.name}/bias")
    builder.emit(
        "CONV_2D", [source, kernel, bias], step.outputs, "Conv2DOptions", padding=padding, strideW=width,
        strideH=height, dilationWFactor=across, dilationHFactor=down,
    )  # fmt: skip


@converts("DepthwiseConv2dNative")
def _depthwise(builder, step):
    x, filters = step.inputs
    height, width = _window(step)
    down, across = _window(step, "dilations")
    padding, source = _padding(builder, step, x)
    weights = builder.known(filters, "filters")
    rows, columns, channels, multiplier = weights.shape
    flat = np.ascontiguousarray(weights.reshape(1, rows, columns, channels * multiplier))
    kernel = builder.constant(flat, name=builder.tensor(filters).name)
    bias = builder.constant(np.zeros(flat.shape[3], np.float32), name=f"{step.name}/bias")
    builder.emit(
        "DEPTHWISE_CONV_2D", [source, kernel, bias], step.outputs, "DepthwiseConv2DOptions", padding=padding,
        strideW=width, strideH=height, depthMultiplier=multiplier, dilationWFactor=across, dilationHFactor=down,
    )  # fmt: skip


@converts("Conv2DBackpropInput")
def _transposed_conv(builder, step):
    sizes, filters, x = step.inputs
    height, width = _window(step)
    if step.attrs["padding"] == "EXPLICIT" or _window(step, "dilations") != (1, 1):
        raise Unsupported("explicit padding and dilations have no counterpart")
    builder.emit(
        "TRANSPOSE_CONV", [builder.integers(sizes), _moved(builder, filters, (2, 0, 1, 3)), x],
        step.outputs, "TransposeConvOptions", padding=_PADDING[step.attrs["padding"]], strideW=width, strideH=height,
    )  # fmt: skip


@converts("MaxPool", "AvgPool")
def _pool(builder, step):
    if step.attrs["padding"] == "EXPLICIT":
        raise Unsupported("explicit padding has no counterpart")
    height, width = _window(step)
    rows, columns = _window(step, "ksize")
    code = "MAX_POOL_2D" if step.type == "MaxPool" else "AVERAGE_POOL_2D"
    builder.emit(
        code, step.inputs, step.outputs, "Pool2DOptions", padding=_PADDING[step.attrs["padding"]], strideW=width,
        strideH=height, filterWidth=columns, filterHeight=rows,
    )  # fmt: skip


@converts("FusedBatchNormV3", "FusedBatchNorm", "FusedBatchNormV2")
def _batch_norm(builder, step):
    if step.attrs["is_training"] or step.attrs.get("data_format", "NHWC") != "NHWC":
        raise Unsupported("only inference, in NHWC")
    x, *others = step.inputs
    if any(builder.value(one) is None for one in others):
        scale, offset, mean, variance = (Term(builder, one) for one in others)
        factor = scale * (variance + float(step.attrs["epsilon"])).of("RSQRT")
        scaled = Term(builder, x) * factor
        (scaled + (offset - mean * factor)).become(step.outputs[0])
        return
    scale, offset, mean, variance = (builder.known(one, "statistics") for one in others)
    factor = (scale / np.sqrt(variance + step.attrs["epsilon"])).astype(np.float32)
    output = builder.tensor(step.outputs[0])
    scaled = LiteTensor(f"{output.name}/scaled", output.dtype, output.shape)
    builder.emit("MUL", [x, builder.constant(factor)], [scaled], "MulOptions")
    builder.emit("ADD", [scaled, builder.constant((offset - mean * factor).astype(np.float32))], [output], "AddOptions")
