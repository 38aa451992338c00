"""MirroredStrategy with two replicas; the values are what TensorFlow 2.21 gives on two logical CPUs."""

import numpy as np
import pytest

import headrace as tf

AGGREGATION, ON_READ = tf.VariableAggregation, tf.VariableSynchronization.ON_READ


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def number_here():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def parts(value):
    return [part.numpy().tolist() for part in value.values]


def test_text(strategy):
    with strategy.scope():
        v = tf.Variable(1.0, name="v")
    assert repr(v) == (
        "MirroredVariable:{\n  0: <tf.Variable 'v:0' shape=() dtype=float32, numpy=1.0>,\n"
        "  1: <tf.Variable 'v/replica_1:0' shape=() dtype=float32, numpy=1.0>\n}"
    )
    assert str(v.assign(5.0)) == (
        "Mirrored:{\n  0: tf.Tensor(5.0, shape=(), dtype=float32),\n  1: tf.Tensor(5.0, shape=(), dtype=float32)\n}"
    )


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("aggregation", "after"), [
    ("NONE", [6.0, 7.0]), ("MEAN", [6.5, 6.5]), ("SUM", [8.0, 8.0]), ("ONLY_FIRST_REPLICA", [6.0, 6.0]),
])  # fmt: skip
def test_replicas_assign_together(strategy, aggregation, after, traced):
    with strategy.scope():
        v = tf.Variable(5.0, aggregation=AGGREGATION[aggregation])

    def step():
        v.assign_add(1.0 + number_here())
        return v.read_value()

    result = tf.function(lambda: strategy.run(step))() if traced else strategy.run(step)
    assert parts(result) == parts(v) == after


@pytest.mark.parametrize(("aggregation", "whole", "copies"), [
    ("SUM", 5.0, [2.5, 2.5]), ("MEAN", 5.0, [5.0, 5.0]), ("ONLY_FIRST_REPLICA", 5.0, [5.0, 5.0]),
])  # fmt: skip
def test_variables_combined_when_read(strategy, aggregation, whole, copies):
    with strategy.scope():
        v = tf.Variable(3.0, synchronization=ON_READ, aggregation=AGGREGATION[aggregation])
    assert v.assign(5.0).numpy() == whole
    assert parts(v) == copies
    strategy.run(lambda: v.assign_add(number_here()))
    assert parts(v) == [copies[0], copies[1] + 1]
    if aggregation == "SUM":
        with pytest.raises(ValueError, match="cross-replica"):
            v.assign_add(1.0)


def test_checkpoints_have_one_value(strategy, tmp_path):
    with strategy.scope():
        a = tf.Variable([1.0, 2.0])
        b = tf.Variable(3.0, synchronization=ON_READ, aggregation=AGGREGATION.SUM)
    path = tf.train.Checkpoint(a=a, b=b).save(str(tmp_path / "c"))
    alone = [tf.Variable([0.0, 0.0]), tf.Variable(0.0)]
    tf.train.Checkpoint(a=alone[0], b=alone[1]).restore(path)
    assert [v.numpy().tolist() for v in alone] == [[1.0, 2.0], 6.0]
    a.assign([0.0, 0.0])
    b.assign(0.0)
    tf.train.Checkpoint(a=a, b=b).restore(path)
    assert (parts(a), parts(b)) == ([[1.0, 2.0]] * 2, [3.0, 3.0])


@pytest.mark.parametrize("traced", [False, True])
def test_gradients_through_all_reduce(strategy, traced):
    def step():
        x = number_here() + 2.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.distribute.get_replica_context().all_reduce("SUM", x * x)
            loss = y * y
        return tape.gradient(loss, x)

    result = tf.function(lambda: strategy.run(step))() if traced else strategy.run(step)
    assert parts(result) == [208.0, 312.0]


