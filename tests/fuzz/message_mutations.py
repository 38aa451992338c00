"""Changes of protobuf messages in their structure: fields set to extremes, left out, doubled, exchanged, nested."""

import contextlib

from byte_mutations import any_bytes
from google.protobuf import message as protobuf_message

INTEGERS = [0, 1, -1, 2, 7, 100, 127, 255, 2**15, 2**31 - 1, -(2**31), 2**32 - 1, 2**33, 2**62, 2**63 - 1, -(2**63),
            2**64 - 1]  # fmt: skip
FLOATS = [0.0, -1.0, 1e-300, 1e300, float("inf"), float("nan")]
TEXTS = ["", "x", "..", "../../x", "/", "a/b", "\0", "_", "x" * 300, "__class__", "ü", "12", "a:0", "^a", "\udcff"]
_RANGES = {"int32": (-(2**31), 2**31), "int64": (-(2**63), 2**63), "uint32": (0, 2**32), "uint64": (0, 2**64)}
_MOST_NESTED = 80  # protobuf reads 100 levels


def mutated_message(rng, data, make, others=()):
    """An encoded message after one to four changes; None where the data are no such message.

    Args:
        rng: a `random.Random`.
        data: the encoded message.
        make: its class.
        others: encoded messages of the same class, from which parts may come.
    """
    message, donor = make(), make()
    try:
        message.ParseFromString(data)
        donor.ParseFromString(rng.choice(others) if others else data)
    except Exception:
        return None
    with contextlib.suppress(protobuf_message.DecodeError):  # too deeply nested to be copied: it stays
        change_message(rng, message, donor)
    try:
        return message.SerializePartialToString()
    except protobuf_message.EncodeError:
        return None


