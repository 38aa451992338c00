"""`tf.cond`, `tf.case` and `tf.switch_case`: which of several functions runs is known only when the graph does."""

import functools
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors, nest, types
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.func_graph import body_of, copy_handle_data
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.building.operation import Operation, has_gradient, is_followed
from headrace._src.graph.control.calls import backward_call, extend
from headrace._src.graph.derivatives.functions import dense, derivative_of, zeros_for
from headrace._src.op.api import api
from headrace._src.op.attached import method_of
from headrace._src.op.batching import Rule
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.options import truth
from headrace._src.op.traits import CALLS_FUNCTIONS, NEVER_FAILS
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST, cast
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.passing import identity
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.debugging.assertions import ASSERT
from headrace._src.ops.math.comparison import LOGICAL_AND

# A branch returns this where only another branch has a residual; nobody reads it.
FAKE_PARAM = Op(
    "FakeParam",
    "*, dtype: type, shape: shape -> output: dtype",
    traits=NEVER_FAILS,
    infer=lambda dtype, shape: TensorShape(shape),
    kernel=lambda dtype, shape: _fake(dtype, shape),
    lower=lambda ctx, dtype, shape: _fake(dtype, shape),  # the lowering of the branches adapts its shape
    grad=None,
)


def _fake(dtype, shape):
    dims = [0] if shape is None else [0 if n is None else n for n in shape]
    return np.zeros(dims, dtype._np) if dtype._kind not in "rvs" else np.empty((), object)


def _merged(branches):
    """The shapes of the outputs, as far as all branches agree."""
    shapes = []
    for tensors in zip(*(branch.outputs for branch in branches)):
        shapes.append(functools.reduce(_common, (t.shape for t in tensors)))
    return (shapes,)


def _common(a, b):
    return a.most_specific_common_supertype([b])


def condition_number(cond) -> int:
    """Which branch a condition chooses. TF: a value other than a boolean is true unless it is zero or empty."""
    is_true = bool(cond[()]) if cond.ndim == 0 else cond.size > 0
    return 0 if is_true else 1


def branch_number(branch_index, count) -> int:
    """Which of `count` branches an index means."""
    i = int(branch_index)
    return i if 0 <= i < count else count - 1


def _run_if(cond, input, Tout, then_branch, else_branch, output_shapes):
    branch = (then_branch, else_branch)[condition_number(cond)]
    return branch.plan().run(input)


def _run_case(branch_index, input, Tout, branches, output_shapes):
    return branches[branch_number(branch_index, len(branches))].plan().run(input)


def _grad(node, *dys):
    """The gradient of a conditional is a conditional over the gradients of its branches."""
    operation, count = node.output[0].op, len(node.output)
    chooser, inputs = operation.inputs[0], operation.inputs[1:]
    wanted = [i for i, x in enumerate(inputs) if is_followed(x.dtype)]
    if count not in operation.levels:
        operation.levels[count] = [derivative_of(branch, wanted) for branch in branches_of(operation)]
        operation = _with_residuals(operation, operation.levels[count])
    derivatives = operation.levels[count]
    residuals = operation.outputs[count:]
    followed = [dense(dy) for dy, y in zip(dys[0], node.output) if has_gradient(y.dtype)]
    # An input has a gradient when it has one in some branch; the others then return zeros.
    used = [k for k in range(len(wanted)) if any(d.gradients[k] is not None for d in derivatives)]
    grads: list = [None] * len(inputs)
    if used:
        backward = []
        for number, derivative in enumerate(derivatives):
            before = sum(d.count for d in derivatives[:number])
            backward.append(
                functools.partial(
                    _branch_gradients, derivative, followed, residuals[before : before + derivative.count],
                    [inputs[wanted[k]] for k in used], used,
                )
            )  # fmt: skip
        for k, grad in zip(used, _choose(chooser, backward, operation.record)):
            grads[wanted[k]] = grad
    return (None, grads)


