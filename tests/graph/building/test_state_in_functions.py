"""Tests of random ops, tables, sections, modules and custom gradients in functions; values are TensorFlow 2.21's."""

import threading

import numpy as np
import pytest

import headrace as tf


def c(value):
    return tf.constant(value)


def _graph(function):
    return tf.function(function, autograph=False)


def _flat(values):
    return [np.asarray(x, np.float64).tolist() for x in tf.nest.flatten(values)]


# Name: (expression, its values in one function: called with seed 1, again, after set_seed(1), after set_seed(2); and in
# a function that is traced with seed 2: called, again).
RANDOM = {
    "uniform": (
        lambda: tf.random.uniform([2]),
        [
            [[0.812696, 0.078575]],
            [[0.848943, 0.098325]],
            [[0.812696, 0.078575]],
            [[0.812696, 0.078575]],
            [[0.829064, 0.607422]],
            [[0.897091, 0.652785]],
        ],
    ),
    "normal": (
        lambda: tf.random.normal([2]),
        [
            [[0.305205, 0.567138]],
            [[0.331498, 0.466516]],
            [[0.305205, 0.567138]],
            [[0.305205, 0.567138]],
            [[-0.382603, -0.478049]],
            [[-0.381772, -0.267293]],
        ],
    ),
    "trunc": (
        lambda: tf.random.truncated_normal([2]),
        [
            [[0.305205, 0.567138]],
            [[0.331498, 0.466516]],
            [[0.305205, 0.567138]],
            [[0.305205, 0.567138]],
            [[-0.382603, -0.478049]],
            [[-0.381772, -0.267293]],
        ],
    ),
    "int": (
        lambda: tf.random.uniform([2], 0, 100, tf.int32),
        [
            [[32.0, 96.0]],
            [[26.0, 68.0]],
            [[32.0, 96.0]],
            [[32.0, 96.0]],
            [[29.0, 55.0]],
            [[27.0, 91.0]],
        ],
    ),
    "gamma": (
        lambda: tf.random.gamma([2], [2.0]),
        [
            [[[2.899803], [5.076498]]],
            [[[1.156331], [0.712619]]],
            [[[2.899803], [5.076498]]],
            [[[2.899803], [5.076498]]],
            [[[1.518354], [0.704601]]],
            [[[0.395004], [0.845055]]],
        ],
    ),
    "poisson": (
        lambda: tf.random.poisson([2], [5.0]),
        [
            [[[2.0], [5.0]]],
            [[[4.0], [6.0]]],
            [[[2.0], [5.0]]],
            [[[2.0], [5.0]]],
            [[[4.0], [4.0]]],
            [[[3.0], [3.0]]],
        ],
    ),
    "shuffle": (
        lambda: tf.random.shuffle(tf.range(5)),
        [
            [[2.0, 1.0, 4.0, 0.0, 3.0]],
            [[2.0, 3.0, 4.0, 0.0, 1.0]],
            [[2.0, 1.0, 4.0, 0.0, 3.0]],
            [[2.0, 1.0, 4.0, 0.0, 3.0]],
            [[4.0, 0.0, 3.0, 2.0, 1.0]],
            [[4.0, 2.0, 0.0, 1.0, 3.0]],
        ],
    ),
    "categorical": (
        lambda: tf.random.categorical([[0.1, 0.9]], 4),
        [
            [[[1.0, 0.0, 1.0, 0.0]]],
            [[[1.0, 1.0, 1.0, 1.0]]],
            [[[1.0, 0.0, 1.0, 0.0]]],
            [[[1.0, 0.0, 1.0, 0.0]]],
            [[[1.0, 0.0, 0.0, 1.0]]],
            [[[1.0, 0.0, 1.0, 0.0]]],
        ],
    ),
    "uniform_seed": (
        lambda: tf.random.uniform([2], seed=7),
        [
            [[0.787848, 0.700398]],
            [[0.338031, 0.564969]],
            [[0.787848, 0.700398]],
            [[0.787848, 0.700398]],
            [[0.059905, 0.588503]],
            [[0.380699, 0.403426]],
        ],
    ),
    "normal_seed": (
        lambda: tf.random.normal([2], seed=7),
        [
            [[-0.657312, -0.211758]],
            [[-0.584671, -1.351813]],
            [[-0.657312, -0.211758]],
            [[-0.657312, -0.211758]],
            [[-1.252489, -2.015258]],
            [[0.792499, -1.141681]],
        ],
    ),
    "two": (
        lambda: (tf.random.uniform([]), tf.random.uniform([])),
        [
            [0.812696, 0.055544],
            [0.527289, 0.838831],
            [0.812696, 0.055544],
            [0.812696, 0.055544],
            [0.829064, 0.238415],
            [0.304166, 0.968759],
        ],
    ),
    "two_seeds": (
        lambda: (tf.random.uniform([], seed=1), tf.random.uniform([], seed=1)),
        [
            [0.055544, 0.055544],
            [0.838831, 0.838831],
            [0.055544, 0.055544],
            [0.055544, 0.055544],
            [0.238415, 0.238415],
            [0.968759, 0.968759],
        ],
    ),
    "dropout": (
        lambda: tf.nn.dropout(tf.ones([6]), 0.5),
        [
            [[2.0, 0.0, 2.0, 0.0, 0.0, 2.0]],
            [[0.0, 0.0, 0.0, 2.0, 0.0, 2.0]],
            [[2.0, 0.0, 2.0, 0.0, 0.0, 2.0]],
            [[2.0, 0.0, 2.0, 0.0, 0.0, 2.0]],
            [[2.0, 2.0, 0.0, 2.0, 2.0, 0.0]],
            [[2.0, 2.0, 2.0, 0.0, 0.0, 0.0]],
        ],
    ),
    "dropout_seed": (
        lambda: tf.nn.dropout(tf.ones([6]), 0.5, seed=3),
        [
            [[2.0, 2.0, 2.0, 0.0, 2.0, 0.0]],
            [[0.0, 0.0, 0.0, 0.0, 2.0, 0.0]],
            [[2.0, 2.0, 2.0, 0.0, 2.0, 0.0]],
            [[2.0, 2.0, 2.0, 0.0, 2.0, 0.0]],
            [[0.0, 2.0, 0.0, 2.0, 2.0, 2.0]],
            [[2.0, 0.0, 0.0, 2.0, 2.0, 0.0]],
        ],
    ),
    "stateless": (
        lambda: tf.random.stateless_uniform([2], [1, 2]),
        [
            [[0.84406, 0.192045]],
            [[0.84406, 0.192045]],
            [[0.84406, 0.192045]],
            [[0.84406, 0.192045]],
            [[0.84406, 0.192045]],
            [[0.84406, 0.192045]],
        ],
    ),
    "int64": (
        lambda: tf.random.uniform([2], 0, 2**40, tf.int64),
        [
            [[811277485680.0, 170019398336.0]],
            [[998410856998.0, 704992627998.0]],
            [[811277485680.0, 170019398336.0]],
            [[811277485680.0, 170019398336.0]],
            [[1097043943108.9999, 888950509796.9999]],
            [[512241095651.0, 98021518121.0]],
        ],
    ),
    "f64": (
        lambda: tf.random.uniform([2], dtype=tf.float64),
        [
            [[0.501573, 0.133485]],
            [[0.79154, 0.362578]],
            [[0.501573, 0.133485]],
            [[0.501573, 0.133485]],
            [[0.632513, 0.26975]],
            [[0.176731, 0.604287]],
        ],
    ),
    "half": (
        lambda: tf.random.normal([2], dtype=tf.half),
        [
            [[0.305176, 0.566895]],
            [[0.331543, 0.466553]],
            [[0.305176, 0.566895]],
            [[0.305176, 0.566895]],
            [[-0.382568, -0.478027]],
            [[-0.381836, -0.267334]],
        ],
    ),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_sequences(name):
    function, expected = RANDOM[name]
    tf.random.set_seed(1)
    first = _graph(function)
    found = [_flat(first()), _flat(first())]
    tf.random.set_seed(1)
    found.append(_flat(first()))
    tf.random.set_seed(2)
    found.append(_flat(first()))
    tf.random.set_seed(2)
    second = _graph(function)
    found += [_flat(second()), _flat(second())]
    for got, wanted in zip(found, expected, strict=True):
        for x, y in zip(got, wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_random_in_branches_and_loops():
    tf.random.set_seed(5)

    @_graph
    def run():
        a = tf.random.uniform([])
        b = tf.cond(a < 2.0, lambda: tf.random.uniform([]), lambda: tf.random.normal([]))
        _, total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.random.uniform([])), (0, 0.0))
        return a, b, total

    for expected in ([0.182865, 0.182865, 1.792329], [0.673077, 0.673077, 0.939847]):
        np.testing.assert_allclose(_flat(run()), expected, rtol=1e-5)
    tf.random.set_seed(5)
    np.testing.assert_allclose(_flat(run()), [0.182865, 0.182865, 1.792329], rtol=1e-5)


