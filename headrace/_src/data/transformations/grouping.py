"""`Dataset.group_by_window`: elements collected by keys, and a dataset made of each window of them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import OUTPUTS, DatasetSpec, DatasetV2, build, dataset_op, method
from headrace._src.data.running import functions
from headrace._src.data.running.cursors import CallingCursor
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Stage, shapes_of, stage_of, variant_of
from headrace._src.data.transformations.windows import ElementsStage
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST


class GroupByWindowStage(Stage):
    """The elements of the datasets that a function makes of windows of elements with equal keys.

    Args:
        source: the input.
        key: the function of an element that gives its key.
        reduce: the function of a key and a dataset that makes a dataset.
        window_size: the function of a key that says how many elements a window has.
        shapes: of the components.
    """

    method = "Dataset.group_by_window"

    def __init__(self, source, key, reduce, window_size, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.key = key
        self.reduce = self.function = reduce
        self.window_size = window_size
        self.functions = [key, reduce, window_size]

    def cardinality(self):
        return INFINITE if self.source.cardinality() == INFINITE else UNKNOWN

    def walk(self, run):
        return _GroupByWindowCursor(self, run)


class _GroupByWindowCursor(CallingCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._groups = {}  # key to the elements that wait
        self._sizes = {}  # key to the size of its windows
        self._is_over = False
        self._current = None  # key, elements and random numbers of the window whose dataset is read, and the cursor

    def next(self):
        while True:
            if self._current is not None:
                element = self._current[-1].next()
                if element is not None:
                    return element
                self._close_current()
            window = self._next_window()
            if window is None:
                return None
            self._open(*window)

    def _next_window(self):
        """Key and elements of the next window; None when there is none."""
        while not self._is_over:
            element = self._pull()
            if element is None:
                self._is_over = True
            else:
                window = self._collect(element)
                if window is not None:
                    return window
        if not self._groups:
            return None
        key = min(self._groups)  # TF: what is left comes in the order of keys
        return key, self._groups.pop(key)

    def _collect(self, element):
        """Put an element into its group. Returns key and elements of a window that is full by it."""
        stage = self._stage
        key = int(self._call(stage.key, element)[0])
        if key not in self._sizes:
            size = int(self._call(stage.window_size, (to_array(key),))[0])
            if size <= 0:
                raise errors.invalid_argument(f"Window size must be greater than zero, but got {size}.")
            self._sizes[key] = size
        group = self._groups.setdefault(key, [])
        group.append(element)
        if len(group) < self._sizes[key]:
            return None
        return key, self._groups.pop(key)

    def _open(self, key, elements):
        random = self._stage.reduce.state()
        window = variant_of(ElementsStage(self._stage.source.shapes, elements))
        (variant,) = self._call(self._stage.reduce, (to_array(key), window))
        self._current = (key, elements, random, stage_of(variant).cursor(self._run))

    def _close_current(self):
        if self._current is not None:
            self._current[-1].close()
            self._current = None

    def state(self):
        keys = list(self._groups)
        current = None
        if self._current is not None:
            key, elements, random, cursor = self._current
            current = {
                "key": key, "elements": [list(element) for element in elements], "random": random,
                "cursor": cursor.state(),
            }  # fmt: skip
        return {
            **super().state(),
            "keys": keys,
            "groups": [[list(element) for element in self._groups[key]] for key in keys],
            "sizes": [[key, size] for key, size in self._sizes.items()],
            "is_over": self._is_over,
            "current": current,
        }

    def restore(self, state):
        self._close_current()
        self._groups = {
            key: [tuple(element) for element in group] for key, group in zip(state["keys"], state["groups"])
        }
        self._sizes = dict(state["sizes"])
        self._is_over = state["is_over"]
        current = state["current"]
        if current is not None:
            self._stage.reduce.restore(current["random"])
            self._open(current["key"], [tuple(element) for element in current["elements"]])
            self._current[-1].restore(current["cursor"])
        super().restore(state)

    def close(self):
        self._close_current()
        super().close()


def to_array(key):
    """A key as functions take it."""
    return np.array(key, np.int64)


def _make(
    input_dataset, key_func_other_arguments, reduce_func_other_arguments, window_size_func_other_arguments, key_func,
    reduce_func, window_size_func, output_types, output_shapes, metadata,
):  # fmt: skip
    return GroupByWindowStage(
        stage_of(input_dataset),
        ElementFunction(key_func, key_func_other_arguments),
        ElementFunction(reduce_func, reduce_func_other_arguments),
        ElementFunction(window_size_func, window_size_func_other_arguments),
        shapes_of(output_shapes),
    )


GROUP_BY_WINDOW_DATASET = dataset_op(
    "GroupByWindowDataset",
    "input_dataset: variant, key_func_other_arguments: list(Tkey_func_other_arguments), "
    "reduce_func_other_arguments: list(Treduce_func_other_arguments), "
    "window_size_func_other_arguments: list(Twindow_size_func_other_arguments), *, "
    f"key_func: func, reduce_func: func, window_size_func: func, {OUTPUTS}",
    _make,
)


def traced_key(key_func, spec, where):
    """Trace a function that gives the key of an element."""
    traced = functions.trace(key_func, spec, method=where)
    functions.check_scalar(traced, dtypes.int64, where, "key_func")
    return traced


@method
def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None) -> DatasetV2:
    """Elements collected by keys, and for each window of elements with equal keys the dataset made of it.

    Args:
        key_func: a function of an element that returns its key, a scalar int64 tensor.
        reduce_func: a function of a key and of a dataset of elements with that key, that returns a dataset.
        window_size: how many elements with equal keys make a window.
        window_size_func: a function of a key that returns the size of its windows, in place of `window_size`.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.range(7).group_by_window(
    ...     key_func=lambda x: x % 2, reduce_func=lambda key, window: window.batch(3), window_size=3)
    >>> for batch in dataset:
    ...     print(batch.numpy())
    [0 2 4]
    [1 3 5]
    [6]
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
    where = "Dataset.group_by_window"
    key = traced_key(key_func, self.element_spec, where)
    number = TensorSpec([], dtypes.int64)

    def size_of(key):
        if window_size_func is None:
            return to_tensor(window_size, dtypes.int64)
        return CAST(to_tensor(window_size_func(key)), DstT=dtypes.int64)

    size = functions.trace(size_of, number, method=where)
    functions.check_scalar(size, dtypes.int64, where, "window_size_func")
    reduced = functions.trace(reduce_func, number, DatasetSpec(self.element_spec), method=where)
    if not isinstance(reduced.output_spec, DatasetSpec):
        raise TypeError(
            f"{where}: `reduce_func` must return a `tf.data.Dataset`, but it returns {reduced.output_spec}."
        )
    return build(
        "_GroupByWindowDataset",
        GROUP_BY_WINDOW_DATASET,
        self,
        key.captures,
        reduced.captures,
        size.captures,
        key_func=key.graph,
        reduce_func=reduced.graph,
        window_size_func=size.graph,
        spec=reduced.output_spec.element_spec,
        of=[self],
        name=name,
    )


@api("data.experimental.group_by_window", dispatch=False)
def _group_by_window(key_func, reduce_func, window_size=None, window_size_func=None) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.group_by_window`."""
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)