def _branch_gradients(derivative, dys, residuals, inputs, used):
    found = backward_call(derivative, dys, residuals)
    return [zeros_for(x) if found[k] is None else dense(found[k]) for k, x in zip(used, inputs)]


def _with_residuals(operation, derivatives):
    """The operation with the residuals of all branches as further outputs."""
    base = [branch.outputs for branch in branches_of(operation)]
    views = []
    for i, (derivative, outputs) in enumerate(zip(derivatives, base)):
        graph = derivative.forward.base
        extra = []
        for j, other in enumerate(derivatives):
            residuals = other.forward.outputs[len(base[j]) :]
            if i == j:
                extra += residuals
                continue
            with graph.building():
                for tensor in residuals:
                    shape = None if tensor.shape.rank is None else tuple(tensor.shape.as_list())
                    fake = FAKE_PARAM(dtype=tensor.dtype, shape=shape)
                    copy_handle_data(tensor, fake)
                    extra.append(fake)
        views.append(derivative.forward.view([*outputs, *extra]))
    outputs = []
    for tensors in zip(*(view.outputs for view in views)):
        real = next(t for t in tensors if t.op.record is not FAKE_PARAM)
        outputs.append(real)
    attrs = dict(operation.attrs)
    if "branches" in attrs:
        attrs["branches"] = views
    else:
        attrs["then_branch"], attrs["else_branch"] = views
    return extend(operation, attrs, outputs)


def branches_of(operation) -> list:
    """The branch graphs of an operation, the first one for true or 0."""
    attrs = operation.attrs
    return list(attrs["branches"]) if "branches" in attrs else [attrs["then_branch"], attrs["else_branch"]]


def _if_op(name, stateful):
    return Op(
        name,
        "cond: Tcond, input: list(Tin), *, Tout: list(type), then_branch: func, else_branch: func, "
        "output_shapes: list(shape) = [] -> output: list(Tout)",
        traits=CALLS_FUNCTIONS,
        node_name="cond",
        infer=lambda cond, input, Tout, then_branch, else_branch, output_shapes: _merged([then_branch, else_branch]),
        kernel=_run_if,
        vectorize=Rule(lambda batch, node, cond, input: batch.conditional(cond, branches_of(node), input), always=True),
        lower=lambda ctx, cond, input, then_branch, else_branch, **attrs: ctx.conditional(
            cond, [then_branch, else_branch], input
        ),
        grad=_grad,
        saves=("output",),
        stateful=stateful,
        quiet=False,
    )


def _case_op(name, stateful):
    return Op(
        name,
        "branch_index: int32, input: list(Tin), *, Tout: list(type), branches: list(func), "
        "output_shapes: list(shape) = [] -> output: list(Tout)",
        traits=CALLS_FUNCTIONS,
        infer=lambda branch_index, input, Tout, branches, output_shapes: _merged(branches),
        kernel=_run_case,
        vectorize=Rule(lambda batch, node, number, input: batch.switch(number, branches_of(node), input), always=True),
        lower=lambda ctx, branch_index, input, branches, **attrs: ctx.switch(branch_index, branches, input),
        grad=_grad,
        saves=("output",),
        stateful=stateful,
        quiet=False,
    )


IF = _if_op("If", stateful=True)
STATELESS_IF = _if_op("StatelessIf", stateful=False)
CASE = _case_op("Case", stateful=True)
STATELESS_CASE = _case_op("StatelessCase", stateful=False)


def trace_branch(function, name, operation="cond", chooser=None):
    """The graph of a function without arguments, its structured result in `structured_outputs`; see `body_of`.

    TF: the value of `chooser` stands for a result that is an operation, so that sessions can run it; without `chooser`
    such a result is None.
    """
    graph = body_of(operation, name)

    def value_of(result):
        if not isinstance(result, Operation):
            return result
        if chooser is None:
            return None
        with graph.control_dependencies([result]):
            return identity(chooser)

    with graph.building():
        returned = function()
        graph.returns_operation = isinstance(returned, Operation)
        result = nest.map_structure(value_of, returned)
        graph.structured_outputs = nest.map_structure(
            lambda x: None if x is None else to_tensor(x), result, expand_composites=True
        )
        leaves = nest.flatten(graph.structured_outputs, expand_composites=True)
        graph.outputs = [graph.inside(x) for x in leaves if x is not None]
    return graph


