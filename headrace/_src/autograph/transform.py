"""The syntax of a function, rewritten so that its control flow and calls go through the runtime operators.

A branch or loop body becomes a function without arguments that shares the variables of the user's function as
`nonlocal` names:

    if x > 0:                      def if_body():
        y = 1                          nonlocal y
                        becomes        y = 1
                                   ag__.if_stmt(x > 0, if_body, None, ("y",))

The operator calls the body when the condition is a Python value. Otherwise it reads and sets the named variables
through the closure cells of the bodies, and makes a graph node of them. All new nodes have the positions of those
that they replace, so that tracebacks show the user's lines.
"""

from __future__ import annotations

import ast

from headrace._src.autograph import exits
from headrace._src.autograph.exits import UnsupportedError, is_static
from headrace._src.autograph.positions import at, children, descendants
from headrace._src.autograph.scopes import Scope, parameters_of

# Called without arguments these see the variables of the frame they are called in.
_FRAME_READERS = {"locals": 0, "vars": 0, "dir": 0, "eval": 1, "exec": 1}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVES = frozenset({ast.Name, ast.Constant, ast.Pass})
DIRECTIVE = "set_loop_options"


class Rewriter(ast.NodeTransformer):
    """Rewrites one function, in place.

    Args:
        node: The `def` or `lambda`.
        class_name: The class around it, whose name is part of `__private` names; or None.
        recursive: Whether functions that it calls are to be converted too.
        taken: All identifiers in it, if they are known already.
    """

    def __init__(self, node, class_name=None, recursive=True, taken=None):
        self.class_name = class_name
        self.taken = set(identifiers(node) if taken is None else taken)
        self.may_read_frame = not self.taken.isdisjoint(_FRAME_READERS)
        self.generated: set = set()  # the names of functions that stand for blocks
        self.operators = self.fresh("ag__")
        self.call = "converted_call" if recursive else "builtin_call"
        self.scope: Scope = None
        self.frames: list = []
        self.changed = False
        self.node = self._function(node) if isinstance(node, ast.FunctionDef) else self._root_lambda(node)

    def fresh(self, name):
        """An identifier that does not occur in the function."""
        candidate, n = name, 0
        while candidate in self.taken:
            n += 1
            candidate = f"{name}{n}" if name.endswith("_") else f"{name}_{n}"
        self.taken.add(candidate)
        return candidate

    # Functions.

    def _root_lambda(self, node):
        self.scope = Scope(node, [node.body])
        self.scope.node = node
        self.frames = [_Frame()]
        node.body = self.visit(node.body)
        return node

    def _function(self, node):
        """Rewrite the body of a `def`."""
        before = self.scope, self.frames
        body = exits.lower(node.body, self.fresh)
        self.scope = Scope(node, body)
        self.scope.node = node
        self.scope.liveness(body)
        self.scope.reads_frame = self.may_read_frame and _reads_frame(body)
        frame = _Frame()
        self.frames = [frame]
        new = self.block(body)
        declared = self._declarations(frame.needed - frame.direct - self.scope.parameters, node)
        docstring = 1 if new and ast.get_docstring(node, clean=False) is not None else 0
        node.body = [*new[:docstring], *declared, *new[docstring:]]
        self.scope, self.frames = before
        return node

    def visit_FunctionDef(self, node):
        node.args = self._visit_defaults(node.args)
        if is_generator(node) or _asks_not_to_be_converted(node):
            return node
        return self._function(node)

    def _visit_defaults(self, a):
        a.defaults = [self.visit(d) for d in a.defaults]
        a.kw_defaults = [d and self.visit(d) for d in a.kw_defaults]
        return a

    def visit_AsyncFunctionDef(self, node):
        node.args = self._visit_defaults(node.args)
        return node

    def visit_ClassDef(self, node):
        return node  # its methods are converted when they are called

    def visit_Lambda(self, node):
        node.args = self._visit_defaults(node.args)
        if not any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in descendants(node.body)):
            node.body = self.visit(node.body)
        return node

    # Statements.

    def block(self, statements):
        """Rewrite a list of statements."""
        out = []
        for s in statements:
            if isinstance(s, (ast.Assign, ast.AugAssign)):
                self.frames[-1].direct |= self.scope.of(s).bound
            new = self.visit(s)
            out += new if isinstance(new, list) else [new]
        return out

    def visit(self, node):
        cls = type(node)
        if cls in _LEAVES:
            return node
        method = getattr(self, "visit_" + cls.__name__, None)
        return self.generic_visit(node) if method is None else method(node)

    def generic_visit(self, node):
        for field in node._fields:
            value = getattr(node, field, None)
            if type(value) is list:
                if value and isinstance(value[0], ast.stmt):
                    setattr(node, field, self.block(value))
                else:
                    value[:] = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
            elif isinstance(value, ast.AST) and value._fields:
                setattr(node, field, self.visit(value))
        return node

    def visit_If(self, node):
        if is_static(node.test):
            return self.generic_visit(node)
        of = self.scope.of
        body, orelse = of(node.body), of(node.orelse)
        names = self._state(body | orelse, node.live_after)
        test = self.visit(node.test)
        out, functions = [], []
        for name, block, live in (("if_body", node.body, node.live_body), ("else_body", node.orelse, node.live_orelse)):
            if all(isinstance(s, ast.Pass) for s in block):
                functions.append(_constant(None, node))
            else:
                out.append(self._body(name, block, live, node.live_after, block[0]))
                functions.append(_name(out[-1].name, node))
        arguments = [test, *functions, _constants(names, node)]
        reset = sorted((body.bound & node.live_orelse & self.scope.locals) - node.live_after)
        if reset:
            arguments.append(_constants(map(self.mangled, reset), node))
        call = self._operator("if_stmt", arguments, node.test)
        return [*out, at(ast.Expr(call), node)]

    def visit_While(self, node):
        of = self.scope.of
        test_summary = of(node.test)
        names = self._state(of(node.body) | test_summary, node.live_head)
        options = self._options(node)
        test = ast.FunctionDef(
            name=self._generated("loop_test"), args=_no_arguments(), decorator_list=[], returns=None, type_params=[],
            body=[*self._sharing(test_summary.bound, node), at(ast.Return(self.visit(node.test)), node.test)],
        )  # fmt: skip
        body = self._body("loop_body", node.body, node.live_body, node.live_head, node)
        arguments = [
            _name(test.name, node), _name(body.name, node), self._stop(node), _constants(names, node), options
        ]  # fmt: skip
        if test_summary.bound:
            arguments.append(_constant(True, node))
        call = self._operator("while_stmt", arguments, node.test)
        return [at(test, node), body, at(ast.Expr(call), node)]

    def visit_For(self, node):
        of = self.scope.of
        targets = of(node.target)
        names = self._state(of(node.body) | targets, node.live_head)
        options = self._options(node)
        iterable = self.visit(node.iter)
        item = self.fresh("item")
        assign = at(ast.Assign(targets=[node.target], value=_name(item, node.target)), node.target)
        self.scope._summaries[assign] = targets
        body = self._body(
            "loop_body", [assign, *node.body], node.live_body - targets.bound, node.live_head, node, (item,)
        )
        arguments = [
            iterable, _name(body.name, node), self._stop(node), _constants(names, node), options,
            _constants(sorted(map(self.mangled, targets.bound)), node),
        ]  # fmt: skip
        call = self._operator("for_stmt", arguments, node.iter)
        return [body, at(ast.Expr(call), node)]

    def visit_AnnAssign(self, node):
        """Annotations of variables are never evaluated, and a name that blocks share may not have one."""
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or len(self.frames) == 1:
            return node
        return at(ast.Pass() if node.value is None else ast.Assign(targets=[node.target], value=node.value), node)

    def visit_Assert(self, node):
        message = node.msg
        test = self.visit(node.test)
        if is_static(node.test):
            return node
        thunk = _constant(None, node) if message is None else _thunk(self.visit(message))
        node.test = self._operator("asserted", [test, thunk], node.test)
        return node

    def visit_Expr(self, node):
        if _is_directive(node):
            raise UnsupportedError(node, f"{DIRECTIVE} must be the first statement of a loop")
        return self.generic_visit(node)

    def _body(self, name, statements, live_in, live_out, where, parameters=()):
        """A function that stands for a block."""
        of = self.scope.of
        bound = of(statements).bound
        # Names that nothing outside of the block reads stay inside, as ordinary local variables.
        private = (bound & self.scope.locals) - live_in - live_out - self.scope.captured
        if self.scope.reads_frame:
            private = frozenset()
        shared = self._sharing(bound - private, where)
        frame = _Frame(private)
        self.frames.append(frame)
        new = self.block(statements) or [at(ast.Pass(), where)]
        self.frames.pop()
        declared = self._declarations((frame.needed & private) - frame.direct, where)
        arguments = _no_arguments()
        arguments.args = [ast.arg(arg=p, annotation=None) for p in parameters]
        return at(
            ast.FunctionDef(
                name=self._generated(name), args=arguments, body=[*shared, *declared, *new],
                decorator_list=[], returns=None, type_params=[],
            ),
            where,
        )  # fmt: skip

    def _sharing(self, names, where):
        """The declarations by which a block's function writes variables of the user's function."""
        scope = self.scope
        out = []
        as_global = sorted(names & scope.globals)
        if as_global:
            out.append(at(ast.Global(names=as_global), where))
        shared = sorted(names - scope.globals)
        if shared:
            out.append(at(ast.Nonlocal(names=shared), where))
            for n in shared:
                if n not in scope.nonlocals:
                    owner = next((f for f in reversed(self.frames) if n in f.private), self.frames[0])
                    owner.needed.add(n)
        return out

    def _declarations(self, names, where):
        """Annotations without value: they make names local variables, and do nothing when run."""
        undefined = ast.Attribute(value=ast.Name(self.operators, ast.Load()), attr="Undefined", ctx=ast.Load())
        return [
            at(ast.AnnAssign(target=ast.Name(n, ast.Store()), annotation=undefined, value=None, simple=1), where)
            for n in sorted(names)
        ]

    def _state(self, summary, live):
        """The variables that a staged statement hands on, as text."""
        scope = self.scope
        known = scope.locals | scope.globals | scope.nonlocals
        names = sorted(summary.bound & live & known)
        for text in sorted(summary.composites):
            base, keys = _parts(text)
            # What hangs on an object made inside the block lives and dies with it.
            if base not in summary.bound and not keys & summary.bound:
                names.append(text)
        return [".".join(map(self.mangled, n.split("."))) for n in names]

    def mangled(self, name):
        """A `__private` name as the class around the function spells it."""
        if self.class_name and name.startswith("__") and not name.endswith("__"):
            return f"_{self.class_name.lstrip('_')}{name}"
        return name

    def _stop(self, node):
        return _constant(None, node) if node.stop is None else _thunk(_name(node.stop, node))

    def _options(self, node):
        """A function that evaluates the arguments of `set_loop_options`, or None."""
        first = node.body[0]
        if not _is_directive(first):
            return _constant(None, node)
        node.body = node.body[1:] or [at(ast.Pass(), node)]
        call = first.value
        return _thunk(self._operator("loop_options", [call.func, *call.args], call, call.keywords))

    def _generated(self, name):
        name = self.fresh(name)
        self.generated.add(name)
        return name

    # Expressions.

    def visit_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else None
        plain = not node.args and not node.keywords
        if name == "super" and plain and name not in self.scope.locals:
            first = self.scope.node.args
            first = next((p.arg for p in (*first.posonlyargs, *first.args)), None)
            if first is not None:
                node.args = [_name("__class__", node), _name(first, node)]
            return node
        self.generic_visit(node)
        if name in _FRAME_READERS and len(node.args) == _FRAME_READERS[name] and not node.keywords:
            if name not in self.scope.locals and isinstance(self.scope.node, _FUNCTIONS):
                return self._frame_reader(node, name)
        node.func = self._operator(self.call, [node.func], node.func)
        return node

    def _frame_reader(self, node, name):
        """`locals()` and its like, given the variables of the user's function whatever block they are called in."""
        visible = sorted(n for n in self.scope.locals | self.scope.nonlocals if not exits.is_generated(n))
        variables = at(ast.Tuple([_name(n, node) for n in visible], ast.Load()), node)
        # The function is never called: its closure holds the variables.
        return self._operator("frame_call", [node.func, _thunk(variables), *node.args], node)

    def visit_BoolOp(self, node):
        static = is_static(node)
        lazily = node.values[1:]
        self.generic_visit(node)
        if static or any(_binds(v) for v in lazily):
            return node
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        return self._operator(operator, [node.values[0], *map(_thunk, node.values[1:])], node)

    def visit_UnaryOp(self, node):
        static = is_static(node)
        self.generic_visit(node)
        if static or not isinstance(node.op, ast.Not):
            return node
        return self._operator("not_", [node.operand], node)

    def visit_IfExp(self, node):
        static = is_static(node.test) or _binds(node.body) or _binds(node.orelse)
        text = None if static else ast.unparse(node.test)
        self.generic_visit(node)
        if static:
            return node
        arguments = [node.test, _thunk(node.body), _thunk(node.orelse), _constant(text, node)]
        return self._operator("if_exp", arguments, node)

    def visit_Compare(self, node):
        lazily = node.comparators[1:]
        static = is_static(node) or any(_binds(c) for c in lazily)
        self.generic_visit(node)
        if static or len(node.ops) == 1:
            return node
        arguments = [node.left]
        for i, (op, right) in enumerate(zip(node.ops, node.comparators)):
            arguments += [_constant(_SYMBOLS[type(op)], right), _thunk(right) if i else right]
        return self._operator("compare", arguments, node)

    def _operator(self, name, arguments, where, keywords=()):
        self.changed = True
        function = ast.Attribute(value=ast.Name(self.operators, ast.Load()), attr=name, ctx=ast.Load())
        return at(ast.Call(func=function, args=arguments, keywords=list(keywords)), where)


