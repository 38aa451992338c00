"""Checkpoints of layers and models that Keras 2 wrote: under which names Keras 3 has the same today.

Rules say so for classes; `checkpoint/file_graph.py` asks them when an object is found for a node of a file.
`replacements.py` says when they are registered; those of optimizers are in `former_optimizers.py`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from headrace._src.checkpoint.file_graph import FileGraph, FileNode, register_layout
from headrace._src.checkpoint.object_values import VARIABLE_VALUE
from headrace._src.compat.keras.tracking import add_part, items_of
from headrace._src.core import dtypes
from headrace._src.core.trackable import RestoredSpec, Trackable

Children = list[tuple[str, int]]
_NUMBERED = re.compile(r"layer(_with_weights)?-(\d+)")


def register_layer(module):
    register_layout(module.Layer, layer_children)


def register_functional(module):
    register_layout(module.Functional, functional_children)


def register_sequential(module):
    register_layout(module.Sequential, sequential_children)


def register_depthwise(module):
    register_layout(module.BaseDepthwiseConv, renaming({"depthwise_kernel": "kernel"}))


def register_normalization(module):
    register_layout(module.Normalization, normalization_children)


# Layers.


def layer_children(graph: FileGraph, number: int, layer: Any) -> Children:
    """The children of a layer: `kernel` is `_kernel` today where the class has a property of that name."""
    children = graph.nodes[number].children
    present = {name for name, _ in children}

    def today(name):
        is_property = isinstance(inspect.getattr_static(type(layer), name, None), property)
        return f"_{name}" if is_property and f"_{name}" not in present else name

    return [(today(name), child) for name, child in children]


def renaming(names: dict[str, str]) -> Callable[[FileGraph, int, Any], Children]:
    """A rule that gives children other names, unless the file has these."""

    def children(graph, number, layer):
        pairs = graph.nodes[number].children
        present = {name for name, _ in pairs}
        return [(names[name] if name in names and names[name] not in present else name, child) for name, child in pairs]

    return children


# A normalization that was adapted to data.


class _AfterRestoring(Trackable):
    """What an object does when its values have been restored."""

    def __init__(self, action):
        self._action = action

    def _serialize_to_tensors(self):
        return {}

    def _restored_specs(self):
        return {VARIABLE_VALUE: RestoredSpec(dtypes.float32)}

    def _restore_from_tensors(self, restored_tensors):
        self._action()


_former_normalization = renaming({"mean": "adapt_mean", "variance": "adapt_variance"})


def normalization_children(graph: FileGraph, number: int, layer: Any) -> Children:
    """Mean and variance; what the layer computes from them is computed again when both are there."""
    children = _former_normalization(graph, number, layer)
    variance = dict(children).get("adapt_variance")
    if variance is None or not layer.built:
        return children
    add_part(layer, "finalized", _AfterRestoring(layer.finalize_state))
    return [*children, ("finalized", graph.add(FileNode(attributes=graph.nodes[variance].attributes)))]


# Models.


def functional_children(graph: FileGraph, number: int, model: Any) -> Children:
    """The layers of a functional model, which Keras 2 numbered twice: all of them, and those with weights."""
    return _numbered_children(graph, number, model, model._operations, "_operations", 0)


def sequential_children(graph: FileGraph, number: int, model: Any) -> Children:
    """The layers of a `Sequential`, among which Keras 2 did not count the input."""
    add_part(model, "_layers", items_of(model._layers))
    has_input = bool(model._layers) and type(model._layers[0]).__name__ == "InputLayer"
    return _numbered_children(graph, number, model, model._layers[has_input:], "_layers", int(has_input))


def _numbered_children(graph, number, model, layers, folder, first):
    children = layer_children(graph, number, model)
    numbered = {name: (_NUMBERED.fullmatch(name), child) for name, child in children if _NUMBERED.fullmatch(name)}
    if not numbered:
        return children
    counted = sum(not match[1] for match, _ in numbered.values())
    with_weights = [place for place, layer in enumerate(layers) if getattr(layer, "weights", None)]
    is_built = bool(with_weights)
    places = {}  # of nodes, the number that their layers have today
    for match, child in numbered.values():
        at = int(match[2])
        if match[1] and is_built:
            if at < len(with_weights):
                places[child] = with_weights[at]
        elif not match[1] and (not is_built or counted == len(layers)):
            places.setdefault(child, at)
    others = [(name, child) for name, child in children if child not in places]
    inner = FileNode([(str(first + place), child) for child, place in places.items()])
    return [*others, (folder, graph.add(inner))]
