"""`tf.feature_column.numeric_column` and the other functions that make columns, with their checks."""

import math
from typing import Any

import numpy as np

from headrace._src.compat.features import columns
from headrace._src.compat.variables.initializers import TruncatedNormal
from headrace._src.core import dtypes, errors
from headrace._src.formats import files
from headrace._src.op.api import api


def _key(label, key):
    if not isinstance(key, str):
        raise ValueError(f"{label}: key must be a string, got {key!r} of type {type(key).__name__}.")
    return key


def _words_or_numbers(label, key, dtype):
    dtype = dtypes.as_dtype(dtype)
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{label}: dtype must be a string or an integer, got {dtype.name} for column {key}.")
    return dtype


@api("feature_column.numeric_column", "compat.v1.feature_column.numeric_column", dispatch=False)
def numeric_column(key, shape=(1,), default_value=None, dtype=dtypes.float32, normalizer_fn=None) -> Any:
    """Numbers as they are.

    Args:
        key: the name of the feature.
        shape: the shape of one example's numbers.
        default_value: the value where examples that are parsed have none.
        dtype: the dtype in examples.
        normalizer_fn: a function of the tensor.

    Raises:
        TypeError, ValueError: an argument is wrong.

    >>> tf.feature_column.numeric_column("age").name
    'age'
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(n, int) and n > 0 for n in shape):
        raise (ValueError if all(isinstance(n, int) for n in shape) else TypeError)(
            f"numeric_column: shape must be of positive integers, got {shape} for column {key}."
        )
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"numeric_column: dtype must be of numbers, got {dtype.name} for column {key}.")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"numeric_column: normalizer_fn must be a function, got {normalizer_fn!r}.")
    if default_value is not None:
        value = np.broadcast_to(np.asarray(default_value), shape)
        default_value = tuple(value.tolist()) if value.ndim else (value.item(),)
    return columns.NumericColumn(_key("numeric_column", key), shape, default_value, dtype, normalizer_fn)


@api("feature_column.bucketized_column", "compat.v1.feature_column.bucketized_column", dispatch=False)
def bucketized_column(source_column, boundaries) -> Any:
    """In which range a number is.

    Args:
        source_column: a numeric column of one dimension.
        boundaries: the sorted numbers between the ranges; a number that equals one is in the range above it.

    Raises:
        ValueError: an argument is wrong.

    >>> age = tf.feature_column.numeric_column("age")
    >>> tf.feature_column.bucketized_column(age, [18, 65]).num_buckets
    3
    """
    if not isinstance(source_column, columns.NumericColumn):
        raise ValueError(f"bucketized_column: source_column must be made by numeric_column, got {source_column!r}.")
    if len(source_column.shape) > 1:
        raise ValueError("bucketized_column: source_column must have one dimension, got shape "
                         f"{source_column.shape}.")
    boundaries = tuple(boundaries)
    if not boundaries or any(a >= b for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError(f"bucketized_column: boundaries must be a sorted list of different numbers, got {boundaries}.")
    return columns.BucketizedColumn(source_column, boundaries)


@api("feature_column.categorical_column_with_hash_bucket",
     "compat.v1.feature_column.categorical_column_with_hash_bucket", dispatch=False)
def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string) -> Any:
    """Categories by a hash of the value.

    Args:
        key: the name of the feature.
        hash_bucket_size: how many categories.
        dtype: string or an integer.

    Raises:
        ValueError: an argument is wrong.
    """
    label = "categorical_column_with_hash_bucket"
    if hash_bucket_size is None or hash_bucket_size < 1:
        raise ValueError(f"{label}: hash_bucket_size must be at least 1, got {hash_bucket_size} for column {key}.")
    return columns.HashedCategoricalColumn(_key(label, key), hash_bucket_size, _words_or_numbers(label, key, dtype))


@api("feature_column.categorical_column_with_identity", "compat.v1.feature_column.categorical_column_with_identity",
     dispatch=False)
def categorical_column_with_identity(key, num_buckets, default_value=None) -> Any:
    """Categories that are numbers already.

    Args:
        key: the name of the feature.
        num_buckets: how many categories; they are 0 to `num_buckets - 1`.
        default_value: the category of numbers out of range; None: an error.

    Raises:
        ValueError: an argument is wrong.
    """
    label = "categorical_column_with_identity"
    if num_buckets < 1:
        raise ValueError(f"{label}: num_buckets must be at least 1, got {num_buckets} for column {key}.")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"{label}: default_value must be one of the categories 0 to {num_buckets - 1}, got "
                         f"{default_value} for column {key}.")
    return columns.IdentityCategoricalColumn(_key(label, key), num_buckets, default_value)


def _oov(label, key, default_value, none, num_oov_buckets):
    if num_oov_buckets and default_value != none:
        raise ValueError(f"{label}: give default_value or num_oov_buckets, not both, for column {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"{label}: num_oov_buckets must not be negative, got {num_oov_buckets} for column {key}.")


@api("feature_column.categorical_column_with_vocabulary_list",
     "compat.v1.feature_column.categorical_column_with_vocabulary_list", dispatch=False)
def categorical_column_with_vocabulary_list(
    key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0
) -> Any:
    """Categories by a place in a list of words.

    Args:
        key: the name of the feature.
        vocabulary_list: the words, or integers.
        dtype: string or an integer; by default that of the list.
        default_value: the category of other words; -1: none.
        num_oov_buckets: how many further categories other words get, by a hash.

    Raises:
        ValueError: an argument is wrong.
    """
    label = "categorical_column_with_vocabulary_list"
    words = tuple(vocabulary_list) if vocabulary_list is not None else ()
    if not words:
        raise ValueError(f"{label}: vocabulary_list must not be empty, for column {key}.")
    if len(set(words)) != len(words):
        twice = sorted({word for word in words if words.count(word) > 1}, key=str)
        raise ValueError(f"{label}: words are twice in vocabulary_list: {twice}, for column {key}.")
    _oov(label, key, default_value, -1, num_oov_buckets)
    kind = dtypes.string if isinstance(words[0], (str, bytes)) else np.asarray(words).dtype
    found = _words_or_numbers(label, key, kind)
    dtype = found if dtype is None else _words_or_numbers(label, key, dtype)
    if (dtype == dtypes.string) != (found == dtypes.string):
        raise ValueError(f"{label}: dtype is {dtype.name}, but the list is of {found.name}, for column {key}.")
    return columns.VocabularyListCategoricalColumn(_key(label, key), words, dtype, default_value, num_oov_buckets)


@api("feature_column.categorical_column_with_vocabulary_file", dispatch=False)
def categorical_column_with_vocabulary_file(
    key, vocabulary_file, vocabulary_size=None, dtype=dtypes.string, default_value=None, num_oov_buckets=0,
    file_format=None,
) -> Any:  # fmt: skip
    """Categories by the number of a line in a file of words.

    Args:
        key: the name of the feature.
        vocabulary_file: a text file with a word on each line.
        vocabulary_size: how many lines are used; by default all.
        dtype: string or an integer.
        default_value: the category of other words; by default none.
        num_oov_buckets: how many further categories other words get, by a hash.
        file_format: None or "text".

    Raises:
        ValueError: an argument is wrong.
        NotFoundError: there is no such file.
    """
    label = "categorical_column_with_vocabulary_file"
    if not vocabulary_file:
        raise ValueError(f"{label}: vocabulary_file must be the path of a file, for column {key}.")
    if file_format not in (None, "text"):
        raise errors.UnimplementedError(None, None, f"{label}: file_format={file_format!r} is not read, only text.")
    if vocabulary_size is None:
        vocabulary_size = len(files.read(vocabulary_file).splitlines())
    elif vocabulary_size < 1:
        raise ValueError(f"{label}: vocabulary_size must be at least 1, got {vocabulary_size} for column {key}.")
    _oov(label, key, default_value, None, num_oov_buckets)
    default_value = -1 if default_value is None else default_value
    return columns.VocabularyFileCategoricalColumn(
        _key(label, key), vocabulary_file, vocabulary_size, num_oov_buckets, _words_or_numbers(label, key, dtype),
        default_value,
    )  # fmt: skip


@api("compat.v1.feature_column.categorical_column_with_vocabulary_file", dispatch=False)
def categorical_column_with_vocabulary_file_v1(
    key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None, dtype=dtypes.string
) -> Any:
    """As `tf.feature_column.categorical_column_with_vocabulary_file`, with the arguments in another order."""
    return categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size, dtype, default_value,
                                                   num_oov_buckets)


@api("feature_column.weighted_categorical_column", "compat.v1.feature_column.weighted_categorical_column",
     dispatch=False)
def weighted_categorical_column(categorical_column, weight_feature_key, dtype=dtypes.float32) -> Any:
    """Categories with weights from another feature.

    Args:
        categorical_column: a categorical column.
        weight_feature_key: the name of the feature of the weights.
        dtype: the dtype of the weights.

    Raises:
        ValueError: the dtype is not of numbers.
    """
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"weighted_categorical_column: dtype must be of numbers, got {dtype.name}.")
    return columns.WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


@api("feature_column.crossed_column", "compat.v1.feature_column.crossed_column", dispatch=False)
def crossed_column(keys, hash_bucket_size, hash_key=None) -> Any:
    """Categories by a hash of several features together.

    Args:
        keys: names of features, and categorical columns that are not hashed.
        hash_bucket_size: how many categories.
        hash_key: the key of the hash.

    Raises:
        ValueError: an argument is wrong.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"crossed_column: hash_bucket_size must be at least 1, got {hash_bucket_size}.")
    if not keys or len(keys) < 2:
        raise ValueError(f"crossed_column: give two keys at least, got {keys!r}.")
    for key in keys:
        if not isinstance(key, (str, columns.CategoricalColumn)):
            raise ValueError(f"crossed_column: keys must be names of features or categorical columns, got {key!r}.")
        if isinstance(key, columns.HashedCategoricalColumn):
            raise ValueError("crossed_column: a hashed column would be hashed twice. Give the name of its feature, "
                             f"{key.key!r}, instead.")
    return columns.CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


