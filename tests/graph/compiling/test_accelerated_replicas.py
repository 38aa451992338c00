"""Replicas of a strategy on several accelerators, with stand-ins: one program over them, and what is moved."""

import pathlib
import sys

import numpy as np
import pytest

import headrace as tf
from headrace._src.core import accelerators
from headrace._src.graph.compiling import replicated

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "devices"))

import accelerator_runs
import stand_in

DEVICE = "/job:localhost/replica:0/task:0/device:{}:{}"
RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((32, 8)).astype("f4"), RNG.standard_normal(32).astype("f4")


class Training:
    """A step with a tape, momentum, a metric that is combined when read, and a counter."""

    def __init__(self, strategy, dropout=0.0):
        rng = np.random.default_rng(1)
        self.strategy, self.dropout = strategy, dropout
        with strategy.scope():
            shapes = (8, 16), (16,), (16, 1)
            self.weights = [tf.Variable(0.1 * rng.standard_normal(shape).astype("f4")) for shape in shapes]
            self.moments = [tf.Variable(tf.zeros_like(w)) for w in self.weights]
            first = tf.VariableAggregation.ONLY_FIRST_REPLICA
            self.count = tf.Variable(0, dtype=tf.int64, aggregation=first)
            self.total = tf.Variable(
                0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM
            )
        self.step = tf.function(lambda x, y: strategy.reduce("SUM", strategy.run(self._step, (x, y)), axis=None))

    @property
    def variables(self):
        return [*self.weights, *self.moments, self.count, self.total]

    def batches(self, x=X, y=Y, size=None):
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(size or len(x))
        return list(self.strategy.experimental_distribute_dataset(dataset))

    def _step(self, x, y):
        a, b, c = self.weights
        with tf.GradientTape() as tape:
            h = tf.nn.relu(x @ a + b)
            h = tf.nn.dropout(h, self.dropout) if self.dropout else h
            errors = tf.square(tf.squeeze(h @ c, -1) - y)
            loss = tf.nn.compute_average_loss(errors, global_batch_size=len(X))
        gradients = tape.gradient(loss, self.weights)
        gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
        for w, g, m in zip(self.weights, gradients, self.moments):
            m.assign(0.9 * m + g)
            w.assign_sub(0.05 * m)
        self.count.assign_add(1)
        self.total.assign_add(loss)
        return loss


def trained(strategy, steps=4, **options):
    tf.random.set_seed(5)
    training = Training(strategy, **options)
    batch = training.batches()[0]
    losses = [float(training.step(*batch)) for _ in range(steps)]
    return [losses, *(v.numpy() for v in training.variables)]


@pytest.mark.parametrize(("kind", "count"), [("GPU", 2), ("TPU", 3)])
def test_a_training_loop_moves_only_its_inputs(kind, count):
    rows = 8 * count
    with stand_in.offered(count, kind) as source:
        devices = [DEVICE.format(kind, i) for i in range(count)]
        training = Training(tf.distribute.MirroredStrategy(devices), dropout=0.25)
        (batch,) = training.batches(X[:rows], Y[:rows])
        training.step(*batch)
        transfers = source.transfers
        transfers.forget()
        losses = [training.step(*batch) for _ in range(3)]
        # Each replica's part of the batch, and where its random numbers begin. The losses meet on the first device.
        assert transfers.there == ([8 * 32] * count + [8 * 4] * count + [24] * count) * 3
        assert transfers.between == [4] * (count - 1) * 3
        assert transfers.back == []
        assert transfers.programs == 2 * 3  # that of all replicas, and the sum
        # Each copy of a variable is changed in its memory.
        assert transfers.donated == transfers.reused == 3 * count * len(training.variables)
        assert [loss.device for loss in losses] == devices[:1] * 3
        assert [copy.device for copy in training.weights[0].values] == devices
        weights = [copy.numpy() for copy in training.weights[0].values]
        assert transfers.back == [weights[0].nbytes] * count
        assert all(np.array_equal(weights[0], copy) for copy in weights)
        assert int(training.count) == 4
        assert f"one program over {count} devices" in str(training.step.explain(*batch))


@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_a_training_is_the_same_as_on_the_host(dropout):
    def strategy():
        return tf.distribute.MirroredStrategy([f"{kind}:0", f"{kind}:1"])

    kind = "CPU"
    expected = trained(strategy(), dropout=dropout)
    with stand_in.offered():
        kind = "GPU"
        found = trained(strategy(), dropout=dropout)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_a_last_batch_that_is_short_runs_on_one_device():
    def losses(devices):
        training = Training(tf.distribute.MirroredStrategy(devices))
        batches = training.batches(X[:21], Y[:21], 8)
        found = [float(training.step(*batch)) for batch in [*batches, *batches]]
        return [*found, training.weights[0].numpy(), training.weights[0].values[1].numpy()]

    expected = losses(["CPU:0", "CPU:1"])
    with stand_in.offered():
        found = losses(["GPU:0", "GPU:1"])
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_results_that_differ_between_replicas():
    with stand_in.offered(3, "TPU"):
        strategy = tf.distribute.MirroredStrategy([f"TPU:{i}" for i in range(3)])

        @tf.function
        def numbers():
            def replica():
                number = tf.distribute.get_replica_context().replica_id_in_sync_group
                return number, tf.fill([2], number), tf.cast(number, tf.float32) / 2.0

            return strategy.run(replica)

        for _ in range(2):
            number, pair, half = numbers()
            assert [int(n) for n in number.values] == [0, 1, 2]
            assert [x.numpy().tolist() for x in pair.values] == [[0, 0], [1, 1], [2, 2]]
            assert [float(x) for x in half.values] == [0.0, 0.5, 1.0]


