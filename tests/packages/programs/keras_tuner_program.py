"""Keras Tuner: searches, random and by hyperbands."""

import tempfile

import keras_tuner
import numpy as np
import tensorflow as tf
from checks import check

X = np.random.default_rng(0).random((32, 4), np.float32)
Y = X.sum(1, keepdims=True)


def build(choices):
    units = choices.Int("units", 2, 8, step=2)
    model = tf.keras.Sequential([tf.keras.layers.Dense(units, "relu"), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(choices.Choice("rate", [0.1, 0.01])), "mse")
    return model


def searched(kind, **options):
    with tempfile.TemporaryDirectory() as folder:
        tuner = kind(
            build, objective="val_loss", directory=folder, project_name="search", seed=1, overwrite=True, **options
        )
        tuner.search(X, Y, epochs=2, validation_data=(X, Y), verbose=0)
        best = tuner.get_best_hyperparameters()[0].values
        model = tuner.get_best_models()[0]
        return [sorted(best), model.predict(X, verbose=0).shape, len(tuner.oracle.trials) > 0]


check("RandomSearch", lambda: searched(keras_tuner.RandomSearch, max_trials=3))
check("GridSearch", lambda: searched(keras_tuner.GridSearch, max_trials=3))
check("Hyperband", lambda: searched(keras_tuner.Hyperband, max_epochs=2))
check("BayesianOptimization", lambda: searched(keras_tuner.BayesianOptimization, max_trials=3))
