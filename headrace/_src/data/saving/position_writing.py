"""Positions of iterators as TensorFlow saves them: what its iterators would remember where ours stand.

The state of each cursor becomes the values of the iterator that TensorFlow has for this step. Elements that wait are
put where TensorFlow keeps such: results of calls, buffers of prefetches and shuffles. A state is None for a walk that
has come to its end, `{"at": n}` where elements have numbers, and otherwise what the cursor says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.data.running.ragged_columns import elements_of, restored_part
from headrace._src.data.running.stages import Run, Stage, split, stacked, stage_of
from headrace._src.data.saving.position_entries import Entries, NotForTensorFlow, full_name
from headrace._src.data.saving.rearranged_steps import Rearrangement
from headrace._src.data.transformations.shuffling import seeds_kept

_ROOT = "Iterator::Root"
# What iterators have that could be told to go to another element; none of ours does.
_UNUSED_INDEX = "global_shuffle_iterator_next_index"


def positions(state: dict, stage: Stage) -> Entries:
    """What TensorFlow would save where an iterator of ours stands.

    Args:
        state: of the iterator.
        stage: the last step of its pipeline.

    Raises:
        NotForTensorFlow: TensorFlow cannot go on from there.
    """
    if getattr(stage.options, "headrace_small_positions", None):
        raise NotForTensorFlow("the elements in buffers were not wanted")
    writer = _Writer(Rearrangement(stage.options), Run(stage.options))
    writer.run.call(writer.write_all, state, stage)
    return writer.entries


class _Writer:
    """Writes one iterator after another, from the last step of a pipeline to its sources."""

    def __init__(self, rearrangement: Rearrangement, run: Run, entries: Entries | None = None) -> None:
        self.entries = Entries() if entries is None else entries
        self.run = run
        self.first: list = []  # elements that come before those of the last step
        self._does = rearrangement

    def write_all(self, state, stage):
        cursor = None if state["ended"] else state["cursor"]
        self.first = list(state.get("first", ()))
        prefix = _ROOT
        if self._does.adds_prefetch and not self._does.ends_asynchronously(stage):
            prefix = f"{_ROOT}::Prefetch"
            _put_waiting(self, prefix, self.taken_first())
        self.write(stage, cursor, prefix)
        if self.first:
            raise NotForTensorFlow("elements that TensorFlow had read ahead wait, and nothing can hold them")

    def taken_first(self) -> list:
        """The elements that come before those of the last step, once."""
        first, self.first = self.first, []
        return first

    def write(self, stage: Stage, state: Any, prefix: str) -> None:
        """Write a step with those before it, whose iterators have names that begin with the prefix."""
        stage, state = self.present(stage, state)
        kind = self._does.kind(stage)
        _RULES[kind](self, stage, state, f"{prefix}::{kind}")

    def write_inner(self, stage: Stage, state: Any, prefix: str) -> None:
        """Write a pipeline that a function of this one has made."""
        _Writer(self._does.inside(), self.run, self.entries).write(stage, state, prefix)

    def present(self, stage: Stage, state: Any) -> tuple[Stage, Any]:
        """The first step that has an iterator, and its state."""
        while self._does.is_left_out(stage):
            stage, state = stage.inputs[0], self._below_idle(stage, state)
        return stage, state

    def _below_idle(self, stage, state):
        if stage.method == "Dataset.with_options" or state is None or _is_counted(state):
            return state
        if stage.method == "Dataset.map":
            below, results = self.before_map(stage, state)
            if results:
                raise NotForTensorFlow(f"elements of {stage.where()} wait, which TensorFlow leaves out")
            return below
        return state["inner"]

    # States that stand elsewhere.

    def advanced(self, stage: Stage, state: Any, count: int) -> Any:
        """The state of a step after so many more elements, none of which is computed where that is not necessary."""
        if not count or state is None:
            return state
        if _is_counted(state):
            return {"at": state["at"] + count}
        return self.of_new_cursor(stage, lambda cursor: (cursor.restore(state), cursor.skip(count)))

    def of_new_cursor(self, stage: Stage, prepare: Callable[[Any], Any]) -> Any:
        """The state of a cursor of its own, after something was done with it."""
        with seeds_kept(stage):
            cursor = stage.cursor(self.run)
            try:
                prepare(cursor)
                return cursor.state()
            finally:
                cursor.close()

    def before_map(self, stage: Any, state: Any) -> tuple[Any, list]:
        """The state of the step before a map, and results of the map that wait."""
        if state is None or _is_counted(state):
            return state, []
        if "given" in state:
            return self._behind_block(stage, state)
        below, results = state["inner"], [element for _, element in state.get("done", ())]
        if isinstance(below, dict) and below.get("is_parsed"):
            below, more = self._behind_block(stage, below)
            results += more
        return below, results

    def _behind_block(self, stage, state):
        """The same for a cursor that reads blocks: elements of the input wait, or are read again."""
        by_batches = state.get("is_batched", False)
        source = stage.source.source if by_batches else stage.source
        below = self.advanced(source, state["inner"], state["given"])
        waiting = tuple(restored_part(part) for part in state.get("rest", ()))
        elements: list = elements_of(waiting) if waiting else []
        if by_batches:
            size = stage.source.size
            elements = [stacked(elements[i : i + size]) for i in range(0, len(elements), size)]
            below = {"inner": below}
        return below, [stage.function(element) for element in elements]

    def opened(self, stage: Any, saved: dict) -> Stage:
        """The pipeline that a function has made of an element."""
        stage.function.restore(saved["random"])
        (variant,) = stage.function(tuple(saved["element"]))
        return stage_of(variant)


def _is_counted(state) -> bool:
    return set(state) == {"at"}


def _count(stage, state):
    """How many elements a step with numbered elements has given."""
    return stage.access.size if state is None else min(state["at"], stage.access.size)


def _counted_since_the_beginning(number):
    if number < 0:
        raise NotForTensorFlow("an earlier version of headrace saved the position at which the walk began")
    return number


def _put_waiting(writer, name, elements):
    """The elements in the buffer of a prefetch."""
    put = writer.entries.put
    put(name, "buffer_size", len(elements))
    for number, element in enumerate(elements):
        place = f"{name}::{number}"
        put(place, "status.code", 0)
        put(place, "buffer.size", len(element))
        for i, part in enumerate(element):
            put(place, f"buffer[{i}]", part)


# Sources.


def _range(writer, stage, state, name):
    start, _, step = (int(value) for value in stage.recipe[1][:3])
    writer.entries.put(name, "next", start + step * _count(stage, state))
    writer.entries.put(name, _UNUSED_INDEX, 0)


def _slices(writer, stage, state, name):
    writer.entries.put_full(name, "index", _count(stage, state))
    writer.entries.put(name, _UNUSED_INDEX, 0)


def _single(writer, stage, state, name):
    writer.entries.put(name, "produced", _count(stage, state))
    writer.entries.put(name, _UNUSED_INDEX, 0)


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
        put(f"{name}::TensorSlice", _UNUSED_INDEX, 0)
        if offset is None:
            return
        put(name, "inputs_size", 1)
        put(name, "inputs[0]", stage.paths[file])
        name, file = f"{name}[{file}]::{kind}", 0
    put(name, "current_file_index", file)
    if offset is not None:
        put(name, _PLACES[kind], offset)


# Steps that call functions.


def _map(writer, stage, state, name):
    below, results = writer.before_map(stage, state)
    if results:
        raise NotForTensorFlow(f"elements of {stage.where()} wait, and TensorFlow calls this function when asked")
    writer.write(stage.source, below, name)


def _parallel_map(writer, stage, state, name):
    below, results = writer.before_map(stage, state)
    results = writer.taken_first() + results
    put = writer.entries.put
    put(name, "invocation_results_size", len(results))
    for number, result in enumerate(results):
        place = f"{name}_invocation_results[{number}]"
        put(place, "_code", 0)
        put(place, "size", len(result))
        for i, part in enumerate(result):
            put(place, f"[{i}]", part)
        put(place, "end_of_input", 0)
    writer.write(stage.source, below, name)


def _map_and_batch(writer, stage, state, name):
    size = stage.size
    below = _below_batch(stage, state)
    map_stage = stage.source
    while map_stage.method != "Dataset.map":  # what stands between is left out
        map_stage, below = map_stage.inputs[0], writer._below_idle(map_stage, below)
    below, results = writer.before_map(map_stage, below)
    put = writer.entries.put
    if writer.first:
        raise NotForTensorFlow("batches that TensorFlow had read ahead wait")
    put(name, "call_counter", len(results))
    batches = [results[i : i + size] for i in range(0, len(results), size)]
    put(name, "batch_results_size", len(batches))
    for number, batch in enumerate(batches):
        place = f"batch_results_{number}"
        put(name, f"{place}_num_calls", size - len(batch))
        put(name, f"{place}_num_elements", len(batch))
        put(name, f"{place}_output_allocated", b"")
        put(name, full_name(name, f"{place}_output_size"), len(batch[0]))
        put(name, full_name(name, f"{place}_status_code"), 0)
        for i, part in enumerate(stacked(batch)):
            put(full_name(name, place), f"output_{i}", part)
    writer.write(map_stage.source, below, name)


def _filter(writer, stage, state, name):
    put = writer.entries.put
    put(name, "input_impl_empty", int(state is None))
    given = 0 if state is None else _counted_since_the_beginning(state["kept"])
    put(name, "filtered_elements", given)
    put(name, "dropped_elements", 0 if state is None else state["number"] - given)
    if state is not None:
        writer.write(stage.source, state["inner"], name)


def _scan(writer, stage, state, name):
    values = stage.initial if state is None else state["state"]
    writer.entries.put_full(name, "state_size", len(values))
    for i, value in enumerate(values):
        writer.entries.put_full(name, f"state[{i}]", np.asarray(value))
    writer.write(stage.source, None if state is None else state["inner"], name)


def _take_while(writer, stage, state, name):
    is_over = state is None or state["is_over"]
    writer.entries.put_full(name, "input_impl_empty", int(is_over))
    if not is_over:
        writer.write(stage.source, state["inner"], name)


def _flat_map(writer, stage, state, name):
    put = writer.entries.put
    put(name, "exhausted", int(state is None))
    if state is None:
        put(name, "element_index", 0)
        put(name, "current_element_iterator_uninitialized", 1)
        return
    opened = state["opened"]
    put(name, "element_index", state["number"])
    put(name, "current_element_iterator_uninitialized", int(opened is None))
    writer.write(stage.inputs[0], state["inner"], name)
    if opened is not None:
        put(name, "inputs_size", len(opened["element"]))
        for i, part in enumerate(opened["element"]):
            put(name, f"inputs[{i}]", part)
        writer.write_inner(writer.opened(stage, opened), opened["cursor"], f"{name}[{state['number'] - 1}]")


_NOTHING_OPEN = {"turn": 0, "taken": 0, "is_over": True, "number": 0, "inner": None, "opened": []}


def _interleave(writer, stage, state, name):
    state = state or _NOTHING_OPEN
    put = writer.entries.put
    opened = state["opened"] or [None] * stage.cycle
    put(name, "cycle_index", state["turn"])
    put(name, "block_index", state["taken"])
    put(name, "end_of_input", int(state["is_over"]))
    put(name, "num_open", sum(each is not None for each in opened))
    put(name, "next_input_element_index", state["number"])
    put(name, "last_checkpointed_input_element_index", -1)
    writer.write(stage.source, state["inner"], name)
    for place, each in enumerate(opened):
        put(name, f"current_elements_uninitialized[{place}]", int(each is None))
        if each is not None:
            put(name, f"args_size[{place}]", len(each["element"]))
            for i, part in enumerate(each["element"]):
                put(name, f"args_list_[{place}][{i}]", part)
            writer.write_inner(writer.opened(stage, each), each["cursor"], f"{name}[{place}]")


def _parallel_interleave(writer, stage, state, name):
    state = state or _NOTHING_OPEN
    if writer.first:
        raise NotForTensorFlow("elements that TensorFlow had read ahead wait")
    put = writer.entries.put
    state = _with_all_open(writer, stage, state)
    opened = state["opened"] or [None] * stage.cycle
    put(name, "block_index", state["taken"])
    put(name, "cycle_index", state["turn"])
    put(name, "end_of_input", int(state["is_over"]))
    put(name, "element_id_counter", len(opened))
    put(name, "current_elements.size", len(opened))
    put(name, "future_elements.size", 0)
    writer.write(stage.source, state["inner"], name)
    for number, each in enumerate(opened):
        place = f"{name}::current_elements::{number}"
        put(place, "element_uninitialized", int(each is None))
        if each is not None:
            _put_open_element(writer, stage, each, place, f"{name}[{number}]", number)


def _with_all_open(writer, stage, state):
    """The state once all places have a dataset: TensorFlow opens them at once, headrace when it is their turn."""
    free = [place for place, each in enumerate(state["opened"]) if each is None]
    if state["is_over"] or not free:
        return state
    free.sort(key=lambda place: (place - state["turn"]) % stage.cycle)
    elements: list = []

    def pull(cursor):
        cursor.restore(state["inner"])
        elements.extend(element for _ in free if (element := cursor.next()) is not None)

    below, opened = writer.of_new_cursor(stage.source, pull), list(state["opened"])
    for place, element in zip(free, elements):
        saved = {"element": list(element), "random": stage.function.state()}
        cursor = writer.of_new_cursor(writer.opened(stage, saved), lambda cursor: None)
        opened[place] = {**saved, "cursor": cursor}
    return {**state, "inner": below, "opened": opened, "is_over": len(elements) < len(free)}


def _put_open_element(writer, stage, opened, place, prefix, number):
    put = writer.entries.put
    cursor, waiting = opened["cursor"], []
    if "ready" in cursor:  # a thread reads ahead
        cursor, waiting = cursor["inner"], cursor["ready"]
    put(place, ".id", number)
    put(place, ".inputs.size", len(opened["element"]))
    for i, part in enumerate(opened["element"]):
        put(place, f".inputs[{i}]", part)
    put(place, "restore_iterator", 1)
    put(place, ".results.size", len(waiting))
    for number, element in enumerate(waiting):
        put(place, f".results[{number}].code", 0)
        put(place, f".results[{number}].size", len(element))
        for i, part in enumerate(element):
            put(place, f".results[{number}][{i}]", part)
        put(place, f".results[{number}].is_ready", b"")
    writer.write_inner(writer.opened(stage, opened), cursor, prefix)


# Steps that gather or divide elements.


def _below_batch(stage, state):
    if state is None:
        return None
    if _is_counted(state):
        return {"at": min(state["at"] * stage.size, stage.source.access.size)}
    return state["inner"]


def _batch(writer, stage, state, name):
    writer.entries.put(name, "input_impl_empty", int(state is None))
    if state is not None:
        writer.write(stage.source, _below_batch(stage, state), name)


def _parallel_batch(writer, stage, state, name):
    if writer.first:
        raise NotForTensorFlow("batches that TensorFlow had read ahead wait")
    writer.entries.put(name, "batch_results_size", 0)
    writer.write(stage.source, _below_batch(stage, state), name)


def _padded_batch(writer, stage, state, name):
    writer.entries.put(name, "exhausted", int(state is None))
    if state is not None:
        writer.write(stage.inputs[0], _below_batch(stage, state), name)


def _unbatch(writer, stage, state, name):
    rest = [] if state is None else state["rest"]
    put = writer.entries.put_full
    put(name, "input_impl_empty", int(state is None))
    put(name, "current_index", 0)
    put(name, "n", len(rest[0]) if rest else 0)
    for i, part in enumerate(rest):
        put(name, f"tensors[{i}]", part)
    if state is not None:
        writer.write(stage.source, state["inner"], name)


def _rebatch(writer, stage, state, name):
    rest = [] if state is None or state["rest"] is None else state["rest"]
    has_rest = bool(rest) and len(rest[0]) > 0
    put = writer.entries.put_full
    put(name, "batch_sizes_index", 0 if state is None else state["turn"])
    put(name, "offset", 0 if has_rest else -1)
    for i, part in enumerate(rest if has_rest else ()):
        put(name, f"tensors[{i}]", part)
    writer.write(stage.source, None if state is None or state["is_over"] else state["inner"], name)


def _window(writer, stage, state, name):
    put = writer.entries.put
    if not stage.inputs:  # the elements of one window
        put(name, "i", _count(stage, state))
        return
    if state is not None and _is_counted(state):
        # The elements of the next window are made when it is asked for, as after a `shift` beyond the window.
        at = min(state["at"] * stage.shift, stage.source.access.size)
        state = {"buffer": [], "is_over": False, "inner": {"at": at}}
    elements = [] if state is None else state["buffer"]
    is_over = state is None or state["is_over"]
    if is_over:
        put(name, "input_impl_empty", b"")
    put(name, "buffer_size", len(elements))
    for number, element in enumerate(elements):
        put(name, f"buffer[{number}].code", 0)
        put(name, f"buffer[{number}].size", len(element))
        for i, part in enumerate(element):
            put(name, f"buffer[{number}][{i}]", part)
    if not is_over:
        writer.write(stage.source, state["inner"], name)


# Steps that pass elements on.


def _prefetch(writer, stage, state, name):
    waiting, below = [], state
    if state is not None and stage.size:  # without a buffer, the cursor is that of the input
        waiting, below = state["ready"], state["inner"]
    _put_waiting(writer, name, writer.taken_first() + waiting)
    writer.write(stage.source, below, name)


def _take(writer, stage, state, name):
    put = writer.entries.put
    if state is None or _is_counted(state):
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
    if state is not None and _is_counted(state):
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
    if state is not None and _is_counted(state):
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
    below = [state] * len(stage.inputs) if _is_counted(state) else state["inner"]
    for number, (source, part) in enumerate(zip(stage.inputs, below)):
        writer.write(source, part, f"{name}[{number}]")


def _concatenate(writer, stage, state, name):
    put = writer.entries.put
    number, below = 2, None
    if state is not None and _is_counted(state):
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
    if state is not None and not _is_counted(state):
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
    put(name, _UNUSED_INDEX, 0)


def _cached(stage, state):
    """How many elements were given, the state of the input (None when all elements are there), and the elements."""
    if state is None:
        if stage.elements is None:
            raise NotForTensorFlow(f"what {stage.where()} has kept is not known at the end of a walk")
        return len(stage.elements), None, stage.elements
    at = state["at"] if state["is_full"] or state["inner"] is not None else len(state["elements"])
    return at, state["inner"], state["elements"]


def _remembered(stage, access, state):
    at = _count(stage, state)
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
    if state is not None and _is_counted(state):
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
        shuffle, below = shuffle.inputs[0], writer._below_idle(shuffle, below)
    if below is not None:
        before = _counted_since_the_beginning(state["passed"]) - below["start"]
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


_RULES: dict[str, Callable[[_Writer, Any, Any, str], None]] = {
    "AssertCardinality": _assert_cardinality,
    "BatchV2": _batch,
    "Concatenate": _concatenate,
    "EmptyRepeat": _nothing,
    "EmptySkip": _nothing,
    "EmptyTake": _nothing,
    "Filter": _filter,
    "FiniteRepeat": _repeat,
    "FiniteSkip": _skip,
    "FiniteTake": _take,
    "FixedLengthRecordV2": _files,
    "FlatMap": _flat_map,
    "ForeverRepeat": _repeat,
    "FromTensor": _single,
    "Interleave": _interleave,
    "Map": _map,
    "MapAndBatch": _map_and_batch,
    "MemoryCache": _cache,
    "PaddedBatchV2": _padded_batch,
    "ParallelBatch": _parallel_batch,
    "ParallelInterleaveV4": _parallel_interleave,
    "ParallelMapV2": _parallel_map,
    "Prefetch": _prefetch,
    "Range": _range,
    "RebatchV2": _rebatch,
    "Scan": _scan,
    "Shard": _shard,
    "Shuffle": _shuffle,
    "ShuffleAndRepeat": _shuffle_and_repeat,
    "TFRecord": _files,
    "TakeWhile": _take_while,
    "TensorSlice": _slices,
    "TextLine": _files,
    "Unbatch": _unbatch,
    "Unique": _unique,
    "Window": _window,
    "Zip": _zip,
}
