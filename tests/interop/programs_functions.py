"""Programs about functions: control flow, strings, tables, ragged and sparse signatures, gradients, structures."""

import os
import tempfile

import numpy as np

from catalog import Program, numbers, program
from programs_state import descent, seeded


class Functions(Program):
    """A module with one function `predict`, the method `run` of the program; `fill` gives it variables and tables."""

    trains = False

    def specs(self, tf):
        return [tf.TensorSpec([None, 4], name="x")]

    def fill(self, tf, obj):
        obj.w = tf.Variable(seeded(tf, [4, 4]))

    def build(self, tf):
        obj = tf.Module()
        self.fill(tf, obj)

        @tf.function(input_signature=self.specs(tf))
        def predict(*arguments):
            return self.run(tf, obj, *arguments)

        obj.predict = predict
        return obj


class Descent(Functions):
    """One that is trained too."""

    trains = True

    def build(self, tf):
        program = self

        class Root(tf.Module):
            def run(self, x):
                return program.run(tf, self, x)

        obj = Root()
        self.fill(tf, obj)
        return descent(tf, obj, self.specs(tf)[0])


@program
class WhileLoop(Descent):
    def run(self, tf, obj, x):
        def body(i, y):
            return i + 1, tf.tanh(tf.matmul(y, obj.w)) + x

        return tf.while_loop(lambda i, y: (i < 4) & (tf.reduce_sum(tf.abs(y)) < 1e3), body, [0, x])[1]


@program
class WhileNested(Descent):
    """Loops in loops, by Python's `for` and `while` with break and continue."""

    def run(self, tf, obj, x):
        total = tf.zeros_like(x)
        for i in tf.range(3):
            j = 0
            while j < i:
                j += 1
                if j == 2:
                    continue
                total += tf.sin(tf.matmul(x, obj.w) * tf.cast(j, tf.float32))
                if tf.reduce_max(total) > 100.0:
                    break
            total *= 0.9
        return total


@program
class Conditional(Descent):
    def run(self, tf, obj, x):
        y = tf.matmul(x, obj.w)
        first = tf.cond(tf.reduce_sum(y) > 0, lambda: tf.cond(tf.reduce_max(x) > 1, lambda: y * 2, lambda: y - x), lambda: -y)
        return tf.switch_case(tf.cast(tf.math.floormod(tf.reduce_sum(y), 3), tf.int32), [lambda: first, lambda: first * x,
                                                                                         lambda: first + 1])


@program
class Scan(Descent):
    def run(self, tf, obj, x):
        scanned = tf.scan(lambda a, row: tf.tanh(a + tf.linalg.matvec(obj.w, row)), x, initializer=tf.zeros([4]))
        mapped = tf.map_fn(lambda row: tf.tensordot(row, obj.w, 1), x)
        return scanned + mapped + tf.foldl(lambda a, row: a * 0.5 + row, mapped)


@program
class TensorArrays(Descent):
    def run(self, tf, obj, x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
        for i in tf.range(5):
            array = array.write(i, tf.matmul(x, obj.w) * tf.cast(i, tf.float32))
        return tf.reduce_sum(array.stack(), 0) + array.read(2) + array.gather([1, 3])[0]


@program
class TensorArrayParts(Functions):
    def run(self, tf, obj, x):
        array = tf.TensorArray(tf.float32, size=3).unstack(x[:3])
        parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2])
        return {"rows": array.stack(), "size": array.size(), "all": parts.concat()}


@program
class VectorizedMap(Functions):
    def run(self, tf, obj, x):
        return tf.vectorized_map(lambda row: tf.reduce_sum(tf.matmul(row[None], obj.w) ** 2), x)


@program
class FunctionsInFunctions(Descent):
    """A function that calls others, one of them for two shapes."""

    def fill(self, tf, obj):
        obj.w = tf.Variable(seeded(tf, [4, 4]))

        @tf.function
        def twice(v):
            return v + v

        @tf.function
        def outer(v):
            return twice(v) * twice(tf.reduce_sum(v))

        obj.helper = outer

    def run(self, tf, obj, x):
        return obj.helper(tf.matmul(x, obj.w)) * 0.1


