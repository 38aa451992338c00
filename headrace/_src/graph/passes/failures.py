"""Which operations cannot fail, whatever the values of their inputs are."""

from headrace._src.op.graph_rules import are_shapes_known
from headrace._src.op.traits import FAILS_BY_SHAPE, NEVER_FAILS


def can_fail(step, constants) -> bool:
    """Whether running an operation may raise an error, as far as one can tell from shapes and constants.

    Args:
        step: an operation or step.
        constants: by id of a tensor, the array that it always is.
    """
    record = step.record
    if NEVER_FAILS in record.traits:
        return False
    if FAILS_BY_SHAPE in record.traits:
        return not are_shapes_known(step)
    return record.can_fail is None or record.can_fail(step, constants)
