"""`map_and_batch` and `shuffle_and_repeat`: two transformations in one op."""

from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes
from headrace._src.data.datasets import OUTPUTS, build, constant, dataset_op, integer
from headrace._src.data.running import functions, structures
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import shapes_of, stage_of
from headrace._src.data.transformations.batching import BatchStage, batch_size_of, static_size
from headrace._src.data.transformations.mapping import MapStage, parallelism
from headrace._src.data.transformations.repeating import RepeatStage
from headrace._src.data.transformations.shuffling import Seeds, ShuffleStage, buffer_size_of, seed_inputs
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor


def _make_map_and_batch(
    input_dataset, other_arguments, batch_size, num_parallel_calls, drop_remainder, f, output_types, output_shapes,
    preserve_cardinality, metadata,
):  # fmt: skip
    shapes = shapes_of(output_shapes)
    parallel = parallelism(num_parallel_calls)
    mapped = MapStage(
        stage_of(input_dataset), ElementFunction(f, other_arguments), [shape[1:] for shape in shapes], parallel,
        keeps_size=preserve_cardinality,
    )  # fmt: skip
    return BatchStage(mapped, batch_size_of(batch_size), bool(drop_remainder), shapes)


MAP_AND_BATCH_DATASET = dataset_op(
    "MapAndBatchDataset",
    "input_dataset: variant, other_arguments: list(Targuments), batch_size: int64, num_parallel_calls: int64, "
    f"drop_remainder: bool, *, f: func, {OUTPUTS}, preserve_cardinality: bool = False",
    _make_map_and_batch,
)


@api("data.experimental.map_and_batch", dispatch=False)
def map_and_batch(
    map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None
) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: `map` and then `batch`.

    Args:
        map_func: a function of an element.
        batch_size: how many results make a batch.
        num_parallel_batches: how many batches may be made at the same time.
        drop_remainder: whether the last batch is left out when it has fewer.
        num_parallel_calls: how many calls may run at the same time, in place of `num_parallel_batches`.

    >>> dataset = tf.data.Dataset.range(4).apply(tf.data.experimental.map_and_batch(lambda x: x * x, 2))
    >>> [batch.numpy().tolist() for batch in dataset]
    [[0, 1], [4, 9]]
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, but "
            f"`num_parallel_batches` was set to {num_parallel_batches} and `num_parallel_calls` was set to "
            f"{num_parallel_calls}."
        )
    if num_parallel_calls is not None:
        parallel = constant(num_parallel_calls, dtypes.int64)
    else:
        batches = constant(1 if num_parallel_batches is None else num_parallel_batches, dtypes.int64)
        parallel = batches * constant(batch_size, dtypes.int64)

    def transform(dataset):
        traced = functions.trace(map_func, dataset.element_spec, method="map_and_batch")
        spec = structures.batch_spec(traced.output_spec, static_size(batch_size, drop_remainder))
        return build(
            "_MapAndBatchDataset", MAP_AND_BATCH_DATASET, dataset, traced.captures, constant(batch_size, dtypes.int64),
            parallel, to_tensor(drop_remainder, dtypes.bool), f=traced.graph, preserve_cardinality=True, spec=spec,
            of=[dataset],
        )  # fmt: skip

    return transform


def _make_shuffle_and_repeat(
    input_dataset, buffer_size, seed, seed2, count, output_types, output_shapes, reshuffle_each_iteration, metadata
):
    shapes = shapes_of(output_shapes)
    seeds = Seeds(integer(seed, "seed"), integer(seed2, "seed2"), reshuffle_each_iteration)
    shuffled = ShuffleStage(stage_of(input_dataset), buffer_size_of(buffer_size), seeds, shapes)
    return RepeatStage(shuffled, integer(count, "count"), shapes)


SHUFFLE_AND_REPEAT_DATASET = dataset_op(
    "ShuffleAndRepeatDataset",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64, *, "
    "output_types: list(type), output_shapes: list(shape), reshuffle_each_iteration: bool = True, "
    "metadata: string = ''",
    _make_shuffle_and_repeat,
)


@api("data.experimental.shuffle_and_repeat", dispatch=False)
def shuffle_and_repeat(buffer_size, count=None, seed=None) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: `shuffle` and then `repeat`.

    Args:
        buffer_size: how many elements wait to be drawn.
        count: how many times; None or -1 for without end.
        seed: an integer for the same order in each run of the program.

    >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(3, count=2, seed=1))
    >>> sorted(int(x) for x in dataset)
    [0, 0, 1, 1, 2, 2]
    """
    return lambda dataset: build(
        "_ShuffleAndRepeatDataset", SHUFFLE_AND_REPEAT_DATASET, dataset, constant(buffer_size, dtypes.int64),
        *seed_inputs(seed), constant(-1 if count is None else count, dtypes.int64), spec=dataset.element_spec,
        of=[dataset],
    )  # fmt: skip
