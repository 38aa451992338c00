"""`Dataset.interleave`: several datasets at a time, a few elements of each in turn."""

import warnings

from headrace._src.core import dtypes, errors, operating_system
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running.cursors import CallingCursor, Opened, reopened
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import Stage, shapes_of, stage_of
from headrace._src.data.running.threads import ThreadAhead
from headrace._src.data.transformations.flat_mapping import traced_dataset
from headrace._src.data.transformations.shuffling import Seeds


class InterleaveStage(Stage):
    """The elements of the datasets that a function makes of elements of the input, of several of them in turn.

    Args:
        source: the input.
        function: an `ElementFunction` that makes a dataset.
        cycle: how many datasets are open at a time.
        block: how many elements come from one before it is the next one's turn.
        shapes: of the components.
        parallel: how many datasets may be read at the same time; 1 for one after the other, -1 for as many as pay.
        keeps_order: whether the order is the same as without threads.
    """

    method = "Dataset.interleave"
    tells_of_function = True

    def __init__(self, source, function, cycle, block, shapes, parallel=1, keeps_order=True):
        super().__init__(shapes, [source])
        self.source = source
        self.function = function
        self.functions = [function]
        self.cycle = cycle
        self.block = block
        self.parallel = parallel
        self.keeps_order = keeps_order

    @property
    def reads_ahead(self):
        return self.function.only_reads_files

    def walk(self, run):
        return InterleaveCursor(self, run)


def _draws(stage) -> bool:
    """Whether a pipeline may draw random numbers, which must then be drawn in the order of one thread."""
    for value in vars(stage).values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Seeds):
                return True
            if isinstance(part, ElementFunction) and (part.draws or _makes_datasets(part.graph)):
                return True
    return any(_draws(before) for before in stage.inputs)


def _makes_datasets(graph) -> bool:
    return any(node.record.module.startswith("headrace._src.data.") for node in graph.base.nodes)


class InterleaveCursor(CallingCursor):
    """Reads the open datasets in turn; with `num_parallel_calls`, threads read ahead in that many of them.

    The order is the same in any case.
    """

    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._opened = [None] * stage.cycle  # the datasets that are read in turn
        self._turn = 0  # whose turn it is
        self._taken = 0  # how many elements it has given in this turn
        self._count = 0  # of open datasets
        self._is_over = False  # whether the input is

    def open(self, stage):
        cursor = super().open(stage)
        parallel = self._stage.parallel
        if parallel == 1 or 0 < parallel <= self._turn or _draws(stage):
            return cursor
        return ThreadAhead(cursor, 2 * self._stage.block, self._run)

    def _end_turn(self):
        self._turn = (self._turn + 1) % len(self._opened)
        self._taken = 0

    def next(self):
        while not self._is_over or self._count:
            opened = self._opened[self._turn]
            if opened is not None:
                element = opened.cursor.next()
                if element is not None:
                    self._taken += 1
                    if self._taken == self._stage.block:
                        self._end_turn()
                    return element
                opened.cursor.close()
                self._opened[self._turn] = None
                self._count -= 1
                self._end_turn()
            elif not self._is_over:
                element = self._pull()
                if element is None:
                    self._is_over = True
                else:
                    self._opened[self._turn] = Opened(self, element)
                    self._count += 1
            else:
                self._end_turn()
        return None

    def state(self):
        return {
            **super().state(),
            "turn": self._turn,
            "taken": self._taken,
            "is_over": self._is_over,
            "opened": [None if opened is None else opened.state() for opened in self._opened],
        }

    def restore(self, state):
        self._close_all()
        self._turn, self._taken, self._is_over = state["turn"], state["taken"], state["is_over"]
        self._opened = []
        for self._turn, saved in enumerate(state["opened"]):
            self._opened.append(None if saved is None else reopened(self, saved))
        self._turn = state["turn"]
        self._count = sum(opened is not None for opened in self._opened)
        super().restore(state)

    def _close_all(self):
        for opened in self._opened:
            if opened is not None:
                opened.cursor.close()

    def close(self):
        self._close_all()
        super().close()


