"""`tf.experimental.StructuredTensor`: records with named fields, in a tensor that may be ragged."""

import typing
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.extension_types.extension_type import BatchableExtensionType, ExtensionType
from headrace._src.ops.ragged.constant import constant as ragged_constant
from headrace._src.ops.ragged.dynamic_shape import DynamicRaggedShape
from headrace._src.ops.ragged.row_arithmetic import cast_to
from headrace._src.ops.ragged.structured_values import check_field, field_shape, nested_fields, python_records
from headrace._src.ops.ragged.tensor import RaggedTensor, merge_dims, normalized_axis


class _Spec:
    """The type of a `StructuredTensor`: the specs of its fields and of its shape."""

    @property
    def _shape(self):
        return self._ragged_shape

    @property
    def _field_specs(self):
        return self._fields

    @property
    def rank(self):
        """The number of dimensions."""
        return self._ragged_shape.rank

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._ragged_shape._to_tensor_shape()

    @classmethod
    def _from_shape(cls, shape):
        """The spec of records without fields."""
        return cls({}, shape)

    @classmethod
    def _from_fields_and_rank(cls, fields, rank):
        """The spec of records with fields of these specs."""
        first = next(iter(fields.values()))
        dims = first.shape[:rank] if first.shape.rank is not None else TensorShape(None)
        return cls(fields, DynamicRaggedShape.Spec._from_tensor_shape(dims, max(rank - 1, 0), dtypes.int64))


