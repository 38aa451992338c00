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

from headrace._src.graph.building.graph import Graph


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
