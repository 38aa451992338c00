"""`Dataset.map`: a function of each element."""

import logging
from typing import TYPE_CHECKING

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule
from headrace._src.data.datasets import AUTOTUNE, OUTPUTS, DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running import functions
from headrace._src.data.running.cursor_choice import MAP, chosen
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.ragged_columns import columns_of_one, elements_of, joined_columns, stacked_columns
from headrace._src.data.running.random_streams import draws_the_same
from headrace._src.data.running.stages import UNKNOWN, Access, Cursor, Stage, shapes_of, split, stacked, stage_of

if TYPE_CHECKING:
    from headrace._src.data.running import ragged_functions
else:  # for functions that have no form for whole blocks
    ragged_functions = LazyModule("headrace._src.data.running.ragged_functions")

logger = logging.getLogger("headrace")

# Blocks that failed one after another, after which elements are computed one by one.
_MOST_FAILURES = 3


class _Mapped(Access):
    def __init__(self, stage, access):
        self._stage = stage
        self._access = access
        self.size = access.size

    def get(self, index):
        element = None
        try:
            element = self._access.get(index)
            return self._stage.function(element)
        except Exception as error:
            self._stage.failed(index, error, element)

    def gather(self, indices):
        if self._stage.vectorized is not None:
            block = self._stage.function_of_block(self._access.gather(indices))
            if block is not None:
                return block
        return stacked([self.get(int(i)) for i in indices])

    def slice(self, start, stop):
        if self._stage.vectorized is not None:
            block = self._stage.function_of_block(self._access.slice(start, stop))
            if block is not None:
                return block
        columns = self.columns(start, stop)
        if columns is not None:
            return stacked_columns(columns)
        return stacked([self.get(i) for i in range(start, stop)])

    def columns(self, start, stop):
        stage = self._stage
        if not stage.has_columns:
            return None
        read = self._access.columns if stage.source.has_columns else self._access.slice
        results = stage.function_of_columns(read(start, stop))
        if results is None:
            kinds = stage.columns_are_ragged
            results = joined_columns([columns_of_one(self.get(i), kinds) for i in range(start, stop)])
        return results


class MapStage(Stage):
    """A function of each element of the input.

    Args:
        source: the input.
        function: an `ElementFunction`.
        shapes: of the components of results.
        parallel: how many calls may run at the same time; 1 for one after the other, -1 for as many as pay.
        keeps_order: whether results come in the order of the input also when calls run at the same time.
        keeps_size: whether there is one result for each element of the input: not when the function may end the walk.
    """

    method = "Dataset.map"
    tells_of_function = True
    fuses_with = "Dataset.batch"

    def __init__(self, source, function, shapes, parallel=1, keeps_order=True, keeps_size=True):
        super().__init__(shapes, [source])
        self.source = source
        self.function = function
        self.functions = [function]
        self.parallel = parallel
        self.keeps_order = keeps_order
        self.keeps_size = keeps_size
        self.vectorized = function.vectorized(draws=True)
        self.is_stateful = function.is_stateful
        self._ragged = None
        if self.vectorized is None:
            self.vectorized = ragged_functions.dense_function(function)
        if self.vectorized is None:
            self._ragged = ragged_functions.ragged_function(function)
        self._ragged_failures = 0  # one after another
        # Whether calls may be made earlier than asked for: not when they read what the user may change until then.
        self._runs_early = parallel != 1 or not function.may_change

    def cardinality(self):
        return self.source.cardinality() if self.keeps_size else UNKNOWN

    @property
    def access(self):
        if self.is_stateful or self.uses_threads or self.function.calls_python:
            return None  # Python functions may have to be called in other processes, which belong to a walk
        access = self.source.access
        return None if access is None else _Mapped(self, access)

    @property
    def uses_threads(self):
        """Whether calls run in threads: when asked for, and there is no function of whole blocks, which is faster."""
        if self.parallel == 1 or self.vectorized is not None:
            return False
        if self.has_columns:
            return False
        return not self.function.draws or draws_the_same(self.function.graph.base)

    @property
    def has_blocks(self):
        return self.vectorized is not None and self.source.has_blocks

    def function_of_block(self, block):
        """The function of all elements of a block; None when one of them fails, and from then on.

        Called for each element, the function itself says which one fails.
        """
        try:
            return self.vectorized(block)
        except Exception as error:
            logger.debug("%s: not on whole blocks any more, since that failed: %s", self.where(), error)
            self.vectorized = None
            return None

    @property
    def columns_are_ragged(self) -> list[bool] | None:
        """For each component of results, whether it is ragged in columns; None when there are no columns."""
        return None if self._ragged is None else self._ragged.outputs

    @property
    def elements_are_ragged(self) -> list[bool]:
        """For each component of elements, whether the function of columns takes it as a ragged one."""
        return [] if self._ragged is None else self._ragged.inputs

    @property
    def has_columns(self):
        if self._ragged is None:
            return False
        source = self.source
        has_columns = source.has_columns or (source.has_blocks and not any(self._ragged.inputs))
        return has_columns or (source.reads_ahead and source.access is None and self._runs_early)

    def function_of_columns(self, block):
        """The function of all elements of a block; None when one of them fails, or when this happens all the time."""
        if self._ragged_failures >= _MOST_FAILURES:
            return None
        try:
            results = self._ragged(block)
        except Exception as error:
            logger.debug("%s: not on a whole block, since that failed: %s", self.where(), error)
            self._ragged_failures += 1
            return None
        self._ragged_failures = 0
        return results

    @property
    def reads_ahead(self):
        if not self._runs_early:
            return False
        if self._ragged is not None:
            return self.has_columns and self.source.reads_ahead
        return self.vectorized is not None and self.source.reads_ahead and not self.function.draws

    def walk(self, run):
        return chosen(MAP, self, run)


