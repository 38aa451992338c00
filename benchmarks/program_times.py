"""What headrace's profiler tells of some calls: runs of compiled programs, their instructions, kernels of eager ops."""

import bisect
import collections
import inspect
import math
import time
from typing import NamedTuple

from program_work import Instruction, instructions_of

from headrace._src.formats.profile_messages import XSpace
from headrace._src.graph.compiling.programs import Program
from headrace._src.op.definition import REGISTRY, Op
from headrace._src.op.traits import CONVOLUTION, MATRIX_PRODUCT
from headrace._src.profiler.session import begin_session, end_session

# How events and threads are called, by headrace's profiler and by XLA's.
_LAUNCH, _OF_XLA = ":XlaLaunch", "XLA: "
_TASK_BEGINS, _TASK_ENDS = "ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion"
_RUNS = 1000
_UNKNOWN = Instruction("", False, 0.0)


class Timed(NamedTuple):
    """Something that ran several times in a call: for how long together, how often, and FLOPs of its products."""

    name: str
    seconds: float
    count: float
    flops: float = 0.0


class _Event(NamedTuple):
    """Something of a time line, in seconds."""

    name: str
    start: float
    end: float
    is_instruction: bool


class ProgramTimes:
    """Means over calls that are made while the profiler records.

    Attributes:
        runs, seconds: of compiled programs in a call.
        idle: how long programs ran in which no thread had anything of theirs to do.
        instructions: of programs, by name, each without those that it runs.
        host: what XLA does around them in the thread of the caller, each with what is inside of it.
        kernels: of eager ops, by op.
        steps: what else was noted: functions, operations of interpreted graphs by op, steps of input pipelines.
        flops: of products, in programs and in kernels of eager ops.
        warnings: what the profiler says of itself.
    """

    def __init__(self, call, most=100, seconds=math.inf):
        """
        Args:
            call: what is looked at.
            most, seconds: how many calls, and for how long, at most; the first one is not counted.
        """
        programs, usual = [], Program.run

        def run(program, arrays):
            programs.append(program)
            return usual(program, arrays)

        Program.run = run
        begin_session(None)
        try:
            call()
            # The profiler looks into so many runs of programs, and no more.
            count = _called(call, min(most, _RUNS // max(len(programs), 1) - 1), seconds)
        finally:
            data, _ = end_session()
            Program.run = usual
        space = XSpace.FromString(data)
        self.warnings = list(space.warnings)
        self._of_ops = _flops_of_ops(call)
        self._read(space, programs, count)

    def _read(self, space, programs, count):
        lines = [_events_of(plane, line) for plane in space.planes for line in plane.lines]
        names = [line.name for plane in space.planes for line in plane.lines]
        ours = [event for name, events in zip(names, lines) if not name.startswith(_OF_XLA) for event in events]
        theirs = [events for name, events in zip(names, lines) if name.startswith(_OF_XLA)]
        launches = sorted((x for x in ours if x.name.endswith(_LAUNCH)), key=lambda x: x.start)
        skipped = len(launches) // (count + 1)  # those of the first call
        self._programs = _Programs(launches[skipped:], programs[skipped:])
        self.runs = (len(launches) - skipped) / count
        self.seconds = sum(x.end - x.start for x in launches[skipped:]) / count
        self._read_programs(theirs, count)
        self._read_ours(ours, count + 1)
        self.flops = sum(x.flops for x in (*self.instructions, *self.kernels))

    def _read_programs(self, lines, count):
        instructions, host, busy, control = _Sums(), _Sums(), [], []
        for events in lines:
            for event, itself in _alone(events):
                found = self._programs.instruction(event)
                if found is not None and event.is_instruction:
                    instructions.add(event.name, itself, found.flops)
                    (control if found.is_control else busy).append((event.start, event.end))
                elif found is not None and event.end > event.start and not event.name.startswith("end: "):
                    host.add(event.name, event.end - event.start)
        busy += _without(control, busy)
        busy += [region for events in lines for region in _regions(events)]
        self.instructions, self.host = instructions.timed(count), host.timed(count)
        self.idle = max(self.seconds - self._programs.covered(busy) / count, 0.0)

    def _read_ours(self, events, count):
        kernels, steps = _Sums(), _Sums()
        for event in events:
            name, _, op = event.name.rpartition(":")
            if name and name == op:
                kernels.add(op, event.end - event.start)
            elif not event.name.endswith(_LAUNCH):
                is_operation = name and not name.endswith(":")
                steps.add(op if is_operation else event.name, event.end - event.start)
        self.kernels = [x._replace(flops=self._of_ops[x.name]) for x in kernels.timed(count)]
        self.steps = steps.timed(count)


def _called(call, most, seconds):
    """Call for some seconds, or some times; how often that was."""
    end, count = time.perf_counter() + seconds, 0
    while count < 1 or (count < most and time.perf_counter() < end):
        call()
        count += 1
    return count


class _Sums:
    """Times by name."""

    def __init__(self):
        self._sums = collections.defaultdict(lambda: [0.0, 0, 0.0])

    def add(self, name, seconds, flops=0.0):
        entry = self._sums[name]
        entry[0] += seconds
        entry[1] += 1
        entry[2] += flops

    def timed(self, count) -> list[Timed]:
        """The means of so many calls."""
        return [Timed(name, *(x / count for x in entry)) for name, entry in self._sums.items()]


class _Programs:
    """Runs of programs: when, and what is in them."""

    def __init__(self, launches, programs):
        self._launches = launches
        self._starts = [x.start for x in launches]
        calls = [inspect.unwrap(program._call) for program in programs]
        known = {call: instructions_of(call.as_text()) for call in dict.fromkeys(calls)}
        self._inside = [known[call] for call in calls]

    def instruction(self, event):
        """What an event is of; None if no program ran then."""
        number = bisect.bisect_right(self._starts, event.start) - 1
        if number < 0 or event.start > self._launches[number].end:
            return None
        return self._inside[number].get(event.name, _UNKNOWN)

    def covered(self, intervals) -> float:
        """For how long programs ran during some of the intervals."""
        covered, position = 0.0, 0
        for start, end in sorted(intervals):
            number = bisect.bisect_right(self._starts, start) - 1
            if number >= 0:
                end = min(end, self._launches[number].end)
                covered += max(end - max(start, position), 0.0)
                position = max(position, end)
        return covered


def _events_of(plane, line):
    names, stats = plane.event_metadata, plane.stat_metadata
    numbers = {number for number, stat in stats.items() if stat.name == "hlo_op"}
    base = line.timestamp_ns * 1e-9
    return [
        _Event(names[x.metadata_id].name, base + x.offset_ps * 1e-12, base + (x.offset_ps + x.duration_ps) * 1e-12,
               any(stat.metadata_id in numbers for stat in x.stats))
        for x in line.events
    ]  # fmt: skip


def _alone(events):
    """Each event with its seconds outside of the instructions within it."""
    outer: list[list] = []  # the instructions that run: [event, seconds within]
    for event in sorted(events, key=lambda x: (x.start, -x.end)):
        while outer and outer[-1][0].end <= event.start:
            yield _closed(outer)
        if event.is_instruction:
            outer.append([event, 0.0])
        else:
            yield event, event.end - event.start
    while outer:
        yield _closed(outer)


def _closed(outer):
    event, within = outer.pop()
    if outer:
        outer[-1][1] += event.end - event.start
    return event, event.end - event.start - within


def _without(outer, inner):
    """The intervals in which no inner one begins: loops of which XLA tells nothing more."""
    starts = sorted(start for start, _ in inner)
    return [x for x in outer if bisect.bisect_left(starts, x[0]) == bisect.bisect_right(starts, x[1])]


def _regions(events):
    """When a thread of XLA's had a task."""
    start = None
    for event in sorted(events, key=lambda x: x.start):
        if event.name == _TASK_BEGINS:
            start = event.start
        elif event.name == _TASK_ENDS and start is not None:
            yield start, event.start
            start = None


def _flops_of_ops(call):
    """FLOPs of the products that one call computes by kernels of eager ops, by op."""
    found = collections.Counter()

    def counting(op, kernel):
        if not op.traits & (MATRIX_PRODUCT | CONVOLUTION):
            return kernel

        def run(*arrays, **attrs):
            result = kernel(*arrays, **attrs)
            found[op.name] += _flops(op, arrays, attrs, result)
            return result

        return run

    Op.eager_timing = staticmethod(counting)
    try:
        for op in list(dict.values(REGISTRY)):
            op.time_eagerly()
        call()
    finally:
        Op.eager_timing = None
        for op in list(dict.values(REGISTRY)):
            op.time_eagerly()
    return found


def _flops(op, arrays, attrs, result):
    if MATRIX_PRODUCT in op.traits:
        is_turned = attrs.get("transpose_a") or attrs.get("adj_x")
        return 2.0 * result.size * arrays[0].shape[-2 if is_turned else -1]
    outputs, filters = result, arrays[1]
    if "BackpropInput" in op.name:
        outputs = arrays[2]
    elif "BackpropFilter" in op.name:
        outputs, filters = arrays[2], result
    channels = 1 if op.name.startswith("Depthwise") else filters.shape[-2]
    return 2.0 * outputs.size * math.prod(filters.shape[:-2]) * channels
