"""When a graph is compiled, and what runs it until then."""

import math
import os
import threading
import time

from headrace._src.core import device_use, errors, operating_system
from headrace._src.core.lazy import LazyModule
from headrace._src.core.random_state import random_state
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.operation import called_graphs
from headrace._src.graph.compiling import queue as compile_queue
from headrace._src.graph.compiling.blocks import BlockBuilder
from headrace._src.graph.compiling.lowering import CannotLower
from headrace._src.graph.compiling.programs import MISMATCH, Program, signature_of
from headrace._src.graph.compiling.replicated import (
    ReplicatedProgram,
    accelerators_of,
    block_of_replica,
    runs_on_devices,
    signature_of_replicas,
)
from headrace._src.graph.compiling.segments import Segmented, host_steps, path_to_host
from headrace._src.graph.running import estimates
from headrace._src.op.api import api
from headrace._src.op.traits import BETWEEN_PROGRAMS, CONVOLUTION, LOOPS
from headrace._src.ops.arrays.filling import CONST

# Where there are any.
_accelerated = LazyModule("headrace._src.graph.compiling.accelerated")
_accelerated_replicas = LazyModule("headrace._src.graph.compiling.accelerated_replicas")

# A call of a program takes as long as this many operations one by one.
_FEW = 24
# The call with the same shapes at which a program is ordered.
_SEEN = 2
# How many shapes of a function are compiled, and how many are remembered.
_PROGRAMS, _REMEMBERED = 5, 64
# Programs are tried in the background if variables and inputs have at most so many bytes.
_MOST_TO_TRY = 1 << 26
# A graph of more operations, those of inner graphs included, is interpreted: compiling takes longer than in proportion
# (3,000 operations 6 s, 1,000 less than one), and holds up all other programs meanwhile. `jit_compile=True` compiles
# graphs of any size.
_MOST_OPERATIONS = 10_000
# After `_TRIALS` runs, a program is given up if it takes more than `_SLOWER` times as long as the interpreter, on the
# clock and in processor time: the first is longer where other work has the processors, the second where a program uses
# more of them. That is not done for less than `_NOTICEABLE` seconds: such times depend too much on other work.
_TRIALS, _SLOWER, _NOTICEABLE = 8, 1.1, 0.002
# With a global seed, programs take over at a fixed call: this one, later for large graphs. Where there are loops, it is
# the third, or the first one before which the interpreter has taken so many seconds, by an estimate: about as long as
# compiling takes, for which a short training would else wait.
_SEEDED, _OPERATIONS_PER_CALL, _SEEDED_LOOP, _WORTH_WAITING = 32, 8, 3, 3.0
# That call waits for the compiling process about as long as it takes, in seconds, and then compiles by itself.
_PATIENCE, _PATIENCE_PER_OPERATION = 3.0, 0.01


class _Settings:
    """What the user has decided, and whether this process can run programs."""

    enabled = os.environ.get("HEADRACE_COMPILE", "1") != "0"
    forked = False


def _after_fork():
    # The threads of the compiled programs are not here.
    _Settings.forked = True


operating_system.at_fork(in_child=_after_fork)


@api("config.experimental.set_background_compilation", dispatch=False)
def set_background_compilation(enabled) -> None:
    """Whether functions that are called often are compiled. By default they are.

    Functions with `jit_compile=True` are compiled in any case. The environment variable `HEADRACE_COMPILE=0` has the
    same effect from the start of a program. Compiled programs are kept from run to run in the user's cache folder;
    `HEADRACE_COMPILE_CACHE` names another one (`0`: none are kept), `HEADRACE_COMPILE_CACHE_MB` says how many
    megabytes.

    Args:
        enabled: False keeps to the interpreter.
    """
    _Settings.enabled = bool(enabled)


# From this many elements on, XLA's convolutions gain more than the call of a program costs.
_LARGE_CONVOLUTION = 1 << 14


def is_mostly_products(steps) -> bool:
    """Whether most of the interpreter's time goes into matrix products, which XLA's CPU code does no faster.

    Compiling such a graph would take long and gain nothing. This depends on shapes alone, so that seeded runs decide
    alike.
    """
    work, others = 0.0, 0.0
    for node in steps:
        if node.record.calls_functions or CONVOLUTION in node.record.traits:
            return False
        seconds = estimates.product_seconds(node)
        if seconds is None:
            return False
        work += seconds
        others += estimates.other_seconds(node)
    return work > 2 * others


def _is_large(node):
    """Whether an operation has an input of many elements, or one whose size is not known."""
    sizes = [x.shape.num_elements() for x in node.inputs]
    return any(size is None or size >= _LARGE_CONVOLUTION for size in sizes)


