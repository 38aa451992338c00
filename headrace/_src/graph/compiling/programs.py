"""Compiled programs: made from a block for certain shapes, loaded, and called."""

import math
import pickle
import re
import threading
import time
from typing import Any, NamedTuple

import numpy as np

from headrace._src.core import operating_system
from headrace._src.core.device_use import ElsewhereValue
from headrace._src.core.large_arrays import ALIGNMENT, WORTH_ALIGNING, aligned_empty
from headrace._src.core.lazy import LazyModule, jax, jax_programs, jnp, serialize_executable
from headrace._src.core.random_state import random_state
from headrace._src.graph.compiling import devices
from headrace._src.graph.compiling.blocks import inner_blocks
from headrace._src.graph.compiling.lowered_values import Opaque, VariableHandle
from headrace._src.graph.compiling.lowering import CannotLower, Lowering
from headrace._src.op.definition import REGISTRY
from headrace._src.op.traits import CONVOLUTION, FILTER_GRADIENT
from headrace._src.ops.tensor_lists.lowering import LoweredList
from headrace._src.ops.tensor_lists.values import TensorList, boxed
from headrace._src.state.storage import Storage

# For those who compile.
_joined_pads = LazyModule("headrace._src.graph.compiling.joined_pads")
_pinned_values = LazyModule("headrace._src.graph.compiling.pinned_values")
_products = LazyModule("headrace._src.graph.compiling.products")
_unrolled_products = LazyModule("headrace._src.graph.compiling.unrolled_products")

# One thread for making machine code: compiling must not take all processors.
OPTIONS = {"xla_cpu_parallel_codegen_split_count": 1}
# In programs with loops, instructions work on as many numbers as registers have room for. XLA's own choice is half of
# that where there are AVX-512 registers; elsewhere this changes nothing.
_WIDE = {"xla_cpu_prefer_vector_width": 512}
# What the library behind XLA's products (YNN) is left where there are convolutions, for which it takes one thread where
# XLA's own take all: docs/decisions/0049.
_LIBRARY_TAKES = "xla_cpu_experimental_ynn_fusion_type"
_PRODUCTS, _REDUCTIONS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT", "LIBRARY_FUSION_TYPE_REDUCE"

# Up to so many operations, and bytes that are read and written, a program runs in the thread that calls it. An
# exponential function, a logarithm and the like count as so many operations. docs/decisions/0028 has the measurements.
_SOON_COMPUTED, _SOON_READ, _EACH_FUNCTION = 24e6, 6e6, 20

# What XLA says of an option that it does not know.
_UNKNOWN_OPTION = re.compile("No such compile option: '([^']*)'")

# Where an output of the function comes from.
COMPUTED, GIVEN, CONSTANT, LISTED = "computed", "given", "constant", "listed"


class Signature:
    """What a program is specialised to.

    Attributes:
        inputs: for each input its shape, the number of the variable or the `ListSpec` of the list it is, or None for
            anything else.
        variables: for each variable the shape of its value, its dtype, and its declared shape.
    """

    def __init__(self, inputs, variables):
        self.inputs = inputs
        self.variables = variables

    def __eq__(self, other):
        return isinstance(other, Signature) and self.inputs == other.inputs and self.variables == other.variables

    def __hash__(self):
        return hash(self.inputs)

    def build(self, block) -> "Built":
        """Compile a block for this signature; see `build`."""
        return build(block, self)


class ListSpec(NamedTuple):
    """A list of tensors, all of them set and of one shape."""

    dtype: np.dtype
    declared: tuple | None
    length: int
    shape: tuple


def _list_spec(value):
    """The spec of a list; None when a program cannot have it."""
    arrays = value.arrays()
    if value.dtype.hasobject or not arrays or any(x is None or x.shape != arrays[0].shape for x in arrays):
        return None
    return ListSpec(value.dtype, value.shape, value.length, arrays[0].shape)


def signature_of(arrays):
    """The signature of a call, and the storages of its variables; None when a variable has no value."""
    inputs, storages, numbers = [], [], {}
    for array in arrays:
        if not array.dtype.hasobject:
            inputs.append(array.shape)
            continue
        storage = array[()] if array.ndim == 0 else None
        if isinstance(storage, TensorList):
            inputs.append(_list_spec(storage))
            continue
        if not isinstance(storage, Storage) or storage.dtype._np.hasobject:
            inputs.append(None)
            continue
        if id(storage) not in numbers:
            numbers[id(storage)] = len(storages)
            storages.append(storage)
        inputs.append(numbers[id(storage)])
    variables = []
    for storage in storages:
        if not storage.is_initialized:
            return None, None
        variables.append((storage.value_shape, storage.dtype, storage.shape))
    return Signature(tuple(inputs), variables), storages


