"""Layers of Keras 3 in the words of Keras 2, which TensorFlow.js reads; and which of them it does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Unknown(Exception):
    """TensorFlow.js has no such layer, or none with this setting."""


class _Kind(NamedTuple):
    """How a class of layers is described.

    Attributes:
        kept: arguments that stay what they are.
        only: arguments that TensorFlow.js does not have, with the value that says what it does.
        renamed: arguments with another name there.
        weights: weights with another name there.
    """

    kept: tuple[str, ...] = ()
    only: dict[str, Any] = {}
    renamed: dict[str, str] = {}
    weights: dict[str, str] = {}


_ACTIVATIONS = {
    **{name: name for name in (
        "linear", "relu", "relu6", "elu", "selu", "sigmoid", "softplus", "softsign", "tanh", "softmax", "log_softmax",
        "gelu", "mish",
    )},
    "silu": "swish", "swish": "swish",
}  # fmt: skip
_INITIALIZERS = {
    **{name: name for name in (
        "Zeros", "Ones", "Constant", "RandomUniform", "RandomNormal", "TruncatedNormal", "Identity", "Orthogonal",
        "GlorotUniform", "GlorotNormal", "HeNormal", "HeUniform",
    )},
    "LecunNormal": "LeCunNormal", "LecunUniform": "LeCunUniform",
}  # fmt: skip
_INITIALIZER_SETTINGS = ("value", "minval", "maxval", "mean", "stddev", "gain", "seed")
_CONSTRAINTS = ("MaxNorm", "UnitNorm", "NonNeg", "MinMaxNorm")
_INPUTS = {"float32": "float32", "float16": "float32", "bfloat16": "float32", "float64": "float32",
           "int32": "int32", "int64": "int32", "int16": "int32", "uint8": "int32", "int8": "int32",
           "bool": "bool"}  # fmt: skip


def _parts(*names):
    """The arguments of some weights that say how these begin and what they must not become."""
    return tuple(f"{name}_{what}" for name in names for what in ("initializer", "regularizer", "constraint"))


_PRODUCT = ("use_bias", "activation", *_parts("kernel", "bias"))
_WINDOWS = ("kernel_size", "strides", "padding", "data_format")
_CONVOLUTION = _Kind(("filters", *_WINDOWS, "dilation_rate", *_PRODUCT), {"groups": 1})
_TRANSPOSED = _Kind(("filters", *_WINDOWS, *_PRODUCT), {"dilation_rate": 1, "output_padding": None})
_CELL = ("units", "activation", "use_bias", "dropout", "recurrent_dropout", *_parts("kernel", "recurrent", "bias"))
_RECURRENT = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll")
_POOLING = _Kind(("pool_size", "strides", "padding", "data_format"))
_GLOBAL = _Kind(("data_format",), {"keepdims": False})
_LONG_MEMORY = (*_CELL, "recurrent_activation", "unit_forget_bias")

# What is not in this table, TensorFlow.js does not have; or it computes something else: its `Resizing` aligns corners,
# its `CategoryEncoding` changes the shape of the input layer.
_KINDS = {
    "Activation": _Kind(("activation",)),
    **dict.fromkeys(("Add", "Average", "Maximum", "Minimum", "Multiply"), _Kind()),
    "AlphaDropout": _Kind(("rate", "noise_shape")),
    **dict.fromkeys(("AveragePooling1D", "AveragePooling2D", "AveragePooling3D"), _POOLING),
    "BatchNormalization": _Kind(
        ("axis", "momentum", "epsilon", "center", "scale", *_parts("beta", "gamma"), "moving_mean_initializer",
         "moving_variance_initializer"), {"renorm": False},
    ),
    "Bidirectional": _Kind(("merge_mode",)),
    "CenterCrop": _Kind(("height", "width"), {"data_format": "channels_last"}),
    "Concatenate": _Kind(("axis",)),
    "Conv1D": _CONVOLUTION, "Conv2D": _CONVOLUTION, "Conv3D": _CONVOLUTION,
    "Conv2DTranspose": _TRANSPOSED, "Conv3DTranspose": _TRANSPOSED,
    "ConvLSTM2D": _Kind(
        ("filters", *_WINDOWS, "dilation_rate", *_RECURRENT, *(name for name in _LONG_MEMORY if name != "units")),
    ),
    "Cropping2D": _Kind(("cropping", "data_format")),
    "Dense": _Kind(("units", *_PRODUCT), {"lora_rank": None}),
    "DepthwiseConv2D": _Kind(
        (*_WINDOWS, "depth_multiplier", "use_bias", "activation", *_parts("depthwise", "bias")), {"dilation_rate": 1},
        weights={"kernel": "depthwise_kernel"},
    ),
    "Dot": _Kind(("axes", "normalize")),
    "Dropout": _Kind(("rate", "noise_shape", "seed")),
    "ELU": _Kind(only={"alpha": 1.0}),
    "Embedding": _Kind(("input_dim", "output_dim", "mask_zero", *_parts("embeddings")), {"lora_rank": None}),
    "Flatten": _Kind(("data_format",)),
    "GRU": _Kind((*_CELL, "recurrent_activation", *_RECURRENT), {"reset_after": False}),
    "GRUCell": _Kind((*_CELL, "recurrent_activation"), {"reset_after": False}),
    "GaussianDropout": _Kind(("rate",)), "GaussianNoise": _Kind(("stddev",)),
    **dict.fromkeys(
        ("GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalMaxPooling1D", "GlobalMaxPooling2D"), _GLOBAL,
    ),
    "LSTM": _Kind((*_LONG_MEMORY, *_RECURRENT)),
    "LSTMCell": _Kind(_LONG_MEMORY),
    "LayerNormalization": _Kind(("axis", "epsilon", "center", "scale", *_parts("beta", "gamma")),
                                {"rms_scaling": False}),
    "LeakyReLU": _Kind(renamed={"negative_slope": "alpha"}),
    "Masking": _Kind(("mask_value",)),
    **dict.fromkeys(("MaxPooling1D", "MaxPooling2D", "MaxPooling3D"), _POOLING),
    "PReLU": _Kind(("shared_axes", *_parts("alpha"))),
    "Permute": _Kind(("dims",)),
    "RNN": _Kind(_RECURRENT),
    "ReLU": _Kind(("max_value",), {"negative_slope": 0.0, "threshold": 0.0}),
    "RepeatVector": _Kind(("n",)),
    "Rescaling": _Kind(("scale", "offset")),
    "Reshape": _Kind(("target_shape",)),
    "SeparableConv2D": _Kind(
        ("filters", *_WINDOWS, "dilation_rate", "depth_multiplier", "use_bias", "activation",
         *_parts("depthwise", "pointwise", "bias")),
    ),
    "SimpleRNN": _Kind((*_CELL, *_RECURRENT)),
    "SimpleRNNCell": _Kind(_CELL),
    "Softmax": _Kind(("axis",)),
    "SpatialDropout1D": _Kind(("rate", "seed")),
    "StackedRNNCells": _Kind(),
    "TimeDistributed": _Kind(),
    "UpSampling2D": _Kind(("size", "data_format"), {"interpolation": "nearest"}),
    "ZeroPadding2D": _Kind(("padding", "data_format")),
}  # fmt: skip
# Say nothing about what is computed, or are described elsewhere.
_ASIDE = frozenset({
    "name", "trainable", "dtype", "seed", "synchronized", "renorm_clipping", "renorm_momentum", "quantization_config",
    "layer", "backward_layer", "cell", "cells", "sparse", "implementation", "zero_output_for_mask",
})  # fmt: skip


def input_config(name: str, shape: Any, dtype: str) -> dict[str, Any]:
    """The description of an input.

    Raises:
        Unknown: there are no tensors of this dtype.
    """
    if dtype not in _INPUTS:
        raise Unknown(f"inputs of dtype {dtype}")
    return {"batch_input_shape": list(shape), "dtype": _INPUTS[dtype], "sparse": False, "name": name}


def layer_config(class_name: str, config: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a layer as Keras 2 has them, without its name and without layers in it.

    Raises:
        Unknown: TensorFlow.js has no such layer, or none that does this.
    """
    if class_name not in _KINDS:
        raise Unknown("no such layer")
    kind = _KINDS[class_name]
    problems = list(_differences(kind, config))
    made: dict[str, Any] = {}
    for argument, value in config.items():
        name = kind.renamed.get(argument, argument)
        if name in kind.kept or argument in kind.renamed:
            try:
                made[name] = _value(argument, value)
            except Unknown as error:
                problems.append(str(error))
    problems += _misunderstood(class_name, config)
    if problems:
        raise Unknown("; ".join(problems))
    return {**made, "trainable": config.get("trainable", True), "dtype": "float32"}


