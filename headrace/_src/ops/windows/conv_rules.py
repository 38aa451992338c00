"""The rules that convolution ops share: checks of shapes and attributes, kernels, lowerings, inference."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import jax, jnp, lax
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import NoRule, merging, unstacked
from headrace._src.op.infer import shape_from_value
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.linalg.matmul import lowered_product
from headrace._src.ops.windows import conv_kernels
from headrace._src.ops.windows.lowering import by_taps, computed_once
from headrace._src.ops.windows.placement import (
    CHANNELS_FIRST,
    CHANNELS_LAST,
    Layout,
    Windows,
    check_elements,
    explicit_entries,
    layout_of,
    output_size,
    resolve,
    spatial_entries,
)

_FILTER_LETTERS = {1: "WIO", 2: "HWIO", 3: "DHWIO"}


@lru_cache(maxsize=512)
def plan(
    op: str,
    dims: int,
    input_shape: tuple[int, ...],
    filter_shape: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str,
    explicit_paddings: tuple[int, ...],
    data_format: str,
    dilations: tuple[int, ...],
) -> tuple[Layout, Windows]:
    """The layout and the windows of a convolution, after checking all that shapes and attributes say."""
    layout = layout_of(op, data_format, dims)
    for name, shape in (("input", input_shape), ("filter", filter_shape)):
        if len(shape) != layout.rank:
            raise errors.invalid_argument(
                f"{op}: {name} must have {layout.rank} dimensions, got shape {shape}."
            )
    stride = spatial_entries(op, "strides", strides, layout)
    dilation = spatial_entries(op, "dilations", dilations, layout)
    pairs = explicit_entries(op, padding, explicit_paddings, layout)
    channels = input_shape[layout.channel]
    inputs, outputs = filter_shape[-2:]
    if prod(filter_shape[:-1]) == 0:
        raise errors.invalid_argument(f"{op}: filter must not be empty, got shape {filter_shape}.")
    if channels % inputs:
        raise errors.invalid_argument(
            f"{op}: the {channels} channels of input must be a multiple of the {inputs} of filter, "
            f"got shapes {input_shape} and {filter_shape}."
        )
    groups = channels // inputs
    if groups and outputs % groups:
        raise errors.invalid_argument(
            f"{op}: the {outputs} outputs of filter must be a multiple of the {groups} groups "
            f"that {channels} input channels make, got filter shape {filter_shape}."
        )
    size = tuple(input_shape[a] for a in layout.spatial)
    windows = resolve(op, size, filter_shape[:-2], stride, dilation, padding, pairs)
    check_elements(op, "the result's shape", (input_shape[0], *windows.output, outputs))
    return layout, windows


def result_shape(layout: Layout, batch, spatial, channels) -> tuple:
    """A shape in the order of a layout."""
    if layout.channel == 1:
        return (batch, channels, *spatial)
    return (batch, *spatial, channels)


def _plan(op, dims, input_shape, filter_shape, strides, padding, explicit_paddings, data_format, dilations):
    return plan(
        op,
        dims,
        tuple(input_shape),
        tuple(filter_shape),
        tuple(strides),
        padding,
        tuple(explicit_paddings or ()),
        data_format,
        tuple(dilations),
    )


def _last(a, layout):
    """An array with its channels last; a view."""
    order = layout.to_channels_last
    return a if order is None else a.transpose(order)


def _back(a, layout):
    order = layout.from_channels_last
    return a if order is None else a.transpose(order)


def _check_gradient(op, dy_shape, layout, windows, batch, outputs):
    wanted = result_shape(layout, batch, windows.output, outputs)
    if tuple(dy_shape) != wanted:
        raise errors.invalid_argument(
            f"{op}: out_backprop must have shape {wanted}, which the other arguments give, "
            f"got {tuple(dy_shape)}."
        )


def full_input_shape(op, sizes, filter_shape, dy_shape, layout) -> tuple[int, ...]:
    """The input's shape from an `input_sizes` argument, which may hold the spatial sizes alone."""
    if sizes.ndim != 1 or len(sizes) not in (layout.rank, layout.rank - 2):
        raise errors.invalid_argument(
            f"{op}: input_sizes must be a vector of {layout.rank} or {layout.rank - 2} entries, "
            f"got shape {sizes.shape}."
        )
    if len(dy_shape) != layout.rank or len(filter_shape) != layout.rank:
        raise errors.invalid_argument(
            f"{op}: filter and out_backprop must have {layout.rank} dimensions, "
            f"got shapes {tuple(filter_shape)} and {tuple(dy_shape)}."
        )
    shape = tuple(int(n) for n in sizes)
    if len(shape) < layout.rank:
        shape = result_shape(layout, dy_shape[0], shape, filter_shape[-2])
    return check_elements(op, "input_sizes", shape)


