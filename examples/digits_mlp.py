"""A multilayer perceptron on handwritten digits in every style: Sequential, functional, subclassed, own training loop.

    python examples/digits_mlp.py [--style sequential|functional|subclassed|loop] [--epochs 5] [--quick]

The same network four times: 784 pixels, 100 rectified units, 10 logits.
"""

import argparse
import sys
import time

import handwriting
import numpy as np

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


def train_with_fit(model, images, labels, epochs):
    """`compile` and `fit`."""
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(images, labels, batch_size=50, epochs=epochs, verbose=2)


def train_with_a_loop(model, images, labels, epochs):
    """A loop of one's own: the dataset, the step as a function, the metric."""
    optimizer = tf.keras.optimizers.Adam(1e-3)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    mean_loss = tf.keras.metrics.Mean()
    batches = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(10_000).batch(50, drop_remainder=True)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        mean_loss.update_state(loss)

    for epoch in range(1, epochs + 1):
        mean_loss.reset_state()
        for x, y in batches:
            step(x, y)
        print(f"epoch {epoch}: loss {float(mean_loss.result()):.4f}")


STYLES = {
    "sequential": (sequential, train_with_fit),
    "functional": (functional, train_with_fit),
    "subclassed": (Perceptron, train_with_fit),
    "loop": (Perceptron, train_with_a_loop),
}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--style", choices=STYLES, help="only one of them")
    options.add_argument("--epochs", type=int, default=5)
    options.add_argument("--quick", action="store_true", help="two epochs on 2,000 digits, for tests")
    chosen = options.parse_args()

    tf.keras.utils.set_random_seed(1)
    (images, labels), (test_images, test_labels) = handwriting.load_digits(chosen.quick)
    epochs, enough = chosen.epochs, 0.97 if len(images) > 50_000 else 0.88
    if chosen.quick:
        epochs, enough, images, labels = 2, 0.7, images[:2000], labels[:2000]
    learned = True
    for style in [chosen.style] if chosen.style else STYLES:
        build, train = STYLES[style]
        start = time.perf_counter()
        model = build()
        train(model, images, labels, epochs)
        answers = model.predict(test_images, batch_size=500, verbose=0).argmax(axis=1)
        accuracy = float(np.mean(answers == test_labels))
        seconds = time.perf_counter() - start
        print(f"{style}: {model.count_params():,} parameters, test accuracy {accuracy:.2%}, {seconds:.1f} s")
        learned &= accuracy >= enough
    if not learned:
        sys.exit(f"a network did not learn: a test accuracy of {enough:.0%} was expected")


if __name__ == "__main__":
    main()
