"""Access to the variables of a user's function from outside: through the closure cells of its blocks."""

from __future__ import annotations

import ast
import functools
import types


class Undefined:
    """What stands for the value of a variable that has none."""

    def __repr__(self):
        return "<undefined>"

    def __bool__(self):
        return False


UNDEFINED = Undefined()


@functools.lru_cache(maxsize=4096)
def _path(text):
    """"a.b[0]" as ("a", ((".", "b"), ("[]", Constant 0))); the key of an item is a constant, or the name of one."""
    node = ast.parse(text, mode="eval").body
    steps = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            steps.append((".", node.attr))
        elif isinstance(node.slice, ast.Name):
            steps.append(("[name]", node.slice.id))
        else:
            steps.append(("[]", node.slice.value))
        node = node.value
    return node.id, tuple(reversed(steps))


class Variables:
    """Named variables that some functions share.

    Args:
        names: Plain names, and attributes and items of plain names ("self.total", "a[0]").
        functions: The functions that mention them; None is allowed.
    """

    def __init__(self, names: tuple, *functions):
        self.names = names
        self._cells: dict[str, types.CellType] = {}
        self._globals: dict = {}
        for function in functions:
            if function is not None:
                self._cells.update(zip(function.__code__.co_freevars, function.__closure__ or ()))
                self._globals = function.__globals__

    def get(self) -> list:
        """The values, UNDEFINED for variables without."""
        return [self._get(name) for name in self.names]

    def set(self, values):
        """Give all variables values; UNDEFINED unsets."""
        for name, value in zip(self.names, values):
            self._set(name, value)

    def _get(self, name):
        base, steps = (name, ()) if name.isidentifier() else _path(name)
        value = self._plain(base)
        for step in steps:
            if value is UNDEFINED:
                break
            value = self._step(value, step)
        return value

    def _plain(self, name):
        cell = self._cells.get(name)
        if cell is None:
            return self._globals.get(name, UNDEFINED)
        try:
            return cell.cell_contents
        except ValueError:
            return UNDEFINED

    def _step(self, value, step):
        kind, key = step
        try:
            if kind == ".":
                return getattr(value, key)
            return value[self._plain(key) if kind == "[name]" else key]
        except (AttributeError, LookupError, TypeError):
            return UNDEFINED

    def _set(self, name, value):
        if name.isidentifier():
            cell = self._cells.get(name)
            if cell is not None:
                if value is not UNDEFINED:
                    cell.cell_contents = value
                else:
                    del cell.cell_contents
            elif value is not UNDEFINED:
                self._globals[name] = value
            else:
                self._globals.pop(name, None)
            return
        base, (*steps, (kind, key)) = _path(name)
        holder = self._plain(base)
        for step in steps:
            holder = self._step(holder, step)
        if holder is UNDEFINED or (value is UNDEFINED and self._step(holder, (kind, key)) is UNDEFINED):
            return
        if kind == ".":
            if value is UNDEFINED:
                delattr(holder, key)
            elif self._step(holder, (kind, key)) is not value:
                setattr(holder, key, value)
            return
        key = self._plain(key) if kind == "[name]" else key
        if value is not UNDEFINED:
            holder[key] = value
        else:
            del holder[key]


class StateFunctions:
    """The same variables, reached through functions that are written beside the blocks.

    Args:
        names: of the variables.
        get_state: gives the values, as a tuple.
        set_state: takes one.
    """

    def __init__(self, names, get_state, set_state):
        self.names = names
        self._get_state = get_state
        self._set_state = set_state

    def get(self) -> list:
        return list(self._get_state())

    def set(self, values):
        self._set_state(tuple(values))


def variables_of(names, *functions) -> Variables | StateFunctions:
    """The variables with these names that functions share; or what was made of them already."""
    return names if isinstance(names, StateFunctions) else Variables(names, *functions)
