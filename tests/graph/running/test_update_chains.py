"""Updates of large variables block by block: the same bits as one operation after the other, in all ways of running."""

import threading

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.compiling.compilation import set_background_compilation
from headrace._src.graph.running import layout, update_chains
from headrace._src.graph.running.layout import CHAIN

SHAPE = (4, 9)  # blocks of ten elements: the last one has six


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Chains of small variables, in the interpreter only."""
    monkeypatch.setattr(update_chains, "_BLOCK", 10)
    set_background_compilation(False)
    yield
    set_background_compilation(True)


def numbers(seed, shape=SHAPE):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def chains_of(plan):
    return [x for x in plan._program.instructions if x.kind == CHAIN]


def adam(g, w, m, v):
    m.assign_add((g - m) * 0.1)
    v.assign_add((tf.square(g) - v) * 0.001)
    w.assign_sub(m * 0.5 / (tf.sqrt(v) + 1e-3))


def momentum(g, w, m, v):
    m.assign(m * 0.9 - g * 0.1)
    w.assign_add(m)


def nesterov(g, w, m, v):
    m.assign(m * 0.9 - g * 0.1)
    w.assign_add(m * 0.9 - g * 0.1)


def rms(g, w, m, v):
    v.assign(0.9 * v + 0.1 * tf.square(g))
    w.assign_sub(0.01 * g / tf.sqrt(v + 1e-3))


def decay(g, w, m, v):
    w.assign(w - w * 0.01)
    w.assign_sub(tf.maximum(g, w) * 0.5)
    w.assign_sub(-tf.abs(w))


def copies(g, w, m, v):
    m.assign(g * 2.0)
    w.assign(m)
    v.assign_sub(w)


UPDATES = [adam, momentum, nesterov, rms, decay, copies]


def returns_between(g, w, m, v):
    """What a part computes is a result: the rest is a chain."""
    scaled = g * 2.0
    m.assign_add((scaled - m) * 0.1)
    w.assign_sub(m * 0.5)
    return scaled


def keeps_old_value(g, w, m, v):
    """The value from before the update is used after it."""
    old = m.read_value()
    m.assign_add(g * 0.5)
    w.assign_add(old * m)


def mixed_shapes(g, w, m, v):
    """A broadcast row and a sum are no parts of a chain."""
    m.assign_add((g - m) * g[0])
    v.assign_add(tf.reduce_sum(m * g) + v * 0.5)


def other_dtypes(g, w, m, v):
    m.assign_add(tf.cast(tf.cast(g, tf.float64) * 0.1, tf.float32) * 0.5)


OTHERS = [returns_between, keeps_old_value, mixed_shapes, other_dtypes]


class Outcome:
    """What some runs of a program leave and return; `limit` says from how many elements on there are chains."""

    def __init__(self, monkeypatch, program, limit, written=False, hold=False, runs=3):
        for module in (layout, update_chains):
            monkeypatch.setattr(module, "LARGE_UPDATE", limit)
        monkeypatch.setattr("headrace._src.graph.running.plan._INTERPRETED_RUNS", 0 if written else 10**9)
        self.variables = [tf.Variable(numbers(i)) for i in range(3)]
        self.variables[2].assign(tf.abs(self.variables[2]))
        held = [x.read_value() for x in self.variables] if hold else []
        before = [x.numpy().copy() for x in held]
        function = tf.function(lambda g: program(g, *self.variables), autograph=False)
        self.run = function.get_concrete_function(tf.TensorSpec(SHAPE))
        self.instructions = self.run.graph.plan()._program.instructions
        self.results = [self.run(tf.constant(numbers(10 + i))) for i in range(runs)]
        for x, value in zip(held, before):  # what somebody has read does not change
            np.testing.assert_array_equal(x.numpy(), value)

    def bits(self):
        returned = [x.numpy().tobytes() for x in self.results if x is not None]
        return [x.numpy().tobytes() for x in self.variables] + returned


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("program", UPDATES, ids=lambda x: x.__name__)
def test_updates_are_one_chain_with_the_same_bits(monkeypatch, program, written):
    alone = Outcome(monkeypatch, program, 10**9)
    chained = Outcome(monkeypatch, program, 8, written)
    assert chained.instructions[0].parts == len(alone.instructions) == len(chained.instructions) - 1
    assert chained.bits() == alone.bits()
    assert Outcome(monkeypatch, program, 8, written, hold=True).bits() == alone.bits()


def sgd(g, w, m, v):
    w.assign_sub(g * 0.1)


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize(("many", "chains"), [(36, 1), (37, 0)])
def test_two_operations_are_a_chain_for_very_large_variables(monkeypatch, many, chains, written):
    monkeypatch.setattr(update_chains, "_MANY", many)
    alone = Outcome(monkeypatch, sgd, 10**9)
    outcome = Outcome(monkeypatch, sgd, 8, written)
    assert len(alone.instructions) == 2
    assert sum(x.kind == CHAIN for x in outcome.instructions) == chains
    assert outcome.bits() == alone.bits()


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("program", OTHERS, ids=lambda x: x.__name__)
def test_what_is_no_chain_stays_as_it_is(monkeypatch, program, written):
    alone = Outcome(monkeypatch, program, 10**9)
    assert Outcome(monkeypatch, program, 8, written).bits() == alone.bits()


def test_memory_of_a_variable_is_written_over(monkeypatch):
    """As by updates one by one: unless somebody has the value, no other array is made for it."""
    outcome = Outcome(monkeypatch, adam, 8, runs=1)
    storages = [x.handle._a[()] for x in outcome.variables]
    before = [x.value.__array_interface__["data"] for x in storages]
    again = tf.function(lambda g: adam(g, *outcome.variables), autograph=False)
    again(tf.constant(numbers(20)))
    assert [x.value.__array_interface__["data"] for x in storages] == before


def test_one_variable_by_two_names(monkeypatch):
    """A variable that is an argument and is captured: the chain leaves it to its instructions."""
    results = []
    for limit in (10**9, 8):
        for module in (layout, update_chains):
            monkeypatch.setattr(module, "LARGE_UPDATE", limit)
        variable = tf.Variable(numbers(0))

        @tf.function(autograph=False)
        def program(other, variable=variable):
            other.assign_add(variable * 0.5)
            variable.assign_sub(other * 0.25)
            other.assign_add(variable * 0.5)

        program.get_concrete_function(variable)
        program(variable)
        results.append(variable.numpy().tobytes())
    assert results[0] == results[1]


@pytest.mark.parametrize("written", [False, True])
def test_errors_are_those_of_the_instructions(monkeypatch, written):
    """A variable that is gone: what comes before it has happened, and the error names it and the line."""
    texts, left = [], []
    for limit in (10**9, 8):
        outcome = Outcome(monkeypatch, adam, limit, written, runs=0)
        _, m, v = outcome.variables
        tf.raw_ops.DestroyResourceOp(resource=v.handle)
        with pytest.raises(tf.errors.FailedPreconditionError, match="Could not find variable") as caught:
            outcome.run(tf.constant(numbers(11)))
        texts.append(str(caught.value))
        left.append(m.numpy().tobytes())
    assert texts[0] == texts[1]
    assert "test_update_chains.py" in texts[1]
    assert left[0] == left[1] != numbers(1).tobytes()


def test_measured_runs_tell_of_chains(monkeypatch):
    """A chain is one note, of its last operation."""
    outcome = Outcome(monkeypatch, momentum, 8, runs=0)
    function = tf.function(lambda g: momentum(g, *outcome.variables), autograph=False)
    plan = function.get_concrete_function(tf.TensorSpec(SHAPE)).graph.plan()
    handles = [x.handle._a for x in outcome.variables[:2]]
    _, notes = plan.profile([numbers(1), *(handles[i] for i in (1, 0))])
    assert [step.record.name for step, _, _ in notes] == ["AssignAddVariableOp"]


def test_threads_that_update_the_same_variables(monkeypatch):
    """Each chain holds the locks of what it writes: no update is lost, and none waits for ever."""
    for module in (layout, update_chains):
        monkeypatch.setattr(module, "LARGE_UPDATE", 8)
    first, second = (tf.Variable(np.zeros(SHAPE, np.float32)) for _ in range(2))

    def added(a, b):
        def program(g):
            a.assign_add(g * 0.5)
            b.assign_add(g * 0.5)

        return tf.function(program, autograph=False).get_concrete_function(tf.TensorSpec(SHAPE))

    def repeat(concrete):
        for _ in range(100):
            concrete(tf.ones(SHAPE))

    functions = [added(first, second), added(second, first)]
    assert all(chains_of(x.graph.plan()) for x in functions)
    threads = [threading.Thread(target=repeat, args=[x]) for x in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(first.numpy(), np.full(SHAPE, 100.0))
    np.testing.assert_array_equal(second.numpy(), np.full(SHAPE, 100.0))
