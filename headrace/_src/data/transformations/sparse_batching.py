"""`Dataset.sparse_batch`: consecutive elements of different shapes as one sparse tensor."""

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import DatasetV2, build, constant, dataset_op, method
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import shapes_of, stage_of
from headrace._src.data.transformations.batching import BatchStage, batch_size_of
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.ops.sparse.serialization import TensorVariant
from headrace._src.ops.sparse.tensor import SparseTensorSpec


class SparseBatchStage(BatchStage):
    """Consecutive elements of the input as one sparse tensor, which holds the entries of all of them.

    Args:
        source: the input.
        size: the number of elements in a batch.
        row_shape: the shape of each row; -1 for as large as the largest in the batch.
        shapes: of the components.
    """

    method = "Dataset.sparse_batch"
    stacks = False

    def __init__(self, source, size, row_shape, shapes):
        super().__init__(source, size, False, shapes)
        self.batch_size = None  # the rows of a sparse tensor cannot be counted by its components
        self._row_shape = row_shape

    @property
    def access(self):
        return None

    def walk(self, run):
        return _SparseBatchCursor(self, run)

    def sparse(self, rows):
        """Rows as the components of a sparse tensor."""
        wanted = self._row_shape
        for row in rows:
            if row.ndim != len(wanted):
                raise errors.invalid_argument(
                    f"Input element had shape {list(row.shape)} that is incompatible with the row shape {wanted}."
                )
        largest = [max(row.shape[axis] for row in rows) for axis in range(len(wanted))]
        for most, size in zip(largest, wanted):
            if size != -1 and most > size:
                raise errors.DataLossError(
                    None, None, f"Larger than expected: elements of shape {largest} are no rows of shape {wanted}."
                )
        shape = [most if size == -1 else size for most, size in zip(largest, wanted)]
        box = np.empty(3, object)
        box[0] = TensorVariant(np.concatenate([_indices(i, row) for i, row in enumerate(rows)]))
        box[1] = TensorVariant(np.concatenate([row.ravel() for row in rows]))
        box[2] = TensorVariant(np.array([len(rows), *shape], np.int64))
        return (box,)


def _indices(number, row):
    """Where the entries of a row are in the batch."""
    within = np.indices(row.shape).reshape(row.ndim, row.size).T
    return np.concatenate([np.full((row.size, 1), number, np.int64), within], 1)


class _SparseBatchCursor(InnerCursor):
    def next(self):
        rows = []
        while len(rows) < self._stage.size and (element := self._inner.next()) is not None:
            rows.append(element[0])
        return self._stage.sparse(rows) if rows else None

    def skip(self, count):
        return -(-self._inner.skip(count * self._stage.size) // self._stage.size)


def _make(input_dataset, batch_size, row_shape, output_types, output_shapes):
    if row_shape.ndim != 1:
        raise errors.invalid_argument("row_shape must be a vector")
    size = batch_size_of(batch_size)
    return SparseBatchStage(stage_of(input_dataset), size, row_shape.tolist(), shapes_of(output_shapes))


DENSE_TO_SPARSE_BATCH_DATASET = dataset_op(
    "DenseToSparseBatchDataset",
    "input_dataset: variant, batch_size: int64, row_shape: int64, *, output_types: list(type), "
    "output_shapes: list(shape)",
    _make,
    vectors=("row_shape",),
)


@method
def sparse_batch(self, batch_size, row_shape, name=None) -> DatasetV2:
    """Consecutive elements, perhaps of different shapes, as a sparse tensor with a new first axis.

    Args:
        batch_size: how many elements make a batch.
        row_shape: the shape of each row of the sparse tensor, no smaller than any element; None for dimensions that
            are as large as the largest in the batch.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n)).sparse_batch(2, [3])
    >>> for batch in dataset:
    ...     print(tf.sparse.to_dense(batch).numpy())
    [[1 0 0]
     [2 2 0]]
    """
    if not isinstance(self.element_spec, TensorSpec):
        raise TypeError(
            "`dense_to_sparse_batch` requires an input dataset whose elements have a single component, but the given "
            f"dataset has the element spec {self.element_spec}."
        )
    if isinstance(row_shape, Tensor):
        rows, known = to_tensor(row_shape), get_static_value(to_tensor(row_shape))
        shape = TensorShape([None] * rows.shape[0] if known is None else [None if n < 0 else int(n) for n in known])
    else:
        shape = TensorShape(row_shape)
        rows = to_tensor(np.array([-1 if size is None else size for size in shape.as_list()], np.int64))
    spec = SparseTensorSpec(TensorShape([None]).concatenate(shape), self.element_spec.dtype)
    return build(
        "_DenseToSparseBatchDataset", DENSE_TO_SPARSE_BATCH_DATASET, self, constant(batch_size, dtypes.int64), rows,
        spec=spec, of=[self], name=name,
    )  # fmt: skip


@api("data.experimental.dense_to_sparse_batch", dispatch=False)
def dense_to_sparse_batch(batch_size, row_shape) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.sparse_batch`."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)
