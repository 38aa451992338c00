"""`headrace.js.save`: whatever can be called, as a model of TensorFlow.js."""

from __future__ import annotations

import os

from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.js.graph_models import save_graph_model
from headrace._src.js.layers_models import save_layers_model
from headrace._src.op.api import api
from headrace._src.saved_model.functions_of_models import concrete_function_of

_headrace = LazyModule("headrace")
FORMATS = ("graph", "layers")


@api("js.save", dispatch=False)
def save(model, path, signature="serving_default", quantization=None, format="graph") -> None:
    """Write a model for TensorFlow.js.

    Args:
        model: a Keras model, a `tf.Module` with a function that has an input signature, a concrete function, or the
            path of a SavedModel, `.keras` or `.h5` file.
        path: the folder to write.
        signature: which signature of a model; for graph models only.
        quantization: None, or "float16", "uint8" or "uint16": smaller files, with rounded numbers.
        format: "graph" for a graph model, which `tf.loadGraphModel` loads in a page or in Node. "layers" for a layers
            model, which `tf.loadLayersModel` loads, and which can be trained there: of Sequential and functional Keras
            models with layers that TensorFlow.js has.

    >>> @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    ... def double(x):
    ...     return {"y": 2.0 * x}
    >>> tf.js.save(double.get_concrete_function(), "/tmp/headrace_js")
    >>> sorted(tf.io.gfile.listdir("/tmp/headrace_js"))
    ['group1-shard1of1.bin', 'model.json']
    >>> model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)])
    >>> tf.js.save(model, "/tmp/headrace_js_layers", format="layers")

    Raises:
        InvalidArgumentError: the model has operations or layers that TensorFlow.js does not have; all are named.
        ValueError: it has no such signature; or it is no model that can be written in this format.
    """
    if format not in FORMATS:
        raise ValueError(f"js.save: format must be one of {', '.join(FORMATS)}, got {format!r}.")
    folder = files.path_string(path)
    if format == "layers":
        save_layers_model(_keras_model(model), folder, quantization)
        return
    with concrete_function_of(model, signature) as concrete:
        save_graph_model(concrete, folder, quantization)


def _keras_model(model):
    if not isinstance(model, (str, os.PathLike)):
        return model
    return _headrace.keras.models.load_model(files.path_string(model), compile=False)