class Built:
    """A program that can be sent to another process, and how it is called.

    Attributes:
        payload: the executable and the trees of its arguments and results, pickled.
        arguments: positions of the inputs that are its first arguments; the values of `variables` follow, and then,
            if it draws random numbers from `streams`, their state.
        outputs: for each output of the function (COMPUTED, position), (GIVEN, input), (CONSTANT, array), or for a list
            (LISTED, (position of the elements, length or position of the length, whether it is a position, shape)).
        updates: for each variable that gets a new value, (number, position of the result).
        fails: whether the last result says that a check has failed.
        seconds: how long it took to lower it, and to compile it.
        unknown_options: options for the compiler that this release of XLA does not know.
        temporary: how many bytes it needs while it runs.
        fresh: how many bytes its results take that are not in memory that it was given.
        is_soon_done: whether threads would wait for each other longer than they save.
        draws: for each stream how many blocks it uses, None where that depends on values.
        shapes: of the results of one replica, of a program of several devices.
        order: where each of these results is among those that the program returns.
        collectives: what replicas do together in it, as (kind, bytes) for each.
    """

    seconds = (0.0, 0.0)
    unknown_options: tuple[str, ...] = ()
    temporary = 0
    fresh = 0
    is_soon_done = False
    draws: tuple = ()
    shapes: tuple = ()
    order: tuple = ()
    collectives: tuple = ()

    def __init__(self, payload, arguments, variables, streams, outputs, updates, fails):
        self.payload = payload
        self.arguments = arguments
        self.variables = variables
        self.streams = streams
        self.outputs = outputs
        self.updates = updates
        self.fails = fails


def build(block, signature) -> Built:
    """Compile a block for a signature.

    Raises:
        CannotLower: an instruction that a program cannot have.
    """
    return build_on(devices.compiling(1)[0], block, signature, options_of(block))


def build_on(device, block, signature, options) -> Built:
    """The same for a device of jax.

    Args:
        device: the device, or one of its kind.
        block, signature: see `build`.
        options: for XLA.
    """
    with jax.enable_x64(True), jax.default_device(device):
        writer = Writer(block, signature)
        start = time.perf_counter()
        lowered = writer.lowered(on_host=device.platform == "cpu")
        between = time.perf_counter()
        compiled, unknown = compiled_with(lowered, options)
        payload = pickle.dumps(serialize_executable.serialize(compiled))
    built = Built(
        payload, writer.arguments, writer.variables, writer.streams, writer.outputs, writer.updates, writer.fails
    )
    built.seconds = between - start, time.perf_counter() - between
    built.unknown_options = unknown
    sizes = compiled.memory_analysis()
    built.temporary = sizes.temp_size_in_bytes
    built.fresh = sizes.output_size_in_bytes - sizes.alias_size_in_bytes
    built.is_soon_done = device.platform == "cpu" and _is_soon_done(compiled, built.variables, signature)
    built.draws = writer.draws
    return built


def _is_soon_done(compiled, variables, signature):
    """Whether a program takes longer with several threads than with one, as XLA counts its work: loops once."""
    if sum(math.prod(signature.variables[i][0]) * signature.variables[i][1].size for i in variables) > _SOON_READ:
        return False  # a value that goes to and fro between programs with one thread and with several is copied
    work = compiled.cost_analysis() or {}
    operations = work.get("flops", math.inf) + _EACH_FUNCTION * work.get("transcendentals", 0.0)
    return operations <= _SOON_COMPUTED and work.get("bytes accessed", math.inf) <= _SOON_READ


def options_of(block) -> dict:
    """The compiler's options for a block."""
    if block.loops:
        return OPTIONS | _WIDE
    if _has(CONVOLUTION, block):
        return OPTIONS | {_LIBRARY_TAKES: f"{_PRODUCTS},{_REDUCTIONS}"}
    return OPTIONS


def _only_applies_filters(block):
    """Whether there are convolutions, and what comes after them is not also needed for gradients."""
    return _has(CONVOLUTION, block) and not _has(FILTER_GRADIENT, block)


def _has(trait, block):
    return any(
        trait in REGISTRY[x.op].traits or any(_has(trait, inner) for inner in inner_blocks(x))
        for x in block.instructions
    )


