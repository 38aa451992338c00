"""Python's operators on ragged tensors."""

from headrace._src.core import errors
from headrace._src.op.attached import attach
from headrace._src.ops.math import arithmetic, comparison, division, elementwise, powers
from headrace._src.ops.ragged.tensor import RaggedTensor


def _binary(function):
    def forward(self, other) -> RaggedTensor:
        return function(self, other)

    def reflected(self, other) -> RaggedTensor:
        return function(other, self)

    return forward, reflected


def _unary(function):
    def operator(self) -> RaggedTensor:
        return function(self)

    return operator


def _equal(self, other) -> RaggedTensor:
    if other is None:
        return False
    try:
        return comparison.equal(self, other)
    except (errors.InvalidArgumentError, ValueError, TypeError):
        # TF: what cannot be compared is not equal.
        return False


def _not_equal(self, other) -> RaggedTensor:
    if other is None:
        return True
    try:
        return comparison.not_equal(self, other)
    except (errors.InvalidArgumentError, ValueError, TypeError):
        return True


def _divide(x, y):
    """`__div__`: as Python 2 divides."""
    return division.floordiv(x, y) if not x.dtype.is_floating else division.realdiv(x, y)


def _attach():
    # TF: `&`, `|`, `^` and `~` are logical here, and there is no `@`.
    for name, function in (
        ("add", arithmetic.add),
        ("sub", arithmetic.subtract),
        ("mul", arithmetic.multiply),
        ("truediv", division.truediv),
        ("div", _divide),
        ("floordiv", division.floordiv),
        ("mod", division.floormod),
        ("pow", powers.pow),
        ("and", comparison.logical_and),
        ("or", comparison.logical_or),
        ("xor", comparison.logical_xor),
    ):
        forward, reflected = _binary(function)
        attach(RaggedTensor, f"__{name}__", forward)
        attach(RaggedTensor, f"__r{name}__", reflected)
    for name, function in (
        ("lt", comparison.less),
        ("le", comparison.less_equal),
        ("gt", comparison.greater),
        ("ge", comparison.greater_equal),
    ):
        attach(RaggedTensor, f"__{name}__", _binary(function)[0])
    for name, function in (
        ("neg", arithmetic.negative),
        ("abs", elementwise.abs),
        ("invert", comparison.logical_not),
    ):
        attach(RaggedTensor, f"__{name}__", _unary(function))
    attach(RaggedTensor, "__eq__", _equal)
    attach(RaggedTensor, "__ne__", _not_equal)


_attach()
