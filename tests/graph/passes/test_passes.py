"""Graph passes: each one fires, and what the interpreter computes stays the same to the last bit."""

import gc
import time

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.context import run_quietly
from headrace._src.graph.compiling.compilation import set_background_compilation
from headrace._src.graph.passes import constant_folding
from headrace._src.graph.passes.dead_code import needed
from headrace._src.graph.passes.pipeline import optimized
from headrace._src.graph.running.plan import Plan, effects_of
from headrace._src.op.definition import REGISTRY


@pytest.fixture(autouse=True)
def interpreter_only():
    """Nothing is compiled, unless a function asks for it."""
    set_background_compilation(False)
    yield
    set_background_compilation(True)


def traced(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)


def names(steps):
    return [step.type for step in steps if step.type != "Const"]


def both(function, *values, specs=None):
    """Run the graph of a function with and without passes; returns the names of the ops without and with."""
    concrete = traced(function, *(specs or [tf.TensorSpec(v.shape, v.dtype) for v in values]))
    graph = concrete.graph
    plain = needed(graph.nodes, graph.inputs, graph.outputs, effects_of(graph))
    before = Plan.of_steps(plain, graph.inputs, graph.outputs)
    after = Plan(graph.nodes, graph.inputs, graph.outputs, effects_of(graph))
    captured = [x._a for x in concrete.captured_inputs]
    expected = run_quietly(before.run, [*map(np.asarray, values), *captured])
    for interpreted in (True, False):
        after._runs_left = 1 if interpreted else 0
        found = run_quietly(after.run, [*map(np.asarray, values), *captured])
        for a, b in zip(expected, found, strict=True):
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            assert a.tobytes() == b.tobytes(), (a, b)
    return names(before.steps), names(after.steps)


NUMBERS = np.array([[0.0, -0.0, 1.5], [np.nan, np.inf, -np.inf]], np.float32)
COMPLEX = np.stack([NUMBERS, NUMBERS[::-1]], -1).view(np.complex64)[..., 0]


def implementation(name, device, factor):
    attributes = {"api_implements": name, **({"api_preferred_device": device} if device else {})}
    return tf.function(lambda x: x * factor, autograph=False, experimental_attributes=attributes)


# What TensorFlow 2.21 answers for the same programs.
@pytest.mark.parametrize(
    ("called", "other", "result"), [("", "CPU", 3.0), ("", "GPU", 2.0), ("GPU", "CPU", 3.0), ("CPU", "CPU", 3.0)]
)
@pytest.mark.parametrize("added_first", [False, True])
def test_the_implementation_for_this_device_runs(called, other, result, added_first):
    @tf.function
    def f(x):
        theirs, better = implementation("f", called, 2.0), implementation("f", other, 3.0).get_concrete_function(x)
        if added_first:
            better.add_to_graph()
        y = theirs(x)
        better.add_to_graph()
        return y

    x = tf.constant(1.0)
    assert f(x).numpy() == result
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == result
    assert tape.gradient(y, x).numpy() == result


def test_implementations_that_do_not_fit_are_left_alone():
    x, two = tf.constant(1.0), tf.constant([2.0, 2.0])
    plain, better = implementation("g", "", 2.0), implementation("g", "CPU", 3.0)
    better.get_concrete_function(two).add_to_graph()  # outside of all graphs: for all
    assert plain(x).numpy() == 2.0  # a call that is not in a graph
    assert tf.function(lambda x: plain(x))(x).numpy() == 3.0  # TF: only dtypes are compared
    assert tf.function(lambda x: plain(x), jit_compile=True)(x).numpy() == 2.0
    assert tf.function(lambda x: plain(x))(tf.constant(1.0, tf.float64)).numpy() == 2.0  # another dtype
    assert tf.function(lambda x: implementation("h", "", 2.0)(x))(x).numpy() == 2.0  # of something else


def test_constants_are_folded():
    def f(x):
        table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        return x + tf.linalg.matmul(table, tf.exp(table))[1]

    before, after = both(f, np.ones(2, np.float32))
    assert "MatMul" in before
    assert after == ["AddV2"]


def test_large_constants_are_computed_each_time():
    before, after = both(lambda x: x + tf.zeros([200, 200]), np.float32(1))
    assert "Fill" in before
    assert "Fill" in after


def test_large_results_of_large_constants_are_folded():
    table = np.random.default_rng(0).standard_normal((200, 200)).astype(np.float32)

    def f(x):
        c = tf.constant(table)
        return x @ (c @ c) + tf.transpose(c)

    before, after = both(f, np.ones((200, 200), np.float32))
    assert before.count("MatMul") == 2
    assert after == ["MatMul", "AddV2"]


