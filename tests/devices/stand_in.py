"""Accelerators for machines without any: devices of a CPU client of jax under another name, which are strict.

They come through the same door as GPUs and TPUs (`accelerators.offer`), and are as unforgiving: nothing reaches them or
comes back but by the ways of core/accelerators.py, which are counted here. Their arrays are sealed: whoever takes one
for an array of the host gets an error. Values that come back are copies.
"""

import contextlib
import dataclasses
import os
import subprocess
import sys
from typing import Any

import jax
import numpy as np
from jaxlib import xla_client

from headrace._src.core import accelerator_sources, accelerators
from headrace._src.core.accelerator_sources import Physical
from headrace._src.devices import configuration

# The client is made once: clients with other settings would be other devices.
_clients: dict = {}


class HostView(AssertionError):
    """Somebody has looked at an accelerator's memory as if it was the host's."""


class Sealed:
    """An array of a stand-in: it has a shape and a dtype, and lets nobody look into it."""

    def __init__(self, array: Any):
        self._sealed = array
        self.shape, self.dtype = array.shape, array.dtype

    def block_until_ready(self):
        self._sealed.block_until_ready()

    def _refuse(self, *args, **kwargs):
        raise HostView("the memory of an accelerator is not the host's")

    __array__ = __dlpack__ = __buffer__ = unsafe_buffer_pointer = addressable_data = _refuse
    __float__ = __int__ = __bool__ = __index__ = __getitem__ = __iter__ = __len__ = _refuse


@dataclasses.dataclass
class Transfers:
    """What has gone to the accelerators and come back, in bytes, one number for each array."""

    there: list = dataclasses.field(default_factory=list)
    back: list = dataclasses.field(default_factory=list)
    between: list = dataclasses.field(default_factory=list)
    programs: int = 0
    donated: int = 0  # arrays whose memory programs were given
    reused: int = 0  # and those in whose memory a result is

    def forget(self):
        """Count from now on."""
        self.__init__()


class StandInDevice(Physical):
    """One of them."""

    def __init__(self, kind, number, transfers, memory=None):
        super().__init__(kind, number, {"device_name": f"stand-in {number}", "compute_capability": (0, 0)}, memory)
        self.transfers = transfers

    @property
    def platform(self):
        return f"stand-in for a {self.kind}, jax {jax.__version__}"

    def put(self, array):
        assert type(array) is np.ndarray, type(array)
        self.transfers.there.append(array.nbytes)
        with jax.transfer_guard_host_to_device("allow"):
            # jax may else use the memory of the array itself, which an accelerator cannot.
            return Sealed(super().put(array.copy()))

    def get(self, raw):
        self.transfers.back.append(int(np.prod(raw.shape)) * raw.dtype.itemsize)
        return np.array(super().get(raw._sealed))

    def moved(self, raw):
        self.transfers.between.append(int(np.prod(raw.shape)) * raw.dtype.itemsize)
        return Sealed(super().moved(raw._sealed))

    def copied(self, raw):
        return Sealed(super().copied(raw._sealed))

    def joined(self, parts, shape, sharding):
        return Sealed(super().joined([part._sealed for part in parts], shape, sharding))

    def part(self, raw, index):
        return Sealed(super().part(raw._sealed, index))

    def loaded(self, payload, others=()):
        call = super().loaded(payload, others)

        def called(*arrays):
            self.transfers.programs += 1
            places = [_places(x._sealed) for x in arrays]
            with jax.transfer_guard_host_to_device("disallow"):
                results = call(*(x._sealed for x in arrays))
            given = {place for found, x in zip(places, arrays) if x._sealed.is_deleted() for place in found}
            self.transfers.donated += len(given)
            made = [place for x in jax.tree.leaves(results) for place in _places(x)]
            self.transfers.reused += sum(place in given for place in made)
            return jax.tree.map(Sealed, results)

        return called


def _places(array):
    """Where the parts of an array are."""
    return [part.data.unsafe_buffer_pointer() for part in array.addressable_shards]


class StandIns:
    """A source of so many devices of a kind; `transfers` has what went to them and back.

    Attributes:
        environment: the variables with which the client was asked for; None before it was.
    """

    name = "stand-ins"

    def __init__(self, count=2, kind="GPU", memory=None):
        self.transfers = Transfers()
        self.environment: dict | None = None
        self._count, self._kind, self._memory = count, kind, memory

    def reason_for_none(self):
        return ""

    def listed(self):
        shown = accelerator_sources.chosen_gpus(self._count) if self._kind == "GPU" else range(self._count)
        self._numbers = list(shown)
        return [StandInDevice(self._kind, i, self.transfers, self._memory) for i in range(len(self._numbers))]

    def open(self, shown, environment):
        self.environment = environment
        if self._count not in _clients:
            _clients[self._count] = xla_client.make_cpu_client(asynchronous=False, num_devices=self._count)
        devices = _clients[self._count].devices()
        for device in shown:
            device.device = devices[self._numbers[device.number]]


@contextlib.contextmanager
def offered(count=2, kind="GPU", memory=None):
    """Within this block there are stand-ins; gives their `StandIns`."""
    before, logical = accelerators.source(), configuration._settings.logical
    source = StandIns(count, kind, memory)
    accelerators.offer(source)
    configuration._settings.logical = None  # what was listed before
    try:
        yield source
    finally:
        accelerators.forget()
        accelerators.offer(before)
        configuration._settings.logical = logical


def environment(**changed) -> dict:
    """The variables of this process with some changed."""
    return {**os.environ, **changed}


def run(code: str, variables: dict) -> str:
    """Run a program in a process of its own; returns all that it prints. Settings of devices hold for a process."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr
