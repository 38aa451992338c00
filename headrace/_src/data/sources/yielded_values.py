"""What Python generators yield, as elements and blocks: quick for numbers and arrays, exact in what it refuses."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import errors, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor
from headrace._src.core.type_specs import type_spec_from_value
from headrace._src.op.convert import to_tensor

# Values that cannot change after they were yielded, and that NumPy turns into arrays many at a time.
_NUMBERS = frozenset(
    [bool, int, float, np.bool_, np.float16, np.float32, np.float64] + [np.dtype(code).type for code in "bBhHiIlLqQ"]
)
_TEXTS = frozenset([str, bytes])


class Mismatch(TypeError):
    """The structure of a yielded value is not that of the spec."""


def converter(spec: Any) -> Callable[[Any], tuple]:
    """A function from yielded values to elements of a spec.

    It raises OpErrors: InvalidArgumentError for what does not fit the spec.
    """
    if _is_lenient(spec):
        return _Lenient(spec)
    return _Strict(spec)


def _is_lenient(spec) -> bool:
    # TF: tensors go through NumPy, which casts, except when there is one alone of unknown rank.
    if type(spec) is TensorSpec:
        return spec.shape.rank is not None
    return all(type(leaf) is TensorSpec for leaf in nest.flatten(spec))


class _Lenient:
    """Values become NumPy arrays and are cast to the dtype of the spec."""

    def __init__(self, spec):
        self.leaves = nest.flatten(spec)
        self._spec = spec
        self.parts = flattener(spec)
        self.columns = [_TextColumn(leaf) if leaf.dtype._kind == "s" else _NumberColumn(leaf) for leaf in self.leaves]
        self._converts = [column.convert for column in self.columns]

    def __call__(self, value):
        return tuple([convert(part) for convert, part in zip(self._converts, self.flat(value))])

    def flat(self, value) -> Any:
        """The leaves of a yielded value."""
        try:
            return self.parts(value)
        except Mismatch as error:
            types = nest.map_structure(lambda leaf: leaf.dtype, self._spec)
            raise errors.invalid_argument(
                "TypeError: `generator` yielded an element that did not match the expected structure. The expected "
                f"structure was {types}, but the yielded element was {value}. ({error})"
            ) from error

    @property
    def has_blocks(self) -> bool:
        """Whether elements can be stacked while they come."""
        return bool(self.leaves) and all(leaf.shape.is_fully_defined() for leaf in self.leaves)


class _NumberColumn:
    """One component, of numbers."""

    def __init__(self, spec):
        self.spec = spec
        self._dtype = spec.dtype._np
        self._shape = tuple(spec.shape.as_list()) if spec.shape.is_fully_defined() else None
        self.waits = _NUMBERS if self._shape == () else frozenset()
        self.size = max(1, int(np.prod(self._shape or (1,)))) * self._dtype.itemsize

    def convert(self, value):
        """The array of one value."""
        kind = type(value)
        if kind is np.ndarray:
            if value.dtype == self._dtype and value.shape == self._shape:
                return value.copy()  # the generator may write into it
        elif kind in self.waits:
            try:
                return np.array(value, self._dtype)
            except OverflowError:
                pass
        array = self._cast(value)
        if array.shape != self._shape:
            self._check(array)
        return array

    def _cast(self, value):
        try:
            if type(value) is EagerTensor:
                value = value.numpy()
            array = np.asarray(value)
            # TF: whatever NumPy can cast, also fractions to integers.
            array = array.astype(self._dtype)
        except (ValueError, TypeError) as error:
            raise errors.invalid_argument(
                "TypeError: `generator` yielded an element that could not be converted to the expected type. The "
                f"expected type was {self.spec.dtype.name}, but the yielded element was {value}. (Expected "
                f"{self.spec!r}, got {_described(value)}.)"
            ) from error
        except OverflowError as error:
            raise errors.unknown(
                f"OverflowError: {error}. `generator` yielded {value}, which does not fit into {self.spec!r}."
            ) from error
        return array

    def _check(self, array):
        if not self.spec.shape.is_compatible_with(array.shape):
            raise _wrong_shape(self.spec, array.shape)

    def sink(self, count):
        """Something that takes up to `count` values of a block."""
        return _Numbers(self, self._dtype) if self._shape == () else _Arrays(self, count, self._shape, self._dtype)


class _TextColumn:
    """One component, of strings."""

    def __init__(self, spec):
        self.spec = spec
        self.waits = _TEXTS
        self.size = 64

    def convert(self, value):
        """The array of one value."""
        if type(value) is EagerTensor:
            value = value.numpy()
        array = np.empty((), object)
        if type(value) in _TEXTS:
            array[()] = value
        elif isinstance(value, np.ndarray):
            array = value.astype(object)
        else:
            try:
                array = np.array(value, object)
            except ValueError:
                array[()] = value
        if not self.spec.shape.is_compatible_with(array.shape):
            raise _wrong_shape(self.spec, array.shape)
        flat = [_as_bytes(item, self.spec) for item in array.ravel()]
        result = np.empty(len(flat), object)
        result[:] = flat
        return result.reshape(array.shape)

    def sink(self, count):
        """Something that takes up to `count` values of a block."""
        shape = tuple(self.spec.shape.as_list())
        return _Texts(self) if shape == () else _Arrays(self, count, shape, np.dtype(object))


def _as_bytes(item, spec):
    if isinstance(item, bytes):
        return bytes(item)
    if isinstance(item, str):
        return item.encode()
    # TF: this comes from the conversion of arrays, which is why it is another class.
    raise errors.internal(
        f"Unsupported object type {type(item).__name__}: `generator` yielded {item!r} where strings of {spec!r} were "
        "expected."
    )


class _Numbers:
    """Scalars of a block, turned into an array at once."""

    def __init__(self, column, dtype):
        self._column = column
        self._dtype = dtype
        self._values: list = []

    def put(self, place, value):
        self._values.append(value if type(value) in _NUMBERS else self._column.convert(value)[()])

    def finish(self, count):
        values = self._values if len(self._values) == count else self._values[:count]
        try:
            return np.array(values, self._dtype)
        except OverflowError:
            return np.array([self._column.convert(value)[()] for value in values], self._dtype)


class _Texts:
    """Scalar strings of a block."""

    def __init__(self, column):
        self._column = column
        self._values: list = []

    def put(self, place, value):
        if type(value) is bytes:
            self._values.append(value)
        elif type(value) is str:
            self._values.append(value.encode())
        else:
            self._values.append(self._column.convert(value)[()])

    def finish(self, count):
        result = np.empty(count, object)
        result[:] = self._values[:count]
        return result


class _Arrays:
    """Arrays of a block, each copied to its place as it comes."""

    def __init__(self, column, count, shape, dtype):
        self._column = column
        self._shape, self._dtype = shape, dtype
        self._block = np.empty((count, *shape), dtype)

    def put(self, place, value):
        is_ready = type(value) is np.ndarray and value.dtype is self._dtype and value.shape == self._shape
        if not is_ready or self._dtype.kind == "O":
            value = self._column.convert(value)
        self._block[place] = value

    def finish(self, count):
        return self._block if count == len(self._block) else self._block[:count].copy()


class _Strict:
    """Values become tensors (ragged, sparse, datasets ...) by the rules for tensors."""

    has_blocks = False

    def __init__(self, spec):
        self._spec = spec
        self._leaves = nest.flatten(spec)
        self._parts = flattener(spec)

    def __call__(self, value):
        try:
            given = [_as_leaf(leaf, part) for leaf, part in zip(self._leaves, self._parts(value))]
        except (TypeError, ValueError, errors.OpError) as error:
            raise errors.invalid_argument(
                "TypeError: `generator` yielded an element that did not match the expected structure. The expected "
                f"structure was {self._spec}, but the yielded element was {value}. ({error})"
            ) from error
        specs = [_spec_of(part) for part in given]
        if not all(leaf.is_compatible_with(spec) for leaf, spec in zip(self._leaves, specs)):
            found = nest.pack_sequence_as(self._spec, specs)
            raise errors.invalid_argument(
                f"TypeError: `generator` yielded an element of {found} where an element of {self._spec} was expected."
            )
        components = []
        for leaf, part in zip(self._leaves, given):
            components += [part] if type(leaf) is TensorSpec else leaf._to_tensor_list(part)
        # Copies: a tensor may be a view of an array that the generator writes into.
        return tuple([tensor._a.copy() for tensor in components])


def _as_leaf(leaf, part):
    if isinstance(leaf, TensorSpec):
        if type(part) is int and leaf.dtype._kind in "iu" and -(2**63) <= part < 2**63:
            return EagerTensor(np.array(part, np.int64).astype(leaf.dtype._np), leaf.dtype)
        return to_tensor(part, leaf.dtype)
    if isinstance(part, CompositeTensor) or hasattr(part, "_type_spec"):
        return part
    from_value = getattr(leaf.value_type, "from_value", None)
    return from_value(part) if from_value is not None and not isinstance(part, (int, float)) else to_tensor(part)


def _spec_of(part):
    spec = type_spec_from_value(part)
    return spec._without_tensor_names() if isinstance(spec, TensorSpec) else spec


def _wrong_shape(spec, shape):
    return errors.invalid_argument(
        f"TypeError: `generator` yielded an element of shape {TensorShape(shape)} where an element of shape "
        f"{spec.shape} was expected. (Expected {spec!r}, got an array of shape {tuple(shape)}.)"
    )


def _described(value) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return f"a {type(value).__name__}"


# The leaves of yielded values.


def flattener(spec: Any) -> Callable[[Any], Any]:
    """A function that gives the leaves of a value of the structure of `spec`, in order.

    The function raises:
        Mismatch: the structure is another.
    """
    if isinstance(spec, tuple):
        return _tuple_flattener(spec)
    if isinstance(spec, collections.abc.Mapping):
        return _mapping_flattener(spec)
    if nest.is_attrs(spec):
        return _attrs_flattener(spec)
    return lambda value: (value,)


def _tuple_flattener(spec):
    size, kind = len(spec), type(spec) if hasattr(spec, "_fields") else None
    inner = None if not any(map(_is_structure, spec)) else [flattener(part) for part in spec]

    def flatten(value):
        if not isinstance(value, tuple):
            raise Mismatch(f"expected a tuple of {size}, got {type(value).__name__}")
        if len(value) != size:
            raise Mismatch(f"expected a tuple of {size}, got one of {len(value)}")
        if kind is not None and getattr(value, "_fields", None) != kind._fields:
            raise Mismatch(f"expected a {kind.__name__}, got {type(value).__name__}")
        if inner is None:
            return value
        return [leaf for part, flat in zip(value, inner) for leaf in flat(part)]

    return flatten


def _mapping_flattener(spec):
    keys = sorted(spec)
    names = set(keys)
    inner = None if not any(map(_is_structure, spec.values())) else [flattener(spec[key]) for key in keys]

    def flatten(value):
        if not isinstance(value, collections.abc.Mapping):
            raise Mismatch(f"expected a dict with keys {keys}, got {type(value).__name__}")
        if value.keys() != names:
            raise Mismatch(f"expected a dict with keys {keys}, got one with keys {list(value)}")
        if inner is None:
            return [value[key] for key in keys]
        return [leaf for key, flat in zip(keys, inner) for leaf in flat(value[key])]

    return flatten


def _attrs_flattener(spec):
    names = [field.name for field in type(spec).__attrs_attrs__]
    inner = [flattener(getattr(spec, name)) for name in names]

    def flatten(value):
        if not isinstance(value, type(spec)):
            raise Mismatch(f"expected a {type(spec).__name__}, got {type(value).__name__}")
        return [leaf for name, flat in zip(names, inner) for leaf in flat(getattr(value, name))]

    return flatten


def _is_structure(spec) -> bool:
    return isinstance(spec, (tuple, collections.abc.Mapping)) or nest.is_attrs(spec)


def checked_signature(signature: Any, where: str) -> Any:
    """A spec given by a user as the signature of elements.

    Raises:
        TypeError: something in it is not a spec.
    """
    for leaf in _leaves(signature):
        if not hasattr(leaf, "_flat_tensor_specs"):
            raise TypeError(
                f"{where}: `output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                f"{type(leaf)} which is not."
            )
    return signature


def _leaves(signature):
    """The leaves where lists, too, are leaves."""
    if isinstance(signature, tuple):
        return [leaf for part in signature for leaf in _leaves(part)]
    if isinstance(signature, collections.abc.Mapping):
        return [leaf for part in signature.values() for leaf in _leaves(part)]
    if nest.is_attrs(signature):
        return [leaf for field in type(signature).__attrs_attrs__ for leaf in _leaves(getattr(signature, field.name))]
    return [signature]
