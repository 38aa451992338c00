"""Finding the syntax tree of a function: in files, notebooks, doctests, the REPL, and source given to `exec`."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# A block is first looked for by indentation; after this many wrong ends the whole file is parsed.
_ATTEMPTS = 40


class SourceError(ValueError):
    """The source of a function cannot be had, or is not what the function was compiled from."""


def function_node(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda:
    """The syntax tree of `function`, with the line and column numbers of its file.

    Raises:
        SourceError: There is no source, or it has changed.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise SourceError(
            f"its source is not available (it was defined in {code.co_filename!r}). Define it in a file or a "
            "notebook cell, or register the text given to exec in linecache"
        )
    if code.co_firstlineno > len(lines):
        raise changed(code)
    node = _lambda_node(code, lines) if code.co_name == "<lambda>" else _def_node(code, lines)
    if not _same_names(_parameters(node), code.co_varnames[: _parameter_count(code)]):
        raise changed(code)
    return node


def _same_names(written, compiled):
    """Whether parameters are the same; the compiler puts the class into `__private` names."""
    return len(written) == len(compiled) and all(
        a == b or (a.startswith("__") and b.endswith(a)) for a, b in zip(written, compiled)
    )


def changed(code) -> SourceError:
    """The error for source that is not what a code object was compiled from."""
    return SourceError(
        f"line {code.co_firstlineno} of {code.co_filename!r} no longer holds it: the file changed after the "
        "function was made"
    )


def _parameter_count(code):
    flags = code.co_flags
    return (
        code.co_argcount
        + code.co_kwonlyargcount
        + bool(flags & inspect.CO_VARARGS)
        + bool(flags & inspect.CO_VARKEYWORDS)
    )


def _parameters(node):
    """Names in the order of `co_varnames`."""
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    names += [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    return tuple(names)


def _def_node(code, lines):
    """The `def` that begins, decorators included, at the first line of `code`."""
    first = code.co_firstlineno - 1
    indent = _indent(lines[first])
    attempts = 0
    head = _head(first, indent)
    for end in range(first + 1, len(lines) + 1):
        if end < len(lines) and not _may_start_statement(lines[end], indent):
            continue
        try:
            tree = ast.parse(head + "".join(lines[first:end]))
        except SyntaxError:
            attempts += 1
            if attempts > _ATTEMPTS:
                break
            continue
        statements = tree.body[0].body if indent else tree.body
        if len(statements) == 1 and isinstance(statements[0], _FUNCTIONS) and statements[0].name == code.co_name:
            return statements[0]
        break
    # Several statements on a line, `if` and `def` on one line, or strings that the indentation does not tell.
    for node in _nodes(tuple(lines)):
        if isinstance(node, _FUNCTIONS) and node.name == code.co_name:
            start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if start == code.co_firstlineno:
                return _copy(node)
    raise changed(code)


def _head(first, indent):
    """What to put before some lines so that they parse with their own positions.

    Empty lines in place of those before them; "if 1:" makes an indented block a program of its own.
    """
    return "\n" * (first - 1) + "if 1:\n" if indent else "\n" * first


def _indent(line):
    return len(line) - len(line.lstrip())


def _may_start_statement(line, indent):
    text = line.lstrip()
    return bool(text) and not text.startswith("#") and len(line) - len(text) <= indent


def _lambda_node(code, lines):
    """The lambda whose code this is; several on a line are told apart by the columns of their bodies."""
    candidates = []
    first = code.co_firstlineno - 1
    head = _head(first, _indent(lines[first]))
    for end in range(first + 1, min(first + 4, len(lines)) + 1):
        try:
            tree = ast.parse(head + "".join(lines[first:end]))
        except SyntaxError:
            continue
        candidates = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
        break
    if not candidates:
        candidates = [node for node in _nodes(tuple(lines)) if isinstance(node, ast.Lambda)]
    names = code.co_varnames[: _parameter_count(code)]
    candidates = [n for n in candidates if n.lineno == code.co_firstlineno and _same_names(_parameters(n), names)]
    if len(candidates) > 1:
        span = _span(code)
        if span is not None:
            candidates = [n for n in candidates if _body_span(n) == span] or candidates
    if len(candidates) > 1:
        # Without columns (python -X no_debug_ranges): lambdas that compile to the same are the same.
        candidates = [n for n in candidates if _compiled(n).co_code == code.co_code] or candidates
        texts = {ast.dump(n) for n in candidates}
        if len(texts) > 1:
            raise SourceError(
                f"line {code.co_firstlineno} of {code.co_filename!r} has several lambdas that cannot be told apart. "
                "Put them on lines of their own"
            )
    if not candidates:
        raise changed(code)
    return _copy(candidates[0])


def _span(code):
    """(line, column, end line, end column) of what the code object was compiled from, or None."""
    starts, ends = [], []
    for line, end_line, column, end_column in code.co_positions():
        # The entry of a function has a line and no width.
        if None not in (line, end_line, column, end_column) and (line, column) != (end_line, end_column):
            starts.append((line, column))
            ends.append((end_line, end_column))
    return (*min(starts), *max(ends)) if starts else None


def _body_span(node):
    body = node.body
    return body.lineno, body.col_offset, body.end_lineno, body.end_col_offset


def _compiled(node):
    program = ast.Expression(node)
    return next(c for c in compile(program, "", "eval").co_consts if isinstance(c, types.CodeType))


@functools.lru_cache(maxsize=4)
def _nodes(lines):
    """All functions of a file."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError as error:
        raise SourceError(f"its source does not parse: {error}") from None
    return [node for node in ast.walk(tree) if isinstance(node, (*_FUNCTIONS, ast.Lambda))]


def _copy(node):
    """A copy that may be changed: cached trees are shared."""
    if not isinstance(node, ast.AST):
        return node
    copied = ast.AST.__new__(type(node))  # from Python 3.13 on, __init__ asks for the fields
    for name, value in ast.iter_fields(node):
        setattr(copied, name, [_copy(v) for v in value] if isinstance(value, list) else _copy(value))
    return ast.copy_location(copied, node)
