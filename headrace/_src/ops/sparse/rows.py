"""Filling up empty rows of sparse and ragged tensors."""

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.scattering import SCATTER_ND
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.sparse.dense import as_sparse
from headrace._src.ops.sparse.indices import check_components
from headrace._src.ops.sparse.tensor import SparseTensor

if TYPE_CHECKING:
    from headrace._src.attached import RaggedFillEmptyRows, RaggedFillEmptyRowsGrad


def _filled(op, rows, values, nrows, default):
    """Rows in order with the missing ones put in.

    Returns:
        For each element of the result the input element or -1; its row; which rows were empty; and for each
        input element its place in the result.
    """
    if default.ndim:
        raise errors.invalid_argument(f"{op}: default_value must be a scalar, got shape {default.shape}.")
    if nrows < 0:
        raise errors.invalid_argument(f"{op}: the number of rows must not be negative, got {nrows}.")
    if nrows == 0 and len(rows):
        raise errors.invalid_argument(f"{op}: there are {len(rows)} elements, but no rows.")
    outside = (rows < 0) | (rows >= nrows)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise errors.invalid_argument(
            f"{op}: indices({at}, 0) is invalid: {rows[at]} is not in [0, {nrows})."
        )
    counts = np.bincount(rows, minlength=nrows)
    empty = counts == 0
    all_rows = np.concatenate([rows, np.flatnonzero(empty)])
    order = np.argsort(all_rows, kind="stable")
    source = np.where(order < len(rows), order, -1)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return source, all_rows[order], empty, places[: len(rows)]


def _taken(values, source, default):
    result = np.empty(len(source), values.dtype)
    result[...] = default
    result[source >= 0] = values[source[source >= 0]]
    return result


def _sparse_kernel(indices, values, dense_shape, default_value):
    op = "SparseFillEmptyRows"
    check_components(op, indices, values, dense_shape, ("indices", "values", "dense_shape"))
    if not dense_shape.shape[0]:
        raise errors.invalid_argument(f"{op}: dense_shape must have at least one dimension.")
    source, rows, empty, places = _filled(op, indices[:, 0], values, int(dense_shape[0]), default_value)
    out = np.zeros((len(source), indices.shape[1]), np.int64)
    out[source >= 0] = indices[source[source >= 0]]
    out[:, 0] = rows
    return out, _taken(values, source, default_value), empty, places


def _sparse_infer(indices, values, dense_shape, default_value):
    rank = indices.shape[1] if indices.shape.rank else None
    rows = None
    if dense_shape.value is not None and np.size(dense_shape.value):
        rows = int(dense_shape.value[0])
    count = indices.shape[0] if indices.shape.rank else None
    return TensorShape([None, rank]), TensorShape([None]), TensorShape([rows]), TensorShape([count])


def _sparse_grad(node, d_indices, d_values, d_empty, d_map):
    d_input, d_default = SPARSE_FILL_EMPTY_ROWS_GRAD(node.reverse_index_map, d_values)
    return None, d_input, None, d_default


# How many rows are empty depends on the data: host only.
SPARSE_FILL_EMPTY_ROWS = Op(
    "SparseFillEmptyRows",
    "indices: int64, values: T, dense_shape: int64, default_value: T "
    "-> output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    infer=_sparse_infer,
    kernel=_sparse_kernel,
    lower=None,
    saves=("reverse_index_map",),
    grad=_sparse_grad,
)


def _ragged_kernel(value_rowids, values, nrows, default_value):
    op = "RaggedFillEmptyRows"
    if value_rowids.ndim != 1 or values.ndim != 1:
        raise errors.invalid_argument(
            f"{op}: value_rowids and values must be vectors, got shapes {value_rowids.shape} and {values.shape}."
        )
    if value_rowids.shape != values.shape:
        raise errors.invalid_argument(
            f"{op}: The length of `values` ({len(values)}) must match that of `value_rowids` ({len(value_rowids)})."
        )
    if nrows.ndim:
        raise errors.invalid_argument(f"{op}: nrows must be a scalar, got shape {nrows.shape}.")
    source, rows, empty, places = _filled(op, value_rowids, values, int(nrows), default_value)
    return rows.astype(np.int64), _taken(values, source, default_value), empty, places


def _ragged_infer(value_rowids, values, nrows, default_value):
    rows = None if nrows.value is None else int(nrows.value)
    return TensorShape([None]), TensorShape([None]), TensorShape([rows]), value_rowids.shape


def _ragged_grad(node, d_rowids, d_values, d_empty, d_map):
    d_input, d_default = RAGGED_FILL_EMPTY_ROWS_GRAD(node.reverse_index_map, d_values)
    return None, d_input, None, d_default


# How many rows are empty depends on the data: host only.
RAGGED_FILL_EMPTY_ROWS = Op(
    "RaggedFillEmptyRows",
    "value_rowids: int64, values: T, nrows: int64, default_value: T "
    "-> output_value_rowids: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    infer=_ragged_infer,
    kernel=_ragged_kernel,
    lower=None,
    saves=("reverse_index_map",),
    grad=_ragged_grad,
)


