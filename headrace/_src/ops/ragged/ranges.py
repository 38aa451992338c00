"""`tf.ragged.range`, and row splits to segment ids and back."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.ragged import row_arithmetic as rows
from headrace._src.ops.ragged.gather_op import RAGGED_GATHER
from headrace._src.ops.ragged.row_arithmetic import cast_to, require
from headrace._src.ops.ragged.tensor import RaggedTensor


def _sizes(starts, limits, deltas):
    """How many numbers each range has, as Python-safe int64."""
    if starts.dtype.kind == "i":
        starts, limits, deltas = (x.astype(object) for x in (starts, limits, deltas))
        sizes = np.array(
            [
                -((a - b) // d) if (d > 0 and a < b) or (d < 0 and a > b) else 0
                for a, b, d in zip(starts.tolist(), limits.tolist(), deltas.tolist())
            ],
            object,
        )
        if sizes.size and max(sizes) >= 2**63:
            raise errors.invalid_argument("RaggedRange: a range has more than 2**63 - 1 numbers.")
        return sizes.astype(np.int64)
    wide = [x.astype(np.float64) for x in (starts, limits, deltas)]
    spans = (wide[1] - wide[0]) / wide[2]
    sizes = np.ceil(np.abs(spans))
    empty = ((wide[2] > 0) & (wide[0] >= wide[1])) | ((wide[2] < 0) & (wide[0] <= wide[1]))
    sizes = np.where(empty, 0, sizes)
    if not (sizes < 2.0**63).all():
        raise errors.invalid_argument(
            "RaggedRange: (limit - start) / delta must be a number below 2**63, got a range from "
            f"{starts} to {limits} by {deltas}."
        )
    return sizes.astype(np.int64)


def _range_kernel(starts, limits, deltas, Tsplits):
    arrays = {"starts": starts, "limits": limits, "deltas": deltas}
    counts = set()
    for name, array in arrays.items():
        if array.ndim > 1:
            raise errors.invalid_argument(f"RaggedRange: {name} must be a scalar or vector, got shape {array.shape}.")
        if array.ndim == 1:
            counts.add(array.size)
    if len(counts) > 1:
        shapes = ", ".join(str(array.shape) for array in arrays.values())
        raise errors.invalid_argument(
            f"RaggedRange: starts, limits, and deltas must have the same shape, got {shapes}."
        )
    count = counts.pop() if counts else 1
    starts, limits, deltas = (np.broadcast_to(array, (count,)) for array in (starts, limits, deltas))
    if (deltas == 0).any():
        raise errors.invalid_argument("RaggedRange: deltas must not be 0.")
    sizes = _sizes(starts, limits, deltas)
    ends = np.cumsum(sizes.astype(object))
    if count and ends[-1] > np.iinfo(Tsplits._np).max:
        raise errors.invalid_argument(f"RaggedRange: {ends[-1]} numbers are too many for {Tsplits.name} splits.")
    splits = np.zeros(count + 1, Tsplits._np)
    splits[1:] = ends.astype(Tsplits._np)
    if starts.dtype.kind == "i":
        places = np.arange(splits[-1]) - np.repeat(splits[:-1], sizes)
        values = np.repeat(starts, sizes) + places.astype(starts.dtype) * np.repeat(deltas, sizes)
        return splits, values
    # TF: floating ranges are made by repeated addition, rounding included.
    values = np.repeat(deltas, sizes)
    for row in np.flatnonzero(sizes).tolist():
        part = values[splits[row] : splits[row + 1]]
        part[0] = starts[row]
        np.add.accumulate(part, out=part)
    return splits, values


def _range_infer(starts, limits, deltas, Tsplits):
    count = 1
    for spec in (starts, limits, deltas):
        if spec.shape.rank is None:
            count = None
            break
        if spec.shape.rank == 1:
            count = spec.shape[0]
            break
    return TensorShape([None if count is None else count + 1]), TensorShape([None])


# The number of values depends on the data: host only.
RAGGED_RANGE = Op(
    "RaggedRange",
    "starts: T, limits: T, deltas: T, *, Tsplits: type = int64 -> rt_nested_splits: Tsplits, rt_dense_values: T",
    T=frozenset({dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64}),
    infer=_range_infer,
    kernel=_range_kernel,
    lower=None,
    grad=None,
    Tsplits=dtypes.INDEX,
)

_WIDENING = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@api("ragged.range")
def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64) -> RaggedTensor:
    """A ragged tensor whose row i is the sequence from `starts[i]` up to `limits[i]` in steps of `deltas[i]`.

    >>> tf.ragged.range([3, 5, 2])
    <tf.RaggedTensor [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]>
    >>> tf.ragged.range([0, 5], [3, 0], [1, -2])
    <tf.RaggedTensor [[0, 1, 2], [5, 3, 1]]>

    Args:
        starts: a vector or scalar; the limits, counted from 0, when `limits` is None.
        limits: a vector or scalar.
        deltas: a vector or scalar.
        dtype: the dtype of the result.
        name: a name for the operation.
        row_splits_dtype: int32 or int64.
    """
    row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    starts, limits, deltas = (to_tensor(x, dtype) for x in (starts, limits, deltas))
    if dtype is None:
        kinds = [x.dtype for x in (starts, limits, deltas)]
        for kind in kinds:
            if kind not in _WIDENING:
                if all(k is kind for k in kinds) and kind in RAGGED_RANGE.types["T"]:
                    break
                raise AssertionError(f"ragged.range: starts, limits and deltas must be numbers, got {kind.name}.")
        else:
            widest = max(kinds, key=_WIDENING.index)
            starts, limits, deltas = (cast_to(x, widest) for x in (starts, limits, deltas))
    splits, values = RAGGED_RANGE(starts, limits, deltas, Tsplits=row_splits_dtype, name=name)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


@api("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits, name=None, out_type=None) -> Tensor:
    """For each value the number of its row.

    >>> tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy().tolist()
    [0, 0, 0, 2, 2]

    Raises:
        ValueError: when the splits are no int32 or int64.
    """
    splits = to_tensor(splits, hint=dtypes.int64)
    if splits.dtype not in dtypes.INDEX:
        raise ValueError(f"splits must have dtype int32 or int64, got {splits.dtype.name}.")
    splits.shape.assert_has_rank(1)
    if splits.shape[0] == 0:
        raise ValueError("Invalid row_splits: []")
    require(rows.is_ascending(splits), "row_splits_to_segment_ids: splits must be ascending", splits)
    wanted = splits.dtype if out_type is None else dtypes.as_dtype(out_type)
    if wanted not in dtypes.INDEX:
        raise errors.invalid_argument(f"out_type must be int32 or int64, got {wanted.name}.")
    return cast_to(rows.ids_from_splits(splits), wanted)


@api("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None) -> Tensor:
    """Where rows begin and end, from the row of each value (ascending).

    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2, 3, 4, 4, 4]).numpy().tolist()
    [0, 3, 3, 5, 6, 9]

    Args:
        segment_ids: int32 or int64.
        num_segments: the number of rows; up to the last id if None.
        out_type: int32 or int64; that of the ids if None, int64 for Python lists.
        name: a name for the operation.
    """
    if out_type is None:
        own = [x.dtype for x in (segment_ids, num_segments) if isinstance(x, Tensor)]
        out_type = own[0] if own else dtypes.int64
    out_type = dtypes.as_dtype(out_type)
    segment_ids = to_tensor(segment_ids, hint=out_type)
    segment_ids.shape.assert_has_rank(1)
    if segment_ids.dtype not in dtypes.INDEX:
        raise TypeError(f"segment_ids must have dtype int32 or int64, got {segment_ids.dtype.name}.")
    segment_ids = cast_to(segment_ids, out_type)
    if num_segments is None:
        count = rows.count_from_ids(segment_ids)
    else:
        count = to_tensor(num_segments, hint=out_type)
        if not count.dtype.is_integer:
            raise TypeError(f"num_segments must be an integer, got {count.dtype.name}.")
        count = cast_to(count, out_type)
        count.shape.assert_has_rank(0)
        require(rows.all_at_least(count, 0), "segment_ids_to_row_splits: num_segments must not be negative", count)
    require(
        rows.is_ascending(segment_ids),
        "segment_ids_to_row_splits: segment_ids must be ascending",
        segment_ids,
    )
    require(rows.all_at_least(segment_ids, 0), "segment_ids_to_row_splits: segment_ids must be >= 0", segment_ids)
    return rows.splits_from_ids(segment_ids, count)


def value_ranges(values, starts, limits, steps):
    """The rows `values[starts[i]:limits[i]:steps]` as a ragged tensor."""
    splits, places = RAGGED_RANGE(starts, limits, steps, Tsplits=starts.dtype)
    if isinstance(values, RaggedTensor):
        inner = RAGGED_GATHER(
            list(values.nested_row_splits),
            values.flat_values,
            places,
            OUTPUT_RAGGED_RANK=values.ragged_rank,
        )
        gathered = RaggedTensor.from_nested_row_splits(
            inner.output_dense_values, inner.output_nested_splits, validate=False
        )
    else:
        gathered = GATHER_V2(values, places, 0)
    return RaggedTensor.from_row_splits(gathered, splits, validate=False)
