"""Programs of several devices: what all replicas of a strategy do, traced once and compiled once.

Each replica runs the same code on a device of its own. What it has is a part of an array over all devices, along the
first axis: variables, inputs, random streams and results. A scalar is a part with one element. What replicas do
together are XLA's collectives.
"""

from __future__ import annotations

import functools
import pickle
import re
import threading
import time
from typing import Any

import numpy as np

from headrace._src.core import device_use
from headrace._src.core.large_arrays import aligned_empty
from headrace._src.core.lazy import jax, jnp, lax, serialize_executable, xla_client
from headrace._src.core.random_state import random_state
from headrace._src.graph.compiling import devices, programs
from headrace._src.graph.compiling.blocks import Block, BlockBuilder, Instruction
from headrace._src.graph.compiling.lowering import CannotLower, Lowering
from headrace._src.graph.compiling.programs import COMPUTED, GIVEN, LISTED, MISMATCH, Built, Signature, Writer
from headrace._src.graph.replicas.collectives import ALL_REDUCE, ALL_REDUCE_SEVERAL, AXIS
from headrace._src.state.storage import ReplicaPart, Storage

# How many seconds replicas wait for each other before XLA gives up: they wait for nothing but processors, which others
# may have.
_PATIENT = {"xla_cpu_collective_call_terminate_timeout_seconds": 600, "xla_cpu_collective_timeout_seconds": 600}


# All replicas do their operations in one order, so that they meet sooner: an MLP's step in 3.9 ms instead of 4.3.
_ALIKE = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}


class ReplicatedSignature(Signature):
    """What a program of several devices is specialised to: what one replica has, and on how many devices.

    Attributes:
        count: how many replicas there are.
        shared: positions of the inputs that all replicas have in common.
        shared_variables: numbers of the variables that they have in common.
    """

    def __init__(self, inputs, variables, count, shared, shared_variables):
        super().__init__(inputs, variables)
        self.count = count
        self.shared = shared
        self.shared_variables = shared_variables

    def __eq__(self, other):
        return (
            isinstance(other, ReplicatedSignature)
            and super().__eq__(other)
            and (self.count, self.shared, self.shared_variables) == (other.count, other.shared, other.shared_variables)
        )

    __hash__ = Signature.__hash__

    def fits(self, other) -> bool:
        """Whether a call with another signature is one that a program with this one is for."""
        return self == other

    def build(self, block) -> Built:
        return build_replicated(block, self, devices.compiling(self.count), options_of_replicas(block, self.count))


def signature_of_replicas(arrays, positions) -> tuple:
    """The signature of a call, and for each variable the storages of its copies.

    Args:
        arrays: the inputs of the graph of all replicas.
        positions: for each replica, which of them are the inputs of its graph.

    Returns:
        None and None when replicas have different shapes, or a variable has no value.
    """
    columns = list(zip(*positions))
    shared = frozenset(i for i, column in enumerate(columns) if len(set(column)) == 1)
    found = [programs.signature_of([arrays[i] for i in own]) for own in positions]
    first = found[0][0]
    if first is None or any(signature != first for signature, _ in found[1:]):
        return None, None
    storages = list(zip(*(own for _, own in found)))
    common = frozenset(i for i, copies in enumerate(storages) if len(set(map(id, copies))) == 1)
    signature = ReplicatedSignature(first.inputs, first.variables, len(positions), shared, common)
    return signature, storages


def runs_on_devices(graph) -> bool:
    """Whether a graph is that of replicas that can run on devices of their own, in one program."""
    return graph.replicated is not None and why_not_on_devices(graph) is None


def why_not_on_devices(graph) -> str | None:
    """Why the graph of all replicas cannot be one program over their devices; None if it can."""
    replicated = graph.replicated
    if replicated.is_spread:
        return "replicas go together through a branch or loop that draws random numbers"
    if graph.base.stays_interpreted:
        return "eager code reads its variables after each call"
    if accelerators_of(replicated):
        return _why_not_on_accelerators(accelerators_of(replicated), replicated.count)
    if max(replicated.devices) >= devices.count():
        return (
            "the replicas have no devices of their own: tf.config.set_logical_device_configuration splits the "
            "processors into some"
        )
    return None


