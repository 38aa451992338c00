"""Parsing in programs: graphs, datasets of records, messages, files, and what bad input says."""

import csv
import pathlib
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from google.protobuf import descriptor_pb2

import headrace as tf
from headrace._src.formats.csv_fields import MalformedLine, fields_of

# Written by TensorFlow 2.21.
RECORD_FILE = pathlib.Path(__file__).parents[2] / "fixtures" / "examples" / "examples.tfrecords"


def example(**features):
    kinds = {int: "int64_list", float: "float_list", bytes: "bytes_list"}
    message = tf.train.Example()
    for key, values in features.items():
        getattr(message.features.feature[key], kinds[type(values[0])]).value.extend(values)
    return message.SerializeToString()


SPEC = {
    "x": tf.io.FixedLenFeature([2], tf.float32),
    "n": tf.io.FixedLenFeature([], tf.int64, -1),
    "words": tf.io.RaggedFeature(tf.string),
    "ids": tf.io.VarLenFeature(tf.int64),
}
RECORDS = [example(x=[float(i), 0.5], n=[i], words=[b"w"] * (i % 3 or 1), ids=[i, i + 1]) for i in range(40)]


def test_messages_build_and_parse():
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    message = tf.train.Example(features=tf.train.Features(feature={"a": feature}))
    assert tf.train.Example.FromString(message.SerializeToString()) == message
    sequence = tf.train.SequenceExample(
        feature_lists=tf.train.FeatureLists(feature_list={"l": tf.train.FeatureList(feature=[feature])})
    )
    _, lists = tf.io.parse_single_sequence_example(
        sequence.SerializeToString(), sequence_features={"l": tf.io.FixedLenSequenceFeature([2], tf.int64)}
    )
    assert lists["l"].numpy().tolist() == [[1, 2]]


def test_protobuf_is_not_imported_with_headrace():
    code = "import sys, headrace as tf; tf.io.FixedLenFeature; print(any(m.startswith('google') for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_same_in_a_function_of_unknown_size():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def parse(records):
        return tf.io.parse_example(records, SPEC)

    traced, eager = parse(tf.constant(RECORDS)), tf.io.parse_example(RECORDS, SPEC)
    for key in SPEC:
        for one, other in zip(*(tf.nest.flatten(x[key], expand_composites=True) for x in (traced, eager))):
            assert one.numpy().tolist() == other.numpy().tolist()
    outputs = parse.get_concrete_function().structured_outputs
    assert outputs["x"].shape.as_list() == [None, 2]
    assert outputs["words"].shape.as_list() == [None, None]


def test_one_record_in_a_function():
    @tf.function
    def parse(record):
        return tf.io.parse_single_example(record, SPEC)

    found = parse(tf.constant(RECORDS[2]))
    assert found["x"].numpy().tolist() == [2.0, 0.5]
    assert found["words"].numpy().tolist() == [b"w", b"w"]
    assert tf.sparse.to_dense(found["ids"]).numpy().tolist() == [2, 3]


def test_vectorized_map_parses_all_records_at_once():
    spec = {"x": SPEC["x"], "n": SPEC["n"]}
    found = tf.vectorized_map(lambda r: tf.io.parse_single_example(r, spec), tf.constant(RECORDS), False)
    assert found["n"].numpy().tolist() == list(range(40))
    assert found["x"].shape == (40, 2)


def test_vectorized_map_decodes_all_strings_at_once():
    strings = tf.constant([b"1,2.5", b"3,4", b"5,6."])
    numbers = tf.vectorized_map(lambda line: tf.io.decode_csv(line, [[0], [0.0]]), strings, False)
    assert [part.numpy().tolist() for part in numbers] == [[1, 3, 5], [2.5, 4.0, 6.0]]
    raw = tf.vectorized_map(lambda line: tf.io.decode_raw(line, tf.uint8, fixed_length=3), strings, False)
    assert raw.numpy().tolist() == [[49, 44, 50], [51, 44, 52], [53, 44, 54]]
    whole = tf.vectorized_map(lambda line: tf.io.decode_raw(line, tf.uint8), tf.constant([b"ab", b"cd"]), False)
    assert whole.numpy().tolist() == [[97, 98], [99, 100]]