def weight_name(class_name: str, name: str) -> str:
    """What TensorFlow.js calls a weight of a layer."""
    return _KINDS[class_name].weights.get(name, name) if class_name in _KINDS else name


def _differences(kind, config):
    for argument, value in config.items():
        if argument in kind.only:
            if not _equal(value, kind.only[argument]):
                yield f"{argument}={value!r}"
        elif argument not in (*kind.kept, *kind.renamed, *_ASIDE) and value not in (None, False):
            yield f"{argument}={_short(value)}"


def _misunderstood(class_name, config):
    """What TensorFlow.js reads, and does not do, or does otherwise."""
    if class_name == "Conv1D" and config.get("padding") == "causal":
        yield "padding='causal'"
    if class_name == "Rescaling" and not all(isinstance(config[name], (int, float)) for name in ("scale", "offset")):
        yield "a scale and an offset that are no single numbers"
    if class_name == "Softmax" and config["axis"] not in (-1, [-1], (-1,)):
        yield f"axis={config['axis']!r}"
    if class_name == "ConvLSTM2D" and config.get("unroll"):
        yield "unroll=True"


def _equal(value, expected):
    if isinstance(value, (list, tuple)):
        return all(item == expected for item in value)
    return value == expected


def _value(argument: str, value: Any) -> Any:
    for ending, translate in _TRANSLATIONS.items():
        if argument.endswith(ending):
            return None if value is None else translate(argument, value)
    return plain(value)


