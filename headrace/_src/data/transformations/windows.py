"""`Dataset.window`: a dataset of datasets, each of some consecutive elements."""

import numpy as np

from headrace._src.core import dtypes, errors, nest
from headrace._src.data.datasets import OUTPUTS, DatasetSpec, DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Access, Stage, shapes_of, stacked, stage_of, variant_of
from headrace._src.op.convert import to_tensor


class _ListedElements(Access):
    def __init__(self, elements):
        self._elements = elements
        self.size = len(elements)

    def get(self, index):
        return self._elements[index]

    def gather(self, indices):
        return stacked([self._elements[i] for i in indices])


class _Block(Access):
    def __init__(self, block):
        self._block = block
        self.size = block[0].shape[0]

    def get(self, index):
        return tuple([part[index, ...] for part in self._block])

    def gather(self, indices):
        return tuple([part.take(indices, 0) for part in self._block])

    def slice(self, start, stop):
        return tuple([part[start:stop] for part in self._block])


class ElementsStage(Stage):
    """Elements that are there.

    Args:
        shapes: of the components.
        elements: a list of elements.
        block: or a block of them.
    """

    method = "Dataset.window"
    is_in_memory = True

    def __init__(self, shapes, elements=None, block=None):
        super().__init__(shapes)
        self._access = _ListedElements(elements) if block is None else _Block(block)

    @property
    def access(self):
        return self._access

    def cardinality(self):
        return self._access.size


class _Windows(Access):
    """The windows over an input whose elements have numbers."""

    def __init__(self, stage, access):
        self._stage = stage
        self._access = access
        self.size = stage.cardinality()

    def get(self, index):
        stage = self._stage
        start = index * stage.shift
        stop = min(start + stage.span, self._access.size)
        indices = np.arange(start, stop, stage.stride)
        if stage.is_even:
            block = self._access.slice(start, stop) if stage.stride == 1 else self._access.gather(indices)
            return stage.window_of_block(block)
        return stage.window([self._access.get(int(i)) for i in indices])


class WindowStage(Stage):
    """For each window, a dataset of each component of the elements in it.

    Args:
        source: the input.
        size: the number of elements in a window.
        shift: how far windows are apart.
        stride: how far the elements of a window are apart.
        drops: whether windows of fewer elements are left out.
        shapes: of the components.
    """

    method = "Dataset.window"

    def __init__(self, source, size, shift, stride, drops, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.shift = shift
        self.stride = stride
        self.drops = drops
        self.span = (size - 1) * stride + 1  # from the first to the last element of a window
        self.is_even = all(shape.is_fully_defined() for shape in source.shapes)

    def cardinality(self):
        size = self.source.cardinality()
        if size in (INFINITE, UNKNOWN):
            return size
        if self.drops:
            return 0 if size < self.span else (size - self.span) // self.shift + 1
        return -(-size // self.shift)

    @property
    def access(self):
        access = self.source.access
        return None if access is None else _Windows(self, access)

    @property
    def has_blocks(self):
        return False

    def window(self, elements):
        """The element that stands for a window."""
        return tuple(
            [
                variant_of(ElementsStage([shape], [(element[i],) for element in elements]))
                for i, shape in enumerate(self.source.shapes)
            ]
        )

    def window_of_block(self, block):
        """The same, of a block."""
        return tuple(
            [variant_of(ElementsStage([shape], block=(part,))) for part, shape in zip(block, self.source.shapes)]
        )

    def walk(self, run):
        return _WindowCursor(self, run)


class _WindowCursor(InnerCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._buffer = []  # the elements from the beginning of the next window on
        self._is_over = False  # whether the input is

    def next(self):
        stage, buffer = self._stage, self._buffer
        while len(buffer) < stage.span and not self._is_over:
            element = self._inner.next()
            if element is None:
                self._is_over = True
            else:
                buffer.append(element)
        if not buffer or (stage.drops and len(buffer) < stage.span):
            return None
        window = stage.window(buffer[: stage.span : stage.stride])
        between = stage.shift - len(buffer)
        del buffer[: stage.shift]
        if between > 0 and not self._is_over:
            self._is_over = self._inner.skip(between) < between
        return window

    def state(self):
        return {**super().state(), "buffer": [list(element) for element in self._buffer], "is_over": self._is_over}

    def restore(self, state):
        super().restore(state)
        self._buffer = [tuple(element) for element in state["buffer"]]
        self._is_over = state["is_over"]


def _positive(value, name):
    number = integer(value, name)
    if number < 1:
        raise errors.invalid_argument(f"Window {name} must be greater than zero, got {number}.")
    return number


def _make(input_dataset, size, shift, stride, drop_remainder, output_types, output_shapes, metadata):
    numbers = _positive(size, "size"), _positive(shift, "shift"), _positive(stride, "stride")
    drops = bool(integer(drop_remainder, "drop_remainder"))
    return WindowStage(stage_of(input_dataset), *numbers, drops, shapes_of(output_shapes))


WINDOW_DATASET = dataset_op(
    "WindowDataset",
    f"input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool, *, {OUTPUTS}",
    _make,
)


@method
def window(self, size, shift=None, stride=1, drop_remainder=False, name=None) -> DatasetV2:
    """Datasets of consecutive elements: a window that moves over the dataset.

    Args:
        size: how many elements a window has.
        shift: how many elements the window moves on; by default `size`.
        stride: how many elements of the dataset there are from one element of the window to the next.
        drop_remainder: whether the last windows are left out when they have fewer elements.
        name: a name for the operation.

    Returns:
        A dataset whose elements have the same structure, with a dataset in place of each part.

    >>> for window in tf.data.Dataset.range(7).window(3, shift=2, drop_remainder=True):
    ...     print([int(x) for x in window])
    [0, 1, 2]
    [2, 3, 4]
    [4, 5, 6]
    """
    numbers = [constant(value, dtypes.int64) for value in (size, size if shift is None else shift, stride)]
    return build(
        "_WindowDataset", WINDOW_DATASET, self, *numbers, to_tensor(drop_remainder, dtypes.bool),
        spec=nest.map_structure(DatasetSpec, self.element_spec), of=[self], name=name,
    )  # fmt: skip
