"""Tests of `tf.autodiff.ForwardAccumulator` through functions, branches, loops and what is built on them."""

import numpy as np
import pytest

import headrace as tf

X = tf.constant([1.0, 2.0, 3.0])


def _graph(function):
    return tf.function(function, autograph=False)


# Name: (function, its Jacobian times ones at X).
CASES = {
    "map": (lambda x: tf.map_fn(lambda e: e * e, x), [2, 4, 6]),
    "scan": (lambda x: tf.scan(lambda a, e: a * e, x), [1, 3, 11]),
    "foldl": (lambda x: tf.foldl(lambda a, e: a * e, x), 11),
    "vectorized_map": (lambda x: tf.vectorized_map(lambda e: e**3, x), [3, 12, 27]),
    "py_function": (lambda x: tf.py_function(lambda a: a * a, [x], tf.float32), [2, 4, 6]),
    "cond": (lambda x: tf.cond(x[0] > 0, lambda: x * x, lambda: x), [2, 4, 6]),
    "while": (lambda x: tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v * x), (0, x))[1], [3, 12, 27]),
    "call": (lambda x: _graph(lambda y: tf.sin(y) * 0 + y * y)(x), [2, 4, 6]),
}


def _product(function):
    with tf.autodiff.ForwardAccumulator(X, tf.ones_like(X)) as accumulator:
        y = function(X)
    return accumulator.jvp(y)


@pytest.mark.parametrize("name", CASES)
def test_products(name):
    function, expected = CASES[name]
    for run in (lambda: _product(function), lambda: _product(_graph(function)), _graph(lambda: _product(function))):
        np.testing.assert_allclose(run().numpy(), expected, rtol=1e-6)


def test_no_product_through_numpy():
    assert _product(lambda x: tf.numpy_function(lambda a: a * a, [x], tf.float32)) is None


def test_forward_over_reverse():
    f = _graph(lambda x: tf.cond(x[0] > 0, lambda: tf.map_fn(lambda e: e**3, x), lambda: x))
    with tf.autodiff.ForwardAccumulator(X, tf.constant([1.0, 0.0, 0.0])) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = tf.reduce_sum(f(X))
        gradient = tape.gradient(y, X)
    assert accumulator.jvp(gradient).numpy().tolist() == [6.0, 0.0, 0.0]


def test_reverse_over_forward():
    f = _graph(lambda x: tf.cond(x[0] > 0, lambda: tf.map_fn(lambda e: e**3, x), lambda: x))
    with tf.GradientTape() as tape:
        tape.watch(X)
        product = _product(f)
    assert tape.gradient(product, X).numpy().tolist() == [6.0, 12.0, 18.0]


def test_variables_of_functions():
    v = tf.Variable(2.0)
    f = _graph(lambda: v * v * v)
    with tf.autodiff.ForwardAccumulator(v, tf.constant(1.0)) as accumulator:
        y = f()
    assert accumulator.jvp(y).numpy() == 12.0
