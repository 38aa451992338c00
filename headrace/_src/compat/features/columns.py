"""Columns: what a feature is and how it becomes a tensor. Each is a named tuple, as in TensorFlow."""

import collections
import contextlib
from typing import Any, NamedTuple

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.graph.building.variable_creation import init_scope
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, filling, gathering, joining, measuring, passing, shaping
from headrace._src.ops.arrays.searching import BUCKETIZE
from headrace._src.ops.arrays.selecting import where
from headrace._src.ops.debugging import assertions
from headrace._src.ops.math import reductions
from headrace._src.ops.math.comparison import NOT_EQUAL
from headrace._src.ops.nn.embedding import safe_embedding_lookup_sparse
from headrace._src.ops.parsing.features import FixedLenFeature, VarLenFeature
from headrace._src.ops.sparse import crossing
from headrace._src.ops.sparse import dense as sparse_dense
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.ops.strings import hash_buckets
from headrace._src.ops.strings.numbers import as_string
from headrace._src.state.lookup import StaticHashTable, StaticVocabularyTable
from headrace._src.state.table_initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer


class Sequence(NamedTuple):
    """What a column of sequences gives: numbers of shape (batch, steps, ...), and how many steps each example has."""

    dense_tensor: Tensor
    sequence_length: Tensor


class Features:
    """The tensors of a batch, and what columns have made of them so far.

    Args:
        tensors: tensors by the names of features.
    """

    def __init__(self, tensors: dict) -> None:
        self._tensors = dict(tensors)
        self._made: dict[Any, Any] = {}

    def get(self, key, state_manager=None, training=None) -> Any:
        """A feature with at least two dimensions, or what a column makes of its features.

        Args:
            key: the name of a feature, or a column.
            state_manager, training: accepted, from layers of Keras 2.

        Raises:
            ValueError: there is no such feature, or it has no batch.
        """
        if key not in self._made:
            self._made[key] = self._raw(key) if isinstance(key, str) else key.transformed(self)
        return self._made[key]

    def _raw(self, key):
        if key not in self._tensors:
            raise ValueError(f"There is no feature {key!r} in features: there are {sorted(self._tensors)}.")
        tensor = self._tensors[key]
        if isinstance(tensor, SparseTensor):
            return tensor
        tensor = to_tensor(tensor)
        if tensor.shape.rank == 0:
            raise ValueError(f"Feature {key!r} is a scalar, but its first dimension must be the batch.")
        return shaping.expand_dims(tensor, -1) if tensor.shape.rank == 1 else tensor


def as_sparse(value, ignored=None) -> SparseTensor:
    """A sparse tensor of the elements that are not empty (strings) or -1 (numbers).

    Args:
        value: a tensor, sparse or not.
        ignored: another value that means nothing.
    """
    if isinstance(value, SparseTensor):
        return value
    value = to_tensor(value)
    if ignored is None:
        ignored = "" if value.dtype == dtypes.string else -1
    places = casting.cast(where(NOT_EQUAL(value, to_tensor(ignored, value.dtype))), dtypes.int64)
    return SparseTensor(places, gathering.gather_nd(value, places), measuring.shape(value, out_type=dtypes.int64))


class Column:
    """What columns share: a name, the columns and features that they stand on, and a spec for parsing."""

    key: str

    @property
    def parents(self) -> tuple:
        """The columns and names of features that it stands on."""
        return ()

    @property
    def name(self) -> str:
        """Its name, by which columns are put in order."""
        return self.key

    @property
    def parse_example_spec(self) -> dict:
        """What `tf.io.parse_example` must be told."""
        found: dict = {}
        for parent in self.parents:
            found.update(parent.parse_example_spec)
        return found

    def transformed(self, features: Features) -> Any:
        """What is made of its features."""
        raise NotImplementedError(f"{type(self).__name__} must define transformed.")


