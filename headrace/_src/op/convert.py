"""From Python values, NumPy arrays and objects with a protocol to tensors, by TensorFlow's dtype rules."""

import numbers

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.dtypes import FROM_NUMPY, DType
from headrace._src.core.lazy import LazyModule
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import register_tensor_converter
from headrace._src.core.tensor import EagerTensor, Tensor

_large_arrays = LazyModule("headrace._src.core.large_arrays")  # many programs have none
_WORTH_ALIGNING = 8192  # bytes, as there

MAX_RANK = 64  # NumPy's limit, and so that of tensors
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1


class _UnfitError(errors.InvalidArgumentError):
    """A value whose dtype cannot be had. It has the name of the class that TensorFlow raises where it converts first.

    TF: where other arguments are looked at first, or the op finds the dtype, it is an InvalidArgumentError.
    """

    def __init__(self, message):
        super().__init__(None, None, message)

    def __reduce__(self):
        return _unfit, (type(self).__name__, self.message, self.__dict__)


class UnfitValueError(TypeError, ValueError, _UnfitError):
    """A Python value that a dtype cannot hold."""

    __init__ = _UnfitError.__init__
    __str__ = _UnfitError.__str__
    __reduce__ = _UnfitError.__reduce__


class UnfitArrayError(ValueError, TypeError, _UnfitError):
    """An array of a dtype that no tensor has, or a tensor of another dtype than is asked for."""

    __init__ = _UnfitError.__init__
    __str__ = _UnfitError.__str__
    __reduce__ = _UnfitError.__reduce__


UnfitValueError.__name__ = UnfitValueError.__qualname__ = "TypeError"
UnfitArrayError.__name__ = UnfitArrayError.__qualname__ = "ValueError"
UnfitValueError.__module__ = UnfitArrayError.__module__ = "builtins"  # as tracebacks show it


def _unfit(name, message, state):
    error = (UnfitValueError if name == "TypeError" else UnfitArrayError)(message)
    error.__dict__.update(state)
    return error


# (base class, conversion function, priority), most urgent first; filled by users.
_conversions: list = []


def _unset(value, dtype):
    raise RuntimeError("How lists become tensors is not registered. Import headrace._src.ops.arrays.joining.")


# `_pack(value, dtype)`: how a list that holds tensors becomes one tensor.
_pack = _unset


def register_pack(function):
    """Let `function(value, dtype)` make one tensor of a list that holds tensors; ops/arrays/joining.py registers it."""
    global _pack
    _pack = function


def register_tensor_conversion_function(base_type, conversion_func, priority=100) -> None:
    """Let values of `base_type` be used as tensors.

    Args:
        base_type: a class or a tuple of classes.
        conversion_func: `(value, dtype=None, name=None, as_ref=False)` to a tensor or NotImplemented.
        priority: functions with smaller numbers are tried first.
    """
    classes = base_type if isinstance(base_type, tuple) else (base_type,)
    for cls in classes:
        if not isinstance(cls, type):
            raise TypeError(f"base_type must be a class or a tuple of classes, got {base_type!r}.")
        if issubclass(cls, (int, float, complex, str, bytes, np.generic, np.ndarray)):
            raise TypeError(f"Cannot register conversions for Python numeric types and NumPy scalars: {cls}.")
    if not callable(conversion_func):
        raise TypeError(f"conversion_func must be callable, got {conversion_func!r}.")
    _conversions.append((base_type, conversion_func, priority))
    _conversions.sort(key=lambda entry: entry[2])


