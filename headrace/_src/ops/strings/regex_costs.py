"""How long Python's `re` can take for a pattern, at most: where that is not linear, `regex_machine` is used instead.

`re` tries alternatives one after the other, from each place of a text. That is fast, and exponential for `(a+)+b`,
cubic for `(.*)(.*)c`, quadratic for `.*foo`. What is computed here is an upper bound for its steps: in how many ways a
part can match from one place, after each of which what follows may have to be tried, and the work of that. A part is
deterministic when each character tells which position of the pattern it belongs to (`regex_ambiguity`): it then matches
in one way up to each place.
"""

from __future__ import annotations

import functools
import math
import re

from headrace._src.ops.strings import regex_classes as classes
from headrace._src.ops.strings.regex_ambiguity import Positions, deterministic_choices, deterministic_runs
from headrace._src.ops.strings.regex_translation import class_text

# Steps of `re` for each character of a text that are as good as linear: few microseconds at worst.
_STEPS = 1024
_LARGEST_SIZE = 16  # of a pattern, in classes: so many times more it may be for a large one
_UNLIMITED = 1 << 62
_LONG = float(1 << 40)
_DEEPEST = 40
ATTEMPTS = 2  # at places where a match has ended, when only few others are looked at
_REMEMBERED_LENGTHS = 4096


class Costs:
    """What `re` needs for a pattern.

    Args:
        tree: the pattern, on the characters that are matched.
        depth: how deep its groups are nested.
    """

    def __init__(self, tree: tuple, depth: int):
        self.is_possible = depth <= _DEEPEST
        self._plain = tree
        self._known: dict[float, float] = {}  # the work for lengths
        if self.is_possible:
            self._steps = _Steps()
            self._tree = self._steps.prepared(tree)
            self._budget = _STEPS * min(_size(tree), _LARGEST_SIZE)

    @functools.cached_property
    def longest_match(self) -> int:
        """The longest text that `re` matches as a whole in linear time; -1 for none."""
        return self._longest(lambda length: self._work(length) / (length + 1))

    @functools.cached_property
    def longest_search(self) -> int:
        """The longest text that `re` searches, from all places, in linear time; -1 for none."""
        if self.is_possible and self._failing_work(self._plain) <= self._budget:
            return _UNLIMITED
        return self._longest_attempt

    @functools.cached_property
    def _longest_attempt(self):
        """So many characters may be looked at from each place."""
        return self._longest(self._work)

    def _work(self, length):
        known = self._known.get(length)
        if known is None:
            if len(self._known) >= _REMEMBERED_LENGTHS:
                self._known.clear()
            known = self._known[length] = self._steps.of(self._tree, length)[1]
        return known

    def _longest(self, cost):
        """The largest length up to which the cost stays within the budget."""
        if not self.is_possible or not cost(0) <= self._budget:
            return -1
        low, high = 0, 1
        while cost(high) <= self._budget:  # it need not rise all the time: more characters share what a pattern costs
            low, high = high, 2 * high
            if high > _LONG:
                return _UNLIMITED
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if cost(middle) <= self._budget else (low, middle)
        return low

    def allows_match(self, text: str) -> bool:
        """Whether `re` matches the text as a whole in linear time."""
        return len(text) <= self.longest_match

    def allows_search(self, text: str) -> bool:
        """Whether `re` searches the text in linear time."""
        size = len(text)
        if size <= self.longest_search:
            return True
        if self._longest_attempt < 0:
            return False
        # The text itself may say that few attempts go far: because all end soon, or because few can begin.
        attempts, begin = self._scanners
        if attempts is None:
            return False
        longest = max(map(len, attempts.findall(text)), default=0) + 1
        if longest <= self._longest_attempt:
            return True
        if begin is None or self.leading_class is not None:
            return False  # many can begin; `allows_guarded_search` may know better
        return len(begin.findall(text)) * self._work(longest) <= self._budget * (size + 1)

    def allows_guarded_search(self, text: str) -> bool:
        """Whether `re` searches the text in linear time if it begins only where the character before is no leading one.

        A pattern that begins with a repetition of single characters, such as `.*foo`, and does not match from one
        place, does not match from the next either, when the character between is one of these.
        """
        leading = self.leading_class
        if leading is None or self._longest_attempt < 0:
            return False
        starts = ATTEMPTS + (0 if self._others is None else len(self._others.findall(text)))
        return starts * self._work(len(text)) <= self._budget * (len(text) + 1)

    @functools.cached_property
    def _others(self):
        """A pattern of the characters that are no leading ones; None if there are none."""
        others = classes.negated(self.leading_class)
        return re.compile(class_text(others)) if others else None

    @functools.cached_property
    def leading_class(self) -> tuple | None:
        """The characters that a pattern which begins with a repetition of single characters repeats there."""
        first = _flat(self._plain)[:1]
        return first[0][1][1] if first and _is_run(first[0]) and first[0][1][1] else None

    @functools.cached_property
    def can_be_empty(self) -> bool:
        """Whether the pattern can match nothing at all."""
        return not self.is_possible or span(self._plain)[0] == 0

    @functools.cached_property
    def _scanners(self):
        """Patterns of what an attempt can look at, but for its last character, and of where one can begin."""
        positions = Positions()
        first, _, can_be_empty = positions.visit(self._plain)
        if positions.is_large:
            return None, None
        passed = classes.normalized(
            pair for ranges, follow in zip(positions.ranges, positions.follow) if follow for pair in ranges
        )
        begins = classes.normalized(pair for position in first for pair in positions.ranges[position])
        if can_be_empty or not begins:
            return re.compile(f"{class_text(passed)}+"), None
        begin = class_text(begins)
        return re.compile(f"{begin}{class_text(passed)}*" if passed else begin), re.compile(begin)

    def _failing_work(self, tree):
        """The steps of an attempt, apart from those over characters that then belong to a match.

        `re` takes them for each place. There is a limit to them where, once a repetition without limit has begun,
        nothing can fail any more.
        """
        if tree[0] == "group":
            return self._failing_work(tree[2])
        if tree[0] == "either":
            return sum(map(self._failing_work, tree[1]))
        items = _flat(tree)
        for place, item in enumerate(items):
            if math.isinf(span(item)[1]):
                if not _is_run(item) or any(not _is_run(later) or later[2] for later in items[place + 1 :]):
                    return math.inf
                _, inner, low, _, greedy, counted = item
                items = [*items[:place], ("repeat", inner, low, low, greedy, counted)]
                break
        return self._steps.of(self._steps.prepared(("sequence", items)), _LONG)[1] + 1