def test_nested_functions_use_the_copy_of_their_replica(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    v.values[1].assign(10.0)
    inner = tf.function(lambda: v * 2.0)
    assert parts(strategy.run(lambda: inner())) == [2.0, 20.0]
    assert parts(tf.function(lambda: strategy.run(lambda: inner()))()) == [2.0, 20.0]


@pytest.mark.parametrize(("count", "size", "dropping", "batches"), [
    (7, 4, False, [[[0, 1], [2, 3]], [[4, 5], [6]]]),
    (7, 4, True, [[[0, 1], [2, 3]]]),
    (5, 4, False, [[[0, 1], [2, 3]], [[4], []]]),
    (5, 5, False, [[[0, 1, 2], [3, 4]]]),
])  # fmt: skip
def test_batches_are_spread(strategy, count, size, dropping, batches):
    dataset = tf.data.Dataset.range(count).batch(size, drop_remainder=dropping)
    spread = strategy.experimental_distribute_dataset(dataset)
    assert [parts(batch) for batch in spread] == batches

    @tf.function
    def total(batches):
        result = tf.constant(0, tf.int64)
        for batch in batches:
            result += strategy.reduce("SUM", batch, axis=0)
        return result

    assert total(spread).numpy() == sum(sum(sum(part) for part in batch) for batch in batches)


def test_errors(strategy):
    other = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with pytest.raises(RuntimeError, match="Mixing different"), strategy.scope(), other.scope():
        pass
    with pytest.raises(RuntimeError, match="cross-replica context"):
        strategy.run(lambda: strategy.run(lambda: 1))
    with pytest.raises(ValueError, match="cannot be reduced"):
        strategy.reduce("SUM", 1.0, axis=None)
    with pytest.raises(RuntimeError, match="nested `@tf.function`"):
        strategy.run(lambda: tf.function(lambda: tf.distribute.get_replica_context().all_reduce("SUM", 1.0))())
    assert not tf.distribute.has_strategy()


@pytest.mark.parametrize("count", [2, 4])
def test_same_weights_as_on_one_device(count):
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(16, 3)), generator.normal(size=(16, 1))
    start = [generator.normal(size=(3, 5)), generator.normal(size=(5, 1))]

    def trained(strategy):
        with strategy.scope():
            weights = [tf.Variable(w) for w in start]
            momenta = [tf.Variable(np.zeros_like(w)) for w in start]

        def step(x, y):
            with tf.GradientTape() as tape:
                errors = tf.square(tf.tanh(x @ weights[0]) @ weights[1] - y)
                loss = tf.nn.compute_average_loss(errors[:, 0], global_batch_size=16)
            grads = tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, weights))
            for weight, momentum, grad in zip(weights, momenta, grads):
                momentum.assign(0.9 * momentum - 0.1 * grad)
                weight.assign_add(momentum)

        run = tf.function(lambda batch: strategy.run(step, args=batch))
        for batch in strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(16)):
            for _ in range(20):
                run(batch)
        return [w.numpy() for w in weights]

    expected = trained(tf.distribute.OneDeviceStrategy("/CPU:0"))
    found = trained(tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(count)]))
    for a, b in zip(expected, found):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize(("call", "error", "says"), [
    (lambda s, pair: tf.convert_to_tensor(pair), ValueError, "each replica has its own.*strategy.reduce"),
    (lambda s, pair: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"]).run(abs, args=(pair,)), IndexError,
     "PerReplica of 2 replicas.*replica 2 has no part"),
    (lambda s, pair: s.reduce("SUM", pair, axis="a"), TypeError, "`axis` must be a whole number"),
    (lambda s, pair: tf.distribute.MirroredStrategy("CPU:0"), ValueError, r"Write \['CPU:0'\]"),
])  # fmt: skip
def test_what_errors_say(strategy, call, error, says):
    pair = strategy.run(number_here)
    with pytest.raises(error, match=says):
        call(strategy, pair)


def test_a_trace_for_all_copies_is_no_signature(strategy, tmp_path):
    with strategy.scope():
        v = tf.Variable([1.0], name="v")
    model = tf.Module()
    model.v = v
    model.add = tf.function(lambda x: v.assign_add(x) + 0.0)
    concrete = model.add.get_concrete_function(tf.TensorSpec([1]))
    with pytest.raises(ValueError, match="copies of v:0 on all replicas.*Give the tf.function as signature"):
        tf.saved_model.save(model, str(tmp_path), signatures=concrete)


def test_lists_of_numbers_have_axes(strategy):
    """TF: the same sum; it has no mean of them."""
    assert [strategy.reduce(op, [1.0, 2.0], axis=0).numpy() for op in ("SUM", "MEAN")] == [6.0, 1.5]


@pytest.mark.parametrize("traced", [False, True])
def test_copies_of_a_generator_go_on_together(strategy, traced):
    with strategy.scope():
        g = tf.random.Generator.from_seed(1)

    def between():
        return g.normal([2])

    (tf.function(between) if traced else between)()
    strategy.run(between)
    first, second = parts(g.state)
    assert first == second != tf.random.Generator.from_seed(1).state.numpy().tolist()
