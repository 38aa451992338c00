"""`tf.raw_ops`: every registered op as a function of keyword arguments, with TensorFlow's names."""

import inspect

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import Op
from headrace._src.op.signature import REQUIRED

# Inputs and attributes that `tf.raw_ops` calls otherwise than the op itself.
_RENAMED = {
    **{
        op: {"reduction_indices": "axis"}
        for op in ("Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "EuclideanNorm")
    },
    "ExpandDims": {"dim": "axis"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Where": {"input": "condition"},
}


def canonical(kind: str, value):
    """An attribute value as users write it, in the form that rules expect."""
    if value is None:
        return None
    if kind.startswith("list("):
        inner = kind[5:-1]
        if not isinstance(value, (list, tuple)):
            value = np.asarray(value).ravel().tolist() if hasattr(value, "__array__") else [value]
        return [canonical(inner, item) for item in value]
    if kind == "type":
        return dtypes.as_dtype(value)
    if kind == "shape":
        shape = TensorShape(value)
        return None if shape.rank is None else tuple(shape.as_list())
    if kind == "string":
        return value.decode() if isinstance(value, bytes) else str(value)
    if kind == "bool":
        return bool(value)
    if kind == "int":
        return int(value)
    if kind == "float":
        return float(value)
    return value


def raw_function(op: Op):
    """A function of keyword arguments that applies `op`."""
    signature = op.signature
    renamed = _RENAMED.get(op.name, {})
    inputs = [renamed.get(argument.name, argument.name) for argument in signature.inputs]
    # The attribute of the op that a parameter stands for, and its kind.
    attributes = {renamed.get(x.name, x.name): x for x in signature.attributes}
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in inputs]
    for name, attribute in attributes.items():
        default = inspect.Parameter.empty if attribute.default is REQUIRED else attribute.default
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
    parameters.append(inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None))
    written = inspect.Signature(parameters)

    def raw(**kwargs):
        bound = written.bind(**kwargs).arguments
        name = bound.pop("name", None)
        attrs = {x.name: canonical(x.kind, bound[key]) for key, x in attributes.items() if key in bound}
        return op(*[bound[key] for key in inputs], name=name, **attrs)

    raw.__name__ = raw.__qualname__ = op.name
    raw.__doc__ = f"{op.name}: {op.text}"
    raw.__signature__ = written
    return raw
