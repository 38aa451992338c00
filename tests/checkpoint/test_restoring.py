"""Restores: objects that exist, objects that come later, objects that do not fit."""

import gc
import logging

import numpy as np
import pytest

import headrace as tf


def module(**values):
    result = tf.Module()
    for name, value in values.items():
        setattr(result, name, value)
    return result


def written(tmp_path, name="x", **values):
    return tf.train.Checkpoint(**values).write(tmp_path / name)


def test_a_variable_that_comes_later(tmp_path):
    path = written(tmp_path, m=module(w=tf.Variable([1.0, 2.0])))
    m = tf.Module()
    status = tf.train.Checkpoint(m=m).read(path)
    with pytest.raises(AssertionError, match=r"\(root\)\.m\.w"):
        status.assert_consumed()
    m.w = tf.Variable([0.0, 0.0])
    np.testing.assert_array_equal(m.w, [1.0, 2.0])
    status.assert_consumed()


def test_whole_objects_that_come_later(tmp_path):
    path = written(tmp_path, a=module(b=module(c=[tf.Variable(1.0), {"k": tf.Variable(2.0)}])))
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.read(path)
    checkpoint.a = module()
    checkpoint.a.b = module(c=[])
    checkpoint.a.b.c.append(tf.Variable(0.0))
    checkpoint.a.b.c.append({})
    checkpoint.a.b.c[1]["k"] = tf.Variable(0.0)
    status.assert_consumed()
    assert [float(checkpoint.a.b.c[0]), float(checkpoint.a.b.c[1]["k"])] == [1.0, 2.0]


def test_a_variable_that_a_function_makes(tmp_path):
    class Net(tf.Module):
        @tf.function
        def __call__(self, x):
            if not hasattr(self, "w"):
                self.w = tf.Variable(tf.random.normal([2]))
            return x * self.w

    net = Net()
    y = net(tf.ones([2]))
    path = written(tmp_path, net=net)
    other = Net()
    status = tf.train.Checkpoint(net=other).read(path)
    np.testing.assert_array_equal(other(tf.ones([2])), y)
    np.testing.assert_array_equal(other(tf.ones([2])), y)
    status.assert_consumed()


def test_a_variable_of_a_function_whose_first_value_depends_on_the_argument(tmp_path):
    class Net(tf.Module):
        @tf.function
        def __call__(self, x):
            if not hasattr(self, "w"):
                self.w = tf.Variable(x * 2.0)
            return x + self.w

    net = Net()
    net(tf.constant(3.0))
    path = written(tmp_path, net=net)
    other = Net()
    tf.train.Checkpoint(net=other).read(path)
    assert float(other(tf.constant(1.0))) == 7.0


def test_the_latest_of_several_restores_that_wait(tmp_path):
    first = written(tmp_path, "a", m=module(v=tf.Variable(1.0)))
    second = written(tmp_path, "b", m=module(v=tf.Variable(2.0)))
    other = written(tmp_path, "c", m=module(w=tf.Variable(3.0)))
    m = tf.Module()
    checkpoint = tf.train.Checkpoint(m=m)
    for path in (first, other, second):
        checkpoint.read(path).expect_partial()
    m.v, m.w = tf.Variable(0.0), tf.Variable(0.0)
    assert (float(m.v), float(m.w)) == (2.0, 3.0)


def test_waiting_restores_of_the_same_objects_do_not_pile_up(tmp_path):
    path = written(tmp_path, m=module(v=tf.Variable(1.0)))
    m = tf.Module()
    checkpoint = tf.train.Checkpoint(m=m)
    for _ in range(3):
        checkpoint.read(path).expect_partial()
    assert [len(waiting) for waiting in m._deferred_dependencies.values()] == [1]


def test_a_restore_that_waits_does_not_need_the_files_any_more(tmp_path):
    path = written(tmp_path, m=module(v=tf.Variable([1.0, 2.0])))
    m = tf.Module()
    tf.train.Checkpoint(m=m).read(path)
    written(tmp_path, m=module(v=tf.Variable([9.0, 9.0])))
    m.v = tf.Variable([0.0, 0.0])
    np.testing.assert_array_equal(m.v, [1.0, 2.0])


def test_shared_objects(tmp_path):
    v = tf.Variable(1.0)
    path = written(tmp_path, a=module(v=v), b=module(v=v))
    w = tf.Variable(0.0)
    tf.train.Checkpoint(a=module(v=w), b=module(v=w)).read(path).assert_consumed()
    assert float(w) == 1.0


