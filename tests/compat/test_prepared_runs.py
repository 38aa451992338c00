"""Runs of sessions are compiled as functions are: the same results, effects, random numbers and errors."""

import threading

import numpy as np
import pytest
import v1_programs as programs
from compiled_at_once import compile_at_once
from test_v1_programs import RECORDED, close

import headrace as tf
from headrace._src.compat.sessions import prepared_runs
from headrace._src.graph.compiling import compilation

v1 = tf.compat.v1
NUMBERS = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)
KINDS = pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "reference"])


@pytest.fixture
def compiled(monkeypatch):
    """All but the smallest runs are compiled at once."""
    compile_at_once(monkeypatch)


def number_of_programs(executable):
    """How many programs run for one of a session's questions."""
    if not isinstance(executable, compilation.Executable):
        return 0
    if executable.segmented is not None:
        return sum(number_of_programs(piece.executable) for piece in executable.segmented.pieces)
    return sum(entry.program is not None for entry in executable._entries.values())


def programs_of(sess):
    return sum(number_of_programs(run.executable) for run in sess._plans.values())


# Each builds a graph and returns a list of runs, as pairs of fetches and feeds.


def variable(name, value, use_resource):
    return v1.get_variable(name, initializer=tf.constant(value), use_resource=use_resource)


def chain(use_resource):
    x = v1.placeholder(tf.float32, [None, 3])
    w = variable("w", NUMBERS.T, use_resource)
    hidden = tf.tanh(x @ w) * 2.0
    y = tf.reduce_sum(tf.exp(hidden) + 1.0, axis=1)
    feeds, inner = {x: NUMBERS}, {hidden: np.ones((2, 4), np.float32)}
    return [(y, feeds), ([y, hidden, w], feeds), ({"y": y}, inner), (y, {x: NUMBERS[:2]})]


def order_of_assignments(use_resource):
    v, x = variable("v", [1.0, 2.0], use_resource), v1.placeholder(tf.float32, [2])
    before = v.read_value() * 1.0
    with tf.control_dependencies([before]):
        assigned = v.assign(x * 3.0)
    with tf.control_dependencies([assigned]):
        between = v.read_value() + 0.5
    with tf.control_dependencies([between]):
        added = v.assign_add(tf.exp(before))
    with tf.control_dependencies([added]):
        after = v.read_value() * 2.0
    fetches = [before, assigned, between, after, added.op, v]
    last = [after, v.assign_sub([1.0, 1.0])]
    return [(fetches, {x: [4.0, 5.0]}), (fetches, {x: [6.0, 7.0]}), (last, {x: [0.0, 1.0]})]


def training(use_resource):
    """Adam with a rate that depends on the global step, regularized, with clipped gradients."""
    x = v1.placeholder(tf.float32, [None, 3])
    w = variable("w", NUMBERS.T * 0.3, use_resource)
    count = v1.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(tf.nn.sigmoid(x @ w) - 0.3)) + 0.01 * tf.nn.l2_loss(w)
    rate = v1.train.exponential_decay(0.1, count, 2, 0.9, staircase=True)
    optimizer = v1.train.AdamOptimizer(rate)
    pairs = optimizer.compute_gradients(loss, [w])
    clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 0.05)
    step = optimizer.apply_gradients([(g, v) for g, (_, v) in zip(clipped, pairs)], global_step=count)
    return [([step, loss, norm, count], {x: NUMBERS + i}) for i in range(4)] + [(w, {})]


def batch_normalization(use_resource):
    x, training = v1.placeholder(tf.float32, [None, 3]), v1.placeholder_with_default(False, [])
    y = v1.layers.batch_normalization(x, training=training, momentum=0.5)
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        loss = tf.reduce_sum(y * y * y)
    runs = [(loss, {x: NUMBERS, training: True}), (loss, {x: NUMBERS * 2.0, training: True}), (loss, {x: NUMBERS})]
    return [*runs, (v1.global_variables(), {})]


