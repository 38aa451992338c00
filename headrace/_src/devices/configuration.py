"""`tf.config`: the devices of this machine, and the logical ones that a program splits them into."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from headrace._src.core import device_use, errors
from headrace._src.core.context import HOST
from headrace._src.core.lazy import LazyModule
from headrace._src.core.parts import set_thread_count
from headrace._src.core.random_state import random_state
from headrace._src.op.api import api

PhysicalDevice = api("config.PhysicalDevice", dispatch=False)(
    collections.namedtuple("PhysicalDevice", ["name", "device_type"])
)
LogicalDevice = api("config.LogicalDevice", dispatch=False)(
    collections.namedtuple("LogicalDevice", ["name", "device_type"])
)
LogicalDeviceConfiguration = api(
    "config.LogicalDeviceConfiguration", "config.experimental.VirtualDeviceConfiguration", dispatch=False
)(
    collections.namedtuple(
        "LogicalDeviceConfiguration", ["memory_limit", "experimental_priority", "experimental_device_ordinal"],
        defaults=(None, None, None),
    )
)  # fmt: skip

_accelerators = LazyModule("headrace._src.core.accelerators")  # where there may be any
_TASK = "/job:localhost/replica:0/task:0"
# The unit of limits on memory.
_MEGABYTE = 1 << 20
_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


class _Settings:
    """What was asked for; it cannot be changed any more once the logical devices exist or ops have run."""

    def __init__(self):
        self.chosen: list | None = None  # the devices that the program wants to see; None for all
        self.configurations: dict = {}
        self.logical: list | None = None
        self.threads = {"inter": 0, "intra": 0}
        self.jit = ""
        self.optimizer: dict = {}
        self.tensor_float_32 = True
        self.policy = "silent"
        self.synchronous = True

    @property
    def are_fixed(self) -> bool:
        return self.logical is not None or device_use.in_use

    @property
    def visible(self) -> list:
        return physical_devices() if self.chosen is None else self.chosen


_settings = _Settings()


def forget_devices() -> None:
    """Let the program choose its logical devices anew. TF: `_reset_context`, which tests with several devices call."""
    _settings.logical = _settings.chosen = None
    _settings.configurations.clear()
    if device_use.has_looked:
        _accelerators.forget()
    device_use.in_use = False
    device_use.available.intersection_update({HOST})


def accelerators() -> list:
    """The GPUs and TPUs of this machine, each a `Physical`. Where none can be, nothing is imported."""
    return _accelerators.physical() if device_use.has_looked or device_use.may_have_accelerators() else []


def physical_devices() -> list:
    """All devices of this machine."""
    return [_CPU, *(PhysicalDevice(f"/physical_device:{x.kind}:{x.number}", x.kind) for x in accelerators())]


def accelerator_of(device) -> Any:
    """What is behind a physical device: a `Physical`, None for the processors."""
    return next((x for x in accelerators() if device == (f"/physical_device:{x.kind}:{x.number}", x.kind)), None)


def are_fixed() -> bool:
    """Whether the program has begun, so that its devices stay as they are."""
    return _settings.are_fixed


def is_split(device) -> bool:
    """Whether a physical device was split into logical ones."""
    return device in _settings.configurations


def _of_type(devices, device_type):
    return [device for device in devices if device_type is None or device.device_type == device_type]


@api("config.list_physical_devices", "config.experimental.list_physical_devices", dispatch=False)
def list_physical_devices(device_type=None) -> list[Any]:
    """The devices of this machine.

    Args:
        device_type: "CPU", "GPU" or "TPU" to get only those.

    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return _of_type(physical_devices(), device_type)


@api("config.get_visible_devices", "config.experimental.get_visible_devices", dispatch=False)
def get_visible_devices(device_type=None) -> list[Any]:
    """The physical devices that the program uses."""
    return _of_type(_settings.visible, device_type)


