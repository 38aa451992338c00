"""The devices that compiled programs run on: the one place that has XLA's client."""

import functools
import glob
import importlib.util
import os
import pickle
import threading
from typing import Any, ClassVar

import numpy as np

from headrace._src.core import operating_system
from headrace._src.core.device_use import available
from headrace._src.core.garbage import lasting_objects
from headrace._src.core.lazy import jax, jaxlib_lapack, serialize_executable, xla_client

# How the names of LAPACK's functions begin that the code of a program calls.
_LAPACK_CALLS = b"lapack_"


def import_jax():
    """Import what loading a program takes, in such a way that other threads are held up as little as possible."""
    with lasting_objects():
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # as jax does: the library reads it when it is opened
        found = importlib.util.find_spec("jaxlib")
        for folder in [] if found is None else found.submodule_search_locations or []:
            for path in glob.glob(os.path.join(folder, "libjax_common.*")):
                operating_system.open_library(path)
        jax.config  # noqa: B018
        serialize_executable.deserialize_and_load  # noqa: B018


class _Client:
    """XLA's client: one of our own, so that nothing of the user's jax is changed."""

    lock = threading.Lock()
    client: Any = None
    devices: ClassVar[list] = []
    sharding: Any = None  # of arrays on the first device
    kinds: ClassVar[dict] = {}  # shapes and dtypes as jax describes them

    @classmethod
    def get(cls):
        with cls.lock:
            if cls.client is None:
                import_jax()
                # A call returns when its results are there: handing over to another thread costs more than it gives.
                cls.client = make_client(wanted_count())
                cls.devices = cls.client.devices()
                cls.sharding = jax.sharding.SingleDeviceSharding(cls.devices[0])
        return cls


def make_client(count: int) -> Any:
    """A client with so many devices, all of them this machine's processors."""
    return xla_client.make_cpu_client(asynchronous=False, num_devices=count)


@functools.lru_cache
def compiling(count: int) -> list:
    """Devices to compile for. What is compiled is loaded on others, so that these never run anything.

    They are of a client of our own: to ask jax for its devices would start its clients of accelerators too.
    """
    import_jax()  # jaxlib alone would print more
    return make_client(count).devices()


def wanted_count() -> int:
    """How many devices the program has split this machine's processors into."""
    return max(1, sum("/device:CPU:" in name for name in available))


def count() -> int:
    """How many devices programs can run on."""
    return wanted_count() if _Client.client is None else len(_Client.devices)


def first() -> Any:
    """The device that programs run on that are not spread over several."""
    return _Client.get().devices[0]


def chosen(numbers) -> list:
    """The devices with these numbers."""
    devices = _Client.get().devices
    return [devices[i] for i in numbers]


def loaded(payload: bytes, where: list) -> Any:
    """What calls a program on devices.

    Args:
        payload: the pickled arguments of jax's loader.
        where: the devices.
    """
    provide_lapack(payload)
    return serialize_executable.deserialize_and_load(
        *pickle.loads(payload), backend=where[0].client, execution_devices=where
    )


def provide_lapack(code: bytes) -> None:
    """Have LAPACK there for a program that calls it; otherwise its first run ends the process.

    The calls go to SciPy's functions, by pointers that jax sets when it lowers such a call. What was lowered in another
    process finds them empty. Setting them imports SciPy, which takes too long for programs without such calls.

    Args:
        code: the program, or what it is compiled from.
    """
    if _LAPACK_CALLS in code:
        with lasting_objects():
            jaxlib_lapack._lapack.initialize()


def described(shape: tuple, dtype: np.dtype) -> Any:
    """A shape and a dtype as jax describes them, the same object each time."""
    kinds = _Client.kinds
    found = kinds.get((shape, dtype))
    if found is None:
        if len(kinds) > 1000:
            kinds.clear()
        found = kinds[shape, dtype] = jax.core.ShapedArray(shape, dtype)
    return found


def to_device(array: np.ndarray) -> Any:
    """A NumPy array as one of the first device. The array must not be changed afterwards."""
    client = _Client.get()
    with jax.enable_x64(True):
        # What jax.device_put does in the end, without its hundred microseconds.
        return xla_client.batched_device_put(
            described(array.shape, array.dtype), client.sharding, [array], client.devices[:1]
        )
