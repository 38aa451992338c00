"""Python's operators on tensors: `x + y`, `x == y`, `x @ y` ..."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import hide_frames
from headrace._src.op.convert import eager_number, to_tensor
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.math import arithmetic, bitwise, comparison, division, elementwise, powers

# Right operands of these types are converted; for others Python may ask their own reflected operator.
_PLAIN = (int, float, complex, str, bytes, list, tuple, np.ndarray, np.generic, Tensor)


def _binary(name, op, function, direct=None):
    """The operator `__name__` and its reflection, of an op and its public function.

    The function is called where it does more than to apply the op: for what is no tensor yet, and for other dtypes
    than `direct`, by default those of the op.
    """
    reflection = f"__r{name}__"
    direct = op.types["T"] if direct is None else direct
    common = dtypes.commonest(direct)

    def forward(self, other) -> Tensor:
        try:
            if self.dtype is common or self.dtype in direct:
                kind = type(other)
                if kind is EagerTensor:
                    return op.lane((self, other), {}, None)
                if (kind is float or kind is int) and type(self) is EagerTensor:
                    number = eager_number(other, self.dtype)
                    if number is not None:
                        return op.lane((self, number), {}, None)
                if getattr(kind, "reads_as_tensor", False):
                    return op.lane((self, other.value()), {}, None)
                if isinstance(other, Tensor) and other.dtype is self.dtype:  # of a graph, such as those of gradients
                    return op.lane((self, other), {}, None)
            return _general(function, self, other, reflection)
        except BaseException as error:
            hide_frames(error)
            raise

    def reflected(self, other) -> Tensor:
        try:
            if self.dtype is common or self.dtype in direct:
                kind = type(other)
                if (kind is float or kind is int) and type(self) is EagerTensor:
                    number = eager_number(other, self.dtype)
                    if number is not None:
                        return op.lane((number, self), {}, None)
                if isinstance(other, Tensor):
                    return op.lane((other, self), {}, None)
            return function(_left_operand(other, self), self)
        except BaseException as error:
            hide_frames(error)
            raise

    return {f"__{name}__": forward, reflection: reflected}


def _general(function, x, y, reflection):
    """Operands that must be converted, or whose types extend the function."""
    try:
        return function(x, y)
    except errors.DTypeMismatchError:
        raise
    except (TypeError, ValueError):
        # TF: the other operand's class decides what cannot become a tensor.
        if hasattr(type(y), reflection) and not isinstance(y, _PLAIN):
            return NotImplemented
        raise


def _left_operand(value, tensor):
    """The left operand of a reflected operator, with the dtype of the tensor on the right."""
    if isinstance(value, CompositeTensor):
        return value
    return to_tensor(value, tensor.dtype)


def _divide_as_python2(x, y):
    """`__div__`: integers are divided downward."""
    x = to_tensor(x)
    y = to_tensor(y, hint=x.dtype)
    return (division.REAL_DIV if x.dtype._kind in "fc" else division.FLOOR_DIV)(x, y)


def _product(x, y):
    """`x * y`. TF: of booleans it is `and`, for the operator alone."""
    if isinstance(x, Tensor) and x.dtype is dtypes.bool:
        return comparison.logical_and(x, y if isinstance(y, Tensor) else to_tensor(y, dtypes.bool))
    return arithmetic.multiply(x, y)


def _logic(logical_function, bits_function):
    def function(x, y):
        # A composite on the left has the dtype of its values.
        truth = getattr(x, "dtype", None) is dtypes.bool
        return logical_function(x, y) if truth else bits_function(x, y)

    return function


def _equality(op, function, of_none):
    """`==` or `!=`, of which a comparison with None is `of_none`."""

    def compare(self, other) -> Tensor:
        try:
            kind = type(other)
            if kind is EagerTensor:
                return op(self, other, incompatible_shape_error=False)
            if other is None:
                return of_none
            if (kind is float or kind is int) and type(self) is EagerTensor:
                number = eager_number(other, self.dtype)
                if number is not None:
                    return op(self, number, incompatible_shape_error=False)
            if isinstance(other, CompositeTensor):
                return _composite_equality(function, self, other)
            return op(self, other, incompatible_shape_error=False)
        except BaseException as error:
            hide_frames(error)
            raise

    return compare


def _composite_equality(function, x, y):
    if type(y).__eq__ is object.__eq__:
        return function(x, y)
    return NotImplemented


def _order(op, function):
    def operator(self, other) -> Tensor:
        try:
            kind = type(other)
            if kind is EagerTensor:
                return op.lane((self, other), {}, None)
            if (kind is float or kind is int) and type(self) is EagerTensor:
                number = eager_number(other, self.dtype)
                if number is not None:
                    return op.lane((self, number), {}, None)
            return function(self, other)
        except BaseException as error:
            hide_frames(error)
            raise

    return operator


def _invert(self) -> Tensor:
    try:
        return comparison.LOGICAL_NOT(self) if self.dtype._kind == "b" else bitwise.INVERT(self)
    except BaseException as error:
        hide_frames(error)
        raise


def _neg(self) -> Tensor:
    try:
        return arithmetic.NEG(self)
    except BaseException as error:
        hide_frames(error)
        raise


def _abs(self) -> Tensor:
    return elementwise.abs(self)


def _operators():
    found = {
        "__eq__": _equality(comparison.EQUAL, comparison.equal, of_none=False),
        "__ne__": _equality(comparison.NOT_EQUAL, comparison.not_equal, of_none=True),
        "__lt__": _order(comparison.LESS, comparison.less),
        "__le__": _order(comparison.LESS_EQUAL, comparison.less_equal),
        "__gt__": _order(comparison.GREATER, comparison.greater),
        "__ge__": _order(comparison.GREATER_EQUAL, comparison.greater_equal),
        "__invert__": _invert,
        "__neg__": _neg,
        "__abs__": _abs,
    }
    fractions, booleans, none = dtypes.FLOATING | dtypes.COMPLEX, frozenset({dtypes.bool}), frozenset()
    c, b = comparison, bitwise
    for name, op, function, *limited in (
        ("add", arithmetic.ADD, arithmetic.add),
        ("sub", arithmetic.SUB, arithmetic.subtract),
        ("mul", arithmetic.MUL, _product),
        ("truediv", division.REAL_DIV, division.truediv, fractions),
        ("div", division.REAL_DIV, _divide_as_python2, fractions),
        ("floordiv", division.FLOOR_DIV, division.floordiv),
        ("mod", division.FLOOR_MOD, division.floormod),
        ("pow", powers.POW, powers.pow),
        ("and", c.LOGICAL_AND, _logic(c.logical_and, b.bitwise_and), booleans),
        ("or", c.LOGICAL_OR, _logic(c.logical_or, b.bitwise_or), booleans),
        ("xor", b.BITWISE_XOR, _logic(c.logical_xor, b.bitwise_xor)),
        ("matmul", None, matmul, none),
    ):
        found |= _binary(name, op, function, *limited)
    return found


OPERATORS = _operators()


def attach_operators(cls):
    """Give a class that can become a tensor (such as Variable) the operators of tensors."""
    for name, function in OPERATORS.items():
        setattr(cls, name, _reading(function) if cls is not Tensor and function.__code__.co_argcount == 2 else function)


def _reading(operator):
    """The operator for a variable: with plain operands, that of its value."""

    def read_first(self, other) -> Tensor:
        try:
            kind = type(other)
            if kind is EagerTensor or kind is float or kind is int or getattr(kind, "reads_as_tensor", False):
                self = self.value()
            return operator(self, other)
        except BaseException as error:
            hide_frames(error)
            raise

    return read_first


attach_operators(Tensor)
