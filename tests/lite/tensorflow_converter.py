"""Runs with TensorFlow: what its converter makes of a SavedModel. Called by scripts/lite_models; prints JSON."""

import json
import os
import sys
import time

import numpy as np
import tensorflow as tf


def timed(folder):
    small = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([2])])
    tf.lite.TFLiteConverter.from_concrete_functions([small.get_concrete_function()]).convert()  # loads what it needs
    start = time.perf_counter()
    data = tf.lite.TFLiteConverter.from_saved_model(os.path.join(folder, "model")).convert()
    return {"seconds": time.perf_counter() - start, "bytes": len(data)}


def outputs(data, images):
    interpreter = tf.lite.Interpreter(model_content=data)
    given, made = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    interpreter.resize_tensor_input(given["index"], images.shape)
    interpreter.allocate_tensors()
    scale, zero = given["quantization"]
    if scale:
        limits = np.iinfo(given["dtype"])
        images = np.clip(np.round(images / scale) + zero, limits.min, limits.max).astype(given["dtype"])
    interpreter.set_tensor(given["index"], images)
    interpreter.invoke()
    found = interpreter.get_tensor(made["index"])
    scale, zero = made["quantization"]
    return (found.astype(np.float64) - zero) * scale if scale else found


def digits(folder):
    with np.load(os.path.join(folder, "data.npz")) as arrays:
        samples, images, labels = (arrays[name] for name in ("samples", "images", "labels"))
    ways = {
        "dynamic range": {}, "float16": {"types": [tf.float16]}, "int8": {"samples": True},
        "int8 in and out": {"samples": True, "io": tf.int8}, "uint8 in and out": {"samples": True, "io": tf.uint8},
        "int16x8": {"samples": True, "wide": True},
    }  # fmt: skip
    path = os.path.join(folder, "model")
    plain = tf.lite.TFLiteConverter.from_saved_model(path).convert()
    expected = outputs(plain, samples)
    found = {"float": {"bytes": len(plain)}}
    for name, way in ways.items():
        converter = tf.lite.TFLiteConverter.from_saved_model(path)
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if way.get("samples"):
            converter.representative_dataset = lambda: ([sample[None]] for sample in samples)
        if "types" in way:
            converter.target_spec.supported_types = way["types"]
        if "io" in way:
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
            converter.inference_input_type = converter.inference_output_type = way["io"]
        if "wide" in way:
            converter.target_spec.supported_ops = [
                tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
            ]
        data = converter.convert()
        error = np.abs(outputs(data, samples) - expected)
        right = sum(
            int((outputs(data, images[i : i + 500]).argmax(1) == labels[i : i + 500]).sum())
            for i in range(0, len(images), 500)
        )
        found[name] = {
            "accuracy": right / len(images), "bytes": len(data), "largest error": float(error.max()),
            "mean error": float(error.mean()),
        }  # fmt: skip
    return found


if __name__ == "__main__":
    print(json.dumps({"time": timed, "digits": digits}[sys.argv[1]](sys.argv[2])))
