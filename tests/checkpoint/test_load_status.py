"""What restores return, and what it says about what did not match."""

import pytest

import headrace as tf


@pytest.fixture
def path(tmp_path):
    return tf.train.Checkpoint(v=tf.Variable(1.0), m=tf.Module()).write(tmp_path / "x")


def test_consumed(path):
    status = tf.train.Checkpoint(v=tf.Variable(0.0)).read(path)
    assert status.assert_consumed() is status
    assert status.assert_existing_objects_matched() is status
    assert status.assert_nontrivial_match() is status
    assert status.expect_partial() is status
    assert status.initialize_or_restore() is None
    assert status.run_restore_ops() is None


def test_an_object_without_a_value(path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0), a=[tf.Variable(2), tf.Module()])
    for name in ("assert_consumed", "assert_existing_objects_matched"):
        with pytest.raises(AssertionError, match=r"Found 1 Python objects .* \[root\.a\.0: <tf\.Variable"):
            getattr(checkpoint.read(path), name)()
    checkpoint.read(path).assert_nontrivial_match()


def test_a_value_without_an_object(path):
    status = tf.train.Checkpoint().read(path).expect_partial()
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.v: v/\.ATTRIBUTES"):
        status.assert_consumed()
    status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="Nothing to load"):
        status.assert_nontrivial_match()


def test_nothing_but_the_root(path):
    status = tf.train.Checkpoint(w=tf.Variable(1)).read(path).expect_partial()
    with pytest.raises(AssertionError, match=r"Nothing except the root object .* \[root\.w: <tf\.Variable"):
        status.assert_nontrivial_match()


def test_an_object_of_another_kind(path):
    status = tf.train.Checkpoint(v=tf.Module()).read(path).expect_partial()
    with pytest.raises(AssertionError, match=r"Unused attributes .*\n\(root\)\.v .*\['VARIABLE_VALUE'\]"):
        status.assert_consumed()


def test_the_counter_is_an_object_too(path):
    with pytest.raises(AssertionError, match=r"root\.save_counter"):
        tf.train.Checkpoint(v=tf.Variable(0.0)).restore(path).assert_consumed()


def test_a_status_keeps_the_objects(path):
    tf.train.Checkpoint(v=tf.Variable(0.0)).read(path).assert_consumed()


def test_no_checkpoint():
    status = tf.train.Checkpoint(v=tf.Variable(0.0)).restore(None)
    for name in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"):
        with pytest.raises(AssertionError, match=r"No checkpoint specified \(save_path=None\)"):
            getattr(status, name)()
    with pytest.raises(AssertionError, match="no restore ops"):
        status.run_restore_ops()
    assert status.initialize_or_restore() is None
    assert status.expect_partial() is status
