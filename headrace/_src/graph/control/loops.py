"""`tf.while_loop`, its op and its gradient."""

import threading
from typing import Any

from headrace._src.core import dtypes, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.random_state import random_state
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec, TypeSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.graph.building.func_graph import FuncGraph, body_of, copy_handle_data
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.building.operation import has_gradient, is_followed
from headrace._src.graph.control.calls import backward_call, extend
from headrace._src.graph.control.computed_before import ComputedBefore
from headrace._src.graph.control.conditional import note_variables, share_inputs
from headrace._src.graph.control.trip_counts import trip_count
from headrace._src.graph.derivatives.functions import dense, derivative_of, zeros_for
from headrace._src.graph.passes.loop_invariants import loop_plans
from headrace._src.graph.running.estimates import loops
from headrace._src.op.api import api
from headrace._src.op.attached import method_of
from headrace._src.op.batching import Rule
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.options import truth
from headrace._src.op.registry import lookup
from headrace._src.op.traits import CALLS_FUNCTIONS, LOOPS
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.arithmetic import ADD_N
from headrace._src.ops.math.comparison import GREATER, LESS, LOGICAL_AND


def _run(input, cond, body, output_shapes, parallel_iterations):
    plans = loop_plans(cond, body)
    values = list(input)
    input.clear()  # so that the first values can be freed early
    count = len(values)
    found = plans.first_test.run(list(values))
    if not found[0]:
        return values
    for_tests = found[1:]
    values = plans.first_step.run(values)
    for_steps = values[count:]
    del values[count:]
    test, step = plans.test.run, plans.step.run
    iterations = 0
    while test(values + for_tests)[0]:
        values += for_steps
        values = step(values)
        iterations += 1
        if iterations == _MANY and _may_compile() and body.executable() is not body.plan():
            values, more = _run_on(test, for_tests, body, values)
            iterations += more
            break
    loops.seconds += (1 + iterations) * plans.step.estimated_seconds
    return values


# After this many iterations, the body of a loop that is still interpreted is compiled by itself.
_MANY = 200


def _may_compile():
    """Whether the body may become a program here.

    All threads share the count of its calls. With a global seed, the call at which a program takes over must not depend
    on which of them was faster: then only the main thread goes on with programs. Where these come before the first call
    of each shape, there is nothing to count.
    """
    if not random_state.is_exact or random_state.deterministic:
        return True
    return threading.current_thread() is threading.main_thread()


def _run_on(test, for_tests, body, values):
    """Go on with a loop whose body is compiled in the background; the last values, and how many iterations it took."""
    step, iterations = body.executable().run, 0
    while test(values + for_tests)[0]:
        values = step(values)
        iterations += 1
    return values, iterations


def _infer(input, cond, body, output_shapes, parallel_iterations):
    return ([tensor.shape for tensor in body.inputs],)


def _vectorize_while(batch, node, input):
    return batch.loop(node.attrs["cond"], node.attrs["body"], input)


def _while_op(name, stateful):
    return Op(
        name,
        "input: list(T), *, cond: func, body: func, output_shapes: list(shape) = [], parallel_iterations: int = 10 "
        "-> output: list(T)",
        traits=CALLS_FUNCTIONS | LOOPS,
        node_name="while",
        infer=_infer,
        kernel=_run,
        lower=lambda ctx, input, cond, body, **attrs: ctx.loop(cond, body, input),
        grad=lambda node, *dys: _grad(node, dys[0]),
        saves=("output",),
        vectorize=Rule(_vectorize_while, always=True),
        stateful=stateful,
        quiet=False,
    )


WHILE = _while_op("While", stateful=True)
STATELESS_WHILE = _while_op("StatelessWhile", stateful=False)


def add_loop(cond, body, inputs, name=None, parallel_iterations=10) -> list:
    """Add an operation that runs `body` on the loop variables as long as `cond` is true of them.

    Args:
        cond, body: graphs with one input per loop variable; what they capture becomes further loop variables.
        inputs: the first values of the loop variables.

    Returns:
        The last values, without those of what was captured.
    """
    captured = share_inputs([cond, body])
    body.outputs = body.outputs + body.inputs[len(inputs) :]
    note_variables([cond, body])
    op = WHILE if cond.is_stateful or body.is_stateful else STATELESS_WHILE
    outputs = op([*inputs, *captured], cond=cond, body=body, parallel_iterations=parallel_iterations, name=name)
    for output, tensor in zip(outputs, body.outputs):
        copy_handle_data(tensor, output)
    return outputs[: len(inputs)]