def full_filter_shape(op, sizes, rank) -> tuple[int, ...]:
    """The filter's shape from a `filter_sizes` argument."""
    if sizes.ndim != 1 or len(sizes) != rank:
        raise errors.invalid_argument(
            f"{op}: filter_sizes must be a vector of {rank} entries, got shape {sizes.shape}."
        )
    return check_elements(op, "filter_sizes", sizes)


def forward(op, dims, input, filter, strides, padding, data_format, dilations, explicit_paddings=(), **_):
    layout, windows = _plan(
        op, dims, input.shape, filter.shape, strides, padding, explicit_paddings, data_format, dilations
    )
    return _back(conv_kernels.forward(_last(input, layout), filter, windows), layout)


def _gradient_plan(op, dims, input_shape, filter_shape, dy_shape, attrs):
    layout, windows = _plan(
        op,
        dims,
        input_shape,
        filter_shape,
        attrs["strides"],
        attrs["padding"],
        attrs.get("explicit_paddings"),
        attrs["data_format"],
        attrs["dilations"],
    )
    _check_gradient(op, dy_shape, layout, windows, input_shape[0], filter_shape[-1])
    return layout, windows


def input_gradient(op, dims, sizes, filter, dy, **attrs):
    layout = layout_of(op, attrs["data_format"], dims)
    shape = full_input_shape(op, sizes, filter.shape, dy.shape, layout)
    layout, windows = _gradient_plan(op, dims, shape, filter.shape, dy.shape, attrs)
    dx = conv_kernels.input_gradient(_last(dy, layout), filter, shape[layout.channel], windows)
    return _back(dx, layout)


def filter_gradient(op, dims, input, sizes, dy, **attrs):
    shape = full_filter_shape(op, sizes, dims + 2)
    if prod(shape) == 0 and min(input.ndim, dy.ndim) == dims + 2:
        return np.zeros(shape, input.dtype)
    layout, windows = _gradient_plan(op, dims, input.shape, shape, dy.shape, attrs)
    return conv_kernels.filter_gradient(_last(input, layout), _last(dy, layout), shape[-2], windows)


# Of so few products to a number of the result, XLA makes one loop that takes a third of its convolutions' time.
_FEW_PRODUCTS = 32


def _is_wide(x):
    return x.dtype in (jnp.float32, jnp.float64)  # others are added up in float32


def xla_forward(x, filter, layout, w):
    """A convolution on jax values."""
    if x.size == 0:
        return jnp.zeros(result_shape(layout, x.shape[0], w.output, filter.shape[-1]), x.dtype)
    if _is_wide(x) and prod(filter.shape[:-1]) <= _FEW_PRODUCTS and x.shape[layout.channel] == filter.shape[-2]:
        return by_taps(x, filter, layout.channel, layout.spatial, w)
    return _xla_convolution(x, filter, layout, w)


def _xla_convolution(x, filter, layout, w):
    data = (CHANNELS_FIRST if layout.channel == 1 else CHANNELS_LAST)[len(layout.spatial)]
    return lax.conv_general_dilated(
        x,
        filter,
        window_strides=w.stride,
        padding=list(zip(w.before, w.after, strict=True)),
        rhs_dilation=w.dilation,
        dimension_numbers=(data, _FILTER_LETTERS[len(layout.spatial)], data),
        feature_group_count=x.shape[layout.channel] // filter.shape[-2],
    )


def _is_one_product(w):
    """Whether each window reads one position of the data."""
    return set(w.window) == {1} and not any(w.before + w.after)


def _input_gradient_by_product(dy, filter, w):
    """The gradients times all taps of the filter as one product; what belongs to a tap then goes where the tap reads.

    XLA's convolution turns the filter round first. That costs more than the additions here where the filter is large
    and the images are small: docs/decisions/0049.
    """
    inputs, outputs = filter.shape[-2:]
    products = lowered_product(dy.reshape(-1, outputs), filter.reshape(-1, outputs).T)
    products = products.reshape(*dy.shape[:-1], -1)
    total = None
    for number, tap in enumerate(np.ndindex(w.window)):
        part = lax.slice_in_dim(products, number * inputs, (number + 1) * inputs, axis=-1)
        edges = []
        for size, k, stride, dilation, before, output in zip(
            w.input, tap, w.stride, w.dilation, w.before, w.output, strict=True
        ):
            low = k * dilation - before
            edges.append((low, size - low - (output - 1) * stride - 1, stride - 1))
        part = lax.pad(part, jnp.zeros((), part.dtype), [(0, 0, 0), *edges, (0, 0, 0)])
        total = part if total is None else total + part
    return total