@pytest.mark.parametrize("size", [1, 7, 40, 64])
def test_batches_of_a_dataset_are_parsed_as_alone(size, tmp_path):
    """Datasets parse the records of several batches at once; that must not show."""
    spec = {
        **SPEC,
        "padded": tf.io.FixedLenSequenceFeature([], tf.int64, True, -7),
        "rare": tf.io.FixedLenFeature([], tf.string, "none"),
        "maybe": tf.io.RaggedFeature(tf.float32),
    }
    records = [
        example(x=[float(i), 0.5], n=[i], words=[b"w"] * (i % 3 or 1), padded=list(range(i % 5 + 1)),
                **({"rare": [b"r"], "maybe": [1.5] * (i % 4 + 1)} if i % 9 == 0 else {}))
        for i in range(90)
    ]  # fmt: skip
    dataset = record_file(tmp_path, records).batch(size).map(lambda r: tf.io.parse_example(r, spec))
    starts = range(0, 90, size)
    for start, batch in zip(starts, dataset, strict=True):
        alone = tf.io.parse_example(records[start : start + size], spec)
        for one, other in zip(*(tf.nest.flatten(x, expand_composites=True) for x in (batch, alone)), strict=True):
            assert one.dtype == other.dtype
            assert one.numpy().tolist() == other.numpy().tolist()


def record_file(path, records):
    """A dataset of the records, from a file."""
    name = str(path / "records")
    with tf.io.TFRecordWriter(name) as writer:
        for record in records:
            writer.write(record)
    return tf.data.TFRecordDataset(name)


def test_a_bad_record_in_a_dataset_is_named_within_its_batch(tmp_path):
    dataset = record_file(tmp_path, [*RECORDS[:30], b"\x0a\x7f", *RECORDS[30:]])
    batches = iter(dataset.batch(8).map(lambda r: tf.io.parse_example(r, SPEC)))
    for _ in range(3):
        assert next(batches)["n"].shape == (8,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="example 6"):
        next(batches)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"n": tf.io.FixedLenFeature([2], tf.int64)}, r"Key: n, example 0.*1 int64 values.*\(2,\)"),
        ({"n": tf.io.FixedLenFeature([], tf.float32)}, "Key: n, example 0.*int64 values are stored, float was asked"),
        ({"zz": tf.io.FixedLenFeature([], tf.string)}, r"Feature: zz \(data type: bytes\) is required.*example 0"),
        ({"x": tf.io.FixedLenSequenceFeature([3], tf.float32, True)}, "Key: x, example 0.*2 float values"),
    ],
)
@pytest.mark.parametrize("count", [1, 40])
def test_wrong_descriptions_say_what_was_stored_and_asked(features, message, count):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.io.parse_example(RECORDS[:count], features)


def test_errors_name_the_example():
    records = [*RECORDS[:20], example(n=[1, 2]), *RECORDS[20:]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"example 20 \('name20'\)"):
        tf.io.parse_example(
            records, {"n": tf.io.FixedLenFeature([], tf.int64)}, example_names=[f"name{i}" for i in range(41)]
        )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input, value.*example 3"):
        tf.io.parse_example([*RECORDS[:3], RECORDS[3][:-2]], SPEC)


def test_descriptions_are_checked():
    with pytest.raises(ValueError, match="asked for as dense and as ragged"):
        tf.io.parse_example(RECORDS, {"n": SPEC["n"], "m": tf.io.RaggedFeature(tf.int64, "n")})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Examples hold float32, int64 and string"):
        tf.io.parse_example(RECORDS, {"n": tf.io.FixedLenFeature([], tf.int32)})


@pytest.mark.usefixtures("nothing_in_the_background")
def test_huge_lengths_allocate_nothing():
    huge = b"\x0a" + b"\xff" * 8 + b"\x0f"
    tracemalloc.start()
    try:
        for records in ([huge], [huge] * 40):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
                tf.io.parse_example(records, SPEC)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_tensor(b"\x08\x01\x12\x0c\x12\x0a\x08" + b"\xff" * 8 + b"\x0f", tf.float32)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_parsed_tensors_do_not_share_memory_that_changes():
    found = tf.io.parse_example(RECORDS[:20], {"x": SPEC["x"]})["x"]
    copy = found.numpy().copy()
    tf.io.parse_example(RECORDS[20:], {"x": SPEC["x"]})
    assert (found.numpy() == copy).all()


def test_descriptor_files(tmp_path):
    file = descriptor_pb2.FileDescriptorProto(name="own.proto", package="own")
    message = file.message_type.add(name="M")
    message.field.add(name="a", number=1, label=3, type=5)
    path = tmp_path / "set.bin"
    path.write_bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    encoded = tf.io.encode_proto([[2]], [tf.constant([[3, 4]])], ["a"], "own.M", str(path))
    sizes, values = tf.io.decode_proto(encoded, "own.M", ["a"], [tf.int32], str(path))
    assert sizes.numpy().tolist() == [[2]]
    assert values[0].numpy().tolist() == [[3, 4]]


