"""The lockstep parser of Examples against the field-by-field one, and both against protobuf's own."""

import resource

import numpy as np
import pytest
from example_samples import KINDS, field, mutated, odd_encoding, random_example, random_sequence

from headrace._src.formats import example_wire
from headrace._src.formats.example_fields import BYTES, FLOAT, INT64, MalformedExample, integers
from headrace._src.formats.example_headers import Header, encoded, lengths_at, windows
from headrace._src.formats.example_messages import Example, SequenceExample
from headrace._src.formats.example_sequences import SequenceExampleParser
from headrace._src.formats.example_wire import ExampleParser, WrongKind

LISTS = {"bytes_list": BYTES, "float_list": FLOAT, "int64_list": INT64}


def values_in(feature):
    """(kind, values) of a protobuf Feature; None when it has none."""
    name = feature.WhichOneof("kind")
    return None if name is None else (LISTS[name], list(getattr(feature, name).value))


def expected(messages, key):
    """What a column should be: a list of values or None for each message, or the WrongKind that should be raised."""
    column = []
    for message in messages:
        found = values_in(message[key]) if key in message else None
        if found is not None and found[0] != KINDS[key.encode()]:
            return WrongKind
        column.append(None if found is None else found[1])
    return column


def rows_of(column):
    """A Column as a list of values or None for each record."""
    stops = column.counts.cumsum()
    present = np.ones(stops.size, bool) if column.present is None else column.present
    return [
        column.values[stop - count : stop].tolist() if there else None
        for stop, count, there in zip(stops.tolist(), column.counts.tolist(), present.tolist())
    ]


def check_batch(records, messages):
    columns = ExampleParser(KINDS).parse_batch(records)
    for key in KINDS:
        assert rows_of(columns[key]) == expected(messages, key.decode()), key


def check_singles(records, messages):
    parser = ExampleParser(KINDS)
    for record, message in zip(records, messages):
        found = parser.parse_one(record)
        for key in KINDS:
            wanted = expected([message], key.decode())[0]
            got = found.get(key)
            assert (None if got is None else got.tolist() if hasattr(got, "tolist") else got) == wanted


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [1, 7, 60, 250])
def test_random_examples(count, seed):
    rng = np.random.default_rng([seed, count])
    examples = [random_example(rng, alike=seed == 0) for _ in range(count)]
    records = [example.SerializeToString() for example in examples]
    messages = [example.features.feature for example in examples]
    check_batch(records, messages)
    check_singles(records, messages)


@pytest.mark.parametrize("seed", range(3))
def test_odd_encodings(seed):
    rng = np.random.default_rng([seed, 99])
    examples = [random_example(rng) for _ in range(120)]
    records = [odd_encoding(e, rng) if rng.random() < 0.7 else e.SerializeToString() for e in examples]
    own = [Example.FromString(record).features.feature for record in records]
    for example, message in zip(examples, own):
        for key in example.features.feature:
            assert values_in(example.features.feature[key]) == values_in(message[key])
    check_batch(records, own)
    check_singles(records, own)


def test_lockstep_does_the_common_case(monkeypatch):
    """Records that are alike, or lack some features, or have them in another order, are not read one by one."""
    rng = np.random.default_rng(5)
    records = []
    for i in range(300):
        example = Example()
        for key in ("a", "b", "c", "d") if i % 3 else ("a", "c"):
            example.features.feature[key].int64_list.value.extend(rng.integers(0, 300, i % 4 + 1).tolist())
        records.append(example.SerializeToString())
    monkeypatch.setattr(example_wire, "features_of", lambda *args: pytest.fail("read field by field"))
    columns = ExampleParser({b"a": INT64, b"d": INT64}).parse_batch(records)
    assert columns[b"a"].present is None
    assert columns[b"d"].present.sum() == 200


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [1, 5, 50, 300])
def test_random_sequences(count, seed):
    rng = np.random.default_rng([seed, count, 3])
    examples = [random_sequence(rng) for _ in range(count)]
    check_sequences([example.SerializeToString() for example in examples], examples)


