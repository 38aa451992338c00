"""Who is in a cluster; the values are what TensorFlow 2.21 gives, and errors name the field that is wrong."""

import json
import types

import pytest

import headrace as tf
from headrace._src.distribute import cluster_managers

RESOLVERS = tf.distribute.cluster_resolver
CLUSTER = {"worker": ["a:1", "b:2"], "ps": {1: "c:3"}}


def test_cluster_spec():
    cluster = tf.train.ClusterSpec(CLUSTER)
    assert repr(cluster) == "ClusterSpec({'ps': {1: 'c:3'}, 'worker': ['a:1', 'b:2']})"
    assert (cluster.jobs, cluster.as_dict()) == (["worker", "ps"], CLUSTER)
    assert (cluster.num_tasks("ps"), cluster.task_indices("ps"), cluster.job_tasks("ps")) == (1, [1], [None, "c:3"])
    assert cluster.task_address("ps", 1) == "c:3"
    assert cluster
    assert cluster == tf.train.ClusterSpec(cluster)
    assert not tf.train.ClusterSpec({})


@pytest.mark.parametrize(("make", "kind", "said"), [
    (lambda c: c.num_tasks("x"), ValueError, "no job 'x'"),
    (lambda c: c.task_address("worker", 5), ValueError, "no task 5"),
    (lambda c: tf.train.ClusterSpec(3), TypeError, "dict"),
    (lambda c: tf.train.ClusterSpec({"w": 3}), TypeError, "'w'"),
    (lambda c: tf.train.ClusterSpec({"w": [1]}), TypeError, "w 0"),
    (lambda c: RESOLVERS.SimpleClusterResolver({"a": ["x"]}), TypeError, "ClusterSpec"),
])  # fmt: skip
def test_wrong_specs(make, kind, said):
    with pytest.raises(kind, match=said):
        make(tf.train.ClusterSpec(CLUSTER))


def test_simple_and_union():
    simple = RESOLVERS.SimpleClusterResolver(
        tf.train.ClusterSpec(CLUSTER), task_type="worker", task_id=1, rpc_layer="grpc"
    )
    assert (simple.master(), simple.master("worker", 0)) == ("grpc://", "grpc://a:1")
    other = RESOLVERS.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["z:9"], "chief": ["q:1"]}))
    union = RESOLVERS.UnionResolver(simple, other)
    assert union.cluster_spec().as_dict() == {**CLUSTER, "worker": ["a:1", "b:2", "z:9"], "chief": ["q:1"]}
    assert (union.task_type, union.task_id, union.rpc_layer) == ("worker", 1, "grpc")


GOOD = {"cluster": {"worker": ["localhost:1", "localhost:2"]}, "task": {"type": "worker", "index": 1}}