def share_inputs(graphs) -> list:
    """Give all graphs the same inputs, one for each tensor that any of them captures; returns these tensors."""
    outer = {}
    for graph in graphs:
        for tensor in graph.external_captures:
            outer.setdefault(id(tensor), tensor)
    for graph in graphs:
        arguments = graph.inputs[: len(graph.inputs) - len(graph.captures)]
        inner = []
        for key, tensor in outer.items():
            entry = graph._captures.get(key)
            if entry is None:
                graph.add_capture(tensor)
                entry = graph._captures[key]
            inner.append(entry[1])
        graph.inputs = arguments + inner
    return list(outer.values())


def _choose(chooser, functions, record, name=None):
    """Trace the functions as branches, and add an operation that runs one of them."""
    graphs = [trace_branch(function, f"branch_{i}") for i, function in enumerate(functions)]
    return add_branches(chooser, graphs, record in (IF, STATELESS_IF), name)


def add_branches(chooser, graphs, is_if, name=None):
    """Add an operation that runs one of `graphs`, which have equal structures of outputs."""
    captured = share_inputs(graphs)
    note_variables(graphs)
    stateful = any(branch.is_stateful for branch in graphs)
    types = [tensor.dtype for tensor in graphs[0].outputs]
    if is_if:
        op = IF if stateful else STATELESS_IF
        attrs = {"then_branch": graphs[0], "else_branch": graphs[1]}
    else:
        op = CASE if stateful else STATELESS_CASE
        attrs = {"branches": graphs}
    outputs = op(chooser, captured, Tout=types, name=name, **attrs) if types or stateful else []
    for output, tensor in zip(outputs or [], graphs[0].outputs):
        copy_handle_data(tensor, output)
    return pack_outputs(graphs[0].structured_outputs, outputs or [])


def note_variables(graphs):
    """Let the graph around and the tapes know which variables some graphs use."""
    outer = context.graph
    for graph in graphs:
        if outer is not None:
            outer.used_variables.update(graph.used_variables)
        for variable in graph.used_variables.values():
            for recorder in context.recorders:
                recorder.variable_used(variable)


def pack_outputs(structure, tensors):
    """The tensors in the structure that a branch returned, with None where it returned None."""
    found = iter(tensors)
    leaves = nest.flatten(structure, expand_composites=True)
    filled = [None if leaf is None else next(found) for leaf in leaves]
    return nest.pack_sequence_as(structure, filled, expand_composites=True)


def _widen_indices(graphs):
    """Give indexed slices that branches return in one place the same type of indices.

    TF: gradients of one variable have int32 indices in one branch and int64 in another, as Keras's optimizers do.
    """
    results = [nest.flatten(graph.structured_outputs) for graph in graphs]
    if len({len(leaves) for leaves in results}) > 1:
        return
    for graph, leaves in zip(graphs, results):
        widened = [
            isinstance(leaf, IndexedSlices)
            and leaf.indices.dtype is dtypes.int32
            and all(isinstance(x, IndexedSlices) for x in others)
            and any(x.indices.dtype is dtypes.int64 for x in others)
            for leaf, others in zip(leaves, list(zip(*results)))
        ]
        if not any(widened):
            continue
        with graph.building():
            leaves = [
                IndexedSlices(x.values, cast(x.indices, dtypes.int64), x.dense_shape) if wide else x
                for x, wide in zip(leaves, widened)
            ]
            graph.structured_outputs = nest.pack_sequence_as(graph.structured_outputs, leaves)
            parts = nest.flatten(graph.structured_outputs, expand_composites=True)
            graph.outputs = [graph.inside(x) for x in parts if x is not None]


