"""Matching in linear time, whatever the pattern and the text.

A text is read twice. Backwards, to know for each place which instructions of the compiled pattern can still come to a
match there: these sets are the states of an automaton, made when they are first needed, so that a character costs one
look into a dictionary. Then forwards, from each place where a match can begin: of the alternatives that the pattern
prefers, the first that can still succeed is taken, and nothing is ever tried in vain. So all matches of a text
together take one walk through it, where an engine that searches for one after the other may look at the rest of the
text for each.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import operator
from typing import Any

from headrace._src.ops.strings.regex_trees import walked

# Instructions: what is done, what with, and where it goes on. A split goes on at one of two, rather at the first.
CHAR, SPLIT, SAVE, POINT, MATCH = range(5)
# Kinds of characters, for the places between them.
_EDGE, _NEWLINE, _WORD, _OTHER = range(4)
_MOST_STATES = 4096
_MOST_MEMBERS = 1 << 20  # of all states together
_BLOCK = 1 << 16  # so many places of a text are known at a time
_MOST_CHARACTERS = 1 << 16  # of which the symbol is remembered


class Program:
    """The instructions of a pattern.

    Args:
        tree: the pattern, on the characters that are matched.
    """

    def __init__(self, tree: tuple):
        self.kinds: list[int] = [MATCH]
        self.values: list[Any] = [None]  # of CHAR its class, of SAVE its slot, of POINT its name
        self.targets: list[tuple] = [()]
        self.classes: list[tuple] = []
        self._numbers: dict[tuple, int] = {}
        self.entry, _ = walked(self._add, tree, 0)
        self.has_points = POINT in self.kinds
        # From where an instruction is reached by a character, and without one.
        self.characters_before: list[list[int]] = [[] for _ in self.kinds]
        self.others_before: list[list[int]] = [[] for _ in self.kinds]
        for number, (kind, targets) in enumerate(zip(self.kinds, self.targets)):
            for target in targets:
                (self.characters_before if kind == CHAR else self.others_before)[target].append(number)

    def _emit(self, kind, value, *targets):
        self.kinds.append(kind)
        self.values.append(value)
        self.targets.append(targets)
        return len(self.kinds) - 1

    def _class(self, ranges):
        if ranges not in self._numbers:
            self._numbers[ranges] = len(self.classes)
            self.classes.append(ranges)
        return self._numbers[ranges]

    def _add(self, node, after):
        """Compile a part in front of what comes after it: where it begins, and whether it can be empty."""
        kind = node[0]
        if kind == "class":
            return self._emit(CHAR, self._class(node[1]), after), False
        if kind == "group":
            begin, can_be_empty = yield (node[2], self._emit(SAVE, 2 * node[1] + 1, after))
            return self._emit(SAVE, 2 * node[1], begin), can_be_empty
        if kind == "sequence":
            all_empty = True
            for item in reversed(node[1]):
                after, can_be_empty = yield (item, after)
                all_empty &= can_be_empty
            return after, all_empty
        if kind == "either":
            *items, last = node[1]
            entry, any_empty = yield (last, after)
            for item in reversed(items):
                begin, can_be_empty = yield (item, after)
                entry, any_empty = self._emit(SPLIT, None, begin, entry), any_empty or can_be_empty
            return entry, any_empty
        if kind == "repeat":
            return (yield from self._repeat(node, after))
        return self._emit(POINT, kind, after), True

    def _repeat(self, node, after):
        _, inner, low, high, greedy, _ = node
        can_be_empty = False
        if high is None:
            entry = self._emit(SPLIT, None)
            begin, can_be_empty = yield (inner, entry)
            self.targets[entry] = (begin, after) if greedy else (after, begin)
            if low:
                entry, low = begin, low - 1
                is_optional = can_be_empty
            else:
                is_optional = True
                if can_be_empty:  # RE2: `x*` is then `(x+)?`, so that it is entered once and ends
                    entry = self._emit(SPLIT, None, *self.targets[entry])
        else:
            entry, is_optional = after, not low
            for _ in range(high - low):
                begin, can_be_empty = yield (inner, entry)
                entry = self._emit(SPLIT, None, *((begin, after) if greedy else (after, begin)))
        for _ in range(low):
            entry, can_be_empty = yield (inner, entry)
            is_optional = can_be_empty
        return entry, is_optional

    @functools.cached_property
    def _starts(self):
        return [[low for low, _ in ranges] for ranges in self.classes]

    def classes_of(self, code: int) -> frozenset:
        """The classes that a character belongs to."""
        found = []
        for number, (ranges, starts) in enumerate(zip(self.classes, self._starts)):
            at = bisect.bisect_right(starts, code) - 1
            if at >= 0 and code <= ranges[at][1]:
                found.append(number)
        return frozenset(found)


def _kind_of(code):
    character = chr(code)
    if character.isascii() and (character.isalnum() or character == "_"):
        return _WORD
    return _NEWLINE if character == "\n" else _OTHER


def _holds(point, before, after):
    if point == "begin":
        return before == _EDGE
    if point == "end":
        return after == _EDGE
    if point == "line_begin":
        return before in (_EDGE, _NEWLINE)
    if point == "line_end":
        return after in (_EDGE, _NEWLINE)
    return ((before == _WORD) != (after == _WORD)) == (point == "word")


class _Symbols(dict):
    """From code points to symbols: characters that the pattern does not tell apart have the same one."""

    def __init__(self, program):
        self._program = program
        self._of_meaning: dict = {}
        self.meanings: dict[str, tuple] = {}  # of a symbol: the classes that it belongs to, and its kind

    def __missing__(self, code):
        kind = _kind_of(code) if self._program.has_points else _OTHER
        meaning = (self._program.classes_of(code), kind)
        if meaning not in self._of_meaning:
            symbol = self._of_meaning[meaning] = chr(len(self._of_meaning))
            self.meanings[symbol] = meaning
        if len(self) >= _MOST_CHARACTERS:
            self.clear()
        self[code] = self._of_meaning[meaning]
        return self[code]


class _State(dict):
    """What can still be done from a place: from the symbol before it to the state there.

    Attributes:
        reach: the characters of the pattern that fit here and lead to a match.
        kind: of the character after the place.
        starts: whether a match can begin at the place after this one.
        is_end: whether this is the end of the text.
    """

    def __init__(self, automaton, reach, kind, starts, is_end=False):
        self._automaton = automaton
        self.reach = reach
        self.kind = kind
        self.starts = starts
        self.is_end = is_end
        self._successes: dict[int, frozenset] = {}
        self._steps: dict[tuple, tuple] = {}

    def __missing__(self, symbol):
        state = self[symbol] = self._automaton.before(self, symbol)
        return state

    def success(self, before: int) -> frozenset:
        """The instructions from which there is a match here, after a character of a kind."""
        found = self._successes.get(before)
        if found is None:
            found = self._successes[before] = self._automaton.closure(self, before)
        return found

    def step(self, instruction: int, before: int) -> tuple:
        """What the pattern prefers to do here: slots to set, and the next instruction; None at the end of the match."""
        found = self._steps.get((instruction, before))
        if found is None:
            found = self._steps[instruction, before] = self._automaton.choice(self, instruction, before)
        return found


class _Automaton:
    """States, made when they are first needed.

    Args:
        program: the pattern.
        symbols: what characters are to it.
        whole: whether a match ends at the end of the text only.
    """

    def __init__(self, program: Program, symbols: _Symbols, whole: bool):
        self._program = program
        self._symbols = symbols
        self._whole = whole
        self._states: dict[tuple, _State] = {}
        self._members = 0
        self.end = _State(self, frozenset(), _EDGE, False, is_end=True)

    def before(self, state: _State, symbol: str) -> _State:
        """The state one place before another, with this symbol between them."""
        classes, kind = self._symbols.meanings[symbol]
        program, success = self._program, state.success(kind)
        reach = frozenset(
            number for target in success for number in program.characters_before[target]
            if program.values[number] in classes
        )  # fmt: skip
        key = (reach, kind, program.entry in success)
        found = self._states.get(key)
        if found is None:
            self._make_room(len(reach))
            found = self._states.setdefault(key, _State(self, *key))
        return found

    def _make_room(self, members):
        self._members += members + 16
        if len(self._states) >= _MOST_STATES or self._members > _MOST_MEMBERS:
            states, self._states, self._members = self._states, {}, members
            for state in [*states.values(), self.end]:
                state.clear()  # they hold on to each other

    def closure(self, state: _State, before: int) -> frozenset:
        """All instructions that lead to what can be reached from a state, where points hold."""
        program = self._program
        found = set(state.reach)
        if state.is_end or not self._whole:
            found.add(0)
        stack = list(found)
        while stack:
            for number in program.others_before[stack.pop()]:
                if number in found:
                    continue
                if program.kinds[number] == POINT and not _holds(program.values[number], before, state.kind):
                    continue
                found.add(number)
                stack.append(number)
        return frozenset(found)

    def choice(self, state: _State, instruction: int, before: int) -> tuple:
        """The first way, in the order of preference, from an instruction to a character that leads to a match."""
        program, seen = self._program, set()
        stack: list[tuple] = [(instruction, ())]
        while stack:
            number, saved = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            kind = program.kinds[number]
            if kind == CHAR:
                if number in state.reach:
                    return saved, program.targets[number][0]
            elif kind == MATCH:
                return saved, None
            elif kind == SAVE:
                stack.append((program.targets[number][0], (*saved, program.values[number])))
            elif kind == SPLIT or _holds(program.values[number], before, state.kind):
                stack.extend((target, saved) for target in reversed(program.targets[number]))
        raise AssertionError("no way to a match where there must be one")


class Found:
    """A match, with as much of `re.Match` as replacing needs."""

    def __init__(self, string: str, slots: dict):
        self.string = string
        self._slots = slots

    def span(self) -> tuple[int, int]:
        """Where it begins and ends."""
        return self._slots[0], self._slots[1]

    def start(self) -> int:
        """Where it begins."""
        return self._slots[0]

    def end(self) -> int:
        """Where it ends."""
        return self._slots[1]

    def __getitem__(self, group):
        begin, end = self._slots.get(2 * group), self._slots.get(2 * group + 1)
        return None if begin is None or end is None else self.string[begin:end]


class Scan:
    """A text, in which matches are looked for from its beginning on.

    Args:
        machine: the pattern.
        text: the text.
    """

    def __init__(self, machine: Machine, text: str):
        self._machine = machine
        self._text = text
        self._symbols = text.translate(machine.symbols)
        # States at the end of each block. Those within are made again when the block is looked at.
        self._ends = [machine.search_end]
        for at in reversed(range(_BLOCK, len(text), _BLOCK)):
            self._ends.append(_last(self._ends[-1], self._symbols[at : at + _BLOCK]))
        self._base = -_BLOCK
        self._load(0)

    def _load(self, base):
        """Know the places from `base` on, up to the next block and its first one."""
        self._base = base
        block = self._symbols[base : base + _BLOCK]
        end = self._ends[-1 - base // _BLOCK]
        states = list(itertools.accumulate(reversed(block), operator.getitem, initial=end))
        states.reverse()
        self._states = states
        starts = [place for place, state in enumerate(states, base + 1) if state.starts]
        if not base and self._machine.entry in states[0].success(_EDGE):
            starts.insert(0, 0)
        # What is said of the place after the last state belongs to the next block.
        self._starts = [place for place in starts if place <= base + len(block)]
        self._next_start = 0

    def search(self, at: int) -> Found | None:
        """The first match that begins at a place or behind it, which must not be before those of earlier searches."""
        while True:
            starts = self._starts
            index = bisect.bisect_left(starts, at, self._next_start)
            self._next_start = index
            if index < len(starts):
                return self._match(starts[index])
            if self._base + _BLOCK >= len(self._text):
                return None
            self._load(self._base + _BLOCK)

    def _match(self, start):
        slots: dict = {0: start}
        instruction: int | None = self._machine.entry
        at = start
        before = self._machine.kind_before(self._symbols, start)
        while True:
            if at - self._base >= len(self._states):
                self._load(self._base + _BLOCK)
            state = self._states[at - self._base]
            saved, instruction = state.step(instruction, before)
            for slot in saved:
                slots[slot] = at
            if instruction is None:
                slots[1] = at
                return Found(self._text, slots)
            before = state.kind
            at += 1


def _last(state, symbols):
    return functools.reduce(operator.getitem, reversed(symbols), state)


class Machine:
    """A compiled pattern.

    Args:
        tree: the pattern, on the characters that are matched.
    """

    def __init__(self, tree: tuple):
        program = Program(tree)
        self.entry = program.entry
        self.symbols = _Symbols(program)
        self.search_end = _Automaton(program, self.symbols, whole=False).end
        self._whole_end = _Automaton(program, self.symbols, whole=True).end

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        first = _last(self._whole_end, text.translate(self.symbols))
        return self.entry in first.success(_EDGE)

    def scan(self, text: str) -> Scan:
        """For looking for matches in a text."""
        return Scan(self, text)

    def kind_before(self, symbols: str, at: int) -> int:
        """The kind of the character before a place."""
        return self.symbols.meanings[symbols[at - 1]][1] if at else _EDGE