def test_examples_that_tensorflow_wrote():
    records = read_records(RECORD_FILE)
    spec = {
        "b": tf.io.FixedLenFeature([], tf.string),
        "f": tf.io.FixedLenFeature([2], tf.float32),
        "i": tf.io.FixedLenFeature([], tf.int64),
    }
    found = tf.io.parse_example(records, spec)
    assert found["b"].numpy().tolist() == [b"r%d" % i for i in range(5)]
    assert found["f"].numpy().tolist() == [[i / 2, i] for i in range(5)]
    assert found["i"].numpy().tolist() == list(range(5))


def read_records(path):
    data = path.read_bytes()
    records, at = [], 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 8], "little")
        records.append(data[at + 12 : at + 12 + length])
        at += length + 16
    return records


def test_csv_fields_agree_with_a_plain_reader():
    rng = np.random.default_rng(0)
    for _ in range(300):
        letters = list('ab",\n x')
        fields = ["".join(rng.choice(letters, int(rng.integers(0, 6)))) for _ in range(int(rng.integers(1, 5)))]
        quoted = ['"' + field.replace('"', '""') + '"' for field in fields]
        needs = [rng.random() < 0.5 or bool(set(field) & set('",\n')) for field in fields]
        line = ",".join(q if need else field for q, need, field in zip(quoted, needs, fields))
        if not line:
            continue
        found = fields_of(line.encode(), b",", True)
        assert [f.decode() for f in found] == fields
        if "\n" not in line:
            assert [f.decode() for f in found] == next(csv.reader([line]))


@pytest.mark.slow
def test_many_mutated_csv_lines_give_typed_errors():
    rng = np.random.default_rng(1)
    alphabet = [*'0123456789.,,,"" -+eENAxnaif\n\r\0_', "é", "1e5", "nan", '""', "99999999999999999999"]
    choices = [[0], [0.0], [""], tf.constant([], tf.float64), tf.constant([0], tf.int64)]
    good = 0
    for _ in range(200):
        lines = ["".join(rng.choice(alphabet, int(rng.integers(0, 14)))) for _ in range(60)]
        for line in lines:
            try:
                count = len(fields_of(line.encode(), b",", True))
            except MalformedLine:
                count = 0
            defaults = [choices[i % 5] for i in range(count or 1)]
            try:
                tf.io.decode_csv([line], defaults)
                good += 1
            except tf.errors.InvalidArgumentError:
                pass
    assert good > 500


@pytest.mark.slow
def test_mutated_json_tensors_and_messages_give_typed_errors():
    rng = np.random.default_rng(6)
    text = b'{"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}, "b": {"floatList": {"value": [1.5]}}}}}'
    tensor = tf.io.serialize_tensor(np.arange(12, dtype=np.float32).reshape(3, 4)).numpy()
    strings = tf.io.serialize_tensor(["ab", "c", ""]).numpy()
    refusals = (tf.errors.InvalidArgumentError, tf.errors.DataLossError)
    for _ in range(3000):
        for data, read in (
            (text, tf.io.decode_json_example),
            (tensor, lambda x: tf.io.parse_tensor(x, tf.float32)),
            (strings, lambda x: tf.io.parse_tensor(x, tf.string)),
            (RECORDS[1], lambda x: tf.io.decode_proto(x, "tensorflow.Example", ["features"], [tf.string])),
        ):
            broken = bytearray(data)
            for _ in range(int(rng.integers(1, 4))):
                at = int(rng.integers(0, len(broken)))
                broken[at : at + int(rng.integers(0, 3))] = rng.bytes(int(rng.integers(0, 3)))
            try:
                read(bytes(broken))
            except refusals:
                pass


def test_features_come_in_the_order_of_their_kinds():
    record = tf.train.Example().SerializeToString()
    features = {
        "s": tf.io.SparseFeature("i", "x", tf.int64, 4),
        "m": tf.io.FixedLenFeature([], tf.int64, 0),
        "x": tf.io.VarLenFeature(tf.int64),
        "aa": tf.io.VarLenFeature(tf.int64),
        "c": tf.io.RaggedFeature(tf.int64),
        "b": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    assert list(tf.io.parse_single_example(record, features)) == ["aa", "x", "b", "m", "c", "s"]
    assert list(tf.io.parse_example([record], features)) == ["aa", "x", "b", "m", "c", "s"]
