"""Shell patterns of paths: `*`, `?`, `[a-z]`, `[!a-z]` and backslashes, component by component."""

import functools
import re

_SPECIAL = frozenset("*?[\\")
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "space": r"\s", "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}  # fmt: skip
_NOTHING = "(?!)"


def has_wildcards(pattern: str) -> bool:
    """Whether a path needs matching at all."""
    return not _SPECIAL.isdisjoint(pattern)


@functools.lru_cache(maxsize=256)
def component_expression(pattern: str) -> re.Pattern:
    """The regular expression of a pattern that stands for one component of a path."""
    parts, position = [], 0
    while position < len(pattern):
        letter = pattern[position]
        position += 1
        if letter == "*":
            # Several in a row mean the same as one, and would make the search take exponential time.
            if not parts or parts[-1] != ".*":
                parts.append(".*")
        elif letter == "?":
            parts.append(".")
        elif letter == "\\":
            # TF: a backslash at the end matches nothing.
            parts.append(re.escape(pattern[position]) if position < len(pattern) else _NOTHING)
            position += 1
        elif letter == "[":
            text, position = _set(pattern, position)
            parts.append(text)
        else:
            parts.append(re.escape(letter))
    return re.compile("".join(parts), re.DOTALL)


def _set(pattern: str, position: int) -> tuple[str, int]:
    """What a bracket that was opened before `position` matches, and where the pattern goes on."""
    start = position
    negated = pattern[position : position + 1] in ("!", "^")
    position += negated
    items: list[str] = []
    first = True
    while position < len(pattern) and (first or pattern[position] != "]"):
        first = False
        named = re.compile(r"\[:(\w+):\]").match(pattern, position)
        if named and named[1] in _CLASSES:
            items.append(_CLASSES[named[1]])
            position = named.end()
            continue
        low, position = _letter(pattern, position)
        if pattern[position : position + 1] == "-" and pattern[position + 1 : position + 2] not in ("", "]"):
            high, position = _letter(pattern, position + 1)
            if low <= high:
                items.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            items.append(re.escape(low))
    if position >= len(pattern):
        return re.escape("["), start  # never closed: an ordinary character
    if not items:
        return ("." if negated else _NOTHING), position + 1
    return f"[{'^' if negated else ''}{''.join(items)}]", position + 1


def _letter(pattern: str, position: int) -> tuple[str, int]:
    if pattern[position] == "\\" and position + 1 < len(pattern):
        position += 1
    return pattern[position], position + 1
