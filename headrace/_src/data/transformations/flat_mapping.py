"""`Dataset.flat_map`: a dataset for each element, one after another."""

from headrace._src.data.datasets import OUTPUTS, DatasetSpec, DatasetV2, build, dataset_op, method
from headrace._src.data.running import functions
from headrace._src.data.running.cursors import CallingCursor, Opened, reopened
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import Stage, shapes_of, stage_of


class FlatMapStage(Stage):
    """The elements of the dataset that a function makes of each element of the input."""

    method = "Dataset.flat_map"
    tells_of_function = True

    def __init__(self, source, function, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.function = function
        self.functions = [function]

    @property
    def has_blocks(self):
        return True  # how far the datasets that the function makes have them shows when they are there

    @property
    def reads_ahead(self):
        return self.function.only_reads_files

    def walk(self, run):
        return _FlatMapCursor(self, run)


class _FlatMapCursor(CallingCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._opened = None  # the dataset that is walked through

    def _open(self):
        """Go to the next dataset; False when there is none."""
        element = self._pull()
        if element is None:
            return False
        self._opened = Opened(self, element)
        return True

    def _read(self, read):
        while self._opened is not None or self._open():
            found = read(self._opened.cursor)
            if found is not None:
                return found
            self._close_opened()
        return None

    def _close_opened(self):
        if self._opened is not None:
            self._opened.cursor.close()
            self._opened = None

    def next(self):
        return self._read(lambda cursor: cursor.next())

    def block(self, count):
        return self._read(lambda cursor: cursor.block(count))

    def skip(self, count):
        left = count
        while left and (self._opened is not None or self._open()):
            left -= self._opened.cursor.skip(left)
            if left:
                self._close_opened()
        return count - left

    def state(self):
        return {**super().state(), "opened": None if self._opened is None else self._opened.state()}

    def restore(self, state):
        self._close_opened()
        if state["opened"] is not None:
            self._opened = reopened(self, state["opened"])
        super().restore(state)

    def close(self):
        self._close_opened()
        super().close()


def traced_dataset(function, spec, method_name):
    """Trace a function that makes a dataset of an element.

    Returns:
        What `functions.trace` returns, and the spec of that dataset's elements.
    """
    traced = functions.trace(function, spec, method=method_name)
    if not isinstance(traced.output_spec, DatasetSpec):
        raise TypeError(
            f"{method_name}: `map_func` must return a `tf.data.Dataset` object, but it returns "
            f"{traced.output_spec}."
        )
    return traced, traced.output_spec.element_spec


def _make(input_dataset, other_arguments, f, output_types, output_shapes, metadata):
    return FlatMapStage(stage_of(input_dataset), ElementFunction(f, other_arguments), shapes_of(output_shapes))


FLAT_MAP_DATASET = dataset_op(
    "FlatMapDataset", f"input_dataset: variant, other_arguments: list(Targuments), *, f: func, {OUTPUTS}", _make
)


@method
def flat_map(self, map_func, name=None) -> DatasetV2:
    """The elements of the dataset that a function makes of each element, one dataset after another.

    Args:
        map_func: a function of an element that returns a dataset.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(4).flat_map(tf.data.Dataset.range)]
    [0, 0, 1, 0, 1, 2]
    """
    traced, spec = traced_dataset(map_func, self.element_spec, "Dataset.flat_map")
    return build(
        "_FlatMapDataset", FLAT_MAP_DATASET, self, traced.captures, f=traced.graph, spec=spec, of=[self], name=name
    )
