"""Ops of the stacks and TensorArrays of 1.x, for graphs that TensorFlow wrote."""

import numpy as np

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN, same_as_input
from headrace._src.state.former_storage import FormerTensorArray, StackStorage

_FLOW = np.float32(0)


def _no_gradient(node, *dys):
    raise LookupError(
        f"No gradient is defined for the operation {node.op.name}: it is part of a 1.x graph that was loaded. Take "
        "gradients before the graph is written, or write it with control flow of 2.x."
    )


def _op(name, text, infer, kernel):
    return Op(
        name,
        text,
        infer=infer,
        kernel=kernel,
        lower=None,  # these live on the host
        stateful=True,
        grad=_no_gradient,
    )


def _held(kind, op, handle):
    storage = handle[()] if handle.ndim == 0 else None
    if not isinstance(storage, kind):
        raise errors.invalid_argument(f"{op}: handle is not that of what the op is about.")
    return storage


# Stacks.


def _push(handle, elem, swap_memory):
    stack = _held(StackStorage, "StackPushV2", handle)
    stack.push(elem)
    return elem


STACK = _op(
    "StackV2", "max_size: int32, *, elem_type: type, stack_name: string = '' -> handle: resource",
    lambda max_size, elem_type, stack_name: SCALAR,
    lambda max_size, elem_type, stack_name: StackStorage(elem_type, int(max_size)),
)  # fmt: skip
STACK_PUSH = _op(
    "StackPushV2", "handle: resource, elem: T, *, swap_memory: bool = False -> output: T",
    lambda handle, elem, swap_memory: same_as_input(elem), _push,
)  # fmt: skip
STACK_POP = _op(
    "StackPopV2", "handle: resource, *, elem_type: type -> elem: elem_type", lambda handle, elem_type: UNKNOWN,
    lambda handle, elem_type: _held(StackStorage, "StackPopV2", handle).pop(),
)  # fmt: skip
STACK_CLOSE = _op("StackCloseV2", "handle: resource -> ", lambda handle: (), lambda handle: None)


# TensorArrays. `flow` orders what is done with an array; its value is of no importance.


def _array(op, handle):
    return _held(FormerTensorArray, op, handle)


def _new(size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes, tensor_array_name):
    array = FormerTensorArray(
        dtype, int(size), element_shape, dynamic_size, clear_after_read, name=_text(tensor_array_name)
    )
    return array, _FLOW


def _text(name):
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


def _new_gradient(handle, flow_in, source):
    return _array("TensorArrayGradV3", handle).gradient(_text(source)), _FLOW


def _new_shaped_gradient(handle, flow_in, shape_to_prepend, source):
    array = _array("TensorArrayGradWithShape", handle)
    return array.gradient(_text(source), [None if n < 0 else int(n) for n in shape_to_prepend]), _FLOW


def _write(handle, index, value, flow_in):
    _array("TensorArrayWriteV3", handle).write(int(index), value)
    return _FLOW


def _scatter(handle, indices, value, flow_in):
    array = _array("TensorArrayScatterV3", handle)
    if len(indices) != len(value):
        raise errors.invalid_argument(
            f"TensorArrayScatterV3: there are {len(indices)} indices, and {len(value)} elements in value."
        )
    for index, element in zip(indices, value):
        array.write(int(index), np.asarray(element))
    return _FLOW


def _split(handle, value, lengths, flow_in):
    array = _array("TensorArraySplitV3", handle)
    if int(lengths.sum()) != len(value):
        raise errors.invalid_argument(
            f"TensorArraySplitV3: the lengths are {int(lengths.sum())} together, the value has {len(value)} rows."
        )
    ends = np.cumsum(lengths)
    for i, (length, end) in enumerate(zip(lengths, ends)):
        array.write(i, value[int(end - length) : int(end)])
    return _FLOW


