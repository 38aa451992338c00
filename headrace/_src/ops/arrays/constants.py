"""Making tensors from values: constants, conversion, zeros and ones."""

import math

import numpy as np

from headrace._src.core import device_use, dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.lazy import LazyModule
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import hide_frames
from headrace._src.op.api import api, export
from headrace._src.op.convert import register_tensor_conversion_function, to_tensor
from headrace._src.op.registry import lookup
from headrace._src.ops.arrays.shaping import RESHAPE, check_layout

_accounts = LazyModule("headrace._src.core.accounts")  # for errors
placement = LazyModule("headrace._src.op.placement")  # where there are accelerators

export("register_tensor_conversion_function")(register_tensor_conversion_function)


# What is done with tensors made of Python's numbers alone, while tensors can be weak (`ops/numpy_api/weak_tensors.py`).
when_of_numbers: list = []


@api("constant", dispatch=False, quick=True)
def constant(value, dtype=None, shape=None, name="Const") -> Tensor:
    """A tensor with the given value.

    Args:
        value: a number, string, nested list, NumPy array or tensor.
        dtype: the element type; otherwise int32 for Python integers (int64 for large ones), float32 for floats.
        shape: the shape; a single value fills it, otherwise the number of elements must agree.
        name: a name for the operation.

    >>> tf.constant([1.0, 2.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>

    Raises:
        TypeError: when the dtype cannot hold the value, or the shape does not fit.
        ValueError: when the value is no tensor, e.g. a list that is not rectangular.
    """
    try:
        device_use.in_use = True
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        if isinstance(value, Tensor) and dtype is not None and value.dtype is not dtype:
            raise TypeError(f"Expected tensor {value} with dtype {dtype!r}, but got dtype {value.dtype!r}.")
        if shape is None or isinstance(value, Tensor):
            tensor = to_tensor(value, dtype, name=name)
        else:
            with context.changed(graph=None):  # the value becomes part of a graph when it has its shape
                tensor = to_tensor(value, dtype, name=name)
        if when_of_numbers and dtype is None:
            tensor = when_of_numbers[0](value, tensor)
        if shape is None:
            return tensor if context.mode is None or context.graph is not None else _placed(tensor)
        wanted = tuple(TensorShape(shape).as_list())
        array = getattr(tensor, "_a", None)
        if array is None:
            return RESHAPE(tensor, wanted)
        if array.shape == wanted:
            return _placed(tensor) if context.graph is None else context.graph.constant(tensor, name)
        if array.size == 1:
            try:
                filled = EagerTensor(np.full(wanted, array.reshape(()), array.dtype), tensor.dtype)
            except (MemoryError, ValueError) as error:
                raise errors.resource_exhausted(f"constant: shape {wanted} of {tensor.dtype.name}: {error}") from None
        elif array.size == TensorShape(wanted).num_elements():
            filled = EagerTensor(array.reshape(wanted), tensor.dtype)
        else:
            raise TypeError(
                f"constant: value has {array.size} elements, but shape {wanted} has "
                f"{TensorShape(wanted).num_elements()}."
            )
        return _placed(filled) if context.graph is None else context.graph.constant(filled, name)
    except Exception as error:
        given = {"value": value} | {key: x for key, x in (("dtype", dtype), ("shape", shape)) if x is not None}
        try:
            raise _accounts.told(error, "constant", given)
        except BaseException as known:
            hide_frames(known)
            raise


def _placed(tensor):
    """The tensor on the device that `tf.device` asks for."""
    device = context.device
    if device is None or (isinstance(device, str) and tensor.device == device):
        return tensor
    if context.mode.elsewhere:
        return placement.placed(tensor, device)
    placed = EagerTensor(tensor._a, tensor.dtype)  # the other one may be shared
    placed._device = device
    return placed


