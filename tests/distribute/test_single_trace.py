"""What replicas do in a `tf.function` is traced once; with devices of their own, it is one program."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import headrace as tf


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def parts(value):
    return [part.numpy().tolist() for part in value.values]


def number_here():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def traced(strategy, step):
    """What replicas return in a function, and how often the step was traced."""
    calls = []

    def counted():
        calls.append(1)
        return step()

    return tf.function(lambda: strategy.run(counted), autograph=False)(), len(calls)


def test_one_trace_for_all(strategy):
    result, count = traced(strategy, lambda: number_here() * 10)
    assert parts(result) == [0, 10]
    assert count == 1


@pytest.mark.parametrize("look", [
    lambda s, x: s.experimental_local_results(x)[0],
    lambda s, x: x.values[1],
])  # fmt: skip
def test_looking_at_single_replicas_traces_each(strategy, look):
    result, count = traced(strategy, lambda: tf.distribute.get_replica_context().merge_call(look, (number_here() + 5,)))
    assert {part.numpy() for part in strategy.experimental_local_results(result)} <= {5, 6}
    assert count == 3  # once for all, and then for each


def test_explanations_say_how_replicas_run(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    together = tf.function(lambda: strategy.run(lambda: v * 2.0))
    together()
    (text,) = together.explain().replicas
    assert "2 replicas, traced once, as one graph on one device: the replicas have no devices of their own" in text
    apart = tf.function(lambda: strategy.run(lambda: v.values[0] * 2.0))
    apart()
    assert apart.explain().replicas == [
        "traced once for each replica, because the code looks at the copies of single replicas"
    ]
    assert "Replicas:" in str(apart.explain())
    assert tf.function(lambda: v * 2.0).explain().replicas == []


def test_the_same_on_all_replicas_is_computed_once(strategy):
    @tf.function
    def f(x):
        return strategy.run(lambda: tf.sin(x) + tf.cast(number_here(), tf.float32))

    graph = f.get_concrete_function(tf.constant(1.0)).graph
    (call,) = [node for node in graph.nodes if node.record.calls_functions]
    kinds = [node.type for node in call.attrs["f"].nodes]
    assert kinds.count("Sin") == 1
    assert kinds.count("AddV2") == 2


def test_waiting_for_others_in_a_branch(strategy):
    """Replicas go through a branch together where its condition is the same for all."""
    with strategy.scope():
        count = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)

    def step():
        count.assign_add(1)

        def together():
            return tf.distribute.get_replica_context().all_reduce("SUM", number_here() + 1)

        return tf.cond(tf.equal(count % 2, 0), together, lambda: -1)

    f = tf.function(lambda: strategy.run(step))
    assert [parts(f()) for _ in range(4)] == [[-1, -1], [3, 3], [-1, -1], [3, 3]]


def test_waiting_for_others_in_a_loop(strategy):
    def step():
        total = tf.cast(number_here() + 1, tf.float32)
        for _ in tf.range(3):
            total = tf.distribute.get_replica_context().all_reduce("MEAN", total + tf.cast(number_here(), tf.float32))
        return total

    assert parts(tf.function(lambda: strategy.run(step))()) == [3.0, 3.0]


def test_ways_that_may_differ_are_refused(strategy):
    def step():
        return tf.cond(
            number_here() > 0, lambda: tf.distribute.get_replica_context().all_reduce("SUM", 1.0), lambda: 0.0
        )

    with pytest.raises(RuntimeError, match="cannot wait for each other"):
        tf.function(lambda: strategy.run(step))()


def test_gradients_from_outside_of_the_function(strategy):
    with strategy.scope():
        v = tf.Variable(3.0)

    @tf.function
    def loss():
        def step():
            mine = v * v * tf.cast(number_here() + 1, tf.float32)
            return tf.distribute.get_replica_context().all_reduce("SUM", mine)

        return strategy.reduce("SUM", strategy.run(step), axis=None)

    with tf.GradientTape(persistent=True) as tape:
        y = loss()
    assert y.numpy() == 54.0
    assert [tape.gradient(y, copy).numpy() for copy in v.values] == [12.0, 24.0]


def test_uneven_values(strategy):
    values = strategy.experimental_distribute_values_from_function(lambda c: tf.range(1.0 + c.replica_id_in_sync_group))

    @tf.function
    def f(x):
        return strategy.run(lambda x: tf.distribute.get_replica_context().all_gather(x, 0) * tf.reduce_sum(x + 1), (x,))

    assert parts(f(values)) == [[0.0, 0.0, 1.0], [0.0, 0.0, 3.0]]


def _run(count, program):
    """Programs over several devices need logical devices, which a process has from its beginning."""
    start = f"""
        import numpy as np
        import headrace as tf
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * {count})
        tf.config.experimental.enable_op_determinism()  # programs are there at the first call
        tf.random.set_seed(1)
        strategy = tf.distribute.MirroredStrategy()
        number_here = lambda: tf.distribute.get_replica_context().replica_id_in_sync_group
        parts = lambda value: [part.numpy().tolist() for part in value.values]
        numbers = lambda *bounds: tf.data.Dataset.from_tensor_slices(tf.range(*map(float, bounds)))

        def state(f, *args):
            nodes = f.get_concrete_function(*args).graph.nodes
            return next(node.attrs["f"] for node in nodes if node.record.calls_functions).executable().state
    """
    source = textwrap.dedent(start) + textwrap.dedent(program)
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]


@pytest.mark.slow
def test_one_program_over_devices():
    _run(2, """
        with strategy.scope():
            v = tf.Variable([1.0, 2.0])
            steps = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
            seen = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ,
                               aggregation=tf.VariableAggregation.SUM)

        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * x)
            (grad,) = tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, [v]))
            v.assign_sub(grad)
            steps.assign_add(1)
            seen.assign_add(tf.cast(number_here() + 1, tf.float32))
            return loss, tf.random.uniform([2]), tf.gather([7, 8], steps % 2)

        @tf.function
        def train(x):
            return strategy.run(step, (x,))

        batches = strategy.experimental_distribute_dataset(numbers(1, 5).batch(2).repeat(3))
        results = []
        for x in batches:
            results.append(train(x))
        assert "one program over 2 devices" in state(train, x), state(train, x)
        assert "exchanges 12 bytes" in state(train, x), state(train, x)  # two numbers, and whether a check has failed
        (text,) = train.explain(x).replicas
        assert text == "2 replicas, traced once: one program over 2 devices, which exchanges 12 bytes in a call", text
        assert parts(v) == [[1.0 - 30.0, 2.0 - 30.0]] * 2, v
        assert steps.numpy() == 6 and seen.numpy() == 6 * 3.0, (steps, seen)
        assert parts(results[0][0]) == [3.0, 6.0]
        draws = np.array([[part.numpy() for part in r[1].values] for r in results])
        assert len(np.unique(draws)) == draws.size  # another one for each replica, step and place
        assert parts(results[1][2]) == [7, 7]
        v.assign([5.0, 5.0])  # from outside, and on
        train(x)
        assert parts(v) == [[-2.0, -2.0]] * 2, v
        plain = tf.function(lambda: v * 2.0, jit_compile=True)  # another program reads what replicas have
        assert plain().numpy().tolist() == [-4.0, -4.0]
        train(x)
        assert parts(v) == [[-9.0, -9.0]] * 2, v
    """)  # fmt: skip


@pytest.mark.slow
def test_a_check_that_fails_on_one_replica_fails_on_all():
    _run(
        2,
        """
        with strategy.scope():
            v = tf.Variable(1.0)
            many = [tf.Variable(float(i)) for i in range(3)]

        @tf.function
        def f(bad):
            def step():
                for x in many:
                    v.assign_add(x)
                place = tf.where(tf.equal(number_here(), bad), 5, 0)
                return tf.gather([1.0, 2.0], place) + v

            return strategy.run(step)

        assert parts(f(tf.constant(9))) == [5.0, 5.0]
        try:
            f(tf.constant(1))
        except tf.errors.InvalidArgumentError:
            pass
        else:
            raise AssertionError
        assert "one program" in state(f, tf.constant(1))
    """,
    )


@pytest.mark.slow
def test_uneven_batches_and_host_operations():
    _run(
        4,
        """
        with strategy.scope():
            v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

        @tf.function
        def total(x):
            def step(x):
                v.assign_add(tf.reduce_sum(x))
                return v.read_value()

            return strategy.run(step, (x,))

        for x in strategy.experimental_distribute_dataset(numbers(0, 10).batch(8)):
            result = total(x)
        assert parts(result) == parts(v) == [45.0] * 4, v

        @tf.function
        def texts(x):
            return strategy.run(lambda x: tf.strings.as_string(x) + tf.strings.as_string(number_here()), (x,))

        for x in strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4)):
            found = texts(x)
        assert parts(found) == [[b"00"], [b"11"], [b"22"], [b"33"]], found
        assert "replica by replica" in state(texts, x), state(texts, x)
    """,
    )


@pytest.mark.parametrize("count", [1, 2])
def test_arguments_of_all_kinds(count):
    strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(count)])
    sparse = tf.sparse.from_dense(np.eye(2, dtype=np.float32))
    values = strategy.experimental_distribute_values_from_function(lambda c: sparse)

    @tf.function
    def f(x, scale):
        def step(x, options):
            return {"sum": tf.sparse.reduce_sum(x) * options["scale"], "name": "x", "none": None}

        return strategy.run(step, (x, {"scale": scale}))

    result = f(values, tf.constant(3.0))
    assert [part.numpy() for part in strategy.experimental_local_results(result["sum"])] == [6.0] * count
    assert result["none"] is None
