"""Running models of TensorFlow Lite, and comparing them with what headrace computes."""

import contextlib
import os

import numpy as np

import headrace as tf


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


def model_results(data, model, arrays):
    """What LiteRT makes of the inputs of a Keras model, which are taken by their names."""
    runner = tf.lite.Interpreter(model_content=data).get_signature_runner()
    names = [tensor.name for tensor in model.inputs]
    results = runner(**dict(zip(names, arrays)))
    return [results[name] for name in sorted(results)]


def largest_error(found, expected):
    """The largest difference, as a part of the largest number that was expected."""
    worst = 0.0
    for one, other in zip(found, expected):
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape, f"{one.shape} instead of {other.shape}"
        assert one.dtype == other.dtype, f"{one.dtype} instead of {other.dtype}"
        if one.dtype.kind not in "fc":
            assert np.array_equal(one, other), "other integers or strings"
            continue
        finite = np.isfinite(other)
        assert np.array_equal(finite, np.isfinite(one))
        scale = max(float(np.abs(other[finite]).max(initial=0.0)), 1e-3)
        worst = max(worst, float(np.abs(one - other)[finite].max(initial=0.0)) / scale)
    return worst


@contextlib.contextmanager
def quiet_litert():
    """LiteRT's C++ code writes to the error stream: leave that out."""
    kept = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
