"""A multilayer perceptron on handwritten digits in every style: Sequential, functional, subclassed, own training loop.

    python examples/digits_mlp.py [--style sequential|functional|subclassed|loop] [--epochs 5] [--quick]

The same network four times: 784 pixels, 100 rectified units, 10 logits.
"""

from digit_training import main, train_with_a_loop, train_with_fit

import headrace as tf


def sequential():
    """Layers one after the other."""
    return tf.keras.Sequential([
        tf.keras.Input((28, 28, 1)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(100, activation="relu"),
        tf.keras.layers.Dense(10),
    ])  # fmt: skip


def functional():
    """Layers called on symbolic inputs: any graph of layers can be built so."""
    inputs = tf.keras.Input((28, 28, 1))
    x = tf.keras.layers.Flatten()(inputs)
    x = tf.keras.layers.Dense(100, activation="relu")(x)
    return tf.keras.Model(inputs=inputs, outputs=tf.keras.layers.Dense(10)(x))


class Perceptron(tf.keras.Model):
    """The network as a class: `call` is plain Python."""

    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.hidden = tf.keras.layers.Dense(100, activation=tf.nn.relu)
        self.answer = tf.keras.layers.Dense(10)

    def call(self, inputs):
        return self.answer(self.hidden(self.flatten(inputs)))


STYLES = {
    "sequential": (sequential, train_with_fit),
    "functional": (functional, train_with_fit),
    "subclassed": (Perceptron, train_with_fit),
    "loop": (Perceptron, train_with_a_loop),
}


if __name__ == "__main__":
    main(__doc__.splitlines()[0], STYLES, epochs=5, enough=(0.97, 0.88))
