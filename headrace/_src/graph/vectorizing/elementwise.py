"""Rules of vectorization for reductions and the like along axes, and for ops that are almost element-wise."""

from headrace._src.core import dtypes
from headrace._src.graph.vectorizing.rules import Batched, NoRule, rule, shifted_axes, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO, SUM
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.math.elementwise import SQUARE
from headrace._src.ops.math.reductions import ALL


@rule("Bitcast")
def _bitcast(batch, node, x):
    return batch.apply(node, [x])


@rule("IdentityN", "ShapeN")
def _each(batch, node, inputs):
    name = "Identity" if node.record.name == "IdentityN" else "Shape"
    results = []
    for x in inputs:
        if name == "Shape":
            results.append(Batched(to_tensor(batch.shape_of_element(x), node.attrs["out_type"]), False))
        else:
            results.append(Batched(IDENTITY(x.tensor), x.stacked))
    return results


@rule("StringJoin")
def _string_join(batch, node, inputs):
    rank = max(batch.rank(x) for x in inputs)
    # Scalars are repeated by the op itself, stacked ones are scalars no longer.
    whole = next((x for x in inputs if x.stacked and batch.rank(x) == rank), None)
    tensors = []
    for x in inputs:
        if batch.rank(x) == rank or not x.stacked:
            tensors.append(batch.stack(x) if batch.rank(x) else x.tensor)
        elif whole is None:
            raise NoRule("its inputs have different ranks")
        else:
            shape = batch.with_size(batch.shape_of_element(whole))
            tensors.append(_filled_strings(batch.with_rank(x, rank), shape))
    return batch.apply(node, [tensors])


def _filled_strings(tensor, shape):
    return BROADCAST_TO(tensor, shape)


@rule("Select")
def _select(batch, node, condition, x, y):
    # TF: a vector chooses rows, a scalar everything; otherwise all shapes are equal.
    rank = max(batch.rank(x), batch.rank(y))
    chooser = batch.stack(condition)
    for _ in range(rank - batch.rank(condition)):
        chooser = EXPAND_DIMS(chooser, -1)
    return SELECT_V2(chooser, batch.stack(x), batch.stack(y))


@rule("Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "EuclideanNorm", "ReduceJoin", "ArgMax", "ArgMin", "Cumsum",
      "Cumprod", "CumulativeLogsumexp", "ReverseV2")  # fmt: skip
def _along_axes(batch, node, x, axes):
    if not x.stacked:
        raise NoRule("its axes differ between elements")
    return batch.apply(node, [x, shifted_axes(axes)])


@rule("Roll")
def _roll(batch, node, x, shift, axes):
    return batch.apply(node, [x, unstacked(shift, "shift"), shifted_axes(axes)])


@rule("Softmax", "LogSoftmax")
def _along_the_last_axis(batch, node, x):
    return batch.apply(node, [x])


@rule("L2Loss")
def _half_of_squares(batch, node, x):
    axes = list(range(1, 1 + batch.rank(x)))
    total = SUM(SQUARE(x.tensor), to_tensor(axes, dtypes.int32), keep_dims=False)
    return total * to_tensor(0.5, total.dtype)


@rule("Assert")
def _assert(batch, node, condition, data):
    axes = list(range(batch.rank(condition) + 1))
    tensor = condition.tensor
    if condition.stacked:
        tensor = ALL(tensor, to_tensor(axes, dtypes.int32), keep_dims=False)
    batch.apply(node, [tensor, data])
    return []


@rule("LookupTableFindV2")
def _find(batch, node, table, keys, default):
    return batch.apply(node, [table, keys, unstacked(default, "default value")])
