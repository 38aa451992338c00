"""Architectures of keras.applications with random weights, as models of TensorFlow Lite."""

import numpy as np
from lite_checks import largest_error, model_results
from lite_layers import randomize

import headrace as tf

APPLICATIONS = (
    "MobileNetV2", "MobileNetV3Small", "ResNet50", "ResNet50V2", "EfficientNetB0", "DenseNet121", "InceptionV3",
    "Xception", "NASNetMobile", "ConvNeXtTiny",
)  # fmt: skip
SIZE = 96
LARGEST_ERROR = 1e-4  # of the largest logit


def application(name, size=SIZE, seed=0, **options):
    """A network and an image; its statistics are random, and it gives logits."""
    tf.keras.utils.set_random_seed(seed)
    model = getattr(tf.keras.applications, name)(
        weights=None, input_shape=(size, size, 3), classes=20, classifier_activation=None, **options
    )
    random = np.random.default_rng(seed)
    image = random.uniform(0.0, 255.0, (2, size, size, 3)).astype(np.float32)
    randomize(model, random, lambda: _see(model, image))
    return model, image


def _see(model, image):
    """Let statistics be those of an image: others would make its numbers vanish from layer to layer, and mistakes
    with them. Small variances, which would let rounding grow, are not taken."""
    normalizing = [layer for layer in model._flatten_layers() if isinstance(layer, tf.keras.layers.BatchNormalization)]
    for layer in normalizing:
        layer.momentum = 0.0
    model(image, training=True)
    for layer in normalizing:
        variance = layer.moving_variance.numpy()
        layer.moving_variance.assign(np.maximum(variance, 0.5 * variance.mean()))


def error_of(model, image, data):
    """How far LiteRT's logits are from headrace's."""
    expected = model(image, training=False).numpy()
    return largest_error(model_results(data, model, [image]), [expected])


def errors_of_mutated(model, image, data):
    """The errors when a weight of the model, but not of the file, is changed: of the first and of the last kernel."""
    kernels = [variable for variable in model.weights if "kernel" in variable.path]
    (last,) = [layer for layer in model.layers if any(one is kernels[-1] for one in layer.weights)]
    features = tf.keras.Model(model.inputs, last.input)([image], training=False).numpy()
    seen = int(np.abs(features).reshape(-1, features.shape[-1]).mean(0).argmax())  # a number that is not zero
    found = []
    for kernel, place in ((kernels[0], None), (kernels[-1], (0,) * (len(kernels[-1].shape) - 2) + (seen, 0))):
        value = kernel.numpy()
        changed = value.copy()
        place = np.unravel_index(np.abs(value).argmax(), value.shape) if place is None else place
        changed[place] += 3.0 * np.abs(value).max()
        kernel.assign(changed)
        found.append(error_of(model, image, data))
        kernel.assign(value)
    return found
