"""Attributes of operations as `AttrValue` messages, and back."""

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.formats.graph_messages import AttrValue, NameAttrList
from headrace._src.formats.tensor_protos import array_to_proto, proto_to_array, proto_to_shape, shape_to_proto

# The field of AttrValue for each kind of attribute.
_FIELDS = {
    "bool": "b", "int": "i", "float": "f", "string": "s", "type": "type", "shape": "shape", "tensor": "tensor",
    "func": "func",
}  # fmt: skip


def to_attr_value(kind, value, name_of_function=None) -> AttrValue:
    """The message of an attribute.

    Args:
        kind: of the attribute, as in signatures: "bool", "list(int)" ...
        value: in canonical form.
        name_of_function: gives the name of a graph.
    """
    if kind.startswith("list("):
        kind = kind[5:-1]
        field = _FIELDS[kind]
        proto = AttrValue()
        proto.list.SetInParent()
        getattr(proto.list, field).extend([_item(kind, item, name_of_function) for item in value])
        return proto
    return AttrValue(**{_FIELDS[kind]: _item(kind, value, name_of_function)})


def _item(kind, value, name_of_function):
    if kind == "string":
        return value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    if kind == "type":
        return value.as_datatype_enum
    if kind == "shape":
        shape = TensorShape(value)
        return shape_to_proto(None if shape.rank is None else shape.as_list())
    if kind == "tensor":
        return array_to_proto(value._a, value.dtype)
    if kind == "func":
        return NameAttrList(name=name_of_function(value))
    return {"bool": bool, "int": int, "float": float}[kind](value)


def type_to_attr_value(value) -> AttrValue:
    """The message of what an operation knows of its inputs: a dtype, a list of dtypes, or the length of a list."""
    if isinstance(value, dtypes.DType):
        return to_attr_value("type", value)
    return to_attr_value("int" if isinstance(value, int) else "list(type)", value)


def shapes_to_attr_value(shapes) -> AttrValue:
    """The message of a list of `TensorShape`s."""
    return to_attr_value("list(shape)", shapes)


def plain_value(proto):
    """What a message holds: numbers, bytes, dtypes, and messages for shapes, tensors and functions."""
    found = proto.WhichOneof("value")
    if found == "type":
        return dtypes.as_dtype(proto.type)
    if found != "list":
        return None if found is None else getattr(proto, found)
    for field, values in proto.list.ListFields():
        return [dtypes.as_dtype(item) for item in values] if field.name == "type" else list(values)
    return []


def from_attr_value(kind, proto, make_function=None):
    """The attribute that a message holds, in canonical form.

    Args:
        kind: what is expected.
        proto: the message.
        make_function: gives the graph for a `NameAttrList`.

    Raises:
        ValueError: it holds something else.
    """
    found = proto.WhichOneof("value")
    if kind.startswith("list("):
        kind = kind[5:-1]
        field = _FIELDS[kind]
        # An empty list looks the same whatever it is a list of.
        others = [descriptor.name for descriptor, _ in proto.list.ListFields() if descriptor.name != field]
        if found != "list" or others:
            raise ValueError(f"expected a list of {kind}, got {others[0] if others else found}")
        return [_from_item(kind, item, make_function) for item in getattr(proto.list, field)]
    if found != _FIELDS[kind]:
        raise ValueError(f"expected {kind}, got {found}")
    return _from_item(kind, getattr(proto, found), make_function)


def _from_item(kind, value, make_function):
    if kind == "string":
        return value.decode("utf-8", "surrogateescape")
    if kind == "type":
        try:
            dtype = dtypes.as_dtype(value)
        except TypeError:
            raise ValueError(f"unknown type {value}") from None
        return dtype
    if kind == "shape":
        return proto_to_shape(value)
    if kind == "tensor":
        return EagerTensor(*proto_to_array(value))
    if kind == "func":
        return make_function(value)
    return value
