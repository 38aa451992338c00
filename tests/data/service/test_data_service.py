"""The data service: dispatchers and workers in this program and in others, and who reads from them."""

import collections
import gc
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import headrace as tf
from headrace._src.data.datasets import dataset_of
from headrace._src.data.running.stages import dataset_tensor
from headrace._src.data.saving import dataset_graphs

service = tf.data.experimental.service
Dataset = tf.data.Dataset
SECONDS = 300  # nothing takes so long, on the busiest machine


class Cluster:
    """A dispatcher and some workers in this program."""

    def __init__(self, workers=2, **config):
        self.dispatcher = service.DispatchServer(service.DispatcherConfig(**config))
        self.workers = [self.add() for _ in range(workers)]

    def add(self):
        return service.WorkerServer(service.WorkerConfig(self.address, heartbeat_interval_ms=50))

    @property
    def address(self):
        return self.dispatcher.target.partition("://")[2]

    def read(self, dataset, mode="parallel_epochs", **arguments):
        return dataset.apply(service.distribute(mode, self.dispatcher.target, **arguments))

    def stop(self):
        for worker in self.workers:
            worker.stop()
        self.dispatcher.stop()


@pytest.fixture
def cluster():
    cluster = Cluster()
    yield cluster
    cluster.stop()


def numbers(dataset):
    return [int(x) for x in dataset]


def test_every_worker_makes_all_elements(cluster):
    dataset = cluster.read(Dataset.range(5).map(lambda x: x * x))
    assert sorted(numbers(dataset)) == sorted(2 * [0, 1, 4, 9, 16])
    assert dataset.element_spec == tf.TensorSpec([], tf.int64)
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    assert repr(dataset) == "<_DataServiceDatasetV2 element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>"
    assert cluster.dispatcher._num_workers() == 2


def test_every_element_is_made_by_one_worker(cluster):
    assert sorted(numbers(cluster.read(Dataset.range(50), "distributed_epoch"))) == list(range(50))
    dataset = Dataset.range(10).shuffle(10, seed=1).repeat(2).batch(3)
    found = collections.Counter(int(x) for batch in cluster.read(dataset, "distributed_epoch") for x in batch)
    assert found == dict.fromkeys(range(10), 2)
    dataset = Dataset.zip((Dataset.range(9), Dataset.range(9)))
    pairs = [(int(a), int(b)) for a, b in cluster.read(dataset, service.ShardingPolicy.DYNAMIC)]
    assert sorted(a for a, _ in pairs) == sorted(b for _, b in pairs) == list(range(9))
    dataset = Dataset.range(3).concatenate(Dataset.range(10, 14)).flat_map(lambda x: Dataset.from_tensors(x).repeat(2))
    assert sorted(numbers(cluster.read(dataset, "distributed_epoch"))) == sorted(2 * [0, 1, 2, 10, 11, 12, 13])


def test_many_elements_are_given_out_in_pieces(cluster):
    assert sorted(numbers(cluster.read(Dataset.range(5000), "distributed_epoch"))) == list(range(5000))


def test_files_and_generators_are_divided_as_a_whole(cluster, tmp_path):
    paths = []
    for n in range(5):
        paths.append(str(tmp_path / str(n)))
        with tf.io.TFRecordWriter(paths[-1]) as writer:
            for i in range(n + 1):
                writer.write(b"%d %d" % (n, i))
    expected = sorted(x.numpy() for x in tf.data.TFRecordDataset(paths))
    assert sorted(x.numpy() for x in cluster.read(tf.data.TFRecordDataset(paths), "distributed_epoch")) == expected
    names = Dataset.from_tensor_slices(paths).interleave(tf.data.TFRecordDataset, cycle_length=2)
    assert sorted(x.numpy() for x in cluster.read(names, "distributed_epoch")) == expected
    dataset = Dataset.from_generator(lambda: iter([1, 2, 3]), output_signature=tf.TensorSpec([], tf.int64))
    assert sorted(numbers(cluster.read(dataset, "distributed_epoch"))) == [1, 2, 3]