@api("convert_to_tensor", dispatch=False, quick=True)
def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None) -> Tensor:
    """`value` as a tensor; a tensor is returned as it is.

    Args:
        value: anything that is or can become a tensor.
        dtype: required dtype.
        dtype_hint: used when `dtype` is None and the value can have it.
        name: accepted for compatibility.

    Raises:
        ValueError, TypeError: when that is not possible.
    """
    try:
        device_use.in_use = True
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        hint = None if dtype_hint is None else dtypes.as_dtype(dtype_hint)
        tensor = to_tensor(value, dtype, hint, name)
        if tensor is not value and type(tensor) is not EagerTensor and isinstance(tensor, Tensor):
            tensor.op.is_operand = False  # the user has it, with the name that it has
        return tensor
    except Exception as error:
        options = (("dtype", dtype), ("dtype_hint", dtype_hint))
        given = {"value": value} | {key: x for key, x in options if x is not None}
        try:
            raise _accounts.told(error, "convert_to_tensor", given)
        except BaseException as known:
            hide_frames(known)
            raise


def _vector(tensor):
    if tensor._a.ndim > 1:
        raise errors.invalid_argument(f"shape must be a vector, got a tensor of shape {tensor._a.shape}.")
    return tensor._a.ravel().tolist()


def known_shape(shape):
    """A shape given as ints, a TensorShape or an eager tensor, as a tuple; None when it is symbolic."""
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
        return tuple(shape.as_list())
    if type(shape) is EagerTensor:
        dims = _vector(shape)
    elif isinstance(shape, (int, np.integer)):
        dims = [int(shape)]
    elif isinstance(shape, (list, tuple)) and all(type(n) is int for n in shape):
        dims = shape
    else:
        # TF: the tensors in a list of sizes are cast, whatever they are.
        has_tensors = isinstance(shape, (list, tuple)) and any(isinstance(n, Tensor) for n in shape)
        tensor = to_tensor(shape, dtypes.int32 if has_tensors else None)
        if type(tensor) is not EagerTensor:
            return None
        dims = _vector(tensor)
        if tensor.dtype._kind not in "iu" and dims:
            raise TypeError(f"shape must be integers, got dtype {tensor.dtype.name}.")
    for n in dims:
        if n < 0:
            raise errors.invalid_argument(f"shape must not have negative dimensions, got {tuple(dims)}.")
    if math.prod(dims) >= 2**63:
        raise errors.invalid_argument(f"shape {tuple(dims)} has more than 2**63 - 1 elements.")
    return tuple(dims)


def _filled(shape, dtype, number, name):
    device_use.in_use = True
    dtype = dtypes.as_dtype(dtype)
    known = known_shape(shape)
    text = b"" if number == 0 else None
    if dtype._kind == "s" and text is None:
        raise TypeError("ones: a string tensor has no ones.")
    if known is None or context.graph is not None:
        fill = text if dtype._kind == "s" else bool(number) if dtype is dtypes.bool else number
        if known is None and isinstance(shape, (list, tuple)):
            shape = to_tensor(shape, dtypes.int32)
        return lookup("Fill")(shape if known is None else list(known), to_tensor(fill, dtype), name=name)
    try:
        if dtype._kind == "s":
            filled = EagerTensor(np.full(known, text, object), dtype)
        else:
            filled = EagerTensor((np.zeros if number == 0 else np.ones)(known, dtype._np), dtype)
        return filled if context.mode is None else _placed(filled)
    except (MemoryError, ValueError) as error:
        raise errors.ResourceExhaustedError(None, None, f"shape {known} of {dtype.name}: {error}") from None


@api("zeros")
def zeros(shape, dtype=dtypes.float32, name=None, layout=None) -> Tensor:
    """A tensor of zeros (empty strings for tf.string).

    >>> tf.zeros((2,))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """
    check_layout(layout)
    return _filled(shape, dtype, 0, "zeros" if name is None else name)


@api("ones")
def ones(shape, dtype=dtypes.float32, name=None, layout=None) -> Tensor:
    """A tensor of ones."""
    check_layout(layout)
    return _filled(shape, dtype, 1, "ones" if name is None else name)
