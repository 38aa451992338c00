"""Switches of `tf.experimental` that programs set: some have nothing left to switch here, and say so."""

import contextlib
import warnings
from collections.abc import Iterator

from headrace._src.op.api import api


@api("experimental.async_scope", dispatch=False)
@contextlib.contextmanager
def async_scope() -> Iterator[None]:
    """A block in which ops may run asynchronously. Here every op has run when its call returns."""
    yield


@api("experimental.async_clear_error", dispatch=False)
def async_clear_error() -> None:
    """Forget errors of asynchronous ops: there are none, since errors are raised where they happen."""


@api("experimental.enable_strict_mode", dispatch=False)
def enable_strict_mode() -> None:
    """Turn deprecation warnings of this library into errors, for this process."""
    warnings.filterwarnings("error", category=DeprecationWarning, module=r"headrace(\.|$)")


@api("experimental.function_executor_type", dispatch=False)
@contextlib.contextmanager
def function_executor_type(executor_type) -> Iterator[None]:
    """A block that asks for an executor of functions, by name; there is one, so the name is only checked.

    Raises:
        TypeError: when it is neither a string nor None.
    """
    if executor_type is not None and not isinstance(executor_type, str):
        raise TypeError(f"experimental.function_executor_type: executor_type must be a string, got {executor_type!r}.")
    yield
