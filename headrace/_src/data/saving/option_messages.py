"""`tf.data.Options` as bytes: the attribute `serialized_options` of `OptionsDataset`, a protocol message."""

import enum

from headrace._src.core import errors
from headrace._src.data.options import Options, OptionsBase
from headrace._src.formats import wire


def serialized(options: OptionsBase) -> bytes:
    """Options as a message; what is not set is left out."""
    parts = []
    for name, option in sorted(type(options)._fields().items(), key=lambda item: item[1].number):
        value, field = options._values[name], option.number
        if isinstance(value, OptionsBase):
            parts.append(wire.message(field, serialized(value)))
        elif isinstance(value, list):
            parts += [wire.message(field, text.encode()) for text in value]
        elif isinstance(value, str):
            parts.append(wire.message(field, value.encode()))
        elif value is not None and not (isinstance(value, enum.Enum) and value == option.default):
            number = value.value if isinstance(value, enum.Enum) else int(value)
            parts.append(wire.integer(field, number))
    return b"".join(parts)


def parsed(data: bytes, kind: type = Options) -> OptionsBase:
    """The options in a message."""
    options = kind()
    by_number = {option.number: (name, option) for name, option in kind._fields().items()}
    for field, value in _fields_of(data):
        if field not in by_number:
            continue
        name, option = by_number[field]
        if issubclass(option.kind, OptionsBase):
            value = parsed(value, option.kind)
        elif option.kind is list:
            value = [*(options._values[name] or []), value.decode()]
        elif option.kind is str:
            value = value.decode()
        else:
            value = option.kind(value)
        options._values[name] = value
    return options


def _fields_of(data):
    """Pairs of field number and value, a number or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        value, at = _varint(data, at)
        if key & 7 == 2:
            at += value
            if at > len(data):
                raise errors.invalid_argument("serialized_options: the message is cut off.")
            yield key >> 3, data[at - value : at]
        elif key & 7 == 0:
            yield key >> 3, value - (1 << 64) if value >> 63 else value
        else:
            raise errors.invalid_argument(f"serialized_options: unexpected wire type {key & 7}.")


def _varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise errors.invalid_argument("serialized_options: the message is cut off.")
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
