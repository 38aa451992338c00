"""Gradients of loops keep for each iteration only what iterations differ in."""

import numpy as np
import pytest

import headrace as tf

X = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)
W = np.array([[0.5, -0.25], [1.0, 0.75]], np.float32)


def plain(w, x):
    return tf.matmul(x, w)


def transposed(w, x):
    return tf.matmul(x, tf.transpose(tf.sin(w)))


def in_halves(w, x):
    return tf.cast(tf.matmul(tf.cast(x, tf.float16), tf.cast(w, tf.float16)), tf.float32)


def growing(w, x):
    w.assign_add(tf.ones_like(w) * 0.5)
    return tf.matmul(x, w) * x


def nested(w, x):
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.matmul(x, w) * x), (0, x))[1]


# The step, and how many lists its gradient may have: one for each value that iterations differ in.
STEPS = {"plain": (plain, 1), "transposed": (transposed, 1), "in_halves": (in_halves, 1), "growing": (growing, None),
         "nested": (nested, None)}  # fmt: skip


def gradients(step, trips, jit_compile):
    w = tf.Variable(W)

    @tf.function(jit_compile=jit_compile)
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, x: i < trips, lambda i, x: (i + 1, step(w, x)), (0, x))[1]
            loss = tf.reduce_sum(y * y)
        return tape.gradient(loss, [x, w], unconnected_gradients="zero")

    return run, run(tf.constant(X))


def by_hand(step, trips):
    """The same without a loop in a graph."""
    w, x = tf.Variable(W), tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(trips):
            y = step(w, y)
        loss = tf.reduce_sum(y * y)
    return tape.gradient(loss, [x, w], unconnected_gradients="zero")


@pytest.mark.parametrize("trips", [0, 1, 3])
@pytest.mark.parametrize("jit_compile", [None, True])
@pytest.mark.parametrize("name", STEPS)
def test_gradients_are_those_of_the_steps_one_by_one(name, trips, jit_compile):
    if name == "nested":
        jit_compile = None  # programs cannot have lists of lists
    step, _ = STEPS[name]
    _, found = gradients(step, trips, jit_compile)
    for value, expected in zip(found, by_hand(step, trips)):
        np.testing.assert_allclose(value, expected, rtol=1e-3 if name == "in_halves" else 1e-5)


@pytest.mark.parametrize("name", [name for name, (_, lists) in STEPS.items() if lists is not None])
def test_what_does_not_change_is_not_kept_for_each_iteration(name):
    step, lists = STEPS[name]
    run, _ = gradients(step, 3, None)
    graph = run.get_concrete_function(tf.TensorSpec([2, 2])).graph
    assert sum(op.type == "EmptyTensorList" for op in graph.get_operations()) == lists


def test_an_assignment_after_the_loop_does_not_change_its_gradient():
    w = tf.Variable(W)

    @tf.function
    def run(x):
        with tf.GradientTape() as tape:
            y = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.matmul(x, w) * x), (0, x))[1]
            w.assign(tf.zeros_like(w))
        return tape.gradient(y, w)

    expected = W.copy()
    found = run(tf.constant(X))
    with tf.GradientTape() as tape:
        w = tf.Variable(expected)
        y = tf.constant(X)
        for _ in range(2):
            y = tf.matmul(y, w) * y
    np.testing.assert_allclose(found, tape.gradient(y, w), rtol=1e-5)


@pytest.mark.parametrize("name", ["plain", "transposed"])
def test_second_derivatives(name):
    step, _ = STEPS[name]
    w = tf.Variable(W)

    def first_and_second(run):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(run(tf.constant(X)) ** 2)
            first = inner.gradient(y, w)
            z = tf.reduce_sum(first * first)
        return first, outer.gradient(z, w)

    def looped(x):
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, step(w, x)), (0, x))[1]

    expected = first_and_second(lambda x: step(w, step(w, step(w, x))))
    for found in (first_and_second(tf.function(looped)), tf.function(lambda: first_and_second(looped))()):
        for value, wanted in zip(found, expected):
            np.testing.assert_allclose(value, wanted, rtol=1e-4)
