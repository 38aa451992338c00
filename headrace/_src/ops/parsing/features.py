"""What to expect of the features of an Example: `FixedLenFeature`, `VarLenFeature`, `RaggedFeature` and others."""

import collections

from headrace._src.core import dtypes
from headrace._src.op.api import api

RowSplits = collections.namedtuple("RowSplits", ["key"])
RowLengths = collections.namedtuple("RowLengths", ["key"])
RowStarts = collections.namedtuple("RowStarts", ["key"])
RowLimits = collections.namedtuple("RowLimits", ["key"])
ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])

PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


@api("io.VarLenFeature")
class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature of any number of values, parsed into a `SparseTensor`.

    Args:
        dtype: float32, int64 or string.
    """

    __slots__ = ()


@api("io.FixedLenFeature")
class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of a known shape, parsed into a dense tensor.

    Args:
        shape: the shape of one example's values.
        dtype: float32, int64 or string.
        default_value: what stands for a missing feature; without it the feature must be there.

    >>> example = tf.train.Example()
    >>> example.features.feature["age"].int64_list.value.append(29)
    >>> tf.io.parse_single_example(example.SerializeToString(), {"age": tf.io.FixedLenFeature([], tf.int64)})
    {'age': <tf.Tensor: shape=(), dtype=int64, numpy=29>}
    """

    __slots__ = ()

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


@api("io.FixedLenSequenceFeature")
class FixedLenSequenceFeature(
    collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """A feature of any number of items of one shape, parsed into a dense tensor that is filled up.

    Args:
        shape: the shape of one item.
        dtype: float32, int64 or string.
        allow_missing: whether the feature may be missing, which counts as no items. In `parse_example` it must be True.
        default_value: what shorter ones are filled up with; zero or the empty string if None.
    """

    __slots__ = ()

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


@api("io.SparseFeature")
class SparseFeature(
    collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])
):
    """A sparse tensor that was stored as several features: its values, and the positions in each dimension.

    Args:
        index_key: the feature that holds the positions, or a list of them, one per dimension.
        value_key: the feature that holds the values.
        dtype: of the values.
        size: the size of the dimension, or a list of sizes.
        already_sorted: the positions are in order, so that nothing is sorted.
    """

    __slots__ = ()

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


@api("io.RaggedFeature")
class RaggedFeature(
    collections.namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])
):
    """A feature of any number of values, parsed into a `RaggedTensor`, cut further by partitions.

    Args:
        dtype: of the values.
        value_key: the feature that holds them; the key in the dictionary of features if None.
        partitions: how the values are cut into rows, outermost first: `RaggedFeature.RowSplits(key)`, `RowLengths`,
            `RowStarts`, `RowLimits`, `ValueRowIds`, which name a feature, or `UniformRowLength(length)`.
        row_splits_dtype: int32 or int64.
        validate: whether partitions are checked.

    Raises:
        TypeError: a partition is of no such type.
        ValueError: `row_splits_dtype` is neither int32 nor int64, or a uniform length is no positive integer.
    """

    __slots__ = ()

    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def __new__(cls, dtype, value_key=None, partitions=(), row_splits_dtype=dtypes.int32, validate=False):
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"RaggedFeature: value_key must be a string, got {value_key!r}.")
        partitions = tuple(partitions)
        for partition in partitions:
            if not isinstance(partition, PARTITIONS):
                raise TypeError(
                    "RaggedFeature: partitions must be RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds or "
                    f"UniformRowLength, got {partition!r}."
                )
            if isinstance(partition, UniformRowLength):
                if not isinstance(partition.length, int) or partition.length <= 0:
                    raise ValueError(f"RaggedFeature: a uniform row length must be positive, got {partition.length!r}.")
            elif not isinstance(partition.key, str):
                raise ValueError(f"RaggedFeature: the key of a partition must be a string, got {partition.key!r}.")
        if row_splits_dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"RaggedFeature: row_splits_dtype must be int32 or int64, got {row_splits_dtype!r}.")
        return super().__new__(cls, dtype, value_key, partitions, dtypes.as_dtype(row_splits_dtype), validate)
