"""The arguments of a call in the source: where each begins and ends, brackets included, and how to change the list."""

import ast
import re
from collections.abc import Collection
from typing import NamedTuple

from headrace._src.upgrade.edits import Edits
from headrace._src.upgrade.source import Source

_BLANK = re.compile(rb"(?:[\s\\]|#[^\r\n]*)*")  # spaces, line ends and comments between tokens


class Argument(NamedTuple):
    """One argument. Its places include the brackets around it: `(a)` is an argument, and so is `name=(a)`."""

    name: str | None  # None: positional
    unpacked: bool  # *a or **a
    value: ast.expr
    start: int
    value_start: int  # differs from `start` behind `name=`
    end: int


class Arguments:
    """The arguments of one call, in the order of the source."""

    def __init__(self, source: Source, edits: Edits, call: ast.Call):
        self._source, self._edits = source, edits
        data = source.data
        nodes = sorted([*call.args, *call.keywords], key=source.start)
        # Behind the function come closing brackets of its own, as in `(f)(x)`, and then the one of the call.
        place = source.end(call.func)
        while data[(place := _BLANK.match(data, place).end())] == ord(")"):
            place += 1
        self.opening = place + 1
        self.all: list[Argument] = []
        place = self.opening
        self._alone = len(nodes) == 1 and isinstance(nodes[0], ast.GeneratorExp) and source.start(nodes[0]) < place
        for node in nodes:
            argument, place = self._measured(node, _BLANK.match(data, place).end())
            self.all.append(argument)
            place = _BLANK.match(data, place).end()
            if data[place : place + 1] == b",":
                place += 1

    def _measured(self, node, start):
        source, data = self._source, self._source.data
        if self._alone:  # the brackets of the call are those of the generator
            start, end = source.start(node), source.end(node)
            return Argument(None, False, node, start, start, end), end
        is_keyword = isinstance(node, ast.keyword)
        value = node.value if is_keyword else node
        value_start = start
        if is_keyword and node.arg is not None:
            value_start = _BLANK.match(data, start + len(node.arg.encode("utf-8"))).end() + 1  # behind the `=`
            value_start = _BLANK.match(data, value_start).end()
        end = source.end(value)
        brackets = re.sub(rb"#[^\r\n]*", b"", data[value_start : source.start(value)]).count(b"(")
        for _ in range(brackets):
            end = _BLANK.match(data, end).end() + 1
        unpacked = isinstance(node, ast.Starred) or (is_keyword and node.arg is None)
        return Argument(node.arg if is_keyword else None, unpacked, value, start, value_start, end), end

    @property
    def positional(self) -> list[Argument]:
        """Those without a name, up to the first that is unpacked."""
        found = []
        for argument in self.all:
            if argument.name is None:
                if argument.unpacked:
                    break
                found.append(argument)
        return found

    @property
    def unpacks_positional(self) -> bool:
        """Whether there is a `*a`: how many arguments it stands for is not known."""
        return any(argument.unpacked and isinstance(argument.value, ast.Starred) for argument in self.all)

    @property
    def unpacks(self) -> bool:
        """Whether there is a `*a` or a `**a`."""
        return any(argument.unpacked for argument in self.all)

    def get(self, name: str, place: int | None = None) -> Argument | None:
        """The argument of a name, or the positional one at a place."""
        for argument in self.all:
            if argument.name == name:
                return argument
        positional = self.positional
        return positional[place] if place is not None and place < len(positional) else None

    def name_it(self, argument: Argument, name: str) -> None:
        """Give a positional argument a keyword, or a keyword argument another one."""
        if argument.name is not None:
            self._edits.replace(argument.start, argument.start + len(argument.name.encode("utf-8")), name)
        elif self._alone:
            self._edits.before(argument.start, f"({name}=", naming=True)
            self._edits.after(argument.end, ")")
        else:
            self._edits.before(argument.start, f"{name}=", naming=True)

    def wrap(self, argument: Argument, before: str, after: str) -> None:
        """Put something around the value of an argument."""
        self._edits.before(argument.value_start, before)
        self._edits.after(argument.end, after)

    def remove(self, removed: Collection[Argument]) -> None:
        """Take arguments out. Comments between arguments stay."""
        if not removed:
            return
        last_kept = max((k for k, argument in enumerate(self.all) if argument not in removed), default=-1)
        for k, argument in enumerate(self.all[: last_kept + 1]):
            if argument in removed:
                self._cut(argument.start, self.all[k + 1].start, argument.end)
        tail = self.all[last_kept + 1 :]
        if tail:
            start = self.all[last_kept].end if last_kept >= 0 else tail[0].start
            self._cut_tail(start, tail)

    def _cut(self, start, end, own_end):
        """Cut an argument with the comma behind it; where a comment follows, up to that."""
        if b"#" in self._source.data[own_end:end]:
            comma = _BLANK.match(self._source.data, own_end).end() + 1
            end = comma if b"#" not in self._source.data[own_end:comma] else own_end
        self._edits.replace(start, end, "")

    def _cut_tail(self, start, tail):
        """Cut the last arguments with the comma before them."""
        if b"#" not in self._source.data[start : tail[0].start]:
            self._edits.replace(start, tail[-1].end, "")
            return
        for argument in tail:  # the comma of the last one that stays may stay: f(a, )
            end = _BLANK.match(self._source.data, argument.end).end()
            own_comma = self._source.data[end] == ord(",") and b"#" not in self._source.data[argument.end : end]
            self._edits.replace(argument.start, end + 1 if own_comma else argument.end, "")

    def append(self, text: str, removed: Collection[Argument] = ()) -> None:
        """Add an argument behind the last one; `removed` are those that are taken out."""
        kept = [argument for argument in self.all if argument not in removed]
        if kept:
            self._edits.after(kept[-1].end, f", {text}")
        else:
            self._edits.before(self.all[0].start if self.all else self.opening, text)
