"""Products of matrices that a program without loops adds up: one product of all rows instead of many small ones.

The gradient of a weight that is used again and again, as by a cell in a Python loop, is such a sum: x_1' g_1 + x_2' g_2
+ ... Each result is as large as the weight, so that writing and adding them takes longer than multiplying. The sum is
the product of the rows of all factors, one below the other.
"""

import collections

from headrace._src.core.lazy import jax, jax_programs, lax
from headrace._src.graph.compiling.products import LONGER, MOST_BYTES, Values, bytes_of, size_of

# Fewer products than this stay as they are.
_FEWEST = 4


def with_sums_joined(program):
    """The program with each sum of many products as one product; the same if it has no such sum.

    Args:
        program: a closed jaxpr.
    """
    jaxpr, values = program.jaxpr, Values(program.jaxpr)
    parts = {
        x
        for equation in jaxpr.eqns
        if equation.outvars and values.is_sum(equation.outvars[0])
        for x in equation.invars
        if values.is_sum(x) and values.reads[x] == 1
    }
    equations, is_changed = [], False
    for equation in jaxpr.eqns:
        if equation.outvars and values.is_sum(equation.outvars[0]) and equation.outvars[0] not in parts:
            joined = _joined(values, equation.outvars[0])
            is_changed |= joined is not None
            equation = joined or equation
        equations.append(equation)
    # What nobody reads any more XLA leaves out.
    return program.replace(jaxpr=jaxpr.replace(eqns=equations)) if is_changed else program


def _joined(values, total):
    """The equation that computes a sum with few products; None when it is not worth it."""
    others, groups = [], collections.defaultdict(list)
    for term in _terms(values, total):
        product = values.product(term)
        if product and values.reads[term] == 1 and _length(product) <= LONGER * size_of(total):
            groups[_kind(product)].append((term, product))
        else:
            others.append(term)
    joined = []
    for alike in groups.values():
        factors = {x for _, product in alike for x in (product.left, product.right)}
        if len(alike) >= _FEWEST and sum(map(bytes_of, factors)) <= MOST_BYTES:
            joined.append([product for _, product in alike])
        else:
            others += [term for term, _ in alike]
    if not joined:
        return None
    # Literals have no place among arguments.
    literals = [x for x in others if isinstance(x, jax_programs.Literal)]
    others = [x for x in others if not isinstance(x, jax_programs.Literal)]
    arguments = [x for products in joined for product in products for x in (product.left, product.right)] + others

    @jax.jit
    def added(*given):
        remaining = list(given)
        terms = []
        for products in joined:
            rows, remaining = remaining[: 2 * len(products)], remaining[2 * len(products) :]
            terms.append(_product_of_all(products[0], rows[::2], rows[1::2]))
        for term in [*terms[1:], *remaining, *(x.val for x in literals)]:
            terms[0] += term
        return terms[0]

    (call,) = jax.make_jaxpr(added)(*(jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in arguments)).eqns
    return call.replace(invars=arguments, outvars=[total])


def _terms(values, total):
    """What a sum adds up, from left to right; sums among them that nobody else reads are added up as well."""
    pending, terms = [total], []
    while pending:
        term = pending.pop()
        if values.is_sum(term) and (term is total or values.reads[term] == 1):
            pending += reversed(values.made_by[term].invars)
        else:
            terms.append(term)
    return terms


def _length(product):
    return size_of(product.left) + size_of(product.right)


def _kind(product):
    """Products that can be joined have the same of this."""
    return (
        product.contracted,
        tuple((x.aval.dtype, x.aval.shape[1 - axes[0]]) for x, axes in zip(product[:2], product.contracted)),
        tuple((key, str(x)) for key, x in sorted(product.params.items()) if key != "dimension_numbers"),
    )


def _product_of_all(product, left, right):
    rows = [lax.concatenate(xs, axes[0]) for xs, axes in zip((left, right), product.contracted)]
    return lax.dot_general(*rows, **product.params | {"dimension_numbers": (product.contracted, ((), ()))})