@api("experimental.StructuredTensor")
class StructuredTensor(BatchableExtensionType):
    """A tensor of records: each has the same named fields, which are tensors, ragged or structured tensors.

    The shape of every field begins with the shape of the structured tensor.

    >>> people = tf.experimental.StructuredTensor.from_pyval([{"age": 82, "nicknames": ["Bob", "Bobby"]},
    ...                                                       {"age": 42, "nicknames": ["Elmo"]}])
    >>> people.shape
    TensorShape([2])
    >>> people.field_value("age").numpy().tolist()
    [82, 42]
    >>> people[1, "nicknames"].numpy().tolist()
    [b'Elmo']

    Args:
        fields: a mapping from name to tensor, ragged tensor or structured tensor.
        ragged_shape: a `DynamicRaggedShape`.

    Raises:
        ValueError: when the shape of a field does not begin with `ragged_shape`.
    """

    FieldName = str | typing.Sequence[str]

    _fields: typing.Mapping[str, Tensor | RaggedTensor | ExtensionType]
    _ragged_shape: DynamicRaggedShape

    Spec = _Spec

    def __init__(self, fields, ragged_shape):
        self._fields = _converted(fields)
        self._ragged_shape = ragged_shape

    def __validate__(self):
        if self._ragged_shape.rank is None:
            raise ValueError("StructuredTensor's shape must have known rank.")
        for name, value in self._fields.items():
            check_field(name, value, self._ragged_shape)

    # Construction.

    @classmethod
    def from_fields(cls, fields, shape=(), nrows=None, row_partitions=None, validate=False) -> "StructuredTensor":
        """From named fields.

        >>> tf.experimental.StructuredTensor.from_fields({"x": 1, "y": [1, 2, 3]}).field_value("y").numpy().tolist()
        [1, 2, 3]

        Args:
            fields: a mapping from name to value.
            shape: the shape of the records, with None for what the fields decide; its rank must be known.
            nrows: the number of records in the first dimension, if there are no fields.
            row_partitions: the partitions of the other dimensions, likewise.
            validate: accepted for compatibility: shapes are always checked.

        Raises:
            TypeError: when the fields are no mapping from names to tensors.
            ValueError: when shapes do not fit.
        """
        shape = TensorShape(shape)
        if shape.rank is None:
            raise ValueError("StructuredTensor's shape must have known rank.")
        fields = _converted(fields)
        dtype = _index_type(fields, row_partitions)
        if shape.rank == 0:
            if nrows is not None:
                raise ValueError(f"nrows must be None where shape has no axis, got {nrows!r}.")
            return cls(fields, DynamicRaggedShape([], to_tensor(np.zeros(0, dtype._np)), dtype))
        if nrows is not None:
            nrows = to_tensor(nrows, hint=dtype)
        ragged_shape = _shape_from_arguments(fields, shape, nrows, row_partitions, dtype)
        if not shape.is_compatible_with(ragged_shape._to_tensor_shape()):
            raise ValueError(f"Shapes {shape} and {ragged_shape._to_tensor_shape()} are not compatible")
        return cls(fields, ragged_shape)

    @classmethod
    def from_fields_and_rank(cls, fields, rank, validate=False, dtype=None) -> "StructuredTensor":
        """From named fields that all share their first `rank` dimensions.

        Raises:
            ValueError: without any field, or when the fields' shapes differ.
        """
        fields = _converted(fields)
        if not fields:
            raise ValueError("Must provide at least one field")
        if not isinstance(rank, int):
            raise ValueError("rank must be an integer")
        if rank < 0:
            raise ValueError("rank must be nonnegative")
        wanted = _index_type(fields, None) if dtype is None else dtypes.as_dtype(dtype)
        result = cls(fields, _from_field(next(iter(fields.values())), rank, _index_type(fields, None)))
        return result if wanted is result._ragged_shape.dtype else result.with_shape_dtype(wanted)

    @classmethod
    def from_shape(cls, ragged_shape) -> "StructuredTensor":
        """Records without fields."""
        return cls({}, ragged_shape)

    @classmethod
    def from_pyval(cls, pyval, typespec=None) -> Any:
        """From nested Python lists and dictionaries.

        >>> tf.experimental.StructuredTensor.from_pyval([[{"a": 1}, {"a": 2}], []]).shape
        TensorShape([2, None])

        Args:
            pyval: a dictionary, a nested list of dictionaries, or values that contain none.
            typespec: the spec that the result must be compatible with.

        Returns:
            A structured tensor; for values without dictionaries a tensor or ragged tensor.

        Raises:
            ValueError: when the values do not fit together.
            KeyError: when dictionaries have different keys.
        """
        return _from_pyval(cls, pyval, typespec, ())

    # What it holds.

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self._ragged_shape.rank

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._ragged_shape._to_tensor_shape()

    @property
    def row_partitions(self) -> tuple:
        """The partitions of all dimensions but the first."""
        return () if self.rank < 2 else self._ragged_shape._as_row_partitions()

    @property
    def _row_partitions(self):
        return self.row_partitions

    def nrows(self) -> Tensor | None:
        """The size of the first dimension as a scalar tensor; None for a single record."""
        return None if self.rank == 0 else self._ragged_shape[0]

    def field_names(self) -> tuple:
        """The names of the fields."""
        return tuple(self._fields)

    def field_value(self, field_name) -> Any:
        """The value of a field; a sequence of names goes into nested records.

        Raises:
            KeyError: when there is no such field.
        """
        if isinstance(field_name, (list, tuple)):
            value = self
            for name in field_name:
                if not isinstance(value, StructuredTensor):
                    raise KeyError(f"Field path {tuple(field_name)} not found in {self}")
                value = value.field_value(name)
            return value
        return self._fields[field_name]

    def _is_eager(self) -> bool:
        parts = [self._ragged_shape._inner_shape, *(p.row_splits() for p in self._ragged_shape.row_partitions)]
        for value in self._fields.values():
            if isinstance(value, Tensor):
                parts.append(value)
            elif not value._is_eager():
                return False
        return all(type(part) is EagerTensor for part in parts)

    def to_pyval(self) -> Any:
        """Nested Python lists and dictionaries.

        Raises:
            ValueError: when the tensor is symbolic.
        """
        if not self._is_eager():
            raise ValueError("StructuredTensor.to_pyval() is only supported in eager mode.")
        return python_records(self)

    def __repr__(self):
        lines = [f'"{name}": {_shown(value)}' for name, value in sorted(self._fields.items())]
        fields = ",\n        ".join(lines)
        return f"<StructuredTensor(\n    fields={{\n        {fields}}},\n    shape={self.shape})>"

    __str__ = __repr__

    def __getitem__(self, key) -> Any:
        """Records by integers and slices, then fields by name.

        `t[i, j, "name", k]` is `t.field_value("name")[i, j, k]`, with as many indices before the name as the
        structured tensor has dimensions.

        Raises:
            KeyError: when there is no such field.
            ValueError: when a name is due and something else comes.
        """
        keys = list(key) if isinstance(key, (list, tuple)) else [key]
        if self.rank == 0:
            return self._scalar_getitem(keys)
        if len(keys) > self.rank:
            name = keys[self.rank]
            if not isinstance(name, str):
                raise ValueError("Key for indexing a StructuredTensor must be a string")
            return self._fields[name][(*keys[: self.rank], *keys[self.rank + 1 :])]
        return self._tensor_getitem(keys)

    def _scalar_getitem(self, keys):
        if keys and isinstance(keys[0], slice) and keys[0] == slice(None):
            names = keys[1:]
            changed = {name: value[tuple(names)] if names else value for name, value in self._fields.items()}
            return StructuredTensor(changed, self._ragged_shape)
        if not keys or not isinstance(keys[0], str):
            raise ValueError("Key for indexing a StructuredTensor must be a string or a full slice (':')")
        value = self._fields[keys[0]]
        return value[tuple(keys[1:])] if keys[1:] else value

    def _tensor_getitem(self, keys):
        for key in keys:
            if key is None or key is Ellipsis:
                raise ValueError(f"Slicing not supported for {'tf.newaxis' if key is None else 'Ellipsis'}")
        fields = {name: value[tuple(keys)] for name, value in self._fields.items()}
        rank = self.rank - sum(not isinstance(key, slice) for key in keys)
        if fields:
            shape = _from_field(next(iter(fields.values())), rank, self._ragged_shape.dtype)
        else:
            # The same indices applied to a tensor of this shape.
            shape = _from_field(self._ragged_shape._filled()[tuple(keys)], rank, self._ragged_shape.dtype)
        return StructuredTensor(fields, shape)

    # Changed copies.

    def with_updates(self, updates, validate=False) -> "StructuredTensor":
        """A copy with fields replaced, added or deleted.

        >>> t = tf.experimental.StructuredTensor.from_pyval({"a": 1, "b": 2})
        >>> changed = t.with_updates({"a": lambda a: a + 10, "b": None, "c": 5})
        >>> sorted(changed.field_names()), int(changed.field_value("a"))
        (['a', 'c'], 11)

        Args:
            updates: from field name (or path of names) to a new value, a function of the old value, or None to
                delete the field.
            validate: accepted for compatibility: shapes are always checked.

        Raises:
            ValueError: when a field to delete or a parent is missing, shapes do not fit, or both a field and
                one inside it are updated.
        """
        paths = sorted(((key,) if isinstance(key, str) else tuple(key), value) for key, value in _items(updates))
        for (parent, _), (child, _) in zip(paths, paths[1:]):
            if child[: len(parent)] == parent:
                raise ValueError(
                    "`StructuredTensor.with_updates` does not allow both parent and child nodes to be updated: "
                    f"parent={parent}, child={child}. If needed you can update child nodes in the parent update value."
                )
        return self._updated(paths, ())

    def _updated(self, updates, outer):
        fields = dict(self._fields)
        inner = {}
        for path, value in updates:
            name = path[0]
            if len(path) > 1:
                inner.setdefault(name, []).append((path[1:], value))
            elif value is None:
                if name not in fields:
                    raise ValueError(
                        f"`StructuredTensor.with_updates` cannot delete field {(*outer, name)} because it is not "
                        "present."
                    )
                del fields[name]
            elif callable(value):
                if name not in fields:
                    raise ValueError(
                        f"`StructuredTensor.with_updates` cannot update field {(*outer, name)}, which is not present."
                    )
                fields[name] = value(fields[name])
            else:
                fields[name] = value
        for name, changes in inner.items():
            if name not in fields:
                raise ValueError(
                    f"`StructuredTensor.with_updates` cannot create new sub-field {(*outer, name, *changes[0][0])} if "
                    f"parent field {(*outer, name)} is not set."
                )
            if not isinstance(fields[name], StructuredTensor):
                raise ValueError(
                    f"`StructuredTensor.with_updates` cannot create sub-fields of {(*outer, name)}, which is no "
                    "StructuredTensor."
                )
            fields[name] = fields[name]._updated(changes, (*outer, name))
        try:
            return StructuredTensor(fields, self._ragged_shape)
        except (ValueError, TypeError) as error:
            raise ValueError(f"`StructuredTensor.with_updates` failed: {error}") from error

    def promote(self, source_path, new_name) -> "StructuredTensor":
        """A copy in which a nested field also stands one level further out, under a new name.

        Args:
            source_path: the path of the nested field, at least two names.
            new_name: its name one level further out.

        Raises:
            ValueError: when the path is too short.
            KeyError: when there is no such field.
        """
        if not isinstance(new_name, str):
            raise ValueError("new_name is not a string")
        if not isinstance(source_path, (list, tuple)):
            raise ValueError("source_path must be a list or tuple")
        if len(source_path) < 2:
            raise ValueError("source_path must have length at least two")
        parent = self.field_value(tuple(source_path[:-2]))
        record = self.field_value(tuple(source_path[:-1]))
        value = self.field_value(tuple(source_path))
        rank = value.shape.rank if not isinstance(value, StructuredTensor) else value.rank
        inner = min(record.rank, rank - 1)
        promoted = _merged(value, parent.rank, inner) if inner > parent.rank else value
        return self.with_updates({(*source_path[:-2], new_name): promoted})

    def merge_dims(self, outer_axis, inner_axis) -> "StructuredTensor":
        """A copy with dimensions made one.

        Raises:
            ValueError: when an axis is out of range, or they are in the wrong order.
        """
        outer_axis = normalized_axis(outer_axis, self.rank, "outer_axis")
        inner_axis = normalized_axis(inner_axis, self.rank, "inner_axis")
        if outer_axis > inner_axis:
            raise ValueError(
                f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})"
            )
        return _merged(self, outer_axis, inner_axis)

    def partition_outer_dimension(self, row_partition) -> "StructuredTensor":
        """A copy with the first dimension divided into rows.

        Raises:
            ValueError: for a single record.
            InvalidArgumentError: when the partition does not fit the number of records.
        """
        if self.rank == 0:
            raise ValueError("Shape () must have rank at least 1")
        row_partition = row_partition.with_dtype(self._ragged_shape.dtype)
        shape = DynamicRaggedShape(
            [row_partition, *self._ragged_shape.row_partitions],
            self._ragged_shape.inner_shape,
            self._ragged_shape.dtype,
            validate=True,
        )
        return StructuredTensor(
            {name: _partitioned(value, row_partition) for name, value in self._fields.items()}, shape
        )

    def with_shape_dtype(self, dtype) -> "StructuredTensor":
        """A copy whose shape and fields have int32 or int64 row splits."""
        dtype = dtypes.as_dtype(dtype)
        if dtype is self._ragged_shape.dtype:
            return self
        fields = {}
        for name, value in self._fields.items():
            if isinstance(value, RaggedTensor):
                value = value.with_row_splits_dtype(dtype)
            elif isinstance(value, StructuredTensor):
                value = value.with_shape_dtype(dtype)
            fields[name] = value
        return StructuredTensor(fields, self._ragged_shape.with_dtype(dtype))


