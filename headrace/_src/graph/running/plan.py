"""Running a graph with the ops' kernels.

A plan is a list of instructions over numbered places for values: call a kernel, put the results there, and forget what
is not read any more. A plan that runs often is written out as straight-line Python code: that saves 0.3 us per
operation and run, and takes 40 us per operation once.

Steps run in the order in which the operations were made, so effects happen in source order. When one fails, the error
is that of its op, and tells the user's line.
"""

import operator
import time

import numpy as np

from headrace._src.core.context import context
from headrace._src.core.random_state import site_within
from headrace._src.core.tracebacks import is_traceback_filtering_enabled
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import CALLING, grouped, is_stateful
from headrace._src.graph.passes.dead_code import needed as needed
from headrace._src.graph.passes.pipeline import optimized
from headrace._src.graph.passes.steps import draws, kernel_of, origin, random_call
from headrace._src.graph.running.reuse import reusable
from headrace._src.op.apply import as_array, check_dtype, kernel_error
from headrace._src.op.bound_kernels import bound_kernel
from headrace._src.ops.arrays.filling import CONST

_ndarray, _number, _asarray = np.ndarray, np.number, np.asarray

# How often a plan is interpreted before it is written out as code: about when the time saved makes up for compiling.
_INTERPRETED_RUNS = 64

# How an instruction calls its kernel: with one place, with two, with all values for one result, or for any number.
_UNARY, _BINARY, _SINGLE, _SEVERAL = range(4)


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
        layout = _Layout(steps, self.inputs, self.outputs)
        self._start, self._program, self._unread = layout.start, layout.program, layout.unread
        self._bound = layout.bound
        self._results = [layout.places[id(tensor)] for tensor in self.outputs]
        self._runs_left = _INTERPRETED_RUNS
        self._code = self._instruction_of_line = None

    def run(self, arrays: list) -> list:
        """Compute the outputs; `arrays` is emptied, so that inputs can be freed early."""
        if self._code is None:
            if self._runs_left > 0:
                self._runs_left -= 1
                return self._interpret(arrays)
            self._instruction_of_line, self._code = _written(self)
        try:
            return self._code(arrays)
        except BaseException as error:
            described = self._described(error)
            try:
                if described is not error:
                    raise described from None
                raise
            finally:
                del described  # the frame, which the traceback holds, would hold the error

    def _interpret(self, arrays):
        values = self._filled(arrays)
        instruction = None
        try:
            for instruction in self._program:
                kind, kernel, x, y, place, dtype, dead, result_type, _ = instruction
                if kind == 1:
                    result = kernel(values[x], values[y])
                elif kind == 0:
                    result = kernel(values[x])
                else:
                    result = kernel(values)
                if kind != 3:
                    if type(result) is not _ndarray or result.dtype is not dtype:
                        result = _wrapped(result, result_type)
                    values[place] = result
                    result = None
                for i in dead:
                    values[i] = None
        except BaseException as error:
            described = describe_error(instruction[-1], error)
            try:
                if described is not error:
                    raise described from None
                raise
            finally:
                del described
        return [values[i] for i in self._results]

    def _filled(self, arrays):
        values = self._start.copy()
        values[: len(arrays)] = arrays
        arrays.clear()
        for i in self._unread:
            values[i] = None
        return values

    def _described(self, error):
        """The error to raise for what a kernel raised in the written code."""
        traceback, code = error.__traceback__, self._code.__code__
        while traceback is not None and traceback.tb_frame.f_code is not code:
            traceback = traceback.tb_next
        number = None if traceback is None else self._instruction_of_line[traceback.tb_lineno]
        return error if number is None else describe_error(self._program[number][-1], error)

    def profile(self, arrays: list):
        """Run and take notes.

        Returns:
            The outputs, and (step, seconds, bytes of its outputs) for each step but constants, in order.
        """
        values = self._filled(arrays)
        notes = []
        for kind, kernel, x, y, place, _, dead, result_type, step in self._program:
            before = time.perf_counter()
            try:
                if kind == _BINARY:
                    result = kernel(values[x], values[y])
                elif kind == _UNARY:
                    result = kernel(values[x])
                else:
                    result = kernel(values)
            except BaseException as error:
                described = describe_error(step, error)
                try:
                    if described is not error:
                        raise described from None
                    raise
                finally:
                    del described
            seconds = time.perf_counter() - before
            if kind != _SEVERAL:
                values[place] = _wrapped(result, result_type)
            places = (place,) if kind != _SEVERAL else y
            notes.append((step, seconds, sum(_bytes_of(values[i]) for i in places if i is not None)))
            result = None
            for i in dead:
                values[i] = None
        return [values[i] for i in self._results], notes


def _bytes_of(array):
    return array.nbytes if type(array) is _ndarray and not array.dtype.hasobject else 0


# From steps to instructions.


