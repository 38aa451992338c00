"""Which TensorFlow this follows, and what it can run on, for programs and tests that ask: `tf.version`, `tf.test`."""

from headrace._src import version
from headrace._src.devices.configuration import list_physical_devices
from headrace._src.op.api import api, export

for _name in (
    "VERSION", "GIT_VERSION", "COMPILER_VERSION", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
):  # fmt: skip
    export(f"version.{_name}")(getattr(version, _name))


@api("test.is_built_with_cuda", dispatch=False)
def is_built_with_cuda() -> bool:
    """Whether there is code for NVIDIA's devices: there is not."""
    return False


@api("test.is_built_with_rocm", dispatch=False)
def is_built_with_rocm() -> bool:
    """Whether there is code for AMD's devices: there is not."""
    return False


@api("test.is_built_with_gpu_support", dispatch=False)
def is_built_with_gpu_support() -> bool:
    """Whether there is code for graphics devices: there is not."""
    return False


@api("test.is_built_with_xla", dispatch=False)
def is_built_with_xla() -> bool:
    """Whether functions can be compiled: they can."""
    return True


@api("test.is_gpu_available", dispatch=False)
def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None) -> bool:
    """Whether there is a graphics device to run on.

    Args:
        cuda_only, min_cuda_compute_capability: accepted for compatibility.
    """
    return bool(list_physical_devices("GPU"))


@api("test.gpu_device_name", dispatch=False)
def gpu_device_name() -> str:
    """The name of the first graphics device; empty when there is none.

    >>> tf.test.gpu_device_name()
    ''
    """
    return "/device:GPU:0" if list_physical_devices("GPU") else ""