# The gradient.


class _LoopDerivative:
    """What the gradient of a loop needs to know; see `_differentiate`."""

    def __init__(self, derivative, body, wanted, saved, invariant, count):
        self.derivative = derivative  # of the body
        self.body = body
        self.wanted = wanted  # positions of the loop variables that gradients are followed through
        # For each residual: ("list", output position), ("invariant", loop variable), or ("before", tensor): what is the
        # same in all iterations is computed once more before the loop, instead of kept for each of them.
        self.saved = saved
        self.invariant = invariant  # positions of loop variables that the body does not change
        self.count = count  # position of the output that counts the iterations


def _grad(node, dys):
    """The gradient of a loop is a loop over the body's gradient, backwards.

    The forward loop pushes the residuals of each iteration on lists, and counts. The backward loop pops them.
    """
    operation, count = node.output[0].op, len(node.output)
    if count not in operation.levels:
        operation = _differentiate(operation, count)
    found = operation.levels[count]
    inputs, outputs = operation.inputs, operation.outputs
    derivative, body = found.derivative, found.body
    changed = [i for i in found.wanted if i not in found.invariant]
    fixed = [i for i in found.wanted if i in found.invariant]
    # Gradients of the variables that change are handed from iteration to iteration, those of the others add up.
    start = [dense(dys[i]) if has_gradient(inputs[i].dtype) else None for i in changed]
    totals = [i for k, i in enumerate(found.wanted) if i in found.invariant and derivative.gradients[k] is not None]
    first = [outputs[found.count], *start, *(zeros_for(inputs[i]) for i in totals)]
    lists = list(dict.fromkeys(place for kind, place in found.saved if kind == "list"))
    first += [outputs[place] for place in lists]
    cond_graph, body_graph = FuncGraph("gradient_cond", context.graph), FuncGraph("gradient_body", context.graph)
    for graph in (cond_graph, body_graph):
        with graph.building():
            for tensor in first:
                copy_handle_data(tensor, graph.add_input(tensor.shape, tensor.dtype, "loop_var"))
    with cond_graph.building():
        cond_graph.outputs = [GREATER(cond_graph.inputs[0], to_tensor(0))]
    with body_graph.building():
        left, *values = body_graph.inputs
        grads = dict(zip(changed, values[: len(changed)]))
        sums = dict(zip(totals, values[len(changed) : len(changed) + len(totals)]))
        stacks = dict(zip(lists, values[len(changed) + len(totals) :]))
        residuals = []
        for (kind, place), tensor in zip(found.saved, derivative.residuals):
            if kind == "list":
                shape = _element_shape(tensor)
                popped = lookup("TensorListPopBack")(stacks[place], shape, element_dtype=tensor.dtype)
                stacks[place], value = popped
                value.set_shape(tensor.shape)
                copy_handle_data(tensor, value)
                residuals.append(value)
            else:
                residuals.append(inputs[place] if kind == "invariant" else place)
        dys_of_body = []
        for i, y in enumerate(body.outputs):
            if not has_gradient(y.dtype):
                continue
            dys_of_body.append(grads[i] if i in grads else zeros_for(inputs[i] if i in found.invariant else y))
        results = backward_call(derivative, dys_of_body, residuals)
        after = dict(zip(found.wanted, results))
        new = [zeros_for(inputs[i]) if after[i] is None else dense(after[i]) for i in changed]
        new_sums = [sums[i] + dense(after[i]) if after[i].dtype._kind != "v"
                    else ADD_N([sums[i], after[i]]) for i in totals]
        body_graph.outputs = [
            body_graph.inside(x) for x in [left - 1, *new, *new_sums, *(stacks[place] for place in lists)]
        ]
        for tensor, given in zip(body_graph.outputs, body_graph.inputs):
            if tensor.shape.rank is None:
                tensor.set_shape(given.shape)
    last = add_loop(cond_graph, body_graph, first)
    if operation.maximum_iterations is not None:
        last[0].op.maximum_iterations = operation.maximum_iterations  # a program needs to know how long lists get
    grads_of_inputs: list = [None] * len(node.output)
    for i, grad in zip(changed, last[1:]):
        grads_of_inputs[i] = grad
    for i, grad in zip(totals, last[1 + len(changed) :]):
        given = dys[i] if has_gradient(inputs[i].dtype) else None
        grads_of_inputs[i] = grad if given is None else ADD_N([grad, dense(given)])
    for i in fixed:
        if grads_of_inputs[i] is None and has_gradient(inputs[i].dtype):
            grads_of_inputs[i] = dys[i]
    return (grads_of_inputs,)


