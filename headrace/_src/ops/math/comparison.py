"""Comparing tensors element by element, and logic on the results."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape, broadcast_shapes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN, broadcast, same_as_input
from headrace._src.op.traits import ELEMENTWISE, FAILS_BY_SHAPE, IDEMPOTENT, INVOLUTION, NEVER_FAILS

COMPARABLE = (
    dtypes.NUMBER | dtypes.BOOL | dtypes.STRING | dtypes.QUANTIZED | dtypes.FLOAT8 | dtypes.SMALL_INTEGER
)


def _shape_or_scalar(x, y):
    """The shape of a comparison that gives one truth value when the shapes do not broadcast."""
    if x.rank is None or y.rank is None:
        return UNKNOWN
    rank = max(x.rank, y.rank)
    dims = []
    for a, b in zip([1] * (rank - x.rank) + x.as_list(), [1] * (rank - y.rank) + y.as_list()):
        if a is None or b is None:
            # TF: two dims that are not known are taken to be equal.
            if a not in (None, 1) or b not in (None, 1):
                return UNKNOWN
            dims.append(None)
        elif a != b and 1 not in (a, b):
            return TensorShape([])
        else:
            dims.append(b if a == 1 else a)
    return TensorShape(dims)


def _equality(name, compare, lower, unequal):
    """`Equal` or `NotEqual`: with incompatible shapes an error, or one truth value."""

    def kernel(x, y, incompatible_shape_error):
        try:
            out = compare(x, y)
        except ValueError:
            if incompatible_shape_error:
                raise
            return np.bool_(unequal)
        # Arrays of strings compare to arrays of Python objects.
        return out if x.dtype != object else np.asarray(out, bool)

    def infer(x, y, incompatible_shape_error):
        if incompatible_shape_error:
            return broadcast_shapes(x.shape, y.shape)
        return _shape_or_scalar(x.shape, y.shape)

    def lowering(ctx, x, y, incompatible_shape_error):
        if not incompatible_shape_error:
            try:
                np.broadcast_shapes(x.shape, y.shape)
            except ValueError:
                return jnp.asarray(unequal)
        return lower(x, y)

    return Op(
        name,
        "x: T, y: T, *, incompatible_shape_error: bool = True -> z: bool",
        traits=ELEMENTWISE | FAILS_BY_SHAPE,
        T=COMPARABLE,
        infer=infer,
        kernel=kernel,
        lower=lowering,
        grad=None,
    )


EQUAL = _equality("Equal", np.equal, lambda x, y: jnp.equal(x, y), False)
NOT_EQUAL = _equality("NotEqual", np.not_equal, lambda x, y: jnp.not_equal(x, y), True)


@api("math.equal", "equal", of=EQUAL)
def equal(x, y, name=None) -> Tensor:
    """Whether `x == y`, element-wise, with broadcasting.

    >>> tf.equal([1, 2], 2).numpy().tolist()
    [False, True]

    Raises:
        InvalidArgumentError: when the shapes do not broadcast (`==` gives False then).
    """
    return EQUAL(x, y, incompatible_shape_error=True, name=name)


@api("math.not_equal", "not_equal", of=NOT_EQUAL)
def not_equal(x, y, name=None) -> Tensor:
    """Whether `x != y`, element-wise, with broadcasting."""
    return NOT_EQUAL(x, y, incompatible_shape_error=True, name=name)


def _order(name, ufunc, lower):
    return Op(
        name,
        "x: T, y: T -> z: bool",
        traits=ELEMENTWISE | FAILS_BY_SHAPE,
        T=dtypes.REAL,
        infer=broadcast,
        kernel=ufunc,
        lower=lambda ctx, x, y: lower(x, y),
        grad=None,
    )


LESS = _order("Less", np.less, lambda x, y: jnp.less(x, y))
LESS_EQUAL = _order("LessEqual", np.less_equal, lambda x, y: jnp.less_equal(x, y))
GREATER = _order("Greater", np.greater, lambda x, y: jnp.greater(x, y))
GREATER_EQUAL = _order("GreaterEqual", np.greater_equal, lambda x, y: jnp.greater_equal(x, y))


@api("math.less", "less", of=LESS)
def less(x, y, name=None) -> Tensor:
    """Whether `x < y`, element-wise, with broadcasting."""
    return LESS(x, y, name=name)


@api("math.less_equal", "less_equal", of=LESS_EQUAL)
def less_equal(x, y, name=None) -> Tensor:
    """Whether `x <= y`, element-wise, with broadcasting."""
    return LESS_EQUAL(x, y, name=name)


@api("math.greater", "greater", of=GREATER)
def greater(x, y, name=None) -> Tensor:
    """Whether `x > y`, element-wise, with broadcasting."""
    return GREATER(x, y, name=name)


@api("math.greater_equal", "greater_equal", of=GREATER_EQUAL)
def greater_equal(x, y, name=None) -> Tensor:
    """Whether `x >= y`, element-wise, with broadcasting."""
    return GREATER_EQUAL(x, y, name=name)


def _difference(xp, x, y):
    """`|x - y|`, which for unsigned integers must not wrap around."""
    if x.dtype.kind == "u":
        return xp.where(x > y, x - y, y - x)
    return xp.abs(x - y)


def _approximate_equal(x, y, tolerance):
    if x.shape != y.shape:
        raise errors.invalid_argument(
            f"ApproximateEqual: x and y must have the same shape, got {x.shape} and {y.shape}."
        )
    gap = _difference(np, x, y)
    # TF: the tolerance is cast to the dtype, so that integers are compared with 0.
    return gap < np.asarray(tolerance).astype(gap.dtype)


def _lower_approximate_equal(ctx, x, y, tolerance):
    gap = _difference(jnp, x, y)
    return gap < jnp.asarray(np.asarray(tolerance).astype(gap.dtype))


APPROXIMATE_EQUAL = Op(
    "ApproximateEqual",
    "x: T, y: T, *, tolerance: float = 1e-05 -> z: bool",
    traits=ELEMENTWISE,
    T=dtypes.NUMBER,
    infer=lambda x, y, tolerance: x.shape.merge_with(y.shape),
    kernel=_approximate_equal,
    lower=_lower_approximate_equal,
    grad=None,
)


def _logical(name, ufunc, lower):
    return Op(
        name,
        "x: bool, y: bool -> z: bool",
        traits=ELEMENTWISE | FAILS_BY_SHAPE | IDEMPOTENT,
        infer=broadcast,
        kernel=ufunc,
        lower=lambda ctx, x, y: lower(x, y),
        grad=None,
    )


LOGICAL_AND = _logical("LogicalAnd", np.logical_and, lambda x, y: jnp.logical_and(x, y))
LOGICAL_OR = _logical("LogicalOr", np.logical_or, lambda x, y: jnp.logical_or(x, y))
LOGICAL_NOT = Op(
    "LogicalNot",
    "x: bool -> y: bool",
    traits=ELEMENTWISE | NEVER_FAILS | INVOLUTION,
    infer=same_as_input,
    kernel=np.logical_not,
    lower=lambda ctx, x: jnp.logical_not(x),
    grad=None,
)


@api("math.logical_and", "logical_and", of=LOGICAL_AND)
def logical_and(x, y, name=None) -> Tensor:
    """Whether both are true, element-wise, with broadcasting."""
    return LOGICAL_AND(x, y, name=name)


@api("math.logical_or", "logical_or", of=LOGICAL_OR)
def logical_or(x, y, name=None) -> Tensor:
    """Whether at least one is true, element-wise, with broadcasting."""
    return LOGICAL_OR(x, y, name=name)


@api("math.logical_not", "logical_not", of=LOGICAL_NOT)
def logical_not(x, name=None) -> Tensor:
    """True where `x` is False."""
    return LOGICAL_NOT(x, name=name)


@api("math.logical_xor", elementwise=2)
def logical_xor(x, y, name="LogicalXor") -> Tensor:
    """Whether exactly one is true, element-wise, with broadcasting.

    >>> tf.math.logical_xor([True, True], [True, False]).numpy().tolist()
    [False, True]
    """
    x = to_tensor(x, dtypes.bool)
    y = to_tensor(y, dtypes.bool)
    return LOGICAL_AND(LOGICAL_OR(x, y), LOGICAL_NOT(LOGICAL_AND(x, y)), name=name)
