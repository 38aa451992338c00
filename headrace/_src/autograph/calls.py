"""Calls in converted code: which functions are converted too, and which are called as they are."""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable
from typing import Any

from headrace._src.autograph import conditionals, iteration, status
from headrace._src.autograph.builtin_functions import OVERLOADS, frame_call, register_callback_conversion
from headrace._src.autograph.conversion import (
    ConversionError,
    Converted,
    conversion_of,
    explain_unconverted,
    is_converted,
    may_need_conversion,
    register_operators,
)
from headrace._src.autograph.variables import Undefined
from headrace._src.core.tracebacks import PACKAGE
from headrace._src.op.api import api

_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
# Libraries whose code decides nothing on tensors: it runs as it is. Others may be written for AutoGraph.
_LIBRARIES = frozenset(
    "IPython PIL _pytest absl attr attrs google h5py ipykernel ipdb jax jaxlib keras matplotlib ml_dtypes mock numpy "
    "opt_einsum pandas pluggy pytest scipy sklearn tensorboard tensorflow tensorflow_datasets tensorflow_probability "
    "tf_keras tqdm".split()
)


def is_library(function: types.FunctionType) -> bool:
    """Whether a function belongs to a library that is not converted."""
    filename = function.__code__.co_filename
    if filename.startswith((PACKAGE, "<frozen ")):
        return True
    if filename.startswith(_STANDARD) and "-packages" not in filename:
        return True
    return (function.__globals__.get("__name__") or "").partition(".")[0] in _LIBRARIES


def _is_of_other_library(function) -> bool:
    """Whether a library function is neither ours nor Python's."""
    filename = function.__code__.co_filename
    return not filename.startswith((PACKAGE, "<frozen ")) and "-packages" in filename


def convert_as_asked(function):
    """`convert` for a function that its author wants converted: also one of a library, but not what it calls there."""
    if type(function) is types.FunctionType and is_library(function) and function.__code__ not in _FINAL:
        return _decided(function, True, asked=True)
    return convert(function)


# Where a function without closure keeps its conversion. A table here would hold the globals, and so the function.
_KEPT = "__autograph_conversion__"


def _converted_function(f, recursive=True):
    if not recursive:
        return _decided(f, False)
    kept = f.__dict__.get(_KEPT)
    # functools.wraps copies attributes to other functions; defaults may have been changed.
    if kept is not None and kept[0] is f.__code__:
        result = kept[1]
        if result.__globals__ is f.__globals__ and result.__defaults__ is f.__defaults__:
            return result
    result = _decided(f, True)
    if f.__closure__ is None and result is not f and is_converted(result):
        f.__dict__[_KEPT] = (f.__code__, result)
    return result


def _decided(f, recursive, asked=False):
    if is_converted(f):
        return f
    if is_library(f) and not (asked and _is_of_other_library(f)):
        if f.__name__ in _HIGHER_ORDER and f.__globals__.get("__name__", "").startswith("headrace."):
            return _with_converted_arguments(f)
        return _through_wrapper(f, recursive)
    conversion = conversion_of(f, recursive)
    if isinstance(conversion, Converted):
        return conversion.function(f) if conversion.needed else f
    if not may_need_conversion(f.__code__):
        return f
    return explain_unconverted(f, conversion)


# Our own functions that call functions of the user's in graphs. TF: of these, only map_fn converts them.
_HIGHER_ORDER = frozenset(
    "map_fn vectorized_map scan foldl foldr cond case switch_case while_loop custom_gradient recompute_grad "
    "grad_pass_through map_structure".split()
)


@functools.cache
def _with_converted_arguments(f):
    """`f`, with the functions among its arguments converted, also those in lists and dictionaries of branches."""
    nested = f.__name__ in ("case", "switch_case")

    def argument(value):
        if type(value) in (types.FunctionType, types.MethodType, functools.partial):
            return converted_call(value)
        if nested and isinstance(value, (list, tuple)):
            return type(value)(argument(v) for v in value)
        if nested and isinstance(value, dict):
            return {k: argument(v) for k, v in value.items()}
        return value

    @functools.wraps(f)
    def call(*args, **kwargs):
        return f(*map(argument, args), **{k: argument(v) for k, v in kwargs.items()})

    return call


def _through_wrapper(f, recursive):
    """A wrapper that a library put around a user's function, with that function converted inside."""
    wrapped = f.__dict__.get("__wrapped__")
    if f.__code__ in _FINAL:
        return f
    if type(wrapped) is not types.FunctionType or f.__closure__ is None or is_library(wrapped):
        return f
    cells = [cell for cell in f.__closure__ if _contents(cell) is wrapped]
    if not cells:
        return f
    inner = _converted_function(wrapped, recursive)
    closure = tuple(types.CellType(inner) if cell in cells else cell for cell in f.__closure__)
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, closure)
    made.__kwdefaults__ = f.__kwdefaults__
    made.__dict__.update(f.__dict__)
    return made


def _contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return None


def converted_call(f):
    """What to call in place of `f`: its conversion, a built-in function's overload, or `f` itself."""
    cls = type(f)
    if cls is types.FunctionType:
        return _converted_function(f)
    if cls is types.BuiltinFunctionType or cls is type:
        return OVERLOADS.get(id(f), f)
    if cls is types.MethodType:
        return _converted_method(f, True)
    return _converted_object(f, True)


register_callback_conversion(converted_call)


def builtin_call(f):
    """The same where conversion is not recursive: only built-in functions are replaced."""
    return OVERLOADS.get(id(f), f)


def _converted_method(f, recursive):
    function = f.__func__
    if type(function) is not types.FunctionType:
        return f
    converted = _converted_function(function, recursive)
    return f if converted is function else types.MethodType(converted, f.__self__)


