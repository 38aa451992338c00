"""Models of TensorFlow Lite: what is written; and, where LiteRT is, that it computes the same."""

import importlib.util
import struct

import numpy as np
import pytest

import headrace as tf
from headrace._src.cli.convert import main
from headrace._src.formats.flatbuffers import Scalar, Vector, written

needs_litert = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="LiteRT is not there: pip install 'headrace[lite]'"
)
F32 = tf.float32


def spec(*shape, dtype=F32, name=None):
    return tf.TensorSpec(shape, dtype, name)


def signed(*specs):
    return tf.function(input_signature=specs)


def converted(function):
    return tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()]).convert()


def computed(data, *arrays):
    """What LiteRT makes of some inputs."""
    interpreter = tf.lite.Interpreter(model_content=data)
    details = interpreter.get_input_details()
    for one, array in zip(details, arrays):
        interpreter.resize_tensor_input(one["index"], np.shape(array))
    interpreter.allocate_tensors()
    for one, array in zip(details, arrays):
        interpreter.set_tensor(one["index"], np.asarray(array))
    interpreter.invoke()
    return [interpreter.get_tensor(one["index"]) for one in interpreter.get_output_details()]


def test_files_of_tables():
    numbers = Vector(np.array([1, 2], np.int64))
    table = {0: Scalar("uint32", 3), 2: "text", 3: numbers, 5: [{0: Scalar("int8", -1)}, "b"]}
    data = written(table, b"ABCD")
    assert data[4:8] == b"ABCD"
    (root,) = struct.unpack_from("<I", data)
    index = root - struct.unpack_from("<i", data, root)[0]
    assert struct.unpack_from("<H", data, index)[0] == 4 + 2 * 6
    places = struct.unpack_from("<6H", data, index + 4)
    assert struct.unpack_from("<I", data, root + places[0])[0] == 3
    assert places[1] == 0
    at = root + places[2]
    text = at + struct.unpack_from("<I", data, at)[0]
    assert data[text : text + 9] == b"\4\0\0\0text\0"
    at = root + places[3]
    numbers = at + struct.unpack_from("<I", data, at)[0]
    assert (numbers + 4) % 8 == 0
    assert struct.unpack_from("<2q", data, numbers + 4) == (1, 2)


X = np.random.default_rng(0).normal(size=(2, 6, 6, 4)).astype(np.float32)
M = X.reshape(8, 36)[:, :4].copy()
W = np.random.default_rng(1).normal(size=(3, 3, 4, 5)).astype(np.float32)
IMAGE, MATRIX = spec(None, 6, 6, 4, name="x"), spec(None, 4, name="x")

