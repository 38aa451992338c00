"""`tensorflow.python.util.tf_decorator`, `tf_inspect` and `tf_contextlib`: decorators that can be looked through."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from headrace._src.op.api import api
from headrace._src.tracing.function import Function


class TFDecorator:
    """What a decorator was made of: its name, the function that it decorates, and the arguments that it takes.

    Args:
        decorator_name: how the decorator is called.
        target: what it decorates.
        decorator_doc: what is said of it.
        decorator_argspec: the arguments of the decorated function, where they are others than the target's; a
            `FullArgSpec` or a `Signature`.
    """

    def __init__(self, decorator_name, target, decorator_doc="", decorator_argspec=None):
        self._target = target
        self._name = decorator_name
        self._doc = decorator_doc
        self._argspec = decorator_argspec
        functools.update_wrapper(self, target, updated=())
        if decorator_doc:
            self.__doc__ = decorator_doc

    def __get__(self, instance, owner):
        return self._target.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        return self._target(*args, **kwargs)

    @property
    def decorated_target(self) -> Any:
        """The function that is decorated."""
        return self._target

    @decorated_target.setter
    def decorated_target(self, target):
        self._target = target

    @property
    def decorator_name(self) -> str:
        return self._name

    @property
    def decorator_doc(self) -> str:
        return self._doc

    @property
    def decorator_argspec(self) -> Any:
        return self._argspec


@api("__internal__.decorator.make_decorator", dispatch=False)
def make_decorator(
    target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None
) -> Callable[..., Any]:
    """Let a function that wraps another look like it, and say so to `tf_inspect`.

    >>> def double(x):
    ...     return 2 * x
    >>> def printing(*args):
    ...     return double(*args)
    >>> tf.__internal__.decorator.make_decorator(double, printing).__name__
    'double'
    """
    if decorator_name is None:
        caller = inspect.currentframe()
        decorator_name = caller.f_back.f_code.co_name if caller is not None and caller.f_back is not None else ""
    decorator_func._tf_decorator = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    for name in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, name):
            setattr(decorator_func, name, getattr(target, name))
    decorator_func.__doc__ = decorator_func._tf_decorator.__doc__
    decorator_func.__wrapped__ = target
    shown = signature_of_argspec(decorator_argspec) if decorator_argspec is not None else _signature_of(target)
    if shown is not None and decorator_argspec is not None and inspect.ismethod(unwrap(target)[1]):
        shown = _without_self(shown)
    if shown is not None:
        decorator_func.__signature__ = shown
    return decorator_func


def _without_self(signature):
    """TF: arguments of a bound method are told with `self`, which nobody passes."""
    first, *others = [*signature.parameters.values()] or [None]
    return signature.replace(parameters=others) if first is not None and first.name == "self" else signature


def signature_of_argspec(argspec) -> inspect.Signature:
    """What a `FullArgSpec` says, as a signature."""
    if isinstance(argspec, inspect.Signature):
        return argspec
    kinds = inspect.Parameter
    defaults = dict(zip(reversed(argspec.args), reversed(argspec.defaults or ())))
    defaults |= getattr(argspec, "kwonlydefaults", None) or {}
    named = [kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=defaults.get(name, kinds.empty)) for name in argspec.args]
    if argspec.varargs:
        named.append(kinds(argspec.varargs, kinds.VAR_POSITIONAL))
    for name in getattr(argspec, "kwonlyargs", None) or ():
        named.append(kinds(name, kinds.KEYWORD_ONLY, default=defaults.get(name, kinds.empty)))
    if argspec.varkw:
        named.append(kinds(argspec.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(named)


def _signature_of(target):
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):  # built-in functions say nothing of their arguments
        return None


def _decorator_of(function):
    if isinstance(function, TFDecorator):
        return function
    found = getattr(function, "_tf_decorator", None)
    return found if isinstance(found, TFDecorator) else None


@api("__internal__.decorator.unwrap", dispatch=False)
def unwrap(maybe_tf_decorator) -> tuple[list[TFDecorator], Any]:
    """The decorators that `make_decorator` has put around a function, and the function itself.

    >>> tf.__internal__.decorator.unwrap(len)
    ([], <built-in function len>)
    """
    decorators, function = [], maybe_tf_decorator
    while True:
        decorator = _decorator_of(function)
        if decorator is not None:
            decorators.append(decorator)
            function = decorator.decorated_target
        elif isinstance(function, Function):
            # One of a SavedModel says itself what it takes: there is no Python code that would.
            told = None if type(function) is Function else function.function_spec.fullargspec
            decorators.append(TFDecorator("tf.function", function.python_function, "", told))
            function = function.python_function
        elif hasattr(function, "_public_name") and hasattr(function, "__wrapped__"):  # our own functions
            function = function.__wrapped__
        else:
            return decorators, function


def rewrap(decorator_func, previous_target, new_target):
    """Put another function in the place of one that is decorated, however many decorators are around it."""
    innermost = None
    for decorator in unwrap(decorator_func)[0]:
        innermost = decorator
        if decorator.decorated_target is previous_target:
            break
    if innermost is None:
        return new_target
    innermost.decorated_target = new_target
    return decorator_func


def contextmanager(target: Callable[..., Iterator[Any]]) -> Callable[..., Any]:
    """`contextlib.contextmanager`, of which `tf_inspect` tells the target's arguments."""
    return make_decorator(target, contextlib.contextmanager(target), "contextmanager")


