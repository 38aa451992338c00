"""From the steps of a graph to instructions over numbered places for values.

An instruction says what to call, where the arguments lie, where the results go, and what is not read afterwards.
plan.py follows instructions one by one; written_code.py writes them out as Python code.
"""

import operator
from collections.abc import Callable

import numpy as np

from headrace._src.core.context import context
from headrace._src.core.device_use import ElsewhereValue
from headrace._src.core.lazy import LazyModule
from headrace._src.core.random_state import site_within
from headrace._src.graph.building.operation import grouped
from headrace._src.graph.passes.steps import kernel_of, origin, random_call
from headrace._src.graph.running.reuse import reusable
from headrace._src.op.apply import as_array, check_dtype
from headrace._src.op.bound_kernels import bound_kernel
from headrace._src.op.traits import WRITES_VARIABLE
from headrace._src.ops.arrays.filling import CONST

_ndarray, _number, _asarray = np.ndarray, np.number, np.asarray

# How an instruction calls its kernel: with one place, with two, with all values for one result, or for any number. The
# last one is a chain, which may do the work of the instructions after it (update_chains.py).
UNARY, BINARY, SINGLE, SEVERAL, CHAIN = range(5)

# From so many elements on, updates of variables are looked at for chains.
LARGE_UPDATE = 1 << 18

_update_chains = LazyModule("headrace._src.graph.running.update_chains")  # where there are large variables


class KernelCall:
    """One call of a kernel. Reading a slot takes less time than unpacking a tuple of as many parts."""

    __slots__ = (
        "call", "dead", "dtype", "kind", "operands", "over", "parts", "place", "places", "result_types", "step", "x",
        "y",
    )  # fmt: skip

    def __init__(self, kind, call, operands, step, dead, result_types):
        self.kind: int = kind  # UNARY, BINARY, SINGLE, SEVERAL or CHAIN
        # Of the values at x, of those at x and y, or of the list of all values; CHAIN: of the list of operands, and
        # returns whether it has done the work of the next instructions.
        self.call: Callable = call
        self.operands: list[int] = operands  # the places of all inputs
        self.step = step
        self.dead: tuple[int, ...] = dead  # the places to clear afterwards
        self.result_types: list[tuple] = result_types  # (op, dtype) of each output
        self.x = self.y = -1  # UNARY and BINARY: the places of the first and the last input
        self.place = -1  # of the only output
        self.dtype = None  # of the only output, as NumPy has it
        self.over: tuple | None = None  # SINGLE: what `reusable` found
        self.places: list[int | None] = []  # SEVERAL: of all outputs; None for one that is not stored
        self.parts = 0  # CHAIN: the number of these instructions


class KernelProgram:
    """Instructions, and the places that they work on. The values that a run is given have the first places."""

    __slots__ = ("bound", "instructions", "number_of_inputs", "results", "start", "unread")

    def __init__(self, start, number_of_inputs):
        self.number_of_inputs: int = number_of_inputs
        self.start: list = start  # the values to begin with: constants in their places, None elsewhere
        self.unread: list[int] = []  # the places of inputs that no instruction reads
        self.instructions: list[KernelCall] = []
        self.results: list[int] = []  # the places of what a run returns
        self.bound: dict = {}  # id of a step to its kernel, where constants are worked into that


def laid_out(steps, inputs, outputs) -> KernelProgram:
    """The program that computes tensors `outputs` from tensors `inputs` by some steps, in their order."""
    program = _Layout(steps, inputs, outputs).program
    if any(map(_is_large_update, program.instructions)):
        _update_chains.add_chains(program)
    return program


def _is_large_update(instruction):
    """Whether an instruction assigns to a large variable, or adds to it."""
    if instruction.kind != SEVERAL or instruction.places or len(instruction.operands) != 2:
        return False
    step = instruction.step
    return WRITES_VARIABLE in step.record.traits and (step.inputs[1]._shape.num_elements() or 0) >= LARGE_UPDATE


