"""Walking syntax trees finds what Python's own walk finds."""

import ast
import pathlib

from headrace._src.autograph.positions import children, descendants

FILES = sorted(pathlib.Path(__file__).parent.glob("*.py"))
STATEMENTS = """
import a.b as c, d
from . import e as f
global g, h
async def i(j, /, k: int = 1, *l, m, n=2, **o) -> int:
    async with p as q, r:
        await s
    async for t in u:
        yield
match v:
    case {"w": 1, **x} | [y, *z] | A(b, c=2) if d: pass
    case None | "e" | 3 as f: pass
    case _: pass
{**g, h: 1}
f"{i!r:>{j}}"
try:
    raise k from l
except* (m, n) as o:
    del p[q:r, ...], s.t
(u := not v, *w)
[x for x in y if z async for a in b]
c < d <= e is not f
lambda *, g=1: (yield from h)
assert i, j
k: int = 3
"""


def test_children():
    for text in [STATEMENTS, *(file.read_text() for file in FILES)]:
        for node in ast.walk(ast.parse(text)):
            # Operators and contexts have nothing below them, and no position.
            wanted = [child for child in ast.iter_child_nodes(node) if child._fields]
            assert [child for child in children(node) if child._fields] == wanted


def test_descendants():
    tree = ast.parse(STATEMENTS)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None  # which stays with the original function
    wanted = {id(node) for node in ast.walk(tree) if node._fields}
    assert {id(node) for node in descendants(tree) if node._fields} == wanted
