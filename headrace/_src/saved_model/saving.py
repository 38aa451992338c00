"""`tf.saved_model.save`: an object with variables and functions as a folder that TensorFlow and its servers load."""

import logging
from collections.abc import Callable
from typing import Any

from headrace._src.checkpoint.object_walk import ObjectWalk
from headrace._src.core.context import context
from headrace._src.core.trackable import Trackable
from headrace._src.core.tracked_containers import track_containers
from headrace._src.formats import files
from headrace._src.op.api import api
from headrace._src.saved_model.constants import ASSETS_DIRECTORY
from headrace._src.saved_model.model_building import build_model
from headrace._src.saved_model.model_writing import write_model
from headrace._src.saved_model.options import SaveOptions

_logger = logging.getLogger("tensorflow")


@api("saved_model.save", "compat.v1.saved_model.experimental.save", dispatch=False)
def save(obj, export_dir, signatures=None, options=None) -> None:
    """Write an object to a folder: its variables with their values, its traced functions, and files that it needs.

    `tf.saved_model.load` makes an object like it, also in TensorFlow; a server runs its signatures. A function is saved
    with the traces that it has: call it, or its `get_concrete_function`, for each kind of arguments first. The folder
    appears complete or not at all; a model that is there already can be loaded until the new one takes its place.

    Args:
        obj: a `tf.Module`, a Keras model, or another trackable object.
        export_dir: the folder.
        signatures: what servers call: a `tf.function` with an `input_signature`, a concrete function, or a dictionary
            of these. Without it, the only function that is fit for it is the signature `serving_default`, if there
            is exactly one.
        options: a `SaveOptions`.

    Raises:
        ValueError: `obj` is not trackable, or a signature takes or returns what signatures cannot.
        AssertionError: a function uses a variable or table that `obj` does not hold; or this was called in a function.
        FailedPreconditionError: a variable has no value.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> module = tf.Module()
    >>> module.rate = tf.Variable(3.0)
    >>> module.times = tf.function(lambda x: x * module.rate, input_signature=[tf.TensorSpec([])])
    >>> tf.saved_model.save(module, folder)
    >>> float(tf.saved_model.load(folder).times(2.0))
    6.0
    """
    save_with(obj, export_dir, signatures, options)


def save_with(
    obj: Any, export_dir: Any, signatures: Any, options: Any, beside: Callable[[str], None] | None = None
) -> ObjectWalk:
    """As `save`; returns the objects that were saved, by number, and the names that lead to each.

    `beside` is called with the folder that is being written, and may write more files into it.
    """
    if context.graph is not None and context.graph.building_function:
        raise AssertionError(
            "`tf.saved_model.save` is not supported inside a traced @tf.function. Move the call to the outer "
            "eagerly-executed context."
        )
    options = SaveOptions() if options is None else options
    if not isinstance(options, SaveOptions):
        raise TypeError(f"options must be a tf.saved_model.SaveOptions, got {type(options).__name__}.")
    if not isinstance(obj, Trackable):
        raise ValueError(
            "Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` class, for "
            f"export. Got {obj} with type {type(obj)}."
        )
    path = files.path_string(export_dir)
    track_containers()
    model = build_model(obj, signatures, options)
    write_model(model, path, options, beside)
    _logger.info("Assets written to: %s", files.join(path, ASSETS_DIRECTORY))
    return model.objects.walk