def _converted_object(f, recursive):
    if isinstance(f, functools.partial):
        if type(f) is functools.partial:
            return functools.partial(converted_call(f.func), *f.args, **f.keywords)
        return f
    if isinstance(f, type):
        return f  # TF: constructors run as they are
    call = call_of(f)
    if type(call) is not types.FunctionType:
        return f
    if call.__code__.co_filename.startswith(PACKAGE):
        # A tf.function, which sees to its own function; or what custom_gradient makes of one.
        wrapper = getattr(f, "_decorated", None)
        if type(wrapper) is not types.FunctionType:
            return f
        found = _through_wrapper(wrapper, recursive)
        return f if found is wrapper else found
    converted = _converted_function(call, recursive)
    if converted is not call:
        return types.MethodType(converted, f)
    return _converted_layer(f, recursive) if (call.__module__ or "").partition(".")[0] in _LAYERS else f


# Libraries whose objects run a method `call` of the user's when they are called: layers and models.
_LAYERS = frozenset({"keras", "tf_keras"})


def _converted_layer(layer, recursive):
    """A layer that runs its user's `call` converted, for one call. TF: with Keras 3, it is not converted at all."""
    method = next((c.__dict__["call"] for c in type(layer).__mro__ if "call" in c.__dict__), None)
    own = getattr(layer, "__dict__", None)
    if type(method) is not types.FunctionType or own is None or "call" in own or is_library(method):
        return layer
    converted = _converted_function(method, recursive)
    if converted is method:
        return layer

    @functools.wraps(method)
    def call(*args, **kwargs):
        own["call"] = types.MethodType(converted, layer)
        try:
            return layer(*args, **kwargs)
        finally:
            own.pop("call", None)

    return call


def call_of(f):
    """The function that runs when an object is called, or None."""
    if isinstance(f, type):
        return None
    return next((c.__dict__["__call__"] for c in type(f).__mro__ if "__call__" in c.__dict__), None)


def convert(function, recursive: bool = True, strict: bool = False):
    """A function like `function` whose control flow works on symbolic tensors.

    It has the same signature, defaults, globals and closure cells. Bound methods, static and class methods, partial
    functions and objects with `__call__` are converted too. What needs no conversion is returned as it is: built-in
    functions, classes, library functions, generators, what is marked with `do_not_convert`.

    Args:
        function: What to convert.
        recursive: Whether functions that it calls are converted.
        strict: Whether it is an error when there is no source or something in it cannot be converted. Otherwise a
            warning says so, once, and the function runs as it is.

    Raises:
        ConversionError: `strict`, and it cannot be converted.
    """
    if strict:
        _check(function)
    cls = type(function)
    if cls is types.FunctionType:
        return _converted_function(function, recursive)
    if cls is types.MethodType:
        return _converted_method(function, recursive)
    if cls in (staticmethod, classmethod):
        return cls(convert(function.__func__, recursive))
    return _converted_object(function, recursive)


def _check(function):
    """Raise the error that keeps a function from being converted, if there is one."""
    while isinstance(function, (functools.partial, types.MethodType, staticmethod, classmethod)):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    if type(function) is not types.FunctionType:
        function = call_of(function)
    if type(function) is types.FunctionType and not is_converted(function) and not is_library(function):
        conversion = conversion_of(function)
        if isinstance(conversion, ConversionError):
            raise conversion


@api("autograph.experimental.do_not_convert", dispatch=False)
def do_not_convert(func=None) -> Callable[..., Any]:
    """Decorator: AutoGraph leaves a function, and what it calls, as they are.

    >>> @tf.autograph.experimental.do_not_convert
    ... def f(x):
    ...     return x + 1 if isinstance(x, int) else x
    >>> f(1)
    2
    """
    return do_not_convert if func is None else with_status(func, status.DISABLED)


@api("__internal__.autograph.tf_convert", dispatch=False)
def tf_convert(f, ctx, convert_by_default=True, user_requested=False) -> Any:
    """What the library calls in place of a function given to it: converted if that is this thread's state.

    Args:
        f: The function.
        ctx: The state that counts, as given by `control_status_ctx()`.
        convert_by_default: What to do where nobody said.
        user_requested: Kept for compatibility.
    """
    if is_final(f):
        return f
    if ctx.status is status.Status.ENABLED or (ctx.status is status.Status.UNSPECIFIED and convert_by_default):
        return with_status(convert(f), status.ENABLED)
    if ctx.status is status.Status.DISABLED:
        return do_not_convert(f)
    return with_status(f, status.UNSPECIFIED)


def with_status(f, state):
    """`f`, called in a state of conversion; it is not converted any more."""

    def call(*args, **kwargs):
        with state:
            return f(*args, **kwargs)

    _FINAL.add(call.__code__)
    return functools.update_wrapper(call, f)


# The code of functions that already see to it whether what they call is converted.
_FINAL: set = set()


def is_final(f) -> bool:
    """Whether a function comes from `do_not_convert` or `tf_convert`."""
    return type(f) is types.FunctionType and f.__code__ in _FINAL


def _operators():
    """What converted code refers to as `ag__`."""
    found = types.ModuleType("ag__", "The operators of converted code.")
    for home, names in (
        (conditionals, "if_stmt if_exp and_ or_ not_ compare asserted"),
        (iteration, "while_stmt for_stmt loop_options"),
    ):
        found.__dict__.update({name: getattr(home, name) for name in names.split()})
    found.__dict__.update({f.__name__: f for f in (converted_call, builtin_call, frame_call, Undefined)})
    return found


register_operators(_operators())
