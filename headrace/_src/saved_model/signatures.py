"""Signatures: the functions of a SavedModel that servers call, with named tensors in and named tensors out."""

import inspect
import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any

from headrace._src.core import nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import SaveType, Trackable
from headrace._src.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from headrace._src.saved_model.saved_traces import only_trace, variable_of_replicas
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.function import Function
from headrace._src.tracing.trace_types import Typing
from headrace._src.tracing.traces import trace
from headrace._src.tracing.variable_specs import VariableSpec

# Keras: the attribute of an object that is its default signature, if it has one.
_DEFAULT_ATTRIBUTE = "_default_save_signature"


class SignatureMap(Mapping, Trackable):
    """The signatures of a SavedModel, by key. It cannot be changed: who holds it relies on what was saved."""

    _object_identifier = "signature_map"

    def __init__(self, signatures: Mapping[str, Any] | None = None):
        self._signatures = dict(signatures or {})

    def _add_signature(self, name: str, concrete: Any) -> None:
        """For a loader, which makes the map before the functions."""
        self._signatures[name] = concrete

    _add_trackable_child = _add_signature

    def __getitem__(self, key):
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self):
        return len(self._signatures)

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __repr__(self):
        return f"_SignatureMap({self._signatures})"

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, cache=None, **kwargs):
        if save_type == SaveType.CHECKPOINT:
            return {}
        return {key: value for key, value in self._signatures.items() if isinstance(value, Trackable)}


def concrete_signatures(signatures: Any) -> dict[str, ConcreteFunction]:
    """What the argument `signatures` of `tf.saved_model.save` means, as functions of named tensors.

    Raises:
        ValueError: something else than a function, or one that takes or returns what a signature cannot.
    """
    if signatures is None:
        return {}
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    return {key: _signature(key, function) for key, function in signatures.items()}


def default_signature(children: Mapping[str, Any]) -> Any:
    """The function that is the only one fit for a signature among the children of an object; None without one."""
    fitting = []
    for name, child in children.items():
        if not isinstance(child, (Function, ConcreteFunction)):
            continue
        if name == _DEFAULT_ATTRIBUTE:
            return child
        concrete = _concrete_of(child)
        if concrete is not None and _is_fit(concrete):
            fitting.append(concrete)
    return fitting[0] if len(fitting) == 1 else None


def _concrete_of(function):
    """The only trace that a function can have, or None."""
    if isinstance(function, Function) and (function.input_signature is not None or not function.parameter_names):
        return only_trace(function)
    return function if isinstance(function, ConcreteFunction) else None


def _is_fit(concrete):
    try:
        _check_inputs(concrete)
        _named_outputs(concrete.structured_outputs, "unused", "unused")
    except ValueError:
        return False
    return concrete.structured_outputs is not None


def _signature(key, function):
    if not isinstance(key, str):
        raise ValueError(f"Keys of signatures must be strings, got {key!r}.")
    concrete = _concrete_of(function)
    if concrete is None:
        raise ValueError(
            f"Expected a TensorFlow function for which to generate a signature, but got {function}. Only "
            "`tf.functions` with an input signature or concrete functions can be used as a signature. Give the "
            "tf.function an input_signature, or pass its get_concrete_function(...)."
        )
    _check_inputs(concrete)
    variable = variable_of_replicas(concrete)
    if variable is not None:
        raise ValueError(
            f"{concrete.name} uses the copies of {variable.name} on all replicas, and a saved model has only one. Give "
            "the tf.function as signature, with an input_signature, in the place of its concrete function; and call "
            "strategy.run outside of it."
        )
    return _wrapped(concrete, key)


def _check_inputs(concrete):
    if any(isinstance(kind, VariableSpec) for kind in nest.flatten(concrete.structured_input_signature)):
        raise ValueError("Functions that expect tf.Variable inputs cannot be exported as signatures.")


def argument_keywords(concrete: ConcreteFunction) -> list[str]:
    """The names of the tensors that a function takes, in order and each once."""
    known = getattr(concrete, "_arg_keywords", None)
    if known is not None:
        return list(known)
    count = len(concrete.inputs) - len(concrete.captured_inputs)
    return [tensor.op.argument_name or tensor.op.name for tensor in concrete.inputs[:count]]


def _wrapped(concrete, key):
    """A function of keyword arguments that calls another one, and returns a dictionary."""
    keywords = argument_keywords(concrete)
    parameters = _identifiers(keywords)
    specs = {
        parameter: TensorSpec(tensor.shape, tensor.dtype, name)
        for parameter, name, tensor in zip(parameters, keywords, concrete.inputs)
    }

    def signature_wrapper(**kwargs):
        results = concrete.call_flat([kwargs[name] for name in parameters])
        return _named_outputs(results, concrete.name, key)

    parameter = inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)
    name = f"signature_wrapper_{concrete._python_name}"
    wrapper, _ = trace(signature_wrapper, (parameter,), (Typing().type_of(specs),), name, False)
    wrapper._arg_keywords = [name for _, name in sorted(zip(parameters, keywords))]
    wrapper._num_positional_args = 1 if len(keywords) == 1 else 0
    wrapper._is_signature = True
    return wrapper


def _identifiers(names):
    """For names of tensors, names that parameters of a Python function can have."""
    found: list[str] = []
    for name in names:
        name = re.sub(r"\W", "_", name)
        name = name if name.isidentifier() and not keyword.iskeyword(name) else f"arg_{name}"
        while name in found:
            name += "_"
        found.append(name)
    return found


def _named_outputs(outputs, function_name, key):
    """What a function returned, as a dictionary of tensors."""
    if isinstance(outputs, Mapping):
        for name in outputs:
            if not isinstance(name, str):
                raise ValueError(
                    f"Got a dictionary with a non-string key {name!r} in the output of the function {function_name} "
                    f"used to generate the SavedModel signature {key!r}."
                )
        outputs = dict(outputs)
    else:
        if not isinstance(outputs, (list, tuple)):
            outputs = [outputs]
        outputs = {f"output_{i}": output for i, output in enumerate(outputs)}
    for name, value in outputs.items():
        if not isinstance(value, (Tensor, CompositeTensor)):
            raise ValueError(
                f"Got a non-Tensor value {value!r} for key {name!r} in the output of the function {function_name} used "
                f"to generate the SavedModel signature {key!r}. Outputs for functions used as signatures must be a "
                "single Tensor, a sequence of Tensors, or a dictionary from string to Tensor."
            )
    return outputs
