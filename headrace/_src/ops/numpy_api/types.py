"""`tf.experimental.numpy`: its dtypes, and NumPy's promotion of operands."""

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, nest
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import PUBLIC, api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, joining
from headrace._src.ops.numpy_api.promotion import Kind, promoted
from headrace._src.ops.numpy_api.weak_tensors import kind_of

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType

_options = {"prefer_float32": False, "mode": "off"}


# The scalar types, under names that do not hide NumPy's in this file.
bool_type = np.bool_
int8_type = np.int8
int16_type = np.int16
int32_type = np.int32
int64_type = np.int64
uint8_type = np.uint8
uint16_type = np.uint16
uint32_type = np.uint32
uint64_type = np.uint64
float16_type = np.float16
float32_type = np.float32
float64_type = np.float64
complex64_type = np.complex64
complex128_type = np.complex128
int_type, float_type, complex_type, object_type = np.int64, np.float64, np.complex128, np.object_
string_type, unicode_type, inexact_type = np.bytes_, np.str_, np.inexact
PUBLIC |= {
    "experimental.numpy.bool_": bool_type,
    "experimental.numpy.int8": int8_type,
    "experimental.numpy.int16": int16_type,
    "experimental.numpy.int32": int32_type,
    "experimental.numpy.int64": int64_type,
    "experimental.numpy.uint8": uint8_type,
    "experimental.numpy.uint16": uint16_type,
    "experimental.numpy.uint32": uint32_type,
    "experimental.numpy.uint64": uint64_type,
    "experimental.numpy.float16": float16_type,
    "experimental.numpy.float32": float32_type,
    "experimental.numpy.float64": float64_type,
    "experimental.numpy.complex64": complex64_type,
    "experimental.numpy.complex128": complex128_type,
    "experimental.numpy.int_": int_type,
    "experimental.numpy.float_": float_type,
    "experimental.numpy.complex_": complex_type,
    "experimental.numpy.object_": object_type,
    "experimental.numpy.string_": string_type,
    "experimental.numpy.unicode_": unicode_type,
    "experimental.numpy.inexact": inexact_type,
    "experimental.numpy.iinfo": np.iinfo,
    "experimental.numpy.issubdtype": np.issubdtype,
    "experimental.numpy.ndarray": Tensor,
    "experimental.numpy.pi": np.pi,
    "experimental.numpy.e": np.e,
    "experimental.numpy.inf": np.inf,
    "experimental.numpy.newaxis": None,
}
pi, e, inf = np.pi, np.e, np.inf
iinfo, issubdtype = np.iinfo, np.issubdtype


def default_float():
    """float64 as in NumPy, or TensorFlow's float32 in the modes that have weak types."""
    return dtypes.float32 if _has_weak_types() else dtypes.float64


def _default_int():
    return dtypes.int32 if _has_weak_types() else dtypes.int64


def _has_weak_types():
    return _options["mode"] in ("safe", "all")


def set_options(prefer_float32: bool, mode: str):
    _options.update(prefer_float32=prefer_float32, mode=mode)


def as_dtype(dtype):
    """A dtype as NumPy writes it (`float`, `int`, "f4", np.int8 ...) as a `DType`."""
    if isinstance(dtype, dtypes.DType):
        return dtype
    if dtype is float:
        return default_float()
    if dtype is int:
        return _default_int()
    return dtypes.as_dtype(np.dtype(dtype).type if not isinstance(dtype, np.dtype) else dtype)


@api("experimental.numpy.finfo", dispatch=False)
def finfo(dtype) -> Any:
    """The limits of a floating dtype."""
    return np.finfo(as_dtype(dtype).as_numpy_dtype)


def _kind(value):
    """What `np.result_type` needs to know of an operand: a dtype, or a Python number."""
    if isinstance(value, dtypes.DType):
        return np.dtype(value.as_numpy_dtype)
    if isinstance(value, (bool, numbers.Number)) and not isinstance(value, np.generic):
        if _options["prefer_float32"] and isinstance(value, (float, complex)):
            return np.dtype(np.float32 if isinstance(value, float) else np.complex64)
        return value
    if isinstance(value, (type, np.dtype)):
        return np.dtype(value)
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, dtypes.DType):
        return np.dtype(dtype.as_numpy_dtype)
    if isinstance(dtype, np.dtype):
        return dtype
    return np.dtype(as_array(value).dtype.as_numpy_dtype)


@api("experimental.numpy.result_type", dispatch=False)
def result_type(*arrays_and_dtypes) -> "DType":
    """The dtype of a result of these operands, by NumPy's rules or those of the `dtype_conversion_mode`."""
    if _has_weak_types():
        kinds = [_operand_kind(value) for value in arrays_and_dtypes]
        return promoted(kinds, safe=_options["mode"] == "safe").dtype
    return numpy_result_type(*arrays_and_dtypes)


def _operand_kind(value):
    if isinstance(value, dtypes.DType):
        return Kind(value)
    if isinstance(value, (type, np.dtype)):
        return Kind(as_dtype(value))
    return kind_of(value) or Kind(as_array(value).dtype)


def numpy_result_type(*arrays_and_dtypes) -> "DType":
    """The dtype that NumPy gives a result of these operands."""
    return dtypes.as_dtype(np.result_type(*[_kind(value) for value in arrays_and_dtypes]))


@api("experimental.numpy.promote_types", dispatch=False)
def promote_types(type1, type2) -> Any:
    """The smallest dtype that holds both."""
    one, two = (np.dtype(as_dtype(t).as_numpy_dtype) for t in (type1, type2))
    return np.promote_types(one, two)


def _of_python(array, value):
    """An array of Python's values with the dtype that they have in the present mode."""
    if any(isinstance(leaf, (np.ndarray, np.generic)) for leaf in nest.flatten(value)):
        return array
    if array.dtype == np.float64 and (_options["prefer_float32"] or _has_weak_types()):
        return array.astype(np.float32)
    if array.dtype == np.int64 and _has_weak_types() and (np.abs(array) < 2**31).all():
        return array.astype(np.int32)
    return array


def as_array(value, dtype=None):
    """`value` as a tensor, with NumPy's default dtypes for Python values."""
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__"):
        tensor = to_tensor(value)
    elif isinstance(value, (np.ndarray, np.generic)):
        tensor = to_tensor(value)
    elif isinstance(value, TensorShape):
        tensor = to_tensor(np.array(value.as_list(), np.int64))
    else:
        if isinstance(value, (list, tuple)) and any(
            isinstance(leaf, Tensor) or hasattr(type(leaf), "__tf_tensor__") for leaf in nest.flatten(value)
        ):
            parts = [as_array(item) for item in value]
            kind = result_type(*parts)
            tensor = joining.stack([cast(part, kind) for part in parts])
        else:
            tensor = to_tensor(_of_python(np.array(value), value))
    return tensor if wanted is None else cast(tensor, wanted)


def cast(tensor, dtype):
    """The tensor with that dtype."""
    return tensor if tensor.dtype is dtype else casting.cast(tensor, dtype)


def promote(*values):
    """The operands as tensors of the result type."""
    kind = result_type(*values)
    return [cast(as_array(value), kind) for value in values]


def promote_as_numpy(*values):
    """The operands as tensors of NumPy's result type."""
    kind = numpy_result_type(*values)
    return [cast(as_array(value), kind) for value in values]


def as_float(value):
    """As a floating or complex tensor, integers as float64."""
    tensor = as_array(value)
    return tensor if tensor.dtype._kind in "fc" else cast(tensor, default_float())


