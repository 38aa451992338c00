"""`tf.function(...).explain(...)`: what a function runs, what of it is compiled, where time goes, why it was traced."""

import copy
import math
import string
import time

import numpy as np

from headrace._src.core.context import context
from headrace._src.core.random_state import random_state
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.listing import listing, place_text, text_of
from headrace._src.graph.building.operation import called_graphs
from headrace._src.graph.compiling.compilation import Executable, is_mostly_products
from headrace._src.graph.compiling.replicated import why_not_on_devices
from headrace._src.graph.passes.steps import origin, random_call
from headrace._src.op.traits import CHANGES_NOTHING, READS_RESOURCE, WRITES_VARIABLE
from headrace._src.ops.arrays.filling import CONST
from headrace._src.state.storage import Storage

_LONGEST_LIST = 10
# How often a function is run to measure it, unless that takes so many seconds.
_RUNS, _ENOUGH = 5, 0.2


class Part:
    """A part of the graph that runs as one piece.

    Attributes:
        label: a letter, which also stands before its lines in the listing.
        count: how many operations it has.
        state: how it runs now.
    """

    def __init__(self, label, steps, state):
        self.label = label
        self.steps = steps
        self.count = sum(step.record is not CONST for step in steps)
        self.state = state


class Cost:
    """What one operation took in the run that was measured: `seconds`, and `bytes` of results."""

    def __init__(self, step, seconds, size):
        node = origin(step)
        self.name = node.name
        self.type = step.record.name
        self.place = place_text(node.location)
        self.seconds = seconds
        self.bytes = size


class Trace:
    """One time that the function was traced.

    Attributes:
        signature: the types of the arguments.
        place: the user's line that called it.
        differences: for each argument that differs from the most similar earlier trace: its name, the type it had
            then, the type it has now. Empty for the first trace.
    """

    def __init__(self, signature, place, differences):
        self.signature = signature
        self.place = place
        self.differences = differences

    def __str__(self):
        where = f" at {self.place}" if self.place else ""
        if not self.differences:
            return f"{self.signature}{where}"
        causes = "; ".join(f"{name} was {old}, now {new}" for name, old, new in self.differences)
        return f"{self.signature}{where}, because {causes}"


class Explanation:
    """What `explain` returns; print it.

    Attributes:
        code: the graph as text, passes applied.
        parts: how the graph is run, a list of `Part`.
        replicas: for each `strategy.run` in it, how its replicas run: a list of texts.
        costs: a list of `Cost`, most expensive first; None when the function was not run.
        not_run: why it was not.
        seconds, bytes: the sums of all costs.
        seconds_as_it_runs: one whole call as it runs now, where a part is compiled; else None.
        operations, operations_before: how many operations run, and how many the graph has.
        traces: a list of `Trace`, in the order in which they happened.
    """

    def __init__(self, function, concrete, tensors):
        """
        Args:
            function: the `Function`.
            concrete: its trace that is explained.
            tensors: what it is run with to measure it, None not to. What the run does to variables and random streams
                is undone; a function with other effects is not run.
        """
        graph = concrete.graph
        self.name = function.name
        lines = listing(graph)
        self.parts, marks = _parts_of(graph, lines)
        self.code = text_of(lines, marks)
        self.operations = sum(step.record is not CONST for step in graph.plan().steps)
        self.operations_before = sum(node.record not in (CONST, PLACEHOLDER) for node in graph.nodes)
        self.replicas = _replicas_of(graph)
        self.costs, self.not_run = _measured(concrete, tensors)
        is_compiled = self.costs is not None and any(part.state.startswith("compiled") for part in self.parts)
        self.seconds_as_it_runs = _timed(concrete, tensors) if is_compiled else None
        self.seconds = sum(cost.seconds for cost in self.costs or ())
        self.bytes = sum(cost.bytes for cost in self.costs or ())
        self.traces = traces_of(function)

    def __str__(self):
        before = self.operations_before
        passes = "" if before == self.operations else f" (of {before} in the graph)"
        noun = "operation" if self.operations == 1 else "operations"
        sections = [self.code, f"{self.operations} {noun}{passes}."]
        sections.append("\n".join(["How it runs:", *(f"  {part.label}  {_part_text(part)}" for part in self.parts)]))
        if self.replicas:
            sections.append("\n".join(["Replicas:", *(f"  {text}" for text in self.replicas)]))
        sections.append(self._cost_text())
        count = len(self.traces)
        title = f"Traced {count} {'time' if count == 1 else 'times'}:"
        sections.append("\n".join([title, *(f"  {i}. {trace}" for i, trace in enumerate(self.traces, 1))]))
        return "\n\n".join(sections)

    def _cost_text(self):
        if self.costs is None:
            return f"Times are not known: {self.not_run}."
        rows = [f"Interpreted in {_time_text(self.seconds)}, {_size_text(self.bytes)} of results:"]
        if self.seconds_as_it_runs is not None:
            rows.insert(0, f"A call takes {_time_text(self.seconds_as_it_runs)} now, with what is compiled.")
        for cost in self.costs[:_LONGEST_LIST]:
            share = cost.seconds / self.seconds if self.seconds else 0
            rows.append(
                f"  {_time_text(cost.seconds):>9} {share:5.0%} {_size_text(cost.bytes):>9}  {cost.name} ({cost.type})  "
                f"{cost.place}".rstrip()
            )
        if len(self.costs) > _LONGEST_LIST:
            rest = self.costs[_LONGEST_LIST:]
            seconds = sum(cost.seconds for cost in rest)
            rows.append(f"  {_time_text(seconds):>9} {seconds / (self.seconds or 1):5.0%} "
                        f"{_size_text(sum(cost.bytes for cost in rest)):>9}  {len(rest)} more")
        return "\n".join(rows)

    __repr__ = __str__


