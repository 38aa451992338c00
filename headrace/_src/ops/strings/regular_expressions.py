"""RE2's regular expressions, translated to Python's `re`; to a machine of linear time where that may not end.

RE2 matches UTF-8: `.` is one character, and a byte that is no part of a character matches nothing but `\\C`.
So texts are decoded with every stray byte as a lone surrogate, which no translated class holds; a
pattern that has `\\C` or `\\B` is translated to bytes instead. Whatever RE2 refuses (lookaround,
backreferences, stacked repetitions) is refused here as well.
"""

import functools
import re

from headrace._src.core import errors
from headrace._src.ops.strings import regex_classes as classes
from headrace._src.ops.strings.regex_machine import Machine, is_ambiguous

_MOST_REPEATS = 1000
_ESCAPES = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_POINTS = {"A": "begin", "z": "end", "b": "word", "B": "no_word"}
_OCTAL = "01234567"


class RegexSyntaxError(ValueError):
    """RE2 refuses the pattern; the message says why."""


class _Parser:
    """A pattern to a tree of tuples whose first element is the kind of node."""

    def __init__(self, pattern: str):
        self.pattern = pattern
        self.at = 0
        self.fold = self.many_lines = self.dot_newline = self.swap_greed = False
        self.groups = 0
        self.in_bytes = False

    def parse(self):
        # One entry per open parenthesis: (group number or None, flags to return to, alternatives so far).
        open_groups: list = []
        alternatives: list = []
        items: list = []
        after_repeat = False
        while self.at < len(self.pattern):
            character = self.pattern[self.at]
            was_repeat, after_repeat = after_repeat, False
            if character == "(":
                group = self.open_group()
                if group is not False:
                    flags, self.inner_flags = self.inner_flags, None
                    open_groups.append((group, flags, alternatives, items))
                    alternatives, items = [], []
            elif character == ")":
                if not open_groups:
                    raise RegexSyntaxError(f"unexpected ): {self.pattern}")
                self.at += 1
                body = _alternation([*alternatives, _sequence(items)])
                group, flags, alternatives, items = open_groups.pop()
                self.fold, self.many_lines, self.dot_newline, self.swap_greed = flags
                items.append(body if group is None else ("group", group, body))
            elif character == "|":
                self.at += 1
                alternatives.append(_sequence(items))
                items = []
            elif (bounds := self.repetition()) is not None:
                text, low, high, greedy, counted = bounds
                if was_repeat:
                    raise RegexSyntaxError(f"bad repetition operator: {text}")
                if not items:
                    raise RegexSyntaxError(f"no argument for repetition operator: {text}")
                items[-1] = ("repeat", items[-1], low, high, greedy, counted)
                if counted and _repeats_left(items[-1], _MOST_REPEATS) == 0:
                    raise RegexSyntaxError(f"invalid repetition size: {text}")
                after_repeat = True
            else:
                items.extend(self.atom())
        if open_groups:
            raise RegexSyntaxError(f"missing ): {self.pattern}")
        return _alternation([*alternatives, _sequence(items)])

    def flags(self):
        return self.fold, self.many_lines, self.dot_newline, self.swap_greed

    def open_group(self):
        """After `(`: the group's number, None for a group that captures nothing, False for flags alone."""
        start = self.at
        self.inner_flags = self.flags()
        if not self.pattern.startswith("(?", start):
            self.at += 1
            self.groups += 1
            return self.groups
        if self.pattern.startswith("(?P", start):
            match = re.compile(r"\(\?P<([A-Za-z0-9_]+)>").match(self.pattern, start)
            if match is None:
                raise RegexSyntaxError(f"invalid named capture group: {self.pattern[start:]}")
            self.at = match.end()
            self.groups += 1
            return self.groups
        self.at += 2
        value, saw_flag = True, False
        while self.at < len(self.pattern):
            character = self.pattern[self.at]
            self.at += 1
            if character in "imsU":
                saw_flag = True
                name = {"i": "fold", "m": "many_lines", "s": "dot_newline", "U": "swap_greed"}[character]
                setattr(self, name, value)
            elif character == "-" and value:
                value, saw_flag = False, False
            elif character in ":)" and (value or saw_flag):
                return None if character == ":" else False
            else:
                break
        raise RegexSyntaxError(f"invalid perl operator: {self.pattern[start : self.at]}")

    def repetition(self):
        """A repetition operator here, as (text, least, most or None, greedy, counted), or None."""
        start = self.at
        character = self.pattern[start]
        counted = False
        if character in "*+?":
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[character]
            self.at += 1
        else:
            match = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}").match(self.pattern, start)
            if match is None:
                return None
            self.at = match.end()
            low = int(match[1][:9])
            high = int(match[3][:9]) if match[3] else None if match[2] else low
            counted = True
            if low > _MOST_REPEATS or (high is not None and (high > _MOST_REPEATS or low > high)):
                raise RegexSyntaxError(f"invalid repetition size: {match[0]}")
        greedy = not self.swap_greed
        if self.pattern.startswith("?", self.at):
            self.at += 1
            greedy = not greedy
        return self.pattern[start : self.at], low, high, greedy, counted

    def atom(self):
        """One character, class or assertion here, as a list of nodes (several for `\\Q...\\E`)."""
        character = self.pattern[self.at]
        if character == "[":
            return [self.bracket()]
        if character == "\\":
            return self.escaped_atom()
        self.at += 1
        if character == ".":
            return [("class", [(0, classes.LAST)] if self.dot_newline else classes.negated([(10, 10)]))]
        if character == "^":
            return [("line_begin" if self.many_lines else "begin",)]
        if character == "$":
            return [("line_end" if self.many_lines else "end",)]
        return [self.literal(ord(character))]

    def literal(self, code):
        if self.fold and len(codes := classes.variants(code)) > 1:
            return ("class", [(other, other) for other in codes])
        return ("class", [(code, code)])

    def escaped_atom(self):
        following = self.pattern[self.at + 1 : self.at + 2]
        if following == "Q":
            text, _, _ = self.pattern[self.at + 2 :].partition("\\E")
            self.at = min(self.at + 2 + len(text) + 2, len(self.pattern))
            return [self.literal(ord(character)) for character in text]
        if following == "C":
            self.at += 2
            self.in_bytes = True
            return [("any_byte",)]
        if following and following in _POINTS:
            self.at += 2
            self.in_bytes |= following == "B"  # which RE2 finds between the bytes of a character, too
            return [(_POINTS[following],)]
        ranges = self.named_class()
        return [("class", ranges)] if ranges is not None else [self.literal(self.escape())]

    def named_class(self):
        """`\\d`, `\\pL`, `\\p{Greek}` and their like here, as ranges; None when there is none."""
        following = self.pattern[self.at + 1 : self.at + 2]
        if following and following in "dswDSW":
            self.at += 2
            return self.signed(classes.PERL[following.lower()], following.isupper())
        if following not in ("p", "P"):
            return None
        match = re.compile(r"\\[pP](?:\{(\^?)([^}]*)\}|([^{]))").match(self.pattern, self.at)
        if match is None:
            raise RegexSyntaxError(f"invalid character class range: {self.pattern[self.at :]}")
        self.at = match.end()
        ranges = classes.unicode_class(match[2] if match[3] is None else match[3])
        if ranges is None:
            raise RegexSyntaxError(f"invalid character class range: {match[0]}")
        return self.signed(ranges, (following == "P") != bool(match[1]))

    def signed(self, ranges, negative):
        if self.fold:
            ranges = classes.folded(ranges)
        return classes.negated(ranges) if negative else list(ranges)

    def escape(self):
        """The code point of an escape sequence here."""
        start = self.at
        if start + 1 == len(self.pattern):
            raise RegexSyntaxError("trailing \\")
        character = self.pattern[start + 1]
        self.at += 2
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character in _OCTAL:
            end = self.at
            while end < start + 4 and end < len(self.pattern) and self.pattern[end] in _OCTAL:
                end += 1
            # A single digit other than 0 would be a backreference.
            if character == "0" or end > self.at:
                self.at = end
                return int(self.pattern[start + 1 : end], 8)
        elif character == "x":
            match = re.compile(r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2})").match(self.pattern, self.at)
            if match:
                code = int((match[1] or match[2])[-8:], 16)
                if code <= classes.LAST and len((match[1] or "").lstrip("0")) <= 6:
                    self.at = match.end()
                    return code
        elif character.isascii() and not character.isalnum():
            return ord(character)
        raise RegexSyntaxError(f"invalid escape sequence: {self.pattern[start : self.at]}")

    def bracket(self):
        """A class in brackets here."""
        start = self.at
        self.at += 1
        negative = self.pattern.startswith("^", self.at)
        self.at += negative
        ranges, first = [], True
        while first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise RegexSyntaxError(f"missing ]: {self.pattern[start:]}")
            first = False
            ranges.extend(self.bracket_item(start))
        self.at += 1
        return ("class", classes.negated(ranges) if negative else classes.normalized(ranges))

    def bracket_item(self, start):
        if self.pattern.startswith("[:", self.at) and (end := self.pattern.find(":]", self.at + 2)) >= 0:
            text = self.pattern[self.at : end + 2]
            name = text[2:-2].removeprefix("^")
            if name not in classes.POSIX:
                raise RegexSyntaxError(f"invalid character class range: {text}")
            self.at = end + 2
            return self.signed(classes.POSIX[name], text.startswith("[:^"))
        if self.pattern[self.at] == "\\" and (ranges := self.named_class()) is not None:
            return ranges
        begin = self.at
        low = high = self.bracket_character(start)
        if self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at):
            if self.at + 1 < len(self.pattern):
                self.at += 1
                high = self.bracket_character(start)
                if high < low:
                    raise RegexSyntaxError(f"invalid character class range: {self.pattern[begin : self.at]}")
        return classes.folded([(low, high)]) if self.fold else [(low, high)]

    def bracket_character(self, start):
        if self.at >= len(self.pattern):
            raise RegexSyntaxError(f"missing ]: {self.pattern[start:]}")
        if self.pattern[self.at] == "\\":
            return self.escape()
        self.at += 1
        return ord(self.pattern[self.at - 1])


