"""Layers of Keras that have a counterpart in TensorFlow Lite: by name, the shapes of inputs, and how to make one.

An input of integers is written `(shape, highest number)`.
"""

import numpy as np

import headrace as tf

L = tf.keras.layers
SEQUENCE, IMAGE, VOLUME, ROW = (6, 5), (8, 8, 4), (4, 6, 6, 2), (7,)


def cells(*units):
    return [L.LSTMCell(units[0]), L.GRUCell(units[1]), L.SimpleRNNCell(units[2])]


def looked_up(layer):
    layer.adapt(np.array([3, 5, 5, 9]))
    return layer


def adapted(layer, shape):
    layer.adapt(np.random.default_rng(2).normal(2.0, 3.0, (40, *shape)).astype(np.float32))
    return layer


LAYERS = {
    # Core
    "Dense": (ROW, lambda: L.Dense(3, activation="relu")),
    "Dense on sequences": (SEQUENCE, lambda: L.Dense(3, activation="tanh")),
    "EinsumDense": (SEQUENCE, lambda: L.EinsumDense("abc,cd->abd", output_shape=(None, 3), bias_axes="d")),
    "Embedding": (((6,), 9), lambda: L.Embedding(10, 4)),
    "Masking": (SEQUENCE, lambda: L.Masking()),
    "Identity": (ROW, lambda: L.Identity()),
    "Lambda": (ROW, lambda: L.Lambda(lambda x: tf.math.sin(x) * 2.0)),
    # Activations
    "ReLU": (ROW, lambda: L.ReLU(max_value=2.0, negative_slope=0.1, threshold=0.2)),
    "LeakyReLU": (ROW, lambda: L.LeakyReLU(0.2)),
    "PReLU": (IMAGE, lambda: L.PReLU(alpha_initializer="random_uniform", shared_axes=[1, 2])),
    "ELU": (ROW, lambda: L.ELU()),
    "Softmax": (SEQUENCE, lambda: L.Softmax(axis=1)),
    **{
        f"activation {name}": (ROW, lambda name=name: L.Activation(name))
        for name in (
            "celu",
            "elu",
            "exponential",
            "gelu",
            "hard_shrink",
            "hard_sigmoid",
            "hard_swish",
            "hard_tanh",
            "leaky_relu",
            "linear",
            "log_sigmoid",
            "log_softmax",
            "mish",
            "relu",
            "relu6",
            "selu",
            "sigmoid",
            "silu",
            "soft_shrink",
            "softmax",
            "softplus",
            "softsign",
            "sparse_plus",
            "sparse_sigmoid",
            "squareplus",
            "tanh",
            "tanh_shrink",
        )
    },
    # Convolutions
    "Conv1D": (SEQUENCE, lambda: L.Conv1D(4, 3, padding="causal", dilation_rate=2)),
    "Conv2D": (IMAGE, lambda: L.Conv2D(6, 3, strides=2, padding="same", activation="relu")),
    "Conv2D in groups": (IMAGE, lambda: L.Conv2D(6, 3, groups=2)),
    "Conv2D, dilated": (IMAGE, lambda: L.Conv2D(6, 3, dilation_rate=2)),
    "Conv3D": (VOLUME, lambda: L.Conv3D(3, 2)),
    "Conv1DTranspose": (SEQUENCE, lambda: L.Conv1DTranspose(4, 3, strides=2)),
    "Conv2DTranspose": (IMAGE, lambda: L.Conv2DTranspose(3, 3, strides=2, padding="same")),
    "Conv3DTranspose": (VOLUME, lambda: L.Conv3DTranspose(3, 2, strides=2)),
    "DepthwiseConv1D": (SEQUENCE, lambda: L.DepthwiseConv1D(3, depth_multiplier=2)),
    "DepthwiseConv2D": (IMAGE, lambda: L.DepthwiseConv2D(3, depth_multiplier=2, padding="same")),
    "SeparableConv1D": (SEQUENCE, lambda: L.SeparableConv1D(4, 3)),
    "SeparableConv2D": (IMAGE, lambda: L.SeparableConv2D(4, 3, strides=2)),
    # Pools
    "MaxPooling1D": (SEQUENCE, lambda: L.MaxPooling1D(2)),
    "MaxPooling2D": (IMAGE, lambda: L.MaxPooling2D(3, 2, "same")),
    "MaxPooling3D": (VOLUME, lambda: L.MaxPooling3D(2)),
    "AveragePooling1D": (SEQUENCE, lambda: L.AveragePooling1D(2)),
    "AveragePooling2D": (IMAGE, lambda: L.AveragePooling2D(3, 2, "same")),
    "AveragePooling3D": (VOLUME, lambda: L.AveragePooling3D(2, padding="same")),
    **{
        f"{kind}{n}D": ({1: SEQUENCE, 2: IMAGE, 3: VOLUME}[n], lambda kind=kind, n=n: getattr(L, f"{kind}{n}D")())
        for kind in ("GlobalMaxPooling", "GlobalAveragePooling")
        for n in (1, 2, 3)
    },
    # Recurrent layers, whose batch is not known
    "LSTM": (SEQUENCE, lambda: L.LSTM(4)),
    "LSTM, sequences": (SEQUENCE, lambda: L.LSTM(4, return_sequences=True, recurrent_activation="hard_sigmoid")),
    "LSTM, backwards": (SEQUENCE, lambda: L.LSTM(4, return_sequences=True, go_backwards=True)),
    "LSTM, unrolled": (SEQUENCE, lambda: L.LSTM(4, unroll=True)),
    "LSTM, length not known": ((None, 5), lambda: L.LSTM(4, return_sequences=True)),
    "GRU": (SEQUENCE, lambda: L.GRU(4)),
    "GRU, sequences": (SEQUENCE, lambda: L.GRU(4, return_sequences=True, reset_after=False)),
    "SimpleRNN": (SEQUENCE, lambda: L.SimpleRNN(4, return_sequences=True)),
    "Bidirectional LSTM": (SEQUENCE, lambda: L.Bidirectional(L.LSTM(4, return_sequences=True))),
    "Bidirectional GRU": (SEQUENCE, lambda: L.Bidirectional(L.GRU(4), merge_mode="sum")),
    "RNN of a cell": (SEQUENCE, lambda: L.RNN(L.LSTMCell(4), return_sequences=True)),
    "RNN of several cells": (SEQUENCE, lambda: L.RNN(cells(4, 3, 5))),
    "RNN of StackedRNNCells": (SEQUENCE, lambda: L.RNN(L.StackedRNNCells(cells(3, 3, 3)), return_sequences=True)),
    "TimeDistributed": (SEQUENCE, lambda: L.TimeDistributed(L.Dense(3))),
    "ConvLSTM1D": ((3, 6, 2), lambda: L.ConvLSTM1D(3, 3)),
    "ConvLSTM2D": ((3, 6, 6, 2), lambda: L.ConvLSTM2D(3, 3, return_sequences=True)),
    "LSTM after Masking": (SEQUENCE, lambda: tf.keras.Sequential([L.Masking(), L.LSTM(4)])),
    "LSTM after Embedding": (((6,), 9), lambda: tf.keras.Sequential([L.Embedding(10, 4, mask_zero=True), L.LSTM(4)])),
    # Normalization
    "BatchNormalization": (IMAGE, lambda: L.BatchNormalization()),
    "LayerNormalization": (SEQUENCE, lambda: L.LayerNormalization()),
    "GroupNormalization": (IMAGE, lambda: L.GroupNormalization(2)),
    "RMSNormalization": (SEQUENCE, lambda: L.RMSNormalization()),
    "UnitNormalization": (SEQUENCE, lambda: L.UnitNormalization()),
    "SpectralNormalization": (ROW, lambda: L.SpectralNormalization(L.Dense(3))),
    # Attention
    "Attention": ([SEQUENCE, SEQUENCE], lambda: L.Attention()),
    "AdditiveAttention": ([SEQUENCE, SEQUENCE], lambda: L.AdditiveAttention()),
    "MultiHeadAttention": ([SEQUENCE, SEQUENCE], lambda: L.MultiHeadAttention(2, 3)),
    "MultiHeadAttention, causal": (
        [SEQUENCE, SEQUENCE],
        lambda: Calling(L.MultiHeadAttention(2, 3), use_causal_mask=True),
    ),
    "GroupQueryAttention": ([SEQUENCE, SEQUENCE], lambda: L.GroupQueryAttention(3, 4, 2)),
    # Merging
    **{
        name: ([ROW, ROW], lambda name=name: Merging(getattr(L, name)()))
        for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate")
    },
    "Dot": ([SEQUENCE, SEQUENCE], lambda: Merging(L.Dot(axes=2))),
    # Regularization: nothing happens when a model is used
    **{
        name: (SEQUENCE, lambda name=name: getattr(L, name)(0.5))
        for name in ("Dropout", "GaussianDropout", "GaussianNoise", "AlphaDropout", "SpatialDropout1D")
    },
    "ActivityRegularization": (ROW, lambda: L.ActivityRegularization(0.1)),
    # Shapes
    "Flatten": (IMAGE, lambda: L.Flatten()),
    "Reshape": (ROW, lambda: L.Reshape((7, 1))),
    "Permute": (SEQUENCE, lambda: L.Permute((2, 1))),
    "RepeatVector": (ROW, lambda: L.RepeatVector(3)),
    "Cropping1D": (SEQUENCE, lambda: L.Cropping1D((1, 2))),
    "Cropping2D": (IMAGE, lambda: L.Cropping2D(((1, 2), (0, 3)))),
    "Cropping3D": (VOLUME, lambda: L.Cropping3D(1)),
    "ZeroPadding1D": (SEQUENCE, lambda: L.ZeroPadding1D(2)),
    "ZeroPadding2D": (IMAGE, lambda: L.ZeroPadding2D(((1, 2), (0, 3)))),
    "ZeroPadding3D": (VOLUME, lambda: L.ZeroPadding3D(1)),
    "UpSampling1D": (SEQUENCE, lambda: L.UpSampling1D(2)),
    "UpSampling2D": (IMAGE, lambda: L.UpSampling2D(2, interpolation="bilinear")),
    "UpSampling3D": (VOLUME, lambda: L.UpSampling3D(2)),
    # What stands before a model
    "Rescaling": (IMAGE, lambda: L.Rescaling(1 / 255, offset=0.5)),
    "Normalization": (ROW, lambda: adapted(L.Normalization(), ROW)),
    "Resizing": (IMAGE, lambda: L.Resizing(5, 9)),
    "Resizing, bicubic": (IMAGE, lambda: L.Resizing(5, 9, interpolation="bicubic")),
    "CenterCrop": (IMAGE, lambda: L.CenterCrop(4, 6)),
    "Discretization": (ROW, lambda: L.Discretization(bin_boundaries=[-1.0, 0.0, 0.5])),
    "CategoryEncoding": (((3,), 9), lambda: L.CategoryEncoding(10, output_mode="multi_hot")),
    "IntegerLookup": (((3,), 9), lambda: looked_up(L.IntegerLookup())),
    "RandomFlip": (IMAGE, lambda: L.RandomFlip()),
}


