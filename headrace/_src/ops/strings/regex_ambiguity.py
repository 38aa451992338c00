"""Which parts of regular expressions are deterministic: each character tells to which position it belongs.

Positions are the characters in the order in which they are written; two that can stand in the same place of a text must
have no character in common, and nothing may be left out in two ways.
"""

from __future__ import annotations

from headrace._src.ops.strings import regex_classes as classes

_MOST_POSITIONS = 1500  # in one part: more are not looked at
_MOST_PAIRS = 30_000


class Positions:
    """The positions of a part, and which may follow which.

    Attributes:
        ranges: for each position, its characters.
        follow: for each position, those that can come after it.
        is_ambiguous: whether the part is not deterministic.
    """

    def __init__(self):
        self.ranges: list = []
        self.follow: list[set] = []
        self.is_ambiguous = False
        self._pairs = 0

    @property
    def is_large(self) -> bool:
        """Whether there was too much to look at."""
        return len(self.ranges) > _MOST_POSITIONS or self._pairs > _MOST_PAIRS

    def visit(self, node):
        """(first positions, last positions, whether it matches nothing at all too)."""
        kind = node[0]
        if self.is_large:
            return set(), set(), True
        if kind == "class":
            self.ranges.append(node[1])
            self.follow.append(set())
            here = {len(self.ranges) - 1}
            return here, here, False
        if kind == "group":
            return self.visit(node[2])
        if kind in ("sequence", "run"):
            return self._sequence(node[1])
        if kind == "either":
            return self._either(node[1])
        if kind == "repeat":
            return self._repeat(node)
        return set(), set(), True

    def _either(self, items):
        parts = [self.visit(item) for item in items]
        self._compare([first for first, _, _ in parts])
        empties = sum(empty for _, _, empty in parts)
        self.is_ambiguous |= empties > 1
        firsts, lasts = [first for first, _, _ in parts], [last for _, last, _ in parts]
        return set().union(*firsts), set().union(*lasts), empties > 0

    def _sequence(self, items):
        first, last, empty = set(), set(), True
        for item in items:
            first, last, empty = self.joined((first, last, empty), self.visit(item))
        return first, last, empty

    def joined(self, one, two):
        """One part after another."""
        first, last, empty = one
        next_first, next_last, next_empty = two
        for position in last:
            self._join(position, next_first)
        if empty and first:
            self._compare([first, next_first])
        return (
            first | next_first if empty else first,
            last | next_last if next_empty else next_last,
            empty and next_empty,
        )

    def _repeat(self, node):
        _, inner, low, high, _, _ = node
        first, last, empty = self.visit(inner)
        # An empty round may stand anywhere between others; and so may none.
        self.is_ambiguous |= empty and (high is None or high > 1 or not low)
        if high is None or high > 1:
            for position in last:
                # The same continuation, once within the body and once by starting anew.
                self.is_ambiguous |= not self.follow[position].isdisjoint(first)
                self._join(position, first)
        return first, last, empty or low == 0

    def _join(self, position, following):
        before = self.follow[position]
        new = following - before
        if before and new:
            self._compare([before, new])
        self._pairs += len(new)
        before |= new

    def _compare(self, choices):
        """Note whether one character can begin two of the choices."""
        if self.is_ambiguous or self.is_large:
            return
        pairs = []
        for number, choice in enumerate(choices):
            ranges = classes.normalized(pair for position in choice for pair in self.ranges[position])
            pairs += [(low, high, number) for low, high in ranges]
        self._pairs += len(pairs) // 8
        end, owner = -1, None
        for low, high, number in sorted(pairs):
            if low <= end and number != owner:
                self.is_ambiguous = True
                return
            if high > end:
                end, owner = high, number


    def choices(self, first: set) -> int:
        """How many positions are tried in one place of a text, at most."""
        return max([1, len(first), *map(len, self.follow)])


def deterministic_choices(node: tuple) -> int | None:
    """How many positions of a part are tried in one place; None if it is not deterministic, or too large to tell."""
    positions = Positions()
    first, _, _ = positions.visit(node)
    return None if positions.is_ambiguous or positions.is_large else positions.choices(first)


def deterministic_runs(items: list) -> list[tuple[list, int | None]]:
    """The items of a sequence in runs, with what `deterministic_choices` says of each: None is said of single items."""
    runs: list[tuple[list, int | None]] = []
    positions: Positions | None = None
    so_far: tuple = ()
    for item in items:
        if positions is not None:
            so_far = positions.joined(so_far, positions.visit(item))
            if not (positions.is_ambiguous or positions.is_large):
                runs[-1][0].append(item)
                continue
            runs[-1] = (runs[-1][0], deterministic_choices(("sequence", runs[-1][0])))
        positions = Positions()
        so_far = positions.visit(item)
        runs.append(([item], 0))
        if positions.is_ambiguous or positions.is_large:
            positions = None
            runs[-1] = ([item], None)
    if positions is not None:
        runs[-1] = (runs[-1][0], positions.choices(so_far[0]))
    return runs