def _grad_op(op):
    """The op that divides the gradient of filled values between the values and the default value."""

    def check(reverse_index_map, grad_values):
        if reverse_index_map.ndim != 1 or grad_values.ndim != 1:
            raise errors.invalid_argument(
                f"{op}: reverse_index_map and grad_values must be vectors, got shapes "
                f"{reverse_index_map.shape} and {grad_values.shape}."
            )

    def kernel(reverse_index_map, grad_values):
        check(reverse_index_map, grad_values)
        outside = (reverse_index_map < 0) | (reverse_index_map >= len(grad_values))
        if outside.any():
            at = reverse_index_map[outside][0]
            raise errors.invalid_argument(
                f"{op}: Elements in reverse index must be in [0, {len(grad_values)}) but got {at}."
            )
        filled = np.ones(len(grad_values), bool)
        filled[reverse_index_map] = False
        total = np.sum(grad_values[filled], dtype=grad_values.dtype)
        return grad_values[reverse_index_map], np.asarray(total, grad_values.dtype)

    def lower(ctx, reverse_index_map, grad_values):
        check(reverse_index_map, grad_values)
        ctx.check(
            jnp.all((reverse_index_map >= 0) & (reverse_index_map < grad_values.shape[0])),
            errors.InvalidArgumentError,
            f"{op}: reverse_index_map is out of bounds",
        )
        filled = jnp.ones(grad_values.shape, bool).at[reverse_index_map].set(False)
        zero = jnp.zeros((), grad_values.dtype)
        total = jnp.sum(jnp.where(filled, grad_values, zero)).astype(grad_values.dtype)
        return grad_values[reverse_index_map], total

    def grad(node, d_values, d_default):
        shape = node.grad_values_shape
        places = EXPAND_DIMS(node.reverse_index_map, 1)
        spread = SCATTER_ND(places, d_values - d_default, _int64(shape))
        return None, spread + d_default

    return Op(
        op,
        "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
        T=dtypes.NUMBER,
        infer=lambda reverse_index_map, grad_values: (reverse_index_map.shape, TensorShape([])),
        kernel=kernel,
        lower=lower,
        saves=("reverse_index_map", "grad_values_shape"),
        grad=grad,
    )


def _int64(shape):
    if isinstance(shape, tuple):
        return np.array(shape, np.int64)
    return CAST(shape, DstT=dtypes.int64)


SPARSE_FILL_EMPTY_ROWS_GRAD = _grad_op("SparseFillEmptyRowsGrad")
RAGGED_FILL_EMPTY_ROWS_GRAD = _grad_op("RaggedFillEmptyRowsGrad")


@api("sparse.fill_empty_rows")
def fill_empty_rows(sp_input, default_value, name=None) -> tuple[SparseTensor, Tensor]:
    """A sparse tensor with an element put into the first column of every row that has none.

    >>> s = tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 2])
    >>> filled, empty = tf.sparse.fill_empty_rows(s, -1)
    >>> filled.values.numpy().tolist(), empty.numpy().tolist()
    ([1, -1, 2], [False, True, False])

    Args:
        sp_input: the sparse tensor.
        default_value: the value of the new elements, a scalar.
        name: a name for the operation.

    Returns:
        The sparse tensor, in row order, and a bool for each row: whether it was empty.
    """
    sp_input = as_sparse(sp_input)
    default_value = to_tensor(default_value, sp_input.dtype)
    parts = SPARSE_FILL_EMPTY_ROWS(
        sp_input.indices, sp_input.values, sp_input.dense_shape, default_value, name=name
    )
    result = SparseTensor(parts.output_indices, parts.output_values, sp_input.dense_shape)
    return result, parts.empty_row_indicator


@api("ragged_fill_empty_rows")
def ragged_fill_empty_rows(value_rowids, values, nrows, default_value, name=None) -> "RaggedFillEmptyRows":
    """Values in rows, with `default_value` put into every row that has none.

    Args:
        value_rowids: int64, the row of each value.
        values: a vector.
        nrows: int64, the number of rows.
        default_value: a scalar.
        name: a name for the operation.

    Returns:
        The tuple `(output_value_rowids, output_values, empty_row_indicator, reverse_index_map)`; the last says
        where each input value is now.

    >>> tf.ragged_fill_empty_rows([0, 2], [5, 6], 3, -1).output_values.numpy().tolist()
    [5, -1, 6]
    """
    return RAGGED_FILL_EMPTY_ROWS(value_rowids, values, nrows, default_value, name=name)


@api("ragged_fill_empty_rows_grad")
def ragged_fill_empty_rows_grad(reverse_index_map, grad_values, name=None) -> "RaggedFillEmptyRowsGrad":
    """The gradients of the values and of the default value of `ragged_fill_empty_rows`.

    Args:
        reverse_index_map: its fourth output.
        grad_values: the gradient of its second output.
        name: a name for the operation.

    Returns:
        The tuple `(d_values, d_default_value)`.
    """
    return RAGGED_FILL_EMPTY_ROWS_GRAD(reverse_index_map, grad_values, name=name)
