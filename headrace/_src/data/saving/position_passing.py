"""How TensorFlow's iterators remember their position: sources, and those that pass elements on, or keep them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.data.running.stages import split
from headrace._src.data.saving.position_entries import NotForTensorFlow
from headrace._src.data.saving.position_states import (
    UNUSED_INDEX,
    count_of,
    counted_since_the_beginning,
    is_counted,
    put_waiting,
)

# Sources.


def _range(writer, stage, state, name):
    start, _, step = (int(value) for value in stage.recipe[1][:3])
    writer.entries.put(name, "next", start + step * count_of(stage, state))
    writer.entries.put(name, UNUSED_INDEX, 0)


def _slices(writer, stage, state, name):
    writer.entries.put_full(name, "index", count_of(stage, state))
    writer.entries.put(name, UNUSED_INDEX, 0)


def _single(writer, stage, state, name):
    writer.entries.put(name, "produced", count_of(stage, state))
    writer.entries.put(name, UNUSED_INDEX, 0)


# The key of the place in a file.
_PLACES = {"TFRecord": "offset", "TextLine": "current_pos", "FixedLengthRecordV2": "current_pos"}


def _files(writer, stage, state, name):
    prefix, _, kind = name.rpartition("::")
    file = len(stage.paths) if state is None else state["file"]
    offset = None if state is None else state.get("offset")
    put = writer.entries.put
    if stage.recipe[1][0].ndim:  # TF: of several files, a flat_map over their names makes a dataset of each
        name = f"{prefix}::FlatMap"
        pulled = file if offset is None else file + 1
        put(name, "exhausted", int(state is None))
        put(name, "element_index", pulled)
        put(name, "current_element_iterator_uninitialized", int(offset is None))
        writer.entries.put_full(f"{name}::TensorSlice", "index", pulled)
        put(f"{name}::TensorSlice", UNUSED_INDEX, 0)
        if offset is None:
            return
        put(name, "inputs_size", 1)
        put(name, "inputs[0]", stage.paths[file])
        name, file = f"{name}[{file}]::{kind}", 0
    put(name, "current_file_index", file)
    if offset is not None:
        put(name, _PLACES[kind], offset)


# Steps that pass elements on.


def _prefetch(writer, stage, state, name):
    waiting, below = [], state
    if state is not None and stage.size:  # without a buffer, the cursor is that of the input
        waiting, below = state["ready"], state["inner"]
    put_waiting(writer, name, writer.taken_first() + waiting)
    writer.write(stage.source, below, name)


def _take(writer, stage, state, name):
    put = writer.entries.put
    if state is None or is_counted(state):
        given = stage.count if state is None else state["at"]
        below = state
    else:
        given, below = stage.count - state["left"], state["inner"]
    put(name, "i", given)
    put(name, "input_impl_empty", int(state is None))
    if state is not None:
        writer.write(stage.source, below, name)


def _skip(writer, stage, state, name):
    put = writer.entries.put
    passed, below = stage.count, None
    if state is not None and is_counted(state):
        below = {"at": min(stage.count + state["at"], stage.source.access.size)}
    elif state is not None:
        passed, below = stage.count - state["left"], state["inner"]
    put(name, "i", passed)
    put(name, "input_impl_empty", int(state is None))
    if state is not None:
        writer.write(stage.source, below, name)


def _shard(writer, stage, state, name):
    put = writer.entries.put
    below, pulled = None, 0
    if state is not None and is_counted(state):
        count = state["at"]
        pulled = min((count - 1) * stage.shards + stage.index + 1, stage.source.access.size) if count else 0
        below = {"at": pulled}
    elif state is not None:
        # Only the rest of a division of this number counts.
        below, pulled = state["inner"], 0 if state["is_first"] else stage.index + 1
    put(name, "input_impl_empty", int(state is None))
    if state is not None:
        put(name, "next_index", pulled)
        writer.write(stage.source, below, name)


def _zip(writer, stage, state, name):
    writer.entries.put(name, "input_impls_empty", int(state is None))
    if state is None:
        return
    below = [state] * len(stage.inputs) if is_counted(state) else state["inner"]
    for number, (source, part) in enumerate(zip(stage.inputs, below)):
        writer.write(source, part, f"{name}[{number}]")


def _concatenate(writer, stage, state, name):
    put = writer.entries.put
    number, below = 2, None
    if state is not None and is_counted(state):
        before = stage.inputs[0].access.size
        number = int(state["at"] > before)
        below = {"at": state["at"] - before * number}
    elif state is not None:
        number, below = state["number"], state["inner"]
    put(name, "i", number)
    put(name, "element_count", 0)
    for i, source in enumerate(stage.inputs):
        put(name, f"input_impl_uninitialized[{i}]", int(i != number))
        if i == number:
            writer.write(source, below, f"{name}[{i}]")


def _unique(writer, stage, state, name):
    if state is None:
        raise NotForTensorFlow(f"what {stage.where()} has seen is not known at the end of a walk")
    seen = state["seen"]
    writer.entries.put_full(name, "unique_elements_size", len(seen))
    for i, part in enumerate(seen):
        writer.entries.put_full(name, f"unique_elements[{i}]", part)
    writer.write(stage.inputs[0], state["inner"], name)


def _assert_cardinality(writer, stage, state, name):
    below, given = state, stage.count if state is None else state.get("at", 0)
    if state is not None and not is_counted(state):
        below, given = state["inner"], state["number"]
    writer.entries.put_full(name, "num_elements", given)
    writer.write(stage.inputs[0], below, name)


def _cache(writer, stage, state, name):
    access = stage.access
    at, below, elements = _cached(stage, state) if access is None else _remembered(stage, access, state)
    put = writer.entries.put
    inner = f"{name}Impl"
    if below is None:
        put(name, "cache_completed", b"")
        put(name, "num_elements", len(elements))
        writer.entries.put_elements(name, elements)
        put(inner, "index", at)
    else:
        put(inner, "num_elements", len(elements))
        writer.entries.put_elements(inner, elements)
        writer.write(stage.source, below, inner)
    put(name, UNUSED_INDEX, 0)


def _cached(stage, state):
    """How many elements were given, the state of the input (None when all elements are there), and the elements."""
    if state is None:
        if stage.elements is None:
            raise NotForTensorFlow(f"what {stage.where()} has kept is not known at the end of a walk")
        return len(stage.elements), None, stage.elements
    at = state["at"] if state["is_full"] or state["inner"] is not None else len(state["elements"])
    return at, state["inner"], state["elements"]


def _remembered(stage, access, state):
    at = count_of(stage, state)
    is_full = at == access.size
    return at, None if is_full else {"at": at}, _gathered(stage.source, access, np.arange(at))


def _gathered(stage, access, indices) -> list:
    """Elements by number."""
    if len(indices) and all(shape.is_fully_defined() for shape in stage.shapes):
        return split(access.gather(indices))
    return [access.get(int(i)) for i in indices]


# Repetitions and shuffles.


def _repeat(writer, stage, state, name):
    put = writer.entries.put
    number, below = max(0, stage.count), None
    if state is not None and is_counted(state):
        size = stage.source.access.size
        at = state["at"]
        # An element at the end of a round: the round is over when the next one is asked for.
        number = max(0, at - 1) // size if size else 0
        below = {"at": at - number * size}
    elif state is not None and state["inner"] is not None:
        number, below = state["round"], state["inner"]
    put(name, "i", number)
    put(name, "input_impl_empty", int(below is None))
    if below is not None:
        writer.write(stage.source, below, f"{name}[{number}]")


def _shuffle(writer, stage, state, name):
    _put_shuffle(writer, stage, state, name, 1, 0)


def _shuffle_and_repeat(writer, stage, state, name):
    shuffle, below, rounds, before = stage.source, None, max(0, stage.count), 0
    if state is not None and state["inner"] is not None:
        below, rounds = state["inner"], state["round"] + 1
    while shuffle.method != "Dataset.shuffle":  # what stands between is left out
        shuffle, below = shuffle.inputs[0], writer.below_idle(shuffle, below)
    if below is not None:
        before = counted_since_the_beginning(state["passed"]) - below["start"]
    _put_shuffle(writer, shuffle, below, name, rounds, before)


def _put_shuffle(writer, stage, state, name, rounds, before):
    """Write a shuffle.

    Args:
        writer: a `_Writer`.
        stage: a `ShuffleStage`.
        state: of its cursor.
        name: of the iterator.
        rounds: how many walks through the input have begun.
        before: how many elements the walks before this one had.
    """
    seeds = stage.seeds.state() if state is None else state["next"]
    own = seeds["seeds"] if state is None else state["seeds"]
    start, end, kept, below = _buffered(stage, state)
    put = writer.entries.put
    has_begun = end > 0 or (state is not None and (rounds > 1 or state.get("is_over", False)))
    put(name, "epoch_num_random_samples", max(2, seeds["used"]))
    put(name, "num_random_samples", 0 if state is None else state["used"])
    put(name, "seed", _signed(own[0]))
    put(name, "seed2", _signed(own[1]))
    put(name, "end_of_input_sequence", int(below is None or not has_begun))
    put(name, "epoch", rounds if has_begun or state is None else rounds - 1)
    put(name, "num_elements", end - start)
    put(name, "slices_size", int(has_begun))
    if has_begun:
        put(name, "slices_start_0", before + start)
        put(name, "slices_end_0", before + end)
        put(name, "slices_reached_end_of_sequence_0", int(below is None))
        put(name, "data_produced", b"")
    buffer = _ring(stage, kept, before + start)
    put(f"{name}:buffer", "num_elements", len(buffer))
    writer.entries.put_elements(f"{name}:buffer", buffer)
    if below is not None and has_begun:
        writer.write(stage.source, below, name)


def _signed(number):
    return number - 2**64 if number >= 2**63 else number


def _buffered(stage, state):
    """Where the buffer of a shuffle begins and ends, its elements in order, and the state of the input."""
    if state is None:
        return 0, 0, [], None
    start, end, buffer = state["start"], state["end"], state["buffer"]
    size = len(buffer) if stage.size is None else min(stage.size, max(1, len(buffer)))
    places = [place % size for place in range(start, end)]
    if isinstance(buffer, np.ndarray):  # numbers of elements
        return start, end, _gathered(stage.source, stage.source.access, buffer[places]), {"at": end}
    return start, end, [buffer[place] for place in places], None if state["is_over"] else state["inner"]


def _ring(stage, elements, first):
    """Elements as they lie in a buffer that is filled again and again from its beginning."""
    size = stage.size
    if size is None:
        return [None] * first + elements
    needed = first + len(elements) if first + len(elements) <= size else size
    buffer: list = [None] * needed
    for number, element in enumerate(elements):
        buffer[(first + number) % size] = element
    return buffer


def _nothing(writer, stage, state, name):
    """An iterator without elements remembers nothing."""


RULES: dict[str, Callable[[Any, Any, Any, str], None]] = {
    "AssertCardinality": _assert_cardinality,
    "Concatenate": _concatenate,
    "EmptyRepeat": _nothing,
    "EmptySkip": _nothing,
    "EmptyTake": _nothing,
    "FiniteRepeat": _repeat,
    "FiniteSkip": _skip,
    "FiniteTake": _take,
    "FixedLengthRecordV2": _files,
    "ForeverRepeat": _repeat,
    "FromTensor": _single,
    "MemoryCache": _cache,
    "Prefetch": _prefetch,
    "Range": _range,
    "Shard": _shard,
    "Shuffle": _shuffle,
    "ShuffleAndRepeat": _shuffle_and_repeat,
    "TFRecord": _files,
    "TensorSlice": _slices,
    "TextLine": _files,
    "Unique": _unique,
    "Zip": _zip,
}
