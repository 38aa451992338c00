"""Checkpoints where a graph is built: in functions, and in 1.x graphs with sessions."""

import numpy as np
import pytest

import headrace as tf

v1 = tf.compat.v1


def test_write_in_a_function_happens_each_time(tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v, s=tf.Variable("text"))

    @tf.function
    def step(path):
        v.assign_add(1.0)
        return checkpoint.write(path)

    path = str(tmp_path / "x")
    for number in (2.0, 3.0):
        assert step(path).numpy().decode() == path
        assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == number
    step(tf.constant(path + "y"))
    assert tf.train.load_variable(path + "y", "v/.ATTRIBUTES/VARIABLE_VALUE") == 4.0
    assert tf.train.load_variable(path + "y", "s/.ATTRIBUTES/VARIABLE_VALUE") == b"text"


def test_restore_in_a_function_happens_each_time(tmp_path):
    v = tf.Variable([1.0, 2.0])
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a"], [1])
    checkpoint = tf.train.Checkpoint(v=v, table=table)
    path = checkpoint.write(tmp_path / "x")

    @tf.function
    def go_back():
        checkpoint.read(path).assert_consumed()
        return v * 10.0

    for _ in range(2):
        v.assign([0.0, 0.0])
        table.insert(["a"], [5])
        np.testing.assert_array_equal(go_back(), [10.0, 20.0])
        np.testing.assert_array_equal(v, [1.0, 2.0])
        assert int(table.lookup(tf.constant("a"))) == 1


def test_a_path_that_is_not_known_yet(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))

    @tf.function
    def go_back(path):
        checkpoint.restore(path)

    with pytest.raises(TypeError, match="known when a function is traced"):
        go_back(tf.constant(str(tmp_path / "x")))


class Trained:
    """A variable of each kind, and an optimizer, in a graph."""

    def __init__(self, cls, first=1.0):
        self.v = v1.get_variable("v", initializer=[first, 2.0], use_resource=True)
        self.r = v1.get_variable("r", initializer=first, use_resource=False)
        self.optimizer = v1.train.AdamOptimizer(0.1)
        self.train = self.optimizer.minimize(tf.reduce_sum(self.v * self.v) + self.r * self.r)
        self.checkpoint = cls(v=self.v, r=self.r, optimizer=self.optimizer)

    def values(self, session):
        return session.run(
            [self.v, self.r, self.optimizer.get_slot(self.v, "m"), self.optimizer._get_beta_accumulators()]
        )


@pytest.fixture(params=["compat.v1.train.Checkpoint", "train.Checkpoint"])
def checkpoint_class(request):
    return v1.train.Checkpoint if "v1" in request.param else tf.train.Checkpoint


def assert_equal(a, b):
    for x, y in zip(tf.nest.flatten(a), tf.nest.flatten(b), strict=True):
        np.testing.assert_array_equal(x, y)


def test_save_and_restore_in_a_session(tmp_path, checkpoint_class):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        net = Trained(checkpoint_class)
        session.run(v1.global_variables_initializer())
        session.run(net.train)
        saved = net.values(session)
        assert net.checkpoint.save(tmp_path / "x") == str(tmp_path / "x-1")
        session.run(net.train)
        status = net.checkpoint.restore(tmp_path / "x-1").assert_consumed()
        assert not np.array_equal(saved[0], session.run(net.v))
        status.run_restore_ops()
        assert_equal(saved, net.values(session))
        count = len(graph.get_operations())
        assert net.checkpoint.save(tmp_path / "x") == str(tmp_path / "x-2")
        net.checkpoint.restore(tmp_path / "x-2").run_restore_ops()
        assert len(graph.get_operations()) == count
        assert session.run(net.checkpoint.save_counter) == 2
    with tf.Graph().as_default():
        net = Trained(checkpoint_class, first=9.0)
        status = net.checkpoint.restore(tmp_path / "x-2").assert_consumed()
        with v1.Session() as session:
            status.initialize_or_restore(session)
            assert_equal(saved, net.values(session))


def test_graph_objects_that_come_later(tmp_path, checkpoint_class):
    with tf.Graph().as_default(), v1.Session() as session:
        net = Trained(checkpoint_class)
        session.run(v1.global_variables_initializer())
        session.run(net.train)
        saved = net.values(session)
        net.checkpoint.save(tmp_path / "x")
    with tf.Graph().as_default(), v1.Session() as session:
        checkpoint = checkpoint_class()
        status = checkpoint.restore(tmp_path / "x-1")
        with pytest.raises(AssertionError, match=r"\(root\)\.optimizer's state 'm' for \(root\)\.v"):
            status.assert_consumed()
        net = Trained(checkpoint_class)
        checkpoint.v, checkpoint.r, checkpoint.optimizer = net.v, net.r, net.optimizer
        status.assert_consumed().initialize_or_restore()
        assert_equal(saved, net.values(session))


def test_what_the_checkpoint_does_not_have_is_initialised(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=1.0, use_resource=True)
        session.run(v.initializer)
        path = tf.train.Checkpoint(v=v).save(tmp_path / "x")
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=0.0, use_resource=True)
        w = v1.get_variable("w", initializer=7.0, use_resource=True)
        checkpoint = tf.train.Checkpoint(v=v, w=w)
        checkpoint.restore(path).initialize_or_restore()
        assert session.run([v, w]) == [1.0, 7.0]
        checkpoint.restore(None).initialize_or_restore()
        assert session.run([v, w]) == [0.0, 7.0]


def test_no_session(tmp_path):
    with tf.Graph().as_default():
        checkpoint = tf.train.Checkpoint(v=v1.get_variable("v", initializer=1.0))
        with pytest.raises(RuntimeError, match="session"):
            checkpoint.save(tmp_path / "x")


class Count(tf.train.experimental.PythonState):
    value = 0

    def serialize(self):
        return str(self.value)

    def deserialize(self, string_value):
        self.value = int(string_value)


def test_python_state_in_a_session_is_that_of_each_save(tmp_path):
    count = Count()
    with tf.Graph().as_default(), v1.Session():
        checkpoint = tf.train.Checkpoint(count=count)
        for count.value in (1, 2):
            checkpoint.write(tmp_path / str(count.value))
    for number in (1, 2):
        tf.train.Checkpoint(count=count).read(tmp_path / str(number)).assert_consumed()
        assert count.value == number
