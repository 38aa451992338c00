"""Which names of a module mean TensorFlow: imports, aliases, and where something else has the same name."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

PACKAGE = "tensorflow"
ROOT = "tf"  # how rules call it

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Imported(NamedTuple):
    """A name that an import binds to a part of TensorFlow: `path` as rules have it, such as `tf.contrib.slim`."""

    path: str
    api: str  # "", "v1" or "v2": whether it was taken from tensorflow.compat.v1 or v2
    statement: ast.stmt
    alias: ast.alias


def in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes, outer ones before inner ones, without recursion: sums of a thousand terms are trees as deep."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(list(ast.iter_child_nodes(node))))


def dotted_path(module: str) -> tuple[str, str]:
    """The path that rules use for a module of TensorFlow, and which of its APIs it is taken from.

    >>> dotted_path("tensorflow.compat.v1.nn")
    ('tf.nn', 'v1')
    """
    parts = module.split(".")[1:]
    api = ""
    if parts[:1] == ["compat"] and parts[1:2] in (["v1"], ["v2"]):
        api, parts = parts[1], parts[2:]
    return ".".join([ROOT, *parts]), api


def is_tensorflow(module: str | None) -> bool:
    """Whether a module's name is TensorFlow's or that of a part of it."""
    return module is not None and (module == PACKAGE or module.startswith(PACKAGE + "."))


class Names:
    """The names of one module, as far as TensorFlow is concerned."""

    def __init__(self, nodes: list[ast.AST]):
        self.imports: list[ast.stmt] = []
        self.bound: dict[str, Imported] = {}
        others: set[str] = set()
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._add(node, others)
        # TF: a file that imports nothing as `tf` (a cell of a notebook, a part of a file) means TensorFlow by it.
        self.assumed = ROOT not in self.bound and ROOT not in others
        self._shadows = _shadows(nodes, {*self.bound, ROOT})
        for name in [name for name, (everywhere, _) in self._shadows.items() if everywhere]:
            self.bound.pop(name, None)
            self.assumed = self.assumed and name != ROOT

    def _add(self, node, others):
        relevant = False
        for alias in node.names:
            module = alias.name if isinstance(node, ast.Import) else node.module
            if not is_tensorflow(module) or (isinstance(node, ast.ImportFrom) and node.level):
                others.add(alias.asname or alias.name.split(".")[0])
                continue
            relevant = True
            if isinstance(node, ast.Import):
                whole = alias.asname is not None
                path, api = dotted_path(module) if whole else (ROOT, "")
                self.bound[alias.asname or PACKAGE] = Imported(path, api, node, alias)
            elif alias.name != "*":
                path, api = dotted_path(f"{module}.{alias.name}")
                self.bound[alias.asname or alias.name] = Imported(path, api, node, alias)
        if relevant:
            self.imports.append(node)

    def root(self) -> str | None:
        """A name under which the module has TensorFlow itself."""
        for name, imported in self.bound.items():
            if imported.path == ROOT and imported.api != "v2":
                return name
        return ROOT if self.assumed else None

    def imported(self, name: ast.Name) -> Imported | None:
        """What an import bound a name to; None for names that are not TensorFlow's there."""
        found = self.bound.get(name.id)
        return None if found is None or self._is_shadowed(name) else found

    def is_assumed(self, name: ast.Name) -> bool:
        """Whether the name is `tf` in a module that does not say what that is."""
        return self.assumed and name.id == ROOT and not self._is_shadowed(name)

    def _is_shadowed(self, name):
        if name.id not in self._shadows:
            return False
        place = (name.lineno, name.col_offset)
        return any(start <= place < end for start, end in self._shadows[name.id][1])


def _shadows(nodes, names):
    """For each name that something else than an import binds: whether in the whole module, and where in it."""
    shadows: dict[str, tuple[bool, list]] = {}
    if not any(_binds(node, names) for node in nodes):
        return shadows
    for scope in nodes:
        if not isinstance(scope, (ast.Module, ast.ClassDef, *_FUNCTIONS, *_COMPREHENSIONS)):
            continue
        local = _bound_in(scope, names)
        for name in local:
            everywhere, places = shadows.get(name, (False, []))
            if isinstance(scope, ast.Module):
                everywhere = True
            elif not isinstance(scope, ast.ClassDef):
                places = [*places, ((scope.lineno, scope.col_offset), (scope.end_lineno, scope.end_col_offset))]
            shadows[name] = (everywhere, places)
    return shadows


def _binds(node, names):
    """The name, of those in question, that a node binds by other means than an import."""
    if isinstance(node, ast.Name):
        found = node.id if isinstance(node.ctx, ast.Store) else None
    elif isinstance(node, ast.arg):
        found = node.arg
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
        found = node.name
    else:
        found = None
    return found if found in names else None


def _bound_in(scope, names):
    """The names, of those in question, that are local to a scope."""
    found, declared = set(), set()
    stack = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
        name = _binds(node, names)
        if name:
            found.add(name)
        if not isinstance(node, (ast.ClassDef, *_FUNCTIONS, *_COMPREHENSIONS)):
            stack.extend(ast.iter_child_nodes(node))
    return found - declared
