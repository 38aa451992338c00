"""What is known about the tensors inside a variant tensor while a graph is built: their dtype and shape.

A symbolic variant tensor carries it as `_handle_data`, `infer` reads it as `spec.handle_data`, and
`Op(handle_data=...)` says what the variant output of an op holds. As in TensorFlow, a list says what was declared when
it was made.
"""


class HandleData:
    """The dtype and shape of the elements of a list (None, unknown: nothing is known)."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype, shape):
        self.dtype = dtype
        self.shape = shape

    def __eq__(self, other):
        return isinstance(other, HandleData) and self.dtype is other.dtype and self.shape == other.shape

    def __hash__(self):
        return hash((self.dtype, self.shape))

    def __repr__(self):
        return f"HandleData({self.dtype!r}, {self.shape})"


def output_handle_data(rule, specs, attrs, types):
    """The HandleData of the first variant output of an op, None when nothing is known.

    Args:
        rule: the op's `handle_data`.
        specs: of its inputs.
        attrs: its attributes.
        types: its type attributes.
    """
    if rule is not None:
        return rule(*specs, **attrs, **types)
    # Identity, ZerosLike, AddN and the like give what they get.
    for spec in specs:
        for item in spec if type(spec) is list else (spec,):
            if item.handle_data is not None:
                return item.handle_data
    return None
