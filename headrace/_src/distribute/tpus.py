"""TPUs: what finds them, what starts them, and `TPUStrategy`. They are those that jax has on this machine."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from headrace._src.core import accelerators, device_use, errors
from headrace._src.devices.configuration import list_logical_devices
from headrace._src.distribute.cluster_resolvers import ClusterResolver
from headrace._src.distribute.cluster_specs import ClusterSpec
from headrace._src.distribute.mirrored import MirroredExtended
from headrace._src.distribute.strategies import Strategy
from headrace._src.op.api import api

# What names a TPU of this machine. TF: "local" is what programs on a TPU's own machine say.
_LOCAL = (None, "", "local")
_INSTEAD = (
    "tf.distribute.MirroredStrategy() uses the devices that there are, and "
    "tf.distribute.MultiWorkerMirroredStrategy() those of several machines."
)


def _names():
    if not device_use.may_have_accelerators():
        return []
    return [accelerator.name for accelerator in accelerators.logical() if accelerator.kind == "TPU"]


def _found(caller):
    """The full names of this machine's TPUs.

    Raises:
        NotFoundError: there is none.
    """
    names = _names()
    if not names:
        raise errors.NotFoundError(
            None, None, f"{caller}: no TPU devices were found on this machine, where jax has none. {_INSTEAD}"
        )
    return names


TPUSystemMetadata = collections.namedtuple(
    "TPUSystemMetadata", ["num_cores", "num_hosts", "num_of_cores_per_host", "topology", "devices"]
)
TPUSystemMetadata.__doc__ = """How many cores of TPUs there are, and on how many machines."""
api("tpu.experimental.TPUSystemMetadata", dispatch=False)(TPUSystemMetadata)


@api("tpu.experimental.Topology", dispatch=False)
class Topology:
    """Where the cores of TPUs are: a mesh of chips along three axes, and cores on each of them.

    Args:
        serialized: not read; give the other two.
        mesh_shape: how many there are along each axis.
        device_coordinates: an array of shape [machines, cores of each, axes].

    >>> places = [[[0, 0, 0, 0], [1, 0, 0, 0]]]
    >>> topology = tf.tpu.experimental.Topology(mesh_shape=[2, 1, 1, 1], device_coordinates=places)
    >>> topology.num_tpus_per_task, topology.tpu_device_name_at_coordinates([1, 0, 0, 0])
    (2, '/task:0/device:TPU:1')

    Raises:
        ValueError: the coordinates do not fit the mesh.
    """

    def __init__(self, serialized=None, mesh_shape=None, device_coordinates=None) -> None:
        if serialized is not None or mesh_shape is None or device_coordinates is None:
            raise ValueError("Topology: give `mesh_shape` and `device_coordinates`; a serialized one cannot be read.")
        self._shape = np.array(mesh_shape, np.int32)
        self._coordinates = np.array(device_coordinates, np.int32)
        if self._shape.ndim != 1 or self._coordinates.ndim != 3 or self._coordinates.shape[2] != len(self._shape):
            raise ValueError(
                f"Topology: `device_coordinates` of shape {self._coordinates.shape} must be [machines, cores, axes] "
                f"for a `mesh_shape` of shape {self._shape.shape}."
            )
        if (self._coordinates < 0).any() or (self._coordinates >= self._shape).any():
            raise ValueError(f"Topology: some coordinates are outside of a mesh of {self._shape.tolist()}.")
        self._places = {
            tuple(place): (task, core)
            for task, cores in enumerate(self._coordinates.tolist())
            for core, place in enumerate(cores)
        }

    @property
    def mesh_shape(self) -> np.ndarray:
        """How many there are along each axis."""
        return self._shape

    @property
    def mesh_rank(self) -> int:
        """How many axes there are."""
        return len(self._shape)

    @property
    def device_coordinates(self) -> np.ndarray:
        """Where each core is, of shape [machines, cores of each, axes]."""
        return self._coordinates

    @property
    def num_tasks(self) -> int:
        """On how many machines they are."""
        return self._coordinates.shape[0]

    @property
    def num_tpus_per_task(self) -> int:
        """How many cores each machine has."""
        return self._coordinates.shape[1]

    def task_ordinal_at_coordinates(self, device_coordinates) -> int:
        """The number of the machine that has the core at some place."""
        return self._at(device_coordinates)[0]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates) -> int:
        """The number of the core at some place, on its machine."""
        return self._at(device_coordinates)[1]

    def cpu_device_name_at_coordinates(self, device_coordinates, job=None) -> str:
        """The name of the host of the core at some place."""
        return f"{_job(job)}/task:{self._at(device_coordinates)[0]}/device:CPU:0"

    def tpu_device_name_at_coordinates(self, device_coordinates, job=None) -> str:
        """The name of the core at some place."""
        task, core = self._at(device_coordinates)
        return f"{_job(job)}/task:{task}/device:TPU:{core}"

    def _at(self, place):
        found = self._places.get(tuple(int(n) for n in place))
        if found is None:
            raise ValueError(f"Topology: there is no core at {list(place)} of a mesh of {self._shape.tolist()}.")
        return found


def _job(job):
    return "" if job is None else f"/job:{job}"


def _topology(names):
    """Where the TPUs of these names are, as jax says."""
    places = np.array([accelerators.named(name).physical.coordinates for name in names])
    places -= places.min(axis=0)
    return Topology(mesh_shape=places.max(axis=0) + 1, device_coordinates=places[np.newaxis])


@api("tpu.experimental.DeviceAssignment", dispatch=False)
class DeviceAssignment:
    """Which core of a TPU each replica runs on.

    Args:
        topology: what `tf.tpu.experimental.initialize_tpu_system` returns.
        core_assignment: places of cores, an array of shape [replicas, 1, axes].

    Raises:
        UnimplementedError: a replica is to have several cores.
    """

    def __init__(self, topology, core_assignment) -> None:
        places = np.array(core_assignment, np.int32)
        if places.ndim != 3 or places.shape[2] != topology.mesh_rank:
            raise ValueError(
                f"DeviceAssignment: `core_assignment` must have the shape [replicas, cores, {topology.mesh_rank}], got "
                f"{list(places.shape)}."
            )
        if places.shape[1] != 1:
            raise errors.UnimplementedError(
                None, None, f"DeviceAssignment: replicas of {places.shape[1]} cores are not implemented; give each one."
            )
        self._topology, self._places = topology, places
        self._cores = [topology.tpu_device_ordinal_at_coordinates(place) for place in places[:, 0]]

    @staticmethod
    def build(topology, computation_shape=None, computation_stride=None, num_replicas=1, device_order_mode=None) -> Any:
        """An assignment of the first cores.

        Args:
            topology: what `tf.tpu.experimental.initialize_tpu_system` returns.
            computation_shape: how many cores a replica has along each axis; one of each.
            computation_stride: steps between cores of a replica, which has one.
            num_replicas: how many replicas there are.
            device_order_mode: accepted.

        Raises:
            ValueError: there are fewer cores than replicas.
            UnimplementedError: a replica is to have several cores.
        """
        if computation_shape is not None and np.prod(computation_shape) != 1:
            raise errors.UnimplementedError(
                None, None, f"DeviceAssignment: a `computation_shape` of {list(computation_shape)} is not implemented; "
                "each replica has one core.",
            )  # fmt: skip
        places = topology.device_coordinates.reshape(-1, 1, topology.mesh_rank)
        if num_replicas > len(places):
            raise ValueError(f"DeviceAssignment: {num_replicas} replicas need as many cores; there are {len(places)}.")
        return DeviceAssignment(topology, places[:num_replicas])

    @property
    def topology(self) -> Topology:
        """Where the cores are."""
        return self._topology

    @property
    def core_assignment(self) -> np.ndarray:
        """The places of the cores, of shape [replicas, 1, axes]."""
        return self._places

    @property
    def num_replicas(self) -> int:
        """How many replicas there are."""
        return len(self._places)

    @property
    def num_cores_per_replica(self) -> int:
        """How many cores a replica has."""
        return 1

    def coordinates(self, replica, logical_core=0) -> tuple:
        """The place of a replica's core."""
        return tuple(self._places[replica, logical_core].tolist())

    def tpu_ordinal(self, replica=0, logical_core=0) -> int:
        """The number of a replica's core."""
        return self._cores[replica]

    def tpu_device(self, replica=0, logical_core=0, job=None) -> str:
        """The name of a replica's core."""
        return self._topology.tpu_device_name_at_coordinates(self._places[replica, logical_core], job)

    def host_device(self, replica=0, logical_core=0, job=None) -> str:
        """The name of the host of a replica's core."""
        return self._topology.cpu_device_name_at_coordinates(self._places[replica, logical_core], job)


