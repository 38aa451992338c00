"""The handwritten digits that the examples share: all of MNIST if it is in Keras's cache, else the part in data/."""

import os
import pathlib

import numpy as np

import headrace as tf

PART = pathlib.Path(__file__).parent / "data" / "digits.npz"


def cached(name):
    """The path of a data set in Keras's cache folder (KERAS_HOME, or ~/.keras), if it is there."""
    home = pathlib.Path(os.environ.get("KERAS_HOME", pathlib.Path.home() / ".keras"))
    path = home / "datasets" / name
    return path if path.exists() else None


def load_digits(quick=False):
    """(train images, train labels), (test images, test labels): float32 [n, 28, 28, 1] in 0..1, and int32 [n].

    Args:
        quick: take the part in data/ (4,000 and 1,000 digits) even if all of MNIST is there.
    """
    if cached("mnist.npz") and not quick:
        train, test = tf.keras.datasets.mnist.load_data()
    else:
        with np.load(PART) as data:
            train = data["train_images"], data["train_labels"]
            test = data["test_images"], data["test_labels"]
    print(f"digits: {len(train[0]):,} to train with, {len(test[0]):,} to test with")
    return scaled(*train), scaled(*test)


def scaled(images, labels):
    """Pixels of 0..255 as float32 in 0..1 with a channel axis; labels as int32."""
    return images[..., np.newaxis].astype(np.float32) / 255.0, labels.astype(np.int32)
