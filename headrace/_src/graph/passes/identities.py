"""Operations that return their input unchanged: readers of the output can read the input instead."""

from headrace._src.op.traits import PASSES_ON
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.math.arithmetic import ADD_N

# Each rule, here and in the other files, takes a step and what is known, and returns what to use instead: a tensor that
# has the value of the output (a list of them for several outputs), an array that it always is, another step, a tuple of
# a constant and a step that reads it, or None to leave the step as it is.


def _inputs(step, known):
    return list(step.inputs) or None


def _same_type(step, known):
    x, y = step.inputs[0], step.outputs[0]
    return x if x.dtype is y.dtype and x.dtype._kind in "fciub" else None


def _single(step, known):
    return step.inputs[0] if len(step.inputs) == 1 and step.inputs[0].dtype._kind in "fciu" else None


RULES = {CAST: _same_type, ADD_N: _single}


def rule_of(record):
    """The rule for an op whose record says that it passes its inputs on; otherwise None."""
    return _inputs if PASSES_ON in record.traits else None
