"""Calling a graph: the ops, and what tapes are told."""

from headrace._src.autodiff.custom_gradient import CustomNode
from headrace._src.autodiff.tape import Tape
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.lazy import LazyModule
from headrace._src.core.nest import flatten, pack_sequence_as
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.func_graph import copy_handle_data
from headrace._src.graph.building.operation import has_gradient, is_followed
from headrace._src.graph.derivatives.functions import dense, derivative_of, structured
from headrace._src.graph.passes.implementations import selected
from headrace._src.op.batching import Rule
from headrace._src.op.definition import Op
from headrace._src.op.traits import CALLS_FUNCTIONS, PLAIN_CALL

placement = LazyModule("headrace._src.op.placement")  # where there are accelerators

_SIGNATURE = (
    "args: list(Tin), *, Tout: list(type), f: func, config: string = '', config_proto: string = '', "
    "executor_type: string = '' -> output: list(Tout)"
)


def _run(args, Tout, f, config, config_proto, executor_type):
    if f.base.jit_compile or f.replicated is not None:
        return f.executable().run(args)
    return f.plan().run(args)  # which empties the list, so that inputs can be freed early


def _infer(args, Tout, f, config, config_proto, executor_type):
    return ([tensor.shape for tensor in f.outputs],)


def _grad(node, *dys):
    """For graphs that are differentiated after they were made: the call then returns residuals as well."""
    operation, count = node.output[0].op, len(node.output)
    wanted = [i for i, x in enumerate(operation.inputs) if is_followed(x.dtype)]
    if count not in operation.levels:
        derivative = derivative_of(operation.attrs["f"], wanted)
        if not derivative.count:  # TF: of several implementations, one that returns residuals too is not replaced
            derivative = derivative_of(selected(operation).attrs["f"], wanted)
        operation.levels[count] = derivative
        operation = extend(operation, {**operation.attrs, "f": derivative.forward}, derivative.forward.outputs)
    derivative = operation.levels[count]
    residuals = operation.outputs[count : count + derivative.count]
    followed = [dy for dy, y in zip(dys[0], node.output) if has_gradient(y.dtype)]
    grads = [None] * len(operation.inputs)
    for i, grad in zip(wanted, backward_call(derivative, followed, residuals)):
        grads[i] = grad
    return (grads,)


def extend(operation, attrs, outputs, inputs=None, types=None):
    """Replace an operation of a graph by one with more outputs; what is there of outputs stays the same tensors."""
    graph = operation.graph
    inner = operation.outputs
    extended = type(operation)(
        graph, operation.record, operation.inputs if inputs is None else inputs, attrs,
        operation.types if types is None else types, operation.name, operation.location, operation.device,
    )  # fmt: skip
    extended.control_inputs = operation.control_inputs
    extended.index = operation.index
    extended.earlier = (*operation.earlier, operation)
    extended.original = extended.earlier[0]
    extended.levels = operation.levels
    extended.maximum_iterations = operation.maximum_iterations
    extended.attrs = {**attrs, "Tout": [tensor.dtype for tensor in outputs]} if "Tout" in attrs else attrs
    tensors = list(inner)
    for i in range(len(inner), len(outputs)):
        tensor = type(inner[0])(extended, i, outputs[i].shape, outputs[i].dtype)
        copy_handle_data(outputs[i], tensor)
        tensors.append(tensor)
    for tensor in inner:
        tensor.op = extended
    graph.nodes[graph.nodes.index(operation)] = extended
    extended.set_outputs(tensors)
    _tell_tapes(extended, len(inner))
    return extended


def _tell_tapes(operation, known):
    """Let tapes that have seen an operation follow its new outputs too: the gradient being computed reads them."""
    outputs = operation.outputs
    numbers = {tensor._id for tensor in outputs[:known]} - {None}
    for recorder in context.recorders:
        if not isinstance(recorder, Tape):
            continue
        ids = next((entry[1] for entry in reversed(recorder.entries) if not numbers.isdisjoint(entry[2])), None)
        if ids is None:
            continue
        inputs, results = structured(operation)
        node = operation.record.make_node(inputs, results, operation.attrs)
        new: list = [None] * known
        for tensor in outputs[known:]:
            if is_followed(tensor.dtype):
                recorder.watch(tensor)
            new.append(tensor._id)
        recorder.entries.append((node, [*ids, *[None] * (len(operation.inputs) - len(ids))], new))


def _call_op(name, stateful):
    return Op(
        name,
        _SIGNATURE,
        traits=CALLS_FUNCTIONS | PLAIN_CALL,
        infer=_infer,
        kernel=_run,
        lower=lambda ctx, args, f, **attrs: ctx.call(f, args),
        grad=_grad,
        saves=("output",),
        vectorize=Rule(lambda batch, node, args: batch.call(node, node.attrs["f"], args), always=True),
        stateful=stateful,
        quiet=False,
    )


