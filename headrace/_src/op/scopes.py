"""The name scopes of functions that consist of several ops. TensorFlow's functions open them while a graph is built.

With them, the names of a program's own operations do not depend on how headrace writes such a function.
"""

import functools
import inspect
from collections.abc import Callable
from typing import TypeVar

from headrace._src.core.context import context
from headrace._src.core.names import name_scope

Function = TypeVar("Function", bound=Callable)


def scoped(function: Function, around: str | None = None, result: str | None = None) -> Function:
    """The function, within a scope if it has one; see `api`."""
    scope = around or result
    if scope is None:
        return function
    parameters = list(inspect.signature(function).parameters)
    position = parameters.index("name") if "name" in parameters else len(parameters)

    @functools.wraps(function)
    def run(*args, **kwargs):
        if context.graph is None or len(args) > position:
            return function(*args, **kwargs)
        wish = kwargs.get("name")
        with name_scope(scope if wish is None else wish) as full:
            if position < len(parameters):
                kwargs["name"] = full if result or wish is not None else None
            return function(*args, **kwargs)

    return run
