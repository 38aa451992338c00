"""Resolvers that ask what runs a cluster: Slurm, by its environment variables, and Kubernetes, by its client."""

from __future__ import annotations

import enum
import os
import re

from headrace._src.core.lazy import LazyModule
from headrace._src.distribute.cluster_resolvers import ClusterResolver, with_protocol
from headrace._src.distribute.cluster_specs import ClusterSpec
from headrace._src.op.api import api

_kubernetes_client = LazyModule("kubernetes.client")
_kubernetes_config = LazyModule("kubernetes.config")


def host_names(text: str) -> list[str]:
    """The hosts that a list of Slurm's names: `node[1-2,05],login` are node1, node2, node05 and login.

    Raises:
        ValueError: it is no such list.
    """
    found = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\[\]]*\])+", text):
        names = [""]
        for plain, inner in re.findall(r"([^\[\]]+)|\[([^\[\]]*)\]", part):
            ends = [plain] if plain else _numbers(inner, text)
            names = [name + end for name in names for end in ends]
        found += names
    if not found:
        raise ValueError(f"SlurmClusterResolver: {text!r} is no list of hosts.")
    return found


def _numbers(inner, text):
    found = []
    for item in inner.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", item)
        if match is None:
            raise ValueError(f"SlurmClusterResolver: {item!r} in {text!r} is no number or range.")
        first, last = match[1], match[2] or match[1]
        found += [str(i).zfill(len(first)) for i in range(int(first), int(last) + 1)]
    return found


def tasks_of_nodes(text: str) -> list[int]:
    """How many tasks each node has: `2(x3),1` is 2, 2, 2, 1.

    Raises:
        ValueError: it is no such list.
    """
    found = []
    for item in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", item)
        if match is None:
            raise ValueError(f"SlurmClusterResolver: {item!r} in {text!r} is no number of tasks.")
        found += [int(match[1])] * int(match[2] or 1)
    return found


def _variable(name):
    """A variable of a Slurm job: of its step, or of the whole.

    Raises:
        RuntimeError: there is none.
    """
    for found in (f"SLURM_STEP_{name}", f"SLURM_{name}"):
        if os.environ.get(found):
            return os.environ[found]
    raise RuntimeError(
        f"SlurmClusterResolver: neither SLURM_STEP_{name} nor SLURM_{name} is set: srun did not start this process."
    )


@api("distribute.cluster_resolver.SlurmClusterResolver", dispatch=False)
class SlurmClusterResolver(ClusterResolver):
    """Knows the tasks that `srun` has started.

    Args:
        jobs: how many tasks each job has, such as `{"worker": 4}`; by default all are workers.
        port_base: the port of the first task on a host; the next ones there have the next ports.
        gpus_per_node, gpus_per_task: accepted.
        tasks_per_node: how many tasks a node has, or a list of that; by default what Slurm says.
        auto_set_gpu: accepted.
        rpc_layer: the protocol that addresses begin with.

    Raises:
        RuntimeError: this process was not started by srun, or the jobs need more tasks than there are.
    """

    def __init__(
        self, jobs=None, port_base=8888, gpus_per_node=None, gpus_per_task=None, tasks_per_node=None, auto_set_gpu=True,
        rpc_layer="grpc",
    ) -> None:  # fmt: skip
        hosts = host_names(_variable("NODELIST"))
        if tasks_per_node is None:
            counts = tasks_of_nodes(_variable("TASKS_PER_NODE"))
        elif isinstance(tasks_per_node, int):
            counts = [tasks_per_node] * len(hosts)
        else:
            counts = list(tasks_per_node)
        if len(counts) != len(hosts):
            raise RuntimeError(f"SlurmClusterResolver: {len(hosts)} hosts, but tasks for {len(counts)}: {counts}.")
        addresses = [f"{host}:{port_base + i}" for host, count in zip(hosts, counts) for i in range(count)]
        jobs = {"worker": len(addresses)} if jobs is None else dict(jobs)
        if sum(jobs.values()) > len(addresses):
            raise RuntimeError(
                f"SlurmClusterResolver: the jobs {jobs} need more tasks than the {len(addresses)} of srun."
            )
        rank = int(os.environ.get("SLURM_PROCID") or _variable("PROCID"))
        self._cluster: dict[str, list[str]] = {}
        at = 0
        for job, count in jobs.items():
            self._cluster[job] = addresses[at : at + count]
            if at <= rank < at + count:
                self.task_type, self.task_id = job, rank - at
            at += count
        if self.task_type is None:
            raise RuntimeError(f"SlurmClusterResolver: the task {rank} of srun belongs to none of the jobs {jobs}.")
        self.rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        return ClusterSpec(self._cluster)

    def get_task_info(self) -> tuple[str, int]:
        """The job of this process, and its number there."""
        return self.task_type, self.task_id

    def master(self, task_type=None, task_id=None, rpc_layer=None) -> str:
        kind = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        return with_protocol(self.cluster_spec().task_address(kind, index), rpc_layer or self.rpc_layer)


@api("distribute.cluster_resolver.KubernetesExecutableLocation", dispatch=False)
class ExecutableLocation(enum.Enum):
    """Whether this process runs in the Kubernetes cluster."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


@api("distribute.cluster_resolver.KubernetesClusterResolver", dispatch=False)
class KubernetesClusterResolver(ClusterResolver):
    """Asks Kubernetes for the pods with certain labels. Which task this process is must be set.

    Args:
        job_to_label_mapping: for each job a list of selectors; by default `{"worker": ["job-name=tensorflow"]}`.
        tf_server_port: the port of all tasks.
        rpc_layer: the protocol that addresses begin with.
        override_client: a client of Kubernetes (`kubernetes.client.CoreV1Api`), in place of one made here.
        executable_location: whether this process runs in the cluster.

    Raises:
        ImportError: there is no package `kubernetes`, and no client was given.
    """

    def __init__(
        self, job_to_label_mapping=None, tf_server_port=8470, rpc_layer="grpc", override_client=None,
        executable_location=ExecutableLocation.WITHIN_CLUSTER,
    ) -> None:  # fmt: skip
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self.rpc_layer = rpc_layer
        self._client = override_client
        if override_client is None:
            if executable_location is ExecutableLocation.WITHIN_CLUSTER:
                _kubernetes_config.load_incluster_config()
            else:
                _kubernetes_config.load_kube_config()
            self._client = _kubernetes_client.CoreV1Api()

    def cluster_spec(self) -> ClusterSpec:
        """The pods that run, by job, in the order of their names.

        Raises:
            RuntimeError: a pod is not running yet.
        """
        found: dict[str, list[str]] = {}
        for job, selectors in self._labels.items():
            for selector in selectors:
                pods = self._client.list_pod_for_all_namespaces(label_selector=selector, watch=False)
                for pod in sorted(pods.items, key=lambda pod: pod.metadata.name):
                    if pod.status.phase != "Running":
                        raise RuntimeError(
                            f"KubernetesClusterResolver: the pod {pod.metadata.name!r} is not running, but "
                            f"{pod.status.phase}."
                        )
                    found.setdefault(job, []).append(f"{pod.status.host_ip}:{self._port}")
        return ClusterSpec(found)

    def master(self, task_type=None, task_id=None, rpc_layer=None) -> str:
        kind = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        if kind is None or index is None:
            return ""
        return with_protocol(self.cluster_spec().task_address(kind, index), rpc_layer or self.rpc_layer)
