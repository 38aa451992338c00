"""Writes, for each op on single tensors, the code that checks its inputs on the short way.

For `Sum` ("input: T, reduction_indices: Tidx, ... -> output: T") that is

    def lane(args, attrs):
        if len(args) != 2: return None
        x0, x1, = args
        if type(x0) is not EagerTensor: return None
        if x0.dtype not in types0: return None
        if type(x1) is not EagerTensor:
            x1 = index(x1)
            if x1 is None: return None
        if x1.dtype not in types1: return None
        return (x0, x1,), (x0._a, x1._a,), x0.dtype
"""

from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import eager_number, int_vector


def write_lane(op):
    """`lane(args, attrs)`: the inputs as tensors, as arrays, and the output's dtype; None for what `apply` must do."""
    if not op.is_plain or not op.quiet:
        return _closed
    inputs, output = op.signature.inputs, op.signature.outputs[0]
    names = {"EagerTensor": EagerTensor, "index": _index, "fixed": output.dtype}
    lines = [f"if len(args) != {len(inputs)}: return None"]
    if inputs:
        lines.append("".join(f"x{i}, " for i in range(len(inputs))) + "= args")
    first = {}  # type attribute to the first input that has it
    for i, x in enumerate(inputs):
        allowed = frozenset({x.dtype}) if x.type_attr is None else op.types.get(x.type_attr, dtypes.ANY)
        if allowed is dtypes.INDEX:  # a list of ints will do
            lines += [f"if type(x{i}) is not EagerTensor:", f"    x{i} = index(x{i})"]
            lines.append(f"    if x{i} is None: return None")
        else:
            lines.append(f"if type(x{i}) is not EagerTensor: return None")
        if x.type_attr in first:
            lines.append(f"if x{i}.dtype is not x{first[x.type_attr]}.dtype: return None")
        else:
            names[f"types{i}"] = allowed
            lines.append(f"if x{i}.dtype not in types{i}: return None")
            if x.type_attr is not None:
                first[x.type_attr] = i
    if output.dtype is not None:
        dtype = "fixed"
    else:
        dtype = f"x{first[output.type_attr]}.dtype" if output.type_attr in first else f"attrs[{output.type_attr!r}]"
    tensors = "".join(f"x{i}, " for i in range(len(inputs)))
    arrays = "".join(f"x{i}._a, " for i in range(len(inputs)))
    lines.append(f"return ({tensors}), ({arrays}), {dtype}")
    exec("\n    ".join(["def lane(args, attrs):", *lines]), names)  # only names from our own signatures
    return names["lane"]


def _closed(args, attrs):
    """The lane of ops that have none."""
    return None


def _index(value):
    """A list or tuple of ints, or an int, as a tensor."""
    kind = type(value)
    if kind is tuple or kind is list:
        return int_vector(value)
    return eager_number(value, dtypes.int32) if kind is int else None
