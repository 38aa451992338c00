"""Which output goes into which layer, as Keras 2 wrote it down for functional models.

Keras 2 has a list of `[layer, call, output, arguments]` where Keras 3 has arguments with symbolic tensors; it counts
calls of a model in a model from 1, and has layers of its own for functions of `tf`. `replacements.py` says where
in Keras these functions go.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODELS = ("Functional", "Model", "Sequential")
_FUNCTIONS = ("TFOpLambda", "SlicingOpLambda")
_UNKNOWN = ("TensorFlowOpLayer", "ClassMethod", "InstanceMethod", "InstanceProperty")
_CALL, _KEPT = "former_call", "former_structure"
_CONSTANT = "_CONSTANT_VALUE"


def functional_from_config(original, cls, config, custom_objects=None):
    """Make a functional model from its description, which may be one of Keras 2."""
    if any(isinstance(call, list) for layer in config["layers"] for call in layer.get("inbound_nodes") or ()):
        config = _modern(config)
    return original(cls, config, custom_objects)


def _modern(config):
    shifted = _counted_from_one(config["layers"])
    layers = []
    for layer in config["layers"]:
        if layer["class_name"] in _UNKNOWN:
            raise ValueError(
                f"The layer {layer['name']!r} of the model {config.get('name')!r} is a {layer['class_name']} of Keras "
                "2, an operation of TensorFlow's graphs, which Keras 3 cannot make. Build the model by its code, and "
                "load its weights with load_weights."
            )
        is_function = layer["class_name"] in _FUNCTIONS
        calls = [
            {_CALL: _shifted(call, shifted), _KEPT: is_function} if isinstance(call, list) else call
            for call in layer["inbound_nodes"]
        ]
        layers.append({**(_function(layer) if is_function else layer), "inbound_nodes": calls})
    # Keras counts the outputs of functional models among layers from 1 here, those of others from 0.
    ends = shifted - {layer["name"] for layer in layers if layer["class_name"] != "Sequential"}
    places = {name: _shifted(config[name], ends) for name in ("input_layers", "output_layers")}
    return {**config, **places, "layers": layers}


def _counted_from_one(layers) -> set[str]:
    """Names of the models whose calls are counted from 1: Keras 2 counts the making of a model, too."""
    models = {layer["name"]: len(layer["inbound_nodes"]) for layer in layers if layer["class_name"] in _MODELS}
    highest = dict.fromkeys(models, -1)

    def look(value):
        if _is_reference(value) and value[0] in models:
            highest[value[0]] = max(highest[value[0]], value[1])
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(part)

    for layer in layers:
        look(layer["inbound_nodes"])
    # The outputs of a model that is the last one are counted elsewhere.
    return {name for name, calls in models.items() if highest[name] in (-1, calls)}


def _is_reference(value) -> bool:
    return (
        isinstance(value, list)
        and len(value) in (3, 4)
        and isinstance(value[0], str)
        and all(isinstance(number, int) for number in value[1:3])
    )


def _shifted(value, names):
    """`value`, where calls of these layers are counted from 0."""
    if _is_reference(value):
        call = value[1] - 1 if value[0] in names else value[1]
        return [value[0], call, value[2], *(_shifted(part, names) for part in value[3:])]
    if isinstance(value, dict):
        return {key: _shifted(part, names) for key, part in value.items()}
    return [_shifted(part, names) for part in value] if isinstance(value, list) else value


def _function(layer):
    """A function of `tf` as headrace describes it."""
    settings = layer["config"]
    function = settings.get("function") or "__operators__.getitem"
    return {
        "name": layer["name"], "module": None, "class_name": "TensorFlowFunction",
        "registered_name": "headrace>TensorFlowFunction", "config": {"function": function, "name": settings["name"]},
    }  # fmt: skip


def deserialize_node(original, node_data, created_layers):
    """The arguments with which a layer is called.

    Raises:
        IndexError: a layer was not called so often yet; Keras then tries again later.
        ValueError: there is no such layer.
    """
    if not isinstance(node_data, dict) or _CALL not in node_data:
        return original(node_data, created_layers)
    data, arguments = node_data[_CALL], {}

    def tensor(reference):
        if len(reference) == 4 and isinstance(reference[3], dict):
            arguments.update(reference[3])
        return _tensor(reference, created_layers)

    inputs = _mapped(data, tensor)
    if not node_data[_KEPT] and isinstance(inputs, list) and len(inputs) == 1:
        inputs = inputs[0]
    return [inputs], {name: _argument(value, created_layers) for name, value in arguments.items()}


def _mapped(data, tensor) -> Any:
    if _is_reference(data) or (isinstance(data, list) and data[:1] == [_CONSTANT]):
        return tensor(data)
    if isinstance(data, dict):
        return {key: _mapped(value, tensor) for key, value in data.items()}
    return [_mapped(value, tensor) for value in data]


def _tensor(reference, created_layers):
    name, call, output = reference[:3]
    if name == _CONSTANT:
        return output
    if name not in created_layers:
        raise ValueError(f"Invalid Functional model configuration. Missing node: {name}")
    calls = created_layers[name]._inbound_nodes
    if call >= len(calls):
        raise IndexError(f"The layer {name!r} was called {len(calls)} times; call {call} is asked for.")
    return calls[call].output_tensors[output]


def _argument(value, created_layers):
    if _is_reference(value) and value[0] in created_layers:
        return _tensor(value, created_layers)
    if isinstance(value, dict) and "class_name" in value and "config" in value:
        return importlib.import_module("keras.src.saving.serialization_lib").deserialize_keras_object(value)
    if isinstance(value, dict):
        return {key: _argument(part, created_layers) for key, part in value.items()}
    return [_argument(part, created_layers) for part in value] if isinstance(value, list) else value


def sum_of(x, y, name=None):
    """`x + y`, as `TFOpLambda` has it."""
    return x + y


def slice_of(x, slice_spec):
    """`x[...]` as `SlicingOpLambda` has it: indices, and dicts for slices."""

    def index(part):
        if not isinstance(part, dict):
            return part
        return Ellipsis if "class_name" in part else slice(part["start"], part["stop"], part["step"])

    return x[tuple(map(index, slice_spec)) if isinstance(slice_spec, list) else index(slice_spec)]
