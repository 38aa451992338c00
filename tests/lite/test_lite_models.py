"""Models of TensorFlow Lite: what is written; and, where LiteRT is, that it computes the same."""

import importlib.util
import struct

import numpy as np
import pytest
from lite_checks import computed, converted, largest_error
from lite_programs import MATRIX, PROGRAMS, signed, spec

import headrace as tf
from headrace._src.cli.convert import main
from headrace._src.formats.flatbuffers import Scalar, Vector, written

needs_litert = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="LiteRT is not there: pip install 'headrace[lite]'"
)


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
    assert largest_error(found, [one.numpy() for one in expected]) < 2e-5


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
def test_export_by_keras(tmp_path):
    """Keras's own tests of this are run by scripts/keras_suite."""
    built = model()
    path = str(tmp_path / "m.tflite")
    built.export(path, format="litert", verbose=False)
    x = np.random.default_rng(0).random((3, 12, 12, 3), np.float32)
    (found,) = computed((tmp_path / "m.tflite").read_bytes(), x)
    np.testing.assert_allclose(found, built(x), atol=1e-6)
    with pytest.raises(ValueError, match="other_option"):
        built.export(path, format="litert", verbose=False, other_option=1)


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
    only = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path), ["add"]).convert()
    assert list(tf.lite.Interpreter(model_content=only).get_signature_list()) == ["add"]
    converter = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path))
    interpreter = tf.lite.Interpreter(model_content=converter.convert())
    assert interpreter.get_signature_list() == {
        "double": {"inputs": ["x"], "outputs": ["y"]}, "add": {"inputs": ["a", "b"], "outputs": ["sum"]},
    }  # fmt: skip
    runner = interpreter.get_signature_runner("add")
    assert runner(a=np.float32([1]), b=np.float32([2]))["sum"].tolist() == [3.0]
    with pytest.raises(ValueError, match="no signature 'other'"):
        tf.lite.TFLiteConverter.from_saved_model(str(tmp_path), ["other"])


@needs_litert
def test_what_keras_exports_has_one_signature(tmp_path):
    keras = tf.keras
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).export(str(tmp_path), verbose=False)
    data = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path)).convert()
    assert list(tf.lite.Interpreter(model_content=data).get_signature_list()) == ["serving_default"]


def test_what_has_no_counterpart_is_named_at_once():
    @signed(MATRIX)
    def lacking(x):
        return tf.math.lgamma(x) + tf.math.erfinv(x)

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Erfinv: .*Lgamma: .*no counterpart"):
        converted(lacking)