@api("config.set_visible_devices", "config.experimental.set_visible_devices", dispatch=False)
def set_visible_devices(devices, device_type=None) -> None:
    """Use only these physical devices.

    Args:
        devices: a device or a list of them.
        device_type: say "CPU" or "GPU" to leave the devices of other types as they are.

    Raises:
        ValueError: one of them is no device of this machine, or of another type.
        RuntimeError: the devices are in use already.
    """
    chosen = list(devices) if isinstance(devices, list) else [devices]  # TF: a tuple is no list of them
    there = physical_devices()
    for device in chosen:
        if device not in there:
            raise ValueError(f"Unrecognized device: {device!r}")
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    kept = [] if device_type is None else [d for d in _settings.visible if d.device_type != device_type]
    new = kept + chosen
    if new == _settings.visible:
        return
    if _settings.are_fixed:
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    _settings.chosen = new
    if accelerators():
        _accelerators.show_only([found for device in new if (found := accelerator_of(device)) is not None])


@api("config.get_logical_device_configuration", "config.experimental.get_virtual_device_configuration", dispatch=False)
def get_logical_device_configuration(device) -> Any:
    """The logical devices that a physical one is split into; None if nobody has said."""
    check_known(device)
    return _settings.configurations.get(device)


@api("config.set_logical_device_configuration", "config.experimental.set_virtual_device_configuration", dispatch=False)
def set_logical_device_configuration(device, logical_devices) -> None:
    """Split a physical device into logical ones.

    Args:
        device: the physical device.
        logical_devices: a `tf.config.LogicalDeviceConfiguration` for each.

    A GPU may be split into parts with limits on memory, in megabytes: what does not fit is a ResourceExhaustedError.

    Raises:
        RuntimeError: the devices are in use already.
        ValueError: a memory limit is given for a CPU, or none for a GPU.
    """
    check_known(device)
    for configuration in logical_devices:
        _check_configuration(device, configuration)
    if _settings.configurations.get(device) == logical_devices:
        return
    if _settings.are_fixed:
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    _settings.configurations[device] = logical_devices
    found = accelerator_of(device)
    if found is not None:
        limits = [None if x.memory_limit is None else int(x.memory_limit * _MEGABYTE) for x in logical_devices]
        _accelerators.split(found, limits)
        return
    device_use.available.update(f"{_TASK}/device:{device.device_type}:{i}" for i in range(len(logical_devices)))


def check_known(device) -> None:
    """Refuse what is no device of this machine.

    Raises:
        ValueError: it is not.
    """
    if device not in physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def _check_configuration(device, configuration):
    kind = device.device_type
    limit = configuration.memory_limit
    if kind == "GPU" and limit is None:
        raise ValueError(f"Each logical device of {device.name} needs a memory_limit, in megabytes.")
    if kind != "CPU":
        return
    if limit is not None:
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    for name in ("experimental_priority", "experimental_device_ordinal"):
        if getattr(configuration, name) is not None:
            raise ValueError(f"Setting {name} on CPU virtual devices is currently not supported")


@api("config.list_logical_devices", "config.experimental.list_logical_devices", dispatch=False)
def list_logical_devices(device_type=None) -> list[Any]:
    """The devices that operations can be placed on. From now on they cannot be changed.

    >>> tf.config.list_logical_devices("CPU")[0].name
    '/device:CPU:0'
    """
    if _settings.logical is None:
        parts = [_settings.configurations.get(x) or [None] for x in _settings.visible if x.device_type == "CPU"]
        found = [("CPU", i) for i in range(sum(map(len, parts)))]
        if accelerators():
            found += [(x.kind, x.number) for x in _accelerators.logical()]
        _settings.logical = [LogicalDevice(f"/device:{kind}:{number}", kind) for kind, number in found]
    return _of_type(_settings.logical, device_type)


@api("config.get_soft_device_placement", dispatch=False)
def get_soft_device_placement() -> bool:
    """Whether operations may run on another device than was asked for when there is none of that name."""
    return device_use.soft_placement


@api("config.set_soft_device_placement", dispatch=False)
def set_soft_device_placement(enabled) -> None:
    """Say whether operations may run on another device than was asked for. If not, they are refused."""
    if not isinstance(enabled, (bool, np.bool_)):
        raise TypeError(f"set_soft_device_placement: enabled must be True or False, got {enabled!r}.")
    device_use.soft_placement = bool(enabled)


@api("config.threading.get_inter_op_parallelism_threads", dispatch=False)
def get_inter_op_parallelism_threads() -> int:
    """How many operations may run at the same time; 0 for as many as the machine finds right."""
    return _settings.threads["inter"]


@api("config.threading.get_intra_op_parallelism_threads", dispatch=False)
def get_intra_op_parallelism_threads() -> int:
    """How many threads one operation may use; 0 for as many as the machine finds right."""
    return _settings.threads["intra"]


