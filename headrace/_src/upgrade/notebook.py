"""Notebooks: code cells are upgraded together, and every byte of the file that is not such code stays."""

import ast
import io
import json
import re
import tokenize
from typing import NamedTuple

from headrace._src.upgrade.rewriting import Change, Message, Options, Upgraded, upgrade
from headrace._src.upgrade.source import SourceError, parsed

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]')
_MAGIC = re.compile(r"\s*(?:[%!?]|[\w., ]+=\s*[%!]\s*\w|[\w.]+\?{1,2}\s*$)")
_PYTHON_CELLS = {"time", "timeit", "capture", "prun", "python", "python3"}  # cell magics with Python below them
_CELL, _LINE = "__headrace_cell_{}__", "__headrace_magic_{}__"


class _Cell(NamedTuple):
    number: int  # as people count: from 1, text cells too
    texts: list[tuple[int, int]]  # places of the strings of `source` in the file
    in_list: bool
    span: tuple[int, int]  # the place of `source`


def upgrade_notebook(original: bytes, options: Options = Options()) -> Upgraded:
    """A notebook whose code was for 1.x.

    Raises:
        SourceError: it is no notebook, or some of its cells are not Python. In the second case `args[1]` is what became
            of the others.
    """
    try:
        text = original.decode("utf-8")
        cells = json.loads(text.removeprefix("\ufeff"))
        cells = cells["cells"] if "cells" in cells else [cell for page in cells["worksheets"] for cell in page["cells"]]
        is_code = [cell.get("cell_type") == "code" for cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"it is not a notebook: {error!r}") from None
    found = [cell for cell, code in zip(_cells(text), is_code) if code]
    sources = {cell.number: "".join(json.loads(text[start:end]) for start, end in cell.texts) for cell in found}
    masked, magics, broken = _masked(sources)
    joined = "".join(f"{code}\n{_CELL.format(number)}\n" for number, code in masked.items())
    result = upgrade(joined.encode("utf-8"), options)
    data, messages, changes = _split(text, found, sources, masked, magics, result)
    done = Upgraded(data.encode("utf-8"), messages, changes)
    if broken:
        raise SourceError("; ".join(f"cell {number}: {said}" for number, said in broken.items()), done)
    return done


def _masked(sources):
    """Code of the cells with names in the place of magics; the magics; and which cells are not Python."""
    masked, magics, broken = {}, [], {}
    for number, code in sources.items():
        first = code.lstrip().partition("\n")[0].split()
        if first and first[0].startswith("%%") and first[0][2:] not in _PYTHON_CELLS:
            continue  # another language
        text = code if _is_python(code) else _without_magics(code, magics)
        try:
            parsed(text)
        except SourceError as error:
            broken[number] = str(error)
        else:
            masked[number] = text
    return masked, magics, broken


def _without_magics(code, magics):
    """A cell with a name in the place of each magic or shell line, and a comment for a line that goes on with one."""
    lines, goes_on = code.splitlines(keepends=True), False
    for k, line in enumerate(lines):
        body = line.rstrip("\r\n")
        if not goes_on and (not _MAGIC.match(line) or _is_open("".join(lines[:k]))):
            continue
        content = body if goes_on else body.lstrip()
        name = _LINE.format(len(magics))
        magics.append(content)
        lines[k] = line.replace(content, f"#{name}" if goes_on else name, 1) if content else f"#{name}{line}"
        goes_on = body.endswith("\\")
    return "".join(lines)


def _is_open(text):
    """Whether a text ends inside of brackets or a string: what looks like a magic is an operator there."""
    try:
        for _ in tokenize.generate_tokens(io.StringIO(text).readline):
            pass
    except tokenize.TokenError:
        return True
    except (SyntaxError, ValueError):
        return False
    return False


def _is_python(code):
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    return True


def _split(text, found, sources, masked, magics, result):
    """The file, messages and changes, cell by cell."""
    code = result.data.decode("utf-8")
    by_number = {cell.number: cell for cell in found}
    pieces, lines, place, line = {}, [], 0, 1
    for number, before in masked.items():
        end = code.index(f"\n{_CELL.format(number)}\n", place)
        pieces[number] = re.sub("#?" + _LINE.format(r"(\d+)"), lambda match: magics[int(match[1])], code[place:end])
        place = end + len(f"\n{_CELL.format(number)}\n")
        count = len(f"{before}\n{_CELL.format(number)}\n".splitlines())
        lines.append((line, number))
        line += count
    edits = []
    for number, after in pieces.items():
        if after != sources[number]:
            edits += _edits(text, by_number[number], sources[number], after)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]

    def where(line):
        return max(entry for entry in lines if entry[0] <= line)

    messages = [Message(m.line - where(m.line)[0] + 1, m.column, m.level, f"cell {where(m.line)[1]}: {m.text}")
                for m in result.messages]
    changes = [Change(c.line - where(c.line)[0] + 1, c.old, c.new, c.marks) for c in result.changes]
    return text, messages, changes


def _edits(text, cell, old, new):
    """How a cell's `source` changes in the file: only strings of lines that changed, where lines are the same ones."""
    ascii_only = text.isascii()

    def written(value):
        return json.dumps(value, ensure_ascii=ascii_only)

    if not cell.in_list:
        return [(*cell.span, written(new))]
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    strings = [json.loads(text[start:end]) for start, end in cell.texts]
    if strings == before and len(before) == len(after):
        return [(*place, written(b)) for place, a, b in zip(cell.texts, before, after) if a != b]
    first, last = cell.texts[0], cell.texts[-1]
    between = text[first[1] : cell.texts[1][0]] if len(cell.texts) > 1 else ", "
    return [(first[0], last[1], between.join(map(written, after)))]


def _cells(text):
    """All cells of a notebook, with the places of the strings of their sources."""
    cells, path, keys = [], [], []
    for token in _TOKEN.finditer(text):
        mark = token.group()[0]
        if mark in "{[":
            path.append(mark)
            keys.append(None if mark == "{" else 0)
            if _is_cell(path, keys):
                cells.append(_Cell(len(cells) + 1, [], False, (0, 0)))
            elif _is_source(path[:-1], keys[:-1]) and mark == "[":
                cells[-1] = cells[-1]._replace(in_list=True)
        elif mark in "}]":
            path.pop()
            keys.pop()
        elif mark == ",":
            keys[-1] = keys[-1] + 1 if path[-1] == "[" else None
        elif mark == '"':
            if path[-1] == "{" and keys[-1] is None:
                keys[-1] = json.loads(token.group())
            elif _is_source(path, keys) or _is_source(path[:-1], keys[:-1]):
                cells[-1].texts.append(token.span())
                cells[-1] = cells[-1]._replace(span=token.span())
    return cells


def _is_cell(path, keys):
    """Whether the innermost object is a cell: in `cells` of the notebook, or of a worksheet of older ones."""
    if path[-1] != "{":
        return False
    return (len(path) == 3 and keys[0] == "cells") or (len(path) == 5 and keys[::2] == ["worksheets", "cells", keys[4]])


def _is_source(path, keys):
    return bool(path) and path[-1] == "{" and keys[-1] in ("source", "input") and _is_cell(path, keys)
