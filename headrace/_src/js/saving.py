"""`headrace.js.save`: whatever can be called, as a model of TensorFlow.js."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.js.graph_models import save_graph_model
from headrace._src.op.api import api
from headrace._src.saved_model.loading import load
from headrace._src.saved_model.saving import save as save_saved_model
from headrace._src.tracing.concrete_function import ConcreteFunction

_headrace = LazyModule("headrace")
_KERAS_FILES = (".keras", ".h5", ".hdf5")


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


@contextlib.contextmanager
def concrete_function_of(model: Any, signature: str) -> Iterator[Any]:
    """The function of a model, for as long as the block runs.

    Raises:
        ValueError: there is no such signature.
    """
    if isinstance(model, ConcreteFunction):
        yield model
        return
    if isinstance(model, (str, os.PathLike)):
        name = files.path_string(model)
        if name.endswith(_KERAS_FILES):
            model = _headrace.keras.models.load_model(name)
        else:
            yield _signature_of(load(name), signature, name)
            return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        if hasattr(model, "export"):
            model.export(path, verbose=False)
        else:
            save_saved_model(model, path)
        yield _signature_of(load(path), signature, type(model).__name__)


def _signature_of(loaded, name, what):
    if name not in loaded.signatures:
        raise ValueError(f"{what} has no signature {name!r}. There are: {', '.join(loaded.signatures) or 'none'}.")
    return loaded.signatures[name]
