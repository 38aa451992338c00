"""Feature columns as small programs; the arguments are the module `tensorflow` or `headrace`, and a folder.

    python tests/compat/record_v1_features.py    # with TensorFlow; writes tests/golden/compat_v1_features.json
"""

import os

import numpy as np


def _features(tf):
    ragged = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "z", "b"], [3, 2])
    return {
        "age": [[10.0], [20.0], [35.0]], "height": [1.5, 2.5, 3.5], "pair": [[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]],
        "word": [["a"], ["q"], ["b"]], "words": ragged, "number": [[3], [1], [-1]], "big": [[7], [1], [2]],
        "weight": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, 3.0], [3, 2]), "other": [["x"], ["y"], ["x"]],
        "empty": [["a"], [""], [""]],
    }  # fmt: skip


def outcome(tf, columns, function):
    """Names and shapes of variables, the result, and its gradients by the variables."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        result = getattr(v1.feature_column, function)(_features(tf), columns(tf))
        sess.run([v1.global_variables_initializer(), v1.tables_initializer()])
        for variable in v1.global_variables():
            shape = variable.shape.as_list()
            variable.load(np.linspace(-1, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape), sess)
        variables = v1.trainable_variables()
        gradients = [tf.convert_to_tensor(g) for g in tf.gradients(result * result, variables)] if variables else []
        return {
            "variables": [[v.name, v.shape.as_list()] for v in v1.global_variables()],
            "value": np.round(np.asarray(sess.run(result), np.float64), 4).tolist(),
            "gradients": [np.round(np.asarray(g, np.float64), 4).tolist() for g in sess.run(gradients)],
        }


class Vectors:
    """Holds the variables of columns: numbers that count up."""

    def __init__(self, tf):
        self._tf = tf

    def get_variable(self, column, name):
        rows, width = column.categorical_column.num_buckets, column.dimension
        return self._tf.reshape(self._tf.range(rows * width, dtype=self._tf.float32), [rows, width])

    def has_resource(self, column, name):
        return False

    def add_resource(self, column, name, resource):
        pass


def sequence_programs(tf, path):
    """Columns of sequences: names to functions that give the numbers of each step, the lengths and the spec."""
    F = tf.feature_column
    features = {
        "numbers": lambda: tf.SparseTensor([[0, 0], [0, 1], [2, 0], [2, 2]], tf.constant([3, 1, 0, 2], tf.int64),
                                           [3, 3]),
        "several": lambda: tf.SparseTensor([[0, 0, 0], [0, 0, 1], [2, 1, 0]], tf.constant([3, 1, 2], tf.int64),
                                           [3, 2, 2]),
        "words": lambda: tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["b", "a", "x"], [2, 2]),
        "sizes": lambda: tf.SparseTensor([[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]], [1.0, 2.0, 3.0, 4.0, 5.0], [3, 4]),
        "grids": lambda: tf.SparseTensor([[0, 0, 0], [0, 1, 1], [1, 0, 1]], [1.0, 2.0, 3.0], [2, 2, 2]),
        "dense": lambda: tf.constant([[1, 2, -1], [3, -1, -1]], tf.int64),
    }
    numbers = F.sequence_categorical_column_with_identity("numbers", 4)
    words = F.sequence_categorical_column_with_vocabulary_list("words", ["a", "b"], num_oov_buckets=2)
    columns = {
        "indicator": F.indicator_column(numbers),
        "embedding": F.embedding_column(numbers, 2),
        "several in a step": F.embedding_column(F.sequence_categorical_column_with_identity("several", 4), 2),
        "counts in a step": F.indicator_column(F.sequence_categorical_column_with_identity("several", 4)),
        "words": F.indicator_column(words),
        "file": F.indicator_column(F.sequence_categorical_column_with_vocabulary_file("words", path)),
        "hash": F.embedding_column(F.sequence_categorical_column_with_hash_bucket("words", 5), 3),
        "dense": F.indicator_column(F.sequence_categorical_column_with_identity("dense", 4)),
        "sizes": F.sequence_numeric_column("sizes"),
        "pairs": F.sequence_numeric_column("sizes", shape=2, default_value=-1.0),
        "grids": F.sequence_numeric_column("grids", shape=(2,)),
        "normalized": F.sequence_numeric_column("sizes", normalizer_fn=lambda x: x * 2.0),
        "not of sequences": F.indicator_column(F.categorical_column_with_identity("numbers", 4)),
    }  # fmt: skip

    def run(column):
        cache = tf.__internal__.feature_column.FeatureTransformationCache({k: make() for k, make in features.items()})
        try:
            value, lengths = column.get_sequence_dense_tensor(cache, Vectors(tf))
        except ValueError:
            return {"value": [], "variables": ["ValueError"], "gradients": []}
        spec = sorted(str(item) for item in column.parse_example_spec.items())
        lengths = lengths.numpy().tolist()
        return {"value": value.numpy().tolist(), "variables": [column.name, lengths, *spec], "gradients": []}

    return {f"sequence: {name}": lambda c=column: run(c) for name, column in columns.items()}


def programs(tf, folder):
    """The programs by name."""
    F = tf.feature_column
    path = os.path.join(folder, "words.txt")
    with open(path, "w") as file:
        file.write("b\na\nc\n")
    age = F.numeric_column("age")
    buckets = F.bucketized_column(age, [15, 20, 30])
    pairs = F.bucketized_column(F.numeric_column("pair", 2), [2, 6])
    words = F.categorical_column_with_vocabulary_list("words", ["a", "b"])
    dense = {
        "numeric": [F.numeric_column("height"), F.numeric_column("age", normalizer_fn=lambda x: x / 10)],
        "several numbers": [F.numeric_column("pair", shape=(2,))],
        "buckets": [buckets, age],
        "buckets of several": [pairs],
        "indicator": [F.indicator_column(words)],
        "indicator with other words": [F.indicator_column(F.categorical_column_with_vocabulary_list(
            "words", ["a", "b"], num_oov_buckets=3))],
        "indicator with a default": [F.indicator_column(F.categorical_column_with_vocabulary_list(
            "word", ["a", "b"], default_value=1))],
        "indicator of a file": [F.indicator_column(F.categorical_column_with_vocabulary_file("word", path))],
        "indicator of integers": [F.indicator_column(F.categorical_column_with_vocabulary_list("number", [1, 3]))],
        "indicator of a hash": [F.indicator_column(F.categorical_column_with_hash_bucket("words", 5))],
        "indicator of hashed integers": [F.indicator_column(F.categorical_column_with_hash_bucket(
            "number", 5, tf.int64))],
        "indicator of numbers": [F.indicator_column(F.categorical_column_with_identity("number", 4))],
        "indicator out of range": [F.indicator_column(F.categorical_column_with_identity("big", 4, default_value=0))],
        "indicator with weights": [F.indicator_column(F.weighted_categorical_column(words, "weight"))],
        "indicator of crossed": [F.indicator_column(F.crossed_column(["word", "other"], 7))],
        "indicator of crossed buckets": [F.indicator_column(F.crossed_column([buckets, "other"], 7, hash_key=3))],
        "embedding": [F.embedding_column(words, 3)],
        "embedding by sums": [F.embedding_column(words, 3, combiner="sum", max_norm=1.0)],
        "embedding with weights": [F.embedding_column(F.weighted_categorical_column(words, "weight"), 2)],
        "embedding of empty": [F.embedding_column(F.categorical_column_with_vocabulary_list("empty", ["a"]), 2)],
        "embedding of buckets": [F.embedding_column(buckets, 2), age],
        "embeddings": [F.embedding_column(words, 2), F.embedding_column(F.categorical_column_with_identity(
            "number", 4), 3)],
    }  # fmt: skip
    linear = {
        "linear numbers": [age, F.numeric_column("pair", 2)],
        "linear categories": [words, F.categorical_column_with_identity("number", 4), buckets],
        "linear crossed": [F.crossed_column(["word", "other"], 7), pairs],
        "linear weights": [F.weighted_categorical_column(words, "weight"), F.embedding_column(words, 2)],
    }
    found = {name: lambda c=c: outcome(tf, lambda tf: c, "input_layer") for name, c in dense.items()}
    found.update({name: lambda c=c: outcome(tf, lambda tf: c, "linear_model") for name, c in linear.items()})
    found.update(sequence_programs(tf, path))
    every = [*dense["buckets"], words, F.crossed_column([buckets, "other"], 7), F.embedding_column(words, 3),
             F.weighted_categorical_column(words, "weight"), F.categorical_column_with_identity("number", 4)]
    found["names"] = lambda: [[column.name for column in every],
                              sorted(str(x) for x in F.make_parse_example_spec(every).items())]
    return found
