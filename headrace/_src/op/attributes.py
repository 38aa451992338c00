"""Attributes of ops: what each kind may be, checked where they are bound, once for all ops.

Callers within headrace give attributes in canonical form (a `bool`, an `int`, a `DType`, a tuple for a shape ...), and
what is of these types passes by a look at its class. Anything else is made canonical here, or refused: this is where
what a user gave to a public function (`keepdims=[]`, `padding=3`) turns out not to be an attribute.
"""

import reprlib

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.signature import REQUIRED

_accounts = LazyModule("headrace._src.core.accounts")  # for errors

_protos = LazyModule("headrace._src.formats.tensor_protos")

# Kind to the class that values of it have in canonical form. Others may be of several, or of any.
USUAL = {"bool": bool, "int": int, "float": float, "string": str, "type": dtypes.DType}
_NUMBERS = (bool, int, float, np.number, np.bool_)


def checked(op, attrs):
    """The attributes in canonical form; a new dict if any was not."""
    changed = None
    for attribute in op.signature.attributes:
        name = attribute.name
        value = attrs.get(name)
        if not _is_usual(attribute.kind, value) or not _is_allowed(op.types.get(name), value):
            if changed is None:
                changed = dict(attrs)
            changed[name] = canonical(op, attribute, value)
    return attrs if changed is None else changed


def _is_usual(kind, value):
    usual = USUAL.get(kind)
    if usual is not None:
        return type(value) is usual
    if kind.startswith("list("):
        usual = USUAL.get(kind[5:-1])
        return isinstance(value, (list, tuple)) and (usual is None or all(type(item) is usual for item in value))
    return kind != "shape" or value is None or type(value) is tuple


def _is_allowed(allowed, dtypes_given):
    """Whether a dtype, or each of a list, is among those that the op takes."""
    if allowed is None:
        return True
    return allowed.issuperset(dtypes_given) if isinstance(dtypes_given, (list, tuple)) else dtypes_given in allowed


def canonical(op, attribute, value):
    """An attribute value as users write it, in the form that rules expect.

    Raises:
        TypeError: it is not of the attribute's kind.
        OverflowError: an integer that 64 bits do not hold.
    """
    kind = attribute.kind
    if value is None:  # TF: None stands for the default, or an empty list
        if attribute.default is not REQUIRED:
            return attribute.default
        return [] if kind.startswith("list(") else _refuse(op, attribute, value)
    if not kind.startswith("list("):
        return _canonical_item(op, attribute, kind, value)
    if not isinstance(value, (list, tuple, range)):
        _refuse(op, attribute, value)
    return [_canonical_item(op, attribute, kind[5:-1], item) for item in value]


def _canonical_item(op, attribute, kind, value):
    if kind == "type":
        return _dtype(op, attribute, value)
    if kind == "shape":
        try:
            shape = TensorShape(value)
        except TypeError:
            _refuse(op, attribute, value)
        return None if shape.rank is None else tuple(shape.as_list())
    if kind == "string":
        if isinstance(value, bytes):
            return value.decode("utf-8", "surrogateescape")
        return value if isinstance(value, str) else _refuse(op, attribute, value)
    if kind == "bool":
        return bool(value) if isinstance(value, (bool, np.bool_)) else _refuse(op, attribute, value)
    if kind == "int":
        return _integer(op, attribute, value)
    if kind == "float":
        number = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
        return float(number) if isinstance(number, _NUMBERS) else _refuse(op, attribute, value)
    if kind == "tensor" and isinstance(value, Tensor) and not isinstance(value, EagerTensor):
        _refuse(op, attribute, value)  # a tensor of a graph has no value yet
    if kind == "tensor" and hasattr(value, "tensor_shape"):
        return EagerTensor(*_protos.proto_to_array(value))  # a message
    return value


def _dtype(op, attribute, value):
    try:
        dtype = dtypes.as_dtype(value)
    except TypeError:
        _refuse(op, attribute, value)
    allowed = op.types.get(attribute.name)
    if allowed is not None and dtype not in allowed:
        names = ", ".join(sorted(each.name for each in allowed))
        raise _noted(op, attribute, value, errors.invalid_argument(
            f"{op.name}: {attribute.name} must be one of {names}, got {dtype.name}. [Op:{op.name}]"
        ))  # fmt: skip
    return dtype


def _integer(op, attribute, value):
    if isinstance(value, (str, dtypes.DType)) or np.iscomplexobj(value):  # `int` would make a number of these
        _refuse(op, attribute, value)
    try:
        number = int(value)
    except (TypeError, ValueError):
        _refuse(op, attribute, value)
    except OverflowError:  # an infinity
        number = 2**63
    if not -(2**63) <= number < 2**63:
        raise _noted(op, attribute, value, OverflowError(
            f"{op.name}: {attribute.name} must be an int of 64 bits, got {reprlib.repr(value)}. [Op:{op.name}]"
        ))  # fmt: skip
    return number


_ARTICLES = {"int": "an int", "type": "a dtype", "func": "a function"}


def _refuse(op, attribute, value):
    kind = attribute.kind
    if kind.startswith("list("):
        wanted = f"a list of {kind[5:-1].replace('type', 'dtype')}s"
    else:
        wanted = _ARTICLES.get(kind, f"a {kind}")
    raise _noted(op, attribute, value, TypeError(
        f"{op.name}: {attribute.name} must be {wanted}, got {reprlib.repr(value)}. [Op:{op.name}]"
    ))  # fmt: skip


def _noted(op, attribute, value, error):
    _accounts.note(error, op, [(attribute.name, value)])
    return error