def to_tensor(value, dtype: DType | None = None, hint: DType | None = None, name=None):
    """`value` as a tensor; `dtype` is demanded, `hint` is used when the value allows it."""
    kind = type(value)
    if kind is EagerTensor or isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise UnfitArrayError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: "
                f"{_shorten(value)}"
            )
        return value
    protocol = getattr(kind, "__tf_tensor__", None)
    if protocol is not None:
        wanted = dtype
        if wanted is None and hint is not None and getattr(value, "dtype", None) == hint:
            wanted = hint
        result = protocol(value, dtype=wanted, name=name)
        if result is not NotImplemented:
            if not isinstance(result, Tensor):
                raise ValueError(f"__tf_tensor__ of {kind.__name__} returned {_shorten(result)}, not a tensor.")
            return to_tensor(result, dtype)
    for base, function, _ in _conversions:
        if isinstance(value, base):
            result = _registered_conversion(function, value, dtype, hint, name)
            if result is not NotImplemented:
                return result
    if isinstance(value, CompositeTensor):
        # The message leaves out the value, which takes long to write: functions that take composites catch this error.
        raise errors.CompositeConversionError(
            f"A {kind.__name__} cannot become a dense tensor by itself; {kind._instead_of_dense}."
        )
    if dtype is not None or hint is None:
        return _constant(value, dtype, name)
    if isinstance(value, (np.ndarray, np.generic)) and hint._kind != "s":
        own_dtype = dtypes.numpy_array_dtype(value)
        if own_dtype is not None and own_dtype._kind != "s":
            return _constant(value, hint)
    try:
        return _constant(value, hint)
    except (TypeError, ValueError):
        return _constant(value, None)


def _registered_conversion(function, value, dtype, hint, name):
    result = NotImplemented
    if dtype is None and hint is not None:
        try:
            result = function(value, dtype=hint, name=name, as_ref=False)
        except (TypeError, ValueError):
            pass
    if result is NotImplemented:
        result = function(value, dtype=dtype, name=name, as_ref=False)
    if result is not NotImplemented:
        if not isinstance(result, Tensor):
            raise RuntimeError(f"Tensor conversion function {function!r} returned {result!r}, not a tensor.")
        if dtype is not None and result.dtype != dtype:
            raise RuntimeError(
                f"Tensor conversion function {function!r} returned dtype {result.dtype.name}, asked {dtype.name}."
            )
    return result


def _constant(value, dtype, name=None):
    if isinstance(value, (list, tuple)) and _holds_tensor(value):
        return _pack(value, dtype)
    tensor = eager_constant(value, dtype)
    graph = context.graph
    return tensor if graph is None else graph.constant(tensor, name)


def _holds_tensor(sequence, depth=1):
    if depth > MAX_RANK:
        raise ValueError(f"Can't convert a Python sequence that is nested more than {MAX_RANK} levels deep to Tensor.")
    for item in sequence:
        if isinstance(item, (list, tuple)):
            if _holds_tensor(item, depth + 1):
                return True
        elif isinstance(item, Tensor) or hasattr(type(item), "__tf_tensor__"):
            return True
    return False


def eager_constant(value, dtype: DType | None = None) -> EagerTensor:
    """A Python value or NumPy array as an eager tensor, copying what the caller could change.

    Raises:
        TypeError: for values that the dtype cannot hold.
        ValueError: for values that cannot be a tensor.
    """
    kind = type(value)
    if kind is float:
        if dtype is None:
            if value - value == 0 and not -3.4028235677973366e38 < value < 3.4028235677973366e38:
                raise ValueError(f"{value} is out of range for float32; pass dtype=tf.float64.")
            return EagerTensor(np.array(value, np.float32), dtypes.float32)
        if dtype._kind in "fc":
            return EagerTensor(context.run_quietly(np.array, value, dtype._np), dtype)
        raise _cannot(value, dtype)
    if kind is int:
        return _from_int(value, dtype)
    if kind is np.ndarray or isinstance(value, (np.ndarray, np.generic)):
        return from_numpy(np.asarray(value), dtype)
    if kind is EagerTensor:
        return to_tensor(value, dtype)
    return _from_python(value, dtype)


_numbers: dict[tuple, EagerTensor] = {}


def eager_number(number, dtype: DType) -> EagerTensor | None:
    """A Python float or int as an eager tensor of a given dtype, kept for the next time; None in less simple cases.

    Only for inputs of ops: tensors that users see must be objects of their own.
    """
    mode = context.mode
    if mode is not None and mode.graph is not None:
        return None
    if dtype._kind != "f" and not (dtype in dtypes.INDEX and type(number) is int):
        return None
    tensor = _numbers.get((number, dtype._enum))
    if tensor is None:
        if dtype._kind != "f" and not _INT32_MIN <= number <= _INT32_MAX:
            return None
        tensor = EagerTensor(context.run_quietly(np.array, number, dtype._np), dtype)
        if number:  # 0.0 and -0.0 would be one key
            if len(_numbers) > 4096:
                _numbers.clear()
            _numbers[number, dtype._enum] = tensor
    return tensor


_int_vectors: dict[tuple, EagerTensor] = {}


