"""The greatest and least elements, of which a device may miss some to be quicker."""

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import lax
from headrace._src.core.shapes import TensorShape
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.filling import ONE_HOT
from headrace._src.ops.arrays.ranking import check_k, comparable, top_positions
from headrace._src.ops.arrays.shaping import EXPAND_DIMS

if TYPE_CHECKING:
    from headrace._src.attached import ApproxTopK


def _approx_axis(op, rank, dimension):
    if not -rank <= dimension < rank:
        raise errors.invalid_argument(
            f"{op}: reduction_dimension must be in [{-rank}, {rank}), got {dimension}."
        )
    return dimension % rank


def _approx_top_k(input, k, reduction_dimension, is_max_k, **attrs):
    axis = _approx_axis("ApproxTopK", input.ndim, reduction_dimension)
    rows = np.moveaxis(input, axis, -1)
    check_k("ApproxTopK", rows.shape, k)
    key = comparable(rows)
    places = top_positions(key if is_max_k else -key, k)
    values = np.take_along_axis(rows, places, -1)
    return np.moveaxis(values, -1, axis), np.moveaxis(places.astype(np.int32), -1, axis)


def _lower_approx_top_k(ctx, input, k, reduction_dimension, is_max_k, recall_target, **attrs):
    axis = _approx_axis("ApproxTopK", input.ndim, reduction_dimension)
    find = lax.approx_max_k if is_max_k else lax.approx_min_k
    values, places = find(input, k, axis, recall_target)
    return values, places.astype(np.int32)


def _infer_approx_top_k(input, k, reduction_dimension, **attrs):
    if input.shape.rank is None:
        return UNKNOWN, UNKNOWN
    dims = input.shape.as_list()
    dims[_approx_axis("ApproxTopK", len(dims), reduction_dimension)] = k
    return TensorShape(dims), TensorShape(dims)


def _grad_approx_top_k(node, dy, _):
    rank = len(node.input_shape) if isinstance(node.input_shape, tuple) else node.input_shape.shape[0]
    if rank is None:
        raise ValueError("ApproxTopK: its gradient needs an input of known rank.")
    axis = node.attrs["reduction_dimension"] % rank
    n = node.input_shape[axis]
    hot = ONE_HOT(node.indices, n, to_tensor(1, dy.dtype), to_tensor(0, dy.dtype), axis=axis)
    return (SUM(hot * EXPAND_DIMS(dy, axis), axis + 1),)


APPROX_TOP_K = Op(
    "ApproxTopK",
    "input: T, *, k: int, reduction_dimension: int = -1, recall_target: float = 0.95, is_max_k: bool = True, "
    "reduction_input_size_override: int = -1, aggregate_to_topk: bool = True -> values: T, indices: int32",
    T=dtypes.FLOATING - {dtypes.float64},
    infer=_infer_approx_top_k,
    kernel=_approx_top_k,  # exact, which is a fine approximation
    lower=_lower_approx_top_k,
    saves=("input_shape", "indices"),
    grad=_grad_approx_top_k,
    vectorize=on_last_axes(),
)


@api("approx_top_k")
def approx_top_k(
    input,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    is_max_k=True,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
) -> "ApproxTopK":
    """The k greatest (or least) elements along an axis, of which a device may miss some to be quicker.

    Args:
        input: float16, bfloat16 or float32.
        k: how many.
        reduction_dimension: the axis.
        recall_target: which part of the right ones must be among the result.
        is_max_k: False for the least.
        reduction_input_size_override, aggregate_to_topk: for searches over several devices.
        name: a name for the operation.

    Returns:
        `(values, indices)`. On the host the result is exact.
    """
    return APPROX_TOP_K(
        input,
        k=k,
        reduction_dimension=reduction_dimension,
        recall_target=recall_target,
        is_max_k=is_max_k,
        reduction_input_size_override=reduction_input_size_override,
        aggregate_to_topk=aggregate_to_topk,
        name=name,
    )


@api("math.approx_max_k", "nn.approx_max_k")
def approx_max_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
) -> "ApproxTopK":
    """The k greatest elements along an axis and their positions, approximately: see `tf.approx_top_k`.

    >>> tf.math.approx_max_k([1.0, 3.0, 2.0], 2)[0].numpy().tolist()
    [3.0, 2.0]
    """
    override = reduction_input_size_override
    return approx_top_k(
        operand, k, reduction_dimension, recall_target, True, override, aggregate_to_topk, name
    )


@api("math.approx_min_k", "nn.approx_min_k")
def approx_min_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
) -> "ApproxTopK":
    """The k least elements along an axis and their positions, approximately: see `tf.approx_top_k`.

    >>> tf.math.approx_min_k([1.0, 3.0, 2.0], 2)[0].numpy().tolist()
    [1.0, 2.0]
    """
    override = reduction_input_size_override
    return approx_top_k(
        operand, k, reduction_dimension, recall_target, False, override, aggregate_to_topk, name
    )