def control_flow(use_resource):
    x = v1.placeholder(tf.float32, [])
    v = variable("v", 2.0, use_resource)
    _, total = v1.while_loop(lambda i, t: i < 5, lambda i, t: (i + 1, tf.tanh(t) * v + x), [0, x])
    chosen = v1.cond(total > 1.0, lambda: total * v, lambda: v - total)
    slopes = tf.gradients(chosen, [x, v])
    return [([chosen, slopes], {x: 0.3}), ([chosen, slopes], {x: 3.0})]


def rows(use_resource):
    table = variable("table", NUMBERS, use_resource)
    ids = v1.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2.0)
    step = v1.train.AdagradOptimizer(0.5).minimize(loss)
    return [([step, loss], {ids: [0, 2, 2]}), ([step, loss], {ids: [1, 1, 3]}), (table, {})]


def random_numbers(use_resource):
    v1.set_random_seed(5)
    x = v1.placeholder(tf.float32, [4, 3])

    @tf.function
    def noise(shape):
        return tf.random.normal(shape, seed=3)

    # Two calls of one function have streams of their own.
    drawn = [noise([2]), noise([2]), tf.random.uniform([3])]
    y = v1.nn.dropout(x, rate=0.5) + tf.reduce_sum(drawn[0] * 2.0 - drawn[1])
    return [([y, drawn], {x: NUMBERS})] * 3


def islands(use_resource):
    """Python functions, strings and summaries between what can be compiled."""
    v, x = variable("v", 1.0, use_resource), v1.placeholder(tf.float32, [3])
    y = tf.exp(tf.tanh(x) * v) + 1.0
    y = v1.py_func(lambda z: z[::-1].copy(), [y], tf.float32)
    y.set_shape([3])
    with tf.control_dependencies([y]):
        added = v.assign_add(tf.reduce_sum(y) * 0.1)
    with tf.control_dependencies([added]):
        z = tf.sqrt(tf.abs(y)) * v.read_value()
    text = tf.strings.join(["v=", tf.strings.as_string(tf.cast(v.read_value() * 100.0, tf.int32))])
    summary = v1.summary.scalar("z", tf.reduce_sum(z))
    return [([z, summary], {x: NUMBERS[0]}), ([z, text], {x: NUMBERS[1]}), (v, {})]


def outputs_of_several(use_resource):
    """One output of an operation is fed, another one computed."""
    x = v1.placeholder(tf.float32, [6])
    first, second, third = tf.split(x, 3)
    mean, variance = tf.nn.moments(x, [0])
    y = [tf.exp(first) + second * 2.0 - third, mean + variance]
    values = np.arange(6, dtype=np.float32)
    return [(y, {x: values}), (y, {x: values, second: [9.0, 8.0]}), ([y, second.op], {x: values, second: [1.0, 1.0]})]


GRAPHS = [chain, order_of_assignments, training, batch_normalization, control_flow, rows, random_numbers, islands,
          outputs_of_several]  # fmt: skip


def results(build, use_resource):
    """The values of all runs, and how many programs they took."""
    with tf.Graph().as_default(), v1.Session() as sess:
        runs = build(use_resource)
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        found = [sess.run(*run) for run in runs]
        return [x for x in tf.nest.flatten(found) if x is not None], programs_of(sess)


@pytest.mark.parametrize("build", GRAPHS)
@KINDS
def test_both_ways(request, build, use_resource):
    interpreted, none = results(build, use_resource)
    request.getfixturevalue("compiled")
    got, some = results(build, use_resource)
    assert none == 0
    assert some > 0
    assert len(got) == len(interpreted)
    for a, b in zip(got, interpreted):
        assert type(a) is type(b)
        if isinstance(a, bytes):
            assert a == b
        else:
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["Adam", "Momentum", "RMSProp"])
@KINDS
def test_recorded_optimizers(compiled, name, use_resource):
    got = programs.train(tf, programs.optimizers(tf)[name], use_resource=use_resource)
    close(got["values"], RECORDED["optimizers"][name]["values"])


# What a run leaves behind, and what may happen between runs.


def _counted(use_resource):
    """A variable, a step that changes it and can fail, and the placeholder on which that depends."""
    v, x = variable("v", [1.0, 2.0], use_resource), v1.placeholder(tf.float32, [2])
    with tf.control_dependencies([v1.assert_less(x, 10.0, message="too large")]):
        step = v.assign_add(tf.exp(tf.tanh(x) * 0.0))
    return v, x, step


