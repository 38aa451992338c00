"""How often a loop of a program runs, and the numbers that it counts, where both are known while compiling."""

import operator

import numpy as np

from headrace._src.core.lazy import jax, jax_programs

# What a condition may ask of a counter and a bound, and what that is when the bound stands first.
_COMPARISONS = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


class Counts:
    """What is known of a loop whose condition asks nothing but numbers that grow by the same amount each time.

    Attributes:
        trips: how many iterations there are; None when that is not known.
        last: by position among the loop's variables, the last value of those that only count.
    """

    def __init__(self, test, body, start):
        """
        Args:
            test, body: the loop's condition and its body as closed jaxprs that take the same variables.
            start: the first values of the variables.
        """
        counters = _counters(body.jaxpr, start)
        self.trips = _trips(test, counters)
        self.last = {}
        if self.trips is not None:
            for position, (first, step) in counters.items():
                last = int(first) + self.trips * step
                if np.iinfo(first.dtype).min <= last <= np.iinfo(first.dtype).max:
                    self.last[position] = np.array(last, first.dtype)


def _counters(body, start):
    """By position, the first value of each variable to which the body adds a constant, and that constant."""
    made_by = {outvar: equation for equation in body.eqns for outvar in equation.outvars}
    found = {}
    for position, (first, given, result) in enumerate(zip(start, body.invars, body.outvars)):
        if isinstance(first, jax.core.Tracer) or first.ndim or first.dtype.kind not in "iu":
            continue
        equation = None if isinstance(result, jax_programs.Literal) else made_by.get(result)
        step = None if equation is None else _step(equation, given)
        if step is not None:
            found[position] = np.asarray(first), step
    return found


def _step(equation, given):
    """How much an equation adds to a variable; None when it does something else."""
    name, operands = equation.primitive.name, equation.invars
    if name not in ("add", "sub") or len(operands) != 2:
        return None
    if operands[0] is given and isinstance(operands[1], jax_programs.Literal):
        amount = int(operands[1].val)
        return amount if name == "add" else -amount
    if name == "add" and operands[1] is given and isinstance(operands[0], jax_programs.Literal):
        return int(operands[0].val)
    return None


def _trips(test, counters):
    """After how many iterations the condition is first false."""
    program = test.jaxpr
    positions = {variable: position for position, variable in enumerate(program.invars)}
    known = {
        variable: int(value) for variable, value in zip(program.constvars, test.consts)
        if not isinstance(value, jax.core.Tracer) and np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iu"
    }  # fmt: skip
    made_by = {outvar: equation for equation in program.eqns for outvar in equation.outvars}
    pending, trips = [program.outvars[0]], []
    while pending:
        result = pending.pop()
        equation = None if isinstance(result, jax_programs.Literal) else made_by.get(result)
        if equation is None:
            return None
        name = equation.primitive.name
        if name == "and":
            pending += equation.invars
            continue
        if name not in _COMPARISONS:
            return None
        left, right = equation.invars
        if _number(left, known) is not None:
            left, right, name = right, left, _MIRRORED[name]
        bound = _number(right, known)
        counter = None if isinstance(left, jax_programs.Literal) else counters.get(positions.get(left))
        if bound is None or counter is None:
            return None
        trips.append(_trips_until(_COMPARISONS[name], *counter, bound))
    finite = [count for count in trips if count is not None]
    return min(finite) if finite else None


def _number(operand, known):
    if isinstance(operand, jax_programs.Literal):
        return int(operand.val) if np.ndim(operand.val) == 0 else None
    return known.get(operand)


def _trips_until(holds, first, step, bound):
    """How often a counter can be stepped until a comparison with a bound no longer holds; None: for ever."""
    range_of_type, first = np.iinfo(first.dtype), int(first)
    if not holds(first, bound):
        return 0
    goes_away = (step < 0) == (holds is operator.lt or holds is operator.le)
    if step == 0 or goes_away:
        return None
    count = abs(bound - first) // abs(step)
    while holds(first + count * step, bound):
        count += 1
    while count and not holds(first + (count - 1) * step, bound):
        count -= 1
    return count if range_of_type.min <= first + count * step <= range_of_type.max else None
