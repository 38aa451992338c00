"""The memory of accelerators: whether it grows, how much is in use; and what else is known of a device."""

from __future__ import annotations

from typing import Any

from headrace._src.core import device_use, errors
from headrace._src.core.devices import DeviceSpec, canonical_name
from headrace._src.core.lazy import LazyModule
from headrace._src.devices.configuration import (
    PhysicalDevice,
    accelerator_of,
    accelerators,
    are_fixed,
    check_known,
    is_split,
    list_physical_devices,
    set_visible_devices,
)
from headrace._src.op.api import api

_accelerators = LazyModule("headrace._src.core.accelerators")  # where there may be any


@api("config.experimental.set_memory_growth", dispatch=False)
def set_memory_growth(device, enable) -> None:
    """Whether memory of a GPU is taken as it is needed, or most of it when it is first used. A CPU's always grows.

    Args:
        device: the physical device.
        enable: True: as it is needed.

    Raises:
        ValueError: the device has no such setting.
        RuntimeError: the devices are in use already.
    """
    check_known(device)
    if is_split(device):
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    growth, number = _accelerators.memory().growth, accelerator_of(device).number
    if growth.get(number) == bool(enable):
        return
    if are_fixed():
        raise RuntimeError("Physical devices cannot be modified after being initialized")
    growth[number] = bool(enable)


@api("config.experimental.get_memory_growth", dispatch=False)
def get_memory_growth(device) -> Any:
    """Whether memory of a GPU is taken as it is needed, if somebody has said so."""
    check_known(device)
    found = accelerator_of(device)
    if found is None or found.number not in _accelerators.memory().growth:
        raise KeyError(device)
    return _accelerators.memory().growth[found.number]


@api("config.experimental.get_device_details", dispatch=False)
def get_device_details(device) -> dict:
    """What is known of a physical device, such as a GPU's name and compute capability; of a CPU nothing."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device!r}")
    check_known(device)
    found = accelerator_of(device)
    return {} if found is None else dict(found.details)


def use_gpu_options(config) -> None:
    """Take over what a `ConfigProto` of 1.x says about GPUs. TF: the first one counts, later ones are not regarded.

    Args:
        config: the message, or None.
    """
    if config is None or not accelerators() or _accelerators.is_open():
        return
    options, gpus = config.gpu_options, list_physical_devices("GPU")
    if options.visible_device_list:
        numbers = [int(text) for text in options.visible_device_list.split(",")]
        if not all(0 <= number < len(gpus) for number in numbers):
            raise errors.invalid_argument(
                f"gpu_options.visible_device_list is {options.visible_device_list!r}, but there are {len(gpus)} GPUs."
            )
        set_visible_devices([gpus[number] for number in numbers], "GPU")
    memory = _accelerators.memory()
    memory.fraction = options.per_process_gpu_memory_fraction
    if options.allow_growth:
        memory.growth.update({accelerator_of(gpu).number: True for gpu in gpus})


def _accelerator(device) -> Any:
    """The logical device of that name: an `Accelerator`, None for a CPU.

    Raises:
        ValueError: there is none, or the name is not that of one device.
    """
    if device is not None and not isinstance(device, str):
        raise TypeError(f"device must be a name such as 'GPU:0', got {type(device).__name__}.")
    spec = None
    try:
        spec = DeviceSpec.from_string(device or "")
    except ValueError:
        pass
    if spec is None or (device and spec.device_index is None):
        raise ValueError(f"device must be a name with a type and a number, such as 'GPU:0', got {device!r}.")
    name = canonical_name(spec)
    if name not in device_use.available and device_use.may_have_accelerators():
        _accelerators.logical()
    if name not in device_use.available:
        raise ValueError(f"No device matches {device!r}; there are {', '.join(sorted(device_use.available))}.")
    return device_use.accelerated.get(name)


@api("config.experimental.get_memory_info", dispatch=False)
def get_memory_info(device) -> dict:
    """How many bytes of an accelerator's memory are in use, and how many were at most; of a CPU none are counted.

    Tensors, variables and what functions need while they run are counted.

    Args:
        device: a name such as "GPU:0".

    >>> tf.config.experimental.get_memory_info("CPU:0")
    {'current': 0, 'peak': 0}

    Raises:
        ValueError: there is no such device.
    """
    found = _accelerator(device)
    return {"current": found.used, "peak": found.peak} if found is not None else {"current": 0, "peak": 0}


@api("config.experimental.get_memory_usage", dispatch=False)
def get_memory_usage(device) -> int:
    """How many bytes of an accelerator's memory are in use.

    Args:
        device: a name such as "GPU:0".
    """
    return get_memory_info(device)["current"]


@api("config.experimental.reset_memory_stats", dispatch=False)
def reset_memory_stats(device) -> None:
    """Begin to look anew for the highest use of an accelerator's memory.

    Args:
        device: a name such as "GPU:0".

    Raises:
        ValueError: there is no such device.
    """
    found = _accelerator(device)
    if found is not None:
        found.forget_peak()
