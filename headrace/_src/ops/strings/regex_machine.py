"""Matching in linear time: runs all alternatives of a regular expression side by side, byte by byte.

Python's `re` tries alternatives one after the other, which is fast for most patterns and takes exponential time
for ambiguous repetitions such as `(a+)+b`. `is_ambiguous` finds those, and `Machine` runs them.
"""

from headrace._src.ops.strings import regex_classes as classes

# Instructions: (BYTE, low, high), (SPLIT, preferred, other), (JUMP, target), (SAVE, slot), (POINT, kind), (MATCH,)
BYTE, SPLIT, JUMP, SAVE, POINT, MATCH = range(6)
_WORD = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")


class _Positions:
    """The characters of a pattern as positions, and which may follow which."""

    def __init__(self):
        self.ranges: list = []
        self.follow: list[set] = []
        self.ambiguous = False

    def visit(self, node):
        """(first positions, last positions, whether it matches nothing at all too)."""
        kind = node[0]
        if kind in ("class", "any_byte"):
            self.ranges.append(node[1] if kind == "class" else [(0, classes.LAST)])
            self.follow.append(set())
            here = {len(self.ranges) - 1}
            return here, here, False
        if kind == "group":
            return self.visit(node[2])
        if kind == "sequence":
            return self.sequence(node[1])
        if kind == "either":
            parts = [self.visit(item) for item in node[1]]
            self.compare([first for first, _, _ in parts])
            return (
                set().union(*(first for first, _, _ in parts)),
                set().union(*(last for _, last, _ in parts)),
                any(empty for _, _, empty in parts),
            )
        if kind == "repeat":
            return self.repeat(node)
        return set(), set(), True

    def sequence(self, items):
        first, last, empty = set(), set(), True
        for item in items:
            next_first, next_last, next_empty = self.visit(item)
            for position in last:
                self.follow[position] |= next_first
            if empty:
                first = first | next_first
            last = last | next_last if next_empty else next_last
            empty = empty and next_empty
        return first, last, empty

    def repeat(self, node):
        _, inner, low, high, _, _ = node
        begin = len(self.ranges)
        first, last, empty = self.visit(inner)
        if high is None or high > 1:
            body = range(begin, len(self.ranges))
            for position in last:
                # The same continuation, once within the body and once by starting anew.
                self.ambiguous |= not self.follow[position].isdisjoint(first)
                self.follow[position] |= first
            for position in body:
                self.compare([{q} for q in self.follow[position] if q >= begin])
        return first, last, empty or low == 0

    def compare(self, choices):
        """Note whether one character can begin two of the choices."""
        taken: list = []
        for choice in choices:
            taken.append(classes.normalized(pair for position in choice for pair in self.ranges[position]))
        pairs = sorted((low, high, i) for i, ranges in enumerate(taken) for low, high in ranges)
        end, owner = -1, None
        for low, high, i in pairs:
            if low <= end and i != owner:
                self.ambiguous = True
                return
            if high > end:
                end, owner = high, i


def is_ambiguous(tree) -> bool:
    """Whether some repetition can match one text in several ways, so that trying them all may not end."""
    return any(_repeat_is_ambiguous(repeat) for repeat in _repeats(tree))


def _repeat_is_ambiguous(repeat):
    positions = _Positions()
    positions.visit(repeat)
    return positions.ambiguous


def _repeats(node):
    """The outermost repetitions of a tree."""
    kind = node[0]
    if kind == "repeat":
        yield node
    elif kind == "group":
        yield from _repeats(node[2])
    elif kind in ("sequence", "either"):
        for item in node[1]:
            yield from _repeats(item)


