"""Switches of `tf.experimental` that programs set: some have nothing left to switch here, and say so."""

import contextlib
import warnings
from collections.abc import Iterator

from headrace._src.core import limits
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


@api("config.experimental.set_input_limits", dispatch=False)
def set_input_limits(image_bytes=None, decompressed_bytes=None, tensor_bytes=None) -> None:
    """How large what is decoded may become: a few bytes can stand for gigabytes, and may come from anybody.

    What would be larger is refused before it takes memory: images with InvalidArgumentError, others with
    ResourceExhaustedError. The environment variable `HEADRACE_INPUT_LIMITS` sets them from the start of a program, as
    `image_bytes=4e9,tensor_bytes=4e9`.

    Args:
        image_bytes: of the pixels of an image, all frames together (of four bytes each, as decoders work on them).
        decompressed_bytes: of what is decompressed as one: a string, a record or line of a compressed file.
        tensor_bytes: of a tensor in a message that is smaller than itself, since one value stands for many.
            Each is 2**29 (536 MB) at first; None leaves it as it is.

    >>> before = tf.config.experimental.get_input_limits()
    >>> tf.config.experimental.set_input_limits(decompressed_bytes=10)
    >>> tf.io.decode_compressed(b"x\\x9cKL\\xa4=\\x00\\x00zG%\\xe5", "ZLIB")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    headrace...ResourceExhaustedError: ... more than the limit of 10 for what is decompressed as one...
    >>> tf.config.experimental.set_input_limits(**before)
    """
    given = dict(image_bytes=image_bytes, decompressed_bytes=decompressed_bytes, tensor_bytes=tensor_bytes)
    for name, value in given.items():
        if value is not None:
            limits.set_limit(name, value)


@api("config.experimental.get_input_limits", dispatch=False)
def get_input_limits() -> dict[str, int]:
    """The limits that `set_input_limits` sets, in bytes.

    >>> sorted(tf.config.experimental.get_input_limits())
    ['decompressed_bytes', 'image_bytes', 'tensor_bytes']
    """
    return {name: getattr(limits.current, name) for name in limits.MEANINGS}