def check_sequences(records, examples):
    context, lists = SequenceExampleParser(KINDS, KINDS).parse_batch(records)
    for key in KINDS:
        assert rows_of(context[key]) == expected([e.context.feature for e in examples], key.decode()), key
        column = lists[key]
        steps = iter(_steps(column))
        for i, example in enumerate(examples):
            has = key.decode() in example.feature_lists.feature_list
            assert has == (column.present is None or bool(column.present[i]))
            items = example.feature_lists.feature_list[key.decode()].feature if has else []
            assert column.lengths[i] == len(items)
            for item in items:
                assert next(steps) == (values_in(item) or (0, []))[1]
        assert next(steps, None) is None


def _steps(column):
    stops = column.counts.cumsum()
    return [column.values[stop - n : stop].tolist() for stop, n in zip(stops.tolist(), column.counts.tolist())]


def test_parts_of_sequences_in_another_order_and_twice():
    rng = np.random.default_rng(8)
    examples, records = [], []
    for i in range(60):
        example = random_sequence(rng)
        context = SequenceExample(context=example.context).SerializeToString()
        lists = SequenceExample(feature_lists=example.feature_lists).SerializeToString()
        records.append([context + lists, lists + context, context + lists + field(7, b"x"), lists][i % 4])
        examples.append(SequenceExample.FromString(records[-1]))
    check_sequences(records, examples)


def test_kinds_that_differ_are_refused():
    example = Example()
    example.features.feature["a"].float_list.value.append(1.5)
    good = Example()
    good.features.feature["a"].int64_list.value.append(1)
    for count in (1, 40):
        records = [good.SerializeToString()] * count + [example.SerializeToString()]
        with pytest.raises(WrongKind, match="float values are stored, int64 was asked for") as caught:
            ExampleParser({b"a": INT64}).parse_batch(records)
        assert (caught.value.index, caught.value.key) == (count, b"a")


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize(
    "bad",
    [b"\x0a\x05ab", b"\xff\xff\xff", b"\x00\x00", b"\x0a" + b"\xff" * 8 + b"\x0f", b"\x0c", b"\x0a\x02\x0a\x05",
     field(1, field(1, field(1, b"a") + field(2, field(3, field(1, b"\x80"))))),
     field(1, field(1, field(1, b"a") + field(2, field(3, field(1, b"\xff" * 10 + b"\x01"))))),
     field(1, field(1, field(1, b"b") + field(2, field(2, field(1, b"\0\0\0"))))),
     field(1, field(1, field(1, b"c") + field(2, field(1, b"\x0a\x09a")))),
     b"\x0b" * 200],
)  # fmt: skip
def test_malformed_records_are_named(bad, count):
    good = Example()
    good.features.feature["a"].int64_list.value.append(1)
    parser = ExampleParser({b"a": INT64, b"b": FLOAT, b"c": BYTES})
    with pytest.raises(MalformedExample) as caught:
        parser.parse_batch([good.SerializeToString()] * count + [bad, good.SerializeToString()])
    assert caught.value.index == count
    with pytest.raises(MalformedExample):
        parser.parse_one(bad)


def outcome(parse):
    try:
        return parse()
    except (MalformedExample, WrongKind) as error:
        return type(error)


def agree(records):
    """Whether lockstep and field-by-field parsing give the same for records that may be broken."""
    one_by_one = ExampleParser(KINDS)
    singles = [outcome(lambda record=record: one_by_one.parse_one(record)) for record in records]
    good = [record for record, single in zip(records, singles) if isinstance(single, dict)]
    columns = ExampleParser(KINDS).parse_batch(good)
    for key in KINDS:
        wanted = []
        for single in singles:
            if isinstance(single, dict):
                values = single.get(key)
                wanted.append(None if values is None else values if isinstance(values, list) else values.tolist())
        assert repr(rows_of(columns[key])) == repr(wanted)  # nan is not equal to itself
    if len(good) < len(records):
        assert outcome(lambda: ExampleParser(KINDS).parse_batch(records)) in (MalformedExample, WrongKind)
    return len(records) - len(good)


def test_mutated_examples_give_the_same_both_ways():
    rng = np.random.default_rng(2)
    records = [mutated(random_example(rng).SerializeToString(), rng) for _ in range(400)]
    broken = sum(agree(records[i : i + 100]) for i in range(0, len(records), 100))
    assert 0 < broken < len(records)


