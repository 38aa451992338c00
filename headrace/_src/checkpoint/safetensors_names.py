"""Under which names the variables of modules and Keras models stand in safetensors files.

A name leads to its variable: attributes of modules, keys of dictionaries, places in lists; and for Keras the names of
layers and weights, all joined with dots. Layers that Keras has named itself ("dense_7") are numbered anew among those
beside them: these numbers depend on what else the program has made before.
"""

import re
from typing import Any

from headrace._src.checkpoint.object_walk import ObjectWalk, trackable_children
from headrace._src.core.trackable import Trackable
from headrace._src.state.variables import Variable


def named_variables(model: Any) -> dict[str, Variable]:
    """The variables that are reached from an object, by name; each once.

    Raises:
        TypeError: the object is none that has variables as parts.
        ValueError: two variables would have the same name.
    """
    if not isinstance(model, Trackable):
        raise TypeError(
            f"safetensors: expected a tf.Module, a Keras model or layer, or another object with variables, got "
            f"{model!r}. For a dict of tensors there is save_file."
        )
    walk = ObjectWalk(model, slots=False, children_of=_children)
    found: dict[str, Variable] = {}
    for names, obj in zip(walk.names, walk.objects):
        if not isinstance(obj, Variable):
            continue
        name = ".".join(names) or "value"
        if name in found:
            raise ValueError(f"safetensors: two variables of {type(model).__name__} have the name {name!r}.")
        found[name] = obj
    return found


def _children(obj):
    if _is_layer(obj):
        return _layer_children(obj)
    inner = _inner_variable(obj)
    return {} if isinstance(obj, Variable) or inner is not None else _opened(trackable_children(obj))


def _opened(children):
    """Children with the variables themselves in the place of Keras's objects around them."""
    return {name: child if (inner := _inner_variable(child)) is None else inner for name, child in children.items()}


def _inner_variable(obj):
    """The variable inside of one of Keras's; None for other objects."""
    inner = getattr(obj, "_value", None)
    return inner if hasattr(obj, "_autocast") and isinstance(inner, Variable) else None


def _is_layer(obj):
    return isinstance(getattr(obj, "_layers", None), list) and hasattr(obj, "_trainable_variables")


def _layer_children(layer):
    """The weights of a layer, and the layers in it, by name."""
    children: dict[str, Any] = {}
    for weight in [*layer._trainable_variables, *layer._non_trainable_variables]:
        _add(children, weight.name, weight)
    counts: dict[str, int] = {}
    for inner in layer._layers:
        name, kind = inner.name, _snake(type(inner).__name__)
        if re.fullmatch(rf"{re.escape(kind)}(?:_\d+)?", name):
            number = counts[kind] = counts.get(kind, -1) + 1
            name = f"{kind}_{number}" if number else kind
        _add(children, name, inner)
    return _opened(children)


def _add(children, name, child):
    number, free = 1, name
    while free in children:
        number, free = number + 1, f"{name}_{number}"
    children[free] = child


def _snake(name):
    """As Keras makes the name of a layer from that of its class."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