def _element_shape(tensor):
    dims = [-1] if tensor.shape.rank is None else [-1 if n is None else n for n in tensor.shape.as_list()]
    return to_tensor(-1 if tensor.shape.rank is None else dims, dtypes.int32)


def _differentiate(operation, count):
    """Extend a loop by lists that keep the residuals of all iterations, and a counter."""
    body, cond, inputs = operation.attrs["body"], operation.attrs["cond"], operation.inputs
    invariant = {i for i, (x, y) in enumerate(zip(body.inputs, body.outputs)) if x is y}
    wanted = _wanted(body, inputs)
    derivative = derivative_of(body, wanted)
    residuals = derivative.residuals
    graph = operation.graph
    at, end = graph.nodes.index(operation), len(graph.nodes)
    repeated = ComputedBefore(operation, invariant)
    saved, pushed = [], []
    for tensor in residuals:
        position = next((i for i, x in enumerate(body.inputs) if x is tensor), None)
        if position is not None and position in invariant:
            saved.append(("invariant", position))
            continue
        before = repeated.value(tensor)
        if before is not None:
            saved.append(("before", before))
            continue
        if not any(tensor is other for other in pushed):
            pushed.append(tensor)
        saved.append(("list", count + next(i for i, x in enumerate(pushed) if x is tensor)))
    if pushed and operation.maximum_iterations is None:
        count_of_trips = trip_count(operation)
        if count_of_trips is not None:
            operation.maximum_iterations = count_of_trips  # a program can have lists of known length
    # The loop reads them: they must not wait for what the user's code around the gradient waits for.
    with graph.building(), graph.control_dependencies(None):
        extra = []
        for tensor in pushed:
            # A loop that never runs needs a place too: its body is compiled all the same.
            bound = None if operation.maximum_iterations is None else max(operation.maximum_iterations, 1)
            handle = lookup("EmptyTensorList")(
                _element_shape(tensor), to_tensor(-1 if bound is None else bound, dtypes.int32),
                element_dtype=tensor.dtype,
            )  # fmt: skip
            extra.append(handle)
        extra.append(to_tensor(0, dtypes.int32))
        extra = [graph.inside(x) for x in extra]
        fresh = graph.nodes[end:]
        del graph.nodes[end:]
        graph.nodes[at:at] = fresh  # the loop reads them
    outputs = list(body.outputs)
    new_inputs = []
    base = body.base
    with base.building():
        for tensor, start in zip(pushed, extra):
            handle = base.placeholder(start.shape, start.dtype, "list")
            copy_handle_data(start, handle)
            new_inputs.append(handle)
            outputs.append(lookup("TensorListPushBack")(handle, tensor))
        counter = base.placeholder([], dtypes.int32, "count")
        new_inputs.append(counter)
        outputs.append(counter + 1)
    extended_body = derivative.forward.view([base.inside(x) for x in outputs], [*body.inputs, *new_inputs])
    with cond.base.building():
        more = [cond.base.placeholder(x.shape, x.dtype, "unused") for x in new_inputs]
    extended_cond = cond.view(cond.outputs, [*cond.inputs, *more])
    attrs = {**operation.attrs, "body": extended_body, "cond": extended_cond}
    types = {"T": [*operation.types["T"], *(x.dtype for x in new_inputs)]}
    operation.levels[count] = _LoopDerivative(
        derivative, body, wanted, saved, invariant, count + len(pushed)
    )
    return extend(operation, attrs, extended_body.outputs, (*inputs, *extra), types)


def _wanted(body, inputs):
    """The loop variables that gradients are followed through: numbers and lists, and variables."""
    return [i for i, x in enumerate(inputs) if is_followed(x.dtype)]


# The public function.