def test_seed_set_in_a_function_is_the_graphs():
    tf.random.set_seed(3)

    @_graph
    def run():
        before = tf.random.uniform([])
        tf.random.set_seed(9)
        return before, tf.random.uniform([])

    np.testing.assert_allclose(_flat(run()), [0.12736403942108154, 0.9903738498687744])
    np.testing.assert_allclose(tf.random.uniform([]).numpy(), 0.13366317749023438)
    np.testing.assert_allclose(_flat(run()), [0.858015775680542, 0.7669724225997925])


def test_functions_and_traces_have_sequences_of_their_own():
    tf.random.set_seed(4)
    a, b = _graph(lambda x: tf.random.uniform([]) + 0 * x), _graph(lambda: tf.random.uniform([]))
    values = [float(b()), float(a(c(1.0))), float(a(c([1.0]))[0]), float(a(c(1.0))), float(b())]
    np.testing.assert_allclose(values, [0.804303, 0.804303, 0.804303, 0.399402, 0.399402], rtol=1e-5)


def test_generators():
    g = tf.random.Generator.from_seed(1)

    @_graph
    def draw():
        return (g.normal([2]), g.uniform([2]), g.uniform_full_int([1], tf.int32), g.binomial([2], 5.0, 0.5),
                g.truncated_normal([2]))  # fmt: skip

    expected = [
        [[0.438423, -0.534398], [0.26457, 0.249234], [-1546183972.0], [3.0, 3.0], [0.787691, 0.290214]],
        [[1.659392, -0.290508], [0.047835, 0.538392], [-1947946289.0], [5.0, 3.0], [1.070425, -0.219504]],
    ]
    for values in expected:
        for x, y in zip(_flat(draw()), values, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(g.normal([2]).numpy(), [-1.115987, -0.327187], rtol=1e-5)
    assert g.state.numpy().tolist() == [132097, 0, 0]

    @_graph
    def skip():
        g.skip(3)
        return g.normal([1])

    np.testing.assert_allclose(skip().numpy(), [2.185192], rtol=1e-5)
    with pytest.raises(ValueError, match="singleton"):
        _graph(lambda: tf.random.Generator.from_seed(1).normal([1]))()


def test_tables():
    static = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    assert _graph(lambda: static.lookup(c(["a", "z"])))().numpy().tolist() == [1, -1]
    assert _graph(static.size)().numpy() == 2
    mutable = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)

    @_graph
    def change():
        mutable.insert(c(["q"]), tf.constant([5], tf.int64))
        found = mutable.lookup(c(["q", "z"]))
        mutable.remove(c(["q"]))
        return found, mutable.lookup(c(["q"])), mutable.size()

    assert _flat(change()) == [[5, -1], [-1], 0]


