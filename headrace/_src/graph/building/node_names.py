"""The names that operations and their operands get by themselves. TF: the same."""

# TF: what operators call their nodes.
NODE_NAMES = {
    "Add": "add", "AddV2": "add", "Sub": "sub", "Mul": "mul", "RealDiv": "truediv", "FloorDiv": "floordiv",
    "FloorMod": "mod", "Pow": "pow", "StridedSlice": "strided_slice", "Pack": "stack", "ConcatV2": "concat",
    "Range": "range", "Transpose": "transpose", "If": "cond", "StatelessIf": "cond", "While": "while",
    "StatelessWhile": "while",
}  # fmt: skip
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
