"""Graphs that are only partly compiled: parts for programs, and between them what only the host can run.

Effects happen in the order in which their operations were made: an operation with an effect comes after everything
made before it, and nothing made after it comes earlier. Other operations go into the first part that has their inputs.
"""

from headrace._src.graph.building.operation import called_graphs, is_stateful
from headrace._src.graph.compiling.replicated import runs_on_devices
from headrace._src.graph.control.calls import PARTITIONED_CALL, STATEFUL_PARTITIONED_CALL
from headrace._src.graph.control.conditional import (
    CASE,
    IF,
    STATELESS_CASE,
    STATELESS_IF,
    branch_number,
    condition_number,
)
from headrace._src.graph.control.loops import STATELESS_WHILE, WHILE
from headrace._src.graph.passes.steps import Step
from headrace._src.graph.running.plan import Plan
from headrace._src.op.traits import ABOUT_SHAPES, NONE, PLAIN_CALL
from headrace._src.ops.arrays.filling import CONST


def host_steps(steps, known=(), apart=True) -> frozenset:
    """The positions of the operations that can be seen to be the host's.

    Args:
        steps: the operations in order.
        known: numbers (`id`) of the inputs whose values are known while compiling.
        apart: whether replicas that run on devices of their own are among them: their program is not a part of another.
    """
    found = None
    hosts = set()
    for i, node in enumerate(steps):
        if not node.record.calls_functions and node.record.lower is not None:
            continue
        if found is None:
            found = _repeatable(steps, known)
        if node.record.calls_functions:
            inner = _inner(node, found)
            if (apart and any(runs_on_devices(graph) for graph, _ in inner)) or any(
                host_steps(graph.plan().steps, inputs, apart) for graph, inputs in inner
            ):
                hosts.add(i)
        elif not node.outputs or id(node.outputs[0]) not in found:
            hosts.add(i)
    return frozenset(hosts)


def _inner(node, found):
    """The graphs that an operation runs, each with the numbers of its inputs that are known while compiling."""
    graphs = list(called_graphs(node.attrs))
    if PLAIN_CALL not in node.record.traits:
        return [(graph, ()) for graph in graphs]  # in branches and loops, values are jax's
    return [
        (graph, {id(own) for own, given in zip(graph.inputs, node.inputs) if id(given) in found}) for graph in graphs
    ]


def path_to_host(steps, known=(), allowed=NONE):
    """The way to the first operation for the host, and its op; None if there is none.

    Args:
        steps: the operations in order.
        known: numbers (`id`) of the inputs whose values are known while compiling.
        allowed: ops with one of these traits do not count.

    Returns:
        The places that lead to it, outermost first, and the op's name.
    """
    for place in sorted(host_steps(steps, known, apart=False)):
        node = steps[place]
        if not node.record.calls_functions:
            if not node.record.traits & allowed:
                return (place,), node.record.name
            continue
        for graph, inputs in _inner(node, _repeatable(steps, known)):
            found = path_to_host(graph.plan().steps, inputs, allowed)
            if found is not None:
                return (place, *found[0]), found[1]
    return None


def _repeatable(steps, known=()) -> dict:
    """By tensor, the operations that each part that needs them can run for itself: constants and what shapes tell.

    A program needs them to be known when it is compiled, which what comes from another part is not. What only the
    host can run is among them (the axes along which a gradient is summed): the compiler evaluates it.
    """
    found = dict.fromkeys(known)
    for node in steps:
        record = node.record
        if record.stateful or record.calls_functions or (record.lower is None and not node.inputs):
            continue
        if record is not CONST and ABOUT_SHAPES not in record.traits:
            if not all(id(t) in found for t in node.inputs):
                continue
            if any(t.dtype._kind not in "iub" or t.shape.rank not in (0, 1) for t in node.outputs):
                continue
        for tensor in node.outputs:
            found[id(tensor)] = node
    return found


def _with_repeated(nodes, repeatable, places):
    """The operations of a part, with those that it runs for itself, in the order of the whole."""
    own = {id(t) for node in nodes for t in node.outputs}
    before, pending = {}, list(nodes)
    while pending:
        for tensor in pending.pop().inputs:
            node = repeatable.get(id(tensor))
            if node is not None and id(tensor) not in own and id(node) not in before:
                before[id(node)] = node
                pending.append(node)
    return sorted([*before.values(), *nodes], key=lambda node: places[id(node)])


def stages(steps, hosts) -> list[int]:
    """For each operation the number of its part: even ones are for programs, odd ones for the host."""
    made: dict[int, int] = {}  # by tensor, the part that computes it
    result = []
    floor = highest = 0
    for i, node in enumerate(steps):
        if node.record is CONST:
            result.append(0)
            continue
        effect = is_stateful(node) and not node.record.draws
        at = max([made.get(id(t), 0) for t in node.inputs] + [highest if effect else floor])
        at += (at % 2) != (i in hosts)
        result.append(at)
        highest = max(highest, at)
        if effect:
            floor = at
        for tensor in node.outputs:
            made[id(tensor)] = at
    return result


