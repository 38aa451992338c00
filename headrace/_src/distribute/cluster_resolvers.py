"""`tf.distribute.cluster_resolver`: who is in the cluster, and which of its tasks this process is."""

from __future__ import annotations

import collections
import difflib
import json
import os
from typing import Any

from headrace._src.devices.configuration import list_logical_devices
from headrace._src.distribute.cluster_specs import ClusterSpec
from headrace._src.op.api import api

VARIABLE = "TF_CONFIG"


def with_protocol(address, rpc_layer) -> str:
    """An address as TensorFlow writes it, such as `grpc://host:2222`."""
    return f"{rpc_layer}://{address}" if rpc_layer and address is not None else address


@api("distribute.cluster_resolver.ClusterResolver", dispatch=False)
class ClusterResolver:
    """What knows the machines of a cluster. Subclasses say how they find them."""

    task_type: Any = None
    task_id: Any = None
    rpc_layer: Any = None

    def cluster_spec(self) -> ClusterSpec:
        """The jobs and their addresses."""
        raise NotImplementedError(f"{type(self).__name__}.cluster_spec")

    def master(self, task_type=None, task_id=None, rpc_layer=None) -> str:
        """The address of a task."""
        raise NotImplementedError(f"{type(self).__name__}.master")

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None) -> dict[str, int]:
        """How many GPUs and TPUs this process has."""
        found: dict[str, int] = collections.defaultdict(int)
        for device in list_logical_devices():
            if device.device_type != "CPU":
                found[device.device_type] += 1
        return found

    @property
    def environment(self) -> str:
        """Where the cluster is."""
        return ""


@api("distribute.cluster_resolver.SimpleClusterResolver", dispatch=False)
class SimpleClusterResolver(ClusterResolver):
    """Knows what it is told.

    Args:
        cluster_spec: a `tf.train.ClusterSpec`.
        master: the address that `master` answers with.
        task_type, task_id: which task this process is.
        environment: where the cluster is.
        num_accelerators: what `num_accelerators` answers with.
        rpc_layer: the protocol that addresses begin with.

    >>> cluster = tf.train.ClusterSpec({"worker": ["a.example:2222", "b.example:2222"]})
    >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker", task_id=1)
    >>> resolver.master("worker", 0)
    'a.example:2222'

    Raises:
        TypeError: `cluster_spec` is none.
    """

    def __init__(
        self, cluster_spec, master="", task_type=None, task_id=None, environment="", num_accelerators=None,
        rpc_layer=None,
    ) -> None:  # fmt: skip
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError(
                f"SimpleClusterResolver: cluster_spec must be a tf.train.ClusterSpec, got {cluster_spec!r}."
            )
        self._cluster, self._master, self._environment = cluster_spec, master, environment
        self._accelerators = num_accelerators
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster

    def master(self, task_type=None, task_id=None, rpc_layer=None) -> str:
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._cluster.task_address(task_type, task_id)
        return with_protocol(address, rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None) -> dict[str, int]:
        return self._accelerators or {}

    @property
    def environment(self) -> str:
        return self._environment


def checked_config(text: str) -> dict[str, Any]:
    """`TF_CONFIG` as a dict, of which every field that is used here is what it must be.

    Raises:
        ValueError: it is not; the message names the field.
    """
    try:
        config = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{VARIABLE} is no JSON: {error}. It is {text!r:.200}.") from None
    config = _checked(config, dict, "the whole", "an object")
    for field in ("cluster", "task"):
        meant = [] if field in config else difflib.get_close_matches(field, config, 1, 0.8)
        if meant:  # without it, this process would work alone
            raise ValueError(f"{VARIABLE}: there is no {field}, but {meant[0]!r}. Is that what was meant?")
    cluster = _checked(config.get("cluster", {}), dict, "cluster", "an object from jobs to lists of addresses")
    for job, tasks in cluster.items():
        _check_job(job, tasks)
    task = _checked(config.get("task", {}), dict, "task", 'an object such as {"type": "worker", "index": 0}')
    if cluster and task:
        _check_task(cluster, task)
    return {**config, "cluster": cluster, "task": task}


def _checked(value, kind, field, wanted):
    if not isinstance(value, kind):
        raise ValueError(f"{VARIABLE}: {field} must be {wanted}, got {value!r:.100}.")
    return value


def _check_job(job, tasks):
    field = f"cluster.{job}"
    if isinstance(tasks, dict):
        tasks = {f"{field}.{key}": address for key, address in tasks.items()}
    else:
        tasks = _checked(tasks, list, field, "a list of addresses")
        tasks = {f"{field}[{i}]": address for i, address in enumerate(tasks)}
    for name, address in tasks.items():
        _checked(address, str, name, 'an address such as "host:2222"')
        host, colon, port = address.rpartition(":")
        if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise ValueError(f'{VARIABLE}: {name} must be an address such as "host:2222", got {address!r}.')
    addresses = list(tasks.values())
    for name, address in tasks.items():
        if addresses.count(address) > 1:
            raise ValueError(f"{VARIABLE}: {name} is {address!r}, which another task of the job has as well.")


