"""The sums and the products of matrices in a program of jax, and who makes and reads its values."""

import collections
import functools
import math
from typing import NamedTuple

from headrace._src.core.lazy import jax, jax_programs

# How many bytes of factors are kept at most, and how much longer than the product they may be.
MOST_BYTES, LONGER = 1 << 28, 2


class Product(NamedTuple):
    """A product of two matrices, with transposed factors before they are transposed."""

    left: object
    right: object
    contracted: tuple  # axes of the left and of the right factor
    params: dict


class Values:
    """The values of a program: which equation makes each, and how often it is read."""

    def __init__(self, jaxpr):
        self.made_by = {outvar: equation for equation in jaxpr.eqns for outvar in equation.outvars}
        self._constants = set(jaxpr.constvars)
        read = [x for equation in jaxpr.eqns for x in equation.invars] + jaxpr.outvars
        self.reads = collections.Counter(x for x in read if not isinstance(x, jax_programs.Literal))

    def name_of(self, x) -> str | None:
        """What computes a value; None for arguments, constants and literals."""
        equation = None if isinstance(x, jax_programs.Literal) else self.made_by.get(x)
        return None if equation is None else equation.primitive.name

    def is_sum(self, x) -> bool:
        """Whether a value is the sum of two others."""
        return self.name_of(x) in ("add", "add_any")

    @functools.cached_property
    def _parts_of_sums(self):
        """Sums that only another sum reads."""
        return {
            x
            for total in self.made_by
            if self.is_sum(total)
            for x in self.made_by[total].invars
            if self.is_sum(x) and self.reads[x] == 1
        }

    def is_whole_sum(self, x) -> bool:
        """Whether a value is a sum, and not just a part of another one."""
        return self.is_sum(x) and x not in self._parts_of_sums

    def terms(self, total) -> list:
        """What a sum adds up, from left to right; sums among them that nobody else reads are added up as well."""
        pending, terms = [total], []
        while pending:
            term = pending.pop()
            if self.is_sum(term) and (term is total or self.reads[term] == 1):
                pending += reversed(self.made_by[term].invars)
            else:
                terms.append(term)
        return terms

    def product(self, x) -> Product | None:
        """The product that a value is; None when it is none, one of batches, or has a constant factor."""
        if self.name_of(x) != "dot_general":
            return None
        equation = self.made_by[x]
        contracted, batch = equation.params["dimension_numbers"]
        if any(batch) or any(isinstance(y, jax_programs.Literal) for y in equation.invars):
            return None
        factors = [self._untransposed(y, axes) for y, axes in zip(equation.invars, contracted)]
        if any(y in self._constants for y, _ in factors):
            return None
        (left, left_axes), (right, right_axes) = factors
        if len(left_axes) != 1 or left.aval.ndim != 2 or right.aval.ndim != 2:
            return None  # other axes might come out in another order
        return Product(left, right, (left_axes, right_axes), equation.params)

    def _untransposed(self, factor, axes):
        """A factor before it was transposed, and which of its axes are contracted then."""
        if self.name_of(factor) != "transpose":
            return factor, tuple(axes)
        equation = self.made_by[factor]
        before, order = equation.invars[0], equation.params["permutation"]
        return before, tuple(order[axis] for axis in axes)


def size_of(x) -> int:
    """How many numbers a value has."""
    return math.prod(x.aval.shape)


def bytes_of(x) -> int:
    """How many bytes a value has."""
    return size_of(x) * x.aval.dtype.itemsize


def with_sums_replaced(program, *replacements):
    """The program with some of its sums computed otherwise; the same if none is.

    Args:
        program: a closed jaxpr.
        replacements: (Values, a value that is a sum) to the equation that computes it, or None. The first one counts.
    """
    values = Values(program.jaxpr)
    equations, is_changed = [], False
    for equation in program.jaxpr.eqns:
        if equation.outvars and values.is_whole_sum(equation.outvars[0]):
            found = (replacement(values, equation.outvars[0]) for replacement in replacements)
            changed = next(filter(None, found), equation)
            is_changed |= changed is not equation
            equation = changed
        equations.append(equation)
    # What nobody reads any more XLA leaves out.
    return program.replace(jaxpr=program.jaxpr.replace(eqns=equations)) if is_changed else program


def equation_of_sum(total, parts, others):
    """The equation that computes a sum.

    Args:
        total: the value that is the sum.
        parts: pairs of a function and the values that it takes, of which each gives a term.
        others: the other terms.
    """
    # Literals have no place among arguments.
    literals = [x.val for x in others if isinstance(x, jax_programs.Literal)]
    others = [x for x in others if not isinstance(x, jax_programs.Literal)]
    arguments = [x for _, values in parts for x in values] + others

    @jax.jit
    def added(*given):
        terms, at = [], 0
        for function, values in parts:
            terms.append(function(given[at : at + len(values)]))
            at += len(values)
        for term in [*terms[1:], *given[at:], *literals]:
            terms[0] += term
        return terms[0]

    (call,) = jax.make_jaxpr(added)(*(jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in arguments)).eqns
    return call.replace(invars=arguments, outvars=[total])
