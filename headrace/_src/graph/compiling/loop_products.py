"""Products of matrices that a loop adds up: one product after the loop instead of one in each iteration.

The gradient of a weight that a loop reads is such a sum: x_1' g_1 + x_2' g_2 + ... Each product is small and its result
as large as the weight, so that reading and writing the sum takes longer than multiplying. The loop keeps the factors of
all iterations instead, and their sum of products is the product of all rows.
"""

from headrace._src.core.lazy import jax_programs, jnp, lax
from headrace._src.graph.compiling.products import LONGER, MOST_BYTES, Values, bytes_of, size_of


class SummedProducts:
    """The variables of a loop that are sums of products, and how to compute them after it.

    Attributes:
        program: the body; it leaves these variables as they are, and returns the factors after its other results.
    """

    def __init__(self, program, sums, trips):
        self._sums = sums  # by position of the variable its products
        self._trips = trips
        factors = {x for products in sums.values() for product in products for x in (product.left, product.right)}
        self._factors = [x for equation in program.jaxpr.eqns for x in equation.outvars if x in factors]
        self._factors += [x for x in program.jaxpr.invars if x in factors]
        body = program.jaxpr
        outputs = [body.invars[i] if i in sums else x for i, x in enumerate(body.outvars)]
        self.program = program.replace(jaxpr=body.replace(outvars=[*outputs, *self._factors]))

    def rows(self):
        """Places for the factors of all iterations."""
        return [jnp.zeros((self._trips, *x.aval.shape), x.aval.dtype) for x in self._factors]

    def kept(self, rows, factors, number):
        """The places with the factors of one iteration."""
        return [lax.dynamic_update_index_in_dim(row, x, number, 0) for row, x in zip(rows, factors)]

    def added(self, values, rows):
        """The values of the loop's variables with all products added."""
        stacked, values = dict(zip(self._factors, rows)), list(values)
        for position, products in self._sums.items():
            for product in products:
                contracted = tuple((0, *(axis + 1 for axis in axes)) for axes in product.contracted)
                params = product.params | {"dimension_numbers": (contracted, ((), ()))}
                values[position] += lax.dot_general(stacked[product.left], stacked[product.right], **params)
        return values


def summed_products(program, count, read, trips) -> SummedProducts | None:
    """What a loop adds up that is better computed after it; None when there is nothing of the kind.

    Args:
        program: the body, a closed jaxpr whose first `count` inputs and outputs are the loop's variables.
        count: see above.
        read: positions of the variables that the condition reads.
        trips: how many iterations there are; None when that is not known.
    """
    if not trips or trips < 2:
        return None
    body, values = program.jaxpr, Values(program.jaxpr)
    sums, factors = {}, set()
    for position in range(count):
        total = body.invars[position]
        products = None if position in read else _products_of(values, total, body.outvars[position])
        if products:
            more = {x for product in products for x in (product.left, product.right)} - factors
            needed = trips * sum(bytes_of(x) for x in factors | more)
            if sum(map(size_of, more)) <= LONGER * size_of(total) and needed <= MOST_BYTES:
                sums[position] = products
                factors |= more
    return SummedProducts(program, sums, trips) if sums else None


def _products_of(values, before, after):
    """The products, if a variable is what it was before plus nothing but products; None otherwise."""
    if values.reads[before] != 1 or not jnp.issubdtype(before.aval.dtype, jnp.inexact):
        return None
    products, pending, is_added_to = [], [after], False
    while pending:
        term = pending.pop()
        if isinstance(term, jax_programs.Literal) or values.reads[term] != 1:
            return None
        if term is before:
            is_added_to = True
        elif values.is_sum(term):
            pending += values.made_by[term].invars
        else:
            product = values.product(term)
            if product is None:
                return None
            products.append(product)
    return products if is_added_to else None
