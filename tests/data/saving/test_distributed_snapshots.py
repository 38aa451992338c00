"""Snapshots of data services, as TensorFlow writes them; tests/data/service has those of headrace."""

import pathlib
import shutil

import pytest

import headrace as tf

WRITTEN = pathlib.Path(__file__).parents[2] / "fixtures" / "saved_datasets" / "distributed"


def test_what_tensorflows_workers_wrote():
    dataset = tf.data.Dataset.load(str(WRITTEN))
    assert dataset.element_spec == (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string))
    assert sorted((int(a), b.numpy()) for a, b in dataset) == sorted((i, b"%d" % i) for i in range(50))


def test_files_are_the_shards_of_a_reader_function():
    def first_of_each(shards):
        return shards.flat_map(lambda one: one.take(1))

    dataset = tf.data.Dataset.load(str(WRITTEN), reader_func=first_of_each)
    assert len(list(dataset)) == len(list((WRITTEN / "chunks").iterdir()))


def test_what_went_wrong_is_told(tmp_path):
    shutil.copytree(WRITTEN, tmp_path / "saved")
    (tmp_path / "saved" / "DONE").unlink()
    with pytest.raises(tf.errors.FailedPreconditionError, match="still being written"):
        tf.data.Dataset.load(str(tmp_path / "saved"))
    (tmp_path / "saved" / "ERROR").write_text("no space left")
    with pytest.raises(tf.errors.AbortedError, match="no space left"):
        tf.data.Dataset.load(str(tmp_path / "saved"), wait=True)
