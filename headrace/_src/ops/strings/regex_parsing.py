"""RE2's regular expressions as trees.

A tree is a tuple whose first element is the kind of node:

    ("class", ranges)                                   a character: sorted ranges of code points, or of bytes
    ("any_byte",)                                       `\\C`
    ("begin",), ("end",), ("line_begin",), ("line_end",), ("word",), ("no_word",)    places between characters
    ("group", number, inner)                            what a rewrite can refer to
    ("sequence", items), ("either", items)
    ("repeat", inner, least, most or None, greedy, counted)

Whatever RE2 refuses (lookaround, backreferences, stacked repetitions) is refused here as well.
"""

import re
import string

from headrace._src.ops.strings import regex_classes as classes

_MOST_REPEATS = 1000
_ESCAPES = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_POINTS = {"A": "begin", "z": "end", "b": "word", "B": "no_word"}
_OCTAL = "01234567"
_ANY = ("class", ((0, classes.LAST),))
_NO_NEWLINE = ("class", tuple(classes.negated([(10, 10)])))


class RegexSyntaxError(ValueError):
    """RE2 refuses the pattern; the message says why."""


class Parser:
    """A pattern to a tree.

    Attributes:
        groups: how many there are.
        depth: how deep they are nested.
        in_bytes: whether it tells bytes of a character apart.
    """

    def __init__(self, pattern: str):
        self.pattern = pattern
        self.at = 0
        self.fold = self.many_lines = self.dot_newline = self.swap_greed = False
        self.groups = self.depth = 0
        self.in_bytes = False

    def parse(self):
        """The tree.

        Raises:
            RegexSyntaxError: RE2 refuses the pattern.
        """
        level = _Level()
        open_groups: list = []  # one for each open parenthesis: group number or None, flags to return to, the level
        after_repeat, last_repeat = False, ""
        while self.at < len(self.pattern):
            character = self.pattern[self.at]
            was_repeat, after_repeat = after_repeat, False
            if character == "(":
                group = self.open_group()
                if group is not False:
                    flags, self.inner_flags = self.inner_flags, None
                    open_groups.append((group, flags, level))
                    self.depth = max(self.depth, len(open_groups))
                    level = _Level()
            elif character == ")":
                if not open_groups:
                    raise RegexSyntaxError(f"unexpected ): {self.pattern}")
                self.at += 1
                body, repeats = level.tree(), level.most_repeats
                group, flags, level = open_groups.pop()
                self.fold, self.many_lines, self.dot_newline, self.swap_greed = flags
                level.add(body if group is None else ("group", group, body), repeats)
            elif character == "|":
                self.at += 1
                level.end_alternative()
            elif (bounds := self.repetition()) is not None:
                if was_repeat:
                    raise RegexSyntaxError(f"bad repetition operator: {last_repeat}{bounds[0]}")
                level.repeat(*bounds)
                after_repeat, last_repeat = True, bounds[0]
            else:
                for node in self.atom():
                    level.add(node)
        if open_groups:
            raise RegexSyntaxError(f"missing ): {self.pattern}")
        return level.tree()

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
            return [_ANY if self.dot_newline else _NO_NEWLINE]
        if character == "^":
            return [("line_begin" if self.many_lines else "begin",)]
        if character == "$":
            return [("line_end" if self.many_lines else "end",)]
        return [self.literal(ord(character))]

    def literal(self, code):
        if self.fold and len(codes := classes.variants(code)) > 1:
            return ("class", tuple((other, other) for other in codes))
        return ("class", ((code, code),))

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
        return [("class", tuple(ranges))] if ranges is not None else [self.literal(self.escape())]

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
            match = re.compile(r"\{(0*[0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{2})").match(self.pattern, self.at)
            if match and (code := int(match[1] or match[2], 16)) <= classes.LAST:
                self.at = match.end()
                return code
            self.at = self._end_of_wrong_number()
        elif character.isascii() and not character.isalnum():
            return ord(character)
        raise RegexSyntaxError(f"invalid escape sequence: {self.pattern[start : self.at]}")

    def _end_of_wrong_number(self):
        """Up to where RE2 reads a hexadecimal number that is none."""
        if not self.pattern.startswith("{", self.at):
            return min(self.at + 2, len(self.pattern))
        end, digits = self.at + 1, ""
        while end < len(self.pattern):
            digits += self.pattern[end]
            end += 1
            if not all(digit in string.hexdigits for digit in digits) or int(digits, 16) > classes.LAST:
                break
        return end

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
        return ("class", tuple(classes.negated(ranges) if negative else classes.normalized(ranges)))

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


class _Level:
    """What stands between two parentheses, as far as it was read."""

    def __init__(self):
        self.alternatives: list = []
        self.items: list = []
        self.repeats: list[int] = []  # for each item, the product of the counts along its deepest nesting
        self.most_repeats = 1

    def add(self, node, repeats=1):
        self.items.append(node)
        self.repeats.append(repeats)
        self.most_repeats = max(self.most_repeats, repeats)

    def repeat(self, text, low, high, greedy, counted):
        if not self.items:
            raise RegexSyntaxError(f"no argument for repetition operator: {text}")
        count = (low if high is None else high) if counted else 0
        repeats = self.repeats.pop() * max(count, 1)
        if repeats > _MOST_REPEATS:
            raise RegexSyntaxError(f"invalid repetition size: {text}")
        self.add(("repeat", self.items.pop(), low, high, greedy, counted), repeats)

    def end_alternative(self):
        self.alternatives.append(self.items[0] if len(self.items) == 1 else ("sequence", self.items))
        self.items, self.repeats = [], []

    def tree(self):
        self.end_alternative()
        return self.alternatives[0] if len(self.alternatives) == 1 else ("either", self.alternatives)
