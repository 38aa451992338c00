"""What digits_mlp.py and digits_cnn.py share: training by `fit` and by a loop of one's own, and the program."""

import argparse
import sys
import time

import handwriting
import numpy as np

import headrace as tf


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


def main(description, styles, epochs, enough):
    """Train a network in each style, and leave with an error if one does not learn.

    Args:
        description: of the program.
        styles: by name, how to build the model and how to train it.
        epochs: how many, unless the user says.
        enough: the test accuracy to reach with all of MNIST, and with the digits of this folder.
    """
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--style", choices=styles, help="only one of them")
    options.add_argument("--epochs", type=int, default=epochs)
    options.add_argument("--quick", action="store_true", help="two epochs on 2,000 digits, for tests")
    chosen = options.parse_args()

    tf.keras.utils.set_random_seed(1)
    (images, labels), (test_images, test_labels) = handwriting.load_digits(chosen.quick)
    epochs, wanted = chosen.epochs, enough[0] if len(images) > 50_000 else enough[1]
    if chosen.quick:
        epochs, wanted, images, labels = 2, 0.7, images[:2000], labels[:2000]
    learned = True
    for style in [chosen.style] if chosen.style else styles:
        build, train = styles[style]
        start = time.perf_counter()
        model = build()
        train(model, images, labels, epochs)
        answers = model.predict(test_images, batch_size=500, verbose=0).argmax(axis=1)
        accuracy = float(np.mean(answers == test_labels))
        seconds = time.perf_counter() - start
        print(f"{style}: {model.count_params():,} parameters, test accuracy {accuracy:.2%}, {seconds:.1f} s")
        learned &= accuracy >= wanted
    if not learned:
        sys.exit(f"a network did not learn: a test accuracy of {wanted:.0%} was expected")