class DenseColumn(Column):
    """A column that gives numbers: `dense` of shape (batch, ..., numbers)."""

    def create_state(self, state_manager) -> None:
        """Make the variables that it needs: none."""

    def dense(self, features: Features) -> Tensor:
        """The numbers."""
        raise NotImplementedError(f"{type(self).__name__} must define dense.")

    def get_dense_tensor(self, transformation_cache: Features, state_manager) -> Tensor:
        """The numbers, with the variables that `create_state` has made."""
        return self.dense(transformation_cache)

    def sequence(self, features: Features, table=None) -> Sequence:
        """The numbers of shape (batch, steps, ...), and how many steps each example has.

        Args:
            features: the features of the batch.
            table: for an embedding the variable with its vectors.

        Raises:
            ValueError: the column is not of sequences.
        """
        raise _no_sequence(self)

    def get_sequence_dense_tensor(self, transformation_cache: Features, state_manager) -> Sequence:
        """As `sequence`, with the variables that `create_state` has made."""
        return self.sequence(transformation_cache)

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example."""
        raise NotImplementedError(f"{type(self).__name__} must define variable_shape.")


def _no_sequence(column):
    return ValueError(f"Column {column.name} is not of sequences. Make it with one of the functions "
                      "tf.feature_column.sequence_categorical_column_with_... or sequence_numeric_column.")


class CategoricalColumn(Column):
    """A column that gives categories: `ids` is a sparse tensor of numbers below `num_buckets`, and perhaps weights."""

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        raise NotImplementedError(f"{type(self).__name__} must define num_buckets.")

    def ids(self, features: Features) -> tuple[SparseTensor, SparseTensor | None]:
        """The categories of each example, and their weights."""
        return features.get(self), None

    def lengths(self, features: Features) -> Tensor | None:
        """How many steps each example has; None: the column is not of sequences."""
        return None


class _OfKey(CategoricalColumn):
    """A categorical column of one feature."""

    key: str
    dtype: dtypes.DType

    @property
    def parents(self) -> tuple:
        """The name of its feature."""
        return (self.key,)

    @property
    def parse_example_spec(self) -> dict:
        """Any number of values."""
        return {self.key: VarLenFeature(self.dtype)}

    def _input(self, features):
        value = as_sparse(features.get(self.key))
        if (value.dtype == dtypes.string) != (self.dtype == dtypes.string) or not (
            value.dtype == dtypes.string or value.dtype.is_integer
        ):
            raise ValueError(f"Column {self.name}: its dtype is {self.dtype.name}, but the feature is "
                             f"{value.dtype.name}; both must be strings or both integers.")
        return value


class NumericColumn(
    DenseColumn, collections.namedtuple("NumericColumn", "key shape default_value dtype normalizer_fn")
):
    """Numbers as they are."""

    @property
    def parents(self) -> tuple:
        """The name of its feature."""
        return (self.key,)

    @property
    def parse_example_spec(self) -> dict:
        """A fixed number of values."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example."""
        return TensorShape(self.shape)

    def transformed(self, features: Features) -> Tensor:
        """The numbers, normalized, as float32."""
        value = features.get(self.key)
        if isinstance(value, SparseTensor):
            raise ValueError(f"Column {self.key}: a numeric column takes a dense tensor, not a sparse one. Convert the "
                             "feature with tf.sparse.to_dense.")
        if self.normalizer_fn is not None:
            value = self.normalizer_fn(value)
        return casting.cast(value, dtypes.float32)

    def dense(self, features: Features) -> Tensor:
        """The numbers."""
        return features.get(self)


