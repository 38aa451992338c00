"""Shapes given as lists that hold scalar tensors, also floating ones, which are cast as TensorFlow does."""

import pytest

import headrace as tf

SIZE = tf.constant([3.0, 3.0])
CALLS = {
    "reshape": (lambda x: tf.reshape(x, (SIZE[0], SIZE[1], 1, 1)), (3, 3, 1, 1)),
    "reshape with a number": (lambda x: tf.reshape(x, (3, SIZE[1])), (3, 3)),
    "tile": (lambda x: tf.tile(x, [SIZE[0]]), (27,)),
    "zeros": (lambda x: tf.zeros((SIZE[0], 2)), (3, 2)),
    "ones of two types": (lambda x: tf.ones((tf.constant(3, tf.int64), tf.constant(2))), (3, 2)),
    "fill": (lambda x: tf.fill((SIZE[0], SIZE[1]), 1), (3, 3)),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [SIZE[0], 9]), (3, 9)),
    "transpose": (lambda x: tf.transpose(tf.ones((2, 3)), [tf.constant(1.0), tf.constant(0.0)]), (3, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_scalar_tensors_in_a_list_are_cast(name):
    call, shape = CALLS[name]
    x = tf.ones((9,))
    assert call(x).shape == shape
    assert tf.function(call)(x).shape == shape


@pytest.mark.parametrize("shape", [SIZE, [3.0, 3.0], (3.0, tf.constant(3))])
def test_other_floating_sizes_are_refused(shape):
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        tf.reshape(tf.ones((9,)), shape)
