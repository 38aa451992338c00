"""`convert`: a Python function to one whose control flow and calls go through the runtime operators.

The rewritten code is compiled under the user's file name and lines, once per code object, and put into a function
that has the original's globals, closure cells, defaults and signature.
"""

from __future__ import annotations
import __future__

import ast
import dis
import functools
import inspect
import types
import warnings
import weakref

from headrace._src.autograph import source, transform
from headrace._src.autograph.exits import UnsupportedError
from headrace._src.autograph.positions import at
from headrace._src.core import errors
from headrace._src.core.errors import AutoGraphConversionError as ConversionError
from headrace._src.core.tracebacks import STAGED

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag
_NOT_FUNCTIONS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def refusal(function, why) -> ConversionError:
    """The error for a function that cannot be converted.

    Args:
        function: What was to be converted.
        why: The reason, as a clause.
    """
    code = getattr(function, "__code__", None)
    place = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    return ConversionError(f"AutoGraph cannot convert {_described(function)}{place}: {why}.")


def _described(function):
    return getattr(function, "__qualname__", None) or repr(function)


class Converted:
    """The result of converting a code object."""

    __slots__ = ("code", "needed", "node", "operators")

    def __init__(self, code, operators_name, needed, node):
        self.code = code
        self.operators = operators_name  # what the code calls the operators
        self.needed = needed  # whether anything was rewritten at all
        self.node = node  # the syntax tree, of which `to_code` shows the text

    def function(self, original: types.FunctionType) -> types.FunctionType:
        """`original` with this code; everything else is shared with it."""
        cells = dict(zip(original.__code__.co_freevars, original.__closure__ or ()))
        cells[self.operators] = OPERATORS
        closure = tuple(cells[name] for name in self.code.co_freevars)
        made = types.FunctionType(
            self.code, original.__globals__, original.__name__, original.__defaults__, closure
        )
        made.__kwdefaults__ = original.__kwdefaults__
        made.__qualname__ = original.__qualname__
        made.__module__ = original.__module__
        made.__doc__ = original.__doc__
        if hasattr(original, "__annotate__"):  # since Python 3.14 annotations are evaluated when asked for
            made.__annotate__ = original.__annotate__
        else:
            made.__annotations__ = original.__annotations__
        if original.__dict__:
            made.__dict__.update(original.__dict__)
        if hasattr(original, "__type_params__"):
            made.__type_params__ = original.__type_params__
        return made


# What converted code calls `ag__`, as a cell of its closure.
OPERATORS = types.CellType()


def register_operators(operators: types.ModuleType):
    """Set what converted code calls `ag__`; calls.py, which imports this file, registers it."""
    OPERATORS.cell_contents = operators


# By the identity of code objects, which live as long as their functions. Equality would not do: equal code of two
# files has two names.
_cache: dict = {}


def _remembered(code, recursive, make):
    key = (id(code), recursive)
    entry = _cache.get(key)
    if entry is not None and entry[0]() is code:
        return entry[1]
    made = make()
    # Bound as a default: at the end of the program, globals are gone first.
    _cache[key] = (weakref.ref(code, lambda _, cache=_cache: cache.pop(key, None)), made)
    return made


def is_converted(function) -> bool:
    """Whether a function's code came out of a conversion."""
    closure = function.__closure__
    return closure is not None and any(cell is OPERATORS for cell in closure)


def conversion_of(function: types.FunctionType, recursive: bool = True) -> Converted | ConversionError:
    """What converting a plain function gives, from the cache if its code was converted before."""
    return _remembered(function.__code__, recursive, lambda: _announced(function, recursive))


# Called with each function that is converted for the first time, and what came of it.
conversion_listeners: list = []


def _announced(function, recursive):
    conversion = _convert_code(function, recursive)
    for listener in conversion_listeners:
        listener(function, conversion)
    return conversion


def _convert_code(function, recursive):
    code = function.__code__
    try:
        if code.co_flags & _NOT_FUNCTIONS:
            kind = "a generator" if code.co_flags & inspect.CO_GENERATOR else "asynchronous"
            raise UnsupportedError(_Line(code), f"{kind} function; its control flow stays Python's")
        node = source.function_node(function)
        parents = code.co_qualname.split(".")[:-1]
        class_name = parents[-1] if parents and parents[-1] != "<locals>" else None
        names = transform.identifiers(node)
        _check_source(node, code, names)
        rewriter = transform.Rewriter(node, class_name, recursive, names)
        compiled = _compiled(rewriter, code, class_name)
    except (source.SourceError, UnsupportedError) as error:
        return refusal(function, error)
    except RecursionError:
        return refusal(function, "its expressions are nested too deeply")
    return Converted(compiled, rewriter.operators, rewriter.changed, rewriter.node)