def change_message(rng, message, donor=None):
    """Changes a message in one to four places."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        _change(rng, *_descended(rng, message), donor or message)


def _descended(rng, message):
    """A message inside of this one, or itself, and one of its fields."""
    while True:
        fields = message.ListFields()
        inner = [(field, value) for field, value in fields if field.message_type is not None]
        if not inner or rng.random() < 0.12:
            return message, _any_field(rng, message, fields)
        field, value = rng.choices(inner, [_weight(*each) for each in inner])[0]
        if _is_map(field):
            key = rng.choice(sorted(value))
            if field.message_type.fields_by_name["value"].message_type is None:
                return message, field
            message = value[key]
        elif _is_repeated(field):
            message = rng.choice(value)
        else:
            message = value


def _any_field(rng, message, fields):
    if fields and rng.random() < 0.85:
        return rng.choice(fields)[0]
    return rng.choice(message.DESCRIPTOR.fields) if message.DESCRIPTOR.fields else None


def _weight(field, value):
    if _is_repeated(field):
        return 1 + len(value) ** 0.5
    return 1


def _is_repeated(field):
    repeated = getattr(field, "is_repeated", None)
    return field.label == field.LABEL_REPEATED if repeated is None else repeated


def _is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry and _is_repeated(field)


def _change(rng, message, field, donor):
    if field is None:
        return
    if rng.random() < 0.1:
        message.ClearField(field.name)
    elif _is_map(field):
        _change_map(rng, getattr(message, field.name), field)
    elif _is_repeated(field):
        _change_repeated(rng, getattr(message, field.name), field, donor)
    elif field.message_type is not None:
        _change_inner(rng, getattr(message, field.name), field, donor)
    else:
        setattr(message, field.name, _scalar(rng, field, getattr(message, field.name), donor))


def _change_map(rng, entries, field):
    keys = sorted(entries)
    value_field = field.message_type.fields_by_name["value"]
    kind = rng.randrange(4)
    key = rng.choice(keys) if keys else _scalar(rng, field.message_type.fields_by_name["key"], None, None)
    if kind == 0 and keys:
        del entries[key]
    elif value_field.message_type is None:
        entries[key] = _scalar(rng, value_field, entries.get(key), None)
    elif kind == 1 and keys:  # another's value
        entries[key].CopyFrom(_own(entries[rng.choice(keys)]))
    elif kind == 2 and keys:  # the value under another name
        other = _scalar(rng, field.message_type.fields_by_name["key"], key, None)
        entries[other].CopyFrom(_own(entries[key]))
    else:
        change_message(rng, entries[key])


def _change_repeated(rng, values, field, donor):
    kind = rng.randrange(6)
    at = rng.randrange(len(values)) if values else 0
    if kind == 0 and values:
        del values[at]
    elif kind == 1 and values:
        del values[at:]
    elif kind == 2 and len(values) > 1:  # exchanged
        items = list(values)
        other = rng.randrange(len(items))
        items[at], items[other] = items[other], items[at]
        copies = list(map(_own, items)) if field.message_type else items
        del values[:]
        values.extend(copies)
    elif field.message_type is None:
        if values and kind == 3:
            values[at] = _scalar(rng, field, values[at], donor)
        elif values and kind == 4:
            values.extend([values[at]] * rng.choice([1, 2, 30, 3000]))
        else:
            values.append(_scalar(rng, field, None, donor))
    elif values and kind == 3:
        copy = _own(values[at])
        for _ in range(rng.choice([1, 1, 2, 30, 300])):
            values.add().CopyFrom(copy)
    else:
        _change_inner(rng, values.add() if kind == 4 or not values else values[at], field, donor)


def _change_inner(rng, message, field, donor):
    found = _found(rng, donor, field.message_type)
    if found is not None and rng.random() < 0.5:
        message.CopyFrom(_own(found))
    elif rng.random() < 0.2:
        _nest(rng, message)
    else:
        message.SetInParent()
        change_message(rng, message)


def _own(message):
    """A copy apart from the message that it is in: what changes there would end what is copied from."""
    return type(message).FromString(message.SerializePartialToString())


def _nest(rng, message):
    """The message inside of itself, many times, where its class allows that."""
    path = _way_back(message.DESCRIPTOR, message.DESCRIPTOR, 4)
    if path is None:
        change_message(rng, message)
        return
    copy = _own(message)
    depth = rng.choice([1, 3, 10, _MOST_NESTED]) // len(path)
    for _ in range(depth):
        outer = type(message)()
        inner = outer
        for field in path:
            inner = getattr(inner, field.name).add() if _is_repeated(field) else getattr(inner, field.name)
        inner.CopyFrom(copy)
        copy = outer
    message.CopyFrom(copy)


def _way_back(descriptor, wanted, most):
    """Fields that lead from a message to one of the same class inside of it."""
    if not most:
        return None
    for field in descriptor.fields:
        if field.message_type is wanted and not _is_map(field):
            return [field]
    for field in descriptor.fields:
        if field.message_type is not None and not _is_map(field):
            path = _way_back(field.message_type, wanted, most - 1)
            if path is not None:
                return [field, *path]
    return None


def _found(rng, donor, descriptor):
    """A message of this class somewhere inside of another one."""
    for _ in range(4):
        message = donor
        while True:
            if message.DESCRIPTOR is descriptor and rng.random() < 0.5:
                return message
            inner = [each for each in message.ListFields() if each[0].message_type is not None]
            inner = [(field, value) for field, value in inner if not _is_map(field) or _values_are_messages(field)]
            if not inner:
                break
            field, value = rng.choice(inner)
            if _is_map(field):
                message = value[rng.choice(sorted(value))]
            else:
                message = rng.choice(value) if _is_repeated(field) else value
    return None


def _values_are_messages(field):
    return field.message_type.fields_by_name["value"].message_type is not None


def _scalar(rng, field, before, donor):
    """Another value for a field of no message class."""
    kind = field.cpp_type
    if kind == field.CPPTYPE_STRING:
        if field.type == field.TYPE_BYTES:
            return any_bytes(rng, before or b"")
        return _text(rng, before or "", donor)
    if kind == field.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if kind in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
        return rng.choice(FLOATS)
    if kind == field.CPPTYPE_ENUM:
        if rng.random() < 0.7 or field.enum_type.is_closed:
            return rng.choice(field.enum_type.values).number
        return rng.choice([99, 200, 2**31 - 1, -1])
    name = {
        field.CPPTYPE_INT32: "int32",
        field.CPPTYPE_INT64: "int64",
        field.CPPTYPE_UINT32: "uint32",
        field.CPPTYPE_UINT64: "uint64",
    }[kind]
    low, high = _RANGES[name]
    value = (before or 0) + rng.choice([-1, 1, 2]) if rng.random() < 0.4 else rng.choice(INTEGERS)
    return value if low <= value < high else rng.choice([0, 1, high - 1, low])


def _text(rng, before, donor):
    kind = rng.randrange(5)
    if kind == 0:
        text = rng.choice(TEXTS[:-1])
    elif kind == 1 and donor is not None:
        text = _other_text(rng, donor) or "x"
    elif kind == 2:
        text = before + rng.choice(TEXTS[:-1])
    elif kind == 3 and before:
        place = rng.randrange(len(before))
        text = before[:place] + before[place + 1 :]
    else:
        text = any_bytes(rng, before.encode()).decode("utf-8", "replace")
    return text


def _other_text(rng, donor):
    """A text that stands somewhere in a message."""
    for _ in range(4):
        message, field = _descended(rng, donor)
        value = getattr(message, field.name) if field is not None and not _is_map(field) else ""
        if isinstance(value, str) and value:
            return value
    return None
