"""Branches and loops within functions that are made of ops.

Eagerly they are plain Python. While a graph is built they are operations of that graph, which makes them itself.
"""

from headrace._src.core.context import context


def cond(predicate, true_fn, false_fn):
    """`true_fn()` if a scalar is true, otherwise `false_fn()`."""
    graph = context.graph
    if graph is None:
        return true_fn() if predicate else false_fn()
    return graph.cond(predicate, true_fn, false_fn)


def switch_case(index, functions):
    """The result of the function with that number, a scalar int32 from 0 to `len(functions) - 1`."""
    graph = context.graph
    return functions[int(index)]() if graph is None else graph.switch_case(index, functions)


def while_loop(condition, body, values):
    """Replace the values, a list of tensors, by `body(*values)` as long as `condition(*values)` is true."""
    graph = context.graph
    if graph is not None:
        return graph.while_loop(condition, body, values)
    while condition(*values):
        values = body(*values)
    return values
