"""Tests of `tf.py_function`, `tf.numpy_function` and `tf.compat.v1.py_func`; errors and values are TensorFlow's."""

import gc
import warnings
import weakref

import numpy as np
import pytest

import headrace as tf


def c(value):
    return tf.constant(value)


def _raise(error):
    def f(*args):
        raise error

    return f


def _modes(function):
    return [function, tf.function(function, autograph=False)]


CASES = {
    "py": (lambda: tf.py_function(lambda x: x * 2, [c(1.0)], tf.float32), 2.0),
    "py_two": (lambda: tf.stack(tf.py_function(lambda x: [x * 2, x + 5], [c(1.0)], [tf.float32] * 2)), [2.0, 6.0]),
    "py_tuple": (lambda: tf.stack(tf.py_function(lambda x: (x * 2, x + 5), [c(1.0)], (tf.float32,) * 2)), [2.0, 6.0]),
    "py_list_of_one": (lambda: tf.py_function(lambda x: x * 2, [c(1.0)], [tf.float32])[0], 2.0),
    "py_python_number": (lambda: tf.py_function(lambda x: 3, [c(1.0)], tf.float32), 3.0),
    "py_numpy_number": (lambda: tf.py_function(lambda x: np.float64(3), [c(1.0)], tf.float32), 3.0),
    "py_array": (lambda: tf.py_function(lambda x: np.array([1, 2]), [c(1.0)], tf.int32), [1, 2]),
    "py_string": (lambda: tf.py_function(lambda x: "abc", [c(1.0)], tf.string), b"abc"),
    "py_too_many": (lambda: tf.stack(tf.py_function(lambda x: (x, x, x), [c(1.0)], [tf.float32] * 2)), [1.0, 1.0]),
    "py_spec": (lambda: tf.py_function(lambda x: x, [c([1.0])], tf.TensorSpec([1], tf.float32)), [1.0]),
    "py_ragged_argument": (lambda: tf.py_function(tf.reduce_sum, [tf.ragged.constant([[1], [2, 3]])], tf.int32), 6),
    "py_ragged_result": (
        lambda: tf.py_function(
            lambda: tf.ragged.constant([[1], [2, 3]]), [], tf.RaggedTensorSpec([None, None], tf.int32)).flat_values,
        [1, 2, 3],
    ),
    "py_python_arguments": (lambda: tf.py_function(func=lambda a, b: a + b, inp=[1, 2], Tout=tf.int32), 3),
    "py_decorator": (lambda: _doubled(c(1.0)), 2.0),
    "py_eager_inside": (lambda: tf.py_function(lambda: tf.executing_eagerly(), [], tf.bool), True),
    "py_numpy_inside": (lambda: tf.py_function(lambda x: np.append(x.numpy(), 9), [c([1, 2])], tf.int32), [1, 2, 9]),
    "np": (lambda: tf.numpy_function(lambda x: x * 2, [c([1.0])], tf.float32), [2.0]),
    "np_two": (lambda: tf.stack(tf.numpy_function(lambda x: [x, x], [c(1.0)], [tf.float32] * 2)), [1.0, 1.0]),
    "np_strings": (lambda: tf.numpy_function(lambda x: x[::-1], [c(["ab", "c"])], tf.string), [b"c", b"ab"]),
    "np_unicode": (lambda: tf.numpy_function(lambda x: np.array(["ab", "cd"]), [c(1.0)], tf.string), [b"ab", b"cd"]),
    "np_bool": (lambda: tf.numpy_function(lambda x: x > 0, [c([1.0])], tf.bool), [True]),
    "np_tensor": (lambda: tf.numpy_function(lambda x: tf.constant(3.0), [c(1.0)], tf.float32), 3.0),
    "np_stateless": (lambda: tf.numpy_function(lambda x: x, [c(1.0)], tf.float32, stateful=False), 1.0),
    "np_decorator": (lambda: _tripled(c(1.0)), 3.0),
    "py_func": (lambda: tf.compat.v1.py_func(lambda x: x * 2, [c([1.0])], tf.float32), [2.0]),
}


@tf.py_function(Tout=tf.float32)
def _doubled(x):
    return x * 2


