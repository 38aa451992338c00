"""Python expressions of a command line: literals, arithmetic, and calls of NumPy functions that make arrays.

An expression is walked, not given to `eval`: somebody may have put the command line together from what others wrote.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

_BINARY: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
}  # fmt: skip
_UNARY: dict[type, Callable] = {ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_}
# What can be said after `np.`: makes arrays of arguments, and touches nothing else.
_FUNCTIONS = frozenset(
    "abs arange array asarray broadcast_to ceil clip concatenate cos diag empty exp expand_dims eye flip floor full "
    "hstack identity linspace log log10 log2 logspace maximum mean meshgrid minimum ones ravel repeat reshape roll "
    "round sin sqrt squeeze stack sum swapaxes tan tanh tile transpose vstack where zeros".split()
)
_RANDOM = frozenset("choice normal permutation rand randint randn random random_sample standard_normal uniform".split())
_CONSTANTS = frozenset("e inf nan newaxis pi".split())
_DTYPES = frozenset(
    "bool_ bytes_ complex64 complex128 double float16 float32 float64 half int8 int16 int32 int64 intp object_ single "
    "str_ uint8 uint16 uint32 uint64".split()
)
_METHODS = frozenset("astype copy flatten max mean min ravel repeat reshape round squeeze sum tolist transpose".split())
_PROPERTIES = frozenset("T dtype imag ndim real shape size".split())
# A list or a text that is multiplied, a power: what takes all memory is a mistake.
_LARGEST = 1 << 31


class NotAllowedError(ValueError):
    """An expression is no Python, or has something in it that is not evaluated."""


def value_of(text: str) -> Any:
    """The value of an expression.

    Raises:
        NotAllowedError: it cannot be evaluated; the message says why.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _value(tree.body)
    except SyntaxError as error:
        raise NotAllowedError(f"it is no Python expression ({error.msg})") from None
    except NotAllowedError:
        raise
    except (RecursionError, MemoryError):
        raise NotAllowedError("it is too deep or too large") from None
    except Exception as error:  # of NumPy, for arguments that do not fit
        raise NotAllowedError(f"{type(error).__name__}: {error}") from None


def _value(node) -> Any:
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise NotAllowedError(f"{ast.unparse(node)!r} is not evaluated here")
    return handler(node)


def _sequence(make):
    return lambda node: make([_value(item) for item in node.elts])


def _dict(node):
    if None in node.keys:
        raise NotAllowedError("** is not evaluated here")
    return dict(zip(map(_value, node.keys), map(_value, node.values)))


def _binary(node):
    if type(node.op) not in _BINARY:
        raise NotAllowedError(f"the operator of {ast.unparse(node)!r} is not evaluated here")
    left, right = _value(node.left), _value(node.right)
    if isinstance(node.op, ast.Pow) and isinstance(left, int) and isinstance(right, int) and right > 4096:
        raise NotAllowedError(f"{ast.unparse(node)!r} is too large")
    for many, times in ((left, right), (right, left)):
        if isinstance(node.op, ast.Mult) and isinstance(many, (str, bytes, list, tuple)) and isinstance(times, int):
            if len(many) * times > _LARGEST:
                raise NotAllowedError(f"{ast.unparse(node)!r} is too large")
    return _BINARY[type(node.op)](left, right)


def _unary(node):
    if type(node.op) not in _UNARY:
        raise NotAllowedError(f"the operator of {ast.unparse(node)!r} is not evaluated here")
    return _UNARY[type(node.op)](_value(node.operand))


def _subscript(node):
    return _value(node.value)[_value(node.slice)]


def _slice(node):
    return slice(*(None if part is None else _value(part) for part in (node.lower, node.upper, node.step)))


def _name(node):
    raise NotAllowedError(f"the name {node.id!r} is not known")


def _numpy_path(node):
    """The names after `np` (or `numpy`) of an expression such as np.random.rand; None for other expressions."""
    path = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node.attr)
        node = node.value
    return path if isinstance(node, ast.Name) and node.id in ("np", "numpy") else None


def _attribute(node):
    path = _numpy_path(node)
    if path is not None:
        if len(path) == 1 and path[0] in _CONSTANTS | _DTYPES:
            return getattr(np, path[0])
        raise NotAllowedError(f"{ast.unparse(node)!r} is not evaluated here")
    value = _value(node.value)
    if isinstance(value, (np.ndarray, np.generic)) and node.attr in _PROPERTIES:
        return getattr(value, node.attr)
    raise NotAllowedError(f"{ast.unparse(node)!r} is not evaluated here")


def _call(node):
    function = _function(node.func)
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
        raise NotAllowedError(f"* and ** in {ast.unparse(node)!r} are not evaluated here")
    return function(*map(_value, node.args), **{keyword.arg: _value(keyword.value) for keyword in node.keywords})


def _function(node) -> Callable:
    path = _numpy_path(node)
    if path is not None and len(path) == 1 and path[0] in _FUNCTIONS | _DTYPES:
        return getattr(np, path[0])
    if path is not None and len(path) == 2 and path[0] == "random" and path[1] in _RANDOM:
        return getattr(np.random, path[1])
    if path is None and isinstance(node, ast.Attribute) and node.attr in _METHODS:
        value = _value(node.value)
        if isinstance(value, (np.ndarray, np.generic)):
            return getattr(value, node.attr)
    raise NotAllowedError(f"a call of {ast.unparse(node)!r} is not evaluated here")


_HANDLERS: dict[type, Callable] = {
    ast.Constant: lambda node: node.value,
    ast.List: _sequence(list),
    ast.Tuple: _sequence(tuple),
    ast.Set: _sequence(set),
    ast.Dict: _dict,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
}