@program
class FunctionsOfSeveralShapes(Program):
    """Traces that were made by calls: ranks, dtypes, Python arguments, defaults."""

    trains = False

    def build(self, tf):
        class Root(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable(3.0)

            @tf.function
            def power(self, x, exponent=2, shift=0.5, *, flip=False):
                y = x ** tf.cast(exponent, x.dtype) + tf.cast(self.w, x.dtype) * tf.cast(shift, x.dtype)
                return tf.reverse(y, [0]) if flip else y

            @tf.function(input_signature=[tf.TensorSpec([None])])
            def predict(self, x):
                return self.power(x)

        obj = Root()
        self.outputs(tf, obj)
        return obj

    def inputs(self, tf, seed=0):
        return (numbers([3], seed),)

    def outputs(self, tf, obj):
        x = tf.constant(self.inputs(tf)[0])
        return [obj.power(x), obj.power(tf.constant([[1.0, 2.0]])), obj.power(tf.constant([1.0], tf.float64), 3),
                obj.power(x, flip=True), obj.power(x, 3, 1.5), obj.power(x, exponent=tf.constant(2)), obj.predict(x)]


@program
class ConcreteFunctions(Program):
    """Concrete functions as attributes, and the module's `__call__`."""

    trains = False

    def build(self, tf):
        class Root(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable(seeded(tf, [4]))

            @tf.function
            def __call__(self, x):
                return x * self.w

        obj = Root()
        obj.vector = obj.__call__.get_concrete_function(tf.TensorSpec([4], name="v"))
        obj.matrix = obj.__call__.get_concrete_function(tf.TensorSpec([None, 4], name="m"))
        obj.frozen = tf.constant([1.0, 2.0])
        return obj

    def outputs(self, tf, obj):
        x = tf.constant(numbers([2, 4]))
        return [obj.vector(x[0]), obj.matrix(x), obj(x), obj(x[1]), obj.frozen]

    def signatures(self, tf, obj):
        return {"vector": obj.vector, "matrix": obj.matrix}

    def call_signatures(self, tf, loaded):
        x = tf.constant(numbers([2, 4]))
        return [loaded.signatures["vector"](v=x[0]), loaded.signatures["matrix"](m=x)]


@program
class SeveralSignatures(Functions):
    def fill(self, tf, obj):
        super().fill(tf, obj)

        @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x"), tf.TensorSpec([], tf.int32, name="k")])
        def top(x, k):
            best = tf.math.top_k(tf.matmul(x, obj.w), k)
            return {"values": best.values, "indices": best.indices}

        obj.top = top

    def run(self, tf, obj, x):
        return tf.matmul(x, obj.w)

    def signatures(self, tf, obj):
        return {"serving_default": obj.predict, "top": obj.top}

    def call_signatures(self, tf, loaded):
        x = tf.constant(self.inputs(tf)[0])
        return [loaded.signatures["serving_default"](x=x), loaded.signatures["top"](x=x, k=tf.constant(2))]


@program
class StructuredOutputs(Functions):
    has_signature = False

    def specs(self, tf):
        return [{"a": tf.TensorSpec([None, 4], name="a"), "b": (tf.TensorSpec([], tf.int32), [tf.TensorSpec([2])])}]

    def run(self, tf, obj, x):
        a, (b, [c]) = x["a"], x["b"]
        return {"sum": a + 1.0, "pair": (b * 2, [c, None]), "nested": {"w": tf.matmul(a, obj.w), "empty": ()}}

    def inputs(self, tf, seed=0):
        return ({"a": tf.constant(numbers([3, 4])), "b": (tf.constant(7), [tf.constant([1.0, 2.0])])},)


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
            "joined": s.join([obj.greeting, text], separator=": "), "lower": s.lower(text, "utf-8"),
            "length": s.length(text, "UTF8_CHAR"), "part": s.substr(text, 0, 2), "words": s.split(text).to_tensor(),
            "replaced": s.regex_replace(text, r"(\w)=(\d+)", r"\2\1"), "bucket": s.to_hash_bucket_fast(text, 100),
            "matches": s.regex_full_match(text, ".*;.*"), "codes": s.unicode_decode(text, "UTF-8").to_tensor(),
            "numbers": s.to_number(s.join(["0", s.regex_replace(text, r"\D+", "")])), "strong": s.to_hash_bucket_strong(text, 9, [1, 2]),
            "base": tf.io.encode_base64(text), "reduced": s.reduce_join(text, separator="|"),
            "ngrams": s.ngrams(s.split(text), 2).flat_values,
        }  # fmt: skip


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
            lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), tf.constant(["five", "six"])), "?")
        obj.buckets = lookup.StaticVocabularyTable(
            lookup.KeyValueTensorInitializer(keys, tf.constant([0, 1, 2], tf.int64)), 4)

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
        initializer = lookup.TextFileInitializer(path, tf.string, lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                                 lookup.TextFileIndex.LINE_NUMBER)
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
        return {"sum": tf.reduce_sum(x, 1), "scaled": x * obj.w, "deep": tf.RaggedTensor.from_row_lengths(x, [1, 2]),
                "lengths": x.row_lengths(), "dense": x.to_tensor(-1.0)}