@tf.numpy_function(Tout=tf.float32)
def _tripled(x):
    return x * np.float32(3)


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    function, expected = CASES[name]
    for run in _modes(function):
        value = run().numpy()
        assert (value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value) == expected


ERRORS = [
    (ValueError("v"), tf.errors.InvalidArgumentError),
    (TypeError("t"), tf.errors.InvalidArgumentError),
    (StopIteration("s"), tf.errors.OutOfRangeError),
    (MemoryError("m"), tf.errors.ResourceExhaustedError),
    (NotImplementedError("n"), tf.errors.UnimplementedError),
    (RuntimeError("r"), tf.errors.UnknownError),
    (KeyError("k"), tf.errors.UnknownError),
    (ZeroDivisionError("z"), tf.errors.UnknownError),
    (AssertionError("a"), tf.errors.UnknownError),
    (OSError("o"), tf.errors.UnknownError),
    (UnicodeDecodeError("utf8", b"x", 0, 1, "r"), tf.errors.InvalidArgumentError),
    (tf.errors.NotFoundError(None, None, "nf"), tf.errors.UnknownError),
]


@pytest.mark.parametrize(("error", "expected"), ERRORS, ids=lambda e: getattr(e, "__name__", None) or type(e).__name__)
def test_classes_of_errors(error, expected):
    for run in _modes(lambda: tf.py_function(_raise(error), [c(1.0)], tf.float32)):
        with pytest.raises(expected) as caught:
            run()
        assert type(caught.value) is expected
    with pytest.raises(type(error)):  # TF: eagerly, numpy_function just calls
        tf.numpy_function(_raise(error), [c(1.0)], tf.float32)
    with pytest.raises(expected):
        tf.function(lambda: tf.numpy_function(_raise(error), [c(1.0)], tf.float32), autograph=False)()


def test_numpy_functions_get_numbers_as_numpy_makes_them_when_called_eagerly():
    assert tf.numpy_function(lambda x, y: x + y, [0.5, 2], tf.float32).dtype == tf.float64
    assert tf.numpy_function(lambda x: x, [tf.Variable(0.5)], tf.float64).dtype == tf.float32
    traced = tf.function(lambda: tf.numpy_function(lambda x: x, [0.5], tf.float32), autograph=False)
    assert traced().dtype == tf.float32