def int_vector(numbers):
    """A sequence of ints (a shape, axes) as an int32 tensor, kept for the next time; None when it is not that simple.

    Only for inputs of ops: tensors that users see must be objects of their own.
    """
    key = tuple(numbers)
    for number in key:
        if type(number) is not int or not -2147483648 <= number <= 2147483647:
            return None
    vector = _int_vectors.get(key)
    if vector is None:
        if len(_int_vectors) > 4096:
            _int_vectors.clear()
        vector = _int_vectors[key] = EagerTensor(np.array(key, np.int32), dtypes.int32)
    return vector


def _from_int(value, dtype):
    if dtype is None:
        if _INT32_MIN <= value <= _INT32_MAX:
            return EagerTensor(np.array(value, np.int32), dtypes.int32)
        if -(2**63) <= value < 2**63:
            return EagerTensor(np.array(value, np.int64), dtypes.int64)
        raise ValueError(f"{value} is out of range for int64.")
    if not -(2**63) <= value < 2**64:
        raise ValueError(f"{value} is out of range for {dtype.name}.")
    if dtype._kind in "fc":
        return EagerTensor(context.run_quietly(np.array, value, dtype._np), dtype)
    if dtype._kind in "iuq":
        # TF: a Python integer wraps around in a narrow dtype.
        wide = np.array(value, np.int64 if value < 2**63 else np.uint64)
        return EagerTensor(wide.astype(dtype._np), dtype)
    raise _cannot(value, dtype)


def from_numpy(array: np.ndarray, dtype: DType | None = None) -> EagerTensor:
    """A tensor with a copy of the array, cast when a dtype is given."""
    own_dtype = FROM_NUMPY.get(array.dtype) or dtypes.numpy_array_dtype(array)
    if own_dtype is None:
        raise UnfitArrayError(f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: {array.dtype}).")
    if own_dtype._kind == "s":
        if dtype is not None and dtype._kind in "rv":
            return EagerTensor(array.copy(), dtype)
        if dtype is not None and dtype._kind != "s":
            if array.dtype == object and array.size and not _is_text(array.flat[0]):
                plain = np.array(array.tolist())
                if plain.dtype != object:
                    return from_numpy(plain, dtype)
            raise _cannot(array, dtype)
        return EagerTensor(_bytes_array(array), dtypes.string)
    if dtype is None or dtype is own_dtype:
        if own_dtype._kind == "q":
            array = array.view(own_dtype._np)
        if array.nbytes >= _WORTH_ALIGNING:
            return EagerTensor(_large_arrays.aligned_copy(array, own_dtype._np), own_dtype)
        return EagerTensor(np.array(array, dtype=own_dtype._np, order="C"), own_dtype)
    if dtype._kind in "srv":
        raise _cannot(array, dtype)
    return EagerTensor(context.run_quietly(array.astype, dtype._np, order="C"), dtype)


def _is_text(value):
    return isinstance(value, (str, bytes))


def _as_bytes(value):
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, str):
        return str(value).encode("utf-8")
    raise ValueError(
        f"Failed to convert a NumPy array to a Tensor (Unsupported object type {type(value).__name__})."
    )


def _bytes_array(array):
    flat = np.empty(array.size, object)
    flat[:] = [_as_bytes(item) for item in array.ravel().tolist()]
    return flat.reshape(array.shape)


def _from_python(value, dtype):
    if value is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (NoneType) to a Tensor.")
    if isinstance(value, (str, bytes)):
        if dtype is not None and dtype._kind != "s":
            raise _cannot(value, dtype)
        array = np.empty((), object)
        array[()] = _as_bytes(value)
        return EagerTensor(array, dtypes.string)
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        return _from_list(value.as_list(), dtype or dtypes.int32)
    if isinstance(value, (bool, numbers.Number)):
        return _from_list(value, dtype)
    if isinstance(value, (list, tuple, range, memoryview)):
        return _from_list(value, dtype)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return from_numpy(np.asarray(value), dtype)
    if hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (dict, set)):
        try:
            items = [value[i] for i in range(len(value))]
        except LookupError as error:
            raise ValueError(
                f"Can't convert a {type(value).__name__} to a Tensor: it has no items 0 to {len(value) - 1} "
                f"({type(error).__name__}: {error})."
            ) from error
        return _from_list(items, dtype)
    raise ValueError(
        f"Attempt to convert a value ({_shorten(value)}) with an unsupported type ({type(value)}) to a Tensor."
    )