def accelerators_of(replicated) -> list:
    """The accelerators among the devices of replicas."""
    found = (device_use.accelerated.get(name) for name in replicated.names)
    return [accelerator for accelerator in found if accelerator is not None]


def _why_not_on_accelerators(found, count):
    if len(found) < count:
        return "only some of the replicas are on accelerators"
    if len({accelerator.physical.platform for accelerator in found}) > 1:
        return "the replicas are on accelerators of different kinds"
    if len({id(accelerator.physical) for accelerator in found}) < count:
        return "several replicas are on logical devices of one accelerator"
    return None


class _ReplicatedLowering(Lowering):
    """What `lower` gets as `ctx`: a check that fails on one replica fails on all."""

    _agreed: Any = False

    def _agree(self):
        if self.failed is not False and self.failed is not self._agreed:
            # In the dtype of most gradients: XLA makes one operation of both sums.
            self._agreed = self.failed = lax.psum(jnp.asarray(self.failed, jnp.float32), AXIS) > 0

    def assign_variable(self, handle, value):
        if self._before is not None:  # not within branches, where the others may not come by
            self._agree()
        super().assign_variable(handle, value)

    def final_failure(self):
        self._agree()
        return self.failed


class _ReplicatedWriter(Writer):
    """Makes the function of one replica, and spreads it over devices.

    Args:
        block, signature: as of `Writer`.
        where: the devices of jax that it is compiled for.

    Attributes:
        shapes: of what one replica has of each result.
        order: where each result is among those that the program returns: scalars that are no variables come last, each
            replica's as it is. Variables are parts of arrays over all devices, so that XLA does not take those of one
            replica for those of another.
    """

    _lowering = _ReplicatedLowering

    def __init__(self, block, signature, where):
        super().__init__(block, signature)
        self._where = where

    def lowered(self):
        block, signature = self._block, self._signature
        written = {signature.inputs[i] for i in block.written}
        if written & signature.shared_variables:
            raise CannotLower((0,), "strategy.run", "replicas change a variable that they have in common")
        self._written = written
        mesh = jax.sharding.Mesh(np.array(self._where), (AXIS,))
        own, common = jax.sharding.PartitionSpec(AXIS), jax.sharding.PartitionSpec()
        kinds = [(signature.inputs[i], block.input_types[i]._np, i in signature.shared) for i in self.arguments]
        if any(isinstance(shape, programs.ListSpec) for shape, _, _ in kinds):
            raise CannotLower((0,), "strategy.run", "a list of tensors that is given to replicas")
        kinds += [
            (signature.variables[i][0], signature.variables[i][1]._np, i in signature.shared_variables)
            for i in self.variables
        ]
        donated = [len(self.arguments) + k for k, i in enumerate(self.variables) if i in written]
        if self.streams:
            kinds.append(((len(self.streams), 3), np.dtype(np.uint64), False))
        specs = tuple(common if is_shared else own for _, _, is_shared in kinds)
        given = [
            jax.ShapeDtypeStruct(
                shape if is_shared else whole_shape(shape, signature.count), dtype,
                sharding=jax.sharding.NamedSharding(mesh, spec),
            )
            for (shape, dtype, is_shared), spec in zip(kinds, specs)
        ]  # fmt: skip
        local = functools.partial(self._on_replica, [shape for shape, _, _ in kinds])
        spread = jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=(own, common), check_vma=False)
        return jax.jit(spread, donate_argnums=donated, keep_unused=True).lower(*given)

    def _on_replica(self, shapes, *given):
        results = self._function(*(x.reshape(shape) for x, shape in zip(given, shapes)))
        if any(kind == LISTED for kind, _ in self.outputs):
            raise CannotLower((0,), "strategy.run", "a list of tensors that replicas return")
        self.shapes = [x.shape for x in results]
        scalars = [i for i, x in enumerate(results) if x.ndim == 0 and i >= len(self.updates)]
        parts = [i for i in range(len(results)) if i not in scalars]
        self.order = [(*parts, *scalars).index(i) for i in range(len(results))]
        return [results[i].reshape(results[i].shape or 1) for i in parts], [results[i] for i in scalars]