@api("while_loop", dispatch=False, told=True)
def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    maximum_iterations=None,
    name=None,
) -> Any:
    """Call `body` on the loop variables as long as `cond` is true of them.

    Args:
        cond: a function of the loop variables that returns a scalar boolean.
        body: a function of the loop variables that returns their next values, in the same structure.
        loop_vars: a list, tuple or other structure of the first values.
        shape_invariants: for each loop variable a shape (or a spec) that holds in all iterations, where its first
            shape does not.
        parallel_iterations, back_prop, swap_memory: accepted; iterations run one after another.
        maximum_iterations: stop after so many, whatever `cond` says.
        name: a name for the operation.

    Returns:
        The last values, in the structure of `loop_vars`.

    >>> tf.while_loop(lambda i: i < 10, lambda i: [i + 1], [tf.constant(0)])[0].numpy()
    np.int32(10)
    """
    if not callable(cond):
        raise TypeError(f"while_loop: 'cond' must be callable, got {cond!r}.")
    if not callable(body):
        raise TypeError(f"while_loop: 'body' must be callable, got {body!r}.")
    truth("back_prop", back_prop)
    if parallel_iterations is not None and parallel_iterations < 1:
        raise TypeError(f"while_loop: 'parallel_iterations' must be a positive integer, got {parallel_iterations}.")
    if not nest.flatten(loop_vars, expand_composites=True) and not isinstance(loop_vars, (list, tuple)):
        raise ValueError("while_loop: 'loop_vars' must be provided.")
    if isinstance(loop_vars, (list, tuple)) and not loop_vars:
        raise ValueError("while_loop: 'loop_vars' must not be empty.")
    if context.graph is None:
        return _eager_loop(cond, body, loop_vars, maximum_iterations)
    return _graph_loop(cond, body, loop_vars, shape_invariants, parallel_iterations or 10, maximum_iterations, name)


@method_of(BaseGraph, "while_loop")
def _while_loop_in_graph(self, condition, body, values) -> Any:
    return while_loop(condition, body, values)


def _is_sequence(loop_vars):
    return isinstance(loop_vars, (list, tuple)) and not hasattr(loop_vars, "_fields")


def _call(function, loop_vars):
    return function(*loop_vars) if isinstance(loop_vars, (list, tuple)) else function(loop_vars)


def _repacked(result, loop_vars):
    """What a body returned, in the structure of the loop variables: one variable need not be in a list."""
    if isinstance(loop_vars, (list, tuple)) and len(loop_vars) == 1 and not _matches(result, loop_vars):
        result = type(loop_vars)([result]) if _is_sequence(loop_vars) else type(loop_vars)(result)
    elif _is_sequence(loop_vars) and isinstance(result, (list, tuple)) and not hasattr(result, "_fields"):
        result = type(loop_vars)(result)
    return result


def _matches(result, loop_vars):
    return isinstance(result, (list, tuple)) and len(result) == len(loop_vars) and type(result) in (list, tuple)


def _eager_loop(cond, body, loop_vars, maximum_iterations):
    # TF: numbers and arrays stay what they are until the loop has ended.
    limit = None if maximum_iterations is None else int(maximum_iterations)
    iterations = 0
    while (limit is None or iterations < limit) and _call(cond, loop_vars):
        result = _call(body, loop_vars)
        if not _is_sequence(result):  # TF: otherwise what is returned is what the body makes, a list or a tuple
            result = _repacked(result, loop_vars)
        nest.assert_same_structure(list_of(loop_vars), list_of(result))
        loop_vars = result
        iterations += 1
    return nest.map_structure(_converted, loop_vars)


def list_of(structure):
    """TF: lists and tuples count as the same at the top."""
    return list(structure) if isinstance(structure, (list, tuple)) else structure


def _converted(value):
    return value if isinstance(value, (Tensor, CompositeTensor)) or hasattr(value, "_type_spec") else to_tensor(value)


