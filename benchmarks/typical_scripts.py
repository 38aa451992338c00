"""Ten scripts as users write them, up to the end of their first epoch, for `first_seconds.py`.

Each is given the library and `step`, which it calls after every training step; data come from NumPy, with fixed seeds.
"""

import numpy as np


def _rng():
    return np.random.default_rng(0)


def _labelled(count, *shape, classes=10):
    rng = _rng()
    return rng.random((count, *shape), np.float32), rng.integers(0, classes, count)


def _counter(tf, step):
    return tf.keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: step())


def mlp(tf, step):
    x, y = _labelled(20_000, 28, 28)
    model = tf.keras.Sequential([
        tf.keras.layers.Input([28, 28]),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(10),
    ])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    model.fit(x, y, epochs=1, verbose=0, callbacks=[_counter(tf, step)])


def cnn(tf, step):
    layers = tf.keras.layers
    x, y = _labelled(3_200, 28, 28, 1)
    model = tf.keras.Sequential([
        layers.Input([28, 28, 1]),
        layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(),
        layers.Flatten(), layers.Dropout(0.5), layers.Dense(10, activation="softmax"),
    ])  # fmt: skip
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=32, epochs=1, validation_split=0.1, verbose=0, callbacks=[_counter(tf, step)])


def lstm(tf, step):
    x, y = _labelled(3_200, 24, 7, classes=2)
    model = tf.keras.Sequential([
        tf.keras.layers.Input([24, 7]),
        tf.keras.layers.LSTM(32),
        tf.keras.layers.Dense(1),
    ])
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(x, y, batch_size=32, epochs=1, verbose=0, callbacks=[_counter(tf, step)])


def functional(tf, step):
    layers = tf.keras.layers
    rng = _rng()
    wide, deep = rng.random((16_000, 5), np.float32), rng.random((16_000, 20), np.float32)
    first, second = tf.keras.Input([5]), tf.keras.Input([20])
    hidden = layers.Dense(64, activation="relu")(layers.BatchNormalization()(second))
    hidden = layers.add([hidden, layers.Dense(64, activation="relu")(hidden)])
    outputs = layers.Dense(1, activation="sigmoid")(layers.concatenate([first, hidden]))
    model = tf.keras.Model([first, second], outputs)
    model.compile("rmsprop", "binary_crossentropy", metrics=["accuracy", tf.keras.metrics.AUC()])
    y = (wide.sum(1) > 2.5).astype(np.float32)
    model.fit([wide, deep], y, batch_size=64, epochs=1, verbose=0, callbacks=[_counter(tf, step)])


def custom_loop(tf, step):
    x, y = _labelled(16_000, 784)
    model = tf.keras.Sequential([
        tf.keras.layers.Input([784]),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(10),
    ])
    optimizer = tf.keras.optimizers.SGD(learning_rate=1e-2)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024).batch(64)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_of(y, logits)
        gradients = tape.gradient(loss, model.trainable_weights)
        optimizer.apply(gradients, model.trainable_weights)
        accuracy.update_state(y, logits)
        return loss

    for images, labels in dataset:
        float(train_step(images, labels))
        step()


def image_pipeline(tf, step):
    layers = tf.keras.layers
    rng = _rng()
    pictures = [tf.io.encode_jpeg(rng.integers(0, 256, (96, 96, 3), np.uint8)).numpy() for _ in range(64)]
    labels = rng.integers(0, 5, 1_600)

    def load(data, label):
        image = tf.image.resize(tf.io.decode_jpeg(data, channels=3), [64, 64])
        return tf.image.random_flip_left_right(image) / 255.0, label

    files = tf.data.Dataset.from_tensor_slices(([pictures[i % 64] for i in range(1_600)], labels))
    dataset = files.shuffle(1_600).map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)
    model = tf.keras.Sequential([
        layers.Input([64, 64, 3]),
        layers.Conv2D(16, 3, strides=2, activation="relu"), layers.Conv2D(32, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(), layers.Dense(5),
    ])  # fmt: skip
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    model.fit(dataset, epochs=1, verbose=0, callbacks=[_counter(tf, step)])


def text(tf, step):
    layers = tf.keras.layers
    rng = _rng()
    words = np.array([f"word{i}" for i in range(2_000)])
    lines = [" ".join(row) for row in words[rng.zipf(1.3, (4_000, 40)) % 2_000]]
    labels = rng.integers(0, 2, 4_000)
    dataset = tf.data.Dataset.from_tensor_slices((lines, labels)).batch(32)
    vectorize = layers.TextVectorization(max_tokens=1_000, output_sequence_length=60)
    vectorize.adapt(dataset.map(lambda line, label: line))
    dataset = dataset.map(lambda line, label: (vectorize(line), label)).cache().prefetch(tf.data.AUTOTUNE)
    model = tf.keras.Sequential([
        layers.Input([60], dtype="int64"),
        layers.Embedding(1_000, 16), layers.Dropout(0.2), layers.GlobalAveragePooling1D(), layers.Dense(1),
    ])  # fmt: skip
    model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(dataset, epochs=1, verbose=0, callbacks=[_counter(tf, step)])


def subclassed(tf, step):
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = tf.keras.layers.Dense(128, activation="relu")
            self.norm = tf.keras.layers.LayerNormalization()
            self.drop = tf.keras.layers.Dropout(0.3)
            self.out = tf.keras.layers.Dense(10)

        def call(self, inputs, training=False):
            return self.out(self.drop(self.norm(self.hidden(inputs)), training=training))

    x, y = _labelled(16_000, 64)
    model = Model()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"])
    model.fit(x, y, batch_size=64, epochs=1, verbose=0, callbacks=[_counter(tf, step)])


def autoencoder(tf, step):
    x, _ = _labelled(16_000, 784)
    inputs = tf.keras.Input([784])
    hidden = tf.keras.layers.Dense(128, activation="relu")(inputs)
    encoded = tf.keras.layers.Dense(32, activation="relu")(hidden)
    hidden = tf.keras.layers.Dense(128, activation="relu")(encoded)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(784, activation="sigmoid")(hidden))
    model.compile("adam", "binary_crossentropy")
    model.fit(x, x, batch_size=64, epochs=1, shuffle=True, verbose=0, callbacks=[_counter(tf, step)])


def eager_regression(tf, step):
    rng = _rng()
    x = rng.standard_normal((6_400, 8)).astype(np.float32)
    y = x @ rng.standard_normal((8, 1)).astype(np.float32) + 0.5
    w, b = tf.Variable(tf.random.normal([8, 1])), tf.Variable(tf.zeros([1]))
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.05)
    for inputs, targets in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(6_400).batch(32):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(inputs, w) + b - targets))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
        step()


SCRIPTS = {
    "MLP": mlp,
    "CNN": cnn,
    "LSTM": lstm,
    "functional model": functional,
    "custom loop": custom_loop,
    "image pipeline": image_pipeline,
    "text": text,
    "subclassed model": subclassed,
    "autoencoder": autoencoder,
    "eager regression": eager_regression,
}