def test_small_sums_that_follow_each_other_are_one():
    shapes = [(), (3,), (2, 2), (200, 100), (5, 1)]
    with stand_in.offered():
        strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])

        @tf.function
        def sums():
            def replica():
                context = tf.distribute.get_replica_context()
                number = tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.0
                values = [number * (i + tf.ones(shape)) for i, shape in enumerate(shapes)]
                found = context.all_reduce("SUM", [*values, tf.cast(values[1], tf.int32)])
                return [*found, context.all_reduce("SUM", found[0])]  # and one of a sum

            return strategy.run(replica)

        results = [strategy.experimental_local_results(x)[1].numpy() for x in sums()]
        for i, shape in enumerate(shapes):
            np.testing.assert_array_equal(results[i], np.full(shape, 3.0 * (i + 1), "f4"))
        np.testing.assert_array_equal(results[5], np.full(3, 6, "i4"))
        assert float(results[6]) == 6.0
        floats = [size for kind, size in replicated.exchanges[-1].collectives if kind == "all-reduce"]
        assert sum(floats) == 4 * (sum(int(np.prod(shape)) for shape in shapes) + 3 + 1)


def test_what_replicas_have_in_common_goes_there_once():
    with stand_in.offered() as source:
        strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
        plain, captured = tf.Variable(np.ones(300, "f4")), tf.constant(np.ones(200, "f4"))
        with strategy.scope():
            mirrored = tf.Variable(np.ones(100, "f4"))

        @tf.function
        def evaluate(x):
            def replica(x):
                return x + tf.reduce_sum(plain) + tf.reduce_sum(captured) + tf.reduce_sum(mirrored)

            return strategy.run(replica, (x,))

        values = strategy.experimental_distribute_values_from_function(lambda _: tf.constant(1.0))
        assert [float(x) for x in evaluate(values).values] == [601.0, 601.0]
        source.transfers.forget()
        assert [float(x) for x in evaluate(values).values] == [601.0, 601.0]
        assert sum(source.transfers.there) <= 8  # the values themselves, if they are not there yet
        assert source.transfers.between == []
        plain.assign_add(np.ones(300, "f4"))  # the next call sees it
        assert [float(x) for x in evaluate(values).values] == [901.0, 901.0]


def test_a_failed_check_is_the_ops_own_error_and_changes_nothing():
    with stand_in.offered():
        strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
        with strategy.scope():
            v = tf.Variable([1.0, 2.0, 3.0])

        @tf.function
        def step(i):
            def replica(i):
                v.assign_add([1.0, 1.0, 1.0])
                return tf.gather(v, i)

            return strategy.run(replica, (i,))

        def indices(*numbers):
            return strategy.experimental_distribute_values_from_function(
                lambda context: tf.constant([numbers[context.replica_id_in_sync_group]])
            )

        assert [x.numpy().tolist() for x in step(indices(0, 2)).values] == [[2.0], [4.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"7 is not in \[0, 3\)"):
            step(indices(0, 7))


def test_where_they_cannot_be_one_program():
    with stand_in.offered(1):
        accelerators.split(accelerators.physical()[0], [None, None])
        accelerators.logical()
        strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
        step = tf.function(lambda x: strategy.run(lambda x: x + 1.0, (x,)))
        values = strategy.experimental_distribute_values_from_function(lambda _: tf.constant([1.0]))
        assert [x.numpy().tolist() for x in step(values).values] == [[2.0], [2.0]]
        assert "logical devices of one accelerator" in str(step.explain(values))


def test_functions_of_one_device_use_the_variables_of_replicas():
    with stand_in.offered() as source:
        training = Training(tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"]))
        (batch,) = training.batches()
        training.step(*batch)
        norm = tf.function(lambda: tf.reduce_sum(tf.square(training.weights[0])))
        before = float(norm())
        source.transfers.forget()
        training.step(*batch)
        assert float(norm()) != before
        assert source.transfers.back == [4]  # the number that was asked for


@pytest.mark.slow
def test_trainings_of_the_script():
    some, lines = accelerator_runs.small_trainings.TRAININGS, []
    with stand_in.offered():
        outcome = accelerator_runs.run_replicas(["GPU:0", "GPU:1"], 2, lines.append, [some[3], some[6]])
    assert (outcome.same, lines) == (2, [])
