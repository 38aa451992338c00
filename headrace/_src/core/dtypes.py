"""The element types of tensors, with TensorFlow's names, numbers and predicates."""

import builtins
from typing import Any

import ml_dtypes
import numpy as np

from headrace._src.core.messages import message_class


class _Numbered:
    """Something whose hash is a number of its own.

    Dtypes are looked up in sets on every op, so that the hash must cost no Python call: what Python calls is
    the slot's content, a method of an int.
    """

    __slots__ = ("__hash__",)


class DType(_Numbered):
    """The type of the elements of a tensor. Compare with `==`, also against strings and NumPy types.

    >>> tf.float32 == "float32", tf.float32 == np.float32
    (True, True)
    """

    __slots__ = ("__weakref__", "_enum", "_kind", "_np", "_numpy_type", "_ref", "name")

    def __init__(self, name, enum, storage, kind, numpy_type=None) -> None:
        self.name = name
        self._enum = enum
        self.__hash__ = enum.__index__
        self._np = None if storage is None else np.dtype(storage)  # how arrays of this type are stored
        self._numpy_type = numpy_type  # what as_numpy_dtype gives
        self._kind = kind
        self._ref = None

    @property
    def as_numpy_dtype(self) -> type:
        """The NumPy type of this dtype's values."""
        if self._numpy_type is None:
            raise KeyError(f"{self!r} has no NumPy type.")
        return self._numpy_type

    @property
    def as_datatype_enum(self) -> int:
        """The number of this type in TensorFlow's `DataType` proto enum."""
        return self._enum

    @property
    def base_dtype(self) -> "DType":
        return _BY_ENUM[self._enum - 100] if self._enum > 100 else self

    @property
    def real_dtype(self) -> "DType":
        """float32 for complex64, float64 for complex128, itself otherwise."""
        base = self.base_dtype
        return {complex64: float32, complex128: float64}.get(base, self)

    @property
    def _as_ref(self):
        return self if self._enum > 100 else as_dtype(self._enum + 100)

    @property
    def is_floating(self) -> builtins.bool:
        return self._kind == "f"

    @property
    def is_complex(self) -> builtins.bool:
        return self._kind == "c"

    @property
    def is_integer(self) -> builtins.bool:
        """True for plain integers; quantized types are not integers."""
        return self._kind in "iu"

    @property
    def is_unsigned(self) -> builtins.bool:
        return self._kind == "u"

    @property
    def is_quantized(self) -> builtins.bool:
        return self._kind == "q"

    @property
    def is_bool(self) -> builtins.bool:
        return self._kind == "b"

    @property
    def is_numeric(self) -> builtins.bool:
        return self._kind in "fciuq"

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        return self._numpy_type is not None

    @property
    def size(self) -> int:
        """Bytes per element; 0 where elements have no fixed size."""
        if self._kind in "srv":
            return 0
        return self._np.itemsize

    @property
    def min(self) -> Any:
        """The smallest finite value."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The largest finite value."""
        return self._limit("max")

    def _limit(self, which):
        if self._kind in "iuq":
            return getattr(np.iinfo(self._np), which)
        if self._kind == "f":
            value = getattr(ml_dtypes.finfo(self._np), which)
            return self._np.type(value)
        raise TypeError(f"Cannot find {which}imum value of {self!r} with type {self!r}.")

    @property
    def limits(self, clip_negative=True) -> tuple[Any, Any]:
        """(lowest, highest) value when stored in an image; the lowest of a signed integer is 0."""
        if self._kind == "f":
            return (0, 1)
        if self._kind == "b":
            return (0, True)
        if self._kind in "iuq":
            return (0 if clip_negative else self.min, self.max)
        raise ValueError(f"{self!s} does not have defined limits.")

    def is_compatible_with(self, other) -> builtins.bool:
        other = as_dtype(other)
        return self._enum in (other._enum, other._enum + 100)

    # The tracing-type protocol: a dtype is its own type.
    def is_subtype_of(self, other) -> builtins.bool:
        return self == other

    def most_specific_common_supertype(self, types) -> "DType | None":
        return self if all(self == other for other in types) else None

    def placeholder_value(self, placeholder_context=None):
        return self

    def flatten(self):
        return []

    def to_tensors(self, value):
        return []

    def from_tensors(self, tensors):
        return self

    def cast(self, value, cast_context=None):
        if value == self:
            return self
        raise TypeError(f"Can not cast {value!r} to {self!r}.")

    @classmethod
    def experimental_type_proto(cls):
        """The message of a dtype in a saved function's signature."""
        return message_class("SerializedDType")

    def experimental_as_proto(self):
        """This dtype as a message."""
        return message_class("SerializedDType")(datatype=self._enum)

    @classmethod
    def experimental_from_proto(cls, proto):
        """The dtype that a message describes."""
        return as_dtype(proto.datatype)

    def __eq__(self, other):
        if other is self:
            return True
        if type(other) is DType or other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other):
        return not self.__eq__(other)

    # TF: the hash is the number, so that dictionaries with the numbers of messages as keys are asked with dtypes.
    __hash__ = _Numbered.__hash__

    def __int__(self):
        return self._enum

    def __str__(self):
        return f"<dtype: {self.name!r}>"

    def __repr__(self):
        return f"tf.{self.name}"

    def __reduce__(self):
        return as_dtype, (self.name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _quantized(name, storage):
    return np.dtype([(name, storage)])


float32 = DType("float32", 1, np.float32, "f", np.float32)
float64 = double = DType("float64", 2, np.float64, "f", np.float64)
int32 = DType("int32", 3, np.int32, "i", np.int32)
uint8 = DType("uint8", 4, np.uint8, "u", np.uint8)
int16 = DType("int16", 5, np.int16, "i", np.int16)
int8 = DType("int8", 6, np.int8, "i", np.int8)
string = DType("string", 7, object, "s", np.object_)
complex64 = DType("complex64", 8, np.complex64, "c", np.complex64)
int64 = DType("int64", 9, np.int64, "i", np.int64)
bool = DType("bool", 10, np.bool_, "b", np.bool_)
qint8 = DType("qint8", 11, np.int8, "q", _quantized("qint8", np.int8))
quint8 = DType("quint8", 12, np.uint8, "q", _quantized("quint8", np.uint8))
qint32 = DType("qint32", 13, np.int32, "q", _quantized("qint32", np.int32))
bfloat16 = DType("bfloat16", 14, ml_dtypes.bfloat16, "f", ml_dtypes.bfloat16)
qint16 = DType("qint16", 15, np.int16, "q", _quantized("qint16", np.int16))
quint16 = DType("quint16", 16, np.uint16, "q", _quantized("quint16", np.uint16))
uint16 = DType("uint16", 17, np.uint16, "u", np.uint16)
complex128 = DType("complex128", 18, np.complex128, "c", np.complex128)
float16 = half = DType("float16", 19, np.float16, "f", np.float16)
resource = DType("resource", 20, object, "r")
variant = DType("variant", 21, object, "v")
uint32 = DType("uint32", 22, np.uint32, "u", np.uint32)
uint64 = DType("uint64", 23, np.uint64, "u", np.uint64)
float8_e5m2 = DType("float8_e5m2", 24, ml_dtypes.float8_e5m2, "f", ml_dtypes.float8_e5m2)
float8_e4m3fn = DType("float8_e4m3fn", 25, ml_dtypes.float8_e4m3fn, "f", ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = DType("float8_e4m3fnuz", 26, ml_dtypes.float8_e4m3fnuz, "f", ml_dtypes.float8_e4m3fnuz)
float8_e4m3b11fnuz = DType(
    "float8_e4m3b11fnuz", 27, ml_dtypes.float8_e4m3b11fnuz, "f", ml_dtypes.float8_e4m3b11fnuz
)
float8_e5m2fnuz = DType("float8_e5m2fnuz", 28, ml_dtypes.float8_e5m2fnuz, "f", ml_dtypes.float8_e5m2fnuz)
int4 = DType("int4", 29, ml_dtypes.int4, "i", ml_dtypes.int4)
uint4 = DType("uint4", 30, ml_dtypes.uint4, "u", ml_dtypes.uint4)
int2 = DType("int2", 31, ml_dtypes.int2, "i", ml_dtypes.int2)
uint2 = DType("uint2", 32, ml_dtypes.uint2, "u", ml_dtypes.uint2)
float4_e2m1fn = DType("float4_e2m1fn", 33, ml_dtypes.float4_e2m1fn, "f", ml_dtypes.float4_e2m1fn)

ALL = tuple(value for value in list(globals().values()) if isinstance(value, DType))
_BY_ENUM = {dtype._enum: dtype for dtype in ALL}
_BY_NAME = {dtype.name: dtype for dtype in ALL} | {"double": float64, "float": float32, "half": float16}

# Storage to dtype, for arrays that come from NumPy. Strings are the only dtype NumPy shares with others.
FROM_NUMPY = {dtype._np: dtype for dtype in ALL if dtype._kind not in "qrvs"}
FROM_NUMPY |= {dtype._numpy_type: dtype for dtype in ALL if dtype._kind == "q"}

# What a type attribute of an op may be.
FLOATING = frozenset({float16, bfloat16, float32, float64})
COMPLEX = frozenset({complex64, complex128})
SIGNED = frozenset({int8, int16, int32, int64})
UNSIGNED = frozenset({uint8, uint16, uint32, uint64})
INTEGER = SIGNED | UNSIGNED
REAL = FLOATING | INTEGER
NUMBER = REAL | COMPLEX
QUANTIZED = frozenset({qint8, quint8, qint16, quint16, qint32})
FLOAT8 = frozenset({float8_e5m2, float8_e4m3fn, float8_e4m3fnuz, float8_e4m3b11fnuz, float8_e5m2fnuz})
SMALL_INTEGER = frozenset({int4, uint4, int2, uint2})
BOOL = frozenset({bool})
STRING = frozenset({string})
INDEX = frozenset({int32, int64})
ANY = frozenset(ALL)

# Types whose tensors can have gradients.
DIFFERENTIABLE = FLOATING | COMPLEX | FLOAT8 | {resource, variant}

_PYTHON_TYPES = {float: float32, builtins.bool: bool, object: string, complex: complex128}


def commonest(dtypes) -> DType | None:
    """Of some dtypes the one that most tensors have. To ask for it first is faster than to look it up in a set."""
    return next((dtype for dtype in (float32, int32) if dtype in dtypes), next(iter(dtypes), None))


def as_dtype(type_value) -> DType:
    """The `DType` that a dtype, name, NumPy type or proto enum number stands for.

    >>> tf.as_dtype("float32"), tf.as_dtype(np.int64)
    (tf.float32, tf.int64)

    Raises:
        TypeError: when it stands for none.
    """
    if type(type_value) is DType:
        return type_value
    try:
        dtype = _BY_NAME.get(type_value) or FROM_NUMPY.get(type_value) or _PYTHON_TYPES.get(type_value)
    except TypeError:  # unhashable
        dtype = None
    if dtype is not None:
        return dtype
    if isinstance(type_value, (int, np.integer)) and not isinstance(type_value, builtins.bool):
        if int(type_value) in _BY_ENUM:
            return _BY_ENUM[int(type_value)]
        if int(type_value) - 100 in _BY_ENUM:
            return _ref_dtype(_BY_ENUM[int(type_value) - 100])
    elif isinstance(type_value, str):
        if type_value.endswith("_ref") and type_value[:-4] in _BY_NAME:
            return _ref_dtype(_BY_NAME[type_value[:-4]])
    elif isinstance(type_value, np.dtype) or (
        isinstance(type_value, type) and issubclass(type_value, np.generic)
    ):
        dtype = _from_numpy(np.dtype(type_value))
        if dtype is not None:
            return dtype
    elif isinstance(getattr(type_value, "dtype", None), np.dtype):  # TF: an array, but not a tensor
        return as_dtype(type_value.dtype)
    raise TypeError(f"Cannot convert the argument `type_value`: {_shorten(type_value)} to a TensorFlow DType.")


def _shorten(value):
    text = repr(value)
    return text if len(text) < 200 else text[:200] + "..."


def _from_numpy(storage):
    if storage in FROM_NUMPY:
        return FROM_NUMPY[storage]
    if storage.kind in "OSUT":
        return string
    return FROM_NUMPY.get(storage.newbyteorder("="))


def _ref_dtype(base):
    if base._ref is None:
        # TF: reference types exist only in 1.x graphs; here they are names.
        base._ref = DType(base.name + "_ref", base._enum + 100, base._np, base._kind, base._numpy_type)
    return base._ref


def numpy_array_dtype(array: np.ndarray) -> DType | None:
    """The dtype that an array from NumPy becomes, or None when NumPy has a type that tensors lack."""
    return _from_numpy(array.dtype)


# TF: with the types of references to such tensors.
QUANTIZED_DTYPES = frozenset([*QUANTIZED, *(_dtype._as_ref for _dtype in QUANTIZED)])

PUBLIC = {
    "DType": DType,
    "dtypes.DType": DType,
    "as_dtype": as_dtype,
    "dtypes.as_dtype": as_dtype,
    "newaxis": None,
    "dtypes.QUANTIZED_DTYPES": QUANTIZED_DTYPES,
}
for _dtype in ALL:
    if _dtype in FLOAT8 or _dtype in SMALL_INTEGER or _dtype is float4_e2m1fn:
        PUBLIC[f"experimental.{_dtype.name}"] = PUBLIC[f"dtypes.experimental.{_dtype.name}"] = _dtype
    else:
        PUBLIC[_dtype.name] = PUBLIC[f"dtypes.{_dtype.name}"] = _dtype
PUBLIC |= {"half": half, "dtypes.half": half, "double": double, "dtypes.double": double}
