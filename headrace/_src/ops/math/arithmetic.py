"""Sums, differences, products and extremes of tensors that broadcast."""

import functools
import operator

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule, jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import Neutral, computed, is_one, is_zero_to_add, is_zero_to_subtract
from headrace._src.op.infer import broadcast, same_as_input
from headrace._src.op.registry import lookup
from headrace._src.op.traits import (
    ELEMENTWISE,
    EQUAL_SHAPES,
    FAILS_BY_SHAPE,
    IDEMPOTENT,
    INVOLUTION,
    NEVER_FAILS,
    UNCHECKED,
)
from headrace._src.ops.arrays.broadcasting import shape_of, sum_to
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.math.comparison import GREATER_EQUAL, LESS_EQUAL
from headrace._src.ops.math.complex_numbers import conjugate, zero_like

_variants = LazyModule("headrace._src.ops.tensor_lists.values")  # few programs add lists of tensors


def number_like(x, number):
    """A scalar of the dtype of `x`, to broadcast against it."""
    return _number(number, x.dtype) if type(x) is EagerTensor else to_tensor(number, x.dtype)


@functools.lru_cache(maxsize=4096)
def _number(number, dtype):
    return EagerTensor(np.array(number, dtype._np), dtype)


def _grad_neg(node, dy):
    return (-dy,)


NEG = Op(
    "Neg",
    "x: T -> y: T",
    traits=ELEMENTWISE | NEVER_FAILS | INVOLUTION,
    T=dtypes.FLOATING | dtypes.SIGNED | dtypes.COMPLEX,
    infer=same_as_input,
    kernel=np.negative,
    lower=lambda ctx, x: jnp.negative(x),
    grad=_grad_neg,
)


@api("math.negative", "negative", of=NEG, sparse=True)
def negative(x, name=None) -> Tensor:
    """`-x`, element-wise."""
    return NEG(x, name=name)


_BOTH = (True, True)


def _grad_add(node, dy):
    x_shape, y_shape = node.x_shape, node.y_shape
    wants_x, wants_y = node.wanted or _BOTH
    return (
        sum_to(dy, x_shape, y_shape) if wants_x else None,
        sum_to(dy, y_shape, x_shape) if wants_y else None,
    )


ADD = Op(
    "AddV2",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE | FAILS_BY_SHAPE,
    neutral=Neutral(is_zero_to_add, "fciu", first=True),
    node_name="add",
    partial=computed(operator.add),
    T=dtypes.NUMBER,
    infer=broadcast,
    kernel=np.add,
    lower=lambda ctx, x, y: jnp.add(x, y),
    saves=("x_shape", "y_shape"),
    grad=_grad_add,
)

# The older op, which also joins strings.
ADD_STRINGS = Op(
    "Add",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE | FAILS_BY_SHAPE,
    neutral=Neutral(is_zero_to_add, "fciu", first=True),
    node_name="add",
    T=dtypes.NUMBER | dtypes.STRING,
    infer=broadcast,
    kernel=np.add,
    lower=lambda ctx, x, y: jnp.add(x, y),
    saves=("x_shape", "y_shape"),
    grad=_grad_add,
)


@api("math.add", "add", elementwise=2)
def add(x, y, name=None) -> Tensor:
    """`x + y`, element-wise, with broadcasting; strings are joined.

    >>> tf.add([1, 2], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([4, 5], dtype=int32)>
    """
    if not isinstance(x, Tensor):
        # TF: unlike other functions, x decides about the dtype even if only y is a tensor.
        x = to_tensor(x)
    return (ADD_STRINGS if x.dtype is dtypes.string else ADD)(x, y, name=name)


def _grad_subtract(node, dy):
    x_shape, y_shape = node.x_shape, node.y_shape
    wants_x, wants_y = node.wanted or _BOTH
    return (
        sum_to(dy, x_shape, y_shape) if wants_x else None,
        sum_to(-dy, y_shape, x_shape) if wants_y else None,
    )


SUB = Op(
    "Sub",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE | FAILS_BY_SHAPE,
    neutral=Neutral(is_zero_to_subtract, "fciu"),
    node_name="sub",
    partial=computed(operator.sub),
    T=dtypes.NUMBER,
    infer=broadcast,
    kernel=np.subtract,
    lower=lambda ctx, x, y: jnp.subtract(x, y),
    saves=("x_shape", "y_shape"),
    grad=_grad_subtract,
)


@api("math.subtract", "subtract", of=SUB)
def subtract(x, y, name=None) -> Tensor:
    """`x - y`, element-wise, with broadcasting."""
    return SUB(x, y, name=name)


def _grad_multiply(node, dy):
    x, y = node.x, node.y
    x_shape, y_shape = shape_of(x), shape_of(y)
    if x.dtype._kind == "c":
        x, y = conjugate(x), conjugate(y)
    wants_x, wants_y = node.wanted or _BOTH
    return (
        sum_to(MUL.lane((dy, y), {}, None), x_shape, y_shape) if wants_x else None,
        sum_to(MUL.lane((dy, x), {}, None), y_shape, x_shape) if wants_y else None,
    )