# Functions of one input, by what they show.
PROGRAMS = {
    "dense": (MATRIX, M, lambda x: tf.nn.relu(x @ W[0, 0] + 1.0)),
    "dense, weights transposed": (MATRIX, M, lambda x: tf.matmul(x, W[0, 0].T.copy(), transpose_b=True)),
    "product of two": (spec(None, 3, 4), X[:, :3, 0], lambda x: tf.matmul(x, x, transpose_b=True)),
    "conv": (IMAGE, X, lambda x: tf.nn.conv2d(x, W, 1, "SAME")),
    "conv, strides and dilations": (
        IMAGE,
        X,
        lambda x: tf.nn.conv2d(x, W, 2, "VALID") + tf.nn.conv2d(x, W, 1, "VALID", dilations=2),
    ),
    "conv, padded": (IMAGE, X, lambda x: tf.nn.conv2d(x, W, 1, [[0, 0], [1, 2], [0, 1], [0, 0]])),
    "conv, bias, factor": (
        IMAGE,
        X,
        lambda x: tf.nn.relu6(tf.nn.bias_add(tf.nn.conv2d(x, W, 1, "SAME"), np.float32([1, 2, 3, 4, 5])) * 0.5),
    ),
    "depthwise": (IMAGE, X, lambda x: tf.nn.depthwise_conv2d(x, W[..., :2], [1, 1, 1, 1], "SAME")),
    "transposed conv": (
        spec(2, 6, 6, 5),
        np.repeat(X[..., :1], 5, 3),
        lambda x: tf.nn.conv2d_transpose(x, W, [2, 12, 12, 4], 2),
    ),
    "pools": (IMAGE, X, lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID") + tf.nn.avg_pool2d(x, 2, 2, "SAME")),
    "batch norm": (IMAGE, X, lambda x: tf.nn.batch_normalization(x, M[0], M[1] ** 2, M[2], M[3], 1e-3)),
    "functions": (MATRIX, M, lambda x: tf.exp(x) + tf.sin(x) * tf.cos(x) - tf.tanh(x) / tf.sigmoid(x) + tf.abs(x)),
    "activations": (MATRIX, M, lambda x: tf.nn.elu(x) + tf.nn.selu(x) + tf.nn.softplus(x) + tf.nn.leaky_relu(x, 0.3)),
    "softmax": (MATRIX, M, lambda x: tf.nn.softmax(x) + tf.nn.log_softmax(x)),
    "roots": (MATRIX, M, lambda x: tf.sqrt(tf.square(x) + 1.0) + tf.math.rsqrt(tf.square(x) + 1.0) + tf.pow(2.0, x)),
    "rounding": (MATRIX, M, lambda x: tf.floor(x) + tf.math.ceil(x) + tf.round(x) + tf.math.reciprocal(x)),
    "comparisons": (MATRIX, M, lambda x: tf.where((x > 0) & (x < 1) | tf.logical_not(x <= 0.5), x, -x)),
    "einsum of two": (spec(None, 3, 4), X[:, :3, 0], lambda x: tf.einsum("bij,bkj->bki", x, x)),
    "einsum with heads": (
        spec(None, 3, 4),
        X[:, :3, 0],
        lambda x: tf.einsum("abc,cde->abde", x, W[0].transpose(1, 0, 2).copy()),
    ),
    "integers": (
        spec(None, 4, dtype=tf.int32),
        np.arange(-4, 4, dtype=np.int32).reshape(2, 4),
        lambda x: x // 3 + x % 3,
    ),
    "reductions": (
        IMAGE,
        X,
        lambda x: tf.reduce_mean(x, [1, 2]) + tf.reduce_max(x, [1, 2]) - tf.reduce_sum(x, [1, 2], True)[:, 0, 0],
    ),
    "reshape": (IMAGE, X, lambda x: tf.transpose(tf.reshape(x, [tf.shape(x)[0], -1, 4]), [0, 2, 1])),
    "slices": (IMAGE, X, lambda x: tf.concat([x[:, ::2, 1:4], x[:, 3:, :3]], 1)[..., tf.newaxis]),
    "split": (MATRIX, M, lambda x: tf.stack(tf.split(x, 2, 1), 1) + tf.stack(tf.split(x, [2, 2], 1), 1)),
    "unstack": (MATRIX, M, lambda x: tf.add_n(tf.unstack(x, axis=1))),
    "gather": (MATRIX, M, lambda x: tf.gather(x, [3, 0], axis=1) + tf.gather_nd(x, [[0], [1]])[:1, :2]),
    "pads": (
        MATRIX,
        M,
        lambda x: (
            tf.pad(x, [[0, 0], [1, 1]])
            + tf.pad(x, [[0, 0], [1, 1]], constant_values=2.0)
            + tf.pad(x, [[0, 0], [1, 1]], "REFLECT")
        ),
    ),
    "tile": (MATRIX, M, lambda x: tf.tile(x, [1, 2]) + tf.broadcast_to(x[:1, :1], tf.shape(tf.tile(x, [1, 2])))),
    "places": (MATRIX, M, lambda x: tf.cast(tf.argmax(x, 1) + tf.argmin(x, 1), F32) + tf.math.top_k(x, 2)[0][:, 1]),
    "one hot": (spec(None, dtype=tf.int32), np.int32([0, 2]), lambda x: tf.one_hot(x, 3)),
    "sums": (MATRIX, M, lambda x: tf.cumsum(x, 1, reverse=True) + tf.reverse(x, [1])),
    "resize": (IMAGE, X, lambda x: tf.image.resize(x, [9, 4]) + tf.image.resize(x, [9, 4], "nearest")),
    "blocks": (IMAGE, X, lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(x, 2), 2)),
    "einsum": (MATRIX, M, lambda x: tf.einsum("bi,ij->bj", x, W[0, 1])),
    "several results": (MATRIX, M, lambda x: (x, x + 1.0, tf.constant([1.0, 2.0]), x)),
}


