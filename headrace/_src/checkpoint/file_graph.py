"""The objects that a checkpoint was saved from, as its file describes them."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY
from headrace._src.checkpoint.object_walk import Slot
from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import protobuf_message
from headrace._src.formats.checkpoint_messages import TrackableObjectGraph


def object_graph_of(reader: Any) -> tuple[Any, bytes]:
    """The `TrackableObjectGraph` that a checkpoint has, and its encoded form.

    Raises:
        DataLossError: what is stored under its key is damaged, or is no such message.
    """
    where = f"{reader.prefix}.index"
    entry = reader.entry(OBJECT_GRAPH_KEY)
    if entry.dtype is not dtypes.string or tuple(entry.shape):
        raise _damaged(where, f"it is {entry.dtype.name} of shape {list(entry.shape)}, and should be a string")
    text = reader.read(OBJECT_GRAPH_KEY)[()]
    try:
        return TrackableObjectGraph.FromString(text), text
    except protobuf_message.DecodeError as error:
        raise _damaged(where, str(error)) from None


class FileNode:
    """An object of a file.

    Attributes:
        children: pairs of a name and a number.
        attributes: its values as pairs of a name and a key.
        slots: what it keeps for others, if it is an optimizer.
        saver: the name of the function that saved it, if it is not one of the usual ones.
    """

    __slots__ = ("attributes", "children", "saver", "slots")

    def __init__(self, children=(), attributes=(), slots=(), saver=""):
        self.children: Sequence[tuple[str, int]] = children
        self.attributes: Sequence[tuple[str, str]] = attributes
        self.slots: Sequence[Slot] = slots
        self.saver: str = saver


class FileGraph:
    """All objects of a file, by their numbers. Rules for older layouts may add nodes.

    Attributes:
        nodes: the objects; number 0 is the root.
        text: the encoded message, by which equal graphs are known.
    """

    def __init__(self, nodes: list[FileNode], text: bytes = b"") -> None:
        self.nodes = nodes
        self.text = text

    @classmethod
    def of(cls, reader: Any) -> FileGraph:
        """The graph of a checkpoint that has one.

        Args:
            reader: of the checkpoint.

        Raises:
            DataLossError: it cannot be read, or refers to objects that are not there.
        """
        message, text = object_graph_of(reader)
        where = f"{reader.prefix}.index"
        count = len(message.nodes)
        if not count:
            raise _damaged(where, "it has no objects")
        nodes = []
        for number, node in enumerate(message.nodes):
            children = [(child.local_name, child.node_id) for child in node.children]
            slots = [
                Slot(slot.original_variable_node_id, slot.slot_name, slot.slot_variable_node_id)
                for slot in node.slot_variables
            ]
            if children or slots:
                references = [child for _, child in children] + [n for one in slots for n in (one.variable, one.slot)]
                if min(references) < 0 or max(references) >= count:
                    raise _damaged(where, f"object {number} refers to object {max(references)} of {count}")
            attributes = [(attribute.name, attribute.checkpoint_key) for attribute in node.attributes]
            saver = node.registered_saver.name if node.HasField("registered_saver") else ""
            nodes.append(FileNode(children, attributes, slots, saver))
        return cls(nodes, text)

    def add(self, node: FileNode) -> int:
        """Adds a node that the file does not have, for a rule of an older layout; returns its number."""
        self.nodes.append(node)
        self.__dict__.pop("names", None)
        return len(self.nodes) - 1

    @functools.cached_property
    def names(self) -> dict[int, str]:
        """What to call each object, for people: `(root).model.dense`."""
        names = {0: "(root)"}
        waiting = deque([0])
        while waiting:
            number = waiting.popleft()
            for name, child in self.nodes[number].children:
                if child not in names:
                    names[child] = f"{names[number]}.{name}"
                    waiting.append(child)
        for number, node in enumerate(self.nodes):
            for slot in node.slots:
                owner, variable = names.get(number, f"object {number}"), names.get(slot.variable, "")
                names[slot.slot] = f"{owner}'s state '{slot.name}' for {variable}"
        for number in range(len(self.nodes)):
            names.setdefault(number, f"object {number}")
        return names


def _damaged(where, what):
    return errors.data_loss(f"{where}: {OBJECT_GRAPH_KEY} cannot be read: {what}.")


# Older layouts.

Layout = Callable[[FileGraph, int, Any], Sequence[tuple[str, int]]]
_layouts: dict[type, Layout] = {}


def register_layout(cls: type, layout: Layout) -> None:
    """Says how objects of a class find their children in files that were written by older versions of the class.

    Args:
        cls: the class; its subclasses are meant too.
        layout: called with the graph of a file, the number of a node in it, and the object that belongs to it.
            Returns the children as pairs of a name of today and a number.
    """
    _layouts[cls] = layout


def children_in_file(graph: FileGraph, number: int, obj: Any) -> Sequence[tuple[str, int]]:
    """The children that a file has for an object, under the names that they have today."""
    for cls in type(obj).__mro__ if _layouts else ():
        layout = _layouts.get(cls)
        if layout is not None:
            return layout(graph, number, obj)
    return graph.nodes[number].children
