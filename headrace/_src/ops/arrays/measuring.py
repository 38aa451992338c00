"""Measuring tensors: their shape, rank and size, what of them is known in a graph, and checks of sizes given to ops."""

import math
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor, is_tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched, Rule
from headrace._src.op.convert import eager_constant, to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import if_useful
from headrace._src.op.infer import SCALAR
from headrace._src.op.registry import lookup
from headrace._src.op.traits import ABOUT_SHAPES, NEVER_FAILS

_MAX_ELEMENTS = 2**63 - 1
_MAX_PARTS = 2**24


def checked_dims(op: str, argument: str, dims) -> tuple[int, ...]:
    """A shape given as integers, after refusing negative sizes and more elements than can be counted."""
    dims = tuple(int(n) for n in dims)
    count = 1
    for n in dims:
        if n < 0:
            raise errors.invalid_argument(f"{op}: {argument} must not be negative, got {dims}.")
        count *= n
    if count > _MAX_ELEMENTS:
        raise errors.invalid_argument(f"{op}: {argument} {dims} has more than 2**63 - 1 elements.")
    return dims


def checked_vector(op: str, argument: str, array: np.ndarray) -> list[int]:
    """The integers of a 1-D input."""
    if array.ndim != 1:
        raise errors.invalid_argument(f"{op}: {argument} must be a vector, got shape {array.shape}.")
    return array.tolist()


def nonempty(op: str, argument: str, values: list) -> list:
    """A list input that must have at least one element."""
    if not values:
        raise errors.invalid_argument(f"{op}: {argument} must have at least one element, got an empty list.")
    return values


def checked_parts(op: str, argument: str, count: int) -> int:
    """How many tensors an op is to return, after refusing what would only exhaust memory."""
    if count > _MAX_PARTS:
        raise errors.resource_exhausted(f"{op}: {argument} must be at most {_MAX_PARTS}, got {count}.")
    return count


def _vector_of_rank(spec):
    return TensorShape([spec.shape.rank])


def _infer_shape(input, out_type):
    return _vector_of_rank(input)


def _partial_shape(input, out_type):
    return None if input.shape.rank is None else if_useful(input.shape.as_list())


def _vectorize_shape(batch, node, x):
    dtype = node.attrs["out_type"]
    return Batched(to_tensor(batch.shape_of_element(x, dtype), dtype), False)


SHAPE = Op(
    "Shape",
    "input: T, *, out_type: type = int32 -> output: out_type",
    traits=NEVER_FAILS | ABOUT_SHAPES,
    partial=_partial_shape,
    infer=_infer_shape,
    kernel=lambda input, out_type: np.array(input.shape, out_type._np),
    lower=lambda ctx, input, out_type: jnp.asarray(np.array(input.shape, out_type._np)),
    grad=None,
    vectorize=Rule(_vectorize_shape, lambda batch, node, x: batch.shapes(x, node.attrs["out_type"])),
    out_type=dtypes.INDEX,
)


def _folded(x, value, out_type):
    """`value`, known from a static shape, as a constant of the graph being built."""
    return context.graph.constant(eager_constant(value, out_type))


@api("shape")
def shape(input, out_type=None, name=None) -> Tensor:
    """The shape of a tensor, as a vector of integers.

    Args:
        input: a tensor.
        out_type: int32 (the default) or int64.
        name: a name for the operation.

    >>> tf.shape([[1, 2, 3], [4, 5, 6]]).numpy().tolist()
    [2, 3]
    """
    out_type = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    if context.graph is not None:
        input = to_tensor(input)
        if input.shape.is_fully_defined() and out_type in dtypes.INDEX:
            return _folded(input, input.shape.as_list(), out_type)
    return SHAPE(input, out_type=out_type, name=name)


def _shape_n(input, out_type):
    numpy_type = out_type._np
    return [np.array(x.shape, numpy_type) for x in nonempty("ShapeN", "input", input)]


def _infer_shape_n(input, out_type):
    return ([_vector_of_rank(x) for x in nonempty("ShapeN", "input", input)],)


def _vectorize_shape_n(batch, node, values):
    return [_vectorize_shape(batch, node, x) for x in values]


SHAPE_N = Op(
    "ShapeN",
    "input: N*T, *, out_type: type = int32 -> output: N*out_type",
    traits=NEVER_FAILS | ABOUT_SHAPES,
    infer=_infer_shape_n,
    kernel=_shape_n,
    lower=lambda ctx, input, out_type: [jnp.asarray(np.array(x.shape, out_type._np)) for x in input],
    grad=None,
    vectorize=_vectorize_shape_n,
    out_type=dtypes.INDEX,
)


