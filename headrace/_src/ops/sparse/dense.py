"""Sparse tensors to dense ones and back."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.attached import attach, method_of
from headrace._src.op.batching import NoRule, Ragged, Rule
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import shape_from_value
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.filling import FILL, RANGE
from headrace._src.ops.arrays.gathering import GATHER_ND
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import RANK, SHAPE
from headrace._src.ops.arrays.scattering import SCATTER_ND
from headrace._src.ops.arrays.selecting import WHERE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.math.arithmetic import MINIMUM
from headrace._src.ops.math.comparison import NOT_EQUAL
from headrace._src.ops.math.complex_numbers import CONJ
from headrace._src.ops.ragged.row_arithmetic import cast_to
from headrace._src.ops.sparse.indices import check_ascending, check_in_range, dense_dims
from headrace._src.ops.sparse.tensor import SparseTensor, SparseTensorValue


def as_sparse(value, what="Input"):
    """A sparse tensor as it is (or from a 1.x `SparseTensorValue`).

    Raises:
        TypeError: for anything else.
    """
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"{what} must be a SparseTensor, got {type(value).__name__}.")
    return value


def _matrix(indices):
    """Scalar or vector indices as a matrix."""
    return indices.reshape(-1, 1) if indices.ndim < 2 else indices


def _check_to_dense(indices, shape, values, default):
    op = "SparseToDense"
    if indices.ndim > 2:
        raise errors.invalid_argument(
            f"{op}: sparse_indices should be a scalar, vector, or matrix, got shape {indices.shape}."
        )
    if shape.ndim != 1:
        raise errors.invalid_argument(f"{op}: output_shape must be rank 1, got shape {shape.shape}.")
    rank = indices.shape[1] if indices.ndim == 2 else 1
    if shape.shape[0] != rank:
        raise errors.invalid_argument(
            f"{op}: output_shape has incorrect number of elements: {shape.shape[0]} should be: {rank}."
        )
    count = indices.shape[0] if indices.ndim else 1
    if values.ndim and values.shape != (count,):
        raise errors.invalid_argument(
            f"{op}: sparse_values has incorrect shape {values.shape}, should be () or ({count},)."
        )
    if default.ndim:
        raise errors.invalid_argument(f"{op}: default_value should be a scalar, got shape {default.shape}.")


def _to_dense_kernel(sparse_indices, output_shape, sparse_values, default_value, validate_indices):
    op = "SparseToDense"
    _check_to_dense(sparse_indices, output_shape, sparse_values, default_value)
    indices = _matrix(sparse_indices)
    dims = dense_dims(op, output_shape, "output_shape")
    check_in_range(op, indices, dims)
    if validate_indices:
        check_ascending(op, indices)
    result = np.empty(dims, sparse_values.dtype)
    result[...] = default_value
    result[tuple(indices.T)] = sparse_values
    return result


def _to_dense_lower(ctx, sparse_indices, output_shape, sparse_values, default_value, validate_indices):
    _check_to_dense(sparse_indices, output_shape, sparse_values, default_value)
    indices = _matrix(sparse_indices)
    dims = dense_dims("SparseToDense", output_shape, "output_shape")
    ctx.check(
        jnp.all((indices >= 0) & (indices < jnp.asarray(dims, indices.dtype))),
        errors.InvalidArgumentError,
        "SparseToDense: sparse_indices are out of bounds",
    )
    if validate_indices:
        places = indices @ jnp.asarray(_strides(dims), indices.dtype) if dims else jnp.arange(len(indices))
        ctx.check(
            jnp.all(places[1:] > places[:-1]),
            errors.InvalidArgumentError,
            "SparseToDense: sparse_indices are repeated or out of order",
        )
    return jnp.full(dims, default_value).at[tuple(indices.T)].set(sparse_values)


def _strides(dims):
    return [math.prod(dims[i + 1 :]) for i in range(len(dims))]


def _to_dense_infer(sparse_indices, output_shape, sparse_values, default_value, validate_indices):
    return shape_from_value(output_shape)


def _to_dense_grad(node, dy):
    indices = node.sparse_indices
    if indices.shape.rank is not None and indices.shape.rank < 2:
        indices = RESHAPE(indices, [-1, 1])
    at_values = GATHER_ND(dy, indices)
    everything = list(range(dy.shape.rank)) if dy.shape.rank is not None else _all_axes(dy)
    d_values = at_values
    if len(node.sparse_values_shape) == 0 if isinstance(node.sparse_values_shape, tuple) else False:
        d_values = SUM(at_values, [0])
    d_default = SUM(dy, everything) - SUM(at_values, [0])
    return None, None, d_values, d_default


def _all_axes(tensor):
    return RANGE(0, RANK(tensor), 1)


def _are_lengths(batch, shape, splits):
    """Whether a stacked value is the number of rows of each element, as parsing gives it."""
    node = getattr(shape.tensor, "op", None)
    return node is not None and node.record is EXPAND_DIMS and node.inputs[0] is batch.lengths(splits)


def _vectorize_ragged_to_dense(batch, node, indices, shape, values, default):
    is_without_gaps = isinstance(indices, Ragged) and indices.counts and isinstance(values, Ragged)
    if not is_without_gaps or indices.splits is not values.splits or not _are_lengths(batch, shape, values.splits):
        raise NoRule("it has gaps")
    return values


SPARSE_TO_DENSE = Op(
    "SparseToDense",
    "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T, *, "
    "validate_indices: bool = True -> dense: T",
    Tindices=dtypes.INDEX,
    infer=_to_dense_infer,
    kernel=_to_dense_kernel,
    lower=_to_dense_lower,
    static=("output_shape",),
    saves=("sparse_indices", "sparse_values_shape"),
    grad=_to_dense_grad,
    vectorize=Rule(ragged=_vectorize_ragged_to_dense),
)


@api("sparse.to_dense")
def to_dense(sp_input, default_value=None, validate_indices=True, name=None) -> Tensor:
    """A sparse tensor as a dense one.

    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 2])
    >>> tf.sparse.to_dense(s).numpy().tolist()
    [[0, 5], [6, 0]]

    Args:
        sp_input: a `SparseTensor`.
        default_value: what the other elements are; zero or the empty string if None.
        validate_indices: refuse indices that are repeated or not in row-major order.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when an index is out of bounds, or not as `validate_indices` demands.
    """
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = _zero(sp_input.dtype)
    return SPARSE_TO_DENSE(
        sp_input.indices,
        sp_input.dense_shape,
        sp_input.values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )


def _zero(dtype):
    if dtype is dtypes.string:
        return to_tensor(b"", dtype)
    return to_tensor(np.zeros((), dtype._np), dtype)


@api("sparse.from_dense")
def from_dense(tensor, name=None) -> SparseTensor:
    """The non-zero elements of a dense tensor (for strings, the non-empty ones).

    >>> tf.sparse.from_dense([[0, 7], [8, 0]]).values.numpy().tolist()
    [7, 8]
    """
    tensor = to_tensor(tensor)
    indices = WHERE(NOT_EQUAL(tensor, _zero(tensor.dtype)))
    values = GATHER_ND(tensor, indices)
    if tensor.shape.is_fully_defined():
        shape = to_tensor(np.array(tensor.shape.as_list(), np.int64))
    else:
        shape = SHAPE(tensor, out_type=dtypes.int64)
    result = SparseTensor(indices, values, shape)
    result.set_shape(tensor.shape)
    return result


@api("sparse.to_indicator")
def to_indicator(sp_input, vocab_size, name=None) -> Tensor:
    """A dense bool tensor that is true at the ids that the values of each row are.

    >>> s = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 3], [2, 2])
    >>> tf.sparse.to_indicator(s, 4).numpy().astype(int).tolist()
    [[1, 0, 1, 0], [0, 0, 0, 1]]

    Args:
        sp_input: ids from 0 up to `vocab_size`; its last dimension is replaced.
        vocab_size: the size of the last dimension of the result.
        name: a name for the operation.
    """
    sp_input = as_sparse(sp_input)
    count = SHAPE(sp_input.indices)[:1]
    trues = SparseTensor(sp_input.indices, FILL(count, to_tensor(True)), sp_input.dense_shape)
    ids = EXPAND_DIMS(cast_to(sp_input.values, dtypes.int64), 1)
    indices = CONCAT([sp_input.indices[:, :-1], ids], 1)
    size = RESHAPE(cast_to(to_tensor(vocab_size), dtypes.int64), [1])
    shape = CONCAT([sp_input.dense_shape[:-1], size], 0)
    # An id may occur twice in a row.
    return to_dense(SparseTensor(indices, trues.values, shape), False, validate_indices=False, name=name)


def _count(name, value):
    value = to_tensor(value, hint=dtypes.int64)
    if not value.dtype.is_integer:
        raise errors.DTypeMismatchError(f"sparse.eye: {name} must be an integer, got {value.dtype.name}.")
    return cast_to(value, dtypes.int64)


@api("sparse.eye")
def eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None) -> SparseTensor:
    """A sparse matrix with ones on the diagonal."""
    dtype = dtypes.as_dtype(dtype)
    rows = _count("num_rows", num_rows)
    columns = rows if num_columns is None else _count("num_columns", num_columns)
    size = MINIMUM(rows, columns)
    diagonal = RANGE(to_tensor(0, dtypes.int64), size, to_tensor(1, dtypes.int64))
    ones = FILL(EXPAND_DIMS(size, 0), to_tensor(np.ones((), dtype._np), dtype))
    return SparseTensor(PACK([diagonal, diagonal], axis=1), ones, PACK([rows, columns]))


def _dense_add_kernel(a_indices, a_values, a_shape, b):
    op = "SparseTensorDenseAdd"
    _check_dense_add(a_indices, a_values, a_shape, b)
    dims = tuple(a_shape.tolist())
    if dims != b.shape:
        raise errors.invalid_argument(f"{op}: the operands have different shapes, {dims} and {b.shape}.")
    check_in_range(op, a_indices, b.shape, "a_indices")
    result = b.copy()
    np.add.at(result, tuple(a_indices.T), a_values)
    return result


def _check_dense_add(a_indices, a_values, a_shape, b):
    op = "SparseTensorDenseAdd"
    if a_indices.ndim != 2:
        raise errors.invalid_argument(f"{op}: a_indices must be a matrix, got shape {a_indices.shape}.")
    if a_values.shape != (a_indices.shape[0],):
        raise errors.invalid_argument(
            f"{op}: a_values must have shape ({a_indices.shape[0]},), got {a_values.shape}."
        )
    if a_shape.ndim != 1 or a_shape.shape[0] != a_indices.shape[1]:
        raise errors.invalid_argument(
            f"{op}: a_shape must have {a_indices.shape[1]} elements, got shape {a_shape.shape}."
        )
    if a_shape.shape[0] != b.ndim:
        raise errors.invalid_argument(
            f"{op}: Two operands have different ranks; received: {a_shape.shape[0]} and {b.ndim}."
        )


def _dense_add_lower(ctx, a_indices, a_values, a_shape, b):
    _check_dense_add(a_indices, a_values, a_shape, b)
    ctx.check(
        jnp.all(a_shape == jnp.asarray(b.shape, a_shape.dtype)),
        errors.InvalidArgumentError,
        "SparseTensorDenseAdd: the operands have different shapes",
    )
    ctx.check(
        jnp.all((a_indices >= 0) & (a_indices < jnp.asarray(b.shape, a_indices.dtype))),
        errors.InvalidArgumentError,
        "SparseTensorDenseAdd: a_indices are out of bounds",
    )
    return b.at[tuple(a_indices.T)].add(a_values)


def _dense_add_grad(node, dy):
    return None, GATHER_ND(dy, node.a_indices), None, dy


SPARSE_TENSOR_DENSE_ADD = Op(
    "SparseTensorDenseAdd",
    "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    T=dtypes.NUMBER,
    Tindices=dtypes.INDEX,
    infer=lambda a_indices, a_values, a_shape, b: b.shape,
    kernel=_dense_add_kernel,
    lower=_dense_add_lower,
    saves=("a_indices",),
    grad=_dense_add_grad,
)


def _cwise(name, compute):
    """The op that applies a function to each value and the element of a dense tensor at its place."""

    def _dims(sp_shape, dense):
        dims = dense_dims(name, sp_shape, "sp_shape")
        fits = dense.ndim <= len(dims) and all(
            n in (1, m) for n, m in zip(dense.shape, dims[len(dims) - dense.ndim :])
        )
        if not fits:
            raise errors.invalid_argument(
                f"{name}: dense is broadcast to the sparse operand's shape, but {dense.shape} does not "
                f"broadcast to {dims}."
            )
        return dims

    def _check(sp_indices, sp_values, sp_shape):
        if sp_indices.ndim != 2 or sp_values.ndim != 1 or sp_shape.ndim != 1:
            raise errors.invalid_argument(
                f"{name}: sp_indices must be a matrix, sp_values and sp_shape vectors; got shapes "
                f"{sp_indices.shape}, {sp_values.shape} and {sp_shape.shape}."
            )
        if sp_indices.shape != (sp_values.shape[0], sp_shape.shape[0]):
            raise errors.invalid_argument(
                f"{name}: sp_indices must have shape {(sp_values.shape[0], sp_shape.shape[0])}, got "
                f"{sp_indices.shape}."
            )

    def kernel(sp_indices, sp_values, sp_shape, dense):
        _check(sp_indices, sp_values, sp_shape)
        dims = _dims(sp_shape, dense)
        check_in_range(name, sp_indices, dims, "sp_indices")
        others = np.broadcast_to(dense, dims)[tuple(sp_indices.T)]
        return compute(np, sp_values, others)

    def lower(ctx, sp_indices, sp_values, sp_shape, dense):
        _check(sp_indices, sp_values, sp_shape)
        dims = _dims(sp_shape, dense)
        ctx.check(
            jnp.all((sp_indices >= 0) & (sp_indices < jnp.asarray(dims, sp_indices.dtype))),
            errors.InvalidArgumentError,
            f"{name}: sp_indices are out of bounds",
        )
        others = jnp.broadcast_to(dense, dims)[tuple(sp_indices.T)]
        if name == "SparseDenseCwiseDiv":
            ctx.check(jnp.all(others != 0), errors.InvalidArgumentError, f"{name}: dense contains zero")
        return compute(jnp, sp_values, others)

    return dict(
        infer=lambda sp_indices, sp_values, sp_shape, dense: TensorShape(
            [sp_indices.shape[0] if sp_indices.shape.rank else None]
        ),
        kernel=kernel,
        lower=lower,
        static=("sp_shape",),
    )


def _dense_places(node):
    """For each sparse element its place in the dense operand."""
    rank = node.dense.shape.rank
    indices = node.sp_indices
    if rank is None:
        raise ValueError(f"The gradient of {node.op.name} needs a dense operand of known rank.")
    own = indices[:, indices.shape[1] - rank :]
    shape = SHAPE(node.dense, out_type=dtypes.int64)
    # Index 0 where the dense operand has been broadcast.
    return MINIMUM(own, shape - to_tensor(1, dtypes.int64)), shape


def _conjugate(tensor):
    return CONJ(tensor) if tensor.dtype.is_complex else tensor


def _cwise_grads(node, dy, d_values, d_others):
    if node.dense.shape.rank == 0:
        return None, d_values(dy, node.dense), None, SUM(d_others(dy, node.dense), [0])
    places, shape = _dense_places(node)
    others = GATHER_ND(node.dense, places)
    return (
        None,
        d_values(dy, others),
        None,
        SCATTER_ND(places, d_others(dy, others), shape),
    )


def _add_grad(node, dy):
    return _cwise_grads(node, dy, lambda dy, y: dy, lambda dy, y: dy)


def _mul_grad(node, dy):
    return _cwise_grads(
        node,
        dy,
        lambda dy, y: dy * _conjugate(y),
        lambda dy, y: dy * _conjugate(node.sp_values),
    )


def _div_grad(node, dy):
    def d_others(dy, y):
        quotient = -node.sp_values / y / y
        return dy * _conjugate(quotient)

    return _cwise_grads(node, dy, lambda dy, y: dy / _conjugate(y), d_others)


def _divide(xp, x, y):
    if xp is np and (y == 0).any():
        raise errors.invalid_argument("SparseDenseCwiseDiv: cannot divide by zero, but dense contains zero.")
    if x.dtype.kind in "iu":
        # As C divides: towards zero.
        quotient = xp.abs(x) // xp.abs(y) if x.dtype.kind == "i" else x // y
        return (quotient * xp.sign(x) * xp.sign(y)).astype(x.dtype) if x.dtype.kind == "i" else quotient
    return x / y


SPARSE_DENSE_CWISE_ADD = Op(
    "SparseDenseCwiseAdd",
    "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
    T=dtypes.NUMBER,
    saves=("sp_indices", "sp_values", "dense"),
    grad=_add_grad,
    **_cwise("SparseDenseCwiseAdd", lambda xp, x, y: x + y),
)

SPARSE_DENSE_CWISE_MUL = Op(
    "SparseDenseCwiseMul",
    "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
    T=dtypes.NUMBER,
    saves=("sp_indices", "sp_values", "dense"),
    grad=_mul_grad,
    **_cwise("SparseDenseCwiseMul", lambda xp, x, y: x * y),
)

SPARSE_DENSE_CWISE_DIV = Op(
    "SparseDenseCwiseDiv",
    "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
    T=dtypes.NUMBER,
    saves=("sp_indices", "sp_values", "dense"),
    grad=_div_grad,
    **_cwise("SparseDenseCwiseDiv", _divide),
)


def _operator(op, name):
    def operate(self, other) -> SparseTensor:
        other = to_tensor(other, hint=self.dtype)
        return self.with_values(op(self.indices, self.values, self.dense_shape, other))

    operate.__name__ = name
    operate.__doc__ = f"`sparse {'*' if 'mul' in name else '/'} dense`: the dense operand is broadcast."
    return operate


def _truediv(self, other) -> SparseTensor:
    """`sparse / dense`; integers become floating numbers first, as for dense tensors."""
    if self.dtype._kind not in "fc":
        kind = dtypes.float32 if self.dtype in _NARROW else dtypes.float64
        other = cast_to(to_tensor(other, hint=self.dtype), kind)
        self = self.with_values(cast_to(self.values, kind))
    return SparseTensor.__div__(self, other)


@method_of(SparseTensor)
def _with_zeros(self):
    """All elements as a tensor, also where indices are not in order."""
    default = "" if self.dtype == dtypes.string else np.zeros([], self.dtype.as_numpy_dtype)
    return SPARSE_TO_DENSE(self.indices, self.dense_shape, self.values, to_tensor(default), validate_indices=False)


_NARROW = frozenset({dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16})
# TF: a sparse tensor has these operators and no others.
attach(SparseTensor, "__mul__", _operator(SPARSE_DENSE_CWISE_MUL, "__mul__"))
attach(SparseTensor, "__div__", _operator(SPARSE_DENSE_CWISE_DIV, "__div__"))
attach(SparseTensor, "__truediv__", _truediv)
