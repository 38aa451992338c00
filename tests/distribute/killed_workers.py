"""A training on several workers that goes on from its last checkpoint; `scripts/kills` kills its workers.

Run as `headrace launch -n 2 --restarts N killed_workers.py FOLDER STEPS`. The chief writes the last weights.
"""

import os
import sys

import numpy as np

import headrace as tf


def main(folder, steps):
    """Train for some steps, with a checkpoint after every second one."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rank = strategy.cluster_resolver.task_id or 0
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(16, 5)), generator.normal(size=(16, 1))
    with strategy.scope():
        weight = tf.Variable(generator.normal(size=(5, 1)))
        momentum = tf.Variable(np.zeros((5, 1)))
        done = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(weight=weight, momentum=momentum, done=done)
    path = os.path.join(folder, "checkpoints" if strategy.extended.should_checkpoint else f"worker{rank}")
    manager = tf.train.CheckpointManager(checkpoint, path, max_to_keep=2)
    # All read what the chief has written. A worker may look while another chief writes, but not here: all are new.
    checkpoint.restore(tf.train.latest_checkpoint(os.path.join(folder, "checkpoints")))

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(tf.square(x @ weight - y)[:, 0], global_batch_size=16)
        (grad,) = tf.distribute.get_replica_context().all_reduce("SUM", [tape.gradient(loss, weight)])
        momentum.assign(0.9 * momentum - 0.01 * grad)
        weight.assign_add(momentum)

    batch = next(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensors((x, y)))))
    run = tf.function(lambda: strategy.run(step, args=batch))
    with open(os.path.join(folder, f"worker{rank}.pid"), "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))  # from here on it may be killed
    while int(done) < steps:
        run()
        done.assign_add(1)
        if int(done) % 2 == 0:
            manager.save()
            strategy.extended._barrier()
    if rank == 0:
        np.save(os.path.join(folder, "weight.npy"), weight.numpy())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
