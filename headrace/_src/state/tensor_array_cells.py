"""How a `tf.TensorArray` works eagerly: a Python list of tensors, changed in place."""

import numpy as np

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.joining import concat, stack, unstack
from headrace._src.ops.tensor_lists.single_elements import TENSOR_LIST_RESERVE, TENSOR_LIST_SET_ITEM
from headrace._src.ops.tensor_lists.whole_lists import TENSOR_LIST_FROM_TENSOR


def as_element(value, dtype):
    """A value as a tensor of an array's dtype."""
    if not isinstance(value, Tensor):
        value = to_tensor(value, None, dtype)  # Python numbers take the array's dtype
    return value


def check_dtype(value, dtype):
    """Refuse a tensor of another dtype."""
    if value.dtype is not dtype:
        raise errors.invalid_argument(
            f"TensorArray dtype is {dtype.name} but Op is trying to write dtype {value.dtype.name}. "
            "Cast value with tf.cast."
        )


def shape_argument(shape: TensorShape):
    """A shape as list ops take it: -1 for what is not known."""
    if shape.rank is None:
        return to_tensor(np.array(-1, np.int32))
    return to_tensor(np.array([-1 if n is None else n for n in shape.as_list()], np.int32))


class Cells:
    """The eager implementation. The tensors are those that were written, so tapes follow them."""

    def __init__(self, dtype, size, dynamic_size, clear_after_read, infer_shape, element_shape):
        if size is None:
            raise ValueError("TensorArray: Size must be declared for TensorArrays when eager execution is enabled.")
        if isinstance(size, EagerTensor):
            size = size._a[()]
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise TypeError(f"TensorArray: size must be an integer, got {size!r}.")
        self.dtype = dtype
        self.dynamic_size = dynamic_size
        self.infer_shape = infer_shape
        self.element_shape = element_shape
        self._clear_after_read = clear_after_read
        self._tensors: list[Tensor | None] = [None] * int(size)
        self._cleared: set[int] = set()

    def read(self, index):
        index = self._index(index, "read", "Reading from")
        if index >= len(self._tensors):
            raise errors.out_of_range(
                f"TensorArray.read: Tried to read from index {index} but array size is: {len(self._tensors)}"
            )
        tensor = self._tensors[index]
        if tensor is None:
            if index in self._cleared:
                raise errors.invalid_argument(
                    f"TensorArray.read: Could not read index {index} twice because it was cleared after a previous "
                    "read (perhaps try setting clear_after_read = false?)"
                )
            tensor = self._filled(index, "read")
        if self._clear_after_read:
            self._tensors[index] = None
            self._cleared.add(index)
        return tensor

    def write(self, index, value):
        index = self._index(index, "write", "Writing to")
        size = len(self._tensors)
        if index >= size and not self.dynamic_size:
            raise errors.out_of_range(
                f"TensorArray.write: Tried to write to index {index} but array is not resizeable and size is: {size}"
            )
        value = as_element(value, self.dtype)
        check_dtype(value, self.dtype)
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"TensorArray.write: Incompatible shape for value ({value.shape}), expected ({self.element_shape})"
            )
        if self.infer_shape:
            self.element_shape = self.element_shape.merge_with(value.shape)
        self._tensors.extend([None] * (index - size + 1))
        self._tensors[index] = value

    def _index(self, index, method, doing):
        """An index given as an integer or a tensor."""
        if isinstance(index, EagerTensor):
            index = index.numpy()
        if not hasattr(index, "__index__"):
            raise TypeError(f"TensorArray.{method}: index must be an integer, got {index!r}.")
        if index < 0:
            raise errors.out_of_range(
                f"TensorArray.{method}: {doing} negative indices (index {index}) is not allowed."
            )
        return int(index)

    def _filled(self, index, method):
        """The tensor at an index; zeros where nothing was written, when the shape is known."""
        tensor = self._tensors[index]
        if tensor is None:
            if not self.element_shape.is_fully_defined():
                raise ValueError(
                    f"TensorArray.{method}: nothing is at index {index}, and there are no zeros of an unknown shape: "
                    f"Cannot convert a partially known TensorShape {self.element_shape} to a Tensor."
                )
            tensor = self._tensors[index] = zeros(self.element_shape, self.dtype)
        return tensor

    def stack(self):
        if not self._tensors:
            known = self.element_shape.is_fully_defined()
            return zeros([0, *(self.element_shape.as_list() if known else [])], self.dtype)
        return stack([self._filled(i, "stack") for i in range(len(self._tensors))])

    def gather(self, indices):
        indices = np.asarray(indices._a if isinstance(indices, EagerTensor) else indices)
        if indices.size and indices.dtype.kind not in "iu":
            raise TypeError(f"TensorArray.gather: indices must be integers, got {indices.dtype}.")
        for index in indices.ravel().tolist():
            if not 0 <= index < len(self._tensors):
                raise IndexError(
                    f"TensorArray.gather: indices must be in [0, {len(self._tensors)}), the array's size, got {index}."
                )
        if not indices.size:
            return zeros([0, *self._known_shape("gather").as_list()], self.dtype)
        return stack([self._filled(i, "gather") for i in indices.ravel().tolist()])

    def _known_shape(self, method):
        if not self.element_shape.is_fully_defined():
            raise ValueError(
                f"TensorArray.{method}: element_shape must be fully known where there are no elements, got "
                f"{self.element_shape}."
            )
        return self.element_shape

    def concat(self):
        if not self._tensors:
            shape = self.element_shape
            if shape.rank in (None, 0) or not shape[1:].is_fully_defined():
                raise ValueError(f"TensorArray.concat: the array is empty, and its element_shape is {shape}.")
            return zeros([0, *shape[1:].as_list()], self.dtype)
        tensors = [self._filled(i, "concat") for i in range(len(self._tensors))]
        for i, tensor in enumerate(tensors):
            if tensor.shape.rank == 0:
                raise errors.invalid_argument(
                    f"TensorArray.concat: Concat saw a scalar shape at index {i} but requires at least vectors."
                )
        return concat(tensors, 0)

    def unstack(self, value):
        value = as_element(value, self.dtype)
        if value.dtype is not self.dtype:
            value = CAST(value, DstT=self.dtype)  # TF: not refused here
        if value.shape.rank == 0:
            raise ValueError("TensorArray.unstack: value must be at least a vector, got a scalar.")
        tensors = unstack(value)
        if len(tensors) > len(self._tensors) and not self.dynamic_size:
            raise ValueError(
                f"TensorArray.unstack: Cannot unstack {len(tensors)} tensors of value into a TensorArray of static "
                f"size {len(self._tensors)}"
            )
        self._tensors = list(tensors)
        self._cleared = set()

    def scatter(self, indices, value):
        indices = np.asarray(indices._a if isinstance(indices, EagerTensor) else indices).ravel().tolist()
        values = unstack(as_element(value, self.dtype))
        if len(values) != len(indices):
            raise errors.invalid_argument(
                f"TensorArray.scatter: value must have one row for each of indices, got {len(values)} rows and "
                f"{len(indices)} indices."
            )
        for index, row in zip(indices, values):
            self.write(index, row)

    def split(self, value, lengths):
        value = as_element(value, self.dtype)
        check_dtype(value, self.dtype)
        lengths = np.asarray(lengths._a if isinstance(lengths, EagerTensor) else lengths)
        if lengths.ndim != 1:
            raise errors.invalid_argument(
                f"TensorArray.split: Expected lengths to be a vector, received shape: {list(lengths.shape)}"
            )
        if value.shape.rank == 0:
            raise errors.invalid_argument(
                "TensorArray.split: Expected value to be at least a vector, but received shape: []"
            )
        sizes = [int(n) for n in lengths]
        if sum(sizes) != value.shape[0] or min(sizes, default=0) < 0:
            raise errors.invalid_argument(
                f"TensorArray.split: Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sum(sizes)} ({sizes}) and value's shape is: {value.shape.as_list()}"
            )
        if len(sizes) != len(self._tensors) and not self.dynamic_size:
            raise errors.invalid_argument(
                f"TensorArray.split: TensorArray's size is not equal to the size of lengths ({len(self._tensors)} vs. "
                f"{len(sizes)}), and the TensorArray is not marked as dynamically resizeable."
            )
        ends = np.cumsum([0, *sizes]).tolist()
        self._tensors = [value[start:end] for start, end in zip(ends, ends[1:])]
        self._cleared = set()

    def size(self):
        return to_tensor(np.array(len(self._tensors), np.int32))

    def close(self):
        self._tensors = []

    def as_flow(self):
        """The same elements as a list of tensors."""
        shape = shape_argument(self.element_shape)
        tensors = self._tensors
        if tensors and all(t is not None and t.shape == tensors[0].shape for t in tensors):
            return TENSOR_LIST_FROM_TENSOR(stack(tensors), shape)
        flow = TENSOR_LIST_RESERVE(shape, len(tensors), element_dtype=self.dtype)
        for i, tensor in enumerate(tensors):
            if tensor is not None:
                flow = TENSOR_LIST_SET_ITEM(flow, i, tensor)
        return flow
