"""Reading one encoded `Example` or `SequenceExample` field by field.

A feature is read as its kind (1 bytes, 2 float, 3 int64; 0 when it holds nothing) and its payload: packed numbers as
they are stored, or a list of strings. Messages that occur twice are merged, and keys that occur twice count once, the
last one, as protobuf says. TF: otherwise a message must be written as TensorFlow's parser wants it, which refuses much
that protobuf allows: unknown fields count only beside the features and behind the values of a feature, entries of maps
are a key and a value and nothing else, and all of these are looked at, also of features that nobody asked for. What is
cut off is refused here wherever it is, also where TensorFlow's parser reads on.
"""

import numpy as np

BYTES, FLOAT, INT64 = 1, 2, 3
KIND_NAMES = {0: "nothing", BYTES: "bytes", FLOAT: "float", INT64: "int64"}

_GROUP_DEPTH = 100  # protobuf's own limit for messages inside of messages
_UNPACKED_TAG = {FLOAT: 8 | 5, INT64: 8}


class MalformedExample(ValueError):
    """The bytes are no such message; `index` is the number of the record in its batch."""

    index = 0


def varint(data: bytes, at: int, stop: int) -> tuple[int, int]:
    """The number at `at`, and where it ends."""
    if at < stop and data[at] < 128:
        return data[at], at + 1
    result = shift = 0
    while True:
        if at >= stop or shift > 63:
            raise MalformedExample("a number is cut off or too long")
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def _end_of_group(data, at, stop, number, depth):
    """The position behind the end mark of a group that began just before `at`."""
    if depth > _GROUP_DEPTH:
        raise MalformedExample("groups are nested too deeply")
    while True:
        tag, at = varint(data, at, stop)
        if tag & 7 == 4:
            if tag >> 3 != number:
                raise MalformedExample("the end of a group does not fit its beginning")
            return at
        at = _end_of_value(data, at, stop, tag, depth)[1]


def _end_of_value(data, at, stop, tag, depth=0):
    """Where the value of a field begins and ends, given its tag."""
    wire = tag & 7
    if not 8 <= tag < 2**32:
        raise MalformedExample(f"there is no field number {tag >> 3}")
    start = at
    if wire == 2:
        length, start = varint(data, at, stop)
        at = start + length
    elif wire == 0:
        _, at = varint(data, at, stop)
    elif wire == 5:
        at += 4
    elif wire == 1:
        at += 8
    elif wire == 3:
        at = _end_of_group(data, at, stop, tag >> 3, depth + 1)
    else:
        raise MalformedExample(f"a field has the unknown wire type {wire}")
    if at > stop:
        raise MalformedExample("the message is cut off")
    return start, at


def fields(data: bytes, at: int, stop: int):
    """(tag, start, stop) of each field of a message; start and stop enclose the value."""
    while at < stop:
        tag, at = varint(data, at, stop)
        start, at = _end_of_value(data, at, stop, tag)
        yield tag, start, at


def delimited(data: bytes, at: int, stop: int, tags):
    """(tag, start, stop) of each field of a message that may have only these fields of strings or messages."""
    while at < stop:
        tag = data[at]
        if tag not in tags:
            raise MalformedExample(f"the byte {tag:#04x} where a field should begin")
        length, start = varint(data, at + 1, stop)
        at = start + length
        if at > stop:
            raise MalformedExample("the message is cut off")
        yield tag, start, at


_ONE, _KEY_OR_VALUE = frozenset([10]), frozenset([10, 18])


def merged(data: bytes, at: int, stop: int, number: int) -> bytes:
    """The message in field `number`; several are merged, which means that their bytes stand one after the other."""
    wanted, found = number << 3 | 2, []
    for tag, start, end in fields(data, at, stop):
        if tag == wanted:
            found.append(data[start:end])
        elif tag & 7 == 3:
            raise MalformedExample("there is a group")
    return found[0] if len(found) == 1 else b"".join(found)


def entries(data: bytes, at: int, stop: int, in_order: bool = False):
    """(key, value) of each entry of a map from strings to messages, which is field 1 of the message.

    Args:
        data, at, stop: the message.
        in_order: whether keys must come before values.
    """
    for _, start, end in delimited(data, at, stop, _ONE):
        key_stop = start + 2 + data[start + 1] if end - start > 2 and data[start] == 10 else end
        if key_stop < end and data[start + 1] < 128 and data[key_stop] == 18:
            value, value_stop = varint(data, key_stop + 1, end)
            value_stop += value
            if value_stop == end:  # as everybody writes it: a key, then a value
                yield data[start + 2 : key_stop], data[end - value : end]
                continue
        parts = list(delimited(data, start, end, _KEY_OR_VALUE))
        if [tag for tag, _, _ in parts] not in ([[10, 18]] if in_order else [[10, 18], [18, 10]]):
            raise MalformedExample("an entry must be a key and a value")
        (_, first, last), (_, begin, close) = sorted(parts)
        yield data[first:last], data[begin:close]


