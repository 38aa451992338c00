"""`tf.train.ClusterSpec`: which jobs there are, with the addresses of their tasks."""

from __future__ import annotations

import collections.abc
from typing import Any

from headrace._src.core.lazy import LazyModule
from headrace._src.op.api import api

_messages = LazyModule("headrace._src.formats.cluster_messages")  # protobuf is imported when one is asked for


@api("train.ClusterSpec", dispatch=False)
class ClusterSpec:
    """The jobs of a cluster, each with the addresses of its tasks.

    Args:
        cluster: a dict from names of jobs to lists of addresses, or to dicts of them by index; or a `ClusterSpec`, or
            a `ClusterDef`.

    >>> cluster = tf.train.ClusterSpec({"worker": ["a.example:2222", "b.example:2222"]})
    >>> cluster.num_tasks("worker"), cluster.task_address("worker", 1)
    (2, 'b.example:2222')

    Raises:
        TypeError: it is neither, or an address is no string.
        ValueError: an index is no number.
    """

    def __init__(self, cluster) -> None:
        if isinstance(cluster, ClusterSpec):
            self._jobs = {name: dict(tasks) for name, tasks in cluster._jobs.items()}
            return
        if hasattr(cluster, "job"):  # the message
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        if not isinstance(cluster, collections.abc.Mapping):
            raise TypeError(
                f"ClusterSpec: `cluster` must be a dict from names of jobs to addresses, got {cluster!r:.100}."
            )
        self._jobs = {str(name): _tasks(name, tasks) for name, tasks in cluster.items()}

    def as_dict(self) -> dict[str, Any]:
        """The jobs as a dict: lists of addresses, or dicts by index where indices are missing."""
        found: dict[str, Any] = {}
        for name, tasks in self._jobs.items():
            dense = sorted(tasks) == list(range(len(tasks)))
            found[name] = [tasks[i] for i in sorted(tasks)] if dense else dict(tasks)
        return found

    def as_cluster_def(self) -> Any:
        """The jobs as a `ClusterDef`, in the order of their names.

        >>> tf.train.ClusterSpec({"ps": ["a.example:2222"]}).as_cluster_def().job[0].name
        'ps'
        """
        found = _messages.ClusterDef()
        for name in sorted(self._jobs):
            found.job.add(name=name, tasks=self._jobs[name])
        return found

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name) -> int:
        """How many tasks a job has."""
        return len(self._job(job_name))

    def task_indices(self, job_name) -> list[int]:
        """The indices of a job's tasks."""
        return sorted(self._job(job_name))

    def task_address(self, job_name, task_index) -> str:
        """Where a task is.

        Raises:
            ValueError: there is no such task.
        """
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"There is no task {task_index!r} in the job {job_name!r}, only {sorted(tasks)}.")
        return tasks[task_index]

    def job_tasks(self, job_name) -> list[str | None]:
        """The addresses of a job's tasks by index, None where there is no task."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _job(self, name):
        if name not in self._jobs:
            raise ValueError(f"There is no job {name!r} in the cluster, only {sorted(self._jobs)}.")
        return self._jobs[name]

    def __bool__(self):
        return bool(self._jobs)

    def __eq__(self, other):
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        jobs = self.as_dict()
        return "ClusterSpec({" + ", ".join(f"{name!r}: {jobs[name]!r}" for name in sorted(jobs)) + "})"


def _tasks(job, tasks):
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, collections.abc.Mapping):
        raise TypeError(f"ClusterSpec: the job {job!r} must be a list of addresses, or a dict of them by index.")
    found = {}
    for index, address in tasks.items():
        if isinstance(address, bytes):
            address = address.decode()
        if not isinstance(address, str):
            raise TypeError(f"ClusterSpec: the address of {job} {index} must be a string, got {address!r}.")
        found[int(index)] = address
    return found
