"""What is done with the trees of regular expressions, which may be nested deeper than Python calls functions."""

import functools
from collections.abc import Callable, Generator
from typing import Any

from headrace._src.ops.strings import regex_classes as classes

_ANY_BYTE = ("class", ((0, 255),))


def walked(step: Callable[..., Generator], *arguments) -> Any:
    """The result of a recursive function, written as a generator: it yields the arguments of each call of itself."""
    calls = [step(*arguments)]
    result = None
    while calls:
        try:
            calls.append(step(*calls[-1].send(result)))
            result = None
        except StopIteration as done:
            calls.pop()
            result = done.value
    return result


def in_bytes(tree: tuple) -> tuple:
    """The same tree with classes of bytes: those of the UTF-8 of characters."""
    return walked(_in_bytes, tree)


def _in_bytes(node):
    kind = node[0]
    if kind == "class":
        return _bytes_of_class(node[1])
    if kind == "any_byte":
        return _ANY_BYTE
    if kind == "group":
        return ("group", node[1], (yield (node[2],)))
    if kind == "repeat":
        return ("repeat", (yield (node[1],)), *node[2:])
    if kind in ("sequence", "either"):
        items = []
        for item in node[1]:
            items.append((yield (item,)))
        return (kind, items)
    return node


@functools.lru_cache(256)
def _bytes_of_class(ranges):
    return _alternatives_of_bytes(
        [sequence for low, high in ranges for sequence in classes.utf8_sequences(low, high)]
    )


def _alternatives_of_bytes(sequences):
    """Sequences of ranges of bytes as a tree: those that begin alike share that, last bytes are one class."""
    single = tuple(classes.normalized(sequence[0] for sequence in sequences if len(sequence) == 1))
    items: list = [("class", single)] if single or not sequences else []
    longer: dict[tuple, list] = {}
    for first, *rest in sequences:
        if rest:
            longer.setdefault(first, []).append(rest)
    for first, rests in longer.items():
        items.append(("sequence", [("class", (first,)), _alternatives_of_bytes(rests)]))
    return items[0] if len(items) == 1 else ("either", items)


def for_searching(tree: tuple) -> tuple:
    """A tree that finds the same matches, with less to try where the pattern ends with a lazy repetition.

    `<.*?>` finds what `<[^>\\n]*>` does: the first `>` ends the match, since nothing comes after it that could fail.
    """
    if tree[0] != "sequence" or len(tree[1]) < 2:
        return tree
    *items, lazy, end = tree[1]
    wrapped = lazy[0] == "group"
    inner = lazy[2] if wrapped else lazy
    is_lazy = inner[0] == "repeat" and inner[1][0] == end[0] == "class" and inner[3] is None and not inner[4]
    if not is_lazy:
        return tree
    _, repeated, low, _, _, counted = inner
    others = tuple(classes.without(repeated[1], end[1]))
    parts = [("repeat", repeated, low, low, True, counted)] if low else []
    changed = ("sequence", [*parts, ("repeat", ("class", others), 0, None, True, False)])
    return ("sequence", [*items, ("group", lazy[1], changed) if wrapped else changed, end])


def instruction_count(tree: tuple) -> int:
    """About how many instructions RE2 would compile the tree to."""
    return walked(_instruction_count, tree)


def _instruction_count(node):
    kind = node[0]
    if kind == "class":
        return _class_size(node[1])
    if kind == "group":
        return 2 + (yield (node[2],))
    if kind in ("sequence", "either"):
        total = 0 if kind == "sequence" else len(node[1]) - 1
        for item in node[1]:
            total += yield (item,)
        return total
    if kind == "repeat":
        _, inner, low, high, _, _ = node
        size = yield (inner,)
        if high is None:
            return max(low, 1) * size + 1
        return high * size + high - low
    return 1


@functools.lru_cache(256)
def _class_size(ranges):
    if ranges[-1:] and ranges[-1][1] < 128:
        return 2 * len(ranges) - 1
    suffixes = set()
    for low, high in ranges:
        for sequence in classes.utf8_sequences(low, high):
            suffixes.update(tuple(sequence[at:]) for at in range(len(sequence)))
    return max(1, 2 * len(suffixes) - 1)