class _Frame:
    """A function being written: the user's, or one that stands for a block."""

    def __init__(self, private=frozenset()):
        self.private = private
        self.needed: set = set()  # names that blocks inside write
        self.direct: set = set()  # names that its own statements bind


_SYMBOLS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def _name(name, where):
    return at(ast.Name(id=name, ctx=ast.Load()), where)


def _constant(value, where):
    return at(ast.Constant(value), where)


def _constants(values, where):
    return at(ast.Tuple([ast.Constant(v) for v in values], ast.Load()), where)


def _no_arguments():
    return ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])


def _thunk(expression):
    return at(ast.Lambda(args=_no_arguments(), body=expression), expression)


def _binds(expression):
    """Whether an expression binds names, or suspends, so that it cannot move into a function of its own."""
    return any(isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for n in descendants(expression))


def _parts(text):
    """The name that "a.b[i]" starts with, and the names used as keys."""
    tree = ast.parse(text, mode="eval").body
    keys = {n.slice.id for n in descendants(tree) if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Name)}
    while not isinstance(tree, ast.Name):
        tree = tree.value
    return tree.id, keys


def _is_directive(s):
    if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)):
        return False
    f = s.value.func
    return (isinstance(f, ast.Attribute) and f.attr == DIRECTIVE) or (isinstance(f, ast.Name) and f.id == DIRECTIVE)


