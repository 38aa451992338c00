"""What needs devices of other machines, which a program here cannot use as its own: it says so when it is asked."""

from __future__ import annotations

from headrace._src.core import errors
from headrace._src.distribute.cluster_resolvers import ClusterResolver
from headrace._src.distribute.cluster_specs import ClusterSpec
from headrace._src.distribute.strategies import Strategy
from headrace._src.op.api import api


@api("distribute.ParameterServerStrategy", "distribute.experimental.ParameterServerStrategy", dispatch=False)
class ParameterServerStrategy(Strategy):
    """Keeps variables on other machines; headrace does not.

    Raises:
        UnimplementedError: always.
    """

    def __init__(self, cluster_resolver=None, variable_partitioner=None) -> None:
        raise errors.UnimplementedError(
            None, None, "ParameterServerStrategy: parameter servers are not implemented. "
            "tf.distribute.MultiWorkerMirroredStrategy() trains on several machines, with a copy of all variables on "
            "each, and tf.distribute.MirroredStrategy() on all devices of this one.",
        )  # fmt: skip


@api("config.experimental_connect_to_cluster", dispatch=False)
def experimental_connect_to_cluster(
    cluster_spec_or_resolver, job_name="localhost", task_index=0, protocol=None, make_master_device_default=True,
    cluster_device_filters=None,
) -> None:  # fmt: skip
    """For programs on TPUs, which say so before they use them: those of this machine need no connection.

    Args:
        cluster_spec_or_resolver: what says which machines there are, such as a
            `tf.distribute.cluster_resolver.TPUClusterResolver`; None for none.
        job_name, task_index: which of them this process is.
        protocol, make_master_device_default, cluster_device_filters: accepted.

    >>> tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({}))

    Raises:
        ValueError: it is neither a cluster nor a resolver.
        UnimplementedError: there are other machines.
    """
    found = cluster_spec_or_resolver
    spec = found.cluster_spec() if isinstance(found, ClusterResolver) else found
    if spec is None:
        return
    if not isinstance(spec, ClusterSpec):
        raise ValueError(
            "experimental_connect_to_cluster: a tf.train.ClusterSpec or a resolver of tf.distribute.cluster_resolver "
            f"is needed, got {found!r:.100}."
        )
    others = [
        f"{job}:{index} at {spec.task_address(job, index)}"
        for job in spec.jobs
        for index in spec.task_indices(job)
        if (job, index) != (job_name, task_index)
    ]
    if others:
        raise errors.UnimplementedError(
            None, None, f"experimental_connect_to_cluster: devices of other machines ({', '.join(others)}) cannot be "
            "used from this one. tf.distribute.MultiWorkerMirroredStrategy() has a process on each.",
        )  # fmt: skip


@api("config.experimental_connect_to_host", dispatch=False)
def experimental_connect_to_host(remote_host=None, job_name="worker") -> None:
    """The same for addresses: those of other machines are refused.

    Args:
        remote_host: an address or a list of them; None for none.
        job_name: their job.

    Raises:
        ValueError: there is no address.
        UnimplementedError: always, where there is one.
    """
    if not remote_host:
        raise ValueError("experimental_connect_to_host: `remote_host` must be an address, or a list of them.")
    hosts = [remote_host] if isinstance(remote_host, str) else list(remote_host)
    experimental_connect_to_cluster(ClusterSpec({job_name: hosts}))