def test_tables_made_in_functions():
    def build():
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1], [2]), -1)
        return table.lookup(c([1, 3]))

    assert _graph(build)().numpy().tolist() == [2, -1]


def test_critical_section_excludes_other_threads():
    section, v = tf.CriticalSection(), tf.Variable(0)

    @_graph
    def increase():
        def body():
            value = tf.numpy_function(lambda x: x + np.int32(1), [v.read_value()], tf.int32)
            return v.assign(tf.reshape(value, []))

        return section.execute(body)

    assert increase().numpy() == 1
    threads = [threading.Thread(target=lambda: [increase() for _ in range(25)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert v.numpy() == 101


def test_critical_section_is_free_after_an_error():
    section, v = tf.CriticalSection(), tf.Variable(0)

    @_graph
    def increase(x):
        return section.execute(lambda: (tf.debugging.assert_positive(x), v.assign_add(x))[1])

    increase(c(1))
    with pytest.raises(tf.errors.InvalidArgumentError) as kept:
        increase(c(-1))
    thread = threading.Thread(target=lambda: increase(c(1)))
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert v.numpy() == 2
    assert kept is not None


def test_critical_section_refuses_nesting():
    section = tf.CriticalSection()
    nested = lambda: section.execute(lambda: section.execute(lambda: c(1)))
    for run in (nested, _graph(nested)):
        with pytest.raises(ValueError, match="CriticalSection"):
            run()


def test_methods_of_modules():
    class Scale(tf.Module):
        def __init__(self, name=None):
            super().__init__(name)
            self.w = None
            self.traces = 0

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0)
            self.traces += 1
            return self.w * x

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def total(self, x):
            return tf.reduce_sum(x) * self.w

    first, second = Scale(), Scale()
    assert [first(c(3.0)).numpy(), first(c(4.0)).numpy()] == [6.0, 8.0]
    assert first.traces == 2  # TF: once more after variables were made
    assert first.total(c([1.0, 2.0])).numpy() == 6.0
    assert second(c(3.0)).numpy() == 6.0
    second.w.assign(5.0)
    assert second(c(3.0)).numpy() == 15.0
    assert first(c(3.0)).numpy() == 6.0
    assert len(first.trainable_variables) == 1


# Custom gradients.

X, V = tf.constant(3.0), tf.Variable(2.0)


@tf.custom_gradient
def _clipped(a):
    return a * a, lambda dy: tf.clip_by_value(dy, -1.0, 1.0) * a


@tf.custom_gradient
def _with_variable(a):
    return a * V, lambda dy, variables=None: (dy * 100.0, [dy * a * 10.0])


@tf.recompute_grad
def _recomputed(a):
    return tf.sin(a) * V * V


_through = tf.grad_pass_through(tf.round)
# Name: (function, value and gradients by X and V, the same in a loop of two; None: no gradient).
CUSTOM = {
    "custom": (_clipped, [9.0, 3.0, None], [81.0, 3.0, None]),
    "custom_twice": (lambda a: _clipped(_clipped(a)), [81.0, 3.0, None], [43046720.0, 3.0, None]),
    "variable": (_with_variable, [6.0, 100.0, 30.0], [12.0, 10000.0, 3060.0]),
    "recompute": (_recomputed, [0.56448, -3.95997, 0.56448], [2.139906, -13.382591, 4.047548]),
    "pass_through": (lambda a: _through(a * 1.3) * a, [12.0, 7.9, None], [192.0, 249.639984, None]),
    "stop": (lambda a: tf.stop_gradient(a) * a, [9.0, 3.0, None], [81.0, 27.0, None]),
    "identity": (lambda a: tf.identity(a) * a, [9.0, 6.0, None], [81.0, 108.0, None]),
}


def _gradients(f):
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    return [y, *tape.gradient(y, [X, V])]


@pytest.mark.parametrize("name", CUSTOM)
def test_custom_gradients(name):
    f, once, twice = CUSTOM[name]

    def loop(a):
        return tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, f(v)), (0, a))[1]

    def branch(a):
        return tf.cond(a > 0, lambda: f(a), lambda: a)

    runs = [
        (lambda: _gradients(f), once),
        (lambda: _gradients(_graph(lambda a: f(a))), once),
        (_graph(lambda: _gradients(f)), once),
        (lambda: _gradients(_graph(branch)), once),
        (_graph(lambda: _gradients(branch)), once),
        (lambda: _gradients(_graph(loop)), twice),
        (_graph(lambda: _gradients(loop)), twice),
    ]
    for run, expected in runs:
        for got, wanted in zip(run(), expected, strict=True):
            assert (got is None) == (wanted is None)
            if wanted is not None:
                np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-5)