@program
class SparseSignature(Functions):
    has_signature = False

    def specs(self, tf):
        return [tf.SparseTensorSpec([None, 4], tf.float32)]

    def inputs(self, tf, seed=0):
        return (tf.SparseTensor([[0, 1], [1, 3], [2, 0]], [1.0, 2.0, 3.0], [3, 4]),)

    def run(self, tf, obj, x):
        return {"product": tf.sparse.sparse_dense_matmul(x, obj.w), "twice": x * 2.0, "dense": tf.sparse.to_dense(x),
                "sum": tf.sparse.reduce_sum(x, 1)}


@program
class RaggedKeras(Functions):
    """Ragged and indexed values inside, dense outside."""

    def run(self, tf, obj, x):
        rows = tf.RaggedTensor.from_row_lengths(tf.matmul(x, obj.w), [1, tf.shape(x)[0] - 1])
        slices = tf.IndexedSlices(x, tf.range(tf.shape(x)[0]), tf.shape(x))
        return tf.reduce_mean(rows, axis=1), tf.convert_to_tensor(slices), tf.ragged.range([2, 3]).flat_values


@program
class CustomGradient(Descent):
    def fill(self, tf, obj):
        super().fill(tf, obj)

        @tf.custom_gradient
        def clipped(v):
            return tf.exp(v), lambda up: tf.clip_by_value(up * tf.exp(v), -0.1, 0.1)

        obj.__dict__["clipped"] = clipped

    def save_model(self, tf, obj, folder):
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
        tf.saved_model.save(obj, folder, signatures=self.signatures(tf, obj), options=options)

    def run(self, tf, obj, x):
        return obj.clipped(tf.matmul(x, obj.w) * 0.1)


@program
class GradientOfLoaded(Descent):
    """Loaded functions are differentiated from outside, and the variables are moved from there."""

    def run(self, tf, obj, x):
        return tf.tanh(tf.matmul(x, obj.w)) * tf.nn.softmax(x) + tf.nn.relu(tf.matmul(x, obj.w, transpose_b=True))

    def train(self, tf, obj, step):
        x = tf.constant(self.inputs(tf, step)[0])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(obj.predict(x) - 0.3))
            slope = tape.gradient(loss, obj.w)
        obj.w.assign_sub(0.1 * slope)
        return loss, slope, outer.gradient(slope, x)