class _Layout:
    """Places for the values, and an instruction for each step other than constants.

    An instruction is a tuple: kind; what to call; for kinds _UNARY and _BINARY the places of x and y, otherwise the
    places of all inputs and (for _SEVERAL) of all outputs or (for _SINGLE) what `reusable` found; the place of the only
    output, its NumPy dtype; the places to clear afterwards; the op and dtype of the only output, or of all; the step.
    """

    def __init__(self, steps, inputs, outputs):
        self.places = {id(tensor): i for i, tensor in enumerate(inputs)}  # by id of the tensor
        self.start: list = [None] * len(inputs)  # the values to begin with: constants in their places
        self.program: list = []
        self.bound: dict = {}  # id of a step to its kernel, where constants are worked into that
        self._given = set(self.places)
        self._constants: set[int] = set()
        self._free: list[int] = []
        self._last_use = last_use = {}
        for i, step in enumerate(steps):
            for tensor in step.inputs:
                last_use[id(tensor)] = i
        for tensor in outputs:
            last_use[id(tensor)] = len(steps)
        self.unread = [i for i, tensor in enumerate(inputs) if id(tensor) not in last_use]
        for i, step in enumerate(steps):
            if step.record is CONST:
                self._add_constant(step)
            else:
                self.program.append(self._instruction(i, step))

    def _add_constant(self, step):
        (tensor,) = step.outputs
        if id(tensor) not in self._given:
            self.places[id(tensor)] = len(self.start)
            self._constants.add(len(self.start))
            self.start.append(step.attrs["value"]._a)

    def _instruction(self, number, step):
        record, attrs, results = step.record, step.attrs, step.outputs
        places, last_use = self.places, self._last_use
        operands = [places[id(tensor)] for tensor in step.inputs]
        dead = []
        for tensor, place in zip(step.inputs, operands):
            if last_use[id(tensor)] == number and place not in self._constants and place not in dead:
                dead.append(place)
        kernel = kernel_of(step) or self._bound(step, operands) or record.kernel
        is_random = draws(record)
        if record.single_output and id(results[0]) not in self._given and record.name not in CALLING:
            (tensor,) = results
            over = reusable(kernel, step, [place in dead for place in operands], self._given) if dead else None
            # The result takes the place of an input that nobody else reads.
            place = places[id(tensor)] = dead.pop() if dead else self._place()
            self._free.extend(dead)
            if id(tensor) not in last_use:
                dead.append(place)
                self._free.append(place)
            dtype = tensor.dtype
            clear, result_type = tuple(dead), (record, dtype)
            if over is not None:
                call = _reusing_caller(operands, *over)
                return (_SINGLE, call, operands, over, place, dtype._np, clear, result_type, step)
            if record.is_plain and not attrs and not is_random and 1 <= len(operands) <= 2:
                x, y = operands[0], operands[-1]
                return (len(operands) - 1, kernel, x, y, place, dtype._np, clear, result_type, step)
            call = _caller(step, kernel, operands, is_random)
            return (_SINGLE, call, operands, None, place, dtype._np, clear, result_type, step)
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
        if record.name in CALLING:
            call = _graph_caller(step, kernel, operands, dead)
        else:
            call = _caller(step, kernel, operands, is_random)
        self._free.extend(dead + unread)
        result_types = [(record, tensor.dtype) for tensor in results]
        call = _storing(step, call, taken, result_types)
        return (_SEVERAL, call, operands, taken, None, None, tuple(dead + unread), result_types, step)

    def _bound(self, step, operands):
        """The kernel for a step whose sizes and axes are constants; None when there is none."""
        places = None

        def constant_at(position):
            nonlocal places
            places = grouped(step, operands) if places is None else places
            place = places[position]
            return self.start[place] if type(place) is int and place in self._constants else None

        kernel = bound_kernel(step.record, step.attrs, constant_at)
        if kernel is not None:
            self.bound[id(step)] = kernel
        return kernel

    def _place(self):
        if self._free:
            return self._free.pop()
        self.start.append(None)
        return len(self.start) - 1


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
    kernel = _at_site(step, kernel)

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


def _at_site(step, kernel):
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
    several = _flattener(step, result_types)

    def store(values):
        for place, result in zip(places, several(call(values))):
            if place is not None:
                values[place] = result

    return store


def _flattener(step, result_types):
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
        return [_wrapped(value, kind) for value, kind in zip(results, result_types, strict=True)]

    return flat


def _wrapped(value, result_type):
    """A kernel's result as an array of the right dtype."""
    record, dtype = result_type
    if type(value) is not _ndarray:
        if isinstance(value, _number):  # what NumPy's functions make of arrays without dimensions
            array = _asarray(value)
            if array.dtype is dtype._np:
                return array
        return as_array(value, dtype)
    if value.dtype is not dtype._np:
        check_dtype(record, value, dtype)
    return value


# From instructions to code.


