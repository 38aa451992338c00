"""The names that operands of operations get by themselves. TF: the same."""

# TF: the bounds of a slice are stacked.
_OPERAND_NAMES = {"begin": "stack", "end": "stack_1", "strides": "stack_2"}


def operand_name(operation, argument, position=None):
    """The full name of a constant, or of an input that stands for a captured tensor, after what reads it first.

    Args:
        operation: the name of the operation that reads it.
        argument: of the op's signature.
        position: in a list of tensors.
    """
    name = _OPERAND_NAMES.get(argument.name, argument.name)
    return f"{operation}/{name}{'' if position is None else f'_{position}'}/"
