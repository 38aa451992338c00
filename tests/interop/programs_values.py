"""Programs about values in functions: strings, tables, ragged and sparse tensors, images, arrays."""

import os
import tempfile

import numpy as np
from catalog import numbers, program
from programs_functions import Descent, Functions
from programs_state import seeded


@program
class Strings(Functions):
    def specs(self, tf):
        return [tf.TensorSpec([None], tf.string, name="text")]

    def fill(self, tf, obj):
        obj.greeting = tf.Variable(tf.strings.as_string(seeded(tf, [])))

    def inputs(self, tf, seed=0):
        return (np.array([b"One two, three", "Grüße aus Köln".encode(), b"", b"x=1;y=22"], object),)

    def run(self, tf, obj, text):
        s = tf.strings
        return {
            "joined": s.join([obj.greeting, text], separator=": "),
            "lower": s.lower(text, "utf-8"),
            "length": s.length(text, "UTF8_CHAR"),
            "part": s.substr(text, 0, 2),
            "words": s.split(text).to_tensor(),
            "replaced": s.regex_replace(text, r"(\w)=(\d+)", r"\2\1"),
            "bucket": s.to_hash_bucket_fast(text, 100),
            "matches": s.regex_full_match(text, ".*;.*"),
            "codes": s.unicode_decode(text, "UTF-8").to_tensor(),
            "numbers": s.to_number(s.join(["0", s.regex_replace(text, r"\D+", "")])),
            "strong": s.to_hash_bucket_strong(text, 9, [1, 2]),
            "base": tf.io.encode_base64(text),
            "reduced": s.reduce_join(text, separator="|"),
            "ngrams": s.ngrams(s.split(text), 2).flat_values,
        }


class _Tables(Functions):
    def specs(self, tf):
        return [tf.TensorSpec([None], tf.string, name="keys")]

    def inputs(self, tf, seed=0):
        return (np.array([b"a", b"b", b"zzz", b"c"], object),)


@program
class TableStatic(_Tables):
    def fill(self, tf, obj):
        lookup = tf.lookup
        keys = tf.constant(["a", "b", "c"])
        obj.table = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(keys, tf.constant([5, 6, 7], tf.int64)), -1)
        obj.names = lookup.StaticHashTable(
            lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), tf.constant(["five", "six"])), "?"
        )
        obj.buckets = lookup.StaticVocabularyTable(
            lookup.KeyValueTensorInitializer(keys, tf.constant([0, 1, 2], tf.int64)), 4
        )

    def run(self, tf, obj, keys):
        numbers = obj.table.lookup(keys)
        return numbers, obj.names.lookup(numbers), obj.buckets.lookup(keys), obj.table.size()


@program
class TableFromFile(_Tables):
    """A vocabulary file: an asset of the SavedModel."""

    def fill(self, tf, obj):
        folder = tempfile.mkdtemp()
        path = os.path.join(folder, "words.txt")
        with open(path, "w") as file:
            file.write("a\nb\nc\n")
        lookup = tf.lookup
        initializer = lookup.TextFileInitializer(
            path, tf.string, lookup.TextFileIndex.WHOLE_LINE, tf.int64, lookup.TextFileIndex.LINE_NUMBER
        )
        obj.table = lookup.StaticVocabularyTable(initializer, 2)
        obj.asset = tf.saved_model.Asset(path)

    def run(self, tf, obj, keys):
        return obj.table.lookup(keys), tf.io.read_file(obj.asset.asset_path)


@program
class TableMutable(_Tables):
    """Tables whose contents are saved."""

    trains = True

    def fill(self, tf, obj):
        obj.dense = tf.lookup.experimental.DenseHashTable(tf.string, tf.float32, 0.5, "<empty>", "<gone>")
        obj.hash = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        obj.vectors = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([], tf.int64)])
        def step(keys, number):
            obj.hash.insert(keys, number + tf.range(tf.size(keys, tf.int64), dtype=tf.int64))
            obj.dense.insert(keys[:2], tf.cast([number, number], tf.float32))
            obj.vectors.insert([number], [tf.cast([number, number + 1], tf.float32)])
            return obj.hash.size(), obj.dense.size(), obj.vectors.size()

        obj.step = step

    def train(self, tf, obj, step):
        return obj.step(tf.constant([b"a", b"b", b"k%d" % step]), tf.constant(step, tf.int64))

    def run(self, tf, obj, keys):
        return obj.dense.lookup(keys), obj.hash.lookup(keys), obj.vectors.lookup(tf.constant([0, 1, 5], tf.int64))


@program
class RaggedSignature(Functions):
    has_signature = False

    def specs(self, tf):
        return [tf.RaggedTensorSpec([None, None], tf.float32)]

    def fill(self, tf, obj):
        obj.w = tf.Variable(seeded(tf, []))

    def inputs(self, tf, seed=0):
        return (tf.ragged.constant([[1.0, 2.0], [], [3.0, 4.0, 5.0]]),)

    def run(self, tf, obj, x):
        return {
            "sum": tf.reduce_sum(x, 1),
            "scaled": x * obj.w,
            "deep": tf.RaggedTensor.from_row_lengths(x, [1, 2]),
            "lengths": x.row_lengths(),
            "dense": x.to_tensor(-1.0),
        }


@program
class SparseSignature(Functions):
    has_signature = False

    def specs(self, tf):
        return [tf.SparseTensorSpec([None, 4], tf.float32)]

    def inputs(self, tf, seed=0):
        return (tf.SparseTensor([[0, 1], [1, 3], [2, 0]], [1.0, 2.0, 3.0], [3, 4]),)

    def run(self, tf, obj, x):
        return {
            "product": tf.sparse.sparse_dense_matmul(x, obj.w),
            "twice": x * 2.0,
            "dense": tf.sparse.to_dense(x),
            "sum": tf.sparse.reduce_sum(x, 1),
        }