# From so many channels on one of both sides, it pays to turn the data round in memory.
_MANY_CHANNELS = 128


def _sum_of_outer_products(x, dy, layout, w):
    """Of data and gradients, over all images and positions: the filter's gradient where windows are one position."""
    steps = dict(zip(layout.spatial, w.stride, strict=True))
    taken = x[tuple(slice(None, None, steps.get(axis)) for axis in range(x.ndim))]
    inputs, outputs = x.shape[layout.channel], dy.shape[layout.channel]
    if layout.channel == 1 or max(inputs, outputs) < _MANY_CHANNELS:
        axes = (0, *layout.spatial)
        return lax.dot_general(taken, dy, ((axes, axes), ((), ())))
    # Else XLA turns it round in a loop in which it computes the data anew, from as far back as it can.
    turned = computed_once(lambda: taken.reshape(-1, inputs).T, (inputs, taken.size // inputs), x)
    return lowered_product(turned, dy.reshape(-1, outputs))


def xla_input_gradient(dy, filter, shape, layout, w):
    """A transposed convolution by XLA: the filters turned round, over gradients spread by the strides."""
    if dy.size == 0 or 0 in shape:
        return jnp.zeros(shape, dy.dtype)
    inputs, outputs = filter.shape[-2:]
    groups = shape[layout.channel] // inputs
    is_simple = _is_one_product(w) or (_is_wide(dy) and prod(w.window) <= _FEW_PRODUCTS and filter.size >= dy.size)
    if is_simple and groups == 1 and layout.channel != 1:
        return _input_gradient_by_product(dy, filter, w)
    turned = jnp.flip(filter, tuple(range(len(w.window))))
    turned = turned.reshape(*w.window, inputs, groups, outputs // groups)
    turned = jnp.swapaxes(turned, -3, -1).reshape(*w.window, outputs // groups, groups * inputs)
    padding = []
    for size, window, stride, dilation, before, _, output in zip(*w, strict=True):
        reach = (window - 1) * dilation
        low = reach - before
        padding.append((low, size - (output - 1) * stride - 1 + reach - low))
    data = (CHANNELS_FIRST if layout.channel == 1 else CHANNELS_LAST)[len(layout.spatial)]
    return lax.conv_general_dilated(
        dy,
        turned,
        window_strides=(1,) * len(w.stride),
        padding=padding,
        lhs_dilation=w.stride,
        rhs_dilation=w.dilation,
        dimension_numbers=(data, _FILTER_LETTERS[len(layout.spatial)], data),
        feature_group_count=groups,
    )


def xla_filter_gradient(x, shape, dy, layout, w):
    """The gradient by a filter of that shape, by XLA."""
    if x.size == 0 or dy.size == 0:
        return jnp.zeros(shape, x.dtype)
    if _is_one_product(w) and x.shape[layout.channel] == shape[-2]:
        return _sum_of_outer_products(x, dy, layout, w).reshape(shape)

    described = jax.ShapeDtypeStruct(shape, x.dtype)
    return jax.linear_transpose(lambda filter: _xla_convolution(x, filter, layout, w), described)(dy)[0]


def lower_forward(
    op, dims, ctx, input, filter, strides, padding, data_format, dilations, explicit_paddings=(), **_
):
    layout, windows = _plan(
        op, dims, input.shape, filter.shape, strides, padding, explicit_paddings, data_format, dilations
    )
    return xla_forward(input, filter, layout, windows)


def lower_input_gradient(op, dims, ctx, sizes, filter, dy, **attrs):
    layout = layout_of(op, attrs["data_format"], dims)
    shape = full_input_shape(op, np.asarray(sizes), filter.shape, dy.shape, layout)
    layout, windows = _gradient_plan(op, dims, shape, filter.shape, dy.shape, attrs)
    return xla_input_gradient(dy, filter, shape, layout, windows)


def lower_filter_gradient(op, dims, ctx, input, sizes, dy, **attrs):
    shape = full_filter_shape(op, np.asarray(sizes), dims + 2)
    if prod(shape) == 0:
        return jnp.zeros(shape, input.dtype)
    layout, windows = _gradient_plan(op, dims, input.shape, shape, dy.shape, attrs)
    return xla_filter_gradient(input, shape, dy, layout, windows)


def infer_forward(
    op, dims, input, filter, strides, padding, data_format, dilations, explicit_paddings=(), **_
):
    layout = layout_of(op, data_format, dims)
    if input.shape.is_fully_defined() and filter.shape.is_fully_defined():
        x, f = tuple(input.shape.as_list()), tuple(filter.shape.as_list())
        _, windows = _plan(op, dims, x, f, strides, padding, explicit_paddings, data_format, dilations)
        return TensorShape(result_shape(layout, x[0], windows.output, f[-1]))
    return infer_windows(
        op, layout, input.shape, filter.shape, strides, padding, explicit_paddings, dilations
    )


def infer_windows(
    op, layout, input_shape, filter_shape, strides, padding, explicit_paddings, dilations
):
    """The result's shape where some dims are not known; its channels are the last dim of the filter.

    Args:
        op: The op's name.
        layout: The data's layout.
        input_shape: The data's `TensorShape`.
        filter_shape: The `TensorShape` of (*window, ..., outputs).
        strides: As the op's attribute.
        padding: As the op's attribute.
        explicit_paddings: As the op's attribute.
        dilations: As the op's attribute.
    """
    unknown = [None] * layout.rank
    x = unknown if input_shape.rank is None else input_shape.as_list()
    f = unknown if filter_shape.rank is None else filter_shape.as_list()
    for name, shape in (("input", x), ("filter", f)):
        if len(shape) != layout.rank:
            raise errors.invalid_argument(
                f"{op}: {name} must have {layout.rank} dimensions, got shape {tuple(shape)}."
            )
    stride = spatial_entries(op, "strides", strides, layout)
    dilation = spatial_entries(op, "dilations", dilations, layout)
    pairs = explicit_entries(op, padding, explicit_paddings, layout)
    spatial = [
        output_size(op, x[a], f[i], stride[i], dilation[i], padding, pairs and pairs[i])[0]
        for i, a in enumerate(layout.spatial)
    ]
    return TensorShape(result_shape(layout, x[0], spatial, f[-1]))


def infer_input_gradient(op, dims, sizes, filter, dy, data_format, **_):
    """The shape that `input_sizes` describes."""
    layout = layout_of(op, data_format, dims)
    shape = shape_from_value(sizes)
    if shape.rank == dims:
        batch = None if dy.shape.rank is None else dy.shape[0]
        channels = None if filter.shape.rank is None else filter.shape[-2]
        return TensorShape(result_shape(layout, batch, shape.as_list(), channels))
    return TensorShape([None] * layout.rank) if shape.rank is None else shape


def infer_filter_gradient(op, dims, input, sizes, dy, **_):
    """The shape that `filter_sizes` describes."""
    shape = shape_from_value(sizes)
    return TensorShape([None] * (dims + 2)) if shape.rank is None else shape


# Vectorization. With another filter for each element, its outputs become further channels.


def _check_channels_last(node):
    if not node.attrs["data_format"].endswith("C"):
        raise NoRule("its channels are not the last axis")


def _into_channels(batch, tensor):
    """[batch, a, ..., channels] to [a, ..., batch * channels]."""
    rank = tensor.shape.rank
    moved = TRANSPOSE(tensor, [*range(1, rank - 1), 0, rank - 1])
    return RESHAPE(moved, batch.join(SHAPE(moved)[: rank - 2], [-1]))


def _from_channels(batch, tensor):
    """[a, ..., batch * channels] to [batch, a, ..., channels]."""
    rank = tensor.shape.rank
    split = RESHAPE(tensor, batch.join(SHAPE(tensor)[: rank - 1], batch.size_vector(), [-1]))
    return TRANSPOSE(split, [rank - 1, *range(rank - 1), rank])


def vectorize_forward(batch, node, x, filters):
    if not filters.stacked:
        return merging().stacked(batch, node, x, filters)
    if x.stacked:
        raise NoRule("its filters differ between elements")
    _check_channels_last(node)
    (y,) = batch.apply(node, [x, _into_channels(batch, filters.tensor)])
    return _from_channels(batch, y)


def vectorize_input_gradient(batch, node, sizes, filters, dy):
    images, count = batch.merged(dy)
    inputs = [batch.larger(unstacked(sizes, "sizes")), unstacked(filters, "filters"), images]
    return batch.parted(*batch.apply(node, inputs), count)


def vectorize_filter_gradient(batch, node, x, sizes, dy):
    _check_channels_last(node)
    shape = unstacked(sizes, "sizes")
    last = shape.shape[0] - 1
    if not x.stacked:
        (df,) = batch.apply(node, [x, batch.larger(shape, last), _into_channels(batch, dy.tensor)])
        return _from_channels(batch, df)
    if dy.stacked:
        raise NoRule("its images and its gradients both differ between elements")
    (df,) = batch.apply(node, [_into_channels(batch, x.tensor), batch.larger(shape, last - 1), dy])
    # [..., batch * inputs, outputs]
    rank, dims = df.shape.rank, SHAPE(df)
    split = RESHAPE(df, batch.join(dims[: rank - 2], batch.size_vector(), [-1], dims[rank - 1 :]))
    return TRANSPOSE(split, [rank - 2, *range(rank - 2), rank - 1, rank])
