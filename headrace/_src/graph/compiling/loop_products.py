"""Products of matrices that a loop adds up: one product after the loop instead of one in each iteration.

The gradient of a weight that a loop reads is such a sum: x_1' g_1 + x_2' g_2 + ... Each product is small and its result
as large as the weight, so that reading and writing the sum takes longer than multiplying. The loop keeps the factors of
all iterations instead, and their sum of products is the product of all rows.
"""

import collections
import math
from typing import NamedTuple

from headrace._src.core.lazy import jax, jax_programs, jnp, lax

# How many bytes of factors are kept at most, and how much longer than the sum they may be.
_MOST_BYTES, _LONGER = 1 << 28, 2


class _Product(NamedTuple):
    """A product of a body, with transposed factors before they are transposed."""

    left: object
    right: object
    contracted: tuple  # axes of the left and of the right factor
    params: dict


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
    body = _Body(program.jaxpr)
    sums, kept = {}, {}
    for position in range(count):
        products = None if position in read else body.products_of(position)
        if products:
            new = {x: x.aval for product in products for x in (product.left, product.right)} | kept
            size = sum(math.prod(aval.shape) for x, aval in new.items() if x not in kept)
            limit = _LONGER * math.prod(body.inputs[position].aval.shape)
            if size <= limit and trips * sum(_bytes(aval) for aval in new.values()) <= _MOST_BYTES:
                sums[position], kept = products, new
    return SummedProducts(program, sums, trips) if sums else None


def _bytes(aval):
    return math.prod(aval.shape) * aval.dtype.itemsize


class _Body:
    """A body, and who makes and reads its values."""

    def __init__(self, jaxpr):
        self.inputs, self._outputs = jaxpr.invars, jaxpr.outvars
        self._made_by = {outvar: equation for equation in jaxpr.eqns for outvar in equation.outvars}
        self._same = set(jaxpr.constvars)  # in all iterations
        read = [x for equation in jaxpr.eqns for x in equation.invars] + jaxpr.outvars
        self._reads = collections.Counter(x for x in read if not isinstance(x, jax_programs.Literal))

    def products_of(self, position):
        """The products, if a variable is what it was plus nothing but products; None otherwise."""
        given, products = self.inputs[position], []
        if self._reads[given] != 1 or not jax.numpy.issubdtype(given.aval.dtype, jnp.inexact):
            return None
        pending, found = [self._outputs[position]], False
        while pending:
            term = pending.pop()
            if isinstance(term, jax_programs.Literal) or self._reads[term] != 1:
                return None
            if term is given:
                found = True
                continue
            equation = self._made_by.get(term)
            name = None if equation is None else equation.primitive.name
            if name in ("add", "add_any"):
                pending += equation.invars
                continue
            product = self._product(equation) if name == "dot_general" else None
            if product is None:
                return None
            products.append(product)
        return products if found else None

    def _product(self, equation):
        """The product that an equation is; None when it is one of batches, or has a factor that never changes."""
        contracted, batch = equation.params["dimension_numbers"]
        if any(batch) or any(isinstance(x, jax_programs.Literal) for x in equation.invars):
            return None
        factors = [self._untransposed(x, axes) for x, axes in zip(equation.invars, contracted)]
        if any(x in self._same for x, _ in factors):
            return None
        (left, left_axes), (right, right_axes) = factors
        if len(left_axes) != 1 or left.aval.ndim != 2 or right.aval.ndim != 2:
            return None  # other axes might come out in another order
        return _Product(left, right, (left_axes, right_axes), equation.params)

    def _untransposed(self, factor, axes):
        """A factor before it was transposed, and which of its axes are contracted then."""
        equation = self._made_by.get(factor)
        if equation is None or equation.primitive.name != "transpose":
            return factor, tuple(axes)
        before, order = equation.invars[0], equation.params["permutation"]
        return before, tuple(order[axis] for axis in axes)