class _Layout:
    """Finds places for the values, and makes an instruction for each step other than constants."""

    def __init__(self, steps, inputs, outputs):
        self._places = {id(tensor): i for i, tensor in enumerate(inputs)}  # by id of the tensor
        self.program = KernelProgram([None] * len(inputs), len(inputs))
        self._start = self.program.start
        self._given = set(self._places)
        self._constants: set[int] = set()
        self._free: list[int] = []
        self._last_use = last_use = {}
        for i, step in enumerate(steps):
            for tensor in step.inputs:
                last_use[id(tensor)] = i
        for tensor in outputs:
            last_use[id(tensor)] = len(steps)
        self.program.unread = [i for i, tensor in enumerate(inputs) if id(tensor) not in last_use]
        for i, step in enumerate(steps):
            if step.record is CONST:
                self._add_constant(step)
            else:
                self.program.instructions.append(self._instruction(i, step))
        self.program.results = [self._places[id(tensor)] for tensor in outputs]

    def _add_constant(self, step):
        (tensor,) = step.outputs
        if id(tensor) not in self._given:
            self._places[id(tensor)] = len(self._start)
            self._constants.add(len(self._start))
            self._start.append(step.attrs["value"]._a)

    def _instruction(self, number, step):
        record, results = step.record, step.outputs
        places, last_use = self._places, self._last_use
        operands = [places[id(tensor)] for tensor in step.inputs]
        dead = []
        for tensor, place in zip(step.inputs, operands):
            if last_use[id(tensor)] == number and place not in self._constants and place not in dead:
                dead.append(place)
        kernel = kernel_of(step) or self._bound(step, operands) or record.kernel
        if record.single_output and id(results[0]) not in self._given and not record.calls_functions:
            (tensor,) = results
            over = reusable(kernel, step, [place in dead for place in operands], self._given) if dead else None
            # The result takes the place of an input that nobody else reads.
            place = places[id(tensor)] = dead.pop() if dead else self._place()
            self._free.extend(dead)
            if id(tensor) not in last_use:
                dead.append(place)
                self._free.append(place)
            return self._single(step, kernel, operands, place, tuple(dead), over)
        taken, unread = [], []
        for tensor in results:
            if id(tensor) in self._given:  # fed by a session, though it is computed for the sake of other outputs
                taken.append(None)
                continue
            place = self._place()
            places[id(tensor)] = place
            taken.append(place)
            if id(tensor) not in last_use:
                unread.append(place)
        if record.calls_functions:
            call = _graph_caller(step, kernel, operands, dead)
        else:
            call = _caller(step, kernel, operands, record.draws)
        self._free.extend(dead + unread)
        result_types = [(record, tensor.dtype) for tensor in results]
        call = _storing(step, call, taken, result_types)
        instruction = KernelCall(SEVERAL, call, operands, step, tuple(dead + unread), result_types)
        instruction.places = taken
        return instruction

    def _single(self, step, kernel, operands, place, dead, over):
        """The instruction for a step with one output, at `place`."""
        record, (tensor,) = step.record, step.outputs
        is_random = record.draws
        if over is not None:
            kind, call = SINGLE, _reusing_caller(operands, *over)
        elif record.is_plain and not step.attrs and not is_random and 1 <= len(operands) <= 2:
            kind, call = (UNARY, BINARY)[len(operands) - 1], kernel
        else:
            kind, call = SINGLE, _caller(step, kernel, operands, is_random)
        instruction = KernelCall(kind, call, operands, step, dead, [(record, tensor.dtype)])
        instruction.place, instruction.dtype, instruction.over = place, tensor.dtype._np, over
        if kind != SINGLE:
            instruction.x, instruction.y = operands[0], operands[-1]
        return instruction

    def _bound(self, step, operands):
        """The kernel for a step whose sizes and axes are constants; None when there is none."""
        places = None

        def constant_at(position):
            nonlocal places
            places = grouped(step, operands) if places is None else places
            place = places[position]
            return self._start[place] if type(place) is int and place in self._constants else None

        kernel = bound_kernel(step.record, step.attrs, constant_at)
        if kernel is not None:
            self.program.bound[id(step)] = kernel
        return kernel

    def _place(self):
        if self._free:
            return self._free.pop()
        self._start.append(None)
        return len(self._start) - 1


