"""Graphs, functions and concrete functions are freed by reference counting alone, and what they keep stays small."""

import gc
import weakref

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.compiling import compilation
from headrace._src.graph.compiling import queue as compile_queue


def references(*functions):
    """Weak references to functions, their traces and the graphs of these."""
    found = []
    for function in functions:
        found.append(weakref.ref(function))
        for concrete in function._traces.values():
            found += [weakref.ref(concrete), weakref.ref(concrete.graph)]
            found += [weakref.ref(node) for node in concrete.graph.nodes]
    assert len(found) > len(functions)
    return found


def gradient(f, x, order=1):
    """The derivative of a function of some order."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x) if order == 1 else gradient(f, x, order - 1)
    return tape.gradient(y, x)


X = np.array([1.0, 2.0, 3.0], np.float32)


def plain():
    f = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * 2.0))
    for _ in range(3):
        f(tf.constant(X))
    return references(f)


def several_traces():
    f = tf.function(lambda x, n: x * n)
    for n in range(3):
        f(tf.ones([n]), n)
    return references(f)


def relaxed():
    f = tf.function(lambda x: x * 2.0, reduce_retracing=True)
    for n in range(1, 5):
        f(tf.ones([n]))
    return references(f)


def concrete():
    f = tf.function(lambda x: tf.exp(x))
    c = f.get_concrete_function(tf.TensorSpec([None]))
    c(tf.constant(X))
    kept = references(f)
    return kept


def differentiated():
    f = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * 2.0))
    gradient(f, tf.constant(X))
    return references(f)


def differentiated_twice():
    f = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * x))
    gradient(f, tf.constant(X), 2)
    return references(f)


def tape_inside():
    f = tf.function(lambda x: gradient(lambda y: tf.exp(y) * y, x, 2))
    f(tf.constant(X))
    return references(f)


def branches():
    f = tf.function(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * x, lambda: tf.exp(x)))
    gradient(f, tf.constant(X), 2)
    return references(f)


def branches_inside():
    def body(x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x * x, lambda: tf.exp(x))

    f = tf.function(lambda x: gradient(body, x))
    f(tf.constant(X))
    return references(f)


def loop():
    def body(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [tf.constant(0), x])[1]

    f = tf.function(body)
    f(tf.constant(X))
    gradient(f, tf.constant(X), 2)
    g = tf.function(lambda x: gradient(body, x))
    g(tf.constant(X))
    return references(f, g)


def nested():
    g = tf.function(lambda x: tf.exp(x))
    f = tf.function(lambda x: g(x) + g(x * 2.0))
    gradient(f, tf.constant(X))
    return references(f, g)


def custom_gradient():
    @tf.custom_gradient
    def h(x):
        y = tf.exp(x)
        return y, lambda dy: dy * y

    f = tf.function(lambda x: h(x) * 2.0)
    gradient(f, tf.constant(X), 2)
    g = tf.function(lambda x: gradient(h, x))
    g(tf.constant(X))
    return references(f, g)


def recomputed():
    f = tf.function(lambda x: tf.recompute_grad(lambda y: tf.exp(y) * y)(x))
    gradient(f, tf.constant(X))
    return references(f)


def variables():
    v = tf.Variable(X)

    def step(x):
        v.assign_add(x)
        return v * x

    f = tf.function(step)
    with tf.GradientTape() as tape:
        y = f(tf.constant(X))
    tape.gradient(y, v)
    return [*references(f), weakref.ref(v)]


def variables_made_inside():
    class Counter:
        v = None

    counter = Counter()

    def step(x):
        if counter.v is None:
            counter.v = tf.Variable(X)
        return counter.v * x

    f = tf.function(step)
    f(tf.constant(X))
    return [*references(f), weakref.ref(counter), weakref.ref(counter.v)]


def methods():
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(X)
            self.inner = tf.function(lambda x: x * 2.0)

        @tf.function
        def __call__(self, x):
            return self.inner(self.w * x)

        @tf.function(input_signature=[tf.TensorSpec([3])])
        def signed(self, x):
            return self(x) + 1.0

    model = Model()
    with tf.GradientTape() as tape:
        y = model(tf.constant(X))
    tape.gradient(y, model.w)
    model.signed(tf.constant(X))
    return [weakref.ref(model), weakref.ref(model.w), *references(model.inner)]


def autograph():
    def body(x):
        if tf.reduce_sum(x) > 0:
            y = x * 2.0
        else:
            y = x
        for i in tf.range(3):
            if i == 2:
                break
            y = y + tf.cast(i, tf.float32)
        return y

    f = tf.function(body)
    gradient(f, tf.constant(X))
    return references(f)


def random():
    f = tf.function(lambda: tf.random.uniform([3]))
    f()
    return references(f)


def failed_run():
    f = tf.function(lambda x: tf.gather(x, [7]))
    for _ in range(70):  # until the plan is written as code
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(X))
    return references(f)


def failed_trace():
    def body(x):
        y = tf.exp(x)
        if y.shape[0] == 3:
            raise KeyError("no")

    f = tf.function(body)
    try:
        f(tf.constant(X))
    except KeyError:
        pass
    return [weakref.ref(f)]


def explained():
    f = tf.function(lambda x: tf.exp(x))
    str(f.explain(tf.constant(X)))
    return references(f)


def composites():
    f = tf.function(lambda x: tf.sparse.reduce_sum(x), autograph=False)
    f(tf.sparse.from_dense(X))
    g = tf.function(lambda x: tf.gather(x, [0, 0, 1]))
    gradient(g, tf.constant(X))
    return references(f, g)


CASES = [
    plain, several_traces, relaxed, concrete, differentiated, differentiated_twice, tape_inside, branches,
    branches_inside, loop, nested, custom_gradient, recomputed, variables, variables_made_inside, methods, autograph,
    random, failed_run, failed_trace, explained, composites,
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_everything_is_freed_without_the_cycle_collector(case):
    case()  # what is made once and kept, such as converted code
    gc.collect()
    gc.disable()
    try:
        alive = [reference() for reference in case() if reference() is not None]
        assert not alive, alive[:3]
    finally:
        gc.enable()


def test_a_gradient_outlives_the_function():
    def derivative(x):
        f = tf.function(lambda x: tf.exp(x) * tf.sin(x))
        return gradient(f, x)

    x = tf.constant(X)
    gc.disable()
    try:
        with tf.GradientTape() as tape:
            tape.watch(x)
            first = derivative(x)
        second = tape.gradient(first, x)
        outer = tf.function(derivative)
        np.testing.assert_allclose(outer(x).numpy(), np.exp(X) * (np.sin(X) + np.cos(X)), rtol=1e-5)
        np.testing.assert_allclose(outer(x).numpy(), first.numpy(), rtol=1e-6)
        np.testing.assert_allclose(second.numpy(), 2 * np.exp(X) * np.cos(X), rtol=1e-4, atol=1e-4)
    finally:
        gc.enable()


def test_results_do_not_keep_the_graph():
    f = tf.function(lambda x: tf.exp(x))
    y = f(tf.constant(X))
    (graph,) = [weakref.ref(c.graph) for c in f._traces.values()]
    gc.disable()
    try:
        del f
        assert graph() is None
    finally:
        gc.enable()
    np.testing.assert_allclose(y.numpy(), np.exp(X), rtol=1e-6)


@pytest.mark.usefixtures("nothing_in_the_background")
@pytest.mark.parametrize("tier", ["interpreted", "compiled"])
def test_calls_leave_nothing_behind(tier, monkeypatch):
    monkeypatch.setattr(compile_queue.queue, "submit", lambda job: None)
    if tier == "compiled":  # by this thread, at the third call
        monkeypatch.setattr(compilation, "_PATIENCE", 0.0)
        monkeypatch.setattr(compilation, "_WORTH_WAITING", 0.0)
        tf.random.set_seed(1)
    v = tf.Variable(X)

    @tf.function
    def f(x):
        v.assign_add(x * 0.5)
        return tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.random.uniform([3])), [0, v + x])[1]

    x = tf.constant(X)
    for _ in range(50):
        f(x)
    growth = []
    for _ in range(3):
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(200):
            f(x)
        gc.collect()
        growth.append(len(gc.get_objects()) - before)
    assert min(growth) < 50
    (entry,) = f.get_concrete_function(x).graph.executable()._entries.values()
    assert (entry.program is not None) == (tier == "compiled")