def _check_branches(graphs, what):
    """Refuse branches whose results differ in structure or dtype."""
    _widen_indices(graphs)
    if any(graph.structured_outputs is None for graph in graphs):  # others may only have effects
        for graph in graphs:
            if graph.returns_operation:
                graph.structured_outputs, graph.outputs = None, []
    first = graphs[0]
    for graph in graphs[1:]:
        try:
            nest.assert_same_structure(first.structured_outputs, graph.structured_outputs, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"{what} must return the same structure from all branches, got {first.structured_outputs!r} and "
                f"{graph.structured_outputs!r}: {error}"
            ) from None
        pairs = zip(
            nest.flatten(first.structured_outputs, expand_composites=True),
            nest.flatten(graph.structured_outputs, expand_composites=True),
        )
        for i, (a, b) in enumerate(pairs):
            if (a is None) != (b is None) or (a is not None and a.dtype is not b.dtype):
                kinds = ["None" if x is None else x.dtype.name for x in (a, b)]
                raise TypeError(f"{what} must return the same types from all branches: output {i} is {kinds[0]} in "
                                f"{first.name} and {kinds[1]} in {graph.name}.")


@api("cond", dispatch=False)
def cond(pred, true_fn=None, false_fn=None, name=None) -> Any:
    """`true_fn()` if `pred` is true, otherwise `false_fn()`.

    Eagerly one of the functions is called. In a graph both are traced, and which one runs is decided by `pred`'s value.

    Args:
        pred: a scalar boolean.
        true_fn, false_fn: functions without arguments that return the same structure of tensors.
        name: a name for the operation.

    >>> x = tf.constant(2.0)
    >>> tf.cond(x > 1, lambda: x * 10, lambda: x).numpy()
    np.float32(20.0)

    Raises:
        TypeError: a function cannot be called, or their results differ in structure or dtype.
    """
    for given, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"cond: '{given}' must be callable, got {function!r}.")
    if context.graph is None:
        if not isinstance(pred, (bool, int, float, Tensor)):
            pred = to_tensor(pred)
        return (true_fn if pred else false_fn)()
    if isinstance(pred, bool):
        raise TypeError("cond: pred must not be a Python bool while a graph is built: call the function yourself.")
    pred = to_tensor(pred)
    if pred.dtype is not dtypes.bool:
        raise TypeError(f"cond: pred must be a boolean tensor, got {pred.dtype.name}.")
    operation = name or "cond"
    graphs = [trace_branch(true_fn, "true_fn", operation, pred), trace_branch(false_fn, "false_fn", operation, pred)]
    _check_branches(graphs, "cond: true_fn and false_fn")
    return add_branches(pred, graphs, True, name)


@method_of(BaseGraph, "cond")
def _cond_in_graph(self, predicate, true_fn, false_fn) -> Any:
    return cond(predicate, true_fn, false_fn)


@api("switch_case", dispatch=False, told=True)
def switch_case(branch_index, branch_fns, default=None, name="switch_case") -> Any:
    """Call the function with the number `branch_index`.

    Args:
        branch_index: a scalar int32.
        branch_fns: functions without arguments, or pairs of number and function, or a dictionary of these.
        default: what is called for other numbers; by default the function with the largest number.
        name: a name for the operation.
    """
    functions = _numbered(branch_fns)
    if not isinstance(branch_index, types.Tensor):
        raise TypeError(f"switch_case: branch_index must be a tensor, got {branch_index!r}.")
    default = functions[-1] if default is None else default
    if not callable(default):
        raise TypeError(f"switch_case: default must be callable, got {default!r}.")
    if context.graph is None:
        index = int(to_tensor(branch_index))
        return functions[index]() if 0 <= index < len(functions) else default()
    index = to_tensor(branch_index, dtypes.int32)
    operation = f"{name or 'switch_case'}/indexed_case"  # TF: within a scope
    functions = [*functions, default]
    graphs = [trace_branch(function, f"branch_{i}", operation, index) for i, function in enumerate(functions)]
    _check_branches(graphs, "switch_case: branch_fns")
    last = len(functions) - 1
    # An index outside of the range means the default, which stands last.
    inside = LOGICAL_AND(index >= 0, index < last)
    index = SELECT_V2(inside, index, to_tensor(last, dtypes.int32))
    return add_branches(index, graphs, False, name)