def _part_text(part):
    return f"{part.count} {'operation' if part.count == 1 else 'operations'}: {part.state}"


def _time_text(seconds):
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.1f} {unit}"
    return f"{seconds:.2f} s"


def _size_text(size):
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


# Which parts are compiled.


def _parts_of(graph, lines):
    """The parts of a graph, and for each line of its listing the mark of its part."""
    pieces = _pieces_of(graph)
    parts, mark_of = [], {}
    for label, (steps, state) in zip(_labels(), pieces):
        parts.append(Part(label, steps, state))
        for step in steps:
            mark_of[id(origin(step))] = label
    marks, current = [], " "
    for line in lines:
        if line.depth == 1 and line.step is not None:
            current = mark_of.get(id(origin(line.step)), " ")
        elif line.depth <= 1:
            current = " "
        marks.append(f"{current} | ")
    return parts, marks


def _labels():
    letters = string.ascii_uppercase
    yield from letters
    yield from (a + b for a in letters for b in letters)


def _pieces_of(graph):
    """(steps, state) for each part that runs as one piece."""
    steps = [step for step in graph.plan().steps if step.record is not CONST]
    executable = graph._executable
    if executable is None:
        return [(steps, "interpreted so far: it has not been called")]
    executable = executable.chosen() if hasattr(executable, "chosen") else executable
    if not isinstance(executable, Executable):
        return [(steps, f"interpreted: {_not_compiled(steps)}")]
    if executable.segmented is None:
        return [(steps, executable.state)]
    pieces = []
    for piece in executable.segmented.pieces:
        inner = piece.executable
        if isinstance(inner, Executable):
            pieces.append((inner.plan.steps, inner.state))
            continue
        hosts = {id(origin(executable.plan.steps[i])) for i in executable.hosts}
        on_host = any(id(origin(step)) in hosts for step in inner.steps)
        state = f"interpreted: {'only the host can run it' if on_host else _not_compiled(inner.steps)}"
        pieces.append((inner.steps, state))
    return [(steps, state) for steps, state in pieces if any(step.record is not CONST for step in steps)]


def _not_compiled(steps):
    """Why a part that could be compiled is not."""
    if is_mostly_products(steps):
        return "its time goes into matrix products, which compiling does not make faster"
    return "too few operations to be worth compiling"


# How replicas of a strategy run.


def _replicas_of(graph):
    """How the replicas of each `strategy.run` in a graph run, and in the graphs that it calls."""
    texts = [f"traced once for each replica, because the code looks at {why}" for why in graph.base.traced_apart]
    for node in graph.plan().steps:
        for inner in called_graphs(node.attrs):
            texts += _replicas_of(inner) if inner.replicated is None else [_replica_text(inner)]
    return texts


def _replica_text(graph):
    count = graph.replicated.count
    why_not = why_not_on_devices(graph)
    if why_not is not None:
        return f"{count} replicas, traced once, as one graph on one device: {why_not}"
    if graph.base._executable is None:
        return f"{count} replicas, traced once; they have not run yet"
    return f"{count} replicas, traced once: {graph.base._executable.state}"


# Where time and bytes go.


