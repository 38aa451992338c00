"""How many elements a pipeline had given when TensorFlow saved the position of its iterator.

TensorFlow saves its iterators with their buffers, in the order of its own rearrangement of the pipeline. Here a
position is a number of elements: a fresh walk passes over them and stands where TensorFlow stood, shuffles included,
since they draw the same random numbers. A rule for each kind of iterator says how many elements it has given.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Run, Stage, stage_of
from headrace._src.data.saving.foreign_positions import Position
from headrace._src.data.saving.rearranged_steps import is_idle
from headrace._src.data.transformations.shuffling import seeds_in, seeds_kept

# Steps that have no iterator of their own in TensorFlow.
_WITHOUT_ITERATOR = ("Dataset.with_options",)
# Iterators of TensorFlow that belong to no step of the pipeline.
_ALL = 1 << 60  # more elements than there are
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
        position = position.input()
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
    while stage.method not in methods and is_idle(stage):
        stage = stage.inputs[0]
    if stage.method not in methods:
        raise errors.invalid_argument(
            f"The position of the iterator was saved by TensorFlow for another pipeline: it had {position.kind} where "
            f"this one has {stage.where()}."
        )
    return count(position, stage)


def _of_input(position, stage):
    """The elements that the iterator before had given, for a step that is not in our pipeline."""
    inner = position.input()
    return _whole(stage) if inner is None else count_given(inner, stage)


def _before(position: Position, stage: Stage, number: int = 0) -> int:
    """How many elements a step had pulled from its input; all, if that is gone."""
    inner = position.input() if number == 0 else position.inputs.get(number)
    source = stage.inputs[number]
    return _whole(source) if inner is None else count_given(inner, source)


def _settle(position: Position, stage: Stage) -> None:
    """Set the seeds of shuffles before a step whose elements are counted without asking these."""
    for number, inner in position.inputs.items():
        source = stage.inputs[0 if number is None else number]
        if seeds_in(source):
            count_given(inner, source)


def _whole(stage):
    """How many elements a step has. Where that is not known, it is walked through."""
    size = stage.cardinality()
    if size == UNKNOWN:
        with _walking(stage) as cursor:
            return cursor.skip(_ALL)
    if size == INFINITE:
        raise errors.UnimplementedError(
            None, None,
            f"The position of the iterator was saved by TensorFlow after {stage.where()} had come to its end, but here "
            "it has none. Begin anew.",
        )  # fmt: skip
    return size


@contextlib.contextmanager
def _walking(stage, one_by_one=False):
    """A walk of its own through a step, which begins with the seeds that were set and leaves them so."""
    run = Run(stage.options)
    run.one_by_one = one_by_one
    before, context.random_site = context.random_site, run.site
    try:
        with seeds_kept(stage):
            cursor = stage.cursor(run)
            try:
                yield cursor
            finally:
                cursor.close()
    finally:
        context.random_site = before


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


def _settled(key) -> Callable[[Position, Stage], int]:
    def count(position, stage):
        _settle(position, stage)
        return position.values[key]

    return count


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
    _settle(position, stage)
    count = position.values.get("i", 0)
    return count if stage.count < 0 else min(count, stage.count)


def _skip(position, stage):
    return _whole(stage) if _is_over(position) else max(0, _before(position, stage) - position.values["i"])


def _filter(position, stage):
    if _is_over(position):
        return _whole(stage)
    _settle(position, stage)
    return position.values.get("filtered_elements", 0)


def _repeat(position, stage):
    done, inner = position.values["i"], position.input()
    given = 0 if inner is None else count_given(inner, stage.inputs[0])
    for seeds in seeds_in(stage.inputs[0]):  # each repetition is a walk of its own
        seeds.begin_earlier(done)
    return given + (done * _whole(stage.inputs[0]) if done else 0)


def _shuffle(position, stage):
    shuffle, values = stage.inputs[0] if position.kind == "ShuffleAndRepeat" else stage, position.values
    if values.get("epoch", 0) and not values.get("slices_size", 0):
        return _whole(stage)
    # Walks of this iterator from whose elements one was drawn: the buffer may hold elements of later ones already.
    walks = values.get("epoch", 0) - max(0, values.get("slices_size", 0) - 1)
    if walks > 0:
        before = max(0, values["epoch_num_random_samples"] // 2 - walks)
        shuffle.seeds.begin(before, walks - 1, (values["seed"], values["seed2"]))
    earlier = seeds_in(shuffle.inputs[0])
    if earlier and position.inputs:
        _before(position, shuffle)
        for seeds in earlier:  # these stand in the walk from which the buffer is filled
            seeds.begin_earlier(max(0, values.get("epoch", 0) - 1))
    elif earlier and walks > 0:
        raise errors.UnimplementedError(
            None, None,
            f"The position of the iterator was saved by TensorFlow when the input of {shuffle.where()} had come to its "
            "end. With it, the seeds of the shuffles before it are gone. Begin anew.",
        )  # fmt: skip
    return values.get("slices_start_0", 0)


def _zip(position, stage):
    if _is_over(position):
        return _whole(stage)
    _settle(position, stage)
    return count_given(position.inputs[0], stage.inputs[0])


def _shard(position, stage):
    if _is_over(position):
        return _whole(stage)
    _settle(position, stage)
    return max(0, -(-(position.values["next_index"] - stage.index) // stage.shards))


def _concatenate(position, stage):
    current = position.values["i"]
    if current >= len(stage.inputs):
        return _whole(stage)
    return sum(map(_whole, stage.inputs[:current])) + _before(position, stage, current)


def _cache(position, stage):
    _settle(position, stage)
    values = position.values
    return values["index"] if "index" in values else values.get("num_elements", 0)


# Rules for steps that read other datasets: these are made once more, to see how many elements they have.


def _flat_map(position, stage):
    if stage.method != "Dataset.flat_map":
        return _files(position, stage)
    if _is_over(position):
        return _whole(stage)
    pulled = _before(position, stage)
    is_open = not position.values["current_element_iterator_uninitialized"]
    made = _opened(stage, pulled)
    last = made.pop() if is_open else None
    given = sum(map(_whole, made))
    if last is not None:
        inner = position.inputs.get(position.values["element_index"] - 1)
        given += _whole(last) if inner is None else count_given(inner, last)
    return given


def _opened(stage, count) -> list[Stage]:
    """The datasets that a step has made of the first elements of its input."""
    made = []
    with _walking(stage.inputs[0]) as cursor:
        for _ in range(count):
            element = cursor.next()
            if element is None:
                break
            made.append(stage_of(stage.function(element)[0]))
    return made


def _interleave(position, stage):
    given = sum(map(_whole, _opened(stage, _before(position, stage))))
    for number in range(stage.cycle):
        if not position.values.get(f"current_elements_uninitialized[{number}]", 1):
            size = position.values[f"args_size[{number}]"]
            element = [position.arrays[f"args_list_[{number}][{i}]"] for i in range(size)]
            given -= _left_in(stage, element, position.inputs[number])
    return given


def _left_in(stage, element, position):
    """How many elements a dataset that is open still has."""
    made = stage_of(stage.function(tuple(element))[0])
    return _whole(made) - count_given(position, made)


def _parallel_interleave(position, stage):
    given = sum(map(_whole, _opened(stage, _before(position, stage))))
    for values in position.parts.values():
        if values["element_uninitialized"]:
            continue
        given -= int(values[".results.size"])
        if values["restore_iterator"]:
            element = [values[f".inputs[{i}]"] for i in range(int(values[".inputs.size"]))]
            given -= _left_in(stage, element, position.inputs[int(values[".id"])])
    return given


def _files(position, stage):
    """The records of files before a place in one of them."""
    if _is_over(position):
        return _whole(stage)
    file, place = position.values.get("current_file_index", 0), position
    if position.kind == "FlatMap":
        pulled = position.values["element_index"]
        is_open = not position.values["current_element_iterator_uninitialized"]
        file = pulled - 1 if is_open else pulled
        place = position.inputs[file] if is_open else position
        file += place.values.get("current_file_index", 0)
    offset = place.values.get("offset", place.values.get("current_pos", 0))
    return stage.count_before(file, offset)


def _unbatch(position, stage):
    if _is_over(position):
        return _whole(stage)
    batches, values = _before(position, stage), position.values
    waiting = values["n"] - values["current_index"]
    if stage.batch is not None:
        return batches * stage.batch - waiting
    with _walking(stage.inputs[0]) as cursor:
        return sum(len(cursor.next()[0]) for _ in range(batches)) - waiting


def _rebatch(position, stage):
    batches, offset = _before(position, stage), position.values["offset"]
    with _walking(stage.inputs[0]) as cursor:
        left = sum(len(cursor.next()[0]) for _ in range(batches))
    if offset >= 0:
        left -= len(position.arrays["tensors[0]"]) - offset
    given = 0
    while left > 0:
        left -= stage.sizes[given % len(stage.sizes)]
        given += 1
    return given


def _ignore_errors(position, stage):
    given = 0
    with _walking(stage.inputs[0], one_by_one=True) as cursor:
        for _ in range(_before(position, stage)):
            with contextlib.suppress(errors.OpError):
                given += cursor.next() is not None
    return given


def _window(position, stage):
    if not stage.inputs:  # the elements of one window
        return position.values["i"]
    return -(-(_before(position, stage) - position.values["buffer_size"]) // stage.shift)


_OF_FILES = ("FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")

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
    "AssertCardinality": (("assert_cardinality",), _settled("num_elements")),
    "Unique": (("Dataset.unique",), _settled("unique_elements_size")),
    "Filter": (("Dataset.filter",), _filter),
    "FlatMap": (("Dataset.flat_map", *_OF_FILES), _flat_map),
    "FixedLengthRecordV2": (_OF_FILES, _files),
    "IgnoreErrors": (("Dataset.ignore_errors",), _ignore_errors),
    "RebatchV2": (("Dataset.rebatch",), _rebatch),
    "Interleave": (("Dataset.interleave",), _interleave),
    "ParallelInterleaveV4": (("Dataset.interleave",), _parallel_interleave),
    "TFRecord": (_OF_FILES, _files),
    "TextLine": (_OF_FILES, _files),
    "Unbatch": (("Dataset.unbatch",), _unbatch),
    "Window": (("Dataset.window",), _window),
    "TakeWhile": (("Dataset.take_while",), _before),
    "Scan": (("Dataset.scan",), _before),
    "Shard": (("Dataset.shard",), _shard),
    "Concatenate": (("Dataset.concatenate",), _concatenate),
    "MemoryCache": (("Dataset.cache",), _cache),
    "MemoryCacheImpl": (("Dataset.cache",), _cache),
}
