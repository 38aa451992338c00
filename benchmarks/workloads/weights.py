"""The same first weights and data for all libraries, from names and shapes alone."""

import zlib

import numpy as np


def noise(name, *shape, scale=1.0):
    """Normal numbers that depend on the name and the shape only."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def weight(name, shape):
    """The first value of a weight, in Keras's layout; its name says what it is, its shape how large it may be."""
    kind = name.rsplit("/", 1)[-1]
    if kind in ("gamma", "moving_variance"):
        return np.ones(shape, np.float32)
    if kind in ("beta", "moving_mean", "bias"):
        return np.zeros(shape, np.float32)
    is_depthwise = len(shape) == 4 and shape[-1] == 1
    fan_in = int(np.prod(shape[:2] if is_depthwise else shape[:-1]))
    return noise(name, *shape, scale=(2.0 / fan_in) ** 0.5)


def fill(model):
    """Give all weights of a Keras model their first values, by the names of the layers."""
    for layer in model._flatten_layers(include_self=False, recursive=True):
        for variable in layer._trainable_variables + layer._non_trainable_variables:
            if "seed" not in variable.path:
                variable.assign(weight(f"{layer.name}/{variable.name}", tuple(variable.shape)))
    return model


def images(count, size, channels):
    """Images and labels of ten classes."""
    labels = np.random.default_rng(1).integers(0, 10, count)
    return noise("images", count, size, size, channels, scale=0.5), labels.astype(np.int64)
