"""What is timed while a profile is recorded, by putting timed functions in the place of the usual ones.

Without a profile, the usual functions are in their places, and nothing is paid: no flag is tested. All that is replaced
is looked up at each call: kernels of eager execution, methods of classes, functions of modules. What still runs in a
replaced function when the profile ends writes to a recorder that takes nothing more.
"""

import sys
import threading
from collections.abc import Callable
from typing import Any

from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.iterators import IteratorResource
from headrace._src.data.running.stages import Cursor, Stage
from headrace._src.graph.compiling import queue as compile_queue
from headrace._src.graph.compiling.compilation import Executable
from headrace._src.graph.compiling.programs import Program
from headrace._src.graph.running.plan import Plan
from headrace._src.op.definition import REGISTRY, Op
from headrace._src.profiler.recording import COMPILED, INTERPRETED, PACKED, Line, Recorder, clock, source_text
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.function import Function

# Steps of input pipelines that take less are not written down: there is one for each element.
_SHORTEST_STEP = 5_000
_TIERS = {0: "", INTERPRETED: "interpreted", COMPILED: "compiled", INTERPRETED | COMPILED: "partly compiled"}


class Replacements:
    """Attributes that have other values for a while."""

    def __init__(self):
        self._before: list[tuple[Any, str, Any]] = []

    def wrap(self, owner: Any, name: str, timed: Callable) -> None:
        """Put `timed(usual)` in the place of `owner.name`."""
        usual = owner.__dict__[name]
        self._before.append((owner, name, usual))
        setattr(owner, name, timed(usual))

    def undo(self) -> None:
        """Put back what was there."""
        while self._before:
            setattr(*self._before.pop())