def _asks_not_to_be_converted(node):
    for decorator in node.decorator_list:
        text = ast.dump(decorator)
        if "do_not_convert" in text or "arg='autograph', value=Constant(value=False" in text:
            return True
    return False


def is_generator(node) -> bool:
    """Whether a `def` is a generator function."""
    pending = list(node.body)
    while pending:
        n = pending.pop()
        if isinstance(n, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(n, (*_FUNCTIONS, ast.ClassDef, ast.Lambda, ast.GeneratorExp)):
            pending += children(n)
    return False


def _reads_frame(body):
    return any(isinstance(n, ast.Name) and n.id in _FRAME_READERS for s in body for n in descendants(s))


def identifiers(node) -> set:
    """All identifiers in a function, its nested functions included."""
    found = set()
    for n in descendants(node):
        if isinstance(n, ast.Name):
            found.add(n.id)
        elif isinstance(n, ast.arg):
            found.add(n.arg)
        elif isinstance(n, (*_FUNCTIONS, ast.ClassDef)):
            found.add(n.name)
        elif isinstance(n, (ast.Global, ast.Nonlocal)):
            found.update(n.names)
        elif isinstance(n, ast.alias):
            found.add((n.asname or n.name).partition(".")[0])
        elif isinstance(n, ast.ExceptHandler) and n.name:
            found.add(n.name)
        elif isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name:
            found.add(n.name)
        elif isinstance(n, ast.MatchMapping) and n.rest:
            found.add(n.rest)
    return found | set(parameters_of(node.args))
