"""The interpreted tier: what runs, in which order, what is freed when, and what errors say."""

import os
import queue
import signal
import threading
import time
import tracemalloc
import weakref

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.context import context, run_quietly
from headrace._src.graph.compiling.compilation import set_background_compilation
from headrace._src.graph.running.plan import Plan
from headrace._src.op.definition import Op

# An op that looks at what is alive while it runs: inputs that a test refers to weakly, and its own earlier results.
_watchers: list = []
_results: list = []


def _observe(x):
    for watcher in list(_watchers):
        watcher()
    result = np.array(x, copy=True)
    _results.append(weakref.ref(result))
    return result


OBSERVE = Op(
    "TestObserve", "x: T -> y: T", infer=lambda x: x.shape, kernel=_observe, lower=None, grad=None, stateful=True
)  # fmt: skip


@pytest.fixture(autouse=True)
def interpreter_only(nothing_in_the_background):
    """Nothing is compiled, unless a function asks for it."""
    set_background_compilation(False)
    yield
    set_background_compilation(True)


@pytest.fixture(params=["interpreted", "written"])
def tier(request, monkeypatch):
    """Run plans step by step, or as code."""
    runs = 10**9 if request.param == "interpreted" else 0
    monkeypatch.setattr("headrace._src.graph.running.plan._INTERPRETED_RUNS", runs)
    return request.param


@pytest.fixture
def watched():
    """What the kernels of `Observe` saw alive: of what a test refers to weakly, and of their own results by number."""
    references, seen = {}, []
    _results.clear()

    def watcher():
        alive = {name for name, reference in references.items() if reference() is not None}
        seen.append(alive | {i for i, reference in enumerate(_results) if reference() is not None})

    _watchers.append(watcher)
    yield references, seen
    _watchers.remove(watcher)


def traced(function, *specs, **options):
    return tf.function(function, autograph=False, **options).get_concrete_function(*specs)


BIG = [1000, 1000]  # 4 MB
MEGABYTES = 4


def peak_of(concrete, *shapes):
    """The most memory that a run takes beyond its inputs, in megabytes; inputs are handed over."""
    run = concrete.graph.plan().run
    captured = [x._a for x in concrete.captured_inputs]
    run_quietly(run, [np.ones(shape, np.float32) for shape in shapes] + captured)  # makes the plans
    arrays = [np.ones(shape, np.float32) for shape in shapes] + captured
    tracemalloc.start()
    try:
        run_quietly(run, arrays)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def test_intermediates_are_freed_after_their_last_reader(tier):
    def f(x):
        for _ in range(20):
            x = tf.exp(x) * 0.5
        return tf.reduce_sum(x)

    assert peak_of(traced(f, tf.TensorSpec(BIG)), BIG) < 2.5 * MEGABYTES


def test_unread_outputs_are_freed_at_once(tier):
    def f(x):
        total = 0.0
        for i in range(1, 11):
            # The second output, the gradient, is as large as the input.
            total += tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(x, x * float(i)))
        return total

    assert peak_of(traced(f, tf.TensorSpec(BIG)), BIG) < 6.5 * MEGABYTES  # all gradients would be 10 times 4


def test_inputs_are_freed_after_their_last_reader(tier):
    def f(x):
        return tf.reduce_sum(tf.exp(tf.exp(x)))

    plan = traced(f, tf.TensorSpec(BIG)).graph.plan()
    for _ in range(2):
        arrays = [np.ones(BIG, np.float32)]
        reference = weakref.ref(arrays[0])
        run_quietly(plan.run, arrays)
        assert arrays == []
        assert reference() is None


def test_inputs_die_while_the_graph_runs(tier, watched):
    references, seen = watched

    def f(x, y):
        z = tf.exp(x)
        z = OBSERVE(z) + y
        return OBSERVE(z)

    plan = traced(f, tf.TensorSpec([3]), tf.TensorSpec([3])).graph.plan()
    for _ in range(2):
        arrays = [np.ones(3, np.float32), np.ones(3, np.float32)]
        references.update(x=weakref.ref(arrays[0]), y=weakref.ref(arrays[1]))
        run_quietly(plan.run, arrays)
        assert seen == [{"y"}, set()]
        seen.clear()


@pytest.mark.parametrize("kind", ["cond", "switch_case", "while_loop", "call"])
def test_inputs_of_inner_graphs_die_while_these_run(tier, watched, kind):
    _, seen = watched
    inner = tf.function(lambda x: OBSERVE(tf.exp(x)), autograph=False)

    def f(x, n):
        x = x + 1.0  # so that only the graph holds it
        x = OBSERVE(x)
        if kind == "cond":
            return tf.cond(n > 0, lambda: inner(x), lambda: x)
        if kind == "switch_case":
            return tf.switch_case(n, [lambda: x, lambda: inner(x)])
        if kind == "while_loop":
            return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, inner(x)), [0, x])[1]
        return inner(x)

    plan = traced(f, tf.TensorSpec([3]), tf.TensorSpec([], tf.int32)).graph.plan()
    for _ in range(3):
        _results.clear()
        seen.clear()
        run_quietly(plan.run, [np.ones(3, np.float32), np.array(1, np.int32)])
        assert seen == [set(), set()]  # the second one finds that the result of the first is gone


