"""RE2's regular expressions on bytes, in linear time.

RE2 matches UTF-8: `.` is one character. So a text is decoded, and matched character by character; one that is not
UTF-8, and each text for a pattern that tells bytes apart (`\\C`, `\\B`), byte by byte, where a class is the bytes of
its characters. Either way there are two engines, which find the same: Python's `re` where it surely takes linear time
(`regex_costs`), and `regex_machine` for all else. See docs/decisions/0014-strings-and-tables.md.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import Any

from headrace._src.core import errors
from headrace._src.ops.strings.regex_costs import ATTEMPTS, Costs
from headrace._src.ops.strings.regex_machine import Machine
from headrace._src.ops.strings.regex_parsing import Parser, RegexSyntaxError
from headrace._src.ops.strings.regex_translation import class_text, translated
from headrace._src.ops.strings.regex_trees import for_searching, in_bytes, instruction_count

_MOST_INSTRUCTIONS = 698_990  # RE2's, of 8 MB for a pattern


class _Form:
    """A pattern for texts of characters, or of bytes, with both engines.

    Args:
        tree: the pattern.
        depth: how deep its groups are nested.
        encoding: of the texts.
    """

    def __init__(self, tree: tuple, depth: int, encoding: str):
        self._tree = tree
        self._searched = for_searching(tree)
        self.costs = Costs(tree, depth)
        self.search_costs = self.costs if self._searched is tree else Costs(self._searched, depth)
        self.encoding = encoding

    @functools.cached_property
    def whole_pattern(self) -> re.Pattern:
        """The pattern for `re`, for texts that it must match as a whole."""
        return re.compile(translated(self._tree), re.ASCII)

    @functools.cached_property
    def pattern(self) -> re.Pattern:
        """The pattern for `re`, for searching."""
        return self.whole_pattern if self._searched is self._tree else re.compile(translated(self._searched), re.ASCII)

    @functools.cached_property
    def guarded_pattern(self) -> re.Pattern:
        """The same, which begins only where the repetition that it begins with cannot begin earlier."""
        before = class_text(self.search_costs.leading_class)
        return re.compile(f"(?<!{before})(?:{translated(self._searched)})", re.ASCII)

    @functools.cached_property
    def machine(self) -> Machine:
        """What takes linear time for any text."""
        return Machine(self._tree)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        if self.costs.allows_match(text):
            return self.whole_pattern.fullmatch(text) is not None
        return self.machine.matches(text)

    def search_in(self, text: str) -> Callable[[int], Any]:
        """A function from a place to the first match from there on, or None; places must not go backwards."""
        if self.search_costs.allows_search(text):
            return functools.partial(self.pattern.search, text)
        return self.careful_search_in(text)

    def careful_search_in(self, text: str) -> Callable[[int], Any]:
        """The same for a text in which `re` cannot look everywhere."""
        if self.search_costs.allows_guarded_search(text):
            return _FewPlaces(self, text).search
        return self.machine.scan(text).search


class _FewPlaces:
    """Looks for matches of a pattern that begins with a repetition, only where that cannot begin earlier.

    After a match it may begin where that ended, too, wherever that is: so there is an end to it after a few.
    """

    def __init__(self, form: _Form, text: str):
        self._form = form
        self._text = text
        self._left = ATTEMPTS
        self._scan = None

    def search(self, at: int):
        """The first match from a place on, or None."""
        if self._scan is None:
            if self._left:
                self._left -= 1
                match = self._form.pattern.match(self._text, at) if at else None
                return match or self._form.guarded_pattern.search(self._text, at)
            self._scan = self._form.machine.scan(self._text)
        return self._scan.search(at)


class Regex:
    """A compiled pattern that works on bytes.

    Args:
        pattern: RE2 syntax, UTF-8.

    Raises:
        RegexSyntaxError: when RE2 would refuse it.
    """

    def __init__(self, pattern: bytes):
        try:
            parser = Parser(pattern.decode("utf-8"))
        except UnicodeDecodeError:
            raise RegexSyntaxError("invalid UTF-8") from None
        self._tree = parser.parse()
        if instruction_count(self._tree) > _MOST_INSTRUCTIONS:
            raise RegexSyntaxError("pattern too large - compile failed")
        self._depth = parser.depth
        self.groups = parser.groups
        self.in_bytes = parser.in_bytes

    @functools.cached_property
    def of_characters(self) -> _Form:
        """For texts that are UTF-8."""
        return _Form(self._tree, self._depth, "utf-8")

    @functools.cached_property
    def of_bytes(self) -> _Form:
        """For any."""
        return _Form(in_bytes(self._tree), self._depth + 4, "latin-1")

    def _read(self, item):
        """What matches a string, and its text for that."""
        if not self.in_bytes:
            try:
                return self.of_characters, item.decode()
            except UnicodeDecodeError:
                pass
        return self.of_bytes, item.decode("latin-1")

    def matches(self, item: bytes) -> bool:
        """Whether the whole string matches."""
        form, text = self._read(item)
        return form.matches(text)

    def matcher(self) -> Callable[[bytes], bool]:
        """`matches` for many strings."""
        if self.in_bytes or self.of_characters.costs.longest_match < 0:
            return self.matches
        matches, fullmatch = self.matches, self.of_characters.whole_pattern.fullmatch
        longest = self.of_characters.costs.longest_match

        def matched(item):
            try:
                text = item.decode()
            except UnicodeDecodeError:
                return matches(item)
            return fullmatch(text) is not None if len(text) <= longest else matches(item)

        return matched

    def replace(self, item: bytes, rewrite: Rewrite, everywhere: bool) -> bytes:
        """The string with the first match, or all that do not overlap, rewritten."""
        # TF: a rewrite that names a group the pattern lacks leaves the string as it is.
        if rewrite.highest > self.groups:
            return item
        form, text = self._read(item)
        search = form.search_in(text)
        if everywhere:
            return _replaced(search, form.encoding, text, item, rewrite)
        match = search(0)
        if match is None or not rewrite.valid:
            return item
        return _joined([text[: match.start()], *rewrite.of(match), text[match.end() :]], form.encoding)

    def replacer(self, rewrite: Rewrite, everywhere: bool) -> Callable[[bytes], bytes]:
        """`replace` for many strings: what `re` can do at once, it does."""
        replace = functools.partial(self.replace, rewrite=rewrite, everywhere=everywhere)
        if not everywhere or self.in_bytes or rewrite.highest > self.groups or not rewrite.is_text:
            return replace
        form = self.of_characters
        costs = form.search_costs
        longest = costs.longest_search
        # What follows an empty match is different in RE2 and in Python.
        if longest < 0 or costs.can_be_empty:
            return replace
        substitute, new = form.pattern.sub, rewrite.substitute

        def replaced(item):
            try:
                text = item.decode()
            except UnicodeDecodeError:
                return replace(item)
            if len(text) <= longest or costs.allows_search(text):
                return substitute(new, text).encode()
            return _replaced(form.careful_search_in(text), "utf-8", text, item, rewrite)

        return replaced


def _joined(pieces, encoding):
    return b"".join([piece if isinstance(piece, bytes) else piece.encode(encoding) for piece in pieces])


def _replaced(search, encoding, text, item, rewrite):
    """A string in which all matches are rewritten."""
    pieces, at, last_end = [], 0, -1
    while at <= len(text):
        match = search(at)
        if match is None:
            break
        start, end = match.span()
        pieces.append(text[at:start])
        if start == end == last_end:
            # RE2: no empty match right after a match; go on one character later.
            step = 1 if encoding == "utf-8" else _character_length(item, start)
            pieces.append(text[start : start + step])
            at, last_end = start + step, -1
            continue
        pieces.extend(rewrite.of(match))
        at = last_end = end
    if not at:
        return item
    pieces.append(text[at:])
    return _joined(pieces, encoding)


def _character_length(data, at):
    for size in (1, 2, 3, 4):
        try:
            data[at : at + size].decode("utf-8", "surrogatepass")
            return size
        except UnicodeDecodeError:
            continue
    return 1


class Rewrite:
    """What replaces a match: bytes with `\\0` to `\\9` for the match and its groups, and `\\\\`."""

    def __init__(self, rewrite: bytes):
        self.parts: list = []  # bytes, or the number of a group
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

    @functools.cached_property
    def is_text(self) -> bool:
        """Whether it is UTF-8."""
        try:
            for part in self.parts:
                if not isinstance(part, int):
                    part.decode()
        except UnicodeDecodeError:
            return False
        return True

    @functools.cached_property
    def substitute(self) -> Any:
        """The same for `re`: a text, or a function from matches to texts."""
        parts = [part if isinstance(part, int) else part.decode() for part in self.parts]
        if not any(isinstance(part, int) for part in parts):
            return "".join(parts).replace("\\", "\\\\")
        if parts == [0]:
            return operator.itemgetter(0)

        def of(match):
            return "".join([(match[part] or "") if isinstance(part, int) else part for part in parts])

        return of

    def of(self, match) -> list:
        """The replacement of this match, in pieces."""
        return [part if isinstance(part, bytes) else match[part] or "" for part in self.parts]


@functools.lru_cache(maxsize=256)
def _cached(pattern: bytes) -> Regex:
    return Regex(pattern)


def compile_regex(op: str, pattern: bytes) -> Regex:
    """The compiled pattern, or InvalidArgumentError that says what is wrong with it."""
    try:
        return _cached(pattern)
    except RegexSyntaxError as error:
        text = pattern.decode("utf-8", "replace")
        raise errors.invalid_argument(f"{op}: Invalid pattern: {text}, error: {error}") from None
