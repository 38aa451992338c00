"""Ragged tensors as NumPy arrays, Python lists and text."""

import numpy as np


def numpy_rows(ragged) -> np.ndarray:
    """An array with one element for each row; of plain numbers where all rows have one length."""
    values = ragged.values
    inner = numpy_rows(values) if hasattr(values, "row_splits") else values.numpy()
    splits = ragged.row_splits._a
    lengths = np.diff(splits)
    if not lengths.size:
        return np.zeros((0, 0, *inner.shape[1:]), inner.dtype)
    if (lengths == lengths[0]).all():
        return inner[splits[0] : splits[-1]].reshape(lengths.size, lengths[0], *inner.shape[1:])
    result = np.empty(lengths.size, object)
    result[:] = [inner[start:end] for start, end in zip(splits[:-1].tolist(), splits[1:].tolist())]
    return result


def nested_list(ragged) -> list:
    """Nested Python lists."""
    values = ragged.values
    inner = nested_list(values) if hasattr(values, "row_splits") else values._a.tolist()
    splits = ragged.row_splits._a.tolist()
    return [inner[start:end] for start, end in zip(splits[:-1], splits[1:])]


def ragged_text(array) -> str:
    """The text of what `numpy_rows` returns, in TensorFlow's format."""
    # NumPy calls the formatter for every element, and an element may be a row again.
    with np.printoptions(formatter={"all": _element_text}):
        return _element_text(array)


def _element_text(value):
    if isinstance(value, np.ndarray):
        return np.array2string(value, separator=", ") if value.size else repr(value.tolist())
    if isinstance(value, np.generic):
        return str(value)
    return repr(value)
