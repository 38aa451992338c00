"""Conditionals and loops of a whole batch: each element takes its branch, and as many rounds as it needs."""

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.graph.building.func_graph import FuncGraph, copy_handle_data
from headrace._src.graph.control.conditional import cond, switch_case
from headrace._src.graph.control.loops import while_loop
from headrace._src.op.batching import Batched, NoRule, batch_shape
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.measuring import SIZE
from headrace._src.ops.arrays.partitioning import DYNAMIC_STITCH
from headrace._src.ops.arrays.scattering import TENSOR_SCATTER_UPDATE
from headrace._src.ops.arrays.selecting import SELECT_V2, WHERE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.math.comparison import EQUAL, LOGICAL_AND, NOT_EQUAL
from headrace._src.ops.math.reductions import ANY

# Conditionals.


def _truth(tensor):
    if tensor.dtype is dtypes.bool:
        return tensor
    return NOT_EQUAL(tensor, to_tensor(0, tensor.dtype))


def conditional(batch, condition, graphs, inputs):
    """See `Batch.conditional`."""
    if condition.stacked:
        if batch.rank(condition):
            raise NoRule("its condition is not a scalar")
        number = SELECT_V2(_truth(condition.tensor), to_tensor(0), to_tensor(1))
        return _partitioned(batch, number, graphs, inputs)
    truth = _truth(condition.tensor)
    if context.graph is None:
        return batch.run(graphs[0 if bool(truth) else 1], inputs)
    return cond(truth, *(_stacking(batch, graph, inputs) for graph in graphs))


def switch(batch, index, graphs, inputs):
    """See `Batch.switch`."""
    last = len(graphs) - 1
    inside = LOGICAL_AND(index.tensor >= 0, index.tensor < last)
    number = SELECT_V2(inside, index.tensor, to_tensor(last))
    if index.stacked:
        return _partitioned(batch, number, graphs, inputs)
    if context.graph is None:
        return batch.run(graphs[int(number)], inputs)
    return switch_case(number, [_stacking(batch, graph, inputs) for graph in graphs])


def _stacking(batch, graph, inputs):
    """A branch for `tf.cond`: all its results are stacked, so that branches agree."""

    def branch():
        return [batch.stack(value) for value in batch.run(graph, inputs)]

    return branch


def _partitioned(batch, number, graphs, inputs):
    """Run each branch for the elements that choose it, and put the results together."""
    if any(x.stacked and x.tensor.dtype is dtypes.variant for x in inputs):
        raise NoRule("its condition differs between elements, and it reads a list of tensors")
    rows, parts = [], []
    for k, graph in enumerate(graphs):
        chosen = WHERE(EQUAL(number, to_tensor(k)))
        places = CAST(RESHAPE(chosen, [-1]), DstT=dtypes.int32)
        count = places.shape[0]
        if context.graph is None:
            if count == batch.size:
                return batch.run(graph, inputs)
            if not count:
                continue
        else:
            count = SIZE(places)
        part = batch.of_size(count)
        given = [Batched(GATHER_V2(x.tensor, places, 0), True) if x.stacked else x for x in inputs]
        rows.append(places)
        parts.append([part.stack(value) for value in part.run(graph, given)])
    outputs = []
    for values, inner in zip(zip(*parts), graphs[0].outputs):
        merged = DYNAMIC_STITCH(rows, list(values))
        if context.graph is not None and inner.shape.rank is not None:
            dims = [None] * inner.shape.rank if not inner.shape.is_fully_defined() else inner.shape.as_list()
            merged.set_shape(batch_shape(batch.size, dims))
        outputs.append(merged)
    return outputs


# Loops.


def loop(batch, cond_graph, body_graph, inputs):
    """See `Batch.loop`."""
    if context.graph is None:
        return _loop_eagerly(batch, cond_graph, body_graph, inputs)
    return _loop_in_graph(batch, cond_graph, body_graph, inputs)