def _items(updates):
    for key, value in updates.items():
        if not isinstance(key, (str, tuple, list)) or not key:
            raise ValueError(f"`StructuredTensor.with_updates`: a field name is a string or a path, got {key!r}.")
        yield key, value


def _converted(fields):
    """Fields as tensors, ragged tensors and extension types.

    Raises:
        TypeError: when a name is no string or a value no tensor.
    """
    if not hasattr(fields, "items"):
        raise TypeError(f"fields must be a dictionary, got {type(fields).__name__}")
    result = {}
    for name, value in fields.items():
        if not isinstance(name, str):
            raise TypeError(f"Unexpected type for key in `fields`: {name!r}")
        if not isinstance(value, (Tensor, RaggedTensor, ExtensionType)):
            if isinstance(value, CompositeTensor):
                raise TypeError(f"Unexpected type for value in `fields`: {value!r}")
            try:
                value = to_tensor(value)
            except (ValueError, TypeError) as error:
                raise TypeError(f"Unexpected type for value in `fields`: {value!r}") from error
        result[name] = value
    return result


def _index_type(fields, row_partitions):
    """The dtype of positions: that of ragged fields, int64 if they differ or there are none."""
    kinds = {value.row_splits.dtype for value in fields.values() if isinstance(value, RaggedTensor)}
    kinds |= {v._ragged_shape.dtype for v in fields.values() if isinstance(v, StructuredTensor)}
    kinds |= {partition.dtype for partition in row_partitions or ()}
    return kinds.pop() if len(kinds) == 1 else dtypes.int64


