"""Tensors as `tf.print` and `tf.strings.format` write them: `[[1 2 3 ... 8 9 10]]`."""

import math

import numpy as np

_ESCAPES = {
    byte: f"\\{byte:03o}".encode() if byte < 0x20 or byte == 0x7F else bytes([byte]) for byte in range(256)
}
_ESCAPES |= {ord("\n"): b"\\n", ord("\r"): b"\\r", ord("\t"): b"\\t"}
_ESCAPES |= {ord("\\"): b"\\\\", ord('"'): b'\\"', ord("'"): b"\\'"}
_NEEDS_ESCAPE = bytes(byte for byte in range(256) if len(_ESCAPES[byte]) > 1)


def _quoted(item: bytes) -> bytes:
    if item.translate(None, _NEEDS_ESCAPE) != item:
        item = b"".join(_ESCAPES[byte] for byte in item)
    return b'"' + item + b'"'


def float_text(number, single: bool) -> str:
    """The shorter of two precisions that reads back as the same number."""
    if math.isnan(number):
        return "nan"
    if single:
        short = f"{number:.6g}"
        return short if np.float32(short) == np.float32(number) else f"{number:.9g}"
    short = f"{number:.15g}"
    return short if float(short) == number else f"{number:.17g}"


def _element_writer(array):
    kind = array.dtype.kind
    if array.dtype == object:
        return lambda item: _quoted(item) if isinstance(item, bytes) else repr(item).encode()
    if kind == "b":
        return lambda item: b"1" if item else b"0"
    if kind == "c":
        single = array.dtype == np.complex64
        return lambda z: f"({float_text(z.real, single)},{float_text(z.imag, single)})".encode()
    if kind in "iu":
        return lambda item: str(int(item)).encode()
    single = array.dtype != np.float64
    return lambda item: float_text(float(item), single).encode()


def summarize_array(array: np.ndarray, edge_items: int) -> bytes:
    """The text of an array.

    Args:
        array: the value.
        edge_items: how many elements to show at both ends of every axis; all of them when negative.
    """
    write = _element_writer(array)
    if array.ndim == 0:
        return write(array[()])
    limit = array.size if edge_items < 0 else min(edge_items, array.size)

    def between(axis):
        inner = array.ndim - axis - 1
        return b" " if inner == 0 else b"\n" * inner + b" " * (axis + 1)

    def text(part, axis):
        if axis == array.ndim:
            return write(part)
        count = array.shape[axis]
        shown = [text(part[i], axis + 1) for i in range(min(limit, count))]
        if count > 2 * limit:
            shown.append(b"...")
        last = [text(part[i], axis + 1) for i in range(max(limit, count - limit), count)]
        joined = between(axis).join(shown + last)
        # TF: with nothing to show, the space before the dots remains.
        return b"[" + (between(axis) if limit == 0 < count else b"") + joined + b"]"

    return text(array, 0)


def summarize_flat(array: np.ndarray, count: int) -> str:
    """The first `count` elements in one line, or all of them when it is negative; strings without quotes."""
    flat = array.ravel()
    shown = flat if count < 0 else flat[:count]
    write = _element_writer(array)
    texts = [item if isinstance(item, bytes) else write(item) for item in shown]
    dots = "..." if shown.size < flat.size else ""
    return f"[{b' '.join(texts).decode('utf-8', 'backslashreplace')}{dots}]"