def test_two_objects_for_one(tmp_path, caplog):
    v = tf.Variable(1.0)
    path = written(tmp_path, a=module(v=v), b=module(v=v))
    tf.train.Checkpoint(a=module(v=tf.Variable(0.0)), b=module(v=tf.Variable(0.0))).read(path)
    assert "Inconsistent references" in caplog.text


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ([0.0, 0.0], ValueError, r"shape \(\).*shape \(2,\): \(root\)\.m\.b with the name wrong:0"),
        (0, tf.errors.InvalidArgumentError, r"expected dtype int32.*original dtype float32: \(root\)\.m\.b"),
    ],
)
def test_what_does_not_fit_changes_nothing(tmp_path, value, error, text):
    path = written(tmp_path, m=module(a=tf.Variable(1.0), b=tf.Variable(2.0), later=tf.Variable(5.0)))
    m = module(a=tf.Variable(-1.0), b=tf.Variable(value, name="wrong"))
    with pytest.raises(error, match=text):
        tf.train.Checkpoint(m=m).read(path)
    assert float(m.a) == -1.0
    m.later = tf.Variable(0.0)
    assert float(m.later) == 0.0


def test_a_damaged_file_changes_nothing(tmp_path):
    names = {name: tf.Variable(np.full(100, i, np.float32)) for i, name in enumerate("abc", 1)}
    path = written(tmp_path, **names)
    data = tmp_path / "x.data-00000-of-00001"
    content = bytearray(data.read_bytes())
    content[900] ^= 1
    data.write_bytes(content)
    fresh = {name: tf.Variable(np.zeros(100, np.float32)) for name in "abc"}
    with pytest.raises(tf.errors.DataLossError, match=r"x\.data-00000-of-00001: key 'c/.*' at offset 800: checksum"):
        tf.train.Checkpoint(**fresh).read(path)
    assert [float(v[0]) for v in fresh.values()] == [0.0] * 3


def test_large_values_are_verified_before_any_is_set(tmp_path, monkeypatch):
    monkeypatch.setattr("headrace._src.checkpoint.restored_values._MOST_AT_ONCE", 10)
    test_a_damaged_file_changes_nothing(tmp_path)
    path = written(tmp_path, "y", v=tf.Variable([1.0, 2.0, 3.0]), s=tf.Variable("text"))
    v, s = tf.Variable([0.0, 0.0, 0.0]), tf.Variable("")
    tf.train.Checkpoint(v=v, s=s).read(path).assert_consumed()
    np.testing.assert_array_equal(v, [1.0, 2.0, 3.0])
    assert s.numpy() == b"text"


def test_warnings_about_values_that_nobody_took(tmp_path, caplog):
    path = written(tmp_path, a=tf.Variable(1.0), b=tf.Variable(2.0), c=tf.Variable(3.0))
    checkpoint = tf.train.Checkpoint(a=tf.Variable(0.0), c=tf.Module())
    checkpoint.read(path)
    del checkpoint
    gc.collect()
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "deleted with unrestored values" in lines[0]
    assert lines[1] == "Value in checkpoint could not be found in the restored object: (root).b"
    assert "Object: (root).c, attribute: ['VARIABLE_VALUE']" in lines[2]


def test_no_warnings_when_a_part_was_expected(tmp_path, caplog):
    path = written(tmp_path, a=tf.Variable(1.0), b=tf.Variable(2.0))
    checkpoint = tf.train.Checkpoint(a=tf.Variable(0.0))
    checkpoint.read(path).expect_partial()
    del checkpoint
    gc.collect()
    assert not caplog.records


def test_a_program_that_owns_a_variable_sees_what_was_restored(tmp_path):
    v = tf.Variable(tf.ones([1000]))

    @tf.function(jit_compile=True)
    def step():
        v.assign_add(tf.ones([1000]))
        return tf.reduce_sum(v)

    assert float(step()) == 2000.0
    path = written(tmp_path, v=v)
    step()
    tf.train.Checkpoint(v=v).read(path)
    assert float(step()) == 3000.0
    assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")[0] == 2.0


def test_variables_without_a_value_are_left_out(tmp_path):
    made = []

    @tf.function
    def make(x):
        if not made:
            made.append(tf.Variable(x))
        return made[0]

    make.get_concrete_function(tf.TensorSpec([], tf.float32))
    path = written(tmp_path, empty=made[0], v=tf.Variable(1.0))
    assert [name for name, _ in tf.train.list_variables(path)][1:] == ["v/.ATTRIBUTES/VARIABLE_VALUE"]
    v = tf.Variable(0.0)
    tf.train.Checkpoint(empty=tf.Variable(4.0), v=v).read(path)
    assert float(v) == 1.0


def test_what_does_not_fit_is_named_as_the_restored_object_has_it(tmp_path):
    variable = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(a=variable, z=tf.train.Checkpoint(v=variable)).write(str(tmp_path / "ck"))
    with pytest.raises(ValueError, match=r"\(root\)\.z\.v with the name Variable:0, stored as a/.ATTRIBUTES"):
        tf.train.Checkpoint(z=tf.train.Checkpoint(v=tf.Variable([1.0]))).restore(path)
