"""All passes over the operations that some outputs need, in one walk forwards and one backwards."""

import collections
import functools

import numpy as np

from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.passes import arithmetic, chains, identities, known_shapes
from headrace._src.graph.passes.common_subexpressions import key_of
from headrace._src.graph.passes.constant_folding import folded, folded_call
from headrace._src.graph.passes.dead_code import live, needed
from headrace._src.graph.passes.implementations import selected
from headrace._src.graph.passes.steps import Known, Step, constant_step, kernel_of
from headrace._src.op.traits import READS_RESOURCE
from headrace._src.state.storage import ASSIGNMENTS, READ_VARIABLE

_RULES = {**identities.RULES, **chains.RULES, **known_shapes.RULES}


@functools.cache
def _rule_of(record):
    """The rule for an op: its own, or that of what its record says; None for most."""
    return _RULES.get(record) or identities.rule_of(record) or arithmetic.rule_of(record)


def optimized(nodes, inputs, outputs, targets=()) -> tuple[list, list]:
    """What to run for some outputs of a graph.

    Args:
        nodes: all operations that may be needed, in an order in which they can run.
        inputs: the tensors whose values are given.
        outputs: the tensors whose values are wanted.
        targets: operations that must run whether or not something reads their outputs.

    Returns:
        The steps (operations of the graph, and `Step`s for what was rewritten) in order, and the tensors that have the
        values of `outputs`. The graph stays as it is.
    """
    return rewritten(needed(nodes, inputs, outputs, targets), inputs, outputs)


def rewritten(steps, inputs, outputs) -> tuple[list, list]:
    """The steps with all passes applied; results and errors stay the same, to the last bit."""
    # Tensors whose values come from outside though an operation computes them, as when a session is fed.
    fed = {id(tensor) for tensor in inputs if tensor.op.record is not PLACEHOLDER}
    program = _Program()
    replaced, known = program.replaced, program.known
    for step in steps:
        if replaced:
            step = _reading(step, replaced)
        record = step.record
        is_fed = fed and any(id(tensor) in fed for tensor in step.outputs)
        if record.calls_functions and not is_fed:
            step = selected(step)
            program.note_effect(step)
            program.append_folded(step, folded_call(step, known))
            continue
        if record.stateful or is_fed:
            program.append_stateful(step, is_fed)
            continue
        rule = _rule_of(record)
        found = None if rule is None else rule(step, known)
        kind = type(found)
        if kind is SymbolicTensor:
            replaced[id(step.outputs[0])] = found
            continue
        if kind is list:
            replaced.update((id(tensor), same) for tensor, same in zip(step.outputs, found))
            continue
        if kind is tuple:
            program.append(found[0])
            step = found[1]
        elif kind is Step:
            step = found
        arrays = [found] if kind is np.ndarray else folded(step, known)
        if arrays is None:
            program.append_once(step)
        else:
            program.append_folded(step, arrays)
    outputs = [replaced.get(id(tensor), tensor) for tensor in outputs]
    return live(program.steps, outputs, known.constants), outputs


class _Program:
    """The steps so far, and which tensors stand for others."""

    def __init__(self):
        self.steps = []
        self.known = Known()
        self.replaced = {}  # id of a tensor to the one that has its value
        self._seen = {}
        self._effects = 0  # so far, but for assignments
        self._assignments = collections.Counter()  # by dtype

    def append(self, step):
        self.steps.append(step)
        self.known.add(step)

    def append_folded(self, step, arrays):
        """Append constants in the place of a step; the step itself where there are none."""
        if arrays is None:
            self.append(step)
            return
        for tensor, array in zip(step.outputs, arrays):
            self.append_once(constant_step(step, tensor, array))

    def append_stateful(self, step, is_fed):
        """Append a step that is stateful; a read of a variable only if it may have another value than before."""
        record = step.record
        if record is READ_VARIABLE and not is_fed and kernel_of(step) is None:
            (handle,), dtype = step.inputs, step.attrs["dtype"]
            state = self._effects, self._assignments[dtype]
            self._append_once(step, (record.name, id(handle), dtype, step.device, state))
        else:
            self.note_effect(step)
            self.append(step)

    def note_effect(self, step):
        """Take note of what a step may do to variables: an assignment changes only such of its dtype."""
        record = step.record
        if record in ASSIGNMENTS:
            self._assignments[step.inputs[1].dtype] += 1
        elif record.stateful and not (record.draws or READS_RESOURCE in record.traits):
            self._effects += 1

    def append_once(self, step):
        """Append a step without effects, unless an equal one is there already."""
        self._append_once(step, key_of(step))

    def _append_once(self, step, key):
        if key is not None:
            before = self._seen.setdefault(key, step)
            if before is not step:
                self.replaced.update((id(tensor), same) for tensor, same in zip(step.outputs, before.outputs))
                return
        self.append(step)


def _reading(step, replaced):
    """The step with inputs exchanged for those that have the same values."""
    for tensor in step.inputs:
        if id(tensor) in replaced:
            return Step(step, inputs=tuple([replaced.get(id(t), t) for t in step.inputs]))
    return step