def _activation(argument, value):
    if not isinstance(value, str) or value not in _ACTIVATIONS:
        raise Unknown(f"{argument}={_short(value)}")
    return _ACTIVATIONS[value]


def _initializer(argument, value):
    """How a weight began. Its value is given, so that this counts only for those who build the model anew."""
    name = value.get("class_name") if isinstance(value, dict) else None
    if name not in _INITIALIZERS:
        return {"class_name": "GlorotUniform", "config": {}}
    settings = {key: plain(item) for key, item in value["config"].items() if key in _INITIALIZER_SETTINGS}
    return {"class_name": _INITIALIZERS[name], "config": settings}


def _regularizer(argument, value):
    name, settings = value.get("class_name"), value.get("config", {})
    if name not in ("L1", "L2", "L1L2"):
        raise Unknown(f"{argument}={_short(value)}")
    return {"class_name": "L1L2", "config": {key: float(settings.get(key, 0.0)) for key in ("l1", "l2")}}


def _constraint(argument, value):
    if value.get("class_name") not in _CONSTRAINTS:
        raise Unknown(f"{argument}={_short(value)}")
    return {"class_name": value["class_name"], "config": plain(value["config"])}


_TRANSLATIONS: dict[str, Callable[[str, Any], Any]] = {
    "activation": _activation, "_initializer": _initializer, "_regularizer": _regularizer, "_constraint": _constraint,
}  # fmt: skip


def _short(value):
    return repr(value.get("class_name", value) if isinstance(value, dict) else value)


def plain(value: Any) -> Any:
    """A value as JSON has it: lists for tuples, Python's numbers for NumPy's."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, (np.generic, np.ndarray)) and np.ndim(value) == 0 else value
