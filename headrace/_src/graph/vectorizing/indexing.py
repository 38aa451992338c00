"""Rules of vectorization for gathering, scattering and segments."""

from headrace._src.core import dtypes
from headrace._src.graph.vectorizing.rules import NoRule, rule, unstacked, value_of
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SHAPE


def _known_axis(batch, axis, params):
    known = value_of(unstacked(axis, "axis"))
    if known is None:
        raise NoRule("its axis is not known")
    axis = int(known)
    return axis + batch.rank(params) if axis < 0 else axis


@rule("GatherV2")
def _gather(batch, node, params, indices, axis):
    at, dims = _known_axis(batch, axis, params), node.attrs["batch_dims"]
    if dims < 0:
        dims += batch.rank(indices)
    if dims or (params.stacked and indices.stacked):
        return GATHER_V2(batch.stack(params), batch.stack(indices), at + 1, batch_dims=dims + 1)
    if params.stacked:
        return GATHER_V2(params.tensor, indices.tensor, at + 1)
    gathered = GATHER_V2(params.tensor, indices.tensor, at)
    if at == 0:
        return gathered
    order = [at, *range(at), *range(at + 1, gathered.shape.rank)]
    return TRANSPOSE(gathered, order)


@rule("Gather")
def _gather_rows(batch, node, params, indices):
    if params.stacked:
        return GATHER_V2(params.tensor, batch.stack(indices), 1, batch_dims=1)
    return batch.apply(node, [params, indices])


@rule("ResourceGather")
def _gather_variable(batch, node, resource, indices):
    if node.attrs["batch_dims"]:
        raise NoRule("it has batch dimensions")
    return batch.apply(node, [resource, indices])


@rule("ResourceGatherNd")
def _gather_variable_nd(batch, node, resource, indices):
    return batch.apply(node, [resource, indices])


def _with_numbers(batch, indices):
    """Multi-dimensional indices with the number of the element before them."""
    shape = batch.shape_of_element(indices)
    tensor = batch.stack(indices)
    numbers = CAST(batch.numbers(), DstT=tensor.dtype)
    for _ in range(batch.rank(indices)):
        numbers = EXPAND_DIMS(numbers, -1)
    lead = shape[:-1] if isinstance(shape, list) else None
    if lead is None:
        raise NoRule("the shape of its indices is not known")
    numbers = BROADCAST_TO(numbers, batch.with_size([*lead, 1]))
    return CONCAT([numbers, tensor], -1)


@rule("GatherNd")
def _gather_nd(batch, node, params, indices):
    if not params.stacked:
        return batch.apply(node, [params, indices])
    return batch.apply(node, [params, _with_numbers(batch, indices)])


@rule("ScatterNd")
def _scatter_nd(batch, node, indices, updates, shape):
    full = batch.with_size(unstacked(shape, "shape"))
    full = to_tensor(full, indices.tensor.dtype) if isinstance(full, list) else full
    return batch.apply(node, [_with_numbers(batch, indices), batch.stack(updates), full])


@rule("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin")
def _scatter(batch, node, tensor, indices, updates):
    return batch.apply(node, [batch.stack(tensor), _with_numbers(batch, indices), batch.stack(updates)])


@rule("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin")
def _unsorted_segments(batch, node, data, ids, count):
    """Each element has segments of its own: their numbers follow those of the element before."""
    number = unstacked(count, "number of segments")
    segments = batch.stack(ids)
    offset = CAST(batch.numbers(), DstT=segments.dtype) * CAST(number, DstT=segments.dtype)
    for _ in range(batch.rank(ids)):
        offset = EXPAND_DIMS(offset, -1)
    segments = SELECT_V2(segments < 0, segments, segments + offset)
    size = to_tensor(batch.size, number.dtype) if isinstance(batch.size, int) else CAST(
        batch.size, DstT=number.dtype
    )
    total = batch.apply(node, [batch.stack(data), segments, number * size])[0]
    rest = SHAPE(total, out_type=dtypes.int32)
    rest = rest[1:]
    number = RESHAPE(CAST(number, DstT=dtypes.int32), [1])
    return RESHAPE(total, batch.join(batch.size_vector(), number, rest))


@rule("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin", "SegmentSumV2", "SegmentProdV2",
      "SegmentMaxV2", "SegmentMinV2")  # fmt: skip
def _segments(batch, node, data, ids, *rest):
    """The rows of all elements stand side by side."""
    rank = batch.rank(data) + 1
    order = [1, 0, *range(2, rank)]
    side_by_side = TRANSPOSE(data.tensor, order)
    others = [unstacked(value, "number of segments") for value in rest]
    reduced = batch.apply(node, [side_by_side, unstacked(ids, "segments"), *others])[0]
    return TRANSPOSE(reduced, order)
