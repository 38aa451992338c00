"""The modes "safe" and "all" of `experimental_enable_numpy_behavior`: promoted operands and weak tensors."""

from __future__ import annotations

import numbers
from collections.abc import Callable

import numpy as np

from headrace._src.core import dtypes, nest
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import PUBLIC
from headrace._src.op.convert import to_tensor
from headrace._src.op.dispatch import signature_of
from headrace._src.op.type_dispatch import elementwise_functions
from headrace._src.ops.arrays import casting
from headrace._src.ops.arrays.constants import when_of_numbers
from headrace._src.ops.numpy_api.promotion import Kind, promoted

_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_ALSO_PROMOTED = ("linalg.matmul", "linalg.matvec")
# Functions of one tensor whose result is as weak as that is, besides those that go element by element.
_KEEP_WEAKNESS = (
    "identity", "reshape", "transpose", "squeeze", "expand_dims", "tile", "stop_gradient", "math.reduce_sum",
    "math.reduce_prod", "math.reduce_max", "math.reduce_min", "math.reduce_mean", "math.cumsum", "math.cumprod",
)  # fmt: skip


class WeakTensor(EagerTensor):
    """A tensor of Python's numbers: in a result, the dtype of another operand counts before its own."""

    __slots__ = ()

    def __repr__(self):
        return f"{super().__repr__()[:-1]}, weak=True>"


def is_weak(value: object) -> bool:
    """Whether a value is weak: a Python number, or a tensor made of some without a dtype."""
    if isinstance(value, Tensor):
        return isinstance(value, WeakTensor) or getattr(value, "_is_weak", False)
    return isinstance(value, numbers.Number) and not isinstance(value, (np.generic, bool))


def _weakened(tensor: object) -> object:
    if type(tensor) is EagerTensor:
        tensor.__class__ = WeakTensor  # tapes know the very object
    elif isinstance(tensor, Tensor) and not isinstance(tensor, EagerTensor):
        tensor._is_weak = True  # type: ignore[attr-defined]
    return tensor


def kind_of(value: object) -> Kind | None:
    """What promotion asks of an operand, or None for what is no tensor and cannot become one by itself."""
    if isinstance(value, bool):
        return Kind(dtypes.bool)
    if isinstance(value, numbers.Number) and not isinstance(value, np.generic):
        return _kind_of_number(value)
    if isinstance(value, (list, tuple)):
        parts = [kind_of(part) for part in nest.flatten(value)]
        return promoted(parts, safe=False) if parts and None not in parts else None
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "buifc":
        dtype = dtypes.as_dtype(dtype)
    if not isinstance(dtype, dtypes.DType) or dtype._kind not in "buifc":
        return None
    return Kind(dtype, is_weak(value))


def _kind_of_number(value):
    if isinstance(value, numbers.Integral):
        return Kind(dtypes.int32 if -(2**31) <= value < 2**31 else dtypes.int64, weak=True)
    return Kind(dtypes.float32 if isinstance(value, numbers.Real) else dtypes.complex128, weak=True)


def _promote(operands, safe):
    """The operands as tensors of one dtype, and whether the result is weak; None where there is nothing to promote."""
    kinds = [kind_of(value) for value in operands]
    if None in kinds:
        return None
    result = promoted(kinds, safe)
    if result == kinds[0] == kinds[1] and all(isinstance(value, Tensor) for value in operands) and not result.weak:
        return None
    return [_as(value, result.dtype) for value in operands], result.weak


def _as(value, dtype):
    if hasattr(value, "dtype"):
        tensor = to_tensor(value)
        return tensor if tensor.dtype is dtype else casting.cast(tensor, dtype)
    return to_tensor(value, dtype)


# What the modes have changed, to be put back by another mode: what to call for it.
_undo: list[Callable[[], None]] = []


def promote_operands(safe: bool) -> None:
    """Let operators and functions of two tensors promote their operands, and Python's numbers make weak tensors."""
    keep_operands()
    for name in (*_OPERATORS, *_COMPARISONS):
        _replace(f"__{name}__", _forward(getattr(Tensor, f"__{name}__"), safe))
    for name in _OPERATORS:
        _replace(f"__r{name}__", _reflected(getattr(Tensor, f"__{name}__"), safe))
    functions = [f for f in elementwise_functions("binary") if not f._public_name.startswith("experimental.")]
    for function in [*functions, *(PUBLIC[name] for name in _ALSO_PROMOTED)]:
        _enter(function, _promoting(function, safe))
    for function in [*elementwise_functions("unary"), *(PUBLIC[name] for name in _KEEP_WEAKNESS)]:
        _enter(function, _keeping_weakness(function))
    when_of_numbers.append(_weakened_if_of_numbers)
    _undo.append(when_of_numbers.clear)


def keep_operands() -> None:
    """Take back what `promote_operands` has done."""
    while _undo:
        _undo.pop()()


def _replace(name, method):
    plain = Tensor.__dict__[name]
    setattr(Tensor, name, method)
    _undo.append(lambda: setattr(Tensor, name, plain))


def _enter(function, entry):
    function._dispatch_typed.append(entry)
    _undo.append(lambda: function._dispatch_typed.remove(entry))


def _forward(plain, safe):
    def operator(self, other):
        both = None if type(self) is type(other) is EagerTensor and self.dtype is other.dtype else _promote(
            (self, other), safe)  # fmt: skip
        if both is None:
            return plain(self, other)
        result = plain(*_strong(both[0]))
        return _weakened(result) if both[1] and result is not NotImplemented else result

    return operator


def _strong(operands):
    """Weak tensors have the same operators: plain ones are wanted now."""
    return [to_tensor(value) for value in operands]


def _reflected(promoting, safe):
    def operator(self, other):
        both = _promote((other, self), safe)
        return NotImplemented if both is None else _mark(promoting(*both[0]), both[1])

    return operator


def _mark(result, weak):
    return _weakened(result) if weak else result


def _promoting(function, safe):
    """A row of `_dispatch_typed`: when it is used, and what it does."""
    first, second = list(signature_of(function).parameters)[:2]

    def pair(args, kwargs):
        values = (*args[:2], *(kwargs[name] for name in (first, second) if name in kwargs))
        return values if len(values) == 2 else None

    def test(args, kwargs):
        values = pair(args, kwargs)
        return values is not None and _promote(values, safe) is not None

    def call(*args, **kwargs):
        operands, weak = _promote(pair(args, kwargs), safe)
        options = {name: value for name, value in kwargs.items() if name not in (first, second)}
        return _mark(function.__wrapped__(*operands, *args[2:], **options), weak)

    return test, call


def _keeping_weakness(function):
    def test(args, kwargs):
        return bool(args) and isinstance(args[0], Tensor) and is_weak(args[0])

    def call(*args, **kwargs):
        result = function.__wrapped__(*args, **kwargs)
        same = isinstance(result, Tensor) and result.dtype is args[0].dtype
        return _weakened(result) if same and result is not args[0] else result

    return test, call


def _weakened_if_of_numbers(value, tensor):
    leaves = nest.flatten(value) if isinstance(value, (list, tuple)) else [value]
    of_numbers = leaves and all(isinstance(leaf, numbers.Number) and is_weak(leaf) for leaf in leaves)
    return _weakened(tensor) if of_numbers else tensor