def test_only_so_much_memory_is_given_to_folding(monkeypatch):
    monkeypatch.setattr(constant_folding, "_ALL_LARGE", 300_000)
    table = np.eye(200, dtype=np.float32)  # 160 kB

    def f(x):
        c = tf.constant(table)
        return x @ tf.sin(c) @ tf.cos(c) @ tf.exp(c)

    _, after = both(f, np.ones((1, 200), np.float32))
    assert [name for name in after if name != "MatMul"] == ["Exp"]


def test_calls_with_constants_are_folded():
    inner = tf.function(lambda x, y: tf.matmul(x, y) + 1.0)
    outer = tf.function(lambda x: inner(inner(x, x), x))
    before, after = both(lambda x: outer(tf.constant([[1.0, 2.0], [3.0, 4.0]])) + x, NUMBERS[:, :2])
    assert "PartitionedCall" in before
    assert after == ["AddV2"]


def test_calls_that_do_more_than_compute_are_not_folded():
    seen = []

    def python(x):
        seen.append(1)
        return x

    calls = {
        "fails": tf.function(lambda x: tf.gather(x, tf.cast(x[0], tf.int32) + 100)),
        "draws": tf.function(lambda x: x + tf.random.uniform([])),
        "python": tf.function(lambda x: tf.numpy_function(python, [x], tf.float32, stateful=False)),
        "compiled": tf.function(lambda x: x + 1.0, jit_compile=True),
    }
    for inner in calls.values():
        graph = tf.function(lambda x, inner=inner: inner(tf.constant([1.0, 2.0])) + x).get_concrete_function(1.0).graph
        assert any("Call" in step.record.name for step in graph.plan().steps)
    assert seen == []


def test_what_fails_is_not_folded():
    def f(x):
        return x + tf.gather(tf.constant([1.0, 2.0]), tf.constant([5]))

    concrete = traced(f, tf.TensorSpec([1]))
    assert "GatherV2" in names(concrete.graph.plan().steps)
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
        concrete(tf.constant([1.0]))


def test_shared_subexpressions():
    before, after = both(lambda x, y: (x + y) * 2.0 - tf.exp((x + y) * 2.0), NUMBERS, NUMBERS[::-1].copy())
    assert before.count("AddV2") == 2
    assert after == ["AddV2", "Mul", "Exp", "Sub"]


def test_attributes_tell_expressions_apart():
    before, after = both(lambda x: tf.nn.leaky_relu(x, 0.1) + tf.nn.leaky_relu(x, 0.2), NUMBERS)
    assert after.count("LeakyRelu") == 2 == before.count("LeakyRelu")
    before, after = both(lambda x: (tf.argmax(x, 0), tf.argmax(x, 0, tf.int32)), NUMBERS)
    assert after.count("ArgMax") == 2


def test_signs_of_zero_tell_constants_apart():
    _before, after = both(lambda x: (tf.math.atan2(0.0, x), tf.math.atan2(-0.0, x)), NUMBERS)
    assert after.count("Atan2") == 2


COUNTER, WEIGHT = (lambda: tf.Variable(3)), (lambda: tf.Variable([1.0, 2.0]))


# Between two reads of the first variable, and whether one of them is enough. The second one is of another dtype.
@pytest.mark.parametrize(
    ("make", "between", "is_shared"),
    [
        ((COUNTER, WEIGHT), lambda n, w: None, True),
        ((COUNTER, WEIGHT), lambda n, w: w.assign_add([1.0, 1.0]), True),
        ((COUNTER, WEIGHT), lambda n, w: w.assign(w * 2.0), True),
        ((COUNTER, WEIGHT), lambda n, w: tf.random.uniform([]), True),
        ((COUNTER, WEIGHT), lambda n, w: n.assign_add(1), False),
        ((COUNTER, WEIGHT), lambda n, w: n.assign(7), False),
        ((COUNTER, COUNTER), lambda n, w: w.assign_add(1), False),
        ((COUNTER, WEIGHT), lambda n, w: w.scatter_nd_add([[0]], [5.0]), False),
        ((COUNTER, WEIGHT), lambda n, w: tf.print("", end=""), False),
        ((COUNTER, WEIGHT), lambda n, w: tf.cond(w[0] > 0, lambda: n.assign_add(1), lambda: n.assign_add(2)), False),
    ],
)
def test_reads_of_a_variable_are_one_where_nothing_can_have_changed_it(make, between, is_shared):
    n, w = (made() for made in make)

    def twice(x):
        first = n + x
        between(n, w)
        return first, n * x

    graph = traced(twice, tf.TensorSpec([], tf.int32)).graph
    reads = [x for x in graph.plan().steps if x.record.name == "ReadVariableOp" and x.attrs["dtype"] is tf.int32]
    assert len(reads) == (1 if is_shared else 2)
    before = n.numpy()
    first, second = tf.function(twice, autograph=False)(tf.constant(10))
    assert (first.numpy(), second.numpy()) == (before + 10, n.numpy() * 10)