def _size(node):
    """How many classes and places a tree has."""
    kind = node[0]
    if kind == "group":
        return _size(node[2])
    if kind == "repeat":
        return _size(node[1])
    if kind in ("sequence", "either", "run"):
        return max(1, sum(map(_size, node[1])))
    return 1


def span(node) -> tuple[float, float]:
    """The lengths of the shortest and the longest text that a part can match."""
    kind = node[0]
    if kind == "class":
        return 1, 1
    if kind == "group":
        return span(node[2])
    if kind in ("sequence", "run"):
        spans = [span(item) for item in node[1]]
        return sum(low for low, _ in spans), sum(high for _, high in spans)
    if kind == "either":
        spans = [span(item) for item in node[1]]
        return min(low for low, _ in spans), max(high for _, high in spans)
    if kind == "repeat":
        low, high = span(node[1])
        most = math.inf if node[3] is None else node[3]
        return low * node[2], high * most if high and most else 0
    return 0, 0


def _flat(node):
    """The parts of a sequence, out of their groups."""
    if node[0] == "group":
        return _flat(node[2])
    if node[0] in ("sequence", "run"):
        return [part for item in node[1] for part in _flat(item)]
    return [node]


def _is_run(node):
    """Whether it repeats single characters without limit."""
    return node[0] == "repeat" and node[3] is None and node[1][0] == "class"


class _Steps:
    """Counts the steps of trees in which deterministic parts of sequences are marked."""

    def __init__(self):
        self._sizes: dict[int, tuple] = {}  # by the identity of parts that live as long as this

    def prepared(self, node):
        """The tree, in which each deterministic part of a sequence is ("run", items, choices in one place)."""
        kind = node[0]
        if kind == "group":
            return ("group", node[1], self.prepared(node[2]))
        if kind == "either":
            return ("either", [self.prepared(item) for item in node[1]])
        if kind == "repeat":
            if node[3] is not None and node[3] <= 1:
                return ("repeat", self.prepared(node[1]), *node[2:])
            choices = deterministic_choices(node)
            return ("ambiguous",) if choices is None else ("run", [node], choices)
        if kind == "sequence":
            items = []
            for run, choices in deterministic_runs(node[1]):
                items += [self.prepared(item) for item in run] if choices is None else [("run", run, choices)]
            return items[0] if len(items) == 1 else ("sequence", items)
        return node

    def of(self, node, length: float) -> tuple[float, float]:
        """In how many ways a part can match from one place in a text of this length, and the steps to try them all."""
        kind = node[0]
        if kind == "group":
            return self.of(node[2], length)
        if kind == "sequence":
            ways, steps = 1.0, 0.0
            for item in node[1]:
                more, cost = self.of(item, length)
                ways, steps = ways * more, steps + ways * cost
            return ways, steps
        if kind == "either":
            parts = [self.of(item, length) for item in node[1]]
            return sum(ways for ways, _ in parts), sum(steps for _, steps in parts)
        if kind == "repeat":
            if not node[3]:
                return 1.0, 1.0
            ways, steps = self.of(node[1], length)
            return ways + (not node[2]), steps + 1
        if kind == "run":
            if id(node) not in self._sizes:
                self._sizes[id(node)] = (node, *span(node), _size(node))
            _, least, most, size = self._sizes[id(node)]
            return min(most - least, length) + 1.0, (min(most, length) + 1.0) * node[2] + size
        if kind == "ambiguous":
            return math.inf, math.inf
        return 1.0, 1.0
