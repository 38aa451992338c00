"""Programs with Keras layers of every family, each in a small model that is trained with momentum."""

import numpy as np
from catalog import Program, add, dynamic, numbers, program, trainer

ROWS, IMAGE, CUBE, ROW = (2, 8, 3), (2, 8, 8, 3), (2, 6, 6, 6, 2), (3, 4)


class Layers(Program):
    """A stack of layers, flattened, and two units at the end."""

    rate = 0.05  # of learning: small enough that losses fall

    def __init__(self, name, shape, stack, dtype="float32", ends=True, **settings):
        self.name, self.shape, self.stack, self.dtype, self.ends = name, shape, stack, dtype, ends
        vars(self).update(settings)

    def model(self, tf):
        layers = tf.keras.layers
        stack = self.stack(layers)
        end = [layers.Flatten(), layers.Dense(2, name="end")] if self.ends else []
        return tf.keras.Sequential([tf.keras.Input(self.shape[1:], dtype=self.dtype), *stack, *end])

    def optimizer(self, tf):
        return tf.keras.optimizers.SGD(self.rate, momentum=0.9)

    def build(self, tf):
        return trainer(tf, self.model(tf), tf.TensorSpec(dynamic(self.shape), self.dtype), self.optimizer(tf))


TABLE = [
    ("dense", ROW, lambda k: [k.Dense(5, "relu"), k.Dense(3, "tanh", use_bias=False)]),
    ("dense_einsum", ROWS, lambda k: [k.EinsumDense("abc,cd->abd", output_shape=(8, 4), bias_axes="d")]),
    ("conv1d", ROWS, lambda k: [k.Conv1D(4, 3, padding="causal", activation="relu"), k.Conv1D(2, 2, dilation_rate=2)]),
    ("conv2d", IMAGE, lambda k: [k.Conv2D(4, 3, strides=2, padding="same"), k.Conv2D(4, 2, groups=2)]),
    ("conv3d", CUBE, lambda k: [k.Conv3D(3, 2, strides=2, activation="tanh")]),
    ("conv1d_transpose", ROWS, lambda k: [k.Conv1DTranspose(3, 3, strides=2)]),
    ("conv2d_transpose", IMAGE, lambda k: [k.Conv2DTranspose(3, 3, strides=2, padding="same"), k.AveragePooling2D(4)]),
    ("conv3d_transpose", CUBE, lambda k: [k.Conv3DTranspose(2, 2, strides=2), k.AveragePooling3D(4)]),
    (
        "depthwise",
        IMAGE,
        lambda k: [k.DepthwiseConv2D(3, depth_multiplier=2), k.Reshape((36, 6)), k.DepthwiseConv1D(3)],
    ),
    ("separable", IMAGE, lambda k: [k.SeparableConv2D(4, 3), k.Reshape((36, 4)), k.SeparableConv1D(2, 3)]),
    (
        "pooling1d",
        ROWS,
        lambda k: [k.Conv1D(4, 1), k.MaxPooling1D(2), k.AveragePooling1D(2), k.GlobalAveragePooling1D()],
    ),
    (
        "pooling2d",
        IMAGE,
        lambda k: [k.Conv2D(4, 1), k.MaxPooling2D(2), k.AveragePooling2D(2, padding="same"), k.GlobalMaxPooling2D()],
    ),
    (
        "pooling3d",
        CUBE,
        lambda k: [k.Conv3D(3, 1), k.MaxPooling3D(2), k.AveragePooling3D(2, strides=1), k.GlobalAveragePooling3D()],
    ),
    ("batch_normalization", IMAGE, lambda k: [k.Conv2D(4, 3), k.BatchNormalization(momentum=0.8), k.ReLU()]),
    ("batch_normalization_rows", ROW, lambda k: [k.Dense(4), k.BatchNormalization(scale=False), k.ReLU()]),
    ("layer_normalization", ROWS, lambda k: [k.Dense(4), k.LayerNormalization(), k.RMSNormalization()]),
    ("group_normalization", IMAGE, lambda k: [k.Conv2D(4, 3), k.GroupNormalization(2), k.UnitNormalization()]),
    ("spectral_normalization", ROW, lambda k: [k.SpectralNormalization(k.Dense(4), power_iterations=2)]),
    ("lstm", ROWS, lambda k: [k.LSTM(4, return_sequences=True), k.LSTM(3, recurrent_dropout=0.0, go_backwards=True)]),
    ("gru", ROWS, lambda k: [k.GRU(4, return_sequences=True), k.GRU(3, reset_after=False)]),
    ("simple_rnn", ROWS, lambda k: [k.SimpleRNN(4, return_sequences=True), k.SimpleRNN(3, unroll=True)]),
    (
        "bidirectional",
        ROWS,
        lambda k: [k.Bidirectional(k.LSTM(3, return_sequences=True)), k.Bidirectional(k.GRU(2), merge_mode="sum")],
    ),
    (
        "rnn_cells",
        ROWS,
        lambda k: [k.RNN([k.LSTMCell(3), k.GRUCell(3)], return_sequences=True), k.RNN(k.SimpleRNNCell(2))],
    ),
    ("conv_lstm", (2, 3, 6, 6, 2), lambda k: [k.ConvLSTM2D(3, 3, return_sequences=True), k.ConvLSTM2D(2, 2)]),
    ("conv_lstm1d", (2, 3, 6, 2), lambda k: [k.ConvLSTM1D(3, 3)]),
    (
        "time_distributed",
        (2, 3, 6, 6, 2),
        lambda k: [k.TimeDistributed(k.Conv2D(3, 3)), k.TimeDistributed(k.Flatten()), k.TimeDistributed(k.Dense(2))],
    ),
    ("masking", ROWS, lambda k: [k.Masking(0.0), k.LSTM(3)]),
    (
        "dropout",
        ROWS,
        lambda k: [
            k.Dense(8),
            k.Dropout(0.4, seed=3),
            k.SpatialDropout1D(0.3, seed=4),
            k.GaussianDropout(0.2, seed=5),
            k.AlphaDropout(0.1, seed=6),
        ],
    ),
    ("noise", ROW, lambda k: [k.Dense(8), k.GaussianNoise(0.4, seed=3), k.ActivityRegularization(0.1)]),
    ("lstm_dropout", ROWS, lambda k: [k.LSTM(4, dropout=0.3, recurrent_dropout=0.2, seed=2)]),
    (
        "reshaping",
        ROWS,
        lambda k: [
            k.Permute((2, 1)),
            k.Dense(4),
            k.Reshape((2, 6)),
            k.Cropping1D(0),
            k.ZeroPadding1D(1),
            k.UpSampling1D(2),
            k.Flatten(),
            k.RepeatVector(2),
            k.Dense(2),
        ],
    ),
    (
        "reshaping_images",
        IMAGE,
        lambda k: [
            k.Conv2D(2, 3),
            k.Cropping2D(1),
            k.ZeroPadding2D(((1, 0), (0, 1))),
            k.UpSampling2D(2, interpolation="bilinear"),
        ],
    ),
    ("reshaping_cubes", CUBE, lambda k: [k.Conv3D(2, 3), k.Cropping3D(1), k.ZeroPadding3D(1), k.UpSampling3D(2)]),
    (
        "activations",
        ROW,
        lambda k: [
            k.Dense(6),
            k.LeakyReLU(0.1),
            k.PReLU("ones"),
            k.ELU(),
            k.Dense(6),
            k.Softmax(),
            *(
                k.Activation(a)
                for a in [
                    "gelu",
                    "swish",
                    "selu",
                    "softplus",
                    "mish",
                    "exponential",
                    "hard_sigmoid",
                    "softsign",
                    "silu",
                    "log_softmax",
                ]
            ),
        ],
    ),
    (
        "regularized",
        ROW,
        lambda k: [
            k.Dense(5, kernel_regularizer="l2", bias_regularizer="l1", kernel_constraint="max_norm"),
            k.Dense(3, kernel_constraint="non_neg", kernel_initializer="orthogonal"),
        ],
    ),
    ("float64", ROW, lambda k: [k.Dense(5, "gelu", dtype="float64"), k.LayerNormalization(dtype="float64")]),
]
DIVERGING = {"dropout", "reshaping_images", "reshaping_cubes", "time_distributed"}  # at the usual rate of learning
for line in TABLE:
    add(Layers(*line, **({"rate": 0.005} if line[0] in DIVERGING else {})))