class MapCursor(Cursor):
    """One call of the function after another.

    Args:
        stage: a `MapStage`.
        run: of the walk.
        function: the stage's, or one that takes its place.
        inner: the elements that it is called with.
    """

    def __init__(self, stage, run, function, inner):
        self._stage = stage
        self._run = run
        self._inner = inner
        self._function = function
        self._number = 0

    def next(self):
        element = self._inner.next()
        if element is None:
            return None
        return self._called(element)

    def _called(self, element):
        self._number += 1
        try:
            return self._function(element)
        except Exception as error:
            self._stage.failed(self._number - 1, error, element)

    def block(self, count):
        if self._stage.vectorized is None:
            return super().block(count)
        block = self._inner.block(count)
        if block is None:
            return None
        result = self._stage.function_of_block(block)
        if result is not None:
            self._number += block[0].shape[0]
            return result
        return stacked([self._called(element) for element in split(block)])

    def columns(self, count):
        """Between one and `count` elements as columns; None when there is none left."""
        inner = self._inner
        block = inner.columns(count) if self._stage.source.has_columns else inner.block(count)
        if block is None:
            return None
        results = self._stage.function_of_columns(block)
        if results is not None:
            self._number += block[0].shape[0]
            return results
        kinds = self._stage.columns_are_ragged
        return joined_columns([columns_of_one(self._called(element), kinds) for element in elements_of(block)])

    def skip(self, count):
        if self._stage.is_stateful:
            return super().skip(count)
        done = self._inner.skip(count)
        self._number += done
        return done

    def state(self):
        return {"number": self._number, "random": self._function.state(), "inner": self._inner.state()}

    def restore(self, state):
        self._number = state["number"]
        self._function.restore(state["random"])
        self._inner.restore(state["inner"])

    def close(self):
        processes = getattr(self._function, "processes", None)
        if processes is not None and self._run.stopped.is_set():
            processes.close()
        self._inner.close()


def parallelism(num_parallel_calls) -> int:
    """The input `num_parallel_calls` of an op."""
    number = integer(num_parallel_calls, "num_parallel_calls")
    if number < 1 and number != AUTOTUNE:
        raise errors.invalid_argument("num_parallel_calls must be greater than zero.")
    return number


def _make(input_dataset, other_arguments, f, output_types, output_shapes, preserve_cardinality, **unused):
    function = ElementFunction(f, other_arguments)
    return MapStage(stage_of(input_dataset), function, shapes_of(output_shapes), keeps_size=preserve_cardinality)


def _make_parallel(
    input_dataset, other_arguments, num_parallel_calls, f, output_types, output_shapes, preserve_cardinality,
    deterministic, **unused,
):  # fmt: skip
    return MapStage(
        stage_of(input_dataset),
        ElementFunction(f, other_arguments),
        shapes_of(output_shapes),
        parallelism(num_parallel_calls),
        deterministic != "false",
        preserve_cardinality,
    )


_ATTRS = f"f: func, {OUTPUTS}, use_inter_op_parallelism: bool = True, preserve_cardinality: bool = False"

MAP_DATASET = dataset_op(
    "MapDataset",
    f"input_dataset: variant, other_arguments: list(Targuments), *, {_ATTRS}, force_synchronous: bool = False",
    _make,
)

PARALLEL_MAP_DATASET = dataset_op(
    "ParallelMapDatasetV2",
    "input_dataset: variant, other_arguments: list(Targuments), num_parallel_calls: int64, *, "
    f"{_ATTRS}, deterministic: string = 'default', use_unbounded_threadpool: bool = False",
    _make_parallel,
)


def _map(
    self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False,
    name=None,
) -> DatasetV2:  # fmt: skip
    """A function of each element.

    The function is traced, like a `tf.function`: it runs as a graph, with Python's control flow turned into
    operations. Use `tf.py_function` for Python code that must run for each element.

    Args:
        map_func: a function of the parts of an element (a tuple is passed as several arguments), which returns the
            new element.
        num_parallel_calls: how many calls may run at the same time, or `tf.data.AUTOTUNE`.
        deterministic: False if results may come in another order than that of the input.
        synchronous: True to have elements computed by the thread that asks for them.
        use_unbounded_threadpool: accepted; there are as many threads as calls run at the same time.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(4).map(lambda x: x * 10)]
    [0, 10, 20, 30]
    """
    if synchronous and num_parallel_calls is not None:
        raise ValueError(
            "`synchronous` is not supported with `num_parallel_calls`, but `num_parallel_calls` was set to "
            f"{num_parallel_calls}."
        )
    traced = functions.trace(map_func, self.element_spec, method="Dataset.map")
    attrs = dict(f=traced.graph, preserve_cardinality=True, spec=traced.output_spec, of=[self], name=name)
    if num_parallel_calls is None:
        return build(
            "_MapDataset", MAP_DATASET, self, traced.captures, force_synchronous=bool(synchronous), **attrs
        )
    order = "default" if deterministic is None else str(bool(deterministic)).lower()
    return build(
        "_ParallelMapDataset",
        PARALLEL_MAP_DATASET,
        self,
        traced.captures,
        constant(num_parallel_calls, dtypes.int64),
        deterministic=order,
        use_unbounded_threadpool=use_unbounded_threadpool,
        **attrs,
    )


_map.__name__ = "map"  # the name is Python's in this file
method(_map)