def _measured(concrete, tensors):
    """The costs of all operations in one run, and why there are none."""
    if tensors is None or any(type(x) is not EagerTensor for x in [*tensors, *concrete.captured_inputs]):
        return None, "not all arguments are tensors with values"
    graph = concrete.graph
    effect = _lasting_effect(graph)
    if effect is not None:
        return None, f"it was not run, for {effect.name} ({effect.type}) has an effect that cannot be undone"
    arrays = [x._a for x in [*tensors, *concrete.captured_inputs]]
    undo = _Undo(graph, arrays)
    plan = graph.plan()
    try:
        context.run_quietly(plan.run, list(arrays))  # inner plans are made and memory is warm
        runs: list = []
        while len(runs) < _RUNS and sum(note[1] for notes in runs for note in notes) < _ENOUGH:
            runs.append(context.run_quietly(plan.profile, list(arrays))[1])
    except Exception as error:
        return None, f"running it failed with {type(error).__name__}: {error}"
    finally:
        undo()
    # What else the machine does makes single runs look slow.
    costs = [Cost(notes[0][0], min(note[1] for note in notes), notes[0][2]) for notes in zip(*runs)]
    return sorted(costs, key=lambda cost: -cost.seconds), ""


def _timed(concrete, tensors):
    """The time of one call of what runs now, programs included; None if that fails."""
    arrays = [x._a for x in [*tensors, *concrete.captured_inputs]]
    undo = _Undo(concrete.graph, arrays)
    best = math.inf
    try:
        for _ in range(_RUNS):
            start = time.perf_counter()
            context.run_quietly(concrete.graph._executable.run, list(arrays))
            best = min(best, time.perf_counter() - start)
    except Exception:  # the interpreter has run it: what is said of its parts is told nevertheless
        return None
    finally:
        undo()
    return best


def _lasting_effect(graph):
    """An operation whose effect is not only on variables and random streams; None when there is none."""
    for step in graph.plan().steps:
        record = step.record
        if record.calls_functions:
            for inner in called_graphs(step.attrs):
                effect = _lasting_effect(inner)
                if effect is not None:
                    return effect
        elif record.stateful and not record.draws and not record.traits & _HARMLESS:
            return origin(step)
    return None


# What these do can be undone, or changes nothing.
_HARMLESS = WRITES_VARIABLE | READS_RESOURCE | CHANGES_NOTHING


class _Undo:
    """Puts back what a run changes: variables, and how far random streams have been used."""

    def __init__(self, graph, arrays):
        self._values = []
        for array in arrays:
            storage = array[()] if array.dtype == np.dtype(object) and array.shape == () else None
            if isinstance(storage, Storage):
                # A program may use the memory of a variable for its new value.
                value = np.array(storage.read()) if storage.is_initialized else None
                self._values.append((storage, value, storage.value, storage.device))
        streams = [random_state.streams_of(*place) for place in _drawing(graph)]
        self._streams = [(state, copy.deepcopy(state)) for state in streams]

    def __call__(self):
        for storage, value, on_host, on_device in self._values:
            if storage.value is not on_host or storage.device is not on_device:
                storage.set(value)
        for streams, saved in self._streams:
            streams.clear()
            streams.update(saved)


def _drawing(graph, calls=()):
    """The operations of a graph that draw random numbers, each with the calls that lead to it."""
    nodes = []
    for step in graph.plan().steps:
        if step.record.calls_functions:
            call = random_call(step)
            for inner in called_graphs(step.attrs):
                nodes += _drawing(inner, calls if call is None else (*calls, call))
        elif step.record.draws:
            nodes.append((origin(step), calls))
    return nodes


# Why it was traced.


def traces_of(function) -> list[Trace]:
    """The traces of a function, with what was new about each."""
    traces, earlier = [], []
    names = function.parameter_names
    for kinds, location in function.trace_log:
        differences = []
        if earlier:
            similar = min(reversed(earlier), key=lambda other: _distance(kinds, other))
            differences = [
                (name, _type_text(old), _type_text(new)) for name, old, new in zip(names, similar, kinds) if old != new
            ]
        signature = ", ".join(f"{name}: {_type_text(kind)}" for name, kind in zip(names, kinds))
        traces.append(Trace(f"({signature})", place_text(location), differences))
        earlier.append(kinds)
    return traces


def _distance(kinds, other):
    return sum(a != b for a, b in zip(kinds, other))


def _type_text(kind):
    shape, dtype = getattr(kind, "shape", None), getattr(kind, "dtype", None)
    if shape is not None and dtype is not None and type(kind).__name__ == "TensorSpec":
        dims = "..." if shape.rank is None else ", ".join(str(n) for n in shape.as_list())
        return f"{dtype.name}[{dims}]"
    if hasattr(kind, "value") and type(kind).__name__ == "Literal":
        return repr(kind.value)
    return repr(kind)