class Timing:
    """Times everything for one recorder."""

    def __init__(self, recorder: Recorder, level: int, on_program: Callable[[], None]):
        """
        Args:
            recorder: where events go.
            level: 1 for functions, tracing, compiling and iterators; 2 for each op and each step of a pipeline too.
            on_program: called before a compiled program runs.
        """
        self._on_program = on_program
        self._recorder = recorder
        self._level = level
        self._replacements = Replacements()
        self._plans: dict[int, tuple] = {}  # by id, the plan and the keys of its steps
        self._stage_keys: dict[int, tuple] = {}  # by id of a stage: it, and the key of its events
        self._timed_cursors: set[type] = set()
        self._lock = threading.Lock()

    def begin(self) -> None:
        wrap = self._replacements.wrap
        wrap(Function, "__call__", self._timed_function)
        wrap(ConcreteFunction, "__call__", self._timed_concrete_function)
        wrap(Function, "_trace", self._timed_tracing)
        wrap(Executable, "run", self._named_executable)
        wrap(Program, "run", self._timed_program)
        wrap(Plan, "run", self._timed_plan)
        wrap(compile_queue, "built_here", self._timed_build)
        wrap(compile_queue.CompileQueue, "_result", self._timed_job)
        wrap(compile_queue.CompileQueue, "_built", self._timed_worker)
        wrap(IteratorResource, "next", self._timed_iterator)
        if self._level < 2:
            return
        Op.eager_timing = self._timed_kernel
        for op in list(dict.values(REGISTRY)):
            op.time_eagerly()
        wrap(ElementFunction, "__call__", self._timed_element_function)
        wrap(Stage, "cursor", self._timing_cursors)
        for kind in _subclasses(Cursor):
            self._time_cursor(kind)

    def end(self) -> None:
        self._replacements.undo()
        Op.eager_timing = None
        for op in list(dict.values(REGISTRY)):
            op.time_eagerly()

    # Eager execution.

    def _timed_kernel(self, op, kernel):
        recorder, thread, frame_of = self._recorder, self._recorder.thread, sys._getframe
        place, key = recorder.place, recorder.key(f"{op.name}:{op.name}")

        def run(*arrays, **attrs):
            start = clock()
            result = kernel(*arrays, **attrs)
            end = clock()
            line = thread.line
            rows = line.rows
            rows.append((start, end, key, place(frame_of(1))))
            if len(rows) >= PACKED:
                line.pack()
            return result

        return run

    # Functions.

    def _timed_function(self, usual):
        recorder, thread = self._recorder, self._recorder.thread
        place, frame_of = recorder.place, sys._getframe
        keys: dict[tuple, int] = {}

        def __call__(function, *args, **kwargs):
            traces, outer, thread.tiers = function._trace_count, thread.tiers, 0
            start = clock()
            try:
                return usual(function, *args, **kwargs)
            finally:
                end = clock()
                call = function._name, function._trace_count, function._trace_count == traces, thread.tiers
                recorder.add(start, end, keys.get(call) or self._key_of_call(keys, *call), place(frame_of(1)))
                thread.tiers |= outer

        return __call__

    def _key_of_call(self, keys, name, traces, known, tiers):
        how = f"{'notTraced' if known else 'traced'}-{'xla' if tiers & COMPILED else 'nonXla'}"
        key = self._recorder.key(name, tf_function_call=how, tracing_count=traces, tier=_TIERS[tiers])
        keys[name, traces, known, tiers] = key
        return key

    def _timed_concrete_function(self, usual):
        recorder, thread = self._recorder, self._recorder.thread

        def __call__(function, *args, **kwargs):
            outer, thread.tiers = thread.tiers, 0
            start = clock()
            try:
                return usual(function, *args, **kwargs)
            finally:
                key = recorder.key(function.name, tf_function_call="concrete", tier=_TIERS[thread.tiers])
                recorder.add(start, clock(), key, recorder.place(sys._getframe(1)))
                thread.tiers |= outer

        return __call__

    def _timed_tracing(self, usual):
        recorder = self._recorder

        def _trace(function, *args):
            start = clock()
            try:
                return usual(function, *args)
            finally:
                key = recorder.key("tf.function-graph_building", function=function._name)
                recorder.add(start, clock(), key, recorder.place(sys._getframe(1)))

        return _trace

    def _named_executable(self, usual):
        thread = self._recorder.thread

        def run(executable, arrays):
            outer = thread.functions
            thread.functions = (*outer, executable.name)
            try:
                return usual(executable, arrays)
            finally:
                thread.functions = outer

        return run

    def _timed_program(self, usual):
        recorder, thread = self._recorder, self._recorder.thread

        def run(program, arrays):
            thread.tiers |= COMPILED
            self._on_program()
            start = clock()
            try:
                return usual(program, arrays)
            finally:
                name = thread.functions[-1] if thread.functions else "program"
                recorder.add(start, clock(), recorder.key(f"{name}:XlaLaunch", tier="compiled"))

        return run

    def _timed_plan(self, usual):
        recorder, thread = self._recorder, self._recorder.thread

        def run(plan, arrays):
            thread.tiers |= INTERPRETED
            if self._level < 2 or not recorder.running:
                return usual(plan, arrays)
            keys, line = self._keys_of(plan), thread.line
            append = line.rows.append

            def note(number, start, end, values):
                append((start, end, keys[number], 0))

            try:
                return plan.run_noting(arrays, note)
            finally:
                line.pack_when_full()

        return run

    def _keys_of(self, plan):
        """The keys of the steps of a plan, by number."""
        entry = self._plans.get(id(plan))
        if entry is None:
            keys = [self._key_of_step(step) for step in plan.timed_steps]
            entry = self._plans[id(plan)] = plan, keys  # the plan too: another one may not get its id
        return entry[1]

    def _key_of_step(self, step):
        file, line, _ = step.location or ("", 0, "")
        stats = {"source": source_text(file, line)} if file else {}
        return self._recorder.key(f"{step.name}:{step.record.name}", tier="interpreted", **stats)

    # Compiling.

    def _timed_build(self, usual):
        recorder, thread = self._recorder, self._recorder.thread

        def built_here(block, signature):
            start = clock()
            try:
                return usual(block, signature)
            finally:
                name = thread.functions[-1] if thread.functions else ""
                recorder.add(start, clock(), recorder.key("XLA compile here", function=name))

        return built_here

    def _timed_job(self, usual):
        recorder, thread = self._recorder, self._recorder.thread

        def _result(queue, job):
            thread.functions = (job.name,)
            start = clock()
            try:
                return usual(queue, job)
            finally:
                recorder.add(start, clock(), recorder.key("compile and load", function=job.name))
                thread.functions = ()

        return _result

    def _timed_worker(self, usual):
        """The process that compiles has a line of its own. It says how long it took; the reply came right then."""
        recorder, thread = self._recorder, self._recorder.thread
        worker: list[Line] = []

        def _built(queue, request, job):
            start = clock()
            built = usual(queue, request, job)
            end = clock()
            name = thread.functions[-1] if thread.functions else ""
            lowering, compiling = (int(seconds * 1e9) for seconds in getattr(built, "seconds", (0, 0)))
            if not worker:
                worker.append(Line(recorder, 0, "headrace compile worker (process)"))
            if not 0 < lowering + compiling <= end - start:
                worker[0].add(start, end, recorder.key("read a program, or none", function=name))
                return built
            between = end - compiling
            for key, begin, finish in (
                ("start and send", start, between - lowering),
                ("lower", between - lowering, between),
                ("XLA compile", between, end),
            ):
                worker[0].add(begin, finish, recorder.key(key, function=name))
            return built

        return _built

    # Input pipelines.

    def _timed_iterator(self, usual):
        recorder = self._recorder
        key = recorder.key("IteratorGetNextOp::DoCompute")

        def next(resource):
            start = clock()
            try:
                return usual(resource)
            finally:
                recorder.add(start, clock(), key, recorder.place(sys._getframe(1)))

        return next

    def _timed_element_function(self, usual):
        recorder = self._recorder

        def __call__(function, element):
            start = clock()
            try:
                return usual(function, element)
            finally:
                end = clock()
                if end - start >= _SHORTEST_STEP:
                    recorder.add(start, end, recorder.key(f"InstantiatedCapturedFunction::Run {function.graph.name}"))

        return __call__

    def _timing_cursors(self, usual):
        def cursor(stage, run):
            walk = usual(stage, run)
            self._time_cursor(type(walk))
            return walk

        return cursor

    def _time_cursor(self, kind):
        """Time what elements are asked for with, where this class itself defines it."""
        with self._lock:
            if kind in self._timed_cursors:
                return
            self._timed_cursors.add(kind)
            for name in ("next", "block", "columns"):
                if name in kind.__dict__:
                    self._replacements.wrap(kind, name, self._timed_step)

    def _timed_step(self, usual):
        recorder = self._recorder

        def step(cursor, *args):
            start = clock()
            try:
                return usual(cursor, *args)
            finally:
                end = clock()
                if end - start >= _SHORTEST_STEP:
                    recorder.add(start, end, self._key_of_cursor(cursor))

        return step

    def _key_of_cursor(self, cursor):
        stage = getattr(cursor, "_stage", None)
        owner = type(cursor) if stage is None else stage
        entry = self._stage_keys.get(id(owner))
        if entry is None:
            name, stats = type(cursor).__name__.strip("_").removesuffix("Cursor"), {}
            if stage is not None:
                name = _title(stage.method.rpartition(".")[2])
                file, line = (stage.location or ("", 0))[:2]
                stats = {"source": source_text(file, line)} if file else {}
            entry = self._stage_keys[id(owner)] = owner, self._recorder.key(f"Iterator::{name}", **stats)
        return entry[1]


def _title(name):
    """`parallel_map` as `ParallelMap`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _subclasses(kind):
    """All classes that are derived from one and loaded, with it."""
    yield kind
    for derived in kind.__subclasses__():
        yield from _subclasses(derived)
