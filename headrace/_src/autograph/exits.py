"""Lowering `return`, `break` and `continue` to flags and branches, so that blocks have one way in and one out.

Most early exits need no flag: what follows `if c: return x` moves into the else branch. A flag guards what follows
a statement that leaves on some of its paths only. After this step

- a loop has no else clause; `loop.stop` names the flag that says whether to leave it, or is None,
- a function whose returns stand inside converted statements collects its result in one variable.

The names of these variables: `retval_` is the result; `returned_` and `exited_` say that a `return` was met, in a loop
or outside of one; `skipped_`, that the rest of an iteration is left out; `broke_`, that a loop is to be left.
"""

import ast
import re

from headrace._src.autograph.positions import at

_BLOCKS = ("body", "orelse", "finalbody")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.While)


_RESULT = re.compile(r"retval_\d*$")
_RETURN_FLAG = re.compile(r"(returned|exited)_\d*$")
_FLAG = re.compile(r"(retval|returned|exited|skipped|broke)_\d*$")


def is_result(name: str) -> bool:
    """Whether a variable is the one that collects the result of a function."""
    return _RESULT.match(name) is not None


def is_return_flag(name: str) -> bool:
    """Whether a variable says that the function has returned."""
    return _RETURN_FLAG.match(name) is not None


def is_generated(name: str) -> bool:
    """Whether a variable comes from this file."""
    return _FLAG.match(name) is not None


class UnsupportedError(ValueError):
    """A statement that AutoGraph cannot convert."""

    def __init__(self, node, why):
        super().__init__(f"line {node.lineno}: {why}")


