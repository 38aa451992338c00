"""`tensorflow.python.util.deprecation`: functions and arguments of which users are told that they will go."""

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

from headrace._src.compat.logging import warning
from headrace._src.compat.tensorflow_names.decorators import make_decorator, unwrap

_told: set = set()  # what has been said once


class _State(threading.local):
    silent = False


_state = _State()


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Within this block, nothing is said."""
    before, _state.silent = _state.silent, True
    try:
        yield
    finally:
        _state.silent = before


def _say(key, warn_once, text):
    if _state.silent or (warn_once and key in _told):
        return
    _told.add(key)
    caller = inspect.currentframe()
    frame = caller.f_back.f_back if caller is not None and caller.f_back is not None else None
    place = "an unknown place" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
    warning("%s (from %s)", text, place)


def _when(date):
    return "in a future version" if date is None else f"after {date}"


def _checked(date, instructions):
    if date is not None and (not isinstance(date, str) or len(date.split("-")) != 3):
        raise ValueError(f"deprecated: date must look like 2020-12-31, got {date!r}.")
    if not instructions:
        raise ValueError("deprecated: instructions must say what to use instead.")


def _name_of(function):
    return getattr(function, "__qualname__", None) or getattr(function, "__name__", repr(function))


def deprecated(date, instructions, warn_once=True) -> Callable[[Any], Any]:
    """Decorator: the function or class says that it will go, and what to use instead."""
    _checked(date, instructions)

    def decorate(func_or_class):
        name = _name_of(func_or_class)
        text = f"{name} is deprecated and will be removed {_when(date)}. Instead: {instructions}"
        notice = f"DEPRECATED: it will be removed {_when(date)}. {instructions}"
        if isinstance(func_or_class, type):
            first = func_or_class.__init__

            @functools.wraps(first)
            def init(self, *args, **kwargs):
                _say((func_or_class, name), warn_once, text)
                return first(self, *args, **kwargs)

            func_or_class.__init__ = init  # type: ignore[misc]
            func_or_class.__doc__ = _with_notice(func_or_class.__doc__, notice)
            return func_or_class

        def function(*args, **kwargs):
            _say((func_or_class, name), warn_once, text)
            return func_or_class(*args, **kwargs)

        return make_decorator(func_or_class, function, "deprecated", _with_notice(func_or_class.__doc__, notice))

    return decorate


def _with_notice(doc, notice):
    first, _, rest = (doc or "").partition("\n")
    return f"{first}\n\n{notice}\n{rest}".strip("\n")


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True) -> Any:
    """A function or class under its former name, which says that it has another one now."""
    text = f"The name {deprecated_name} is deprecated. Please use {name} instead."
    if isinstance(func_or_class, type):

        class _Former(func_or_class):  # type: ignore[misc, valid-type]
            __doc__ = func_or_class.__doc__
            __module__ = func_or_class.__module__

            def __init__(self, *args, **kwargs):
                _say((func_or_class, deprecated_name), warn_once, text)
                super().__init__(*args, **kwargs)

        _Former.__name__ = func_or_class.__name__
        return _Former

    def function(*args, **kwargs):
        _say((func_or_class, deprecated_name), warn_once, text)
        return func_or_class(*args, **kwargs)

    return make_decorator(func_or_class, function, "deprecated")


def deprecated_endpoints(*args) -> Callable[[Any], Any]:
    """Decorator: these public names of a function will go."""

    def decorate(thing):
        if "_tf_deprecated_api_names" in vars(thing):
            raise ValueError("The names of this symbol that are deprecated have been set already.")
        thing._tf_deprecated_api_names = args
        return thing

    return decorate


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, **kwargs) -> Callable[[Any], Any]:
    """Decorator: these arguments say that they will go, when they are given.

    Args:
        date: when, as YYYY-MM-DD, or None.
        instructions: what to do instead.
        deprecated_arg_names_or_tuples: names, or pairs of a name and a value of which nothing is said.
        kwargs: `warn_once`, whether it is said only once.
    """
    _checked(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    pairs = [x if isinstance(x, tuple) else (x,) for x in deprecated_arg_names_or_tuples]
    unspoken = {pair[0]: pair[1:] for pair in pairs}

    def decide(given, function):
        for name, accepted in unspoken.items():
            if name in given and not any(_same(given[name], value) for value in accepted):
                yield name, f"calling {_name_of(function)} with {name} is deprecated"

    return _about_arguments(date, instructions, kwargs.get("warn_once", True), list(unspoken), decide)


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs) -> Callable[[Any], Any]:
    """Decorator: these values of arguments say that they will go, when they are given."""
    _checked(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decide(given, function):
        for name, value in deprecated_kwargs.items():
            if name in given and _same(given[name], value):
                yield name, f"calling {_name_of(function)} with {name}={value} is deprecated"

    return _about_arguments(date, instructions, warn_once, list(deprecated_kwargs), decide)


def _same(a, b):
    return a is b or (isinstance(a, (bool, int, float, str, bytes)) and type(a) is type(b) and a == b)


def _about_arguments(date, instructions, warn_once, names, decide):
    def decorate(function):
        signature = inspect.signature(unwrap(function)[1])
        takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
        absent = [name for name in names if name not in signature.parameters]
        if absent and not takes_any:
            raise ValueError(f"{_name_of(function)} has no arguments {absent}, of which it is said that they will go.")

        def new_function(*args, **kwargs):
            if not _state.silent:
                given = _given(signature, args, kwargs)
                for name, said in decide(given, function):
                    text = f"{said} and will be removed {_when(date)}. Instead: {instructions}"
                    _say((function, name), warn_once, text)
            return function(*args, **kwargs)

        notice = (
            f"SOME ARGUMENTS ARE DEPRECATED: {', '.join(names)}; they will be removed {_when(date)}. {instructions}"
        )
        return make_decorator(function, new_function, "deprecated", _with_notice(function.__doc__, notice))

    return decorate


def _given(signature, args, kwargs):
    """The arguments of a call by name; none where the call itself is wrong, which the function will say."""
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            bound |= bound.pop(name, {})
    return bound


def deprecated_argument_lookup(new_name, new_value, old_name, old_value) -> Any:
    """The value of an argument that has a new name, given under the one or the other."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old_value


def rewrite_argument_docstring(old_doc, old_argument, new_argument) -> str:
    """A text about arguments in which one has another name."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")


def deprecate_moved_module(deprecated_name, new_module, deletion_version) -> Callable[[str], Any]:
    """`__getattr__` for a module whose names are in another one now."""

    def getter(name):
        if not name.startswith("__"):
            text = f"Module {deprecated_name} is {new_module.__name__} now, and will go in version {deletion_version}."
            _say((deprecated_name, new_module), True, text)
        return getattr(new_module, name)

    return getter


def hide_attribute_from_api(decorated) -> Any:
    """Decorator: the attribute is left out of documents; nothing else changes."""
    return decorated
