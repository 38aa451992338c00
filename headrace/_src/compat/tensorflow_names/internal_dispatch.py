"""`tf.__internal__.dispatch`: other packages' types in headrace's functions, and in functions of theirs."""

import inspect
from typing import Any

from headrace._src.op.api import api
from headrace._src.op.dispatch import Dispatcher, dispatchable, global_dispatchers


@api("__internal__.dispatch.OpDispatcher", dispatch=False)
class OpDispatcher(Dispatcher):
    """Handles calls of one function that cannot deal with its arguments itself."""

    def handle(self, args, kwargs) -> Any:
        """The result, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self, op) -> None:
        """From now on, it is asked about calls of this function.

        Raises:
            AssertionError: no dispatcher can be asked about this function.
        """
        if inspect.ismethod(op) and isinstance(op.__self__, type):
            op = _dispatchable_class_method(op)
        if not hasattr(op, "_dispatch_fallbacks"):
            raise AssertionError(f"Dispatching not enabled for {op}")
        op._dispatch_fallbacks.append(self)


def _dispatchable_class_method(method):
    """The function of a class method (`tf.RaggedTensor.from_row_splits`), which from now on asks dispatchers."""
    function = method.__func__
    if not hasattr(function, "_dispatch_fallbacks"):
        function = dispatchable(function)
        function._public_name = method.__func__._public_name
        setattr(method.__self__, method.__name__, classmethod(function))
    return function


@api("__internal__.dispatch.GlobalOpDispatcher", dispatch=False)
class GlobalOpDispatcher:
    """Handles calls of any function that cannot deal with its arguments itself."""

    NOT_SUPPORTED = Dispatcher.NOT_SUPPORTED

    def handle(self, op, args, kwargs) -> Any:
        """The result, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self) -> None:
        """From now on, it is asked."""
        global_dispatchers.append(self.handle)


@api("__internal__.dispatch.add_dispatch_support", dispatch=False)
def add_dispatch_support(target=None, iterable_parameters=None) -> Any:
    """Decorator: dispatchers are asked about calls of the function that end with a TypeError or ValueError.

    >>> @tf.__internal__.dispatch.add_dispatch_support
    ... def double(x):
    ...     return x * 2
    >>> double(3)
    6
    """
    return dispatchable if target is None else dispatchable(target)


def dispatch_for_types(op: Any, *types: type) -> Any:
    """Decorator: the function handles calls of `op` in which an argument is of one of these types."""

    class _ForTypes(OpDispatcher):
        def __init__(self, function):
            self._function = function

        def handle(self, args, kwargs):
            values = [*args, *kwargs.values()]
            inner = [item for value in values if isinstance(value, (list, tuple)) for item in value]
            if any(isinstance(value, types) for value in [*values, *inner]):
                return self._function(*args, **kwargs)
            return self.NOT_SUPPORTED

    def decorate(function):
        _ForTypes(function).register(op)
        return function

    return decorate


def register_dispatchable_type(cls: type) -> type:
    """Decorator: a type that dispatchers are asked about; all are."""
    return cls
