"""What becomes of constants and of what follows products in graph models."""

import base64
import json

import numpy as np
import pytest

import headrace as tf

layers, keras = tf.keras.layers, tf.keras


def written(function, folder):
    """The nodes that are no constants by op, and the weights."""
    tf.js.save(function, folder)
    model = json.loads((folder / "model.json").read_text())
    data, place, weights = (folder / "group1-shard1of1.bin").read_bytes(), 0, {}
    for one in model["weightsManifest"][0]["weights"]:
        count = int(np.prod(one["shape"], dtype=int))
        weights[one["name"]] = np.frombuffer(data, one["dtype"], count, place).reshape(one["shape"])
        place += weights[one["name"]].nbytes
    nodes = [node for node in model["modelTopology"]["node"] if node["op"] != "Const"]
    return nodes, weights


def concrete(function, *shape):
    return tf.function(function).get_concrete_function(tf.TensorSpec(shape, tf.float32, name="x"))


def fused_ops(node):
    return [base64.b64decode(text).decode() for text in node["attr"]["fused_ops"]["list"]["s"]]


RNG = np.random.default_rng(6)
FILTERS = RNG.normal(size=(2, 2, 3, 4)).astype(np.float32)
VECTOR = RNG.normal(size=4).astype(np.float32)
X = RNG.normal(size=(2, 5, 5, 3)).astype(np.float32)


def normalized(x):
    scale = tf.constant(VECTOR) * tf.math.rsqrt(tf.constant([0.5, 1.0, 2.0, 4.0]) + 0.001)
    return tf.nn.relu6((tf.nn.conv2d(x, FILTERS, 1, "SAME") + 1.0) * scale - tf.reshape(VECTOR, [1, 1, 1, 4]))


def batch_normalized(x):
    y = tf.nn.conv2d(x, FILTERS, 2, "VALID")
    return tf.compat.v1.nn.fused_batch_norm(y, VECTOR, VECTOR + 1, VECTOR - 1, np.abs(VECTOR), is_training=False)[0]


@pytest.mark.parametrize(
    ("function", "strides", "padding", "after"),
    [(normalized, 1, "SAME", tf.nn.relu6), (batch_normalized, 2, "VALID", None)],
)
def test_a_convolution_with_all_that_follows(tmp_path, function, strides, padding, after):
    nodes, weights = written(concrete(function, None, 5, 5, 3), tmp_path)
    assert [node["op"] for node in nodes] == ["Placeholder", "_FusedConv2D", "Identity"]
    assert fused_ops(nodes[1]) == ["BiasAdd", *(["Relu6"] if after else [])]
    filters, bias = (weights[name] for name in nodes[1]["input"][1:])
    result = tf.nn.conv2d(X, filters, strides, padding) + bias
    np.testing.assert_allclose(after(result) if after else result, function(X), atol=1e-5)


def test_depthwise_convolutions(tmp_path):
    def function(x):
        factors = np.arange(12, dtype=np.float32)
        return tf.nn.relu(tf.nn.depthwise_conv2d(x, FILTERS, [1, 1, 1, 1], "SAME") * factors + 0.5)

    nodes, weights = written(concrete(function, None, 5, 5, 3), tmp_path)
    assert [node["op"] for node in nodes] == ["Placeholder", "FusedDepthwiseConv2dNative", "Identity"]
    filters, bias = (weights[name] for name in nodes[1]["input"][1:])
    assert filters.shape == FILTERS.shape
    result = tf.nn.depthwise_conv2d(X, filters, [1, 1, 1, 1], "SAME") + bias
    np.testing.assert_allclose(tf.nn.relu(result), function(X), atol=1e-5)


def test_dense_layers(tmp_path):
    nodes, weights = written(
        keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="relu"), layers.Dense(2)]), tmp_path
    )
    products = [node for node in nodes if node["op"] != "Identity"]
    assert [node["op"] for node in products] == ["Placeholder", "_FusedMatMul", "_FusedMatMul"]
    assert [fused_ops(node) for node in products[1:]] == [["BiasAdd", "Relu"], ["BiasAdd"]]
    assert sum(array.size for array in weights.values()) == 3 * 4 + 4 + 4 * 2 + 2


def twice(x):
    y = tf.nn.conv2d(x, FILTERS, 1, "SAME")
    return tf.nn.relu(y + VECTOR) + y


def wider(x):
    return tf.matmul(x, tf.constant(FILTERS[0, 0])) + tf.ones([7, 1, 4])


def subtracted(x):
    return VECTOR - tf.matmul(x, tf.constant(FILTERS[0, 0]))


def for_each_place(x):
    return tf.nn.conv2d(x, FILTERS, 1, "SAME") * tf.reshape(tf.range(100.0), [5, 5, 4])


def both_results(x):
    y = tf.nn.conv2d(x, FILTERS, 1, "SAME")
    return y, y + VECTOR


@pytest.mark.parametrize(
    ("function", "shape"),
    [(twice, (None, 5, 5, 3)), (wider, (None, 3)), (subtracted, (None, 3)), (for_each_place, (None, 5, 5, 3)),
     (both_results, (None, 5, 5, 3))],
)  # fmt: skip
def test_what_stays_apart(tmp_path, function, shape):
    nodes, _ = written(concrete(function, *shape), tmp_path)
    assert {"Conv2D", "MatMul"} & {node["op"] for node in nodes}
    assert not any("Fused" in node["op"] for node in nodes)


def test_constants_that_would_grow_stay_operations(tmp_path):
    def function(x):
        large = tf.constant(np.ones([300, 1], np.float32)) * tf.constant(np.ones([1, 300], np.float32))
        return x * large, x + tf.sqrt(tf.constant([4.0, 9.0]))[0]

    nodes, weights = written(concrete(function), tmp_path)
    assert sorted(node["op"] for node in nodes if node["op"] not in ("Identity", "Placeholder", "StridedSlice")) == [
        "AddV2", "Mul", "Mul"
    ]  # fmt: skip
    assert max(array.size for array in weights.values()) == 300
    assert any(array.tolist() == [2.0, 3.0] for array in weights.values())