def whole_shape(shape, count) -> tuple:
    """The shape of the array over all devices, of which each has a part of `shape`."""
    return (shape[0] * count, *shape[1:]) if shape else (count,)


def build_replicated(block, signature, where, options) -> Built:
    """Compile what one replica does for several devices.

    Args:
        block, signature: see `programs.build`.
        where: the devices of jax, or others of their kind.
        options: for XLA.
    """
    with jax.enable_x64(True):
        writer = _ReplicatedWriter(block, signature, where)
        start = time.perf_counter()
        lowered = writer.lowered()
        between = time.perf_counter()
        compiled, unknown = programs.compiled_with(lowered, options)
        payload = pickle.dumps(serialize_executable.serialize(compiled))
    built = Built(
        payload, writer.arguments, writer.variables, writer.streams, writer.outputs, writer.updates, writer.fails
    )
    built.seconds = between - start, time.perf_counter() - between
    built.unknown_options = unknown
    built.shapes, built.order = writer.shapes, writer.order
    sizes = compiled.memory_analysis()
    built.temporary = sizes.temp_size_in_bytes
    built.fresh = sizes.output_size_in_bytes - sizes.alias_size_in_bytes
    built.draws = writer.draws
    built.collectives = collectives_in(compiled.as_text())
    return built


_COLLECTIVE = re.compile(r"= (.+?) (all-reduce|all-gather|reduce-scatter|collective-permute|all-to-all)(-start)?\(")
_ARRAY = re.compile(r"(pred|[a-z]+)(\d*)\[([\d,]*)\]")


