"""Layers models of TensorFlow.js: Keras models, which pages can train on; layers in `model.json`, weights beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.js.layer_configs import Unknown, input_config, layer_config, weight_name
from headrace._src.js.model_files import check_quantization, write_model

_functional = LazyModule("keras.src.models.functional")
_sequential = LazyModule("keras.src.models.sequential")
_OPERATORS = ("Add", "Multiply", "Maximum", "Minimum")  # of two tensors; the layers of these names do the same
_TENSOR = "__keras_tensor__"
# Pools of all places, and those of windows that do the same where the axes stay.
_WHOLE = {
    "GlobalAveragePooling1D": "AveragePooling1D", "GlobalAveragePooling2D": "AveragePooling2D",
    "GlobalMaxPooling1D": "MaxPooling1D", "GlobalMaxPooling2D": "MaxPooling2D",
}  # fmt: skip
_KERAS_2 = "2.15.0"  # whose words these are


def save_layers_model(model: Any, folder: str, quantization: str | None = None) -> None:
    """Write a Sequential or functional Keras model as a layers model.

    Args:
        model: it must be built.
        folder: where to; `model.json` and `group1-shard*.bin` are written there.
        quantization: how numbers of weights are kept: None, "float16", "uint8" or "uint16".

    Raises:
        InvalidArgumentError: it has layers that TensorFlow.js does not have, or with settings that these do not have
            there; all are named.
        ValueError: it is another kind of model, or is not built.
    """
    check_quantization(quantization)
    if not is_layers(model):
        raise ValueError(
            f"A layers model is made of a Sequential or functional Keras model, got {type(model).__name__}. "
            "Any other model can be written as a graph model (format='graph')."
        )
    translation = _Translation()
    described = translation.whole(model)
    if translation.problems:
        raise errors.invalid_argument(
            "TensorFlow.js has no layers for: " + "; ".join(translation.problems) + ". Write a graph model instead "
            "(format='graph'), which runs in a page but is not trained there, or use other layers."
        )
    topology = {"keras_version": _KERAS_2, "backend": "tensorflow", "model_config": described}
    write_model(folder, {"format": "layers-model", "modelTopology": topology}, translation.weights, quantization)


def is_layers(model: Any) -> bool:
    """Whether this is a Keras model that says which layers it has, and which goes into which."""
    module = type(model).__module__.partition(".")[0]
    if module != "keras" and not any(base.__module__.startswith("keras.") for base in type(model).__mro__):
        return False
    return isinstance(model, (_sequential.Sequential, _functional.Functional))


class _Translation:
    """Goes through a model, and the models in it.

    Attributes:
        weights: the names that TensorFlow.js has for weights, and their values.
        problems: what it has no words for.
    """

    def __init__(self):
        self.weights: list[tuple[str, np.ndarray]] = []
        self.problems: list[str] = []
        self._taken: set[str] = set()
        self._done: set[int] = set()
        self._masks = False  # whether a layer says which steps of a sequence count
        self._zeros: list[str] = []  # layers that give zeros for steps that do not

    def whole(self, model):
        """The description of a model and of what is in it."""
        described = self.model(model, model.name)
        if self._masks:
            self.problems += [f"{name}: zero_output_for_mask=True, with masks" for name in self._zeros]
        return described

    def model(self, model, name):
        """The description of a model, or of one in it."""
        if isinstance(model, _sequential.Sequential):
            return {"class_name": "Sequential", "config": self._in_a_row(model, name)}
        return {"class_name": "Model", "config": self._connected(model, name)}

    def _in_a_row(self, model, name):
        if not hasattr(model, "inputs"):  # Keras raises an AttributeError
            raise ValueError(
                f"The Sequential model {model.name!r} is not built: the shape of its input is not known. Begin it with "
                "keras.Input, or call it."
            )
        (tensor,) = model.inputs
        layers = [self._input(tensor._keras_history.operation.name, tensor)]
        layers += [self._layer(layer, self._name(layer)) for layer in model.layers]
        return {"name": name, "layers": layers}

    def _connected(self, model, name):
        config = model.get_config()
        if "layers" not in config:
            self.problems.append(f"{model.name} ({type(model).__name__}): a model of a class of your own")
            return {}
        operations = {operation.name: operation for operation in model.operations}
        names = {given: self._name(operation) for given, operation in operations.items()}
        shifts = {given: int(is_layers(operation)) for given, operation in operations.items()}
        calls = _Calls(names, shifts, self.problems)
        layers = []
        for entry in config["layers"]:
            given = entry["name"]
            operation = operations[given]
            if entry["class_name"] == "InputLayer":
                made = self._input(names[given], operation.output)
            else:
                made = self._layer(operation, names[given])
            layers.append({**made, "name": names[given], "inbound_nodes": calls.of(operation, entry["inbound_nodes"])})
        # Keras counts calls of functional models from 1 here, those of others from 0; TensorFlow.js counts the making
        # of any model as its first call.
        ends = {given: int(isinstance(one, _sequential.Sequential)) for given, one in operations.items()}
        return {
            "name": name, "layers": layers,
            "input_layers": [[names[x], call, output] for x, call, output in _references(config["input_layers"])],
            "output_layers": [
                [names[x], call + ends[x], output] for x, call, output in _references(config["output_layers"])
            ],
        }  # fmt: skip

    def _name(self, operation):
        """A name that no other layer has, in any of the models: weights are known by it."""
        name, number = operation.name, 1
        while name in self._taken:
            name, number = f"{operation.name}_{number}", number + 1
        self._taken.add(name)
        return name

    def _input(self, name, tensor):
        try:
            config = input_config(name, tensor.shape, tensor.dtype)
        except Unknown as error:
            self.problems.append(f"{name}: {error}")
            config = {}
        return {"class_name": "InputLayer", "config": config}

    def _layer(self, layer, name):
        if id(layer) in self._done:
            self.problems.append(f"{layer.name} ({type(layer).__name__}): it is in several models at once")
        self._done.add(id(layer))
        if is_layers(layer):
            return self.model(layer, name)
        described = self._described(layer, name)
        self.weights += [(key, value) for key, value in _weights(layer, name)]
        return described

    def _described(self, layer, name):
        """The description of a layer, and of layers in it."""
        class_name, module = type(layer).__name__, type(layer).__module__
        is_operator = module.startswith("keras.src.ops.") and class_name in _OPERATORS
        if not is_operator and not module.startswith(("keras.src.layers.", "keras.src.legacy.layers")):
            self.problems.append(f"{layer.name} ({class_name}): no such layer")
            return {}
        given = {} if is_operator else layer.get_config()
        if class_name in _WHOLE and given["keepdims"]:
            class_name, given = _pooling_of_all(layer, class_name, given)
        self._masks |= class_name == "Masking" or bool(given.get("mask_zero"))
        if given.get("zero_output_for_mask"):
            self._zeros.append(f"{layer.name} ({class_name})")
        try:
            config = layer_config(class_name, given)
        except Unknown as error:
            self.problems.append(f"{layer.name} ({class_name}): {error}")
            return {}
        return {"class_name": class_name, "config": {**config, "name": name, **self._inner(layer, class_name)}}

    def _inner(self, layer, class_name):
        if class_name == "TimeDistributed":
            if is_layers(layer.layer):
                self.problems.append(f"{layer.name} (TimeDistributed): of a model")
                return {}
            return {"layer": self._described(layer.layer, layer.layer.name)}
        if class_name == "Bidirectional":
            if type(layer.forward_layer) is not type(layer.backward_layer):
                self.problems.append(f"{layer.name} (Bidirectional): a backward_layer of its own")
            return {"layer": self._described(layer.forward_layer, _base(layer))}
        if class_name == "RNN":
            return {"cell": self._described(layer.cell, layer.cell.name)}
        if class_name == "StackedRNNCells":
            return {"cells": [self._described(cell, cell.name) for cell in layer.cells]}
        return {}


class _Calls:
    """Which output goes into which layer, as Keras 2 wrote it down."""

    def __init__(self, names, shifts, problems):
        self._names = names  # of layers, to those that they have in the file
        self._shifts = shifts  # of layers, to what is added to the numbers of their calls
        self._problems = problems

    def of(self, operation, nodes):
        """The calls of a layer: for each a list of `[layer, call, output, arguments]`."""
        return [self._call(operation, node) for node in nodes]

    def _call(self, operation, node):
        first, *others = node["args"] or [next(iter(node["kwargs"].values()), [])]
        given = [*others, *(node["kwargs"].values() if node["args"] else list(node["kwargs"].values())[1:])]
        tensors = _tensors(first)
        more = [tensor for value in given for tensor in _tensors(value)]
        takes_more = type(operation).__name__ in (*_OPERATORS, "LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM2D")
        settings = {"training": node["kwargs"]["training"]} if node["kwargs"].get("training") is not None else {}
        rest = [key for key, value in node["kwargs"].items() if value is not None and not _tensors(value)]
        rest = [key for key in rest if key != "training"]
        is_operator = type(operation).__module__.startswith("keras.src.ops.")
        has_others = any(value is not None and not _tensors(value) for value in others)
        if (more and not takes_more) or not tensors or has_others or (is_operator and len(more) != 1) or rest:
            what = f"{operation.name} ({type(operation).__name__})"
            self._problems.append(f"{what}: it is called with something else than tensors of layers")
        found = [*tensors, *more]
        return [
            [self._names[name], call + self._shifts[name], output, settings if number == 0 else {}]
            for number, (name, call, output) in enumerate(found)
        ]


def _tensors(value) -> list:
    """The symbolic tensors in an argument, as Keras describes them."""
    if isinstance(value, dict):
        if value.get("class_name") == _TENSOR:
            return [value["config"]["keras_history"]]
        return [tensor for key in sorted(value) for tensor in _tensors(value[key])]
    return [tensor for item in value for tensor in _tensors(item)] if isinstance(value, (list, tuple)) else []


def _references(value):
    """The places of tensors in a structure of these: `[layer, call, output]` each."""
    if isinstance(value, dict):
        return [place for key in sorted(value) for place in _references(value[key])]
    if len(value) == 3 and isinstance(value[0], str):
        return [value]
    return [place for item in value for place in _references(item)]


def _pooling_of_all(layer, class_name, config):
    """TF.js: a pool of all places drops the axes. One with a window of that size keeps them."""
    shape = getattr(getattr(layer, "input", None), "shape", (None,))
    sizes = shape[2:] if config["data_format"] == "channels_first" else shape[1:-1]
    if not sizes or None in sizes:
        return class_name, config
    rest = {key: value for key, value in config.items() if key != "keepdims"}
    return _WHOLE[class_name], {**rest, "pool_size": sizes, "strides": (1,) * len(sizes), "padding": "valid"}


def _base(layer):
    """The name that the layer of a Bidirectional had."""
    return layer.forward_layer.name.removeprefix("forward_")


def _weights(layer, scope):
    """The names of weights and their values; `scope` is where a layer builds its weights in TensorFlow.js."""
    class_name = type(layer).__name__
    if class_name == "TimeDistributed":
        yield from _weights(layer.layer, scope)
    elif class_name == "Bidirectional":
        yield from _weights(layer.forward_layer, f"{scope}/forward_{_base(layer)}")
        yield from _weights(layer.backward_layer, f"{scope}/backward_{_base(layer)}")
    elif class_name == "StackedRNNCells":
        for number, cell in enumerate(layer.cells):
            yield from _weights(cell, f"{scope}/RNNCell_{number}")
    elif class_name == "RNN":
        yield from _weights(layer.cell, scope)
    else:
        for variable in getattr(layer, "weights", ()):
            yield f"{scope}/{weight_name(class_name, variable.name)}", np.asarray(variable)
