"""The file that says what the checkpoints of a folder are: written as TensorFlow writes it, and what is read of it."""

import logging
import os

import numpy as np
import pytest

import headrace as tf
from headrace._src.checkpoint.folder_state import write_state
from headrace._src.formats.tensor_bundle import write_bundle

v1 = tf.compat.v1.train


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder `st`, in the working directory, with the checkpoint `m-1`."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("st")
    save("st/m-1")
    return tmp_path / "st"


def save(prefix):
    write_bundle(prefix, [("x", tf.float32, np.ones([2], np.float32))])


# The arguments after the folder "st", and what TensorFlow 2.21 writes.
STATES = [
    (("st/m-1",), {}, 'model_checkpoint_path: "m-1"\nall_model_checkpoint_paths: "m-1"\n'),
    (
        ("st/m-1", ["st/m-0", "st/m-1"]),
        {"all_model_checkpoint_timestamps": [1.5, 1e9 + 0.25], "last_preserved_timestamp": 12345678.9},
        'model_checkpoint_path: "m-1"\nall_model_checkpoint_paths: "m-0"\nall_model_checkpoint_paths: "m-1"\n'
        "all_model_checkpoint_timestamps: 1.5\nall_model_checkpoint_timestamps: 1000000000.25\n"
        "last_preserved_timestamp: 12345678.9\n",
    ),
    (
        ("/abs/m-1", ["/abs/m-0"]),
        {},
        'model_checkpoint_path: "/abs/m-1"\nall_model_checkpoint_paths: "/abs/m-0"\n'
        'all_model_checkpoint_paths: "/abs/m-1"\n',
    ),
    (
        ("rel \"q'\n\u00fc/m-1",),
        {},
        'model_checkpoint_path: "../rel \\"q\\\'\\n\u00fc/m-1"\n'
        'all_model_checkpoint_paths: "../rel \\"q\\\'\\n\u00fc/m-1"\n',
    ),
]


@pytest.mark.parametrize(("arguments", "keywords", "text"), STATES)
def test_what_is_written(folder, arguments, keywords, text):
    v1.update_checkpoint_state("st", *arguments, **keywords)
    assert (folder / "checkpoint").read_text("utf-8") == text
    assert sorted(os.listdir("st")) == ["checkpoint", "m-1.data-00000-of-00001", "m-1.index"]


def test_relative_paths_of_a_folder_that_is_known_by_its_whole_path(folder):
    write_state(str(folder), str(folder / "m-1"), save_relative_paths=True)
    assert (folder / "checkpoint").read_text() == STATES[0][2]
    state = v1.generate_checkpoint_state_proto(str(folder), "st/m-1", ["a", "st/m-1"], [1, 2], 3)
    assert (state.model_checkpoint_path, list(state.all_model_checkpoint_paths)) == ("st/m-1", ["a", "st/m-1"])


def test_wrong_arguments(folder):
    with pytest.raises(ValueError, match="must match checkpoint paths"):
        v1.update_checkpoint_state("st", "st/m-1", all_model_checkpoint_timestamps=[1.0, 2.0])
    with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
        v1.update_checkpoint_state(str(folder), str(folder / "checkpoint"))
    with pytest.raises(tf.errors.NotFoundError, match=r"Make it with tf\.io\.gfile\.makedirs"):
        v1.update_checkpoint_state("none", "none/m-1")


def test_what_is_read(folder):
    assert tf.train.get_checkpoint_state("st") is None
    v1.update_checkpoint_state("st", "st/m-1", ["/abs/m-0", "st/m-1"])
    for place in ("st", folder.relative_to(folder.parent), b"st"):
        state = tf.train.get_checkpoint_state(place)
        assert state.model_checkpoint_path == "st/m-1"
        assert list(state.all_model_checkpoint_paths) == ["/abs/m-0", "st/m-1"]
    assert tf.train.latest_checkpoint("st") == "st/m-1"
    v1.update_checkpoint_state("st", "st/m-1", latest_filename="other")
    assert tf.train.latest_checkpoint("st", "other") == "st/m-1"


def test_a_state_that_cannot_be_used(folder, caplog):
    logging.getLogger("tensorflow").propagate = True
    state = folder / "checkpoint"
    for damaged in (b"garbage {", b"\xff\xfe", b'model_checkpoint_path: "m-1'):
        state.write_bytes(damaged)
        assert tf.train.latest_checkpoint("st") is None
        assert "st/checkpoint: Checkpoint ignored" in caplog.text
    state.write_bytes(b"")
    with pytest.raises(ValueError, match="Invalid checkpoint state loaded from st"):
        tf.train.latest_checkpoint("st")
    state.write_text('model_checkpoint_path: "m-7"\n')
    assert tf.train.latest_checkpoint("st") is None
    assert "Couldn't match files for checkpoint st/m-7" in caplog.text


def test_whether_checkpoints_are_there(folder):
    assert v1.checkpoint_exists("st/m-1")
    assert v1.checkpoint_exists("st/m-?")
    assert not v1.checkpoint_exists("st/m-2")
    (time,) = v1.get_checkpoint_mtimes(["st/m-1", "st/m-9"])
    assert time == pytest.approx(os.stat("st/m-1.index").st_mtime)


def test_removing(folder):
    save("st/m-10")
    (folder / "m-1.meta").write_bytes(b"graph")
    (folder / "old").write_bytes(b"a checkpoint of version 1")
    v1.remove_checkpoint("st/m-9")
    v1.remove_checkpoint("st/m-1")
    v1.remove_checkpoint("st/old", checkpoint_format_version=1)
    assert sorted(os.listdir("st")) == ["m-10.data-00000-of-00001", "m-10.index"]