def _written(plan):
    """The program as a Python function, and for each of its lines the number of the instruction."""
    scope = {"nd": _ndarray, "wrap": _wrapped, "context": context}
    names = [f"v{i}" for i in range(len(plan._start))]
    for i, value in enumerate(plan._start):
        if value is not None:
            names[i] = f"c{i}"
            scope[f"c{i}"] = value
    given = "".join(f"v{i}, " for i in range(len(plan.inputs)))
    lines = ["def run(arguments):", f"  {given}= arguments" if given else "  pass", "  arguments.clear()"]
    if plan._unread:
        lines[-1] += f"; del {', '.join(names[i] for i in plan._unread)}"
    instruction_of_line: list = [None] * (len(lines) + 1)  # lines are counted from 1
    for i, instruction in enumerate(plan._program):
        text = _text_of(i, instruction, names, scope, plan._bound)
        lines.extend(text)
        instruction_of_line.extend([i] * len(text))
    lines.append(f"  return [{', '.join(names[i] for i in plan._results)}]")
    instruction_of_line.append(None)
    exec(compile("\n".join(lines), "<graph>", "exec"), scope)
    # A function that is one of its own globals would be freed by the cycle collector only.
    return instruction_of_line, scope.pop("run")


def _text_of(i, instruction, names, scope, bound):
    """The lines for one instruction: call the kernel, check and name the results, forget what is not read again."""
    kind, _, x, y, place, dtype, dead, result_type, step = instruction
    record = step.record
    operands = (x,) if kind == _UNARY else (x, y) if kind == _BINARY else x
    gone = [names[j] for j in dead]
    before, after = [], []
    if record.name in CALLING:  # the kernel owns the list, and frees what is in it
        arguments = []
        for argument, group in zip(record.signature.inputs, grouped(step, operands)):
            if argument.is_list:
                before.append(f"  g{i} = [{', '.join(names[j] for j in group)}]")
                arguments.append(f"g{i}")
            else:
                arguments.append(names[group])
        inputs = {names[j] for j in operands} - set(arguments)
        early = [name for name in gone if name in inputs]
        if early:
            before.append(f"  del {', '.join(early)}")
        gone = [name for name in gone if name not in inputs]
    elif record.has_lists:
        groups = grouped(step, operands)
        arguments = [names[p] if type(p) is int else f"[{', '.join(names[j] for j in p)}]" for p in groups]
    else:
        arguments = [names[j] for j in operands]
    for name, value in step.attrs.items():
        if type(value) in (bool, int) or value is None:
            arguments.append(f"{name}={value!r}")
        else:
            scope[f"x{i}{name}"] = value
            arguments.append(f"{name}=x{i}{name}")
    kernel = _at_site(step, bound.get(id(step)) or kernel_of(step) or record.kernel)
    if kind == _SINGLE and y is not None:  # one of the inputs goes into a list, from where it can be written over
        position, scope[f"k{i}"] = y
        mine = names[operands[position]]
        before.append(f"  g{i} = [{mine}]; del {mine}")
        arguments = [f"g{i}", *(name for name in arguments if name != mine)]
        gone = [name for name in gone if name != mine or name == names[place]]
    else:
        scope[f"k{i}"] = kernel
    call = f"k{i}({', '.join(arguments)})"
    if draws(record):
        scope[f"n{i}"] = origin(step)
        before.append(f"  context.random_node = n{i}")
        after.append("  context.random_node = None")
    if kind != _SEVERAL:
        target = names[place]
        if not _is_certain(kernel, step):
            scope[f"d{i}"], scope[f"r{i}"] = dtype, result_type
            wrong = f"type({target}) is not nd or {target}.dtype is not d{i}"
            after.append(f"  if {wrong}: {target} = wrap({target}, r{i})")
        before.append(f"  {target} = {call}")
    elif y:
        scope[f"m{i}"] = _flattener(step, result_type)
        before.append(f"  {''.join('_, ' if j is None else names[j] + ', ' for j in y)}= m{i}({call})")
        if None in y:
            gone.append("_")
    else:
        before.append(f"  {call}")
    if gone:
        after.append(f"  del {', '.join(gone)}")
    return before + after


def _is_certain(kernel, step):
    """Whether the kernel's result is an array of the right dtype for certain: NumPy's own functions on arrays."""
    rank = step.outputs[0]._shape.rank
    return isinstance(kernel, np.ufunc) and rank is not None and rank > 0


# Errors.


def describe_error(node, error):
    """The error to raise for what the kernel of `node` raised."""
    context.random_node = None  # it may have been the kernel of a random op
    for reference in context.held_locks:
        leave = reference()
        if leave is not None:
            leave()
    context.held_locks = ()
    if not isinstance(error, Exception) or getattr(error, "_explained", False):
        return error
    node = origin(node)
    described = kernel_error(node.record, grouped(node, node.inputs), error)
    if hasattr(described, "_op") and described._op is None:
        described._op = node  # whose line is shown below the message
    described._explained = True
    if is_traceback_filtering_enabled() and described is not error:
        described.__traceback__ = None
    return described


def plan_of(graph) -> Plan:
    """The plan of a function's graph: all effects happen, whatever is returned."""
    return Plan(graph.nodes, graph.inputs, graph.outputs, effects_of(graph))


def effects_of(graph) -> list:
    """The operations of a function's graph that must run."""
    return [node for node in graph.nodes if node.record is not PLACEHOLDER and is_stateful(node)]