@api("feature_column.indicator_column", "compat.v1.feature_column.indicator_column", dispatch=False)
def indicator_column(categorical_column) -> Any:
    """For each category how often it is there.

    Args:
        categorical_column: a categorical column.

    Raises:
        ValueError: it is none.
    """
    _check_categorical("indicator_column", categorical_column)
    return columns.IndicatorColumn(categorical_column)


def _check_categorical(label, column):
    if not isinstance(column, columns.CategoricalColumn):
        raise ValueError(f"{label}: categorical_column must be a categorical column, got {column!r}.")


def _check_embedding(label, dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer):
    if dimension is None or dimension < 1:
        raise ValueError(f"{label}: dimension must be at least 1, got {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(f"{label}: give both ckpt_to_load_from and tensor_name_in_ckpt, or neither.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"{label}: initializer must be a function, got {initializer!r}.")
    return TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension)) if initializer is None else initializer


@api("feature_column.embedding_column", "compat.v1.feature_column.embedding_column", dispatch=False)
def embedding_column(
    categorical_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None,
    max_norm=None, trainable=True, use_safe_embedding_lookup=True,
) -> Any:  # fmt: skip
    """A vector for each category, learnt.

    Args:
        categorical_column: a categorical column.
        dimension: the length of the vectors.
        combiner: how the vectors of an example's categories become one: "mean", "sqrtn" or "sum".
        initializer: initial values; by default normal ones of deviation `1 / sqrt(dimension)`.
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint that has them.
        max_norm: the largest norm of a vector.
        trainable: whether they are learnt.
        use_safe_embedding_lookup: whether examples may have no category.

    Raises:
        ValueError: an argument is wrong.
    """
    _check_categorical("embedding_column", categorical_column)
    initializer = _check_embedding("embedding_column", dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer)
    return columns.EmbeddingColumn(categorical_column, dimension, combiner, initializer, ckpt_to_load_from,
                                   tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup)


