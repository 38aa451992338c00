"""Cutting images and volumes into patches: ExtractImagePatches, ExtractVolumePatches."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import merging
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.reductions import PROD
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM
from headrace._src.ops.windows.conv_rules import infer_windows
from headrace._src.ops.windows.lowering import tap_values
from headrace._src.ops.windows.placement import CHANNELS_LAST, LAYOUTS, check_elements, resolve, spatial_entries


def _windows(op, dims, shape, ksizes, strides, rates, padding):
    layout = LAYOUTS[CHANNELS_LAST[dims]]
    if len(shape) != layout.rank:
        raise errors.invalid_argument(
            f"{op}: the input must have {layout.rank} dimensions, got shape {shape}."
        )
    if padding not in ("SAME", "VALID"):
        raise errors.invalid_argument(f"{op}: padding must be 'SAME' or 'VALID', got {padding!r}.")
    for name, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if len(values) == layout.rank and min(values) < 1:
            raise errors.out_of_range(f"{op}: {name} must be positive, got {tuple(values)}.")
    windows = resolve(
        op,
        tuple(shape[1:-1]),
        spatial_entries(op, "ksizes", ksizes, layout),
        spatial_entries(op, "strides", strides, layout),
        spatial_entries(op, "rates", rates, layout),
        padding,
        None,
    )
    check_elements(op, "the result's shape", (shape[0], *windows.output, prod(windows.window) * shape[-1]))
    return windows


def _patches(op, dims, x, ksizes, strides, padding, rates=None):
    w = _windows(op, dims, x.shape, ksizes, strides, rates or [1] * (dims + 2), padding)
    batch, channels = x.shape[0], x.shape[-1]
    if any(w.before) or any(w.after):
        sizes = [sum(side) for side in zip(w.before, w.input, w.after, strict=True)]
        padded = np.zeros((batch, *sizes, channels), x.dtype)
        inner = (slice(b, b + n) for b, n in zip(w.before, w.input, strict=True))
        padded[(slice(None), *inner)] = x
        x = padded
    spatial = x.strides[1:-1]
    steps = [a * b for a, b in zip(spatial, w.stride, strict=True)]
    taps = [a * b for a, b in zip(spatial, w.dilation, strict=True)]
    shape = (batch, *w.output, *w.window, channels)
    if prod(shape) == 0:
        return np.zeros((batch, *w.output, prod(w.window) * channels), x.dtype)
    view = as_strided(x, shape, (x.strides[0], *steps, *taps, x.strides[-1]), writeable=False)
    return view.reshape(batch, *w.output, -1)


def _lower_patches(op, dims, x, ksizes, strides, padding, rates=None):
    w = _windows(op, dims, x.shape, ksizes, strides, rates or [1] * (dims + 2), padding)
    if x.size == 0 or 0 in w.output:
        return jnp.zeros((x.shape[0], *w.output, prod(w.window) * x.shape[-1]), x.dtype)
    parts = [value for _, value in tap_values(x, tuple(range(1, dims + 1)), w, 0)]
    return jnp.concatenate(parts, -1)


def _infer(op, dims, x, ksizes, strides, padding, rates=None):
    layout = LAYOUTS[CHANNELS_LAST[dims]]
    rates = rates or [1] * layout.rank
    window = spatial_entries(op, "ksizes", ksizes, layout)
    shape = infer_windows(
        op, layout, x.shape, TensorShape([*window, None, None]), strides, padding, (), rates
    ).as_list()
    channels = None if x.shape.rank is None else x.shape[-1]
    shape[-1] = None if channels is None else channels * prod(window)
    return TensorShape(shape)


def _patch_gradient(op, shape, dy, attrs):
    """Adds each patch's gradients to the positions that it was cut from.

    Patches of position numbers tell where each value came from; padding is number 0.
    """
    known = isinstance(shape, tuple)
    sizes = list(shape) if known else [shape[i] for i in range(dy.shape.rank)]
    batch, spatial, channels = sizes[0], sizes[1:-1], sizes[-1]
    count = prod(spatial) if known else PROD(shape[1:-1], [0])
    numbers = RESHAPE(RANGE(1, count + 1, 1), [1, *spatial, 1])
    where = RESHAPE(op(numbers, **attrs), [-1])
    # Values first, so that rows of (batch, channels) are summed by position.
    rows = TRANSPOSE(RESHAPE(dy, [batch, -1, channels]), [1, 0, 2])
    sums = UNSORTED_SEGMENT_SUM(rows, where, count + 1)
    return RESHAPE(TRANSPOSE(sums[1:], [1, 0, 2]), shape)


EXTRACT_IMAGE_PATCHES = Op(
    "ExtractImagePatches",
    "images: T, *, ksizes: list(int), strides: list(int), rates: list(int), padding: string -> patches: T",
    T=dtypes.NUMBER | dtypes.BOOL,
    infer=lambda images, **attrs: _infer("ExtractImagePatches", 2, images, **attrs),
    kernel=lambda images, **attrs: _patches("ExtractImagePatches", 2, images, **attrs),
    lower=lambda ctx, images, **attrs: _lower_patches("ExtractImagePatches", 2, images, **attrs),
    saves=("images_shape",),
    grad=lambda node, dy: (_patch_gradient(EXTRACT_IMAGE_PATCHES, node.images_shape, dy, node.attrs),),
    vectorize=merging(),
)

EXTRACT_VOLUME_PATCHES = Op(
    "ExtractVolumePatches",
    "input: T, *, ksizes: list(int), strides: list(int), padding: string -> patches: T",
    T=dtypes.REAL,
    infer=lambda input, **attrs: _infer("ExtractVolumePatches", 3, input, **attrs),
    kernel=lambda input, **attrs: _patches("ExtractVolumePatches", 3, input, **attrs),
    lower=lambda ctx, input, **attrs: _lower_patches("ExtractVolumePatches", 3, input, **attrs),
    saves=("input_shape",),
    grad=lambda node, dy: (_patch_gradient(EXTRACT_VOLUME_PATCHES, node.input_shape, dy, node.attrs),),
    vectorize=merging(),
)


@api("extract_volume_patches")
def extract_volume_patches(input, ksizes, strides, padding, name=None) -> Tensor:
    """Cuts volumes into patches, each put into the channels of its position.

    Args:
        input: data of shape (batch, depth, rows, columns, channels).
        ksizes: the patch's sizes, five numbers, of which the first and last are 1.
        strides: the distances between patches, five numbers.
        padding: "SAME" or "VALID".
        name: a name for the operation.

    >>> tf.extract_volume_patches(tf.ones((1, 4, 4, 4, 2)), [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID").shape
    TensorShape([1, 2, 2, 2, 16])
    """
    return EXTRACT_VOLUME_PATCHES(
        input, ksizes=ksizes, strides=strides, padding=padding, name=name
    )
