"""Sums of arrays that lie beside each other: one array that is put together instead of several padded with zeros.

The gradient of a value that is taken apart by slices, as the gates of a recurrent cell are, is such a sum: the gradient
of each slice, with zeros where the others are. XLA asks of each number of the sum where it lies, one after another.
"""

import collections
import functools

from headrace._src.core.lazy import jax_programs, jnp, lax
from headrace._src.graph.compiling.products import equation_of_sum


def joined_pads(values, total):
    """The equation that computes a sum by putting parts of it together; None when it has none beside each other.

    Args:
        values: those of the program.
        total: the value that is the sum.
    """
    others, groups = [], collections.defaultdict(list)
    for term in values.terms(total):
        axis, start = _place(values, term)
        if axis is None:
            others.append(term)
        else:
            groups[axis].append((start, values.made_by[term].invars[0], term))
    rows = []
    for axis, parts in groups.items():
        parts.sort(key=lambda part: part[0])
        ends = [start + part.aval.shape[axis] for start, part, _ in parts]
        if len(parts) > 1 and all(end <= start for end, (start, _, _) in zip(ends, parts[1:])):
            put = functools.partial(_row, axis, [start for start, _, _ in parts], total.aval.shape[axis])
            rows.append((put, [part for _, part, _ in parts]))
        else:
            others += [term for _, _, term in parts]
    return equation_of_sum(total, rows, others) if rows else None


def _place(values, term):
    """The axis along which a term of a sum is padded with zeros, and where it begins; (None, None) for other terms."""
    if values.name_of(term) != "pad" or values.reads[term] != 1:
        return None, None
    equation = values.made_by[term]
    filled = equation.invars[1]
    if not isinstance(filled, jax_programs.Literal) or filled.val != 0:
        return None, None
    padded = [(axis, x) for axis, x in enumerate(equation.params["padding_config"]) if x != (0, 0, 0)]
    if len(padded) != 1:
        return None, None
    ((axis, (before, after, between)),) = padded
    return (axis, before) if min(before, after) >= 0 and not between else (None, None)


def _row(axis, starts, length, parts):
    """Parts in a row of a length, each at its start, with zeros between them and around."""
    pieces, at = [], 0
    for start, part in zip([*starts, length], [*parts, None]):
        if at < start:
            like = parts[0]
            pieces.append(jnp.zeros((*like.shape[:axis], start - at, *like.shape[axis + 1 :]), like.dtype))
        if part is not None:
            pieces.append(part)
            at = start + part.shape[axis]
    return lax.concatenate(pieces, axis)
