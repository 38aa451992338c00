"""Character classes of regular expressions as ranges of code points: Perl's, POSIX's, Unicode's, by case."""

import functools
import unicodedata

from headrace._src.ops.strings.unicode_scripts import NUMBER_OF_SCRIPT, ranges_of_script

LAST = 0x10FFFF
Ranges = list[tuple[int, int]]  # sorted, disjoint, both ends included

PERL = {
    "d": [(0x30, 0x39)],
    "s": [(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)],  # RE2: no vertical tab
    "w": [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
}
POSIX = {
    "alnum": [(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
    "alpha": [(0x41, 0x5A), (0x61, 0x7A)],
    "ascii": [(0x00, 0x7F)],
    "blank": [(0x09, 0x09), (0x20, 0x20)],
    "cntrl": [(0x00, 0x1F), (0x7F, 0x7F)],
    "digit": [(0x30, 0x39)],
    "graph": [(0x21, 0x7E)],
    "lower": [(0x61, 0x7A)],
    "print": [(0x20, 0x7E)],
    "punct": [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
    "space": [(0x09, 0x0D), (0x20, 0x20)],
    "upper": [(0x41, 0x5A)],
    "word": PERL["w"],
    "xdigit": [(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
}
CATEGORIES = frozenset(
    "C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp "
    "Zs".split()
)


def normalized(ranges) -> Ranges:
    """Sorted, with overlapping and adjacent ranges merged."""
    merged: Ranges = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def negated(ranges) -> Ranges:
    """The code points that are in none of the ranges."""
    result, next_free = [], 0
    for low, high in normalized(ranges):
        if next_free < low:
            result.append((next_free, low - 1))
        next_free = high + 1
    if next_free <= LAST:
        result.append((next_free, LAST))
    return result


@functools.cache
def _categories() -> dict[str, Ranges]:
    found: dict[str, Ranges] = {}
    start, current = 0, unicodedata.category("\0")
    for code in range(1, LAST + 2):
        category = unicodedata.category(chr(code)) if code <= LAST else None
        if category != current:
            found.setdefault(current, []).append((start, code - 1))
            start, current = code, category
    return found


def unicode_class(name: str) -> Ranges | None:
    """The ranges of a general category, a script or `Any`; None when there is no such class."""
    if name == "Any":
        return [(0, LAST)]
    if name in CATEGORIES:
        return normalized(
            pair
            for category, ranges in _categories().items()
            if category.startswith(name) and category != "Cn"
            for pair in ranges
        )
    return ranges_of_script(name) if name in NUMBER_OF_SCRIPT and name != "Unknown" else None


def _simple_fold(character: str) -> str:
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character


@functools.cache
def _orbits() -> dict[int, tuple[int, ...]]:
    """For each code point that has case variants: all of them."""
    members: dict[str, list[int]] = {}
    for code in range(0x1E944):  # no letter above has case
        character = chr(code)
        if any(form != character for form in (character.upper(), character.lower(), character.casefold())):
            members.setdefault(_simple_fold(character), []).append(code)
    return {
        code: orbit
        for codes in members.values()
        if len(orbit := tuple(sorted({*codes, ord(_simple_fold(chr(codes[0])))}))) > 1
        for code in orbit
    }


def variants(code: int) -> tuple[int, ...]:
    """The code points that differ from this one in case only, itself included."""
    return _orbits().get(code, (code,))


def folded(ranges) -> Ranges:
    """The ranges, with all case variants of what they hold."""
    ranges = normalized(ranges)
    extra = []
    at = 0
    for code, orbit in sorted(_orbits().items()):
        while at < len(ranges) and ranges[at][1] < code:
            at += 1
        if at == len(ranges):
            break
        if ranges[at][0] <= code:
            extra.extend((other, other) for other in orbit)
    return normalized([*ranges, *extra])


def utf8_sequences(low: int, high: int) -> list[list[tuple[int, int]]]:
    """The UTF-8 encodings of a range of code points, as sequences of byte ranges."""
    for limit in (0x7F, 0x7FF, 0xFFFF):
        if low <= limit < high:
            return utf8_sequences(low, limit) + utf8_sequences(limit + 1, high)
    if high <= 0x7F:
        return [[(low, high)]]
    for level in (1, 2, 3):
        mask = (1 << (6 * level)) - 1
        if low & ~mask != high & ~mask:
            if low & mask:
                return utf8_sequences(low, low | mask) + utf8_sequences((low | mask) + 1, high)
            if high & mask != mask:
                return utf8_sequences(low, (high & ~mask) - 1) + utf8_sequences(high & ~mask, high)
    first, last = (chr(code).encode("utf-8", "surrogatepass") for code in (low, high))
    return [list(zip(first, last))]
