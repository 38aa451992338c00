"""Replicas of a strategy on accelerators: one program over all of them, whose variables and results stay there."""

from __future__ import annotations

from headrace._src.core import accelerators
from headrace._src.core.accelerator_groups import AcceleratorGroup, SpreadPart, is_whole
from headrace._src.core.accelerators import DeviceArray, all_on_host
from headrace._src.graph.compiling.accelerated import PROGRAMS, AcceleratedExecutable
from headrace._src.graph.compiling.compilation import ReplicatedExecutable
from headrace._src.graph.compiling.replicated import (
    ReplicatedProgram,
    ReplicatedSignature,
    accelerators_of,
    build_replicated,
)


class AcceleratedReplicasSignature(ReplicatedSignature):
    """What a program of several accelerators is specialised to.

    Attributes:
        platform: what it is compiled for; also part of the name under which it is kept on disk.
        where: the full names of the devices.
    """

    def __init__(self, found, platform, where):
        super().__init__(found.inputs, found.variables, found.count, found.shared, found.shared_variables)
        self.platform = platform
        self.where = where

    def fits(self, other):
        return ReplicatedSignature.__eq__(self, other)

    def build(self, block):
        where = [accelerators.named(name).physical.device for name in self.where]
        return build_replicated(block, self, where, {})


class AcceleratedReplicasProgram(ReplicatedProgram):
    """A program of several accelerators. Its results are `DeviceArray`s.

    Args:
        built, signature, replicated, random_nodes: as of `ReplicatedProgram`.
        group: where it runs.
        name: of the function, for messages.
    """

    def __init__(self, built, signature, replicated, random_nodes, group, name):
        self._group, self._name = group, name
        self._needs = built.temporary + built.fresh
        self._common: dict = {}  # by place among the variables, those that all replicas have in common
        super().__init__(built, signature, replicated, random_nodes)

    def _load(self, replicated):
        self._call = self._group.loaded(self._built.payload)
        shapes, order = self._built.shapes, self._built.order
        self._returned_shapes = [shapes[order.index(i)] for i in range(len(order))]

    def _invoke(self, given):
        found = self._group.call(self._call, given, self._needs, self._name, self._returned_shapes)
        return [found[i] for i in self._built.order]

    def _put(self, parts, is_shared, what):
        return self._group.spread(parts, is_shared, f"{what} of {self._name}")

    def _part(self, results, at, replica):
        return results[at].part(replica)

    def _whole_of(self, values):
        return values[0].whole if is_whole(values, self._group) else None

    def _arrived(self, copies, is_shared):
        if is_shared:
            return self._shared(copies[0])
        return self._group.spread([_value_of(copy) for copy in copies], False, f"the variable {copies[0].name}")

    def _shared(self, storage):
        """A variable that all replicas only read, on each of their accelerators as long as it does not change."""
        value = storage.value if storage.device is None else storage.device
        kept = self._common.get(id(storage))
        if kept is None or kept[0] is not value:
            parts = [_value_of(storage)] * self.count
            spread = self._group.spread(parts, True, f"the variable {storage.name}")
            kept = self._common[id(storage)] = value, spread
        return kept[1]

    def _keep(self, copies, whole, shape):
        for i, storage in enumerate(copies):
            storage.device, storage.value = SpreadPart(whole, i), None


def _value_of(storage):
    """A variable's value, without a way over the host where it is on an accelerator."""
    value = storage.device
    if isinstance(value, SpreadPart):
        return value.own_copy()
    return value if type(value) is DeviceArray else storage.read()


class AcceleratedReplicas(ReplicatedExecutable):
    """What runs the graph of all replicas, where each has an accelerator of its own.

    Args:
        graph: the graph of all replicas.
    """

    def __init__(self, graph):
        members = accelerators_of(graph.replicated)
        self._group = AcceleratorGroup(members)
        self._platform = members[0].physical.platform
        super().__init__(graph)
        self.most_programs = PROGRAMS

    def _begin(self):
        super()._begin()
        self._is_exact = True  # it does not depend on time when a program takes over

    def _new_entry(self, key):
        entry = super()._new_entry(key)
        entry.compile_first(self)
        return entry

    def interpret(self, arrays):
        return self.plan.run(all_on_host(arrays))

    def signature(self, arrays):
        found = super().signature(arrays)
        if found is None:
            return None
        return AcceleratedReplicasSignature(found, self._platform, self._replicated.names)

    def loader(self, signature):
        nodes, replicated, group, name = self.block()[1], self._replicated, self._group, self.name
        return lambda built: AcceleratedReplicasProgram(built, signature, replicated, nodes, group, name)

    def _other_way(self):
        """What runs the graph of all replicas on the first accelerator."""
        if self._apart is None:
            self._apart = AcceleratedExecutable(self.plan, self._group.members[0], name=self.name)
        return self._apart
