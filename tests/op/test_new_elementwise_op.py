"""A new element-wise op works everywhere, the fast way, with nothing said of it but its record and its function.

Each test asserts which way ran: by what the kernel was called with, by the steps of a plan, by what was lowered.
"""

import logging

import new_elementwise_ops as new
import numpy as np
import pytest

import headrace as tf
from headrace._src.core.context import run_quietly
from headrace._src.graph.running.layout import BINARY, UNARY
from headrace._src.graph.running.plan import Plan, effects_of
from headrace._src.graph.running.reuse import reusable
from headrace._src.op import apply
from headrace._src.op.api import ELEMENTWISE, PUBLIC
from headrace._src.op.type_dispatch import elementwise_functions

NUMBERS = np.array([[1.0, -2.0], [3.0, 0.5]], np.float32)


@pytest.fixture(autouse=True)
def _notes():
    new.KERNEL_CALLS.clear()
    new.LOWERINGS.clear()


@pytest.fixture(autouse=True, scope="module")
def _declared():
    """Other tests look at all public names, of which these are none."""
    yield
    for name, function in (("test_cube", new.cube), ("test_larger", new.larger)):
        PUBLIC.pop(name)
        ELEMENTWISE.remove(function)


def calls():
    """The shapes that the kernel was called with since the last time."""
    seen = list(new.KERNEL_CALLS)
    new.KERNEL_CALLS.clear()
    return seen


def plan_of(function, *specs):
    """The plan that a traced function runs by, and the names of the ops in it."""
    graph = tf.function(function).get_concrete_function(*specs).graph
    plan = Plan(graph.nodes, graph.inputs, graph.outputs, effects_of(graph))
    return plan, [step.record.name for step in plan.steps]


MATRIX = tf.TensorSpec([2, 2])


def test_dense(monkeypatch):
    new.cube(tf.constant(NUMBERS))  # the lane is written
    monkeypatch.setattr(apply, "apply", None)
    calls()
    np.testing.assert_array_equal(new.cube(tf.constant(NUMBERS)), NUMBERS**3)
    assert calls() == [(2, 2)]
    assert "lanes.py" in new.CUBE.lane.__code__.co_filename


def test_ragged():
    x = tf.ragged.constant([[1.0], [], [2.0, 3.0]])
    y = new.cube(x)
    assert y.to_list() == [[1.0], [], [8.0, 27.0]]
    assert calls() == [(3,)]  # the flat values, once
    assert new.larger(x, 2.0).to_list() == [[2.0], [], [2.0, 3.0]]
    assert new.larger(x, tf.constant([[0.0], [0.0], [5.0]])).to_list() == [[1.0], [], [5.0, 5.0]]


def test_sparse():
    x = tf.sparse.SparseTensor([[0, 1], [2, 0]], [2.0, 3.0], [3, 2])
    y = new.cube(x)
    assert isinstance(y, tf.sparse.SparseTensor)
    np.testing.assert_array_equal(tf.sparse.to_dense(y), [[0, 8], [0, 0], [27, 0]])
    assert calls() == [(2,)]  # the values, once


def test_types_of_the_user():
    class Boxed(tf.experimental.ExtensionType):
        value: tf.Tensor

    @tf.experimental.dispatch_for_unary_elementwise_apis(Boxed)
    def unary(function, x):
        return Boxed(function(x.value))

    try:
        assert new.cube(Boxed(tf.constant(2.0))).value.numpy() == 8.0
    finally:
        tf.experimental.unregister_dispatch_for(unary)
    assert new.cube in elementwise_functions("unary")
    assert new.larger in elementwise_functions("binary")


def test_interpreted():
    plan, steps = plan_of(lambda x, y: new.cube(new.larger(x, y)), MATRIX, MATRIX)
    assert steps == ["TestLarger", "TestCube"]
    assert [instruction.kind for instruction in plan._program.instructions] == [BINARY, UNARY]
    (y,) = run_quietly(plan.run, [NUMBERS, -NUMBERS])
    np.testing.assert_array_equal(y, np.abs(NUMBERS) ** 3)
    assert calls() == [(2, 2)]


def test_compiled():
    f = tf.function(lambda x, y: new.cube(new.larger(x, y)), jit_compile=True)
    for _ in range(2):
        np.testing.assert_allclose(f(NUMBERS, -NUMBERS), np.abs(NUMBERS) ** 3)
    assert calls() == []  # the program has it
    assert new.LOWERINGS == [(2, 2)]  # lowered once, run twice


def test_vectorized_map(caplog):
    x = tf.constant(NUMBERS)
    with caplog.at_level(logging.WARNING):
        y = tf.vectorized_map(new.cube, x, fallback_to_while_loop=False)
        z = tf.vectorized_map(lambda row: new.larger(row, row[0]), x, fallback_to_while_loop=False)
    np.testing.assert_array_equal(y, NUMBERS**3)
    np.testing.assert_array_equal(z, np.maximum(NUMBERS, NUMBERS[:, :1]))
    assert calls() == [(2, 2)]  # all rows at once
    assert not caplog.records


