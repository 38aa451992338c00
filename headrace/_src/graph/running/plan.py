"""Running a graph with the ops' kernels.

A plan is a list of instructions over numbered places for values: call a kernel, put the results there, and forget what
is not read any more (layout.py). Three things follow instructions: `run` one by one, `run` as Python code when a plan
runs often (written_code.py), and `run_noting`, which measures. tests/graph/running/test_executors.py holds them
together.

Steps run in the order in which the operations were made, so effects happen in source order. When one fails, the error
is that of its op, and tells the user's line.
"""

import collections
import functools
import itertools
import time

import numpy as np

from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import called_graphs, grouped, is_stateful
from headrace._src.graph.passes.pipeline import optimized
from headrace._src.graph.passes.steps import origin
from headrace._src.graph.running.estimates import seconds_of
from headrace._src.graph.running.layout import BINARY, CHAIN, SEVERAL, UNARY, laid_out, wrapped
from headrace._src.graph.running.written_code import written
from headrace._src.op.apply import kernel_error

_ndarray = np.ndarray

# How often a plan is interpreted before it is written out as code: about when the time saved makes up for writing.
_INTERPRETED_RUNS = 64


class Plan:
    """How to compute some outputs of a graph from some inputs."""

    def __init__(self, nodes, inputs, outputs, targets=()):
        """
        Args:
            nodes: all operations that may be needed, in an order in which they can run.
            inputs: the tensors whose values `run` is given.
            outputs: the tensors whose values `run` returns.
            targets: operations that must run whether or not something reads their outputs.
        """
        self._set_up(*optimized(nodes, inputs, outputs, targets), inputs)

    @classmethod
    def of_steps(cls, steps, inputs, outputs):
        """A plan that runs just these steps."""
        plan = cls.__new__(cls)
        plan._set_up(steps, outputs, inputs)
        return plan

    def _set_up(self, steps, outputs, inputs):
        self.steps = steps  # operations and what passes made of them, in order
        self.inputs = list(inputs)
        self.outputs = list(outputs)  # the tensors that have the values of the outputs
        self._program = laid_out(steps, self.inputs, self.outputs)
        self._runs_left = _INTERPRETED_RUNS
        self._code = self._instruction_of_line = None

    @functools.cached_property
    def estimated_seconds(self) -> float:
        """About how long a run takes without its loops, by operations and shapes alone."""
        return seconds_of(self.steps, lambda step: [graph.plan() for graph in called_graphs(step.attrs)])

    def write_early(self):
        """Be written out as code at the second run: for a function's large plan, that is no step to wait for later."""
        self._runs_left = min(self._runs_left, 1)

    def run(self, arrays: list) -> list:
        """Compute the outputs; `arrays` is emptied, so that inputs can be freed early."""
        if self._code is None:
            if self._runs_left > 0:
                self._runs_left -= 1
                return self._interpret(arrays)
            self._instruction_of_line, self._code = written(self._program)
        try:
            return self._code(arrays)
        except BaseException as error:
            raise_described(*self._failed_at(error))
            raise

    def _interpret(self, arrays):
        values, program, instruction = self._filled(arrays), self._program, None
        following = iter(program.instructions)
        try:
            for instruction in following:
                kind, call = instruction.kind, instruction.call
                if kind == BINARY:
                    result = call(values[instruction.x], values[instruction.y])
                elif kind == UNARY:
                    result = call(values[instruction.x])
                elif kind == CHAIN:
                    if not call([values[i] for i in instruction.operands]):
                        continue
                    _skip(following, instruction.parts)
                else:
                    result = call(values)
                if kind < SEVERAL:
                    if type(result) is not _ndarray or result.dtype is not instruction.dtype:
                        result = wrapped(result, instruction.result_types[0])
                    values[instruction.place] = result
                    result = None
                for i in instruction.dead:
                    values[i] = None
        except BaseException as error:
            raise_described(instruction, error, values.__getitem__)
            raise
        return [values[i] for i in program.results]

    def _filled(self, arrays):
        program = self._program
        values = program.start.copy()
        values[: len(arrays)] = arrays
        arrays.clear()
        for i in program.unread:
            values[i] = None
        return values

    def _failed_at(self, error):
        """The arguments of `raise_described`: whose kernel raised an error in the written code, and what was given."""
        traceback, code, program = error.__traceback__, self._code.__code__, self._program
        while traceback is not None and traceback.tb_frame.f_code is not code:
            traceback = traceback.tb_next
        if traceback is None:
            return None, error, None
        names = traceback.tb_frame.f_locals
        return self._instruction_of_line[traceback.tb_lineno], error, lambda i: names.get(f"v{i}", program.start[i])

    def profile(self, arrays: list):
        """Run and take notes.

        Returns:
            The outputs, and (step, seconds, bytes of its outputs) for each step but constants, in order.
        """
        notes = []

        def note(number, start, end, values):
            instruction = self._program.instructions[number]
            places = (instruction.place,) if instruction.kind < SEVERAL else instruction.places
            size = sum(_bytes_of(values[i]) for i in places if i is not None)
            notes.append((instruction.step, (end - start) / 1e9, size))

        return self.run_noting(arrays, note), notes

    def run_noting(self, arrays: list, note) -> list:
        """Run, and call `note(number, start, end, values)` after each instruction.

        `timed_steps` has the steps by number. Times are those of `time.perf_counter_ns`. What a chain has done the work
        of is not noted.
        """
        values, clock = self._filled(arrays), time.perf_counter_ns
        following = enumerate(self._program.instructions)
        for number, instruction in following:
            kind, call = instruction.kind, instruction.call
            start = clock()
            try:
                if kind == BINARY:
                    result = call(values[instruction.x], values[instruction.y])
                elif kind == UNARY:
                    result = call(values[instruction.x])
                elif kind == CHAIN:
                    if not call([values[i] for i in instruction.operands]):
                        continue
                    _skip(following, instruction.parts)
                else:
                    result = call(values)
                end = clock()
                if kind < SEVERAL:
                    values[instruction.place] = wrapped(result, instruction.result_types[0])
            except BaseException as error:
                raise_described(instruction, error, values.__getitem__)
                raise
            note(number, start, end, values)
            result = None
            for i in instruction.dead:
                values[i] = None
        return [values[i] for i in self._program.results]

    @property
    def timed_steps(self) -> list:
        """The steps that `run_noting` tells of, by number: all but constants. A chain has the step of its end."""
        return [instruction.step for instruction in self._program.instructions]


