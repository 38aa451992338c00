"""What structured tensors need of their fields: shapes that begin alike, and Python records."""

import numpy as np

from headrace._src.ops.arrays.measuring import known_value
from headrace._src.ops.ragged.dynamic_shape import DynamicRaggedShape


def field_shape(value, dtype):
    """The shape of a tensor, ragged tensor or structured tensor."""
    return DynamicRaggedShape.from_tensor(value, dtype)


def check_field(name, value, shape):
    """That the shape of a field begins with the shape of the records, or ValueError."""
    rank = shape.rank
    if rank == 0:
        return
    own = field_shape(value, shape.dtype)
    if own.rank is None:
        return
    if own.rank < rank or not _same_start(own, shape, rank):
        raise ValueError(
            f"Error in shape of {name}: the field has shape {own._to_tensor_shape()}, which does not begin with "
            f"{shape._to_tensor_shape()}."
        )


def _same_start(own, shape, rank):
    mine, wanted = own._to_tensor_shape()[:rank], shape._to_tensor_shape()
    if not mine.is_compatible_with(wanted):
        return False
    if rank < 2:
        return True
    # Ragged dimensions must have the same rows, as far as their values are known.
    first = own._slice_shape(0, rank)._with_num_row_partitions(rank - 1)
    second = shape._with_num_row_partitions(rank - 1)
    for a, b in zip(first.row_partitions, second.row_partitions):
        x, y = a.row_splits(), b.row_splits()
        if x is y:
            continue
        x, y = known_value(x), known_value(y)
        if x is not None and y is not None and not np.array_equal(x, y):
            return False
    return True


def nested_fields(pyval):
    """The keys of the first dictionary in nested lists, in their order; None if there is no dictionary."""
    for item in pyval:
        if isinstance(item, dict):
            return dict.fromkeys(item)
        if isinstance(item, (list, tuple)):
            found = nested_fields(item)
            if found is not None:
                return found
    return None


def python_records(structured):
    """Nested lists of dictionaries."""
    fields = {name: _python(value) for name, value in structured._fields.items()}
    if structured.rank == 0:
        return fields
    if not fields:
        return _empty_records(structured._ragged_shape)
    return _zipped(fields, structured.rank)


def _python(value):
    if hasattr(value, "to_pyval"):
        return value.to_pyval()
    if hasattr(value, "to_list"):
        return value.to_list()
    array = value.numpy()
    return array.tolist() if isinstance(array, np.ndarray) else array


def _zipped(fields, depth):
    """Dictionaries of lists as lists of dictionaries, so many levels deep."""
    names = list(fields)
    if depth == 0:
        return fields
    return [_zipped(dict(zip(names, row)), depth - 1) for row in zip(*fields.values())]


def _empty_records(shape):
    numbers = np.zeros(tuple(shape.inner_shape._a.tolist()), np.int8).tolist()
    rows = _with_dictionaries(numbers)
    for partition in reversed(shape.row_partitions):
        splits = partition.row_splits()._a.tolist()
        rows = [rows[start:end] for start, end in zip(splits, splits[1:])]
    return rows


def _with_dictionaries(numbers):
    return [_with_dictionaries(item) for item in numbers] if isinstance(numbers, list) else {}