def _check_task(cluster, task):
    kind = task.get("type")
    _checked(kind, str, "task.type", f"one of {sorted(cluster)}")
    index = task.get("index", 0)
    if isinstance(index, bool) or not str(index).isdecimal():
        raise ValueError(f"{VARIABLE}: task.index must be a number from 0 on, got {index!r}.")
    if kind == "evaluator" and kind not in cluster:
        return  # TF: an evaluator is no part of the cluster that it evaluates for
    if kind not in cluster:
        raise ValueError(f"{VARIABLE}: task.type is {kind!r}, but cluster has the jobs {sorted(cluster)}.")
    tasks = cluster[kind]
    numbers = {int(key) for key in tasks} if isinstance(tasks, dict) else set(range(len(tasks)))
    if int(index) not in numbers:
        raise ValueError(
            f"{VARIABLE}: task.index is {index}, but cluster.{kind} has the tasks {sorted(numbers)}: one for each "
            "address."
        )


@api("distribute.cluster_resolver.TFConfigClusterResolver", dispatch=False)
class TFConfigClusterResolver(ClusterResolver):
    """Reads the environment variable `TF_CONFIG`, which launchers set.

    Args:
        task_type, task_id, rpc_layer, environment: what to say in place of what the variable says.

    >>> import json, os
    >>> os.environ["TF_CONFIG"] = json.dumps({
    ...     "cluster": {"worker": ["a.example:2222", "b.example:2222"]}, "task": {"type": "worker", "index": 1}})
    >>> resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    >>> resolver.task_type, resolver.task_id, resolver.master()
    ('worker', 1, 'b.example:2222')
    >>> del os.environ["TF_CONFIG"]
    """

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None) -> None:
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    def _config(self):
        return checked_config(os.environ.get(VARIABLE) or "{}")

    @property
    def task_type(self) -> str | None:  # type: ignore[override]
        """The job of this process."""
        if self._task_type is not None:
            return self._task_type
        found = self._config()["task"].get("type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, value) -> None:
        self._task_type = value

    @property
    def task_id(self) -> int | None:  # type: ignore[override]
        """The number of this process in its job."""
        if self._task_id is not None:
            return int(self._task_id)
        task = self._config()["task"]
        return int(task.get("index", 0)) if task else None

    @task_id.setter
    def task_id(self, value) -> None:
        self._task_id = value

    @property
    def rpc_layer(self) -> str | None:  # type: ignore[override]
        """The protocol that addresses begin with."""
        return self._config().get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, value) -> None:
        self._rpc_layer = value

    @property
    def environment(self) -> str:
        return self._environment  # type: ignore[return-value]

    def cluster_spec(self) -> ClusterSpec:
        return ClusterSpec(self._config()["cluster"])

    def master(self, task_type=None, task_id=None, rpc_layer=None) -> str:
        cluster = self.cluster_spec()
        names = cluster.jobs
        if not names or (len(names) == 1 and cluster.num_tasks(names[0]) == 1):
            return ""  # TF: alone, there is no need for an address
        kind = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        return with_protocol(cluster.task_address(kind, index), rpc_layer or self.rpc_layer)


@api("distribute.cluster_resolver.UnionResolver", dispatch=False)
class UnionClusterResolver(ClusterResolver):
    """Several resolvers as one: the tasks of all; everything else is what the first says.

    Args:
        *args: the resolvers.
        rpc_layer, task_type, task_id: what to say in place of what the first says.

    Raises:
        ValueError: there are none, or two give an index of a job different addresses.
        TypeError: one is no resolver.
    """

    def __init__(self, *args, **kwargs) -> None:
        unknown = sorted(set(kwargs) - {"rpc_layer", "task_type", "task_id"})
        if unknown or not args:
            raise ValueError(f"UnionResolver: it takes resolvers, rpc_layer, task_type and task_id, got {unknown}.")
        for one in args:
            if not isinstance(one, ClusterResolver):
                raise TypeError(f"UnionResolver: expected resolvers, got {one!r}.")
        self._resolvers = args
        self.rpc_layer = kwargs.get("rpc_layer", args[0].rpc_layer)
        self.task_type = kwargs.get("task_type", args[0].task_type)
        self.task_id = kwargs.get("task_id", args[0].task_id)

    def cluster_spec(self) -> ClusterSpec:
        merged: dict[str, Any] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                merged[job] = _joined(job, merged[job], tasks) if job in merged else tasks
        return ClusterSpec(merged)

    def master(self, task_type=None, task_id=None, rpc_layer=None) -> str:
        if task_type is not None and task_id is not None:
            return with_protocol(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None) -> dict[str, int]:
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def environment(self) -> str:
        return self._resolvers[0].environment


def _joined(job, first, second):
    if isinstance(first, list) and isinstance(second, list):
        return [*first, *second]
    tasks = dict(enumerate(first)) if isinstance(first, list) else dict(first)
    for index, address in enumerate(second) if isinstance(second, list) else second.items():
        if tasks.setdefault(index, address) != address:
            raise ValueError(f"UnionResolver: {job} {index} is at {tasks[index]} and at {address}.")
    return tasks
