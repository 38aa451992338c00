"""Where accelerators come from: jax and its plugins; and how a program's wishes about memory become jax's."""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from headrace._src.core import cuda_driver, device_use
from headrace._src.core.lazy import jax, serialize_executable, xla_bridge

logger = logging.getLogger("headrace")

# The kinds of devices by what jax calls their platforms.
_KINDS = {"gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "metal": "GPU", "tpu": "TPU"}
_ALLOCATOR, _PREALLOCATE = "XLA_PYTHON_CLIENT_ALLOCATOR", "XLA_PYTHON_CLIENT_PREALLOCATE"
_FRACTION, _NEW_FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION"
# What TensorFlow reads, and jax's names for the allocators.
_FORCED_GROWTH, _TENSORFLOW_ALLOCATOR = "TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR"
_ALLOCATORS = {"cuda_malloc_async": "cuda_async"}


class Physical:
    """An accelerator of this machine.

    Args:
        kind: "GPU" or "TPU".
        number: among those of its kind.
        details: what `tf.config.experimental.get_device_details` says.
        memory: how many bytes it has; None when that is not known.
    """

    def __init__(self, kind: str, number: int, details: Mapping[str, Any], memory: int | None = None):
        self.kind = kind
        self.number = number
        self.details = dict(details)
        self.memory = memory
        self.device: Any = None  # jax's, when it is there

    @property
    def description(self) -> str:
        """What it is, for people."""
        return str(self.details.get("device_name", self.kind))

    @property
    def platform(self) -> str:
        """What programs are compiled for: those of another platform cannot run here."""
        client = self.device.client
        return f"{client.platform} {client.platform_version} {self.device.device_kind}"

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Where it is among others: along the three axes of a mesh of chips, and on its chip."""
        place = getattr(self.device, "coords", None) or (self.number, 0, 0)
        return (*place, getattr(self.device, "core_on_chip", 0) or 0)

    def put(self, array: np.ndarray) -> Any:
        """A copy of a host's array, as an array of jax on this device."""
        with jax.enable_x64(True):
            return jax.device_put(array, self.device)

    def get(self, raw: Any) -> np.ndarray:
        """A copy on the host."""
        return np.asarray(raw)

    def moved(self, raw: Any) -> Any:
        """A copy here of an array that another accelerator has."""
        with jax.enable_x64(True):
            return jax.device_put(raw, self.device)

    def copied(self, raw: Any) -> Any:
        """A copy in memory of its own of an array that is here."""
        with jax.enable_x64(True), jax.default_device(self.device):
            return jax.numpy.array(raw, copy=True)

    def joined(self, parts: list, shape: tuple, sharding: Any) -> Any:
        """Arrays of single accelerators, this one's first, as one over all of them. Nothing is copied.

        Args:
            parts: for each accelerator the array that it has.
            shape: of the whole.
            sharding: jax's description of how it is divided.
        """
        return jax.make_array_from_single_device_arrays(shape, sharding, parts)

    def part(self, raw: Any, index: int) -> Any:
        """What one of several accelerators has of an array over all of them."""
        return raw.addressable_shards[index].data  # of scalars, `addressable_data` has only the first

    def loaded(self, payload: bytes, others: tuple[Physical, ...] = ()) -> Any:
        """What calls a program that was compiled for this device: a function of arrays of jax.

        Args:
            payload: the pickled arguments of jax's loader.
            others: the devices that run it together with this one.
        """
        call = serialize_executable.deserialize_and_load(
            *pickle.loads(payload),
            backend=self.device.client,
            execution_devices=[self.device, *(other.device for other in others)],
        )

        def called(*arrays):
            with jax.enable_x64(True):
                return call(*arrays)

        return called


class MemorySettings:
    """What a program has asked for about the memory of accelerators.

    Attributes:
        growth: by number of a GPU, whether memory is taken as it is needed, where the program has said.
        fraction: how much of each GPU may be taken, 0 where the program has not said.
    """

    def __init__(self) -> None:
        self.growth: dict[int, bool] = {}
        self.fraction = 0.0

    def environment(self, shown: list[Physical], limited: bool) -> dict[str, str]:
        """The same as environment variables that jax reads. What is set for jax itself has the last word.

        Args:
            shown: the devices that are used.
            limited: whether some have limits of their own, below which only we can hold a program.

        Raises:
            ValueError: growth is asked for on some GPUs only.
        """
        asked = {self.growth.get(x.number, False) for x in shown if x.kind == "GPU"}
        if len(asked) > 1:
            raise ValueError("Memory growth cannot differ between GPU devices")
        grows = asked == {True} or limited
        forced = os.environ.get(_FORCED_GROWTH, "").lower()
        if forced in ("true", "false"):  # TF: it has the last word, and other texts are not regarded
            grows = forced == "true"
        found = {}
        if grows:
            found[_PREALLOCATE] = "false"
        if self.fraction and not os.environ.get(_NEW_FRACTION):
            found[_FRACTION] = str(self.fraction)
        allocator = os.environ.get(_TENSORFLOW_ALLOCATOR)
        if allocator in _ALLOCATORS:
            found[_ALLOCATOR] = _ALLOCATORS[allocator]
        return {name: text for name, text in found.items() if not os.environ.get(name)}


def chosen_gpus(count: int) -> list[int]:
    """Which of so many GPUs CUDA_VISIBLE_DEVICES lets a program see, in its order; as CUDA reads it.

    >>> import os
    >>> from headrace._src.core.accelerator_sources import chosen_gpus
    >>> os.environ["CUDA_VISIBLE_DEVICES"] = "2,0,7,1"
    >>> chosen_gpus(4)  # what comes after a number that no device has is not seen
    [2, 0]
    >>> del os.environ["CUDA_VISIBLE_DEVICES"]
    """
    text = os.environ.get("CUDA_VISIBLE_DEVICES")
    if text is None:
        return list(range(count))
    found: list[int] = []
    for part in text.split(","):
        number = int(part) if part.strip().isdecimal() else -1
        if not 0 <= number < count:
            break
        if number in found:  # CUDA then shows none
            return []
        found.append(number)
    return found


class JaxSource:
    """The accelerators that the installed jax has."""

    name = "jax"

    def reason_for_none(self) -> str:
        """Why there are none for certain; empty when there may be some."""
        return device_use.reason_for_none()

    def listed(self) -> list[Physical]:
        """The devices. Those of CUDA are asked of its driver: jax would take their memory, and a program that lists
        them may want to say how much."""
        gpus = [] if device_use.hides_all_gpus() else self._of_driver()
        if gpus and not self._has_started() and set(device_use.wanted_platforms()) <= {"cuda", "gpu", "cpu"}:
            return gpus
        return self._asked_of_jax()

    def open(self, shown: list[Physical], environment: dict[str, str]) -> None:
        """Start jax's client, with these environment variables, and give the devices what they are in jax.

        Raises:
            RuntimeError: jax does not find them.
        """
        if all(device.device is not None for device in shown):
            return
        if self._has_started():
            if environment:
                logger.warning(
                    "headrace: jax was used before, so that these settings of memory have no effect: %s",
                    ", ".join(f"{name}={text}" for name, text in environment.items()),
                )
        else:
            os.environ.update(environment)
            numbers = ",".join(str(device.number) for device in shown if device.kind == "GPU")
            jax.config.update("jax_cuda_visible_devices", numbers or "all")
        found = self._asked_of_jax()
        by_place = dict(enumerate(found)) if len(found) == len(shown) else {x.number: x for x in found}
        for place, device in enumerate(shown):
            same = by_place.get(place if len(found) == len(shown) else device.number)
            if same is None or same.kind != device.kind:
                raise RuntimeError(
                    f"jax has no {device.kind}:{device.number} ({device.description}), which the driver has: it found "
                    f"{', '.join(x.description for x in found) or 'none'}. Does jax.devices() show it? If not, jax's "
                    "plugin does not fit the driver; tf.config.set_visible_devices([], 'GPU') goes on without it."
                )
            device.device = same.device

    def _of_driver(self):
        return [
            Physical("GPU", i, {"compute_capability": x.capability, "device_name": x.name}, x.memory)
            for i, x in enumerate(cuda_driver.devices())
        ]

    def _has_started(self):
        return xla_bridge.backends_are_initialized()

    def _asked_of_jax(self):
        """What jax finds. This starts its clients."""
        try:
            devices = jax.local_devices()
        except RuntimeError as error:  # JAX_PLATFORMS names what is not there, or the driver is too old
            logger.warning("headrace: jax finds no accelerator: %s", error)
            return []
        found: list[Physical] = []
        for device in devices:
            kind = _KINDS.get(device.platform.lower())
            if kind is not None:
                details: dict[str, Any] = {"device_name": device.device_kind}
                capability = str(getattr(device, "compute_capability", ""))
                if capability.replace(".", "").isdecimal():
                    details["compute_capability"] = tuple(map(int, capability.split(".")))
                size = (device.memory_stats() or {}).get("bytes_limit")
                physical = Physical(kind, len(found), details, size)
                physical.device = device
                found.append(physical)
        return found
