"""Several accelerators that run one program together, and values of which each has a part.

The parts are one array of jax, along its first axis; a scalar is a part with one element there, or a scalar of which
each accelerator has its own. As of single accelerators, nobody else looks into this memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import device_use
from headrace._src.core.accelerators import Accelerator, DeviceArray, on_host
from headrace._src.core.lazy import jax

_AXIS = "member"


class AcceleratorGroup:
    """Accelerators of one platform, each a physical device of its own, in the order of their parts.

    Args:
        members: the accelerators.
    """

    def __init__(self, members: list[Accelerator]):
        self.members = tuple(members)
        mesh = jax.sharding.Mesh(np.array([x.physical.device for x in members]), (_AXIS,))
        self._own = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(_AXIS))
        self._common = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())

    @property
    def _seam(self):
        return self.members[0].physical

    def loaded(self, payload: bytes) -> Any:
        """What calls a program that was compiled for all members together."""
        return self._seam.loaded(payload, tuple(x.physical for x in self.members[1:]))

    def spread(self, parts: list, is_shared: bool, what: str = "") -> SpreadArray:
        """Values, one for each member, as one over all of them. What is on its member already is not copied.

        Args:
            parts: arrays of the host or of accelerators.
            is_shared: whether all members are given the same.
            what: what it is, for the message when there is no room.
        """
        shape = tuple(parts[0].shape)
        if not shape and not is_shared:
            parts = [on_host(part).reshape(1) for part in parts]
        taken = [member.take(part, what)._raw for member, part in zip(self.members, parts)]
        whole = shape if is_shared else (len(parts) * (shape[0] if shape else 1), *shape[1:])
        return SpreadArray(self._seam.joined(taken, whole, self._common if is_shared else self._own), self, shape)

    def call(self, program: Any, given: list[SpreadArray], needs: int, what: str, shapes: list) -> list[SpreadArray]:
        """Run a program of all members, which returns a list of arrays with a part for each, and one of scalars.

        Args:
            program: what `loaded` has returned.
            given: its arguments.
            needs: how many bytes it needs on each member besides them.
            what: the name of the function, for messages.
            shapes: of one member's part of each result.
        """
        about = f"the function {what}, which needs {needs:,} bytes while it runs" if what else "a program"
        for member in self.members:
            member.make_room(needs, about)
        try:
            parts, scalars = program(*[array._raw for array in given])
        except RuntimeError as error:
            raise self.members[0].exhausted(error, about) from None
        return [SpreadArray(raw, self, shape) for raw, shape in zip([*parts, *scalars], shapes)]


class SpreadArray:
    """An array of which each accelerator of a group has a part.

    Args:
        raw: jax's.
        group: whose.
        shape: of a part.
    """

    __slots__ = ("__weakref__", "_raw", "dtype", "group", "shape")

    def __init__(self, raw: Any, group: AcceleratorGroup, shape: tuple):
        self._raw = raw
        self.group = group
        self.shape = tuple(shape)
        self.dtype = np.dtype(raw.dtype)
        for member in group.members:
            member.changed(self.nbytes)

    def __del__(self):
        try:
            members, size = self.group.members, self.nbytes
        except AttributeError:  # it could not be made
            return
        for member in members:
            member.changed(-size)

    @property
    def nbytes(self) -> int:
        """How many bytes a part has."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def part(self, index: int) -> DeviceArray:
        """What one member has, without a copy: the whole must not be given to a program that writes into it."""
        member, seam = self.group.members[index], self.group._seam
        raw = seam.part(self._raw, index)
        if tuple(raw.shape) != self.shape:  # a scalar, whose part has an axis
            return member.put(member.physical.get(raw).reshape(self.shape))
        return DeviceArray(raw, member)

    def host(self, index: int) -> np.ndarray:
        """A copy of what one member has on the host, which nobody may change."""
        return self.group._seam.get(self.group._seam.part(self._raw, index)).reshape(self.shape)


class SpreadPart(device_use.ElsewhereValue):
    """The value of a replica's copy of a variable on its accelerator: a part of an array over all of them.

    Args:
        whole: the array.
        index: the number of the part.
    """

    __slots__ = ("_host", "index", "shape", "whole")

    def __init__(self, whole: SpreadArray, index: int):
        self.whole = whole
        self.index = index
        self.shape = whole.shape
        self._host: np.ndarray | None = None

    @property
    def device_name(self) -> str:
        """The full name of the device."""
        return self.whole.group.members[self.index].name

    def host(self) -> np.ndarray:
        if self._host is None:
            self._host = self.whole.host(self.index)
        return self._host

    def own_copy(self) -> DeviceArray:
        part = self.whole.part(self.index)
        return part.accelerator.copied(part)


def is_whole(parts: list, group: AcceleratorGroup) -> bool:
    """Whether values of variables are the parts of one array over a group, in order."""
    first = parts[0]
    if type(first) is not SpreadPart or first.whole.group.members != group.members:
        return False
    whole = first.whole
    return all(type(part) is SpreadPart and part.whole is whole and part.index == i for i, part in enumerate(parts))