# tf_inspect: as `inspect`, of the function that is decorated.


class ArgSpec(NamedTuple):
    """The arguments of a function, as Python 2 told them."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple | None


def _told(function):
    """The arguments that a decorator has stated itself; None if none has."""
    stated = [x.decorator_argspec for x in unwrap(function)[0] if x.decorator_argspec is not None]
    return stated[0] if stated else None


def getfullargspec(obj) -> inspect.FullArgSpec:
    """`inspect.getfullargspec`, looking through decorators, partials and callable objects."""
    stated = _told(obj)
    if isinstance(stated, inspect.FullArgSpec):
        return stated
    if isinstance(stated, inspect.Signature):
        return inspect.getfullargspec(_with_signature(stated))
    target = unwrap(obj)[1]
    if isinstance(target, functools.partial):
        return _partial_argspec(target)
    if not inspect.isroutine(target) and not inspect.isclass(target) and callable(target):
        target = type(target).__call__
    told = inspect.getfullargspec(target)
    # TF: its functions say nothing of types, and packages compare what they are told.
    return told._replace(annotations={}) if hasattr(obj, "_public_name") else told


def _with_signature(signature):
    def function():
        """Stands for any function with this signature."""

    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _partial_argspec(partial):
    """All arguments of the inner function that are not bound by position; those bound by name are defaults."""
    inner = getfullargspec(partial.func)
    left = inner.args[len(partial.args) :]
    defaults = dict(zip(reversed(inner.args), reversed(inner.defaults or ()))) | partial.keywords
    first = next((i for i, name in enumerate(left) if name in defaults), len(left))
    if any(name not in defaults for name in left[first:]):
        raise ValueError(f"An ArgSpec cannot say what is left of a partial function: of {left[first:]}, which come "
                         "after an argument with a default, some have none.")  # fmt: skip
    only = {**(inner.kwonlydefaults or {}), **{k: v for k, v in partial.keywords.items() if k in inner.kwonlyargs}}
    return inspect.FullArgSpec(
        left, inner.varargs, inner.varkw, tuple(defaults[name] for name in left[first:]) or None, inner.kwonlyargs,
        only or None, inner.annotations,
    )  # fmt: skip


def getargspec(obj) -> ArgSpec:
    """`getfullargspec` without what Python 2 did not have."""
    told = getfullargspec(obj)
    return ArgSpec(told.args, told.varargs, told.varkw, told.defaults)


def signature(obj, *, follow_wrapped=True) -> inspect.Signature:
    """`inspect.signature` of the function that is decorated."""
    return inspect.signature(unwrap(obj)[1], follow_wrapped=follow_wrapped)


def getcallargs(*func_and_positional, **named) -> dict[str, Any]:
    """`inspect.getcallargs`, looking through decorators."""
    function, *positional = func_and_positional
    stated = _told(function)
    if stated is None:
        return inspect.getcallargs(unwrap(function)[1], *positional, **named)
    bound = signature_of_argspec(stated).bind(*positional, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


def getmembers(object, predicate=None) -> list[tuple[str, Any]]:
    """`inspect.getmembers`."""
    return inspect.getmembers(object, predicate)


def _looking_through(function):
    """A function of `inspect` that takes the decorated function where it is given a decorator."""

    @functools.wraps(function)
    def look(object, *args, **kwargs):
        return function(unwrap(object)[1], *args, **kwargs)

    return look


getdoc = inspect.getdoc
getfile = _looking_through(inspect.getfile)
getsource = _looking_through(inspect.getsource)
getsourcefile = _looking_through(inspect.getsourcefile)
getsourcelines = _looking_through(inspect.getsourcelines)
isbuiltin = _looking_through(inspect.isbuiltin)
isclass = _looking_through(inspect.isclass)
isfunction = _looking_through(inspect.isfunction)
isgenerator = _looking_through(inspect.isgenerator)
isgeneratorfunction = _looking_through(inspect.isgeneratorfunction)
ismethod = _looking_through(inspect.ismethod)
ismodule = _looking_through(inspect.ismodule)
isroutine = _looking_through(inspect.isroutine)
isframe = _looking_through(inspect.isframe)


def isanytargetmethod(object) -> bool:
    """Whether one of the decorated functions is a method."""
    decorators, target = unwrap(object)
    return any(inspect.ismethod(x.decorated_target) for x in decorators) or inspect.ismethod(target)