def test_structures_and_composites(cluster):
    ragged = tf.ragged.constant([[1], [2, 3], []])
    dataset = Dataset.from_tensor_slices({"r": ragged, "s": np.array([b"a", b"b", b"c"]), "t": (np.arange(3.0),)})
    found = sorted(cluster.read(dataset, "distributed_epoch"), key=lambda x: x["s"].numpy())
    assert [x["r"].numpy().tolist() for x in found] == [[1], [2, 3], []]
    assert [float(x["t"][0]) for x in found] == [0.0, 1.0, 2.0]
    sparse = Dataset.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0]]))
    assert sorted(tf.sparse.to_dense(x).numpy().tolist() for x in cluster.read(sparse, "distributed_epoch")) == [
        [0, 1], [2, 0],
    ]  # fmt: skip


def test_what_belongs_to_this_program_works_in_it(cluster):
    variable = tf.Variable(5, dtype=tf.int64)
    dataset = Dataset.range(3).map(lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64) + variable)
    assert sorted(numbers(cluster.read(dataset, "distributed_epoch"))) == [6, 7, 8]


def test_workers_are_known_by_name():
    cluster = Cluster(0, worker_addresses=["one", "other"])
    cluster.workers = [service.WorkerServer(service.WorkerConfig(cluster.address, worker_address="other:%port%"))]
    assert numbers(cluster.read(Dataset.range(6), service.ShardingPolicy.DATA)) == [1, 3, 5]
    cluster.stop()


def static_cluster(count):
    """Workers whose addresses are in the list of the dispatcher, in another order."""
    cluster = Cluster(count, worker_addresses=["nobody"])
    # A port that is free now could be taken when a worker asks for it: so the list is made afterwards.
    cluster.dispatcher._server._worker_names[:] = [worker._address for worker in reversed(cluster.workers)]
    return cluster


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
        with pytest.raises(tf.errors.UnavailableError, match=f"cannot listen on port {port}"):
            service.DispatchServer(service.DispatcherConfig(port=port))


def test_static_policies(tmp_path):
    cluster = static_cluster(3)
    paths = []
    for n in range(4):
        (tmp_path / str(n)).write_text(f"{n}a\n{n}b\n")
        paths.append(str(tmp_path / str(n)))
    policy = service.ShardingPolicy
    try:
        assert sorted(numbers(cluster.read(Dataset.range(10), policy.DATA))) == list(range(10))
        lines = sorted(x.numpy() for x in tf.data.TextLineDataset(paths))
        for one in (policy.FILE, policy.FILE_OR_DATA, policy.DATA):
            assert sorted(x.numpy() for x in cluster.read(tf.data.TextLineDataset(paths), one)) == lines
        assert sorted(numbers(cluster.read(Dataset.range(7), policy.FILE_OR_DATA))) == list(range(7))
        hint = tf.data.experimental.SHARD_HINT
        dataset = Dataset.range(10).shard(hint, hint).map(lambda x: x * 10)
        assert sorted(numbers(cluster.read(dataset, policy.HINT))) == [10 * i for i in range(10)]
        with pytest.raises(tf.errors.InvalidArgumentError, match="must read files"):
            numbers(cluster.read(Dataset.range(10), policy.FILE))
        with pytest.raises(tf.errors.InvalidArgumentError, match="SHARD_HINT"):
            numbers(cluster.read(Dataset.range(10), policy.HINT))
        with pytest.raises(tf.errors.FailedPreconditionError, match="SHARD_HINT"):
            numbers(dataset)
    finally:
        cluster.stop()


def test_static_policies_need_the_workers(cluster):
    with pytest.raises(tf.errors.NotFoundError, match="is not in the workers list"):
        numbers(cluster.read(Dataset.range(10), service.ShardingPolicy.DATA))


def test_readers_of_a_job_share_its_elements(cluster):
    one = cluster.read(Dataset.range(40), "distributed_epoch", job_name="shared")
    two = cluster.read(Dataset.range(40), "distributed_epoch", job_name="shared")
    first, second = iter(one), iter(two)
    found = [int(next(first)), int(next(second))]
    found += numbers(first) + numbers(second)
    assert sorted(found) == list(range(40))
    # A further walk through the same dataset is another one.
    assert sorted(numbers(one)) == list(range(40))
    with pytest.raises(tf.errors.InvalidArgumentError, match="other parameters"):
        numbers(cluster.read(Dataset.range(40), "parallel_epochs", job_name="shared"))


def test_readers_in_several_threads(cluster):
    found, failures = [], []

    def read():
        try:
            found.extend(numbers(cluster.read(Dataset.range(200), "distributed_epoch", job_name="threads")))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(found) == list(range(200))