PARTITIONED_CALL = _call_op("PartitionedCall", stateful=False)
STATEFUL_PARTITIONED_CALL = _call_op("StatefulPartitionedCall", stateful=True)


def call_graph(graph, tensors) -> list:
    """Run or trace a call of `graph` with flat inputs, captures included; tapes record it as one step."""
    mode = context.mode
    if mode is None:
        return _eager_call(graph, tensors)
    if mode.recorders:
        return _recorded_call(graph, tensors, mode)
    return _plain_call(graph, tensors, mode)


def _eager_call(graph, tensors):
    arrays = [tensor._a for tensor in tensors]
    results = context.run_quietly(graph.executable().run, arrays)
    return [EagerTensor(array, tensor.dtype) for array, tensor in zip(results, graph.outputs)]


def _plain_call(graph, tensors, mode):
    if mode.graph is None:
        if mode.elsewhere:
            placement.check(mode.device, graph.name)
        before, context.mode = context.mode, None
        outer, context.called_on = context.called_on, mode.device or context.called_on
        try:
            return _eager_call(graph, tensors)
        finally:
            context.mode, context.called_on = before, outer
    op = STATEFUL_PARTITIONED_CALL if graph.is_stateful else PARTITIONED_CALL
    attrs = {**op.defaults, "f": graph, "Tout": [tensor.dtype for tensor in graph.outputs]}
    types = {"Tin": [tensor.dtype for tensor in tensors]}
    (outputs,) = mode.graph.add_node(op, [list(tensors)], attrs, types, None)
    mode.graph.nodes[-1].calls = graph.base
    for output, tensor in zip(outputs, graph.outputs):
        copy_handle_data(tensor, output)
    return outputs


def _recorded_call(graph, tensors, mode):
    """A call that tapes see. The n-th tape from the inside may differentiate n times, and gets residuals for that."""
    for variable in graph.used_variables.values():
        for recorder in mode.recorders:
            recorder.variable_used(variable)
    ids = [tensor._id for tensor in tensors]
    watching = [recorder for recorder in mode.recorders if not recorder.ids.isdisjoint(ids)]
    plain = mode.with_recorders(())
    if not watching:
        context.mode = plain
        try:
            return _eager_call(graph, tensors) if plain is None else _plain_call(graph, tensors, plain)
        finally:
            context.mode = mode
    watched = {number for number in ids if any(number in recorder.ids for recorder in watching)}
    wanted = [i for i, x in enumerate(tensors) if ids[i] in watched and is_followed(x.dtype)]
    levels, forward = [], graph
    for _ in watching:
        derivative = derivative_of(forward, wanted)
        levels.append((forward, derivative))
        forward = derivative.forward
    context.mode = plain
    try:
        results = _eager_call(forward, tensors) if plain is None else _plain_call(forward, tensors, plain)
    finally:
        context.mode = mode
    inputs = [tensors[i] for i in wanted]
    # The outermost first: it must know the residuals that an accumulator inside computes with.
    for recorder, (level, derivative) in reversed(list(zip(reversed(watching), levels))):
        count = len(level.outputs)
        outputs = results[:count]
        node = _call_node(level, derivative, outputs, results[count : count + derivative.count])
        recorder.record(node, inputs, [x._id for x in inputs], outputs)
    return results[: len(graph.outputs)]


def _call_node(graph, derivative, outputs, residuals):
    followed = [i for i, y in enumerate(outputs) if has_gradient(y.dtype)]

    def grad(*dys):
        return backward_call(derivative, [dys[i] for i in followed], residuals)

    specs = [(y.shape if isinstance(y, EagerTensor) and y.dtype._kind != "v" else y, y.dtype) for y in outputs]
    return CustomNode(graph.name, specs, grad)


def backward_call(derivative, dys, residuals):
    """The gradients of the inputs that a derivative is about."""
    dys = [dense(dy) for dy in dys]
    rest, outer = iter(residuals), derivative.outer
    captured = [outer[i] if i in outer else next(rest) for i in range(derivative.count + len(outer))]
    results = call_graph(derivative.backward, [*dys, *captured])
    at, gradients = iter(results), []
    for gradient in derivative.gradients:
        if gradient is None:
            gradients.append(None)
        elif isinstance(gradient, CompositeTensor):
            parts = [next(at) for _ in flatten(gradient, expand_composites=True)]
            gradients.append(pack_sequence_as(gradient, parts, expand_composites=True))
        else:
            gradients.append(next(at))
    return gradients
