"""Fractional pooling: the ops and the public functions."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.random_state import draw_seeds
from headrace._src.core.shapes import TensorShape
from headrace._src.op.api import api
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import shape_from_value
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.random.bits import Philox
from headrace._src.ops.windows import fractional_pool_kernels as kernels
from headrace._src.ops.windows.conv_functions import sequence
from headrace._src.ops.windows.placement import check_elements
from headrace._src.ops.windows.pool_rules import check_like

if TYPE_CHECKING:
    from headrace._src.attached import FractionalAvgPool, FractionalMaxPool

_TYPES = frozenset({dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64})
_FORWARD = (
    "value: T, *, pooling_ratio: list(float), pseudo_random: bool = False, overlapping: bool = False, "
    "deterministic: bool = False, seed: int = 0, seed2: int = 0 "
    "-> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64"
)


def _fractional(op, pool):
    def kernel(value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2):
        sizes = kernels.output_sizes(op, value.shape, pooling_ratio)
        if not deterministic and (seed or seed2):
            raise errors.invalid_argument(
                f"{op}: seed and seed2 must be 0 unless deterministic, got {seed}, {seed2}."
            )
        if seed == 0 and seed2 == 0:
            seed, seed2 = (random.SystemRandom().getrandbits(64) for _ in range(2))
        rows, columns = kernels.pooling_sequences(
            (value.shape[1], sizes[1]),
            (value.shape[2], sizes[2]),
            pseudo_random,
            Philox.from_op_seeds(seed, seed2),
        )
        return pool(value, rows, columns, overlapping), rows, columns

    return kernel


def _infer(op):
    def infer(value, pooling_ratio, **attrs):
        shape = [None] * 4 if value.shape.rank is None else value.shape.as_list()
        sizes = kernels.output_sizes(op, shape, pooling_ratio)
        ends = [None if size is None else size + 1 for size in sizes[1:3]]
        return TensorShape(sizes), TensorShape(ends[:1]), TensorShape(ends[1:])

    return infer


def _grad_max(node, dy, *_):
    dx = FRACTIONAL_MAX_POOL_GRAD(
        node.value,
        node.output,
        dy,
        node.row_pooling_sequence,
        node.col_pooling_sequence,
        overlapping=node.attrs["overlapping"],
    )
    return (dx,)


FRACTIONAL_MAX_POOL = Op(
    "FractionalMaxPool",
    _FORWARD,
    T=_TYPES,
    infer=_infer("FractionalMaxPool"),
    kernel=_fractional("FractionalMaxPool", kernels.max_pool),
    lower=None,  # the regions are drawn on the host, and their sizes differ from call to call
    saves=("value", "output", "row_pooling_sequence", "col_pooling_sequence"),
    grad=_grad_max,
    stateful=True,
)


def _grad_avg(node, dy, *_):
    shape = node.value_shape
    shape = np.array(shape, np.int64) if isinstance(shape, tuple) else cast(shape, dtypes.int64)
    dx = FRACTIONAL_AVG_POOL_GRAD(
        shape,
        dy,
        node.row_pooling_sequence,
        node.col_pooling_sequence,
        overlapping=node.attrs["overlapping"],
    )
    return (dx,)


FRACTIONAL_AVG_POOL = Op(
    "FractionalAvgPool",
    _FORWARD,
    T=_TYPES,
    infer=_infer("FractionalAvgPool"),
    kernel=_fractional("FractionalAvgPool", kernels.avg_pool),
    lower=None,  # the regions are drawn on the host, and their sizes differ from call to call
    saves=("value_shape", "row_pooling_sequence", "col_pooling_sequence"),
    grad=_grad_avg,
    stateful=True,
)


def _checked(op, shape, dy, rows, columns):
    if len(shape) != 4 or dy.ndim != 4:
        raise errors.invalid_argument(
            f"{op}: data must have 4 dimensions, got {tuple(shape)} and {dy.shape}."
        )
    kernels.check_sequence(op, "row_pooling_sequence", rows, shape[1])
    kernels.check_sequence(op, "col_pooling_sequence", columns, shape[2])
    check_like(op, "out_backprop", dy.shape, (shape[0], len(rows) - 1, len(columns) - 1, shape[3]))


def _max_gradient(
    orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping
):
    op = "FractionalMaxPoolGrad"
    rows, columns = row_pooling_sequence, col_pooling_sequence
    _checked(op, orig_input.shape, out_backprop, rows, columns)
    check_like(op, "orig_output", orig_output.shape, out_backprop.shape)
    return kernels.max_pool_gradient(orig_input, out_backprop, rows, columns, overlapping)


FRACTIONAL_MAX_POOL_GRAD = Op(
    "FractionalMaxPoolGrad",
    "orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64, *, overlapping: bool = False -> output: T",
    T=_TYPES,
    infer=lambda orig_input, *others, **attrs: orig_input.shape,
    kernel=_max_gradient,
    lower=None,  # the regions come from the host, and their sizes differ from call to call
    grad=unregistered,  # TF: has none; no op gathers what a region chose
)


def _avg_gradient(
    orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping
):
    op = "FractionalAvgPoolGrad"
    rows, columns = row_pooling_sequence, col_pooling_sequence
    if orig_input_tensor_shape.shape != (4,):
        raise errors.invalid_argument(
            f"{op}: orig_input_tensor_shape must be a vector of 4 entries, "
            f"got shape {orig_input_tensor_shape.shape}."
        )
    shape = check_elements(op, "orig_input_tensor_shape", orig_input_tensor_shape)
    _checked(op, shape, out_backprop, rows, columns)
    return kernels.avg_pool_gradient(out_backprop, rows, columns, shape[1:3], overlapping)


def _infer_avg_gradient(orig_input_tensor_shape, *others, **attrs):
    shape = shape_from_value(orig_input_tensor_shape)
    return TensorShape([None] * 4) if shape.rank is None else shape


FRACTIONAL_AVG_POOL_GRAD = Op(
    "FractionalAvgPoolGrad",
    "orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64, *, overlapping: bool = False -> output: T",
    T=_TYPES,
    infer=_infer_avg_gradient,
    kernel=_avg_gradient,
    lower=None,  # the regions come from the host, and their sizes differ from call to call
    grad=unregistered,  # TF: has none
)


def _apply(op, value, pooling_ratio, pseudo_random, overlapping, seed, name):
    if pooling_ratio is None:
        raise ValueError(f"{op.name}: pooling_ratio must be a number or a list, got None.")
    ratio = sequence(pooling_ratio, 2, 3, "pooling_ratio", float)
    if min(ratio) < 1:
        raise ValueError(f"{op.name}: pooling_ratio must be at least 1, got {pooling_ratio}.")
    seeds = (0, 0) if seed == 0 else draw_seeds(seed)
    return op(
        value,
        pooling_ratio=ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=seed != 0,
        seed=seeds[0],
        seed2=seeds[1],
        name=name,
    )


@api("nn.fractional_max_pool")
def fractional_max_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None
) -> FractionalMaxPool:
    """Maxima over regions of random sizes, which shrink rows and columns by a ratio that need not be whole.

    Args:
        value: data of shape (batch, rows, columns, channels).
        pooling_ratio: how much to shrink: a number from 1, or a list of 1, 2 or 4.
        pseudo_random: whether the regions follow from one random number, or their sizes are shuffled.
        overlapping: whether a region includes the first row and column of the next.
        seed: 0 for other regions on each call.
        name: a name for the operation.

    Returns:
        The maxima, and where the regions begin and end along rows and along columns.

    >>> tf.nn.fractional_max_pool(tf.ones((1, 6, 6, 1)), 1.5, seed=1)[0].shape
    TensorShape([1, 4, 4, 1])
    """
    return _apply(FRACTIONAL_MAX_POOL, value, pooling_ratio, pseudo_random, overlapping, seed, name)


@api("nn.fractional_avg_pool")
def fractional_avg_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None
) -> FractionalAvgPool:
    """Means over regions of random sizes, which shrink rows and columns by a ratio that need not be whole.

    Args:
        value: data of shape (batch, rows, columns, channels).
        pooling_ratio: how much to shrink: a number from 1, or a list of 1, 2 or 4.
        pseudo_random: whether the regions follow from one random number, or their sizes are shuffled.
        overlapping: whether a region includes the first row and column of the next.
        seed: 0 for other regions on each call.
        name: a name for the operation.

    Returns:
        The means, and where the regions begin and end along rows and along columns.

    >>> tf.nn.fractional_avg_pool(tf.ones((1, 6, 6, 1)), 1.5, seed=1)[0].shape
    TensorShape([1, 4, 4, 1])
    """
    return _apply(FRACTIONAL_AVG_POOL, value, pooling_ratio, pseudo_random, overlapping, seed, name)
