"""`tf.data.experimental.parallel_interleave`: the older form of `Dataset.interleave` with threads."""

from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes, errors
from headrace._src.data.datasets import OUTPUTS, build, constant, dataset_op, integer
from headrace._src.data.running.cursors import Opened
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import shapes_of, stage_of
from headrace._src.data.transformations.flat_mapping import traced_dataset
from headrace._src.data.transformations.interleaving import InterleaveCursor, InterleaveStage
from headrace._src.op.api import api

_WHERE = "data.experimental.parallel_interleave"


class LegacyInterleaveStage(InterleaveStage):
    """The elements of several datasets in turn. Threads read ahead in all of them."""

    method = _WHERE

    def walk(self, run):
        return _LegacyCursor(self, run)


class _LegacyCursor(InterleaveCursor):
    """TF: where a dataset ends and there is none to come in its place, the next one's turn is shorter by so much."""

    def next(self):
        while self._number < len(self._opened) and not self._is_over:
            self._open_next(self._number)  # at first all places are filled
        while not self._is_over or self._count:
            opened = self._opened[self._turn]
            if opened is None:
                if self._is_over or not self._open_next(self._turn):
                    self._turn = (self._turn + 1) % len(self._opened)
                continue
            try:
                element = opened.cursor.next()
            except Exception:
                self._given()  # it counts as an element
                raise
            if element is not None:
                self._given()
                return element
            opened.cursor.close()
            self._opened[self._turn] = None
            self._count -= 1
            if not self._is_over and self._open_next(self._turn):
                self._end_turn()
            else:
                self._turn = (self._turn + 1) % len(self._opened)
        return None

    def _given(self):
        self._taken += 1
        if self._taken == self._stage.block:
            self._end_turn()

    def _open_next(self, place) -> bool:
        """Open the next dataset in a place; False when there is none."""
        element = self._pull()
        if element is None:
            self._is_over = True
            return False
        self._opened[place] = Opened(self, element)
        self._count += 1
        return True


def _at_least(least, value, name):
    number = integer(value, name)
    if number < least:
        raise errors.invalid_argument(f"`{name}` must be {'> 0' if least else '>= 0'}")
    return number


def _make(
    input_dataset, other_arguments, cycle_length, block_length, buffer_output_elements, prefetch_input_elements, f,
    deterministic, output_types, output_shapes, metadata,
):  # fmt: skip
    cycle, block = _at_least(1, cycle_length, "cycle_length"), _at_least(1, block_length, "block_length")
    _at_least(1, buffer_output_elements, "buffer_output_elements")
    _at_least(0, prefetch_input_elements, "prefetch_input_elements")
    return LegacyInterleaveStage(
        stage_of(input_dataset),
        ElementFunction(f, other_arguments),
        cycle,
        block,
        shapes_of(output_shapes),
        cycle,
        deterministic != "false",
    )


LEGACY_PARALLEL_INTERLEAVE_DATASET = dataset_op(
    "LegacyParallelInterleaveDatasetV2",
    "input_dataset: variant, other_arguments: list(Targuments), cycle_length: int64, block_length: int64, "
    "buffer_output_elements: int64, prefetch_input_elements: int64, *, f: func, deterministic: string = 'default', "
    f"{OUTPUTS}",
    _make,
)


@api("data.experimental.parallel_interleave", dispatch=False)
def parallel_interleave(
    map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None, prefetch_input_elements=None
) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: the elements of the datasets that a function makes, of several in turn.

    Deprecated: use `Dataset.interleave` with `num_parallel_calls`. The order is that of `Dataset.interleave`, except
    that, towards the end, the turn of a dataset after one that has ended may be shorter.

    Args:
        map_func: a function of an element that returns a dataset.
        cycle_length: how many datasets are read in turn, each by a thread where that pays.
        block_length: how many elements come from one dataset before it is the next one's turn.
        sloppy: True if elements may come in another order; they come in the same one here.
        buffer_output_elements: accepted; a few elements of each dataset are read ahead.
        prefetch_input_elements: accepted; elements of the input are read when they are needed.

    >>> dataset = tf.data.Dataset.range(1, 4).apply(tf.data.experimental.parallel_interleave(
    ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2))
    >>> [int(x) for x in dataset]
    [1, 2, 1, 2, 3, 3]
    """

    def transform(dataset):
        traced, spec = traced_dataset(map_func, dataset.element_spec, _WHERE)
        cycle, block = constant(cycle_length, dtypes.int64), constant(block_length, dtypes.int64)
        output = constant(2 * block_length if buffer_output_elements is None else buffer_output_elements, dtypes.int64)
        ahead = constant(2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements, dtypes.int64)
        return build(
            "ParallelInterleaveDataset", LEGACY_PARALLEL_INTERLEAVE_DATASET, dataset, traced.captures, cycle, block,
            output, ahead, f=traced.graph, deterministic="false" if sloppy else "true", spec=spec, of=[dataset],
        )  # fmt: skip

    return transform
