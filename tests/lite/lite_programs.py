"""Functions of few operations, as models of TensorFlow Lite: each of what it is given, an input, and a program."""

import numpy as np

import headrace as tf

F32 = tf.float32


def spec(*shape, dtype=F32, name=None):
    return tf.TensorSpec(shape, dtype, name)


def signed(*specs):
    return tf.function(input_signature=specs)


X = np.random.default_rng(0).normal(size=(2, 6, 6, 4)).astype(np.float32)
M = X.reshape(8, 36)[:, :4].copy()
W = np.random.default_rng(1).normal(size=(3, 3, 4, 5)).astype(np.float32)
IMAGE, MATRIX = spec(None, 6, 6, 4, name="x"), spec(None, 4, name="x")

# Functions of one input, by what they show.
PROGRAMS = {
    "dense": (MATRIX, M, lambda x: tf.nn.relu(x @ W[0, 0] + 1.0)),
    "dense, weights transposed": (MATRIX, M, lambda x: tf.matmul(x, W[0, 0].T.copy(), transpose_b=True)),
    "product of two": (spec(None, 3, 4), X[:, :3, 0], lambda x: tf.matmul(x, x, transpose_b=True)),
    "conv": (IMAGE, X, lambda x: tf.nn.conv2d(x, W, 1, "SAME")),
    "conv, strides and dilations": (
        IMAGE,
        X,
        lambda x: tf.nn.conv2d(x, W, 2, "VALID") + tf.nn.conv2d(x, W, 1, "VALID", dilations=2),
    ),
    "conv, padded": (IMAGE, X, lambda x: tf.nn.conv2d(x, W, 1, [[0, 0], [1, 2], [0, 1], [0, 0]])),
    "conv, bias, factor": (
        IMAGE,
        X,
        lambda x: tf.nn.relu6(tf.nn.bias_add(tf.nn.conv2d(x, W, 1, "SAME"), np.float32([1, 2, 3, 4, 5])) * 0.5),
    ),
    "depthwise": (IMAGE, X, lambda x: tf.nn.depthwise_conv2d(x, W[..., :2], [1, 1, 1, 1], "SAME")),
    "transposed conv": (
        spec(2, 6, 6, 5),
        np.repeat(X[..., :1], 5, 3),
        lambda x: tf.nn.conv2d_transpose(x, W, [2, 12, 12, 4], 2),
    ),
    "pools": (IMAGE, X, lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID") + tf.nn.avg_pool2d(x, 2, 2, "SAME")),
    "batch norm": (IMAGE, X, lambda x: tf.nn.batch_normalization(x, M[0], M[1] ** 2, M[2], M[3], 1e-3)),
    "functions": (MATRIX, M, lambda x: tf.exp(x) + tf.sin(x) * tf.cos(x) - tf.tanh(x) / tf.sigmoid(x) + tf.abs(x)),
    "activations": (MATRIX, M, lambda x: tf.nn.elu(x) + tf.nn.selu(x) + tf.nn.softplus(x) + tf.nn.leaky_relu(x, 0.3)),
    "softmax": (MATRIX, M, lambda x: tf.nn.softmax(x) + tf.nn.log_softmax(x)),
    "roots": (MATRIX, M, lambda x: tf.sqrt(tf.square(x) + 1.0) + tf.math.rsqrt(tf.square(x) + 1.0) + tf.pow(2.0, x)),
    "rounding": (MATRIX, M, lambda x: tf.floor(x) + tf.math.ceil(x) + tf.round(x) + tf.math.reciprocal(x)),
    "comparisons": (MATRIX, M, lambda x: tf.where((x > 0) & (x < 1) | tf.logical_not(x <= 0.5), x, -x)),
    "einsum of two": (spec(None, 3, 4), X[:, :3, 0], lambda x: tf.einsum("bij,bkj->bki", x, x)),
    "einsum with heads": (
        spec(None, 3, 4),
        X[:, :3, 0],
        lambda x: tf.einsum("abc,cde->abde", x, W[0].transpose(1, 0, 2).copy()),
    ),
    "integers": (
        spec(None, 4, dtype=tf.int32),
        np.arange(-4, 4, dtype=np.int32).reshape(2, 4),
        lambda x: x // 3 + x % 3,
    ),
    "reductions": (
        IMAGE,
        X,
        lambda x: tf.reduce_mean(x, [1, 2]) + tf.reduce_max(x, [1, 2]) - tf.reduce_sum(x, [1, 2], True)[:, 0, 0],
    ),
    "reshape": (IMAGE, X, lambda x: tf.transpose(tf.reshape(x, [tf.shape(x)[0], -1, 4]), [0, 2, 1])),
    "slices": (IMAGE, X, lambda x: tf.concat([x[:, ::2, 1:4], x[:, 3:, :3]], 1)[..., tf.newaxis]),
    "joined, then cut off": (MATRIX, M, lambda x: tf.nn.relu(tf.concat([x, -x], 1))),
    "split": (MATRIX, M, lambda x: tf.stack(tf.split(x, 2, 1), 1) + tf.stack(tf.split(x, [2, 2], 1), 1)),
    "unstack": (MATRIX, M, lambda x: tf.add_n(tf.unstack(x, axis=1))),
    "gather": (MATRIX, M, lambda x: tf.gather(x, [3, 0], axis=1) + tf.gather_nd(x, [[0], [1]])[:1, :2]),
    "pads": (
        MATRIX,
        M,
        lambda x: (
            tf.pad(x, [[0, 0], [1, 1]])
            + tf.pad(x, [[0, 0], [1, 1]], constant_values=2.0)
            + tf.pad(x, [[0, 0], [1, 1]], "REFLECT")
        ),
    ),
    "tile": (MATRIX, M, lambda x: tf.tile(x, [1, 2]) + tf.broadcast_to(x[:1, :1], tf.shape(tf.tile(x, [1, 2])))),
    "places": (MATRIX, M, lambda x: tf.cast(tf.argmax(x, 1) + tf.argmin(x, 1), F32) + tf.math.top_k(x, 2)[0][:, 1]),
    "one hot": (spec(None, dtype=tf.int32), np.int32([0, 2]), lambda x: tf.one_hot(x, 3)),
    "sums": (MATRIX, M, lambda x: tf.cumsum(x, 1, reverse=True) + tf.reverse(x, [1])),
    "resize": (IMAGE, X, lambda x: tf.image.resize(x, [9, 4]) + tf.image.resize(x, [9, 4], "nearest")),
    "blocks": (IMAGE, X, lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(x, 2), 2)),
    "einsum": (MATRIX, M, lambda x: tf.einsum("bi,ij->bj", x, W[0, 1])),
    "several results": (MATRIX, M, lambda x: (x, x + 1.0, tf.constant([1.0, 2.0]), x)),
}