def is_worthwhile(steps) -> bool:
    """Whether a program would be faster than the interpreter: many operations, a loop, or a large convolution."""
    if is_mostly_products(steps):
        return False
    count = 0
    pending = [steps]
    while pending:
        for node in pending.pop():
            if node.record is CONST:
                continue
            count += 1
            traits = node.record.traits
            if LOOPS in traits or count >= _FEW or (CONVOLUTION in traits and _is_large(node)):
                return True
            if node.record.calls_functions:
                pending.extend(graph.plan().steps for graph in called_graphs(node.attrs))
    return False


class Executable:
    """What runs a graph, or a part of one: `run(list of arrays) -> list of arrays`.

    It begins with the interpreter and goes on with programs when they are there. It does not hold the graph.
    """

    def __init__(self, plan, fixed=None, must_compile=False, name="", is_seeded=False):
        """
        Args:
            plan: the interpreter's plan.
            fixed: from which position on the inputs are the same in all calls.
            must_compile: compile before the first call, and refuse what TensorFlow could not compile either.
            name: of the function, for messages.
            is_seeded: whether the graph has a seed, which counts as a global one.
        """
        self.plan = plan
        self.is_seeded = is_seeded
        self.most_programs = _PROGRAMS
        self.fixed = len(plan.inputs) if fixed is None else fixed
        self.must_compile = must_compile
        self.name = name
        # How many of the first inputs are memory of the caller's. Programs have read them when they return; the
        # interpreter may keep them as values of variables, and gets copies.
        self.lent = 0
        self._block = None
        self._lock = threading.Lock()
        self._begin()

    def _begin(self):
        """Know of no calls yet."""
        self.reason = ""  # why it is interpreted, if that is settled
        self._entries: dict = {}
        self._programs = 0
        self._is_exact = self.must_compile or self.is_seeded or random_state.is_exact
        # Positions of the operations that only the host can run; replicas with a program of their own are among them,
        # unless all must be one program.
        self.hosts = host_steps(self.plan.steps, apart=not self.must_compile)
        self.segmented = Segmented(self.plan, self.hosts, self._part) if self.hosts and not self.must_compile else None

    def run(self, arrays):
        """Run on the inputs. `arrays` may be empty afterwards."""
        if not self._is_exact and random_state.is_exact:
            self._begin_anew()
        if self.segmented is not None:
            return self.segmented.run(self.owned(arrays))
        # How often each shape is seen is counted, until there is a program for it.
        entry = self._entries.get(key := tuple([x.shape for x in arrays]))
        if entry is None:
            entry = self._new_entry(key)
        return entry.run(self, arrays)

    def _begin_anew(self):
        # What came of earlier calls depends on how long compiling took. Nothing after the seed may.
        with self._lock:
            if not self._is_exact:
                self._begin()

    def _new_entry(self, key):
        with self._lock:
            if len(self._entries) >= _REMEMBERED:
                for old, entry in list(self._entries.items()):
                    if entry.program is None:
                        del self._entries[old]
            entry = self._entries[key] = _Entry(self.must_compile)
            return entry

    # For the entries.

    def interpret(self, arrays):
        """Run without a program."""
        return self.plan.run(self.owned(arrays))

    def owned(self, arrays):
        """The inputs, with copies of those that are the caller's."""
        return [*(array.copy() for array in arrays[: self.lent]), *arrays[self.lent :]] if self.lent else arrays

    def signature(self, arrays):
        """What a program for this call is specialised to; None when there can be none."""
        return signature_of(arrays)[0]

    def loader(self, signature):
        """A function of a `Built` that loads it. It does not hold this executable."""
        nodes, fixed = self.block()[1], self.fixed
        return lambda built: Program(built, signature, nodes, fixed)

    def block(self):
        """The block of the graph and the operations that draw random numbers."""
        with self._lock:
            if self._block is None:
                builder = BlockBuilder()
                block = builder.of_plan(self.plan)
                self._block = block, builder.random_nodes
            return self._block

    def may_compile_another(self) -> bool:
        """Whether one more shape may be compiled; counts it."""
        count = self.block()[0].count
        with self._lock:
            if count > _MOST_OPERATIONS:
                most = f"{_MOST_OPERATIONS:,}"
                self.reason = f"it has {count:,} operations, and graphs of more than {most} are not compiled"
                return False
            if self._programs >= self.most_programs:
                self.reason = f"it was called with more than {self.most_programs} shapes"
                return False
            self._programs += 1
            return True

    def split(self, error):
        """Take out an operation that only the host can run, and compile the rest."""
        node = self.plan.steps[error.path[0]]
        with self._lock:
            if error.path[0] not in self.hosts:
                self.reason = f"{node.name} ({error.op}): {error.reason}"
                self.split_at(self.hosts | {error.path[0], *error.others})

    def split_at(self, hosts):
        """Let the host run the operations at these places, and compile the rest."""
        self.hosts = hosts
        self.segmented = Segmented(self.plan, hosts, self._part)

    def _part(self, plan):
        """What runs a part of the graph."""
        return executable_of_plan(plan, self.name, self.is_seeded)

    @property
    def state(self) -> str:
        """How it runs now, in words, for `explain`."""
        entries = list(self._entries.values())
        compiled = sum(entry.program is not None for entry in entries)
        if compiled:
            unknown = sorted({name for entry in entries if entry.program for name in entry.program.unknown_options})
            without = f", without the options {', '.join(unknown)}, which this release of XLA does not know"
            seen = f"compiled for {compiled} of {len(entries)} combinations of shapes that were seen"
            return seen + without if unknown else seen
        if self.reason:
            return f"interpreted: {self.reason}"
        if any(entry._job is not None for entry in entries):
            return "interpreted, a program is being compiled"
        if not _Settings.enabled and not self.must_compile:
            return "interpreted: compiling is switched off"
        return "interpreted so far: programs are made of what is called again with the same shapes"

    @property
    def is_being_compiled(self) -> bool:
        """Whether a program for it is on its way."""
        jobs = [entry._job for entry in list(self._entries.values())]
        return any(job is not None and not job.done for job in jobs)

    def refuse(self, error):
        """The error of a function that must be compiled and cannot be."""
        node = _located(self.plan.steps, error.path, error.op) or self.plan.steps[error.path[0]]
        file, line, function = node.location
        refused = errors.InvalidArgumentError(
            None,
            None,
            f"Detected unsupported operations when trying to compile graph {self.name} on XLA_CPU_JIT: {error.op} "
            f"({error.reason}). It was made at {file}:{line} in {function}, operation {node.name!r}. A function with "
            "jit_compile=True can have only what XLA can compile.",
        )
        refused._explained = True
        return refused