def collectives_in(text: str) -> list:
    """The collectives of a compiled program, as (kind, bytes of the result) for each.

    Args:
        text: the program as XLA prints it.
    """
    found = []
    for shape, kind, _ in _COLLECTIVE.findall(text):
        size = 0
        for name, bits, sizes in _ARRAY.findall(shape):
            count = int(np.prod([int(n) for n in sizes.split(",") if n] or [1]))
            size += count * max(1, int(bits or 8) // 8) * (2 if name == "c" and bits == "" else 1)
        found.append((kind, size))
    return found


class Exchange:
    """What a program exchanges.

    Attributes:
        place: the user's code that the program is made of, as (file, line, function).
        count: over how many devices it runs.
        collectives: what it exchanges in a call, as `collectives_in` has it.
        calls: how often it has run.
    """

    def __init__(self, place, count, collectives):
        self.place = place
        self.count = count
        self.collectives = collectives
        self.calls = 0


exchanges: list[Exchange] = []  # of all programs that were loaded, for those who count


class ReplicatedProgram:
    """A loaded program of several devices; `run` is that of `programs.Program`, for the graph of all replicas.

    Args:
        built: the program.
        signature: what it is made for.
        replicated: the graph of one replica, and where its inputs are (graph/replicas).
        random_nodes: the operations of that graph behind the random streams, each with the calls that lead to it.
    """

    def __init__(self, built, signature, replicated, random_nodes):
        self.unknown_options = built.unknown_options
        self.collectives = built.collectives
        self._signature, self._built = signature, built
        self._positions = replicated.positions
        self.count = replicated.count
        self._load(replicated)
        place = next((node.location for node in replicated.graph.nodes if node.inputs), ("", 0, ""))
        self._exchange = Exchange(place, self.count, built.collectives)
        exchanges.append(self._exchange)
        self._streams = [
            [_of_replica(replicated, random_nodes[k], i) for k in built.streams] for i in range(self.count)
        ]
        self._known: Any = None
        self._storages: list = []  # for each variable of the program, those of its copies
        self._locked: list[Storage] = []
        self._resources = [
            own[i] for own in self._positions for i, x in enumerate(signature.inputs) if isinstance(x, int)
        ]
        # What all replicas have in common and is the same object in each call, as it is on the devices.
        self._kept: dict = dict.fromkeys(replicated.lasting & signature.shared)
        self._lock = threading.Lock()

    def run(self, arrays):
        """Run on the inputs of the graph of all replicas."""
        known = self._known
        if known is None or any(arrays[i] is not box for i, box in known):
            if not self._bind(arrays):
                return MISMATCH
        with jax.enable_x64(True), self._lock:
            given = [self._argument(i, arrays) for i in self._built.arguments]
            results, failed = self._call_with_streams(given)
        if results is None:
            return MISMATCH
        if failed:
            return None
        self._exchange.calls += 1
        columns = [self._output(kind, what, results, arrays) for kind, what in self._built.outputs]
        return [column[i] for i in range(self.count) for column in columns]

    def _output(self, kind, what, results, arrays):
        """What each replica has of an output."""
        if kind == COMPUTED:
            return [self._part(results, what, i) for i in range(self.count)]
        if kind == GIVEN:
            return [arrays[own[what]] for own in self._positions]
        return [what] * self.count

    def _bind(self, arrays):
        signature, storages = signature_of_replicas(arrays, self._positions)
        own = self._signature
        if signature is None or not own.fits(signature):
            return False
        self._storages = [storages[i] for i in self._built.variables]
        self._locked = sorted({id(x): x for copies in self._storages for x in copies}.values(), key=id)
        self._updates = [(storages[i], k) for i, k in self._built.updates]
        self._known = [(i, arrays[i]) for i in self._resources]
        return True

    def _argument(self, i, arrays):
        if i not in self._signature.shared:
            return self._put([arrays[own[i]] for own in self._positions], False, f"input {i}")
        array = arrays[self._positions[0][i]]
        kept = self._kept.get(i)
        if kept is not None and kept[0] is array:
            return kept[1]
        given = self._put([array] * self.count, True, f"input {i}")
        if i in self._kept:
            self._kept[i] = array, given
        return given

    def _call_with_streams(self, given):
        """The results, None when variables are not as expected; and whether a check has failed."""
        if not self._built.streams:
            results = self._call_with_variables(given)
            return results, results is not None and self._failed(results)
        streams = [[random_state.stream_of(*place) for place in places] for places in self._streams]
        state = self._put([programs.stream_rows(own) for own in streams], False, "the state of random numbers")
        results = self._call_with_variables(given, state)
        if results is None or self._failed(results):
            return results, results is not None
        draws = self._built.draws
        for i, own in enumerate(streams):
            if None in draws:
                for stream, count in zip(own, self._counts(results, i)):
                    stream.used = count
            else:  # how many are drawn is known beforehand: nothing need be read
                for stream, count in zip(own, draws):
                    stream.used += count
        return results, False

    def _failed(self, results):
        return self._built.fails and bool(self._part(results, -1, 0))

    def _counts(self, results, replica):
        return np.asarray(self._part(results, -2 if self._built.fails else -1, replica)).tolist()

    def _call_with_variables(self, given, *state):
        taken = []
        try:
            for storage in self._locked:
                storage.lock.acquire()
                taken.append(storage)
            for number, copies in zip(self._built.variables, self._storages):
                value = self._value(number, copies)
                if value is None:
                    return None
                given.append(value)
            results = self._invoke([*given, *state])
            for copies, k in self._updates:
                self._keep(copies, results[k], self._built.shapes[k])
        finally:
            for storage in taken:
                storage.lock.release()
        return results

    def _value(self, number, copies):
        """The values of the copies of a variable as an array over all devices; None when one is not as expected."""
        whole = self._whole_of([copy.device for copy in copies])
        if whole is not None:
            return whole
        shape = self._signature.variables[number][0]
        if any(not copy.is_initialized or copy.value_shape != shape for copy in copies):
            return None
        is_shared = number in self._signature.shared_variables
        whole = self._arrived(copies, is_shared)
        if not is_shared:
            self._keep(copies, whole, shape)  # from now on they are there
        return whole

    # What depends on where the devices are.

    def _load(self, replicated):
        where = devices.chosen(replicated.devices)
        self._devices, self._where = where, tuple(replicated.devices)
        self._call = devices.loaded(self._built.payload, where)
        mesh = jax.sharding.Mesh(np.array(where), (AXIS,))
        self._own = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(AXIS))
        self._common = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())

    def _invoke(self, given):
        """Call the program; its results in order."""
        parts, scalars = self._call(*given)
        found = [*parts, *scalars]
        return [found[i] for i in self._built.order]

    def _put(self, parts, is_shared, what):
        """Arrays of the host, one for each replica, as an array over all devices."""
        parts = [part if type(part) is np.ndarray else np.asarray(part) for part in parts]
        first = parts[0]
        shape = first.shape if is_shared else whole_shape(first.shape, self.count)
        if not is_shared and not first.shape:
            parts = [part.reshape(1) for part in parts]
        kind = devices.described(shape, first.dtype)
        return xla_client.batched_device_put(kind, self._common if is_shared else self._own, parts, self._devices)

    def _part(self, results, at, replica):
        """What a replica has of a result."""
        return np.asarray(results[at].addressable_shards[replica].data)

    def _whole_of(self, values):
        """The array whose parts values of variables are; None if they are not those of one."""
        first = values[0]
        return first.whole if type(first) is ReplicaPart and first.where == self._where and _is_whole(values) else None

    def _arrived(self, copies, is_shared):
        """The values of the copies of a variable, from elsewhere."""
        parts = [copy.read() for copy in copies]
        # A program changes what it is given: each copy needs memory of its own, which nobody else has.
        return self._put(parts if is_shared else [_owned(part) for part in parts], is_shared, "")

    def _keep(self, copies, whole, shape):
        """Let the copies of a variable have their parts of an array."""
        for i, storage in enumerate(copies):
            storage.device = ReplicaPart(whole, i, shape, self._where)
            storage.value = None


