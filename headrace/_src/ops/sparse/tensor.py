"""`SparseTensor`: the non-zero elements of a large tensor and where they are."""

import collections
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, errors, types
from headrace._src.core.accounts import brief
from headrace._src.core.batchable_specs import BatchableTypeSpec
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.attached import open_class
from headrace._src.op.convert import to_tensor
from headrace._src.op.registry import lookup
from headrace._src.ops.arrays.measuring import known_value

if TYPE_CHECKING:
    from headrace._src.attached import SparseTensorMethods
    from headrace._src.core.dtypes import DType
else:
    SparseTensorMethods = types.FOR_CHECKERS

# TF: what sessions returned for sparse tensors in 1.x, still accepted as input.
SparseTensorValue = api("compat.v1.SparseTensorValue")(
    collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
)


@api("SparseTensor", "sparse.SparseTensor")
@open_class
class SparseTensor(SparseTensorMethods, CompositeTensor):
    """Elements `values[i]` at positions `indices[i]` of a tensor of shape `dense_shape`; zeros elsewhere.

    Args:
        indices: int64 of shape `[n, rank]`, usually in row-major order (see `tf.sparse.reorder`).
        values: `[n]`.
        dense_shape: int64 of shape `[rank]`.

    >>> s = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[5, 6], dense_shape=[2, 2])
    >>> tf.sparse.to_dense(s).numpy().tolist()
    [[0, 5], [6, 0]]

    Raises:
        ValueError: when the shapes do not fit together.
    """

    is_tensor_like = True

    def __init__(self, indices, values, dense_shape) -> None:
        self._indices = to_tensor(indices, dtypes.int64)
        self._values = to_tensor(values)
        self._dense_shape = to_tensor(dense_shape, dtypes.int64)
        self._static_shape = None
        _check(self._indices.shape, self._values.shape, self._dense_shape.shape)
        if type(self._dense_shape) is EagerTensor and (self._dense_shape._a < 0).any():
            raise ValueError(f"SparseTensor: dense_shape must not be negative, got {self._dense_shape._a.tolist()}.")

    @classmethod
    def from_value(cls, sparse_tensor_value) -> "SparseTensor":
        """From a `SparseTensor` or a 1.x `SparseTensorValue`."""
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {brief(sparse_tensor_value)}.")
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        return self._dense_shape

    @property
    def dtype(self) -> "DType":
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The dense shape as far as it is known."""
        if self._static_shape is None:
            known = known_value(self._dense_shape)
            if known is not None:
                self._static_shape = TensorShape(known.tolist())
            else:
                rank = self._dense_shape.shape[0] if self._dense_shape.shape.rank else None
                parts = getattr(self._dense_shape, "_partial", None)  # what a graph knows of single elements
                if rank is not None and isinstance(parts, list):
                    self._static_shape = TensorShape([None if n is None or n < 0 else n for n in parts])
                else:
                    self._static_shape = TensorShape(None if rank is None else [None] * rank)
        return self._static_shape

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape) -> None:
        """Narrow the static shape."""
        self._static_shape = self.shape.merge_with(shape)

    @property
    def op(self) -> Any:
        return self._values.op

    @property
    def graph(self) -> Any:
        return self._values.graph

    def with_values(self, new_values) -> "SparseTensor":
        """The same positions with other values."""
        new = SparseTensor(self._indices, new_values, self._dense_shape)
        new._static_shape = self._static_shape
        return new

    def eval(self, feed_dict=None, session=None) -> Any:
        raise NotImplementedError("eval belongs to sessions; use the components' numpy().")

    def numpy(self) -> Any:
        """The components as a `SparseTensorValue` of NumPy arrays."""
        return SparseTensorValue(self._indices.numpy(), self._values.numpy(), self._dense_shape.numpy())

    def __repr__(self):
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    __str__ = __repr__

    @property
    def _type_spec(self):
        return SparseTensorSpec(self.shape, self.dtype)

    def _shape_invariant_to_type_spec(self, shape):
        return SparseTensorSpec(TensorShape(shape), self.dtype)

    def _gradient_components(self):
        return [self._values]

    def _with_gradient_components(self, grads):
        return self.with_values(grads[0])


def _check(indices, values, dense_shape):
    try:
        indices = indices.with_rank(2)
        values = values.with_rank(1)
        dense_shape = dense_shape.with_rank(1)
        indices.merge_with(TensorShape([values[0], dense_shape[0]]))
    except ValueError as error:
        raise ValueError(
            f"SparseTensor: indices must be [n, rank], values [n], dense_shape [rank]; got {indices}, {values} and "
            f"{dense_shape}: {error}"
        ) from None


@api("SparseTensorSpec")
class SparseTensorSpec(BatchableTypeSpec):
    """The type of a `SparseTensor`: its dense shape and dtype."""

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape=None, dtype=dtypes.float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def value_type(self) -> type:
        return SparseTensor

    @property
    def dtype(self) -> "DType":
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def rank(self) -> int | None:
        return self._shape.rank

    def _serialize(self):
        return (self._shape, self._dtype)

    @property
    def _component_specs(self):
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value):
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components):
        if all(isinstance(part, np.ndarray) for part in components):
            return SparseTensorValue(*components)
        result = SparseTensor(*components)
        result._static_shape = None if type(result._dense_shape) is EagerTensor else self._shape
        return result

    # Batches go through variant tensors, three for each sparse tensor.

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        parts = self._to_components(value)
        return [lookup("SerializeSparse")(*parts, out_type=dtypes.variant)]

    def _to_batched_tensor_list(self, value):
        if value.shape.rank == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        parts = self._to_components(value)
        return [lookup("SerializeManySparse")(*parts, out_type=dtypes.variant)]

    def _from_compatible_tensor_list(self, tensor_list):
        serialized, mode = tensor_list[0], context.mode
        if type(serialized) is EagerTensor and (mode is None or mode.graph is None):
            found = self._from_variants(serialized._a)
            if found is not None:
                return found
        parts = list(lookup("DeserializeSparse")(serialized, dtype=self._dtype))
        if type(parts[0]) is not EagerTensor:
            for part, spec in zip(parts, self._component_specs):
                part.set_shape(spec.shape)
            if self._shape.is_fully_defined():  # then it is known while tracing
                parts[2] = to_tensor(np.array(self._shape.as_list(), np.int64))
            elif self._shape.rank is not None:
                parts[2]._partial = self._shape.as_list()
        return self._from_components(parts)

    def _from_variants(self, serialized):
        """What the op gives, without the way there: datasets do this for each element. None where something is odd."""
        try:
            indices, values, shape = lookup("DeserializeSparse").eager_kernel(serialized, dtype=self._dtype)
        except errors.OpError:
            return None  # the op says what is wrong
        if min(shape.tolist(), default=0) < 0:
            return None
        result = SparseTensor.__new__(SparseTensor)
        result._indices = EagerTensor(indices, dtypes.int64)
        result._values = EagerTensor(values, self._dtype)
        result._dense_shape = EagerTensor(shape, dtypes.int64)
        result._static_shape = None
        return result

    @classmethod
    def from_value(cls, value) -> "SparseTensorSpec":
        """The spec of a sparse tensor, or of the `SparseTensorValue` that a session gives.

        Raises:
            TypeError: for anything else.
        """
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            return cls(TensorShape(value.dense_shape), to_tensor(value.values).dtype)
        raise TypeError(f"SparseTensorSpec.from_value: value must be a SparseTensor, got {type(value).__name__}.")

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def _batch(self, batch_size):
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(None if self._shape.rank is None else self._shape[1:], self._dtype)
