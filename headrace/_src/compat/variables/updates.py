"""What functions of 1.x that change a variable return: the variable, which also knows the operation that changed it."""

from typing import Any

from headrace._src.core.context import context
from headrace._src.state.variables import Variable


class UpdatedVariable(Variable):
    """A variable right after it was changed: the same in all but `op`."""

    __slots__ = ("_operation",)

    @property
    def op(self) -> Any:
        """The operation that changed it; None where that has happened already, which is so eagerly."""
        return self._operation


def updated(variable: Any, result: Any) -> Any:
    """What to return for `result`, which a method of the variable returned."""
    if type(variable) is not Variable or result is not variable:
        return result  # variables of 1.x graphs return tensors and operations
    twin = object.__new__(UpdatedVariable)
    twin.__dict__ = variable.__dict__  # one state, whichever of both is asked or changed
    twin._operation = None if context.graph is None else context.graph.nodes[-1]
    return twin
