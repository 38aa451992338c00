"""What each of two workers runs in `test_multi_worker.py`: a training, until one of them dies in a step.

Run as `headrace launch -n 2 worker_program.py FOLDER`. The chief leaves what it found in FOLDER.
"""

import json
import os
import sys

import numpy as np

import headrace as tf


def main(folder):
    """All of it."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy(
        communication_options=tf.distribute.experimental.CommunicationOptions(
            implementation=tf.distribute.experimental.CollectiveCommunication.RING
        )
    )
    rank = strategy.cluster_resolver.task_id
    found = {}

    def batches_of(dataset, policy="DATA"):
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy[policy]
        distributed = strategy.experimental_distribute_dataset(dataset.with_options(options))
        return [strategy.experimental_local_results(batch)[0].numpy().tolist() for batch in distributed]

    def numbers(count):
        return tf.data.Dataset.range(count)

    def of_both(value):
        """What both workers have, as a list."""
        text = strategy.gather(tf.constant([json.dumps(value)]), axis=0)
        return [json.loads(part) for part in text.numpy()]

    found["data"] = of_both(batches_of(numbers(9).batch(4)))
    found["odd"] = of_both(batches_of(numbers(10).batch(5)))
    found["fixed"] = of_both(batches_of(numbers(9).batch(4, drop_remainder=True)))
    found["off"] = of_both(batches_of(numbers(8).batch(4), "OFF"))
    files = [os.path.join(folder, f"{i}.txt") for i in range(3)]
    found["files"] = of_both(
        [[part.decode() for part in batch] for batch in batches_of(tf.data.TextLineDataset(files).batch(4), "FILE")]
    )
    uneven = strategy.distribute_datasets_from_function(
        lambda context: numbers(2 + 2 * context.input_pipeline_id).batch(1)
    )
    found["function"] = of_both([batch.numpy().tolist() for batch in uneven])

    # A training, compared with the whole batch on one device.

    generator = np.random.default_rng(0)
    inputs, targets = generator.integers(0, 7, (6, 8)), generator.normal(size=(6, 8, 1))
    start = {
        name: generator.normal(size=size) for name, size in {"table": (7, 3), "hidden": (3, 40), "out": (40, 1)}.items()
    }

    def trained(strategy, whole):
        with strategy.scope():
            # The other worker begins with the chief's values.
            weights = {name: tf.Variable(value + (0 if whole else rank)) for name, value in start.items()}
            momenta = {name: tf.Variable(np.zeros_like(value)) for name, value in start.items()}
            seen = tf.Variable(0, synchronization=tf.VariableSynchronization.ON_READ,
                               aggregation=tf.VariableAggregation.SUM)  # fmt: skip

        def step(x, y):
            with tf.GradientTape() as tape:
                hidden = tf.tanh(tf.gather(weights["table"], x) @ weights["hidden"])
                errors = tf.square(hidden @ weights["out"] - y)[:, 0]
                loss = tf.nn.compute_average_loss(errors, global_batch_size=8)
            grads = tape.gradient(loss, list(weights.values()))
            grads = tf.distribute.get_replica_context().all_reduce("SUM", grads)
            for weight, momentum, grad in zip(weights.values(), momenta.values(), grads):
                momentum.assign(0.9 * momentum - 0.01 * tf.convert_to_tensor(grad))
                weight.assign_add(momentum)
            seen.assign_add(tf.size(x))
            return loss

        @tf.function
        def distributed(x, y):
            return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

        dataset = tf.data.Dataset.from_tensor_slices((inputs.reshape(-1), targets.reshape(-1, 1))).batch(8)
        losses = []
        for _ in range(4):
            for x, y in strategy.experimental_distribute_dataset(dataset):
                losses.append(distributed(x, y).numpy().item())
        return {name: weight.numpy() for name, weight in weights.items()}, losses, int(seen.read_value()), weights

    expected, losses, seen, _ = trained(tf.distribute.OneDeviceStrategy("/CPU:0"), whole=True)
    weights, own_losses, own_seen, variables = trained(strategy, whole=False)
    worst = max(float(np.abs(weights[name] / expected[name] - 1).max()) for name in expected)
    found["worst"] = of_both(worst)
    found["losses"] = of_both(float(np.abs(np.array(own_losses) / losses - 1).max()))
    found["seen"] = of_both([seen, own_seen])

    # Gradients go through sums and gathers over workers, also in a loop of a graph.

    @tf.function
    def through(x):
        total = tf.zeros([])
        for _ in tf.range(3):
            total += tf.distribute.get_replica_context().all_reduce("SUM", tf.reduce_sum(x))
        with tf.GradientTape() as tape:
            tape.watch(x)
            gathered = tf.distribute.get_replica_context().all_gather(x * x, axis=0)
            loss = tf.reduce_sum(gathered * tf.range(1.0, 4.0)) + tf.distribute.get_replica_context().all_reduce(
                "MEAN", x[0]
            )
        return total, tape.gradient(loss, x)

    total, gradient = strategy.run(through, args=(tf.constant([1.0, 2.0] if rank else [3.0]),))
    found["through"] = of_both([float(total), gradient.numpy().tolist()])

    # Chief-only saving, then one dies in the middle of a step.

    checkpoint = tf.train.Checkpoint(**variables)
    path = checkpoint.save(
        os.path.join(folder, "chief" if strategy.extended.should_checkpoint else f"worker{rank}", "c")
    )
    strategy.extended._barrier()

    def last_step():
        if rank == 1:
            os._exit(9)
        return tf.distribute.get_replica_context().all_reduce("SUM", tf.ones([5000]))

    try:
        strategy.run(last_step)
    except tf.errors.UnavailableError as error:
        found["error"] = str(error)
    fresh = {name: tf.Variable(np.zeros_like(value)) for name, value in start.items()}
    tf.train.Checkpoint(**fresh).restore(path)
    found["restored"] = all(np.array_equal(fresh[name].numpy(), weights[name]) for name in fresh)
    with open(os.path.join(folder, "found.json"), "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[1])
