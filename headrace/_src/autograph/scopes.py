"""Which names a piece of syntax binds and reads, and which are still needed after each statement.

Summaries are made once per node, bottom up. Liveness runs backward over blocks whose exits have been lowered
(exits.py), so every block has one end.
"""

from __future__ import annotations

import ast

from headrace._src.autograph.positions import children, descendants

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BINDERS = {
    ast.Import, ast.ImportFrom, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.ClassDef,
    *_FUNCTIONS, *_COMPREHENSIONS,
}  # fmt: skip
_SCOPES = frozenset((*_FUNCTIONS, ast.Lambda, ast.ClassDef, *_COMPREHENSIONS))
_NONE: frozenset = frozenset()


class Summary:
    """What happens to names in a node and its children."""

    __slots__ = ("bound", "captured", "composites", "read")

    def __init__(self, bound=_NONE, read=_NONE, captured=_NONE, composites=_NONE):
        self.bound = bound  # names assigned, deleted, imported, defined
        self.read = read  # names loaded, also by functions defined here
        self.captured = captured  # names of this scope that functions, classes, comprehensions in it refer to
        self.composites = composites  # text of assigned attributes and items, such as "self.total", "a[0]"

    def __or__(self, other):
        return Summary(
            self.bound | other.bound,
            self.read | other.read,
            self.captured | other.captured,
            self.composites | other.composites,
        )


_EMPTY = Summary()


class Scope:
    """The names of one function."""

    def __init__(self, node: ast.FunctionDef | ast.Lambda, body: list):
        self.parameters = parameters_of(node.args)
        self.globals: set = set()
        self.nonlocals: set = set()
        self._summaries: dict = {}
        # What calling or reading a function defined here reads and writes of this scope's names.
        self._reads_of: dict = {}
        self._writes_of: dict = {}
        _find_functions(body, self)
        for _ in range(2):  # functions that refer to each other
            for name, names in self._reads_of.items():
                self._reads_of[name] = names.union(*(self._reads_of.get(n, _NONE) for n in names))
        whole = self.of(body)
        self.captured = whole.captured
        self.locals = (whole.bound | self.parameters) - self.globals - self.nonlocals

    def of(self, node) -> Summary:
        """The summary of a node, or of a list of them."""
        if isinstance(node, list):
            total = _EMPTY
            for n in node:
                total |= self.of(n)
            return total
        found = self._summaries.get(node)
        if found is None:
            found = self._summaries[node] = self._summarize(node)
        return found

    def _summarize(self, root):
        bound, read, captured, composites = set(), set(), set(), set()
        pending = [root]
        while pending:
            n = pending.pop()
            cls = type(n)
            if cls is ast.Name:
                if type(n.ctx) is ast.Load:
                    read.add(n.id)
                    if n.id in self._reads_of:
                        read |= self._reads_of[n.id]
                else:
                    bound.add(n.id)
                    if type(n.ctx) is ast.Del:
                        read.add(n.id)  # deleting needs a value to be there
            elif cls is ast.Constant:
                continue
            elif n is not root and isinstance(n, ast.stmt):
                found = self.of(n)
                bound |= found.bound
                read |= found.read
                captured |= found.captured
                composites |= found.composites
            elif cls in _SCOPES:
                free = free_names(n)
                captured |= free
                read |= free.union(*(self._reads_of.get(name, _NONE) for name in free))
                bound.update(binders(n))
                pending += _outside(n)
            elif cls is ast.Global or cls is ast.Nonlocal:
                (self.globals if cls is ast.Global else self.nonlocals).update(n.names)
            else:
                pending += children(n)
                if cls in _BINDERS:
                    bound.update(binders(n))
                elif cls is ast.Attribute or cls is ast.Subscript:
                    text = composite_text(n) if type(n.ctx) is ast.Store else None
                    if text:
                        composites.add(text)
                elif cls is ast.Call:
                    if self._writes_of and isinstance(n.func, ast.Name):
                        bound |= self._writes_of.get(n.func.id, _NONE)
                elif cls is ast.AugAssign and isinstance(n.target, ast.Name):
                    read.add(n.target.id)
        return Summary(frozenset(bound), frozenset(read), frozenset(captured), frozenset(composites))

    def liveness(self, body):
        """Give every If, While and For of the block `live_after`, and loops also `live_head`."""
        _Liveness(self).block(body, self.globals | self.nonlocals)


