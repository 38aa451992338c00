"""What other files attach to a class, as a stub for type checkers: `headrace/_src/attached.pyi`.

The methods of an open class, such as `Tensor` or `Dataset`, stand in many files, which attach them when they are
loaded. A type checker sees only the class's body; so the class has a base that exists for checkers alone, and this
file writes that base from what is attached at run time. Parameters and results are those of the attached function;
what has no annotation is `Any`.

An op with several outputs returns a named tuple that is made from its record. The stub has those that some file imports
from it to name a result.
"""

import ast
import builtins
import functools
import inspect
import sys
import types
from typing import Any

HEADER = '"""What is attached to open classes, for type checkers. Written by scripts/exports: do not edit."""\n'
ATTACHED = "headrace._src.attached"
# A user's `Tensor` is one of these, and a checker cannot know which: it has what any of them has.
KINDS = {"Tensor": ("EagerTensor", "SymbolicTensor")}
# Special methods of the kinds that concern Python and its libraries, not the user's text.
_UNSEEN = {"__init__", "__reduce__", "__copy__", "__deepcopy__", "__str__", "__repr__", "__format__", "__hash__"}


def write_attached(public):
    """The text of the stub.

    Args:
        public: the public values; a class among them to which something is attached must be open.
    """
    imports, blocks = {}, []
    by_name = {}
    for cls in _classes():
        by_name.setdefault(cls.__name__, cls)
    for name, cls in sorted(by_name.items()):
        methods = _attached(cls) | _of_kinds(cls, [by_name[kind] for kind in KINDS.get(name, ())])
        base = f"{name}Methods"
        is_open = base in _bases(cls)
        if methods and any(cls is value for value in public) and not is_open:
            raise SystemExit(
                f"{name}: {', '.join(sorted(methods))} are attached to this class, but its body does not say so. "
                f"Give it the base {base}, as headrace/_src/core/tensor.py does."
            )
        if is_open:
            lines = [line for key, value in sorted(methods.items()) for line in _declaration(key, value, imports)]
            blocks.append("\n".join([f"class {base}:", *lines]))
    results = [_named_tuple(name) for name in sorted(_imported()) if not name.endswith("Methods")]
    if results:
        imports["NamedTuple"] = "from typing import NamedTuple"
        imports["Tensor"] = "from headrace._src.core.tensor import Tensor"
    blocks += results
    lines = sorted({*imports.values(), "from typing import Any"})
    return "\n".join([HEADER, *lines]) + "\n\n" + "\n\n".join(blocks) + "\n"


def typed_share(public):
    """How many public functions there are, how many say what they return, and how many of those say `Any`."""
    functions = {id(function): function for function in map(_function, public) if _is_ours(function)}
    results = [function.__annotations__.get("return", inspect) for function in functions.values()]
    told = [result for result in results if result is not inspect]
    return len(results), len(told), sum(result in (Any, "Any") for result in told)


def _is_ours(function):
    """Not None, and not NumPy's: some of those are public under our name."""
    return function is not None and function.__code__.co_filename.startswith(_root())


def _imported():
    """The names that files import from the stub."""
    paths = [module.__file__ for name, module in sys.modules.items() if name.startswith("headrace._src.")]
    return {
        alias.name
        for path in paths
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ImportFrom) and node.module == ATTACHED
        for alias in node.names
    }


def _named_tuple(name):
    """The class of an op's result."""
    from headrace._src.op.definition import REGISTRY

    lines = [f"class {name}(NamedTuple):"]
    for output in REGISTRY[name].signature.outputs:
        # Tuples have methods `count` and `index`.
        note = "  # type: ignore[assignment]" if hasattr(tuple, output.name) else ""
        lines.append(f"    {output.name}: {'list[Tensor]' if output.is_list else 'Tensor'}{note}")
    return "\n".join(lines)


def _classes():
    for name in sorted(sys.modules):
        if name.startswith("headrace._src."):
            for value in list(vars(sys.modules[name]).values()):
                if isinstance(value, type) and value.__module__ == name:
                    yield value


@functools.cache
def _tree(path):
    with open(path) as file:
        return ast.parse(file.read())


def _class_statement(cls):
    for node in ast.walk(_tree(sys.modules[cls.__module__].__file__)):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            return node
    return None