def test_consumers_take_turns(cluster):
    dataset = Dataset.range(100).repeat()
    first, second = (
        iter(cluster.read(dataset, job_name="turns", consumer_index=i, num_consumers=2)) for i in range(2)
    )
    found = [(int(next(first)), int(next(second))) for _ in range(6)]
    assert found == [(0, 1), (0, 1), (2, 3), (2, 3), (4, 5), (4, 5)]
    with pytest.raises(tf.errors.FailedPreconditionError, match="infinite cardinality"):
        numbers(cluster.read(Dataset.range(9), job_name="finite", consumer_index=0, num_consumers=1))


def test_trainers_share_what_was_made():
    cluster = Cluster(1)
    try:
        calls = []

        def noted(x):
            calls.append(int(x))
            return x

        dataset = Dataset.range(100).repeat().map(lambda x: tf.py_function(noted, [x], tf.int64))
        cached = [
            cluster.read(dataset, job_name="cache", cross_trainer_cache=service.CrossTrainerCache(name))
            for name in ("one", "two")
        ]
        assert numbers(cached[0].take(5)) == numbers(cached[1].take(5)) == [0, 1, 2, 3, 4]
        noted_so_far = list(calls)  # readers ask for a few elements ahead, also now
        assert sorted(set(noted_so_far)) == sorted(noted_so_far)
        with pytest.raises(tf.errors.InvalidArgumentError, match="to be infinite"):
            numbers(
                cluster.read(Dataset.range(3), job_name="c", cross_trainer_cache=service.CrossTrainerCache("a"))
            )
        with pytest.raises(tf.errors.InvalidArgumentError, match="named jobs"):
            numbers(cluster.read(dataset, cross_trainer_cache=service.CrossTrainerCache("a")))
        with pytest.raises(ValueError, match="non-empty"):
            service.CrossTrainerCache("")
    finally:
        cluster.stop()


def test_registered_datasets(cluster):
    target = cluster.dispatcher.target
    number = service.register_dataset(target, Dataset.range(5).map(lambda x: {"a": x * 2}))
    assert number.dtype == tf.string
    dataset = service.from_dataset_id("distributed_epoch", target, number)
    assert dataset.element_spec == {"a": tf.TensorSpec([], tf.int64)}
    assert sorted(int(x["a"]) for x in dataset) == [0, 2, 4, 6, 8]
    assert service.register_dataset(target, Dataset.range(3), dataset_id="mine").numpy() == b"mine"
    assert sorted(numbers(service.from_dataset_id("distributed_epoch", target, "mine"))) == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="same structure"):
        service.register_dataset(target, Dataset.range(3).batch(2), dataset_id="mine")
    with pytest.raises(tf.errors.NotFoundError, match="nobody"):
        service.from_dataset_id("distributed_epoch", target, "nobody")


def test_errors_reach_the_reader_and_the_rest_goes_on():
    cluster = Cluster(1)
    try:
        dataset = Dataset.range(4).map(lambda x: tf.debugging.check_numerics(1.0 / (tf.cast(x, tf.float32) - 2.0), "x"))
        iterator = iter(cluster.read(dataset))
        assert [float(next(iterator)) for _ in range(2)] == [-0.5, -1.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)from worker localhost.*Dataset\.map.*element 2"):
            next(iterator)
        assert [float(x) for x in iterator] == [1.0]
        found = cluster.read(dataset).ignore_errors()
        assert [float(x) for x in found] == [-0.5, -1.0, 1.0]
    finally:
        cluster.stop()


def test_workers_that_come_later_take_part():
    cluster = Cluster(0)
    iterator = iter(cluster.read(Dataset.range(6).repeat()))
    timer = threading.Timer(0.2, lambda: cluster.workers.append(cluster.add()))
    timer.start()
    assert int(next(iterator)) == 0  # it waits for a worker
    timer.join()
    cluster.workers.append(cluster.add())
    until = time.monotonic() + SECONDS
    while cluster.workers[1]._num_tasks() == 0 and time.monotonic() < until:
        next(iterator)
    assert cluster.workers[1]._num_tasks() == 1
    del iterator
    cluster.stop()


