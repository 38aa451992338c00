"""Graphs with their collections as `MetaGraphDef` messages and files: `export_meta_graph`, and the way back."""

import os
import re
from typing import Any

from headrace._src.compat.graph_keys import GraphKeys
from headrace._src.compat.saving.graph_collections import UNBOUND, collection_message, restore_collections
from headrace._src.core.context import context
from headrace._src.core.lazy import protobuf_message, protobuf_text_format
from headrace._src.core.names import fresh_scope
from headrace._src.formats import durable_files, files
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.formats.model_messages import MetaGraphDef, SaverDef
from headrace._src.graph.messages.graph_import import as_graph_def_message, import_graph_def
from headrace._src.graph.messages.op_definitions import strip_default_attributes, stripped_op_list
from headrace._src.graph.messages.variable_messages import is_in_scope, without_scope
from headrace._src.op.api import api
from headrace._src.version import GIT_VERSION, VERSION

_UNBOUND_COLLECTION = "unbound_inputs"
_EAGER = (
    "Exporting/importing meta graphs is not supported when eager execution is enabled. No graph exists when eager "
    "execution is enabled."
)


@api("compat.v1.train.export_meta_graph", dispatch=False)
def export_meta_graph(
    filename=None,
    meta_info_def=None,
    graph_def=None,
    saver_def=None,
    collection_list=None,
    as_text=False,
    graph=None,
    export_scope=None,
    clear_devices=False,
    clear_extraneous_savers=False,
    strip_default_attrs=False,
    save_debug_info=False,
    **kwargs,
) -> Any:
    """A graph with its collections as a `MetaGraphDef` message, which `import_meta_graph` reads.

    Args:
        filename: a file to write it to.
        meta_info_def: a `MetaInfoDef` message to begin with, such as with tags.
        graph_def: the operations; by default all of the graph.
        saver_def: the message of a saver.
        collection_list: the names of the collections to write; all by default.
        as_text: whether the file is text rather than bytes.
        graph: the current one by default.
        export_scope: only what is in this scope is written, with names relative to it. Its inputs from elsewhere are
            listed in the collection `unbound_inputs`.
        clear_devices: whether operations are written without their devices.
        clear_extraneous_savers: whether the operations of other savers than `saver_def` are left out.
        strip_default_attrs: whether attributes that have their default values are left out.
        save_debug_info: accepted.
        **kwargs: accepted.

    Raises:
        RuntimeError: executing eagerly, without `graph`.

    >>> with tf.Graph().as_default():
    ...     y = tf.constant(3.0, name="y")
    ...     tf.compat.v1.add_to_collection("results", y)
    ...     message = tf.compat.v1.train.export_meta_graph()
    >>> message.collection_def["results"].node_list.value
    ['y:0']
    """
    graph = context.graph if graph is None else graph
    if graph is None:
        raise RuntimeError(_EAGER)
    meta_graph = _message_of(
        graph, graph_def, saver_def, collection_list, meta_info_def, export_scope, clear_devices,
        clear_extraneous_savers,
    )  # fmt: skip
    if strip_default_attrs:
        strip_default_attributes(meta_graph.graph_def)
        meta_graph.meta_info_def.stripped_default_attrs = True
    if filename is not None:
        write_meta_graph(meta_graph, files.path_string(filename), as_text)
    return meta_graph


def write_meta_graph(meta_graph, path, as_text=False) -> None:
    """Writes a `MetaGraphDef` to a file, which is there wholly or not at all."""
    folder = os.path.dirname(path)
    if folder:
        durable_files.make_folders(folder)
    durable_files.replace(path, str(meta_graph).encode() if as_text else meta_graph.SerializeToString())


def _message_of(graph, graph_def, saver_def, collection_list, meta_info_def, scope, clear_devices, clear_savers):
    if graph_def is None:
        graph_def = graph.as_graph_def(add_shapes=True)
    else:
        graph_def = as_graph_def_message(graph_def)
    excluded: set[str] = set()
    if clear_savers:
        excluded = _other_savers(graph_def, saver_def)
    if scope or clear_devices or excluded:
        graph_def, unbound = _chosen(graph_def, scope, clear_devices, excluded)
        if scope:
            graph.clear_collection(_UNBOUND_COLLECTION)
            for name in unbound:
                graph.add_to_collection(_UNBOUND_COLLECTION, name)
    proto = MetaGraphDef(graph_def=graph_def)
    if meta_info_def is not None:
        proto.meta_info_def.MergeFromString(meta_info_def.SerializeToString())
    note_versions(proto)
    if saver_def is not None:
        proto.saver_def.CopyFrom(SaverDef.FromString(saver_def.SerializeToString()))

    def is_excluded(item):
        name = getattr(item, "name", None)
        return isinstance(name, str) and name.partition(":")[0] in excluded

    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        items = graph.get_collection(key)
        if key == GraphKeys.SAVERS and clear_savers:
            items = [] if saver_def is None else [_OnlySaver(saver_def)]
        if items:
            written = collection_message(key, items, scope, is_excluded)
            if written is not None:
                proto.collection_def[key].CopyFrom(written)
    return proto


def note_versions(proto) -> None:
    """Let a `MetaGraphDef` say who wrote it, and which ops it has."""
    information = proto.meta_info_def
    information.tensorflow_version = information.tensorflow_version or VERSION
    information.tensorflow_git_version = information.tensorflow_git_version or GIT_VERSION
    if not information.HasField("stripped_op_list"):
        information.stripped_op_list.CopyFrom(stripped_op_list(proto.graph_def))