class _Liveness:
    def __init__(self, scope):
        self.scope = scope
        # Names that an exception handler or the code after a `with` may read: an assignment before the exception
        # must be seen there, so that later assignments do not make it useless.
        self.pinned = frozenset(scope.globals | scope.nonlocals)

    def block(self, block, after):
        """The names needed before a block, given those needed after it."""
        live = frozenset(after) | self.pinned
        for s in reversed(block):
            live = self.statement(s, live) | self.pinned
        return live

    def statement(self, s, after):
        of = self.scope.of
        if isinstance(s, ast.If):
            s.live_after = after
            s.live_body, s.live_orelse = self.block(s.body, after), self.block(s.orelse, after)
            return of(s.test).read | s.live_body | s.live_orelse
        if isinstance(s, (ast.While, ast.For)):
            return self.loop(s, after)
        if isinstance(s, (ast.With, ast.Try, ast.TryStar)):
            return self.guarded(s, after)
        if isinstance(s, ast.Match):
            live = of(s.subject).read | after
            for case in s.cases:
                inner = self.block(case.body, after)
                live |= inner | of([case.pattern] + ([case.guard] if case.guard else [])).read
            return live
        if isinstance(s, _FUNCTIONS):
            return (after - {s.name}) | of(s).read
        return (after - _certain_targets(s)) | of(s).read

    def loop(self, s, after):
        of = self.scope.of
        if isinstance(s, ast.While):
            head = after | of(s.test).read
            targets = _NONE
        else:
            head = after
            targets = of(s.target).bound
        if s.stop:
            head |= {s.stop}
        while True:
            s.live_body = self.block(s.body, head)
            grown = head | (s.live_body - targets)
            if grown == head:
                break
            head = grown
        s.live_after, s.live_head = after, head
        return head | of(s.target).read | of(s.iter).read if isinstance(s, ast.For) else head

    def guarded(self, s, after):
        of = self.scope.of
        outer = self.pinned
        if isinstance(s, ast.With):
            # TF: that a context manager may swallow an exception is not thought of: what the block assigns and what
            # follows reads, such as what is computed under a tape, needs no value before.
            bound = frozenset(n.id for item in s.items for n in _target_names(item.optional_vars))
            return (self.block(s.body, after) - bound) | of(list(s.items)).read
        live = self.block(s.finalbody, after)
        final = live
        self.pinned = outer | final
        handlers = frozenset().union(*(self.block(h.body, final) | of(h).read for h in s.handlers))
        orelse = self.block(s.orelse, final)
        self.pinned = outer | final | handlers
        live = self.block(s.body, orelse | handlers | final)
        self.pinned = outer
        return live | handlers | final


def _certain_targets(s):
    """The names that a simple statement surely binds or unbinds."""
    targets = []
    if isinstance(s, ast.Assign):
        targets = s.targets
    elif isinstance(s, ast.AnnAssign) and s.value is not None:
        targets = [s.target]
    elif isinstance(s, ast.Delete):
        targets = s.targets
    elif isinstance(s, (ast.Import, ast.ImportFrom, ast.ClassDef)):
        return frozenset(binders(s))
    return frozenset(n.id for t in targets for n in _target_names(t))


def _target_names(target):
    if target is None:
        return
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, (ast.Tuple, ast.List)):
        for t in target.elts:
            yield from _target_names(t)
    elif isinstance(target, ast.Starred):
        yield from _target_names(target.value)


def binders(node) -> list:
    """Names bound by a node itself other than through `ast.Name`."""
    if type(node) not in _BINDERS:
        return []
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [a.asname or a.name.partition(".")[0] for a in node.names]
    if isinstance(node, ast.ExceptHandler) and node.name:
        return [node.name]
    if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        return [node.name]
    if isinstance(node, ast.MatchMapping) and node.rest:
        return [node.rest]
    if isinstance(node, (ast.ClassDef, *_FUNCTIONS)):
        return [node.name]
    if isinstance(node, _COMPREHENSIONS):
        return [n.target.id for n in descendants(node) if isinstance(n, ast.NamedExpr)]
    return []


