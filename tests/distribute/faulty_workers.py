"""Workers of which some do something wrong; `test_faults.py` reads what the others say.

Run as `headrace launch -n 3 faulty_workers.py FOLDER differing`, or with 2 workers and `leaving`. Each worker leaves
the errors that it got in FOLDER.
"""

import json
import os
import sys

import headrace as tf


def main(folder, how):
    """Go through faults, that which nobody survives at the end."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy(
        communication_options=tf.distribute.experimental.CommunicationOptions(timeout_seconds=60)
    )
    rank = strategy.cluster_resolver.task_id
    found = {}

    def note(name, function):
        try:
            found[name] = ["nothing", str(function())]
        except tf.errors.OpError as error:
            found[name] = [type(error).__name__, error.message]
        with open(os.path.join(folder, f"{rank}.json"), "w", encoding="utf-8") as file:
            json.dump(found, file)

    def summed(value):
        return strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("SUM", value))

    if how == "leaving":
        if rank == 0:
            note("fewer steps", lambda: summed(tf.constant(1.0)))
        return  # the other one takes no step at all
    note("shapes", lambda: summed(tf.ones([2 + rank])))
    note("dtypes", lambda: summed(tf.ones([2], tf.float64 if rank == 1 else tf.float32)))
    note("programs", lambda: strategy.gather(tf.ones([1]), 0) if rank == 2 else summed(tf.ones([1])))
    different = tf.data.Dataset.from_tensors(tf.zeros([6, 2 if rank else 3]))
    note("elements", lambda: next(iter(strategy.experimental_distribute_dataset(different))))
    note("after all", lambda: summed(tf.constant(1.0)).numpy())
    if rank == 0:
        os._exit(7)
    note("no chief", lambda: strategy.extended._barrier())


if __name__ == "__main__":
    main(*sys.argv[1:])
