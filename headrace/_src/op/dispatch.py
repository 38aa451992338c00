"""Public functions that other tensor types can extend: ragged, sparse and the user's own types.

A function that is declared with `@api` first asks the type-based dispatchers registered for it (there are none
for most), then runs, and when its arguments turn out not to be plain tensors (TypeError, ValueError) asks
the fallback dispatchers. So plain tensors pay almost nothing.
"""

import functools
import inspect


class Dispatcher:
    """Handles calls of one function for some types of arguments: returns the result or NOT_SUPPORTED."""

    NOT_SUPPORTED = object()

    def handle(self, args, kwargs):
        return self.NOT_SUPPORTED


# Handlers for any function, each `(function, args, kwargs) -> result or NOT_SUPPORTED`.
global_dispatchers: list = []


def dispatchable(function):
    """Make `function` extensible by type."""
    typed = []  # (test, target) pairs of dispatch_for_api
    fallbacks = []  # Dispatcher objects

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if typed:
            result = _first(typed, args, kwargs)
            if result is not Dispatcher.NOT_SUPPORTED:
                return result
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            result = _fallback(wrapper, args, kwargs)
            if result is Dispatcher.NOT_SUPPORTED:
                raise
            return result

    wrapper._dispatch_typed = typed
    wrapper._dispatch_fallbacks = fallbacks
    wrapper._dispatch_signature = None
    return wrapper


def _first(typed, args, kwargs):
    for test, target in typed:
        if test(args, kwargs):
            return target(*args, **kwargs)
    return Dispatcher.NOT_SUPPORTED


def _fallback(wrapper, args, kwargs):
    for dispatcher in wrapper._dispatch_fallbacks:
        result = dispatcher.handle(args, kwargs)
        if result is not Dispatcher.NOT_SUPPORTED:
            return result
    for handler in global_dispatchers:
        result = handler(wrapper, args, kwargs)
        if result is not Dispatcher.NOT_SUPPORTED:
            return result
    return Dispatcher.NOT_SUPPORTED


def signature_of(api) -> inspect.Signature:
    """The signature of a dispatchable function, computed once."""
    if api._dispatch_signature is None:
        api._dispatch_signature = inspect.signature(api.__wrapped__)
    return api._dispatch_signature


def dispatch_for_types(api, *types):
    """Decorator: use the function for calls of `api` in which some argument is of one of `types`.

    Lists and tuples among the arguments are searched one level deep. This is how `ops` files of ragged and
    sparse tensors extend the dense functions.
    """
    if not hasattr(api, "_dispatch_fallbacks"):
        raise ValueError(f"{api!r} is not a dispatchable function.")

    def decorate(target):
        class TypeDispatcher(Dispatcher):
            def handle(self, args, kwargs):
                if any(_holds(value, types) for value in (*args, *kwargs.values())):
                    return target(*args, **kwargs)
                return self.NOT_SUPPORTED

        api._dispatch_fallbacks.append(TypeDispatcher())
        return target

    return decorate


def _holds(value, types):
    if isinstance(value, types):
        return True
    return isinstance(value, (list, tuple)) and any(isinstance(item, types) for item in value)