@program
class RaggedKeras(Functions):
    """Ragged and indexed values inside, dense outside."""

    def run(self, tf, obj, x):
        rows = tf.RaggedTensor.from_row_lengths(tf.matmul(x, obj.w), [1, tf.shape(x)[0] - 1])
        slices = tf.IndexedSlices(x, tf.range(tf.shape(x)[0]), tf.shape(x))
        return tf.reduce_mean(rows, axis=1), tf.convert_to_tensor(slices), tf.ragged.range([2, 3]).flat_values


@program
class Images(Functions):
    def specs(self, tf):
        return [tf.TensorSpec([None, None, None, 3], name="images")]

    def fill(self, tf, obj):
        obj.scale = tf.Variable(seeded(tf, []))

    def inputs(self, tf, seed=0):
        return (np.abs(numbers([2, 6, 6, 3], seed)) % 1.0,)

    def run(self, tf, obj, x):
        image = tf.image
        return [
            image.resize(x, [4, 5]) * obj.scale,
            image.resize(x, [3, 3], "nearest"),
            image.rgb_to_grayscale(x),
            image.flip_left_right(x),
            image.adjust_contrast(x, 0.5),
            image.adjust_hue(x, 0.1),
            image.central_crop(x, 0.5),
            image.rgb_to_hsv(x),
            tf.nn.max_pool2d(x, 2, 2, "SAME"),
            image.per_image_standardization(x),
            image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        ]


@program
class Arrays(Functions):
    """Ops of many kinds."""

    def run(self, tf, obj, x):
        y = tf.matmul(x, obj.w)
        symmetric = tf.matmul(obj.w, obj.w, transpose_b=True) + 4.0 * tf.eye(4)
        signal = tf.signal.rfft(y)
        return {
            "gather": tf.gather(y, [0, 2], axis=1),
            "scatter": tf.tensor_scatter_nd_update(y, [[0]], x[:1]),
            "sort": tf.sort(y),
            "einsum": tf.einsum("ij,kj->ik", x, obj.w),
            "cumsum": tf.cumsum(y, 1),
            "unique": tf.unique(tf.cast(y[0], tf.int32)).y,
            "where": tf.where(y > 0),
            "chol": tf.linalg.cholesky(symmetric),
            "solve": tf.linalg.solve(symmetric, tf.transpose(y)),
            "abs": tf.abs(signal),
            "irfft": tf.signal.irfft(signal),
            "onehot": tf.one_hot(tf.argmax(y, 1), 4),
            "segments": tf.math.unsorted_segment_sum(y, tf.range(tf.shape(y)[0]) % 2, 2),
            "strided": y[::-1, 1:3, None],
            "pad": tf.pad(y, [[1, 0], [0, 1]], "REFLECT"),
            "tile": tf.tile(y, [1, 2]),
            "bits": tf.bitcast(y, tf.int32),
            "mask": tf.boolean_mask(y, y[:, 0] > -9.0),
            "norm": tf.linalg.norm(y),
            "split": tf.split(y, 2, axis=1)[1],
            "cast": tf.cast(y, tf.bfloat16),
            "quantized": tf.quantization.fake_quant_with_min_max_args(y),
            "space": tf.nn.space_to_depth(tf.reshape(obj.w, [1, 4, 4, 1]), 2),
            "special": tf.math.lgamma(tf.abs(y) + 1.0),
        }


@program
class RandomInFunctions(Functions):
    """Stateless random numbers in a saved function."""

    def run(self, tf, obj, x):
        seed = tf.cast(tf.stack([tf.shape(x)[0], 3]), tf.int32)
        return (
            tf.random.stateless_normal([3], seed),
            tf.random.stateless_uniform([2], seed, maxval=99, dtype=tf.int32),
            tf.random.stateless_truncated_normal([2], seed),
            tf.random.experimental.stateless_shuffle(tf.range(6), seed),
        )


@program
class DatasetInFunction(Functions):
    def run(self, tf, obj, x):
        total = tf.zeros([4])
        for row in tf.data.Dataset.from_tensor_slices(x).map(lambda r: r * 2.0).batch(2):
            total += tf.reduce_sum(row, 0)
        return total


@program
class Convolutions(Descent):
    """Convolutions and norms of `tf.nn`."""

    shape = (2, 6, 6, 3)

    def specs(self, tf):
        return [tf.TensorSpec([None, 6, 6, 3], name="x")]

    def fill(self, tf, obj):
        obj.k = tf.Variable(seeded(tf, [3, 3, 3, 4], 0.3))
        obj.d = tf.Variable(seeded(tf, [2, 2, 4, 1], 0.3))
        obj.g = tf.Variable(tf.ones([4]))

    def run(self, tf, obj, x):
        y = tf.nn.conv2d(x, obj.k, 1, "SAME", dilations=2)
        y = tf.nn.depthwise_conv2d(y, obj.d, [1, 2, 2, 1], "VALID")
        mean, variance = tf.nn.moments(y, [0, 1, 2])
        y = tf.nn.batch_normalization(y, mean, variance, None, obj.g, 1e-3)
        return tf.nn.local_response_normalization(tf.nn.avg_pool2d(y, 2, 1, "VALID"))


@program
class SparseGradients(Descent):
    """Embedding lookups, whose gradients are slices."""

    dtype = "int32"

    def specs(self, tf):
        return [tf.TensorSpec([None, 4], tf.int32, name="ids")]

    def fill(self, tf, obj):
        obj.table = tf.Variable(seeded(tf, [8, 3]))

    def run(self, tf, obj, ids):
        return tf.nn.embedding_lookup(obj.table, ids)