def test_loops_hold_one_set_of_values(tier):
    def f(x):
        return tf.reduce_sum(
            tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, tf.exp(a) * 0.5), [tf.constant(0), x * 2.0])[1]
        )

    assert peak_of(traced(f, tf.TensorSpec(BIG)), BIG) < 2.5 * MEGABYTES


def test_outputs_that_are_inputs_or_constants(tier):
    f = traced(lambda x, y: (x, tf.constant(2.0), y, x), tf.TensorSpec([]), tf.TensorSpec([]))
    for _ in range(2):
        assert [float(t) for t in f(tf.constant(1.0), tf.constant(3.0))] == [1, 2, 3, 1]


def test_no_inputs_no_outputs(tier):
    v = tf.Variable(0)


    def add():
        v.assign_add(1)

    f = traced(add)
    f()
    f()
    assert v.numpy() == 2
    empty = Plan([], [], [])
    assert empty.run([]) == []


def test_effects_happen_in_source_order(tier):
    v = tf.Variable([1.0])

    @tf.function
    def f(x):
        a = v + 0.0
        v.assign(x)
        b = v + 0.0
        v.assign_add([10.0])
        return a, b, v.read_value()

    assert [t.numpy().tolist() for t in f(tf.constant([5.0]))] == [[1], [5], [15]]
    assert [t.numpy().tolist() for t in f(tf.constant([6.0]))] == [[15], [6], [16]]


def test_kernels_that_return_scalars(tier):
    f = traced(lambda x: tf.exp(x) + tf.reduce_sum(tf.stack([x, x])), tf.TensorSpec([]))
    plan = f.graph.plan()
    (result,) = run_quietly(plan.run, [np.array(0, np.float32)])
    assert type(result) is np.ndarray
    assert result.dtype == np.float32
    assert result == 1


def test_many_kinds_of_arguments(tier):
    def f(x):
        a, b = tf.split(x, 2, axis=1)
        values, indices = tf.math.top_k(tf.concat([b, a], 1), k=2, sorted=True)
        return values + tf.cast(indices, tf.float32), tf.strings.as_string(x), tf.unique(tf.reshape(x, [-1]))[0]

    x = tf.constant([[1.0, 4.0], [3.0, 2.0]])
    g = tf.function(f)
    for _ in range(3):
        for expected, found in zip(f(x), g(x)):
            np.testing.assert_array_equal(expected.numpy(), found.numpy())


# Errors.


def line_of(text):
    """The number of the line of this file that ends in a comment with `text`."""
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if line.rstrip().endswith(f"# {text}"))


def failing(kind):
    def bad(x, i):
        return tf.gather(x, i)  # the line that fails

    def f(x, i):
        y = x + 1.0
        if kind == "plain":
            y = bad(y, i)
        elif kind == "cond":
            y = tf.cond(tf.reduce_sum(x) > -1, lambda: bad(y, i), lambda: y[:1])
        elif kind == "while":
            y = tf.while_loop(lambda n, a: n < 3, lambda n, a: (n + 1, a + bad(y, i)), [0, tf.zeros([1])])[1]
        elif kind == "call":
            y = tf.function(lambda y: bad(y, i) * 2.0)(y)
        elif kind == "nested":
            inner = tf.function(lambda y: tf.cond(tf.reduce_sum(y) > -1, lambda: bad(y, i), lambda: y[:1]))
            y = tf.while_loop(lambda n, a: n < 3, lambda n, a: (n + 1, a + inner(y)), [0, tf.zeros([1])])[1]
        return y * 2.0

    return tf.function(f, autograph=False)


@pytest.mark.parametrize("kind", ["plain", "cond", "while", "call", "nested"])
def test_errors_name_the_operation_and_the_users_line_once(tier, kind):
    f = failing(kind)
    x = tf.ones([3])
    assert f(x, tf.constant([1])).shape == (1,)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            f(x, tf.constant([7]))
        text = str(info.value)
        assert info.value.op.type == "GatherV2"
        assert text.count(f'{os.path.basename(__file__)}", line {line_of("the line that fails")}') == 1, text
        assert text.count("[Op:GatherV2]") == 1
        assert text.count("indices") >= 1
    assert f(x, tf.constant([2])).shape == (1,)


def test_other_exceptions_pass_through(tier):
    class Special(Exception):
        pass

    def stop():
        raise Special("stop")

    f = traced(lambda x: OBSERVE(x) + 1.0, tf.TensorSpec([]))
    _watchers.append(stop)
    try:
        for _ in range(2):
            with pytest.raises(Special, match="stop"):
                f(tf.constant(1.0))
    finally:
        _watchers.remove(stop)
    assert f(tf.constant(1.0)).numpy() == 2


def test_interrupting_leaves_everything_in_order(tier):
    def interrupt():
        raise KeyboardInterrupt

    @tf.function
    def f(x):
        a = tf.random.uniform([2])
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, OBSERVE(s) + a), [0, x])[1]

    f(tf.zeros([2]))
    _watchers.append(interrupt)
    try:
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                f(tf.zeros([2]))
            assert context.random_node is None
            assert context.mode is None
    finally:
        _watchers.remove(interrupt)
    assert (f(tf.zeros([2])).numpy() > 0).all()