@api("shape_n")
def shape_n(input, out_type=dtypes.int32, name=None) -> list[Tensor]:
    """The shapes of several tensors of one dtype, as a list of vectors.

    >>> [s.numpy().tolist() for s in tf.shape_n([[1, 2], [[3]]])]
    [[2], [1, 1]]
    """
    return SHAPE_N(input, out_type=dtypes.as_dtype(out_type), name=name)


def _size(input, out_type):
    numpy_type = out_type._np
    if input.size > np.iinfo(numpy_type).max:
        raise errors.invalid_argument(f"Size: {input.size} elements cannot be counted in {out_type.name}.")
    return np.array(input.size, numpy_type)


def _infer_size(input, out_type):
    return SCALAR


def _vectorize_size(batch, node, x):
    dtype = node.attrs["out_type"]
    shape = batch.shape_of_element(x, dtype)
    if isinstance(shape, list):
        return Batched(to_tensor(math.prod(shape), dtype), False)
    return Batched(lookup("Prod")(shape, 0), False)


def _vectorize_ragged_size(batch, node, x):
    return lookup("Prod")(batch.shapes(x, node.attrs["out_type"]), 1)


SIZE = Op(
    "Size",
    "input: T, *, out_type: type = int32 -> output: out_type",
    traits=ABOUT_SHAPES,
    partial=lambda input, out_type: input.shape.num_elements(),
    infer=_infer_size,
    kernel=_size,
    lower=lambda ctx, input, out_type: jnp.asarray(np.array(input.size, out_type._np)),
    grad=None,
    vectorize=Rule(_vectorize_size, _vectorize_ragged_size),
    out_type=dtypes.INDEX,
)


@api("size")
def size(input, out_type=None, name=None) -> Tensor:
    """The number of elements of a tensor, as a scalar.

    >>> tf.size([[1, 2, 3], [4, 5, 6]]).numpy().item()
    6
    """
    out_type = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    if context.graph is not None:
        input = to_tensor(input)
        if input.shape.is_fully_defined() and out_type in dtypes.INDEX:
            return _folded(input, input.shape.num_elements(), out_type)
    return SIZE(input, out_type=out_type, name=name)


def _vectorize_rank(batch, node, x):
    return Batched(to_tensor(batch.rank(x), dtypes.int32), False)


RANK = Op(
    "Rank",
    "input: T -> output: int32",
    traits=NEVER_FAILS | ABOUT_SHAPES,
    infer=lambda input: SCALAR,
    kernel=lambda input: np.array(input.ndim, np.int32),
    lower=lambda ctx, input: jnp.asarray(np.array(input.ndim, np.int32)),
    grad=None,
    vectorize=Rule(_vectorize_rank, _vectorize_rank),
)


@api("rank")
def rank(input, name=None) -> Tensor:
    """The number of dimensions of a tensor, as a scalar.

    >>> tf.rank([[1, 2, 3], [4, 5, 6]]).numpy().item()
    2
    """
    if context.graph is not None:
        input = to_tensor(input)
        if input.shape.rank is not None:
            return _folded(input, input.shape.rank, dtypes.int32)
    return RANK(input, name=name)


def known_value(tensor) -> np.ndarray | None:
    """The value of an eager tensor, or of a tensor of a graph that is constant; None when it is not known."""
    return tensor._a if isinstance(tensor, EagerTensor) else tensor._known


def known_rank(function: str, argument: str, tensor) -> int:
    """The rank of a tensor.

    Raises:
        ValueError: when it is not known while a graph is built.
    """
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError(f"{function}: the rank of {argument} must be known.")
    return rank


@api("get_static_value", dispatch=False, quick=True)
def get_static_value(tensor, partial=False) -> Any:
    """The value of a tensor as a NumPy array, when it is known without running anything; None otherwise.

    Args:
        tensor: a tensor; what is neither a tensor, a variable nor made of tensors is returned as it is.
        partial: for a 1-D tensor of a graph, return an object array in which unknown elements are None.
    """
    if isinstance(tensor, EagerTensor):
        # TF: a string scalar is given as bytes, numeric scalars as NumPy scalars.
        return tensor.numpy()
    if isinstance(tensor, Tensor):
        return tensor._static_value(partial)
    return None if is_tensor(tensor) else tensor
