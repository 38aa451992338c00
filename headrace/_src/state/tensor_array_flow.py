"""How a `tf.TensorArray` works in graphs: a list of tensors that flows from operation to operation."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.passing import NO_OP
from headrace._src.ops.tensor_lists.single_elements import (
    TENSOR_LIST_GET_ITEM,
    TENSOR_LIST_LENGTH,
    TENSOR_LIST_RESERVE,
    TENSOR_LIST_SET_ITEM,
)
from headrace._src.ops.tensor_lists.whole_lists import (
    TENSOR_LIST_CONCAT_V2,
    TENSOR_LIST_FROM_TENSOR,
    TENSOR_LIST_GATHER,
    TENSOR_LIST_SCATTER_INTO_EXISTING_LIST,
    TENSOR_LIST_SPLIT,
    TENSOR_LIST_STACK,
)
from headrace._src.state.tensor_array_cells import as_element, check_dtype, shape_argument


class SharedShape:
    """What is known about an array and all that come from it by writing.

    Attributes:
        shape: of the elements, as far as it is known.
        resized: whether one of them has been given another number of elements.
    """

    __slots__ = ("resized", "shape")

    def __init__(self, shape):
        self.shape = shape
        self.resized = False


class Flow:
    """The implementation on list ops. Nothing is changed in place: each write makes a new list, the new flow."""

    def __init__(self, dtype, flow, size, dynamic_size, infer_shape, shared):
        self.dtype = dtype
        self.dynamic_size = dynamic_size
        self.infer_shape = infer_shape
        self.shared = shared
        self._size = size if type(size) is int else None  # when it is certain
        if flow is None:
            if size is None:
                raise ValueError("TensorArray: Argument `size` must be provided if argument `flow` is not provided.")
            size = size if isinstance(size, Tensor) else to_tensor(size, dtypes.int32)
            flow = TENSOR_LIST_RESERVE(shape_argument(shared.shape), _int32(size), element_dtype=dtype)
        elif not isinstance(flow, Tensor) or flow.dtype is not dtypes.variant:
            raise TypeError(f"TensorArray: `flow` must be a variant tensor, got {flow!r}.")
        self.flow = flow

    def with_flow(self, flow, size=None):
        """The same array after an operation."""
        return Flow(self.dtype, flow, size, self.dynamic_size, self.infer_shape, self.shared)

    @property
    def element_shape(self) -> TensorShape:
        return self.shared.shape

    def _check_shape(self, shape):
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(
                f"TensorArray: Inconsistent shapes: saw {shape} but expected {self.element_shape} "
                "(and infer_shape=True)"
            )
        if self.infer_shape:
            self.shared.shape = self.element_shape.merge_with(shape)

    def _resized(self, flow, size=None):
        """The array after an operation that may have changed the number of elements."""
        if size is None or size != self._size:
            self.shared.resized = True
        return self.with_flow(flow, size)

    def _element(self, value):
        value = as_element(value, self.dtype)
        check_dtype(value, self.dtype)
        return value

    def read(self, index):
        shape = shape_argument(self.element_shape)
        return TENSOR_LIST_GET_ITEM(self.flow, _int32(index), shape, element_dtype=self.dtype)

    def write(self, index, value):
        value = self._element(value)
        self._check_shape(value.shape)
        flow = TENSOR_LIST_SET_ITEM(
            self.flow, _int32(index), value, resize_if_index_out_of_bounds=bool(self.dynamic_size)
        )
        return self.with_flow(flow, None if self.dynamic_size else self._size)

    def stack(self):
        count = self._size if self._size is not None else -1
        shape = shape_argument(self.element_shape)
        return TENSOR_LIST_STACK(self.flow, shape, element_dtype=self.dtype, num_elements=count)

    def gather(self, indices):
        shape = shape_argument(self.element_shape)
        return TENSOR_LIST_GATHER(self.flow, _int32(indices), shape, element_dtype=self.dtype)

    def concat(self):
        shape = self.element_shape
        if shape.rank is not None and shape.rank > 0:
            shape = TensorShape([None]).concatenate(shape[1:])
        leading = to_tensor(np.zeros(0, np.int64))
        return TENSOR_LIST_CONCAT_V2(self.flow, shape_argument(shape), leading, element_dtype=self.dtype)[0]

    def unstack(self, value):
        value = self._element(value)
        if value.shape.rank == 0:
            raise ValueError("TensorArray.unstack: value must be at least a vector, got a scalar.")
        if value.shape.rank is not None:
            self._check_shape(value.shape[1:])
        flow = TENSOR_LIST_FROM_TENSOR(value, shape_argument(self.element_shape))
        return self._resized(flow, None if value.shape.rank is None else value.shape[0])

    def scatter(self, indices, value):
        value = self._element(value)
        if value.shape.rank is not None:
            self._check_shape(value.shape[1:])
        return self._resized(TENSOR_LIST_SCATTER_INTO_EXISTING_LIST(self.flow, value, _int32(indices)))

    def split(self, value, lengths):
        value = self._element(value)
        lengths = lengths if isinstance(lengths, Tensor) else to_tensor(lengths, dtypes.int64)
        if lengths.dtype is not dtypes.int64:
            lengths = CAST(lengths, DstT=dtypes.int64)
        known = lengths._a if isinstance(lengths, EagerTensor) else lengths._known
        if known is not None and known.ndim == 1 and known.size and value.shape.rank:
            if known.min() == known.max():
                self._check_shape(TensorShape([int(known[0])]).concatenate(value.shape[1:]))
        flow = TENSOR_LIST_SPLIT(value, shape_argument(self.element_shape), lengths)
        return self._resized(flow, None if lengths.shape.rank != 1 else lengths.shape[0])

    def size(self):
        if self._size is not None:
            return to_tensor(np.array(self._size, np.int32))
        return TENSOR_LIST_LENGTH(self.flow)

    def close(self):
        return None if context.graph is None else NO_OP()

    def as_flow(self):
        """The list of tensors."""
        return self.flow


def _int32(value):
    if not isinstance(value, Tensor):
        return to_tensor(value, dtypes.int32)
    return CAST(value, DstT=dtypes.int32) if value.dtype is dtypes.int64 else value
