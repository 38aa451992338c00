"""Examples and SequenceExamples with something odd at each place of the message, and what TensorFlow says of each.

    $TENSORFLOW_PYTHON tests/formats/example_shapes.py

records whether TensorFlow reads them (`r` read, `x` refused, `c` the process ended) in tests/golden/example_shapes.txt.
"""

import os
import pathlib
import subprocess
import sys

ANSWERS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "example_shapes.txt"
KINDS = {"ids": "int64", "weights": "float32", "words": "string"}


def _length(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _field(tag, content):
    return bytes([tag]) + _length(len(content)) + content


_FLOATS = _field(0x0A, b"\0\0\x80?")
_FEATURES = {
    "ids": _field(0x1A, _field(0x0A, b"\x01\x02")),
    "weights": _field(0x12, _FLOATS),
    "words": _field(0x0A, _field(0x0A, b"ab")),
}
# What may stand where it should not.
_JUNK = {
    "varint": b"\x28\x05", "text": _field(0x2A, b"xy"), "four bytes": b"\x2d\1\2\3\4",
    "eight bytes": b"\x29" + b"\1" * 8, "group": b"\x2b\x28\x01\x2c", "end of group": b"\x2c", "wire type 6": b"\x2e",
    "wire type 7": b"\x2f", "zero": b"\0", "field zero": b"\x02\x01a", "long tag": b"\x8a\x00\x02ab",
    "cut off": b"\x2a\x7f", "empty": b"\x0a\0",
}  # fmt: skip
_ENTRIES = {
    "value, key": lambda key, value: value + key,
    "no key": lambda key, value: value,
    "no value": lambda key, value: key,
    "nothing": lambda key, value: b"",
    "two keys": lambda key, value: _field(0x0A, b"zz") + key + value,
    "key, value, key": lambda key, value: key + value + _field(0x0A, b"zz"),
    "two values, the first empty": lambda key, value: key + _field(0x12, b"") + value,
    "two values": lambda key, value: key + value + value,
    "a zero behind": lambda key, value: key + value + b"\0",
}
_INTEGERS = {
    "unpacked": b"\x08\x01\x08\x02", "unpacked, packed": b"\x08\x01\x0a\x01\x02",
    "packed, unpacked": b"\x0a\x01\x02\x08\x01",
    "a number cut off": b"\x0a\x02\x01\x80", "a number of 11 bytes": b"\x0a\x0b" + b"\x80" * 10 + b"\x01",
    "a number of 10 bytes": b"\x0a\x0a" + b"\xff" * 9 + b"\x01",
    "more than 64 bits": b"\x0a\x0a" + b"\xff" * 9 + b"\x7f",
    "unpacked, cut off": b"\x08\x80", "unpacked, of 11 bytes": b"\x08" + b"\x80" * 10 + b"\x01",
}  # fmt: skip
_NUMBERS = {
    "unpacked": b"\x0d\0\0\x80?\x0d\0\0\x80?", "unpacked, packed": b"\x0d\0\0\x80?" + _FLOATS,
    "packed, unpacked": _FLOATS + b"\x0d\0\0\x80?", "three bytes": b"\x0a\x03\0\0\x80",
    "five bytes": b"\x0a\x05\0\0\x80?\x01",
    "unpacked, cut off": b"\x0d\0\0", "integers": b"\x08\x01",
}  # fmt: skip


def _entry(key, value):
    return _field(0x0A, key.encode()) + _field(0x12, value)


def _map(entries, before=b"", behind=b""):
    return before + b"".join(_field(0x0A, entry) for entry in entries) + behind


def _odd_entries(key, value):
    """Entries of a map, by what is odd about them."""
    parts = _field(0x0A, key.encode()), _field(0x12, value)
    for name, make in _ENTRIES.items():
        yield name, make(*parts)
    for name, junk in _JUNK.items():
        yield f"{name}, key, value", junk + parts[0] + parts[1]
        yield f"key, {name}, value", parts[0] + junk + parts[1]
        yield f"key, value, {name}", parts[0] + parts[1] + junk
    size = len(value)
    yield "a length in two bytes", b"\x0a" + bytes([128 | len(key), 0]) + key.encode() + parts[1]
    yield "a value beyond the end", parts[0] + b"\x12" + _length(size + 5) + value
    yield "a value that ends early", parts[0] + b"\x12" + _length(size - 1) + value


def _odd_features(key):
    """Encoded features, by what is odd about them."""
    value = _FEATURES.get(key, _FEATURES["ids"])
    other = _FEATURES["ids" if key == "words" else "words"]
    inner = value[2:]
    for name, junk in _JUNK.items():
        yield f"{name}, values", junk + value
        yield f"values, {name}", value + junk
        yield f"values of {name} and more", _field(value[0], junk + inner)
        yield f"values and {name}", _field(value[0], inner + junk)
    yield "nothing", b""
    yield "no values", bytes([value[0], 0])
    yield "values twice", value + value
    yield "values of another kind, values", other + value
    yield "values, values of another kind", value + other
    yield "values in two pieces", _field(value[0], inner + inner)
    yield "values beyond the end", bytes([value[0], value[1] + 3]) + inner
    yield "values that end early", bytes([value[0], value[1] - 1]) + inner
    yield "a piece beyond the end", value[:3] + bytes([value[3] + 1]) + value[4:]
    yield "a piece that ends early", value[:3] + bytes([value[3] - 1]) + value[4:]
    if key in ("ids", "other"):
        for name, numbers in _INTEGERS.items():
            yield name, _field(0x1A, numbers)
    if key == "weights":
        for name, numbers in _NUMBERS.items():
            yield name, _field(0x12, numbers)


def _odd_maps(usual, values):
    """Maps with one odd entry or value, by what is odd: `usual` are the values of the keys, `values` gives odd ones."""
    whole = [_entry(key, value) for key, value in usual.items()]
    for name, junk in _JUNK.items():
        yield f"{name}, entries", _map(whole, before=junk)
        yield f"entries, {name}", _map(whole, behind=junk)
    for key in [*usual, "other"]:
        rest = [_entry(each, value) for each, value in usual.items() if each != key]
        for name, entry in _odd_entries(key, usual.get(key, usual["ids"])):
            yield f"{key}: {name}", _map([*rest, entry])
        for name, value in values(key):
            yield f"{key} has {name}", _map([*rest, _entry(key, value)])
        yield f"{key} twice", _map([*rest, *[_entry(key, usual.get(key, usual["ids"]))] * 2])
    yield "a key that is no text", _map([*whole, _field(0x0A, b"\xff\xfe") + _field(0x12, _FEATURES["ids"])])


def examples():
    """Encoded Examples by name."""
    whole = _field(0x0A, _map([_entry(key, value) for key, value in _FEATURES.items()]))
    found = {"usual": whole, "nothing": b"", "twice": whole + whole}
    for name, junk in _JUNK.items():
        found[f"{name}, features"], found[f"features, {name}"] = junk + whole, whole + junk
    found.update({name: _field(0x0A, content) for name, content in _odd_maps(_FEATURES, _odd_features)})
    return found


def _feature_list(*features):
    return b"".join(_field(0x0A, feature) for feature in features)


def _odd_lists(key):
    value = _FEATURES.get(key, _FEATURES["ids"])
    for name, junk in _JUNK.items():
        yield f"{name}, features", junk + _feature_list(value, value)
        yield f"features, {name}", _feature_list(value, value) + junk
    for name, feature in _odd_features(key):
        yield f"a feature of {name}", _feature_list(value, feature)


def sequence_examples():
    """Encoded SequenceExamples by name."""
    lists = {key: _feature_list(value, value) for key, value in _FEATURES.items()}
    context = _field(0x0A, _map([_entry(key, value) for key, value in _FEATURES.items()]))
    sequences = _field(0x12, _map([_entry(key, value) for key, value in lists.items()]))
    found = {"usual": context + sequences, "nothing": b"", "the other order": sequences + context}
    for name, junk in _JUNK.items():
        found[f"{name}, context, lists"] = junk + context + sequences
        found[f"context, {name}, lists"] = context + junk + sequences
        found[f"context, lists, {name}"] = context + sequences + junk
    for name, content in _odd_maps(_FEATURES, _odd_features):
        found[f"context: {name}"] = _field(0x0A, content) + sequences
    for name, content in _odd_maps(lists, _odd_lists):
        found[f"lists: {name}"] = context + _field(0x12, content)
    return found


def answers():
    """What TensorFlow says: name to letter, of Examples and of SequenceExamples."""
    lines = ANSWERS.read_text().split()
    cases = [examples(), sequence_examples()]
    assert [len(line) for line in lines] == [len(each) for each in cases]
    return [dict(zip(each, line)) for each, line in zip(cases, lines)]


def _record():
    """A process for each stretch, since TensorFlow ends with some of them."""
    found = []
    for which, cases in enumerate([examples(), sequence_examples()]):
        letters = ""
        while len(letters) < len(cases):
            command = [sys.executable, __file__, str(which), str(len(letters))]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            letters += done.stdout.strip() + ("c" if done.returncode else "")
        found.append(letters)
    ANSWERS.write_text("\n".join(found) + "\n")


def _answer(which, start):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    features = {key: tf.io.VarLenFeature(getattr(tf, kind)) for key, kind in KINDS.items()}
    lists = {key: tf.io.RaggedFeature(getattr(tf, kind)) for key, kind in KINDS.items()}
    for data in list([examples, sequence_examples][which]().values())[start:]:
        try:
            if which:
                tf.io.parse_single_sequence_example(data, features, lists)
            else:
                tf.io.parse_single_example(data, features)
            letter = "r"
        except (tf.errors.InvalidArgumentError, UnicodeDecodeError):  # its message may have bytes that are no text
            letter = "x"
        sys.stdout.write(letter)
        sys.stdout.flush()


if __name__ == "__main__":
    _answer(*map(int, sys.argv[1:])) if len(sys.argv) > 1 else _record()
