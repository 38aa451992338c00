"""Layers of Keras as models of TensorFlow Lite: LiteRT computes the same, for batches of any size."""

import importlib.util

import pytest

if importlib.util.find_spec("ai_edge_litert") is None:
    pytest.skip("LiteRT is not there: pip install 'headrace[lite]'", allow_module_level=True)

from lite_applications import LARGEST_ERROR, application, error_of, errors_of_mutated
from lite_checks import largest_error, model_results
from lite_layers import LAYERS, built

import headrace as tf

QUICK = {"Dense", "Conv2D", "LSTM", "GRU, sequences", "Bidirectional LSTM", "MultiHeadAttention", "activation gelu"}


@pytest.mark.parametrize("name", [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in LAYERS
])  # fmt: skip
def test_layers(name):
    model, arrays = built(name)
    data = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    for count in (len(arrays[0]), 1):
        given = [array[:count] for array in arrays]
        expected = [one.numpy() for one in tf.nest.flatten(model(given, training=False))]
        assert largest_error(model_results(data, model, given), expected) < 1e-5


@pytest.mark.slow
def test_architectures():
    """All ten are for scripts/lite_models."""
    model, image = application("MobileNetV3Small", size=64)
    data = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    assert error_of(model, image, data) < LARGEST_ERROR
    assert min(errors_of_mutated(model, image, data)) > LARGEST_ERROR


def test_weights_of_loops_are_constants():
    """A loop copies all that goes through it, in each round."""
    model, _ = built("LSTM")
    data = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    interpreter = tf.lite.Interpreter(model_content=data)
    (loop,) = [one for one in interpreter._get_ops_details() if one["op_name"] == "WHILE"]
    shapes = [list(interpreter.get_tensor_details()[number]["shape"]) for number in loop["inputs"]]
    assert [5, 16] not in shapes
    assert [4, 16] not in shapes
