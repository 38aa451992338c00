"""Protobuf message classes made from one-line descriptions, in a descriptor pool of their own.

The pool is apart from protobuf's default one, so that headrace, TensorFlow and TensorBoard can define the same messages
in one process. A description reads

    "name: string = 1, attr: {string: AttrValue} = 5, value(i: int64 = 3, f: float = 4)"

`[T]` is a repeated field, `{K: V}` a map, `name(...)` a choice of which at most one is set; the number is the field's.
"""

import re

from headrace._src.core.lazy import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "tensorflow"
_SCALARS = ("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes", "uint32")
_TYPE = r"\[[\w.]+\]|\{\w+: [\w.]+\}|[\w.]+"
_FIELD = re.compile(
    rf"(?P<choice>\w+)\(|(?P<end>\))|(?P<name>\w+)\s*:\s*(?P<type>{_TYPE})\s*=\s*(?P<number>\d+)|,\s*"
)


class MessageFile:
    """The messages and enums of one .proto file of TensorFlow's.

    Args:
        path: its path, which is part of what the messages tell about themselves.
        messages: name ("Outer.Inner" for a nested one, after the outer one) to description.
        enums: name to {value: number}.
        syntax: "proto2" or "proto3".
    """

    def __init__(self, path, messages, enums=None, syntax="proto3"):
        self.path = path
        self.messages = messages
        self.enums = enums or {}
        self.syntax = syntax


def make_classes(files) -> dict:
    """Name to message class, for all messages of the files; a file comes after those that it refers to."""
    pool = descriptor_pool.DescriptorPool()
    homes: dict[str, str] = {}  # name of a message or enum to the path of its file
    enums: set[str] = set()
    for file in files:
        enums.update(file.enums)
        homes.update(dict.fromkeys([*file.messages, *file.enums], file.path))
        pool.Add(_file_proto(file, homes, enums))
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for file in files
        for name in file.messages
    }


def _file_proto(file, homes, enums):
    proto = descriptor_pb2.FileDescriptorProto(name=file.path, package=_PACKAGE, syntax=file.syntax)
    for name, values in file.enums.items():
        enum = proto.enum_type.add(name=name)
        for value, number in values.items():
            enum.value.add(name=value, number=number)
    made: dict = {}
    used: set[str] = set()
    for name, description in file.messages.items():
        outer, _, last = name.rpartition(".")
        message = made[name] = made[outer].nested_type.add(name=last) if outer else proto.message_type.add(name=last)
        _add_fields(message, name, description, file.syntax, enums, used)
    proto.dependency.extend(sorted({homes[name] for name in used} - {file.path}))
    return proto


def _add_fields(message, name, description, syntax, enums, used):
    choice = None
    at = 0
    while at < len(description):
        found = _FIELD.match(description, at)
        if found is None:
            raise ValueError(f"{name}: cannot read the description at {description[at:]!r}")
        at = found.end()
        if found["choice"]:
            choice = len(message.oneof_decl)
            message.oneof_decl.add(name=found["choice"])
        elif found["end"]:
            choice = None
        elif found["name"]:
            field = message.field.add(name=found["name"], number=int(found["number"]))
            kind = found["type"]
            repeated = kind[0] in "[{"
            field.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
            if kind[0] == "{":
                kind = _add_map(message, name, found["name"], kind[1:-1].split(": "), enums, used)
            elif repeated:
                kind = kind[1:-1]
                if syntax == "proto2" and kind in ("fixed64", "int64"):
                    field.options.packed = True
            _set_type(field, kind, enums, used)
            if choice is not None:
                field.oneof_index = choice


def _add_map(message, name, field, kinds, enums, used):
    """A map is a repeated message of key and value; returns the name of that message."""
    entry = message.nested_type.add(name="".join(part.capitalize() for part in field.split("_")) + "Entry")
    entry.options.map_entry = True
    for number, (part, kind) in enumerate(zip(("key", "value"), kinds), 1):
        item = entry.field.add(name=part, number=number, label=1)
        _set_type(item, kind, enums, used)
    return f"{name}.{entry.name}"


def _set_type(field, kind, enums, used):
    if kind in _SCALARS:
        field.type = getattr(field, f"TYPE_{kind.upper()}")
        return
    field.type = field.TYPE_ENUM if kind in enums else field.TYPE_MESSAGE
    field.type_name = f".{_PACKAGE}.{kind}"
    if not kind.endswith("Entry"):
        used.add(kind)
