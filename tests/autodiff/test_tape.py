"""Tapes: what they keep, when they let go, and that threads do not see each other's."""

import gc
import inspect
import threading
import weakref

import numpy as np
import pytest

import headrace as tf


@pytest.fixture
def no_collector():
    """The cycle collector must not be needed."""
    gc.disable()
    yield
    gc.enable()


def _track(array_owner):
    return weakref.ref(array_owner)


def test_dropping_a_tape_frees_what_it_kept(no_collector):
    x = tf.constant(np.ones(1000))
    tape = tf.GradientTape(persistent=True)
    with tape:
        tape.watch(x)
        y = tf.exp(x)
        z = y * y
    kept = _track(y)
    del y
    assert kept() is not None, "the gradient of z needs y"
    del tape, z
    assert kept() is None


def test_a_tape_that_is_not_persistent_is_freed_by_gradient(no_collector):
    x = tf.constant(np.ones(1000))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.exp(x)
        z = y * y
    kept = _track(y)
    del y
    tape.gradient(z, x)
    del z
    assert kept() is None


def test_only_what_gradients_read_is_kept(no_collector):
    x = tf.constant(np.ones(1000))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x + 1.0
        z = y + 2.0  # sums need only shapes
    kept = _track(y)
    del y
    assert kept() is None
    assert tape.gradient(z, x).numpy().tolist() == [1.0] * 1000


def test_an_exception_in_the_block_ends_the_recording():
    x = tf.constant(1.0)
    tape = tf.GradientTape()
    with pytest.raises(ZeroDivisionError), tape:
        tape.watch(x)
        1 / 0
    y = x * x
    assert tape.gradient(y, x) is None


def test_tapes_belong_to_their_thread():
    x = tf.constant(2.0)
    seen = []

    def other():
        y = x * x
        with tf.GradientTape() as inner:
            inner.watch(x)
            z = x * 3.0
        seen.append((y, inner.gradient(z, x)))

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        z = x * x * x
    y, inner = seen[0]
    assert tape.gradient(y, x) is None, "computed in a thread that this tape does not record"
    assert float(inner) == 3.0
    assert float(tape.gradient(z, x)) == 12.0


def test_many_threads_differentiate_at_once():
    v = tf.Variable(3.0)
    results = []

    def work():
        for _ in range(50):
            with tf.GradientTape() as tape:
                y = v * v
            results.append(float(tape.gradient(y, v)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [6.0] * 400


def test_fifth_derivative():
    x = tf.constant(2.0)

    def derivative(f):
        def df(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x)

        return df

    f = lambda x: x**6
    for _ in range(5):
        f = derivative(f)
    assert float(f(x)) == pytest.approx(720 * 2.0)


def test_a_value_read_before_the_tape_is_a_constant():
    v = tf.Variable(2.0)
    before = v.read_value()
    with tf.GradientTape() as tape:
        y = before * v
    assert float(tape.gradient(y, v)) == 2.0


def test_recompute_grad_keeps_no_intermediates(no_collector):
    kept = []

    def block(x):
        middle = tf.exp(x)
        kept.append(weakref.ref(middle))
        return tf.sin(middle)

    x = tf.constant(np.ones(10))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(block)(x)
    assert kept[0]() is None
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), np.cos(np.e) * np.e * np.ones(10))


def test_custom_gradient_reaches_a_variable_that_only_its_gradient_function_reads():
    given, passed = tf.Variable(1.0), tf.Variable(5.0)

    @tf.custom_gradient
    def function(x, y):
        return x, lambda dy: (dy, dy * 3)

    def gradients():
        with tf.GradientTape() as tape:
            result = function(given * 2, passed)
        return tape.gradient(result, [given, passed])

    assert [float(g) for g in gradients()] == [2.0, 3.0]
    assert [float(g) for g in tf.function(gradients)()] == [2.0, 3.0]


def test_a_target_that_is_a_source_has_gradient_one_even_when_it_was_never_recorded():
    v, c = tf.Variable([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * 3.0
    assert tape.gradient(v, v).numpy().tolist() == [1.0, 1.0]
    assert tape.gradient([v, y], v).numpy().tolist() == [4.0, 4.0]
    assert tape.gradient(v, v, output_gradients=tf.constant([5.0, 6.0])).numpy().tolist() == [5.0, 6.0]
    assert tape.jacobian(v, v).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert tape.gradient(c, c).numpy() == 1.0
    assert tape.gradient(tf.constant(3.0), c) is None
    assert tape.gradient(tf.Variable(3.0), v) is None


def test_a_tape_watches_variables_that_are_arguments_of_functions():
    @tf.function
    def scaled(a, b):
        return a * b

    v, still = tf.Variable(2.0), tf.Variable(5.0, trainable=False)
    with tf.GradientTape() as tape:
        y = scaled(v, 3.0) + scaled.get_concrete_function(still, 7.0)(still)
    assert [g if g is None else g.numpy() for g in tape.gradient(y, [v, still])] == [3.0, None]


def test_functions_with_a_gradient_of_their_own_can_be_inspected():
    @tf.custom_gradient
    def scaled(x, by=2.0):
        """Times a number."""
        return x * by, lambda dy: (dy, None)

    assert inspect.getfullargspec(scaled).args == ["x", "by"]
    assert str(inspect.signature(scaled)) == "(x, by=2.0)"
    assert (scaled.__name__, scaled.__doc__) == ("scaled", "Times a number.")


def test_operations_of_gradients_are_named_after_what_they_differentiate():
    def names(function, *specs):
        def gradient(*xs):
            with tf.GradientTape() as tape:
                tape.watch(xs)
                with tf.name_scope("layer"):
                    y = function(*xs)
            return tape.gradient(y, xs)

        graph = tf.function(gradient, autograph=False).get_concrete_function(*specs).graph
        return {operation.name for operation in graph.get_operations() if "gradient" in operation.name}

    assert names(tf.matmul, tf.TensorSpec([2, 3]), tf.TensorSpec([3, 4])) == {
        "gradient_tape/layer/MatMul/MatMul", "gradient_tape/layer/MatMul/MatMul_1",
    }  # fmt: skip
    assert names(tf.nn.relu, tf.TensorSpec([2])) == {"gradient_tape/layer/ReluGrad"}
    assert "gradient_tape/layer/mul/mul" in names(tf.multiply, tf.TensorSpec([2]), tf.TensorSpec([2]))
