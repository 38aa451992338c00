"""Keras 2: the three styles of models are fitted, saved and loaded."""

import os
import tempfile

import numpy as np
import tensorflow as tf
import tf_keras
from checks import check

rng = np.random.default_rng(0)
X = rng.random((32, 4), np.float32)
Y = X.sum(1, keepdims=True)


def dense(units, **options):
    return tf_keras.layers.Dense(units, kernel_initializer=tf_keras.initializers.Constant(0.1), **options)


def sequential():
    return tf_keras.Sequential([tf_keras.Input((4,)), dense(8, activation="relu"), dense(1)])


def functional():
    x = tf_keras.Input((4,))
    y = tf_keras.layers.Concatenate()([dense(3)(x), x])
    return tf_keras.Model(x, dense(1)(y))


class Subclassed(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.last = dense(8, activation="tanh"), dense(1)

    def call(self, inputs):
        return self.last(self.first(inputs))


def fitted(model):
    model.compile("adam", "mse", metrics=["mae"])
    return model.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0).history


def saved(make, form):
    model = make()
    fitted(model)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model" + form)
        if form == ".weights.h5":
            model.save_weights(path)
            again = make()
            again(X)
            again.load_weights(path)
        else:
            model.save(path, **({"save_format": "tf"} if not form else {}))
            again = tf_keras.models.load_model(path)
        return float(np.abs(again.predict(X, verbose=0) - model.predict(X, verbose=0)).max())


for name, make in {"Sequential": sequential, "functional": functional, "subclassed": Subclassed}.items():
    check(f"{name}: fit", lambda: fitted(make()))
    check(f"{name}: evaluate", lambda: (lambda m: (fitted(m), m.evaluate(X, Y, verbose=0))[1])(make()))
    for form in (".weights.h5", "", *((".keras", ".h5") if make is not Subclassed else ())):
        check(f"{name}: saved as {form or 'a folder'}", lambda: saved(make, form))


def recurrent(kind):
    layer = getattr(tf_keras.layers, kind)(3, kernel_initializer="ones", recurrent_initializer="zeros")
    return layer(tf.reshape(tf.constant(X), [4, 8, 4]))


for kind in ("SimpleRNN", "GRU", "LSTM"):
    check(kind, lambda: recurrent(kind))
check("Conv2D", lambda: tf_keras.layers.Conv2D(2, 3, kernel_initializer="ones")(tf.ones([1, 5, 5, 1])))
check("BatchNormalization", lambda: tf_keras.layers.BatchNormalization()(tf.constant(X), training=True))
check("version", lambda: tf_keras.__version__.split(".")[0])
