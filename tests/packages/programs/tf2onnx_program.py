"""tf2onnx: functions and Keras models as ONNX graphs, computed by onnx's reference evaluator."""

import numpy as np
import tensorflow as tf
import tf2onnx
from checks import check
from onnx.reference import ReferenceEvaluator

X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
WEIGHTS = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3) / 10)


def converted(function, *arrays):
    signature = [tf.TensorSpec([None, *array.shape[1:]], array.dtype, name=f"x{i}") for i, array in enumerate(arrays)]
    model, _ = tf2onnx.convert.from_function(
        tf.function(function, input_signature=signature), input_signature=signature
    )
    evaluator = ReferenceEvaluator(model)
    feed = {value.name: array for value, array in zip(model.graph.input, arrays)}
    result = evaluator.run(None, feed)
    expected = function(*map(tf.constant, arrays))
    return [result[0], float(np.abs(result[0] - expected.numpy()).max()) < 1e-5]


check("products", lambda: converted(lambda x: tf.nn.relu(tf.matmul(x, WEIGHTS) + 1.0), X))
check("reductions", lambda: converted(lambda x: tf.nn.softmax(x - tf.reduce_mean(x, 1, keepdims=True)), X))
check("two inputs", lambda: converted(lambda x, y: tf.concat([x, tf.tanh(y)], 1), X, X))
check("shapes", lambda: converted(lambda x: tf.reshape(tf.transpose(tf.reshape(x, [-1, 2, 2]), [0, 2, 1]), [-1, 4]), X))
check(
    "convolution", lambda: converted(lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), 1, "SAME"), X.reshape(1, 2, 4, 1))
)


def keras_model():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, "relu"), tf.keras.layers.Dense(2)])
    found, _ = tf2onnx.convert.from_keras(model, input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    result = ReferenceEvaluator(found).run(None, {found.graph.input[0].name: X})[0]
    return bool(np.abs(result - model(X).numpy()).max() < 1e-5)


check("Keras", keras_model)