def for_host(node):
    """An operation as the host runs it between programs: functions, branches and loops use what is compiled of them."""
    kernel = _CALLS.get(node.record)
    return node if kernel is None else Step(node, kernel=kernel)


def _call(args, f, **attrs):
    return f.executable().run(args)


def _if(cond, input, then_branch, else_branch, **attrs):
    return (then_branch, else_branch)[condition_number(cond)].executable().run(input)


def _case(branch_index, input, branches, **attrs):
    return branches[branch_number(branch_index, len(branches))].executable().run(input)


def _loop(input, cond, body, **attrs):
    values = list(input)
    input.clear()
    go_on, step = cond.executable(), body.executable()
    while go_on.run(list(values))[0]:
        values = step.run(values)
    return values


_CALLS = {
    PARTITIONED_CALL: _call, STATEFUL_PARTITIONED_CALL: _call, IF: _if, STATELESS_IF: _if, CASE: _case,
    STATELESS_CASE: _case, WHILE: _loop, STATELESS_WHILE: _loop,
}  # fmt: skip


class _Piece:
    """One part: what it reads and computes, by number."""

    __slots__ = ("dead", "executable", "inputs", "outputs")

    def __init__(self, executable, inputs, outputs):
        self.executable = executable
        self.inputs = inputs
        self.outputs = outputs
        self.dead = []


def _is_left_out(node, repeatable, read):
    outputs = node.outputs
    return bool(outputs) and all(id(t) in repeatable and id(t) in read for t in outputs)


class Segmented:
    """Runs the parts of a graph one after the other."""

    def __init__(self, whole, hosts, make):
        """
        Args:
            whole: the plan of the graph.
            hosts: the positions of the operations between the programs.
            make: a plan to what runs a part that may be compiled.
        """
        steps = whole.steps
        numbers: dict[int, int] = {}
        for tensor in whole.inputs:
            numbers.setdefault(id(tensor), len(numbers))
        tensors = list(whole.inputs)
        for node in steps:
            for tensor in node.outputs:
                numbers[id(tensor)] = len(tensors)
                tensors.append(tensor)
        parts: dict[int, list] = {}
        repeatable = _repeatable(steps)
        for node, stage in zip(steps, stages(steps, hosts)):
            parts.setdefault(stage, []).append(node)
        # A part leaves out what only others need and run for themselves.
        wanted = {id(t) for t in whole.outputs}
        read = {id(t) for node in steps for t in node.inputs} - wanted
        places = {id(node): i for i, node in enumerate(steps)}
        parts = {
            stage: _with_repeated([n for n in nodes if not _is_left_out(n, repeatable, read)], repeatable, places)
            for stage, nodes in parts.items()
        }
        parts = {stage: nodes for stage, nodes in parts.items() if nodes}
        last_use: dict[int, int] = {}
        order = sorted(parts)
        for k, stage in enumerate(order):
            for node in parts[stage]:
                for tensor in node.inputs:
                    last_use[id(tensor)] = k
        for tensor in whole.outputs:
            last_use[id(tensor)] = len(order)
        self.pieces = []
        for k, stage in enumerate(order):
            nodes = parts[stage]
            own = {id(t) for node in nodes for t in node.outputs}
            inputs = list({id(t): t for node in nodes for t in node.inputs if id(t) not in own}.values())
            made = [t for node in nodes for t in node.outputs if last_use.get(id(t), -1) > k]
            outputs = [t for t in made if id(t) not in repeatable or id(t) in wanted]
            if stage % 2:
                piece = Plan.of_steps([for_host(node) for node in nodes], inputs, outputs)
            else:
                piece = make(Plan.of_steps(nodes, inputs, outputs))
            self.pieces.append(_Piece(piece, [numbers[id(t)] for t in inputs], [numbers[id(t)] for t in outputs]))
        for tensor, number in ((t, numbers[id(t)]) for t in tensors):
            k = last_use.get(id(tensor))
            if k is not None and k < len(order):
                self.pieces[k].dead.append(number)
        self._count = len(tensors)
        self._inputs = len(whole.inputs)
        self._outputs = [numbers[id(t)] for t in whole.outputs]

    def run(self, arrays):
        """Compute the outputs."""
        values = arrays + [None] * (self._count - self._inputs)
        arrays.clear()
        for piece in self.pieces:
            results = piece.executable.run([values[i] for i in piece.inputs])
            for i, array in zip(piece.outputs, results):
                values[i] = array
            del results
            for i in piece.dead:
                values[i] = None
        return [values[i] for i in self._outputs]
