"""Examples written in JSON, as protobuf writes messages, turned into encoded ones."""

import base64
import binascii
import json
import math

from headrace._src.formats import wire

_LARGEST_FLOAT = 3.4028235677973366e38  # from here on, rounding to float32 gives infinity
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def encoded_example(text: bytes) -> bytes:
    """An Example in JSON as an encoded one.

    Raises:
        ValueError: the text is no JSON, or no Example.
    """
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    out = b""
    for features in _members("the Example", value, {"features": 1}).values():
        entries = _members("features", features, {"feature": 1}).get(1)
        parts = []
        for key, feature in sorted(_object("feature", entries).items()):
            parts.append(wire.message(1, wire.text(1, key) + wire.message(2, _feature(key, feature))))
        out += wire.message(1, b"".join(parts))
    return out


def _unique(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


def _refuse_constant(name):
    raise ValueError(f"{name} has to be in quotes")


def _object(what, value):
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object, got {json.dumps(value)[:60]}")
    return value


def _members(what, value, names):
    """Number of the field to value, for an object that has no other fields; null is as good as nothing."""
    if value is None and what == "the Example":
        raise ValueError("the Example must be an object, got null")
    found: dict = {}
    for name, item in _object(what, value).items():
        if name not in names:
            raise ValueError(f"{what} has no field {name!r}; it has {', '.join(names)}")
        if item is not None:
            if names[name] in found:
                raise ValueError(f"{what} has the field {name!r} twice")
            found[names[name]] = item
    return found


_KINDS = {"bytesList": 1, "bytes_list": 1, "floatList": 2, "float_list": 2, "int64List": 3, "int64_list": 3}


def _feature(key, value):
    kinds = _members(f"the feature {key!r}", value, _KINDS)
    if len(kinds) > 1:
        raise ValueError(f"the feature {key!r} has values of two kinds")
    for kind, content in kinds.items():
        values = _members(f"the list of the feature {key!r}", content, {"value": 1}).get(1, [])
        if not isinstance(values, list):
            raise ValueError(f"the values of the feature {key!r} must be a list, got {json.dumps(values)[:60]}")
        return wire.message(kind, _ENCODERS[kind](key, values))
    return b""


def _refuse(key, value, kind):
    raise ValueError(f"the feature {key!r} holds {json.dumps(value)[:60]}, which is no {kind}")


def _strings(key, values):
    parts = []
    for value in values:
        if not isinstance(value, str):
            _refuse(key, value, "string in base64")
        plain = value.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            parts.append(wire.message(1, base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)))
        except (binascii.Error, ValueError):
            _refuse(key, value, "string in base64")
    return b"".join(parts)


def _number(key, value, kind):
    if isinstance(value, str):
        if value in _SPECIAL:
            return _SPECIAL[value]
        if value != value.strip() or "_" in value:
            _refuse(key, value, kind)
        try:
            return int(value)
        except ValueError:
            pass
        try:
            return float(value)
        except ValueError:
            _refuse(key, value, kind)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _refuse(key, value, kind)
    return value


def _floats(key, values):
    numbers = []
    for value in values:
        number = _number(key, value, "float")
        if math.isinf(number) and value not in _SPECIAL:
            _refuse(key, value, "float")
        if math.isfinite(number) and abs(number) >= _LARGEST_FLOAT:
            _refuse(key, value, "float that 32 bits can hold")
        numbers.append(number)
    # TF: numbers that come from JSON are not packed.
    return b"".join(wire.single(1, number) for number in numbers)


def _integers(key, values):
    numbers = []
    for value in values:
        number = _number(key, value, "integer")
        if isinstance(number, float):
            if not number.is_integer():
                _refuse(key, value, "integer")
            number = int(number)
        if not -(2**63) <= number < 2**63:
            _refuse(key, value, "integer of 64 bits")
        numbers.append(number)
    return b"".join(wire.integer(1, number) for number in numbers)


_ENCODERS = {1: _strings, 2: _floats, 3: _integers}