def test_what_is_not_read_any_more_is_forgotten(cluster):
    iterator = iter(cluster.read(Dataset.range(10).repeat()))
    for _ in range(4):
        next(iterator)
    assert sum(worker._num_tasks() for worker in cluster.workers) >= 1
    del iterator
    gc.collect()
    until = time.monotonic() + SECONDS
    while any(worker._num_tasks() for worker in cluster.workers) and time.monotonic() < until:
        time.sleep(0.02)
    assert [worker._num_tasks() for worker in cluster.workers] == [0, 0]


def quiet_worker(cluster):
    """A worker that the dispatcher hears of only when the test says so."""
    cluster.workers.append(service.WorkerServer(service.WorkerConfig(cluster.address, heartbeat_interval_ms=10**8)))
    return cluster.workers[-1]._server


def test_a_walk_that_begins_during_a_heartbeat_goes_on(monkeypatch):
    cluster = Cluster(0)
    worker = quiet_worker(cluster)
    iterator = iter(cluster.read(Dataset.range(9)))
    ask = worker._dispatcher.call
    found = []

    def begin_after(kind, **fields):
        answer = ask(kind, **fields)
        if kind == "worker":
            found.append(int(next(iterator)))
        return answer

    monkeypatch.setattr(worker._dispatcher, "call", begin_after)
    worker.beat()
    assert worker.task_count == 1
    assert found + numbers(iterator) == list(range(9))
    cluster.stop()


def test_a_worker_that_has_ended_is_not_heard_of_again():
    cluster = Cluster(0)
    worker = quiet_worker(cluster)
    assert cluster.dispatcher._num_workers() == 1
    worker.stop()
    worker.beat()
    assert cluster.dispatcher._num_workers() == 0
    cluster.stop()


def test_servers_begin_and_end():
    dispatcher = service.DispatchServer(start=False)
    assert dispatcher.target == "grpc://localhost:0"
    dispatcher.start()
    dispatcher.start()
    target = dispatcher.target
    worker = service.WorkerServer(service.WorkerConfig(target.partition("://")[2]))
    assert sorted(numbers(Dataset.range(3).apply(service.distribute("parallel_epochs", target)))) == [0, 1, 2]
    worker.stop()
    worker.join()
    assert dispatcher._num_workers() == 0
    dispatcher.stop()
    dispatcher.join()
    with pytest.raises(tf.errors.UnavailableError, match="cannot be reached"):
        Dataset.range(3).apply(service.distribute("parallel_epochs", target))
    with pytest.raises(tf.errors.UnavailableError, match="cannot be reached"):
        service.WorkerServer(service.WorkerConfig(target.partition("://")[2], dispatcher_timeout_ms=100))
    # They end as well when nobody has them any more.
    dispatcher = service.DispatchServer()
    port = int(dispatcher.target.rpartition(":")[2])
    del dispatcher
    gc.collect()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()


def test_arguments():
    dispatcher = service.DispatchServer()
    target = dispatcher.target
    for mode in ("all", 3, None):
        with pytest.raises(ValueError, match="processing mode"):
            service.distribute(mode, target)
    for arguments, text in (
        (dict(job_name=3), "must be a string"), (dict(job_name=""), "must not be empty"),
        (dict(compression="zip"), "compression"), (dict(target_workers="some"), "target_workers"),
        (dict(consumer_index=1), "num_consumers"), (dict(consumer_index=1, num_consumers=2), "job_name"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            service.distribute("parallel_epochs", target, **arguments)
    for bad in ("nonsense", "grpc://", 3):
        with pytest.raises(ValueError, match="service"):
            service.distribute("parallel_epochs", bad)
    with pytest.raises(ValueError, match="work dir"):
        service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True))
    with pytest.raises(tf.errors.UnimplementedError, match="of this machine"):
        service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True, work_dir="gs://bucket/folder"))
    with pytest.raises(RuntimeError, match="protocol"):
        service.DispatchServer(service.DispatcherConfig(protocol="http"))
    with pytest.raises(ValueError, match="dispatcher_address"):
        service.WorkerServer(service.WorkerConfig(None))
    with pytest.raises(TypeError, match="expected a tf.data.Dataset"):
        service.distribute("parallel_epochs", target)(3)
    assert service.WorkerConfig("a")._asdict()["protocol"] == "grpc"
    dispatcher.stop()


# Between programs.


PROGRAM = """
    import sys
    import headrace as tf
    service = tf.data.experimental.service
    if sys.argv[1] == "dispatcher":
        server = service.DispatchServer()
        print(server.target, flush=True)
    else:
        server = service.WorkerServer(service.WorkerConfig(sys.argv[2]))
        print(server._address, flush=True)
    sys.stdin.read()
    server.stop()
"""