def _outside(node):
    """What of a function's definition is evaluated where it is defined."""
    if isinstance(node, _FUNCTIONS):
        return [*node.decorator_list, *defaults_of(node.args)]
    return defaults_of(node.args) if isinstance(node, ast.Lambda) else []


def parameters_of(a: ast.arguments) -> frozenset:
    """The names of all parameters."""
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    names += [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    return frozenset(names)


def defaults_of(a: ast.arguments) -> list:
    """The default values, which are evaluated where the function is defined."""
    return [*a.defaults, *(d for d in a.kw_defaults if d is not None)]


def composite_text(node) -> str | None:
    """"self.x", "a.b[0]" or "d[key]" for an attribute or item of a plain name; None when it is less plain."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = composite_text(node.value)
        return base and f"{base}.{node.attr}"
    if isinstance(node, ast.Subscript):
        base = composite_text(node.value)
        key = node.slice
        if isinstance(key, ast.Name):
            return base and f"{base}[{key.id}]"
        if isinstance(key, ast.Constant) and isinstance(key.value, (str, int)):
            return base and f"{base}[{key.value!r}]"
    return None


def free_names(node) -> frozenset:
    """The names that a function, class or comprehension refers to and does not bind itself."""
    if isinstance(node, _COMPREHENSIONS):
        bound = frozenset(n.id for g in node.generators for t in [g.target] for n in _target_names(t))
        return _references(children(node), set()) - bound
    declared: set = set()
    if isinstance(node, ast.ClassDef):
        # What a class body binds is not visible in its methods, so all references may go outward.
        return _references([*node.bases, *node.keywords, *node.decorator_list, *node.body], declared)
    body = node.body if isinstance(node.body, list) else [node.body]
    references = _references(body, declared)
    return references - (parameters_of(node.args) | (_bindings(body) - declared))


def _references(nodes, declared):
    """All names that occur in some nodes, nested scopes resolved; `declared` collects global and nonlocal names."""
    found: set = set()
    pending = list(nodes)
    while pending:
        n = pending.pop()
        if isinstance(n, ast.Name):
            found.add(n.id)
        elif isinstance(n, (ast.Global, ast.Nonlocal)):
            declared.update(n.names)
            found.update(n.names)
        elif isinstance(n, (*_FUNCTIONS, ast.Lambda)):
            found |= free_names(n)
            pending += defaults_of(n.args)
            pending += getattr(n, "decorator_list", [])
        elif isinstance(n, (*_COMPREHENSIONS, ast.ClassDef)):
            found |= free_names(n)
        else:
            pending += children(n)
    return frozenset(found)


def _bindings(nodes):
    """The names that statements bind in their own scope."""
    found: set = set()
    pending = list(nodes)
    while pending:
        n = pending.pop()
        if isinstance(n, ast.Name):
            if not isinstance(n.ctx, ast.Load):
                found.add(n.id)
        elif isinstance(n, (*_FUNCTIONS, ast.ClassDef)):
            found.add(n.name)
        elif isinstance(n, _COMPREHENSIONS):
            found.update(w.target.id for w in descendants(n) if isinstance(w, ast.NamedExpr))
        elif not isinstance(n, ast.Lambda):
            found.update(binders(n))
            pending += children(n)
    return found


def _find_functions(nodes, scope):
    """Note what the functions that are defined under a name read and write of the scope around them."""
    pending = list(nodes)
    while pending:
        n = pending.pop()
        if isinstance(n, _FUNCTIONS):
            free = free_names(n)
            scope._reads_of[n.name] = scope._reads_of.get(n.name, _NONE) | free
            written = frozenset(x for w in descendants(n) if isinstance(w, ast.Nonlocal) for x in w.names)
            if written & free:
                scope._writes_of[n.name] = scope._writes_of.get(n.name, _NONE) | (written & free)
        elif isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda):
            for target in n.targets:
                if isinstance(target, ast.Name):
                    scope._reads_of[target.id] = scope._reads_of.get(target.id, _NONE) | free_names(n.value)
        elif isinstance(n, ast.stmt) and not isinstance(n, ast.ClassDef):
            blocks = (ast.stmt, ast.ExceptHandler, ast.match_case)
            pending += [c for c in children(n) if isinstance(c, blocks)]
        elif isinstance(n, (ast.ExceptHandler, ast.match_case)):
            pending += n.body
