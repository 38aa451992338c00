"""`tf.train.Checkpoint`: what it saves, where, and what comes back."""

import os
import pathlib
import weakref

import numpy as np
import pytest

import headrace as tf
from headrace._src.formats import checkpoint_messages


def graph_of(path):
    message = tf.train.load_checkpoint(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    return checkpoint_messages.TrackableObjectGraph.FromString(message)


def keys_of(path):
    return sorted(k for k in tf.train.load_checkpoint(path).get_variable_to_shape_map() if not k.startswith("_CHECK"))


def test_save_numbers_files_and_says_which_is_the_latest(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    folder = tmp_path / "new" / "folder"
    assert checkpoint.save(str(folder / "model")) == str(folder / "model-1")
    assert checkpoint.save(str(folder / "model")) == str(folder / "model-2")
    assert sorted(os.listdir(folder)) == [
        "checkpoint",
        "model-1.data-00000-of-00001",
        "model-1.index",
        "model-2.data-00000-of-00001",
        "model-2.index",
    ]
    assert tf.train.latest_checkpoint(folder) == str(folder / "model-2")
    text = 'model_checkpoint_path: "model-2"\nall_model_checkpoint_paths: "model-2"\n'
    assert (folder / "checkpoint").read_text() == text
    assert int(checkpoint.save_counter) == 2


def test_the_number_goes_on_after_a_restart(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "model")
    again = tf.train.Checkpoint(v=tf.Variable(0.0))
    again.restore(path).assert_consumed()
    assert again.save(tmp_path / "model") == str(tmp_path / "model-2")


def test_write_changes_no_number_and_no_state(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(3.0))
    assert checkpoint.write(tmp_path / "only") == str(tmp_path / "only")
    assert sorted(os.listdir(tmp_path)) == ["only.data-00000-of-00001", "only.index"]
    assert keys_of(tmp_path / "only") == ["v/.ATTRIBUTES/VARIABLE_VALUE"]
    v = tf.Variable(0.0)
    tf.train.Checkpoint(v=v).read(str(tmp_path / "only")).assert_consumed()
    assert float(v) == 3.0


@pytest.mark.parametrize("form", [str, pathlib.Path, os.fsencode, lambda p: tf.constant(str(p))])
def test_forms_of_paths(tmp_path, form):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(form(tmp_path / "a"))
    assert path == str(tmp_path / "a")
    v.assign(0.0)
    checkpoint.read(form(tmp_path / "a"))
    assert float(v) == 1.0
    assert checkpoint.save(form(tmp_path / "b")) == str(tmp_path / "b-1")


@pytest.mark.parametrize("ending", ["", ".index", ".data-00000-of-00001"])
def test_names_of_files_are_understood(tmp_path, ending):
    v = tf.Variable(1.0)
    path = tf.train.Checkpoint(v=v).save(tmp_path / "model.ckpt")
    v.assign(0.0)
    tf.train.Checkpoint(v=v).restore(path + ending).assert_consumed()
    assert float(v) == 1.0


def test_attributes_that_are_added_later(tmp_path):
    checkpoint = tf.train.Checkpoint(a=tf.Variable(1.0))
    checkpoint.b = tf.Variable(2.0)
    checkpoint.number = 5
    path = checkpoint.write(tmp_path / "x")
    assert keys_of(path) == ["a/.ATTRIBUTES/VARIABLE_VALUE", "b/.ATTRIBUTES/VARIABLE_VALUE"]


def test_arguments_are_in_the_order_of_names(tmp_path):
    path = tf.train.Checkpoint(b=tf.Variable(1.0), a=tf.Variable(2.0)).write(tmp_path / "x")
    assert [child.local_name for child in graph_of(path).nodes[0].children] == ["a", "b"]


def test_a_root(tmp_path):
    root = tf.Module()
    root.w = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(root, step=tf.Variable(7))
    path = checkpoint.save(tmp_path / "x")
    assert keys_of(path) == [
        "save_counter/.ATTRIBUTES/VARIABLE_VALUE",
        "step/.ATTRIBUTES/VARIABLE_VALUE",
        "w/.ATTRIBUTES/VARIABLE_VALUE",
    ]
    other, step = tf.Module(), tf.Variable(0)
    other.w = tf.Variable(0.0)
    again = tf.train.Checkpoint(root=other, step=step)
    again.restore(path).assert_consumed()
    assert (float(other.w), int(step), int(again.save_counter)) == (1.0, 7, 1)


def test_a_variable_as_root(tmp_path):
    path = tf.train.Checkpoint(root=tf.Variable(4.0)).write(tmp_path / "x")
    assert keys_of(path) == ["/.ATTRIBUTES/VARIABLE_VALUE"]
    v = tf.Variable(0.0)
    tf.train.Checkpoint(root=weakref.ref(v)).read(path).assert_consumed()
    assert float(v) == 4.0


@pytest.mark.parametrize("value", [3, tf.constant(1.0), "text", None])
def test_what_cannot_be_saved(value):
    with pytest.raises(ValueError, match="was expecting x to be a trackable object"):
        tf.train.Checkpoint(x=value)


def test_an_argument_and_an_attribute_of_the_root():
    root = tf.Module()
    root.v = tf.Variable(1.0)
    tf.train.Checkpoint(root, v=root.v)
    with pytest.raises(ValueError, match=r"keyword argument v if root\.v already exists"):
        tf.train.Checkpoint(root, v=tf.Variable(2.0))


def test_dtypes_and_shapes(tmp_path):
    values = [
        *(np.arange(6).reshape(2, 3).astype(t) for t in ("int8", "uint16", "int64", "float16", "float64", "complex64")),
        np.array([True, False]),
        np.zeros((0, 3), np.float32),
        np.float32(2.5),
        np.array([b"", b"\x00\xff", b"x" * 300], object),
    ]
    variables = [tf.Variable(v) for v in values] + [tf.Variable(tf.cast([1.5, -2.0], tf.bfloat16))]
    path = tf.train.Checkpoint(v=variables).write(tmp_path / "x")
    fresh = [tf.Variable(tf.zeros_like(v)) for v in variables]
    tf.train.Checkpoint(v=fresh).read(path).assert_consumed()
    for a, b in zip(variables, fresh):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_a_folder_of_checkpoints_is_no_checkpoint(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.save(tmp_path / "x")
    with pytest.raises(tf.errors.NotFoundError, match="latest_checkpoint"):
        checkpoint.restore(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match=r"(?s)Error when restoring.*x\.index.*double-check"):
        checkpoint.restore(tmp_path / "x")


def test_save_is_refused_in_functions(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with pytest.raises(NotImplementedError, match="write"):
        tf.function(lambda: checkpoint.save(tmp_path / "x"))()


def test_a_checkpoint_goes_when_nobody_has_it(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.restore(checkpoint.save(tmp_path / "x")).assert_consumed()
    gone = weakref.ref(checkpoint)
    del checkpoint
    assert gone() is None


def test_saving_over_an_old_one_keeps_it_until_the_new_one_is_there(tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    checkpoint.write(tmp_path / "x")
    v.assign(2.0)
    checkpoint.write(tmp_path / "x")
    assert sorted(os.listdir(tmp_path)) == ["x.data-00000-of-00001", "x.index"]
    v.assign(0.0)
    checkpoint.read(tmp_path / "x")
    assert float(v) == 2.0