def _first_leaf(value):
    for _ in range(MAX_RANK):  # a list may hold itself
        if not isinstance(value, (list, tuple, range, memoryview)):
            return value
        if not len(value):
            return None
        value = value[0]
    return value


def _from_list(value, dtype):
    """Numbers, or nested sequences of numbers or strings."""
    if isinstance(value, memoryview):
        value = value.tolist()
    leaf = _first_leaf(value)
    if isinstance(leaf, (str, bytes)):
        if dtype is not None and dtype._kind != "s":
            raise _cannot(value, dtype)
        return EagerTensor(_string_array(value), dtypes.string)
    try:
        array = np.array(value)
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, OverflowError):
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
        if _contains_none(value):
            raise ValueError(
                f"Attempt to convert a value ({_shorten(value)}) that holds None to a Tensor."
            ) from None
        raise ValueError(
            f"Can't convert non-rectangular Python sequence to Tensor: {_shorten(value)}"
        ) from None
    kind = array.dtype.kind
    if array.size == 0 and leaf is None:
        return EagerTensor(array.astype((dtype or dtypes.float32)._np), dtype or dtypes.float32)
    if kind in "OUS":
        raise _mixed(value)
    own_dtype = dtypes.numpy_array_dtype(array)
    if own_dtype is None:
        raise ValueError(
            f"Attempt to convert a value ({_shorten(value)}) with an unsupported type "
            f"({type(leaf)}) to a Tensor."
        )
    if dtype is not None:
        if dtype._kind in "srv" or not _holds(dtype, own_dtype):
            raise _cannot(value, dtype)
        return EagerTensor(context.run_quietly(array.astype, dtype._np), dtype)
    if isinstance(leaf, np.ndarray):
        return EagerTensor(array, own_dtype)
    if isinstance(leaf, np.floating):
        # TF: NumPy's floats in a list keep their dtype, its integers count as Python's.
        leaf_dtype = dtypes.numpy_array_dtype(leaf)
        return EagerTensor(context.run_quietly(array.astype, leaf_dtype._np), leaf_dtype)
    if isinstance(leaf, bool) and kind != "b":
        raise _mixed(value)
    if kind == "f" and own_dtype is dtypes.float64:
        return EagerTensor(context.run_quietly(array.astype, np.float32), dtypes.float32)
    if own_dtype is dtypes.int64:
        narrow = array.astype(np.int32)
        if np.array_equal(narrow, array):
            return EagerTensor(narrow, dtypes.int32)
    if own_dtype is dtypes.uint64:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    return EagerTensor(array, own_dtype)


def _holds(dtype, own_dtype):
    """Whether Python values that are `own_dtype` by themselves may become `dtype` without saying so."""
    if own_dtype._kind == "b":
        return True
    if own_dtype._kind in "iu":
        return dtype._kind in "iufcq"
    if own_dtype._kind == "f":
        return dtype._kind in "fc"
    return dtype._kind == "c"


def _string_array(value):
    shape, level = [], value
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        level = level[0] if level else None
    leaves = []

    def collect(part, depth):
        if depth == len(shape):
            if not isinstance(part, (str, bytes)):
                raise _mixed(value)
            leaves.append(_as_bytes(part))
            return
        if not isinstance(part, (list, tuple)) or len(part) != shape[depth]:
            raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {_shorten(value)}")
        for item in part:
            collect(item, depth + 1)

    collect(value, 0)
    flat = np.empty(len(leaves), object)
    flat[:] = leaves
    return flat.reshape(shape)


def _contains_none(value):
    if isinstance(value, (list, tuple)):
        return any(_contains_none(item) for item in value)
    return value is None


def _shorten(value):
    try:
        text = repr(value)
    except Exception:  # making the message must not raise an error of its own
        text = f"<{type(value).__name__} object>"
    return text if len(text) < 200 else text[:200] + "..."


def _mixed(value):
    return ValueError(f"Can't convert Python sequence with mixed types to Tensor: {_shorten(value)}")


def _cannot(value, dtype):
    return UnfitValueError(f"Cannot convert {_shorten(value)} to EagerTensor of dtype {dtype.name}")


register_tensor_converter(to_tensor)