def _positive(value, name):
    number = integer(value, name)
    if number < 1:
        raise errors.invalid_argument(f"Dataset.interleave: {name} must be greater than zero, got {number}.")
    return number


def _cycle_length(value):
    """TF: with AUTOTUNE, as many datasets are open as the machine has processors."""
    if integer(value, "cycle_length") == -1:
        return operating_system.processor_count()
    return _positive(value, "cycle_length")


def _make(input_dataset, other_arguments, cycle_length, block_length, f, output_types, output_shapes, metadata):
    return InterleaveStage(
        stage_of(input_dataset),
        ElementFunction(f, other_arguments),
        _cycle_length(cycle_length),
        _positive(block_length, "block_length"),
        shapes_of(output_shapes),
    )


def _make_parallel(
    input_dataset, other_arguments, cycle_length, block_length, buffer_output_elements, prefetch_input_elements,
    num_parallel_calls, f, deterministic, output_types, output_shapes, metadata,
):  # fmt: skip
    cycle = _cycle_length(cycle_length)
    parallel = integer(num_parallel_calls, "num_parallel_calls")
    if parallel != -1:
        _positive(num_parallel_calls, "num_parallel_calls")
        if integer(cycle_length, "cycle_length") == -1:
            cycle = min(cycle, parallel)  # TF: no more datasets are open than calls run at a time
        elif parallel > cycle:
            raise errors.invalid_argument(
                "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either `tf.data.AUTOTUNE` or "
                f"a value less than or equal to `cycle_length`, but they are {cycle} and {parallel}."
            )
    return InterleaveStage(
        stage_of(input_dataset),
        ElementFunction(f, other_arguments),
        cycle,
        _positive(block_length, "block_length"),
        shapes_of(output_shapes),
        parallel,
        deterministic != "false",
    )


INTERLEAVE_DATASET = dataset_op(
    "InterleaveDataset",
    "input_dataset: variant, other_arguments: list(Targuments), cycle_length: int64, block_length: int64, *, "
    f"f: func, {OUTPUTS}",
    _make,
)

PARALLEL_INTERLEAVE_DATASET = dataset_op(
    "ParallelInterleaveDatasetV4",
    "input_dataset: variant, other_arguments: list(Targuments), cycle_length: int64, block_length: int64, "
    "buffer_output_elements: int64, prefetch_input_elements: int64, num_parallel_calls: int64, *, "
    f"f: func, deterministic: string = 'default', {OUTPUTS}",
    _make_parallel,
)


@method
def interleave(
    self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None, name=None
) -> DatasetV2:
    """The elements of the datasets that a function makes of elements, of several datasets in turn.

    Args:
        map_func: a function of an element that returns a dataset.
        cycle_length: how many datasets are read in turn; by default as many as the machine has processors.
        block_length: how many elements come from one dataset before it is the next one's turn; 1 by default.
        num_parallel_calls: how many datasets may be read at the same time, or `tf.data.AUTOTUNE`.
        deterministic: False if elements may come in another order.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.range(1, 4).interleave(
    ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2)
    >>> [int(x) for x in dataset]
    [1, 1, 2, 2, 1, 2, 3, 3, 3]
    """
    traced, spec = traced_dataset(map_func, self.element_spec, "Dataset.interleave")
    cycle = constant(-1 if cycle_length is None else cycle_length, dtypes.int64)
    block = constant(1 if block_length is None else block_length, dtypes.int64)
    attrs = dict(f=traced.graph, spec=spec, of=[self], name=name)
    if num_parallel_calls is None:
        if deterministic is not None:
            warnings.warn(
                "Dataset.interleave: `deterministic` has no effect unless `num_parallel_calls` is given.",
                stacklevel=2,
            )
        return build("_InterleaveDataset", INTERLEAVE_DATASET, self, traced.captures, cycle, block, **attrs)
    automatic = constant(-1, dtypes.int64)
    return build(
        "_ParallelInterleaveDataset",
        PARALLEL_INTERLEAVE_DATASET,
        self,
        traced.captures,
        cycle,
        block,
        automatic,
        automatic,
        constant(num_parallel_calls, dtypes.int64),
        deterministic="default" if deterministic is None else str(bool(deterministic)).lower(),
        **attrs,
    )
