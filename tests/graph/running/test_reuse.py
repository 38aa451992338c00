"""Writing results over inputs that nobody needs any more: when it happens, and when it must not."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.context import run_quietly
from headrace._src.graph.compiling.compilation import set_background_compilation
from headrace._src.op.definition import Op

LARGE = [200, 500]

_kept: list = []


def _keep(x):
    _kept.append(x)
    return x


KEEP = Op("TestKeep", "x: T -> y: T", infer=lambda x: x.shape, kernel=_keep, lower=None, grad=None, stateful=True)


@pytest.fixture(autouse=True)
def interpreter_only():
    """Nothing is compiled, unless a function asks for it."""
    set_background_compilation(False)
    yield
    set_background_compilation(True)


@pytest.fixture(params=["interpreted", "written"], autouse=True)
def tier(request, monkeypatch):
    runs = 10**9 if request.param == "interpreted" else 0
    monkeypatch.setattr("headrace._src.graph.running.plan._INTERPRETED_RUNS", runs)
    return request.param


def plan_of(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs).graph.plan()


def run_on(function, *arrays, spec=True):
    """Run a function on arrays, with their shapes known or not; `NOTE` takes down addresses on the way."""
    specs = [tf.TensorSpec(x.shape if spec else None, x.dtype) for x in arrays]
    plan = plan_of(function, *specs)
    return run_quietly(plan.run, list(arrays))


_trail: list = []


def _note(x):
    _trail.append(x.__array_interface__["data"][0])
    return x


NOTE = Op("TestNote", "x: T -> y: T", infer=lambda x: x.shape, kernel=_note, lower=None, grad=None, stateful=True)


@pytest.mark.parametrize("spec", [True, False])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x + y,
        lambda x, y: y - x,
        lambda x, y: x * 2.0,
        lambda x, y: tf.maximum(x, y[0]),
        lambda x, y: tf.minimum(1.0, x),
        lambda x, y: tf.negative(x),
        lambda x, y: tf.sqrt(x),
        lambda x, y: tf.square(x),
        lambda x, y: x * x,
        lambda x, y: x / y,
        lambda x, y: y / x,
    ],
)
def test_large_results_take_the_memory_of_an_input(function, spec):
    def f(x, y):
        return NOTE(function(NOTE(x * 3.0), y))

    x, y = (np.random.default_rng(k).random(LARGE).astype(np.float32) for k in (1, 2))
    _trail.clear()
    (result,) = run_on(f, x, y, spec=spec)
    assert _trail[0] == _trail[1] == result.__array_interface__["data"][0]
    expected = function(tf.constant(x) * 3.0, tf.constant(y)).numpy()
    assert result.tobytes() == expected.tobytes()


def test_inputs_of_the_user_stay_as_they_are():
    x = np.ones(LARGE, np.float32)
    tensor = tf.constant(x)
    f = tf.function(lambda x: tf.negative(x * 2.0) + 1.0)
    for _ in range(3):
        assert (f(tensor).numpy() == -1).all()
    assert (tensor.numpy() == 1).all()


def test_variables_and_constants_stay_as_they_are():
    v = tf.Variable(np.ones(LARGE, np.float32))
    constant = np.full(LARGE, 5.0, np.float32)

    @tf.function
    def f(x):
        v.assign(x * 2.0)
        before = v.read_value()
        c = tf.constant(constant) * 1.5
        return before + 1.0, tf.constant(constant) + 1.0, c

    for k in range(1, 4):
        a, b, c = f(tf.constant(np.full(LARGE, k, np.float32)))
        assert (v.numpy() == 2 * k).all()
        assert (a.numpy() == 2 * k + 1).all()
        assert (b.numpy() == 6).all()
        assert (c.numpy() == 7.5).all()


def test_what_somebody_keeps_is_not_written_over():
    def f(x):
        return KEEP(x * 3.0) + 1.0

    _kept.clear()
    (result,) = run_quietly(plan_of(f, tf.TensorSpec(LARGE)).run, [np.ones(LARGE, np.float32)])
    assert (_kept[0] == 3).all()
    assert (result == 4).all()
    _kept.clear()


def test_views_are_not_written_over():
    def f(x):
        y = x * 3.0
        z = tf.reshape(y, [-1])  # shares the memory
        return y + 1.0, tf.reduce_sum(z)

    result, total = run_quietly(plan_of(f, tf.TensorSpec(LARGE)).run, [np.ones(LARGE, np.float32)])
    assert (result == 4).all()
    assert total == 3 * np.prod(LARGE)


def test_a_view_that_is_all_there_is_is_written_over():
    def function(x):
        y = tf.reshape(NOTE(x + 1), [-1])  # nothing else refers to the memory any more
        return NOTE(y * 2)

    _trail.clear()
    x = np.ones(LARGE, np.float32)
    (result,) = run_on(function, x)
    assert (x == 1).all()
    assert (result == 4).all()
    assert _trail[0] == _trail[1]

    def keeping(x):
        y = x + 1
        return tf.reshape(y, [-1]) * 2, y

    doubled, same = run_on(keeping, x)
    assert (doubled == 4).all()
    assert (same == 2).all()


def test_an_input_that_is_read_again_is_not_written_over():
    def f(x):
        y = x * 3.0
        z = y + 1.0
        return y * z, tf.square(y) + y * y

    a, b = run_quietly(plan_of(f, tf.TensorSpec(LARGE)).run, [np.ones(LARGE, np.float32)])
    assert (a == 12).all()
    assert (b == 18).all()


def test_broadcasting_to_a_larger_shape():
    def f(x, y):
        return (x * 2.0) + (y * 3.0)

    x, y = np.ones([1, 40000], np.float32), np.ones([3, 1], np.float32)
    for spec in (True, False):
        (result,) = run_on(f, x, y, spec=spec)
        assert result.shape == (3, 40000)
        assert (result == 5).all()


def test_scattered_memory_keeps_its_layout():
    x = np.random.default_rng(1).normal(size=(300, 400)).astype(np.float32)

    def f(x):
        y = tf.transpose(x * 2.0) * 1.5
        return tf.reduce_sum(y), tf.reduce_sum(tf.transpose(y) + 1.0, 0)

    tensor = tf.constant(x)
    eager = [t.numpy().tobytes() for t in f(tensor)]
    assert [t.tobytes() for t in run_on(f, x)] == eager


def test_loops_compute_in_place():
    def f(x):
        return tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, NOTE(a * 2.0)), [0, x * 1.5])[1]

    _trail.clear()
    (result,) = run_quietly(plan_of(f, tf.TensorSpec(LARGE)).run, [np.ones(LARGE, np.float32)])
    assert (result == 48).all()
    assert len(set(_trail)) == 1
