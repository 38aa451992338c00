"""How many elements a pipeline had given when TensorFlow saved the position of its iterator.

TensorFlow saves its iterators with their buffers, in the order of its own rearrangement of the pipeline. Here a
position is a number of elements: a fresh walk passes over them and stands where TensorFlow stood, shuffles included,
since they draw the same random numbers. A rule for each kind of iterator says how many elements it has given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from headrace._src.core import errors
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Stage
from headrace._src.data.saving.foreign_positions import Position
from headrace._src.data.transformations.shuffling import seeds_in

# Steps that have no iterator of their own in TensorFlow.
_WITHOUT_ITERATOR = ("Dataset.with_options",)
# Iterators of TensorFlow that belong to no step of the pipeline.
_ADDED = ("Model", "MaxIntraOpParallelism", "PrivateThreadPool", "Finalize", "Options")


class Continuation(NamedTuple):
    """How to go on: with some elements that had been read ahead, then from the walk after so many."""

    waiting: list[tuple]
    passed: int


def continuation(position: Position, stage: Stage) -> Continuation:
    """How a new walk through a pipeline goes on from where TensorFlow stood.

    Seeds of shuffles are set to those that TensorFlow had drawn. Arguments and errors are those of `count_given`.
    """
    for seeds in seeds_in(stage):
        seeds.begin(0)
    waiting: list[tuple] = []
    while position.kind in (*_ADDED, "Prefetch") and position.inputs:
        # What the last steps have read ahead is taken as it is: it may be of a walk whose seeds are forgotten.
        waiting = position.waiting() + waiting
        if position.kind == "Prefetch" and stage.method == "Dataset.prefetch":
            stage = stage.inputs[0]
        position = position.inputs[0]
    return Continuation(waiting, count_given(position, stage))


def count_given(position: Position, stage: Stage) -> int:
    """How many elements the iterator at `position` had given. Seeds of shuffles are set to where its walk began.

    Args:
        position: what TensorFlow's iterator remembered.
        stage: the step of our pipeline that gives the same elements.

    Raises:
        UnimplementedError: it has an iterator whose elements cannot be counted.
        InvalidArgumentError: the pipelines are not the same.
    """
    while stage.method in _WITHOUT_ITERATOR:
        stage = stage.inputs[0]
    if position.kind in _ADDED or (position.kind == "Prefetch" and stage.method != "Dataset.prefetch"):
        return _of_input(position, stage) - position.values.get("buffer_size", 0)
    rule = _RULES.get(position.kind)
    if rule is None:
        raise errors.UnimplementedError(
            None, None,
            f"The position of the iterator was saved by TensorFlow. How many elements {position.kind} "
            f"({stage.where()}) had given cannot be worked out from it. Begin the dataset anew, and leave "
            "the iterator out of the checkpoint that you restore.",
        )  # fmt: skip
    methods, count = rule
    while stage.method not in methods and _is_idle(stage):
        stage = stage.inputs[0]
    if stage.method not in methods:
        raise errors.invalid_argument(
            f"The position of the iterator was saved by TensorFlow for another pipeline: it had {position.kind} where "
            f"this one has {stage.where()}."
        )
    return count(position, stage)


def _is_idle(stage):
    """Whether a step changes nothing: TensorFlow leaves such steps out."""
    count = getattr(stage, "count", None)
    return (stage.method, count) in (("Dataset.repeat", 1), ("Dataset.take", -1), ("Dataset.skip", 0)) or (
        stage.method == "Dataset.shard" and stage.shards == 1
    )


def _of_input(position, stage):
    """The elements that the iterator before had given, for a step that is not in our pipeline."""
    inner = position.input()
    return _whole(stage) if inner is None else count_given(inner, stage)


def _before(position: Position, stage: Stage, number: int = 0) -> int:
    """How many elements a step had pulled from its input; all, if that is gone."""
    inner = position.input() if number == 0 else position.inputs.get(number)
    source = stage.inputs[number]
    return _whole(source) if inner is None else count_given(inner, source)


def _whole(stage):
    size = stage.cardinality()
    if size in (INFINITE, UNKNOWN):
        raise errors.UnimplementedError(
            None, None,
            f"The position of the iterator was saved by TensorFlow after {stage.where()} had come to its end, and "
            "how many elements it has is not known. Save a position in the middle of an epoch, or begin anew.",
        )  # fmt: skip
    return size


def _is_over(position):
    """Whether the input has come to its end: TensorFlow then forgets it."""
    return any(position.values.get(key) for key in ("input_impl_empty", "input_impls_empty", "exhausted"))


# Rules.


def _range(position, stage):
    start, _, step = (int(x) for x in _arguments(stage)[:3])
    return (position.values["next"] - start) // step


def _arguments(stage) -> list[Any]:
    """The inputs of the op that made a source."""
    return stage.recipe[1]


def _index(key) -> Callable[[Position, Stage], int]:
    return lambda position, stage: position.values.get(key, 0)


def _map(position, stage):
    waiting = range(position.values.get("invocation_results_size", 0))
    ready = sum(not position.values.get(f"invocation_results[{i}].end_of_input", 0) for i in waiting)
    return _before(position, stage) - ready


def _batch(position, stage):
    if _is_over(position):
        return _whole(stage)
    size, source = stage.size, stage
    if position.kind == "MapAndBatch":
        source = stage.inputs[0]
        while source.method in _WITHOUT_ITERATOR:
            source = source.inputs[0]
    waiting = range(position.values.get("batch_results_size", 0))
    elements = sum(position.values.get(f"batch_results_{i}_num_elements", 0) for i in waiting)
    return -(-(_before(position, source) - elements) // size)


def _prefetch(position, stage):
    return _before(position, stage) - position.values.get("buffer_size", 0)


def _take(position, stage):
    count = position.values.get("i", 0)
    return count if stage.count < 0 else min(count, stage.count)


def _skip(position, stage):
    return _whole(stage) if _is_over(position) else _before(position, stage) - position.values["i"]


def _repeat(position, stage):
    done, inner = position.values["i"], position.input()
    given = 0 if inner is None else count_given(inner, stage.inputs[0])
    for seeds in seeds_in(stage.inputs[0]):  # each repetition is a walk of its own
        seeds.begin_earlier(done)
    return given + (done * _whole(stage.inputs[0]) if done else 0)


def _shuffle(position, stage):
    shuffle, values = stage.inputs[0] if position.kind == "ShuffleAndRepeat" else stage, position.values
    # Walks of this iterator from whose elements one was drawn: the buffer may hold elements of later ones already.
    walks = values.get("epoch", 0) - max(0, values.get("slices_size", 0) - 1)
    if walks > 0:
        before = max(0, values["epoch_num_random_samples"] // 2 - walks)
        shuffle.seeds.begin(before, walks - 1, (values["seed"], values["seed2"]))
    return values.get("slices_start_0", 0)


def _zip(position, stage):
    return _whole(stage) if _is_over(position) else count_given(position.inputs[0], stage.inputs[0])


def _shard(position, stage):
    return max(0, -(-(position.values["next_index"] - stage.index) // stage.shards))


def _concatenate(position, stage):
    current = position.values["i"]
    if current >= len(stage.inputs):
        return _whole(stage)
    return sum(map(_whole, stage.inputs[:current])) + _before(position, stage, current)


def _cache(position, stage):
    values = position.values
    return values["index"] if "index" in values else values.get("num_elements", 0)


# Kinds of iterators: the steps of ours that give the same elements, and how many they have given.
_RULES: dict[str, tuple[tuple[str, ...], Callable[[Any, Any], int]]] = {
    "Range": (("Dataset.range",), _range),
    "TensorSlice": (("Dataset.from_tensor_slices",), _index("index")),
    "FromTensor": (("Dataset.from_tensors",), _index("produced")),
    "Map": (("Dataset.map",), _before),
    "ParallelMapV2": (("Dataset.map",), _map),
    "BatchV2": (("Dataset.batch",), _batch),
    "ParallelBatch": (("Dataset.batch",), _batch),
    "PaddedBatchV2": (("Dataset.padded_batch",), _batch),
    "MapAndBatch": (("Dataset.batch",), _batch),
    "Prefetch": (("Dataset.prefetch",), _prefetch),
    "FiniteTake": (("Dataset.take",), _take),
    "FiniteSkip": (("Dataset.skip",), _skip),
    "FiniteRepeat": (("Dataset.repeat",), _repeat),
    "ForeverRepeat": (("Dataset.repeat",), _repeat),
    "Shuffle": (("Dataset.shuffle",), _shuffle),
    "ShuffleAndRepeat": (("Dataset.repeat",), _shuffle),
    "Zip": (("Dataset.zip",), _zip),
    "Filter": (("Dataset.filter",), _index("filtered_elements")),
    "TakeWhile": (("Dataset.take_while",), _before),
    "Scan": (("Dataset.scan",), _before),
    "Shard": (("Dataset.shard",), _shard),
    "Concatenate": (("Dataset.concatenate",), _concatenate),
    "MemoryCache": (("Dataset.cache",), _cache),
    "MemoryCacheImpl": (("Dataset.cache",), _cache),
}