def loop(x):
    for i in tf.range(4):
        x = x * 0.5 if tf.reduce_sum(x) > 3.0 else x + tf.cast(i, F32)
    return x


PROGRAMS["loop"] = (spec(4), M[0], loop)


def running_maximum(x):
    """A list of tensors of which the first size is not known, filled in a loop."""
    found = tf.TensorArray(F32, size=tf.shape(x)[1])
    best = x[:, 0]
    for i in tf.range(tf.shape(x)[1]):
        best = tf.maximum(best, x[:, i])
        found = found.write(i, best)
    return tf.transpose(found.stack(), [1, 0, 2])


def collected(x):
    """A list that grows."""
    found = tf.TensorArray(F32, size=0, dynamic_size=True, element_shape=[4])
    for i in tf.range(5):
        if i % 2 == 0:
            found = found.write(i // 2, x[0] * tf.cast(i, F32))
    return found.stack() + tf.cast(found.size(), F32)


def nested_loops(x):
    total = tf.zeros([4])
    for i in tf.range(3):
        for j in tf.range(i + 1):
            total += x[0] * tf.cast(i * j, F32)
    return total


def read_back(x):
    parts = tf.TensorArray(F32, size=4).unstack(tf.transpose(x))
    return parts.read(0) + 2.0 * parts.read(3)


SEQUENCES = spec(None, None, 4, name="x")
UNIT = np.tanh(M) * 0.9
IDS = np.int32([0, 2, 0, 1])
WORDS = np.array([b"b", b"z", b"a"], object)


def table(keys, values, default):
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), default)


TO_NUMBERS = table(["a", "b"], tf.constant([1, 2], tf.int64), -1)
TO_WORDS = table(tf.constant([1, 2], tf.int64), ["a", "b"], "?")
OF_NUMBERS = table(tf.constant([7, 5], tf.int64), tf.constant([1, 2], tf.int64), -1)

