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
    node.__dict__.update(position)  # the fields are there too
    for child in children(node):
        if "lineno" not in child.__dict__:
            _place(child, position)


_LEAVES = frozenset({ast.Name, ast.Constant, ast.Pass, ast.arg})


# Fields that never hold a node with something below it: names, numbers, operators, contexts.
_PLAIN = frozenset(
    "arg asname attr conversion ctx id is_async kind kwd_attrs level module n op ops rest s simple str tag "
    "type_comment".split()
)
# Fields that hold nodes in some places, and names or nothing in others.
_MIXED = frozenset({"keys", "kw_defaults", "name", "names", "value"})
_fields_of: dict = {}


def _fields(kind):
    """For a class of nodes, where to find what is below: (field, whether to look at what it holds) for each."""
    return [(name, name in _MIXED) for name in kind._fields if name not in _PLAIN]


def children(node: ast.AST) -> list:
    """The nodes directly below one; a list, because walking trees is most of the work of a conversion."""
    kind = type(node)
    fields = _fields_of.get(kind)
    if fields is None:
        fields = _fields_of[kind] = _fields(kind)
    found = []
    for name, is_mixed in fields:
        value = getattr(node, name, None)
        if value is None:
            continue
        if type(value) is list:
            found += [child for child in value if isinstance(child, ast.AST)] if is_mixed else value
        elif not is_mixed or isinstance(value, ast.AST):
            found.append(value)
    return found


def descendants(node: ast.AST) -> list:
    """A node and all nodes below it."""
    found = [node]
    for n in found:
        if type(n) not in _LEAVES:
            found += children(n)
    return found
