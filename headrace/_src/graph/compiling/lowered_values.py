"""What values are, besides arrays, while a block is lowered."""

import numpy as np

from headrace._src.core.lazy import jax, jnp
from headrace._src.op.lowering import NotLowerable
from headrace._src.ops.tensor_lists.lowering import LoweredList, alike


class VariableHandle:
    """Stands for a variable: its number in the program, and what its storage says of it."""

    __slots__ = ("dtype", "index", "shape")

    def __init__(self, index, dtype, shape):
        self.index = index
        self.dtype = dtype
        self.shape = shape  # as declared, perhaps partly unknown

    def __eq__(self, other):
        return isinstance(other, VariableHandle) and self.index == other.index

    def __hash__(self):
        return hash(self.index)


class Opaque:
    """An input that a program can only hand on, such as a string: its number among the inputs."""

    __slots__ = ("index",)

    def __init__(self, index):
        self.index = index

    def __eq__(self, other):
        return isinstance(other, Opaque) and self.index == other.index

    def __hash__(self):
        return hash(self.index)


class Fake:
    """The residual that a branch does not have; another branch tells its shape."""

    __slots__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype


# Kinds of values in a `Packed`.
ARRAY, STATIC, LIST = "array", "static", "list"


class Packed:
    """Values taken apart: jax arrays, and how to put the values together again."""

    def __init__(self, values):
        self.leaves = []
        self.kinds = []  # (ARRAY, None), (LIST, tree, count) or (STATIC, value)
        for x in values:
            if isinstance(x, LoweredList):
                leaves, tree = jax.tree_util.tree_flatten(x)
                self.kinds.append((LIST, tree, len(leaves)))
                self.leaves.extend(jnp.asarray(leaf) for leaf in leaves)
            elif isinstance(x, jax.Array):
                self.kinds.append((ARRAY, None, 1))
                self.leaves.append(x)
            else:
                self.kinds.append((STATIC, x, 0))

    def unpack(self, leaves):
        """The values with other leaves."""
        values, at = [], 0
        for kind, what, count in self.kinds:
            part = leaves[at : at + count]
            at += count
            if kind is LIST:
                values.append(jax.tree_util.tree_unflatten(what, part))
            else:
                values.append(part[0] if kind is ARRAY else what)
        return values


def same_static(a, b) -> bool:
    """Whether two values that are known while compiling are the same."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.dtype != object and bool(np.array_equal(a, b))
    return type(a) is type(b) and not isinstance(a, np.ndarray) and a == b


def stand_in(x):
    """A value of the same kind as one from another trace."""
    if isinstance(x, LoweredList):
        leaves, tree = jax.tree_util.tree_flatten(x)
        return jax.tree_util.tree_unflatten(tree, [jnp.zeros(leaf.shape, leaf.dtype) for leaf in leaves])
    return jnp.zeros(x.shape, x.dtype)


def as_one_kind(values, position):
    """The value at a position, in a form that all `values` (of branches that are alternatives) can have.

    Values at other positions may be of other traces: only their shapes and dtypes are used.

    Raises:
        NotLowerable: when there is no such form.
    """
    mine = values[position]
    real = [x for x in values if not isinstance(x, Fake)]
    if not real:
        return mine
    if any(isinstance(x, LoweredList) for x in real):
        if not all(isinstance(x, LoweredList) for x in real):
            raise NotLowerable("a list in one branch only")
        lists = [mine if i == position and not isinstance(x, Fake) else stand_in(_model(x, real))
                 for i, x in enumerate(values)]  # fmt: skip
        return alike(*lists)[position]
    if not any(_is_array(x) for x in real):
        if all(same_static(real[0], x) for x in real[1:]):
            return real[0]
        raise NotLowerable("branches that give different variables or objects")
    first = real[0]
    if all(isinstance(x, np.ndarray) and same_static(first, x) for x in real):
        return first
    for x in real:
        if not _is_array(x) or x.dtype == object:
            raise NotLowerable("branches that give different kinds of values")
        if x.shape != first.shape or x.dtype != first.dtype:
            raise NotLowerable(f"branches that give the shapes {first.shape} and {x.shape}")
    if isinstance(mine, Fake):
        return jnp.zeros(first.shape, first.dtype)
    return jnp.asarray(mine)


def _is_array(x):
    return isinstance(x, (np.ndarray, jax.Array, jax.ShapeDtypeStruct))


def _model(x, real):
    return real[0] if isinstance(x, Fake) else x
