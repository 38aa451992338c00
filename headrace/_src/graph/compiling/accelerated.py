"""Functions on accelerators: which device runs a call, and programs whose variables and results stay there.

Nothing is interpreted there while a program is being made: a function is compiled before its first call with new
shapes, as XLA's own users do. What only the host can run it does between programs.
"""

import weakref

import numpy as np

from headrace._src.core import accelerators, device_use
from headrace._src.core.accelerator_groups import SpreadPart
from headrace._src.core.accelerators import DeviceArray, all_on_host
from headrace._src.core.context import HOST, context
from headrace._src.core.random_state import random_state
from headrace._src.graph.compiling import compilation, programs
from headrace._src.graph.compiling.compilation import Executable
from headrace._src.graph.compiling.programs import COMPUTED, GIVEN, LISTED, MISMATCH, Program, Signature
from headrace._src.graph.running.plan import Plan
from headrace._src.op.traits import PLAIN_CALL
from headrace._src.ops.arrays.filling import CONST

# How many shapes of a function are compiled. The host is no way out here, as it is for its own programs: more of them.
PROGRAMS = 64


class AcceleratedSignature(Signature):
    """What a program of an accelerator is specialised to.

    Attributes:
        platform: what it is compiled for; also part of the name under which it is kept on disk.
        where: the full name of the device.
    """

    def __init__(self, inputs, variables, platform, where):
        super().__init__(inputs, variables)
        self.platform = platform
        self.where = where

    def build(self, block):
        device = accelerators.named(self.where).physical.device
        return programs.build_on(device, block, self, {})


class AcceleratedProgram(Program):
    """A program of an accelerator. Its results are `DeviceArray`s.

    Args:
        built, signature, random_nodes, fixed: as of `Program`.
        accelerator: where it runs.
        name: of the function, for messages.
    """

    def __init__(self, built, signature, random_nodes, fixed, accelerator, name):
        self._accelerator, self._name = accelerator, name
        super().__init__(built, signature, random_nodes, fixed)
        self._draws = built.draws
        self._needs = built.temporary + built.fresh

    def _load(self, built):
        self._call = self._accelerator.physical.loaded(built.payload)

    def run(self, arrays):
        known = self._known
        if known is None or any(arrays[i] is not box for i, box in known):
            if not self._bind(arrays):
                return MISMATCH
        given = [self._argument(i, arrays[i], None) for i in self._arguments]
        if self._nodes:
            with self._lock:
                results = self._call_with_streams(given)
        else:
            results = self._call_with_variables(given)
        if results is None:
            return MISMATCH
        if self._fails and results[-1].host():
            return None
        outputs = []
        for kind, what in self._outputs:
            if kind == COMPUTED:
                outputs.append(results[what])
            elif kind == LISTED:
                outputs.append(programs.listed(all_on_host(results), *what))
            else:
                outputs.append(arrays[what] if kind == GIVEN else what)
        return outputs

    def _argument(self, i, array, staged):
        take = self._accelerator.take
        if i in self._lists:
            return take(np.stack(all_on_host(array[()].arrays())))
        if i not in self._kept:
            return take(array, f"input {i} of {self._name}")
        kept = self._kept[i]
        if kept is None or kept[0] is not array:
            kept = self._kept[i] = (array, take(array, f"a tensor that {self._name} uses"))
        return kept[1]

    def _bind(self, arrays):
        signature, storages = programs.signature_of(arrays)
        own = self._signature
        if signature is None or (signature.inputs, signature.variables) != (own.inputs, own.variables):
            return False
        self._bind_to(arrays, storages)
        return True

    def _call_with_variables(self, given):
        taken = []
        try:
            for storage in self._locked:
                storage.lock.acquire()
                taken.append(storage)
            if not self._add_values(given):
                return None
            if self._nodes:
                given.append(self._accelerator.put(self._state, "the state of random numbers"))
            results = self._accelerator.call(self._call, given, self._needs, self._name)
            for storage, k in self._updates:
                storage.device, storage.value = results[k], None
        finally:
            for storage in taken:
                storage.lock.release()
        return results

    def _add_values(self, given):
        """Append the values of the variables, which are here from now on; whether they are as they should be."""
        for storage, shape in zip(self._storages, self._shapes):
            value = storage.device
            if type(value) is not DeviceArray or value.accelerator is not self._accelerator:
                if not storage.is_initialized:
                    return False
                if isinstance(value, SpreadPart):
                    value = value.own_copy()
                elif type(value) is not DeviceArray:
                    value = storage.read()
                value = self._accelerator.take(value, f"the variable {storage.name}")
                storage.device, storage.value = value, None
            if value.shape != shape:
                return False
            given.append(value)
        return True

    def _call_with_streams(self, given):
        streams = [random_state.stream_of(node, calls) for node, calls in self._nodes]
        self._state = programs.stream_rows(streams)
        results = self._call_with_variables(given)
        if results is None or (self._fails and results[-1].host()):
            return results
        draws = self._draws
        if None in draws:
            for stream, count in zip(streams, results[-2 if self._fails else -1].host().tolist()):
                stream.used = count
        else:  # how many are drawn is known beforehand: nothing need be read
            for stream, count in zip(streams, draws):
                stream.used += count
        return results


