"""`Dataset.cache`: what is kept, what the files are, and what happens when a walk is given up."""

import os

import numpy as np
import pytest

import headrace as tf


def counted(dataset):
    """The dataset, and a list that grows with each element that is made."""
    calls = []

    def note(x):
        calls.append(int(x))
        return x

    return dataset.map(lambda x: tf.py_function(note, [x], tf.int64)), calls


def values(dataset):
    return [int(x) for x in dataset]


def test_memory_cache_makes_elements_once():
    dataset, calls = counted(tf.data.Dataset.range(3))
    dataset = dataset.cache()
    assert values(dataset) == values(dataset) == [0, 1, 2]
    assert calls == [0, 1, 2]


def test_a_walk_that_is_given_up_fills_no_cache():
    dataset, calls = counted(tf.data.Dataset.range(3))
    dataset = dataset.cache()
    assert values(dataset.take(2)) == [0, 1]
    assert values(dataset) == [0, 1, 2]
    assert calls == [0, 1, 0, 1, 2]


def test_functions_of_elements_are_called_once_where_elements_have_numbers():
    ours = tf.data.Dataset.range(100).map(lambda x: x * 3).cache()
    assert values(ours.shuffle(100, seed=1).batch(10).unbatch()) != values(ours)
    assert sorted(values(ours.shuffle(50, seed=2))) == list(range(0, 300, 3))


@pytest.mark.parametrize("uneven", [False, True])
def test_memory_cache_of_strings_and_vectors(uneven):
    dataset = tf.data.Dataset.range(4).map(lambda x: (tf.fill([x if uneven else 2], x), tf.strings.as_string(x)))
    cached = dataset.cache()
    for _ in range(2):
        for (a, b), (c, d) in zip(dataset, cached):
            np.testing.assert_array_equal(a, c)
            assert b.numpy() == d.numpy()


def test_file_cache(tmp_path):
    path = str(tmp_path / "cache")
    dataset, calls = counted(tf.data.Dataset.range(3))
    dataset = dataset.cache(path)
    assert values(dataset) == values(dataset) == [0, 1, 2]
    assert calls == [0, 1, 2]
    assert sorted(os.listdir(tmp_path)) == ["cache.data-00000-of-00001", "cache.index"]
    assert values(tf.data.Dataset.range(10, 14).cache(path)) == [0, 1, 2]


def test_file_cache_of_all_dtypes(tmp_path):
    parts = [tf.cast(tf.range(4), dtype) for dtype in ("bfloat16", "float16", "complex64", "uint8", "bool", "int64")]
    dataset = tf.data.Dataset.from_tensor_slices(
        (*parts, ["a", "", "\0b", "c"], tf.ragged.constant([[1], [], [2, 3], [4]]), tf.sparse.eye(4))
    )
    cached = dataset.batch(3).cache(str(tmp_path / "cache"))
    assert str(list(cached)) == str(list(cached))
    assert str(list(cached)) == str(list(dataset.batch(3)))


def test_files_of_a_walk_that_is_given_up_are_removed(tmp_path):
    iterator = iter(tf.data.Dataset.range(3).cache(str(tmp_path / "cache")))
    next(iterator)
    assert sorted(os.listdir(tmp_path)) == ["cache_0.data-00000-of-00001.part", "cache_0.lockfile"]
    del iterator
    assert os.listdir(tmp_path) == []


def test_two_walks_cannot_write(tmp_path):
    dataset = tf.data.Dataset.range(3).cache(str(tmp_path / "cache"))
    first = iter(dataset)
    next(first)
    with pytest.raises(tf.errors.AlreadyExistsError, match="lockfile already exists"):
        next(iter(dataset))
    assert values(first) == [1, 2]
    assert values(dataset) == [0, 1, 2]


def test_half_written_cache(tmp_path):
    (tmp_path / "cache_0.lockfile").write_text("Created at: 1")
    with pytest.raises(tf.errors.AlreadyExistsError, match="Created at: 1"):
        values(tf.data.Dataset.range(3).cache(str(tmp_path / "cache")))


def test_missing_folder(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        values(tf.data.Dataset.range(3).cache(str(tmp_path / "no" / "cache")))


@pytest.mark.parametrize("damage", [b"", b"something else", b"headrace cache 1\n1234", b"headrace cache 2\n1234"])
def test_damaged_index(tmp_path, damage):
    path = tmp_path / "cache"
    dataset = tf.data.Dataset.range(3).cache(str(path))
    values(dataset)
    (tmp_path / "cache.index").write_bytes(damage)
    with pytest.raises(tf.errors.DataLossError, match=r"cache\.index"):
        values(dataset)


def test_damaged_data(tmp_path):
    dataset = tf.data.Dataset.range(3).cache(str(tmp_path / "cache"))
    values(dataset)
    data = tmp_path / "cache.data-00000-of-00001"
    whole = data.read_bytes()
    for size in range(0, len(whole), 7):
        data.write_bytes(whole[:size])
        with pytest.raises(tf.errors.DataLossError, match=rf"{len(whole)} bytes of 3 elements, but it has {size}"):
            values(dataset)


def test_other_types_are_refused(tmp_path):
    path = str(tmp_path / "cache")
    values(tf.data.Dataset.range(3).cache(path))
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected int32 but got int64"):
        list(tf.data.Dataset.range(3, output_type=tf.int32).cache(path))
    with pytest.raises(tf.errors.InvalidArgumentError, match="components"):
        list(tf.data.Dataset.range(3).map(lambda x: (x, x)).cache(path))


def test_datasets_as_elements_are_refused(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be written to disk"):
        list(tf.data.Dataset.range(3).window(2).cache(str(tmp_path / "cache")))


def test_writing_goes_on_where_a_process_was_killed(tmp_path):
    path, copy = str(tmp_path / "cache"), tmp_path / "copy"

    def make():
        return tf.data.Dataset.range(6).shuffle(6, seed=3).cache(path).repeat(2)

    expected = values(tf.data.Dataset.range(6).shuffle(6, seed=3).cache().repeat(2))
    iterator = iter(make())
    first = [int(next(iterator)) for _ in range(3)]
    state = iterator.state_dict()
    next(iterator)
    copy.mkdir()
    for name in os.listdir(tmp_path):
        if name.startswith("cache"):
            (copy / name).write_bytes((tmp_path / name).read_bytes())
    del iterator  # takes its files along, which a killed process does not
    for name in os.listdir(copy):
        (tmp_path / name).write_bytes((copy / name).read_bytes())
    other = iter(make())
    other.load_state_dict(state)
    assert first + values(other) == expected


def test_without_files_the_next_walk_writes(tmp_path):
    path = str(tmp_path / "cache")
    iterator = iter(tf.data.Dataset.range(4).cache(path))
    next(iterator)
    state = iterator.state_dict()
    del iterator
    other = iter(tf.data.Dataset.range(4).cache(path))
    other.load_state_dict(state)
    assert values(other) == [1, 2, 3]
    assert not os.listdir(tmp_path)
    assert values(tf.data.Dataset.range(4).cache(path)) == [0, 1, 2, 3]
