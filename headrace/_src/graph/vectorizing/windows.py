"""Rules of vectorization for convolutions, pooling and other ops on batches of images: the batches become one."""

from headrace._src.core import dtypes
from headrace._src.graph.vectorizing.rules import Batched, NoRule, rule, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import RESHAPE, SHAPE
from headrace._src.ops.math.arithmetic import ADD


def merged(batch, value):
    """A stacked value with the first axis of its elements joined to the batch, and the length of that axis."""
    tensor = batch.stack(value)
    shape = batch.shape_of_element(Batched(tensor, True))
    first, rest = (shape[:1], shape[1:])
    if isinstance(shape, list) and isinstance(batch.size, int):
        return RESHAPE(tensor, [batch.size * shape[0], *rest]), first
    return RESHAPE(tensor, batch.join([-1], rest)), first


def parted(batch, tensor, first):
    rest = tensor.shape[1:].as_list() if tensor.shape[1:].is_fully_defined() else SHAPE(tensor)[1:]
    return RESHAPE(tensor, batch.join(batch.size_vector(), first, rest))


@rule("AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D", "LRN", "DepthToSpace", "SpaceToDepth", "ExtractImagePatches",
      "ExtractVolumePatches")  # fmt: skip
def _images(batch, node, x):
    folded, first = merged(batch, x)
    return [parted(batch, y, first) for y in batch.apply(node, [folded])]


@rule("MaxPoolGrad", "MaxPoolGradGrad", "MaxPool3DGrad", "MaxPool3DGradGrad", "LRNGrad")
def _images_alike(batch, node, *inputs):
    folded = [merged(batch, x) for x in inputs]
    return [parted(batch, y, folded[0][1]) for y in batch.apply(node, [x for x, _ in folded])]


@rule("MaxPoolV2")
def _max_pool(batch, node, x, ksize, strides):
    folded, first = merged(batch, x)
    (y,) = batch.apply(node, [folded, unstacked(ksize, "window"), unstacked(strides, "strides")])
    return parted(batch, y, first)


@rule("AvgPoolGrad", "AvgPool3DGrad")
def _avg_pool_grad(batch, node, shape, dy):
    folded, first = merged(batch, dy)
    (dx,) = batch.apply(node, [larger(batch, unstacked(shape, "shape")), folded])
    return parted(batch, dx, first)


def larger(batch, sizes, at=0):
    """Sizes with the number of elements multiplied in at one place."""
    factors = [1] * sizes.shape[0]
    if isinstance(batch.size, int):
        factors[at] = batch.size
        return sizes * to_tensor(factors, sizes.dtype)
    ones = to_tensor([i == at for i in range(len(factors))])
    return sizes * SELECT_V2(ones, CAST(batch.size, DstT=sizes.dtype), to_tensor(1, sizes.dtype))


# Convolutions. With another filter for each element, its outputs become further channels.


def _channels_last(node):
    if not str(node.attrs.get("data_format", "NHWC")).endswith("C"):
        raise NoRule("its channels are not the last axis")


def _into_channels(batch, tensor):
    """[batch, a, ..., channels] to [a, ..., batch * channels]."""
    rank = tensor.shape.rank
    moved = TRANSPOSE(tensor, [*range(1, rank - 1), 0, rank - 1])
    shape = SHAPE(moved)
    return RESHAPE(moved, batch.join(shape[: rank - 2], [-1]))


def _from_channels(batch, tensor):
    """[a, ..., batch * channels] to [batch, a, ..., channels]."""
    rank = tensor.shape.rank
    shape = SHAPE(tensor)
    split = RESHAPE(tensor, batch.join(shape[: rank - 1], batch.size_vector(), [-1]))
    return TRANSPOSE(split, [rank - 1, *range(rank - 1), rank])


@rule("Conv2D", "Conv3D", "DepthwiseConv2dNative")
def _conv(batch, node, x, filters):
    if not filters.stacked:
        folded, first = merged(batch, x)
        (y,) = batch.apply(node, [folded, filters])
        return parted(batch, y, first)
    if x.stacked or node.record.name.startswith("Depthwise"):
        raise NoRule("its filters differ between elements")
    _channels_last(node)
    (y,) = batch.apply(node, [x, _into_channels(batch, filters.tensor)])
    return _from_channels(batch, y)


@rule("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput")
def _conv_backprop_input(batch, node, sizes, filters, dy):
    if filters.stacked:
        raise NoRule("its filters differ between elements")
    folded, first = merged(batch, dy)
    (dx,) = batch.apply(node, [larger(batch, unstacked(sizes, "sizes")), filters, folded])
    return parted(batch, dx, first)


@rule("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _conv_backprop_filter(batch, node, x, sizes, dy):
    _channels_last(node)
    shape = unstacked(sizes, "sizes")
    last = shape.shape[0] - 1
    if not x.stacked:
        (df,) = batch.apply(node, [x, larger(batch, shape, last), _into_channels(batch, dy.tensor)])
        return _from_channels(batch, df)
    if dy.stacked:
        raise NoRule("its images and its gradients both differ between elements")
    (df,) = batch.apply(node, [_into_channels(batch, x.tensor), larger(batch, shape, last - 1), dy])
    # [..., batch * inputs, outputs]
    rank = df.shape.rank
    dims = SHAPE(df)
    split = RESHAPE(df, batch.join(dims[: rank - 2], batch.size_vector(), [-1], dims[rank - 1 :]))
    return TRANSPOSE(split, [rank - 2, *range(rank - 2), rank - 1, rank])


@rule("BiasAdd", "BiasAddV1")
def _bias_add(batch, node, x, bias):
    if not str(node.attrs.get("data_format", "NHWC")).endswith("C"):
        if bias.stacked:
            raise NoRule("its bias differs between elements")
        folded, first = merged(batch, x)
        return parted(batch, batch.apply(node, [folded, bias])[0], first)
    inputs = [Batched(batch.stack(x), True), bias]
    return ADD(*batch.aligned(inputs))


@rule("BiasAddGrad")
def _bias_add_grad(batch, node, dy):
    rank = batch.rank(dy)
    channels = rank - 1 if str(node.attrs.get("data_format", "NHWC")).endswith("C") else 1
    axes = [i + 1 for i in range(rank) if i != channels]
    return SUM(dy.tensor, to_tensor(axes, dtypes.int32), keep_dims=False)


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(batch, node, x, *parameters):
    if node.attrs["is_training"]:
        raise NoRule("it normalizes over the images of an element")
    folded, first = merged(batch, x)
    y, *rest = batch.apply(node, [folded, *(unstacked(value, "parameter") for value in parameters)])
    return [parted(batch, y, first), *(Batched(value, False) for value in rest)]
