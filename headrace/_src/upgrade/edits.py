"""Changes to bytes: each replaces a range, and what no range covers stays as it is."""

from typing import NamedTuple


class Edit(NamedTuple):
    """One change. `order` decides between insertions at one place."""

    start: int
    end: int
    text: bytes
    order: tuple[int, int]


_CLOSING, _NAMING, _OPENING, _REPLACING = range(4)  # what comes first at one place


class Edits:
    """Changes that are collected while a tree is walked from the outside to the inside."""

    def __init__(self):
        self._edits: list[Edit] = []

    def __bool__(self):
        return bool(self._edits)

    def replace(self, start: int, end: int, text: str) -> None:
        """Put `text` in the place of a range."""
        self._edits.append(Edit(start, end, text.encode("utf-8"), (_REPLACING, len(self._edits))))

    def before(self, place: int, text: str, naming: bool = False) -> None:
        """Insert in front of what begins at `place`. What an outer node inserts comes first, and `name=` before all."""
        order = (_NAMING if naming else _OPENING, len(self._edits))
        self._edits.append(Edit(place, place, text.encode("utf-8"), order))

    def after(self, place: int, text: str) -> None:
        """Insert behind what ends at `place`. What an inner node inserts comes first, and all before `before`."""
        self._edits.append(Edit(place, place, text.encode("utf-8"), (_CLOSING, -len(self._edits))))

    def in_order(self) -> list[Edit]:
        """Edits from the beginning to the end, without those inside of a range that another one replaces."""
        edits = sorted(self._edits, key=lambda edit: (edit.start, edit.order))
        kept: list[Edit] = []
        covered = 0
        for edit in edits:
            if edit.start >= covered:
                kept.append(edit)
                covered = max(covered, edit.end)
        return kept

    def applied(self, data: bytes) -> bytes:
        """The bytes after all changes."""
        parts, place = [], 0
        for edit in self.in_order():
            parts += [data[place : edit.start], edit.text]
            place = edit.end
        return b"".join([*parts, data[place:]])
