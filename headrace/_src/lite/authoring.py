"""`tf.lite.experimental`: whether a function can be a model, and what LiteRT is told."""

from __future__ import annotations

import enum
import sys
from typing import Any

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.lite.conversion import converted
from headrace._src.op.api import api

_litert = LazyModule("ai_edge_litert.interpreter")


@api("lite.experimental.OpResolverType", dispatch=False)
class OpResolverType(enum.Enum):
    """Which implementations of operators an interpreter takes: all and a fast delegate, simple ones, or no delegate."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


def resolver_of_litert(kind: Any) -> Any:
    """LiteRT's own value for one of `OpResolverType`; what is LiteRT's already stays."""
    return getattr(_litert.OpResolverType, kind.name) if isinstance(kind, OpResolverType) else kind


@api("lite.experimental.load_delegate", dispatch=False)
def load_delegate(library, options=None) -> Any:
    """A delegate of LiteRT from a shared library, for `tf.lite.Interpreter(experimental_delegates=[...])`.

    Args:
        library: the path of the library.
        options: by name, what it is told.

    >>> tf.lite.experimental.load_delegate("nowhere.so")  # doctest: +SKIP
    Traceback (most recent call last):
    ...
    OSError: nowhere.so: cannot open shared object file: No such file or directory
    """
    return _litert.load_delegate(library, options)


class CompatibleFunction:
    """A function that says, when it is first called with arguments of a kind, whether TensorFlow Lite could run it."""

    def __init__(self, function: Any, raises: bool):
        self._function = function
        self._raises = raises
        self._log: list[str] = []
        self._checked: set = set()

    def __call__(self, *args, **kwargs) -> Any:
        self.get_concrete_function(*args, **kwargs)
        return self._function(*args, **kwargs)

    def get_concrete_function(self, *args, **kwargs) -> Any:
        """The function for arguments, after it was checked."""
        concrete = self._function.get_concrete_function(*args, **kwargs)
        if concrete.name not in self._checked:
            self._checked.add(concrete.name)
            try:
                converted({"serving_default": concrete})
            except errors.InvalidArgumentError as error:
                if self._raises:
                    raise
                self._log.append(error.message)
                sys.stderr.write(f"lite.experimental.authoring: {error.message}\n")
        return concrete

    def get_compatibility_log(self) -> list[str]:
        """What was said so far."""
        return list(self._log)


@api("lite.experimental.authoring.compatible", dispatch=False)
def compatible(target=None, converter_target_spec=None, **kwargs) -> Any:
    """A decorator of `tf.function`s that says what TensorFlow Lite could not run.

    Args:
        target: the function.
        converter_target_spec: accepted; only operators of TensorFlow Lite itself are ever written.
        kwargs: `raise_exception=True` raises an error instead of printing it.

    >>> @tf.lite.experimental.authoring.compatible
    ... @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ... def f(x):
    ...     return tf.cos(x)
    >>> f(tf.constant([0.0])).numpy().tolist(), f.get_compatibility_log()
    ([1.0], [])
    """

    def decorated(function):
        return CompatibleFunction(function, bool(kwargs.get("raise_exception")))

    return decorated if target is None else decorated(target)