def test_a_variable_by_two_names_is_read_again():
    n = tf.Variable(3)

    @tf.function(autograph=False)
    def twice(same):
        first = n + 1
        same.assign_add(4)
        return first, n + 1

    assert [x.numpy() for x in twice(n)] == [4, 8]


def test_random_numbers_and_reads_are_not_shared():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        a, b = tf.random.uniform([4]), tf.random.uniform([4])
        first = v + 0.5
        v.assign_add(1.0)
        return a, b, first, v + 0.5

    a, b, first, second = f()
    assert (a.numpy() != b.numpy()).any()
    assert (first.numpy(), second.numpy()) == (1.5, 2.5)


def test_dead_code_goes_and_effects_stay():
    v = tf.Variable(1.0)

    def f(x):
        tf.exp(x)
        v.assign(2.0)
        return tf.identity(x)

    concrete = traced(f, tf.TensorSpec([]))
    assert names(concrete.graph.plan().steps) == ["AssignVariableOp"]
    assert concrete(tf.constant(3.0)).numpy() == 3.0
    assert v.numpy() == 2.0


@pytest.mark.parametrize(
    "function",
    [
        tf.identity,
        tf.stop_gradient,
        lambda x: REGISTRY["Snapshot"](x),
        lambda x: REGISTRY["PreventGradient"](x),
        lambda x: tf.identity_n([x])[0],
        lambda x: REGISTRY["Cast"](x, DstT=tf.float32),
        lambda x: tf.reshape(x, [2, 3]),
        lambda x: tf.reshape(x, [-1, 3]),
        lambda x: tf.transpose(tf.transpose(x)),
        lambda x: tf.transpose(x, [0, 1]),
        lambda x: tf.squeeze(tf.expand_dims(x, 1), 1),
        lambda x: tf.squeeze(tf.expand_dims(x, -1), -1),
        lambda x: tf.squeeze(tf.expand_dims(x, 2), -1),
    ],
)
def test_what_hands_on_its_input_goes(function):
    before, after = both(lambda x: tf.exp(function(x)), NUMBERS)
    assert len(before) > 1
    assert after == ["Exp"]


def test_chains_of_reshapes():
    def f(x):
        return tf.exp(tf.reshape(tf.reshape(tf.reshape(x, [6]), [3, 2]), [1, 6]))

    _, after = both(f, NUMBERS)
    assert after == ["Reshape", "Exp"]
    _, after = both(lambda x: tf.exp(tf.reshape(tf.expand_dims(x, 0), [6])), NUMBERS)
    assert after == ["Reshape", "Exp"]
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    _before, after = both(
        lambda x: tf.reshape(tf.reshape(x, [-1, 3]), [-1, 2, 3]), x, specs=[tf.TensorSpec([None, 6])]
    )
    assert after == ["Reshape"]


