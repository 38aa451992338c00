"""tf2onnx: functions, Keras models and SavedModels as ONNX graphs, which onnxruntime computes."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import tensorflow as tf
import tf2onnx
from checks import check

X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
IMAGES = np.linspace(0, 1, 2 * 8 * 8 * 3, dtype=np.float32).reshape(2, 8, 8, 3)
WEIGHTS = np.arange(12, dtype=np.float32).reshape(4, 3) / 10


def computed(model, *arrays):
    """What onnxruntime computes with a model, given as a message or as bytes."""
    content = model if isinstance(model, bytes) else model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(None, {value.name: array for value, array in zip(session.get_inputs(), arrays)})


def same(found, expected):
    return bool(np.abs(found - np.asarray(expected)).max() < 1e-5)


def converted(function, *arrays):
    signature = [tf.TensorSpec([None, *array.shape[1:]], array.dtype, name=f"x{i}") for i, array in enumerate(arrays)]
    model, _ = tf2onnx.convert.from_function(
        tf.function(function, input_signature=signature), input_signature=signature
    )
    result = computed(model, *arrays)[0]
    return [result, same(result, function(*map(tf.constant, arrays)))]


check("products", lambda: converted(lambda x: tf.nn.relu(tf.matmul(x, WEIGHTS) + 1.0), X))
check("reductions", lambda: converted(lambda x: tf.nn.softmax(x - tf.reduce_mean(x, 1, keepdims=True)), X))
check("two inputs", lambda: converted(lambda x, y: tf.concat([x, tf.tanh(y)], 1), X, X))
check("shapes", lambda: converted(lambda x: tf.reshape(tf.transpose(tf.reshape(x, [-1, 2, 2]), [0, 2, 1]), [-1, 4]), X))
check(
    "convolution", lambda: converted(lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), 1, "SAME"), X.reshape(1, 2, 4, 1))
)
check("picking", lambda: converted(lambda x: tf.gather(x, [2, 0], axis=1) * tf.one_hot([1, 0], 2), X))
check("a branch", lambda: converted(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1.0, lambda: x - 1.0), X))
check(
    "a loop",
    lambda: converted(lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), [0, x])[1], X),
)


def keras_model(layers, arrays):
    """A model of Keras from `from_keras`: whether it computes the same."""
    model = tf.keras.Sequential([tf.keras.Input(arrays.shape[1:]), *layers])
    signature = [tf.TensorSpec([None, *arrays.shape[1:]], tf.float32, name="x")]
    found, _ = tf2onnx.convert.from_keras(model, input_signature=signature)
    return same(computed(found, arrays)[0], model(arrays))


LAYERS = tf.keras.layers
check("Keras: dense", lambda: keras_model([LAYERS.Dense(3, "relu"), LAYERS.Dense(2)], X))
check(
    "Keras: images",
    lambda: keras_model(
        [LAYERS.Conv2D(4, 3, activation="relu"), LAYERS.BatchNormalization(), LAYERS.MaxPooling2D(),
         LAYERS.GlobalAveragePooling2D(), LAYERS.Dense(2, "softmax")], IMAGES,
    ),
)  # fmt: skip
check("Keras: recurrent", lambda: keras_model([LAYERS.LSTM(3)], X.reshape(2, 2, 2)))


class Linear(tf.Module):
    """Something with a variable, to be saved."""

    def __init__(self):
        super().__init__()
        self.weights = tf.Variable(WEIGHTS)

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def __call__(self, x):
        return {"y": tf.nn.sigmoid(tf.matmul(x, self.weights))}


def saved_model():
    module = Linear()
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, os.path.join(folder, "model"), signatures=module.__call__)
        target = os.path.join(folder, "model.onnx")
        command = ["-m", "tf2onnx.convert", "--saved-model", os.path.join(folder, "model"), "--output", target]
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-300:])
        with open(target, "rb") as file:
            result = computed(file.read(), X)[0]
    return [result, same(result, module(X)["y"])]


check("SavedModel", saved_model)


def table():
    """A lookup table that a function uses becomes part of the graph."""
    keys, values = tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)
    words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    model = tf.Module()
    model.words = words
    model.find = tf.function(words.lookup, input_signature=[tf.TensorSpec([None], tf.string, name="word")])
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(model, folder, signatures=model.find)
        _, inputs, outputs, tables = tf2onnx.tf_loader.from_saved_model(
            folder, None, None, return_initialized_tables=True
        )
    (contents,) = tables.values()
    return [len(inputs), len(outputs), *map(list, contents)]


check("a table", table)
