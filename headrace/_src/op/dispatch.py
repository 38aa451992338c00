"""Public functions that other tensor types can extend: ragged, sparse and the user's own types.

A function that is declared with `@api` first asks the type-based dispatchers registered for it (there are none
for most), then runs, and when its arguments turn out not to be plain tensors (TypeError, ValueError,
AttributeError) asks the fallback dispatchers. So plain tensors pay almost nothing.

The files that teach functions to take a type are imported when a function gets a value of that type; `scripts/exports`
writes into the index which they are.
"""

import functools
import inspect
import sys
import threading
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from headrace._src import index
from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.core.tracebacks import hide_frames
from headrace._src.op.definition import Op
from headrace._src.op.loading import ROOT, load_indexed

_accounts = LazyModule("headrace._src.core.accounts")  # for errors

Function = TypeVar("Function", bound=Callable)


class Dispatcher:
    """Handles calls of one function for some types of arguments: returns the result or NOT_SUPPORTED."""

    NOT_SUPPORTED = object()

    def handle(self, args, kwargs):
        return self.NOT_SUPPORTED


# Handlers for any function, each `(function, args, kwargs) -> result or NOT_SUPPORTED`: those of headrace's own types
# (`dispatch_for_all`), and after them those of other packages.
own_dispatchers: list = []
global_dispatchers: list = []

# Type to name of a public function, or "" for any, to the modules that teach it. `scripts/exports` reads it.
TAUGHT: dict[type, dict[str, set[str]]] = {}


def dispatchable(function: Function) -> Function:
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
        except (TypeError, ValueError, AttributeError) as caught:
            error = caught
        except (errors.OpError, LookupError, ArithmeticError, RuntimeError, AssertionError) as caught:
            try:
                raise _accounts.tell(caught, wrapper, signature_of(wrapper), args, kwargs)
            except BaseException as told:
                hide_frames(told)
                raise
        except MemoryError as caught:
            error = errors.resource_exhausted(f"out of memory: {caught}")
            raise _accounts.tell(error, wrapper, signature_of(wrapper), args, kwargs) from None
        except BaseException as caught:
            hide_frames(caught)
            raise
        try:
            # Outside the except block, so that what this raises does not drag the first error along.
            result = _fallback(wrapper, args, kwargs)
            if result is not Dispatcher.NOT_SUPPORTED:
                return result
            if errors.is_out_of_memory(error):
                error = errors.resource_exhausted(f"out of memory: {error}")
        except Exception as caught:
            error = caught
        try:
            raise _accounts.tell(error, wrapper, signature_of(wrapper), args, kwargs)
        except BaseException as told:
            hide_frames(told)
            raise
        finally:
            del error  # it refers to this frame

    wrapper._dispatch_typed = typed
    wrapper._dispatch_fallbacks = fallbacks
    wrapper._dispatch_signature = None
    wrapper._operands = Operands()
    return wrapper


class Operands(NamedTuple):
    """How a function treats its first arguments, as `api` was told; see there for the attributes."""

    of: Op | None = None
    elementwise: int = 0
    asserts: bool = False
    ragged: int | None = None
    sparse: bool = False

    @property
    def count(self) -> int:
        """How many of the first arguments are tensors that are treated element by element."""
        return self.elementwise if self.of is None else self.of.elementwise_inputs

    @property
    def ragged_count(self) -> int:
        """How many of them may be ragged."""
        return self.count if self.ragged is None else self.ragged

    @property
    def kind(self) -> str | None:
        """Which functions of `tf.experimental.dispatch_for_*_elementwise_*` have it: "unary", "binary", "assertion"."""
        if self.asserts:
            return "assertion"
        return (None, "unary", "binary")[self.count]


def _first(typed, args, kwargs):
    for test, target in typed:
        if test(args, kwargs):
            return target(*args, **kwargs)
    return Dispatcher.NOT_SUPPORTED


def _fallback(wrapper, args, kwargs):
    tables = [index.TEACHERS[key] for key in index.TEACHERS if _is_among(key, args, kwargs)]
    name = getattr(wrapper, "_public_name", None)
    wanted = {module for table in tables for module in (*table.get("", ()), *table.get(name, ()))}
    result = _ask(wrapper, args, kwargs, wanted)
    if result is Dispatcher.NOT_SUPPORTED and tables:
        # The index may be stale: ask again with all that is known of these types.
        others = {module for table in tables for modules in table.values() for module in modules}
        if any(ROOT + module not in sys.modules for module in others):
            result = _ask(wrapper, args, kwargs, others)
    return result


def _is_among(key, args, kwargs):
    """Whether the type of that name, `module:class`, is in use, and some argument is or has one."""
    place, _, name = key.partition(":")
    module = sys.modules.get(ROOT + place)
    return module is not None and any(_holds(value, getattr(module, name)) for value in (*args, *kwargs.values()))


def _ask(wrapper, args, kwargs, teachers):
    """Import the teachers, then ask all handlers."""
    for module in sorted(teachers):
        load_indexed(module)
    for dispatcher in wrapper._dispatch_fallbacks:
        result = dispatcher.handle(args, kwargs)
        if result is not Dispatcher.NOT_SUPPORTED:
            return result
    for handler in (*own_dispatchers, *global_dispatchers):
        result = handler(wrapper, args, kwargs)
        if result is not Dispatcher.NOT_SUPPORTED:
            return result
    return Dispatcher.NOT_SUPPORTED


def signature_of(api) -> inspect.Signature:
    """The signature of a dispatchable function, computed once."""
    if api._dispatch_signature is None:
        api._dispatch_signature = inspect.signature(api.__wrapped__)
    return api._dispatch_signature


class _Handled(threading.local):
    """The calls that dispatchers are about to handle in this thread: the function's and the arguments' identities."""

    def __init__(self):
        self.calls = set()


_handled = _Handled()


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
                if not any(_holds(value, types) for value in (*args, *kwargs.values())):
                    return self.NOT_SUPPORTED
                call = (id(api), *map(id, args), *map(id, kwargs.values()))
                if call in _handled.calls:  # the target could not help it, and called the function again
                    return self.NOT_SUPPORTED
                _handled.calls.add(call)
                try:
                    return target(*args, **kwargs)
                finally:
                    _handled.calls.discard(call)

        api._dispatch_fallbacks.append(TypeDispatcher())
        _note(api._public_name, target, types)
        return target

    return decorate


def dispatch_for_all(*types):
    """Decorator: ask the function, `(api, args, kwargs) -> result or NOT_SUPPORTED`, about calls of any `api`.

    Args:
        types: it is needed only where some argument is of one of these.
    """

    def decorate(handler):
        own_dispatchers.append(handler)
        _note("", handler, types)
        return handler

    return decorate


def _note(name, teacher, types):
    for kind in types:
        TAUGHT.setdefault(kind, {}).setdefault(name, set()).add(teacher.__module__.removeprefix(ROOT))


def _holds(value, types):
    if isinstance(value, types):
        return True
    return isinstance(value, (list, tuple)) and any(isinstance(item, types) for item in value)
