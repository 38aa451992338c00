"""What rules for positions share: states of cursors, and elements that wait.

A state is None for a walk that has come to its end, `{"at": n}` where elements have numbers, and otherwise what the
cursor says.
"""

from __future__ import annotations

from headrace._src.data.saving.position_entries import NotForTensorFlow

# What iterators have that could be told to go to another element; none of ours does.
UNUSED_INDEX = "global_shuffle_iterator_next_index"


def is_counted(state) -> bool:
    return set(state) == {"at"}


def count_of(stage, state):
    """How many elements a step with numbered elements has given."""
    return stage.access.size if state is None else min(state["at"], stage.access.size)


def counted_since_the_beginning(number):
    if number < 0:
        raise NotForTensorFlow("an earlier version of headrace saved the position at which the walk began")
    return number


def put_waiting(writer, name, elements):
    """The elements in the buffer of a prefetch."""
    put = writer.entries.put
    put(name, "buffer_size", len(elements))
    for number, element in enumerate(elements):
        place = f"{name}::{number}"
        put(place, "status.code", 0)
        put(place, "buffer.size", len(element))
        for i, part in enumerate(element):
            put(place, f"buffer[{i}]", part)
