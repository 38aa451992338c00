"""Leaving out what nobody needs."""

from headrace._src.graph.passes.failures import can_fail


def needed(nodes, inputs, outputs, targets=()) -> list:
    """The operations that must run, in order: the targets, and what they and the outputs depend on."""
    read = {id(tensor) for tensor in inputs}  # tensors that need not be computed, or will be
    given = {id(tensor.op) for tensor in inputs}  # what is there without running
    later = {id(old): id(node) for node in nodes for old in node.earlier}
    wanted = {later.get(id(node), id(node)) for node in targets}
    for tensor in outputs:
        if id(tensor) not in read:
            wanted.add(id(tensor.op))
            read.add(id(tensor))
    steps = []
    for node in reversed(nodes):
        if id(node) not in wanted:
            continue
        original = node.original
        if original is not None and not any(id(t) in read for t in node.outputs[len(original._outputs) :]):
            node = original  # without the outputs that only a gradient would read
        steps.append(node)
        for tensor in node.inputs:
            if id(tensor) not in read:
                wanted.add(id(tensor.op))
                read.add(id(tensor))
        if node.control_inputs:
            before = {later.get(id(other), id(other)) for other in node.control_inputs}
            wanted |= before - given
    steps.reverse()
    return steps


def live(steps, outputs, constants) -> list:
    """The steps of a rewritten program without those whose values nobody reads any more.

    What has effects stays, and so does what can fail: the error is part of the meaning.
    """
    read = {id(tensor) for tensor in outputs}
    kept = []
    for step in reversed(steps):
        if not _is_read(step, read) and not step.record.stateful and not step.record.calls_functions:
            if not can_fail(step, constants):
                continue
        kept.append(step)
        for tensor in step.inputs:
            read.add(id(tensor))
    kept.reverse()
    return kept


def _is_read(step, read):
    for tensor in step.outputs:
        if id(tensor) in read:
            return True
    return False
