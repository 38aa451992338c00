"""Quantized models: what they lose, and what their files say."""

import importlib.util

import numpy as np
import pytest

if importlib.util.find_spec("ai_edge_quantizer") is None:
    pytest.skip("ai-edge-quantizer is not there: pip install 'headrace[lite]'", allow_module_level=True)

from lite_digits import WAYS, accuracies, digits_network, drawn_digits, quantized

import headrace as tf
from headrace._src.cli.convert import main
from headrace._src.lite.reading import read_model


@pytest.fixture(scope="module")
def digits():
    return drawn_digits()


@pytest.fixture(scope="module")
def network(digits):
    return digits_network(digits, epochs=8)


@pytest.mark.slow
def test_accuracy(digits, network):
    """The whole measure, on MNIST, is for scripts/lite_models."""
    rows = accuracies(network, digits)
    plain = rows.pop("float")
    assert plain["accuracy"] > 0.4  # ten digits
    for way, row in rows.items():
        assert row["accuracy"] > plain["accuracy"] - 0.02, way
        assert row["largest error"] < {"float16": 0.01, "dynamic range": 0.05}.get(way, 0.06) * row["largest logit"], (
            way
        )
        assert row["mean error"] < row["largest error"], way
        assert row["bytes"] < (0.6 if way == "float16" else 0.45) * plain["bytes"], way


@pytest.mark.slow
@pytest.mark.parametrize(("way", "given", "code", "version", "runtime"), [
    ("int8", np.float32, "CONV_2D", 3, "1.14.0"), ("int8 in and out", np.int8, "CONV_2D", 3, "1.14.0"),
    ("uint8 in and out", np.uint8, "FULLY_CONNECTED", 4, None), ("int16x8", np.float32, "CONV_2D", 4, "2.3.0"),
    ("float16", np.float32, "DEQUANTIZE", 3, "1.15.0"),
])  # fmt: skip
def test_types_and_versions(network, digits, way, given, code, version, runtime):
    data = quantized(network, way, digits.samples[:4])
    (details,) = tf.lite.Interpreter(model_content=data).get_input_details()
    assert details["dtype"] == given
    model = read_model(data)
    assert (code, version) in model.operators()
    assert runtime is None or model.minimum_runtime == runtime


def test_numbers_beyond_the_average_are_not_cut_off():
    """One example of many has large numbers; the range of an output is that of all."""
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, kernel_initializer="ones")])
    samples = [np.full((1, 4), 0.1, np.float32)] * 20 + [np.full((1, 4), 8.0, np.float32)]
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    plain = converter.convert()
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([one] for one in samples)
    (row,) = tf.lite.compare(plain, converter.convert(), [[one] for one in samples])
    assert row.samples == 21
    assert row.largest_value == pytest.approx(32.0)
    assert row.largest_error < 0.3


@pytest.mark.parametrize(("options", "error", "text"), [
    ({"inference_input_type": tf.int16}, ValueError, "inference_input_type"),
    ({"inference_output_type": tf.float64}, ValueError, "inference_output_type"),
    ({"representative_dataset": [1]}, ValueError, "function"),
    ({"representative_dataset": list}, tf.errors.InvalidArgumentError, "no examples"),
    ({"representative_dataset": lambda: [[1, 2]]}, tf.errors.InvalidArgumentError, "2 arrays"),
    ({"representative_dataset": lambda: [[np.ones((1, 5), np.float32)]]}, tf.errors.InvalidArgumentError,
     r"shape \(1, 5\) .* does not fit \(None, 4\)"),
])  # fmt: skip
def test_wrong_settings(options, error, text):
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: [[np.ones((1, 4), np.float32)]]
    for name, value in options.items():
        setattr(converter, name, value)
    with pytest.raises(error, match=text):
        converter.convert()


def test_the_command(tmp_path, capsys):
    model = tf.keras.Sequential([tf.keras.Input((64,), name="x"), tf.keras.layers.Dense(32)])
    model.export(str(tmp_path / "saved"), verbose=False)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(10, 64)))
    source, target = str(tmp_path / "saved"), str(tmp_path / "m.tflite")
    samples = ["--samples", str(tmp_path / "x.npy")]
    for options in (["weights"], ["int8", *samples, "--input-type", "int8"], ["int16x8", *samples]):
        assert main(["lite", source, target, "--report", "--quantize", *options]) == 0
        text = capsys.readouterr().out
        assert "output_0" in text
        assert "examples; " in text
    assert main(["lite", source, target, "--quantize", "int8"]) == 1
    assert "--samples" in capsys.readouterr().err
    np.save(tmp_path / "x.npy", np.zeros((10, 3)))
    assert main(["lite", source, target, "--quantize", "int8", *samples]) == 1
    assert "does not fit" in capsys.readouterr().err


def test_all_ways_are_measured():
    assert set(WAYS) >= {"dynamic range", "float16", "int8", "int8 in and out", "int16x8"}


def test_loops_and_attention():
    """In loops only weights are integers; products with one matrix are dense layers, whose rows have scales."""
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(0)
    given = tf.keras.Input((6, 32), name="x")
    samples = [np.random.default_rng(i).normal(size=(1, 6, 32)).astype(np.float32) for i in range(6)]
    for layer in (layers.LSTM(32), layers.MultiHeadAttention(2, 16)):
        results = layer(given) if isinstance(layer, layers.LSTM) else layer(given, given)
        converter = tf.lite.TFLiteConverter.from_keras_model(tf.keras.Model(given, layers.Dense(8)(results)))
        plain = converter.convert()
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([one] for one in samples)
        made = converter.convert()
        (row,) = tf.lite.compare(plain, made, [[one] for one in samples])
        assert row.largest_error < 0.05 * row.largest_value
        assert len(made) < 0.75 * len(plain)


def test_large_models():
    """The quantizer puts large constants after everything else."""
    model = tf.keras.Sequential([tf.keras.Input((512,)), tf.keras.layers.Dense(1024), tf.keras.layers.Dense(10)])
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    plain = converter.convert()
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    (row,) = tf.lite.compare(plain, converter.convert(), [[np.ones((1, 512), np.float32)]])
    assert 0.0 < row.largest_error < 0.05 * row.largest_value


def test_integers_where_they_cannot_be():
    """A model that begins with a loop takes floating-point numbers."""
    model = tf.keras.Sequential([tf.keras.Input((3, 4)), tf.keras.layers.LSTM(4), tf.keras.layers.Dense(4)])
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: [[np.ones((1, 3, 4), np.float32)]]
    converter.inference_input_type = tf.uint8
    with pytest.raises(tf.errors.InvalidArgumentError, match="inference_input_type is uint8"):
        converter.convert()
