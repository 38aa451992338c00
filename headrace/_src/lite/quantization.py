"""Smaller models: weights of 8 or 16 bits, or integers everywhere, by ai-edge-quantizer."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import tempfile
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.lite.models import PART_PREFIX
from headrace._src.lite.quantized_versions import with_versions
from headrace._src.lite.reading import read_model

_quantizer = LazyModule("ai_edge_quantizer.quantizer")
_recipe = LazyModule("ai_edge_quantizer.recipe")
_qtyping = LazyModule("ai_edge_quantizer.qtyping")
_interfaces = LazyModule("ai_edge_litert._pywrap_modify_model_interface")
_interpreter = LazyModule("headrace._src.lite.interpreter")
_comparing = LazyModule("headrace._src.lite.comparing")
_FLOAT32, _UINT8 = 1, 3  # numbers of types in LiteRT's interface


class QuantizationSettings(NamedTuple):
    """How a model is quantized.

    Attributes:
        generator: gives examples of inputs; None for weights only.
        halves: whether weights are float16.
        wide: whether activations have 16 bits.
        input_type, output_type: of the finished model.
    """

    generator: Callable[[], Any] | None
    halves: bool
    wide: bool
    input_type: dtypes.DType
    output_type: dtypes.DType


def quantized(data: bytes, settings: QuantizationSettings | None) -> bytes:
    """The model, quantized; as it is without settings.

    Raises:
        ModuleNotFoundError: the quantizer is not installed.
        ValueError: a type of inputs or outputs that such a model cannot have.
        InvalidArgumentError: examples do not fit the model.
    """
    if settings is None:
        return data
    if importlib.util.find_spec("ai_edge_quantizer") is None:
        raise ModuleNotFoundError("Quantizing needs ai-edge-quantizer: pip install 'headrace[lite]'.")
    allowed = (dtypes.float32, dtypes.int16) if settings.wide else (dtypes.float32, dtypes.int8, dtypes.uint8)
    for name, wanted in (("input", settings.input_type), ("output", settings.output_type)):
        if wanted not in allowed or (settings.generator is None and wanted != dtypes.float32):
            raise ValueError(
                f"inference_{name}_type must be one of {', '.join(one.name for one in allowed)} in models of integers, "
                f"and float32 in others, got {wanted.name}."
            )
    with _quietly():
        made = with_versions(bytes(_quantized(data, settings)))
    _check_interface(made, settings)
    return made


def _check_interface(data, settings):
    """Refuse a model whose inputs or outputs could not become integers."""
    model = read_model(data)
    for graph in {signature.graph for signature in model.signatures}:
        tensors, numbers = model.graphs[graph].tensors, model.graphs[graph]
        for name, wanted, places in (
            ("input", settings.input_type, numbers.inputs), ("output", settings.output_type, numbers.outputs)
        ):  # fmt: skip
            for place in places if wanted != dtypes.float32 else ():
                if tensors[place].type == "FLOAT32":
                    raise errors.invalid_argument(
                        f"inference_{name}_type is {wanted.name}, but what is next to {tensors[place].name!r} is not "
                        "quantized, as in a model that begins or ends with a loop. Leave it float32."
                    )


@contextlib.contextmanager
def _quietly():
    """The quantizer prints tables and draws bars."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        with contextlib.redirect_stderr(io.StringIO()):
            yield


def _quantized(data, settings):
    tool = _quantizer.Quantizer(data)
    if settings.halves and settings.generator is None:
        config = _qtyping.OpQuantizationConfig(
            weight_tensor_config=_qtyping.TensorQuantizationConfig(num_bits=16, dtype=_qtyping.TensorDataType.FLOAT),
            compute_precision=_qtyping.ComputePrecision.FLOAT, explicit_dequantize=True,
        )  # fmt: skip
        tool.update_quantization_recipe(
            regex=".*", operation_name=_qtyping.TFLOperationName.ALL_SUPPORTED, op_config=config,
            algorithm_key="float_casting",
        )  # fmt: skip
        return tool.quantize().quantized_model
    if settings.generator is None:
        tool.load_quantization_recipe(_recipe.dynamic_legacy_wi8_afp32())
        return tool.quantize().quantized_model
    tool.load_quantization_recipe(_recipe.static_wi8_ai16() if settings.wide else _recipe.static_wi8_ai8())
    for kind, wanted in (("INPUT", settings.input_type), ("OUTPUT", settings.output_type)):
        if wanted in (dtypes.float32, dtypes.uint8):
            tool.update_quantization_recipe(
                regex=".*", operation_name=getattr(_qtyping.TFLOperationName, kind), algorithm_key="no_quantize"
            )
    # Ranges of numbers within loops and branches are not known: only weights are integers there.
    parts, names = f"^{PART_PREFIX}", _qtyping.TFLOperationName
    tool.update_quantization_recipe(regex=parts, operation_name=names.ALL_SUPPORTED, algorithm_key="no_quantize")
    for name in (names.FULLY_CONNECTED, names.CONV_2D):
        tool.add_dynamic_config(parts, name, num_bits=8)
    made = tool.quantize(_ranges(tool, _samples(data, settings.generator))).quantized_model
    return _with_bytes(made, settings) if dtypes.uint8 in (settings.input_type, settings.output_type) else made


def _ranges(tool, samples):
    """The smallest and largest number of each tensor. (The quantizer's own would be moving averages, beyond which
    numbers are cut off: errors as large as the results were seen.)"""
    found: dict = {}
    for key, examples in samples.items():
        for example in examples:
            for name, one in tool.calibrate({key: [example]}).items():
                known = found.get(name)
                if known and one:
                    one = {"min": np.minimum(known["min"], one["min"]), "max": np.maximum(known["max"], one["max"])}
                found[name] = one or known or one
    return found


def _samples(data, generator):
    """Examples by the names of inputs, for each signature."""
    interpreter = _interpreter.Interpreter(model_content=data)
    signatures = interpreter.get_signature_list()
    if not signatures:
        raise errors.invalid_argument("A model is quantized by its signature, and this one has none.")
    found = {}
    for key, about in signatures.items():
        found[key] = list(_comparing.named_samples(generator(), about["inputs"], key))
        if not found[key]:
            raise errors.invalid_argument(f"representative_dataset gave no examples for the signature {key!r}.")
        _check_shapes(found[key], interpreter.get_signature_runner(key).get_input_details())
    return found


def _check_shapes(samples, details):
    for sample in samples:
        for name, value in sample.items():
            wanted = [int(size) for size in details[name]["shape_signature"]] if name in details else list(value.shape)
            if len(wanted) != value.ndim or any(size not in (-1, have) for size, have in zip(wanted, value.shape)):
                shape = tuple(None if size < 0 else size for size in wanted)
                raise errors.invalid_argument(
                    f"representative_dataset gave an array of shape {value.shape} for the input {name!r}, which does "
                    f"not fit {shape}."
                )


def _with_bytes(data, settings):
    """The model with uint8 as input or output: what takes and gives floating-point numbers is changed."""
    wanted = [_UINT8 if one == dtypes.uint8 else _FLOAT32 for one in (settings.input_type, settings.output_type)]
    with tempfile.TemporaryDirectory() as folder:
        before, after = (os.path.join(folder, name) for name in ("before.tflite", "after.tflite"))
        files.write(before, data)
        _interfaces.modify_model_interface(before, after, *wanted)
        # It writes nothing where there is no operator that makes integers of them.
        return files.read(after) if os.path.exists(after) else data