def _set_threads(kind, count):
    if _settings.threads[kind] == count:
        return
    if _settings.are_fixed:
        raise RuntimeError(f"{kind.capitalize()} op parallelism cannot be modified after initialization.")
    if count < 0:
        raise errors.invalid_argument(f"the number of threads must be 0 or more, got {count}.")
    _settings.threads[kind] = int(count)


@api("config.threading.set_inter_op_parallelism_threads", dispatch=False)
def set_inter_op_parallelism_threads(num_threads) -> None:
    """Say how many operations may run at the same time."""
    _set_threads("inter", num_threads)


@api("config.threading.set_intra_op_parallelism_threads", dispatch=False)
def set_intra_op_parallelism_threads(num_threads) -> None:
    """Say how many threads one operation may use.

    Results do not depend on it, to the last bit, except for the last bits of what compiled programs compute. Without it
    there is one thread per processor, or as many as the environment says with TF_NUM_INTRAOP_THREADS,
    OPENBLAS_NUM_THREADS or OMP_NUM_THREADS.
    """
    _set_threads("intra", num_threads)
    set_thread_count(int(num_threads))


@api("config.optimizer.get_jit", dispatch=False)
def get_jit() -> str:
    """What was set with `set_jit`."""
    return _settings.jit


@api("config.optimizer.set_jit", dispatch=False)
def set_jit(enabled) -> None:
    """Accepted; functions that run often are compiled in any case. See `tf.function(jit_compile=...)`."""
    _settings.jit = {True: "autoclustering", False: ""}.get(enabled, enabled)


@api("config.optimizer.get_experimental_options", dispatch=False)
def get_experimental_options() -> dict:
    """What was set with `set_experimental_options`."""
    return {**_settings.optimizer, "disable_model_pruning": False, "disable_meta_optimizer": False}


@api("config.optimizer.set_experimental_options", dispatch=False)
def set_experimental_options(options) -> None:
    """Accepted; the passes over graphs never change their meaning."""
    _settings.optimizer.update(options)


@api("config.experimental.enable_tensor_float_32_execution", dispatch=False)
def enable_tensor_float_32_execution(enabled) -> None:
    """Say whether GPUs may round the inputs of matrix products; CPUs never do.

    The setting is kept, and has no effect: products are computed as XLA does by default.
    """
    _settings.tensor_float_32 = bool(enabled)


@api("config.experimental.tensor_float_32_execution_enabled", dispatch=False)
def tensor_float_32_execution_enabled() -> bool:
    """Whether GPUs may round the inputs of matrix products."""
    return _settings.tensor_float_32


@api("config.experimental.enable_op_determinism", dispatch=False)
def enable_op_determinism() -> None:
    """Make every run of the program give the same results; random ops must then have seeds."""
    random_state.deterministic = True


@api("config.experimental.get_device_policy", dispatch=False)
def get_device_policy() -> str:
    """What happens when an operation reads a tensor of another device."""
    return _settings.policy


@api("config.experimental.set_device_policy", dispatch=False)
def set_device_policy(device_policy) -> None:
    """Say what happens when an operation reads a tensor of another device: "silent", "explicit", "warn" or None."""
    if device_policy not in ("silent", "silent_for_int32", "explicit", "warn", None):
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    _settings.policy = device_policy or "silent"


@api("config.experimental.get_synchronous_execution", dispatch=False)
def get_synchronous_execution() -> bool:
    """Whether operations have ended when they return: always."""
    return _settings.synchronous


@api("config.experimental.set_synchronous_execution", dispatch=False)
def set_synchronous_execution(enable) -> None:
    """Accepted; operations have always ended when they return."""
    _settings.synchronous = bool(enable)


@api("config.experimental.enable_mlir_bridge", dispatch=False)
def enable_mlir_bridge() -> None:
    """Accepted; there is only one compiler."""


@api("config.experimental.disable_mlir_bridge", dispatch=False)
def disable_mlir_bridge() -> None:
    """Accepted; there is only one compiler."""


@api("sysconfig.get_build_info", dispatch=False)
def get_build_info() -> dict:
    """How this package was built."""
    return collections.OrderedDict(is_cuda_build=False, is_rocm_build=False, is_tensorrt_build=False)