def is_static(test: ast.expr) -> bool:
    """Whether a condition can never be a tensor, by its form alone."""
    if isinstance(test, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_static(test.operand)
    if isinstance(test, ast.BoolOp):
        return all(is_static(value) for value in test.values)
    return isinstance(test, ast.Constant)


def lower(body: list, fresh) -> list:
    """The statements of a function, with exits lowered. `fresh(name)` makes unused names."""
    return _Lowering(fresh).function(body)


class _Place:
    """Where a block stands: the innermost loop, and the flags that an exit from here has to raise."""

    def __init__(self, loop=None, flags=()):
        self.loop = loop
        self.flags = flags

    def inside(self, flag):
        return self if flag is None else _Place(self.loop, (*self.flags, flag))


class _Loop:
    def __init__(self, stop, returned):
        self.stop = stop  # raised by break and return
        self.returned = returned  # raised by return


class _Lowering:
    def __init__(self, fresh):
        self.fresh = fresh
        self.result = None

    def function(self, body):
        i = next((i for i, s in enumerate(body) if _returns_dynamically(s)), None)
        if i is None:
            return self.block(body, None)
        # From here on, all returns assign the result.
        self.result = self.fresh("retval_")
        rest = body[i:]
        if not always_leaves(rest):
            rest = [*rest, at(ast.Return(value=at(ast.Constant(None), rest[-1])), rest[-1])]
        end = ast.Return(value=_name(self.result, rest[-1]))
        return [*self.block(body[:i], None), *self.block(rest, _Place()), at(end, rest[-1])]

    def block(self, statements, place):
        """Lower the exits of a block. `place` None: nothing but loops of its own is to be lowered."""
        out = []
        rest = list(statements)
        while rest:
            s = rest.pop(0)
            if isinstance(s, _LOOPS):
                before, after = self.loop(s)
                out += [*before, s]
                rest = after + rest
            elif place is not None and isinstance(s, (ast.Return, ast.Break, ast.Continue)):
                out += self.leave(s, place)
                break
            elif place is not None and _leaves(s):
                out += self.branching(s, rest, place)
                break
            else:
                self.nested(s, lambda block: self.block(block, None))
                out.append(s)
        return out

    def leave(self, s, place):
        """The assignments that stand for an exit."""
        out = []
        raised = list(place.flags)
        if isinstance(s, ast.Return):
            if not getattr(s, "is_done", False):
                value = s.value if s.value is not None else at(ast.Constant(None), s)
                out.append(at(ast.Assign(targets=[_name(self.result, s, ast.Store())], value=value), s))
            if place.loop is not None:
                raised += [place.loop.returned, place.loop.stop]
        elif isinstance(s, ast.Break):
            raised.append(place.loop.stop)
        out += [_assign(flag, True, s) for flag in raised]
        return out

    def branching(self, s, rest, place):
        """Lower a statement that leaves on some paths, and what follows it."""
        if isinstance(s, ast.If):
            if rest and always_leaves(s.body):
                s.orelse = [*s.orelse, *rest]
                rest = []
            elif rest and always_leaves(s.orelse):
                s.body = [*s.body, *rest]
                rest = []
        if isinstance(s, (ast.Try, ast.TryStar)):
            if any(_leaves(x) for x in s.finalbody):
                raise UnsupportedError(s, "return, break or continue inside finally")
            flag = self.flag(place) if rest or s.orelse else None
            if s.orelse and any(_leaves(x) for x in s.body):
                # The else clause runs only when the body came to its end.
                s.orelse = [_guard(flag, s.orelse, s)]
        else:
            flag = self.flag(place) if rest else None
        inner = place.inside(flag)
        self.nested(s, lambda block: self.block(block, inner))
        if flag is None:
            empty = isinstance(s, ast.If) and not s.orelse and all(isinstance(x, ast.Pass) for x in s.body)
            return [] if empty and isinstance(s.test, ast.Name) else [s]
        guard = [_guard(flag, self.block(rest, place), s)] if rest else []
        return [_assign(flag, False, s), s, *guard]

    def flag(self, place):
        return self.fresh("exited_" if place.loop is None else "skipped_")

    def loop(self, s):
        """Lower the body of a loop; returns the statements to go before it, and after it."""
        leaves = exits(s.body)
        returned = self.fresh("returned_") if "return" in leaves else None
        stop = self.fresh("broke_") if returned or "break" in leaves else None
        if returned and self.result is None:
            self.result = self.fresh("retval_")
        s.stop = stop
        before = [_assign(flag, False, s) for flag in (returned, stop) if flag]
        after = []
        if returned:
            done = at(ast.Return(value=None), s)
            done.is_done = True
            after.append(at(ast.If(test=_name(returned, s), body=[done], orelse=[]), s))
        if s.orelse:
            after += [_guard(stop, s.orelse, s)] if stop else s.orelse
            s.orelse = []
        s.body = self.block(s.body, _Place(_Loop(stop, returned))) or [at(ast.Pass(), s)]
        return before, after

    def nested(self, s, lowered):
        """Replace the blocks of a compound statement."""
        if isinstance(s, _SCOPES):
            return
        for field in _BLOCKS:
            block = getattr(s, field, None)
            if block:
                new = lowered(block)
                setattr(s, field, new or ([] if field == "orelse" else [at(ast.Pass(), s)]))
        for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
            part.body = lowered(part.body) or [at(ast.Pass(), s)]


def blocks_of(s):
    """The blocks of a compound statement, without those of functions and classes."""
    if isinstance(s, _SCOPES):
        return
    for field in _BLOCKS:
        block = getattr(s, field, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
        yield part.body


def exits(block) -> set:
    """How control may leave a block early: a subset of return, break, continue."""
    found = set()
    for s in block:
        if isinstance(s, ast.Return):
            found.add("return")
        elif isinstance(s, ast.Break):
            found.add("break")
        elif isinstance(s, ast.Continue):
            found.add("continue")
        elif isinstance(s, _LOOPS):
            # break and continue of the body are the loop's own; those in the else clause are not.
            found |= exits(s.body) & {"return"}
            found |= exits(s.orelse)
        else:
            for inner in blocks_of(s):
                found |= exits(inner)
    return found


def _leaves(s):
    return bool(exits([s]))


def always_leaves(block) -> bool:
    """Whether control never reaches the end of a block."""
    for s in block:
        if isinstance(s, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return True
        if isinstance(s, ast.If) and always_leaves(s.body) and always_leaves(s.orelse):
            return True
        if isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and s.test.value:
            return "break" not in exits(s.body)
    return False


def _returns_dynamically(s):
    """Whether a `return` stands inside a statement that will be converted."""
    if isinstance(s, _LOOPS) or (isinstance(s, ast.If) and not is_static(s.test)):
        return "return" in exits([s])
    return any(_returns_dynamically(x) for block in blocks_of(s) for x in block)


def _name(name, where, context=None):
    return at(ast.Name(id=name, ctx=context or ast.Load()), where)


def _assign(name, value, where):
    return at(ast.Assign(targets=[_name(name, where, ast.Store())], value=at(ast.Constant(value), where)), where)


def _guard(flag, block, where):
    """`block`, unless the flag is raised."""
    return at(ast.If(test=_name(flag, where), body=[at(ast.Pass(), where)], orelse=block), where)
