"""The devices that compiled programs run on: the one place that has XLA's clients for this machine."""

import functools
import glob
import importlib.util
import os
import pickle
import threading
from typing import Any

import numpy as np

from headrace._src.core import operating_system
from headrace._src.core.device_use import available
from headrace._src.core.garbage import lasting_objects
from headrace._src.core.lazy import jax, jaxlib_lapack, serialize_executable, xla_client
from headrace._src.core.parts import thread_count

# How the names of LAPACK's functions begin that the code of a program calls.
_LAPACK_CALLS = b"lapack_"
# The only way to tell XLA how many threads a client has: it reads this variable when the client is made.
_THREADS_OF_XLA = "NPROC"


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


class Host:
    """The processors of this machine as one of XLA's clients has them: devices for programs, and threads.

    Clients are our own, so that nothing of the user's jax is changed.
    """

    def __init__(self, count, threads):
        """
        Args:
            count: how many devices there are.
            threads: how many an instruction of a program may use.
        """
        import_jax()
        # A call returns when its results are there: handing over to another thread costs more than it gives.
        self.devices: list = make_client(count, threads).devices()
        self._sharding = jax.sharding.SingleDeviceSharding(self.devices[0])

    def to_device(self, array: np.ndarray) -> Any:
        """A NumPy array as one of the first device. The array must not be changed afterwards."""
        with jax.enable_x64(True):
            # What jax.device_put does in the end, without its hundred microseconds.
            return xla_client.batched_device_put(
                described(array.shape, array.dtype), self._sharding, [array], self.devices[:1]
            )

    def loaded(self, payload: bytes) -> Any:
        """What calls a program on the first device; see `loaded`."""
        return loaded(payload, self.devices[:1])


class _Hosts:
    """Those that there are so far."""

    lock = threading.Lock()
    usual: Host | None = None
    of_one_thread: Host | None = None


def host() -> Host:
    """The one on which programs use as many threads as one operation may."""
    with _Hosts.lock:
        if _Hosts.usual is None:
            _Hosts.usual = Host(wanted_count(), thread_count())
        return _Hosts.usual


def host_of_one_thread() -> Host:
    """The one on which a program runs in the thread that calls it, for programs that are soon done."""
    if thread_count() == 1:
        return host()
    with _Hosts.lock:
        if _Hosts.of_one_thread is None:
            _Hosts.of_one_thread = Host(1, 1)
        return _Hosts.of_one_thread


def make_client(count: int, threads: int) -> Any:
    """A client with so many devices, all of them this machine's processors, that share so many threads."""
    before = os.environ.get(_THREADS_OF_XLA)
    os.environ[_THREADS_OF_XLA] = str(threads)
    try:
        return xla_client.make_cpu_client(asynchronous=False, num_devices=count)
    finally:
        if before is None:
            del os.environ[_THREADS_OF_XLA]
        else:
            os.environ[_THREADS_OF_XLA] = before


@functools.lru_cache
def compiling(count: int) -> list:
    """Devices to compile for. What is compiled is loaded on others, so that these never run anything.

    They are of a client of our own: to ask jax for its devices would start its clients of accelerators too.
    """
    import_jax()  # jaxlib alone would print more
    return make_client(count, operating_system.processor_count()).devices()


def wanted_count() -> int:
    """How many devices the program has split this machine's processors into."""
    return max(1, sum("/device:CPU:" in name for name in available))


def count() -> int:
    """How many devices programs can run on."""
    return wanted_count() if _Hosts.usual is None else len(_Hosts.usual.devices)


def chosen(numbers) -> list:
    """The devices with these numbers."""
    devices = host().devices
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
    found = _kinds.get((shape, dtype))
    if found is None:
        if len(_kinds) > 1000:
            _kinds.clear()
        found = _kinds[shape, dtype] = jax.core.ShapedArray(shape, dtype)
    return found


_kinds: dict = {}
