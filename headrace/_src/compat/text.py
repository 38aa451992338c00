"""`tf.compat`: strings and bytes, kinds of numbers, and dates of compatibility."""

import contextlib
import datetime
import numbers
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.op.api import api, export

integral_types = export("compat.integral_types")((numbers.Integral, np.integer))
real_types = export("compat.real_types")((numbers.Real, np.integer, np.floating))
complex_types = export("compat.complex_types")((numbers.Complex, np.number))
bytes_or_text_types = export("compat.bytes_or_text_types")((bytes, str))


@api("compat.as_bytes", dispatch=False)
def as_bytes(bytes_or_text, encoding="utf-8") -> bytes:
    """Text, bytes or a bytearray as bytes.

    >>> tf.compat.as_bytes("é")
    b'\\xc3\\xa9'
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@api("compat.as_text", dispatch=False)
def as_text(bytes_or_text, encoding="utf-8") -> str:
    """Text or bytes as text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@api("compat.as_str", dispatch=False)
def as_str(bytes_or_text, encoding="utf-8") -> str:
    """The same as `as_text`."""
    return as_text(bytes_or_text, encoding)


@api("compat.as_str_any", dispatch=False)
def as_str_any(value, encoding="utf-8") -> str:
    """Anything as text: bytes are decoded."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


@api("compat.path_to_str", dispatch=False)
def path_to_str(path) -> Any:
    """A path-like object as text; anything else as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


class _Horizon:
    """The day up to which graphs must run in older releases, as seen by `forward_compatible`."""

    shift = 0


# Graphs made here run in the TensorFlow releases that know these ops.
_RELEASE = datetime.date(2025, 8, 20)


@api("compat.forward_compatible", dispatch=False)
def forward_compatible(year, month, day) -> bool:
    """Whether something that came on that day may be relied on."""
    return _RELEASE + datetime.timedelta(days=_Horizon.shift) > datetime.date(year, month, day)


@api("compat.forward_compatibility_horizon", dispatch=False)
@contextlib.contextmanager
def forward_compatibility_horizon(year, month, day) -> Iterator[None]:
    """Within this block, `forward_compatible` is asked on that day."""
    before = _Horizon.shift
    _Horizon.shift = (datetime.date(year, month, day) - _RELEASE).days
    try:
        yield
    finally:
        _Horizon.shift = before