add(Layers("embedding", (3, 5), lambda k: [k.Embedding(8, 4), k.Conv1D(2, 2)], dtype="int32"))
add(Layers("embedding_mask", (3, 5), lambda k: [k.Embedding(8, 4, mask_zero=True), k.GRU(3)], dtype="int64"))
add(
    Layers(
        "mixed_precision",
        ROW,
        lambda k: [k.Dense(8, "relu", dtype="mixed_bfloat16"), k.Dense(4, dtype="mixed_float16")],
        rtol=2e-2,
        atol=2e-2,
        reason="half floats: sums are rounded at other places",
    )
)


class Functional(Layers):
    """A model of several branches: `connect` takes the layers and the input."""

    def __init__(self, name, shape, connect, **settings):
        super().__init__(name, shape, None, **settings)
        self.connect = connect

    def model(self, tf):
        x = tf.keras.Input(self.shape[1:], dtype=self.dtype)
        return tf.keras.Model(x, self.connect(tf.keras.layers, x))


def _merge(k, x):
    a, b = k.Dense(4)(x), k.Dense(4, "tanh")(x)
    merged = [
        k.Add()([a, b]),
        k.Subtract()([a, b]),
        k.Multiply()([a, b]),
        k.Average()([a, b]),
        k.Maximum()([a, b]),
        k.Minimum()([a, b]),
        k.Dot(-1)([a, b]),
    ]
    return k.Dense(2)(k.Concatenate()(merged))