def test_blocks_of_a_dataset():
    numbers = np.arange(100, dtype=np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(numbers).map(lambda x: new.larger(new.cube(x), 5.0)).batch(50)
    np.testing.assert_array_equal(np.concatenate(list(dataset)), np.maximum(numbers**3, 5))
    shapes = calls()
    assert sum(shape[0] for shape in shapes) == 100
    assert len(shapes) <= 2  # a block for each batch


def test_blocks_whose_sizes_differ():
    rows = tf.ragged.constant([[1.0], [2.0, 3.0], [], [4.0]] * 10)
    lines = tf.data.Dataset.from_tensor_slices(tf.constant(["1", "2 3", "", "4"] * 10))
    dataset = lines.map(lambda line: new.cube(tf.strings.to_number(tf.strings.split(line)))).ragged_batch(40)
    (batch,) = dataset
    assert batch.to_list() == new.cube(rows).to_list()
    assert len(calls()) <= 3  # not one for each of the 40 lines


def test_dead_code():
    rank, vector = tf.raw_ops.Rank, tf.TensorSpec([None])
    # The rank is known, so nobody reads the numbers. What cannot fail need not run then.
    assert plan_of(lambda x: rank(input=new.cube(x)), vector)[1] == ["Const"]
    assert plan_of(lambda x, y: rank(input=new.larger(x, y)), MATRIX, MATRIX)[1] == ["Const"]
    steps = plan_of(lambda x, y: rank(input=new.larger(x, y)), vector, vector)[1]
    assert steps == ["TestLarger", "Const"]  # the lengths may not fit


def test_common_subexpressions():
    assert plan_of(lambda x: new.cube(x) + new.cube(x), MATRIX)[1] == ["TestCube", "AddV2"]


def test_constant_folding():
    plan, steps = plan_of(lambda x: x + new.cube(tf.constant(2.0)), MATRIX)
    assert steps == ["Const", "AddV2"]
    calls()
    np.testing.assert_array_equal(run_quietly(plan.run, [NUMBERS])[0], NUMBERS + 8)
    assert calls() == []


def test_of_equals():
    assert plan_of(lambda x: new.larger(x, x), MATRIX)[1] == ["Identity"]


def test_reuse_of_memory():
    large = tf.TensorSpec([200, 200])
    plan, _ = plan_of(lambda x, y: new.larger(x + y, y), large, large)
    step = plan.steps[-1]
    assert step.record is new.LARGER
    position, _ = reusable(new.LARGER.kernel, step, [True, False], set())
    assert position == 0
    assert plan._program.instructions[-1].over is not None


def test_loop_invariants():
    x = tf.constant(NUMBERS)

    @tf.function(autograph=False)
    def f(x):
        step = lambda i, total: (i + 1, total + new.cube(x))
        return tf.while_loop(lambda i, total: i < 5, step, [0, tf.zeros_like(x)])[1]

    np.testing.assert_allclose(f(x), 5 * NUMBERS**3)
    assert len(calls()) == 1  # not once for each iteration


def test_gradients():
    x = tf.constant(NUMBERS)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = new.cube(x)
        first = inner.gradient(y, x)
    np.testing.assert_allclose(first, 3 * NUMBERS**2)
    np.testing.assert_allclose(outer.gradient(first, x), 6 * NUMBERS)
    assert calls() == [(2, 2)]

    @tf.function
    def in_graph(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = new.cube(x)
        return tape.gradient(y, x)

    np.testing.assert_allclose(in_graph(x), 3 * NUMBERS**2)
    assert calls() == []  # nobody reads the cube itself
    np.testing.assert_allclose(tf.vectorized_map(in_graph, x, fallback_to_while_loop=False), 3 * NUMBERS**2)
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(ragged.flat_values)
        y = new.cube(ragged).flat_values
    np.testing.assert_allclose(tape.gradient(y, ragged.flat_values), [3.0, 12.0, 27.0])


def test_row():
    """What a row in tests/ops/cases checks: the lowering against the kernel, `infer`, and finite differences."""
    for op, inputs in ((new.CUBE, [NUMBERS]), (new.LARGER, [NUMBERS, NUMBERS[:1]])):
        eager = op(*map(tf.constant, inputs))
        compiled = tf.function(lambda *inputs, op=op: op(*inputs), jit_compile=True)(*inputs)
        np.testing.assert_allclose(eager, compiled)
        graph = tf.function(lambda *inputs, op=op: op(*inputs)).get_concrete_function(*map(tf.constant, inputs))
        assert graph.outputs[0].shape == eager.shape
    theoretical, numerical = tf.test.compute_gradient(new.cube, [NUMBERS.astype(np.float64)])
    np.testing.assert_allclose(theoretical, numerical, rtol=1e-4)