def _located(steps, path, op):
    """The operation at the end of a path, which does not say which of several graphs it goes into."""
    node = steps[path[0]] if path[0] < len(steps) else None
    if node is None or len(path) == 1:
        return node if node is not None and node.record.name == op else None
    inner = (_located(graph.plan().steps, path[1:], op) for graph in called_graphs(node.attrs))
    return next((found for found in inner if found is not None), None)


def _clocks():
    return time.perf_counter(), time.process_time()


class _Entry:
    """What runs calls with certain shapes. `run` is one of its methods, which are given the executable."""

    def __init__(self, must_compile):
        self.program = None
        self._count = 0
        self._job = None
        self._swap = None  # with a global seed: the call at which the program takes over
        self._patience = None  # and how many seconds that call waits for it
        self._interpreted = math.inf  # for how long calls were interpreted, by an estimate, if that counts
        # The shortest times of the interpreter and of the program: on the clock, of the processors.
        self._best = [(math.inf, math.inf), (math.inf, math.inf)]
        self._way = _Entry._compile_first if must_compile or random_state.deterministic else _Entry._count_calls

    def run(self, owner, arrays):
        return self._way(self, owner, arrays)

    def _interpret(self, owner, arrays):
        return owner.interpret(arrays)

    def _count_calls(self, owner, arrays):
        self._count += 1
        if self._count >= _SEEN and _Settings.enabled and not _Settings.forked:
            if not owner.may_compile_another():
                self._way = _Entry._interpret
            elif self._submit(owner, arrays):
                self._way = _Entry._wait_for_program
        return owner.interpret(arrays)

    def _submit(self, owner, arrays):
        signature = owner.signature(arrays)
        if signature is None:  # a variable without a value: the interpreter says so
            return False
        block, _ = owner.block()
        if random_state.seed is not None or owner.is_seeded:
            self._swap = _SEEDED_LOOP if block.loops else max(_SEEDED, block.count // _OPERATIONS_PER_CALL)
            self._interpreted = 0.0 if block.loops else math.inf
            self._patience = _PATIENCE + _PATIENCE_PER_OPERATION * block.count
        loaded, inputs = owner.loader(signature), _inputs_to_try(block, owner.owned(arrays), signature)

        def load(built):
            program = loaded(built)
            if inputs and isinstance(program, Program):
                program.warm_up(inputs)
            return program

        self._job = compile_queue.Job(self, block, signature, load, owner.name)
        compile_queue.queue.submit(self._job)
        return True

    def _wait_for_program(self, owner, arrays):
        """Interpret as long as the program is not there."""
        job = self._job
        self._count += 1
        if job is None or _Settings.forked:
            return owner.interpret(arrays)
        if self._swap is not None and (self._count < self._swap or self._interpreted < _WORTH_WAITING):
            before = estimates.loops.seconds
            results = owner.interpret(arrays)
            self._interpreted += owner.plan.estimated_seconds + estimates.loops.seconds - before
            return results
        if self._swap is not None:
            self._take(owner, job.result if job.wait(self._patience) else self._built_here(owner, job))
            self._job = None
            return owner.run(arrays)
        if not job.done:
            start = _clocks()
            results = owner.interpret(arrays)
            self._note(0, start)
            return results
        self._take(owner, job.result)
        self._job = None
        if self.program is not None and self._best[0][0] < math.inf:
            self._way = _Entry._try_program
            self._count = 0
        return owner.run(arrays)

    def _built_here(self, owner, job):
        """The program, compiled in this thread: on a busy machine, a process of low priority may never get to it."""
        if job.deaths:  # it must not end this one too
            return compile_queue.DeadlyJob(owner.name)
        try:
            return self._loaded_here(owner, job.signature)
        except Exception as error:
            return error

    @staticmethod
    def _loaded_here(owner, signature):
        return compile_queue.loaded_here(owner.block()[0], signature, owner.loader(signature))

    def _note(self, which, start):
        taken = (end - begin for end, begin in zip(_clocks(), start))
        self._best[which] = tuple(map(min, self._best[which], taken))

    def _try_program(self, owner, arrays):
        """Run the program and see whether it is faster than the interpreter, which has the faster matrix products."""
        start = _clocks()
        results = self._run_program(owner, arrays)
        self._note(1, start)
        self._count += 1
        if self._count >= _TRIALS:
            interpreted, compiled = self._best[0][0], self._best[1][0]
            if interpreted > _NOTICEABLE and all(y > x * _SLOWER for x, y in zip(*self._best)):
                self.program = None
                owner.reason = f"a program takes {compiled * 1e3:.3g} ms, the interpreter {interpreted * 1e3:.3g} ms"
                self._way = _Entry._interpret
            else:
                self._way = _Entry._run_program
        return results

    def _take(self, owner, result):
        if isinstance(result, (Program, ReplicatedProgram)):
            self.program = result
            self._way = _Entry._run_program
        elif isinstance(result, CannotLower):
            self._way = _Entry._interpret
            owner.split(result)
        else:
            owner.reason = f"compiling failed: {result}"
            self._way = _Entry._interpret

    def compile_first(self, owner):
        """Have a program before the first call, unless there are too many already."""
        self._way = _Entry._compile_first if owner.may_compile_another() else _Entry._interpret

    def _compile_first(self, owner, arrays):
        """Compile now, in this thread."""
        signature = owner.signature(arrays)
        if signature is None or _Settings.forked:
            return owner.interpret(arrays)
        try:
            if owner.must_compile and owner.hosts:
                found = path_to_host(owner.plan.steps, allowed=BETWEEN_PROGRAMS)
                if found is not None:
                    raise CannotLower(*found, "only the host can run it")
                owner.split_at(owner.hosts)
                return owner.run(arrays)
            result = self._loaded_here(owner, signature)
        except compile_queue.DeadlyJob as error:
            result = error
        except CannotLower as error:
            if owner.must_compile and not error.needs_value:
                raise owner.refuse(error) from None
            result = error
        self._take(owner, result)
        return owner.run(arrays)

    def _run_program(self, owner, arrays):
        if _Settings.forked:
            return owner.interpret(arrays)
        results = self.program.run(arrays)
        if results is None or results is MISMATCH:
            # A check has failed, and nothing has happened yet: the interpreter says what is wrong. Or the variables
            # are others than those that the program is made for.
            return owner.interpret(arrays)
        return results


def _write_early(plan):
    """Have large plans written out at their second run, those of functions and branches that are called too.

    Later, that would be a step of training that takes many times as long as the others. Bodies of loops run often
    enough in the first one.
    """
    plans = [plan]
    for found in plans:
        if len(found.steps) >= _FEW:
            found.write_early()
        for node in found.steps:
            if node.record.calls_functions and LOOPS not in node.record.traits:
                plans.extend(p for p in (graph.plan() for graph in called_graphs(node.attrs)) if p not in plans)


def _inputs_to_try(block, arrays, signature):
    """The inputs of a call, to run a program with in the background before it takes over; None where that is not done.

    A loop may take minutes, for which the end of the program would wait. And with much to copy, a step takes so long
    that its first run is not noticed.
    """
    size = sum(math.prod(shape) * dtype.size for shape, dtype, _ in signature.variables)
    size += sum(array.nbytes for array in arrays if not array.dtype.hasobject)
    return None if block.loops or size > _MOST_TO_TRY else list(arrays)


class ReplicatedExecutable(Executable):
    """What runs the graph of all replicas: one program over their devices where that can be, and else the graph.

    Args:
        graph: the graph of all replicas.
    """

    def __init__(self, graph):
        self._replicated = graph.replicated
        super().__init__(graph.plan(), name=graph.base.name)

    def _begin(self):
        super()._begin()
        self.hosts, self.segmented = frozenset(), None
        self._apart = None
        self._is_given_up = False

    def run(self, arrays):
        if not self._is_exact and random_state.is_exact:
            self._begin_anew()
        if self._is_given_up:
            return self._other_way().run(arrays)
        entry = self._entries.get(key := tuple([x.shape for x in arrays]))
        if entry is None:
            has_one = self.signature(arrays) is not None
            entry = self._entries[key] = self._new_entry(key) if has_one else _Uneven()
        return entry.run(self, arrays)

    def signature(self, arrays):
        return signature_of_replicas(arrays, self._replicated.positions)[0]

    def loader(self, signature):
        nodes, replicated = self.block()[1], self._replicated
        return lambda built: ReplicatedProgram(built, signature, replicated, nodes)

    def block(self):
        with self._lock:
            if self._block is None:
                self._block = block_of_replica(self._replicated)
            return self._block

    def split(self, error):
        self.reason = f"{error.op}: {error.reason}"
        self._is_given_up = True

    def _other_way(self):
        """What runs the graph of all replicas on one device."""
        if self._apart is None:
            self._apart = Executable(self.plan, name=self.name) if is_worthwhile(self.plan.steps) else self.plan
        return self._apart

    @property
    def state(self) -> str:
        count = self._replicated.count
        programs = [entry.program for entry in list(self._entries.values()) if entry.program is not None]
        if self._is_given_up:
            way = getattr(self._apart, "state", "interpreted")
            return f"replica by replica ({self.reason}), {way}"
        if programs:
            moved = max(sum(size for _, size in program.collectives) for program in programs)
            return f"one program over {count} devices, which exchanges {moved:,} bytes in a call"
        return f"replica by replica until there is a program over {count} devices; {super().state}"


class _Uneven:
    """What runs calls in which replicas have different shapes, as in the last batch of a dataset."""

    program = None
    _job = None

    def run(self, owner, arrays):
        return owner._other_way().run(arrays)


def executable_of_plan(plan, name="", is_seeded=False):
    """What runs a plan: something with `run`.

    Args:
        plan: the plan.
        name: of what it computes, for messages.
        is_seeded: see `Executable`.
    """
    _write_early(plan)
    return Executable(plan, name=name, is_seeded=is_seeded) if is_worthwhile(plan.steps) else plan


def executable_of(graph):
    """What runs a function's graph: something with `run`."""
    if not device_use.soft_placement:
        _check_devices(graph.plan().steps)
    if runs_on_devices(graph):
        on_host = not accelerators_of(graph.replicated)
        return ReplicatedExecutable(graph) if on_host else _accelerated_replicas.AcceleratedReplicas(graph)
    if device_use.may_have_accelerators():
        placed = _accelerated.placed_executable(graph)
        if placed is not None:
            return placed
    return executable_on_host(graph)


def _check_devices(steps):
    """Refuse operations that were placed on devices that are not there."""
    for step in steps:
        if step.device and step.device not in device_use.available:
            raise errors.invalid_argument(
                f"There is no device {step.device}, on which {step.name} was placed; there are "
                f"{', '.join(sorted(device_use.available))}. It runs elsewhere with "
                "tf.config.set_soft_device_placement(True)."
            )


def executable_on_host(graph):
    """What runs a function's graph on the host."""
    plan = graph.plan()
    must_compile = graph.base.jit_compile is True
    _write_early(plan)
    if not must_compile and (graph.base.stays_interpreted or not is_worthwhile(plan.steps)):
        return plan
    return Executable(plan, fixed_from(graph), must_compile, graph.base.name)


def fixed_from(graph) -> int | None:
    """From which position on the inputs are the same in all calls; None if none is."""
    base = graph.base
    captured = base.external_captures
    # Eager tensors that are captured are the same in all calls; residuals are not. Views may have more inputs.
    same = len(graph.inputs) == len(base.inputs) and all(isinstance(x, EagerTensor) for x in captured)
    return len(graph.inputs) - len(captured) if same else None