def _attend(k, x):
    queries, keys = k.Dense(4)(x), k.Dense(4)(x)
    first = k.Attention(use_scale=True, score_mode="concat")([queries, keys])
    return k.Dense(2)(k.AdditiveAttention()([first, keys, keys]))


def _heads(k, x):
    y = k.MultiHeadAttention(2, 3, dropout=0.2, seed=5)(x, x, use_causal_mask=True)
    return k.GroupQueryAttention(2, 4, 2)(k.LayerNormalization()(y + x), x)


def _residual(k, x):
    y = k.Conv2D(3, 3, padding="same")(x)
    return {"mean": k.GlobalAveragePooling2D()(k.Add()([x, y])), "all": [y * 2.0, k.Flatten()(x + y)]}


def _shared(k, x):
    shared = k.Dense(4, "relu")
    return [k.Dense(1, name="left")(shared(shared(x))), k.Dense(1, name="right")(shared(x))]


add(Functional("merging", ROW, _merge))
add(Functional("attention", ROWS, _attend))
add(Functional("multi_head_attention", ROWS, _heads))
add(Functional("functional_structured", IMAGE, _residual, has_signature=False))
add(Functional("functional_shared_layers", ROW, _shared))


@program
class FunctionalSeveralInputs(Program):
    """Two inputs, by name."""

    def build(self, tf):
        k = tf.keras.layers
        a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((2,), name="b")
        y = k.Dense(2)(k.Concatenate()([k.Dense(3, "relu")(a), b]))
        model = tf.keras.Model({"a": a, "b": b}, {"y": y, "z": k.Dense(1)(y)})
        return trainer(
            tf,
            model,
            {"a": tf.TensorSpec([None, 3], name="a"), "b": tf.TensorSpec([None, 2], name="b")},
            tf.keras.optimizers.Adam(0.01),
        )

    def inputs(self, tf, seed=0):
        return ({"a": numbers([4, 3], seed), "b": numbers([4, 2], seed + 50)},)

    def call_signatures(self, tf, loaded):
        values = {key: tf.constant(value) for key, value in self.inputs(tf)[0].items()}
        return loaded.signatures["serving_default"](**values)


