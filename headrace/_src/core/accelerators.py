"""Accelerators: devices of jax that are not the host, what is on them, and the ways to them and back.

This is the one place that has their arrays of jax. All others have an `Accelerator`, the device that a program names,
and `DeviceArray`, a value on one: they can ask for a copy on the host, and never look into the device's memory. Where
accelerators come from is a `Source` (core/accelerator_sources.py); tests offer one of their own.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from headrace._src.core import accelerator_sources, device_use, errors
from headrace._src.core.accelerator_sources import MemorySettings, Physical
from headrace._src.core.dtypes import FROM_NUMPY
from headrace._src.core.lazy import jax

TASK = "/job:localhost/replica:0/task:0"


class Accelerator:
    """A logical device: a physical one, or a part of it with a limit of its own.

    Args:
        physical: the device of jax.
        number: among the logical devices of its kind.
        limit: how many bytes values and programs may take there; None for all that there are.
    """

    def __init__(self, physical: Physical, number: int, limit: int | None = None):
        self.physical = physical
        self.kind = physical.kind
        self.number = number
        self.name = f"{TASK}/device:{physical.kind}:{number}"
        self.limit = limit
        self.used = self.peak = 0
        self._lock = threading.RLock()  # arrays may end while another is counted

    def put(self, array: np.ndarray, what: str = "") -> DeviceArray:
        """A copy of a host's array here.

        Args:
            array: must not be changed afterwards.
            what: what it is, for the message when there is no room.

        Raises:
            ResourceExhaustedError: there is no room for it.
        """
        about = f"{what or 'a tensor'} of shape {list(array.shape)} and type {_name_of(array.dtype)}"
        self.make_room(array.nbytes, about)
        try:
            return DeviceArray(self.physical.put(array), self)
        except RuntimeError as error:
            raise self.exhausted(error, about) from None

    def take(self, array: Any, what: str = "") -> DeviceArray:
        """A host's array or a value of any accelerator, here; the same object where it is here already."""
        if type(array) is not DeviceArray:
            return self.put(array, what)
        if array.accelerator is self:
            return array
        self.make_room(array.nbytes, what or "a copy of a tensor")
        if array.accelerator.physical is self.physical:
            return DeviceArray(self.physical.copied(array._raw), self)
        return DeviceArray(self.physical.moved(array._raw), self)

    def copied(self, array: DeviceArray) -> DeviceArray:
        """The same value in memory that nobody else has, without a way over the host."""
        self.make_room(array.nbytes, "a copy of a tensor")
        return DeviceArray(self.physical.copied(array._raw), self)

    def call(self, program: Any, given: list, needs: int, what: str) -> list:
        """Run a program of this device.

        Args:
            program: what `Physical.loaded` has returned.
            given: `DeviceArray`s that are here.
            needs: how many bytes it needs besides its arguments.
            what: the name of the function, for messages.

        Returns:
            A `DeviceArray` for each result.
        """
        about = f"the function {what}, which needs {needs:,} bytes while it runs" if what else "a program"
        self.make_room(needs, about)
        try:
            results = program(*[array._raw for array in given])
        except RuntimeError as error:
            raise self.exhausted(error, about) from None
        return [DeviceArray(raw, self) for raw in results]

    def make_room(self, size: int, what: str) -> None:
        """Refuse what does not fit below the limit, and remember the highest point."""
        with self._lock:
            wanted = self.used + size
            if self.limit is None or wanted <= self.limit:
                self.peak = max(self.peak, wanted)
                return
            used = self.used
        raise errors.ResourceExhaustedError(
            None, None,
            f"OOM: there is no room for {what} on {self.name}: of its limit of {self.limit:,} bytes "
            f"(memory_limit of tf.config.set_logical_device_configuration), {used:,} are in use.",
        )  # fmt: skip

    def exhausted(self, error: Exception, what: str) -> Exception:
        """The error of jax, or what TensorFlow raises when it is about memory."""
        if "RESOURCE_EXHAUSTED" not in str(error):
            return error
        limit = "all its memory" if self.limit is None else f"a limit of {self.limit:,} bytes"
        return errors.ResourceExhaustedError(
            None, None, f"OOM: there is no room for {what} on {self.name}, which has {limit}: {error}"
        )

    def changed(self, size: int) -> None:
        """Count values that have come, or gone where the size is below zero."""
        with self._lock:
            self.used += size
            self.peak = max(self.peak, self.used)

    def forget_peak(self) -> None:
        """Count the highest use of memory from now on."""
        with self._lock:
            self.peak = self.used

    def __repr__(self):
        return f"<Accelerator {self.name}, {self.physical.description}>"


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin, device_use.ElsewhereValue):
    """A value on an accelerator, which stands where the host's values are NumPy arrays.

    Shape and dtype are known without it. Whatever else is asked of it is asked of a copy on the host, which is made
    then, once: so each op of the host takes it, and nothing is copied that nobody asks for.
    """

    __slots__ = ("__weakref__", "_host", "_raw", "accelerator", "dtype", "shape")

    def __init__(self, raw: Any, accelerator: Accelerator):
        self._raw = raw
        self._host: np.ndarray | None = None
        self.accelerator = accelerator
        self.shape = raw.shape
        self.dtype = np.dtype(raw.dtype)
        accelerator.changed(self.nbytes)

    def __del__(self):
        try:
            accelerator, size = self.accelerator, self.nbytes
        except AttributeError:  # it could not be made
            return
        accelerator.changed(-size)

    @property
    def device_name(self) -> str:
        """The full name of the device."""
        return self.accelerator.name

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        count = 1
        for n in self.shape:
            count *= n
        return count

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def host(self) -> np.ndarray:
        """The value as an array of the host, which nobody may change."""
        if self._host is None:
            self._host = self.accelerator.physical.get(self._raw)
        return self._host

    def own_copy(self) -> DeviceArray:
        return self.accelerator.copied(self)

    def block_until_ready(self) -> None:
        """Wait until it is computed."""
        self._raw.block_until_ready()

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        array = self.host()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return getattr(ufunc, method)(*map(on_host, inputs), **keywords)

    def __getattr__(self, name):
        if name in DeviceArray.__slots__:
            raise AttributeError(name)
        return getattr(self.host(), name)

    def __getitem__(self, key):
        return self.host()[key]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return iter(self.host())

    def __bool__(self) -> bool:
        return bool(self.host())

    def __int__(self) -> int:
        return int(self.host())

    def __float__(self) -> float:
        return float(self.host())

    def __complex__(self) -> complex:
        return complex(self.host())

    def __index__(self) -> int:
        return self.host().__index__()

    def __dlpack__(self, **keywords):
        return self.host().__dlpack__(**keywords)

    def __reduce__(self):
        return np.asarray, (self.host(),)  # in another process or in a file it is an array like any other

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return repr(self.host())

    def __str__(self):
        return str(self.host())

    def __format__(self, spec):
        return format(self.host(), spec)