@pytest.mark.parametrize(("config", "found"), [
    (GOOD, ("worker", 1, "localhost:2")),
    ({**GOOD, "task": {"type": "worker", "index": "1"}}, ("worker", 1, "localhost:2")),
    ({**GOOD, "rpc_layer": "grpc"}, ("worker", 1, "grpc://localhost:2")),
    ({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}, ("worker", 0, "")),
    ({}, (None, None, "")),
])  # fmt: skip
def test_tf_config(config, found, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    resolver = RESOLVERS.TFConfigClusterResolver()
    assert (resolver.task_type, resolver.task_id, resolver.master()) == found


@pytest.mark.parametrize(("config", "field"), [
    ("{bad", "no JSON"),
    ([], "the whole"),
    ({"cluster": []}, "cluster must"),
    ({"clstr": GOOD["cluster"], "task": {"type": "worker", "index": 1}}, "no cluster, but 'clstr'"),
    ({"cluster": GOOD["cluster"], "tasks": {"type": "worker", "index": 1}}, "no task, but 'tasks'"),
    ({"cluster": {"worker": "a:1"}}, r"cluster\.worker must"),
    ({"cluster": {"worker": ["a"]}}, r"cluster\.worker\[0\]"),
    ({"cluster": {"worker": ["a:1", 7]}}, r"cluster\.worker\[1\]"),
    ({"cluster": {"worker": ["a:99999"]}}, r"cluster\.worker\[0\]"),
    ({"cluster": {"worker": ["a:1", "a:1"]}}, "another task"),
    ({**GOOD, "task": 3}, "task must"),
    ({**GOOD, "task": {"type": 3}}, r"task\.type"),
    ({**GOOD, "task": {"type": "x", "index": 0}}, r"task\.type is 'x'"),
    ({**GOOD, "task": {"type": "worker", "index": 7}}, r"task\.index is 7"),
    ({**GOOD, "task": {"type": "worker", "index": "z"}}, r"task\.index must"),
    ({"cluster": {"worker": ["a:1"], "ps": ["b:1"]}, "task": {"type": "worker", "index": 0}}, r"cluster\.ps"),
    ({"cluster": {"worker": ["a:1"], "chief": ["c:1", "d:1"]}, "task": {"type": "worker", "index": 0}}, "one chief"),
])  # fmt: skip
def test_a_wrong_tf_config_names_the_field(config, field, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", config if isinstance(config, str) else json.dumps(config))
    with pytest.raises(ValueError, match=field):
        tf.distribute.MultiWorkerMirroredStrategy()


def test_alone_it_is_mirrored(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    with strategy.scope():
        v = tf.Variable(2.0)
    assert strategy.extended.should_checkpoint
    assert strategy.reduce("SUM", strategy.run(lambda: v * 2.0), axis=None).numpy() == 4.0
    assert [batch.numpy().tolist() for batch in strategy.experimental_distribute_dataset(
        tf.data.Dataset.range(3).batch(2))] == [[0, 1], [2]]  # fmt: skip


def test_other_machines_need_a_secret(monkeypatch):
    for name in ("HEADRACE_SECRET", "HEADRACE_SERVICE_SECRET", "HEADRACE_SECRET_FILE"):
        monkeypatch.delenv(name, raising=False)
    config = {"cluster": {"worker": ["192.0.2.1:1", "192.0.2.2:1"]}, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"worker 0 \(192\.0\.2\.1:1\).*HEADRACE_SECRET"):
        tf.distribute.MultiWorkerMirroredStrategy()


@pytest.mark.parametrize(("text", "hosts"), [
    ("n1", ["n1"]), ("n[1-2,05],login", ["n1", "n2", "n05", "login"]), ("a[08-10]b", ["a08b", "a09b", "a10b"]),
    ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
])  # fmt: skip
def test_hosts_of_slurm(text, hosts):
    assert cluster_managers.host_names(text) == hosts


def test_slurm(monkeypatch):
    for name, value in {"STEP_NODELIST": "n[1-2]", "STEP_TASKS_PER_NODE": "2,1", "PROCID": "2"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    resolver = RESOLVERS.SlurmClusterResolver(port_base=5000)
    assert resolver.cluster_spec().as_dict() == {"worker": ["n1:5000", "n1:5001", "n2:5000"]}
    assert (resolver.get_task_info(), resolver.master()) == (("worker", 2), "grpc://n2:5000")
    named = RESOLVERS.SlurmClusterResolver(jobs={"chief": 1, "worker": 2})
    assert (named.cluster_spec().num_tasks("chief"), named.get_task_info()) == (1, ("worker", 1))
    with pytest.raises(RuntimeError, match="more tasks"):
        RESOLVERS.SlurmClusterResolver(jobs={"worker": 9})
    monkeypatch.delenv("SLURM_STEP_NODELIST")
    with pytest.raises(RuntimeError, match="SLURM_STEP_NODELIST"):
        RESOLVERS.SlurmClusterResolver()


def test_kubernetes():
    def pod(name, address, phase="Running"):
        return types.SimpleNamespace(
            metadata=types.SimpleNamespace(name=name), status=types.SimpleNamespace(phase=phase, host_ip=address)
        )

    pods = [pod("w-1", "10.0.0.2"), pod("w-0", "10.0.0.1")]
    client = types.SimpleNamespace(
        list_pod_for_all_namespaces=lambda label_selector, watch: types.SimpleNamespace(items=pods)
    )
    resolver = RESOLVERS.KubernetesClusterResolver({"worker": ["job-name=x"]}, 99, override_client=client)
    assert resolver.cluster_spec().as_dict() == {"worker": ["10.0.0.1:99", "10.0.0.2:99"]}
    assert resolver.master("worker", 1) == "grpc://10.0.0.2:99"
    pods.append(pod("w-2", "10.0.0.3", "Pending"))
    with pytest.raises(RuntimeError, match="w-2"):
        resolver.cluster_spec()


def test_what_is_not_there_says_what_to_use():
    with pytest.raises(tf.errors.UnimplementedError, match="MultiWorkerMirroredStrategy"):
        tf.distribute.ParameterServerStrategy(None)


def test_cluster_messages():
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:1"], "ps": {3: "c:1"}})
    message = cluster.as_cluster_def()
    assert [(job.name, dict(job.tasks)) for job in message.job] == [
        ("ps", {3: "c:1"}), ("worker", {0: "a:1", 1: "b:1"})]  # fmt: skip
    assert tf.train.ClusterSpec(message) == cluster
    again = tf.train.ClusterDef.FromString(message.SerializeToString())
    assert isinstance(again.job[0], tf.train.JobDef)
