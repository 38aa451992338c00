"""Control flow and scopes with their 1.x signatures."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.functions.renamed_arguments import renamed
from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.names import name_scope as opened_scope
from headrace._src.core.specs import TypeSpec
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building import dependencies
from headrace._src.graph.control import conditional, loops
from headrace._src.graph.control.calls import call_graph
from headrace._src.graph.control.python_functions import numpy_function
from headrace._src.graph.derivatives import gradients as graph_gradients
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.debugging import printing
from headrace._src.program import device_scopes
from headrace._src.state import variables as state_variables
from headrace._src.state.variables import Variable
from headrace._src.tracing import function as tracing_function


@api("compat.v1.cond", dispatch=False)
def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None) -> Any:
    """As `tf.cond`; a list of one result is unpacked unless `strict` is set.

    Args:
        pred: a scalar boolean.
        true_fn, false_fn: functions without arguments.
        strict: leave the structure of results alone.
        name: a name for the operation.
        fn1, fn2: older names of `true_fn` and `false_fn`.
    """
    true_fn = renamed("cond", "true_fn", true_fn, "fn1", fn1)
    false_fn = renamed("cond", "false_fn", false_fn, "fn2", fn2)
    for label, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{label}' argument required")
    result = conditional.cond(pred, true_fn, false_fn, name)
    return result if strict else _unpacked(result)


def _unpacked(result):
    """TF: a sequence of one is that one."""
    if isinstance(result, (list, tuple)) and len(result) == 1 and not hasattr(result, "_fields"):
        return result[0]
    return result


@api("compat.v1.case", dispatch=False)
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case") -> Any:
    """As `tf.case`; a list of one result is unpacked unless `strict` is set."""
    result = conditional.case(pred_fn_pairs, default, exclusive, strict, name)
    return result if strict else _unpacked(result)


@api("compat.v1.while_loop", dispatch=False)
def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
    maximum_iterations=None,
    return_same_structure=False,
) -> Any:
    """As `tf.while_loop`; the result of a single loop variable is unpacked unless `return_same_structure` is set."""
    result = loops.while_loop(
        cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, maximum_iterations, name
    )
    if return_same_structure or context.graph is None:
        return result
    return _unpacked(result)


@api("compat.v1.gradients", dispatch=False)
def gradients(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    colocate_gradients_with_ops=False,
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients="none",
) -> Any:
    """As `tf.gradients`; `colocate_gradients_with_ops` is accepted."""
    return graph_gradients.gradients(
        ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients
    )


@api("compat.v1.hessians", dispatch=False)
def hessians(
    ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None
) -> Any:
    """As `tf.hessians`, with the arguments in another order."""
    return graph_gradients.hessians(ys, xs, gate_gradients, aggregation_method, name)


@api("compat.v1.tuple", dispatch=False)
def tuple_(tensors, name=None, control_inputs=None) -> Any:
    """As `tf.tuple`, with the arguments in another order."""
    return dependencies.tuple_(tensors, control_inputs, name)


@api("compat.v1.name_scope")
class name_scope:
    """Opens a scope for the names of operations.

    Args:
        name: the name; None means `default_name`.
        default_name: used when there is no name.
        values: tensors; in a graph they must be of that graph.
    """

    def __init__(self, name, default_name=None, values=None) -> None:
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass this into "
                "the `values` kwarg."
            )
        self._name = default_name if name is None else name
        self._given = name
        self._default_name = default_name
        self._values = values
        self._open: list = []

    @property
    def name(self) -> str:
        """The name that the scope is asked for with."""
        return self._name

    def __enter__(self) -> str:
        if self._given is None and self._default_name is None and self._values is not None:
            raise ValueError(
                "At least one of name (None) and default_name (None) must be provided."
            )
        manager = contextlib.ExitStack()
        for value in self._values or ():
            graph = getattr(getattr(value, "op", None), "graph", None) if context.graph is not None else None
            if graph is not None and not graph.building_function and not context.graph.building_function:
                manager.enter_context(graph.as_default())
                break
        scope = manager.enter_context(opened_scope(self._name or ""))
        self._open.append(manager)
        return scope

    def __exit__(self, *exception) -> None:
        self._open.pop().close()


@api("compat.v1.op_scope", dispatch=False)
def op_scope(values, name, default_name=None) -> name_scope:
    """The older form of `name_scope`."""
    return name_scope(name, default_name, values)


@api("compat.v1.colocate_with", dispatch=False)
@contextlib.contextmanager
def colocate_with(op, ignore_existing=False) -> Iterator[None]:
    """Operations made within this block belong on the device of `op`. There is one device."""
    yield


@api("compat.v1.container", dispatch=False)
def container(container_name) -> Any:
    """Variables made within this block are kept in that container of the session."""
    return get_default_graph().container(container_name)


@api("compat.v1.device", dispatch=False)
def device(device_name_or_function) -> Any:
    """Operations made within this block belong on that device; a function is given each operation."""
    if callable(device_name_or_function):
        return contextlib.nullcontext()  # there is one device to choose from
    return device_scopes.device(device_name_or_function)


@api("compat.v1.Print", dispatch=False)
def Print(input_, data, message=None, first_n=None, summarize=None, name=None) -> Tensor:
    """The tensor `input_`; when it is computed, `data` are printed to the standard error.

    Args:
        input_: what is passed on.
        data: tensors to print.
        message: printed before them.
        first_n: print only so many times.
        summarize: how many elements of each tensor are printed; 3 by default.
        name: a name for the operation.
    """
    remaining = [first_n if first_n is not None and first_n >= 0 else None]
    count = 3 if summarize is None else summarize
    result = to_tensor(input_)

    def show(*arrays):
        if remaining[0] is not None:
            if remaining[0] == 0:
                return np.int64(0)
            remaining[0] -= 1
        printing.print_((message or "") + "".join(_shown(array, count) for array in arrays))
        return np.int64(0)

    if context.graph is None:
        show(*(to_tensor(item).numpy() for item in data))
        return result
    printed = numpy_function(show, [to_tensor(item) for item in data], dtypes.int64)
    with context.graph.control_dependencies([printed]):
        return IDENTITY(result, name=name)


def _shown(array, count):
    """The first elements of an array in brackets, nested as its axes are."""
    if not getattr(array, "ndim", 0):
        text = array.decode(errors="replace") if isinstance(array, bytes) else array
        return f"[{text}]"
    flat = array.reshape(-1)
    limit = len(flat) if count < 0 else count
    return f"[{_nested(array, [limit])}{'...' if len(flat) > limit else ''}]"


def _nested(array, left):
    if array.ndim == 1:
        part = array[: max(left[0], 0)]
        left[0] -= len(part)
        return " ".join(x.decode(errors="replace") if isinstance(x, bytes) else str(x) for x in part)
    rows = []
    for row in array:
        if left[0] <= 0:
            break
        rows.append(f"[{_nested(row, left)}]")
    return "".join(rows)


@api("compat.v1.wrap_function", dispatch=False)
def wrap_function(fn, signature, name=None) -> "WrappedFunction":
    """A graph function from a 1.x function: it is traced at once, and keeps the variables that it makes.

    Args:
        fn: a function of tensors that may use `get_variable` and the like.
        signature: for each argument a `tf.TensorSpec`, a structure of them, or the value that it always has.
        name: a name.
    """
    return WrappedFunction(fn, signature, name)


class WrappedFunction:
    """A traced 1.x function with its variables."""

    def __init__(self, fn, signature, name):
        self._variables: list = []
        self._signature = signature if isinstance(signature, (list, tuple)) else [signature]
        self._leaves = nest.flatten(self._signature)
        traced = tracing_function.function(self._collecting(fn), autograph=False)
        self._concrete = traced.get_concrete_function(*[x for x in self._leaves if isinstance(x, TypeSpec)])

    def _collecting(self, fn):
        def call(*tensors):
            given = iter(tensors)
            leaves = [next(given) if isinstance(x, TypeSpec) else x for x in self._leaves]

            def create(next_creator, **keywords):
                variable = self._reused(keywords)
                if variable is None:
                    variable = next_creator(**keywords)
                    self._variables.append(variable)
                else:
                    self._position += 1
                return variable

            self._position = 0
            with state_variables.variable_creator_scope(create):
                return fn(*nest.pack_sequence_as(self._signature, leaves))

        return call

    def _reused(self, keywords):
        """The variable made when the function was traced before, for the second trace."""
        return self._variables[self._position] if self._position < len(self._variables) else None

    def __call__(self, *args):
        if any(nest.is_nested(x) for x in self._signature):
            args = nest.flatten(args)
        return self._concrete(*args)

    @property
    def graph(self):
        """The graph."""
        return self._concrete.graph

    @property
    def inputs(self) -> list:
        """The inputs of the graph."""
        return self._concrete.graph.inputs

    @property
    def outputs(self) -> list:
        """The outputs of the graph."""
        return self._concrete.graph.outputs

    @property
    def structured_outputs(self):
        """The outputs as the function returned them."""
        return self._concrete.structured_outputs

    @property
    def variables(self) -> list:
        """The variables that the function made."""
        return [variable for variable in self._variables if isinstance(variable, Variable)]

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """A function of `feeds`, tensors of the graph, that computes `fetches`."""
        graph = self._concrete.graph
        flat_feeds = [graph.as_graph_element(x) if isinstance(x, str) else x for x in nest.flatten(feeds)]
        flat_fetches = [graph.as_graph_element(x) if isinstance(x, str) else x for x in nest.flatten(fetches)]
        return _Pruned(graph, flat_feeds, flat_fetches, fetches)


class _Pruned:
    """A part of a traced function."""

    def __init__(self, graph, feeds, fetches, structure):
        self._structure = structure
        captured = [pair for pair in graph.captures if not any(pair[1] is feed for feed in feeds)]
        self._captured = [outer for outer, _ in captured]
        self._view = graph.view(fetches, [*feeds, *(inner for _, inner in captured)])
        self.graph = graph

    def __call__(self, *args):
        tensors = [to_tensor(x) for x in nest.flatten(args)]
        results = call_graph(self._view, [*tensors, *self._captured])
        return nest.pack_sequence_as(self._structure, results)
