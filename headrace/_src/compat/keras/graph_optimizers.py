"""Optimizers of 1.x where Keras wants its own, as in `model.compile(tf.compat.v1.train.AdamOptimizer(0.01))`.

TensorFlow 2.0 took them. Those that do the same as one of Keras become that one; others are refused, with the name of
the one that comes nearest.
"""

import importlib

import numpy as np

from headrace._src.compat.training import optimizer_base, optimizers
from headrace._src.core.tensor import EagerTensor

# By optimizer of 1.x the name of Keras's, and by its argument the attribute here, or what it always is.
_SAME = {
    optimizers.GradientDescentOptimizer: ("SGD", {"learning_rate": "_learning_rate"}),
    optimizers.MomentumOptimizer: (
        "SGD", {"learning_rate": "_learning_rate", "momentum": "_momentum", "nesterov": "_use_nesterov"},
    ),
    optimizers.AdamOptimizer: (
        "Adam", {"learning_rate": "_lr", "beta_1": "_beta1", "beta_2": "_beta2", "epsilon": "_epsilon"},
    ),
    optimizers.AdagradOptimizer: (
        "Adagrad",
        {"learning_rate": "_learning_rate", "initial_accumulator_value": "_initial_accumulator_value", "epsilon": 0.0},
    ),
    optimizers.AdadeltaOptimizer: ("Adadelta", {"learning_rate": "_lr", "rho": "_rho", "epsilon": "_epsilon"}),
}  # fmt: skip
_NEAREST = {"RMSPropOptimizer": "RMSprop", "FtrlOptimizer": "Ftrl"}


def optimizer_of(original, identifier):
    """`keras.optimizers.get`, which also takes optimizers of 1.x."""
    if not isinstance(identifier, optimizer_base.Optimizer):
        return original(identifier)
    name, settings = _SAME.get(type(identifier), (None, {}))
    if name is None:
        given = type(identifier).__name__
        raise ValueError(
            f"Could not interpret optimizer identifier: tf.compat.v1.train.{given} is for graphs of 1.x and has no "
            f"twin in Keras. Use tf.keras.optimizers.{_NEAREST.get(given, 'Adam')} or another one of that module."
        )
    values = {key: _setting(identifier, place) for key, place in settings.items()}
    return getattr(importlib.import_module("keras").optimizers, name)(**values)


def _setting(optimizer, place):
    value = getattr(optimizer, place) if isinstance(place, str) else place
    if isinstance(value, EagerTensor):
        value = value.numpy()
    return value.item() if isinstance(value, (np.ndarray, np.generic)) else value
