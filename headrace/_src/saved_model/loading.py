"""`tf.saved_model.load`: a SavedModel as an object with variables and functions."""

import contextlib
from typing import Any

from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.core.file_access import FilePolicy
from headrace._src.core.names import fresh_scope
from headrace._src.core.tracked_containers import track_containers
from headrace._src.formats import files
from headrace._src.formats.tensor_bundle import BundleReader
from headrace._src.graph.building.source_lines import users_line
from headrace._src.graph.messages.raised_graphs import raised
from headrace._src.op.api import api
from headrace._src.saved_model.debugging_parts import SavedLines, wants_lines
from headrace._src.saved_model.load_options import LoadOptions
from headrace._src.saved_model.loaded_graphs import load_graph
from headrace._src.saved_model.loaded_parts import LoadedParts
from headrace._src.saved_model.model_files import meta_graph_of, read_saved_model
from headrace._src.saved_model.object_building import ObjectBuilder
from headrace._src.saved_model.saved_library import SavedLibrary
from headrace._src.saved_model.variable_values import SavedValues


@api("saved_model.load", "compat.v1.saved_model.load_v2", dispatch=False)
def load(export_dir, tags=None, options=None) -> Any:
    """The object that a SavedModel holds.

    It has the attributes of the object that was saved: variables, functions, and objects with these. Its functions run
    like any `tf.function`, can be differentiated and trained, and saved again. `signatures` has those functions that
    take and return tensors by name.

    Args:
        export_dir: the folder.
        tags: the tags of the graph to load; needed only where the SavedModel has several.
        options: a `LoadOptions`.

    Raises:
        NotFoundError, OSError: the folder holds no SavedModel; the message says what it holds.
        NotFoundError: an op is not known, or a variable has no value.
        DataLossError, InvalidArgumentError: the files are damaged.
        ValueError: the SavedModel has no graph with these tags.
    """
    return load_parts(export_dir, None, tags, options)["root"]


def load_parts(export_dir: Any, paths: Any, tags: Any, options: Any) -> dict[str, Any]:
    """Objects of a SavedModel by their paths; see `LoadedParts` for what `paths` may be."""
    track_containers()
    folder = files.path_string(export_dir)
    options = LoadOptions() if options is None else options
    place = users_line()
    saved_model = read_saved_model(folder)
    meta_graph = meta_graph_of(saved_model, tags, folder)
    with context.changed(graph=None, recorders=(), device=None), fresh_scope(), _naming(folder):
        return _loaded(folder, meta_graph, paths, options, place)


@contextlib.contextmanager
def _naming(folder):
    """Lets errors of the block say which SavedModel they are about."""
    try:
        yield
    except errors.UnknownOperationError as error:  # here the names are those of the file
        raise errors.invalid_argument(error.args[0]) from None
    except errors.OpError as error:
        if folder in error.message:
            raise
        text = f"{error.message}\nThis came up while the SavedModel in {folder} was loaded."
        raise errors.from_code(error.error_code, text).with_traceback(error.__traceback__) from error.__cause__


def _loaded(folder, meta_graph, paths, options, place):
    graph_def = raised(meta_graph.graph_def)
    if graph_def is not meta_graph.graph_def:
        meta_graph.graph_def.CopyFrom(graph_def)
    policy = None if options.experimental_allow_file_access else FilePolicy(folder, place)
    if not meta_graph.HasField("object_graph_def"):  # of 1.x
        if paths:
            raise ValueError(f"{folder}: this SavedModel is of TensorFlow 1 and has no objects to choose from.")
        root = load_graph(folder, meta_graph, policy, restores=not options.experimental_skip_checkpoint)
        return {"root": _with_versions(root, meta_graph)}
    lines = SavedLines(folder) if wants_lines() else None
    library = SavedLibrary(meta_graph.graph_def.library, policy, lines=lines)
    library.check_ops(functions=meta_graph.object_graph_def.concrete_functions)
    values = None
    if not options.experimental_skip_checkpoint:
        values = SavedValues(folder, meta_graph.object_graph_def.nodes, options.open_checkpoint or BundleReader)
    parts = LoadedParts(meta_graph.object_graph_def.nodes, paths)
    builder = ObjectBuilder(folder, meta_graph, library, values, options, parts)
    try:
        builder.build()
        builder.initialize()
    finally:
        if values is not None:
            values.close()
    found = {path: builder.object(parts.number(path)) for path in parts.paths}
    root = found.get("root")
    if root is None:
        return found
    if options.experimental_load_function_aliases:
        if "function_aliases" in vars(root):
            raise ValueError(
                "Could not load with experimental_load_function_aliases option because the top-level object already "
                "has an attribute with name 'function_aliases'"
            )
        root.function_aliases = builder.functions_by_alias(meta_graph.meta_info_def.function_aliases)
    _with_versions(root, meta_graph)
    return found


def _with_versions(root, meta_graph):
    information = meta_graph.meta_info_def
    root.tensorflow_version = information.tensorflow_version
    root.tensorflow_git_version = information.tensorflow_git_version
    return root
