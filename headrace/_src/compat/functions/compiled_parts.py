"""`tf.compat.v1.xla.experimental`: parts of a graph that a program wants compiled by XLA.

A session compiles what it runs often, all of it, so that nothing is left to ask for: results are those of the functions
as they stand.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from headrace._src.compat.graph_keys import grouped
from headrace._src.core import nest
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.graph.building.operation import Operation
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.passing import identity
from headrace._src.tracing.function import function


@api("compat.v1.xla.experimental.compile", dispatch=False)
def compile(computation, inputs=None) -> Any:
    """Call a function on tensors, as one part of the graph.

    Args:
        computation: a function of tensors that returns tensors, operations, None, or a structure of tensors.
        inputs: a list of what it is called with.

    Returns:
        What the function returns: a list of tensors for a flat result, the structure otherwise; an operation where it
        returns no tensor.

    Raises:
        TypeError: `inputs` is no list, or an operation stands in a nested result.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     total, product = tf.compat.v1.xla.experimental.compile(lambda a, b: (a + b, a * b), [2.0, 3.0])
    ...     print(*session.run([total, product]))
    5.0 6.0
    """
    if context.graph is None:
        return function(lambda: compile(computation, inputs), autograph=False)()
    inputs = [] if inputs is None else inputs
    if not isinstance(inputs, Sequence):
        raise TypeError("inputs must be a list")
    tensors = nest.map_structure(to_tensor, list(inputs))
    with name_scope("cluster"):
        found = computation(*tensors)
        return _flat(found) if _is_flat(found) else _nested(found)


def _is_flat(found):
    if isinstance(found, (dict,)) or hasattr(found, "_fields"):
        return False
    return not isinstance(found, (list, tuple)) or not any(nest.is_nested(item) for item in found)


def _flat(found):
    found = () if found is None else found
    items = list(found) if isinstance(found, (list, tuple)) else [found]
    operations = [item for item in items if isinstance(item, Operation)]
    values = [to_tensor(item) for item in items if not isinstance(item, Operation) and item is not None]
    if any(not isinstance(item, Operation) for item in items[len(values) :]) and operations:
        raise ValueError("compile: in what the function returns, operations must stand after all tensors.")
    if not values:
        return grouped(operations or _made_now(), "NoOp")
    with context.graph.control_dependencies(operations):
        return [identity(value, name=f"output_{place}") for place, value in enumerate(values)]


def _made_now():
    """The last operation, which is the last that the function made."""
    return context.graph.get_operations()[-1:]


def _nested(found):
    items = nest.flatten(found)
    for item in items:
        if isinstance(item, Operation):
            raise TypeError(f"The function returned {item} in a nested structure; it may stand in a flat list only.")
    values = [identity(to_tensor(item), name=f"output_{place}") for place, item in enumerate(items)]
    return nest.pack_sequence_as(found, values)


@api("compat.v1.xla.experimental.jit_scope", dispatch=False)
@contextlib.contextmanager
def jit_scope(compile_ops=True, separate_compiled_gradients=False) -> Iterator[None]:
    """A block whose operations a program wants compiled. What a session runs often is compiled in any case.

    Args:
        compile_ops: whether to compile, or a function of a `NodeDef` that says it.
        separate_compiled_gradients: whether gradients are compiled apart.

    Raises:
        RuntimeError: when executing eagerly.
    """
    if context.graph is None:
        raise RuntimeError("xla.experimental.jit_scope is for graphs. Use @tf.function(jit_compile=True) when "
                           "executing eagerly.")
    yield
