"""The models that TensorFlow.js computes in Node and in a browser: of each, how it is made and what goes in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import headrace as tf

layers, keras = tf.keras.layers, tf.keras
Input = keras.Input


class Case(NamedTuple):
    """A model.

    Attributes:
        make: gives the model; a concrete function or a Keras model.
        shapes: of the inputs; or what makes them of a random generator.
        formats: in which it is written.
        large: whether it is left out of quick runs.
        backend: of TensorFlow.js, where another one than the usual.
    """

    make: Any
    shapes: Any
    formats: tuple[str, ...] = ("graph", "layers")
    large: bool = False
    backend: str = ""


GRAPH, LAYERS = ("graph",), ("layers",)


def sequential(shape, *members, dtype="float32"):
    return lambda: keras.Sequential([Input(shape, dtype=dtype), *members])


def integers(shape, limit):
    return lambda rng: [rng.integers(0, limit, shape).astype(np.int32)]


def function(*specs):
    """Makes of a Python function its concrete function, later."""
    given = [tf.TensorSpec(shape, getattr(tf, dtype), name=f"x{i}") for i, (shape, dtype) in enumerate(specs)]
    return lambda python: lambda: tf.function(python, input_signature=given).get_concrete_function()


# Layers.


def activations():
    x = Input((6,))
    names = ["relu", "relu6", "elu", "selu", "softplus", "softsign", "tanh", "silu", "gelu", "mish", "log_softmax"]
    return keras.Model(x, [layers.Dense(4, activation=name)(x) for name in names])


def merges():
    a, b = Input((5, 4)), Input((5, 4))
    kinds = [layers.Add, layers.Multiply, layers.Average, layers.Maximum, layers.Minimum]
    found = [kind()([a, b]) for kind in kinds]
    return keras.Model([a, b], [*found, layers.Concatenate(1)([a, b]), layers.Dot(2)([a, b])])


def operators():
    x = Input((6,))
    y = layers.Dense(6, activation="relu")(x)
    return keras.Model(x, layers.Dense(3)(keras.ops.maximum(x + y, x * y)))


def nested():
    part = keras.Sequential([Input((6,)), layers.Dense(5, activation="tanh", name="same"), layers.Dense(4)])
    other_input = Input((4,))
    other = keras.Model(other_input, layers.Dense(4, name="same")(other_input))
    a, b = Input((6,)), Input((6,))
    return keras.Model([a, b], [layers.Concatenate()([part(a), part(b)]), other(part(b)), other(other(part(a)))])


def residual():
    x = Input((12, 12, 3))
    y = z = layers.Conv2D(6, 3, padding="same", use_bias=False)(x)
    for _ in range(2):
        y = layers.BatchNormalization()(y)
        y = layers.ReLU()(y)
        y = layers.Conv2D(6, 3, padding="same")(y)
    return keras.Model(x, layers.Dense(4)(layers.GlobalAveragePooling2D()(layers.Add()([y, z]))))


def states():
    x = Input((7, 3))
    outputs, h, c = layers.LSTM(4, return_sequences=True, return_state=True)(x)
    again = layers.LSTM(4)(outputs, initial_state=[h, c])
    return keras.Model(x, [again, h, c])


def attention():
    x = Input((6, 8))
    y = layers.LayerNormalization()(layers.MultiHeadAttention(2, 4)(x, x) + x)
    return keras.Model(x, layers.Dense(8, activation="gelu")(y))


# Programs.


def loop(x):
    total = tf.zeros([])
    for i in tf.range(4):
        if tf.reduce_sum(x) > 3.0:
            x = x * 0.5
        else:
            x = x + tf.cast(i, tf.float32)
        total += tf.reduce_max(x)
    return {"x": x, "total": total}


def mapped(x):
    return tf.map_fn(lambda row: tf.cumsum(row) / (1.0 + tf.reduce_max(tf.abs(row))), x)


def nested_loops(x):
    total = tf.zeros_like(x)
    count = 0
    for i in tf.range(3):
        scale = 1.0
        for _ in tf.range(i + 1):
            scale, count = scale * 0.5, count + 1
        total += x * scale
    return total, count


def switched(x, which):
    y = tf.cond(which > 1, lambda: tuple(tf.math.top_k(x, 2)), lambda: (x[:, :2], tf.zeros([4, 2], tf.int32)))
    return y[0], y[1]


class Words:
    """Tables, from words to numbers and back."""

    def __init__(self):
        words = ["the", "cat", "sat", "mat"]
        self.numbers = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(words, tf.constant([1, 2, 3, 4], tf.int64)), -1
        )
        self.words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([10, 20, 30], ["x", "y", "z"]), "?")
        self.prices = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, -1.0)
        self.prices.insert(tf.constant(["cat", "mat"]), tf.constant([2.5, 7.25]))

    def __call__(self, text, codes):
        found = self.numbers.lookup(text)
        return {"numbers": found, "sum": tf.reduce_sum(found), "words": self.words.lookup(codes),
                "prices": self.prices.lookup(text), "size": self.numbers.size()}  # fmt: skip


def words(_):
    return [np.array([["the", "cat"], ["dog", "mat"]], object), np.int32([10, 11, 30])]


def table_in_loop():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1, 2, 3], [2, 3, 1, 0]), -1)

    def walk(start):
        place = start
        for _ in tf.range(3):
            place = table.lookup(place)
        return place

    return function(([None, None], "int32"))(walk)()


FLOAT = "float32"
MATRIX = function(([None, 6], FLOAT))
IMAGE = function(([None, 8, 8, 3], FLOAT))
PROGRAMS = {
    "loop": (function(([None], FLOAT))(loop), [(3,)]),
    "nested_loops": (MATRIX(nested_loops), [(4, 6)]),
    "branch": (
        function(([4, 6], FLOAT), ([], "int32"))(switched),
        lambda rng: [rng.random((4, 6), np.float32), np.int32(2)],
    ),
    "lacking": (
        MATRIX(
            lambda x: [
                tf.math.erfc(x),
                tf.nn.softsign(x),
                tf.math.rint(x),
                tf.nn.l2_loss(x),
                tf.math.xlogy(tf.nn.relu(x), tf.abs(x)),
                tf.math.logical_xor(x > 0.0, x > 0.5),
            ]
        ),
        [(4, 6)],
    ),
    "map_fn": (MATRIX(mapped), [(4, 6)]),
    "arithmetic": (MATRIX(lambda x: tf.math.divide_no_nan(x, tf.round(x)) + tf.math.floormod(x, 0.7) - x**3), [(4, 6)]),
    "elementary": (
        MATRIX(
            lambda x: [
                tf.exp(x),
                tf.math.log1p(tf.abs(x)),
                tf.sin(x),
                tf.math.erf(x),
                tf.atan2(x, x + 3.0),
                tf.math.rsqrt(tf.abs(x) + 1.0),
                tf.clip_by_value(x, -0.5, 0.5),
            ]
        ),
        [(4, 6)],
    ),
    "gelu_and_others": (
        MATRIX(lambda x: [tf.nn.gelu(x), tf.nn.softsign(x), tf.nn.swish(x), tf.nn.leaky_relu(x)]),
        [(4, 6)],
    ),
    "comparisons": (MATRIX(lambda x: tf.where((x > 0.1) & (x < 0.9) | tf.equal(x, 0.0), x, -x)), [(4, 6)]),
    "reductions": (
        MATRIX(
            lambda x: [
                tf.reduce_mean(x, 1),
                tf.reduce_logsumexp(x, 0),
                tf.argmax(x, 1),
                tf.norm(x, axis=1),
                tf.reduce_any(x > 0.9, 1),
                tf.math.reduce_variance(x),
            ]
        ),
        [(4, 6)],
    ),
    "slices": (
        MATRIX(
            lambda x: [
                x[:, 1:-1:2],
                x[..., tf.newaxis],
                x[-1],
                tf.gather(x, [2, 0], axis=1),
                tf.gather_nd(x, [[0, 1], [2, 3]]),
                tf.reverse(x, [1]),
                tf.pad(x, [[1, 0], [0, 2]]),
            ]
        ),
        [(4, 6)],
    ),
    "joins": (
        MATRIX(
            lambda x: [
                tf.concat([x, x * 2.0], 1),
                tf.stack(tf.unstack(x, axis=1), 0),
                tf.tile(x, [2, 1]),
                *tf.split(x, 3, axis=1),
            ]
        ),
        [(4, 6)],
    ),
    "scatter": (
        MATRIX(lambda x: [tf.scatter_nd([[1], [3]], x[:2], [5, 6]), tf.tensor_scatter_nd_update(x, [[0]], x[2:3])]),
        [(4, 6)],
    ),
    "top_k": (
        MATRIX(lambda x: [*tf.math.top_k(x, 3), tf.one_hot(tf.argmax(x, 1), 6), tf.cumsum(x, 1, reverse=True)]),
        [(4, 6)],
    ),
    "products": (
        function(([2, 3, 4], FLOAT), ([2, 4, 5], FLOAT))(
            lambda a, b: [
                a @ b,
                tf.einsum("bij,bjk->bik", a, b),
                tf.transpose(a, [2, 0, 1]),
                tf.linalg.matmul(a, a, transpose_b=True),
            ]
        ),
        [(2, 3, 4), (2, 4, 5)],
    ),
    "images": (
        IMAGE(
            lambda x: [
                tf.image.resize(x, [5, 11]),
                tf.image.resize(x, [16, 16], "nearest"),
                tf.nn.depth_to_space(tf.tile(x, [1, 1, 1, 4]), 2),
                tf.nn.max_pool2d(x, 2, 2, "SAME"),
            ]
        ),
        [(2, 8, 8, 3)],
    ),
    "boxes": (
        function(([5, 4], FLOAT), ([5], FLOAT))(
            lambda boxes, scores: tf.image.non_max_suppression(boxes, scores, 3, 0.4)
        ),
        lambda rng: [
            np.float32([[0, 0, 1, 1], [0, 0, 1, 1.05], [0, 2, 1, 3], [0, 2, 1, 3.2], [4, 4, 5, 5]]),
            np.float32([0.9, 0.8, 0.7, 0.95, 0.1]),
        ],
    ),
    "integers": (
        function(([None], "int32"))(
            lambda n: [
                n // 3,
                n % 3,
                tf.math.bincount(n, minlength=8),
                tf.cast(n, tf.float32) / 2.0,
                tf.range(4) * 2,
                tf.unique(n)[0],
            ]
        ),
        integers((6,), 7),
    ),
    "tables": (lambda: function(([None, None], "string"), ([None], "int32"))(Words().__call__)(), words),
    "table_in_loop": (table_in_loop, integers((2, 3), 4)),
}


def spectra():
    return function(([2, 8], FLOAT))(lambda x: [tf.abs(tf.signal.rfft(x)), tf.signal.irfft(tf.signal.rfft(x))])()


def looked_up():
    x = Input((3,), dtype="string")
    numbers = layers.StringLookup(vocabulary=["red", "green", "blue"])(x)
    return keras.Model(x, layers.Embedding(4, 2)(numbers))


# Networks.


def application(name, size=64, **settings):
    def make():
        model = getattr(keras.applications, name)(
            weights=None, input_shape=(size, size, 3), classes=10, classifier_activation=None, **settings
        )
        rng = np.random.default_rng(1)
        for layer in model.layers:
            if isinstance(layer, layers.BatchNormalization):
                for variable, low, high in ((layer.moving_mean, -0.1, 0.1), (layer.moving_variance, 0.5, 1.5),
                                            (layer.beta, -0.2, 0.2)):  # fmt: skip
                    variable.assign(rng.uniform(low, high, variable.shape))
        return model

    return make


def network(name, size=64, formats=GRAPH, **settings):
    # Where shaders are emulated, compiling those of a network takes longer than all else.
    return Case(application(name, size, **settings), [(1, size, size, 3)], formats, large=True, backend="cpu")


CASES = {
    "activations": Case(activations, [(3, 6)]),
    "convolution": Case(
        sequential(
            (14, 14, 3),
            layers.Conv2D(4, 3, strides=2, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.ReLU(6.0),
            layers.Conv2D(5, 3, dilation_rate=2),
            layers.MaxPooling2D(2, 1),
            layers.AveragePooling2D(2, 1, "same"),
            layers.Flatten(),
            layers.Dense(3, activation="softmax"),
        ),
        [(2, 14, 14, 3)],
    ),
    "convolution_1d": Case(
        sequential(
            (16, 3),
            layers.Conv1D(4, 3, padding="same", activation="relu"),
            layers.MaxPooling1D(2),
            layers.Conv1D(4, 2, strides=2),
            layers.AveragePooling1D(2, 1),
            layers.GlobalMaxPooling1D(),
            layers.Dense(2),
        ),
        [(2, 16, 3)],
    ),
    "convolution_3d": Case(
        sequential(
            (6, 6, 6, 2),
            layers.Conv3D(3, 3, activation="relu"),
            layers.MaxPooling3D(2),
            layers.Flatten(),
            layers.Dense(2),
        ),
        [(2, 6, 6, 6, 2)],
    ),
    "depthwise": Case(
        sequential(
            (10, 10, 3),
            layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same"),
            layers.SeparableConv2D(4, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(2),
        ),
        [(2, 10, 10, 3)],
    ),
    "transposed": Case(
        sequential(
            (5, 5, 3),
            layers.Conv2DTranspose(4, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(2, 2),
        ),
        [(2, 5, 5, 3)],
    ),
    "transposed_3d": Case(sequential((3, 3, 3, 2), layers.Conv3DTranspose(2, 2, strides=2)), [(1, 3, 3, 3, 2)], LAYERS),
    "borders": Case(
        sequential(
            (6, 6, 2),
            layers.ZeroPadding2D(((1, 2), (0, 1))),
            layers.Cropping2D(((1, 0), (1, 1))),
            layers.UpSampling2D((2, 3)),
            layers.GlobalMaxPooling2D(),
        ),
        [(2, 6, 6, 2)],
    ),
    "long_memory": Case(
        sequential((7,), layers.Embedding(11, 4, mask_zero=True), layers.LSTM(5), layers.Dense(2), dtype="int32"),
        integers((3, 7), 11),
    ),
    "gates": Case(
        sequential((7, 3), layers.GRU(5, reset_after=False, return_sequences=True), layers.GRU(4, reset_after=False)),
        [(2, 7, 3)],
    ),
    "gates_reset_after": Case(sequential((7, 3), layers.GRU(5), layers.Dense(2)), [(2, 7, 3)], GRAPH),
    "both_directions": Case(
        sequential(
            (7, 3),
            layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
            layers.TimeDistributed(layers.Dense(3)),
            layers.Bidirectional(layers.SimpleRNN(3), merge_mode="sum"),
        ),
        [(2, 7, 3)],
    ),
    "masked": Case(
        sequential((6, 2), layers.Masking(0.5), layers.SimpleRNN(4), layers.Dense(2)),
        lambda rng: [np.where(np.arange(6)[:, None] > 3, np.float32(0.5), rng.random((2, 6, 2), np.float32))],
    ),
    "stacked_cells": Case(
        sequential((5, 3), layers.RNN([layers.LSTMCell(4), layers.SimpleRNNCell(3)], return_sequences=True)),
        [(2, 5, 3)],
    ),
    "states": Case(states, [(2, 7, 3)]),
    "convolutional_memory": Case(sequential((4, 6, 6, 2), layers.ConvLSTM2D(3, 3)), [(1, 4, 6, 6, 2)]),
    "merges": Case(merges, [(2, 5, 4), (2, 5, 4)]),
    "operators": Case(operators, [(3, 6)]),
    "nested": Case(nested, [(3, 6), (3, 6)]),
    "residual": Case(residual, [(2, 12, 12, 3)]),
    "normalization": Case(
        sequential(
            (5, 4),
            layers.LayerNormalization(),
            layers.BatchNormalization(axis=1),
            layers.LayerNormalization(axis=[1, 2]),
        ),
        [(2, 5, 4)],
    ),
    "advanced_activations": Case(
        sequential(
            (5, 4),
            layers.LeakyReLU(0.2),
            layers.PReLU(shared_axes=[1], alpha_initializer="ones"),
            layers.ELU(),
            layers.Softmax(),
            layers.Activation("sigmoid"),
        ),
        [(2, 5, 4)],
    ),
    "kept_axes": Case(
        sequential(
            (6, 5, 3),
            layers.GlobalAveragePooling2D(keepdims=True),
            layers.Conv2D(4, 1),
            layers.Reshape((2, 2)),
            layers.GlobalMaxPooling1D(keepdims=True),
        ),
        [(2, 6, 5, 3)],
    ),
    "shapes": Case(
        sequential((12,), layers.Reshape((3, 4)), layers.Permute((2, 1)), layers.Flatten(), layers.RepeatVector(3)),
        [(2, 12)],
    ),
    "noise": Case(
        sequential(
            (6, 4),
            layers.Dropout(0.5),
            layers.GaussianNoise(0.3),
            layers.SpatialDropout1D(0.2),
            layers.GaussianDropout(0.2),
            layers.AlphaDropout(0.1),
            layers.Rescaling(0.5, 1.0),
        ),
        [(2, 6, 4)],
    ),
    "categories": Case(
        sequential((3,), layers.CategoryEncoding(5, "multi_hot"), layers.Dense(2), dtype="int32"),
        integers((2, 3), 5),
        GRAPH,
    ),
    "attention": Case(attention, [(2, 6, 8)], GRAPH),
    "other_normalization": Case(
        sequential((6, 6, 4), layers.GroupNormalization(2), layers.UnitNormalization(), layers.Resizing(4, 5)),
        [(2, 6, 6, 4)],
        GRAPH,
    ),
    "looked_up": Case(looked_up, lambda rng: [np.array([["red", "blue", "pink"]], object)], GRAPH),
    **{name: Case(make, shapes, GRAPH) for name, (make, shapes) in PROGRAMS.items()},
    # In shaders, transforms are less exact: up to 1.3e-4 of the largest number.
    "spectra": Case(spectra, [(2, 8)], GRAPH, backend="cpu"),
    "MobileNet": network("MobileNet", formats=("graph", "layers"), alpha=0.25),
    "MobileNetV2": network("MobileNetV2", formats=("graph", "layers"), alpha=0.35),
    "MobileNetV3Small": network("MobileNetV3Small"),
    "EfficientNetB0": network("EfficientNetB0"),
    "DenseNet121": network("DenseNet121", formats=("graph", "layers")),
    "NASNetMobile": network("NASNetMobile"),
    "ResNet50": network("ResNet50", formats=("graph", "layers")),
    "Xception": network("Xception", 71, ("graph", "layers")),
}


def inputs_of(case: Case, seed: int) -> list[np.ndarray]:
    """What goes into a model."""
    rng = np.random.default_rng(seed)
    if callable(case.shapes):
        return case.shapes(rng)
    return [rng.uniform(-1, 1, shape).astype(np.float32) for shape in case.shapes]
