"""Walking syntax trees, and giving new nodes the position of those that they replace."""

import ast


def at(node: ast.AST, where: ast.AST) -> ast.AST:
    """`node`, with the position of `where` for it and those below it that have none yet.

    Unlike `ast.fix_missing_locations`, it does not go into what has a position already.
    """
    position = {
        "lineno": where.lineno, "col_offset": where.col_offset,
        "end_lineno": where.end_lineno, "end_col_offset": where.end_col_offset,
    }  # fmt: skip
    _place(node, position)
    return node


def _place(node, position):
    attributes = node.__dict__  # the fields and, once it has one, the position
    values = list(attributes.values())
    attributes.update(position)
    for value in values:
        if isinstance(value, list):
            for child in value:
                if isinstance(child, ast.AST) and "lineno" not in child.__dict__:
                    _place(child, position)
        elif isinstance(value, ast.AST) and value._fields and "lineno" not in value.__dict__:
            _place(value, position)


_LEAVES = frozenset({ast.Name, ast.Constant, ast.Pass, ast.arg})


def children(node: ast.AST) -> list:
    """The nodes directly below one; a list, because walking trees is most of the work of a conversion."""
    found = []
    for value in node.__dict__.values():
        if type(value) is list:
            found += [child for child in value if isinstance(child, ast.AST)]
        elif isinstance(value, ast.AST) and value._fields:  # operators and contexts have none
            found.append(value)
    return found


def descendants(node: ast.AST) -> list:
    """A node and all nodes below it."""
    found = [node]
    for n in found:
        if type(n) not in _LEAVES:
            found += children(n)
    return found
