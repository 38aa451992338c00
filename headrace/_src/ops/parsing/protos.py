"""Any protobuf messages as tensors and back: `tf.io.decode_proto`, `tf.io.encode_proto`."""

import functools
import struct
from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.formats import files as filesystem
from headrace._src.formats import wire
from headrace._src.formats.example_fields import MalformedExample, fields, varint
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.strings.kernel_arrays import attribute_bytes, attribute_text, string_array

if TYPE_CHECKING:
    from headrace._src.attached import DecodeProtoV2

_descriptors = LazyModule("headrace._src.formats.message_descriptors")

_NAMES = (
    "", "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group", "message",
    "bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64",
)  # fmt: skip
_SIGNED_32, _UNSIGNED_32 = (dtypes.int32, dtypes.int64), (dtypes.uint32, dtypes.uint64)
# Which dtypes stand for which of protobuf's types.
_DTYPES = {
    "double": (dtypes.float64,), "float": (dtypes.float32, dtypes.float64), "bool": (dtypes.bool,),
    "enum": (dtypes.int32,),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), (dtypes.int64,)),
    **dict.fromkeys(("uint64", "fixed64"), (dtypes.uint64,)),
    **dict.fromkeys(("int32", "sint32", "sfixed32"), _SIGNED_32),
    **dict.fromkeys(("uint32", "fixed32"), _UNSIGNED_32),
    **dict.fromkeys(("string", "bytes", "message"), (dtypes.string,)),
}  # fmt: skip
_FIXED = {"double": "<d", "float": "<f", "fixed64": "<Q", "sfixed64": "<q", "fixed32": "<I", "sfixed32": "<i"}


class Field:
    """What is needed to know of a field of a message."""

    def __init__(self, op, descriptor):
        self.name = descriptor.name
        self.number = descriptor.number
        self.kind = _NAMES[descriptor.type]
        if self.kind == "group":
            raise errors.invalid_argument(f"{op}: the field {self.name!r} is a group, which is not supported.")
        self.repeated = descriptor.is_repeated
        self.packed = self.repeated and self.kind in _PACKABLE and descriptor.is_packed
        default = b"" if self.repeated or self.kind == "message" else descriptor.default_value
        if self.kind in ("string", "bytes", "message"):
            self.default = default.encode() if isinstance(default, str) else default
        else:
            self.default = 0 if self.repeated else default

    def check(self, op, dtype):
        if dtype not in _DTYPES[self.kind]:
            names = " or ".join(each.name for each in _DTYPES[self.kind])
            raise errors.invalid_argument(
                f"{op}: the field {self.name!r} is of type {self.kind}, which goes with {names}, not with {dtype.name}."
            )

    def values(self, data, tag, start, stop):
        """The values that stand in one occurrence of the field."""
        wire_type = tag & 7
        if self.kind in ("string", "bytes", "message"):
            return [data[start:stop]] if wire_type == 2 else []
        form = _FIXED.get(self.kind)
        if form is not None:
            size = struct.calcsize(form)
            if wire_type == 2 and self.repeated:
                if (stop - start) % size:
                    raise MalformedExample("packed numbers are cut off")
                return [struct.unpack_from(form, data, at)[0] for at in range(start, stop, size)]
            return [struct.unpack_from(form, data, start)[0]] if wire_type == (1 if size == 8 else 5) else []
        if wire_type == 2 and self.repeated:
            found, at = [], start
            while at < stop:
                number, at = varint(data, at, stop)
                found.append(self._integer(number))
            return found
        return [self._integer(varint(data, start, stop)[0])] if wire_type == 0 else []

    def _integer(self, number):
        kind = self.kind
        if kind == "bool":
            return number != 0
        if kind in ("uint64", "uint32"):
            return number if kind == "uint64" else number & 0xFFFFFFFF
        if kind == "sint64":
            return number >> 1 ^ -(number & 1)
        if kind == "sint32":
            number &= 0xFFFFFFFF
            return number >> 1 ^ -(number & 1)
        bits = 64 if kind == "int64" else 32
        number &= (1 << bits) - 1
        return number - (1 << bits) if number >> (bits - 1) else number

    def encoded(self, values) -> bytes:
        """The values as the message has them."""
        if self.kind in ("string", "bytes", "message"):
            return b"".join([wire.message(self.number, value) for value in values])
        items = [self._encoded_number(value) for value in values]
        if self.packed:
            return wire.message(self.number, b"".join(items)) if items else b""
        form = _FIXED.get(self.kind)
        wire_type = 0 if form is None else 1 if struct.calcsize(form) == 8 else 5
        tag = wire.varint(self.number << 3 | wire_type)
        return b"".join([tag + item for item in items])

    def _encoded_number(self, value):
        form = _FIXED.get(self.kind)
        if form is not None:
            try:
                return struct.pack(form, value)
            except (struct.error, OverflowError) as error:
                raise errors.invalid_argument(f"EncodeProto: the field {self.name!r}: {error}.") from None
        if self.kind in ("sint32", "sint64"):
            value = value << 1 ^ -(value < 0)
        elif self.kind == "uint32":
            value &= 0xFFFFFFFF
        return wire.varint(int(value))


