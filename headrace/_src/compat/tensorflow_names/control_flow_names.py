"""What modules of `tensorflow.python.ops` about control flow have beyond public names."""

from typing import Any

from headrace._src.core.context import context
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.control.map_fn import map_fn
from headrace._src.graph.vectorizing.vectorized_map import vectorized_map
from headrace._src.ops.arrays.filling import range_
from headrace._src.ops.arrays.passing import identity

ENABLE_CONTROL_FLOW_V2 = True


def in_xla_context(graph: Any) -> bool:
    """Whether a graph, or one around it, is compiled as a whole: `tf.function(jit_compile=True)`."""
    while isinstance(graph, FuncGraph):
        if graph.jit_compile:
            return True
        graph = graph.outer_graph
    return False


def op_in_xla_context(op: Any) -> bool:
    """The same of the graph of an operation."""
    return in_xla_context(getattr(op, "graph", None))


def get_enclosing_xla_context() -> Any:
    """The function that is compiled as a whole and in which operations are made now; None if there is none."""
    graph = context.graph
    while isinstance(graph, FuncGraph):
        if graph.jit_compile:
            return graph
        graph = graph.outer_graph
    return None


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """A tensor that is there only after operations have run."""
    with control_dependencies(dependencies):
        return identity(output_tensor, name=name)


def pfor(loop_fn, iters, fallback_to_while_loop=True, parallel_iterations=None, warn=False) -> Any:
    """The results of a function of 0, 1, 2 ..., computed together.

    >>> from headrace._src.compat.tensorflow_names.control_flow_names import pfor
    >>> pfor(lambda i: i * i, 4).numpy().tolist()
    [0, 1, 4, 9]
    """
    return vectorized_map(loop_fn, range_(iters), fallback_to_while_loop=fallback_to_while_loop)


def for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None) -> Any:
    """The results of a function of 0, 1, 2 ..., computed one after another."""
    return map_fn(loop_fn, range_(iters), dtype=loop_fn_dtypes, parallel_iterations=parallel_iterations)
