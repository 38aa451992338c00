"""XLA's slices at places that are known late: windows are moved so that they lie inside."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.ops.arrays.dynamic_slices import dynamic_slice, dynamic_update_slice


@pytest.mark.parametrize(("indices", "place"), [([1, 1], (1, 1)), ([9, -4], (2, 0)), ([0, 2], (0, 2))])
def test_windows(indices, place):
    x, update = np.arange(20.0).reshape(4, 5), -np.ones((2, 3))
    expected = x.copy()
    expected[place[0] : place[0] + 2, place[1] : place[1] + 3] = -1
    np.testing.assert_array_equal(dynamic_update_slice(x, update, indices), expected)
    window = x[place[0] : place[0] + 2, place[1] : place[1] + 3]
    np.testing.assert_array_equal(dynamic_slice(x, indices, [2, 3]), window)


def test_gradients():
    x, update = tf.Variable(tf.ones([3, 3])), tf.Variable(tf.ones([2, 2]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(dynamic_update_slice(x, update, [1, 0]) * tf.reshape(tf.range(9.0), [3, 3]))
    dx, du = tape.gradient(y, [x, update])
    np.testing.assert_array_equal(du, [[3, 4], [6, 7]])
    np.testing.assert_array_equal(dx, [[0, 1, 2], [0, 0, 5], [0, 0, 8]])


def test_a_window_that_does_not_fit():
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not fit"):
        dynamic_update_slice(tf.ones([2]), tf.ones([3]), [0])