def _bases(cls):
    statement = _class_statement(cls)
    return [base.id for base in statement.bases if isinstance(base, ast.Name)] if statement else []


def _attached(cls):
    """Name to function, of what is attached to a class and not told by its body or a base already."""
    statement = _class_statement(cls)
    if statement is None:
        return {}
    of_body = {node.name for node in ast.walk(statement) if isinstance(node, ast.FunctionDef)}
    of_body |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    told = {name for base in cls.__mro__[1:] if base.__module__.startswith("headrace") for name in vars(base)}
    return {
        name: value
        for name, value in vars(cls).items()
        if name not in of_body | told and _is_seen(name) and _is_ours(_function(value))
    }


def _of_kinds(cls, kinds):
    """Name to function, of what only some of a class's kinds have."""
    return {
        name: value
        for kind in reversed(kinds)
        for name, value in vars(kind).items()
        if not hasattr(object, name) and name not in vars(cls) and _is_seen(name)
        and (_function(value) is not None or inspect.ismemberdescriptor(value))
    }


def _is_seen(name):
    return name not in _UNSEEN and (not name.startswith("_") or name.endswith("__"))


@functools.cache
def _root():
    return sys.modules["headrace._src"].__path__[0]


def _function(value):
    """The function that was written down, of a method, property or wrapper; None for anything else."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, (property, functools.cached_property)):
        value = value.fget if isinstance(value, property) else value.func
    value = inspect.unwrap(value) if callable(value) else value
    return value if isinstance(value, types.FunctionType) else None


def _declaration(name, value, imports):
    if inspect.ismemberdescriptor(value):
        return [f"    {name}: Any"]
    function = _function(value)
    node = _statement(function)
    annotations = {argument.arg: argument.annotation for argument in _arguments(node)}
    signature = inspect.signature(function)
    parts, last = [], None
    for i, parameter in enumerate(signature.parameters.values()):
        if last is parameter.POSITIONAL_ONLY and parameter.kind is not parameter.POSITIONAL_ONLY:
            parts.append("/")
        if parameter.kind is parameter.KEYWORD_ONLY and last not in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL):
            parts.append("*")
        last = parameter.kind
        if i == 0 and not isinstance(value, staticmethod):
            parts.append(parameter.name)
            continue
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        kind = _annotation(annotations.get(parameter.name), function, imports)
        parts.append(f"{star}{parameter.name}: {kind}{default}")
    if last is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    result = _annotation(node.returns if isinstance(node, ast.FunctionDef) else None, function, imports)
    decorator = {staticmethod: "staticmethod", classmethod: "classmethod", property: "property",
                 functools.cached_property: "property"}.get(type(value))  # fmt: skip
    # `==` of tensors is a tensor; Python's own says that it is a bool.
    note = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    lines = [f"    def {name}({', '.join(parts)}) -> {result}: ...{note}  # {_place(function)}"]
    return [f"    @{decorator}", *lines] if decorator else lines


def _default(value):
    return repr(value) if value is None or type(value) in (bool, int, str) else "..."


def _place(function):
    """The file that has the function, for readers who come here from a call."""
    return function.__code__.co_filename.removeprefix(_root() + "/")


def _statement(function):
    code = function.__code__
    for node in ast.walk(_tree(code.co_filename)):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            if code.co_firstlineno in (node.lineno, *(decorator.lineno for decorator in node.decorator_list)):
                return node
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            return node
    raise SystemExit(f"{function.__qualname__}: no such function in {code.co_filename}.")


def _arguments(node):
    arguments = node.args
    several = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return several + [one for one in (arguments.vararg, arguments.kwarg) if one is not None]


def _annotation(node, function, imports):
    """The annotation's text; what it names is added to the imports."""
    if node is None:
        return "Any"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not hasattr(builtins, part.id):
            line = _import_of(part.id, function)
            if line is not None and imports.setdefault(part.id, line) != line:
                raise SystemExit(f"{part.id} means two things: {line}; {imports[part.id]}.")
    return ast.unparse(node)


def _import_of(name, function):
    """The statement that imports what a file calls by this name."""
    for node in ast.walk(_tree(function.__code__.co_filename)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    single = type(node)(**{**{key: getattr(node, key) for key in node._fields}, "names": [alias]})
                    return ast.unparse(single)
        if isinstance(node, ast.ClassDef) and node.name == name:
            return f"from {function.__module__} import {name}"
    return None