@KINDS
def test_errors_come_from_the_interpreter(compiled, use_resource):
    with tf.Graph().as_default(), v1.Session() as sess:
        v, x, step = _counted(use_resource)
        with pytest.raises(tf.errors.FailedPreconditionError) as uninitialized:
            sess.run(step, {x: [0.0, 0.0]})
        wanted = "Could not find variable v" if use_resource else "Attempting to use uninitialized value v"
        assert wanted in str(uninitialized.value)
        sess.run(v.initializer)
        sess.run(step, {x: [0.0, 0.0]})
        assert programs_of(sess) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
            sess.run(step, {x: [0.0, 11.0]})
        sess.run(step, {x: [0.0, 0.0]})
        np.testing.assert_allclose(sess.run(v), [3.0, 4.0])


@KINDS
def test_a_graph_that_grows(compiled, use_resource):
    with tf.Graph().as_default(), v1.Session() as sess:
        v, x, step = _counted(use_resource)
        sess.run(v.initializer)
        sess.run(step, {x: [0.0, 0.0]})
        chosen = tf.cond(x[0] > 0.0, lambda: tf.exp(x) * v, lambda: tf.sin(x) - v)
        first = sess.run([step, chosen], {x: [0.0, 0.5]})[1]
        slopes = tf.gradients(chosen, x)[0]  # which gives the conditional more outputs
        again, got = sess.run([chosen, slopes], {x: [0.0, 0.5]})
        np.testing.assert_allclose(again, first, rtol=1e-6)
        np.testing.assert_allclose(got, np.cos([0.0, 0.5]), rtol=1e-6)
        sess.run(step, {x: [0.0, 0.0]})
        np.testing.assert_allclose(sess.run(v), [4.0, 5.0])


def test_sessions_of_one_graph(compiled):
    with tf.Graph().as_default():
        v1.set_random_seed(2)
        v, x, step = _counted(use_resource=True)
        noisy = tf.exp(tf.random.normal([2])) + v * 2.0
        first, second = v1.Session(), v1.Session()
        first.run(v.initializer)
        drawn = [first.run(noisy), first.run(noisy)]
        first.run(step, {x: [0.0, 0.0]})
        second.run(v.initializer)
        np.testing.assert_array_equal([second.run(noisy), second.run(noisy)], drawn)
        np.testing.assert_array_equal([first.run(v), second.run(v)], [[2.0, 3.0], [1.0, 2.0]])
        first.close()
        with pytest.raises(RuntimeError, match="closed Session"):
            first.run(step, {x: [0.0, 0.0]})
        second.run(step, {x: [0.0, 0.0]})
        np.testing.assert_array_equal(second.run(v), [2.0, 3.0])


def test_random_numbers_go_on_where_the_interpreter_stopped(request):
    def drawn():
        return tf.exp(tf.random.normal([2])) * 2.0 + tf.random.uniform([2])

    with tf.Graph().as_default() as graph:
        v1.set_random_seed(4)
        y = drawn()
        with v1.Session() as sess:
            wanted = [sess.run(y) for _ in range(4)]
        sess, other = v1.Session(graph=graph), y * 1.0
        got = [sess.run(y)]
        request.getfixturevalue("compiled")
        got += [sess.run(other), sess.run(other), sess.run([y])[0]]
        assert programs_of(sess) == 1
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_what_interrupts_a_run_leaves_the_session_as_it_was(compiled):
    calls = []

    def interrupted(x):
        calls.append(x)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return x

    with tf.Graph().as_default() as graph, v1.Session() as sess:
        v, x, step = _counted(use_resource=True)
        with tf.control_dependencies([step.op]):
            y = tf.exp(v1.py_func(interrupted, [v.read_value()], tf.float32)) + 1.0
        sess.run(v.initializer)
        sess.run(y, {x: [0.0, 0.0]})
        with pytest.raises(KeyboardInterrupt):
            sess.run(y, {x: [0.0, 0.0]})
        assert v1.get_default_graph() is graph
        sess.run(y, {x: [0.0, 0.0]})
        np.testing.assert_array_equal(sess.run(v), [4.0, 5.0])


