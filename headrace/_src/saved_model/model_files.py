"""The folder of a SavedModel: its message, the graph that some tags choose, and what else a folder may be."""

from typing import Any

from headrace._src.core import errors
from headrace._src.core.lazy import protobuf_message, protobuf_text_format
from headrace._src.formats import files
from headrace._src.formats.model_messages import SavedModel
from headrace._src.op.api import api
from headrace._src.saved_model.constants import SAVED_MODEL_FILENAME_CPB as CHUNKED
from headrace._src.saved_model.constants import SAVED_MODEL_FILENAME_PB as BINARY
from headrace._src.saved_model.constants import SAVED_MODEL_FILENAME_PBTXT as TEXT

# What a protobuf message can hold, and what its readers accept.
LARGEST = (1 << 31) - 1


@api("saved_model.contains_saved_model", "compat.v1.saved_model.contains_saved_model", dispatch=False)
def contains_saved_model(export_dir) -> bool:
    """Whether a folder holds a SavedModel.

    >>> tf.saved_model.contains_saved_model("/no/such/folder")
    False
    """
    folder = files.path_string(export_dir)
    return any(files.exists(files.join(folder, name)) for name in (BINARY, TEXT, CHUNKED))


def read_saved_model(export_dir: Any) -> Any:
    """The `SavedModel` message of a folder.

    Raises:
        NotFoundError, OSError: there is none; the message says what is there instead.
        DataLossError: the file is no such message.
        UnimplementedError: it is a message in chunks, or larger than 2 GB.
    """
    folder = files.path_string(export_dir)
    path = files.join(folder, BINARY)
    if files.exists(path):
        return _binary(path)
    path = files.join(folder, TEXT)
    if files.exists(path):
        return _text(path)
    if files.exists(files.join(folder, CHUNKED)):
        raise errors.unimplemented(
            f"{files.join(folder, CHUNKED)}: a SavedModel in chunks (TensorFlow's experimental_image_format) cannot be "
            "read. Save it again without `SaveOptions(experimental_image_format=True)`."
        )
    raise errors.NoSavedModelError(None, None, _what_is_there(folder))


def _binary(path):
    length = files.stat(path).length
    if length > LARGEST:
        raise errors.unimplemented(
            f"{path}: {length} bytes are more than the 2 GB that a protobuf message may have. Large constants should "
            "be variables: these are kept in files of their own."
        )
    try:
        return SavedModel.FromString(files.read(path))
    except protobuf_message.DecodeError as error:
        raise errors.data_loss(f"{path}: this is no SavedModel message, or a damaged one: {error}") from None


def _text(path):
    try:
        return protobuf_text_format.Parse(files.read(path).decode(), SavedModel())
    except (protobuf_text_format.ParseError, UnicodeDecodeError) as error:
        raise errors.data_loss(f"{path}: this is no SavedModel message as text: {error}") from None


def _what_is_there(folder):
    """Why a folder is no SavedModel, and what to call for what it seems to be."""
    text = f"SavedModel file does not exist at: {folder}/{{{TEXT}|{BINARY}}}. "
    if not files.exists(folder):
        return text + "There is no such folder."
    if not files.is_directory(folder):
        return text + _about_file(folder)
    names = files.names_in(folder)
    if not names:
        return text + "The folder is empty."
    numbers = [name for name in names if name.isdecimal() and contains_saved_model(files.join(folder, name))]
    if numbers:
        return text + f"It holds versions of a model: load {files.join(folder, max(numbers, key=int))!r}."
    if "config.json" in names and "metadata.json" in names:
        return text + "It holds the parts of a .keras file: zip them, and call keras.models.load_model."
    indices = [name for name in names if name.endswith(".index")]
    if indices:
        prefix = files.join(folder, indices[0].removesuffix(".index"))
        return text + f"It holds a checkpoint: use tf.train.Checkpoint(...).restore({prefix!r})."
    for name in names:
        if name.endswith((".keras", ".h5", ".hdf5", ".tflite")):
            return text + f"There is {name!r}: " + _about_file(files.join(folder, name))
    return text + f"There is: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}."


def _about_file(path):
    if path.endswith(".index") or ".data-" in path:
        return "It is part of a checkpoint: use tf.train.Checkpoint(...).restore with the path before the ending."
    with files.open_file(path) as file:
        begin = file.read(8)
    if begin == b"\x89HDF\r\n\x1a\n":
        return f"It is an HDF5 file: use keras.models.load_model({path!r}), or Model.load_weights for weights alone."
    if begin[:2] == b"PK":
        return f"It is a zip file, as .keras files are: use keras.models.load_model({path!r})."
    return "It is a file, not a folder."


def meta_graph_of(saved_model: Any, tags: Any, folder: str) -> Any:
    """The `MetaGraphDef` with exactly these tags (one, or several); None means the only one that there is.

    Raises:
        ValueError: there is none, or there are several; the message lists them.
    """
    graphs = saved_model.meta_graphs
    if tags is None:
        if len(graphs) != 1:
            raise ValueError(
                f"Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is more than "
                f"one MetaGraph. Got `tags=None`, but there are {len(graphs)} MetaGraphs in the SavedModel at {folder} "
                f"with tag sets: {tag_sets(saved_model)}. Pass a `tags=` argument to load this SavedModel."
            )
        return graphs[0]
    wanted = [tags] if isinstance(tags, str) else sorted(tags)
    for graph in graphs:
        if set(graph.meta_info_def.tags) == set(wanted):
            return graph
    raise ValueError(
        f"Got an incompatible argument to `tags`: {wanted}. The SavedModel at {folder} has "
        f"{'one MetaGraph' if len(graphs) == 1 else f'{len(graphs)} MetaGraphs'} with tags "
        f"{' and '.join(map(str, tag_sets(saved_model)))}. You may omit the argument if there is one, or pass matching "
        "tags."
    )


def tag_sets(saved_model: Any) -> list[list[str]]:
    """The tags of each graph of a SavedModel."""
    return [list(graph.meta_info_def.tags) for graph in saved_model.meta_graphs]