class _OnlySaver:
    """In the collection of savers: a message instead of the object."""

    def __init__(self, saver_def):
        self._proto = saver_def

    def to_proto(self, export_scope=None):
        return self._proto


# Parts of a graph.


def _chosen(graph_def, scope, clear_devices, excluded):
    """The operations of a scope that are not excluded, and the names of what they take from elsewhere."""
    found, unbound = GraphDef(versions=graph_def.versions, library=graph_def.library), []
    for node in graph_def.node:
        if node.name in excluded or (scope and not is_in_scope(node.name, scope)):
            continue
        copied = found.node.add()
        copied.CopyFrom(node)
        if clear_devices:
            copied.device = ""
        if scope:
            _make_relative(copied, scope, unbound)
    return found, unbound


def _make_relative(node, scope, unbound):
    node.name = without_scope(node.name, scope)
    for i, reference in enumerate(node.input):
        mark, name = ("^", reference[1:]) if reference.startswith("^") else ("", reference)
        if is_in_scope(name, scope):
            node.input[i] = mark + without_scope(name, scope)
        else:
            node.input[i] = mark + UNBOUND + name
            unbound.append(node.input[i])
    if "_class" in node.attr:
        places = node.attr["_class"].list.s
        for i, place in enumerate(places):
            places[i] = b"loc:@" + without_scope(place.decode().removeprefix("loc:@"), scope).encode()


def _other_savers(graph_def, saver_def):
    """The names of the operations of all savers but one: all in their scopes that nothing else uses."""
    kept = None if saver_def is None else _scope_of(saver_def.filename_tensor_name)
    scopes = {_scope_of(node.name) for node in graph_def.node if _is_saving(node)}
    return {
        node.name
        for node in graph_def.node
        for scope in [_scope_of(node.name, scopes)]
        if scope is not None and scope != kept
    }


def _is_saving(node):
    return node.op in ("SaveV2", "SaveSlices", "RestoreV2") and re.search(r"(?:^|/)save(?:_\d+)?/", node.name)


def _scope_of(name, scopes=None):
    """The scope of a saver in which an operation is; None where it is in none of these scopes."""
    if scopes is None:
        return name.rpartition("/")[0]
    return next((scope for scope in scopes if scope and name.startswith(scope + "/")), None)


# Reading.


def read_meta_graph(meta_graph_or_file) -> MetaGraphDef:
    """The message that is given, or that a file holds as bytes or text.

    Raises:
        OSError: there is no such file, or it holds something else.
        TypeError: it is neither a path nor a message.
    """
    value = meta_graph_or_file
    if getattr(getattr(value, "DESCRIPTOR", None), "full_name", None) == MetaGraphDef.DESCRIPTOR.full_name:
        return value if isinstance(value, MetaGraphDef) else MetaGraphDef.FromString(value.SerializeToString())
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"Expected binary or unicode string, got {value!r}")
    path = files.path_string(value)
    if not files.exists(path) or files.is_directory(path):
        raise OSError(f"File does not exist. Received: {path}.")
    data = files.read(path)
    try:
        return MetaGraphDef.FromString(data)
    except protobuf_message.DecodeError:
        pass
    try:
        return protobuf_text_format.Parse(data.decode(), MetaGraphDef())
    except (protobuf_text_format.ParseError, UnicodeDecodeError) as error:
        text = f"Cannot parse file {path}: it is no MetaGraphDef, neither as bytes nor as text: {error}."
        raise OSError(text) from None


def add_meta_graph(meta_graph, clear_devices, import_scope, input_map=None, return_elements=None) -> tuple:
    """Adds the operations and collections of a message to the current graph.

    Args:
        meta_graph: a `MetaGraphDef`.
        clear_devices: whether to forget the devices of the operations.
        import_scope: a scope for them.
        input_map: tensors in the place of those of the message, by name.
        return_elements: names of operations and tensors.

    Returns:
        The variables by the names that they have in the message, what `return_elements` asks for, and the scope.
    """
    graph = context.graph
    if graph is None:
        raise RuntimeError(_EAGER)
    unbound: list[str] = []
    if _UNBOUND_COLLECTION in meta_graph.collection_def:
        unbound = [_text(name) for name in meta_graph.collection_def[_UNBOUND_COLLECTION].bytes_list.value]
    if not set(unbound) <= {_text(name) for name in input_map or {}}:
        raise ValueError(
            f"Graph contains unbound inputs: {','.join(unbound)}. Must provide these inputs through input_map."
        )
    graph_def = meta_graph.graph_def
    if clear_devices:
        graph_def, _ = _chosen(graph_def, None, True, set())
    with fresh_scope():
        scope = graph.unique_name(import_scope, mark_as_used=False) if import_scope else ""
        information = meta_graph.meta_info_def
        producers = information.stripped_op_list if information.HasField("stripped_op_list") else None
        elements = import_graph_def(
            graph_def, name=import_scope or "", input_map=input_map, producer_op_list=producers,
            return_elements=return_elements,
        )  # fmt: skip
    restore_collections(graph, meta_graph.collection_def, scope, skipped=(_UNBOUND_COLLECTION,))
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, f"{re.escape(scope)}/" if scope else None)
    return {without_scope(variable.name, scope): variable for variable in variables}, elements, scope


def _text(name):
    return name.decode() if isinstance(name, bytes) else name
