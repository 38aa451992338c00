"""What runs before what: `tf.control_dependencies`, `tf.group`, `tf.tuple`."""

import contextlib
from typing import Any

from headrace._src.core import nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.operation import Operation
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.passing import identity, no_op


@api("control_dependencies", dispatch=False)
def control_dependencies(control_inputs) -> Any:
    """A context: operations made within it run after `control_inputs`.

    Eagerly everything runs in order anyway. In a `tf.function` effects happen in the order of the source; this is for
    what that does not cover, such as graphs of 1.x.

    Args:
        control_inputs: operations, tensors or variables; None forgets those of contexts around it.

    >>> @tf.function
    ... def checked(x):
    ...     with tf.control_dependencies([tf.debugging.assert_positive(x)]):
    ...         return tf.identity(x)
    >>> checked(tf.constant(1)).numpy()
    np.int32(1)
    """
    graph = context.graph
    if control_inputs is None:
        return contextlib.nullcontext() if graph is None else graph.control_dependencies(None)
    try:
        items = list(control_inputs)
    except TypeError:
        raise TypeError(f"control_dependencies: control_inputs must be a list, got {control_inputs!r}.") from None
    if graph is None:
        return contextlib.nullcontext()
    for item in items:
        if item is None:
            raise TypeError("control_dependencies: control_inputs must be operations or tensors, got None.")
    return graph.control_dependencies(items)


def _operations(name, items):
    """The operations behind some items, which are operations, tensors, variables or composites."""
    found = []
    for item in items:
        if isinstance(item, Operation):
            found.append(item)
        elif isinstance(item, (Tensor, CompositeTensor)) or hasattr(item, "handle"):
            parts = nest.flatten(item, expand_composites=True) if isinstance(item, CompositeTensor) else [item]
            found.extend(context.graph.inside(to_tensor(part)).op for part in parts)
        else:
            raise TypeError(f"{name}: expected operations or tensors, got {item!r} of type {type(item).__name__}.")
    return found


@api("group", dispatch=False)
def group(*inputs, **kwargs) -> Any:
    """An operation that runs after all `inputs`, which may be nested; eagerly None, since all have run.

    Args:
        *inputs: operations and tensors.
        name: a name for the operation.

    Raises:
        TypeError: an input is neither. ValueError: there are other keyword arguments.
    """
    if context.graph is None:
        return None
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"group: unknown keyword arguments {sorted(kwargs)}.")
    with context.graph.control_dependencies(_operations("group", nest.flatten(inputs))):
        return no_op(name=name or "group_deps")


@api("tuple", dispatch=False)
def tuple_(tensors, control_inputs=None, name=None) -> Any:
    """The same tensors, except that none of them is available before all have been computed.

    Args:
        tensors: a list of tensors, IndexedSlices, operations and None.
        control_inputs: further operations that must have run.
        name: a name for the operations.

    Returns:
        A list like `tensors`.

    Raises:
        ValueError: the list holds no tensor. TypeError: it holds something else.
    """
    if context.graph is None:
        return tensors
    gating = _operations("tuple", [x for x in tensors if x is not None])
    if not gating:
        raise ValueError("tuple: tensors must contain at least one tensor.")
    gating += _operations("tuple", control_inputs or ())
    gate = group(*gating, name=name)
    with context.graph.control_dependencies([gate]):
        results = []
        for item in tensors:
            if item is None:
                results.append(None)
            elif isinstance(item, Operation):
                results.append(gate)
            else:
                results.append(identity(item))
        return results
