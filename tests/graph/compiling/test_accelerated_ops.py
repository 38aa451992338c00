"""Single ops under `tf.device` of an accelerator, with stand-ins."""

import pathlib
import sys

import numpy as np
import pytest

import headrace as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "devices"))

import accelerator_runs
import stand_in


@pytest.fixture
def gpus():
    with stand_in.offered() as source:
        yield source


def test_ops_run_where_tf_device_says(gpus):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.device("/GPU:1"):
        a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        results = [a @ x, tf.reduce_sum(a, axis=0), tf.concat([a, a], 1), *tf.split(a, 2), tf.random.normal([3])]
        variable = tf.Variable([1.0, 2.0])
        results.append(variable + a)
    assert {result.device[-5:] for result in results} == {"GPU:1"}
    assert variable.device.endswith("GPU:1")
    assert gpus.transfers.back == []
    np.testing.assert_array_equal(results[0], [[7.0, 10.0], [15.0, 22.0]])
    np.testing.assert_array_equal(results[2], [[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]])
    np.testing.assert_array_equal(results[-1], [[2.0, 4.0], [4.0, 6.0]])
    assert (a + 1.0).device.endswith("CPU:0")  # outside of the scope, ops are the host's


def test_what_an_accelerator_cannot_do(gpus):
    with tf.device("/GPU:0"):
        assert tf.strings.join(["a", "b"]).device.endswith("CPU:0")
        assert tf.unique([1, 1, 2]).y.numpy().tolist() == [1, 2]
        tf.config.set_soft_device_placement(False)
        try:
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"device:GPU:0'.*\[Op:StringJoin\]"):
                tf.strings.join(["a", "b"])
            v = tf.Variable([1.0])
            assert v.assign_add([1.0]).numpy().tolist() == [2.0]
            assert tf.random.uniform([2]).device.endswith("GPU:0")
        finally:
            tf.config.set_soft_device_placement(True)


def test_errors_are_those_of_the_host(gpus):
    with tf.device("/GPU:0"):
        x = tf.constant([1.0, 2.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="shapes"):
            x + tf.constant([1.0, 2.0, 3.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
            tf.gather(x, [5])


def test_gradients(gpus):
    with tf.device("/GPU:0"):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x * x)
        gradient = tape.gradient(y, x)
    assert gradient.device.endswith("GPU:0")
    assert gradient.numpy().tolist() == [3.0, 12.0]


@pytest.mark.slow
def test_some_rows_and_trainings_are_as_on_the_host(gpus):
    lines: list = []
    stand_in.accelerators.logical()
    rows = accelerator_runs.run_rows("GPU:0", 1500, lines.append)
    some = accelerator_runs.small_trainings.TRAININGS
    accelerator_runs.run_trainings("GPU:0", 2, lines.append, [some[3], some[6]])
    assert lines == []
    assert rows.same > rows.on_host
