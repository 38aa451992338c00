"""TPUs, with stand-ins: what finds and starts them, and `TPUStrategy`."""

import pathlib
import sys

import numpy as np
import pytest

import headrace as tf
from headrace._src.devices import configuration

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "devices"))

import stand_in

RESOLVERS, TPU, Unimplemented = tf.distribute.cluster_resolver, tf.tpu.experimental, tf.errors.UnimplementedError
DEVICE = "/job:localhost/replica:0/task:0/device:TPU:{}"


@pytest.fixture
def tpus():
    configuration.forget_devices()
    with stand_in.offered(4, "TPU") as source:
        yield source
    configuration.forget_devices()


def test_a_program_for_tpus(tpus):
    """The lines that all of them begin with, and a step."""
    resolver = RESOLVERS.TPUClusterResolver(tpu="")
    tf.config.experimental_connect_to_cluster(resolver)
    TPU.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    assert len(tf.config.list_logical_devices("TPU")) == strategy.num_replicas_in_sync == 4
    assert strategy.extended.worker_devices == tuple(DEVICE.format(i) for i in range(4))
    assert strategy.cluster_resolver is resolver
    with strategy.scope():
        w = tf.Variable(np.ones([3], "f4"))
    batches = tf.data.Dataset.from_tensors(np.arange(24, dtype="f4").reshape(8, 3)).unbatch().batch(8).repeat()
    batches = iter(strategy.experimental_distribute_dataset(batches))

    @tf.function
    def train(batch):
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.linalg.matvec(x, w))) / 8.0
            (gradient,) = tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, [w]))
            w.assign_sub(1e-4 * gradient)
            return loss

        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(step, args=(batch,)), axis=None)

    losses = [float(train(next(batches))) for _ in range(3)]
    x, expected, weight = np.arange(24, dtype="f4").reshape(8, 3), [], np.ones(3, "f4")
    for _ in range(3):
        expected.append(np.sum((x @ weight) ** 2) / 8)
        weight = weight - 1e-4 * 2 * x.T @ (x @ weight) / 8
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    np.testing.assert_allclose(w.numpy(), weight, rtol=1e-5)
    assert [copy.device for copy in w.values] == [DEVICE.format(i) for i in range(4)]
    assert "one program over 4 devices" in str(train.explain(next(batches)))


def test_what_is_known_of_them(tpus):
    resolver = RESOLVERS.TPUClusterResolver.connect("local")
    assert resolver.num_accelerators() == {"TPU": 4}
    assert resolver.cluster_spec().as_dict() == {}
    metadata = resolver.get_tpu_system_metadata()
    assert (metadata.num_cores, metadata.num_hosts, metadata.num_of_cores_per_host) == (4, 1, 4)
    topology = TPU.initialize_tpu_system()
    assert (topology.num_tasks, topology.num_tpus_per_task, topology.mesh_rank) == (1, 4, 4)
    assert topology.mesh_shape.tolist() == [4, 1, 1, 1]
    TPU.shutdown_tpu_system(resolver)


def test_some_of_the_cores(tpus):
    topology = TPU.initialize_tpu_system()
    assigned = TPU.DeviceAssignment.build(topology, num_replicas=2)
    strategy = tf.distribute.TPUStrategy(experimental_device_assignment=assigned)
    assert strategy.extended.worker_devices == (DEVICE.format(0), DEVICE.format(1))
    last = TPU.DeviceAssignment(topology, topology.device_coordinates[:, 3:].reshape(1, 1, 4))
    assert (last.tpu_ordinal(0), last.tpu_device(0)) == (3, "/task:0/device:TPU:3")
    assert tf.distribute.experimental.TPUStrategy(device_assignment=last).num_replicas_in_sync == 1


@pytest.mark.parametrize(("act", "kind", "said"), [
    (lambda t: TPU.DeviceAssignment.build(t, num_replicas=5), ValueError, "5 replicas"),
    (lambda t: TPU.DeviceAssignment.build(t, [1, 1, 1, 2]), Unimplemented, "one core"),
    (lambda t: TPU.DeviceAssignment(t, np.zeros([1, 2, 4])), Unimplemented, "2 cores"),
    (lambda t: TPU.DeviceAssignment(t, [[0, 0, 0, 0]]), ValueError, "core_assignment"),
    (lambda t: t.tpu_device_name_at_coordinates([9, 0, 0, 0]), ValueError, "no core at"),
    (lambda t: TPU.Topology(mesh_shape=[1], device_coordinates=[[[1]]]), ValueError, "outside"),
    (lambda t: TPU.Topology(mesh_shape=[1, 1], device_coordinates=[[[1]]]), ValueError, "axes"),
    (lambda t: TPU.Topology(b"bytes"), ValueError, "serialized"),
    (lambda t: tf.distribute.TPUStrategy(experimental_spmd_xla_partitioning=True), Unimplemented, "spmd"),
    (lambda t: RESOLVERS.TPUClusterResolver("grpc://10.0.0.2:8470"), ValueError, "grpc://10.0.0.2:8470"),
])  # fmt: skip
def test_what_cannot_be(tpus, act, kind, said):
    with pytest.raises(kind, match=said):
        act(TPU.initialize_tpu_system())


@pytest.mark.parametrize(("act", "kind"), [
    (lambda: RESOLVERS.TPUClusterResolver(), ValueError),  # which programs catch, and go on
    (lambda: RESOLVERS.TPUClusterResolver.connect(), ValueError),
    (lambda: TPU.initialize_tpu_system(), tf.errors.NotFoundError),
    (lambda: TPU.shutdown_tpu_system(), tf.errors.NotFoundError),
    (lambda: tf.distribute.TPUStrategy(), tf.errors.NotFoundError),
])  # fmt: skip
def test_without_any(act, kind):
    with pytest.raises(kind, match=r"no TPU.*MirroredStrategy"):
        act()


@pytest.mark.parametrize(("act", "kind"), [
    (lambda: tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"worker": ["a.example:1"]})),
     tf.errors.UnimplementedError),
    (lambda: tf.config.experimental_connect_to_cluster("a.example:1"), ValueError),
    (lambda: tf.config.experimental_connect_to_host("a.example:1"), tf.errors.UnimplementedError),
    (lambda: tf.config.experimental_connect_to_host(), ValueError),
])  # fmt: skip
def test_devices_of_other_machines(act, kind):
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"worker": ["a.example:1"]}), "worker", 0)  # itself
    with pytest.raises(kind):
        act()