def _loop_eagerly(batch, cond_graph, body_graph, values):
    active = None  # which elements still loop; None for all
    while True:
        part = batch if active is None else batch.of_size(active.shape[0])
        current = values if active is None else _taken(values, active)
        (test,) = part.run(cond_graph, current)
        if not test.stacked:
            if not bool(test.tensor):
                return values
            go_on = None
        else:
            go_on = CAST(
                RESHAPE(WHERE(RESHAPE(test.tensor, [-1])), [-1]), DstT=dtypes.int32
            )
            if not go_on.shape[0]:
                return values
            if go_on.shape[0] == part.size:
                go_on = None
        if go_on is not None:
            active = go_on if active is None else GATHER_V2(active, go_on, 0)
            part, current = batch.of_size(active.shape[0]), _taken(values, active)
        new = part.run(body_graph, current)
        values = new if active is None else _put_back(batch, values, active, [part.stack(v) for v in new])


def _taken(values, rows):
    if any(x.stacked and x.tensor.dtype is dtypes.variant for x in values):
        raise NoRule("how long it loops differs between elements, and it keeps a list of tensors")
    return [Batched(GATHER_V2(x.tensor, rows, 0), True) if x.stacked else x for x in values]


def _put_back(batch, values, rows, new):
    indices = EXPAND_DIMS(rows, 1)
    results = []
    for value, updates in zip(values, new):
        if value.tensor.dtype is dtypes.resource:
            results.append(value)
            continue
        results.append(Batched(TENSOR_SCATTER_UPDATE(batch.stack(value), indices, updates), True))
    return results


def _loop_in_graph(batch, cond_graph, body_graph, inputs):
    """A loop over the whole batch; what has ended for an element is left as it is."""
    stacked = [x.stacked for x in inputs]
    while True:
        outputs, test = _tried(batch, cond_graph, body_graph, inputs, stacked)
        wanted = [
            (was or is_ or test) and x.tensor.dtype is not dtypes.resource
            for was, is_, x in zip(stacked, outputs, inputs)
        ]
        if wanted == stacked:
            break
        stacked = wanted
    if test and any(x.tensor.dtype is dtypes.variant for x in inputs):
        raise NoRule("how long it loops differs between elements, and it keeps a list of tensors")
    first = [batch.stack(x) if flag else x.tensor for x, flag in zip(inputs, stacked)]
    shapes = [
        batch_shape(batch.size, inner.shape) if flag and x.dtype is not dtypes.variant else inner.shape
        for x, inner, flag in zip(first, body_graph.inputs, stacked)
    ]

    def values_of(tensors):
        return [Batched(x, flag) for x, flag in zip(tensors, stacked)]

    def test_of(tensors):
        (value,) = batch.run(cond_graph, values_of(tensors))
        return value

    def go_on(*tensors):
        value = test_of(tensors)
        if value.stacked:
            return ANY(value.tensor, to_tensor(list(range(value.tensor.shape.rank))), keep_dims=False)
        return value.tensor

    def step(*tensors):
        new = batch.run(body_graph, values_of(tensors))
        new = [batch.stack(x) if flag else x.tensor for x, flag in zip(new, stacked)]
        if not test:
            return new
        mask = Batched(RESHAPE(test_of(tensors).tensor, [-1]), True)
        results = []
        for old, value in zip(tensors, new):
            if value.dtype is dtypes.resource:
                results.append(old)
                continue
            chooser = mask.tensor
            for _ in range(value.shape.rank - 1):
                chooser = EXPAND_DIMS(chooser, -1)
            results.append(SELECT_V2(chooser, value, old))
        return results

    last = while_loop(go_on, step, first, shape_invariants=shapes)
    return [Batched(x, flag) for x, flag in zip(last, stacked)]


def _tried(batch, cond_graph, body_graph, inputs, stacked):
    """Which outputs of the body, and whether the condition, differ between elements when these inputs do."""
    scratch = FuncGraph("trial", context.graph)
    with scratch.building():
        values = []
        for x, inner, flag in zip(inputs, body_graph.inputs, stacked):
            if x.tensor.dtype is dtypes.resource:
                values.append(x)
                continue
            is_list = x.tensor.dtype is dtypes.variant
            shape = batch_shape(batch.size, inner.shape) if flag and not is_list else inner.shape
            place = scratch.add_input(shape, x.tensor.dtype)
            copy_handle_data(x.tensor, place) if type(x.tensor) is type(place) else None
            values.append(Batched(place, flag))
        outputs = [x.stacked for x in batch.run(body_graph, values)]
        (test,) = batch.run(cond_graph, values)
    return outputs, test.stacked
