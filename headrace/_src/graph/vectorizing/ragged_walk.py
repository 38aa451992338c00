"""Turning the graph of one element into operations on a whole batch where sizes differ from element to element.

Such a value of all elements is `Ragged`: the rows of the elements one after another, and where those of each begin.
Ops on other values are converted as in `walk.py`.
"""

from __future__ import annotations

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.graph.control.calls import PARTITIONED_CALL, STATEFUL_PARTITIONED_CALL
from headrace._src.graph.vectorizing.walk import BatchWalk
from headrace._src.op.batching import Batched, NoRule, Ragged, RaggedBatch, flatten, value_of
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL, RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.rearranging import INVERT_PERMUTATION
from headrace._src.ops.arrays.searching import UPPER_BOUND
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.arrays.splitting import TILE
from headrace._src.ops.debugging.assertions import ASSERT
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM
from headrace._src.ops.math.comparison import EQUAL, LOGICAL_AND
from headrace._src.ops.math.cumulative import CUMSUM
from headrace._src.ops.math.reductions import ALL
from headrace._src.ops.ragged.ranges import RAGGED_RANGE

_CALLS = (PARTITIONED_CALL, STATEFUL_PARTITIONED_CALL)  # these take functions apart


class RaggedWalk(BatchWalk, RaggedBatch):
    """The conversion of a graph for many elements at once, whose sizes may differ.

    Args:
        size: how many elements there are, a scalar tensor.
    """

    def __init__(self, size):
        super().__init__(size, fallback=False, warn=False, on_host=True)
        self._rows: dict = {}  # by the identity of splits: these, the lengths of elements, the elements of rows

    def of_size(self, size):
        raise NoRule("loops have other sizes")

    def _convert(self, graph, node, values):
        inputs = self._inputs(node, values)
        flat = flatten(inputs)
        rule = node.record.vectorize
        is_call = node.record in _CALLS
        is_ragged = any(isinstance(x, Ragged) for x in flat)
        if not is_call and (is_ragged or (rule.makes_ragged and any(x.stacked for x in flat))):
            results = self._by_ragged_rule(rule, node, inputs)
        else:
            results = super()._convert(graph, node, values)
            # What a function returns is ragged as it is.
            results = [x.tensor if isinstance(x, Batched) and isinstance(x.tensor, Ragged) else x for x in results]
        for result, tensor in zip(results, node.outputs):
            if not is_call and isinstance(result, Batched) and result.stacked:
                if not tensor.shape.is_fully_defined() and not result.tensor.shape[1:].is_fully_defined():
                    raise NoRule("a size may differ from element to element")
        return results

    def _by_ragged_rule(self, rule, node, inputs):
        if rule.ragged is None or node.custom_gradient is not None:
            raise NoRule("there is no converter for sizes that differ")
        result = rule.ragged(self, node, *inputs)
        if not isinstance(result, (list, tuple)) or isinstance(result, Batched):
            result = [result]
        return [x if x is None or isinstance(x, (Batched, Ragged)) else Batched(x, True) for x in result]

    def apply(self, node, inputs, attrs=None, op=None):
        """As for other batches; of ragged values, the rows are given to the op."""
        return super().apply(node, [x.tensor if isinstance(x, Ragged) else x for x in inputs], attrs, op)

    def _tell_shape(self, value, inner):
        if not isinstance(value, Ragged):
            super()._tell_shape(value, inner)
        elif inner.shape.rank is not None:
            value.tensor.set_shape(TensorShape([None]).concatenate(inner.shape[1:]))

    def stack(self, value):
        if isinstance(value, Ragged):
            raise NoRule("sizes differ from element to element")
        return super().stack(value)

    def rank(self, value):
        # The rows of all elements have as many axes as those of one.
        return super().rank(Batched(value.tensor, False) if isinstance(value, Ragged) else value)

    # Sizes.

    def count(self):
        return _int64(self.size)

    def _of(self, splits):
        return self._rows.setdefault(id(splits), {"splits": splits})

    def starts(self, splits):
        known = self._of(splits)
        if "starts" not in known:
            known["starts"] = splits[:-1]
        return known["starts"]

    def lengths(self, splits):
        known = self._of(splits)
        if "lengths" not in known:
            known["lengths"] = splits[1:] - self.starts(splits)
        return known["lengths"]

    def owners(self, splits):
        known = self._of(splits)
        if "owners" not in known:
            rows = RANGE(to_tensor(0, dtypes.int64), splits[-1], to_tensor(1, dtypes.int64))
            sorted_ends, rows = EXPAND_DIMS(splits[1:], 0), EXPAND_DIMS(rows, 0)
            known["owners"] = UPPER_BOUND(sorted_ends, rows, out_type=dtypes.int64)[0]
        return known["owners"]

    def splits_of(self, lengths):
        return CONCAT([to_tensor([0], dtypes.int64), CUMSUM(lengths, to_tensor(0))], to_tensor(0))

    def shapes(self, x, dtype):
        lengths = self.lengths(x.splits)
        sizes = [lengths, *(ZEROS_LIKE(lengths) + to_tensor(n, dtypes.int64) for n in x.row_dims())]
        return CAST(PACK(sizes, axis=1), DstT=dtype)

    # Rows.

    def spread(self, value, splits):
        return GATHER_V2(value.tensor, self.owners(splits), to_tensor(0))

    def ranges(self, starts, limits, deltas=None):
        deltas = to_tensor(1, starts.dtype) if deltas is None else deltas
        splits, values = RAGGED_RANGE(starts, limits, deltas)
        return Ragged(values, splits)

    def places(self, value, lengths):
        place = _int64(value.tensor[:, 0] if value.stacked else value.tensor[0])
        known = None if value.stacked else value_of(value.tensor)
        if known is None:
            place = SELECT_V2(place < to_tensor(0, dtypes.int64), place + lengths, place)
        elif known[0] < 0:
            place = place + lengths
        return ZEROS_LIKE(lengths) + place

    def picked(self, x, starts, stops):
        zero, lengths, before = to_tensor(0, dtypes.int64), self.lengths(x.splits), self.starts(x.splits)
        first = before
        if starts is not None:
            starts = MAXIMUM(zero, MINIMUM(starts, lengths))
            first = before + starts
        last = before + (lengths if stops is None else MAXIMUM(zero, MINIMUM(stops, lengths)))
        if starts is not None and stops is not None:
            last = MAXIMUM(first, last)
        numbers = self.ranges(first, last)
        return numbers.like(GATHER_V2(x.tensor, numbers.tensor, to_tensor(0)))

    def row(self, x, places):
        self.require(LOGICAL_AND(places >= to_tensor(0, dtypes.int64), places < self.lengths(x.splits)))
        return GATHER_V2(x.tensor, self.starts(x.splits) + places, to_tensor(0))

    def inner_splits(self, splits, values):
        count, one = self.lengths(splits.splits), to_tensor(1, dtypes.int64)
        self.require(count >= one)
        own, first = _int64(splits.tensor), self.starts(splits.splits)
        self.require(EQUAL(GATHER_V2(own, first, to_tensor(0)), to_tensor(0, dtypes.int64)))
        self.require_lengths(values, GATHER_V2(own, first + count - one, to_tensor(0)))
        starts = own + self.spread(Batched(self.starts(values.splits), True), splits.splits)
        starts = self.picked(splits.like(starts), None, count - one)
        return CONCAT([starts.tensor, values.splits[-1:]], to_tensor(0)), starts.splits

    def rows_of(self, value, row_dims):
        if isinstance(value, Ragged):
            return value.tensor, self.lengths(value.splits)
        tensor = value.tensor
        dims = tensor.shape[value.stacked :]
        if not dims.is_fully_defined() or dims.as_list()[1:] != row_dims:
            raise NoRule("its inputs differ in shape")
        lengths = FILL(EXPAND_DIMS(self.size, 0), to_tensor(dims[0], dtypes.int64))
        if value.stacked:
            return RESHAPE(tensor, [-1, *row_dims]), lengths
        return TILE(tensor, self.join(self.size_vector(), [1] * len(row_dims))), lengths

    def joined(self, parts):
        total = parts[0][1]
        for _, lengths in parts[1:]:
            total = total + lengths
        splits = self.splits_of(total)
        at, places = self.starts(splits), []
        for _, lengths in parts:
            places.append(self.ranges(at, at + lengths).tensor)
            at = at + lengths
        order = INVERT_PERMUTATION(CONCAT(places, to_tensor(0)))
        values = CONCAT([values for values, _ in parts], to_tensor(0))
        return Ragged(GATHER_V2(values, order, to_tensor(0)), splits)

    def aligned_rows(self, inputs):
        first = next(x for x in inputs if isinstance(x, Ragged))
        rank = self.rank(first)
        return first, [self._aligned(x, first.splits, rank) for x in inputs]

    def _aligned(self, x, splits, rank):
        """A value so that it broadcasts against rows with these splits, of elements of that rank."""
        own = self.rank(x)
        if isinstance(x, Ragged):
            if x.splits is not splits or own != rank:
                raise NoRule("its inputs differ in size")
            return x.tensor
        if own >= rank and not (own == rank and not x.stacked and x.tensor.shape[0] == 1):
            raise NoRule("its inputs differ in rank")
        if not x.stacked:
            return x.tensor
        tensor = self.spread(x, splits)
        for _ in range(rank - 1 - own):
            tensor = EXPAND_DIMS(tensor, 1)
        return tensor

    def require(self, condition):
        holds = ALL(condition, to_tensor([0]), keep_dims=False)
        ASSERT(holds, [to_tensor("an element cannot be computed with others")])

    def require_lengths(self, x, lengths):
        wanted = to_tensor(lengths, dtypes.int64) if isinstance(lengths, int) else _int64(lengths)
        self.require(EQUAL(wanted, self.lengths(x.splits)))


def _int64(tensor):
    return tensor if tensor.dtype is dtypes.int64 else CAST(tensor, DstT=dtypes.int64)
