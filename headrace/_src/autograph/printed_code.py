"""Converted code as it is shown: with `get_state` and `set_state`, by which operators reach the variables of a block.

The code that runs does without them, since its operators read closure cells (`variables.py`), which text does not show.
"""

from __future__ import annotations

import ast
import copy
import types

from headrace._src.autograph import conditionals, iteration
from headrace._src.autograph.variables import UNDEFINED, StateFunctions

# Which argument of each operator has the names of the variables.
_PLACES = {"if_stmt": 3, "while_stmt": 3, "for_stmt": 3}


def text_of(node: ast.FunctionDef | ast.Lambda, operators: str) -> str:
    """The text of a converted function.

    Args:
        node: the converted function.
        operators: what the code calls its operators.
    """
    node = copy.deepcopy(node)
    if isinstance(node, ast.Lambda):
        return "tf__lam = " + ast.unparse(node) + "\n"
    node.name = f"tf__{node.name}"
    node.decorator_list = []
    _Printer(operators).function(node)
    return ast.unparse(ast.fix_missing_locations(node)) + "\n"


class _Printer:
    """Puts functions that get and set the variables before each statement that became a call of an operator."""

    def __init__(self, operators):
        self._operators = operators
        self._count = 0
        self._around: list = []  # the functions around a statement, the user's first
        self._undefined: dict = {}  # for each of them, the variables that it begins with

    def function(self, node):
        self._around.append(node)
        self._undefined[node] = {}
        body = self._block(node.body)
        begun = [f"{name} = {self._operators}.Undefined({name!r})" for name in self._undefined.pop(node)]
        at = next((i for i, s in enumerate(body) if not isinstance(s, (ast.Global, ast.Nonlocal, ast.Expr))), len(body))
        node.body = [*body[:at], *ast.parse("\n".join(begun)).body, *body[at:]]
        self._around.pop()

    def _block(self, statements):
        out = []
        for statement in statements:
            if isinstance(statement, ast.FunctionDef):
                self.function(statement)
            else:
                for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                    self._part(statement, field)
                out += self._state_functions(statement)
            if not self._is_declaration(statement):
                out.append(statement)
        return out

    def _part(self, statement, field):
        inner = getattr(statement, field, None)
        if not isinstance(inner, list):
            return
        if field in ("handlers", "cases"):
            for part in inner:
                part.body = self._block(part.body)
        elif inner and isinstance(inner[0], ast.stmt):
            setattr(statement, field, self._block(inner))

    def _is_declaration(self, statement):
        """Whether it only makes a name local; here an assignment does that."""
        return (
            isinstance(statement, ast.AnnAssign)
            and statement.value is None
            and ast.unparse(statement.annotation) == f"{self._operators}.Undefined"
        )

    def _state_functions(self, statement):
        """The definitions of `get_state` and `set_state` for a call of an operator, which is given them."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        function = call.func if isinstance(call, ast.Call) else None
        if not isinstance(function, ast.Attribute) or ast.unparse(function.value) != self._operators:
            return []
        place = _PLACES.get(function.attr)
        if place is None:
            return []
        names = [constant.value for constant in call.args[place].elts]
        suffix = f"_{self._count}" if self._count else ""
        self._count += 1
        get_state, set_state = f"get_state{suffix}", f"set_state{suffix}"
        call.args[place:place] = [ast.Name(get_state, ast.Load()), ast.Name(set_state, ast.Load())]
        plain = [name for name in names if name.isidentifier()]
        for name in plain:
            self._define(name)
        values = [name if name in plain else f"{self._operators}.ldu(lambda: {name}, {name!r})" for name in names]
        lines = [f"def {get_state}():", f"    return ({''.join(f'{value}, ' for value in values)})"]
        lines.append(f"def {set_state}(vars_):")
        as_global = {name for f in self._around for s in f.body if isinstance(s, ast.Global) for name in s.names}
        for word, shared in (("global", as_global & set(plain)), ("nonlocal", set(plain) - as_global)):
            if shared:
                lines.append(f"    {word} {', '.join(sorted(shared))}")
        lines.append(f"    ({''.join(f'{name}, ' for name in names)}) = vars_" if names else "    pass")
        return ast.parse("\n".join(lines)).body

    def _define(self, name):
        """Let the function that a variable belongs to begin with it, unless it does so already."""
        owner = next((f for f in reversed(self._around) if name not in _shared(f)), None)
        if owner is None or name in _parameters(owner) or name in _assigned_first(owner):
            return
        self._undefined[owner][name] = True


def _shared(function):
    """The names that a function declares to be another's."""
    return {name for s in function.body if isinstance(s, (ast.Nonlocal, ast.Global)) for name in s.names}


def _parameters(function):
    a = function.args
    single = [p for p in (a.vararg, a.kwarg) if p is not None]
    return {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, *single)}


def _assigned_first(function):
    """The names that a function gives values before anything else."""
    found: set = set()
    for statement in function.body:
        if isinstance(statement, ast.Assign):
            found |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
        elif not isinstance(statement, (ast.Expr, ast.Nonlocal, ast.AnnAssign)):
            break
    return found


# The operators of the text.


def _if_stmt(test, body, orelse, get_state, set_state, names, reset=()):
    conditionals.if_stmt(test, body, orelse, StateFunctions(names, get_state, set_state), reset)


def _while_stmt(test, body, stop, get_state, set_state, names, options, test_binds=False):
    iteration.while_stmt(test, body, stop, StateFunctions(names, get_state, set_state), options, test_binds)


def _for_stmt(iterable, body, stop, get_state, set_state, names, options, targets):
    iteration.for_stmt(iterable, body, stop, StateFunctions(names, get_state, set_state), options, targets)


def _ldu(value, name):
    """The value of an attribute or item, which may not be there."""
    try:
        return value()
    except (AttributeError, LookupError, NameError, TypeError):
        return UNDEFINED


def operators_of_text(operators: types.ModuleType) -> types.ModuleType:
    """What the text calls `ag__`: the operators of converted code, of which those with state take its functions."""
    found = types.ModuleType("ag__", "The operators of the code that tf.autograph.to_code shows.")
    vars(found).update(vars(operators))
    vars(found).update(
        if_stmt=_if_stmt, while_stmt=_while_stmt, for_stmt=_for_stmt, ldu=_ldu, Undefined=lambda name: UNDEFINED
    )
    return found