def loop(x):
    for i in tf.range(4):
        x = x * 0.5 if tf.reduce_sum(x) > 3.0 else x + tf.cast(i, F32)
    return x


PROGRAMS["loop"] = (spec(4), M[0], loop)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    given, value, program = PROGRAMS[name]
    function = signed(given)(program)
    data = converted(function)
    assert data[4:8] == b"TFL3"
    if importlib.util.find_spec("ai_edge_litert") is None:
        return
    expected = tf.nest.flatten(function(value))
    found = computed(data, value)
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.dtype == other.numpy().dtype
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


def model():
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(0)
    return tf.keras.Sequential([
        tf.keras.Input((12, 12, 3)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(),
        layers.DepthwiseConv2D(3, padding="same"), layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.5),
        layers.Dense(5, activation="softmax"),
    ])  # fmt: skip


@needs_litert
def test_keras_models(tmp_path):
    built = model()
    x = np.random.default_rng(0).random((3, 12, 12, 3), np.float32)
    (found,) = computed(tf.lite.TFLiteConverter.from_keras_model(built).convert(), x)
    np.testing.assert_allclose(found, built(x), atol=1e-6)
    built.export(str(tmp_path / "saved"), verbose=False)
    assert main(["lite", str(tmp_path / "saved"), str(tmp_path / "m.tflite")]) == 0
    interpreter = tf.lite.Interpreter(model_path=str(tmp_path / "m.tflite"))
    assert list(interpreter.get_signature_list()) == ["serving_default"]
    runner = interpreter.get_signature_runner()
    (name,) = runner.get_input_details()
    (found,) = runner(**{name: x}).values()
    np.testing.assert_allclose(found, built(x), atol=1e-6)
    codes = [one["op_name"] for one in interpreter._get_ops_details()]
    # Batch normalization and activation are part of the convolution, and the size of the batch is not computed.
    assert codes[:5] == ["CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "RESHAPE", "FULLY_CONNECTED"]


@needs_litert
def test_signatures_of_saved_models(tmp_path):
    class Both(tf.Module):
        @tf.function(input_signature=[spec(None, name="x")])
        def double(self, x):
            return {"y": 2.0 * x}

        @tf.function(input_signature=[spec(None, name="a"), spec(None, name="b")])
        def add(self, a, b):
            return {"sum": a + b}

    both = Both()
    tf.saved_model.save(both, str(tmp_path), signatures={"double": both.double, "add": both.add})
    converter = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path), ["double", "add"])
    interpreter = tf.lite.Interpreter(model_content=converter.convert())
    assert interpreter.get_signature_list() == {
        "double": {"inputs": ["x"], "outputs": ["y"]}, "add": {"inputs": ["a", "b"], "outputs": ["sum"]},
    }  # fmt: skip
    runner = interpreter.get_signature_runner("add")
    assert runner(a=np.float32([1]), b=np.float32([2]))["sum"].tolist() == [3.0]
    with pytest.raises(ValueError, match="no signature 'other'"):
        tf.lite.TFLiteConverter.from_saved_model(str(tmp_path), ["other"])


def test_what_has_no_counterpart_is_named_at_once():
    @signed(MATRIX)
    def lacking(x):
        return tf.math.lgamma(x) + tf.math.erfinv(x)

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Erfinv: .*Lgamma: .*no counterpart"):
        converted(lacking)


@needs_litert
def test_damaged_models(tmp_path):
    with pytest.raises(tf.errors.DataLossError, match="no model"):
        tf.lite.Interpreter(model_content=b"nothing")
    with pytest.raises(tf.errors.NotFoundError):
        tf.lite.Interpreter(model_path=str(tmp_path / "none.tflite"))
    with pytest.raises(ValueError, match="one of"):
        tf.lite.Interpreter()
