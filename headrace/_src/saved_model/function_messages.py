"""Concrete functions as messages: how they are called, what they return, and what they are bound to."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from headrace._src.core import nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.formats.model_messages import SavedConcreteFunction
from headrace._src.saved_model.structured_values import FunctionSpec, encode, encode_function_spec
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.function import Function


def concrete_function_message(signature: tuple, outputs: Any, bound: list[int]) -> Any:
    """A `SavedConcreteFunction`.

    Args:
        signature: (positional, keyword) arguments.
        outputs: the structure that it returns, of tensors or specs.
        bound: the numbers of the objects that it captures.
    """
    message = SavedConcreteFunction(bound_inputs=bound)
    message.canonicalized_input_signature.CopyFrom(encode(signature))
    message.output_signature.CopyFrom(encode(described_outputs(outputs)))
    return message


def described_outputs(outputs: Any) -> Any:
    """Specs in the place of tensors. TF: they are named after their place in the structure."""
    if isinstance(outputs, Tensor):
        return TensorSpec(outputs.shape, outputs.dtype, "unknown")
    prefix = () if isinstance(outputs, Mapping) else ("tensor",)
    pairs = nest.flatten_with_tuple_paths(outputs)
    return nest.pack_sequence_as(
        outputs, [_described(value, "_".join(map(str, (*prefix, *path)))) for path, value in pairs]
    )


def _described(value, name):
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype, name)
    return value._type_spec if isinstance(value, CompositeTensor) or hasattr(value, "_type_spec") else value


def function_spec_message(function: Function) -> Any:
    """The parameters of a `tf.function`, as a `FunctionSpec` message.

    Raises:
        NotEncodableError: a default value has no form in files.
    """
    empty = inspect.Parameter.empty
    args, defaults, keywords, keyword_defaults, star, stars = [], [], [], {}, None, None
    for parameter in function._parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            star = parameter.name
        elif parameter.kind is parameter.VAR_KEYWORD:
            stars = parameter.name
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords.append(parameter.name)
            if parameter.default is not empty:
                keyword_defaults[parameter.name] = parameter.default
        else:
            args.append(parameter.name)
            if parameter.default is not empty:
                defaults.append(parameter.default)
    spec = inspect.FullArgSpec(args, star, stars, tuple(defaults) or None, keywords, keyword_defaults or None, {})
    return encode_function_spec(FunctionSpec(spec, False, function.input_signature, function.jit_compile))


def fill_bare_function(message: Any, concrete: ConcreteFunction, name: str, keywords: list[str]) -> None:
    """Fill a `SavedBareConcreteFunction`: a trace that can be called by itself, with flat arguments."""
    message.concrete_function_name = name
    message.argument_keywords.extend(keywords)
    allowed = getattr(concrete, "_num_positional_args", None)
    message.allowed_positional_arguments = len(keywords) if allowed is None else allowed
    positional, keyword = concrete.structured_input_signature
    names = _positional_names(concrete, len(positional))
    spec = inspect.FullArgSpec(names, None, None, None, sorted(keyword), None, {})
    message.function_spec.CopyFrom(encode_function_spec(FunctionSpec(spec)))


def _positional_names(concrete, count):
    names = []
    for parameter in concrete._parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}_{i}" for i in range(count - len(names))]
        elif parameter.kind not in (parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
            names.append(parameter.name)
    return names[:count]
