"""Positions of iterators that go from one framework to the other; `scripts/interop_positions` asks TensorFlow itself.

What TensorFlow saved is recorded. What headrace saves has to be under the same names, and to lead back here by the way
on which what TensorFlow saved is read.
"""

import json
import pathlib
import zipfile

import numpy as np
import position_names
import position_pipelines
import pytest

import headrace as tf
from headrace._src.core.tensor import EagerTensor
from headrace._src.formats.encoded_variants import decode_variant

ARCHIVE = pathlib.Path(__file__).resolve().parents[1] / "golden" / "iterator_exchange.zip"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The folder with what TensorFlow saved."""
    folder = tmp_path_factory.mktemp("by_tensorflow")
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def files(tmp_path_factory):
    """What pipelines read, below the working directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("files"))
        position_pipelines.make_files(tf)
        yield


def made():
    """All pipelines, by name."""
    tf.random.set_seed(position_pipelines.SEED)
    return position_pipelines.pipelines(tf)


def as_json(elements):
    return json.loads(json.dumps(elements))


def test_goes_on_from_tensorflow(recorded):
    pipelines, following = made(), json.loads((recorded / "following.json").read_text())
    assert len(following) > 120
    for key, expected in following.items():
        iterator = iter(pipelines[key.rpartition("-")[0]])
        checkpoint = tf.train.Checkpoint(iterator=iterator)
        if key in position_pipelines.REFUSED:
            with pytest.raises(tf.errors.UnimplementedError, match=position_pipelines.REFUSED[key]):
                checkpoint.read(str(recorded / key))
            continue
        checkpoint.read(str(recorded / key)).assert_consumed()
        assert as_json(position_pipelines.following(tf, iterator)) == expected, key


def saved(iterator):
    """What a checkpoint has of an iterator."""
    return iterator._serialize_to_tensors()["_STATE"]


def as_tensorflow_sees(state):
    """A state without that of our own cursors, which TensorFlow does not look at."""
    kept = [x for x in state.numpy() if not decode_variant(x)[1].startswith(b"headrace")]
    array = np.empty(len(kept), object)
    array[:] = kept
    return EagerTensor(array, tf.variant)


def at(dataset, position):
    """An iterator that has given so many elements."""
    iterator = iter(dataset)
    for _ in range(position):
        next(iterator, None)
    return iterator


def test_names_are_those_of_tensorflow(recorded):
    expected = json.loads((recorded / "names.json").read_text())
    for name, dataset in made().items():
        states = [saved(at(dataset, position)) for position in position_pipelines.POSITIONS]
        assert sorted(set().union(*[position_names.names_of(x.numpy()) for x in states])) == expected[name], name


@pytest.mark.parametrize(
    "position", [pytest.param(x, marks=() if x == 7 else pytest.mark.slow) for x in position_pipelines.POSITIONS]
)
def test_what_is_written_leads_back(position):
    first, second = made(), made()  # a dataset has seeds for one walk after another: two programs have two datasets
    for name, dataset in first.items():
        iterator, again = at(dataset, position), iter(second[name])
        state = as_tensorflow_sees(saved(iterator))
        assert len(state)
        again._restore_from_tensors({"_STATE": state})
        assert position_pipelines.following(tf, again) == position_pipelines.following(tf, iterator), name
