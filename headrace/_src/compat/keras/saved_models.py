"""Keras models as SavedModel folders, as `model.save(folder)` and `load_model(folder)` of TensorFlow 2.0 do it.

A folder that is written here has Keras's own description of the model in it, too, as Keras 3 has it in folders: both
`tf.saved_model.load` and `load_model`, also those of TensorFlow 2.21, understand it. `replacements.py` says where
in Keras these functions go.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import logging
import os
from typing import Any

from headrace._src.checkpoint.checkpoints import Checkpoint
from headrace._src.compat.keras.durable_files import may_write
from headrace._src.compat.keras.former_configs import reading
from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule, protobuf_message
from headrace._src.core.specs import TensorSpec
from headrace._src.formats import files
from headrace._src.formats.durable_files import disk
from headrace._src.saved_model.loading import load
from headrace._src.saved_model.saving import save_with
from headrace._src.state.variables import Variable
from headrace._src.tracing.function import function

_messages = LazyModule("headrace._src.formats.keras_messages")
_logger = logging.getLogger("tensorflow")
_FILES = (".keras", ".h5", ".hdf5")
_MODELS = ("saved_model.pb", "saved_model.pbtxt")
_METADATA = "keras_metadata.pb"


# Saving.


def save_model(original, model, filepath, overwrite=True, zipped=None, save_format=None, signatures=None, options=None,
               save_traces=True, **kwargs):  # fmt: skip
    """Save a model to a file, or, without the ending of one, to a folder: a SavedModel.

    Args:
        model: the model.
        filepath: the file or folder.
        overwrite: whether what is there is replaced without a question.
        zipped: as in Keras 3.
        save_format: `"tf"` is a folder, `"h5"` an HDF5 file, whatever the path is.
        signatures: of a SavedModel, as for `tf.saved_model.save`.
        options: of a SavedModel.
        save_traces: without meaning; functions are always saved.
    """
    path = files.path_string(filepath) if isinstance(filepath, (str, bytes, os.PathLike)) else str(filepath)
    form = None if save_format is None else str(save_format).lower()
    if form in ("h5", "hdf5") and not path.endswith(_FILES):
        module = importlib.import_module("keras.src.legacy.saving.legacy_h5_format")
        return module.save_model_to_hdf5(model, path, overwrite, kwargs.get("include_optimizer", True))
    is_folder = form in ("tf", "tensorflow") if form else zipped is None and "://" not in path
    if not is_folder or path.endswith(_FILES):
        if save_format is not None:
            kwargs["save_format"] = save_format
        return original(model, filepath, overwrite, zipped, **kwargs)
    if not may_write(path, overwrite):
        return None
    if not model.built:
        raise ValueError(
            f"Model {model.name!r} cannot be saved because its input shapes have not been set. Call it on some inputs, "
            "or `build()` it with an `input_shape`."
        )
    if signatures is None:
        signatures = _signature(model)
    save_with(model, path, signatures, options, functools.partial(_describe, model))
    return None


def _signature(model):
    """The function that predicts, with inputs and outputs by name, as in Keras 2; None for a subclass."""
    functional = getattr(model, "_functional", model)
    if not hasattr(functional, "output_names"):
        return None
    tree = importlib.import_module("keras").tree
    specs = [
        TensorSpec(tensor.shape, tensor.dtype, name=name)
        for name, tensor in zip(functional.input_names, functional.inputs)
    ]

    @function(input_signature=specs)
    def serving_default(*tensors):
        inputs = tree.pack_sequence_as(functional.input, list(tensors))
        return dict(zip(functional.output_names, tree.flatten(model(inputs, training=False))))

    return serving_default


def _describe(model, folder):
    """Write Keras's description of a model and its weights into a folder; nothing if there is none."""
    library = importlib.import_module("keras.src.saving.saving_lib")
    try:
        library._serialize_model_as_json(model)
    except (NotImplementedError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        _logger.warning("What load_model makes of this model will only compute: it has no description (%s).", reason)
        return
    parts = files.join(folder, ".keras_parts")
    library._save_model_to_dir(model, parts, "h5")
    _move(parts, folder)


def _move(source, target):
    """Move all files of a folder into another one, in which there may be others, and flush them."""
    for name in sorted(os.listdir(source)):
        path, place = os.path.join(source, name), os.path.join(target, name)
        if os.path.isdir(path):
            os.makedirs(place, exist_ok=True)
            _move(path, place)
        else:
            file = os.open(path, os.O_RDWR)
            try:
                disk().sync(file)
            finally:
                os.close(file)
            disk().rename(path, place)
    os.rmdir(source)


# Loading.


def load_model(original, filepath, custom_objects=None, compile=True, safe_mode=True, options=None):
    """Load a model from a file or a folder.

    A folder that is a SavedModel gives the model that Keras, also Keras 2, has described in it. Without a description
    it gives a model that computes what the functions of the SavedModel compute; its variables can be trained.

    Args:
        filepath: the file or folder.
        custom_objects: classes and functions of the program, by name.
        compile: whether the model is compiled, if it was.
        safe_mode: whether code in files is refused.
        options: a `tf.saved_model.LoadOptions`.
    """
    path = files.path_string(filepath) if isinstance(filepath, (str, bytes, os.PathLike)) else str(filepath)
    if "://" in path or not any(files.exists(files.join(path, name)) for name in _MODELS):
        return original(filepath, custom_objects, compile, safe_mode)
    if files.exists(files.join(path, "config.json")):
        make = functools.partial(original, filepath, custom_objects, compile, safe_mode)
    elif files.exists(files.join(path, _METADATA)):
        make = functools.partial(_model_of_keras_2, path, _description(path), custom_objects, compile)
    else:
        return _loaded_model()(path, options)
    try:
        return make()
    except (TypeError, ValueError, NotImplementedError) as error:
        _logger.warning(
            "The description of the model in %s cannot be used: %s. The model computes what the functions of the "
            "SavedModel compute. If classes of the program are missing, give them as custom_objects.",
            path, _in_short(error),
        )  # fmt: skip
    return _loaded_model()(path, options)


def _in_short(error):
    """What an error of Keras says, without the description itself, which it repeats."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("config=")]
    return " ".join(dict.fromkeys(line[:300].rstrip(".") for line in (lines[:1] + lines[-1:])))


def _model_of_keras_2(path, description, custom_objects, compile):
    """A model from the description that Keras 2 adds to a SavedModel.

    Raises:
        TypeError, ValueError: it names what is not known, or describes no whole model.
    """
    if not description.get("config"):
        raise ValueError(f"the model was a {description.get('class_name')} without a configuration")
    if '"vocabulary": null' in json.dumps(description["config"], default=str):
        raise ValueError("a vocabulary is not part of it")
    utils = importlib.import_module("keras.src.legacy.saving.saving_utils")
    with reading("2."), importlib.import_module("keras").saving.custom_object_scope(custom_objects or {}):
        model = utils.model_from_config(
            {"class_name": description["class_name"], "config": description["config"]}, custom_objects
        )
        training = description.get("training_config")
        if compile and training:
            model.compile(**utils.compile_args_from_training_config(training, custom_objects))
            utils.try_build_compiled_arguments(model)
    status = Checkpoint(root=model).read(files.join(path, "variables", "variables"))
    if model.built:
        status.assert_nontrivial_match()
    status.expect_partial()  # states of metrics are left over
    return model


def _description(path):
    file = files.join(path, _METADATA)
    try:
        message = _messages.SavedMetadata.FromString(files.read(file))
        root = next((node for node in message.nodes if node.node_path == "root"), None)
        decode = importlib.import_module("keras.src.legacy.saving.json_utils").decode
        description = {} if root is None else decode(root.metadata)
    except (protobuf_message.DecodeError, ValueError) as error:
        raise errors.data_loss(f"{file} cannot be read: {error}.") from None
    return description


@functools.cache
def _loaded_model():
    """The class of models without a description, which can be made only when Keras is there."""
    keras = importlib.import_module("keras")
    backend = importlib.import_module("keras.src.backend")

    class LoadedModel(keras.Model):
        """A model that computes what the functions of a SavedModel compute."""

        def __init__(self, path, options=None):
            loaded = load(path, options=options)
            if not callable(loaded) and "serving_default" not in loaded.signatures:
                raise ValueError(
                    f"{path} is a SavedModel, but not of a Keras model: it has no function to call, and no signature "
                    f"'serving_default' (signatures: {sorted(loaded.signatures)}). Use tf.saved_model.load, or "
                    f"keras.layers.TFSMLayer({path!r}, call_endpoint=...)."
                )
            super().__init__(name=os.path.basename(os.path.normpath(path)).replace("/", "_") or None)
            self._loaded = loaded
            self.signatures = loaded.signatures
            for variable in loaded.variables:
                if not isinstance(variable, Variable):
                    continue  # Keras 2 counts tables among them
                self._track_variable(backend.Variable(
                    variable, trainable=variable.trainable, dtype=variable.dtype.name, name=_name(variable)
                ))  # fmt: skip
            self.built = True

        def call(self, inputs, training=None):
            return _call(self._loaded, inputs, training)

        def get_config(self):
            raise NotImplementedError(
                "This model was loaded from a SavedModel without a description of its layers. Save it to a folder."
            )

    return LoadedModel


def _name(variable):
    return variable.name.partition(":")[0].replace("/", "_")


def _call(loaded: Any, inputs: Any, training: Any) -> Any:
    """What the function of a SavedModel computes; in training, what the one for that does, if there is one."""
    if not callable(loaded):
        signature = loaded.signatures["serving_default"]
        results = signature(**inputs) if isinstance(inputs, dict) else signature(inputs)
        return next(iter(results.values())) if len(results) == 1 else results
    function = vars(loaded).get("__call__")
    if training and function is not None and "training" in inspect.signature(function).parameters:
        return loaded(inputs, training=True)
    return loaded(inputs)
