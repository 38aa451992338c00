"""Specs of elements as TensorFlow's `StructuredValue` messages, and back: `dataset_spec.pb` of saved datasets."""

from __future__ import annotations

import collections
import collections.abc
from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import NoneTensorSpec, TensorSpec
from headrace._src.formats import wire
from headrace._src.formats.tensor_wire import fields
from headrace._src.ops.ragged.spec import RaggedTensorSpec
from headrace._src.ops.sparse.tensor import SparseTensorSpec

_NONE, _FLOAT, _INTEGER, _TEXT, _BOOL = 1, 11, 12, 13, 14
_SHAPE, _DTYPE, _TENSOR_SPEC, _TYPE_SPEC = 31, 32, 33, 34
_LIST, _TUPLE, _DICT, _NAMED_TUPLE = 51, 52, 53, 54
# By TensorFlow's number of the class: its name, and the class here.
_CLASSES = {1: SparseTensorSpec, 3: RaggedTensorSpec}
_DEEPEST = 64


class Unknown(ValueError):
    """Bytes that are not such a message, or hold kinds of specs that are not known here."""


def encoded(spec: Any) -> bytes:
    """A structure of specs as a message.

    Raises:
        TypeError: it holds something that has no such form.
    """
    if isinstance(spec, (NoneTensorSpec, type(None))):
        return wire.message(_NONE, b"")
    if isinstance(spec, TensorSpec):
        name = b"" if spec.name is None else wire.text(1, spec.name)
        data = name + wire.message(2, _encoded_shape(spec.shape)) + wire.integer(3, spec.dtype.as_datatype_enum)
        return wire.message(_TENSOR_SPEC, data)
    for number, cls in _CLASSES.items():
        if isinstance(spec, cls):
            data = wire.integer(1, number) + wire.message(2, encoded(spec._serialize())) + wire.text(3, cls.__name__)
            return wire.message(_TYPE_SPEC, data + wire.integer(4, len(spec._flat_tensor_specs)))
    if isinstance(spec, TensorShape):
        return wire.message(_SHAPE, _encoded_shape(spec))
    if isinstance(spec, dtypes.DType):
        return wire.integer(_DTYPE, spec.as_datatype_enum)
    if isinstance(spec, bool):
        return wire.integer(_BOOL, spec)
    if isinstance(spec, int):
        return wire.integer(_INTEGER, spec << 1 if spec >= 0 else (-spec << 1) - 1)
    if isinstance(spec, str):
        return wire.text(_TEXT, spec)
    if isinstance(spec, tuple) and hasattr(spec, "_fields"):
        pairs = [wire.text(1, key) + wire.message(2, encoded(value)) for key, value in spec._asdict().items()]
        data = wire.text(1, type(spec).__name__) + b"".join(wire.message(2, pair) for pair in pairs)
        return wire.message(_NAMED_TUPLE, data)
    if isinstance(spec, (tuple, list)):
        data = b"".join(wire.message(1, encoded(part)) for part in spec)
        return wire.message(_TUPLE if isinstance(spec, tuple) else _LIST, data)
    if isinstance(spec, collections.abc.Mapping):
        pairs = [wire.text(1, key) + wire.message(2, encoded(value)) for key, value in spec.items()]
        return wire.message(_DICT, b"".join(wire.message(1, pair) for pair in pairs))
    raise TypeError(f"Elements of {spec!r} cannot be saved: the spec has no form on disk.")


def _encoded_shape(shape: TensorShape) -> bytes:
    if shape.rank is None:
        return wire.integer(3, 1)
    return b"".join(wire.message(2, wire.integer(1, -1 if size is None else size)) for size in shape.as_list())


def decoded(data: bytes, depth: int = 0) -> Any:
    """The structure of specs in a message.

    Raises:
        Unknown: it is none, or holds something else.
    """
    if depth > _DEEPEST:
        raise Unknown("the structure is nested too deeply")
    try:
        found = list(fields(data))
        if len(found) != 1:
            raise Unknown(f"expected one value, found {len(found)}")
        (number, kind, value) = found[0]
        return _decoded(number, kind, value, depth + 1)
    except Unknown:
        raise
    except (ValueError, TypeError, IndexError, UnicodeDecodeError, AttributeError) as error:
        raise Unknown(str(error)) from error


def _decoded(number, kind, value, depth):
    if kind == 0:
        if number == _DTYPE:
            return dtypes.as_dtype(value)
        if number == _INTEGER:
            return value >> 1 if not value & 1 else -((value + 1) >> 1)
        if number == _BOOL:
            return bool(value)
    if kind == 2:
        value = bytes(value)
        if number == _NONE:
            return NoneTensorSpec()
        if number == _TEXT:
            return value.decode()
        if number == _SHAPE:
            return _decoded_shape(value)
        if number == _TENSOR_SPEC:
            return _decoded_tensor_spec(value)
        if number == _TYPE_SPEC:
            return _decoded_type_spec(value, depth)
        if number in (_LIST, _TUPLE):
            parts = [decoded(bytes(part), depth) for _, _, part in fields(value)]
            return tuple(parts) if number == _TUPLE else parts
        if number == _DICT:
            return dict(sorted(_pair(bytes(pair), depth) for _, _, pair in fields(value)))
        if number == _NAMED_TUPLE:
            return _decoded_named_tuple(value, depth)
    raise Unknown(f"a value of kind {number} is not known")


def _pair(data, depth):
    found = {number: bytes(value) for number, kind, value in fields(data) if kind == 2}
    return found.get(1, b"").decode(), decoded(found.get(2, b""), depth)


def _decoded_named_tuple(data, depth):
    name, pairs = "", []
    for number, _, value in fields(data):
        if number == 1:
            name = bytes(value).decode()
        elif number == 2:
            pairs.append(_pair(bytes(value), depth))
    return collections.namedtuple(name, [key for key, _ in pairs])(*[value for _, value in pairs])


def _decoded_shape(data) -> TensorShape:
    dims: list = []
    for number, kind, value in fields(data):
        if number == 3 and kind == 0 and value:
            return TensorShape(None)
        if number == 2 and kind == 2:
            size = next((v for n, k, v in fields(bytes(value)) if n == 1 and k == 0), 0)
            size = size - (1 << 64) if size >> 63 else size
            if size < -1:
                raise Unknown(f"a dimension is {size}")
            dims.append(None if size == -1 else size)
    return TensorShape(dims)


def _decoded_tensor_spec(data):
    name, shape, dtype = None, TensorShape([]), None
    for number, kind, value in fields(data):
        if number == 1 and kind == 2:
            name = bytes(value).decode()
        elif number == 2 and kind == 2:
            shape = _decoded_shape(bytes(value))
        elif number == 3 and kind == 0:
            dtype = dtypes.as_dtype(value)
    if dtype is None:
        raise Unknown("a tensor has no dtype")
    return TensorSpec(shape, dtype, name or None)


def _decoded_type_spec(data, depth):
    number, state, name = 0, b"", ""
    for field, kind, value in fields(data):
        if field == 1 and kind == 0:
            number = value
        elif field == 2 and kind == 2:
            state = bytes(value)
        elif field == 3 and kind == 2:
            name = bytes(value).decode()
    cls = _CLASSES.get(number)
    if cls is None:
        raise Unknown(f"elements of the type {name or number} cannot be loaded")
    parts = decoded(state, depth)
    if cls is RaggedTensorSpec and not 0 <= parts[2] < _DEEPEST:
        raise Unknown(f"a ragged tensor of ragged_rank {parts[2]}")
    return cls(*parts)
