"""`tensorflow.python.framework.test_util`: decorators of tests that say where they run.

Tests run eagerly on one CPU, without XLA as a device, cuDNN or sanitizers: most of these change nothing, and those that
ask for another device skip their test.
"""

import contextlib
import functools
import inspect
import unittest
from collections.abc import Callable, Iterator
from typing import Any

from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.graph import Graph
from headrace._src.graph.control.python_functions import py_function
from headrace._src.tracing.function import function, functions_run_eagerly, run_functions_eagerly


def _each_test(target, decorate):
    """A decorator of tests, of one or of all in a class."""
    if not inspect.isclass(target):
        return decorate(target)
    for name, method in list(vars(target).items()):
        if name.startswith(unittest.TestLoader.testMethodPrefix) and callable(method):
            setattr(target, name, decorate(method))
    return target


def unchanged(func: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Decorator, with arguments or without: the test stays as it is."""
    return func if callable(func) else lambda target: target


def _skipping(why: str) -> Callable[[Any], Any]:
    def decorator(func):
        return _each_test(func, lambda method: functools.wraps(method)(lambda self, *a, **k: self.skipTest(why)))

    return decorator


def _skipping_with_arguments(why: str) -> Callable[[Any], Any]:
    """As `_skipping`, for a decorator that is also called with a text: `@disable_xla("why")`."""

    def decorator(func=None, *args, **kwargs):
        return _skipping(why)(func) if callable(func) else _skipping(why)

    return decorator


run_v1_only = _skipping_with_arguments("It is for TensorFlow 1.")
run_gpu_only = _skipping("It needs a GPU.")
run_cuda_only = _skipping("It needs a GPU.")


def _in_graph(method):
    @functools.wraps(method)
    def test(self, *args, **kwargs):
        with Graph().as_default():
            return method(self, *args, **kwargs)

    return test


def deprecated_graph_mode_only(func: Any = None) -> Any:
    """Decorator: the test runs in a graph of TensorFlow 1."""
    return deprecated_graph_mode_only if func is None else _each_test(func, _in_graph)


def run_in_graph_and_eager_modes(func: Any = None, **options: Any) -> Any:
    """Decorator: the test runs in a graph, with a session, and then eagerly.

    Args:
        func: the test.
        options: `config` and others, which sessions need not.
    """

    def decorate(method):
        if not callable(method):
            raise TypeError(f"`func` must be a test, got {method!r}.")

        @functools.wraps(method)
        def test(self, *args, **kwargs):
            with Graph().as_default(), self.test_session():
                method(self, *args, **kwargs)
            self.tearDown()
            self.setUp()
            method(self, *args, **kwargs)

        return test

    return decorate if func is None else _each_test(func, decorate)


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Decorator of a class: the same for all its tests."""
    return run_in_graph_and_eager_modes(cls)


@contextlib.contextmanager
def here() -> Iterator[Any]:
    """A block on the device that there is: `with use_gpu():`."""
    yield


def never() -> bool:
    """What asks for something that this build does not have."""
    return False


run_gpu_or_tpu = run_gpu_only


def for_all_test_methods(decorator: Any, *args: Any, **kwargs: Any) -> Any:
    """Decorator of a class: another decorator, made with these arguments, is put on each of its tests."""
    return lambda cls: _each_test(cls, decorator(*args, **kwargs))


def also_run_as_tf_function(f: Any) -> Any:
    """Decorator: a test, or a part of one, runs eagerly and then as a `tf.function`."""

    @functools.wraps(f)
    def both(*args, **kwargs):
        f(*args, **kwargs)
        function(f, autograph=False)(*args, **kwargs)

    return both


@contextlib.contextmanager
def functions_eagerly(run_eagerly: bool) -> Iterator[None]:
    """A block in which `tf.function`s run eagerly, or do not."""
    before = functions_run_eagerly()
    run_functions_eagerly(run_eagerly)
    try:
        yield
    finally:
        run_functions_eagerly(before)


def build_as_function_and_v1_graph(func: Any = None) -> Any:
    """Decorator: the test runs while the graph of a function is built, and while one of TensorFlow 1 is."""
    if inspect.isclass(func):
        raise ValueError("`build_as_function_and_v1_graph` only supports test methods.")

    @functools.wraps(func)
    def test(self, *args, **kwargs):
        with Graph().as_default():
            func(self, *args, **kwargs)

        def as_function():
            func(self, *args, **kwargs)

        function(as_function, autograph=False).get_concrete_function()

    return test


def run_in_v1_v2(device_to_use: Any = None, assert_no_eager_garbage: bool = False) -> Any:
    """Decorator: the test runs in a graph of TensorFlow 1, and then eagerly."""
    return run_in_graph_and_eager_modes


def run_class_in_v1_v2(cls: type) -> type:
    """Decorator of a class: the same for all its tests."""
    return run_in_graph_and_eager_modes(cls)


def skip_if(condition: Any) -> Any:
    """Decorator: the test is skipped if a condition holds, which may be a function without arguments."""

    def decorate(method):
        @functools.wraps(method)
        def test(self, *args, **kwargs):
            if condition() if callable(condition) else condition:
                self.skipTest("A condition to skip it holds.")
            return method(self, *args, **kwargs)

        return test

    return lambda target: _each_test(target, decorate)


@contextlib.contextmanager
def skip_if_error(test_obj: Any, error_type: type[Exception], messages: Any = None) -> Iterator[None]:
    """A block that skips the test where an error comes up, if its text has one of the messages."""
    try:
        yield
    except error_type as error:
        wanted = [messages] if isinstance(messages, str) else list(messages or ())
        if wanted and not any(text in str(error) for text in wanted):
            raise
        test_obj.skipTest(f"Skipping error: {type(error).__name__}: {error}")


def py_func_if_in_function(f: Any) -> Any:
    """Decorator: what is called while the graph of a function is built runs when the function does."""

    @functools.wraps(f)
    def called(*args, **kwargs):
        if not getattr(context.graph, "building_function", False):
            return f(*args, **kwargs)
        values = [*args, *kwargs.values()]
        tensors = [value for value in values if isinstance(value, Tensor)]

        def call(*arrays):
            given = iter(arrays)
            filled = [next(given) if isinstance(value, Tensor) else value for value in values]
            f(*filled[: len(args)], **dict(zip(kwargs, filled[len(args) :])))

        return py_function(call, tensors, [])

    return called