def _from_field(value, rank, dtype):
    """The first dimensions of a field's shape."""
    return field_shape(value, dtype)._slice_shape(0, rank)


def _shape_from_arguments(fields, shape, nrows, row_partitions, dtype):
    if fields:
        found = _from_field(next(iter(fields.values())), shape.rank, dtype)
        if found.rank != shape.rank:
            raise ValueError(f"Shapes {shape} and {found._to_tensor_shape()} are not compatible")
        return found
    if row_partitions:
        return DynamicRaggedShape.from_row_partitions(list(row_partitions), dtype)
    if shape.is_fully_defined():
        return DynamicRaggedShape._from_inner_shape(to_tensor(np.array(shape.as_list(), dtype._np)))
    if shape.rank == 1:
        if nrows is None:
            raise ValueError("Must specify `nrows`, a fully specified `shape`, or have `fields` if `rank=1`")
        count = cast_to(nrows, dtype)
        return DynamicRaggedShape._from_inner_shape(EXPAND_DIMS(count, 0))
    raise ValueError("Must specify row_partitions, a fully specified shape, or have fields if rank > 1")


def _merged(value, outer_axis, inner_axis):
    if not isinstance(value, StructuredTensor):
        return merge_dims(value, outer_axis, inner_axis)
    fields = {name: _merged(part, outer_axis, inner_axis) for name, part in value._fields.items()}
    return StructuredTensor(fields, value._ragged_shape._merge_dims(outer_axis, inner_axis))


