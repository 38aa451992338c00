"""`tf.train.TrackableView` and `CheckpointView`: what TensorFlow 2.21 says of the same objects and files."""

import weakref

import pytest

import headrace as tf


class Simple(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.a_var = tf.Variable(5.0)
        self.b_var = tf.Variable(4.0)
        self.vars = [tf.Variable(1.0), tf.Variable(2.0)]


@pytest.fixture
def root():
    root = Simple("root")
    root.leaf = Simple("leaf")
    root.leaf.leaf3, root.leaf.leaf4 = tf.Variable(6.0), tf.Variable(7.0)
    return root


def kinds(objects):
    return [type(one).__name__ for one in objects]


def test_objects(root):
    view = tf.train.TrackableView(root)
    assert list(view.children(root)) == ["a_var", "b_var", "vars", "leaf"]
    assert kinds(view.descendants()) == [
        "Simple", "Variable", "Variable", "ListWrapper", "Simple", "Variable", "Variable", "Variable", "Variable",
        "ListWrapper", "Variable", "Variable", "Variable", "Variable",
    ]  # fmt: skip
    assert tf.train.TrackableView(weakref.ref(root)).root is root
    assert tf.train.TrackableView.children(3) == {}


def test_the_object_is_not_kept_alive():
    root = Simple()
    view = tf.train.TrackableView(root)
    del root
    with pytest.raises(ReferenceError, match="is gone"):
        view.descendants()


def test_a_checkpoint(root, tmp_path):
    view = tf.train.CheckpointView(tf.train.Checkpoint(root).save(tmp_path / "c"))
    assert view.children(0) == {"a_var": 1, "b_var": 2, "vars": 3, "leaf": 4, "root": 0, "save_counter": 5}
    assert view.children(3) == {"0": 6, "1": 7}
    assert view.descendants() == list(range(15))
    assert view._descendants_with_paths()[13] == "root.leaf.vars.0"


def test_matching_and_differences(root, tmp_path):
    view = tf.train.CheckpointView(tf.train.Checkpoint(root).save(tmp_path / "c"))
    other = Simple("root")
    other.leaf2 = Simple("leaf2")
    other.leaf2.leaf3 = tf.Variable(6.0)
    match = view.match(other)
    assert list(match) == [0, 1, 2, 3, 6, 7]
    assert match[2] is other.b_var
    assert match[7] is other.vars[1]
    both, only_in_file, only_here = view.diff(other)
    assert both.keys() == match.keys()
    assert only_in_file == [4, 5, 8, 9, 10, 11, 12, 13, 14]
    assert kinds(only_here) == ["Simple", "Variable", "Variable", "ListWrapper", "Variable", "Variable", "Variable"]
    assert view.diff(root)[1:] == ([5], [])  # the file also has the number of saves


def test_one_object_under_two_names(tmp_path, caplog):
    root = tf.Module()
    root.a = root.b = tf.Variable(1.0)
    view = tf.train.CheckpointView(tf.train.Checkpoint(root).write(tmp_path / "c"))
    other = tf.Module()
    other.a, other.b = tf.Variable(1.0), tf.Variable(2.0)
    assert view.match(other)[1] is other.a
    assert "Inconsistent references when matching the checkpoint" in caplog.text


def test_what_is_refused(root, tmp_path):
    view = tf.train.CheckpointView(tf.train.Checkpoint(root).save(tmp_path / "c"))
    with pytest.raises(ValueError, match="Expected a Trackable, got 3 of type <class 'int'>."):
        view.match(3)
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        tf.train.CheckpointView(tmp_path / "nowhere")
    save = lambda name, value: tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "n"), tensor_names=[name], shape_and_slices=[""], tensors=[value]
    )
    save("x", tf.constant(1.0))
    with pytest.raises(ValueError, match="does not appear to be object-based .* Likely it was created with the TF1"):
        tf.train.CheckpointView(tmp_path / "n")
    # Bytes that are no message; a child that is not there; no objects.
    for data, text in [
        (b"\xff", "is no list of objects"),
        (b"\n\x04\n\x02\x08\x05", "object 5, but there are 1"),
        (b"", "no objects"),
    ]:
        save("_CHECKPOINTABLE_OBJECT_GRAPH", tf.constant(data))
        with pytest.raises(tf.errors.DataLossError, match=text):
            tf.train.CheckpointView(tmp_path / "n")