class Calling(L.Layer):
    """A layer that is called with two inputs and further arguments."""

    def __init__(self, inner, **options):
        super().__init__()
        self.inner, self.options = inner, options

    def call(self, one, other):
        return self.inner(one, other, **self.options)


class Merging(L.Layer):
    """A layer that takes a list, called with two inputs."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def call(self, one, other):
        return self.inner([one, other])


def built(name, seed=0):
    """A model of one layer, and inputs for it; statistics that layers keep are random."""
    tf.keras.utils.set_random_seed(seed)
    shapes, make = LAYERS[name]
    shapes = shapes if isinstance(shapes, list) else [shapes]
    random = np.random.default_rng(seed)
    inputs, arrays = [], []
    for shape in shapes:
        integers = isinstance(shape[0], tuple)
        dims, dtype = (shape[0], "int32") if integers else (shape, "float32")
        given = "int64" if name == "IntegerLookup" else dtype
        inputs.append(tf.keras.Input(dims, dtype=given))
        sizes = (3, *[4 if size is None else size for size in dims])
        drawn = random.integers(0, shape[1] + 1, sizes) if integers else random.normal(size=sizes)
        arrays.append(drawn.astype(given))
    layer = make()
    several = len(inputs) > 1 and isinstance(layer, (Calling, Merging, L.MultiHeadAttention, L.GroupQueryAttention))
    results = layer(*inputs) if several else layer(inputs if len(inputs) > 1 else inputs[0])
    model = tf.keras.Model(inputs, results)
    randomize(model, random)
    return model, arrays


def randomize(model, random, see=lambda: None):
    """Make biases and statistics of normalization random: as they are first, they would hide mistakes.

    Args:
        model: to be changed.
        random: a generator of NumPy's.
        see: sets statistics to those of some input, after biases and factors are random.
    """
    for variable in model.weights:
        if "bias" in variable.path or "beta" in variable.path:
            variable.assign(random.normal(0.0, 0.2, variable.shape))
        elif "gamma" in variable.path:
            variable.assign(random.uniform(0.5, 1.5, variable.shape))
    see()
    for layer in model._flatten_layers():
        if isinstance(layer, L.BatchNormalization):
            variance = layer.moving_variance.numpy()
            layer.moving_mean.assign_add(random.normal(0.0, 0.2, variance.shape) * np.sqrt(variance))
            layer.moving_variance.assign(variance * random.uniform(0.7, 1.4, variance.shape))