def test_errors_show_the_users_traceback():
    def inner(x):
        raise ValueError("too small")

    for run in _modes(lambda: tf.py_function(lambda x: inner(x), [c(1.0)], tf.float32)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            run()
        text = str(caught.value)
        assert "ValueError: too small" in text
        assert "in inner" in text
        assert "headrace/_src" not in text
        assert isinstance(caught.value.__cause__, ValueError)


INVALID = tf.errors.InvalidArgumentError
REFUSED = {
    "nothing_returned": (lambda: tf.py_function(lambda x: None, [c(1.0)], tf.float32), INVALID, INVALID),
    "other_dtype": (lambda: tf.py_function(lambda x: tf.cast(x, tf.int32), [c(1.0)], tf.float32), INVALID, INVALID),
    "no_tout": (lambda: tf.py_function(lambda x: x, [c(1.0)]), TypeError, TypeError),
    "tout_is_a_dict": (lambda: tf.py_function(lambda x: x, [c(1.0)], {"a": tf.float32}), TypeError, TypeError),
    "not_callable": (lambda: tf.py_function(3, [c(1.0)], tf.float32), ValueError, ValueError),
    "np_float64": (lambda: tf.numpy_function(lambda x: np.float64(2), [c(1.0)], tf.float32), None, INVALID),
    "np_python_float": (lambda: tf.numpy_function(lambda x: 2.0, [c(1.0)], tf.float32), None, INVALID),
    "np_count": (lambda: tf.numpy_function(lambda x: (x, x, x), [c(1.0)], [tf.float32] * 2), None, INVALID),
    "np_none": (lambda: tf.numpy_function(lambda x: None, [c(1.0)], tf.float32), None, INVALID),
    "np_not_callable": (lambda: tf.numpy_function(3, [c(1.0)], tf.float32), TypeError, ValueError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    function, *expected = REFUSED[name]
    for run, error in zip(_modes(function), expected):
        if error is None:
            run()
        else:
            with pytest.raises(error):
                run()


def test_ops_of_the_graph():
    def f():
        a = tf.py_function(lambda x: x, [c(1.0)], tf.float32)
        b = tf.numpy_function(lambda x: x, [c(1.0)], tf.float32)
        d = tf.numpy_function(lambda x: x, [c(1.0)], tf.float32, stateful=False)
        assert [x.op.type for x in (a, b, d)] == ["EagerPyFunc", "PyFunc", "PyFuncStateless"]
        assert a.shape.rank is None
        return a + b + d

    assert tf.function(f, autograph=False)().numpy() == 3.0


def test_runs_each_time_and_in_order():
    seen = []

    @tf.function(autograph=False)
    def f(x):
        tf.py_function(lambda v: seen.append(int(v)), [x], [])
        tf.numpy_function(lambda v: seen.append(int(v) + 100), [x], [])
        return x

    f(c(1)), f(c(2))
    assert seen == [1, 101, 2, 102]


def test_functions_may_write_into_their_arrays():
    def overwrite(x):
        x[0] = 9
        return x

    x = c([1, 2])
    for run in _modes(lambda: tf.numpy_function(overwrite, [x], tf.int32)):
        assert run().numpy().tolist() == [9, 2]
        assert x.numpy().tolist() == [1, 2]


def test_numpy_warns_as_it_does_by_default():
    f = tf.function(lambda x: tf.numpy_function(lambda a: a / np.float32(0), [x], tf.float32), autograph=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(tf.errors.UnknownError, match="divide by zero"):
            f(c(1.0))


def test_functions_live_as_long_as_the_graph():
    class Doubler:
        def __call__(self, x):
            return x * 2

    def make():
        doubler = Doubler()
        f = tf.function(lambda x: tf.py_function(doubler, [x], tf.float32), autograph=False)
        return f, weakref.ref(doubler)

    f, reference = make()
    assert f(c(1.0)).numpy() == 2.0
    gc.disable()
    try:
        assert reference() is not None
        del f
        assert reference() is None
    finally:
        gc.enable()


# Gradients.

X = tf.constant(3.0)


def _orders(f):
    with tf.GradientTape() as third:
        third.watch(X)
        with tf.GradientTape() as second:
            second.watch(X)
            with tf.GradientTape() as first:
                first.watch(X)
                y = f(X)
            dy = first.gradient(y, X)
        d2y = second.gradient(dy, X)
    return y, dy, d2y, third.gradient(d2y, X)


def _cube(x):
    return tf.py_function(lambda a: a**3, [x], tf.float32)


def _product(x):
    return tf.py_function(lambda a, b: (a * b, b), [x, x * x], [tf.float32, tf.float32])[0]


def _in_loop(x):
    step = lambda i, v: (i + 1, tf.reshape(tf.py_function(lambda a, b: a * b, [v, x], tf.float32), []))
    return tf.while_loop(lambda i, v: i < 2, step, (0, x))[1]


def _in_branch(x):
    return tf.cond(x > 0, lambda: _cube(x), lambda: x)


@pytest.mark.parametrize("f", [_cube, _product, _in_loop, _in_branch])
def test_gradients_of_any_order(f):
    runs = [lambda: _orders(f), lambda: _orders(tf.function(f, autograph=False)),
            tf.function(lambda: _orders(f), autograph=False)]  # fmt: skip
    for run in runs:
        assert [float(v) for v in run()] == [27.0, 27.0, 18.0, 6.0]


def test_the_function_runs_once_for_its_gradients():
    calls = []

    def f(x):
        calls.append(1)
        return x**3

    _orders(lambda x: tf.py_function(f, [x], tf.float32))
    assert len(calls) == 1


def test_no_gradients():
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        y = tf.numpy_function(lambda a: a * 2, [X], tf.float32)
        z = tf.py_function(lambda a: a * v, [X], tf.float32)
    assert tape.gradient(y, X) is None
    assert tape.gradient(z, v) is None  # TF: gradients flow to the arguments only
    assert tape.gradient(z, X).numpy() == 2.0
