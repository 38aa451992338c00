"""`headrace.js.save`: whatever can be called, as a model of TensorFlow.js."""

from __future__ import annotations

from headrace._src.formats import files
from headrace._src.js.graph_models import save_graph_model
from headrace._src.op.api import api
from headrace._src.saved_model.functions_of_models import concrete_function_of


@api("js.save", dispatch=False)
def save(model, path, signature="serving_default", quantization=None) -> None:
    """Write a model for TensorFlow.js: a graph model, which `tf.loadGraphModel` loads in a page or in Node.

    Args:
        model: a Keras model, a `tf.Module` with a function that has an input signature, a concrete function, or the
            path of a SavedModel, `.keras` or `.h5` file.
        path: the folder to write.
        signature: which signature of a model.
        quantization: None, or "float16", "uint8" or "uint16": smaller files, with rounded numbers.

    >>> @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    ... def double(x):
    ...     return {"y": 2.0 * x}
    >>> tf.js.save(double.get_concrete_function(), "/tmp/headrace_js")
    >>> sorted(tf.io.gfile.listdir("/tmp/headrace_js"))
    ['group1-shard1of1.bin', 'model.json']

    Raises:
        InvalidArgumentError: the model has operations that TensorFlow.js does not have.
        ValueError: it has no such signature.
    """
    with concrete_function_of(model, signature) as concrete:
        save_graph_model(concrete, files.path_string(path), quantization)
