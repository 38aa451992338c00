"""What the stacks and TensorArrays of 1.x graphs hold. In functions of 2.x, lists in tensors are in their place."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape


class StackStorage:
    """A stack, as TensorFlow's gradients of loops of 1.x keep what they need of each iteration."""

    def __init__(self, elem_type, max_size):
        self.dtype = elem_type
        self._limit = max_size
        self._elements: list = []

    def push(self, element):
        if self._limit >= 0 and len(self._elements) >= self._limit:
            raise errors.invalid_argument(f"StackPushV2: the stack is full, it holds {self._limit} elements.")
        self._elements.append(element)

    def pop(self):
        if not self._elements:
            raise errors.invalid_argument("StackPopV2: the stack is empty.")
        return self._elements.pop()


class FormerTensorArray:
    """A TensorArray of 1.x: a resource, not a value.

    Args:
        dtype: of the elements.
        size: how many there are.
        shape: what is known of the shape of elements.
        grows: writing behind the end makes it larger.
        clears: an element can be read once.
        adds: writing again adds; so gradients are summed.
        name: for messages.
    """

    def __init__(self, dtype, size, shape, grows=False, clears=True, adds=False, name=""):
        if size < 0:
            raise errors.invalid_argument(f"TensorArrayV3: size must be >= 0, got {size}.")
        self.dtype: dtypes.DType = dtype
        self.shape = TensorShape(shape)
        self._grows, self._clears, self._adds, self._name = grows, clears, adds, name
        self._elements: list = [None] * size
        self._was_read = [False] * size
        self._gradients: dict[str, FormerTensorArray] = {}

    def __len__(self):
        return len(self._elements)

    def gradient(self, source, prepended=()) -> "FormerTensorArray":
        """The array of gradients that the operations of `source` share."""
        if source not in self._gradients:
            shape = TensorShape(prepended).concatenate(self.shape)
            self._gradients[source] = FormerTensorArray(
                self.dtype, len(self), shape, grows=self._grows, clears=False, adds=True, name=f"{self._name}@{source}"
            )
        return self._gradients[source]

    def write(self, index, value):
        if index < 0 or (index >= len(self) and not self._grows):
            raise errors.invalid_argument(
                f"TensorArray {self._name}: Tried to write to index {index} but array is not resizeable and size is: "
                f"{len(self)}"
            )
        if not self.shape.is_compatible_with(value.shape):
            raise errors.invalid_argument(
                f"TensorArray {self._name}: element {index} must have shape {self.shape}, got {list(value.shape)}."
            )
        missing = index + 1 - len(self)
        self._elements += [None] * missing
        self._was_read += [False] * missing
        before = self._elements[index]
        if before is None:
            self._elements[index] = value
        elif self._adds:
            self._elements[index] = before + value
        else:
            raise errors.invalid_argument(
                f"TensorArray {self._name}: Could not write to TensorArray index {index} because it has already been "
                "written to."
            )

    def read(self, index):
        if not 0 <= index < len(self):
            raise errors.invalid_argument(
                f"TensorArray {self._name}: Tried to read from index {index} but array size is: {len(self)}"
            )
        if self._was_read[index]:
            raise errors.invalid_argument(
                f"TensorArray {self._name}: Could not read index {index} twice because it was cleared after a previous "
                "read (perhaps try setting clear_after_read = false?)."
            )
        value = self._elements[index]
        if value is None:
            value = self._never_written(index)
        if self._clears:
            self._elements[index], self._was_read[index] = None, True
        return value

    def _never_written(self, index):
        """TF: zeros, if the shape is known."""
        shape = self.shape
        if not shape.is_fully_defined():
            written = {x.shape for x in self._elements if x is not None}
            if not self._adds or len(written) != 1:
                raise errors.invalid_argument(
                    f"TensorArray {self._name}: Could not read index {index}: it was never written, and the shape of "
                    f"elements, {self.shape}, is not known."
                )
            shape = TensorShape(written.pop())
        return np.zeros(shape.as_list(), self.dtype._np)

    def gather(self, indices, shape):
        values = [self.read(int(i)) for i in indices]
        if values:
            return np.stack(values)
        known = self.shape.merge_with(TensorShape(shape))
        return np.zeros([0, *(n or 0 for n in known.as_list())] if known.rank is not None else [0], self.dtype._np)