def _graph_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations, name):
    loop_vars = nest.map_structure(_converted, loop_vars)
    flat = [to_tensor(x) for x in nest.flatten(loop_vars, expand_composites=True)]
    shapes = _invariant_shapes(loop_vars, flat, shape_invariants)
    bounded = maximum_iterations is not None
    first = list(flat)
    if bounded:
        limit = to_tensor(maximum_iterations)
        if limit.shape.rank not in (0, None):
            raise ValueError(f"while_loop: maximum_iterations must be a scalar, got shape {limit.shape}.")
        limit = CAST(limit, DstT=dtypes.int32) if limit.dtype is not dtypes.int32 else limit
        first.append(to_tensor(0, dtypes.int32))
        shapes = [*shapes, TensorShape([])]
    cond_graph = _loop_graph(name, "cond", first, shapes)
    with cond_graph.building():
        given = _packed(loop_vars, cond_graph.inputs[: len(flat)])
        test = to_tensor(_call(cond, given))
        if test.dtype is not dtypes.bool:
            raise TypeError(f"while_loop: cond must return a boolean, got {test.dtype.name}.")
        if test.shape.rank not in (0, None):
            if test.shape.num_elements() != 1:
                raise ValueError(f"while_loop: cond must return a scalar, got shape {test.shape}.")
            test = RESHAPE(test, [])
        if bounded:
            test = LOGICAL_AND(LESS(cond_graph.inputs[len(flat)], limit), test)
        cond_graph.outputs = [cond_graph.inside(test)]
    body_graph = _loop_graph(name, "body", first, shapes)
    with body_graph.building():
        arguments = body_graph.inputs[: len(flat)]
        counter = body_graph.inputs[len(flat)] if bounded else None
        given = _packed(loop_vars, arguments)
        result = _repacked(_call(body, given), loop_vars)
        nest.assert_same_structure(list_of(loop_vars), list_of(result), expand_composites=False)
        result = nest.map_structure(_converted, result)
        nest.assert_same_structure(list_of(loop_vars), list_of(result), expand_composites=True)
        outputs = [to_tensor(x) for x in nest.flatten(result, expand_composites=True)]
        _check_types(arguments, outputs)
        body_graph.outputs = [body_graph.inside(x) for x in outputs]
        if bounded:
            body_graph.outputs.append(counter + 1)
    last = add_loop(cond_graph, body_graph, first, name, parallel_iterations)
    if bounded:
        known = limit._a if isinstance(limit, EagerTensor) else limit._known
        if known is not None:
            last[0].op.maximum_iterations = int(known)
    return _packed(loop_vars, last[: len(flat)])


def _packed(structure, tensors):
    return nest.pack_sequence_as(structure, tensors, expand_composites=True)


def _loop_graph(name, part, tensors, shapes):
    graph = body_of(name or "while", f"{name or 'while'}_{part}")
    with graph.building():
        for tensor, shape in zip(tensors, shapes):
            placeholder = graph.add_input(shape, tensor.dtype, "loop_var")
            if not isinstance(tensor, EagerTensor):
                copy_handle_data(tensor, placeholder)
    return graph


def _invariant_shapes(loop_vars, flat, shape_invariants):
    if shape_invariants is None:
        return [tensor.shape for tensor in flat]
    nest.assert_same_structure(list_of(loop_vars), list_of(shape_invariants), expand_composites=False)
    shapes = []
    leaves = nest.flatten(loop_vars)
    for leaf, invariant in zip(leaves, nest.flatten_up_to(loop_vars, shape_invariants)):
        parts = nest.flatten(leaf, expand_composites=True)
        if isinstance(invariant, TypeSpec) and not isinstance(invariant, TensorSpec):
            shapes.extend(spec.shape for spec in nest.flatten(invariant, expand_composites=True))
        elif len(parts) == 1:
            shapes.append(invariant.shape if isinstance(invariant, TensorSpec) else TensorShape(invariant))
        else:
            shapes.extend(part.shape for part in parts)
    for tensor, shape in zip(flat, shapes):
        if not tensor.shape.is_subtype_of(shape):
            raise ValueError(
                f"while_loop: the shape invariant {shape} is not compatible with the shape {tensor.shape} of the loop "
                f"variable {tensor!r}."
            )
    return shapes


def _check_types(inputs, outputs):
    for i, (given, after) in enumerate(zip(inputs, outputs)):
        if after.dtype is not given.dtype:
            raise TypeError(
                f"while_loop: loop variable {i} enters the loop with dtype {given.dtype.name}, but has dtype "
                f"{after.dtype.name} after one iteration. Cast it with tf.cast."
            )
        if not after.shape.is_subtype_of(given.shape):
            raise ValueError(
                f"while_loop: loop variable {i} enters the loop with shape {given.shape}, but has shape {after.shape} "
                "after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` "
                "argument of tf.while_loop to specify a less-specific shape."
            )
