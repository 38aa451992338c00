"""Rules for `Op(can_fail=...)`: whether an operation may raise an error, as far as shapes and constants tell.

A rule gets an operation (with `inputs`, `outputs` and `attrs`), and by `id` of a tensor the array that it always is.
Ops that never fail, or fail only if shapes do not fit, have a trait instead.
"""


def are_shapes_known(step) -> bool:
    """Whether all shapes are known, so that building the graph has checked whether they fit together."""
    for tensors in (step.inputs, step.outputs):
        for tensor in tensors:
            if not tensor._shape.is_fully_defined():
                return False
    return True


def unless_constant(position):
    """The rule of ops of which one input (a shape, an axis) must be a constant, and all shapes known."""

    def can_fail(step, constants):
        return not are_shapes_known(step) or id(step.inputs[position]) not in constants

    return can_fail


def unless_axes_constant(step, constants):
    """The rule of ops of a tensor and of axes that depend on its rank alone."""
    tensor, axes = step.inputs
    return tensor._shape.rank is None or id(axes) not in constants


def unless_floating(step, constants):
    """The rule of divisions: integers can be divided by zero."""
    return step.inputs[0].dtype._kind not in "fc" or not are_shapes_known(step)