_PACKABLE = set(_DTYPES) - {"string", "bytes", "message"}


@functools.lru_cache(maxsize=256)
def _message(op, message_type, source):
    """The class of a message type, by name and descriptor source."""
    content = None
    if source.startswith("bytes://"):
        content = attribute_bytes(source[len("bytes://") :])
    elif source and source != "local://":
        try:
            content = filesystem.read(source)
        except errors.OpError as error:
            raise errors.invalid_argument(f"{op}: the descriptor_source cannot be read: {error.message}") from None
    try:
        return _descriptors.message_class(message_type, content)
    except LookupError:
        raise errors.invalid_argument(f"{op}: there is no message type {message_type!r}.") from None
    except ValueError as error:
        raise errors.invalid_argument(f"{op}: the descriptor_source cannot be used: {error}.") from None


@functools.lru_cache(maxsize=256)
def _fields(op, message_type, source, names):
    descriptor = _message(op, message_type, source).DESCRIPTOR
    found = []
    for name in names:
        if name not in descriptor.fields_by_name:
            raise errors.invalid_argument(f"{op}: the message type {message_type!r} has no field {name!r}.")
        found.append(Field(op, descriptor.fields_by_name[name]))
    return found


def _decode_kernel(bytes, message_type, field_names, output_types, descriptor_source, message_format, sanitize):
    op = "DecodeProtoV2"
    if message_format not in ("binary", "text"):
        raise errors.invalid_argument(f"{op}: message_format must be 'binary' or 'text', got {message_format!r}.")
    if len(field_names) != len(output_types):
        raise errors.invalid_argument(f"{op}: {len(field_names)} field_names, but {len(output_types)} output_types.")
    wanted = _fields(op, message_type, descriptor_source, tuple(field_names))
    for field, dtype in zip(wanted, output_types):
        field.check(op, dtype)
    by_number: dict = {}
    for i, field in enumerate(wanted):
        by_number.setdefault(field.number, []).append(i)
    items = bytes.ravel().tolist()
    found: list[list[list]] = [[] for _ in wanted]
    for index, item in enumerate(items):
        try:
            if message_format == "text":
                item = _descriptors.encoded_text(_message(op, message_type, descriptor_source), item)
            row: list[list] = [[] for _ in wanted]
            for tag, start, stop in fields(item, 0, len(item)):
                for i in by_number.get(tag >> 3, ()):
                    values = wanted[i].values(item, tag, start, stop)
                    row[i] = row[i] + values if wanted[i].repeated else values or row[i]
        except ValueError as error:
            raise errors.DataLossError(
                None, None, f"{op}: the string {index} is no {message_type}: {error}."
            ) from None
        for column, values in zip(found, row):
            column.append(values)
    counts = [[len(values) for values in column] for column in found]
    sizes = np.array(counts, np.int32).reshape(len(wanted), len(items))
    outputs = [
        _padded(column, field.default, dtype).reshape(*bytes.shape, -1)
        if items else np.empty((*bytes.shape, 0), dtype._np)
        for column, field, dtype in zip(found, wanted, output_types)
    ]  # fmt: skip
    return np.ascontiguousarray(sizes.T).reshape(*bytes.shape, len(wanted)), outputs


def _padded(column, default, dtype):
    width = max((len(values) for values in column), default=0)
    # TF: a field that no message has still gets a place, for its default.
    width = max(width, 1 if column else 0)
    flat = [value for values in column for value in (*values, *[default] * (width - len(values)))]
    if dtype is dtypes.string:
        return string_array(flat, (len(column), width))
    return np.array(flat, dtype._np).reshape(len(column), width)


def _decode_infer(bytes, message_type, field_names, output_types, **attrs):
    if bytes.shape.rank is None:
        return TensorShape(None), [TensorShape(None)] * len(output_types)
    dims = bytes.shape.as_list()
    return TensorShape([*dims, len(output_types)]), [TensorShape([*dims, None])] * len(output_types)