def compiled_with(lowered, options):
    """What jax has lowered, compiled; and the options that this release of XLA does not know, each dropped alone."""
    options, unknown = dict(options), []
    while True:
        try:
            return lowered.compile(compiler_options=options), tuple(unknown)
        except jax.errors.JaxRuntimeError as error:
            found = _UNKNOWN_OPTION.search(str(error))
            if found is None or found[1] not in options:
                raise
            unknown.append(found[1])
            del options[found[1]]


class Writer:
    """Makes the function that is compiled."""

    _lowering: Any = Lowering

    def __init__(self, block, signature):
        self._block, self._signature = block, signature
        used = {i for instruction in block.instructions for i in instruction.inputs} | set(block.outputs)
        self.arguments = [i for i, x in enumerate(signature.inputs) if isinstance(x, tuple) and i in used]  # lists too
        self.variables = sorted({x for i, x in enumerate(signature.inputs) if isinstance(x, int) and i in used})
        self.streams = sorted(block.streams)

    def lowered(self, on_host):
        """The function, lowered for the signature; `on_host`: for a CPU."""
        block, signature = self._block, self._signature
        shapes = [_shaped(signature.inputs[i], block.input_types[i]) for i in self.arguments]
        known = [signature.variables[i] for i in self.variables]
        values = [jax.ShapeDtypeStruct(shape, dtype._np) for shape, dtype, _ in known]
        streams = [jax.ShapeDtypeStruct((len(self.streams), 3), np.uint64)] if self.streams else []
        self._written = {signature.inputs[i] for i in block.written}
        donated = [len(shapes) + k for k, i in enumerate(self.variables) if i in self._written]
        given = [*shapes, *values, *streams]
        traced = jax.jit(self._function, donate_argnums=donated, keep_unused=True).trace(*given)
        rules = _unrolled_products.joined_products, _joined_pads.joined_pads
        program = _products.with_sums_replaced(traced.jaxpr, *rules)
        if on_host:
            program = _pinned_values.with_values_pinned(program)
        if program is traced.jaxpr:
            return traced.lower()
        return jax.jit(jax_programs.jaxpr_as_fun(program), donate_argnums=donated, keep_unused=True).lower(*given)

    def _function(self, *given):
        block, signature = self._block, self._signature
        count = len(self.arguments)
        traced = dict(zip(self.arguments, given))
        variables = [None] * len(signature.variables)
        for i, value in zip(self.variables, given[count:]):
            variables[i] = value
        before = list(variables)
        streams = given[-1] if self.streams else None
        used = {number: streams[k, 2] for k, number in enumerate(self.streams)}
        seeds = {number: streams[k, :2] for k, number in enumerate(self.streams)}
        ctx = self._lowering(variables, dict(used), seeds, keeps=True)
        ctx.windows_are_joined = _only_applies_filters(block)
        inputs = []
        for i, x in enumerate(signature.inputs):
            if isinstance(x, ListSpec) and i in traced:
                inputs.append(LoweredList(x.dtype, x.declared, x.length, x.length, traced[i], written=True))
            elif i in traced:
                inputs.append(traced[i])
            elif isinstance(x, int):
                inputs.append(VariableHandle(x, *signature.variables[x][1:]))
            else:
                inputs.append(Opaque(i))
        results = ctx.run_all(block, inputs)
        failed = ctx.final_failure()
        self.fails = failed is not False

        def kept(new, old):
            return jnp.where(failed, old, new) if self.fails else new

        # Variables come first: XLA gives memory that is handed over to the first result of the same shape.
        self.updates, computed = [], []
        for i in self.variables:
            if i in self._written or ctx.variables[i] is not before[i]:  # what is donated must come back
                self.updates.append((i, len(computed)))
                computed.append(ctx.final_value(i, before[i]))
        self.outputs = []
        for x, slot in zip(results, block.outputs):
            same = [i for i, y in enumerate(inputs) if x is y or (isinstance(x, VariableHandle) and x == y)]
            if same:
                self.outputs.append((GIVEN, same[0]))
            elif isinstance(x, np.ndarray):
                self.outputs.append((CONSTANT, x))
            elif isinstance(x, jax.Array):
                self.outputs.append((COMPUTED, len(computed)))
                computed.append(x)
            elif isinstance(x, LoweredList) and x.element_shape is not None and None not in x.element_shape:
                x = x.full()
                at = len(computed)
                computed.append(x.array)
                fixed = isinstance(x.length, int)
                if not fixed:
                    computed.append(x.length)
                self.outputs.append((LISTED, (at, x.length if fixed else at + 1, fixed, x.declared)))
            else:
                made_by = next(y for y in block.instructions if slot in y.outputs)
                raise CannotLower((made_by.place,), made_by.op, "a list or object that is an output")
        self.draws = tuple(ctx.drawn(i) for i in self.streams)
        if self.streams:
            computed.append(jnp.stack([kept(ctx.used[i], used[i]) for i in self.streams]))
        if self.fails:
            computed.append(failed)
        return computed


