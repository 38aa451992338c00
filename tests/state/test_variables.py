"""Variables: who may see an update, and updates from many threads."""

import threading

import numpy as np
import pytest

import headrace as tf


@pytest.mark.parametrize("update", ["assign_add", "assign_sub", "assign"])
def test_values_that_were_read_do_not_change(update):
    v = tf.Variable(np.zeros(4, np.float32))
    tensor, array, view = v.read_value(), v.numpy(), np.asarray(v)
    part = v[1:]
    getattr(v, update)(np.ones(4, np.float32))
    for before in (tensor.numpy(), array, view, tf.identity(tensor).numpy()):
        assert before.tolist() == [0, 0, 0, 0]
    assert part.numpy().tolist() == [0, 0, 0]
    assert v.numpy().tolist() == ([-1] * 4 if update == "assign_sub" else [1] * 4)


def test_an_assigned_tensor_does_not_change_with_the_variable():
    v = tf.Variable([0.0, 0.0])
    value = tf.constant([1.0, 2.0])
    v.assign(value)
    v.assign_add([10.0, 10.0])
    assert value.numpy().tolist() == [1, 2]


def test_a_variable_does_not_change_with_the_array_it_came_from():
    array = np.zeros(2, np.float32)
    v = tf.Variable(array)
    array[0] = 5
    v.assign(array)
    array[1] = 7
    assert v.numpy().tolist() == [5, 0]


def test_updates_happen_in_place_when_nobody_has_the_value():
    v = tf.Variable(np.zeros(1000, np.float32))
    v.assign_add(tf.ones(1000))
    address = v._storage.value.ctypes.data
    v.assign_add(tf.ones(1000))
    assert v._storage.value.ctypes.data == address
    kept = v.read_value()
    v.assign_add(tf.ones(1000))
    assert v._storage.value.ctypes.data != address
    assert kept.numpy()[0] == 2


def test_concurrent_updates_are_not_lost():
    v = tf.Variable(np.zeros(1000))
    one = tf.ones(1000, tf.float64)

    def work():
        for _ in range(200):
            v.assign_add(one)
            v.scatter_add(tf.IndexedSlices(tf.constant([1.0], tf.float64), [0]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert v.numpy()[1] == 1600
    assert v.numpy()[0] == 3200


def test_readers_never_see_half_an_update():
    v = tf.Variable(np.zeros(200_000))
    delta = tf.ones(200_000, tf.float64)
    torn, done = [], threading.Event()

    def read():
        while not done.is_set():
            value = v.numpy()
            if value[0] != value[-1]:
                torn.append(value)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(200):
        v.assign_add(delta)
    done.set()
    reader.join()
    assert not torn


def test_a_failed_update_changes_nothing():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.assign_add([1.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.scatter_update(tf.IndexedSlices([5.0, 6.0], [0, 7]))
    assert v.numpy().tolist() == [1, 2]


def test_creators_nest_and_see_the_arguments():
    calls = []

    def outer(next_creator, **kwargs):
        calls.append("outer")
        return next_creator(**kwargs)

    def inner(next_creator, **kwargs):
        calls.append("inner")
        kwargs["name"] = "renamed"
        return next_creator(**kwargs)

    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        v = tf.Variable(1.0, name="x")
    assert calls == ["inner", "outer"]
    assert v.name == "renamed:0"


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_gradient_of_rows_read_by_batch(wrap):
    v = tf.Variable(tf.reshape(tf.range(12.0), [2, 3, 2]))

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(v)
            rows = tf.raw_ops.ResourceGather(
                resource=v.handle, indices=[[0, 1], [2, 2]], batch_dims=1, dtype=tf.float32
            )
        return tape.gradient(rows, v)

    assert wrap(gradient)().numpy().tolist() == [[[1, 1], [1, 1], [0, 0]], [[0, 0], [0, 0], [2, 2]]]


class Doubled(tf.Variable):
    """A variable around another one, as packages that quantize weights have it: it is read as something else."""

    def __init__(self, variable):
        self.inner = variable

    def value(self):
        return 2.0 * self.inner.value()

    read_value = value

    def _dense_var_to_tensor(self, *args, **kwargs):
        return 2.0 * self.inner._dense_var_to_tensor(*args, **kwargs)

    def __tf_tensor__(self, dtype=None, name=None):
        return self._dense_var_to_tensor(dtype=dtype, name=name)

    def __getattr__(self, name):
        return getattr(self.inner, name)


Doubled._OverloadAllOperators()


def test_a_variable_around_another_one():
    inner = tf.Variable([1.0, 2.0])
    outer = Doubled(inner)
    assert (outer + 1.0).numpy().tolist() == [3.0, 5.0]
    assert (1.0 - outer).numpy().tolist() == [-1.0, -3.0]
    assert tf.reduce_sum(outer).numpy() == 6.0
    assert tf.function(lambda: outer * 2.0)().numpy().tolist() == [4.0, 8.0]
    with tf.GradientTape(persistent=True) as tape:
        y = outer * tf.constant([3.0, 4.0])
    assert tape.gradient(y, inner).numpy().tolist() == [6.0, 8.0]
    assert tape.gradient(y, outer).numpy().tolist() == [6.0, 8.0]
    assert inner._dense_var_to_tensor(tf.float32).numpy().tolist() == inner.numpy().tolist()


def test_a_loaded_variable_gets_its_name():
    v = tf.Variable(1.0, name="old")
    v._handle_name = "layer/kernel:0"
    assert v.name == "layer/kernel:0"
    assert v._handle_name == v.name
