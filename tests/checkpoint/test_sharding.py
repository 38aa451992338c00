"""Several files for a checkpoint: what policies put where, as TensorFlow does, and callbacks that break the rules."""

import logging

import numpy as np
import pytest

import headrace as tf
from headrace._src.checkpoint.value_writing import SavedValue, write_values

NUMBERS = np.arange(60, dtype=np.float32)
TEXTS = np.array([b"abc", b"defgh", b"x"], object)


def written(folder, arrays, callback):
    """The prefix of a checkpoint of arrays by name, and the sizes of its files."""
    values = [
        SavedValue(key, tf.string if array.dtype == object else tf.as_dtype(array.dtype), array)
        for key, array in arrays.items()
    ]
    options = tf.train.CheckpointOptions(experimental_sharding_callback=callback)
    write_values(str(folder / "c"), values, options)
    return str(folder / "c"), [path.stat().st_size for path in sorted(folder.glob("c.data-*"))]


# The limit, arrays, and sizes of files; those of TensorFlow 2.21, except where the last column says why.
LIMITS = {
    "one file": (100, {"a": NUMBERS[:3], "b": NUMBERS[5]}, [16], None),
    "a file is full": (16, {"a": NUMBERS[:4], "b": NUMBERS[:4]}, [16, 16], None),
    "rows": (40, {"a": NUMBERS[:21].reshape(3, 7), "b": NUMBERS[:5]}, [36, 40, 28], None),
    "columns": (24, {"a": NUMBERS.reshape(2, 30)}, [24] * 10, None),
    "strings": (8, {"a": TEXTS, "b": TEXTS[:1]}, [8, 16], "TensorFlow cuts strings, and cannot read them then"),
    "rows of strings": (9, {"a": TEXTS.reshape(3, 1)}, [16], "TensorFlow raises a TypeError"),
    "nothing": (40, {"a": NUMBERS[:0].reshape(0, 7), "b": NUMBERS[:5]}, [20], "TensorFlow leaves `a` out"),
    "small elements": (4, {"a": NUMBERS[:6].reshape(2, 3)}, [4] * 6, "TensorFlow never ends"),
    "large elements": (2, {"a": NUMBERS[:3]}, [4] * 3, "TensorFlow never ends"),
    "a large scalar": (2, {"a": NUMBERS[1], "b": np.int8(3)}, [1, 4], None),
}


@pytest.mark.parametrize("name", LIMITS)
def test_files_of_a_limited_size(tmp_path, name):
    limit, arrays, sizes, _ = LIMITS[name]
    arrays = {key: np.asarray(array) for key, array in arrays.items()}
    prefix, found = written(tmp_path, arrays, tf.train.experimental.MaxShardSizePolicy(limit))
    assert found == sizes
    reader = tf.train.load_checkpoint(prefix)
    for key, array in arrays.items():
        np.testing.assert_array_equal(reader.get_tensor(key), array)


def test_elements_that_are_too_large_are_named(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "tensorflow"):
        written(tmp_path, {"a": NUMBERS[:1]}, tf.train.experimental.MaxShardSizePolicy(2))
    assert "Tensor a's minimum slice" in caplog.text
    for size in (0, -1, 2.5, None):
        with pytest.raises(ValueError, match="max_shard_size must be a positive int"):
            tf.train.experimental.MaxShardSizePolicy(size)


def test_a_slice_is_cut_further(tmp_path):
    rows = NUMBERS[:12].reshape(4, 3)
    values = [
        SavedValue("a", tf.float32, rows[:3], "4 3 0,3:-"),
        SavedValue("a", tf.float32, rows[3:], "4 3 3,1:0,3"),
    ]
    policy = tf.train.experimental.MaxShardSizePolicy(12)
    write_values(str(tmp_path / "c"), values, tf.train.CheckpointOptions(experimental_sharding_callback=policy))
    assert len(list(tmp_path.glob("c.data-*-of-00004"))) == 4
    np.testing.assert_array_equal(tf.train.load_variable(str(tmp_path / "c"), "a"), rows)


def test_tasks_have_a_file_each(tmp_path):
    _, sizes = written(tmp_path, {"a": NUMBERS, "b": NUMBERS}, tf.train.experimental.ShardByTaskPolicy())
    assert sizes == [480]


