"""How often a loop runs, when its condition depends on nothing but numbers that are known while the graph is built."""

from headrace._src.core.context import run_quietly
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.passes.dead_code import needed
from headrace._src.graph.running.plan import Plan

# Loops that run longer are not counted.
_LIMIT = 2000


def trip_count(operation) -> int | None:
    """The number of iterations of a loop; None when that depends on data, or is large."""
    cond, body, inputs = operation.attrs["cond"], operation.attrs["body"], operation.inputs
    steps, positions = _reads(cond, cond.outputs)
    if steps is None:
        return None
    # The variables that the condition reads, and those that these are computed from.
    found: dict[int, None] = {}
    pending = list(positions)
    while pending:
        i = pending.pop()
        if i in found:
            continue
        x = inputs[i]
        if type(x) is not SymbolicTensor or x._known is None or x._known.size > 16 or x.dtype._kind not in "iufb":
            return None
        found[i] = None
        part, more = _reads(body, [body.outputs[i]])
        if part is None:
            return None
        pending.extend(more)
    chosen = sorted(found)
    test = Plan(cond.nodes, [cond.inputs[i] for i in chosen], cond.outputs)
    step = Plan(body.nodes, [body.inputs[i] for i in chosen], [body.outputs[i] for i in chosen])
    values = [inputs[i]._known for i in chosen]
    try:
        return run_quietly(_count, test, step, values)
    except Exception:  # the run will tell
        return None


def _count(test, step, values):
    for count in range(_LIMIT + 1):
        if not test.run(list(values))[0]:
            return count
        values = step.run(values)
    return None


def _reads(graph, outputs):
    """The operations that some outputs need and the positions of the inputs they read; (None, None) if not simple."""
    positions = {id(tensor): i for i, tensor in enumerate(graph.inputs)}
    steps = needed(graph.nodes, graph.inputs, outputs)
    for node in steps:
        if node.record is PLACEHOLDER or node.record.stateful or node.record.calls_functions:
            return None, None
    read = {id(t) for node in steps for t in node.inputs} | {id(t) for t in outputs}
    return steps, [positions[number] for number in read if number in positions]