def _is_whole(parts):
    """Whether values of variables are the parts of one array, in order."""
    whole = parts[0].whole
    return all(type(part) is ReplicaPart and part.whole is whole and part.index == i for i, part in enumerate(parts))


def _owned(part):
    copy = aligned_empty(part.shape, part.dtype)
    np.copyto(copy, part)
    return copy


def _of_replica(replicated, place, replica):
    """Where a replica draws from, in the graph of all, where the graph of one has an operation that draws."""
    node, calls = place
    nodes = replicated.nodes
    outermost = calls[0] if calls else node
    if id(outermost) not in nodes:
        return node, calls
    own = nodes[id(outermost)][replica]
    return (node, (own, *calls[1:])) if calls else (own, ())


def options_of_replicas(block, count) -> dict:
    """The compiler's options for what one of so many replicas does on this machine's processors."""
    return programs.options_of(block) | _PATIENT | _ALIKE


def block_of_replica(replicated):
    """The block of what one replica does, and its operations that draw random numbers."""
    builder = BlockBuilder()
    block = builder.of_plan(replicated.graph.plan())
    instructions = _with_joined_sums(block.instructions)
    return Block(block.input_types, instructions, block.outputs, block.size), builder.random_nodes


def _with_joined_sums(instructions):
    """Instructions in which sums of one dtype that follow each other, as those of gradients do, are one."""
    found: list = []
    for x in instructions:
        last = found[-1] if found else None
        if last is None or not _may_be_joined(last, x):
            found.append(x)
            continue
        inputs, outputs = (*last.inputs, *x.inputs), (*last.outputs, *x.outputs)
        dtypes = (*last.dtypes, *x.dtypes)
        found[-1] = Instruction(
            ALL_REDUCE_SEVERAL.name, inputs, (len(inputs),), {}, outputs, dtypes, last.place, None
        )
    return found


def _may_be_joined(before, after):
    if after.op != ALL_REDUCE.name or before.op not in _SUMS or before.dtypes[0] is not after.dtypes[0]:
        return False
    return after.inputs[0] not in before.outputs  # a sum of a sum comes after it


_SUMS = (ALL_REDUCE.name, ALL_REDUCE_SEVERAL.name)
