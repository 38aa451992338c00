"""Which values of a SavedModel's checkpoint belong to which of its objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headrace._src.checkpoint.file_graph import object_graph_of
from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY, restorer_of
from headrace._src.checkpoint.restored_values import Restored, restore_eagerly
from headrace._src.core import errors
from headrace._src.formats import files
from headrace._src.formats.tensor_bundle import BundleReader
from headrace._src.saved_model.constants import VARIABLES_DIRECTORY, VARIABLES_FILENAME

VALUE = "VARIABLE_VALUE"


class SavedValues:
    """The values of the objects of a SavedModel, by number of the object and name of the value."""

    def __init__(self, folder: str, nodes: Any, open_checkpoint: Callable[[str], Any] = BundleReader) -> None:
        """
        Args:
            folder: of the SavedModel.
            nodes: the `SavedObject`s.
            open_checkpoint: from the prefix of the checkpoint to what reads it.
        """
        self.prefix = files.join(folder, VARIABLES_DIRECTORY, VARIABLES_FILENAME)
        self._keys: dict[int, dict[str, str]] = {}
        self._reader = None
        if files.exists(f"{self.prefix}.index"):
            self._reader = open_checkpoint(self.prefix)
            if OBJECT_GRAPH_KEY in self._reader:
                self._keys = matched_keys(nodes, object_graph_of(self._reader)[0])

    @property
    def is_there(self) -> bool:
        """Whether the SavedModel has a checkpoint."""
        return self._reader is not None

    def names(self, node: int) -> dict[str, str]:
        """The names of the values of an object, and their keys in the checkpoint."""
        return self._keys.get(node, {})

    def read(self, key: str) -> tuple:
        """The array and dtype under a key."""
        if self._reader is None or key not in self._reader:
            raise errors.not_found(f"{self.prefix}: the checkpoint has no value {key!r}.")
        return self._reader.read(key), self._reader.entries[key].dtype

    def variable(self, node: int, proto: Any, shape: Any, dtype: Any) -> Any:
        """The value of a variable; None when there is none.

        Raises:
            InvalidArgumentError: it is of another shape or dtype than the variable.
        """
        key = self.names(node).get(VALUE)
        if key is None or self._reader is None or key not in self._reader:
            return None
        entry = self._reader.entries[key]
        if entry.dtype is not dtype or not shape.is_compatible_with(entry.shape):
            raise errors.invalid_argument(
                f"{self.prefix}: the value {key!r} is {entry.dtype.name} of shape {tuple(entry.shape)}, but the "
                f"variable {proto.name!r} (object {node} of the SavedModel) is {dtype.name} of shape {shape}."
            )
        return self._reader.read(key)

    def restore(self, objects: Mapping[int, Any]) -> None:
        """Give objects of the program, by their numbers in the model, the values that they have there."""
        restored = []
        for number, obj in objects.items():
            restorer = restorer_of(obj, list(self.names(number).items()))
            if restorer is not None and restorer.wanted:
                restored.append(Restored(obj, number, restorer))
        if self._reader is not None:
            restore_eagerly(self._reader, restored, lambda number: f"object {number} of the SavedModel")

    def close(self) -> None:
        """Close the files."""
        if self._reader is not None:
            self._reader.close()


def matched_keys(nodes: Any, graph: Any) -> dict[int, dict[str, str]]:
    """For each object of a SavedModel, its values in the checkpoint: name to key.

    The checkpoint has an object graph of its own. Both are walked from the root along children of the same names, and
    along slot variables of the same variable and name.
    """
    keys: dict[int, dict[str, str]] = {}
    if not nodes or not graph.nodes:
        return keys
    partner = {0: 0}  # object of the model to node of the checkpoint
    waiting = [0]
    while waiting:
        while waiting:
            number = waiting.pop()
            saved, stored = nodes[number], graph.nodes[partner[number]]
            for attribute in stored.attributes:
                keys.setdefault(number, {})[attribute.name] = attribute.checkpoint_key
            children = {child.local_name: child.node_id for child in stored.children}
            for child in saved.children:
                _pair(child.node_id, children.get(child.local_name), partner, waiting, nodes, graph)
        for number in list(partner):
            _pair_slots(nodes[number], graph.nodes[partner[number]], partner, waiting, nodes, graph)
    return keys


def _pair(number, stored, partner, waiting, nodes, graph):
    if stored is None or number in partner or not (0 <= number < len(nodes) and 0 <= stored < len(graph.nodes)):
        return
    partner[number] = stored
    waiting.append(number)


def _pair_slots(saved, stored, partner, waiting, nodes, graph):
    slots = {(x.original_variable_node_id, x.slot_name): x.slot_variable_node_id for x in stored.slot_variables}
    for slot in saved.slot_variables:
        original = partner.get(slot.original_variable_node_id)
        _pair(slot.slot_variable_node_id, slots.get((original, slot.slot_name)), partner, waiting, nodes, graph)
