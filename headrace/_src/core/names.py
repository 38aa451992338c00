"""Names: the scopes that `tf.name_scope` opens, and unique names within a graph.

Eagerly a scope is a prefix and nothing is made unique. While a graph is being built, the graph's `NameTable`
(its attribute `names`) makes scopes and operation names unique, and its scopes begin anew from the top.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import Any

from headrace._src.core.context import context
from headrace._src.core.thread_state import carried

_VALID_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_VALID_SCOPE = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class _Current(threading.local):
    scope: str = ""

    def __init__(self) -> None:
        self.outer: list[str] = []


_current = carried(_Current())


class NameTable:
    """The names taken in one graph. Two names that differ only in case count as the same."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` under the current scope, followed by _1, _2 ... if it is taken.

        Args:
            name: The wished name.
            mark_as_used: Whether the returned name is taken from now on.
        """
        scope = _current.scope
        return self.unique_full_name(f"{scope}/{name}" if scope else name, mark_as_used)

    def unique_full_name(self, name: str, mark_as_used: bool = True) -> str:
        """As `unique_name`, for a name that already begins with its scope."""
        key = name.lower()
        count = self._used.get(key, 0)
        if mark_as_used:
            self._used[key] = count + 1
        if count == 0:
            return name
        unique = f"{name}_{count}"
        while unique.lower() in self._used:
            count += 1
            unique = f"{name}_{count}"
        if mark_as_used:
            self._used[key] = count + 1
            self._used[unique.lower()] = 1
        return unique

    def release(self, name: str) -> None:
        """Let a name be given again."""
        key = name.lower()
        base, _, number = key.rpartition("_")
        if number.isdigit() and base in self._used:
            self._used.pop(key, None)
            self._used[base] = min(self._used[base], int(number))
        elif key in self._used:
            self._used[key] = 0


def current_name_scope() -> str:
    """The name of the open scope, such as "encoder/layer_1"; empty outside of any.

    >>> with tf.name_scope("encoder"), tf.name_scope("layer_1"):
    ...     print(tf.Variable(1.0, name="w").name)
    encoder/layer_1/w:0
    """
    return _current.scope


def scoped_name(name: str) -> str:
    """`name` prefixed by the open scope."""
    return f"{_current.scope}/{name}" if _current.scope else name


@contextlib.contextmanager
def fresh_scope(scope: str = "") -> Iterator[None]:
    """Scopes begin at `scope` again, as when a new graph is traced; the open ones come back afterwards."""
    before, _current.scope = _current.scope, scope
    try:
        yield
    finally:
        _current.scope = before


def is_valid_name(name: str) -> bool:
    """Whether an operation of a graph may have this name."""
    return _VALID_NAME.match(name) is not None


def check_scope_name(name: str, is_root: bool) -> None:
    """Raises ValueError unless a scope of a graph may have this name."""
    pattern = _VALID_NAME if is_root else _VALID_SCOPE
    if not pattern.match(name):
        kind = "root scope" if is_root else "scope"
        raise ValueError(
            f"{name!r} is not a valid {kind} name. A {kind} name has to match the pattern {pattern.pattern}"
        )


def _scope_named(name: str) -> str:
    """The full name of the scope that opening `name` leads to."""
    graph = context.graph
    if name.endswith("/"):
        # TF: a trailing slash means that the name is a full one, to be re-entered as it is.
        return name[:-1]
    if not name:
        return ""
    if graph is None:
        return scoped_name(name)
    check_scope_name(name, is_root=not _current.scope)
    return graph.names.unique_name(name)


class name_scope:
    """Opens a scope: names of variables and graph operations made inside begin with it.

    Scopes nest. A name that ends in "/" is a full name and re-enters that scope; an empty name leaves all
    scopes. Entering gives the full name of the scope with a "/" at the end.

    Args:
        name: The name of the scope.

    Raises:
        ValueError: `name` is no string, or in a graph has characters that a name cannot have.

    >>> with tf.name_scope("a") as outer, tf.name_scope("b") as inner:
    ...     print(outer, inner)
    a/ a/b/
    """

    # One object may be entered again inside itself and by several threads, so it keeps no state.
    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string, got {type(name).__name__}: {name!r}.")
        self._name = name

    @property
    def name(self) -> str:
        """The name that the scope was made with."""
        return self._name

    def __enter__(self) -> str:
        scope = _scope_named(self._name)
        _current.outer.append(_current.scope)
        _current.scope = scope.rstrip("/") if self._name.endswith("/") else scope
        if self._name.endswith("/"):
            return self._name  # TF: a name that was given with its slash comes back exactly as given
        return f"{scope}/" if scope else ""

    def __exit__(self, *exception: Any) -> None:
        _current.scope = _current.outer.pop()


def open_scope(name: str) -> str:
    """Outside of graphs, opens a scope with a plain name, and returns what `close_scope` needs.

    Layers of Keras, which do this in each call, have no other use for a context manager.
    """
    before = _current.scope
    _current.scope = f"{before}/{name}" if before else name
    return before


def close_scope(before: str) -> None:
    """Closes what `open_scope` has opened."""
    _current.scope = before


PUBLIC = {
    "name_scope": name_scope,
    "__internal__.get_name_scope": current_name_scope,
}
