"""`tf.compat.v1.saved_model.load`: a SavedModel into the graph and variables of a session."""

import logging
from typing import Any

from headrace._src.compat.saving.meta_graphs import add_meta_graph
from headrace._src.compat.saving.saver import Saver, all_saveable_objects
from headrace._src.core.file_access import FilePolicy
from headrace._src.formats import files
from headrace._src.graph.building.source_lines import users_line
from headrace._src.graph.messages.variable_messages import with_scope
from headrace._src.op.api import api
from headrace._src.saved_model import constants
from headrace._src.saved_model.model_contents import asset_paths, init_operation
from headrace._src.saved_model.model_files import contains_saved_model, read_saved_model, tag_sets

_logger = logging.getLogger("tensorflow")
# Of the saver that came with the model: the paths that they are given are the user's.
_SAVING = frozenset({"SaveV2", "RestoreV2", "MergeV2Checkpoints", "SaveSlices", "Save", "Restore", "RestoreSlice"})


@api("compat.v1.saved_model.load", "compat.v1.saved_model.loader.load", dispatch=False)
def load(sess, tags, export_dir, import_scope=None, **saver_kwargs) -> Any:
    """Adds the graph of a SavedModel to that of a session, restores its variables, and runs what it begins with.

    Args:
        sess: the session.
        tags: of the graph.
        export_dir: the folder of the SavedModel.
        import_scope: a scope for its operations.
        **saver_kwargs: passed to the `Saver` that restores. `experimental_allow_file_access=True`, as in
            `tf.saved_model.LoadOptions`, lets its operations touch files outside of the folder.

    Returns:
        The `MetaGraphDef` message; its signatures name tensors without the scope.

    Raises:
        OSError: the folder holds no SavedModel.
        RuntimeError: it has no graph with these tags.
        NotFoundError: an op is not known, or a variable has no value.
    """
    folder = files.path_string(export_dir)
    policy = None if saver_kwargs.pop("experimental_allow_file_access", False) else FilePolicy(folder, users_line())
    meta_graph = _chosen(read_saved_model(folder), tags)
    graph = sess.graph
    with graph.as_default():
        before = len(graph.nodes)
        _, _, scope = add_meta_graph(meta_graph, False, import_scope, **saver_kwargs.pop("import_arguments", {}))
        for operation in graph.nodes[before:]:
            if policy is not None and operation.record.lower is None and operation.type not in _SAVING:
                operation.file_policy = policy
        saver = _saver(meta_graph, scope, saver_kwargs)
        prefix = files.join(folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        if saver is not None and files.exists(f"{prefix}.index"):
            saver.restore(sess, prefix)
        elif saver is not None:
            _logger.info("The specified SavedModel has no variables; no checkpoints were restored.")
        _initialize(sess, graph, folder, meta_graph, scope)
    return meta_graph


def _chosen(saved_model, tags):
    wanted = {tags} if isinstance(tags, str) else set(tags)
    for meta_graph in saved_model.meta_graphs:
        if set(meta_graph.meta_info_def.tags) == wanted:
            return meta_graph
    available = ", ".join(str(set(found)) for found in tag_sets(saved_model))
    raise RuntimeError(
        f"MetaGraphDef associated with tags {str(list(tags)).strip('[]')} could not be found in SavedModel, with "
        f"available tags '[{available}]'. To inspect available tag-sets in the SavedModel, please use the SavedModel "
        "CLI: `saved_model_cli`."
    )


def _saver(meta_graph, scope, keywords):
    if meta_graph.saver_def.restore_op_name:
        return Saver(saver_def=meta_graph.saver_def, name=scope, **keywords)
    if all_saveable_objects(scope=f"{scope}/" if scope else None):
        return Saver(**keywords)
    return None


def _initialize(sess, graph, folder, meta_graph, scope):
    """Run the operation that the model begins with, with the paths that its files have now."""
    name = init_operation(meta_graph, folder)
    paths = asset_paths(meta_graph, folder)
    if name is None:
        return
    feeds = {graph.get_tensor_by_name(with_scope(tensor, scope)): path for tensor, path in paths.items()}
    sess.run(graph.as_graph_element(with_scope(name, scope)), feeds)


@api(
    "compat.v1.saved_model.maybe_saved_model_directory", "compat.v1.saved_model.loader.maybe_saved_model_directory",
    dispatch=False,
)  # fmt: skip
def maybe_saved_model_directory(export_dir) -> bool:
    """Whether a folder holds a SavedModel.

    >>> tf.compat.v1.saved_model.maybe_saved_model_directory("/no/such/folder")
    False
    """
    return contains_saved_model(export_dir)


