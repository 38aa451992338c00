"""How TensorFlow's iterators remember their position: those that call functions, gather elements or divide them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.data.running.stages import stacked
from headrace._src.data.saving.position_entries import NotForTensorFlow, full_name
from headrace._src.data.saving.position_states import count_of, counted_since_the_beginning, is_counted


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
        map_stage, below = map_stage.inputs[0], writer.below_idle(map_stage, below)
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
    given = 0 if state is None else counted_since_the_beginning(state["kept"])
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
    if is_counted(state):
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
        put(name, "i", count_of(stage, state))
        return
    if state is not None and is_counted(state):
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


RULES: dict[str, Callable[[Any, Any, Any, str], None]] = {
    "BatchV2": _batch,
    "Filter": _filter,
    "FlatMap": _flat_map,
    "Interleave": _interleave,
    "Map": _map,
    "MapAndBatch": _map_and_batch,
    "PaddedBatchV2": _padded_batch,
    "ParallelBatch": _parallel_batch,
    "ParallelInterleaveV4": _parallel_interleave,
    "ParallelMapV2": _parallel_map,
    "RebatchV2": _rebatch,
    "Scan": _scan,
    "TakeWhile": _take_while,
    "Unbatch": _unbatch,
    "Window": _window,
}
