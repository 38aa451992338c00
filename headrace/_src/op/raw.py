"""`tf.raw_ops`: every registered op as a function of keyword arguments, with TensorFlow's names."""

import inspect
import reprlib

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.definition import Op
from headrace._src.op.signature import REQUIRED

_protos = LazyModule("headrace._src.formats.tensor_protos")


def canonical(op: Op, attribute, value):
    """An attribute value as users write it, in the form that rules expect."""
    kind = attribute.kind
    if value is None:  # TF: None stands for the default, or an empty list
        if attribute.default is not REQUIRED:
            return attribute.default
        return [] if kind.startswith("list(") else _refuse(op, attribute, value)
    if not kind.startswith("list("):
        return _canonical_item(op, attribute, kind, value)
    if not isinstance(value, (list, tuple)):
        if not hasattr(value, "__array__"):
            _refuse(op, attribute, value)
        value = np.asarray(value).ravel().tolist()
    return [_canonical_item(op, attribute, kind[5:-1], item) for item in value]


def _canonical_item(op, attribute, kind, value):
    if kind == "type":
        dtype = dtypes.as_dtype(value)
        allowed = op.types.get(attribute.name)
        if allowed is not None and dtype not in allowed:
            names = ", ".join(sorted(each.name for each in allowed))
            raise errors.invalid_argument(
                f"{op.name}: {attribute.name} must be one of {names}, got {dtype.name}. [Op:{op.name}]"
            )
        return dtype
    if kind == "shape":
        shape = TensorShape(value)
        return None if shape.rank is None else tuple(shape.as_list())
    if kind == "string":
        if isinstance(value, bytes):
            return value.decode("utf-8", "surrogateescape")
        return value if isinstance(value, str) else _refuse(op, attribute, value)
    if kind == "bool":
        return bool(value) if isinstance(value, (bool, np.bool_)) else _refuse(op, attribute, value)
    if kind in ("int", "float"):
        if isinstance(value, (str, bytes)):
            _refuse(op, attribute, value)
        try:
            number = int(value) if kind == "int" else float(value)
        except (TypeError, ValueError, OverflowError):
            _refuse(op, attribute, value)
        if kind == "int" and not -(2**63) <= number < 2**63:
            _refuse(op, attribute, value)
        return number
    if kind == "tensor" and isinstance(value, Tensor) and not isinstance(value, EagerTensor):
        _refuse(op, attribute, value)  # a tensor of a graph has no value yet
    if kind == "tensor" and hasattr(value, "tensor_shape"):
        return EagerTensor(*_protos.proto_to_array(value))  # a message
    return value


def _refuse(op, attribute, value):
    got = reprlib.repr(value)
    raise TypeError(f"{op.name}: {attribute.name} must be a {attribute.kind}, got {got}. [Op:{op.name}]")


def raw_function(op: Op):
    """A function of keyword arguments that applies `op`."""
    signature = op.signature
    renamed = op.raw_names
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
        attrs = {x.name: canonical(op, x, bound[key]) for key, x in attributes.items() if key in bound}
        return op(*[bound[key] for key in inputs], name=name, **attrs)

    raw.__name__ = raw.__qualname__ = op.name
    raw.__doc__ = f"{op.name}: {op.text}"
    raw.__signature__ = written
    return raw