class _Assembler:
    def __init__(self):
        self.program: list = []

    def emit(self, *instruction):
        self.program.append(instruction)
        return len(self.program) - 1

    def split(self, at, first, second, greedy):
        self.program[at] = (SPLIT, first, second) if greedy else (SPLIT, second, first)

    def add(self, node):
        kind = node[0]
        if kind == "class":
            self.either([[(BYTE, *pair) for pair in sequence] for sequence in self.encodings(node[1])])
        elif kind == "any_byte":
            self.emit(BYTE, 0, 255)
        elif kind == "group":
            self.emit(SAVE, 2 * node[1])
            self.add(node[2])
            self.emit(SAVE, 2 * node[1] + 1)
        elif kind == "sequence":
            for item in node[1]:
                self.add(item)
        elif kind == "either":
            self.either(node[1])
        elif kind == "repeat":
            self.repeat(node)
        else:
            self.emit(POINT, kind)

    @staticmethod
    def encodings(ranges):
        return [sequence for low, high in ranges for sequence in classes.utf8_sequences(low, high)]

    def either(self, items):
        """Alternatives: trees, or lists of instructions."""
        if not items:
            self.emit(BYTE, 1, 0)  # matches nothing
        jumps = []
        for number, item in enumerate(items):
            last = number == len(items) - 1
            at = None if last else self.emit(SPLIT, 0, 0)
            if isinstance(item, list):
                self.program.extend(item)
            else:
                self.add(item)
            if not last:
                jumps.append(self.emit(JUMP, 0))
                self.split(at, at + 1, len(self.program), True)
        for jump in jumps:
            self.program[jump] = (JUMP, len(self.program))

    def repeat(self, node):
        _, inner, low, high, greedy, _ = node
        for _ in range(low - 1 if high is None and low else low):
            self.add(inner)
        if high is None:
            # `x*` as `(x+)?`, so that a body that can be empty is entered once and ends.
            skip = None if low else self.emit(SPLIT, 0, 0)
            begin = len(self.program)
            self.add(inner)
            at = self.emit(SPLIT, 0, 0)
            self.split(at, begin, len(self.program), greedy)
            if skip is not None:
                self.split(skip, begin, len(self.program), greedy)
            return
        splits = []
        for _ in range(high - low):
            splits.append(self.emit(SPLIT, 0, 0))
            self.add(inner)
        for at in splits:
            self.split(at, at + 1, len(self.program), greedy)


class Found:
    """A match, with as much of `re.Match` as replacing needs."""

    def __init__(self, string, slots):
        self.string = string
        self._slots = slots

    def span(self):
        return self._slots[0], self._slots[1]

    def start(self):
        return self._slots[0]

    def end(self):
        return self._slots[1]

    def __getitem__(self, group):
        begin, end = self._slots[2 * group : 2 * group + 2]
        return None if begin is None or end is None else self.string[begin:end]


class Machine:
    """A compiled pattern on bytes, with `search` and `fullmatch` as `re.Pattern` has them."""

    def __init__(self, tree, groups: int):
        assembler = _Assembler()
        assembler.emit(SAVE, 0)
        assembler.add(tree)
        assembler.emit(SAVE, 1)
        assembler.emit(MATCH)
        self._program = assembler.program
        self._slots = (None,) * (2 * groups + 2)

    def fullmatch(self, data: bytes):
        return self._run(data, 0, True)

    def search(self, data: bytes, start: int = 0):
        return self._run(data, start, False)

    def _run(self, data, start, whole):
        threads: list = []
        found = None
        for at in range(start, len(data) + 1):
            reached: set = set()
            following: list = []
            for pc, slots in threads:
                if self._reach(data, at, pc, slots, whole, reached, following):
                    break
            else:
                if found is None and (at == start or not whole):
                    self._reach(data, at, 0, self._slots, whole, reached, following)
            # Threads stand in the order of preference: a match ends all that come after it.
            threads, byte = [], data[at] if at < len(data) else -1
            for pc, slots in following:
                instruction = self._program[pc]
                if instruction[0] == MATCH:
                    found = slots
                    break
                if instruction[1] <= byte <= instruction[2]:
                    threads.append((pc + 1, slots))
            if not threads and (found is not None or whole):
                break
        return None if found is None else Found(data, found)

    def _reach(self, data, at, pc, slots, whole, reached, following):
        """Add what can be reached without a byte; True when that is a match, which ends weaker threads."""
        stack = [(pc, slots)]
        while stack:
            pc, slots = stack.pop()
            if pc in reached:
                continue
            reached.add(pc)
            instruction = self._program[pc]
            kind = instruction[0]
            if kind == SPLIT:
                stack += [(instruction[2], slots), (instruction[1], slots)]
            elif kind == JUMP:
                stack.append((instruction[1], slots))
            elif kind == SAVE:
                slot = instruction[1]
                stack.append((pc + 1, (*slots[:slot], at, *slots[slot + 1 :])))
            elif kind == POINT:
                if _holds(instruction[1], data, at):
                    stack.append((pc + 1, slots))
            elif kind == MATCH:
                if not whole or at == len(data):
                    following.append((pc, slots))
                    return True
            else:
                following.append((pc, slots))
        return False


def _holds(point, data, at):
    if point == "begin":
        return at == 0
    if point == "end":
        return at == len(data)
    if point == "line_begin":
        return at == 0 or data[at - 1] == 10
    if point == "line_end":
        return at == len(data) or data[at] == 10
    edge = (at > 0 and data[at - 1] in _WORD) != (at < len(data) and data[at] in _WORD)
    return edge == (point == "word")
