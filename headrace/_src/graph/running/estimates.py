"""How long the interpreter takes, estimated from operations and their shapes: seeded runs must decide alike."""

import threading

from headrace._src.op.traits import LOOPS, MATRIX_PRODUCT, PASSES_ON, READS_RESOURCE, WRITES_VARIABLE
from headrace._src.ops.arrays.filling import CONST

# What NumPy's matrix products and the interpreter's other operations take here, roughly: only their proportion matters.
_PRODUCTS_PER_SECOND, _SECONDS_PER_OPERATION, _BYTES_PER_SECOND = 100e9, 10e-6, 5e9


class _Loops(threading.local):
    """What loops have taken in this thread, in seconds by these estimates."""

    seconds = 0.0


loops = _Loops()


def product_seconds(step) -> float | None:
    """Of a matrix product; 0 for any other operation, None where shapes are not known."""
    if MATRIX_PRODUCT not in step.record.traits:
        return 0.0
    left, right = step.inputs[0].shape, step.outputs[0].shape
    if not (left.is_fully_defined() and right.is_fully_defined()):
        return None
    transposed = step.attrs.get("transpose_a") or step.attrs.get("adj_x")
    return 2 * right.num_elements() * left[-2 if transposed else -1] / _PRODUCTS_PER_SECOND


def other_seconds(step) -> float:
    """Of an operation, without the multiplications of a product."""
    record = step.record
    if record is CONST:
        return 0.0
    writes = not record.traits & (READS_RESOURCE | PASSES_ON) and MATRIX_PRODUCT not in record.traits
    return _SECONDS_PER_OPERATION + (_written_bytes(step) / _BYTES_PER_SECOND if writes else 0.0)


def _written_bytes(step):
    """How much memory an operation fills: its outputs, or the variable that it changes; as far as that is known."""
    changed = step.inputs[1:] if WRITES_VARIABLE in step.record.traits else ()
    return sum((x.shape.num_elements() or 0) * x.dtype.size for x in (*step.outputs, *changed))


def seconds_of(steps, plans_of) -> float:
    """Of operations and the functions that they call, of branches the longest; loops are counted while they run.

    Args:
        steps: the operations.
        plans_of: a function of an operation, for the plans of what it calls.
    """
    total = 0.0
    for step in steps:
        total += other_seconds(step) + (product_seconds(step) or 0.0)
        if step.record.calls_functions and LOOPS not in step.record.traits:
            total += max((plan.estimated_seconds for plan in plans_of(step)), default=0.0)
    return total
