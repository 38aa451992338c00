"""What programs are compiled with."""

import os

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.compiling import devices
from headrace._src.graph.compiling.blocks import BlockBuilder
from headrace._src.graph.compiling.programs import OPTIONS, options_of

FUSION = "xla_cpu_experimental_ynn_fusion_type"


def attention(x):
    return tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)), x)


def dense(x):
    return tf.nn.softmax(tf.matmul(x[0], x[1], transpose_b=True))


def in_a_branch(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: convolution(x)[..., 0], lambda: x)


def in_a_loop(x):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, convolution(x)[..., 0]), (0, x))[1]


def convolution(x):
    return tf.nn.conv2d(x[..., None], tf.ones((2, 2, 1, 3)), 1, "SAME")


PRODUCTS, REDUCTIONS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT", "LIBRARY_FUSION_TYPE_REDUCE"


@pytest.mark.parametrize(
    ("function", "limit"),
    [
        (attention, None),
        (dense, None),
        (in_a_branch, f"{PRODUCTS},{REDUCTIONS}"),
        (in_a_loop, None),
        (convolution, f"{PRODUCTS},{REDUCTIONS}"),
        (lambda x: attention(x) + convolution(x)[..., 0], f"{PRODUCTS},{REDUCTIONS}"),
    ],
)
def test_what_the_library_behind_products_is_left(function, limit):
    graph = tf.function(function).get_concrete_function(tf.TensorSpec([2, 4, 4])).graph
    options = options_of(BlockBuilder().of_plan(graph.plan()))
    assert options.get(FUSION) == limit
    assert {name: options[name] for name in OPTIONS} == OPTIONS


def test_where_the_last_loop_ends():
    inner = tf.function(lambda x: in_a_loop(x) + 1.0)
    functions = attention, lambda x: attention(in_a_loop(attention(x))), lambda x: attention(inner(attention(x)))
    for function, has_loop in zip(functions, (False, True, True), strict=True):
        graph = tf.function(function).get_concrete_function(tf.TensorSpec([2, 4, 4])).graph
        block = BlockBuilder().of_plan(graph.plan())
        assert block.loops == has_loop
        after = [instruction.op for instruction in block.instructions[block.after_loops :]]
        assert after.count("Softmax") == 1
        assert not {"StatelessWhile", "While", "PartitionedCall"} & set(after)


def program_of(function, *arguments):
    (entry,) = function.get_concrete_function(*arguments).graph.executable()._entries.values()
    return entry.program


@pytest.fixture
def two_threads(monkeypatch):
    """Fresh clients of XLA's, for operations of two threads, whatever the environment says."""
    monkeypatch.setattr(devices, "thread_count", lambda: 2)
    monkeypatch.setattr(devices._Hosts, "usual", None)
    monkeypatch.setattr(devices._Hosts, "of_one_thread", None)


@pytest.mark.usefixtures("two_threads")
def test_a_program_that_is_soon_done_runs_on_the_host_of_one_thread():
    variable = tf.Variable(tf.ones((4, 4)))
    product = tf.function(lambda x: tf.matmul(x, x) + variable[0, 0], jit_compile=True)
    functions = tf.function(lambda x: tf.exp(x) + variable[0, 0], jit_compile=True)
    small, large, long = tf.ones((16, 16)), tf.ones((512, 512)), tf.ones(2_000_000)
    for function, x, is_soon_done in [
        (product, small, True), (product, large, False), (functions, small, True), (functions, long, False),
    ]:  # fmt: skip
        function = tf.function(function.python_function, jit_compile=True)
        function(x)
        expected = devices.host_of_one_thread() if is_soon_done else devices.host()
        assert program_of(function, x)._host is expected
    assert devices.host() is not devices.host_of_one_thread()


@pytest.mark.usefixtures("two_threads")
def test_programs_with_one_and_with_several_threads_share_variables():
    weights, count = tf.Variable(np.eye(512, dtype=np.float32)), tf.Variable(0.0)

    @tf.function(jit_compile=True)
    def large(x):
        weights.assign(tf.matmul(weights, x))
        count.assign_add(1.0)
        return weights[0, 0]

    @tf.function(jit_compile=True)
    def small():
        weights.assign_add(weights * count)
        return count.assign_add(1.0)

    double = tf.eye(512) * 2.0
    for turn in range(3):
        before, number = weights.numpy()[0, 0], 2.0 * turn
        assert large(double) == before * 2
        assert small() == number + 2
        assert weights.numpy()[0, 0] == before * 2 * (number + 2)
    assert program_of(large, double)._host is not program_of(small)._host


def test_how_many_threads_a_client_has_is_not_told_to_others(monkeypatch):
    for value in ("7", None):
        monkeypatch.delenv("NPROC", raising=False)
        if value:
            monkeypatch.setenv("NPROC", value)
        devices.make_client(1, 1)
        assert os.environ.get("NPROC") == value


def pooled(x):
    return tf.nn.max_pool2d(convolution(x), 2, 2, "VALID")


def filter_gradient(x):
    filters = tf.ones((2, 2, 1, 3))
    with tf.GradientTape() as tape:
        tape.watch(filters)
        y = tf.nn.max_pool2d(tf.nn.conv2d(x[..., None], filters, 1, "SAME"), 2, 2, "VALID")
    return tape.gradient(y, filters)


@pytest.mark.parametrize(("function", "joined"), [(pooled, True), (filter_gradient, False)])
def test_pools_are_joined_with_convolutions_where_these_are_only_applied(function, joined):
    x = tf.random.stateless_uniform((2, 8, 8), [1, 2])
    compiled = tf.function(function, jit_compile=True)
    np.testing.assert_allclose(compiled(x), function(x), rtol=1e-6)
    text = program_of(compiled, x)._call.as_text()
    assert ("reduce-window" in text or "reduce_window" in text) == joined
