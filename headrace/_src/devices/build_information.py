"""Which TensorFlow this follows, and what it can run on, for programs and tests that ask: `tf.version`, `tf.test`."""

import pkgutil

from headrace._src import version
from headrace._src.devices.configuration import list_physical_devices
from headrace._src.devices.memory import get_device_details
from headrace._src.op.api import api, export

for _name in (
    "VERSION", "GIT_VERSION", "COMPILER_VERSION", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
):  # fmt: skip
    export(f"version.{_name}")(getattr(version, _name))


@api("test.is_built_with_cuda", dispatch=False)
def is_built_with_cuda() -> bool:
    """Whether jax has code for NVIDIA's devices: whether its plugin is installed."""
    return _has_plugin("jax_cuda")


@api("test.is_built_with_rocm", dispatch=False)
def is_built_with_rocm() -> bool:
    """Whether jax has code for AMD's devices: whether its plugin is installed."""
    return _has_plugin("jax_rocm")


@api("test.is_built_with_gpu_support", dispatch=False)
def is_built_with_gpu_support() -> bool:
    """Whether jax has code for graphics devices."""
    return is_built_with_cuda() or is_built_with_rocm() or bool(list_physical_devices("GPU"))


def _has_plugin(name):
    return any(found.name.startswith(name) for found in pkgutil.iter_modules())


@api("test.is_built_with_xla", dispatch=False)
def is_built_with_xla() -> bool:
    """Whether functions can be compiled: they can."""
    return True


@api("test.is_gpu_available", dispatch=False)
def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None) -> bool:
    """Whether there is a graphics device to run on.

    Args:
        cuda_only: whether others than NVIDIA's do not count.
        min_cuda_compute_capability: the least that a device must have, such as (7, 0).
    """
    least = min_cuda_compute_capability or (0, 0)
    found = [get_device_details(device).get("compute_capability") for device in list_physical_devices("GPU")]
    return any((capability or (0, 0)) >= least if capability or not cuda_only else False for capability in found)


@api("test.gpu_device_name", dispatch=False)
def gpu_device_name() -> str:
    """The name of the first graphics device; empty when there is none.

    >>> tf.test.gpu_device_name()
    ''
    """
    return "/device:GPU:0" if list_physical_devices("GPU") else ""
