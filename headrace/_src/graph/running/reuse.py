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
EXACT = frozenset(
    [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.negative, np.absolute, np.sqrt, np.square,
     np.logical_and, np.logical_or, np.logical_not, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert]
)  # fmt: skip


def reusable(kernel, step, dying, given):
    """How the result of a step may be written over one of its inputs; None when it may not.

    Args:
        kernel: the step's kernel.
        step: an operation or step with one output.
        dying: for each input, whether it is read here for the last time.
        given: ids of tensors whose values come from outside, where other code may hold them.

    Returns:
        The position of the input, and what to call instead of the kernel: a function of a list that holds the only
        reference to that input, and of the other input if there is another one.
    """
    inputs, (output,) = step.inputs, step.outputs
    size = output._shape.num_elements()
    if step.attrs or (size is not None and size * output.dtype._np.itemsize < _SMALLEST):
        return None
    function = function_of(kernel, step)
    if function not in EXACT:
        return None
    found = [
        position
        for position, (tensor, is_last) in enumerate(zip(inputs, dying))
        if is_last and tensor.dtype is output.dtype and tensor._shape.is_compatible_with(output._shape)
    ]
    if not found:
        return None
    position = min(found, key=lambda position: id(inputs[position]) in given)
    return position, _writing_over(function, position, len(inputs) == 2 and inputs[0] is inputs[1])


def function_of(kernel, step):
    """NumPy's function that a kernel is, or is for such inputs."""
    record = step.record
    if record.ufunc is not None and step.inputs[0].dtype._kind == "f":
        # Unless the kernel was replaced.
        return record.ufunc if getattr(kernel, "__module__", None) == record.module else None
    return kernel if isinstance(kernel, np.ufunc) else None


def _writing_over(function, position, same):
    """The function, with the result going over the array in a list when nothing else refers to it."""

    def unary(box):
        free = getrefcount(box[0]) <= _FREE
        x = box.pop()
        return function(x, out=x) if free and x.nbytes >= _SMALLEST and _is_own(x) else function(x)

    def twice(box):
        free = getrefcount(box[0]) <= _FREE
        x = box.pop()
        return function(x, x, out=x) if free and x.nbytes >= _SMALLEST and _is_own(x) else function(x, x)

    def first(box, y):
        free = getrefcount(box[0]) <= _FREE
        x = box.pop()
        if free and x.nbytes >= _SMALLEST and _is_own(x) and _fits(y, x):
            return function(x, y, out=x)
        return function(x, y)

    def second(box, x):
        free = getrefcount(box[0]) <= _FREE
        y = box.pop()
        if free and y.nbytes >= _SMALLEST and _is_own(y) and _fits(x, y):
            return function(x, y, out=y)
        return function(x, y)

    return twice if same else unary if function.nin == 1 else second if position else first


def _is_own(array):
    """Whether an array's memory is its own, or that of an array of the same size which only it refers to."""
    flags = array.flags
    if not (flags.writeable and flags.c_contiguous):
        return False
    if flags.owndata:
        return True
    base = array.base
    if type(base) is not np.ndarray or base.nbytes != array.nbytes or not base.flags.owndata:
        return False
    return getrefcount(base) <= _ONLY_BASE


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


def _count_of_base():
    view = np.zeros(2).reshape(1, 2)
    base = view.base
    return getrefcount(base)


# What getrefcount says of an array that only a list holds, and of one that only a view and a variable refer to.
_FREE, _ONLY_BASE = _count_in_box(), _count_of_base()
