"""1.x checkpoints, which know variables by their names, restored into objects."""

import numpy as np
import pytest

import headrace as tf

v1 = tf.compat.v1


@pytest.fixture
def path(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("a/v", initializer=[1.0, 2.0])
        v1.get_variable("w", initializer=5.0)
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(tmp_path / "x"))


def test_variables_by_name(path):
    v = tf.Variable([0.0, 0.0], name="a/v")
    tf.train.Checkpoint(x=v).restore(path).assert_consumed()
    np.testing.assert_array_equal(v, [1.0, 2.0])


def test_variables_that_come_later(path):
    module = tf.Module()
    status = tf.train.Checkpoint(m=module).restore(path)
    module.inner = tf.Module()
    module.inner.w = tf.Variable(0.0, name="w")
    status.assert_consumed()
    assert float(module.inner.w) == 5.0


def test_a_name_that_is_not_there(path):
    v = tf.Variable(3.0, name="other")
    status = tf.train.Checkpoint(x=v).restore(path)
    with pytest.raises(AssertionError, match=r"not restored: \n    root\.x: .*\['other'\]"):
        status.assert_consumed()
    with pytest.raises(AssertionError):
        status.assert_existing_objects_matched()
    with pytest.raises(AssertionError):
        status.assert_nontrivial_match()
    assert float(v) == 3.0


def test_what_does_not_fit_changes_nothing(path):
    v, w = tf.Variable([0.0, 0.0], name="a/v"), tf.Variable([1.0], name="w")
    with pytest.raises(ValueError, match=r"shape \(\) .* shape \(1,\): w with the name w:0"):
        tf.train.Checkpoint(v=v, w=w).restore(path)
    np.testing.assert_array_equal(v, [0.0, 0.0])


def test_in_a_session(path):
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("a/v", initializer=[0.0, 0.0])
        checkpoint = tf.train.Checkpoint(x=v)
        status = checkpoint.restore(path)
        with pytest.raises(AssertionError, match=r"Object not restored: root\.x"):
            status.assert_consumed()
        status.initialize_or_restore()
        np.testing.assert_array_equal(session.run(v), [1.0, 2.0])
        status.assert_consumed()
        checkpoint.u = v1.get_variable("u", initializer=0.0)
        with pytest.raises(tf.errors.NotFoundError, match="Key u not found"):
            checkpoint.restore(path).run_restore_ops()


def test_the_format_before_that(tmp_path):
    tf.raw_ops.Save(filename=str(tmp_path / "old"), tensor_names=["v"], data=[tf.constant([4.0])])
    v = tf.Variable([0.0], name="v")
    tf.train.Checkpoint(v=v).restore(tmp_path / "old").assert_consumed()
    np.testing.assert_array_equal(v, [4.0])
