"""A convolutional network on handwritten digits in every style: Sequential, functional, subclassed, own training loop.

    python examples/digits_cnn.py [--style sequential|functional|subclassed|loop] [--epochs 3] [--quick]

Two convolutions with pooling, a dense layer, 10 logits; the functional one has a way around the second convolution.
"""

from digit_training import main, train_with_a_loop, train_with_fit

import headrace as tf


def sequential():
    """Layers one after the other."""
    return tf.keras.Sequential([
        tf.keras.Input((28, 28, 1)),
        tf.keras.layers.Conv2D(16, 5, padding="same", activation="relu"),  # 28, 28, 16
        tf.keras.layers.MaxPool2D(),  # 14, 14, 16
        tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu"),  # 14, 14, 32
        tf.keras.layers.MaxPool2D(),  # 7, 7, 32
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(10),
    ])  # fmt: skip


def functional():
    """Layers called on symbolic inputs. Here a way around the second convolution: a graph, no longer a row."""
    inputs = tf.keras.Input((28, 28, 1))
    x = tf.keras.layers.Conv2D(32, 5, padding="same", activation="relu")(inputs)
    pooled = tf.keras.layers.MaxPool2D(4)(x)
    x = tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu")(pooled)
    x = tf.keras.layers.Flatten()(tf.keras.layers.add([x, pooled]))
    x = tf.keras.layers.Dense(64, activation="relu")(x)
    return tf.keras.Model(inputs=inputs, outputs=tf.keras.layers.Dense(10)(x))


class Convolutional(tf.keras.Model):
    """The network as a class: `call` is plain Python, and knows whether it is training."""

    def __init__(self):
        super().__init__()
        self.first = tf.keras.layers.Conv2D(16, 5, padding="same", activation=tf.nn.relu)
        self.second = tf.keras.layers.Conv2D(32, 3, padding="same", activation=tf.nn.relu)
        self.pool = tf.keras.layers.MaxPool2D()
        self.flatten = tf.keras.layers.Flatten()
        self.dropout = tf.keras.layers.Dropout(0.2)
        self.hidden = tf.keras.layers.Dense(64, activation=tf.nn.relu)
        self.answer = tf.keras.layers.Dense(10)

    def call(self, inputs, training=False):
        x = self.pool(self.first(inputs))
        x = self.pool(self.second(x))
        x = self.dropout(self.flatten(x), training=training)
        return self.answer(self.hidden(x))


STYLES = {
    "sequential": (sequential, train_with_fit),
    "functional": (functional, train_with_fit),
    "subclassed": (Convolutional, train_with_fit),
    "loop": (Convolutional, train_with_a_loop),
}


if __name__ == "__main__":
    main(__doc__.splitlines()[0], STYLES, epochs=3, enough=(0.98, 0.9))
