"""`tf.make_tensor_proto` and `tf.make_ndarray`: tensors as protocol buffers."""

from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.formats.tensor_protos import array_to_proto, proto_to_array
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor


@api("make_tensor_proto", dispatch=False, told=True)
def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False) -> Any:
    """A `TensorProto` of values.

    Args:
        values: numbers, strings, lists of them, or an array.
        dtype: of the tensor; by default that of the values.
        shape: of the tensor; by default that of the values.
        verify_shape: whether values of another shape are refused.
        allow_broadcast: whether one value may stand for all of the shape.

    Raises:
        TypeError: the values do not fit the dtype, or the shape with `verify_shape`.
        ValueError: there are more or fewer values than the shape has.

    >>> tf.make_ndarray(tf.make_tensor_proto([1, 2], dtype=tf.float32)).tolist()
    [1.0, 2.0]
    """
    if allow_broadcast and verify_shape:
        raise ValueError("make_tensor_proto: allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, Tensor) and not isinstance(values, EagerTensor):
        raise TypeError("List of Tensors when single Tensor expected: make_tensor_proto takes values, got a tensor of "
                        "a graph, which has none.")
    with context.changed(graph=None):  # a constant of the current graph would be of no use
        tensor = to_tensor(values, None if dtype is None else dtypes.as_dtype(dtype))
    array = tensor._a
    if shape is not None:
        if isinstance(shape, (set, frozenset)):
            raise TypeError(f"make_tensor_proto: shape must be a list of integers, got {shape!r}.")
        wanted = tuple(TensorShape(shape).as_list())
        if verify_shape and wanted != array.shape:
            raise TypeError(f"make_tensor_proto: expected shape {list(wanted)}, got {list(array.shape)}.")
        if array.size == 1 and (allow_broadcast or int(np.prod(wanted)) == 1):
            array = np.broadcast_to(array.reshape(()), wanted)
        elif int(np.prod(wanted)) != array.size:
            raise ValueError(f"make_tensor_proto: {array.size} values do not fill the shape {list(wanted)}.")
        array = array.reshape(wanted)
    return array_to_proto(array, tensor.dtype)


@api("make_ndarray", dispatch=False)
def make_ndarray(tensor) -> np.ndarray:
    """The NumPy array of a `TensorProto`.

    Raises:
        TypeError: it is of a dtype that has no array.
    """
    if dtypes.as_dtype(tensor.dtype)._kind in "rv":
        raise TypeError(f"make_ndarray: unsupported tensor type {dtypes.as_dtype(tensor.dtype).name}.")
    return proto_to_array(tensor)[0]
