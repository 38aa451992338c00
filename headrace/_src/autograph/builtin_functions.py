"""Python's built-in functions for symbolic tensors: `len`, `range`, `int`, `max` ... in converted code."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable

from headrace._src.autograph.iteration import Enumerated, Zipped, length_of, loops_in_graph
from headrace._src.autograph.staging import is_symbolic
from headrace._src.autograph.variables import UNDEFINED, Variables
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.lazy import LazyModule
from headrace._src.core.tensor import Tensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import range_ as tensor_range
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM
from headrace._src.ops.math.reductions import reduce_all, reduce_any, reduce_max, reduce_min, reduce_sum

# Few functions sort tensors or read numbers, and each function is converted.
_sorting = LazyModule("headrace._src.ops.arrays.sorting")
_numbers = LazyModule("headrace._src.ops.strings.numbers")

OVERLOADS: dict[int, object] = {}  # by the identity of the built-in function
_MISSING = object()


def _overload(function):
    def declare(replacement):
        OVERLOADS[id(function)] = replacement
        return replacement

    return declare


@_overload(builtins.len)
def len_(x, /):
    return length_of(to_tensor(x)) if is_symbolic(x) else builtins.len(x)


@_overload(builtins.int)
def int_(x=_MISSING, *base, **kwargs):
    if is_symbolic(x):
        if base or kwargs:
            raise NotImplementedError("int: a base is not supported for tensors.")
        x = to_tensor(x)
        return _numbers.to_number(x, dtypes.int32) if x.dtype is dtypes.string else cast(x, dtypes.int32)
    return builtins.int(*(() if x is _MISSING else (x,)), *base, **kwargs)


@_overload(builtins.float)
def float_(x=_MISSING, /):
    if is_symbolic(x):
        x = to_tensor(x)
        return _numbers.to_number(x, dtypes.float32) if x.dtype is dtypes.string else cast(x, dtypes.float32)
    return 0.0 if x is _MISSING else builtins.float(x)


@_overload(builtins.range)
def range_(*args):
    return tensor_range(*args) if any(map(is_symbolic, args)) else builtins.range(*args)


@_overload(builtins.enumerate)
def enumerate_(iterable, start=0):
    if not loops_in_graph(iterable):
        return builtins.enumerate(iterable, start)
    # TF: a dataset counts itself, in 64 bits.
    own = getattr(iterable, "enumerate", None)
    return Enumerated(iterable, start) if own is None else own(start)


@_overload(builtins.zip)
def zip_(*iterables, strict=False):
    staged = [isinstance(x, Tensor) and context.graph is not None for x in iterables]
    if any(map(is_symbolic, iterables)):
        if not all(staged):
            raise NotImplementedError(
                "zip: some arguments are symbolic tensors and some are not; make all of them tensors."
            )
        return Zipped([to_tensor(x) for x in iterables])
    return builtins.zip(*iterables, strict=strict)


def _reduced(name, x, reduce):
    tensor = to_tensor(x)
    if tensor.shape.rank not in (1, None):
        raise ValueError(f"{name}: a tensor must be a vector, got shape {tensor.shape}. Use tf.reduce_{name}.")
    return reduce(tensor)


@_overload(builtins.any)
def any_(x, /):
    return _reduced("any", x, reduce_any) if is_symbolic(x) else builtins.any(x)


@_overload(builtins.all)
def all_(x, /):
    return _reduced("all", x, reduce_all) if is_symbolic(x) else builtins.all(x)


@_overload(builtins.sum)
def sum_(x, /, start=0):
    if is_symbolic(x):
        return _reduced("sum", x, reduce_sum) + start
    return builtins.sum(x, start)


def _extreme(name, function, reduce, op):
    def overloaded(*args, **kwargs):
        if not kwargs and any(map(is_symbolic, args)):
            if len(args) == 1:
                return _reduced(name, args[0], reduce)
            tensors = [to_tensor(x) if is_symbolic(x) else x for x in args]
            result = tensors[0]
            for x in tensors[1:]:
                result = op(result, x)
            return result
        if kwargs.get("key") is not None:
            kwargs["key"] = _called(kwargs["key"])
        return function(*args, **kwargs)

    return overloaded


_overload(builtins.max)(_extreme("max", builtins.max, reduce_max, MAXIMUM))
_overload(builtins.min)(_extreme("min", builtins.min, reduce_min, MINIMUM))


@_overload(builtins.sorted)
def sorted_(x, /, *, key=None, reverse=False):
    if is_symbolic(x):
        if key is not None:
            raise NotImplementedError("sorted: key is not supported for tensors. Use tf.argsort and tf.gather.")
        return _sorting.sort(to_tensor(x), direction="DESCENDING" if reverse else "ASCENDING")
    return builtins.sorted(x, key=_called(key), reverse=reverse)


def _unset(function):
    raise RuntimeError("How callbacks are converted is not registered. Import headrace._src.autograph.calls.")


class _Callbacks:
    """How functions that a built-in function calls are converted."""

    convert: Callable = staticmethod(_unset)


def register_callback_conversion(convert):
    """Let `convert(function)` give what is called instead; calls.py, which imports this file, registers it."""
    _Callbacks.convert = staticmethod(convert)


def _called(function):
    """A function that a built-in function is about to call, converted."""
    return _Callbacks.convert(function) if function is not None else None


@_overload(builtins.map)
def map_(function, *iterables, **kwargs):
    return builtins.map(_called(function), *iterables, **kwargs)


@_overload(builtins.filter)
def filter_(function, iterable, /):
    return builtins.filter(_called(function), iterable)


@_overload(functools.reduce)
def reduce_(function, *args):
    return functools.reduce(_called(function), *args)


def frame_call(function, variables, *args):
    """`locals()`, `vars()`, `dir()`, `eval(text)` or `exec(text)` with the variables of the user's function.

    Args:
        function: One of these, or what the user gave its name to.
        variables: A function that mentions all variables; only its closure is used.
    """
    names = variables.__code__.co_freevars
    values = Variables(names, variables).get()
    local = {name: value for name, value in zip(names, values) if value is not UNDEFINED}
    if function in (builtins.locals, builtins.vars):
        return local
    if function is builtins.dir:
        return sorted(local)
    if function in (builtins.eval, builtins.exec):
        return function(args[0], variables.__globals__, local)
    return function(*args)
