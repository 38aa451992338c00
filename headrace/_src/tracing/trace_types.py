"""The types of arguments: what decides whether a function that was traced before can be used again.

A type of a leaf is a `TraceType`; that of a container is a `Container` of types. Tensors and NumPy arrays count by
dtype and shape, Python values by value, other objects by identity, held weakly.
"""

import collections
import collections.abc
import enum
import weakref

import numpy as np

from headrace._src.core.composite import CompositeTensor
from headrace._src.core.dtypes import DType, numpy_array_dtype
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec, TypeSpec
from headrace._src.core.tensor import Tensor
from headrace._src.core.tracing_protocol import PlaceholderContext, TraceType, TracingContext
from headrace._src.op.convert import to_tensor
from headrace._src.state.variables import Variable
from headrace._src.tracing.variable_specs import VariableSpec


class Literal(TraceType):
    """A Python value, which is part of the traced function. 1, 1.0 and True are different."""

    def __init__(self, value):
        self.value = value
        self._hash = hash((type(value), value))

    def is_subtype_of(self, other):
        return self == other

    def most_specific_common_supertype(self, others):
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context):
        return self.value

    def cast(self, value, casting_context):
        if type(value) is type(self.value) and value == self.value:
            return value
        raise AssertionError(f"Can not cast {value!r} to {self!r}")

    def __eq__(self, other):
        if not isinstance(other, Literal) or type(self.value) is not type(other.value):
            return False
        return self.value is other.value or bool(self.value == other.value)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return f"Literal[{self.value!r}]"


class Identity(TraceType):
    """An object that counts by identity, and is not kept alive."""

    def __init__(self, value):
        self._reference = weakref.ref(value)
        self._hash = object.__hash__(value)
        self._text = f"{type(value).__name__} object at {id(value):#x}"

    @property
    def is_gone(self) -> bool:
        """Whether nobody else has the object any more."""
        return self._reference() is None

    def is_subtype_of(self, other):
        return self == other

    def most_specific_common_supertype(self, others):
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context):
        value = self._reference()
        if value is None:
            raise ReferenceError(f"The {self._text}, an argument of a tf.function, is gone.")
        return value

    def cast(self, value, casting_context):
        if value is self._reference():
            return value
        raise AssertionError(f"Can not cast {value!r} to {self!r}")

    def __eq__(self, other):
        if not isinstance(other, Identity):
            return False
        mine, theirs = self._reference(), other._reference()
        return self is other or (mine is not None and mine is theirs)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return f"<{self._text}>"


class Container(TraceType):
    """A list, tuple, dictionary or other structure of types."""

    def __init__(self, kind, keys, children, make):
        self.kind = kind
        self.keys = keys
        self.children = tuple(children)
        self._make = make  # puts values, one for each child, into this structure
        self._hash = hash((kind, keys, self.children))

    def is_subtype_of(self, other):
        return self._fits(other) and all(a.is_subtype_of(b) for a, b in zip(self.children, other.children))

    def _fits(self, other):
        return (
            isinstance(other, Container)
            and self.kind is other.kind
            and self.keys == other.keys
            and len(self.children) == len(other.children)
        )

    def most_specific_common_supertype(self, others):
        if not all(self._fits(other) for other in others):
            return None
        children = []
        for i, child in enumerate(self.children):
            common = child.most_specific_common_supertype([other.children[i] for other in others])
            if common is None:
                return None
            children.append(common)
        return Container(self.kind, self.keys, children, self._make)

    def packed(self, values):
        """The values, one for each child, in this structure."""
        return self._make(values)

    def placeholder_value(self, placeholder_context):
        return self.packed([child.placeholder_value(placeholder_context) for child in self.children])

    def to_tensors(self, value):
        tensors = []
        for child, item in zip(self.children, items_of(value)[1]):
            tensors.extend(child.to_tensors(item))
        return tensors

    def from_tensors(self, tensors):
        return self.packed([child.from_tensors(tensors) for child in self.children])

    def flatten(self):
        return [leaf for child in self.children for leaf in child.flatten()]

    def cast(self, value, casting_context):
        keys, items = items_of(value) or (None, None)
        if items is None or keys != self.keys or len(items) != len(self.children):
            raise AssertionError(f"Can not cast {value!r} to {self!r}")
        return self.packed([child.cast(item, casting_context) for child, item in zip(self.children, items)])

    def __eq__(self, other):
        return self._fits(other) and self.children == other.children

    def __hash__(self):
        return self._hash

    def __repr__(self):
        if self.keys is not None:
            inner = ", ".join(f"[{key!r}, {child!r}]" for key, child in zip(self.keys, self.children))
        else:
            inner = ", ".join(map(repr, self.children))
        return f"{self.kind.__name__.capitalize()}[{inner}]"