@api("tpu.experimental.initialize_tpu_system", dispatch=False)
def initialize_tpu_system(cluster_resolver=None) -> Topology:
    """Start this machine's TPUs; returns where their cores are.

    Args:
        cluster_resolver: a `tf.distribute.cluster_resolver.TPUClusterResolver`; None for this machine's TPUs.

    >>> if tf.config.list_physical_devices("TPU"):
    ...     topology = tf.tpu.experimental.initialize_tpu_system()

    Raises:
        NotFoundError: there is none.
    """
    return _topology(_found("initialize_tpu_system"))


@api("tpu.experimental.shutdown_tpu_system", dispatch=False)
def shutdown_tpu_system(cluster_resolver=None) -> None:
    """For programs that say when they are done with TPUs. jax keeps them until the program ends.

    Args:
        cluster_resolver: accepted.

    Raises:
        NotFoundError: there is none.
    """
    _found("shutdown_tpu_system")


@api("distribute.cluster_resolver.TPUClusterResolver", dispatch=False)
class TPUClusterResolver(ClusterResolver):
    """Finds the TPUs of this machine. Programs that catch its ValueError, and go on without a TPU, do so.

    Args:
        tpu: "local", or nothing: those that jax has here.
        zone, project, job_name, coordinator_name, coordinator_address, credentials, service, discovery_url: of TPUs of
            Google's cloud that are reached by a name; accepted.

    >>> try:
    ...     strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())
    ... except ValueError:
    ...     strategy = tf.distribute.get_strategy()
    >>> strategy.num_replicas_in_sync
    1

    Raises:
        ValueError: there is none.
    """

    def __init__(
        self, tpu=None, zone=None, project=None, job_name="worker", coordinator_name=None, coordinator_address=None,
        credentials="default", service=None, discovery_url=None,
    ) -> None:  # fmt: skip
        if tpu not in _LOCAL:
            raise ValueError(
                f"TPUClusterResolver: there is no TPU to connect to (tpu={tpu!r}): only those that jax sees on the "
                "machine on which the program runs can be used, as tpu='local'."
            )
        if not _names():
            raise ValueError(
                f"TPUClusterResolver: there is no TPU to connect to (tpu={tpu!r}). Those that jax sees are in "
                "tf.config.list_physical_devices('TPU'); without one, use tf.distribute.MirroredStrategy()."
            )
        self._tpu = tpu
        self.task_type, self.task_id = job_name, 0

    @staticmethod
    def connect(tpu=None, zone=None, project=None) -> TPUClusterResolver:
        """Find the TPUs and start them.

        Args:
            tpu, zone, project: as of the class.
        """
        resolver = TPUClusterResolver(tpu, zone, project)
        initialize_tpu_system(resolver)
        return resolver

    def __enter__(self) -> TPUClusterResolver:
        return self

    def __exit__(self, kind, error, traceback) -> None:
        pass

    def cluster_spec(self) -> ClusterSpec:
        """No other machines: the TPUs are this one's."""
        return ClusterSpec({})

    def master(self, task_type=None, task_id=None, rpc_layer=None) -> str:
        """The address of a task, which this process does not need."""
        return "local" if self._tpu == "local" else ""

    get_master = master

    def get_job_name(self) -> str:
        """The job of the TPUs."""
        return self.task_type

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None) -> dict[str, int]:
        return {"TPU": len(_names())}

    def get_tpu_system_metadata(self) -> Any:
        """How many cores there are."""
        names = _names()
        return TPUSystemMetadata(len(names), 1, len(names), _topology(names), tuple(list_logical_devices()))


