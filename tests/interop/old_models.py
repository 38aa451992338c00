"""The models of the fixtures of old versions, in words that Keras 2 and Keras 3 both understand."""

import numpy as np

WARM_UP, STEPS = 4, 10
# By name: the new optimizer, and the class of the same name in `keras.optimizers.legacy`.
OPTIMIZERS = {
    "adam": ("Adam", {"learning_rate": 0.01}),
    "sgd_momentum": ("SGD", {"learning_rate": 0.05, "momentum": 0.9}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.01, "rho": 0.8}),
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


MODELS = {"functional": functional, "sequential": sequential, "recurrent": recurrent, "subclassed": subclassed}


def inputs(model, seed=0):
    if model == "recurrent":
        return np.random.RandomState(seed).randint(0, 8, [3, 5]).astype("int32")
    return numbers([3, 6, 6, 1] if model == "sequential" else [3, 4], seed)


def train(tf, name, model, optimizer, step):
    """One step towards 0.3; the loss."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(tf.constant(inputs(name, step + 1)), training=True) - 0.3))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return float(loss)


def outputs(tf, name, model):
    return np.asarray(model(tf.constant(inputs(name)), training=False))
