"""Maps that parse single SequenceExamples: those of a block are parsed together, with the results of each alone."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.data.running.block_mapping import Hoisted, hoisted

CONTEXT = {
    "number": tf.io.FixedLenFeature([], tf.int64),
    "weights": tf.io.FixedLenFeature([2], tf.float32, [0.5, 1.5]),
    "names": tf.io.VarLenFeature(tf.string),
    "parts": tf.io.RaggedFeature(tf.int64),
}
LISTS = {
    "steps": tf.io.FixedLenSequenceFeature([], tf.int64),
    "pairs": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    "words": tf.io.VarLenFeature(tf.string),
    "rows": tf.io.RaggedFeature(tf.float32, row_splits_dtype=tf.int64),
}


STRINGS, FLOATS = {"names", "words"}, {"weights", "pairs", "rows"}


def _feature(key, values):
    if key in STRINGS:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if key in FLOATS:
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _record(n):
    context = {"number": [n], "parts": list(range(n % 4))}
    if n % 3:
        context["weights"] = [float(n), 2.0]
    if n % 2:
        context["names"] = [b"x" * n, b"y"]
    lists = {
        "steps": [[k] for k in range(n % 5)],
        "words": [[b"w%d" % k] * (k % 3) for k in range(n % 4)],
        "rows": [[float(k)] * k for k in range(n % 6)],
    }
    if n % 4:
        lists["pairs"] = [[float(k), 1.0] for k in range(n % 3)]
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={key: _feature(key, values) for key, values in context.items()}),
        feature_lists=tf.train.FeatureLists(
            feature_list={
                key: tf.train.FeatureList(feature=[_feature(key, step) for step in steps])
                for key, steps in lists.items()
            }
        ),
    ).SerializeToString()


@pytest.fixture(scope="module")
def records():
    return [_record(n) for n in range(60)]


@pytest.fixture(scope="module")
def path(records, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("sequences") / "records")
    with tf.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    return path


def _parse(record):
    context, lists = tf.io.parse_single_sequence_example(record, CONTEXT, LISTS)
    return {**context, **lists}


def _assert_equal(found, expected):
    assert set(found) == set(expected)
    for key, value in expected.items():
        for one, other in zip(
            tf.nest.flatten(found[key], expand_composites=True), tf.nest.flatten(value, expand_composites=True)
        ):
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("parallel", [None, 2])
def test_as_each_alone(records, path, parallel):
    dataset = tf.data.TFRecordDataset(path).map(_parse, num_parallel_calls=parallel)
    assert isinstance(hoisted(dataset._variant_tensor.numpy().function, 0), Hoisted)
    for found, record in zip(dataset, records, strict=True):
        _assert_equal(found, _parse(record))


def test_two_kinds_of_records_in_an_element(records, path):
    def both(first, second):
        return _parse(first), tf.io.parse_single_sequence_example(second, {"number": CONTEXT["number"]})[0]["number"]

    files = tf.data.TFRecordDataset(path)
    dataset = tf.data.Dataset.zip(files, files.skip(1)).map(both)
    for n, (found, number) in enumerate(dataset):
        _assert_equal(found, _parse(records[n]))
        assert int(number) == n + 1


def test_resumes_within_a_block(path):
    dataset = tf.data.TFRecordDataset(path).map(lambda record: _parse(record)["steps"]).padded_batch(4)
    iterator = iter(dataset)
    for _ in range(5):
        next(iterator)
    state = iterator.state_dict()
    expected = [x.numpy().tolist() for x in iterator]
    resumed = iter(dataset)
    resumed.load_state_dict(state)
    assert [x.numpy().tolist() for x in resumed] == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (b"\xff\xff", "Could not parse"),
        (tf.train.SequenceExample().SerializeToString(), "number"),
    ],
)
def test_a_record_that_cannot_be_parsed_is_named(records, tmp_path, wrong, message):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        for record in [*records[:7], wrong, *records[8:]]:
            writer.write(record)
    iterator = iter(tf.data.TFRecordDataset(path).map(_parse))
    for n in range(7):
        assert int(next(iterator)["number"]) == n
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){message}.*element 7"):
        next(iterator)
    assert int(next(iterator)["number"]) == 8
