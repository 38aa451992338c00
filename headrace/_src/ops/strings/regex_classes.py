"""Character classes of regular expressions as ranges of code points: Perl's, POSIX's, Unicode's, by case."""

import functools

from headrace._src.ops.strings import regex_tables as tables

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


def without(ranges, others) -> Ranges:
    """The code points of the ranges that are in none of the others."""
    return negated([*negated(ranges), *others])


def _runs(text: str, names: list[str]) -> dict[str, Ranges]:
    """The ranges of each name in a table of runs."""
    found: dict[str, Ranges] = {name: [] for name in names}
    start = 0
    for run in text.split():
        number, _, length = run.partition(".")
        end = start + (int(length, 36) if length else 1)
        if int(number, 36) < len(names):
            found[names[int(number, 36)]].append((start, end - 1))
        start = end
    return found


@functools.cache
def _unicode_classes() -> dict[str, Ranges]:
    categories = _runs(tables.CATEGORY_RUNS, tables.CATEGORIES)
    letters: dict[str, Ranges] = {name[0]: [] for name in categories}
    for name, ranges in categories.items():
        letters[name[0]] += ranges
    larger = {letter: normalized(ranges) for letter, ranges in letters.items()}
    return {"Any": [(0, LAST)], **_runs(tables.SCRIPT_RUNS, tables.SCRIPTS), **categories, **larger}


def unicode_class(name: str) -> Ranges | None:
    """The ranges of a general category, a script or `Any`; None when there is no such class."""
    return _unicode_classes().get(name)


@functools.cache
def _orbits() -> dict[int, tuple[int, ...]]:
    """For each code point that has case variants: all of them; in order."""
    found: dict[int, tuple[int, ...]] = {}
    for word in tables.CASES.split():
        numbers = tuple(int(number, 36) for number in word.removeprefix("=").split("."))
        orbits = [numbers]
        if not word.startswith("="):
            first, count, step, distance = numbers
            orbits = [(code, code + distance) for code in range(first, first + count * step, step)]
        for orbit in orbits:
            found.update(dict.fromkeys(orbit, orbit))
    return dict(sorted(found.items()))


def variants(code: int) -> tuple[int, ...]:
    """The code points that differ from this one in case only, itself included."""
    return _orbits().get(code, (code,))


def folded(ranges) -> Ranges:
    """The ranges, with all case variants of what they hold."""
    ranges = normalized(ranges)
    extra = []
    at = 0
    for code, orbit in _orbits().items():
        while at < len(ranges) and ranges[at][1] < code:
            at += 1
        if at == len(ranges):
            break
        if ranges[at][0] <= code:
            extra.extend((other, other) for other in orbit)
    return normalized([*ranges, *extra])


def utf8_sequences(low: int, high: int) -> list[list[tuple[int, int]]]:
    """The UTF-8 encodings of a range of code points, as sequences of byte ranges."""
    if (low, high) == (0x80, LAST):
        # RE2 does not look closer when a class ends so: longer forms of other characters fit, and more than `LAST`.
        rest = (0x80, 0xBF)
        return [[(0xC2, 0xDF), rest], [(0xE0, 0xEF), rest, rest], [(0xF0, 0xF4), rest, rest, rest]]
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