def _concat(handle, flow_in, dtype, element_shape_except0):
    array = _array("TensorArrayConcatV3", handle)
    parts = [array.read(i) for i in range(len(array))]
    if any(part.ndim == 0 for part in parts):
        raise errors.invalid_argument("TensorArrayConcatV3: elements must have at least one dimension.")
    if not parts:
        rest = TensorShape(element_shape_except0)
        dims = [0, *(n or 0 for n in rest.as_list())] if rest.rank is not None else [0]
        return np.zeros(dims, dtype._np), np.zeros([0], np.int64)
    return np.concatenate(parts), np.array([len(part) for part in parts], np.int64)


def _rows(shape):
    """A vector of unknown length, of what has this shape."""
    return TensorShape([None]).concatenate(TensorShape(shape))


_USES = "handle: resource, "
TENSOR_ARRAY = _op(
    "TensorArrayV3",
    "size: int32, *, dtype: type, element_shape: shape = None, dynamic_size: bool = False, "
    "clear_after_read: bool = True, identical_element_shapes: bool = False, tensor_array_name: string = '' "
    "-> handle: resource, flow: float32",
    lambda size, **attrs: (TensorShape([]), TensorShape([])), _new,
)  # fmt: skip
TENSOR_ARRAY_GRAD = _op(
    "TensorArrayGradV3", _USES + "flow_in: float32, *, source: string -> grad_handle: resource, flow_out: float32",
    lambda *inputs, **attrs: (TensorShape([]), TensorShape([])), _new_gradient,
)  # fmt: skip
TENSOR_ARRAY_GRAD_WITH_SHAPE = _op(
    "TensorArrayGradWithShape",
    _USES + "flow_in: float32, shape_to_prepend: int32, *, source: string -> grad_handle: resource, flow_out: float32",
    lambda *inputs, **attrs: (TensorShape([]), TensorShape([])), _new_shaped_gradient,
)  # fmt: skip
TENSOR_ARRAY_WRITE = _op(
    "TensorArrayWriteV3", _USES + "index: int32, value: T, flow_in: float32 -> flow_out: float32",
    lambda *inputs: SCALAR, _write,
)  # fmt: skip
TENSOR_ARRAY_READ = _op(
    "TensorArrayReadV3", _USES + "index: int32, flow_in: float32, *, dtype: type -> value: dtype",
    lambda *inputs, dtype: UNKNOWN,
    lambda handle, index, flow_in, dtype: _array("TensorArrayReadV3", handle).read(int(index)),
)  # fmt: skip
TENSOR_ARRAY_GATHER = _op(
    "TensorArrayGatherV3",
    _USES + "indices: int32, flow_in: float32, *, dtype: type, element_shape: shape = None -> value: dtype",
    lambda handle, indices, flow_in, dtype, element_shape: _rows(element_shape),
    lambda handle, indices, flow_in, dtype, element_shape: _array("TensorArrayGatherV3", handle).gather(
        indices, element_shape
    ),
)  # fmt: skip
TENSOR_ARRAY_SCATTER = _op(
    "TensorArrayScatterV3", _USES + "indices: int32, value: T, flow_in: float32 -> flow_out: float32",
    lambda *inputs: SCALAR, _scatter,
)  # fmt: skip
TENSOR_ARRAY_CONCAT = _op(
    "TensorArrayConcatV3",
    _USES + "flow_in: float32, *, dtype: type, element_shape_except0: shape = None -> value: dtype, lengths: int64",
    lambda handle, flow_in, dtype, element_shape_except0: (_rows(element_shape_except0), TensorShape([None])), _concat,
)  # fmt: skip
TENSOR_ARRAY_SPLIT = _op(
    "TensorArraySplitV3", _USES + "value: T, lengths: int64, flow_in: float32 -> flow_out: float32",
    lambda *inputs: SCALAR, _split,
)  # fmt: skip
TENSOR_ARRAY_SIZE = _op(
    "TensorArraySizeV3", _USES + "flow_in: float32 -> size: int32", lambda *inputs: SCALAR,
    lambda handle, flow_in: np.int32(len(_array("TensorArraySizeV3", handle))),
)  # fmt: skip
TENSOR_ARRAY_CLOSE = _op("TensorArrayCloseV3", "handle: resource -> ", lambda handle: (), lambda handle: None)
