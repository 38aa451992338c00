"""Models that the tests of serving save and ask."""

import json
import urllib.error
import urllib.request

import headrace as tf
from headrace._src.formats.model_messages import SavedModel


class Scaling(tf.Module):
    """Two signatures with tensors, one that classifies and one that regresses Examples."""

    def __init__(self, factor):
        self.factor = tf.Variable(factor)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def scaled(self, x):
        return {"y": x * self.factor}

    @tf.function(input_signature=[
        tf.TensorSpec([None], tf.float32, name="a"), tf.TensorSpec([None], tf.string, name="text"),
    ])  # fmt: skip
    def both(self, a, text):
        return {"sum": a + tf.cast(tf.strings.length(text), tf.float32), "image_bytes": text + "!"}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="inputs")])
    def classified(self, inputs):
        x = tf.io.parse_example(inputs, {"x": tf.io.FixedLenFeature([2], tf.float32)})["x"]
        return {"classes": tf.strings.as_string(tf.argsort(x)), "scores": x * self.factor}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="inputs")])
    def regressed(self, inputs):
        features = {"x": tf.io.FixedLenFeature([2], tf.float32), "n": tf.io.FixedLenFeature([], tf.int64, 0)}
        found = tf.io.parse_example(inputs, features)
        return {"outputs": tf.reduce_sum(found["x"], 1) * self.factor + tf.cast(found["n"], tf.float32)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="i")])
    def whole(self, i):
        tf.debugging.assert_less(i, 100)
        return {"total": tf.reduce_sum(i)}


def save(folder, version, factor=2.0):
    """A version of the model, with the method names that classification and regression need."""
    model = Scaling(factor)
    path = f"{folder}/{version}"
    signatures = {
        "serving_default": model.scaled, "both": model.both, "classify": model.classified, "regress": model.regressed,
        "whole": model.whole,
    }  # fmt: skip
    tf.saved_model.save(model, path, signatures=signatures)
    with_methods(path, {"classify": "tensorflow/serving/classify", "regress": "tensorflow/serving/regress"})
    return path


def with_methods(path, methods):
    """Give signatures of a SavedModel the methods that classification and regression need."""
    with open(f"{path}/saved_model.pb", "rb") as file:
        message = SavedModel.FromString(file.read())
    for key, method in methods.items():
        message.meta_graphs[0].signature_def[key].method_name = method
    with open(f"{path}/saved_model.pb", "wb") as file:
        file.write(message.SerializeToString())


def asked(url, body=None):
    """The status and the text of a reply; a body is posted, as JSON unless it is bytes."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=300) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