def test_a_reshape_that_can_fail_stays():
    f = traced(lambda x: tf.reshape(tf.reshape(x, [-1, 4]), [-1]), tf.TensorSpec([None]))
    assert names(f.graph.plan().steps) == ["Reshape", "Reshape"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Reshape"):
        f(tf.constant(np.zeros(6, np.float32)))


def test_reshapes_of_scattered_memory_add_in_the_same_order():
    x = np.random.default_rng(1).normal(size=(64, 50)).astype(np.float32)

    def f(x):
        flat = tf.reshape(tf.transpose(x), [64 * 50])
        return tf.reduce_sum(tf.reshape(flat, [50, 64, 1]), [0, 1])

    before, after = both(f, x)
    assert len(after) < len(before)
    both(f, np.asfortranarray(x))


def test_transpositions_combine():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    before, after = both(lambda x: tf.transpose(tf.transpose(x, [2, 0, 1]), [0, 2, 1]) * 1.5, x)
    assert before.count("Transpose") == 2
    assert after.count("Transpose") == 1


def test_squeeze_and_expand():
    x = np.ones((2, 1, 3), np.float32)
    _before, after = both(lambda x: tf.exp(tf.expand_dims(tf.squeeze(x, 1), 1)), x)
    assert after == ["Exp"]
    # A dimension that may not be 1 stays checked.
    f = traced(lambda x: tf.expand_dims(tf.squeeze(x, 1), 1), tf.TensorSpec([2, None, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.ones([2, 2, 3]))


INTEGERS = np.array([[0, -1, 2], [127, -128, 5]], np.int8)


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: x * 1.0, NUMBERS),
        (lambda x: 1.0 * x, NUMBERS),
        (lambda x: x * tf.ones([2, 3]), NUMBERS),
        (lambda x: x * tf.ones([1, 1]), NUMBERS),
        (lambda x: x + -0.0, NUMBERS),
        (lambda x: x - 0.0, NUMBERS),
        (lambda x: x / 1.0, NUMBERS),
        (lambda x: tf.math.divide_no_nan(x, 1.0), NUMBERS),
        (lambda x: x**1.0, NUMBERS),
        (lambda x: tf.negative(tf.negative(x)), NUMBERS),
        (lambda x: tf.maximum(x, x), NUMBERS),
        (lambda x: x * 1, INTEGERS),
        (lambda x: x + 0, INTEGERS),
        (lambda x: x - 0, INTEGERS),
        (lambda x: x // 1, INTEGERS),
        (lambda x: x**1, INTEGERS),
        (lambda x: tf.negative(tf.negative(x)), INTEGERS),
        (lambda x: tf.bitwise.invert(tf.bitwise.invert(x)), INTEGERS),
        (lambda x: tf.logical_not(tf.logical_not(x)), INTEGERS > 0),
        (lambda x: tf.math.conj(tf.math.conj(x)), COMPLEX),
    ],
)
def test_arithmetic_that_changes_nothing(function, x):
    before, after = both(function, x)
    assert after == ["Identity"]
    assert before != ["Identity"]


def test_sums_of_scattered_memory_add_in_the_same_order():
    x = np.random.default_rng(1).normal(size=(100, 200)).astype(np.float32)
    for scattered in (x, x[:, ::2], x.T, x[::-1, ::3], np.broadcast_to(x[0], (50, 200))):
        both(lambda x: tf.reduce_sum(x * 1.0), scattered)
        both(lambda x: tf.reduce_sum(x - 0.0, 0), scattered)
        both(lambda x: tf.reduce_sum(tf.negative(tf.negative(x)), 1), scattered)
        both(lambda x: tf.reduce_sum(tf.floor(tf.floor(x * 100.0))), scattered)
        both(lambda x: tf.reduce_sum(tf.maximum(x, x)), scattered)


@pytest.mark.parametrize("name", ["abs", "floor", "sign"])
def test_applying_again_changes_nothing(name):
    function = getattr(tf.math, name)
    before, after = both(lambda x: function(function(x)), NUMBERS)
    assert len(before) == 3  # the last is that of the output
    assert after[1] == "Identity"


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: x + 0.0, NUMBERS),  # -0.0 becomes 0.0
        (lambda x: x - -0.0, NUMBERS),
        (lambda x: 0.0 - x, NUMBERS),
        (lambda x: 1.0 / x, NUMBERS),
        (lambda x: x * (1 + 0j), COMPLEX),  # infinity times 0
        (lambda x: x * tf.ones([1, 2, 3]), NUMBERS),  # the shape changes
        (lambda x: x * tf.ones([4, 1, 1]), NUMBERS),
    ],
)
def test_arithmetic_that_changes_something_stays(function, x):
    _before, after = both(function, x)
    assert "Identity" not in after