def _skip(iterator, count):
    collections.deque(itertools.islice(iterator, count), maxlen=0)


def _bytes_of(array):
    return array.nbytes if type(array) is _ndarray and not array.dtype.hasobject else 0


# Errors.


def raise_described(instruction, error, value_at) -> None:
    """Raise the error to raise for what the kernel of an instruction raised, if that is another one.

    Args:
        instruction: the one that failed; None when it was none.
        error: what it raised.
        value_at: gives the value at a place when it failed, or None where there is none any more.
    """
    context.random_node = None  # it may have been the kernel of a random op
    for reference in context.held_locks:
        leave = reference()
        if leave is not None:
            leave()
    context.held_locks = ()
    if instruction is None or not isinstance(error, Exception):
        return
    node = origin(instruction.step)
    if getattr(error, "_explained", False):
        errors.add_call(error, node.location)  # of the graph whose operation failed
        return
    described = kernel_error(node.record, _inputs_given(node, instruction, value_at), error)
    if hasattr(described, "_op") and described._op is None:
        described._op = node  # whose line is shown below the message
    described._explained = True
    if described is error:
        return
    try:
        raise described from None
    finally:
        del described  # the frame, which the traceback holds, would hold the error


def _inputs_given(node, instruction, value_at):
    """What messages show of the inputs: the arrays, where they are there still; otherwise the tensors of the graph."""
    inputs = list(node.inputs)
    step = instruction.step
    if step.record is node.record and len(instruction.operands) == len(inputs):
        arrays = [value_at(place) for place in instruction.operands]
        inputs = [x if type(a) is not _ndarray else a for a, x in zip(arrays, inputs)]
    return grouped(node, inputs)


def plan_of(graph) -> Plan:
    """The plan of a function's graph: all effects happen, whatever is returned."""
    return Plan(graph.nodes, graph.inputs, graph.outputs, effects_of(graph))


def effects_of(graph) -> list:
    """The operations of a function's graph that must run."""
    return [node for node in graph.nodes if node.record is not PLACEHOLDER and is_stateful(node)]