def _shaped(shape, dtype):
    if isinstance(shape, ListSpec):
        return jax.ShapeDtypeStruct((shape.length, *shape.shape), shape.dtype)
    return jax.ShapeDtypeStruct(shape, dtype._np)


def listed(results, at, length, is_fixed, declared):
    """A list of what a program has computed."""
    rows = np.asarray(results[at])
    count = length if is_fixed else int(results[length])
    items = {i: rows[i, ...] for i in range(count)}
    return boxed(TensorList(rows.dtype, declared, items, count))


def stream_rows(streams) -> np.ndarray:
    """The state of random streams as a program takes it."""
    mask = (1 << 64) - 1
    return np.array([[s.seed & mask, s.seed2 & mask, s.used & mask] for s in streams], np.uint64)


def _in_kept_memory(call):
    """The call of a program whose temporary memory would else be given back each time, and asked for anew."""

    def in_kept_memory(*arguments):
        with _kept_memory:
            return call(*arguments)

    in_kept_memory.__wrapped__ = call  # type: ignore[attr-defined]  # for those who want to know what the program is
    return in_kept_memory


_kept_memory = operating_system.KeptMemory()
MISMATCH = object()


class Donations:
    """How often programs were given the memory of a variable for its new value, counted while `watched`.

    It fails, and costs a copy, when someone looks at the old value.
    """

    watched = False
    made = 0
    failed = 0


def _copied(array):
    """An array that nobody else has. A mapped file, which nobody can change, is as good as a copy and may be large."""
    return array if operating_system.is_mapped_file(array) else array.copy()


