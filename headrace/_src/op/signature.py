"""The one-line signatures of ops: `"a: T, b: T, *, transpose_a: bool = False -> product: T"`.

Inputs stand before `*`, attributes after it, outputs after `->`. The type of an input or output is

    T            a type attribute, given to `Op` as `T=...` with the dtypes that it may be
    int32        that dtype
    N*T          a list of N tensors of type T (N is an attribute, counted from the list)
    list(T)      a list of tensors, each of its own type (T is an attribute, a list of types)

An attribute's kind is one of bool, int, float, string, type, shape, tensor, func, or list(kind). An
attribute without a default must be given. The default of a tensor reads `uint8[255, 0]`.
"""

import ast
import re
from typing import NamedTuple

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor

KINDS = ("bool", "int", "float", "string", "type", "shape", "tensor", "func")
REQUIRED = object()


class Argument(NamedTuple):
    """One input or output."""

    name: str
    dtype: dtypes.DType | None  # the fixed dtype
    type_attr: str | None  # or the attribute that holds the dtype(s)
    number_attr: str | None = None  # the attribute that counts a list of one type
    type_list: bool = False
    is_list: bool = False


class Attribute(NamedTuple):
    """One attribute that callers give (type and number attributes are read off the inputs)."""

    name: str
    kind: str
    default: object = REQUIRED


class Signature(NamedTuple):
    inputs: tuple[Argument, ...]
    attributes: tuple[Attribute, ...]
    outputs: tuple[Argument, ...]


def parse(text: str) -> Signature:
    head, arrow, tail = text.partition("->")
    if not arrow:
        raise ValueError(f"Signature without '->': {text!r}")
    before, star, after = (" " + head).partition("*,")
    if not star and head.strip().endswith("*"):
        raise ValueError(f"Signature with '*' and no attribute: {text!r}")
    # "N*T" has a star too, but never one followed by a comma.
    inputs = tuple(_argument(part) for part in _split(before))
    attributes = tuple(_attribute(part) for part in _split(after))
    outputs = tuple(_argument(part) for part in _split(tail))
    return Signature(inputs, attributes, outputs)


def _split(text):
    """Split at the commas outside brackets."""
    return [part.strip() for part in re.split(r",(?![^\[\(]*[\]\)])", text) if part.strip()]


def _argument(text):
    name, _, kind = (part.strip() for part in text.partition(":"))
    number = None
    if "*" in kind:
        number, kind = (part.strip() for part in kind.split("*"))
    if kind.startswith("list("):
        return Argument(name, None, kind[5:-1].strip(), type_list=True, is_list=True)
    dtype = dtypes._BY_NAME.get(kind)
    return Argument(name, dtype, None if dtype else kind, number, is_list=number is not None)


def _attribute(text):
    name, _, rest = (part.strip() for part in text.partition(":"))
    kind, equals, default = (part.strip() for part in rest.partition("="))
    base = kind[5:-1] if kind.startswith("list(") else kind
    if base not in KINDS:
        raise ValueError(f"Attribute {name!r} has the unknown kind {kind!r}.")
    if not equals:
        return Attribute(name, kind)
    if kind == "type":
        return Attribute(name, kind, dtypes.as_dtype(default))
    if kind == "list(type)":
        return Attribute(name, kind, [dtypes.as_dtype(part) for part in _split(default.strip("[]"))])
    if kind == "tensor":
        element, bracket, numbers = default.partition("[")
        dtype = dtypes.as_dtype(element)
        return Attribute(name, kind, EagerTensor(np.array(ast.literal_eval(bracket + numbers), dtype._np), dtype))
    value = ast.literal_eval(default)
    return Attribute(name, kind, float(value) if kind == "float" else value)
