"""Matrices that compiled loops transpose in each iteration."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.compiling import loop_transposes, lowered_control


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("f")


@pytest.fixture
def moved(monkeypatch):
    """How many matrices were transposed before each loop."""
    counts = []
    usual = loop_transposes.transposed_before

    def noted(program, trips):
        changed = usual(program, trips)
        counts.append(len(changed.consts) - len(program.consts))
        return changed

    monkeypatch.setattr(lowered_control._loop_transposes, "transposed_before", noted)
    return counts


def both(function, *arguments):
    """The results of a function, which are the same whether it is compiled or not."""
    ours = tf.function(function, autograph=False)(*arguments)
    compiled = tf.function(function, autograph=False, jit_compile=True)(*arguments)
    for x, y in zip(tf.nest.flatten(ours), tf.nest.flatten(compiled), strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-5)


def cell(weights, steps):
    def gradient(x):
        with tf.GradientTape() as tape:
            _, h = tf.while_loop(lambda i, h: i < steps, lambda i, h: (i + 1, tf.tanh(x + h @ weights)), (0, x),
                                 maximum_iterations=8)  # fmt: skip
            loss = tf.reduce_sum(h * h)
        return tape.gradient(loss, weights)

    return gradient


def test_the_gradient_of_a_cell_multiplies_by_weights_that_were_transposed_before(moved):
    both(cell(tf.Variable(0.3 * numbers(6, 6)), 5), tf.constant(numbers(3, 6)))
    assert moved == [0, 1]


def test_two_readers_of_one_transposed_matrix(moved):
    weights = tf.Variable(0.3 * numbers(6, 6))

    def f(x):
        def body(i, h):
            turned = tf.transpose(weights)
            return i + 1, tf.tanh(h @ turned + tf.sin(h) @ turned) + turned[0]

        return tf.while_loop(lambda i, h: i < 5, body, (0, x))[1]

    both(f, tf.constant(numbers(3, 6)))
    assert moved == [1]


def test_a_matrix_that_changes_is_transposed_each_time(moved):
    def f(x):
        return tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(h @ tf.transpose(h))), (0, x))[1]

    both(f, tf.constant(numbers(4, 4)))
    assert moved == [0]


def test_loops_of_few_or_unknown_iterations_stay_as_they_are(moved):
    weights, x = tf.Variable(0.3 * numbers(6, 6)), tf.constant(numbers(3, 6))
    both(cell(weights, 2), x)
    both(cell(weights, tf.Variable(5)), x)
    assert moved == [0, 0, 0, 0]