@pytest.mark.usefixtures("nothing_in_the_background")
@pytest.mark.slow
def test_many_mutated_messages_give_typed_errors_and_little_memory():
    rng = np.random.default_rng(3)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    samples = [random_example(rng).SerializeToString() for _ in range(800)]
    for i in range(250):
        agree([mutated(samples[(i * 80 + j) % 800], rng) for j in range(80)])
    samples = [random_sequence(rng).SerializeToString() for _ in range(600)]
    parser = SequenceExampleParser(KINDS, KINDS)
    for i in range(250):
        records = [mutated(samples[(i * 60 + j) % 600], rng) for j in range(60)]
        for batch in (records, *([record] for record in records)):
            outcome(lambda batch=batch: parser.parse_batch(batch))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


def test_many_tiny_entries_take_linear_time():
    entries = b"".join(field(1, field(1, b"k%d" % (i % 50)) + field(2, b"")) for i in range(20000))
    parser = ExampleParser({b"k1": INT64})
    columns = parser.parse_batch([field(1, entries)] + [b""] * 30)
    assert not columns[b"k1"].present.any()


def test_records_within_a_larger_buffer():
    rng = np.random.default_rng(4)
    examples = [random_example(rng) for _ in range(50)]
    records = [example.SerializeToString() for example in examples]
    gap = b"\xff" * 12  # as the checksums and lengths of a record file
    lengths = np.array([len(record) for record in records])
    data = np.frombuffer(b"".join(gap + record for record in records), np.uint8)
    stops = (lengths + 12).cumsum()
    columns = ExampleParser(KINDS).parse_buffer(data, stops - lengths, stops)
    for key in KINDS:
        assert rows_of(columns[key]) == expected([e.features.feature for e in examples], key.decode())


def test_headers_match_all_sizes():
    header = Header(b"\x0a", b"\x0a\x01k\x12")
    totals = [*range(8, 600), *range(16300, 16500), 2**21 - 5, 2**21, 2**21 + 9]
    messages = []
    for total in totals:
        for size in range(max(total - 20, 0), total):
            whole = field(1, field(1, b"k") + field(2, bytes(size)))
            if len(whole) == total:
                messages.append((whole, size))
    data = np.frombuffer(b"".join(whole for whole, _ in messages) + bytes(16), np.uint8)
    lengths = np.array([len(whole) for whole, _ in messages])
    starts = lengths.cumsum() - lengths
    matched, sizes = header.match(data, starts, lengths, int(lengths.min()), int(lengths.max()))
    assert matched.all()
    assert (lengths - sizes).tolist() == [size for _, size in messages]
    # One wrong byte anywhere before the payload is noticed.
    for at in range(int(sizes[50])):
        broken = data.copy()
        broken[starts[50] + at] ^= 1
        assert not header.match(broken, starts[50:51], lengths[50:51], int(lengths[50]), int(lengths[50]))[0][0]


def test_lengths_of_all_sizes():
    numbers = [0, 1, 127, 128, 300, 16383, 16384, 2**21 - 1, 2**21, 2**28 - 1]
    data = np.frombuffer(b"".join(b"\x0a" + encoded(n) for n in numbers) + bytes(8), np.uint8)
    sizes = np.array([1 + len(encoded(n)) for n in numbers])
    tags, lengths, found = lengths_at(data, sizes.cumsum() - sizes)
    assert (tags == 10).all()
    assert lengths.tolist() == numbers
    assert found.tolist() == sizes.tolist()
    huge = np.frombuffer(b"\x0a" + encoded(2**28) + bytes(8), np.uint8)
    assert lengths_at(huge, np.array([0]))[1][0] >= 2**60
    assert windows(data, 3)[1].tobytes() == data[1:4].tobytes()


def test_integers_of_all_sizes():
    numbers = [0, 1, -1, 127, 128, 2**31, -(2**31), 2**63 - 1, -(2**63), 300]
    data = np.frombuffer(b"".join(encoded(n & (2**64 - 1)) for n in numbers), np.uint8)
    assert integers(data).tolist() == numbers


def test_messages_are_protobuf_classes_with_tensorflows_names_and_numbers():
    assert Example.DESCRIPTOR.full_name == "tensorflow.Example"
    assert SequenceExample.DESCRIPTOR.fields_by_name["feature_lists"].number == 2
    example = Example()
    example.features.feature["a"].bytes_list.value.append(b"x")
    assert example.SerializeToString() == field(
        1, field(1, field(1, b"a") + field(2, field(1, field(1, b"x"))))
    )
    assert Example.FromString(example.SerializeToString()) == example