def subclassed(tf):
    """A model of the user's own class, with layers in a list and a dict, and a model inside."""
    k = tf.keras.layers

    class Inner(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.d = k.Dense(4, "relu")

        def call(self, x):
            return self.d(x)

    class Outer(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.blocks = [k.Dense(4, "tanh") for _ in range(2)]
            self.heads = {"y": k.Dense(2), "z": k.Dense(1)}
            self.inner = Inner()
            self.dropout = k.Dropout(0.2, seed=1)
            self.scale = self.add_weight(shape=(4,), initializer="ones", name="scale")
            self.count = tf.Variable(0.0, trainable=False)

        def call(self, x, training=False):
            for block in self.blocks:
                x = block(x)
            x = self.dropout(self.inner(x) * self.scale, training=training)
            if training:
                self.count.assign_add(1.0)
            return {key: head(x) for key, head in self.heads.items()}

    model = Outer()
    model(tf.zeros([1, 4]))
    return model


@program
class Subclassed(Program):
    def build(self, tf):
        return trainer(tf, subclassed(tf), tf.TensorSpec([None, 4]), tf.keras.optimizers.Adam(0.01))


@program
class SequentialNested(Layers):
    def __init__(self):
        self.shape = ROW

    def model(self, tf):
        k = tf.keras.layers
        inner = tf.keras.Sequential([tf.keras.Input((4,)), k.Dense(3), k.BatchNormalization()], name="inner")
        x = tf.keras.Input((4,))
        outer = tf.keras.Model(x, inner(x) + 1.0, name="outer")
        return tf.keras.Sequential([tf.keras.Input((4,)), outer, k.Dense(2)])


@program
class StatefulRecurrent(Layers):
    """State that stays between batches is saved too."""

    def __init__(self):
        self.shape = ROWS

    def model(self, tf):
        x = tf.keras.Input(batch_shape=self.shape)
        y = tf.keras.layers.LSTM(3, stateful=True)(x)
        return tf.keras.Model(x, tf.keras.layers.Dense(2)(y))

    def build(self, tf):
        return trainer(tf, self.model(tf), tf.TensorSpec(self.shape), self.optimizer(tf))


@program
class KerasModelItself(Program):
    """The model is the root, saved by `tf.saved_model.save`, without a module around."""

    has_signature = False
    trains = False

    def build(self, tf):
        k = tf.keras.layers
        return tf.keras.Sequential([tf.keras.Input((4,)), k.Dense(3, "relu"), k.Dropout(0.5), k.Dense(2)])

    def outputs(self, tf, obj):
        signatures = getattr(obj, "signatures", None)
        x = tf.constant(self.inputs(tf)[0])
        return next(iter(signatures["serving_default"](x).values())) if signatures else obj(x)


@program
class KerasExport(Program):
    """`Model.export`: its endpoint `serve`."""

    trains = False
    is_whole_there = False
    reason = "Keras on TensorFlow does not save layers in lists and dicts of a model; headrace does"

    def build(self, tf):
        return subclassed(tf)

    def save_model(self, tf, obj, folder):
        obj.export(folder, input_signature=[tf.TensorSpec([None, 4], name="x")], verbose=False)

    def outputs(self, tf, obj):
        x = tf.constant(self.inputs(tf)[0])
        return obj.serve(x) if hasattr(obj, "serve") else obj(x)


@program
class KerasCompiled(Program):
    """`compile` and `train_on_batch`: optimizer, metrics and loss tracker are in the model's checkpoint."""

    has_functions = False

    def build(self, tf):
        k = tf.keras.layers
        model = tf.keras.Sequential([tf.keras.Input((4,)), k.Dense(5, "relu"), k.Dense(3, "softmax")])
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        self.train(tf, model, 99)
        return model

    def outputs(self, tf, obj):
        return obj(self.inputs(tf)[0])

    def train(self, tf, obj, step):
        return obj.train_on_batch(numbers([6, 4], step), numbers([6], step, "int32") % 3)

    def checkpoint(self, tf, obj):
        return tf.train.Checkpoint(model=obj)


@program
class Metrics(Program):
    """Metrics half-way."""

    has_functions = False

    def build(self, tf):
        m = tf.keras.metrics
        obj = [
            m.Mean(),
            m.SparseCategoricalAccuracy(),
            m.AUC(num_thresholds=20),
            m.MeanIoU(3),
            m.RootMeanSquaredError(),
            m.Precision(),
            m.CosineSimilarity(),
        ]
        self.train(tf, obj, 50)
        return obj

    def checkpoint(self, tf, obj):
        # TensorFlow does not save metrics themselves.
        return tf.train.Checkpoint(states=[metric.variables for metric in obj])

    def train(self, tf, obj, step):
        mean, accuracy, auc, iou, rmse, precision, cosine = obj
        chances, truth = np.abs(numbers([6, 3], step)) % 1.0, numbers([6], step, "int32") % 3
        mean.update_state(chances)
        accuracy.update_state(truth, chances)
        iou.update_state(truth, chances.argmax(-1))
        for metric in (auc, precision):
            metric.update_state(truth == 1, chances[:, 1])
        for metric in (rmse, cosine):
            metric.update_state(chances, chances[::-1])
        return self.outputs(tf, obj)

    def outputs(self, tf, obj):
        return [metric.result() for metric in obj]