class BucketizedColumn(
    DenseColumn, CategoricalColumn, collections.namedtuple("BucketizedColumn", "source_column boundaries")
):
    """In which range a number is."""

    name = property(lambda self: f"{self.source_column.name}_bucketized")

    @property
    def parents(self) -> tuple:
        """The column that it stands on."""
        return (self.source_column,)

    @property
    def _ranges(self):
        return len(self.boundaries) + 1

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example."""
        return TensorShape([*self.source_column.shape, self._ranges])

    @property
    def num_buckets(self) -> int:
        """How many ranges there are, for all numbers of an example."""
        return self._ranges * self.source_column.shape[0]

    def transformed(self, features: Features) -> Tensor:
        """The numbers of the ranges."""
        return BUCKETIZE(features.get(self.source_column), boundaries=[float(b) for b in self.boundaries])

    def dense(self, features: Features) -> Tensor:
        """A one for the range, zeros for the others."""
        return filling.one_hot(features.get(self), self._ranges, dtype=dtypes.float32)

    def ids(self, features: Features) -> tuple[SparseTensor, None]:
        """The ranges; those of another number of the example are other categories."""
        buckets = features.get(self)
        batch, width = measuring.shape(buckets)[0], self.source_column.shape[0]
        elements = filling.range_(batch * width)
        rows, columns = elements // width, elements % width
        values = shaping.reshape(buckets, [-1]) + self._ranges * columns
        places = casting.cast(joining.stack([rows, columns], axis=1), dtypes.int64)
        shape = casting.cast(joining.stack([batch, width]), dtypes.int64)
        return SparseTensor(places, casting.cast(values, dtypes.int64), shape), None


class HashedCategoricalColumn(
    _OfKey, collections.namedtuple("HashedCategoricalColumn", "key hash_bucket_size dtype")
):
    """Categories by a hash of the value."""

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        return self.hash_bucket_size

    def transformed(self, features: Features) -> SparseTensor:
        """The numbers of the categories."""
        value = self._input(features)
        text = value.values if self.dtype == dtypes.string else as_string(value.values)
        return SparseTensor(value.indices, hash_buckets.to_hash_bucket_fast(text, self.hash_bucket_size),
                            value.dense_shape)


class IdentityCategoricalColumn(
    _OfKey, collections.namedtuple("IdentityCategoricalColumn", "key number_buckets default_value")
):
    """Categories that are numbers already."""

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        return self.number_buckets
    dtype = dtypes.int64

    def transformed(self, features: Features) -> SparseTensor:
        """The numbers, or the default value for those out of range."""
        value = self._input(features)
        ids = casting.cast(value.values, dtypes.int64)
        if self.default_value is None:
            inside = assertions.Assert(
                reductions.reduce_all((ids >= 0) & (ids < self.num_buckets)),
                [f"Column {self.key}: a category is out of range; they are 0 to {self.num_buckets - 1}:", ids],
            )
            with control_dependencies([] if inside is None else [inside]):
                ids = passing.identity(ids)
        else:
            default = filling.fill(measuring.shape(ids), to_tensor(self.default_value, dtypes.int64))
            ids = where((ids < 0) | (ids >= self.num_buckets), default, ids)
        return SparseTensor(value.indices, ids, value.dense_shape)


class _Vocabulary(_OfKey):
    """Categories by a place in a list of words."""

    def _table(self):
        raise NotImplementedError(f"{type(self).__name__} must define _table.")

    def _looked_up(self, initializer, oov, default, integers):
        if oov:
            return StaticVocabularyTable(initializer, oov, lookup_key_dtype=dtypes.int64 if integers else None)
        return StaticHashTable(initializer, default)

    def transformed(self, features: Features) -> SparseTensor:
        """The numbers of the categories."""
        value = self._input(features)
        words = value.values if self.dtype == dtypes.string else casting.cast(value.values, dtypes.int64)
        with init_scope() if _in_function() else contextlib.nullcontext():  # one table for all calls of a function
            table = self._table()
        return SparseTensor(value.indices, table.lookup(words), value.dense_shape)


def _in_function():
    return context.graph is not None and context.graph.building_function


class VocabularyListCategoricalColumn(
    _Vocabulary,
    collections.namedtuple("VocabularyListCategoricalColumn",
                           "key vocabulary_list dtype default_value num_oov_buckets"),
):
    """Categories by a place in a list of words."""

    @property
    def num_buckets(self) -> int:
        """The words, and those for words that are not in the list."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _table(self):
        integers = self.dtype != dtypes.string
        words = np.asarray(self.vocabulary_list, np.int64) if integers else list(self.vocabulary_list)
        initializer = KeyValueTensorInitializer(words, np.arange(len(self.vocabulary_list), dtype=np.int64),
                                                dtypes.int64 if integers else dtypes.string, dtypes.int64)
        return self._looked_up(initializer, self.num_oov_buckets, self.default_value, integers)


class VocabularyFileCategoricalColumn(
    _Vocabulary,
    collections.namedtuple("VocabularyFileCategoricalColumn",
                           "key vocabulary_file vocabulary_size num_oov_buckets dtype default_value"),
):
    """Categories by the number of a line in a file of words."""

    @property
    def num_buckets(self) -> int:
        """The words, and those for words that are not in the file."""
        return self.vocabulary_size + self.num_oov_buckets

    def _table(self):
        integers = self.dtype != dtypes.string
        initializer = TextFileInitializer(
            self.vocabulary_file, dtypes.int64 if integers else dtypes.string, TextFileIndex.WHOLE_LINE, dtypes.int64,
            TextFileIndex.LINE_NUMBER, vocab_size=self.vocabulary_size,
        )  # fmt: skip
        return self._looked_up(initializer, self.num_oov_buckets, self.default_value, integers)


class WeightedCategoricalColumn(
    CategoricalColumn,
    collections.namedtuple("WeightedCategoricalColumn", "categorical_column weight_feature_key dtype"),
):
    """Categories with weights from another feature."""

    name = property(lambda self: f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}")
    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        return self.categorical_column.num_buckets

    @property
    def parse_example_spec(self) -> dict:
        """Both features."""
        return {**self.categorical_column.parse_example_spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    def transformed(self, features: Features) -> tuple:
        """Categories and weights."""
        weights = features.get(self.weight_feature_key)
        if not isinstance(weights, SparseTensor):
            weights = as_sparse(weights, ignored=0)
        if not weights.dtype.is_floating:
            raise ValueError(f"Column {self.name}: weights must be floating numbers, got {weights.dtype.name}.")
        return self.categorical_column.ids(features)[0], weights

    def ids(self, features: Features) -> tuple:
        """Categories and weights."""
        return features.get(self)


class CrossedColumn(CategoricalColumn, collections.namedtuple("CrossedColumn", "keys hash_bucket_size hash_key")):
    """Categories by a hash of several features together."""

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        return self.hash_bucket_size

    @property
    def name(self) -> str:
        """The names of all features, in order."""
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self._leaves()))

    def _leaves(self):
        for key in self.keys:
            if isinstance(key, CrossedColumn):
                yield from key._leaves()
            else:
                yield key

    @property
    def parse_example_spec(self) -> dict:
        """All features."""
        found: dict = {}
        for key in self.keys:
            found.update({key: VarLenFeature(dtypes.string)} if isinstance(key, str) else key.parse_example_spec)
        return found

    def transformed(self, features: Features) -> SparseTensor:
        """The numbers of the categories."""
        parts = []
        for key in self._leaves():
            if isinstance(key, str):
                value = features.get(key)
                parts.append(value if isinstance(value, SparseTensor) or value.dtype == dtypes.string
                             else casting.cast(value, dtypes.int64))
            else:
                parts.append(key.ids(features)[0])
        return crossing.cross_hashed(parts, self.hash_bucket_size, self.hash_key)


