"""`FunctionType`: the parameters of a function, with their types and that of the result."""

import collections
import inspect
from typing import Any

from headrace._src.core.tracing_protocol import TraceType


class _CapturedDefault:
    """Stands for the default of a parameter, which belongs to the function and not to its type."""

    def __repr__(self):
        return "<captured_default_value>"


_CAPTURED_DEFAULT = _CapturedDefault()


class Parameter(inspect.Parameter):
    """One parameter; its annotation is the type that arguments must have."""

    @property
    def type_constraint(self) -> TraceType | None:
        """The type of the argument; None where any will do."""
        return None if self.annotation is self.empty else self.annotation

    @property
    def optional(self) -> bool:
        """Whether it has a default."""
        return self.default is not self.empty


class FunctionType(inspect.Signature):
    """A signature whose annotations are trace types.

    Args:
        parameters: the parameters, in order.
        captures: name to type of each tensor that the function takes from outside.
        return_annotation: the type of the result.
    """

    __slots__ = ("_captures",)

    def __init__(self, parameters, captures=None, return_annotation=inspect.Signature.empty) -> None:
        super().__init__(parameters, return_annotation=return_annotation)
        self._captures = collections.OrderedDict(captures or {})

    @property
    def output(self) -> TraceType | None:
        """The type of the result; None where it is not known, since the function was not traced."""
        return None if self.return_annotation is self.empty else self.return_annotation

    @property
    def captures(self) -> collections.OrderedDict:
        """The types of what the function takes from outside."""
        return self._captures

    @property
    def flat_inputs(self) -> list[TraceType]:
        """The types of the tensors that the arguments consist of."""
        kinds = [x.annotation for x in self.parameters.values() if x.annotation is not x.empty]
        return [part for kind in kinds for part in kind.flatten()]

    @property
    def flat_captures(self) -> list[TraceType]:
        return [part for kind in self._captures.values() for part in kind.flatten()]

    @property
    def flat_outputs(self) -> list[TraceType]:
        """The types of the tensors that the result consists of."""
        return [] if self.output is None else self.output.flatten()


def type_of_parameters(parameters, kinds=None) -> FunctionType:
    """The type of a function that was not traced: its parameters, with the types of a signature where there is one."""
    described = []
    for i, parameter in enumerate(parameters):
        kind: Any = parameter.empty if kinds is None else kinds[i]
        default = parameter.default if parameter.default is parameter.empty else _CAPTURED_DEFAULT
        described.append(Parameter(parameter.name, parameter.kind, default=default, annotation=kind))
    return FunctionType(described)
