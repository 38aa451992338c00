"""A network for digits, and how much it loses when its file is quantized."""

from typing import NamedTuple

import numpy as np

import headrace as tf
from headrace._src.lite.comparing import quantized_input

L = tf.keras.layers


class Digits(NamedTuple):
    """Images of digits with their labels: some to train with, examples of inputs, and some to count errors on."""

    training: np.ndarray
    training_labels: np.ndarray
    samples: np.ndarray
    images: np.ndarray
    labels: np.ndarray


def load_digits(file=None) -> Digits:
    """MNIST: from a file `mnist.npz`, or as Keras finds it."""
    if file is None:
        (x, y), (images, labels) = tf.keras.datasets.mnist.load_data()
    else:
        with np.load(file) as arrays:
            x, y, images, labels = (arrays[name] for name in ("x_train", "y_train", "x_test", "y_test"))
    x, images = (array[..., None].astype(np.float32) / 255 for array in (x, images))
    return Digits(x[:20000], y[:20000], x[20000:20100], images, labels)


_SEGMENTS = "abcdef bc abged abgcd fgbc afgcd afgedc abc abcdefg abcdfg".split()
_PLACES = {
    "a": (slice(1, 2), slice(2, 6)), "b": (slice(1, 6), slice(6, 7)), "c": (slice(6, 11), slice(6, 7)),
    "d": (slice(10, 11), slice(2, 6)), "e": (slice(6, 11), slice(1, 2)), "f": (slice(1, 6), slice(1, 2)),
    "g": (slice(5, 6), slice(2, 6)),
}  # fmt: skip


def drawn_digits(count=1200, seed=0) -> Digits:
    """Digits of seven strokes, shifted, dimmed and with noise."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count)
    images = np.zeros((count, 12, 12, 1), np.float32)
    for image, label in zip(images, labels):
        drawing = np.zeros((12, 8), np.float32)
        for stroke in _SEGMENTS[label]:
            drawing[_PLACES[stroke]] = random.uniform(0.5, 1.0)
        left = random.integers(0, 5)
        image[:, left : left + 8, 0] = drawing
    images += random.normal(0.0, 0.1, images.shape).astype(np.float32)
    part = count // 2
    return Digits(images[:part], labels[:part], images[:50], images[part:], labels[part:])


def digits_network(data: Digits, seed=0, epochs=2):
    """A small convolutional network, trained."""
    tf.keras.utils.set_random_seed(seed)
    model = tf.keras.Sequential([
        tf.keras.Input(data.training.shape[1:]), L.Conv2D(16, 3), L.BatchNormalization(), L.ReLU(), L.MaxPooling2D(),
        L.DepthwiseConv2D(3, activation="relu6"), L.Conv2D(24, 1, activation="relu"), L.Flatten(),
        L.Dense(48, activation="relu"), L.Dense(10),
    ])  # fmt: skip
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(2e-3), loss)
    model.fit(data.training, data.training_labels, batch_size=64, epochs=epochs, verbose=0)
    return model


def _wide(converter):
    converter.target_spec.supported_ops = [tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]


def _typed(dtype):
    def change(converter):
        converter.inference_input_type = converter.inference_output_type = dtype

    return change


def _halves(converter):
    converter.target_spec.supported_types = [tf.float16]


# By name: whether examples of inputs are given, and what else the converter is told.
WAYS = {
    "dynamic range": (False, _typed(tf.float32)), "float16": (False, _halves), "int8": (True, _typed(tf.float32)),
    "int8 in and out": (True, _typed(tf.int8)), "uint8 in and out": (True, _typed(tf.uint8)), "int16x8": (True, _wide),
}  # fmt: skip


def quantized(model, way, samples):
    """The file of a model, quantized in a way."""
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    needs_samples, change = WAYS[way]
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if needs_samples:
        converter.representative_dataset = lambda: ([sample[None]] for sample in samples)
    change(converter)
    return converter.convert()


def accuracy(data, images, labels):
    """Which part of images a file gets right."""
    runner = tf.lite.Interpreter(model_content=data).get_signature_runner()
    ((name, details),) = runner.get_input_details().items()
    right = 0
    for start in range(0, len(images), 500):
        given = quantized_input(images[start : start + 500], details)
        (logits,) = runner(**{name: given}).values()
        right += int((logits.argmax(1) == labels[start : start + 500]).sum())
    return right / len(images)


def accuracies(model, data: Digits) -> dict:
    """The accuracy of a model, and of each way to quantize it, with sizes and errors."""
    plain = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    found = {"float": {"accuracy": accuracy(plain, data.images, data.labels), "bytes": len(plain)}}
    for way in WAYS:
        made = quantized(model, way, data.samples)
        (row,) = tf.lite.compare(plain, made, ([image[None]] for image in data.samples))
        found[way] = {
            "accuracy": accuracy(made, data.images, data.labels), "bytes": len(made),
            "largest error": row.largest_error, "mean error": row.mean_error, "largest logit": row.largest_value,
        }  # fmt: skip
    return found