MUL = Op(
    "Mul",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE | FAILS_BY_SHAPE,
    neutral=Neutral(is_one, "fiu", first=True),
    node_name="mul",
    partial=computed(operator.mul),
    T=dtypes.NUMBER,
    infer=broadcast,
    kernel=np.multiply,
    lower=lambda ctx, x, y: jnp.multiply(x, y),
    saves=("x", "y"),
    grad=_grad_multiply,
)


@api("math.multiply", "multiply", of=MUL)
def multiply(x, y, name=None) -> Tensor:
    """`x * y`, element-wise, with broadcasting."""
    return MUL(x, y, name=name)


def _multiply_no_nan(xp, x, y):
    return xp.where(y == 0, xp.zeros((), x.dtype), x * y)


def _grad_multiply_no_nan(node, dy):
    x, y = node.x, node.y
    x_shape, y_shape = shape_of(x), shape_of(y)
    # TF: complex tensors are not conjugated.
    return (
        sum_to(MUL_NO_NAN(dy, y), x_shape, y_shape) if node.wants(0) else None,
        sum_to(MUL_NO_NAN(x, dy), y_shape, x_shape) if node.wants(1) else None,
    )


MUL_NO_NAN = Op(
    "MulNoNan",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE | FAILS_BY_SHAPE,
    T=dtypes.FLOATING | dtypes.COMPLEX,
    infer=broadcast,
    kernel=lambda x, y: _multiply_no_nan(np, x, y),
    lower=lambda ctx, x, y: _multiply_no_nan(jnp, x, y),
    saves=("x", "y"),
    grad=_grad_multiply_no_nan,
)


@api("math.multiply_no_nan", elementwise=2)
def multiply_no_nan(x, y, name=None) -> Tensor:
    """`x * y`, and 0 wherever `y` is 0, even if `x` is infinite or NaN.

    >>> tf.math.multiply_no_nan([np.inf, 2.0], [0.0, 3.0]).numpy().tolist()
    [0.0, 6.0]

    Raises:
        TypeError: when the dtypes differ.
    """
    x = to_tensor(x)
    y = to_tensor(y, x.dtype)
    return MUL_NO_NAN(x, y, name=name)


@api("math.scalar_mul", "scalar_mul", elementwise=2)
def scalar_mul(scalar, x, name=None) -> Tensor:
    """A scalar times a tensor or `IndexedSlices`.

    Raises:
        ValueError: when `scalar` is not of rank 0.
    """
    dtype = x.dtype if isinstance(x, (Tensor, IndexedSlices)) else to_tensor(x).dtype
    scalar = to_tensor(scalar, dtype.base_dtype)
    if scalar.shape.rank not in (0, None):
        raise ValueError(f"scalar_mul: the input scalar must be a 0-D value, got shape {scalar.shape}.")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(MUL(scalar, x.values, name=name), x.indices, x.dense_shape)
    return MUL(scalar, x, name=name)


def _extreme(op_name, ufunc, lower, chosen, partial):
    """`Maximum` or `Minimum`; where both are equal, the gradient goes to `x`."""

    def grad(node, dy):
        x, y = node.x, node.y
        mask = chosen(x, y)
        select, zero = lookup("SelectV2"), zero_like(dy)
        x_shape, y_shape = shape_of(x), shape_of(y)
        return (
            sum_to(select(mask, dy, zero), x_shape, y_shape) if node.wants(0) else None,
            sum_to(select(mask, zero, dy), y_shape, x_shape) if node.wants(1) else None,
        )

    return Op(
        op_name,
        "x: T, y: T -> z: T",
        traits=ELEMENTWISE | FAILS_BY_SHAPE | IDEMPOTENT | UNCHECKED,
        partial=computed(partial),
        T=dtypes.REAL,
        infer=broadcast,
        kernel=ufunc,
        lower=lambda ctx, x, y: lower(x, y),
        saves=("x", "y"),
        grad=grad,
    )


MAXIMUM = _extreme("Maximum", np.maximum, lambda x, y: jnp.maximum(x, y), GREATER_EQUAL, max)
MINIMUM = _extreme("Minimum", np.minimum, lambda x, y: jnp.minimum(x, y), LESS_EQUAL, min)


@api("math.maximum", "maximum", of=MAXIMUM)
def maximum(x, y, name=None) -> Tensor:
    """The larger of `x` and `y`, element-wise, with broadcasting; NaN if either is.

    >>> tf.maximum([1, 5], 3).numpy().tolist()
    [3, 5]
    """
    return MAXIMUM(x, y, name=name)


@api("math.minimum", "minimum", of=MINIMUM)
def minimum(x, y, name=None) -> Tensor:
    """The smaller of `x` and `y`, element-wise, with broadcasting; NaN if either is."""
    return MINIMUM(x, y, name=name)


def _squared_difference(xp, x, y):
    d = x - y
    return xp.conj(d) * d if d.dtype.kind == "c" else d * d


def _grad_squared_difference(node, dy):
    x, y = node.x, node.y
    x_shape, y_shape = shape_of(x), shape_of(y)
    # TF: the difference is not conjugated for complex tensors.
    g = number_like(dy, 2) * dy * (x - y)
    return (
        sum_to(g, x_shape, y_shape) if node.wants(0) else None,
        sum_to(-g, y_shape, x_shape) if node.wants(1) else None,
    )


