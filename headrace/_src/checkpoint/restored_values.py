"""Values on their way from a file to objects: all are checked and read before the first one is changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from headrace._src.checkpoint.object_values import VARIABLE_VALUE, Restorer, WantedValue
from headrace._src.checkpoint.ops import RESTORE_V2
from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import EagerTensor

# Of more bytes, each value is verified first, then all are read again, one by one, so that no second copy of a model is
# in memory. Of fewer, a second copy is faster.
_MOST_AT_ONCE = 256 << 20


class Restored(NamedTuple):
    """An object that gets values back.

    Attributes:
        obj: the object.
        node: its number, by which its name is found for errors.
        restorer: how it takes values.
    """

    obj: Any
    node: int
    restorer: Restorer


Names = Callable[[int], str]  # of nodes


def restore_eagerly(reader: Any, restored: list[Restored], name_of: Names) -> None:
    """Gives objects their values from a file, or changes none.

    Args:
        reader: of the file.
        restored: the objects.
        name_of: what to call an object in errors, by its node.

    Raises:
        NotFoundError: a value is not in the file.
        InvalidArgumentError: one is of another dtype.
        ValueError: one is of another shape.
        DataLossError: the file is damaged.
    """
    check(reader, restored, name_of)
    # Variables come last: they take whatever has been checked, while a table, say, may still refuse.
    ordered = sorted(restored, key=_is_variable)
    keys = [value.key for item in ordered for value in item.restorer.wanted]
    arrays: Iterator[Any]
    if sum(_size(reader.entries[key]) for key in keys) > _MOST_AT_ONCE:
        for key in keys:
            reader.verify(key)
        arrays = map(reader.read, keys)
    else:
        arrays = iter(reader.read_many(keys))
    for item in ordered:
        tensors = [EagerTensor(next(arrays), value.spec.dtype) for value in item.restorer.wanted]
        try:
            item.restorer.take(tensors)
        except errors.OpError as error:
            stored = ", ".join(value.key for value in item.restorer.wanted)
            text = f"{reader.prefix}: {name_of(item.node)} does not take what is stored as {stored}: {error.message}"
            raise errors.from_code(error.error_code, text) from error


def _size(entry):
    return math.prod(entry.shape) * entry.dtype._np.itemsize


def _is_variable(item):
    wanted = item.restorer.wanted
    return len(wanted) == 1 and wanted[0].name == VARIABLE_VALUE


def check(reader: Any, restored: list[Restored], name_of: Names) -> None:
    """Refuses values that a file does not have, or has of another dtype or shape, naming both sides and the object."""
    pairs = [(item, value) for item in restored for value in item.restorer.wanted]
    for item, value in pairs:
        if not value.key or value.key not in reader:
            raise errors.not_found(
                f"Key {value.key or value.name} not found in checkpoint {reader.prefix}: it should be the value "
                f"{value.name} of {name_of(item.node)}."
            )
    entries = [reader.entries[value.key] for _, value in pairs]
    wrong = [
        _wrong_dtype(name_of(item.node), item.obj, value, entry)
        for (item, value), entry in zip(pairs, entries)
        if entry.dtype is not value.spec.dtype and not _has_dtype(entry, value)
    ]
    if wrong:
        raise errors.invalid_argument(_all_of(wrong, reader))
    wrong = [
        _wrong_shape(name_of(item.node), item.obj, value, entry)
        for (item, value), entry in zip(pairs, entries)
        if value.spec.shape is not None and not value.spec.shape.is_compatible_with(entry.shape)
    ]
    if wrong:
        raise ValueError(_all_of(wrong, reader))


def _has_dtype(entry, value: WantedValue):
    dtype = dtypes.as_dtype(value.spec.dtype)
    return entry.dtype is dtype or (dtype._kind == "q" and entry.dtype is dtypes.FROM_NUMPY[dtype._np])


def _all_of(lines, reader):
    more = f"\n... and {len(lines) - 5} more." if len(lines) > 5 else ""
    return "\n".join(lines[:5]) + f"{more}\nNothing was restored from checkpoint {reader.prefix}."


def _wrong_dtype(name, obj, value, entry):
    return (
        f"tensor_name = {value.key}; expected dtype {dtypes.as_dtype(value.spec.dtype).name} does not equal original "
        f"dtype {entry.dtype.name}: {name}{_named(obj)}."
    )


def _wrong_shape(name, obj, value, entry):
    return (
        f"Received incompatible tensor with shape {tuple(entry.shape)} when attempting to restore variable with shape "
        f"{value.spec.shape}: {name}{_named(obj)}, stored as {value.key}."
    )


def _named(obj):
    name = getattr(obj, "path", None) or getattr(obj, "name", None)  # of a Keras variable: its layer is in the path
    return f" with the name {name}" if isinstance(name, str) else ""


def restore_in_graph(prefix: Any, reader: Any, item: Restored) -> list[Any]:
    """Operations that give an object its values when they run.

    Args:
        prefix: a string tensor, the checkpoint to restore from.
        reader: of the checkpoint that is there now, which the object has been checked against.
        item: the object.
    """
    wanted = item.restorer.wanted
    if not wanted:
        return []
    tensors = RESTORE_V2(
        prefix,
        [value.key for value in wanted],
        [""] * len(wanted),
        dtypes=[dtypes.as_dtype(value.spec.dtype) for value in wanted],
    )
    for tensor, value in zip(tensors, wanted):
        if value.spec.shape is not None:
            tensor.set_shape(reader.entries[value.key].shape)
    return _operations(item.restorer.take(list(tensors)))


def _operations(results):
    """The operations among what objects return when they take values."""
    if results is None:
        return []
    if isinstance(results, dict):
        results = list(results.values())
    if isinstance(results, (list, tuple)):
        return [operation for result in results for operation in _operations(result)]
    return [results]