def payload(feature: bytes, in_list: bool = False):
    """(kind, payload) of an encoded `Feature`.

    Args:
        feature: the message.
        in_list: whether it is one of a `FeatureList`, where nothing may follow its values.
    """
    size = len(feature)
    if not size:
        return 0, b""
    kind = feature[0] >> 3
    if feature[0] & 7 != 2 or not 1 <= kind <= 3:
        raise MalformedExample(f"a feature begins with the byte {feature[0]:#04x}, which is no kind of values")
    length, at = varint(feature, 1, size)
    if at + length == size:
        if kind != BYTES and length and feature[at] == 10:
            length, start = varint(feature, at + 1, size)
            if start + length == size:
                return kind, _checked(kind, feature[start:])
        return kind, list_payload(kind, feature, at, size, in_list)
    if in_list:
        raise MalformedExample("something follows the values of a feature")
    content = b""
    for tag, start, end in fields(feature, 0, size):
        if tag & 7 == 2 and 1 <= tag >> 3 <= 3:
            if tag >> 3 != kind:
                raise MalformedExample("a feature has values of two kinds")
            content += feature[start:end]
    return kind, list_payload(kind, content, 0, len(content), in_list)


def list_payload(kind: int, data: bytes, at: int, stop: int, in_list: bool = False):
    """The payload of an encoded list of that kind, whose numbers may be packed or not."""
    if kind == BYTES:
        return [data[start:end] for _, start, end in delimited(data, at, stop, _ONE)]
    if at == stop:
        return b""
    unpacked = _UNPACKED_TAG[kind]
    if data[at] not in (10, unpacked):
        raise MalformedExample(f"the byte {data[at]:#04x} where {KIND_NAMES[kind]} values should begin")
    is_packed, parts = data[at] == 10, []
    if is_packed and in_list:  # TF: one piece, which `payload` has read already
        raise MalformedExample(f"something follows the {KIND_NAMES[kind]} values of a feature in a list")
    for tag, start, end in fields(data, at, stop):
        if tag == 10 and is_packed:
            parts.append(_checked(kind, data[start:end]))
        elif tag == unpacked:
            parts.append(data[start:end])
        elif not is_packed:
            raise MalformedExample(f"something else stands among {KIND_NAMES[kind]} values")
    return b"".join(parts)


def _checked(kind, numbers):
    if kind == FLOAT and len(numbers) % 4:
        raise MalformedExample("packed floating numbers are cut off")
    if kind == INT64 and numbers and numbers[-1] > 127:
        raise MalformedExample("packed integers are cut off")
    return numbers


def features_of(data: bytes, wanted, in_order: bool = False) -> dict:
    """Key to (kind, payload) for the wanted keys that the `Features` in field 1 of a message has."""
    found = _usual_entries(data, wanted)
    if found is None:
        content = merged(data, 0, len(data), 1)
        found = {key: value for key, value in entries(content, 0, len(content), in_order) if key in wanted}
    return {key: payload(value) for key, value in found.items()}


def _usual_entries(data, wanted):
    """The encoded values of the wanted keys of an Example that is written the usual way; None for any other."""
    found: dict = {}
    try:
        stop = len(data)
        if not stop:
            return found
        length, at = varint(data, 1, stop)
        if data[0] != 10 or at + length != stop:
            return None
        while at < stop:
            length, start = data[at + 1], at + 2
            if length > 127:
                length, start = varint(data, at + 1, stop)
            end, size = start + length, data[start + 1]
            value = start + 2 + size
            if data[at] != 10 or data[start] != 10 or size > 127 or end > stop or value > end:
                return None
            length, first = data[value + 1], value + 2
            if length > 127:
                length, first = varint(data, value + 1, end)
            if data[value] != 18 or first + length != end:
                return None
            key = data[start + 2 : value]
            if key in wanted:
                found[key] = data[first:end]
            at = end
    except (IndexError, MalformedExample):
        return None  # the other reader tells what is wrong
    return found


def feature_lists_of(data: bytes, wanted) -> dict:
    """Key to a list of (kind, payload) for the wanted keys that the `FeatureLists` of a SequenceExample has."""
    content = merged(data, 0, len(data), 2)
    found = {key: value for key, value in entries(content, 0, len(content), in_order=True) if key in wanted}
    return {key: feature_list(value) for key, value in found.items()}


def feature_list(data: bytes) -> list:
    """The (kind, payload) of each feature of an encoded `FeatureList`."""
    return [payload(data[start:stop], in_list=True) for _, start, stop in delimited(data, 0, len(data), _ONE)]


def values_of(kind: int, stored):
    """The values of one payload: an array of float32 or int64, or the list of strings."""
    if kind == BYTES:
        return stored
    if kind == FLOAT:
        return np.frombuffer(stored, "<f4")
    if len(stored) > 64:
        return integers(np.frombuffer(stored, np.uint8))
    numbers, number, shift = [], 0, 0
    for byte in stored:
        number |= (byte & 127) << shift
        if byte > 127:
            shift += 7
            if shift > 63:
                raise MalformedExample("an integer is too long")
            continue
        number &= 0xFFFFFFFFFFFFFFFF
        numbers.append(number - 2**64 if number >= 2**63 else number)
        number = shift = 0
    return np.array(numbers, np.int64)


def integers(data: np.ndarray) -> np.ndarray:
    """The int64 numbers of packed varints, the last of which is whole."""
    last = np.flatnonzero(data < 128)
    if last.size == data.size:
        return data.astype(np.int64)
    first = np.empty_like(last)
    first[0] = 0
    np.add(last[:-1], 1, out=first[1:])
    sizes = last - first + 1
    longest = int(sizes.max())
    if longest > 10:
        raise MalformedExample("an integer is too long")
    seven = np.uint64(0x7F)
    result = data[first].astype(np.uint64) & seven
    for i in range(1, longest):
        longer = np.flatnonzero(sizes > i)
        result[longer] |= (data[first[longer] + i].astype(np.uint64) & seven) << np.uint64(7 * i)
    return result.view(np.int64)
