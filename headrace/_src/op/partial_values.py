"""Rules for `Op(partial=...)`: shapes that are partly known while a graph is built, and what ops compute from these.

A rule gets the specs and attributes of an operation. Values are lists of int or None, or a single int or None for a
scalar; None instead of all that: nothing is known. A matrix, such as the paddings of Pad, is a list of such lists,
which only infer looks into.
"""


def known_elements(spec):
    """The elements of a tensor that are certain: a list, or one element for a scalar; None when none are."""
    if spec.value is not None:
        return spec.value.tolist() if spec.value.dtype.kind in "iu" and spec.value.ndim <= 1 else None
    return spec.partial if spec.shape.rank in (0, 1) else None


def if_useful(elements):
    """The elements, unless none of them is known."""
    return elements if any(element is not None for element in elements) else None


def same_elements(x, **attrs):
    """The rule of ops that give the integers that they get."""
    return known_elements(x)


def computed(function):
    """The rule of ops of two broadcasting inputs: the function of each pair of elements."""

    def rule(x, y, **attrs):
        a, b = known_elements(x), known_elements(y)
        if a is None or b is None:
            return None
        if not isinstance(a, list) and not isinstance(b, list):
            return function(a, b)
        length = max(len(v) for v in (a, b) if isinstance(v, list))
        a, b = (v if isinstance(v, list) else [v] * length for v in (a, b))
        if len(a) != len(b):
            return None
        return if_useful([None if p is None or q is None else function(p, q) for p, q in zip(a, b)])

    return rule
