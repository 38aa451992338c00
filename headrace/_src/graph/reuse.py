"""Computing into the memory of an input that nobody needs any more.

Making a new array of more than some kilobytes takes longer than computing it: the system has to provide the memory,
page by page. So an element-wise step writes its result over an input that is read there for the last time, provided
that nothing else refers to that array.
"""

import sys

import numpy as np

# In bytes: below this, memory comes from the allocator at once.
_SMALLEST = 1 << 16

# Functions that compute each element exactly, so that where the result goes cannot matter.
_EXACT = frozenset(
    [np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.negative, np.absolute, np.sqrt, np.square,
     np.logical_and, np.logical_or, np.logical_not, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert]
)  # fmt: skip


def reusable(kernel, step, dying, given) -> int | None:
    """The position of an input that the result of a step may be written over; None when there is none.

    Args:
        kernel: the step's kernel.
        step: an operation or step with one output.
        dying: for each input, whether it is read here for the last time.
        given: ids of tensors whose values come from outside, where somebody else may hold them.
    """
    if not isinstance(kernel, np.ufunc) or kernel not in _EXACT or step.attrs:
        return None
    inputs, (output,) = step.inputs, step.outputs
    if len(inputs) == 2 and inputs[0] is inputs[1]:
        return None
    shape = output._shape
    size = shape.num_elements()
    if size is not None and size * output.dtype._np.itemsize < _SMALLEST:
        return None
    found = [
        position
        for position, (tensor, is_last) in enumerate(zip(inputs, dying))
        if is_last and tensor.dtype is output.dtype and tensor._shape.is_compatible_with(shape)
    ]
    return min(found, key=lambda position: id(inputs[position]) in given, default=None)


def writing_over(kernel, position):
    """The kernel as a function of a list that holds the only reference to an input, and of the other input if any.

    Args:
        position: of the input in the list among the two.
    """

    def unary(box):
        free = getrefcount(box[0]) <= _FREE
        x = box.pop()
        return kernel(x, out=x) if free and x.nbytes >= _SMALLEST and _is_own(x.flags) else kernel(x)

    def first(box, y):
        free = getrefcount(box[0]) <= _FREE
        x = box.pop()
        if free and x.nbytes >= _SMALLEST and _is_own(x.flags) and _fits(y, x):
            return kernel(x, y, out=x)
        return kernel(x, y)

    def second(box, x):
        free = getrefcount(box[0]) <= _FREE
        y = box.pop()
        if free and y.nbytes >= _SMALLEST and _is_own(y.flags) and _fits(x, y):
            return kernel(x, y, out=y)
        return kernel(x, y)

    return unary if kernel.nin == 1 else second if position else first


def _is_own(flags):
    return flags.owndata and flags.writeable and flags.c_contiguous


def _fits(other, array):
    """Whether broadcasting gives the array's shape, and a new array would have its layout."""
    n = other.ndim
    if n == 0:
        return True
    return n <= array.ndim and other.flags.c_contiguous and other.shape == array.shape[array.ndim - n :]


getrefcount = sys.getrefcount


def _count_in_box():
    box = [np.zeros(1)]
    return getrefcount(box[0])


# What getrefcount says of an array that only a list holds.
_FREE = _count_in_box()
