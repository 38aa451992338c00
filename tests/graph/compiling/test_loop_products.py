"""Sums of products over the iterations of a compiled loop."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.compiling import loop_products


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("f")


@pytest.fixture
def moved(monkeypatch):
    """How many sums were taken out of loops."""
    counts = []
    made = loop_products.SummedProducts.__init__

    def noted(self, program, sums, trips):
        counts.append(len(sums))
        made(self, program, sums, trips)

    monkeypatch.setattr(loop_products.SummedProducts, "__init__", noted)
    return counts


def recurrent(weights, inputs, steps=None, stop=None):
    """A recurrent network's loss."""
    w, u = weights
    rows = tf.transpose(inputs, [1, 0, 2])
    h = tf.zeros([inputs.shape[0], u.shape[0]])
    last = inputs.shape[1] if steps is None else steps
    i = tf.constant(0)
    go_on = (lambda i, h: i < last) if stop is None else (lambda i, h: (i < last) & (tf.reduce_max(h) < stop))
    _, h = tf.while_loop(go_on, lambda i, h: (i + 1, tf.tanh(rows[i] @ w + h @ u)), (i, h),
                         maximum_iterations=inputs.shape[1])  # fmt: skip
    return tf.reduce_sum(h * h)


def gradients(loss, weights, **how):
    @tf.function(**how)
    def f():
        with tf.GradientTape() as tape:
            value = loss(weights)
        return tape.gradient(value, weights)

    return [x.numpy() for x in f()]


def both(loss, *shapes):
    weights = [tf.Variable(0.3 * numbers(*shape)) for shape in shapes]
    ours, compiled = gradients(loss, weights, autograph=False), gradients(loss, weights, jit_compile=True)
    for x, y in zip(ours, compiled):
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-5)


def test_gradients_of_weights_are_one_product(moved):
    inputs = tf.constant(numbers(3, 7, 5))
    both(lambda weights: recurrent(weights, inputs), (5, 8), (8, 8))
    assert moved == [2]


def test_a_weight_that_is_read_twice(moved):
    x = tf.constant(numbers(3, 6))

    def loss(weights):
        (w,) = weights
        _, h = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(tf.tanh(h @ w) @ w)), (0, x))
        return tf.reduce_sum(h * h)

    both(loss, (6, 6))
    assert moved == [1]


@pytest.mark.parametrize("how", [{"steps": tf.Variable(4)}, {"stop": 0.5}], ids=["unknown", "early"])
def test_loops_whose_length_depends_on_data_stay_as_they_are(moved, how):
    inputs = tf.constant(numbers(3, 7, 5))
    both(lambda weights: recurrent(weights, inputs, **how), (5, 8), (8, 8))
    assert not moved


def test_a_sum_that_is_read_in_the_loop_stays(moved):
    x = tf.constant(numbers(3, 6))

    def sums(factor):
        @tf.function(jit_compile=True)
        def f(x):
            body = lambda i, a, total: (i + 1, a * factor(total), total + tf.matmul(a, a, transpose_a=True))
            return tf.while_loop(lambda i, a, total: i < 4, body, (0, x, tf.ones([6, 6])))[2]

        return f(x).numpy()

    a, total = x.numpy(), np.ones([6, 6], "f")
    for _ in range(4):
        a, total = a * total.mean(), total + a.T @ a
    np.testing.assert_allclose(sums(tf.reduce_mean), total, rtol=1e-5)
    assert not moved
    np.testing.assert_allclose(sums(lambda total: 0.5), 1 + 1.328125 * x.numpy().T @ x.numpy(), rtol=1e-5)
    assert moved == [1]


def test_large_factors_of_a_small_sum_stay(moved):
    inputs = tf.constant(numbers(60, 7, 5))
    both(lambda weights: recurrent(weights, inputs), (5, 8), (8, 8))
    assert not moved


def test_a_program_that_runs_again_gives_the_same_bits():
    inputs = tf.constant(numbers(3, 7, 5))
    weights = [tf.Variable(0.3 * numbers(5, 8)), tf.Variable(0.3 * numbers(8, 8))]
    first, second = (gradients(lambda w: recurrent(w, inputs), weights, jit_compile=True) for _ in range(2))
    for x, y in zip(first, second):
        np.testing.assert_array_equal(x, y)


def test_a_loop_that_writes_a_list_of_undeclared_shapes(moved):
    inputs = tf.constant(numbers(7, 3, 5))

    def loss(weights):
        w, u = weights

        def body(i, h, outputs):
            h = tf.tanh(inputs[i] @ w + h @ u)
            return i + 1, h, outputs.write(i, h)

        outputs = tf.TensorArray(tf.float32, 7)
        _, _, outputs = tf.while_loop(lambda i, h, outputs: i < 7, body, (0, tf.zeros([3, 8]), outputs))
        return tf.reduce_sum(outputs.stack() ** 2)

    both(loss, (5, 8), (8, 8))
    assert moved == [2]
