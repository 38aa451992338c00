"""`tf.experimental.dispatch_for_api` and its siblings: the user's types in headrace's functions."""

import collections.abc
import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src import index
from headrace._src.core.specs import TypeSpec
from headrace._src.core.types import Tensor
from headrace._src.op.api import ELEMENTWISE, PUBLIC, api
from headrace._src.op.dispatch import signature_of

# Values that functions take by themselves.
_OWN_TYPES = (Tensor, np.ndarray, np.generic, bool, int, float, complex, str, bytes)

# Every registration, so that it can be taken back: target to the (api, entry) pairs.
_registered: dict = {}


def elementwise_functions(kind) -> list:
    """All public functions of a kind: "unary" (the first argument is treated element by element), "binary" (the first
    two are, and broadcast) or "assertion" (about two tensors)."""
    for name in index.ELEMENTWISE[kind]:
        PUBLIC.get(name)  # imports its file
    return [function for function in ELEMENTWISE if function._operands.kind == kind]


def matches(value, annotation) -> bool:
    """Whether a value is of an annotated type: a class, a spec, a union, or a sequence of such."""
    if annotation is typing.Any:
        return True
    if annotation is None or annotation is type(None):
        return value is None
    if isinstance(annotation, TypeSpec):
        return annotation.is_compatible_with(value)
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return any(matches(value, choice) for choice in typing.get_args(annotation))
    if origin in (list, collections.abc.Sequence, collections.abc.Collection, collections.abc.Iterable):
        inner = typing.get_args(annotation)
        return (
            isinstance(value, (list, tuple)) and len(value) > 0 and all(matches(item, inner[0]) for item in value)
        )
    if origin is tuple:
        inner = typing.get_args(annotation)
        if not isinstance(value, tuple):
            return False
        if len(inner) == 2 and inner[1] is Ellipsis:
            return all(matches(item, inner[0]) for item in value)
        return len(value) == len(inner) and all(matches(item, part) for item, part in zip(value, inner))
    if isinstance(annotation, type):
        return isinstance(value, annotation)
    raise TypeError(f"The type annotation {annotation!r} is not supported for dispatch.")


def _test(api_function, signature):
    """A test of the arguments of a call of `api_function` against {parameter: annotation}."""
    written = signature_of(api_function)

    def test(args, kwargs):
        try:
            bound = written.bind(*args, **kwargs).arguments
        except TypeError:
            return False
        if not all(name in bound and matches(bound[name], kind) for name, kind in signature.items()):
            return False
        # A `Union[Masked, tf.Tensor]` also fits calls with tensors alone: these are the function's own.
        return any(_is_of_another_type(bound[name]) for name in signature)

    return test


def _is_of_another_type(value):
    if isinstance(value, (list, tuple)):
        return any(_is_of_another_type(item) for item in value)
    return value is not None and not isinstance(value, _OWN_TYPES)


def _register(api_function, target, signature, call):
    entry = (_test(api_function, signature), call)
    api_function._dispatch_typed.append(entry)
    _registered.setdefault(target, []).append((api_function, entry))


def _check_dispatchable(api_function):
    if not hasattr(api_function, "_dispatch_typed"):
        raise ValueError(f"{api_function!r} does not support dispatch.")


@api("experimental.dispatch_for_api", dispatch=False)
def dispatch_for_api(api, *signatures) -> Callable[..., Any]:
    """Decorator: call the function instead of `api` when the arguments have the given types.

    Args:
        api: a function of headrace, such as `tf.concat`.
        signatures: dicts from parameter name (or position) to type; otherwise the function's annotations.

    Raises:
        ValueError: when `api` cannot be extended, or the parameters differ from its parameters.
    """
    _check_dispatchable(api)
    written = signature_of(api)
    names = list(written.parameters)

    def decorate(target):
        own = inspect.signature(target)
        parameters = [p for p in own.parameters if p != "name"]
        if parameters != [n for n in names if n != "name"]:
            raise ValueError(f"Dispatch function's signature {own} does not match API's signature {written}.")
        wanted = list(signatures)
        if not wanted:
            hints = typing.get_type_hints(target)
            annotations = {n: hints.get(n, p.annotation) for n, p in own.parameters.items()
                           if p.annotation is not p.empty}
            if not annotations:
                raise ValueError(
                    "The dispatch_for_api decorator must be called with at least one signature, or applied to a "
                    "function that has type annotations on its parameters."
                )
            wanted = [annotations]
        for signature in wanted:
            by_name = {names[key] if isinstance(key, int) else key: kind for key, kind in signature.items()}
            unknown = [key for key in by_name if key not in written.parameters]
            if unknown:
                raise ValueError(f"dispatch_for_api: {unknown} are no parameters of {api.__name__}{written}.")
            if not by_name:
                raise ValueError("dispatch_for_api: a signature must name at least one parameter.")
            _register(api, target, by_name, _without_name(target, own))
        return target

    return decorate


def _without_name(target, own):
    """The target, made to ignore a `name` argument that it does not take."""
    if "name" in own.parameters:
        return target

    @functools.wraps(target)
    def call(*args, name=None, **kwargs):
        return target(*args[: len(own.parameters)], **kwargs)

    return call


def _elementwise(kind, count, types_, handler):
    for function in elementwise_functions(kind):
        written = signature_of(function)
        first = list(written.parameters)[:count]

        def call(*args, _function=function, _written=written, _first=first, **kwargs):
            bound = _written.bind(*args, **kwargs).arguments
            operands = [bound.pop(name) for name in _first]
            plain = functools.partial(_with_options, _function, bound) if bound else _function
            if bound:
                plain.__name__ = _function.__name__
            return handler(plain, *operands)

        _register(function, handler, dict(zip(first, types_)), call)
    return handler


def _with_options(function, options, *operands):
    return function(*operands, **options)


@api("experimental.dispatch_for_unary_elementwise_apis", dispatch=False)
def dispatch_for_unary_elementwise_apis(x_type) -> Callable[..., Any]:
    """Decorator: `handler(api_func, x)` handles all element-wise functions of one tensor for `x_type`."""
    return functools.partial(_elementwise, "unary", 1, (x_type,))


@api("experimental.dispatch_for_binary_elementwise_apis", dispatch=False)
def dispatch_for_binary_elementwise_apis(x_type, y_type) -> Callable[..., Any]:
    """Decorator: `handler(api_func, x, y)` handles all element-wise functions of two tensors for these types."""
    return functools.partial(_elementwise, "binary", 2, (x_type, y_type))


@api("experimental.dispatch_for_binary_elementwise_assert_apis", dispatch=False)
def dispatch_for_binary_elementwise_assert_apis(x_type, y_type) -> Callable[..., Any]:
    """Decorator: `handler(assert_func, x, y)` handles all assertions about two tensors for these types."""
    return functools.partial(_elementwise, "assertion", 2, (x_type, y_type))


@api("experimental.unregister_dispatch_for", dispatch=False)
def unregister_dispatch_for(dispatch_target) -> None:
    """Take back what a `dispatch_for_*` decorator registered for this function.

    Raises:
        ValueError: when nothing is registered for it.
    """
    if dispatch_target not in _registered:
        raise ValueError(f"Function {dispatch_target!r} was not registered using a `@dispatch_for_*` decorator.")
    for function, entry in _registered.pop(dispatch_target):
        function._dispatch_typed.remove(entry)
