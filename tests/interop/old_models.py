"""The models of the fixtures of old versions, in words that Keras 2 and Keras 3 both understand."""

import numpy as np

WARM_UP, STEPS = 4, 10
# By name: the new optimizer, and the class of the same name in `keras.optimizers.legacy`.
OPTIMIZERS = {
    "adam": ("Adam", {"learning_rate": 0.01}),
    "sgd_momentum": ("SGD", {"learning_rate": 0.05, "momentum": 0.9}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.01, "rho": 0.8}),
}
# More of them, of which only tf_keras is asked, with a model of one layer.
MORE_OPTIMIZERS = {
    "adam_amsgrad": ("Adam", {"learning_rate": 0.01, "amsgrad": True, "beta_1": 0.8}),
    "adam_average": ("Adam", {"learning_rate": 0.01, "use_ema": True}),
    "adamw": ("AdamW", {"learning_rate": 0.01}),
    "sgd": ("SGD", {"learning_rate": 0.05}),
    "sgd_nesterov": ("SGD", {"learning_rate": 0.05, "momentum": 0.5, "nesterov": True}),
    "rmsprop_all": ("RMSprop", {"learning_rate": 0.01, "momentum": 0.5, "centered": True}),
    "adagrad": ("Adagrad", {"learning_rate": 0.05}),
    "adadelta": ("Adadelta", {"learning_rate": 0.5}),
    "adamax": ("Adamax", {"learning_rate": 0.01}),
    "nadam": ("Nadam", {"learning_rate": 0.01}),
    "ftrl": ("Ftrl", {"learning_rate": 0.05}),
    "lion": ("Lion", {"learning_rate": 0.001}),
    "adafactor": ("Adafactor", {"learning_rate": 0.01}),
}


def numbers(shape, seed):
    return np.random.RandomState(seed).standard_normal(shape).astype("float32")


def functional(tf):
    """Two branches, and layers with and without weights."""
    k = tf.keras.layers
    x = tf.keras.Input((4,), name="x")
    a = k.Dense(3, activation="tanh", name="left")(x)
    b = k.BatchNormalization(name="norm")(k.Dense(3, name="right")(k.Dropout(0.0)(x)))
    return tf.keras.Model(x, k.Dense(2, name="end")(k.Concatenate()([a, b])))


def sequential(tf):
    k = tf.keras.layers
    return tf.keras.Sequential(
        [k.InputLayer((6, 6, 1)), k.Conv2D(2, 3, activation="relu", name="conv"), k.Flatten(), k.Dense(2, name="end")]
    )


def recurrent(tf):
    k = tf.keras.layers
    x = tf.keras.Input((5,), dtype="int32")
    y = k.Embedding(8, 3, name="words")(x)
    y = k.Bidirectional(k.LSTM(2, return_sequences=True), name="both")(y)
    return tf.keras.Model(x, k.Dense(1, name="end")(k.GRU(2, name="gru")(y)))


def subclassed(tf):
    k = tf.keras.layers

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = k.Dense(3, activation="relu")
            self.blocks = [k.Dense(3, activation="tanh") for _ in range(2)]
            self.end = k.Dense(2)

        def call(self, x):
            x = self.first(x)
            for block in self.blocks:
                x = block(x)
            return self.end(x)

    model = Net()
    model(tf.zeros([1, 4]))
    return model


def line(tf):
    return tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(4,), name="line")])


def images(tf):
    """Convolutions whose arguments are others in Keras 3."""
    k = tf.keras.layers
    return tf.keras.Sequential([
        k.Rescaling(0.5, input_shape=(6, 6, 1)), k.RandomFlip(), k.DepthwiseConv2D(2, depth_multiplier=2),
        k.BatchNormalization(), k.SeparableConv2D(3, 2), k.Conv2DTranspose(2, 2, activation="relu"), k.PReLU(),
        k.GlobalAveragePooling2D(),
    ])  # fmt: skip


def attention(tf):
    """Tensors as arguments by name, functions of tf, and slices."""
    k = tf.keras.layers
    x = tf.keras.Input((4, 6))
    y = k.MultiHeadAttention(2, 3)(x, x)
    y = k.LayerNormalization(axis=[1, 2])(x + tf.nn.relu(y) * 2.0)
    y = k.Attention(use_scale=True)([y, y])
    return tf.keras.Model(x, k.Dense(2)(tf.concat([y[:, 0], tf.reduce_mean(y[:, 1:3], axis=1)], -1)))


def nested(tf):
    """A model that is called twice inside of another one."""
    k = tf.keras.layers
    inner = tf.keras.Sequential([k.Dense(3, activation="tanh", input_shape=(4,)), k.Dense(2)])
    z = tf.keras.Input((2,))
    last = tf.keras.Model(z, k.Dense(2)(z))
    x = tf.keras.Input((4,))
    return tf.keras.Model(x, [last(inner(x)), last(inner(2.0 * x))])


def steps(tf):
    """Recurrent layers with cells in a stack, and `hard_sigmoid`, which is another function in Keras 3."""
    k = tf.keras.layers
    return tf.keras.Sequential([
        k.Input((3, 5, 5, 1)), k.ConvLSTM2D(2, 3), k.Reshape((3, 6)), k.RNN([k.GRUCell(2), k.LSTMCell(3)]),
        k.Dense(1, activation="hard_sigmoid"),
    ])  # fmt: skip


def adapted(tf):
    normalization = tf.keras.layers.Normalization()
    normalization.adapt(numbers([10, 4], 3))
    return tf.keras.Sequential([tf.keras.Input((4,)), normalization, tf.keras.layers.Dense(2)])


FILES = {"images": images, "attention": attention, "nested": nested, "steps": steps, "adapted": adapted}
SHAPES = {"sequential": [3, 6, 6, 1], "images": [3, 6, 6, 1], "attention": [3, 4, 6], "steps": [2, 3, 5, 5, 1]}
MODELS = {
    **FILES, "line": line, "functional": functional, "sequential": sequential, "recurrent": recurrent,
    "subclassed": subclassed,
}  # fmt: skip


def inputs(model, seed=0):
    if model == "recurrent":
        return np.random.RandomState(seed).randint(0, 8, [3, 5]).astype("int32")
    return numbers(SHAPES.get(model, [3, 4]), seed)


def train(tf, name, model, optimizer, step):
    """One step towards 0.3; the loss."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(tf.constant(inputs(name, step + 1)), training=True) - 0.3))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return float(loss)


def outputs(tf, name, model):
    results = model(tf.constant(inputs(name)), training=False)
    return np.stack(results) if isinstance(results, (list, tuple)) else np.asarray(results)
