"""Each place from which a function is called has random streams of its own, as if its operations stood there."""

import gc
import weakref

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.random_state import random_state

# The first numbers that an operation with seed 3 draws in a function made under the global seed 7, in TensorFlow too.
FIRST, SECOND, THIRD, FOURTH = 0.4011, 0.7062, 0.3426, 0.5707


COMPILED = [pytest.param(name, marks=pytest.mark.slow) for name in ("compiled", "compiled inside")]


@pytest.fixture(params=["interpreted", "written", *COMPILED])
def function(request, monkeypatch):
    """tf.function in each tier."""
    runs = 0 if request.param == "written" else 10**9
    monkeypatch.setattr("headrace._src.graph.running.plan._INTERPRETED_RUNS", runs)
    tf.config.experimental.set_background_compilation(False)
    tf.random.set_seed(7)

    def make(f, inner=False):
        is_compiled = request.param == ("compiled inside" if inner else "compiled")
        return tf.function(f, jit_compile=True if is_compiled else None)

    yield make
    random_state.set_seed(None)
    tf.config.experimental.set_background_compilation(True)


def numbers(structure):
    return [round(float(x), 4) for x in tf.nest.flatten(structure)]


def test_two_places(function):
    draw = function(lambda: tf.random.uniform([], seed=3), inner=True)
    f = function(lambda: (draw(), draw()))
    assert [numbers(f()) for _ in range(3)] == [[FIRST, FIRST], [SECOND, SECOND], [THIRD, THIRD]]


def test_called_directly_as_well(function):
    draw = function(lambda: tf.random.uniform([], seed=3), inner=True)
    f = function(lambda: (draw(), draw()))
    g = function(lambda: draw())
    assert numbers([draw(), f(), draw(), g(), f()]) == [FIRST, FIRST, FIRST, SECOND, FIRST, SECOND, SECOND]


def test_places_within_places(function):
    draw = function(lambda: tf.random.uniform([], seed=3), inner=True)
    twice = function(lambda: (draw(), draw()), inner=True)
    f = function(lambda: (twice(), draw(), twice()))
    assert [numbers(f()), numbers(f())] == [[FIRST] * 5, [SECOND] * 5]


def test_loops_and_branches(function):
    draw = function(lambda: tf.random.uniform([], seed=3), inner=True)

    def f(x):
        first = draw()
        second = tf.cond(x > 0, draw, lambda: 0.0)
        i, a, b = 0, tf.constant(0.0), tf.constant(0.0)
        loop = tf.while_loop(lambda i, a, b: i < 2, lambda i, a, b: (i + 1, a + draw(), b + draw()), [i, a, b])
        return first, second, loop[1:]

    f = function(f)
    assert numbers(f(tf.constant(1))) == pytest.approx([FIRST, FIRST, *[FIRST + SECOND] * 2], abs=2e-4)
    assert numbers(f(tf.constant(-1))) == pytest.approx([SECOND, 0.0, *[THIRD + FOURTH] * 2], abs=2e-4)
    assert numbers(f(tf.constant(1)))[:2] == [THIRD, SECOND]


def test_with_gradients(function):
    scaled = function(lambda x: x * tf.random.uniform([], seed=3), inner=True)

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x) + 10.0 * scaled(x)
        return y, tape.gradient(y, x)

    f = function(f)
    x = tf.constant(1.0)
    assert numbers(f(x)) == pytest.approx([11 * FIRST] * 2, abs=1e-3)
    assert numbers(f(x)) == pytest.approx([11 * SECOND] * 2, abs=1e-3)


def test_with_a_gradient_asked_for_later(function):
    """The call gets residuals when it is differentiated, and draws from the same stream as without them."""
    scaled = function(lambda x: x * tf.random.uniform([], seed=3), inner=True)

    def f(x):
        y = scaled(x)
        return y, *tf.gradients(y, x)

    f = function(f)
    assert [numbers(f(tf.constant(1.0))) for _ in range(2)] == [[FIRST] * 2, [SECOND] * 2]


def test_mapped():
    tf.random.set_seed(7)
    draw = tf.function(lambda: tf.random.uniform([], seed=3))
    f = tf.function(lambda: tf.map_fn(lambda x: draw() - draw(), tf.ones([3])))
    assert numbers(tf.unstack(f())) == [0.0] * 3
    random_state.set_seed(None)


def test_python_code_in_a_function_is_not_called_from_it():
    tf.random.set_seed(7)
    draw = tf.function(lambda: tf.random.uniform([], seed=3))

    @tf.function
    def inner():
        return tf.random.uniform([], seed=3) + tf.py_function(draw, [], tf.float32)

    outer = tf.function(lambda: (inner(), inner()))
    assert numbers([outer(), draw()]) == pytest.approx([2 * FIRST, FIRST + SECOND, THIRD], abs=2e-4)
    random_state.set_seed(None)


def test_explaining_leaves_streams_alone():
    tf.random.set_seed(7)
    draw = tf.function(lambda: tf.random.uniform([], seed=3))
    f = tf.function(lambda: (draw(), draw()))
    f.explain()
    assert numbers(f()) == [FIRST, FIRST]
    f.explain()
    assert numbers(f()) == [SECOND, SECOND]
    random_state.set_seed(None)


def test_streams_are_freed_with_their_graphs():
    def made():
        draw = tf.function(lambda: tf.random.uniform([], seed=3))
        f = tf.function(lambda: (draw(), draw()))
        f()
        return [weakref.ref(x.get_concrete_function().graph) for x in (draw, f)]

    gc.disable()
    try:
        assert [graph() for graph in made()] == [None, None]
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["philox", "threefry"])
@pytest.mark.parametrize("counter", [1, -1, -256 * 20, 2**62])  # some of which carry into the upper half
def test_generators_are_compiled(algorithm, counter):
    def made(jit_compile):
        state = [counter, 5, 7] if algorithm == "philox" else [counter, 7]
        generator = tf.random.Generator.from_state(state, algorithm)

        @tf.function(jit_compile=jit_compile)
        def draw(n):
            numbers = generator.normal([3])
            generator.skip(n)
            for _ in tf.range(3):
                numbers += generator.normal([3])
            return numbers, generator.uniform([2], 0, 10, tf.int32), generator.make_seeds(2)

        return generator, draw

    tf.config.experimental.set_background_compilation(False)
    try:
        (ours, interpreted), (theirs, compiled) = made(None), made(True)
        for n in (5, 2**64 - 7, 3):  # the second goes back
            results = [f(tf.constant(n, tf.uint64)) for f in (interpreted, compiled)]
            for a, b in zip(*results):
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
            np.testing.assert_array_equal(ours.state, theirs.state)
    finally:
        tf.config.experimental.set_background_compilation(True)