SQUARED_DIFFERENCE = Op(
    "SquaredDifference",
    "x: T, y: T -> z: T",
    traits=ELEMENTWISE | FAILS_BY_SHAPE,
    T=dtypes.FLOATING | dtypes.COMPLEX | {dtypes.int32, dtypes.int64},
    infer=broadcast,
    kernel=lambda x, y: _squared_difference(np, x, y),
    lower=lambda ctx, x, y: _squared_difference(jnp, x, y),
    saves=("x", "y"),
    grad=_grad_squared_difference,
)


@api("math.squared_difference", of=SQUARED_DIFFERENCE)
def squared_difference(x, y, name=None) -> Tensor:
    """`(x - y)^2`, element-wise, with broadcasting; `|x - y|^2` for complex tensors."""
    return SQUARED_DIFFERENCE(x, y, name=name)


def _add_n(inputs):
    first = inputs[0]
    for i, array in enumerate(inputs[1:], 1):
        if array.shape != first.shape:
            raise errors.invalid_argument(
                f"AddN: inputs must have the same shape, inputs[0] has {first.shape}, inputs[{i}] "
                f"{array.shape}."
            )
    if len(inputs) == 1:
        return first
    if first.dtype == object:  # variants, such as lists of tensors
        return functools.reduce(_variants.add_variants, inputs)
    if first.dtype.itemsize == 2 and first.dtype.kind in "fV":
        wide = inputs[0].astype(np.float32)
        for array in inputs[1:]:
            wide = wide + array.astype(np.float32)
        return wide.astype(first.dtype)
    total = np.add(first, inputs[1])
    for array in inputs[2:]:
        total += array
    return total


def _lower_add_n(ctx, inputs):
    total = inputs[0]
    for array in inputs[1:]:
        total = total + array
    return total


def _infer_add_n(inputs):
    shape = inputs[0].shape
    for spec in inputs[1:]:
        try:
            shape = shape.merge_with(spec.shape)
        except ValueError:
            raise errors.invalid_argument(
                f"AddN: inputs must have the same shape, got {shape} and {spec.shape}."
            ) from None
    return shape


ADD_N = Op(
    "AddN",
    "inputs: N*T -> sum: T",
    traits=ELEMENTWISE | EQUAL_SHAPES | FAILS_BY_SHAPE,
    T=dtypes.NUMBER | {dtypes.variant},
    infer=_infer_add_n,
    kernel=_add_n,
    lower=_lower_add_n,
    saves=("inputs_shape",),
    grad=lambda node, dy: ([dy] * len(node.inputs_shape),),
)


@api("math.add_n", "add_n")
def add_n(inputs, name=None) -> Tensor:
    """The sum of tensors (or `IndexedSlices`) of one shape and dtype.

    >>> tf.add_n([[1, 2], [3, 4], [5, 6]]).numpy().tolist()
    [9, 12]

    Raises:
        ValueError: when there is none.
        InvalidArgumentError: when shapes or dtypes differ.
    """
    try:
        inputs = list(inputs)
    except TypeError:
        inputs = []
    if not inputs:
        raise ValueError(
            "add_n: inputs must be an iterable of at least one Tensor or IndexedSlices, got none."
        )
    inputs = [to_tensor(x) for x in inputs]
    if len(inputs) == 1:
        return IDENTITY(inputs[0], name=name)
    return ADD_N(inputs, name=name)


ACCUMULATE_N = Op(
    "AccumulateNV2",
    "inputs: N*T, *, shape: shape -> sum: T",
    traits=ELEMENTWISE | EQUAL_SHAPES,
    T=dtypes.NUMBER,
    infer=lambda inputs, shape: _infer_add_n(inputs),
    kernel=lambda inputs, shape: _add_n(inputs),
    lower=lambda ctx, inputs, shape: _lower_add_n(ctx, inputs),
    saves=("inputs_shape",),
    grad=lambda node, dy: ([dy] * len(node.inputs_shape),),
)


@api("math.accumulate_n")
def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None) -> Tensor:
    """The sum of tensors of one shape and dtype; the same as `add_n`, with checks of both.

    Raises:
        ValueError: when there is none, or the shapes differ.
        TypeError: when `tensor_dtype` is not the dtype of the inputs.
    """
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError("accumulate_n: inputs must be a list of at least one tensor, got none.")
    inputs = [to_tensor(x) for x in inputs]
    if any(x.dtype is not inputs[0].dtype for x in inputs):
        names = [x.dtype.name for x in inputs]
        raise ValueError(f"accumulate_n: inputs must have the same dtype, got {names}.")
    merged = TensorShape(shape)
    for x in inputs:
        merged = merged.merge_with(x.shape)
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not inputs[0].dtype:
        raise TypeError(
            f"accumulate_n: tensor_dtype is {dtypes.as_dtype(tensor_dtype).name}, but the inputs are "
            f"{inputs[0].dtype.name}. Cast them with tf.cast."
        )
    return add_n(inputs, name=name)