@api("feature_column.shared_embeddings", "compat.v1.feature_column.shared_embedding_columns", dispatch=False)
def shared_embeddings(
    categorical_columns, dimension, combiner="mean", initializer=None, shared_embedding_collection_name=None,
    ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm=None, trainable=True, use_safe_embedding_lookup=True,
) -> list:  # fmt: skip
    """Vectors for categories that several columns share.

    Args:
        categorical_columns: categorical columns with equally many categories.
        shared_embedding_collection_name: the name of the shared table; by default made of the columns' names.
        dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
            use_safe_embedding_lookup: as for `embedding_column`.

    Raises:
        ValueError: the columns do not fit together, or an argument is wrong.
    """
    label = "shared_embeddings"
    initializer = _check_embedding(label, dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer)
    listed = sorted(categorical_columns, key=lambda column: column.name)
    for column in listed:
        _check_categorical(label, column)
        if column.num_buckets != listed[0].num_buckets:
            raise ValueError(f"{label}: all columns must have equally many categories; {listed[0].name} has "
                             f"{listed[0].num_buckets}, {column.name} has {column.num_buckets}.")
    name = shared_embedding_collection_name or "_".join(column.name for column in listed) + "_shared_embedding"
    return [columns.SharedEmbeddingColumn(column, dimension, combiner, initializer, name, ckpt_to_load_from,
                                          tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup)
            for column in categorical_columns]


@api("feature_column.make_parse_example_spec", "compat.v1.feature_column.make_parse_example_spec", dispatch=False)
def make_parse_example_spec(feature_columns) -> dict:
    """What `tf.io.parse_example` must be told to get the features of these columns.

    Args:
        feature_columns: columns.

    Raises:
        ValueError: one is no column, or two want a feature in different ways.

    >>> age = tf.feature_column.numeric_column("age")
    >>> list(tf.feature_column.make_parse_example_spec([age]))
    ['age']
    """
    found: dict = {}
    for column in feature_columns:
        if not isinstance(column, columns.Column):
            raise ValueError(f"make_parse_example_spec: {column!r} is no feature column.")
        for key, spec in column.parse_example_spec.items():
            if key in found and found[key] != spec:
                raise ValueError(f"make_parse_example_spec: feature {key!r} is wanted as {spec} and as {found[key]}.")
            found[key] = spec
    return found
