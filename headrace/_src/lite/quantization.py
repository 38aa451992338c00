"""Smaller models: weights of 8 or 16 bits, or integers everywhere, by ai-edge-quantizer."""

from __future__ import annotations

import contextlib
import importlib.util
import io
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule

_quantizer = LazyModule("ai_edge_quantizer.quantizer")
_recipe = LazyModule("ai_edge_quantizer.recipe")
_qtyping = LazyModule("ai_edge_quantizer.qtyping")
_interpreter = LazyModule("headrace._src.lite.interpreter")


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
        InvalidArgumentError: examples do not fit the model.
    """
    if settings is None:
        return data
    if importlib.util.find_spec("ai_edge_quantizer") is None:
        raise ModuleNotFoundError("Quantizing needs ai-edge-quantizer: pip install 'headrace[lite]'.")
    with contextlib.redirect_stdout(io.StringIO()):  # it prints tables
        return bytes(_quantized(data, settings))


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
        if wanted == dtypes.float32:
            tool.update_quantization_recipe(
                regex=".*", operation_name=getattr(_qtyping.TFLOperationName, kind), algorithm_key="no_quantize"
            )
    return tool.quantize(tool.calibrate(_samples(data, settings.generator))).quantized_model


def _samples(data, generator):
    """Examples by the names of inputs, for each signature."""
    model = _interpreter.Interpreter(model_content=data)
    signatures = model.get_signature_list()
    if not signatures:
        raise errors.invalid_argument("A model is quantized by its signature, and this one has none.")
    key, names = next((key, about["inputs"]) for key, about in signatures.items())
    found = []
    for sample in generator():
        if not isinstance(sample, dict):
            parts = sample if isinstance(sample, (list, tuple)) else [sample]
            if len(parts) != len(names):
                raise errors.invalid_argument(
                    f"representative_dataset gave {len(parts)} arrays for the inputs {', '.join(names)}."
                )
            sample = dict(zip(names, parts))
        found.append({name: getattr(value, "numpy", lambda value=value: value)() for name, value in sample.items()})
    return {key: found}
