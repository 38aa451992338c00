"""`RaggedTensorSpec`: the type of a ragged tensor."""

from typing import TYPE_CHECKING, Any

from headrace._src.core import dtypes
from headrace._src.core.batchable_specs import BatchableTypeSpec
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.attached import open_class
from headrace._src.ops.ragged.row_partition import INDEX_TYPES
from headrace._src.ops.ragged.variant import ragged_from_variant, ragged_to_variant

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType


@api("RaggedTensorSpec")
@open_class
class RaggedTensorSpec(BatchableTypeSpec):
    """The type of a `RaggedTensor`: shape, dtype, number of ragged dimensions and dtype of the row splits.

    Args:
        shape: None in ragged dimensions.
        dtype: the dtype of the values.
        ragged_rank: the number of partitions; one less than the rank if None. 0 describes dense tensors.
        row_splits_dtype: int32 or int64.
        flat_values_spec: the spec of the flat values when they are no plain tensor; `dtype` is then None.

    >>> tf.RaggedTensorSpec([None, None], tf.int32)
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_dtype", "_flat_values_spec", "_ragged_rank", "_row_splits_dtype", "_shape")
    _ragged_class: type  # `RaggedTensor`, attached by its file, which imports this one

    def __init__(
        self,
        shape=None,
        dtype=dtypes.float32,
        ragged_rank=None,
        row_splits_dtype=dtypes.int64,
        flat_values_spec=None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        if flat_values_spec is not None:
            if dtype is None:
                dtype = flat_values_spec.dtype
            elif dtype != flat_values_spec.dtype:
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
        elif dtype is None:
            raise ValueError("At least one of dtype or flat_values_spec must be provided")
        self._dtype = dtypes.as_dtype(dtype)
        self._flat_values_spec = flat_values_spec
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        self._ragged_rank = ragged_rank
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank!r}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        if self._row_splits_dtype not in INDEX_TYPES:
            raise ValueError(
                f"Argument `row_splits_dtype` must be int32 or int64. Received {self._row_splits_dtype!r}."
            )

    @property
    def dtype(self) -> "DType":
        """The dtype of the values."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape, None in ragged dimensions."""
        return self._shape

    @property
    def ragged_rank(self) -> int:
        """The number of partitions."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> "DType":
        """int32 or int64."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """The spec of the flat values when they are no plain tensor, else None."""
        return self._flat_values_spec

    @property
    def value_type(self) -> type:
        return self._ragged_class if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value) -> "RaggedTensorSpec":
        """The spec of a ragged tensor, or of a tensor as one with ragged rank 0."""
        if not isinstance(value, cls._ragged_class):
            return cls(value.shape, value.dtype, 0)
        flat = value.flat_values
        if isinstance(flat, Tensor):
            return cls(value.shape, value.dtype, value.ragged_rank, value._row_partition.dtype)
        return cls(
            value.shape,
            ragged_rank=value.ragged_rank,
            row_splits_dtype=value._row_partition.dtype,
            dtype=None,
            flat_values_spec=flat._type_spec,
        )

    def is_compatible_with(self, spec_or_value) -> bool:
        """Whether a value of this spec may also fit `spec_or_value`."""
        # TF: ragged rank 0 means a dense tensor.
        if self._ragged_rank == 0 and isinstance(spec_or_value, (Tensor, TensorSpec)):
            if self._flat_values_spec is not None:
                return self._flat_values_spec.is_compatible_with(spec_or_value)
            return TensorSpec(self._shape, self._dtype).is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    def _serialize(self):
        if self._flat_values_spec is None:
            return (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype, self._flat_values_spec)

    @property
    def _component_specs(self):
        if self._ragged_rank <= 0:
            if self._flat_values_spec is not None:
                return [self._flat_values_spec]
            return [TensorSpec(self._shape, self._dtype)]
        outer = self._shape[0] if self._shape.rank is not None else None
        specs = [TensorSpec([None if outer is None else outer + 1], self._row_splits_dtype)]
        # How many rows there are further inside depends on the row lengths.
        specs += [TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1)
        if self._flat_values_spec is not None:
            return [self._flat_values_spec, *specs]
        if self._shape.rank is None:
            flat = TensorShape(None)
        else:
            flat = TensorShape([None]).concatenate(self._shape[self._ragged_rank + 1 :])
        return [TensorSpec(flat, self._dtype), *specs]

    def _to_components(self, value):
        if isinstance(value, self._ragged_class):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components):
        result = components[0]
        for splits in reversed(components[1:]):
            result = self._ragged_class.from_row_splits(result, splits, validate=False)
        if self._shape.rank is not None:
            if isinstance(result, self._ragged_class):
                result._set_shape(self._shape)
            elif type(result) is not EagerTensor and hasattr(result, "set_shape"):
                result.set_shape(self._shape)
        return result

    # Batches go through variant tensors: one for the whole value, or one for each row.

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _check(self, value):
        rank = value.ragged_rank if isinstance(value, self._ragged_class) else 0
        if rank != self._ragged_rank:
            raise ValueError(f"Ragged rank of value {rank} does not match ragged rank of type {self._ragged_rank}.")

    def _to_tensor_list(self, value):
        self._check(value)
        if self._ragged_rank == 0:
            return [ragged_to_variant([], value, batched_input=False)]
        return [ragged_to_variant(list(value.nested_row_splits), value.flat_values, batched_input=False)]

    def _to_batched_tensor_list(self, value):
        self._check(value)
        if self._ragged_rank == 0:
            # TF: the rows of a dense tensor are encoded one by one.
            return [ragged_to_variant([], value, batched_input=True)]
        return [ragged_to_variant(list(value.nested_row_splits), value.flat_values, batched_input=True)]

    def _from_compatible_tensor_list(self, tensor_list):
        rank = max(0, self._ragged_rank)  # TF: below zero for a scalar, which is a slice of a vector
        flat, splits = ragged_from_variant(tensor_list[0], self._dtype, rank, self._row_splits_dtype)
        parts = [flat, *splits]
        if any(type(part) is not EagerTensor for part in parts):
            for part, spec in zip(parts, self._component_specs):
                if type(part) is not EagerTensor:
                    part.set_shape(spec.shape)
        return self._from_components(parts)

    def _batch(self, batch_size):
        if self._flat_values_spec is not None:
            raise ValueError("Customized flat_values_spec is not supported")
        return RaggedTensorSpec(
            TensorShape([batch_size]).concatenate(self._shape),
            self._dtype,
            self._ragged_rank + 1,
            self._row_splits_dtype,
        )

    def _unbatch(self):
        if self._flat_values_spec is not None:
            raise ValueError("Customized flat_values_spec is not supported")
        # The ragged rank may become negative: an element of a dense vector.
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1, self._row_splits_dtype)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape
