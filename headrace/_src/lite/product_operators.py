"""Products: dense layers, convolutions, pools, batches of matrices."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.lite.building import Unsupported, converts
from headrace._src.lite.models import LiteTensor

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


@converts("Conv2D")
def _conv(builder, step):
    x, filters = step.inputs
    height, width = _window(step)
    down, across = _window(step, "dilations")
    padding, source = _padding(builder, step, x)
    weights = np.ascontiguousarray(builder.known(filters, "filters").transpose(3, 0, 1, 2))
    kernel = builder.constant(weights, name=builder.tensor(filters).name)
    bias = builder.constant(np.zeros(weights.shape[0], np.float32), name=f"{step.name}/bias")
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
    weights = np.ascontiguousarray(builder.known(filters, "filters").transpose(2, 0, 1, 3))
    builder.emit(
        "TRANSPOSE_CONV", [builder.integers(sizes), builder.constant(weights, name=builder.tensor(filters).name), x],
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
    scale, offset, mean, variance = (builder.known(one, "statistics") for one in others)
    factor = (scale / np.sqrt(variance + step.attrs["epsilon"])).astype(np.float32)
    output = builder.tensor(step.outputs[0])
    scaled = LiteTensor(f"{output.name}/scaled", output.dtype, output.shape)
    builder.emit("MUL", [x, builder.constant(factor)], [scaled], "MulOptions")
    builder.emit("ADD", [scaled, builder.constant((offset - mean * factor).astype(np.float32))], [output], "AddOptions")


@converts("Einsum")
def _einsum(builder, step):
    """Two factors: batches, what is summed over, and the rest, as batches of products of matrices."""
    if len(step.inputs) != 2 or "." in step.attrs["equation"]:
        raise Unsupported("only two factors without an ellipsis")
    factors, result = step.attrs["equation"].replace(" ", "").split("->")
    left, right = factors.split(",")
    if any(len(set(one)) != len(one) for one in (left, right, result)):
        raise Unsupported("a letter stands twice in a factor")
    sizes: dict[str, int | None] = {}
    for letters, tensor in zip((left, right), step.inputs):
        dims = tensor.shape.as_list() if tensor.shape.rank is not None else [None] * len(letters)
        sizes.update({letter: size for letter, size in zip(letters, dims) if size is not None})
    batch = [x for x in left if x in right and x in result]
    summed = [x for x in left if x in right and x not in result]
    rows, columns = ([x for x in one if x not in other] for one, other in ((left, right), (right, left)))
    if set(rows) - set(result) or set(columns) - set(result):
        raise Unsupported("a letter is summed over in one factor alone")
    a = _as_matrices(builder, step.inputs[0], left, [batch, rows, summed], sizes, f"{step.name}/a")
    b = _as_matrices(builder, step.inputs[1], right, [batch, summed, columns], sizes, f"{step.name}/b")
    dtype = step.outputs[0].dtype
    product = LiteTensor(f"{step.name}/product", dtype, [_product(sizes, g) for g in (batch, rows, columns)])
    builder.emit("BATCH_MATMUL", [a, b], [product], "BatchMatMulOptions")
    order = [*batch, *rows, *columns]
    spread = _reshaped(builder, product, [sizes.get(x) for x in order], f"{step.name}/spread")
    places = [order.index(x) for x in result]
    builder.emit("TRANSPOSE", [spread, builder.constant(places, dtypes.int32)], step.outputs, "TransposeOptions")


def _product(sizes, letters):
    found = [sizes.get(letter) for letter in letters]
    return None if None in found else int(np.prod(found, dtype=np.int64))


def _as_matrices(builder, tensor, letters, groups, sizes, name):
    """A factor with its letters in three groups, each one axis."""
    order = [letter for group in groups for letter in group]
    moved = LiteTensor(f"{name}/moved", tensor.dtype, [sizes.get(letter) for letter in order])
    places = builder.constant([letters.index(letter) for letter in order], dtypes.int32)
    builder.emit("TRANSPOSE", [tensor, places], [moved], "TransposeOptions")
    return _reshaped(builder, moved, [_product(sizes, group) for group in groups], name)


def _reshaped(builder, tensor, dims, name):
    if sum(size is None for size in dims) > 1:
        raise Unsupported("more than one size is not known")
    made = LiteTensor(name, tensor.dtype, dims)
    wanted = np.array([-1 if size is None else size for size in dims], np.int32)
    builder.emit("RESHAPE", [tensor, builder.constant(wanted)], [made], "ReshapeOptions", newShape=wanted)
    return made
