"""Columns of sequences: features of which an example has many, one after another."""

import collections
import math
from typing import Any

from headrace._src.compat.features import making
from headrace._src.compat.features.columns import (
    CategoricalColumn,
    DenseColumn,
    Features,
    Sequence,
)
from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import joining, measuring, shaping
from headrace._src.ops.arrays.padding import pad
from headrace._src.ops.math.segments import SEGMENT_MAX
from headrace._src.ops.parsing.features import VarLenFeature
from headrace._src.ops.sparse import arranging
from headrace._src.ops.sparse import dense as sparse_dense
from headrace._src.ops.sparse.tensor import SparseTensor


class SequenceCategoricalColumn(
    CategoricalColumn, collections.namedtuple("SequenceCategoricalColumn", "categorical_column")
):
    """Categories of the steps of a sequence."""

    name = property(lambda self: self.categorical_column.name)

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        return self.categorical_column.num_buckets

    @property
    def parents(self) -> tuple:
        """The column of single values."""
        return (self.categorical_column,)

    def transformed(self, features: Features) -> Any:
        """The numbers of the categories."""
        return self.categorical_column.transformed(features)

    def ids(self, features: Features) -> tuple:
        """The categories and weights with a dimension for those of one step."""
        ids, weights = self.categorical_column.ids(features)
        return _in_steps(ids), None if weights is None else _in_steps(weights)

    def lengths(self, features: Features) -> Tensor:
        """How many steps each example has."""
        return lengths_of(self.ids(features)[0])


def _in_steps(values):
    """A sparse tensor with three dimensions: batch, steps, and what belongs to a step."""
    if values.dense_shape.shape.num_elements() == 3:
        return values
    shape = joining.concat([values.dense_shape, to_tensor([1], dtypes.int64)], axis=0)
    return arranging.reshape(values, shape)


def lengths_of(values: SparseTensor, numbers: int = 1) -> Tensor:
    """How many steps each example of a sparse tensor has: as many as its last value needs.

    Args:
        values: a sparse tensor whose first dimension is the batch.
        numbers: how many values belong to a step.
    """
    rows, places = values.indices[:, 0], values.indices[:, 1]
    found = SEGMENT_MAX(places // numbers + 1, rows)
    missing = values.dense_shape[:1] - measuring.shape(found, out_type=dtypes.int64)
    zero = to_tensor([0], dtypes.int64)
    return pad(found, joining.stack([joining.concat([zero, missing], axis=0)]))


class SequenceNumericColumn(
    DenseColumn,
    collections.namedtuple("SequenceNumericColumn", "key shape default_value dtype normalizer_fn"),
):
    """Numbers of the steps of a sequence."""

    @property
    def parents(self) -> tuple:
        """The name of its feature."""
        return (self.key,)

    @property
    def parse_example_spec(self) -> dict:
        """Any number of values."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one step."""
        return TensorShape(self.shape)

    def transformed(self, features: Features) -> SparseTensor:
        """The numbers, normalized."""
        value = features.get(self.key)
        if not isinstance(value, SparseTensor):
            raise ValueError(f"Column {self.key}: numbers of a sequence are a sparse tensor, got a dense one. "
                             "tf.sparse.from_dense makes one.")
        if self.normalizer_fn is not None:
            value = self.normalizer_fn(value)
        return value

    def sequence(self, features: Features, table=None) -> Sequence:
        """The numbers, with the default value where there are none, and the lengths."""
        value = features.get(self)
        dense = sparse_dense.to_dense(value, default_value=self.default_value)
        shape = joining.concat([measuring.shape(dense)[:1], [-1], list(self.shape)], axis=0)
        rank = value.dense_shape.shape.num_elements()
        numbers = math.prod(self.shape) if rank == 2 else 1
        return Sequence(shaping.reshape(dense, shape), lengths_of(value, numbers))


def _made(name):
    return (f"feature_column.{name}", f"compat.v1.feature_column.{name}")


@api(*_made("sequence_categorical_column_with_identity"), dispatch=False)
def sequence_categorical_column_with_identity(key, num_buckets, default_value=None) -> Any:
    """Categories of the steps of a sequence that are numbers already.

    Args:
        key, num_buckets, default_value: as of `tf.feature_column.categorical_column_with_identity`.

    >>> tf.feature_column.sequence_categorical_column_with_identity("watched", 100).num_buckets
    100
    """
    return SequenceCategoricalColumn(making.categorical_column_with_identity(key, num_buckets, default_value))


@api(*_made("sequence_categorical_column_with_hash_bucket"), dispatch=False)
def sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string) -> Any:
    """Categories of the steps of a sequence by a hash of the value.

    Args:
        key, hash_bucket_size, dtype: as of `tf.feature_column.categorical_column_with_hash_bucket`.
    """
    return SequenceCategoricalColumn(making.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


@api(*_made("sequence_categorical_column_with_vocabulary_file"), dispatch=False)
def sequence_categorical_column_with_vocabulary_file(
    key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None, dtype=dtypes.string
) -> Any:
    """Categories of the steps of a sequence by the number of a line in a file of words.

    Args:
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype: as of
            `tf.feature_column.categorical_column_with_vocabulary_file`.
    """
    return SequenceCategoricalColumn(making.categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
    ))  # fmt: skip


@api(*_made("sequence_categorical_column_with_vocabulary_list"), dispatch=False)
def sequence_categorical_column_with_vocabulary_list(
    key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0
) -> Any:
    """Categories of the steps of a sequence by a place in a list of words.

    Args:
        key, vocabulary_list, dtype, default_value, num_oov_buckets: as of
            `tf.feature_column.categorical_column_with_vocabulary_list`.
    """
    return SequenceCategoricalColumn(making.categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype, default_value, num_oov_buckets
    ))  # fmt: skip


@api(*_made("sequence_numeric_column"), dispatch=False)
def sequence_numeric_column(key, shape=(1,), default_value=0.0, dtype=dtypes.float32, normalizer_fn=None) -> Any:
    """Numbers of the steps of a sequence.

    Args:
        key: the name of the feature, a sparse tensor.
        shape: the shape of one step's numbers.
        default_value: the value where an example has no step.
        dtype: the dtype in examples.
        normalizer_fn: a function of the sparse tensor.

    Raises:
        TypeError, ValueError: an argument is wrong.

    >>> tf.feature_column.sequence_numeric_column("speed", shape=2).shape
    (2,)
    """
    column = making.numeric_column(key, shape, None, dtype, normalizer_fn)
    return SequenceNumericColumn(column.key, column.shape, default_value, column.dtype, normalizer_fn)
