"""What is known of a `DynamicRaggedShape` beforehand: the body of its `Spec`."""

import math

from headrace._src.core import dtypes
from headrace._src.core.batchable_specs import TypeSpecBatchEncoder
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.ops.ragged.row_arithmetic import dimensions
from headrace._src.ops.ragged.row_partition import RowPartition, RowPartitionSpec
from headrace._src.ops.ragged.variant import ragged_from_variant, ragged_to_variant


class ShapeBatchEncoder(TypeSpecBatchEncoder):
    """Encodes a shape as a variant: that of a tensor or ragged tensor of booleans that has the shape."""

    def batch(self, spec, batch_size):
        return spec._batch(batch_size)

    def unbatch(self, spec):
        return spec._unbatch()

    def encode(self, spec, value, minimum_rank=0):
        (encoded,) = spec._to_batched_tensor_list(value) if minimum_rank else spec._to_tensor_list(value)
        return encoded

    def decode(self, spec, encoded_value):
        return spec._from_compatible_tensor_list([encoded_value])

    def encoding_specs(self, spec):
        return TensorSpec(None, dtypes.variant)


class DynamicRaggedShapeSpec:
    """The type of a `DynamicRaggedShape`.

    Args:
        row_partitions: a tuple of `RowPartitionSpec`s.
        static_inner_shape: what is known of the inner shape.
        dtype: int32 or int64.

    Raises:
        ValueError: when the parts contradict each other.
    """

    __batch_encoder__ = ShapeBatchEncoder()

    def __init__(self, row_partitions, static_inner_shape, dtype):
        if not isinstance(row_partitions, (tuple, list)):
            raise TypeError("row_partitions should be a tuple of RowPartitionSpec")
        inner = TensorShape(static_inner_shape)
        dtype = dtypes.as_dtype(dtype)
        partitions = list(row_partitions)
        for partition in partitions:
            if not isinstance(partition, RowPartitionSpec):
                raise TypeError(f"row_partitions should be RowPartitionSpecs, got {partition!r}")
            if partition.dtype is not dtype:
                raise ValueError(f"dtype of {partition!r} is not {dtype!r}")
        if partitions:
            if inner.rank == 0:
                raise ValueError("If row_partitions are provided, must have inner_rank > 0")
            partitions, inner = _consistent(partitions, inner)
        self._inner_shape = TensorSpec([inner.rank], dtype)
        self._row_partitions = tuple(partitions)
        self._static_inner_shape = inner

    @property
    def dtype(self):
        """int32 or int64."""
        return self._inner_shape.dtype

    @property
    def inner_rank(self):
        """The rank of the flat values, or None."""
        return self._static_inner_shape.rank

    @property
    def num_row_partitions(self):
        """The number of partitions."""
        return len(self._row_partitions)

    @property
    def rank(self):
        """The number of dimensions, or None."""
        return None if self.inner_rank is None else self.inner_rank + self.num_row_partitions

    def __repr__(self):
        return (
            f"DynamicRaggedShape.Spec(row_partitions={self._row_partitions!r}, "
            f"static_inner_shape={self._static_inner_shape!r}, dtype={self.dtype!r})"
        )

    @classmethod
    def _from_tensor_shape(cls, shape, num_row_partitions, dtype):
        """The spec of tensors with that static shape, so many of whose dimensions are partitions."""
        shape = TensorShape(shape)
        if shape.rank is None:
            if num_row_partitions:
                raise ValueError("num_row_partitions must be zero if shape is unknown")
            return cls((), shape, dtype)
        if num_row_partitions and num_row_partitions >= shape.rank:
            raise ValueError("num_row_partitions must be less than rank")
        partitions, count = [], shape[0] if shape.rank else None
        for axis in range(1, num_row_partitions + 1):
            partitions.append(RowPartitionSpec(count, None, shape[axis], dtype))
            count = partitions[-1].nvals
        inner = [count, *shape[num_row_partitions + 1 :]] if num_row_partitions else shape
        return cls(tuple(partitions), inner, dtype)

    def _to_tensor_shape(self):
        """The static shape, None in ragged dimensions."""
        if self.rank is None:
            return TensorShape(None)
        return TensorShape([self._dimension(axis) for axis in range(self.rank)])

    def _dimension(self, index):
        """The size of a dimension, or None."""
        if index == 0:
            return self._row_partitions[0].nrows if self._row_partitions else self._inner_at(0)
        if index <= self.num_row_partitions:
            return self._row_partitions[index - 1].uniform_row_length
        return self._inner_at(index - self.num_row_partitions)

    def _inner_at(self, index):
        return None if self.inner_rank is None else self._static_inner_shape[index]

    def _num_slices_in_dimension(self, axis):
        """How many rows or elements there are altogether in a dimension, or None."""
        if axis < 0:
            raise ValueError("Negative axis not supported")
        if axis == 0:
            return self._dimension(0)
        if axis <= self.num_row_partitions:
            return self._row_partitions[axis - 1].nvals
        if self.inner_rank is None:
            return None
        kept = self._static_inner_shape[: axis - self.num_row_partitions + 1]
        return math.prod(kept) if kept.is_fully_defined() else None

    def with_dtype(self, dtype):
        """This spec with another dtype."""
        partitions = tuple(partition.with_dtype(dtype) for partition in self._row_partitions)
        return type(self)(partitions, self._static_inner_shape, dtype)

    def _truncate(self, new_rank):
        """The spec of the first dimensions."""
        if self.rank is None:
            return self._set_rank_if_unknown(new_rank)._truncate(new_rank)
        if new_rank == 0:
            return type(self)((), [], self.dtype)
        if new_rank == 1:
            return type(self)((), [self._dimension(0)], self.dtype)
        kept = min(new_rank - 1, self.num_row_partitions)
        partitions = self._row_partitions[:kept]
        if new_rank <= self.num_row_partitions:
            inner = TensorShape([partitions[-1].nvals])
        else:
            inner = self._static_inner_shape[: new_rank - self.num_row_partitions]
        return type(self)(partitions, inner, self.dtype)

    def _set_rank_if_unknown(self, new_rank):
        """This spec, with so many dimensions if the rank was not known."""
        if self.rank is not None:
            return self
        inner = [None] * (new_rank - self.num_row_partitions)
        return type(self)(self._row_partitions, inner, self.dtype)

    def _with_num_row_partitions(self, num_row_partitions):
        """This spec with another number of partitions."""
        shape, have = self._to_tensor_shape(), self.num_row_partitions
        if num_row_partitions == have:
            return self
        if num_row_partitions < have and any(
            partition.uniform_row_length is None for partition in self._row_partitions[num_row_partitions:]
        ):
            raise ValueError("Cannot get an inner shape over a ragged dimension")
        return type(self)._from_tensor_shape(shape, num_row_partitions, self.dtype)

    def _batch(self, batch_size):
        """The spec of a batch of such shapes, as the shape of a batch of tensors."""
        if self.rank is None:
            return type(self)((), None, self.dtype)
        dims = TensorShape([batch_size]).concatenate(self._to_tensor_shape())
        # Sizes that are not known may differ from shape to shape.
        open_dims = [axis for axis in range(1, dims.rank) if dims[axis] is None]
        count = max([self.num_row_partitions + 1 if self.num_row_partitions else 0, *open_dims])
        return type(self)._from_tensor_shape(dims, count, self.dtype)

    def _unbatch(self):
        """The spec of one of a batch of such shapes."""
        if self.rank is None:
            return self
        count = self.num_row_partitions
        return type(self)._from_tensor_shape(self._to_tensor_shape()[1:], max(count - 1, 0), self.dtype)

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        splits = [partition.row_splits() for partition in value.row_partitions]
        return [ragged_to_variant(splits, value._filled_values(), batched_input=False)]

    def _to_batched_tensor_list(self, value):
        splits = [partition.row_splits() for partition in value.row_partitions]
        return [ragged_to_variant(splits, value._filled_values(), batched_input=True)]

    def _from_compatible_tensor_list(self, tensor_list):
        if self.rank == 0:
            return self.value_type.from_lengths([], dtype=self.dtype)
        flat, splits = ragged_from_variant(tensor_list[0], dtypes.bool, self.num_row_partitions, self.dtype)
        partitions = [RowPartition.from_row_splits(one, validate=False) for one in splits]
        return self.value_type(partitions, dimensions(flat, self.dtype), self.dtype)

    def _merge_with(self, other):
        """What both specs know.

        Raises:
            ValueError: when they contradict each other.
        """
        count = max(self.num_row_partitions, other.num_row_partitions)
        a, b = self._with_num_row_partitions(count), other._with_num_row_partitions(count)
        partitions = tuple(x._merge_with(y) for x, y in zip(a._row_partitions, b._row_partitions))
        return type(self)(partitions, a._static_inner_shape.merge_with(b._static_inner_shape), self.dtype)


def _consistent(partitions, inner):
    """Partitions and inner shape, each told what the others know of the numbers of rows and values."""
    for i in range(len(partitions) - 1):
        count = partitions[i].nvals if partitions[i].nvals is not None else partitions[i + 1].nrows
        partitions[i] = partitions[i]._merge_with(RowPartitionSpec(nvals=count, dtype=partitions[i].dtype))
        partitions[i + 1] = partitions[i + 1]._merge_with(RowPartitionSpec(nrows=count, dtype=partitions[i].dtype))
    last = partitions[-1]
    if inner.rank is not None:
        inner = inner.merge_with(TensorShape([last.nvals]).concatenate([None] * (inner.rank - 1)))
        if inner[0] is not None and last.nvals is None:
            partitions[-1] = last._merge_with(RowPartitionSpec(nvals=inner[0], dtype=last.dtype))
    return partitions, inner
