"""The arguments of a tf.function: its parameters, the value of each in a call, and what of them a graph is given."""

import inspect

from headrace._src.core.tensor import EagerTensor
from headrace._src.tracing.trace_types import Literal

FAILED = "Binding inputs to tf.function failed"  # TF: tests of other packages look for these words

# Types whose objects are one tensor each, `_only_tensor`, of a spec that stays the same: iterators of datasets.
SINGLE_TENSORS: set[type] = set()


def fast_key(args):
    """A key for a call with tensors and simple Python values only; None for any other."""
    key = []
    for x in args:
        kind = type(x)
        if kind is EagerTensor:
            key.append(x.dtype)
            key.append(x._a.shape)
        elif kind is int or kind is float or kind is bool or kind is str or x is None:
            key.append(kind)
            key.append(x)
        else:
            return None
    return tuple(key)


def parameters_of(function):
    """The parameters of a function; any arguments where Python does not know them."""
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return (
            inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
            inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
        )


def bind(parameters, args, kwargs, name) -> list:
    """The value of each parameter, defaults filled in."""
    values, positional, rest = [], list(args), dict(kwargs)
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            values.append(tuple(positional))
            positional = []
        elif parameter.kind is parameter.VAR_KEYWORD:
            values.append(rest)
            rest = {}
        elif positional and parameter.kind is not parameter.KEYWORD_ONLY:
            values.append(positional.pop(0))
            if parameter.name in rest and parameter.kind is not parameter.POSITIONAL_ONLY:
                raise TypeError(f"{FAILED}: {name}() got multiple values for argument {parameter.name!r}")
        elif parameter.name in rest and parameter.kind is not parameter.POSITIONAL_ONLY:
            values.append(rest.pop(parameter.name))
        elif parameter.default is not parameter.empty:
            values.append(parameter.default)
        else:
            raise TypeError(f"{FAILED}: {name}() missing a required argument: {parameter.name!r}")
    if positional:
        raise TypeError(
            f"{FAILED}: {name}() got too many positional arguments: takes {len(parameters)}, got {len(args)}"
        )
    if rest:
        raise TypeError(f"{FAILED}: {name}() got an unexpected keyword argument {next(iter(rest))!r}")
    return values


def tensors_of(kinds, values):
    """The tensors of the arguments, a variable that is passed twice only once."""
    tensors, handles = [], set()
    for kind, value in zip(kinds, values):
        if type(kind) is Literal:
            continue
        for tensor in kind.to_tensors(value):
            if tensor.dtype._kind == "r":
                if id(tensor) in handles:
                    continue
                handles.add(id(tensor))
            tensors.append(tensor)
    return tensors
