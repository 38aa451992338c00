"""Sparse tensors as three strings or variants each, which can be stacked, sliced and put together again."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.formats import tensor_wire, wire
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.sparse.dense import as_sparse
from headrace._src.ops.sparse.indices import check_ascending, check_components, check_in_range, dense_dims
from headrace._src.ops.sparse.tensor import SparseTensor

_NAMES = ("sparse_indices", "sparse_values", "sparse_shape")


class TensorVariant:
    """What one element of a variant tensor holds here: an array."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    def __repr__(self):
        return f"TensorVariant({self.array!r})"


def _encoded(array, out_type):
    if out_type is dtypes.variant:
        return TensorVariant(array)
    if array.dtype != object:
        return wire.tensor_proto(array, dtypes.FROM_NUMPY[array.dtype])
    # Strings are kept in one piece: all lengths, then all bytes.
    items = array.ravel().tolist()
    dims = b"".join(wire.message(2, wire.integer(1, size)) for size in array.shape)
    content = b"".join(wire.varint(len(item)) for item in items) + b"".join(items)
    return wire.integer(1, dtypes.string.as_datatype_enum) + wire.message(2, dims) + wire.message(4, content)


def _row(parts, out_type):
    row = np.empty(3, object)
    row[:] = [_encoded(part, out_type) for part in parts]
    return row


def _serialize_kernel(sparse_indices, sparse_values, sparse_shape, out_type):
    check_components("SerializeSparse", sparse_indices, sparse_values, sparse_shape, _NAMES)
    return _row((sparse_indices, sparse_values, sparse_shape), out_type)


_SERIALIZED = frozenset({dtypes.string, dtypes.variant})

# Strings and variants exist on the host only, here and below.
SERIALIZE_SPARSE = Op(
    "SerializeSparse",
    "sparse_indices: int64, sparse_values: T, sparse_shape: int64, *, out_type: type = string "
    "-> serialized_sparse: out_type",
    out_type=_SERIALIZED,
    infer=lambda sparse_indices, sparse_values, sparse_shape, out_type: TensorShape([3]),
    kernel=_serialize_kernel,
    lower=None,
    grad=unregistered,
)


def _serialize_many_kernel(sparse_indices, sparse_values, sparse_shape, out_type):
    op = "SerializeManySparse"
    check_components(op, sparse_indices, sparse_values, sparse_shape, _NAMES)
    dims = dense_dims(op, sparse_shape, "sparse_shape")
    if len(dims) < 2:
        raise errors.invalid_argument(f"{op}: Rank of input SparseTensor should be > 1, but saw rank: {len(dims)}.")
    check_in_range(op, sparse_indices, dims)
    check_ascending(op, sparse_indices)
    ends = np.searchsorted(sparse_indices[:, 0], np.arange(dims[0]), side="right").tolist()
    result = np.empty((dims[0], 3), object)
    start = 0
    for i, end in enumerate(ends):
        result[i] = _row((sparse_indices[start:end, 1:], sparse_values[start:end], sparse_shape[1:]), out_type)
        start = end
    return result


def _serialize_many_infer(sparse_indices, sparse_values, sparse_shape, out_type):
    return TensorShape([None, 3])  # TF: also where the shape is known


SERIALIZE_MANY_SPARSE = Op(
    "SerializeManySparse",
    "sparse_indices: int64, sparse_values: T, sparse_shape: int64, *, out_type: type = string "
    "-> serialized_sparse: out_type",
    out_type=_SERIALIZED,
    infer=_serialize_many_infer,
    kernel=_serialize_many_kernel,
    lower=None,
    grad=unregistered,
)


def _decoded(op, element, dtype):
    if isinstance(element, TensorVariant):
        array = element.array
    elif isinstance(element, bytes):
        try:
            array, _ = tensor_wire.parse_tensor(element)
        except ValueError as error:
            raise errors.invalid_argument(f"{op}: Could not parse serialized_sparse: {error}.") from None
    else:
        raise errors.invalid_argument(f"{op}: an element of serialized_sparse holds no tensor, but {element!r}.")
    if array.dtype != dtype._np:
        raise errors.invalid_argument(f"{op}: expected a tensor of {dtype.name}, got {array.dtype}.")
    return array