class Program:
    """A dispatcher or worker that is another program."""

    def __init__(self, *arguments):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([p for p in sys.path if p])}
        self._process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(PROGRAM), *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=environment, text=True,
        )  # fmt: skip
        self.address = self._process.stdout.readline().strip()

    def kill(self):
        self._process.kill()

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@pytest.mark.slow
def test_other_programs():
    dispatcher = Program("dispatcher")
    address = dispatcher.address.partition("://")[2]
    workers = [Program("worker", address) for _ in range(2)]
    try:
        dataset = Dataset.from_tensor_slices({"x": np.arange(30.0), "s": [b"%d" % i for i in range(30)]})
        scale = tf.constant(3.0)
        dataset = dataset.map(lambda e: {"x": e["x"] * tf.cast(scale, tf.float64), "s": e["s"] + "!"}).batch(4)
        found = list(dataset.apply(service.distribute("distributed_epoch", dispatcher.address)))
        assert sorted(float(v) for batch in found for v in batch["x"]) == [3.0 * i for i in range(30)]
        assert sorted(v for batch in found for v in batch["s"].numpy()) == sorted(b"%d!" % i for i in range(30))
        # Elements larger than a message part, and ragged ones.
        large = Dataset.range(3).map(lambda x: tf.fill([600_000], x))
        found = large.apply(service.distribute("distributed_epoch", dispatcher.address))
        assert sorted(int(x[-1]) for x in found) == [0, 1, 2]
        ragged = Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]]))
        number = service.register_dataset(dispatcher.address, ragged)
        read = service.from_dataset_id("distributed_epoch", dispatcher.address, number)
        assert read.element_spec == ragged.element_spec
        assert sorted(x.numpy().tolist() for x in read) == [[1], [2, 3]]
        # Errors.
        bad = Dataset.range(3).map(lambda x: 6 // (x - 1)).apply(
            service.distribute("distributed_epoch", dispatcher.address)
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)from worker localhost.*Dataset\.map"):
            list(bad)
        with pytest.raises(tf.errors.UnimplementedError, match="calls Python functions"):
            Dataset.range(3).map(lambda x: tf.py_function(lambda v: v, [x], tf.int64)).apply(
                service.distribute("parallel_epochs", dispatcher.address)
            )
        # Nobody of this program takes part.
        local = Dataset.range(3).apply(
            service.distribute("parallel_epochs", dispatcher.address, target_workers="LOCAL")
        )
        mine = service.WorkerServer(service.WorkerConfig(address))
        assert numbers(local) == [0, 1, 2]
        mine.stop()
        # A worker that dies.
        endless = iter(Dataset.range(3).repeat().apply(service.distribute("parallel_epochs", dispatcher.address)))
        next(endless)
        workers[0].kill()
        for _ in range(100):  # the other one goes on
            next(endless)
        del endless
    finally:
        for one in [*workers, dispatcher]:
            one.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Dataset.range(5).flat_map(Dataset.range).filter(lambda x: x % 2 == 0),
        lambda: Dataset.range(4).interleave(lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2),
        lambda: Dataset.range(7).window(3, 2).flat_map(lambda w: w.batch(3)).map(tf.reduce_sum),
        lambda: Dataset.zip((Dataset.range(3), Dataset.range(3).map(lambda x: tf.cond(x > 1, lambda: x, lambda: -x)))),
        lambda: Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])).map(lambda r: r * 2).cache().prefetch(2),
        lambda: Dataset.range(6).shuffle(6, seed=3).repeat(2).enumerate().scan(np.int64(0), lambda s, x: (s + x[1], s)),
    ],
)
def test_pipelines_as_bytes(make):
    dataset = make()
    data = dataset_graphs.encoded(dataset.stage)
    copy = dataset_of(dataset_tensor(dataset_graphs.decoded(data)), dataset.element_spec)
    plain = [tf.nest.map_structure(lambda x: np.asarray(x).tolist(), x) for x in dataset.as_numpy_iterator()]
    assert [tf.nest.map_structure(lambda x: np.asarray(x).tolist(), x) for x in copy.as_numpy_iterator()] == plain
    for end in (0, 5, len(data) // 2):
        with pytest.raises(tf.errors.DataLossError):
            dataset_graphs.decoded(data[:end])