def test_a_constant_of_one_does_not_hide_shapes_that_do_not_fit():
    f = traced(lambda x: x * tf.ones([3]), tf.TensorSpec([None]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant([1.0, 2.0]))
    f = traced(lambda x: x * tf.ones([3]), tf.TensorSpec(None))
    assert f(tf.constant(2.0)).shape == (3,)


def test_questions_about_known_shapes():
    def f(x):
        y = tf.exp(x)
        shape = REGISTRY["Shape"](y, out_type=tf.int64)
        return tf.reshape(y, tf.reverse(shape, [0])), REGISTRY["Size"](y), REGISTRY["Rank"](y)

    before, after = both(f, NUMBERS)
    assert "Shape" in before
    assert after == ["Exp", "Reshape"]


def test_a_value_of_which_only_the_shape_is_wanted_may_still_fail():
    def f(x, i):
        return REGISTRY["Shape"](tf.gather(x, i))

    g = traced(f, tf.TensorSpec([3]), tf.TensorSpec([2], tf.int32))
    assert "GatherV2" in names(g.graph.plan().steps)
    assert g(tf.ones([3]), tf.constant([0, 1])).numpy().tolist() == [2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        g(tf.ones([3]), tf.constant([0, 7]))


def test_checks_in_control_dependencies_stay():
    def f(x):
        with x.graph.control_dependencies([tf.ensure_shape(x, [2])]):
            return tf.identity(x)

    g = traced(f, tf.TensorSpec([None]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        g(tf.ones([3]))


def loop(x, n):
    def body(i, total):
        return i + 1, total + tf.reduce_sum(tf.exp(x)) * tf.cast(i, tf.float32)

    return tf.while_loop(lambda i, total: tf.cast(i, tf.float32) < tf.cast(n, tf.float32) * 1.5, body,
                         [tf.constant(0), tf.constant(0.0)])[1]  # fmt: skip


def test_what_does_not_change_leaves_the_loop():
    concrete = traced(loop, tf.TensorSpec([3]), tf.TensorSpec([], tf.int32))
    x = tf.constant([0.1, 0.2, 0.3])
    for n in (0, 1, 2, 7):
        total, term = np.float32(0), np.exp(x.numpy()).sum(dtype=np.float32)
        for i in range(int(np.ceil(np.float32(n) * np.float32(1.5)))):
            total = np.float32(total + np.float32(term * np.float32(i)))
        assert concrete(x, tf.constant(n)).numpy() == total
    (node,) = [node for node in concrete.graph.nodes if "While" in node.type]
    plans = node.attrs["body"].loop_plans
    assert "Exp" in names(plans.first_step.steps)
    assert "Exp" not in names(plans.step.steps)
    assert names(plans.first_test.steps).count("Cast") == 2
    assert names(plans.test.steps).count("Cast") == 1


def test_what_fails_in_a_loop_fails_only_if_the_loop_runs():
    def f(x, n):
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + tf.gather(x, 7)), [0, tf.constant(0.0)])[1]

    concrete = traced(f, tf.TensorSpec([None]), tf.TensorSpec([], tf.int32))
    assert concrete(tf.ones([3]), tf.constant(0)).numpy() == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
        concrete(tf.ones([3]), tf.constant(2))
    assert concrete(tf.ones([8]), tf.constant(2)).numpy() == 2


def test_random_numbers_and_effects_stay_in_the_loop():
    v = tf.Variable(0.0)

    @tf.function
    def f():
        def body(i, a):
            v.assign_add(1.0)
            return i + 1, a + tf.random.uniform([])

        return tf.while_loop(lambda i, a: i < 5, body, [0, tf.constant(0.0)])[1]

    first, second = f(), f()
    assert v.numpy() == 10
    assert first.numpy() != second.numpy()


def test_the_graph_of_the_user_stays_as_it_is():
    concrete = traced(lambda x: tf.identity(x * 1.0) + 0, tf.TensorSpec([2]))
    before = [(node.type, node.inputs) for node in concrete.graph.nodes]
    concrete(tf.ones([2]))
    assert [(node.type, node.inputs) for node in concrete.graph.nodes] == before


def test_fed_tensors_keep_what_they_are_fed():
    graph = tf.Graph()
    with graph.as_default():
        c = tf.constant(2.0)
        d = tf.identity(c)
        e = d * 3.0
        parts = tf.split(tf.constant([1.0, 2.0]), 2)
        total = parts[0] + parts[1]
    run = Plan(graph.nodes, [d], [e, c]).run
    assert [float(x) for x in run([np.float32(5)])] == [15, 2]
    run = Plan(graph.nodes, [parts[0]], [total, parts[0]]).run
    assert [x.tolist() for x in run([np.array([7], np.float32)])] == [[9], [7]]


@pytest.mark.slow
def test_passes_take_little_time():
    def f(x, y):
        for i in range(500):
            x = tf.abs(x + y) * 2.0
            x = tf.reshape(tf.nn.relu(tf.transpose(tf.reshape(x, [2, 2]))), [4]) + float(i)
        return x

    gc.collect()
    gc.freeze()  # what the tests before have left is not looked through again and again
    times = []
    for _ in range(5):
        moments = [time.thread_time()]  # of this thread: others may take any of the machine's
        graph = traced(f, tf.TensorSpec([4]), tf.TensorSpec([4])).graph
        moments.append(time.thread_time())
        optimized(graph.nodes, graph.inputs, graph.outputs)
        moments.append(time.thread_time())
        times.append(np.diff(moments))
    gc.unfreeze()
    assert len(graph.nodes) > 4000
    tracing, passes = np.min(times, axis=0)
    assert passes < 0.75 * tracing
