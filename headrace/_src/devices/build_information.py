"""What this installation can run on, for tests that ask before they begin: `tf.test.is_built_with_cuda()` and so on."""

from headrace._src.devices.configuration import list_physical_devices
from headrace._src.op.api import api


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