@pytest.mark.slow
def test_a_signal_stops_a_long_loop():
    @tf.function
    def f():
        return tf.while_loop(lambda i: i < 10**9, lambda i: [OBSERVE(i) + 1], [tf.constant(0)])[0]

    begun = queue.SimpleQueue()  # an interrupted Event could not be used any more

    def interrupt():
        begun.get()
        signal.raise_signal(signal.SIGINT)

    # A process in the background may ignore this signal from the start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    _watchers.append(lambda: begun.put(_watchers.pop()))
    try:
        with pytest.raises(KeyboardInterrupt):
            f()
    finally:
        signal.signal(signal.SIGINT, before)
        _watchers.clear()
    thread.join()
    assert tf.function(lambda x: x + 1)(tf.constant(1)).numpy() == 2


def test_random_operations_keep_their_streams(tier):
    def draw():
        tf.random.set_seed(3)
        f = tf.function(lambda: (tf.random.uniform([2]), tf.random.normal([2], seed=5)))
        return [x.numpy().tolist() for _ in range(3) for x in f()]

    first = draw()
    assert first == draw()
    assert len({tuple(x) for x in first}) == 6


# Threads and size.


def test_threads_share_a_plan(tier):
    def f(x, n):
        y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.sin(a) + x), [0, x])[1]
        for _ in range(20):
            y = tf.exp(-y) + x
        return y

    g = tf.function(f, autograph=False)
    inputs = [tf.constant(np.full(50, k, np.float32)) for k in range(8)]
    n = tf.constant(10)
    expected = [f(x, n).numpy() for x in inputs]
    wrong, barrier = [], threading.Barrier(8)

    def work(k):
        barrier.wait()
        for _ in range(20):
            if not np.array_equal(g(inputs[k], n).numpy(), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_plans_are_written_as_code_after_some_runs():
    def f(x):
        for _ in range(40):
            x = tf.exp(x) * 0.5
        return x

    concrete = traced(f, tf.TensorSpec([2]))
    x = tf.constant([0.1, 0.2])
    results = [concrete(x).numpy().tobytes() for _ in range(70)]
    assert concrete.graph.plan()._code is not None
    assert len(set(results)) == 1
    fresh = traced(f, tf.TensorSpec([2]))
    fresh(x)
    assert fresh.graph.plan()._code is None  # one that ran once is not worth it


def test_a_large_called_function_is_written_out_at_the_second_run_too():
    @tf.function
    def inner(x):
        for _ in range(30):
            x = tf.tanh(x)
        return x

    @tf.function
    def outer(x):
        return inner(x) + 1.0

    x = tf.ones([3])
    graph = outer.get_concrete_function(x).graph
    (called,) = [node.attrs["f"] for node in graph.nodes if node.record.calls_functions]
    outer(x)
    assert called.plan()._code is None
    outer(x)
    assert called.plan()._code is not None


@pytest.mark.slow
def test_deep_graphs():
    def f(x):
        for _ in range(20_000):
            x = tf.exp(x) if _ % 2 else tf.math.log(x)
        return x

    g = tf.function(f, autograph=False)
    assert g(tf.constant(2.0)).shape == ()
    plan = g.get_concrete_function(tf.constant(2.0)).graph.plan()
    plan._runs_left = 0
    assert g(tf.constant(2.0)).shape == ()
    del g, plan  # freeing a long chain must not recurse either


@pytest.mark.slow
def test_the_time_between_kernels():
    def f(x, y):
        for _ in range(100):
            x = tf.nn.relu(tf.abs(x + y))
        return x

    plan = traced(f, tf.TensorSpec([4]), tf.TensorSpec([4])).graph.plan()
    plan._runs_left = 0
    a = np.ones(4, np.float32)
    calls = [(instruction.call, instruction.kind) for instruction in plan._program.instructions]
    assert len(calls) == 300

    def kernels():
        x = y = a
        for kernel, binary in calls:
            x = kernel(x, y) if binary else kernel(x)

    def seconds(function, *args):
        start = time.thread_time()  # of this thread, in turns, the least: others may take any of the machine's
        for _ in range(50):
            run_quietly(function, *args)
        return time.thread_time() - start

    times = [(seconds(lambda: plan.run([a, a])), seconds(kernels)) for _ in range(20)]
    with_plan, without = map(min, zip(*times))
    assert with_plan < 1.45 * without  # a kernel takes half a microsecond


def test_a_large_function_is_written_out_at_its_second_call():
    """No later call has to wait for that."""

    @tf.function
    def large(x):
        for _ in range(15):
            x = tf.matmul(x, x) * 0.1
        return x

    x = tf.constant(np.eye(3, dtype=np.float32))
    first = large(x)
    plan = large.get_concrete_function(x).graph.plan()
    assert plan._code is None
    np.testing.assert_array_equal(large(x), first)
    assert plan._code is not None