@program
class CustomGradientOutside(Program):
    """A custom gradient of a saved function, asked from outside."""

    def build(self, tf):
        obj = tf.Module()
        obj.w = tf.Variable(seeded(tf, [4]))

        @tf.custom_gradient
        def double_slope(v):
            return tf.square(v), lambda up: up * 4.0 * v

        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def predict(x):
            return double_slope(x * obj.w)

        obj.predict = predict
        return obj

    def train(self, tf, obj, step):
        x = tf.constant(self.inputs(tf, step)[0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(obj.predict(x))
        slope = tape.gradient(loss, obj.w)
        obj.w.assign_sub(0.01 * slope)
        return loss, slope

    def save_model(self, tf, obj, folder):
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
        tf.saved_model.save(obj, folder, signatures=self.signatures(tf, obj), options=options)


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
        return [image.resize(x, [4, 5]) * obj.scale, image.resize(x, [3, 3], "nearest"), image.rgb_to_grayscale(x),
                image.flip_left_right(x), image.adjust_contrast(x, 0.5), image.adjust_hue(x, 0.1), image.central_crop(x, 0.5),
                image.rgb_to_hsv(x), tf.nn.max_pool2d(x, 2, 2, "SAME"), image.per_image_standardization(x),
                image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")]


@program
class Arrays(Functions):
    """Ops of many kinds."""

    def run(self, tf, obj, x):
        y = tf.matmul(x, obj.w)
        symmetric = tf.matmul(obj.w, obj.w, transpose_b=True) + 4.0 * tf.eye(4)
        signal = tf.signal.rfft(y)
        return {
            "gather": tf.gather(y, [0, 2], axis=1), "scatter": tf.tensor_scatter_nd_update(y, [[0]], x[:1]), "sort": tf.sort(y),
            "einsum": tf.einsum("ij,kj->ik", x, obj.w), "cumsum": tf.cumsum(y, 1), "unique": tf.unique(tf.cast(y[0], tf.int32)).y,
            "where": tf.where(y > 0), "chol": tf.linalg.cholesky(symmetric), "solve": tf.linalg.solve(symmetric, tf.transpose(y)),
            "abs": tf.abs(signal), "irfft": tf.signal.irfft(signal), "onehot": tf.one_hot(tf.argmax(y, 1), 4),
            "segments": tf.math.unsorted_segment_sum(y, tf.range(tf.shape(y)[0]) % 2, 2), "strided": y[::-1, 1:3, None],
            "pad": tf.pad(y, [[1, 0], [0, 1]], "REFLECT"), "tile": tf.tile(y, [1, 2]), "bits": tf.bitcast(y, tf.int32),
            "mask": tf.boolean_mask(y, y[:, 0] > -9.0), "norm": tf.linalg.norm(y), "split": tf.split(y, 2, axis=1)[1],
            "cast": tf.cast(y, tf.bfloat16), "quantized": tf.quantization.fake_quant_with_min_max_args(y),
            "space": tf.nn.space_to_depth(tf.reshape(obj.w, [1, 4, 4, 1]), 2), "special": tf.math.lgamma(tf.abs(y) + 1.0),
        }  # fmt: skip


@program
class RandomInFunctions(Functions):
    """Stateless random numbers in a saved function."""

    def run(self, tf, obj, x):
        seed = tf.cast(tf.stack([tf.shape(x)[0], 3]), tf.int32)
        return (tf.random.stateless_normal([3], seed), tf.random.stateless_uniform([2], seed, maxval=99, dtype=tf.int32),
                tf.random.stateless_truncated_normal([2], seed), tf.random.experimental.stateless_shuffle(tf.range(6), seed))


@program
class DatasetInFunction(Functions):
    def run(self, tf, obj, x):
        total = tf.zeros([4])
        for row in tf.data.Dataset.from_tensor_slices(x).map(lambda r: r * 2.0).batch(2):
            total += tf.reduce_sum(row, 0)
        return total


@program
class Assertions(Functions):
    """Checks and prints that are kept in order."""

    def run(self, tf, obj, x):
        tf.debugging.assert_less(x, 100.0, message="too large")
        with tf.control_dependencies([tf.debugging.assert_rank(x, 2)]):
            return tf.ensure_shape(tf.identity(x), [None, 4]) + tf.debugging.check_numerics(x, "bad")


@program
class StateInFunction(Program):
    """A function that counts, appends and assigns; gather and scatter on variables."""

    def build(self, tf):
        class Root(tf.Module):
            def __init__(self):
                super().__init__()
                self.count = tf.Variable(0, dtype=tf.int64, trainable=False)
                self.rows = tf.Variable(seeded(tf, [5, 4]))

            @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x")])
            def predict(self, x):
                return x + tf.gather(self.rows, [1, 1])[0], self.rows.sparse_read([0, 3])

            @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x")])
            def step(self, x):
                self.count.assign_add(1)
                self.rows.scatter_nd_add([[0], [2]], x[:2])
                self.rows.scatter_update(tf.IndexedSlices(x[0], tf.constant(4)))
                self.rows[1].assign(x[1])
                return self.count.read_value(), tf.reduce_sum(self.rows)

        return Root()


@program
class CompiledFunction(Descent):
    """`jit_compile=True` inside."""

    def run(self, tf, obj, x):
        inner = tf.function(lambda v: tf.nn.gelu(tf.matmul(v, obj.w)), jit_compile=True)
        return inner(x)


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