@method_of(BaseGraph, "switch_case")
def _switch_case_in_graph(self, index, functions) -> Any:
    return switch_case(index, functions)


def _numbered(branch_fns):
    """The functions in the order of their numbers, which must be 0, 1, 2 ..."""
    if isinstance(branch_fns, dict):
        branch_fns = list(branch_fns.items())
    if not isinstance(branch_fns, (list, tuple)) or not branch_fns:
        raise TypeError(f"switch_case: branch_fns must be a non-empty list, tuple, or dict, got {branch_fns!r}.")
    if all(callable(item) for item in branch_fns):
        return list(branch_fns)
    for item in branch_fns:
        if not isinstance(item, tuple) or len(item) != 2 or not callable(item[1]):
            raise TypeError(f"switch_case: each item of branch_fns must be an (int, callable) pair, got {item!r}.")
    functions = {int(key): function for key, function in branch_fns}
    if sorted(functions) != list(range(len(branch_fns))):
        raise ValueError(f"switch_case: the keys of branch_fns must be 0 to {len(branch_fns) - 1}, "
                         f"got {sorted(functions)}.")
    return [functions[i] for i in range(len(functions))]


@api("case", dispatch=False, told=True)
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case") -> Any:
    """Call the function whose condition is the first that is true.

    Args:
        pred_fn_pairs: pairs of a scalar boolean and a function without arguments.
        default: what is called when no condition is true; without it that is an error.
        exclusive: check that at most one condition is true.
        strict: kept for compatibility.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: no condition is true and there is no default, or several are and `exclusive` is set.
    """
    if isinstance(pred_fn_pairs, dict):
        pairs = [(getattr(key, "deref", lambda key=key: key)(), function) for key, function in pred_fn_pairs.items()]
    elif isinstance(pred_fn_pairs, (list, tuple)):
        pairs = list(pred_fn_pairs)
    else:
        raise TypeError(f"case: pred_fn_pairs must be a list, tuple, or dict, got {pred_fn_pairs!r}.")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"case: each item of pred_fn_pairs must be a (pred, fn) tuple, got {pair!r}.")
        if not callable(pair[1]):
            raise TypeError(f"case: fn for pred {pair[0]!r} must be callable.")
    if default is not None and not callable(default):
        raise TypeError(f"case: default must be callable, got {default!r}.")
    truth("strict", strict)
    if context.graph is None:
        return _eager_case(pairs, default, exclusive)
    checks = []
    preds = PACK([to_tensor(pred) for pred, _ in pairs], axis=0)
    count = SUM(CAST(preds, DstT=dtypes.int32), 0)
    message = "case: Input error: exactly one condition must be true"
    if exclusive:
        checks.append(ASSERT(count <= 1, [f"{message}, got", preds]))
    if default is None:
        none = f"case: None of the conditions evaluated as True: {message}"
        checks.append(ASSERT(count >= 1, [none, preds]))
        *pairs, (_, default) = pairs
    checks = [check for check in checks if check is not None]
    with context.graph.control_dependencies(checks), name_scope(name or "case"):
        function = default
        for pred, branch in reversed(pairs):
            function = functools.partial(cond, to_tensor(pred), branch, function)
        return function()


def _eager_case(pairs, default, exclusive):
    true = [function for pred, function in pairs if bool(pred)]
    if exclusive and len(true) > 1:
        raise errors.invalid_argument(f"case: {len(true)} of the conditions are true, but exclusive=True.")
    if true:
        return true[0]()
    if default is None:
        raise errors.invalid_argument("case: none of the conditions evaluated as True, and there is no default.")
    return default()