DECODE_PROTO = Op(
    "DecodeProtoV2",
    "bytes: string, *, message_type: string, field_names: list(string), output_types: list(type), "
    "descriptor_source: string = 'local://', message_format: string = 'binary', sanitize: bool = False "
    "-> sizes: int32, values: list(output_types)",
    infer=_decode_infer,
    kernel=_decode_kernel,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_proto")
def decode_proto(
    bytes, message_type, field_names, output_types, descriptor_source="local://", message_format="binary",
    sanitize=False, name=None,
) -> "DecodeProtoV2":  # fmt: skip
    """Fields of encoded protobuf messages as tensors.

    Args:
        bytes: strings, each an encoded message.
        message_type: the full name of the message type, such as "tensorflow.Example".
        field_names: which fields to return. A field that is a message itself comes as a string.
        output_types: the dtypes of the fields.
        descriptor_source: where the message type is described: "local://" for TensorFlow's messages and those that the
            process has imported, "bytes://" followed by an encoded `FileDescriptorSet`, or the path of a file with one.
        message_format: "binary" or "text".
        sanitize: accepted for compatibility: nothing unread is ever returned.
        name: a name for the operation.

    Returns:
        `sizes`, how many values each message has of each field (int32, `[..., fields]`), and `values`, a list with one
        tensor `[..., most values]` per field, filled up with the field's default.

    Raises:
        InvalidArgumentError: there is no such message type or field, or a dtype does not fit.
        DataLossError: a string is no such message.

    >>> message = tf.train.Int64List(value=[1, 2]).SerializeToString()
    >>> sizes, (values,) = tf.io.decode_proto([message], "tensorflow.Int64List", ["value"], [tf.int64])
    >>> sizes.numpy().tolist(), values.numpy().tolist()
    ([[2]], [[1, 2]])
    """
    return DECODE_PROTO(
        to_tensor(bytes, dtypes.string),
        message_type=attribute_text(message_type),
        field_names=[attribute_text(field) for field in field_names],
        output_types=[dtypes.as_dtype(dtype) for dtype in output_types],
        descriptor_source=attribute_text(descriptor_source),
        message_format=attribute_text(message_format),
        sanitize=sanitize,
        name=name,
    )


def _encode_kernel(sizes, values, field_names, message_type, descriptor_source):
    op = "EncodeProto"
    if len(field_names) != len(values):
        raise errors.invalid_argument(f"{op}: {len(field_names)} field_names, but {len(values)} values.")
    wanted = _fields(op, message_type, descriptor_source, tuple(field_names))
    batch = None
    for field, value in zip(wanted, values):
        field.check(op, dtypes.string if value.dtype == object else dtypes.FROM_NUMPY[value.dtype])
        if value.ndim < 2:
            raise errors.invalid_argument(
                f"{op}: the values of the field {field.name!r} must have at least two dimensions, got {value.shape}."
            )
        if batch is not None and value.shape[:-1] != batch:
            raise errors.invalid_argument(
                f"{op}: the values must agree in all dimensions but the last, got {value.shape} for the field "
                f"{field.name!r} after {(*batch, '?')}."
            )
        batch = value.shape[:-1]
    if batch is None:
        raise errors.invalid_argument(f"{op}: at least one field is needed.")
    if sizes.shape != (*batch, len(wanted)):
        raise errors.invalid_argument(f"{op}: sizes must have shape {(*batch, len(wanted))}, got {sizes.shape}.")
    counts = sizes.reshape(-1, len(wanted)).tolist()
    columns = [value.reshape(-1, value.shape[-1]).tolist() for value in values]
    order = sorted(range(len(wanted)), key=lambda i: wanted[i].number)
    encoded = []
    for row, count in enumerate(counts):
        parts = []
        for i in order:
            stored = columns[i][row]
            if count[i] > len(stored):
                raise errors.invalid_argument(
                    f"{op}: sizes asks for {count[i]} values of the field {wanted[i].name!r} in message {row}, but "
                    f"there are {len(stored)}."
                )
            parts.append(wanted[i].encoded(stored[: max(count[i], 0)]))
        encoded.append(b"".join(parts))
    return string_array(encoded, batch)


def _encode_infer(sizes, values, **attrs):
    if sizes.shape.rank is None:
        return TensorShape(None)
    return TensorShape(sizes.shape.as_list()[:-1]) if sizes.shape.rank else TensorShape(None)


ENCODE_PROTO = Op(
    "EncodeProto",
    "sizes: int32, values: list(Tinput_types), *, field_names: list(string), message_type: string, "
    "descriptor_source: string = 'local://' -> bytes: string",
    infer=_encode_infer,
    kernel=_encode_kernel,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.encode_proto")
def encode_proto(sizes, values, field_names, message_type, descriptor_source="local://", name=None) -> Tensor:
    """Tensors as encoded protobuf messages: the inverse of `decode_proto`.

    Args:
        sizes: int32 `[..., fields]`, how many values each message has of each field.
        values: a list with one tensor `[..., most values]` per field.
        field_names: the names of the fields.
        message_type: the full name of the message type.
        descriptor_source: where the message type is described, see `decode_proto`.
        name: a name for the operation.

    Returns:
        Strings, of the shape of `sizes` without its last dimension.

    >>> tf.io.encode_proto([[2]], [tf.constant([[1, 2]], tf.int64)], ["value"], "tensorflow.Int64List").numpy()
    array([b'\\n\\x02\\x01\\x02'], dtype=object)
    """
    return ENCODE_PROTO(
        sizes,
        list(values),
        field_names=[attribute_text(field) for field in field_names],
        message_type=attribute_text(message_type),
        descriptor_source=attribute_text(descriptor_source),
        name=name,
    )