class Shards(tf.train.experimental.ShardingCallback):
    """What a function says."""

    def __init__(self, function):
        self.function = function

    @property
    def description(self):
        return "mine"

    def __call__(self, shardable_tensors):
        return self.function(shardable_tensors)


def test_a_callback_sees_and_decides(tmp_path):
    seen = []

    def backwards(tensors):
        seen.extend(tensors)
        return [{one.checkpoint_key: {one.slice_spec: one.tensor}} for one in reversed(tensors)]

    prefix, sizes = written(tmp_path, {"a": NUMBERS[:3], "b": NUMBERS[:1]}, Shards(backwards))
    assert sizes == [4, 12]
    first = seen[0]
    assert (first.name, first.checkpoint_key, first.slice_spec, first.dtype) == ("a", "a", "", tf.float32)
    assert (first.shape, first.device.task, first.trackable) == (tf.TensorShape([3]), 0, None)
    assert first.tensor.numpy().tolist() == [0, 1, 2]
    assert isinstance(hash(first), int)
    assert "checkpoint_key='a'" in repr(first)
    assert tf.train.list_variables(prefix) == [("a", [3]), ("b", [1])]
    one, other = Shards(backwards), Shards(backwards)
    assert hash(one) == hash(other)


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        tf.train.experimental.ShardingCallback()


def all_of(tensors, **changed):
    return {one.checkpoint_key: {one.slice_spec: changed.get(one.checkpoint_key, one.tensor)} for one in tensors}


# What breaks the rules, and what the error says.
VIOLATIONS = [
    (lambda tensors: [], "tensors in the object graph were not found in the checkpoint shards"),
    (lambda tensors: [all_of(tensors[1:])], "were not found in the checkpoint shards.*checkpoint_key: a"),
    (lambda tensors: [all_of(tensors), {"c": {"": tensors[0].tensor}}], "not originally in the object graph.*key: c"),
    (lambda tensors: [all_of(tensors), all_of(tensors[:1])], "multiple tensors with the same checkpoint key"),
    (lambda tensors: [all_of(tensors, a=tf.zeros([2]))], r"altered shape.*\(3,\).*\(2,\)"),
    (lambda tensors: [all_of(tensors, a=tf.zeros([3], tf.int32))], "altered dtype.*float32.*int32"),
    (lambda tensors: [{**all_of(tensors), "a": {"3 0,2": tf.zeros([2])}}], "the slices of a tensor do not cover it"),
    (
        lambda tensors: [{**all_of(tensors), "a": {"3 0,2": tf.zeros([2]), "3 1,2": tf.zeros([2])}}],
        "multiple tensors with the same",
    ),
]


@pytest.mark.parametrize(("function", "text"), VIOLATIONS)
def test_what_a_callback_may_not_do(tmp_path, function, text):
    with pytest.raises(RuntimeError, match=f"(?s)After executing the checkpoint sharding callback.*{text}"):
        written(tmp_path, {"a": NUMBERS[:3], "b": NUMBERS[:1]}, Shards(function))
    assert list(tmp_path.iterdir()) == []


def test_empty_shards_make_no_files(tmp_path):
    _, sizes = written(tmp_path, {"a": NUMBERS}, Shards(lambda tensors: [{}, all_of(tensors), {"b": {}}]))
    assert sizes == [240]


@pytest.mark.parametrize("size", [24, 1000])
def test_in_a_function(size, tmp_path):
    """The callback sees the symbolic tensors when the function is traced; each call writes the values of then."""
    root = tf.train.Checkpoint(v=tf.Variable(tf.range(12.0)), s=tf.Variable("text"))
    policy = tf.train.experimental.MaxShardSizePolicy(size)
    options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    write = tf.function(lambda path: root.write(path, options))
    for number in (1.0, 2.0):
        root.v.assign_add(tf.fill([12], number))
        path = write(str(tmp_path / f"{number}")).numpy().decode()
        np.testing.assert_array_equal(tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE"), root.v)
        assert len(list(tmp_path.glob(f"{number}.data*"))) == (3 if size == 24 else 1)
        restored = tf.train.Checkpoint(v=tf.Variable(tf.zeros([12])), s=tf.Variable(""))
        restored.read(path).assert_consumed()
        np.testing.assert_array_equal(restored.v, root.v)
    assert not list(tmp_path.glob("*_temp"))
