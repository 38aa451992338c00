"""A convolutional network on Fashion-MNIST, with callbacks: early stopping and a falling learning rate.

    python examples/fashion_cnn.py [--epochs 2] [--quick]

Takes Fashion-MNIST from Keras's cache, or downloads it. Without a network, or with --quick, it draws clothes of its
own: outlines of shirts, trousers, bags and shoes with noise. They show that the program works, not how good it is.
"""

import argparse
import sys
import time

import handwriting
import numpy as np

import headrace as tf

CLASSES = ["T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]


def drawn_clothes(count, random):
    """Outlines of four of the ten classes, moved about and with noise: images and labels."""
    shapes = {}
    rows, columns = np.mgrid[0:28, 0:28]
    body = (abs(columns - 14) < 6) & (rows > 4) & (rows < 24)
    shapes[0] = body | ((rows > 4) & (rows < 9) & (abs(columns - 14) < 12))
    shapes[1] = body & ((rows < 9) | (abs(columns - 14) > 1))
    handle = (rows > 5) & (rows < 8) & (abs(columns - 14) < 5)
    shapes[8] = handle | ((rows > 10) & (rows < 24) & (abs(columns - 14) < 10))
    shapes[7] = (rows > 15) & (rows < 23) & (columns > 3) & (columns < 25) & (rows + columns > 22)
    labels = random.choice(list(shapes), size=count).astype(np.uint8)
    images = np.stack([
        np.roll(shapes[k] * 160, random.integers(-2, 3, size=2), axis=(0, 1)) + random.integers(0, 90, (28, 28))
        for k in labels
    ])  # fmt: skip
    return images.astype(np.uint8), labels


def load(quick):
    """Fashion-MNIST, or clothes of our own."""
    if not quick:
        try:
            train, test = tf.keras.datasets.fashion_mnist.load_data()
            return handwriting.scaled(*train), handwriting.scaled(*test), True
        except Exception as error:  # Keras raises a plain Exception when there is no network
            print(f"no Fashion-MNIST: {error}")
    random = np.random.default_rng(1)
    print("training on clothes drawn by this program")
    return handwriting.scaled(*drawn_clothes(2000, random)), handwriting.scaled(*drawn_clothes(500, random)), False


def build():
    """Convolutions with batch normalization, pooling, dropout."""
    return tf.keras.Sequential([
        tf.keras.Input((28, 28, 1)),
        tf.keras.layers.Conv2D(32, 3, use_bias=False),
        tf.keras.layers.BatchNormalization(momentum=0.9),
        tf.keras.layers.ReLU(),
        tf.keras.layers.MaxPool2D(),
        tf.keras.layers.Conv2D(64, 3, use_bias=False),
        tf.keras.layers.BatchNormalization(momentum=0.9),
        tf.keras.layers.ReLU(),
        tf.keras.layers.MaxPool2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dropout(0.3),
        tf.keras.layers.Dense(len(CLASSES), activation="softmax"),
    ])  # fmt: skip


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--epochs", type=int, default=2)
    options.add_argument("--quick", action="store_true", help="two epochs on clothes drawn by the program, for tests")
    chosen = options.parse_args()

    tf.keras.utils.set_random_seed(1)
    train, test, real = load(chosen.quick)
    model = build()
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.summary()
    start = time.perf_counter()
    model.fit(
        *train, batch_size=100, epochs=2 if chosen.quick else chosen.epochs, validation_split=0.1, verbose=2,
        callbacks=[
            tf.keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True),
            tf.keras.callbacks.ReduceLROnPlateau(patience=1, factor=0.3),
        ],
    )  # fmt: skip
    loss, accuracy = model.evaluate(*test, batch_size=500, verbose=0)
    print(f"trained in {time.perf_counter() - start:.1f} s; test loss {loss:.3f}, test accuracy {accuracy:.1%}")
    answers = model.predict(test[0], batch_size=500, verbose=0).argmax(axis=1)
    for number, name in enumerate(CLASSES):
        of_class = test[1] == number
        if of_class.any():
            print(f"  {name:10s} {np.mean(answers[of_class] == number):6.1%}")
    enough = 0.85 if real else 0.5
    if accuracy < enough:
        sys.exit(f"the network did not learn: a test accuracy of {enough:.0%} was expected")


if __name__ == "__main__":
    main()
