"""Which GPUs CUDA's driver shows to this process: asked of the driver itself, which takes nothing of them for that."""

import ctypes
from typing import Any, NamedTuple

_LIBRARY = "libcuda.so.1"
# The driver's numbers of the two parts of a compute capability.
_MAJOR, _MINOR = 75, 76


class CudaDevice(NamedTuple):
    """A GPU."""

    name: str
    capability: tuple[int, int]
    memory: int


def devices(library: Any = None) -> list[CudaDevice]:
    """The GPUs, in the driver's order, after CUDA_VISIBLE_DEVICES; empty where there is no driver.

    Args:
        library: the driver; by default the one of this machine.
    """
    if library is None:
        try:
            library = ctypes.CDLL(_LIBRARY)
        except OSError:
            return []
    count = ctypes.c_int()
    if library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)):
        return []
    found = [_described(library, i) for i in range(count.value)]
    return [device for device in found if device is not None]


def _described(library, number):
    device, size = ctypes.c_int(), ctypes.c_size_t()
    name, major, minor = ctypes.create_string_buffer(256), ctypes.c_int(), ctypes.c_int()
    # Each call returns a number, which is not 0 when it fails.
    if (
        library.cuDeviceGet(ctypes.byref(device), number)
        or library.cuDeviceGetName(name, len(name), device)
        or library.cuDeviceTotalMem_v2(ctypes.byref(size), device)
        or library.cuDeviceGetAttribute(ctypes.byref(major), _MAJOR, device)
        or library.cuDeviceGetAttribute(ctypes.byref(minor), _MINOR, device)
    ):
        return None
    return CudaDevice(name.value.decode(), (major.value, minor.value), size.value)
