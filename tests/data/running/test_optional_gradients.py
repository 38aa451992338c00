"""Gradients go through optionals, as TensorFlow's own gradients of conditionals need it."""

import numpy as np
import pytest

import headrace as tf

X = tf.constant([1.0, 2.0])
EMPTY = tf.experimental.Optional.empty(tf.TensorSpec([2]))
FULL = tf.experimental.Optional.from_value(X)


def first(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        square, more = tf.experimental.Optional.from_value((x * x, {"n": 3.0 * x})).get_value()
        y = tf.reduce_sum(square) + tf.reduce_sum(square * more["n"])
    return tape.gradient(y, x)


def second(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.experimental.Optional.from_value(x**3).get_value())
        gradient = tape.gradient(y, x)
    return outer.gradient(gradient, x)


@pytest.mark.parametrize(("gradient", "wanted"), [(first, [11.0, 40.0]), (second, [6.0, 12.0])])
@pytest.mark.parametrize("way", [lambda f: f, tf.function])
def test_gradients(gradient, wanted, way):
    np.testing.assert_array_equal(way(gradient)(X), wanted)


def value_of(variant):
    return tf.raw_ops.OptionalGetValue(optional=variant, output_types=[tf.float32], output_shapes=[[2]])[0].numpy()


def test_zeros_and_sums():
    np.testing.assert_array_equal(value_of(tf.zeros_like(FULL._variant_tensor)), [0, 0])
    assert not tf.raw_ops.OptionalHasValue(optional=tf.zeros_like(EMPTY._variant_tensor))
    np.testing.assert_array_equal(value_of(tf.raw_ops.AddN(inputs=[FULL._variant_tensor] * 2)), [2, 4])
    assert not tf.raw_ops.OptionalHasValue(optional=tf.raw_ops.AddN(inputs=[EMPTY._variant_tensor] * 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="one without"):
        tf.raw_ops.AddN(inputs=[FULL._variant_tensor, EMPTY._variant_tensor])