def _partitioned(value, row_partition):
    if isinstance(value, StructuredTensor):
        return value.partition_outer_dimension(row_partition)
    if isinstance(value, RaggedTensor) and value.row_splits.dtype is not row_partition.dtype:
        value = value.with_row_splits_dtype(row_partition.dtype)
    return RaggedTensor._from_row_partition(value, row_partition, validate=True)


def _shown(value):
    """A field as text, its further lines moved to the right."""
    return str(value).replace("\n", "\n" + " " * 12)


# Python values.


def _from_pyval(cls, pyval, typespec, path):
    if isinstance(pyval, dict):
        return _from_record(cls, pyval, typespec, path)
    if isinstance(pyval, (list, tuple)):
        keys = nested_fields(pyval)
        if keys is not None:
            return _from_records(cls, pyval, keys, typespec, path)
        if isinstance(typespec, StructuredTensor.Spec):
            return _from_records(cls, pyval, dict.fromkeys(typespec._fields), typespec, path)
    return _from_values(pyval, typespec, path)


def _inner_spec(typespec, key, path):
    if typespec is None:
        return None
    if not isinstance(typespec, StructuredTensor.Spec) or key not in typespec._fields:
        raise ValueError(f"Value at {path} does not match typespec: {typespec}")
    return typespec._fields[key]


def _from_record(cls, pyval, typespec, path):
    if typespec is not None and isinstance(typespec, StructuredTensor.Spec) and set(typespec._fields) != set(pyval):
        raise ValueError(f"Value at {path} does not match typespec: {typespec} vs {pyval}")
    fields = {
        key: _from_pyval(cls, value, _inner_spec(typespec, key, path), (*path, key)) for key, value in pyval.items()
    }
    return cls.from_fields(fields, shape=())


def _depth(pyval):
    """How many lists there are around the dictionaries."""
    depths = [_depth(item) + 1 for item in pyval if isinstance(item, (list, tuple))]
    return max(depths, default=1)


def _from_records(cls, pyval, keys, typespec, path):
    rank = _depth(pyval) if typespec is None else typespec.rank
    if not keys:
        numbers = ragged_constant(_replaced(pyval, lambda record: 0), ragged_rank=rank - 1)
        return cls.from_shape(_from_field(numbers, rank, dtypes.int64))
    fields = {}
    for key in keys:
        own = _replaced(pyval, lambda record, key=key: _entry(record, key, keys))
        fields[key] = _from_pyval(cls, own, _inner_spec(typespec, key, path), (*path, key))
    return cls.from_fields(fields, shape=[None] * rank)


def _entry(record, key, keys):
    for other in record:
        if other not in keys:
            raise KeyError(other)
    return record[key]


def _replaced(pyval, function):
    """Nested lists with a function of each dictionary in its place."""
    if isinstance(pyval, dict):
        return function(pyval)
    if not isinstance(pyval, (list, tuple)):
        raise ValueError("Expected dict or nested list/tuple of dict")
    return [_replaced(item, function) for item in pyval]


def _from_values(pyval, typespec, path):
    try:
        result = ragged_constant(pyval) if isinstance(pyval, (list, tuple)) else to_tensor(pyval)
    except (ValueError, TypeError) as error:
        raise ValueError(f"Error parsing path {path}") from error
    if typespec is not None and not typespec.is_compatible_with(result):
        raise ValueError(f"Value at {path} does not match typespec: {typespec} vs {pyval}")
    return result
