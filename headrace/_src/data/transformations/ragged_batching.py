"""`Dataset.ragged_batch`: consecutive elements of different shapes as ragged tensors."""

from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes, nest
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import DatasetV2, dataset_of, method
from headrace._src.op.api import api
from headrace._src.ops.ragged.spec import RaggedTensorSpec
from headrace._src.ops.ragged.tensor import RaggedTensor


def _ragged_rank(shape):
    """The last axis whose size may differ; None when there is none, or nobody knows."""
    if shape.rank is None or shape.is_fully_defined():
        return None
    return max(axis for axis, size in enumerate(shape.as_list()) if size is None)


def _ragged_spec(spec, row_splits_dtype):
    rank = _ragged_rank(spec.shape) if isinstance(spec, TensorSpec) else None
    return spec if rank is None else RaggedTensorSpec(spec.shape, spec.dtype, rank, row_splits_dtype)


@method
def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64, name=None) -> DatasetV2:
    """Consecutive elements stacked; where their shapes may differ, as ragged tensors.

    Args:
        batch_size: how many elements make a batch.
        drop_remainder: whether the last batch is left out when it has fewer.
        row_splits_dtype: the dtype of the row splits.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.range(4).map(tf.range).ragged_batch(2)
    >>> for batch in dataset:
    ...     print(batch.to_list())
    [[], [0]]
    [[0, 1], [0, 1, 2]]
    """
    splits = dtypes.as_dtype(row_splits_dtype)
    spec = nest.map_structure(lambda leaf: _ragged_spec(leaf, splits), self.element_spec)

    def encode(value):
        rank = _ragged_rank(value.shape) if isinstance(value, Tensor) else None
        if rank is None:
            return value
        ragged = value if rank == 0 else RaggedTensor.from_tensor(value, ragged_rank=rank, row_splits_dtype=splits)
        return RaggedTensorSpec(value.shape, value.dtype, rank, splits)._to_tensor_list(ragged)[0]

    def of_element(*parts):
        value = parts if type(self.element_spec) is tuple else parts[0]
        return nest.map_structure(encode, value)

    encoded = self.map(of_element)
    return dataset_of(encoded._variant_tensor, spec, inputs=[encoded]).batch(
        batch_size, drop_remainder=drop_remainder, name=name
    )


@api("data.experimental.dense_to_ragged_batch", dispatch=False)
def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.ragged_batch`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)
