"""Values on their way from a file to objects: all are checked and read before the first one is changed."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from headrace._src.checkpoint.object_values import VARIABLE_VALUE, Restorer, WantedValue
from headrace._src.checkpoint.ops import RESTORE_V2
from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import EagerTensor

# Of more bytes, each value is verified first, then all are read again, one by one, so that no second copy of a model is
# in memory. Of fewer, a second copy is faster.
_MOST_AT_ONCE = 256 << 20


class Restored(NamedTuple):
    """An object that gets values back, what it is called in errors, and how it takes them."""

    obj: Any
    name: str
    restorer: Restorer


def restore_eagerly(reader: Any, restored: list[Restored]) -> None:
    """Gives objects their values from a file, or changes none.

    Args:
        reader: of the file.
        restored: the objects.

    Raises:
        NotFoundError: a value is not in the file.
        InvalidArgumentError: one is of another dtype.
        ValueError: one is of another shape.
        DataLossError: the file is damaged.
    """
    check(reader, restored)
    # Variables come last: they take whatever has been checked, while a table, say, may still refuse.
    ordered = sorted(restored, key=_is_variable)
    wanted = [value for item in ordered for value in item.restorer.wanted]
    if sum(_size(reader.entries[value.key]) for value in wanted) > _MOST_AT_ONCE:
        for value in wanted:
            reader.verify(value.key)
        arrays = (reader.read(value.key) for value in wanted)
    else:
        arrays = iter([reader.read(value.key) for value in wanted])
    for item in ordered:
        tensors = [EagerTensor(next(arrays), value.spec.dtype) for value in item.restorer.wanted]
        try:
            item.restorer.take(tensors)
        except errors.OpError as error:
            keys = ", ".join(value.key for value in item.restorer.wanted)
            text = f"{reader.prefix}: {item.name} does not take what is stored as {keys}: {error.message}"
            raise errors.from_code(error.error_code, text) from error


def _size(entry):
    return math.prod(entry.shape) * entry.dtype._np.itemsize


def _is_variable(item):
    wanted = item.restorer.wanted
    return len(wanted) == 1 and wanted[0].name == VARIABLE_VALUE


def check(reader: Any, restored: list[Restored]) -> None:
    """Refuses values that a file does not have, or has of another dtype or shape, naming both sides and the object."""
    for item in restored:
        for value in item.restorer.wanted:
            if not value.key or value.key not in reader:
                raise errors.not_found(
                    f"Key {value.key or value.name} not found in checkpoint {reader.prefix}: it should be the value "
                    f"{value.name} of {item.name}."
                )
    wrong = [(item, value) for item in restored for value in item.restorer.wanted if not _has_dtype(reader, value)]
    if wrong:
        raise errors.invalid_argument(_described(reader, wrong, _wrong_dtype))
    wrong = [(item, value) for item in restored for value in item.restorer.wanted if not _has_shape(reader, value)]
    if wrong:
        raise ValueError(_described(reader, wrong, _wrong_shape))


def _has_dtype(reader, value: WantedValue):
    stored, dtype = reader.entries[value.key].dtype, dtypes.as_dtype(value.spec.dtype)
    return stored is dtype or (dtype._kind == "q" and stored is dtypes.FROM_NUMPY[dtype._np])


def _has_shape(reader, value: WantedValue):
    return value.spec.shape is None or value.spec.shape.is_compatible_with(reader.entries[value.key].shape)


def _described(reader, wrong, describe):
    lines = [describe(item, value, reader.entries[value.key]) for item, value in wrong[:5]]
    more = f"\n... and {len(wrong) - 5} more." if len(wrong) > 5 else ""
    return "\n".join(lines) + f"{more}\nNothing was restored from checkpoint {reader.prefix}."


def _wrong_dtype(item, value, entry):
    return (
        f"tensor_name = {value.key}; expected dtype {dtypes.as_dtype(value.spec.dtype).name} does not equal original "
        f"dtype {entry.dtype.name}: {item.name}{_name_of(item.obj)}."
    )


def _wrong_shape(item, value, entry):
    return (
        f"Received incompatible tensor with shape {tuple(entry.shape)} when attempting to restore variable with shape "
        f"{value.spec.shape}: {item.name}{_name_of(item.obj)}, stored as {value.key}."
    )


def _name_of(obj):
    name = getattr(obj, "name", None)
    return f" with the name {name}" if isinstance(name, str) else ""


def restore_in_graph(prefix: Any, reader: Any, item: Restored) -> list[Any]:
    """Operations that give an object its values when they run.

    Args:
        prefix: a string tensor, the checkpoint to restore from.
        reader: of the checkpoint that is there now, against which dtypes and shapes are checked.
        item: the object.
    """
    check(reader, [item])
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
