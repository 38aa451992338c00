"""Positions that TensorFlow saved: iterators go on from there. More are in tests/interop/test_position_exchange.py."""

import json
import pathlib
import zipfile

import position_programs
import pytest

import headrace as tf

ARCHIVE = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "iterator_positions.zip"


def files_of(name, folder):
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(folder, [x for x in archive.namelist() if x.rpartition(".")[0] == name])
        return str(folder / name), json.loads(archive.read("results.json"))[name]


def as_json(elements):
    return json.loads(json.dumps(elements))


@pytest.mark.parametrize("name", list(position_programs.pipelines(tf)))
def test_goes_on(name, tmp_path):
    path, expected = files_of(name, tmp_path)
    tf.random.set_seed(12)  # not TensorFlow's: seeds of shuffles come from the file
    dataset, _ = position_programs.pipelines(tf)[name]
    iterator = iter(dataset)
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    next(iterator)  # where it stood before does not matter
    checkpoint.read(path).assert_consumed()
    actual = position_programs.following(tf, iterator)
    # TF: seeds of later walks are drawn by the program that restores, so these have another order here.
    count = SAME_WALK.get(name, position_programs.MORE)
    assert as_json(actual[:count]) == expected[:count]
    assert len(actual) == len(expected)


# How many of the elements that follow belong to walks whose seeds are in the file.
SAME_WALK = {"train": 2, "several_walks": 1, "shuffle_rep": 5, "unfused_shuffle": 5, "train2": 1}


def test_another_pipeline_is_refused(tmp_path):
    path, _ = files_of("filter", tmp_path)
    iterator = iter(tf.data.Dataset.range(100).batch(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="another pipeline: it had Filter where this one has"):
        tf.train.Checkpoint(iterator=iterator).read(path)
    assert int(next(iterator)[0]) == 0