def _maker(value, keys):
    """A function that puts values into a container like `value`, without keeping it."""
    kind = type(value)
    if isinstance(value, collections.abc.Mapping):
        order = tuple(value)  # as the user wrote it, while types are compared in the order of the sorted keys
        factory = (value.default_factory,) if isinstance(value, collections.defaultdict) else ()

        def mapping(values):
            by_key = dict(zip(keys, values))
            ordered = {key: by_key[key] for key in order}
            return ordered if kind is dict else kind(*factory, ordered)

        return mapping
    if hasattr(kind, "_fields"):
        return lambda values: kind(*values)
    return kind


def items_of(value):
    """(keys or None, items) of a container that arguments are looked into; None for anything else."""
    kind = type(value)
    if kind is list or kind is tuple:
        return None, list(value)
    if isinstance(value, tuple):
        return getattr(value, "_fields", None), list(value)
    if isinstance(value, list):
        return None, list(value)
    if isinstance(value, collections.abc.Mapping):
        keys = tuple(value)
        try:
            keys = tuple(sorted(keys))
        except TypeError:
            pass
        return keys, [value[key] for key in keys]
    return None


_BY_VALUE = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), enum.Enum, DType, TensorShape, range)


class Typing(TracingContext):
    """One look at the arguments of a call: variables that occur twice are noted."""

    def __init__(self):
        self.variables: dict[int, int] = {}

    def type_of(self, value):
        """The trace type of an argument."""
        kind = type(value)
        if isinstance(value, Tensor):
            return TensorSpec(value.shape, value.dtype)
        if kind in (int, float, bool, str, type(None)):
            return Literal(value)
        if isinstance(value, Variable) and not value.has_copies and value.handle.dtype._kind == "r":
            # Others of 1.x are passed by value, and those with copies as they are.
            alias = self.variables.setdefault(id(value.handle), len(self.variables))
            return VariableSpec.of_argument(value, alias)
        if isinstance(value, (np.ndarray, np.generic)):
            dtype = numpy_array_dtype(value)
            return Literal(value) if dtype is None else TensorSpec(value.shape, dtype)
        if isinstance(value, TraceType) and not isinstance(value, type):
            return value  # a spec stands for the value that it describes, as in get_concrete_function
        if hasattr(kind, "__tf_tracing_type__"):
            return value.__tf_tracing_type__(self)
        if isinstance(value, CompositeTensor) or isinstance(getattr(value, "_type_spec", None), TypeSpec):
            return value._type_spec
        if hasattr(kind, "__tf_tensor__"):
            tensor = to_tensor(value)
            return TensorSpec(tensor.shape, tensor.dtype)
        contents = items_of(value)
        if contents is not None:
            keys, items = contents
            return Container(kind, keys, [self.type_of(item) for item in items], _maker(value, keys))
        if isinstance(value, _BY_VALUE):
            return Literal(value)
        return _identity(value)


def _identity(value):
    try:
        return Identity(value)
    except TypeError:
        pass
    try:
        return Literal(value)
    except TypeError:
        raise TypeError(
            f"Could not determine the type of {value!r} for tf.function: a {type(value).__name__} can neither be "
            "hashed nor referred to weakly. Pass tensors, arrays, numbers or strings instead."
        ) from None


class Placeholders(PlaceholderContext):
    """Makes the inputs of a graph for the types of arguments."""

    def __init__(self, graph):
        self._graph = graph
        self._name = "args"
        self.variables: dict[int, object] = {}  # by alias, so that a variable passed twice is one object

    def of(self, kind, name):
        """What stands for the argument called `name`, of that type, while a function is traced."""
        self._name = name
        return kind.placeholder_value(self)

    def placeholder(self, spec):
        name = spec.name or self._name
        clean = _clean(name)
        tensor = self._graph.add_input(spec.shape, spec.dtype, clean)
        if clean != name:
            tensor.op.argument_name = name
        return tensor

    def pass_variable(self, variable, handle):
        """Note that the input `handle` stands for the handle of `variable`."""
        self._graph.pass_variable(variable, handle)


def _clean(name):
    text = "".join(c if c.isalnum() or c in "._-/" else "_" for c in name)
    if text[:1].isalnum():
        return text
    return f"args_{text}" if text else "args"