class TPUExtended(MirroredExtended):
    """What `TPUStrategy` does: as on all accelerators, replicas are one program, and variables stay on their cores.

    Args:
        container_strategy: the strategy.
        devices: full names, one for each replica.
    """

    @property
    def num_hosts(self) -> int:
        """On how many machines the cores are."""
        return 1

    @property
    def num_replicas_per_host(self) -> int:
        """How many cores each machine has."""
        return len(self._devices)


@api("distribute.TPUStrategy", dispatch=False)
class TPUStrategy(Strategy):
    """Spreads training over the cores of this machine's TPUs, as `MirroredStrategy` does over devices.

    Args:
        tpu_cluster_resolver: a `tf.distribute.cluster_resolver.TPUClusterResolver`; None for this machine's TPUs.
        experimental_device_assignment: a `tf.tpu.experimental.DeviceAssignment`; None for all cores.
        experimental_spmd_xla_partitioning: whether a replica is spread over several cores.

    Raises:
        NotFoundError: there is no TPU.
        UnimplementedError: a replica is to be spread over several cores.
    """

    def __init__(
        self, tpu_cluster_resolver=None, experimental_device_assignment=None, experimental_spmd_xla_partitioning=False
    ) -> None:
        names = _found("TPUStrategy")
        if experimental_spmd_xla_partitioning:
            raise errors.UnimplementedError(
                None, None, "TPUStrategy: replicas that are spread over several cores "
                "(experimental_spmd_xla_partitioning) are not implemented.",
            )  # fmt: skip
        if experimental_device_assignment is not None:
            assigned = experimental_device_assignment
            names = [names[assigned.tpu_ordinal(i)] for i in range(assigned.num_replicas)]
        self._resolver = tpu_cluster_resolver
        super().__init__(TPUExtended(self, names))

    @property
    def cluster_resolver(self) -> Any:
        """What has found the TPUs; None if nobody was asked."""
        return self._resolver


@api("distribute.experimental.TPUStrategy", dispatch=False)
class TPUStrategyV1(TPUStrategy):
    """`tf.distribute.TPUStrategy` with the arguments that it had before.

    Args:
        tpu_cluster_resolver, device_assignment: as of `tf.distribute.TPUStrategy`.
    """

    def __init__(self, tpu_cluster_resolver=None, device_assignment=None) -> None:
        super().__init__(tpu_cluster_resolver, device_assignment)
