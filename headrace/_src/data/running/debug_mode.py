"""`tf.data.experimental.enable_debug_mode`: functions of pipelines run as plain Python, where a debugger can stop."""

from headrace._src.core.context import context
from headrace._src.data.running import structures
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.control.python_functions import py_function
from headrace._src.op.api import api

_is_enabled = False


def is_enabled() -> bool:
    """Whether functions of new datasets run as plain Python."""
    return _is_enabled


def set_enabled(enabled: bool) -> None:
    """Say whether functions of new datasets run as plain Python."""
    global _is_enabled  # TF: of the process
    _is_enabled = enabled


@api("data.experimental.enable_debug_mode", dispatch=False)
def enable_debug_mode() -> None:
    """Let the functions of all datasets that are made from now on run as plain Python, element by element.

    Then `print` and debuggers work in them. Must be called outside of `tf.function`.
    """
    if context.graph is not None:
        raise ValueError("`enable_debug_mode() is only supported in eager mode.")
    set_enabled(True)


def python_graph(graph: FuncGraph, function, argument_specs, output_spec) -> FuncGraph:
    """A graph that calls a function of Python in place of what was traced of it.

    Args:
        graph: what was traced.
        function: the user's.
        argument_specs: the spec of each argument.
        output_spec: the spec of what it returns.
    """
    specs = structures.flat_specs(output_spec)
    counts = [len(structures.flat_specs(spec)) for spec in argument_specs]

    def call(*tensors):
        rest = list(tensors)
        arguments = [
            structures.from_components(spec, [rest.pop(0) for _ in range(count)])
            for spec, count in zip(argument_specs, counts)
        ]
        if len(arguments) == 1 and type(arguments[0]) is tuple:
            arguments = list(arguments[0])
        result = function(*arguments)
        value = structures.normalized(tuple(result) if isinstance(result, list) else result)
        return structures.to_components(output_spec, value)

    plain = FuncGraph(graph.name, context.graph)
    with plain.building():
        inputs = [plain.add_input(x.shape, x.dtype, "args") for x in graph.inputs[: sum(counts)]]
        outputs = py_function(call, inputs, [spec.dtype for spec in specs])
        for tensor, spec in zip(outputs, specs):
            tensor.set_shape(spec.shape)
        plain.outputs = list(outputs)
    return plain