class Program:
    """A loaded program.

    `run` returns the outputs; None when a check has failed, and then nothing has changed; MISMATCH when the variables
    are not as the program expects them.
    """

    def __init__(self, built, signature, random_nodes, fixed):
        """
        Args:
            built: the program.
            signature: what it is made for.
            random_nodes: the operations behind its random streams, each with the calls that lead to it.
            fixed: inputs from this position on are the same arrays in every call (captured tensors).
        """
        self._load(built)
        self.unknown_options = built.unknown_options
        self._signature = signature
        self._arguments = built.arguments
        self._outputs = built.outputs
        self._fails = built.fails
        self._numbers = built.variables
        self._updated = built.updates
        self._updates: list = []
        self._state = None
        self._nodes = [random_nodes[i] for i in built.streams]
        self._known = None  # the handles that the storages below are of
        # What is looked at anew when it is not the same object: variables, and lists, whose lengths may differ.
        self._resources = [i for i, x in enumerate(signature.inputs) if isinstance(x, (int, ListSpec))]
        self._lists = frozenset(i for i, x in enumerate(signature.inputs) if isinstance(x, ListSpec))
        self._storages: list[Storage] = []
        self._locked: list[Storage] = []
        self._shapes = [signature.variables[i][0] for i in built.variables]
        self._lock = threading.Lock()
        self._kept = {i: None for i in built.arguments if i >= fixed}
        self._only_computed = all(kind == COMPUTED for kind, _ in built.outputs)
        self._stages: list = []
        self._lock_of_stages = threading.Lock()
        self._positions = [what for kind, what in built.outputs if kind == COMPUTED]

    def _load(self, built):
        # This imports jax, before anything of it is unpickled.
        self._host = devices.host_of_one_thread() if built.is_soon_done else devices.host()
        self._call = self._host.loaded(built.payload)
        if built.temporary > operating_system.LARGEST_KEPT:
            operating_system.keep_free(built.temporary)
            self._call = _in_kept_memory(self._call)

    def run(self, arrays):
        """Run on the inputs of the function."""
        known = self._known
        if known is None or any(arrays[i] is not box for i, box in known):
            if not self._bind(arrays):
                return MISMATCH
        staged: list = []
        given = [self._argument(i, arrays[i], staged) for i in self._arguments]
        with jax.enable_x64(True):
            if self._nodes:
                with self._lock:
                    results = self._call_with_streams(given)
            else:
                results = self._call_with_variables(given)
        if results is None:
            return MISMATCH
        if staged:
            results[0].block_until_ready()  # all are there when one is
            self._stages.extend(staged)
        if self._fails and np.asarray(results[-1]):
            return None
        if self._only_computed:
            return [np.asarray(results[i]) for i in self._positions]
        outputs = []
        for kind, what in self._outputs:
            if kind == COMPUTED:
                outputs.append(np.asarray(results[what]))
            elif kind == LISTED:
                outputs.append(listed(results, *what))
            else:
                outputs.append(arrays[what] if kind == GIVEN else what)
        return outputs

    def warm_up(self, arrays):
        """Run once on copies of the variables, for nothing: the first run of machine code takes longer.

        Args:
            arrays: the inputs of a call. Other values might never end a loop that draws until a number fits.
        """
        signature, storages = signature_of(arrays)
        if signature != self._signature:
            return
        staged: list = []
        given = [self._argument(i, arrays[i], staged) for i in self._arguments]
        with jax.enable_x64(True):
            given += [self._host.to_device(_copied(storages[i].read())) for i in self._numbers]
            if self._nodes:
                given.append(np.zeros((len(self._nodes), 3), np.uint64))
            results = self._call(*given)
            for i in self._positions:
                np.asarray(results[i])
        self._stages.extend(staged)

    def _argument(self, i, array, staged):
        """An input as it is passed on; what is captured is put on the device once."""
        if i in self._lists:
            return np.stack(array[()].arrays())
        if i not in self._kept:
            if array.nbytes < WORTH_ALIGNING or array.__array_interface__["data"][0] % ALIGNMENT == 0:
                return array
            # XLA would copy it to fresh memory, which costs several times as much as copying to memory in use.
            stage = self._stage_like(array)
            np.copyto(stage[1], array)
            staged.append(stage)
            return stage[1]
        kept = self._kept[i]
        if kept is None or kept[0] is not array:
            kept = self._kept[i] = (array, self._host.to_device(array))
        return kept[1]

    def _stage_like(self, array):
        """(shape and dtype, aligned memory for such an array), which nobody uses now."""
        kind = array.shape, array.dtype
        with self._lock_of_stages:
            for k, stage in enumerate(self._stages):
                if stage[0] == kind:
                    return self._stages.pop(k)
        return kind, aligned_empty(*kind)

    def _bind(self, arrays):
        """Find the storages behind the handles; whether they are as the program expects them."""
        signature, storages = signature_of(arrays)
        if signature != self._signature:
            return False
        self._bind_to(arrays, storages)
        return True

    def _bind_to(self, arrays, storages):
        self._storages = [storages[i] for i in self._numbers]
        self._locked = sorted(self._storages, key=id)
        self._updates = [(storages[i], k) for i, k in self._updated]
        self._known = [(i, arrays[i]) for i in self._resources]

    def _call_with_variables(self, given):
        taken = []
        try:
            for storage in self._locked:
                storage.lock.acquire()
                taken.append(storage)
            arrived = self._add_values(given)
            if arrived is None:
                return None
            if self._nodes:
                given.append(self._state)
            watched = Donations.watched and not arrived
            before = [storage.device.unsafe_buffer_pointer() for storage, _ in self._updates] if watched else ()
            results = self._call(*given)
            host = self._host
            for storage, k in self._updates:
                storage.device, storage.host = results[k], host
            for (_, k), pointer in zip(self._updates, before):
                Donations.made += 1
                Donations.failed += results[k].unsafe_buffer_pointer() != pointer
        finally:
            for storage in taken:
                storage.lock.release()
        return results

    def _add_values(self, given):
        """Append the values of the variables; whether some came from NumPy, None when one is not as it should be."""
        arrived, host = False, self._host
        for storage, shape in zip(self._storages, self._shapes):
            value = storage.device
            if value is None:
                value = storage.value
                if value is None:
                    return None
                if value.shape == shape:
                    value = storage.device = host.to_device(value)
                    storage.value, storage.host = None, host
                    arrived = True
            if value.shape != shape:
                return None
            if storage.host is not host or isinstance(value, ElsewhereValue):
                # On the other host, on a device of a strategy's replica, or on an accelerator.
                value = storage.device = host.to_device(storage.read())
                storage.host = host
                arrived = True
            given.append(value)
        return arrived

    def _call_with_streams(self, given):
        streams = [random_state.stream_of(node, calls) for node, calls in self._nodes]
        self._state = stream_rows(streams)  # only this thread is here
        results = self._call_with_variables(given)
        if results is not None:
            used = np.asarray(results[-2 if self._fails else -1])
            for stream, count in zip(streams, used.tolist()):
                stream.used = count
        return results
