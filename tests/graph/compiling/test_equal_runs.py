"""What makes runs equal to the last bit: with threads, and after a restart."""

import threading

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.random_state import random_state
from headrace._src.graph.compiling import compilation
from headrace._src.graph.control import loops


@pytest.fixture
def switches(monkeypatch):
    """The threads in which bodies of loops become programs."""
    seen = []

    def run_on(test, for_tests, body, values):
        seen.append(threading.current_thread())
        return values, 0

    monkeypatch.setattr(loops, "_MANY", 5)
    monkeypatch.setattr(loops, "_run_on", run_on)
    yield seen
    tf.random.set_seed(None)


def long_loop(x):
    for _ in tf.range(20):
        for _ in range(30):
            x = tf.sin(x) + 0.1
    return x


@pytest.mark.parametrize(
    ("seed", "deterministic", "in_main", "in_others"),
    [(None, False, True, True), (3, False, True, False), (3, True, True, True)],
)
def test_bodies_of_loops_in_threads(monkeypatch, switches, seed, deterministic, in_main, in_others):
    """With a seed, no count that threads share decides when a program takes over."""
    tf.random.set_seed(seed)
    concrete = tf.function(long_loop).get_concrete_function(tf.TensorSpec([2]))
    monkeypatch.setattr(random_state, "deterministic", deterministic)
    plan = concrete.graph.plan()
    x = np.ones(2, np.float32)
    plan.run([x])
    assert switches == [threading.main_thread()] * in_main
    del switches[:]
    dataset = tf.data.Dataset.from_tensors(x).repeat(4).map(long_loop, num_parallel_calls=2)
    thread = threading.Thread(target=lambda: [plan.run([x]), list(dataset)])
    thread.start()
    thread.join()
    assert bool(switches) == in_others
    assert threading.main_thread() not in switches


def training(first, last, values=None):
    """Train from one step to another; returns the losses and the values of the variables."""
    variables = [tf.Variable(np.linspace(-1, 1, 64).reshape(8, 8).astype(np.float32)), tf.Variable(tf.zeros([8]))]
    for variable, value in zip(variables, values or []):
        variable.assign(value)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.nn.gelu(x @ variables[0] + variables[1])
            y -= tf.reduce_mean(y, 1, keepdims=True)
            loss = tf.reduce_mean(tf.square(tf.tanh(y / tf.sqrt(tf.reduce_mean(y * y) + 1e-5)) - x))
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(0.1 * gradient)
        return loss

    losses = [float(step(np.random.RandomState(k).randn(4, 8).astype(np.float32))) for k in range(first, last)]
    return losses, [variable.numpy() for variable in variables]


@pytest.mark.parametrize("tier", [pytest.param("compiled", marks=pytest.mark.slow), "interpreted"])
def test_a_resumed_training_goes_on_to_the_last_bit_when_its_tier_is_fixed(monkeypatch, tier):
    """A restart counts calls anew. So only a tier that does not depend on counts gives the same bits."""
    monkeypatch.setattr(random_state, "deterministic", tier == "compiled")
    monkeypatch.setattr(compilation._Settings, "enabled", tier == "compiled")
    losses, values = training(0, 40)
    before, saved = training(0, 3)
    after, resumed = training(3, 40, saved)
    assert before + after == losses
    for value, expected in zip(resumed, values):
        np.testing.assert_array_equal(value, expected)