class IndicatorColumn(DenseColumn, collections.namedtuple("IndicatorColumn", "categorical_column")):
    """For each category how often it is there, or the sum of its weights."""

    name = property(lambda self: f"{self.categorical_column.name}_indicator")

    @property
    def parents(self) -> tuple:
        """The column that it stands on."""
        return (self.categorical_column,)

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example."""
        return TensorShape([1, self.categorical_column.num_buckets])

    def transformed(self, features: Features) -> Tensor:
        """The counts."""
        ids, weights = self.categorical_column.ids(features)
        numbers = sparse_dense.to_dense(ids, default_value=-1)
        counts = filling.one_hot(numbers, self.categorical_column.num_buckets, dtype=dtypes.float32)
        if weights is not None:
            heavy = sparse_dense.to_dense(SparseTensor(ids.indices, weights.values, ids.dense_shape))
            counts = counts * shaping.expand_dims(casting.cast(heavy, dtypes.float32), -1)
        return reductions.reduce_sum(counts, axis=-2)

    def dense(self, features: Features) -> Tensor:
        """The counts."""
        return features.get(self)

    def sequence(self, features: Features, table=None) -> Sequence:
        """The counts of each step."""
        return Sequence(self.dense(features), _lengths(self, features))


def _lengths(column, features):
    lengths = column.categorical_column.lengths(features)
    if lengths is None:
        raise _no_sequence(column)
    return lengths


class _OfVectors(DenseColumn):
    """A column with a vector for each category, in a variable."""

    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Any
    max_norm: Any
    trainable: bool

    @property
    def parents(self) -> tuple:
        """The column that it stands on."""
        return (self.categorical_column,)

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example."""
        return TensorShape([self.dimension])

    def looked_up(self, features: Features, table) -> Tensor:
        """The vectors of each example's categories as one."""
        ids, weights = self.categorical_column.ids(features)
        return safe_embedding_lookup_sparse(table, ids, weights, self.combiner, max_norm=self.max_norm)

    def create_state(self, state_manager) -> None:
        """Make the variable with the vectors."""
        shape = [self.categorical_column.num_buckets, self.dimension]
        state_manager.create_variable(self, "embedding_weights", shape, dtypes.float32, trainable=self.trainable,
                                      use_resource=True, initializer=self.initializer)

    def get_dense_tensor(self, transformation_cache: Features, state_manager) -> Tensor:
        """The vectors, from the variable that `create_state` has made."""
        return self.looked_up(transformation_cache, state_manager.get_variable(self, "embedding_weights"))

    def sequence(self, features: Features, table=None) -> Sequence:
        """The vectors of each step."""
        return Sequence(self.looked_up(features, table), _lengths(self, features))

    def get_sequence_dense_tensor(self, transformation_cache: Features, state_manager) -> Sequence:
        """The vectors of each step, from the variable that `create_state` has made."""
        return self.sequence(transformation_cache, state_manager.get_variable(self, "embedding_weights"))


class EmbeddingColumn(
    _OfVectors,
    collections.namedtuple("EmbeddingColumn", "categorical_column dimension combiner initializer ckpt_to_load_from "
                           "tensor_name_in_ckpt max_norm trainable use_safe_embedding_lookup"),
):  # fmt: skip
    """A vector for each category, learnt."""

    name = property(lambda self: f"{self.categorical_column.name}_embedding")


class SharedEmbeddingColumn(
    _OfVectors,
    collections.namedtuple("SharedEmbeddingColumn", "categorical_column dimension combiner initializer collection "
                           "ckpt_to_load_from tensor_name_in_ckpt max_norm trainable use_safe_embedding_lookup"),
):  # fmt: skip
    """A vector for each category, from a table that several columns share."""

    name = property(lambda self: f"{self.categorical_column.name}_shared_embedding")
