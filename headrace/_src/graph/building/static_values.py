"""Shapes that are partly known while a graph is built, followed through the ops that compute with shapes."""

import numpy as np

# Values are lists of int or None, or a single int or None for a scalar; None instead of all that: nothing is known.
# A matrix, such as the paddings of Pad, is a list of such lists, which only infer looks into.


def partial_value(name, specs, attrs):
    """What is known of the output of an op, as far as it is about shapes."""
    rule = _RULES.get(name)
    return None if rule is None else rule(*specs, **attrs)


def known_elements(spec):
    """The elements of a tensor that are certain: a list, or one element for a scalar; None when none are."""
    if spec.value is not None:
        return spec.value.tolist() if spec.value.dtype.kind in "iu" and spec.value.ndim <= 1 else None
    return spec.partial if spec.shape.rank in (0, 1) else None


def _shape(input, out_type):
    return None if input.shape.rank is None else _useful(input.shape.as_list())


def _size(input, out_type):
    return input.shape.num_elements()


def _pack(values, axis):
    if values and axis == 0 and all(spec.shape.rank == 1 and spec.shape[0] is not None for spec in values):
        rows = [known_elements(spec) or [None] * spec.shape[0] for spec in values]
        return rows if any(_useful(row) for row in rows) else None
    if not values or any(spec.shape.rank != 0 for spec in values):
        return None
    return _useful([_scalar(known_elements(spec)) for spec in values])


def _scalar(value):
    return None if isinstance(value, list) else value


def _concat(values, axis):
    parts = []
    for spec in values:
        elements = known_elements(spec)
        if elements is None:
            if spec.shape.rank != 1 or spec.shape[0] is None:
                return None
            elements = [None] * spec.shape[0]
        if not isinstance(elements, list):
            return None
        parts.extend(elements)
    return _useful(parts)


def _strided_slice(input, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
    elements = known_elements(input)
    bounds = [spec.value for spec in (begin, end, strides)]
    if not isinstance(elements, list) or any(b is None or b.size != 1 for b in bounds):
        return None
    if ellipsis_mask or new_axis_mask:
        return None
    first, last, step = (int(b.reshape(())) for b in bounds)
    if shrink_axis_mask:
        return elements[first] if -len(elements) <= first < len(elements) else None
    return _useful(elements[slice(None if begin_mask else first, None if end_mask else last, step)])


def _gather(params, indices, axis, batch_dims):
    elements = known_elements(params)
    if not isinstance(elements, list) or indices.value is None or indices.value.ndim > 1:
        return None
    try:
        return np.array(elements, object)[indices.value].tolist() if indices.value.ndim else elements[indices.value]
    except IndexError:
        return None


def _same(x, **attrs):
    return known_elements(x)


def _cast(x, **attrs):
    return known_elements(x)


def _expand(input, dim):
    elements = known_elements(input)
    return None if isinstance(elements, list) else _useful([elements])


def _useful(elements):
    return elements if any(element is not None for element in elements) else None


def _elementwise(function):
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
        return _useful([None if p is None or q is None else function(p, q) for p, q in zip(a, b)])

    return rule


_RULES = {
    "Shape": _shape,
    "Size": _size,
    "Pack": _pack,
    "ConcatV2": _concat,
    "StridedSlice": _strided_slice,
    "GatherV2": _gather,
    "Identity": _same,
    "Cast": _cast,
    "ExpandDims": _expand,
    "AddV2": _elementwise(lambda a, b: a + b),
    "Sub": _elementwise(lambda a, b: a - b),
    "Mul": _elementwise(lambda a, b: a * b),
    "Maximum": _elementwise(max),
    "Minimum": _elementwise(min),
}