def _deserialize(op, serialized, dtype):
    """The parts of one sparse tensor, or of several stacked in front."""
    if not serialized.ndim or serialized.shape[-1] != 3:
        raise errors.invalid_argument(
            f"{op}: Serialized sparse should have 3 as the last dimension, got shape {serialized.shape}."
        )
    outer = serialized.shape[:-1]
    rows = serialized.reshape(-1, 3)
    if not len(rows):
        raise errors.invalid_argument(f"{op}: Serialized sparse should have at least 1 serialized tensor, got none.")
    all_indices, all_values, all_shapes = [], [], []
    for row in rows.tolist():
        indices, values, shape = (
            _decoded(op, part, kind) for part, kind in zip(row, (dtypes.int64, dtype, dtypes.int64))
        )
        check_components(op, indices, values, shape, _NAMES)
        if all_shapes and shape.shape != all_shapes[0].shape:
            raise errors.invalid_argument(f"{op}: the sparse tensors have different ranks.")
        all_indices.append(indices)
        all_values.append(values)
        all_shapes.append(shape)
    if not outer:
        return all_indices[0], all_values[0], all_shapes[0]
    places = np.indices(outer).reshape(len(outer), -1).T
    prefixes = places.repeat([len(indices) for indices in all_indices], axis=0)
    indices = np.concatenate([prefixes, np.concatenate(all_indices)], axis=1)
    shape = np.concatenate([np.array(outer, np.int64), np.max(all_shapes, axis=0)])
    return indices, np.concatenate(all_values), shape


def _deserialize_infer(serialized_sparse, dtype):
    return TensorShape([None, None]), TensorShape([None]), TensorShape([None])


DESERIALIZE_SPARSE = Op(
    "DeserializeSparse",
    "serialized_sparse: Tserialized, *, dtype: type -> sparse_indices: int64, sparse_values: dtype, "
    "sparse_shape: int64",
    Tserialized=frozenset({dtypes.string, dtypes.variant}),
    infer=_deserialize_infer,
    kernel=lambda serialized_sparse, dtype: _deserialize("DeserializeSparse", serialized_sparse, dtype),
    lower=None,
    grad=unregistered,
)


def _deserialize_many_kernel(serialized_sparse, dtype):
    op = "DeserializeManySparse"
    if serialized_sparse.ndim != 2:
        raise errors.invalid_argument(
            f"{op}: Serialized sparse should be a matrix, got shape {serialized_sparse.shape}."
        )
    return _deserialize(op, serialized_sparse, dtype)


DESERIALIZE_MANY_SPARSE = Op(
    "DeserializeManySparse",
    "serialized_sparse: string, *, dtype: type -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    infer=_deserialize_infer,
    kernel=_deserialize_many_kernel,
    lower=None,
    grad=None,
)


@api("io.serialize_sparse")
def serialize_sparse(sp_input, out_type=dtypes.string, name=None) -> Tensor:
    """A sparse tensor as a vector of its three encoded parts.

    Args:
        sp_input: the sparse tensor.
        out_type: string or variant.
        name: a name for the operation.
    """
    sp_input = as_sparse(sp_input)
    parts = (sp_input.indices, sp_input.values, sp_input.dense_shape)
    return SERIALIZE_SPARSE(*parts, out_type=dtypes.as_dtype(out_type), name=name)


@api("io.serialize_many_sparse")
def serialize_many_sparse(sp_input, out_type=dtypes.string, name=None) -> Tensor:
    """The elements of a batch of sparse tensors, each as three encoded parts: a matrix of shape [batch, 3].

    Args:
        sp_input: a sparse tensor of rank 2 or more, in row-major order; its first dimension is the batch.
        out_type: string or variant.
        name: a name for the operation.
    """
    sp_input = as_sparse(sp_input)
    parts = (sp_input.indices, sp_input.values, sp_input.dense_shape)
    return SERIALIZE_MANY_SPARSE(*parts, out_type=dtypes.as_dtype(out_type), name=name)


@api("io.deserialize_many_sparse")
def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None) -> SparseTensor:
    """A batch of sparse tensors from what `serialize_many_sparse` returned.

    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 3])
    >>> tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(s), tf.int32).values.numpy().tolist()
    [5, 6]

    Args:
        serialized_sparse: strings of shape [batch, 3].
        dtype: the dtype of the values.
        rank: the rank of the result, if it is known.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when the strings are no sparse tensors, or differ in rank.
    """
    parts = DESERIALIZE_MANY_SPARSE(
        to_tensor(serialized_sparse, dtypes.string), dtype=dtypes.as_dtype(dtype), name=name
    )
    result = SparseTensor(*parts)
    if rank is not None:
        result.set_shape([None] * int(rank))
    return result
