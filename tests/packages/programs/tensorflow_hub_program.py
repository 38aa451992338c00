"""TensorFlow Hub: a SavedModel in a folder, as a function, as a Keras layer, and trained further."""

import tempfile

import numpy as np
import tensorflow as tf
import tensorflow_hub as hub
from checks import check

X = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2))


class Model(tf.__internal__.tracking.AutoTrackable):
    def __init__(self):
        self.w = tf.Variable([[1.0], [2.0]], name="w")
        self.trainable_variables = [self.w]

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def __call__(self, x):
        return tf.matmul(x, self.w)


with tempfile.TemporaryDirectory() as folder:
    model = Model()
    tf.saved_model.save(model, folder, signatures={"serving_default": model.__call__.get_concrete_function()})
    check("load", lambda: hub.load(folder)(X))
    check("signature", lambda: list(hub.load(folder).signatures["serving_default"](x=X).values()))
    check("resolve", lambda: hub.resolve(folder) == folder)
    check("KerasLayer", lambda: hub.KerasLayer(folder)(X))

    def trained():
        layer = hub.KerasLayer(folder, trainable=True)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(X))
        return tape.gradient(loss, layer.trainable_variables)

    check("gradient", trained)
