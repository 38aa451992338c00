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
    _see(model, image)
    randomize(model, random)
    return model, image


def _see(model, image):
    """Let statistics be those of an image: others would make its numbers vanish from layer to layer, and mistakes
    with them."""
    normalizing = [layer for layer in model._flatten_layers() if isinstance(layer, tf.keras.layers.BatchNormalization)]
    for layer in normalizing:
        layer.momentum = 0.0
    model(image, training=True)


def error_of(model, image, data):
    """How far LiteRT's logits are from headrace's."""
    expected = model(image, training=False).numpy()
    return largest_error(model_results(data, model, [image]), [expected])


def mutate(model):
    """Change one weight of the first convolution, and one of the last layer; returns what puts them back."""
    kernels = [variable for variable in model.weights if "kernel" in variable.path]
    kept = [(variable, variable.numpy()) for variable in (kernels[0], kernels[-1])]
    for variable, value in kept:
        changed = value.copy()
        changed.flat[np.abs(changed).argmax()] *= -3.0
        yield variable.path
        variable.assign(changed)
        yield variable.path
        variable.assign(value)


def errors_of_mutated(model, image, data):
    """The errors when a weight of the model, but not of the file, is changed: of the first and of the last kernel."""
    found = []
    for number, _ in enumerate(mutate(model)):
        if number % 2:
            found.append(error_of(model, image, data))
    return found
