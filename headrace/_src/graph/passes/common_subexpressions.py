"""Computing once what several operations compute alike."""

from headrace._src.graph.passes.steps import kernel_of
from headrace._src.ops.arrays.filling import CONST

# In bytes: larger constants are not compared.
_LARGEST = 1024


def key_of(step):
    """A key that is equal for steps that compute the same; None for steps that are never shared."""
    record = step.record
    if record is CONST:
        array = step.attrs["value"]._a
        if array.dtype.hasobject or array.nbytes > _LARGEST:
            return None
        return record.name, step.outputs[0].dtype, array.shape, array.strides, array.tobytes()
    if not record.quiet:
        return None
    for tensor in step.outputs:
        if tensor.dtype._kind in "rv":
            return None  # lists grow in place while they have one owner
    attrs = step.attrs
    values = tuple([_hashable(value) for value in attrs.values()]) if attrs else ()
    return (record.name, tuple([id(tensor) for tensor in step.inputs]), values, kernel_of(step))


def _hashable(value):
    kind = type(value)
    if kind is float:
        return value.hex()  # 0.0 and -0.0 differ, NaN equals itself
    if kind is list or kind is tuple:
        return tuple([_hashable(item) for item in value])
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value
