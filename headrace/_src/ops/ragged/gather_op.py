"""The op `RaggedGather`: rows of a ragged tensor."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.indexed_slices import IndexedSlices


def _check_splits(params_nested_splits, nvals):
    op = "RaggedGather"
    for i, splits in enumerate(params_nested_splits):
        if splits.ndim != 1 or not splits.size:
            raise errors.invalid_argument(
                f"{op}: params_nested_splits[{i}] must be a non-empty vector, got shape {splits.shape}."
            )
        if splits[0] < 0 or (splits[1:] < splits[:-1]).any():
            raise errors.invalid_argument(f"{op}: ragged splits must be ascending from 0, got {splits}.")
        last = i == len(params_nested_splits) - 1
        limit = nvals if last else params_nested_splits[i + 1].size - 1
        if splits[-1] > limit:
            raise errors.invalid_argument(f"{op}: Ragged splits must not point past values: {splits[-1]} > {limit}.")


def _gather_kernel(params_nested_splits, params_dense_values, indices, OUTPUT_RAGGED_RANK):
    op = "RaggedGather"
    if not params_nested_splits:
        raise errors.invalid_argument(f"{op}: params_nested_splits must be non-empty.")
    if not params_dense_values.ndim:
        raise errors.invalid_argument(f"{op}: params.rank must be nonzero.")
    if OUTPUT_RAGGED_RANK != len(params_nested_splits) + indices.ndim - 1:
        raise errors.invalid_argument(
            f"{op}: OUTPUT_RAGGED_RANK must be {len(params_nested_splits) + indices.ndim - 1}, "
            f"got {OUTPUT_RAGGED_RANK}."
        )
    _check_splits(params_nested_splits, params_dense_values.shape[0])
    nrows = params_nested_splits[0].size - 1
    outside = (indices < 0) | (indices >= nrows)
    if outside.any():
        at = tuple(np.argwhere(outside)[0].tolist())
        where = ",".join(map(str, at))
        raise errors.invalid_argument(f"{op}: indices[{where}] = {indices[at]} is not in [0, {nrows}).")
    kind = params_nested_splits[0].dtype
    outputs, count = [], 1
    for i, n in enumerate(indices.shape):
        if i:
            outputs.append(np.arange(count + 1, dtype=kind) * kind.type(n))
        count *= n
    chosen = indices.reshape(-1).astype(np.int64)
    for splits in params_nested_splits:
        starts = splits[chosen].astype(np.int64)
        lengths = splits[chosen + 1].astype(np.int64) - starts
        ends = np.zeros(lengths.size + 1, np.int64)
        np.cumsum(lengths, out=ends[1:])
        outputs.append(ends.astype(kind))
        chosen = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    if not indices.ndim:
        # A single row has no outermost splits.
        outputs = outputs[1:]
    return outputs, params_dense_values[chosen]


def _gather_infer(params_nested_splits, params_dense_values, indices, OUTPUT_RAGGED_RANK):
    splits = [TensorShape([None]) for _ in range(OUTPUT_RAGGED_RANK)]
    if indices.shape.rank == 1 and splits and indices.shape[0] is not None:
        splits[0] = TensorShape([indices.shape[0] + 1])
    values = params_dense_values.shape
    return splits, TensorShape(None) if values.rank is None else TensorShape([None]).concatenate(values[1:])


def _gather_grad(node, *dys):
    """Each gathered value hands its gradient back to where it came from."""
    count = node.params_dense_values_shape[0]
    numbers = RANGE(np.int64(0), CAST(count, DstT=dtypes.int64), np.int64(1))
    places = RAGGED_GATHER(
        node.params_nested_splits, numbers, node.indices, OUTPUT_RAGGED_RANK=node.attrs["OUTPUT_RAGGED_RANK"]
    ).output_dense_values
    slices = IndexedSlices(dys[-1], places, node.params_dense_values_shape)
    return [None] * len(node.params_nested_splits), slices, None


# The shapes depend on the lengths of the chosen rows: host only.
RAGGED_GATHER = Op(
    "RaggedGather",
    "params_nested_splits: PARAMS_RAGGED_RANK*Tsplits, params_dense_values: Tvalues, indices: Tindices, *, "
    "OUTPUT_RAGGED_RANK: int -> output_nested_splits: OUTPUT_RAGGED_RANK*Tsplits, "
    "output_dense_values: Tvalues",
    Tindices=dtypes.INDEX,
    Tsplits=dtypes.INDEX,
    infer=_gather_infer,
    kernel=_gather_kernel,
    lower=None,
    saves=("params_nested_splits", "params_dense_values_shape", "indices"),
    grad=_gather_grad,
)
