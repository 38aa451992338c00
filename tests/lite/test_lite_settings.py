"""Settings of the converter that ask for what it is not given."""

import pytest

import headrace as tf


@pytest.fixture(scope="module")
def model():
    return tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(2)])


@pytest.mark.parametrize(
    ("settings", "types", "text"),
    [
        ({"inference_input_type": tf.int8}, {}, "inference_input_type must be float32 .*, got int8"),
        ({"inference_output_type": tf.uint8}, {}, "inference_output_type must be float32 .*, got uint8"),
        ({}, {"supported_ops": [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]}, "representative_dataset must be set"),
        ({"optimizations": [tf.lite.Optimize.DEFAULT]}, {"supported_types": [tf.int8]}, "representative_dataset"),
        ({"optimizations": tf.lite.Optimize.DEFAULT}, {}, "optimizations must be a list"),
    ],
)
def test_integers_need_examples(model, settings, types, text):
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    for name, value in settings.items():
        setattr(converter, name, value)
    for name, value in types.items():
        setattr(converter.target_spec, name, value)
    with pytest.raises(ValueError, match=text):
        converter.convert()
