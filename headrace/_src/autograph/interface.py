"""The public functions of `tf.autograph`: `to_graph`, `to_code`, `trace`, `set_verbosity`, `Feature`."""

from __future__ import annotations

import enum
import functools
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

from headrace._src.autograph import printed_code, status
from headrace._src.autograph.calls import call_of, convert, with_status
from headrace._src.autograph.conversion import ConversionError, conversion_listeners, conversion_of, refusal
from headrace._src.op.api import api, export


@export("autograph.experimental.Feature")
class Feature(enum.Enum):
    """Optional features of TensorFlow's conversion; here nothing is optional.

    Tensors are compared and asserted, and effects kept in order, whether asked for or not. LISTS (which TensorFlow
    2.21 cannot run), NAME_SCOPES, and of BUILTIN_FUNCTIONS the overload of `print`, do not exist: asking for one of
    them gives a warning. Use `tf.TensorArray` and `tf.print`.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All features that are on when everything is asked for."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude) -> tuple[Feature, ...]:
        """All features except some."""
        excluded = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(f for f in cls.all() if f not in excluded and f is not cls.ALL)


def _check_features(features):
    for feature in features if isinstance(features, (list, tuple, set)) else (features,):
        if feature is not None and not isinstance(feature, Feature):
            raise TypeError(
                f"experimental_optional_features must be tf.autograph.experimental.Feature values, got {feature!r}."
            )
        if feature in (Feature.LISTS, Feature.NAME_SCOPES, Feature.BUILTIN_FUNCTIONS):
            warnings.warn(f"AutoGraph: {feature} changes nothing here; see tf.autograph.experimental.Feature.")


def _function_of(entity):
    """The plain function behind a function, method or object with `__call__`."""
    while isinstance(entity, (functools.partial, types.MethodType, staticmethod, classmethod)):
        entity = entity.func if isinstance(entity, functools.partial) else entity.__func__
    if type(entity) is not types.FunctionType:
        entity = call_of(entity)
    return entity if type(entity) is types.FunctionType else None


def _plain_function(entity):
    function = None if hasattr(entity, "python_function") else _function_of(entity)
    if function is None:
        raise refusal(
            entity,
            "it is no function with Python code. If it is a tf.function, pass f.python_function",
        )
    return function


@api("autograph.to_graph", dispatch=False)
def to_graph(entity, recursive=True, experimental_optional_features=None) -> Callable[..., Any]:
    """A function like `entity` whose `if`, `for` and `while` also work on symbolic tensors.

    Args:
        entity: A function or method.
        recursive: Whether functions that it calls are converted.
        experimental_optional_features: Values of `tf.autograph.experimental.Feature`, or None.

    >>> def f(x):
    ...     return x * x if x > 0 else -x
    >>> tf.autograph.to_graph(f)(3)
    9

    Raises:
        ValueError: It cannot be converted; the message says why.
    """
    _check_features(experimental_optional_features)
    function = _plain_function(entity)
    conversion = conversion_of(function, recursive)
    if isinstance(conversion, ConversionError):
        raise conversion
    return with_status(convert(entity, recursive), status.ENABLED)


@api("autograph.to_code", dispatch=False)
def to_code(entity, recursive=True, experimental_optional_features=None) -> str:
    """The source of the function that `to_graph` makes, with functions that get and set the variables of its blocks.

    Args:
        entity: A function or method.
        recursive: Whether functions that it calls are converted.
        experimental_optional_features: Values of `tf.autograph.experimental.Feature`, or None.

    >>> def f(x):
    ...     return -x if x < 0 else x
    >>> print(tf.autograph.to_code(f))
    def tf__f(x):
        return ag__.if_exp(x < 0, lambda: -x, lambda: x, 'x < 0')

    Raises:
        ValueError: It cannot be converted; the message says why.
    """
    _check_features(experimental_optional_features)
    conversion = conversion_of(_plain_function(entity), recursive)
    if isinstance(conversion, ConversionError):
        raise conversion
    return printed_code.text_of(conversion.node, conversion.operators)


@api("compat.v1.autograph.to_graph", dispatch=False)
def to_graph_of_types(
    entity, recursive=True, arg_values=None, arg_types=None, experimental_optional_features=None
) -> Callable[..., Any]:
    """As `tf.autograph.to_graph`. What is staged is found out when the function runs, so types are not asked for.

    Args:
        entity: A function or method.
        recursive: Whether functions that it calls are converted.
        arg_values, arg_types: Accepted. TF: not used there either.
        experimental_optional_features: Values of `tf.autograph.experimental.Feature`, or None.
    """
    return to_graph(entity, recursive, experimental_optional_features)


@api("compat.v1.autograph.to_code", dispatch=False)
def to_code_of_types(
    entity, recursive=True, arg_values=None, arg_types=None, indentation="  ", experimental_optional_features=None
) -> str:
    """As `tf.autograph.to_code`.

    Args:
        entity: A function or method.
        recursive: Whether functions that it calls are converted.
        arg_values, arg_types, indentation: Accepted. TF: not used there either.
        experimental_optional_features: Values of `tf.autograph.experimental.Feature`, or None.
    """
    return to_code(entity, recursive, experimental_optional_features)


@api("autograph.trace", dispatch=False)
def trace(*args) -> None:
    """Print the arguments while the function is traced.

    >>> tf.autograph.trace("x is", 3)
    x is 3
    """
    print(*args)  # noqa: T201  that is what it is for


_verbosity = 0
_to_stdout = False


@api("autograph.set_verbosity", dispatch=False)
def set_verbosity(level, alsologtostdout=False) -> None:
    """How much is said about conversion on stderr: from 1 on, which functions are converted.

    Args:
        level: 0 says nothing but warnings.
        alsologtostdout: Whether to say it on stdout too.
    """
    global _verbosity, _to_stdout
    _verbosity, _to_stdout = level, alsologtostdout
    conversion_listeners.clear()
    if level > 0:
        conversion_listeners.append(_report)


def _report(function, conversion):
    what = "runs as it is" if isinstance(conversion, ConversionError) else "is converted"
    code = function.__code__
    text = f"AutoGraph: {function.__qualname__} ({code.co_filename}:{code.co_firstlineno}) {what}\n"
    if _verbosity >= 3 and not isinstance(conversion, ConversionError):
        text += printed_code.text_of(conversion.node, conversion.operators)
    sys.stderr.write(text)
    if _to_stdout:
        sys.stdout.write(text)
