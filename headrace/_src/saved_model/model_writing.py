"""A built SavedModel onto the disk: values, assets, fingerprint, and the message last."""

from __future__ import annotations

from collections.abc import Callable

from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY, gather_values
from headrace._src.checkpoint.options import CheckpointOptions
from headrace._src.checkpoint.value_writing import SavedValue, write_values
from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import protobuf_message
from headrace._src.formats import durable_files, files
from headrace._src.ops.strings.kernel_arrays import string_array
from headrace._src.saved_model.constants import (
    ASSETS_DIRECTORY,
    DEBUG_DIRECTORY,
    DEBUG_INFO_FILENAME_PB,
    FINGERPRINT_FILENAME,
    SAVED_MODEL_FILENAME_PB,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)
from headrace._src.saved_model.fingerprinting import fingerprint_of
from headrace._src.saved_model.model_building import BuiltModel
from headrace._src.saved_model.model_files import LARGEST
from headrace._src.saved_model.model_folder import new_folder
from headrace._src.saved_model.model_objects import is_variable
from headrace._src.saved_model.options import SaveOptions

_PIECE = 1 << 20


def write_model(
    model: BuiltModel, path: str, options: SaveOptions, beside: Callable[[str], None] | None = None
) -> None:
    """Write a model to a folder. When this returns, it would survive a power cut.

    Args:
        model: the model.
        path: the folder.
        options: how to write it.
        beside: called with a folder, into which it may write more files, that appear with the model.

    Raises:
        InvalidArgumentError: the message would have more than 2 GB.
        NotFoundError: an asset is not there.
        FailedPreconditionError: a variable has no value.
    """
    contents = _serialized(model.message, path)
    with new_folder(path) as folder:
        index = None if options.experimental_skip_saver else _write_values(model, folder, options)
        durable_files.make_folders(files.join(folder, ASSETS_DIRECTORY), flush=False)  # as the fingerprint beside it is
        for name, source in model.assets.items():
            _copy(source, files.join(folder, ASSETS_DIRECTORY, name))
        if model.assets:  # before the message that names them can be seen
            durable_files.sync_folder_of(files.join(folder, ASSETS_DIRECTORY, name))
        fingerprint = fingerprint_of(model.message.meta_graphs[0], contents, index)
        if model.debugging is not None:
            files.make_directories(files.join(folder, DEBUG_DIRECTORY))
            path = files.join(folder, DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB)
            durable_files.replace(path, model.debugging.serialized())
        if beside is not None:
            beside(folder)
        durable_files.replace(files.join(folder, FINGERPRINT_FILENAME), fingerprint.SerializeToString())
        durable_files.replace(files.join(folder, SAVED_MODEL_FILENAME_PB), contents)


def _serialized(message, path):
    advice = (
        f"{path}: the graph of the model has more than the 2 GB that a protobuf message may have, because of large "
        "constants in its functions. Make these tf.Variables (trainable=False) of the model: values of variables are "
        "written to files of their own, of any size."
    )
    try:
        if message.ByteSize() > LARGEST:
            raise errors.invalid_argument(advice)
        return message.SerializeToString(deterministic=True)
    except (protobuf_message.EncodeError, ValueError) as error:
        raise errors.invalid_argument(advice) from error


def _write_values(model, folder, options):
    """Write the values of variables and tables; returns the bytes of the index."""
    _check_values(model.objects)
    gathered = gather_values(model.objects.walk)
    for number in gathered.empty:
        raise errors.FailedPreconditionError(
            None, None,
            f"The variable {model.objects.described(number)} ({model.objects.objects[number]._shared_name!r}) has no "
            "value that could be saved. Assign one first.",
        )  # fmt: skip
    values = []
    for value in gathered.values:
        obj = model.objects.objects[value.number]
        values.append(SavedValue(value.key, value.tensor.dtype, value.tensor._a, value.slice_spec, obj))
    text = string_array([gathered.message.SerializeToString()], ())
    values.append(SavedValue(OBJECT_GRAPH_KEY, dtypes.string, text))
    prefix = files.join(folder, VARIABLES_DIRECTORY, VARIABLES_FILENAME)
    sharding = options.experimental_sharding_callback
    write_values(prefix, values, CheckpointOptions(experimental_sharding_callback=sharding) if sharding else None)
    return files.read(f"{prefix}.index")


def _check_values(objects):
    """Refuse variables without a value."""
    for number, obj in enumerate(objects.walk.objects):
        if is_variable(obj) and not obj.handle._a[()].is_initialized:
            raise errors.FailedPreconditionError(
                None,
                None,
                f"The variable {objects.described(number)} ({obj._shared_name!r}) has no value that could be saved. "
                "Assign one first.",
            )


def _copy(source, target):
    """Copy an asset, in pieces."""
    file = durable_files.NewFile(target)
    try:
        with files.open_file(source) as original:
            while piece := original.read(_PIECE):
                file.write(piece)
        file.finish()
        file.appear()
    except BaseException:
        file.discard()
        raise