def _sequence(items):
    return items[0] if len(items) == 1 else ("sequence", items)


def _alternation(alternatives):
    return alternatives[0] if len(alternatives) == 1 else ("either", alternatives)


def _repeats_left(node, budget):
    """How many repeats the counts along the deepest nesting leave of the budget, as RE2 counts them."""
    kind = node[0]
    if kind == "repeat":
        _, inner, low, high, _, counted = node
        count = (low if high is None else high) if counted else 0
        return _repeats_left(inner, budget // count if count > 0 else budget)
    if kind == "group":
        return _repeats_left(node[2], budget)
    if kind in ("sequence", "either"):
        return min((_repeats_left(item, budget) for item in node[1]), default=budget)
    return budget


_POINT_TEXT = {
    "begin": r"\A",
    "end": r"\Z",
    "line_begin": "(?m:^)",
    "line_end": "(?m:$)",
    "word": r"\b",
    "no_word": r"(?:\B|\A\Z)",  # before Python 3.14, \B does not match in an empty text
}
_SURROGATES = (0xD800, 0xDFFF)


def _character_text(code):
    if code < 128 and chr(code).isalnum():
        return chr(code)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _class_text(ranges):
    parts = []
    for low, high in ranges:
        # Surrogates stand for stray bytes, and match no class.
        for a, b in ((low, min(high, _SURROGATES[0] - 1)), (max(low, _SURROGATES[1] + 1), high)):
            if a <= b:
                parts.append((a, b))
    if not parts:
        return "(?!)"
    if len(parts) == 1 and parts[0][0] == parts[0][1]:
        return _character_text(parts[0][0])
    texts = [_character_text(a) if a == b else f"{_character_text(a)}-{_character_text(b)}" for a, b in parts]
    return f"[{''.join(texts)}]"


def _class_bytes(ranges):
    texts = []
    for low, high in ranges:
        for sequence in classes.utf8_sequences(low, high):
            texts.append("".join(f"[\\x{a:02x}-\\x{b:02x}]" for a, b in sequence))
    return f"(?:{'|'.join(texts)})" if texts else "(?!)"


def _text(node, class_text):
    """The tree as a pattern of Python's `re`."""
    kind = node[0]
    if kind == "class":
        return class_text(node[1])
    if kind in _POINT_TEXT:
        return _POINT_TEXT[kind]
    if kind == "any_byte":
        return r"[\x00-\xff]"
    if kind == "group":
        return f"({_text(node[2], class_text)})"
    if kind == "sequence":
        return "".join(_piece(item, class_text) for item in node[1])
    if kind == "either":
        return "|".join(_text(item, class_text) for item in node[1])
    _, inner, low, high, greedy, _ = node
    count = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
    count = count or f"{{{low},{'' if high is None else high}}}"
    return f"(?:{_text(inner, class_text)}){count}" + ("" if greedy else "?")


def _piece(node, class_text):
    text = _text(node, class_text)
    return f"(?:{text})" if node[0] == "either" else text


class Regex:
    """A compiled pattern that works on bytes.

    Args:
        pattern: RE2 syntax, UTF-8.

    Raises:
        RegexSyntaxError: when RE2 would refuse it.
    """

    def __init__(self, pattern: bytes):
        try:
            parser = _Parser(pattern.decode("utf-8"))
        except UnicodeDecodeError:
            raise RegexSyntaxError("invalid UTF-8") from None
        try:
            tree = parser.parse()
            linear = is_ambiguous(tree)
            if linear:
                self.compiled = Machine(tree, parser.groups)
            elif parser.in_bytes:
                self.compiled = re.compile(_text(tree, _class_bytes).encode("ascii"))
            else:
                self.compiled = re.compile(_text(tree, _class_text), re.ASCII)
        except (RecursionError, OverflowError, MemoryError):
            raise RegexSyntaxError("expression nests too deeply") from None
        self.on_bytes = parser.in_bytes or linear
        self.groups = parser.groups

    def matches(self, item: bytes) -> bool:
        """Whether the whole string matches."""
        text = item if self.on_bytes else item.decode("utf-8", "surrogateescape")
        return self.compiled.fullmatch(text) is not None

    def replace(self, item: bytes, rewrite: "Rewrite", everywhere: bool) -> bytes:
        """The string with the first match, or all that do not overlap, rewritten."""
        # TF: a rewrite that names a group the pattern lacks leaves the string as it is.
        if rewrite.highest > self.groups:
            return item
        text = item if self.on_bytes else item.decode("utf-8", "surrogateescape")
        if not everywhere:
            match = self.compiled.search(text)
            if match is None or not rewrite.valid:
                return item
            pieces = [text[: match.start()], *rewrite.of(match), text[match.end() :]]
        else:
            if isinstance(self.compiled, re.Pattern):
                try:
                    replaced = self.compiled.sub(rewrite.substitute(self.on_bytes), text)
                    return replaced if self.on_bytes else replaced.encode("utf-8", "surrogateescape")
                except _EmptyMatch:
                    pass
            pieces = self._replaced(text, rewrite)
        return b"".join(
            piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogateescape")
            for piece in pieces
        )

    def _replaced(self, text, rewrite):
        pieces, at, last_end = [], 0, -1
        while at <= len(text):
            match = self.compiled.search(text, at)
            if match is None:
                break
            start, end = match.span()
            pieces.append(text[at:start])
            if start == end == last_end:
                # RE2: no empty match right after a match; go on one character later.
                step = 1 if not self.on_bytes else _character_length(text, start)
                pieces.append(text[start : start + step])
                at, last_end = start + step, -1
                continue
            pieces.extend(rewrite.of(match))
            at = last_end = end
        pieces.append(text[at:])
        return pieces


def _character_length(data, at):
    for size in (1, 2, 3, 4):
        try:
            data[at : at + size].decode("utf-8")
            return size
        except UnicodeDecodeError:
            continue
    return 1


class _EmptyMatch(Exception):
    """A pattern matched nothing somewhere; what then follows is different in RE2 and in Python."""


class Rewrite:
    """What replaces a match: bytes with `\\0` to `\\9` for the match and its groups, and `\\\\`."""

    def __init__(self, rewrite: bytes):
        self.parts: list = []  # bytes, or the number of a group
        self._substitutes: dict = {}
        self.highest = 0
        self.valid = True
        at = 0
        while at < len(rewrite):
            if rewrite[at : at + 1] != b"\\":
                end = rewrite.find(b"\\", at)
                end = len(rewrite) if end < 0 else end
                if self.valid:
                    self.parts.append(rewrite[at:end])
                at = end
                continue
            following = rewrite[at + 1 : at + 2]
            at += 2
            if following.isdigit():
                self.highest = max(self.highest, int(following))
                if self.valid:
                    self.parts.append(int(following))
            elif following == b"\\" and self.valid:
                self.parts.append(b"\\")
            elif following != b"\\":
                # TF: what follows a wrong escape is dropped, without an error.
                self.valid = False

    def substitute(self, on_bytes: bool):
        """A function from matches to their replacements; it raises `_EmptyMatch` for an empty match."""
        if on_bytes not in self._substitutes:
            self._substitutes[on_bytes] = self._substitute(on_bytes)
        return self._substitutes[on_bytes]

    def _substitute(self, on_bytes):
        empty = b"" if on_bytes else ""
        parts = [
            part if on_bytes or isinstance(part, int) else part.decode("utf-8", "surrogateescape")
            for part in self.parts
        ]
        constant = None if any(isinstance(part, int) for part in parts) else empty.join(parts)

        def of(match):
            if match.start() == match.end():
                raise _EmptyMatch
            if constant is not None:
                return constant
            return empty.join([(match[part] or empty) if isinstance(part, int) else part for part in parts])

        return of

    def of(self, match) -> list:
        """The replacement of this match, in pieces."""
        return [part if isinstance(part, bytes) else match[part] or match.string[:0] for part in self.parts]


@functools.lru_cache(maxsize=256)
def _cached(pattern: bytes) -> Regex:
    return Regex(pattern)


def compile_regex(op: str, pattern: bytes) -> Regex:
    """The compiled pattern, or InvalidArgumentError that says what is wrong with it."""
    try:
        return _cached(pattern)
    except RegexSyntaxError as error:
        text = pattern.decode("utf-8", "replace")
        raise errors.invalid_argument(f"{op}: invalid pattern {text!r}: {error}") from None
