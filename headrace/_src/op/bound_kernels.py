"""Kernels for steps of a graph in which some inputs are constants: what follows from these is worked out only once.

`x[1:]`, `tf.reshape(x, [-1])` or `tf.concat([a, b], 1)` take longer to check their bounds, sizes and axes than to run.
A binder is given those inputs and the attributes, and returns a kernel with the arguments of the op's own, which looks
at the shapes of the other inputs only when they are new.
"""

from collections.abc import Callable

# Op to (the names of the inputs that must be constants, binder).
_BINDERS: dict[str, tuple[tuple[str, ...], Callable]] = {}
# How many shapes of the inputs a kernel remembers.
_SHAPES = 64


def binder(op: str, *constants: str):
    """Decorator: `function(**constants, **attributes)` returns a kernel for the op, or None."""

    def declare(function):
        _BINDERS[op] = constants, function
        return function

    return declare


def bound_kernel(record, attrs, constant_at) -> Callable | None:
    """The kernel that the op's binder makes; None without a binder, or if an input that it needs is not a constant.

    Args:
        record: the op.
        attrs: the attributes of the operation.
        constant_at: from an input's position in the signature to its array; None if it is not a constant.
    """
    binder = _BINDERS.get(record.name)
    if binder is None:
        return None
    names, function = binder
    arrays = {}
    for i, argument in enumerate(record.signature.inputs):
        if argument.name in names:
            arrays[argument.name] = constant_at(i)
            if arrays[argument.name] is None:
                return None
    return function(**arrays, **attrs)


def remembering(work_out: Callable) -> Callable:
    """A function of one hashable argument that remembers what it has worked out."""
    memory: dict = {}

    def recall(key):
        try:
            return memory[key]
        except KeyError:
            if len(memory) >= _SHAPES:
                memory.clear()
            result = memory[key] = work_out(key)
            return result

    return recall