def test_runs_in_parts_and_callables(compiled):
    with tf.Graph().as_default(), v1.Session() as sess:
        v, x, step = _counted(use_resource=False)
        y = tf.exp(step) * 1.5 + 1.0
        sess.run(v.initializer)
        call = sess.make_callable([y, step], [x])
        np.testing.assert_allclose(call([0.0, 0.0])[1], [2.0, 3.0])
        handle = sess.partial_run_setup([step, y], [x])
        np.testing.assert_allclose(sess.partial_run(handle, step, {x: [0.0, 0.0]}), [3.0, 4.0])
        np.testing.assert_allclose(sess.partial_run(handle, y), np.exp([3.0, 4.0]) * 1.5 + 1.0, rtol=1e-6)
        np.testing.assert_allclose(sess.run(v), [3.0, 4.0])  # the second part did not add again


def test_threads_share_programs(compiled):
    with tf.Graph().as_default() as graph:
        v, x, step = _counted(use_resource=True)
        sess = v1.Session(graph=graph)
        sess.run(v.initializer)
        sess.run(step, {x: [0.0, 0.0]})
        threads = [threading.Thread(target=lambda: [sess.run(step.op, {x: [0.0, 0.0]}) for _ in range(20)])
                   for _ in range(4)]  # fmt: skip
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(sess.run(v), [82.0, 83.0])


def test_a_seed_of_the_graph_fixes_the_call_of_the_change():
    with tf.Graph().as_default() as graph:
        y = x = v1.placeholder(tf.float32, [2])
        for _ in range(30):
            y = tf.tanh(y) + 0.1
        run = prepared_runs.PreparedRun(graph, [x], [y], [])
        assert not run.executable.is_seeded
        v1.set_random_seed(1)
        run = prepared_runs.PreparedRun(graph, [x], [y], [])
        assert run.executable.is_seeded
        assert run.executable._is_exact


def test_traces(compiled):
    with tf.Graph().as_default(), v1.Session() as sess:
        v, x, step = _counted(use_resource=True)
        sess.run(v.initializer)
        options, metadata = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), v1.RunMetadata()
        np.testing.assert_array_equal(sess.run(step, {x: [0.0, 0.0]}, options, metadata), [2.0, 3.0])
        (device,) = metadata.step_stats.dev_stats
        assert device.device.endswith("CPU:0")
        stats = {node.node_name: node for node in device.node_stats}
        assert stats["Tanh"].timeline_label == "Tanh = Tanh(Placeholder)"
        assert stats["Tanh"].all_start_micros > 0
        assert [d.size for d in stats["Tanh"].output[0].tensor_description.shape.dim] == [2]
        sess.run(step, {x: [0.0, 0.0]}, run_metadata=metadata)
        assert len(metadata.step_stats.dev_stats) == 1


@KINDS
@pytest.mark.parametrize("compiles", [True, False])
def test_what_is_fed_is_the_users_after_the_run(monkeypatch, use_resource, compiles):
    if compiles:
        compile_at_once(monkeypatch)
    memory = np.ones(4200, np.float32)
    start = -memory.__array_interface__["data"][0] % 64 // 4
    with tf.Graph().as_default(), v1.Session() as sess:
        v = variable("v", np.zeros(4096, np.float32), use_resource)
        x = v1.placeholder(tf.float32, [4096])
        step = [v.assign(x), tf.reduce_sum(tf.exp(x) * 2.0 + tf.tanh(x)), x, tf.identity(x) + 0.0]
        sess.run(v.initializer)
        for offset in (start, start + 1):  # as programs want it, and not
            for _ in range(2):
                fed = memory[offset : offset + 4096]
                fed[:] = offset + 1
                _, _, same, computed = sess.run(step, {x: fed})
                fed[:] = -1
                for found in (same, computed, sess.run(v)):
                    np.testing.assert_array_equal(found, offset + 1)
                assert same.flags.writeable
        assert bool(programs_of(sess)) == compiles
        strided = np.arange(8192, dtype=np.float32)[::2]
        np.testing.assert_array_equal(sess.run(step, {x: strided})[3], strided)
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            sess.run(step, {x: memory})
