"""Walking syntax trees, and giving new nodes the position of those that they replace."""

import ast


def at(node: ast.AST, where: ast.AST) -> ast.AST:
    """`node`, with the position of `where` for it and those below it that have none yet.

    Unlike `ast.fix_missing_locations`, it does not go into what has a position already.
    """
    _place(node, where.lineno, where.col_offset, where.end_lineno, where.end_col_offset)
    return node


def _place(node, line, column, end_line, end_column):
    if node._attributes:
        node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = line, column, end_line, end_column
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            if not hasattr(value, "lineno") and value._fields:
                _place(value, line, column, end_line, end_column)
        elif isinstance(value, list):
            for child in value:
                if isinstance(child, ast.AST) and not hasattr(child, "lineno"):
                    _place(child, line, column, end_line, end_column)


_LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.Pass)


def children(node: ast.AST) -> list:
    """The nodes directly below one; a list, because walking trees is most of the work of a conversion."""
    found = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [child for child in value if isinstance(child, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            found.append(value)
    return found


def descendants(node: ast.AST) -> list:
    """A node and all nodes below it."""
    found = [node]
    for n in found:
        if not isinstance(n, _LEAVES):
            found += children(n)
    return found
