"""`tf.gradients` and `tf.hessians` in graphs."""

import numpy as np
import pytest

import headrace as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        return sess.run(fetches)


def test_total_and_partial_derivatives(graph):
    x = tf.constant([1.0, 2.0])
    y = x * x
    z = y * x
    dx, dy = tf.gradients(z, [x, y])
    (stopped,) = tf.gradients(z, x, stop_gradients=[y])
    (scaled,) = tf.gradients(z, x, grad_ys=[[2.0, 3.0]])
    got = run([dx, dy, stopped, scaled])
    np.testing.assert_array_equal(got, [[3, 12], [1, 2], [1, 4], [6, 36]])


def test_unconnected(graph):
    x, y = tf.constant(1.0), tf.constant(2.0)
    assert tf.gradients(y * 2.0, x) == [None]
    assert run(tf.gradients(y * 2.0, x, unconnected_gradients="zero")) == [0.0]


def test_variables_and_rows(graph):
    v = v1.get_variable("v", initializer=[[1.0, 2.0], [3.0, 4.0]])
    picked = tf.nn.embedding_lookup(v, [1, 1])
    (slices,) = tf.gradients(tf.reduce_sum(picked * picked), v)
    assert isinstance(slices, tf.IndexedSlices)
    dense = run(tf.convert_to_tensor(slices))
    np.testing.assert_array_equal(dense, [[0, 0], [12, 16]])


@pytest.mark.parametrize("handles", [True, False])
def test_through_control_flow_and_functions(graph, handles):
    v = v1.get_variable("v", initializer=2.0, use_resource=handles)
    power = v1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, 1.0])[1]
    branch = v1.cond(v > 1.0, lambda: v * v, lambda: v)

    @tf.function
    def scaled(x):
        return 3.0 * x * x

    first = tf.gradients(power, v)
    got = run([power, *first, *tf.gradients(first, v), *tf.gradients(branch, v), *tf.gradients(scaled(v), v)])
    np.testing.assert_allclose(got, [8, 12, 12, 4, 12])


def test_constants_of_the_graph_around(graph):
    x = tf.constant(2.0)
    called = tf.function(lambda: x * x * x)()
    branch = tf.cond(x > 0.0, lambda: x * x, lambda: x)
    loop = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), [0, 1.0])[1]
    assert run([tf.gradients(y, x)[0] for y in (called, branch, loop)]) == [12.0, 4.0, 4.0]


def test_what_was_known_before_gradients_were_asked_for(graph):
    v = v1.get_variable("v", initializer=0.0, use_resource=True)
    x = tf.constant(2.0)
    y = tf.cond(x > 0.0, lambda: v.assign_add(x) * x, lambda: x)
    operation = next(node for node in graph.get_operations() if node.type == "If")
    with tf.control_dependencies([operation]):
        after = tf.constant(5.0) + 1.0
    (first,) = tf.gradients(y, x)
    replaced = next(node for node in graph.get_operations() if node.type == "If")
    with tf.control_dependencies([replaced]):
        last = tf.constant(6.0) + 1.0
    tf.gradients(first, x)
    assert replaced not in graph.get_operations()
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for fetch, wanted in ((operation, 2.0), (after, 4.0), (last, 6.0), (first, 8.0)):
            sess.run(fetch)
            assert sess.run(v) == wanted


def test_inside_a_function():
    @tf.function
    def slope(x):
        y = x**3
        return tf.gradients(y, x)[0], tf.hessians(tf.reduce_sum(y), x)[0]

    first, second = slope(tf.constant([1.0, 2.0]))
    np.testing.assert_allclose(first, [3, 12])
    np.testing.assert_allclose(second, [[6, 0], [0, 12]])


def test_registered_gradients(graph):
    @tf.RegisterGradient("TimesHundred")
    def _(op, dy):
        return dy * 100.0 + op.inputs[0]

    x = tf.constant([1.0, 2.0])
    with graph.gradient_override_map({"Square": "TimesHundred"}):
        y = tf.square(x)
    np.testing.assert_array_equal(run([*tf.gradients(y, x), *tf.gradients(tf.square(x), x)]), [[101, 102], [2, 4]])
    with graph.gradient_override_map({"Square": "Nobody"}):
        z = tf.square(x)
    with pytest.raises(LookupError, match="No gradient defined"):
        tf.gradients(z, x)


def test_gradient_tape_in_a_graph(graph):
    v = v1.get_variable("v", initializer=3.0)
    with tf.GradientTape() as tape:
        y = v * v
    assert run(tape.gradient(y, v)) == 6.0


def test_refused(graph):
    with pytest.raises(ValueError, match="grad_ys"):
        tf.gradients(tf.constant(1.0), [], grad_ys=[1.0, 2.0])


def test_eagerly():
    for function in (tf.gradients, tf.hessians):
        with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
            function(tf.constant(1.0), tf.constant(1.0))


def test_nothing_flows_from_integers(graph):
    x, n = tf.constant(3.0), tf.constant(2)
    assert tf.gradients(n * 2, n) == [None]
    assert tf.gradients(tf.cast(x, tf.int32), x) == [None]
    (dx,) = tf.gradients([tf.cast(x, tf.int32), x * x], x)
    assert run(dx) == 6.0
