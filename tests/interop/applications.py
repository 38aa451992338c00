"""One side of the proof about keras.applications: makes a model with random weights and saves it, or loads one.

    python applications.py save|load TENSORFLOW|HEADRACE NAME FOLDER

`save` writes the SavedModel and what it computes; `load` compares what the loaded one computes with that, and says how
long it took until the first results were there.
"""

import importlib
import json
import pathlib
import sys
import time

import numpy as np

SEED = 11
SIZE = 96
# Architecture to arguments. Small images, and no large layer at the top of those that have one.
MODELS = {
    "MobileNetV2": {},
    "MobileNetV3Small": {},
    "ResNet50": {},
    "ResNet50V2": {},
    "DenseNet121": {},
    "EfficientNetB0": {},
    "EfficientNetV2B0": {},
    "InceptionV3": {},
    "Xception": {},
    "NASNetMobile": {},
    "ConvNeXtTiny": {},
    "VGG16": {"include_top": False, "pooling": "avg"},
}


def framework(name):
    """TensorFlow, or headrace in its place."""
    if name == "headrace":
        importlib.import_module("headrace").install_as_tensorflow()
    return importlib.import_module("tensorflow")


def inputs():
    return np.random.default_rng(SEED).uniform(-1, 1, (2, SIZE, SIZE, 3)).astype(np.float32)


def build(name):
    """A model whose weights, statistics of batches included, are random, and whose outputs are no probabilities."""
    keras = importlib.import_module("keras")
    keras.utils.set_random_seed(SEED)
    arguments = {"weights": None, "input_shape": (SIZE, SIZE, 3), **MODELS[name]}
    if arguments.get("include_top", True):
        arguments["classifier_activation"] = None
    model = getattr(keras.applications, name)(**arguments)
    rng = np.random.default_rng(SEED)
    for variable in model.weights:
        if variable.path.endswith(("gamma", "moving_variance")):
            variable.assign(rng.uniform(0.8, 1.2, variable.shape))
        elif variable.path.endswith(("beta", "bias", "moving_mean")):
            variable.assign(rng.uniform(-0.1, 0.1, variable.shape))
    return model


def save(tf, name, folder):
    model = build(name)
    tf.saved_model.save(model, str(folder / "model"))
    np.savez(folder / "results.npz", y=np.asarray(model(inputs(), training=False)))
    return {}


def load(tf, name, folder):
    x = tf.constant(inputs())
    begin = time.perf_counter()
    loaded = tf.saved_model.load(str(folder / "model"))
    (y,) = loaded.signatures["serving_default"](x).values()
    y = y.numpy()
    seconds = time.perf_counter() - begin
    expected = np.load(folder / "results.npz")["y"]
    scale = float(np.abs(expected).max())
    return {"seconds": seconds, "difference": float(np.abs(y - expected).max()) / scale}


if __name__ == "__main__":
    command, module, name, folder = sys.argv[1:]
    results = {"save": save, "load": load}[command](framework(module), name, pathlib.Path(folder))
    print(json.dumps(results))
