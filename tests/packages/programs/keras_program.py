"""Keras 3: a model is fitted, saved and loaded by a program that says `import tensorflow`."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from checks import check

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(16, 4)
Y = X.sum(1, keepdims=True)


def fitted():
    layers = [
        keras.layers.Dense(8, "tanh", kernel_initializer="ones"),
        keras.layers.Dense(1, kernel_initializer="ones"),
    ]
    model = keras.Sequential([keras.Input((4,)), *layers])
    model.compile("adam", "mse")
    return model, model.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0).history["loss"]


def saved():
    model, _ = fitted()
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "model.keras"))
        again = keras.models.load_model(os.path.join(folder, "model.keras"))
    return float(np.abs(again.predict(X, verbose=0) - model.predict(X, verbose=0)).max())


check("fit", lambda: fitted()[1])
check("save", saved)
check("the same Keras", lambda: tf.keras.Model is keras.Model)
