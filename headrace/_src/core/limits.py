"""How much a few bytes may become when they are decoded.

A file of one megabyte can say that it is an image of four gigabytes, and compressed data can be a thousand times larger
than they look. What an input may become is bounded here, for all readers: what it takes in memory is known, or found
out step by step, before it is taken. The defaults are beyond what ordinary programs read; who knows better raises them.
"""

from __future__ import annotations

import os
import warnings

from headrace._src.core import errors

VARIABLE = "HEADRACE_INPUT_LIMITS"
# What each limit is of.
MEANINGS = {
    "image_bytes": "the pixels of one decoded image, all its frames together",
    "decompressed_bytes": "what is decompressed as one: a string, a record, a line, a block",
    "tensor_bytes": "a tensor whose message is smaller than itself, since one value stands for many",
}
_DEFAULT = 1 << 29


class _Limits:
    """The limits in bytes, as attributes: one is read for each image or record."""

    __slots__ = tuple(MEANINGS)

    image_bytes: int
    decompressed_bytes: int
    tensor_bytes: int


current = _Limits()


def set_limit(name: str, value: int | None) -> None:
    """Set one of the limits; None for its default.

    Raises:
        ValueError: there is no limit of that name, or it is no number of bytes.
    """
    if name not in MEANINGS:
        raise ValueError(f"There is no limit {name!r}; there are {', '.join(MEANINGS)}.")
    if value is None:
        value = _DEFAULT
    if isinstance(value, bool) or value != int(value) or value <= 0:
        raise ValueError(f"The limit {name} must be a number of bytes, got {value!r}.")
    setattr(current, name, int(value))


def exceeded(name: str, found: int, what: str) -> str:
    """The text of the error for something that is larger than a limit.

    Args:
        name: of the limit.
        found: how many bytes it takes, or would take at least.
        what: what it is, for the message.
    """
    return (
        f"{what}: this takes {found} bytes, more than the limit of {getattr(current, name)} for {MEANINGS[name]}. If "
        f"it is meant to, raise the limit: tf.config.experimental.set_input_limits({name}={_rounded_up(found)}), or "
        f"{VARIABLE}={name}={_rounded_up(found)} in the environment."
    )


def check(name: str, found: int, what: str) -> None:
    """Refuse something that is larger than a limit.

    Raises:
        ResourceExhaustedError: it is.
    """
    if found > getattr(current, name):
        raise errors.resource_exhausted(exceeded(name, found, what))


def _rounded_up(size):
    return 1 << (max(size, 1) - 1).bit_length()


def read_environment() -> None:
    """Set what the environment says: `name=bytes`, several of them with commas between."""
    for name in MEANINGS:
        set_limit(name, None)
    for part in filter(None, os.environ.get(VARIABLE, "").split(",")):
        name, _, value = part.partition("=")
        try:
            set_limit(name.strip(), float(value))  # type: ignore[arg-type]
        except (ValueError, OverflowError) as error:
            warnings.warn(f"{VARIABLE}: {part!r} is not understood: {error}", stacklevel=2)


read_environment()