PROGRAMS.update(
    {
        "list of unknown sizes": (SEQUENCES, X[:, :, 0], running_maximum),
        "growing list": (MATRIX, M, collected),
        "loop in a loop": (MATRIX, M, nested_loops),
        "list that is read": (MATRIX, M, read_back),
        "scan": (MATRIX, M, lambda x: tf.scan(lambda a, b: a * 0.5 + b, x)),
        "map": (MATRIX, M, lambda x: tf.map_fn(lambda row: row * tf.reduce_max(row), x)),
        "fold": (MATRIX, M, lambda x: tf.foldl(lambda a, b: a + tf.sin(b), x)),
        "gelu": (MATRIX, M, lambda x: tf.nn.gelu(x)),
        "gelu by tanh": (MATRIX, M, lambda x: tf.nn.gelu(x, approximate=True)),
        "bounded roots of zero": (MATRIX, M, lambda x: tf.minimum(tf.math.rsqrt(tf.nn.relu(x)), 100.0)),
        "erf": (MATRIX, 2.0 * M, lambda x: tf.math.erf(x) + tf.math.erfc(x * 0.5)),
        "logarithms": (MATRIX, UNIT, lambda x: tf.math.log1p(x) + tf.math.expm1(x) + tf.math.log1p(x * 1e-6) * 1e6),
        "hyperbolic": (MATRIX, UNIT, lambda x: tf.sinh(x) + tf.cosh(x) + tf.math.asinh(x) + tf.math.atanh(x)),
        "angles": (MATRIX, UNIT, lambda x: tf.tan(x) + tf.atan(x) + tf.asin(x) + tf.acos(x) + tf.atan2(x, 1.0 - x)),
        "acosh": (MATRIX, M, lambda x: tf.math.acosh(1.0 + tf.abs(x))),
        "softsign": (MATRIX, M, lambda x: tf.nn.softsign(x) + tf.clip_by_value(x, -0.5, 0.5)),
        "odd numbers": (
            spec(4),
            np.float32([1, np.inf, np.nan, -np.inf]),
            lambda x: (tf.math.is_nan(x), tf.math.is_inf(x), tf.math.is_finite(x)),
        ),
        "divisions": (MATRIX, np.round(M), lambda x: tf.math.divide_no_nan(1.0, x) + tf.math.multiply_no_nan(x, x)),
        "x log y": (MATRIX, np.abs(np.round(M)), lambda x: tf.math.xlogy(x, x) + tf.math.xdivy(x, x + 1.0)),
        "truth": (MATRIX, M, lambda x: tf.math.logical_xor(x > 0, x > 1)),
        "loss": (MATRIX, M, lambda x: tf.nn.l2_loss(x)),
        "scattered": (MATRIX, M[:3], lambda x: tf.scatter_nd([[4], [1], [0]], x, [5, 4])),
        "updates": (
            MATRIX,
            M,
            lambda x: (
                tf.tensor_scatter_nd_update(x, [[0], [2]], np.ones((2, 4), np.float32))
                + tf.tensor_scatter_nd_add(x, [[1]], np.ones((1, 4), np.float32))
            ),
        ),
        "segments": (
            MATRIX,
            M[:4],
            lambda x: tf.math.unsorted_segment_sum(x, IDS, 3) + tf.math.unsorted_segment_max(x, IDS, 3),
        ),
        "sorted segments": (MATRIX, M[:4], lambda x: tf.math.segment_sum(x, [0, 0, 1, 2])),
        "places where": (MATRIX, M, lambda x: tf.where(x > 0.5)),
        "unique": (spec(None, dtype=tf.int32), np.int32([3, 1, 3, 2]), lambda x: tuple(tf.unique(x))),
        "reversed sequences": (MATRIX, M[:2], lambda x: tf.reverse_sequence(x, [2, 3], seq_axis=1)),
        "diagonals": (
            spec(None, 4, 4),
            X[:, :4, :4, 0],
            lambda x: tf.linalg.set_diag(x, tf.linalg.diag_part(x) + 1.0) + tf.linalg.diag(x[:, 0]),
        ),
        "bands": (spec(None, 4, 4), X[:, :4, :4, 0], lambda x: tf.linalg.band_part(x, 1, 0)),
        "rolled": (MATRIX, M, lambda x: tf.roll(x, 1, 1) + tf.roll(x, -6, 1)),
        "running product": (MATRIX, M, lambda x: tf.math.cumprod(x, 1) + tf.math.cumprod(x, 1, True, True)),
        "sizes": (MATRIX, M, lambda x: tf.size(x) + tf.rank(x)),
        "sorted": (MATRIX, M, lambda x: tf.sort(x, 1) + tf.sort(x, 1, "DESCENDING")),
        "buckets": (MATRIX, M, lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.0, 0.5])),
        "boxes": (
            spec(4, 4),
            np.float32([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [0, 2, 1, 3.05]]),
            lambda x: tf.image.non_max_suppression(x, x[:, 2] - 0.1 * x[:, 3], 4),
        ),
        "spectrum": (spec(None, 8), X.reshape(-1, 8), lambda x: tf.abs(tf.signal.rfft(x))),
        "volumes": (
            spec(None, 4, 6, 6, 2),
            X.reshape(1, 4, 6, 6, 2),
            lambda x: tf.nn.conv3d(x, W.reshape(3, 3, 2, 2, 5)[:2], [1, 1, 2, 2, 1], "SAME"),
        ),
        "volumes, transposed": (
            spec(1, 4, 6, 6, 2),
            X.reshape(1, 4, 6, 6, 2),
            lambda x: tf.nn.conv3d_transpose(x, W.reshape(3, 3, 2, 5, 2)[:2], [1, 8, 12, 12, 5], 2),
        ),
        "pools of volumes": (
            spec(None, 4, 6, 6, 2),
            X.reshape(1, 4, 6, 6, 2),
            lambda x: tf.nn.max_pool3d(x, 2, 2, "VALID") + tf.nn.avg_pool3d(x, 3, 2, "SAME"),
        ),
        "local normalization": (IMAGE, X, lambda x: tf.nn.local_response_normalization(x, 1, 1.0, 0.5, 0.7)),
        "patches": (IMAGE, X, lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")),
        "cubic": (IMAGE, X, lambda x: tf.image.resize(x, [9, 4], "bicubic")),
        "lanczos": (IMAGE, X, lambda x: tf.image.resize(x, [4, 9], "lanczos3", antialias=True)),
        "filters in groups": (IMAGE, X, lambda x: tf.nn.conv2d(x, W[:, :, :2, :4], 1, "SAME")),
        "computed filters": (IMAGE, X, lambda x: tf.nn.conv2d(x, W * tf.reduce_mean(x), 1, "SAME")),
        "einsum, three": (MATRIX, M, lambda x: tf.einsum("bi,ij,bj->b", x, W[0, 1, :, :4], x)),
        "einsum, ellipsis": (SEQUENCES, X[:, :, 0], lambda x: tf.einsum("...ij,...kj->...ik", x, x)),
        "einsum, sums": (SEQUENCES, X[:, :, 0], lambda x: tf.einsum("btc->bc", x) + tf.einsum("btc,btd->bc", x, x)),
        "einsum, sizes unknown": (
            SEQUENCES,
            X[:, :, 0],
            lambda x: tf.einsum("btc,cde->btde", x, W[0].transpose(1, 0, 2).copy()),
        ),
        "strings": (
            spec(None, dtype=tf.string),
            WORDS,
            lambda x: (tf.gather(x, [0, 2]), tf.equal(x, "a"), tf.reshape(x, [-1, 1])),
        ),
        "words to numbers": (spec(None, dtype=tf.string), WORDS, TO_NUMBERS.lookup),
        "numbers to words": (spec(None, dtype=tf.int64), np.int64([2, 3]), TO_WORDS.lookup),
        "numbers to numbers": (spec(None, None, dtype=tf.int64), np.int64([[5, 6], [7, 5]]), OF_NUMBERS.lookup),
        "branches": (
            spec(4),
            M[0],
            lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: (x, x + 1.0), lambda: (-x, tf.constant([2.0]))),
        ),
        "switch": (
            spec(4),
            M[0],
            lambda x: [
                tf.switch_case(
                    tf.cast(x[0] * 0.0, tf.int32) + i, [lambda: x, lambda: x + 1.0, lambda: x * 2.0, lambda: -x]
                )
                for i in (0, 1, 2, 3, 7)
            ],
        ),
        "shapes": (SEQUENCES, X[:, :, 0], lambda x: tf.reshape(x, [tf.shape(x)[1], -1]) * tf.cast(tf.shape(x)[0], F32)),
    }
)


def converted_program(name):
    """The file of a program."""
    given, _, program = PROGRAMS[name]
    function = signed(given)(program)
    return tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()]).convert()
