"""Products of matrices that a program without loops adds up: one product of all rows instead of many small ones.

The gradient of a weight that is used again and again, as by a cell in a Python loop, is such a sum: x_1' g_1 + x_2' g_2
+ ... Each result is as large as the weight, so that writing and adding them takes longer than multiplying. The sum is
the product of the rows of all factors, one below the other.
"""

import collections
import functools

from headrace._src.core.lazy import lax
from headrace._src.graph.compiling.products import LONGER, MOST_BYTES, bytes_of, equation_of_sum, size_of

# Fewer products than this stay as they are.
_FEWEST = 4


def joined_products(values, total):
    """The equation that computes a sum with few products; None when it is not worth it.

    Args:
        values: those of the program.
        total: the value that is the sum.
    """
    others, groups = [], collections.defaultdict(list)
    for term in values.terms(total):
        product = values.product(term)
        if product and values.reads[term] == 1 and _length(product) <= LONGER * size_of(total):
            groups[_kind(product)].append((term, product))
        else:
            others.append(term)
    joined = []
    for alike in groups.values():
        factors = {x for _, product in alike for x in (product.left, product.right)}
        if len(alike) >= _FEWEST and sum(map(bytes_of, factors)) <= MOST_BYTES:
            products = [product for _, product in alike]
            factors = [x for product in products for x in (product.left, product.right)]
            joined.append((functools.partial(_product_of_all, products[0]), factors))
        else:
            others += [term for term, _ in alike]
    return equation_of_sum(total, joined, others) if joined else None


def _length(product):
    return size_of(product.left) + size_of(product.right)


def _kind(product):
    """Products that can be joined have the same of this."""
    return (
        product.contracted,
        tuple((x.aval.dtype, x.aval.shape[1 - axes[0]]) for x, axes in zip(product[:2], product.contracted)),
        tuple((key, str(x)) for key, x in sorted(product.params.items()) if key != "dimension_numbers"),
    )


def _product_of_all(product, factors):
    """The product of the rows of all left factors and those of all right ones, which take turns."""
    rows = [lax.concatenate(xs, axes[0]) for xs, axes in zip((factors[::2], factors[1::2]), product.contracted)]
    return lax.dot_general(*rows, **product.params | {"dimension_numbers": (product.contracted, ((), ()))})