def _caller(step, kernel, operands, is_random):
    """A function of the values that calls the kernel with its arguments and attributes."""
    attrs = step.attrs
    if step.record.has_lists:
        groups = grouped(step, operands)

        def call(values):
            return kernel(*[values[p] if type(p) is int else [values[i] for i in p] for p in groups], **attrs)

    elif len(operands) == 1:
        (x,) = operands

        def call(values):
            return kernel(values[x], **attrs)

    elif operands:
        pick = operator.itemgetter(*operands)

        def call(values):
            return kernel(*pick(values), **attrs)

    else:

        def call(values):
            return kernel(**attrs)

    return _drawing(origin(step), call) if is_random else call


def _reusing_caller(operands, position, function):
    """A call that may write its result over one of the inputs."""
    mine = operands[position]
    others = [place for place in operands if place != mine]
    if not others:

        def call(values):
            box = [values[mine]]
            values[mine] = None
            return function(box)

    else:
        (other,) = others

        def call(values):
            box = [values[mine]]
            values[mine] = None
            return function(box, values[other])

    return call


def _graph_caller(step, kernel, operands, dead):
    """A call of an op that runs graphs. The list of inputs is its own: it frees them while the graphs run."""
    attrs, groups = step.attrs, grouped(step, operands)
    kernel = at_site(step, kernel)

    def call(values):
        arguments = [values[p] if type(p) is int else [values[i] for i in p] for p in groups]
        for i in dead:
            values[i] = None
        return kernel(*arguments, **attrs)

    return call


def _drawing(node, call):
    """A random op: each operation has a stream of random numbers of its own."""

    def draw(values):
        context.random_node = node
        result = call(values)
        context.random_node = None
        return result

    return draw


def at_site(step, kernel):
    """The kernel of an op that runs graphs; of a call, so that random operations have streams for this place."""
    node = random_call(step)
    if node is None:
        return kernel

    def run(*arguments, **attrs):
        before = context.random_site
        context.random_site = site_within(before, node)
        try:
            return kernel(*arguments, **attrs)
        finally:
            context.random_site = before

    return run


def _storing(step, call, places, result_types):
    """Call, and put all results in their places."""
    several = flattener(step, result_types)

    def store(values):
        for place, result in zip(places, several(call(values))):
            if place is not None:
                values[place] = result

    return store


def flattener(step, result_types):
    """A function that makes a flat list of arrays of what the kernel returns."""
    record = step.record
    single = record.single_output
    spread = record.number_of_outputs > 1 and any(argument.is_list for argument in record.signature.outputs)

    def flat(results):
        if single:
            results = (results,)
        elif spread:
            results = [x for result in results for x in (result if isinstance(result, list) else (result,))]
        elif not result_types:
            return ()
        return [wrapped(value, kind) for value, kind in zip(results, result_types, strict=True)]

    return flat


def wrapped(value, result_type):
    """A kernel's result as an array of the right dtype."""
    record, dtype = result_type
    if type(value) is not _ndarray:
        if isinstance(value, _number):  # what NumPy's functions make of arrays without dimensions
            array = _asarray(value)
            if array.dtype is dtype._np:
                return array
        elif isinstance(value, ElsewhereValue):  # of a function that has run on an accelerator
            return value
        return as_array(value, dtype)
    if value.dtype is not dtype._np:
        check_dtype(record, value, dtype)
    return value
