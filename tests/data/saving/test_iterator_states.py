"""What checkpoints have of iterators: the state of our own cursors, beside what TensorFlow reads."""

import json
import pathlib
import zipfile

import numpy as np
import pytest

import headrace as tf
from headrace._src.data.saving.iterator_states import decoded
from headrace._src.formats.encoded_variants import decode_variant, variant_tensors
from headrace._src.formats.tensor_wire import parse_tensor

EARLIER = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "iterator_of_earlier_version.zip"
R = tf.data.Dataset.range


def parts_of(iterator):
    """The values of a saved iterator, by the names of iterators and keys."""
    found = {}
    for variant in iterator._serialize_to_tensors()["_STATE"].numpy():
        owner, *keys = decode_variant(variant)[1].decode().split("@@")
        found |= {(owner, key): parse_tensor(x)[0] for key, x in zip(keys, variant_tensors(variant), strict=True)}
    return found


def walked(dataset, count):
    iterator = iter(dataset)
    for _ in range(count):
        next(iterator)
    return iterator


def test_own_state_is_there_too():
    pipeline, state = decoded(parts_of(walked(R(9).map(lambda i: i * 2), 4))["headrace", "state"].item())
    assert pipeline == "Dataset.map(Dataset.range)"
    assert (state["ended"], state["cursor"]) == (False, {"at": 4})


def numbers():
    yield from range(9)


NOT_FOR_TENSORFLOW = {
    "from_generator": lambda: tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int64)),
    "Dataset.random": lambda: tf.data.Dataset.random(seed=3).take(9),
    "choose_from_datasets": lambda: tf.data.Dataset.choose_from_datasets([R(9), R(9)], R(2).repeat()),
    "group_by_window": lambda: R(20).group_by_window(lambda i: i % 2, lambda key, part: part.batch(2), window_size=2),
    "ragged or sparse": lambda: R(9).map(lambda i: tf.RaggedTensor.from_row_lengths([i], [1])).shuffle(4, seed=2),
    "symbolic checkpoints": lambda: with_options(R(9), experimental_symbolic_checkpoint=True),
    "were not wanted": lambda: with_options(R(9), headrace_small_positions=True),
}


def with_options(dataset, **values):
    options = tf.data.Options()
    for name, value in values.items():
        setattr(options, name, value)
    return dataset.with_options(options)


@pytest.mark.parametrize("reason", list(NOT_FOR_TENSORFLOW))
def test_not_for_tensorflow(reason, tmp_path):
    dataset = NOT_FOR_TENSORFLOW[reason]()
    iterator = walked(dataset, 3)
    parts = parts_of(iterator)
    assert {owner for owner, _ in parts} == {"headrace"}  # so that TensorFlow misses the names of its iterators
    assert reason in parts["headrace", "not for TensorFlow"].item().decode()
    tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "saved"))
    again = iter(dataset)
    tf.train.Checkpoint(iterator=again).read(str(tmp_path / "saved")).assert_consumed()
    for _ in range(3):
        for actual, expected in zip(*(tf.nest.flatten(next(x), expand_composites=True) for x in (again, iterator))):
            np.testing.assert_array_equal(actual, expected)


def test_open_windows(tmp_path):
    dataset = R(20).filter(lambda i: i % 2 == 0).window(4, 2).flat_map(lambda part: part)
    for count in range(9):
        iterator = walked(dataset, count)
        tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "saved"))
        again = iter(dataset)
        tf.train.Checkpoint(iterator=again).read(str(tmp_path / "saved"))
        assert [int(x) for x in again] == [int(x) for x in iterator]


def test_file_of_an_earlier_version(tmp_path):
    with zipfile.ZipFile(EARLIER) as archive:
        archive.extractall(tmp_path)
    iterator = iter(R(12).filter(lambda i: i % 2 == 0).shuffle(4, seed=3).repeat(3).batch(2))
    tf.train.Checkpoint(iterator=iterator).read(str(tmp_path / "position")).assert_consumed()
    # It did not say how many elements there were before: TensorFlow cannot be told.
    assert b"an earlier version of headrace" in parts_of(iterator)["headrace", "not for TensorFlow"].item()
    assert [x.numpy().tolist() for x in iterator] == json.loads((tmp_path / "following.json").read_text())


def test_elements_that_fail_later_do_not_keep_it_from_being_saved():
    words = tf.data.Dataset.from_tensor_slices(["1", "2", "x", "4"])
    dataset = words.shuffle(1, seed=1).map(tf.strings.to_number).batch(1)
    parts = parts_of(walked(dataset, 1))
    assert ("headrace", "state") in parts
