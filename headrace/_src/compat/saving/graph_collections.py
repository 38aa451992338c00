"""The collections of a graph as `CollectionDef` messages, and back: variables, savers, names of operations, numbers."""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace._src.compat.graph_keys import GraphKeys
from headrace._src.formats.model_messages import CollectionDef, VariableDef
from headrace._src.graph.messages.variable_messages import (
    is_in_scope,
    variable_from_proto,
    with_scope,
    without_scope,
)

UNBOUND = "$unbound_inputs_"  # before the names of inputs from outside of an exported scope
_logger = logging.getLogger("tensorflow")


class _Messages(NamedTuple):
    """How the elements of a collection become messages."""

    message: Any
    to_proto: Callable[..., Any]
    from_proto: Callable[..., Any]


_REGISTERED: dict[str, _Messages] = {}


def register_proto_function(collection_name, proto_type=None, to_proto=None, from_proto=None) -> None:
    """Says how the elements of a collection are written to meta graphs, and read.

    Args:
        collection_name: of the collection.
        proto_type: the class of the messages.
        to_proto: a function of an element and `export_scope`, which returns the message, or None to leave it out.
        from_proto: a function of a message and `import_scope`.
    """
    if to_proto is not None and not callable(to_proto):
        raise TypeError("to_proto must be callable.")
    if from_proto is not None and not callable(from_proto):
        raise TypeError("from_proto must be callable.")
    _REGISTERED[collection_name] = _Messages(proto_type, to_proto, from_proto)


def _variable_to_proto(variable, export_scope=None):
    return variable.to_proto(export_scope=export_scope)


VARIABLE_COLLECTIONS = frozenset(
    {
        GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES, GraphKeys.MODEL_VARIABLES,
        GraphKeys.TRAINABLE_VARIABLES, GraphKeys.MOVING_AVERAGE_VARIABLES, GraphKeys.CONCATENATED_VARIABLES,
        GraphKeys.TRAINABLE_RESOURCE_VARIABLES, GraphKeys.GLOBAL_STEP,
    }
)  # fmt: skip
for _name in VARIABLE_COLLECTIONS:
    register_proto_function(_name, VariableDef, _variable_to_proto, variable_from_proto)


# Writing.


def collection_message(name, items, export_scope=None, is_excluded=lambda item: False) -> CollectionDef | None:
    """A collection as a message; None, and a warning, if its elements cannot be written.

    Args:
        name: of the collection.
        items: its elements.
        export_scope: only what is in this scope is written, with names relative to it.
        is_excluded: tells which elements are left out.
    """
    items = [item for item in items if not is_excluded(item)]
    proto = CollectionDef()
    try:
        registered = _REGISTERED.get(name)
        if registered is not None and registered.to_proto is not None:
            messages = [registered.to_proto(item, export_scope=export_scope) for item in items]
            values = [message.SerializeToString() for message in messages if message is not None]
            if values:
                proto.bytes_list.value.extend(values)
        else:
            if export_scope:
                items = [item for item in items if not isinstance(item, str) or _begins(item, export_scope)]
            if not items:
                return None
            _write_plain(proto, items, export_scope)
    except (AttributeError, TypeError, ValueError) as error:
        _logger.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the items don't match field "
            "type in CollectionDef. Note this is a warning and probably safe to ignore.\n%s",
            name,
            error,
        )
        return None
    return proto


def _write_plain(proto, items, export_scope):
    kind = _kind_of(items[0]) if items else "node_list"
    if kind == "node_list":
        names = [item.name for item in items]
        if export_scope:
            names = [without_scope(name, export_scope) for name in names if _begins(name, export_scope)]
        proto.node_list.value.extend(names)
    elif kind == "bytes_list":
        proto.bytes_list.value.extend(item if isinstance(item, bytes) else item.encode() for item in items)
    else:
        getattr(proto, kind).value.extend(items)


def _begins(name, scope):
    # TF: a text is taken for the name of an operation.
    return is_in_scope(name, scope) or name == scope or name.startswith(UNBOUND)


def _kind_of(item):
    if isinstance(item, (str, bytes)):
        return "bytes_list"
    if isinstance(item, int):
        return "int64_list"
    return "float_list" if isinstance(item, float) else "node_list"


# Reading.


def restore_collections(graph, collections, scope, skipped=()) -> None:
    """Adds the elements of collections, given as messages, to those of a graph.

    Args:
        graph: where the operations are already.
        collections: name to `CollectionDef`.
        scope: where the operations were imported; empty for the top.
        skipped: names to leave out.

    Raises:
        KeyError: an operation that a message names is not in the graph.
        DecodeError: an element is no message of the kind that the collection has.
    """
    made: dict[bytes, Any] = {}  # a variable that is in several collections is one object
    for name in sorted(collections):
        proto = collections[name]
        kind = proto.WhichOneof("kind")
        if name in skipped or kind is None:
            continue
        registered = _REGISTERED.get(name)
        if registered is not None and registered.from_proto is not None and kind == "bytes_list":
            for data in proto.bytes_list.value:
                if data not in made or name not in VARIABLE_COLLECTIONS:
                    made[data] = registered.from_proto(registered.message.FromString(data), import_scope=scope)
                graph.add_to_collection(name, made[data])
        elif name in VARIABLE_COLLECTIONS:
            _logger.error(
                "The saved meta_graph is possibly from an older release:\n'%s' collection should be of type "
                "'bytes_list', but instead is of type '%s'.",
                name,
                kind,
            )
        else:
            _add_plain(graph, name, getattr(proto, kind).value, kind, scope)


def _add_plain(graph, name, values, kind, scope):
    for value in values:
        if kind == "node_list":
            graph.add_to_collection(name, graph.as_graph_element(with_scope(value, scope)))
        elif kind == "bytes_list":
            graph.add_to_collection(name, with_scope(value.decode(), scope) if scope else value)
        elif kind == "any_list":
            graph.add_to_collection(name, value)
        else:
            graph.add_to_collection(name, int(value) if kind == "int64_list" else value)
