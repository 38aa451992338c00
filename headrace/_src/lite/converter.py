"""`tf.lite.TFLiteConverter`, and what it is told."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes, errors
from headrace._src.formats import files
from headrace._src.lite.conversion import converted
from headrace._src.lite.quantization import QuantizationSettings, quantized
from headrace._src.op.api import api
from headrace._src.saved_model.functions_of_models import concrete_function_of
from headrace._src.saved_model.loading import load

_DEFAULT = "serving_default"


@api("lite.OpsSet", dispatch=False)
class OpsSet(enum.Enum):
    """Which operators a model may have. Only those of TensorFlow Lite itself are ever written."""

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = (
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    )


@api("lite.Optimize", dispatch=False)
class Optimize(enum.Enum):
    """How a model is made smaller: all of these are `DEFAULT`."""

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"


@api("lite.TargetSpec", dispatch=False)
class TargetSpec:
    """What the runtime can do.

    Args:
        supported_ops: a set of `OpsSet`.
        supported_types: dtypes of weights, such as `[tf.float16]`.
        experimental_select_user_tf_ops, experimental_supported_backends: accepted.
    """

    def __init__(
        self, supported_ops=None, supported_types=None, experimental_select_user_tf_ops=None,
        experimental_supported_backends=None,
    ) -> None:  # fmt: skip
        self.supported_ops = {OpsSet.TFLITE_BUILTINS} if supported_ops is None else set(supported_ops)
        self.supported_types = list(supported_types or ())
        self.experimental_select_user_tf_ops = experimental_select_user_tf_ops or set()
        self.experimental_supported_backends = experimental_supported_backends or []


@api("lite.RepresentativeDataset", dispatch=False)
class RepresentativeDataset:
    """Examples of inputs, from which the ranges of numbers are known.

    Args:
        input_gen: a function that returns a generator of lists of arrays, or of dictionaries by the names of inputs.
    """

    def __init__(self, input_gen: Callable[[], Any]) -> None:
        self.input_gen = input_gen


@api("lite.TFLiteConverter", dispatch=False)
class TFLiteConverter:
    """Turns models into files that TensorFlow Lite (LiteRT) runs.

    Made by `from_keras_model`, `from_saved_model` or `from_concrete_functions`.

    Attributes:
        optimizations: `[tf.lite.Optimize.DEFAULT]` for weights of 8 bits; with `representative_dataset` for integers
            everywhere, with `target_spec.supported_types = [tf.float16]` for weights of 16 bits.
        representative_dataset: a function that returns a generator of lists of arrays, or a `RepresentativeDataset`.
        target_spec: a `TargetSpec`.
        inference_input_type, inference_output_type: dtypes of a model of integers; float32 by default.

    >>> model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)])
    >>> data = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    >>> data[4:8]
    b'TFL3'
    """

    def __init__(self, make_functions: Callable[[], Any], with_signatures: bool = True) -> None:
        self._make_functions = make_functions
        self._with_signatures = with_signatures
        self.optimizations: list = []
        self.representative_dataset: Any = None
        self.target_spec = TargetSpec()
        self.inference_input_type = dtypes.float32
        self.inference_output_type = dtypes.float32
        self.allow_custom_ops = False
        self.exclude_conversion_metadata = False
        self.experimental_enable_resource_variables = True
        self.experimental_new_converter = True
        self.experimental_new_quantizer = True

    @classmethod
    def from_keras_model(cls, model) -> TFLiteConverter:
        """A converter of a Keras model, which must be built."""
        return cls(lambda: _functions_of_model(model))

    @classmethod
    def from_saved_model(cls, saved_model_dir, signature_keys=None, tags=None) -> TFLiteConverter:
        """A converter of a SavedModel.

        Args:
            saved_model_dir: its folder.
            signature_keys: which signatures; by default all. What `model.export` of Keras wrote has one function
                under two names, of which only `serving_default` is taken.
            tags: of its graph.

        Raises:
            ValueError: it has no such signature.
        """
        loaded = load(files.path_string(saved_model_dir), None if tags is None else list(tags))
        keys = list(signature_keys or _all_signatures(loaded))
        for key in keys:
            if key not in loaded.signatures:
                there = ", ".join(loaded.signatures) or "none"
                raise ValueError(f"The SavedModel in {saved_model_dir} has no signature {key!r}. There are: {there}.")
        return cls(lambda: {key: loaded.signatures[key] for key in keys})

    @classmethod
    def from_concrete_functions(cls, funcs, trackable_obj=None) -> TFLiteConverter:
        """A converter of concrete functions.

        Args:
            funcs: a list of them.
            trackable_obj: the object that they belong to, which is kept as long as the converter.

        Raises:
            ValueError: there is none, or one is no concrete function.
        """
        funcs = list(funcs)
        if not funcs or any(not hasattr(one, "structured_input_signature") for one in funcs):
            raise ValueError(
                "lite.TFLiteConverter.from_concrete_functions: funcs must be a list of concrete functions."
            )
        names = [_DEFAULT] if len(funcs) == 1 else [one.name for one in funcs]
        made = cls(lambda: dict(zip(names, funcs)), with_signatures=len(funcs) > 1)
        made._kept = trackable_obj
        return made

    @classmethod
    def experimental_from_jax(cls, serving_funcs, inputs) -> TFLiteConverter:
        """Functions of jax are not converted.

        Raises:
            UnimplementedError: always.
        """
        raise errors.unimplemented(
            "lite.TFLiteConverter: functions of jax cannot be converted; write the function with tf operations."
        )

    def convert(self) -> bytes:
        """The model as the contents of a `.tflite` file.

        Raises:
            InvalidArgumentError: it has operations that TensorFlow Lite does not have; all are named.
        ValueError: integers are asked for, and what is needed for that is missing.
        """
        settings = self._quantization()
        return quantized(converted(self._make_functions(), self._with_signatures), settings)

    _kept: Any = None

    def _quantization(self) -> QuantizationSettings | None:
        types = [dtypes.as_dtype(one) for one in self.target_spec.supported_types]
        dataset = self.representative_dataset
        generator = getattr(dataset, "input_gen", dataset)
        asks_for_integers = OpsSet.TFLITE_BUILTINS_INT8 in self.target_spec.supported_ops or dtypes.int8 in types
        if asks_for_integers and generator is None:
            raise ValueError(
                "lite.TFLiteConverter.convert: target_spec asks for integers, so representative_dataset must be set: a "
                "function that returns a generator of examples, from which the ranges of numbers are known."
            )
        if isinstance(self.optimizations, (str, Optimize)):
            raise ValueError(
                f"lite.TFLiteConverter.convert: optimizations must be a list, as [tf.lite.Optimize.DEFAULT], got "
                f"{self.optimizations!r}."
            )
        if not self.optimizations:
            for name in ("input", "output"):
                wanted = dtypes.as_dtype(getattr(self, f"inference_{name}_type"))
                if wanted != dtypes.float32:
                    raise ValueError(
                        f"lite.TFLiteConverter.convert: inference_{name}_type must be float32 in a model that is not "
                        f"quantized, got {wanted.name}. Set optimizations and representative_dataset."
                    )
            return None
        if generator is not None and not callable(generator):
            raise ValueError("representative_dataset must be a function that returns a generator.")
        wide = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 in self.target_spec.supported_ops
        return QuantizationSettings(
            generator, dtypes.float16 in types, wide,
            dtypes.as_dtype(self.inference_input_type), dtypes.as_dtype(self.inference_output_type),
        )  # fmt: skip


def _all_signatures(loaded):
    keys = list(loaded.signatures)
    if hasattr(loaded, "serve") and {_DEFAULT, "serve"} <= set(keys):
        keys.remove("serve")
    return keys or [_DEFAULT]  # which is not there


def _functions_of_model(model):
    with concrete_function_of(model, _DEFAULT) as concrete:
        return {_DEFAULT: concrete}