class AcceleratedExecutable(Executable):
    """What runs a graph, or a part of one, on an accelerator.

    Args:
        plan, fixed, must_compile, name: as of `Executable`.
        accelerator: where.
    """

    def __init__(self, plan, accelerator, fixed=None, must_compile=False, name=""):
        self.accelerator = accelerator
        super().__init__(plan, fixed, must_compile, name)
        self.most_programs = PROGRAMS

    def _begin(self):
        super()._begin()
        self._is_exact = True  # it does not depend on time when a program takes over
        if self.must_compile:
            return
        # What the user's code places on the host runs there.
        placed = {i for i, step in enumerate(self.plan.steps) if step.device == HOST}
        hosts = frozenset(self.hosts | placed)
        self.hosts, self.segmented = hosts, None
        if hosts:
            self.split_at(hosts)

    def _new_entry(self, key):
        entry = super()._new_entry(key)
        entry.compile_first(self)
        return entry

    def interpret(self, arrays):
        return self.plan.run(all_on_host(arrays))

    def signature(self, arrays):
        found = programs.signature_of(arrays)[0]
        if found is None:
            return None
        return AcceleratedSignature(
            found.inputs, found.variables, self.accelerator.physical.platform, self.accelerator.name
        )

    def loader(self, signature):
        nodes, fixed, accelerator, name = self.block()[1], self.fixed, self.accelerator, self.name
        return lambda built: AcceleratedProgram(built, signature, nodes, fixed, accelerator, name)

    def split_at(self, hosts):
        super().split_at(hosts)
        for piece in self.segmented.pieces:
            if isinstance(piece.executable, Plan) and not _only_calls(piece.executable):
                piece.executable = _HostPart(piece.executable)

    def _part(self, plan):
        if all(step.record is CONST for step in plan.steps):
            return plan
        return AcceleratedExecutable(plan, self.accelerator, name=self.name)

    @property
    def state(self):
        return f"{super().state}, on {self.accelerator.name}"


def _only_calls(plan):
    """Whether a part only calls functions, each of which finds its own devices."""
    return all(step.record is CONST or PLAIN_CALL in step.record.traits for step in plan.steps)


class _HostPart:
    """A part of a graph that the host runs, on values of the host."""

    def __init__(self, plan):
        self.plan = plan

    def run(self, arrays):
        return self.plan.run(all_on_host(arrays))


class PlacedExecutable:
    """What runs a graph on a machine with accelerators: where the caller asks for, or else on the first one.

    Args:
        graph: the graph, which holds this.
    """

    def __init__(self, graph):
        self._graph = weakref.ref(graph)
        # Where its operations are placed, if they say: all on the host, or some on one accelerator.
        named = {step.device for step in graph.plan().steps if step.record is not CONST}
        found = named - {"", HOST}
        self._own = HOST if named == {HOST} else found.pop() if len(found) == 1 else None
        self._by_name: dict = {}

    def _place(self):
        """The accelerator of this call; None for the host."""
        asked = self._own or context.called_on
        return device_use.default if asked is None else device_use.accelerated.get(asked)

    def chosen(self):
        """What would run a call made now."""
        accelerator = self._place()
        name = HOST if accelerator is None else accelerator.name
        found = self._by_name.get(name)
        if found is None:
            graph = self._graph()
            base = graph.base
            if accelerator is None or base.stays_interpreted:
                found = compilation.executable_on_host(graph)
            else:
                found = AcceleratedExecutable(
                    graph.plan(), accelerator, compilation.fixed_from(graph), base.jit_compile is True, base.name
                )
            self._by_name[name] = found
        return found

    def run(self, arrays):
        """Run on the inputs."""
        chosen = self.chosen()
        if not isinstance(chosen, AcceleratedExecutable):
            arrays = all_on_host(arrays)
        return chosen.run(arrays)

def placed_executable(graph):
    """What runs a function's graph where accelerators may be; None when there is none after all."""
    return PlacedExecutable(graph) if accelerators.logical() else None