def _check_source(node, code, names):
    """Refuse source that was changed since it was compiled, as far as its lines and variables show it.

    Not by its bytecode: tools such as pytest change that while they import a file.
    """
    last = max((line for _, _, line in code.co_lines() if line is not None), default=0)
    known = names | {"__class__", "__classdict__"}
    missing = {
        name for name in (*code.co_varnames, *code.co_freevars, *code.co_cellvars)
        if name.isidentifier() and name not in known and not any(k.startswith("__") and name.endswith(k) for k in known)
    }  # fmt: skip
    if last > node.end_lineno or missing:
        raise source.changed(code)


class _Line:
    def __init__(self, code):
        self.lineno = code.co_firstlineno


def _compiled(rewriter, code, class_name):
    """The code object of the rewritten function."""
    node = rewriter.node
    a = node.args
    # Defaults and annotations belong to the function object, which takes them from the original.
    bare = ast.arguments(
        posonlyargs=_bare(a.posonlyargs), args=_bare(a.args), vararg=a.vararg and _bare([a.vararg])[0],
        kwonlyargs=_bare(a.kwonlyargs), kw_defaults=[None] * len(a.kwonlyargs), kwarg=a.kwarg and _bare([a.kwarg])[0],
        defaults=[],
    )  # fmt: skip
    name = code.co_name
    if isinstance(node, ast.Lambda):
        inner = ast.Expr(ast.copy_location(ast.Lambda(args=bare, body=node.body), node))
    else:
        # Under its own name, it would hide the global variable of that name from itself.
        name = rewriter.fresh("function")
        inner = ast.FunctionDef(
            name=name, args=bare, body=node.body, decorator_list=[], returns=None, type_params=[]
        )
    at(inner, node)
    if class_name:  # so that the compiler spells private names as it did the first time
        inner = ast.ClassDef(name=class_name, bases=[], keywords=[], body=[inner], decorator_list=[], type_params=[])
        at(inner, node)
    # A function around it makes the names of its closure free variables. It is never run.
    outer = [*code.co_freevars, rewriter.operators]
    parameters = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=n, annotation=None) for n in outer], vararg=None, kwonlyargs=[],
        kw_defaults=[], kwarg=None, defaults=[],
    )  # fmt: skip
    factory = ast.FunctionDef(
        name="factory", args=parameters, body=[inner], decorator_list=[], returns=None, type_params=[]
    )
    module = ast.Module(body=[at(factory, node)], type_ignores=[])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # the user has seen them
        program = compile(module, code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True)
    found = program
    for part in ("factory", *([class_name] if class_name else []), name):
        found = next(c for c in found.co_consts if isinstance(c, types.CodeType) and c.co_name == part)
    return _renamed(found, code.co_name, code.co_qualname, rewriter.generated)


def _bare(parameters):
    return [at(ast.arg(arg=p.arg, annotation=None), p) for p in parameters]


def _renamed(code, name, qualname, generated, inside=None):
    """The code with names as the user's functions have them, in it and all code inside it."""
    inside = inside or qualname
    is_class = not code.co_flags & inspect.CO_NEWLOCALS
    consts = []
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            if c.co_name in generated:
                c = _renamed(c, name, f"{inside}{STAGED}", generated, inside)
            else:
                place = f"{inside}.{c.co_name}" if is_class else f"{inside}.<locals>.{c.co_name}"
                c = _renamed(c, c.co_name, place, generated)
        elif is_class and c == code.co_qualname:
            c = qualname  # what the class statement stores as __qualname__
        consts.append(c)
    return code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(consts))


def may_need_conversion(code) -> bool:
    """Whether it makes a difference that some code is not converted: generators and plain formulas do not count."""
    if code.co_flags & _NOT_FUNCTIONS:
        return False
    return any("JUMP" in i.opname or "CALL" in i.opname or i.opname == "FOR_ITER" for i in dis.get_instructions(code))


_warned: weakref.WeakSet = weakref.WeakSet()


def explain_unconverted(function, error: ConversionError):
    """A function that runs as it is, with a warning now and a note on errors that come of it later."""
    code = function.__code__
    if code not in _warned:
        _warned.add(code)
        warnings.warn_explicit(
            f"{error} It runs as plain Python, without AutoGraph. To silence this warning, decorate it with "
            "@tf.autograph.experimental.do_not_convert.",
            UserWarning,
            code.co_filename,
            code.co_firstlineno,
        )

    @functools.wraps(function)
    def unconverted(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except errors.OperatorNotAllowedInGraphError as raised:
            if str(error) not in getattr(raised, "__notes__", ()):
                raised.add_note(str(error))
            raise

    return unconverted