@pytest.mark.parametrize(("name", "expected"), [("custom", 1.0), ("recompute", -0.56448), ("identity", 2.0)])
def test_second_order_of_custom_gradients(name, expected):
    f = CUSTOM[name][0]

    def second(g):
        with tf.GradientTape() as outer:
            outer.watch(X)
            dy = _gradients(g)[1]
        return outer.gradient(dy, X)

    branch = lambda a: tf.cond(a > 0, lambda: f(a), lambda: a)
    for run in (lambda: second(f), lambda: second(_graph(lambda a: f(a))), _graph(lambda: second(f)),
                lambda: second(_graph(branch))):  # fmt: skip
        np.testing.assert_allclose(run().numpy(), expected, rtol=1e-5)


def test_gradient_functions_may_read_what_lies_around():
    @_graph
    def run(a, scale):
        @tf.custom_gradient
        def scaled(z):
            return z * 1.0, lambda dy: dy * scale * scale

        branch = tf.cond(a > 0, lambda: scaled(a), lambda: a)
        return branch + tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, scaled(v)), (0, a))[1]

    scale = c(2.0)
    with tf.GradientTape() as outer:
        outer.watch(scale)
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = run(X, scale)
        dy = tape.gradient(y, X)
    assert dy.numpy() == 20.0
    assert outer.gradient(dy, scale).numpy() == 36.0


def test_time_passes_between_calls():
    run = _graph(lambda: (tf.timestamp(), tf.timestamp()))
    first, second = run()
    assert second >= first
    assert run()[0] > first
