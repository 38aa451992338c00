"""Taking out of loops what is the same in every iteration.

The first iteration runs the whole body and keeps what later iterations would compute again. So nothing runs that would
not have run, errors come when they would have come, and whatever has no effects can be kept.
"""

from headrace._src.graph.running.plan import Plan
from headrace._src.ops.arrays.filling import CONST


class LoopPlans:
    """How to run a loop: plans for the first test and iteration, and for the others.

    The first ones return what is kept after their outputs; the others take it after their inputs.
    """

    def __init__(self, cond, body):
        test, step = cond.plan(), body.plan()
        # Loop variables that the body hands on as they came.
        fixed = [i for i, (x, y) in enumerate(zip(step.inputs, step.outputs)) if x is y]
        self.cond = cond  # which may belong to another loop with the same body
        self.first_test, self.test = _split(test, fixed)
        self.first_step, self.step = _split(step, fixed)


def loop_plans(cond, body) -> LoopPlans:
    """The plans of a loop, made when it runs first."""
    plans = body.loop_plans
    if plans is None or plans.cond is not cond:
        plans = body.loop_plans = LoopPlans(cond, body)
    return plans


def _split(plan, fixed):
    """A plan that also returns what does not change between iterations, and one that is given that."""
    same = {id(plan.inputs[i]) for i in fixed}
    moved, rest = [], []
    for step in plan.steps:
        record = step.record
        if record is CONST:
            same.add(id(step.outputs[0]))
            rest.append(step)
        elif _is_repeatable(step) and all(id(tensor) in same for tensor in step.inputs):
            same.update(id(tensor) for tensor in step.outputs)
            moved.append(step)
        else:
            rest.append(step)
    if not moved:
        return plan, plan
    computed = {id(tensor): tensor for step in moved for tensor in step.outputs}
    kept = {}
    for tensor in [*(tensor for step in rest for tensor in step.inputs), *plan.outputs]:
        if id(tensor) in computed:
            kept[id(tensor)] = tensor
    kept = list(kept.values())
    if not kept:
        return plan, plan
    first = Plan.of_steps(plan.steps, plan.inputs, [*plan.outputs, *kept])
    used = {id(tensor) for step in rest for tensor in step.inputs} | {id(tensor) for tensor in plan.outputs}
    rest = [step for step in rest if step.record is not CONST or id(step.outputs[0]) in used]
    return first, Plan.of_steps(rest, [*plan.inputs, *kept], plan.outputs)


def _is_repeatable(step):
    """Whether a step gives the same results from the same inputs, and does nothing else."""
    record = step.record
    if record.stateful or not (record.quiet or record.calls_functions):
        return False
    # Lists grow in place while they have one owner.
    return all(tensor.dtype._kind not in "rv" for tensor in step.outputs)
