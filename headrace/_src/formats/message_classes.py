"""Protobuf message classes made from one-line descriptions, in a descriptor pool of their own.

The pool is one for all of headrace's messages, so that they can refer to each other. It is apart from protobuf's
default one, so that headrace, TensorFlow and TensorBoard can define the same messages in one process; but where
headrace stands for TensorFlow, it is the default one, as files of other packages (those of TensorFlow Serving) refer
to TensorFlow's there. A description reads

    "name: string = 1, attr: {string: AttrValue} = 5, value(i: int64 = 3, f: float = 4)"

`[T]` is a repeated field, `{K: V}` a map, `name(...)` a choice of which at most one is set; the number is the field's.
"""

import re

from headrace._src.core.lazy import LazyModule, descriptor_pb2, descriptor_pool, message_factory

_SCALARS = frozenset(
    "double float int64 uint64 int32 fixed64 fixed32 bool string bytes uint32 sint32 sint64".split()
)
# Messages of protobuf's own that TensorFlow's refer to, with the module that has their file.
_WELL_KNOWN = {
    "google.protobuf.Any": LazyModule("google.protobuf.any_pb2"),
    "google.protobuf.BoolValue": LazyModule("google.protobuf.wrappers_pb2"),
}
_TYPE = r"\[[\w.]+\]|\{\w+: [\w.]+\}|[\w.]+"
_FIELD = re.compile(
    rf"(?P<choice>\w+)\(|(?P<end>\))|(?P<name>\w+)\s*:\s*(?P<type>{_TYPE})\s*=\s*(?P<number>\d+)|,\s*"
)


class MessageFile:
    """The messages and enums of one .proto file of TensorFlow's.

    Args:
        path: its path, which is part of what the messages tell about themselves.
        messages: name ("Outer.Inner" for a nested one, after the outer one) to description.
        enums: name ("Outer.Inner" for one inside of a message) to {value: number}.
        syntax: "proto2" or "proto3".
        package: what the full names of the messages begin with.
    """

    def __init__(self, path, messages, enums=None, syntax="proto3", package="tensorflow"):
        self.path = path
        self.messages = messages
        self.enums = enums or {}
        self.syntax = syntax
        self.package = package


_pool = None  # made with the first file
_is_shared = False
_FIRST = "tensorflow/core/framework/tensor_shape.proto"  # in every pool that has TensorFlow's messages
_homes: dict[str, MessageFile] = {}  # name of a message or enum to its file
_enums: set[str] = set()


def share_pool() -> None:
    """Make messages in protobuf's default pool: nothing else in this process is TensorFlow, and packages refer to them.

    Where messages were made before, they stay where they are; `publish` puts copies into the default pool.
    """
    global _is_shared
    _is_shared = True


def _default_pool():
    """Protobuf's default pool, if no other TensorFlow's messages are there."""
    found = descriptor_pool.Default()
    try:
        found.FindFileByName(_FIRST)
    except KeyError:
        return found
    return None


def publish() -> None:
    """See to it that the files that were loaded so far are in protobuf's default pool, for files that refer to them."""
    default = descriptor_pool.Default()
    if pool() is default:
        return
    for path in dict.fromkeys(file.path for file in _homes.values()):
        try:
            default.FindFileByName(path)
        except KeyError:
            default.AddSerializedFile(pool().FindFileByName(path).serialized_pb)


def pool():
    """The descriptor pool of the files that were loaded so far."""
    global _pool
    if _pool is None:
        _pool = (_default_pool() if _is_shared else None) or descriptor_pool.DescriptorPool()
        for module in _WELL_KNOWN.values():
            _pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    return _pool


def make_classes(files, refers_to=()) -> dict:
    """Name to message class, for all messages of the files.

    Args:
        files: a `MessageFile` each, after those that it refers to.
        refers_to: the modules of other messages that these refer to. Having been imported, they are in the pool.
    """
    for file in files:
        _enums.update(file.enums)
        _homes.update(dict.fromkeys([*file.messages, *file.enums], file))
        pool().AddSerializedFile(_file_proto(file).SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool().FindMessageTypeByName(f"{file.package}.{name}"))
        for file in files
        for name in file.messages
    }


def _file_proto(file):
    proto = descriptor_pb2.FileDescriptorProto(name=file.path, package=file.package, syntax=file.syntax)
    made: dict = {}
    used: set[str] = set()
    for name, description in file.messages.items():
        outer, _, last = name.rpartition(".")
        message = made[name] = made[outer].nested_type.add(name=last) if outer else proto.message_type.add(name=last)
        _add_fields(message, name, description, file, used)
    for name, values in file.enums.items():
        outer, _, last = name.rpartition(".")
        enum = (made[outer] if outer else proto).enum_type.add(name=last)
        for value, number in values.items():
            enum.value.add(name=value, number=number)
    paths = {_WELL_KNOWN[name].DESCRIPTOR.name if name in _WELL_KNOWN else _homes[name].path for name in used}
    proto.dependency.extend(sorted(paths - {file.path}))
    return proto


def _add_fields(message, name, description, file, used):
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
                kind = _add_map(message, name, found["name"], kind[1:-1].split(": "), file, used)
            elif repeated:
                kind = kind[1:-1]
                if file.syntax == "proto2" and kind in ("fixed64", "int64"):
                    field.options.packed = True
            _set_type(field, kind, file, used)
            if choice is not None:
                field.oneof_index = choice


def _add_map(message, name, field, kinds, file, used):
    """A map is a repeated message of key and value; returns the name of that message."""
    entry = message.nested_type.add(name="".join(part.capitalize() for part in field.split("_")) + "Entry")
    entry.options.map_entry = True
    for number, (part, kind) in enumerate(zip(("key", "value"), kinds), 1):
        item = entry.field.add(name=part, number=number, label=1)
        _set_type(item, kind, file, used)
    return f"{name}.{entry.name}"


def _set_type(field, kind, file, used):
    if kind in _SCALARS:
        field.type = getattr(field, f"TYPE_{kind.upper()}")
        return
    field.type = field.TYPE_ENUM if kind in _enums else field.TYPE_MESSAGE
    if kind in _WELL_KNOWN:
        field.type_name = f".{kind}"
    else:
        field.type_name = f".{_homes.get(kind, file).package}.{kind}"  # the entries of a map have no home of their own
    if not kind.endswith("Entry"):
        used.add(kind)
