"""Formulas of elements, written as in Python: each step of one is an operator."""

from __future__ import annotations

from typing import Any

from headrace._src.core import dtypes
from headrace._src.lite.models import LiteTensor

_OPTIONS = {
    "ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions",
    "MAXIMUM": "MaximumMinimumOptions", "MINIMUM": "MaximumMinimumOptions", "LESS": "LessOptions",
    "GREATER": "GreaterOptions", "EQUAL": "EqualOptions", "NOT_EQUAL": "NotEqualOptions",
    "GREATER_EQUAL": "GreaterEqualOptions", "LOGICAL_AND": "LogicalAndOptions", "ATAN2": "ATan2Options",
}  # fmt: skip
_OF_TRUTHS = ("LESS", "GREATER", "EQUAL", "NOT_EQUAL", "GREATER_EQUAL", "LOGICAL_AND")


class Term:
    """A tensor in a formula.

    Args:
        builder: of the graph.
        tensor: of the model or of the graph.
        shape: of all that is computed from it.
    """

    def __init__(self, builder: Any, tensor: Any, shape: list | None = None):
        self.builder = builder
        self.tensor: LiteTensor = tensor if isinstance(tensor, LiteTensor) else builder.tensor(tensor)
        self.shape = self.tensor.shape if shape is None else shape

    def of(self, code: str, other: Any = None) -> Term:
        """The result of an operator of one input, or of two."""
        inputs = [self.tensor] if other is None else [self.tensor, self._term(other).tensor]
        return self._made(code, inputs)

    def _made(self, code, inputs):
        dtype = dtypes.bool if code in _OF_TRUTHS else self.tensor.dtype
        return Term(self.builder, self.builder.compute(code, inputs, self.shape, dtype, _OPTIONS.get(code, "")))

    def _term(self, value):
        return value if isinstance(value, Term) else Term(self.builder, self.builder.constant(value, self.tensor.dtype))

    def __add__(self, other):
        return self.of("ADD", other)

    def __sub__(self, other):
        return self.of("SUB", other)

    def __mul__(self, other):
        return self.of("MUL", other)

    def __truediv__(self, other):
        return self.of("DIV", other)

    def __radd__(self, other):
        return self._made("ADD", [self._term(other).tensor, self.tensor])

    def __rsub__(self, other):
        return self._made("SUB", [self._term(other).tensor, self.tensor])

    def __rmul__(self, other):
        return self._made("MUL", [self._term(other).tensor, self.tensor])

    def __rtruediv__(self, other):
        return self._made("DIV", [self._term(other).tensor, self.tensor])

    def choose(self, one: Any, other: Any) -> Term:
        """Where this is true one value, elsewhere the other."""
        first = one if isinstance(one, Term) else other._term(one)
        second = first._term(other)
        made = self.builder.compute(
            "SELECT_V2", [self.tensor, first.tensor, second.tensor], self.shape, first.tensor.dtype, "SelectV2Options"
        )
        return Term(self.builder, made)

    def polynomial(self, coefficients: list[float]) -> Term:
        """The value of a polynomial, whose coefficients begin with that of the power 0."""
        result: Any = self * coefficients[-1] + coefficients[-2]
        for one in reversed(coefficients[:-2]):
            result = result * self + one
        return result

    def become(self, output: Any) -> None:
        """Let the result be an output of the graph's."""
        self.tensor.name = output.name.removesuffix(":0")
        self.builder.given(output, self.tensor)