def on_host(array: Any) -> Any:
    """A value of the host: the copy of one that is on an accelerator, anything else as it is."""
    return array.host() if type(array) is DeviceArray else array


def all_on_host(arrays: list) -> list:
    """The same for each of a list."""
    return [array.host() if type(array) is DeviceArray else array for array in arrays]


def _name_of(dtype):
    known = FROM_NUMPY.get(dtype)
    return dtype.name if known is None else known.name


class _State:
    """What is known, and what the program has asked for."""

    def __init__(self):
        self.source: Any = accelerator_sources.JaxSource()
        self.physical: list[Physical] | None = None
        self.hidden: set[int] = set()  # ids of the physical ones that the program does not want to see
        self.limits: dict[int, list] = {}  # by the id of a physical one: those of the logical ones it is split into
        self.memory = MemorySettings()
        self.logical: list[Accelerator] | None = None
        self.lock = threading.RLock()


_state = _State()


def offer(source: Any) -> None:
    """Take accelerators from another source than jax, for tests. Also forgets all that was known of them."""
    global _state
    _state = _State()
    _state.source = source
    device_use.accelerated.clear()
    device_use.default = None
    device_use.has_looked = False
    device_use.is_offered = True


def source() -> Any:
    """Where accelerators come from."""
    return _state.source


def physical() -> list[Physical]:
    """The accelerators of this machine, GPUs before TPUs. This does not take any of their memory, where that can be."""
    with _state.lock:
        if _state.physical is None:
            _state.physical = _state.source.listed() if not _state.source.reason_for_none() else []
        return _state.physical


def memory() -> MemorySettings:
    """What the program has asked for about memory."""
    return _state.memory


def show_only(chosen: list[Physical]) -> None:
    """Use only these, until `logical` has been asked for."""
    _state.hidden = {id(x) for x in physical()} - {id(x) for x in chosen}


def visible() -> list[Physical]:
    """Those that the program wants to see."""
    return [x for x in physical() if id(x) not in _state.hidden]


def split(device: Physical, limits: list) -> None:
    """Make a logical device of a physical one for each of the limits, in bytes or None."""
    _state.limits[id(device)] = limits


def is_open() -> bool:
    """Whether the logical devices exist, so that nothing about them can be changed any more."""
    return _state.logical is not None


def logical() -> list[Accelerator]:
    """The logical devices. The first call starts XLA's client, which takes memory as it was asked for.

    Raises:
        ValueError: growth of memory is asked for on some devices only.
    """
    with _state.lock:
        if _state.logical is None:
            shown = visible()
            if shown:
                limited = any(limit is not None for x in shown for limit in _state.limits.get(id(x), ()))
                _state.source.open(shown, _state.memory.environment(shown, limited))
            made: list[Accelerator] = []
            counts: dict[str, int] = {}
            for device in shown:
                for limit in _state.limits.get(id(device)) or [None]:
                    number = counts.get(device.kind, 0)
                    counts[device.kind] = number + 1
                    made.append(Accelerator(device, number, limit))
            _state.logical = made
            device_use.accelerated.update({x.name: x for x in made})
            device_use.available.update(x.name for x in made)
            device_use.default = made[0] if made else None
            device_use.has_looked = True
        return _state.logical


def named(name: str) -> Accelerator | None:
    """The accelerator of that full name."""
    return device_use.accelerated.get(name)


def forget() -> None:
    """Let the program choose its devices anew; the clients stay."""
    _state.hidden, _state.limits, _state.logical = set(), {}, None
    _state.memory = MemorySettings()
    device_use.available.difference_update(device_use.accelerated)
    device_use.accelerated.clear()
    device_use.default = None
    device_use.has_looked = False


def compile_context(accelerator: Accelerator) -> Any:
    """Within this block, jax compiles for an accelerator."""
    return jax.default_device(accelerator.physical.device)
