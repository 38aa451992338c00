"""Matrices that a loop transposes for its products, although they are the same in all iterations: transposed before it.

XLA makes the transposition a part of the product, which then turns the matrix round in every iteration. The gradient of
a recurrent cell is such a loop: it multiplies by the transposed weights.
"""

from headrace._src.core.lazy import jnp
from headrace._src.graph.compiling.products import Values

# Loops of fewer iterations stay as they are.
_FEWEST = 4


def transposed_before(program, trips):
    """The program with transposed matrices as constants of their own; the same if there are none.

    Args:
        program: the body of a loop, a closed jaxpr.
        trips: how many iterations there are; None when that is not known.
    """
    if not trips or trips < _FEWEST:
        return program
    values, constants = Values(program.jaxpr), dict(zip(program.jaxpr.constvars, program.consts))
    transposed = {}  # by the variable in the body, the equation that made it there
    for equation in program.jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            for x in equation.invars:
                if values.name_of(x) == "transpose" and values.made_by[x].invars[0] in constants:
                    transposed[x] = values.made_by[x]
    if not transposed:
        return program
    moved = [
        jnp.transpose(constants[equation.invars[0]], equation.params["permutation"]) for equation in transposed.values()
    ]
    equations = [x for x in program.jaxpr.eqns if transposed.keys().isdisjoint(x.outvars)]
    jaxpr = program.jaxpr.replace(eqns=equations, constvars=[*program.jaxpr.constvars, *transposed])
    return program.replace(jaxpr=jaxpr, consts=[*program.consts, *moved])
