"""A graph as text that reads like code: one line per operation, with shapes, dtypes and the user's line."""

import os

import numpy as np

from headrace._src.ops.arrays.filling import CONST

# How the graphs among the attributes of an operation are introduced.
_TITLES = {"then_branch": "if true", "else_branch": "if false", "cond": "while", "body": "do"}
# Attributes that the types of inputs and outputs tell already.
_IMPLIED = frozenset({"Tin", "Tout", "T", "dtype", "output_shapes", "shape", "config", "config_proto", "executor_type"})
# How deep functions that call functions are shown.
_DEEPEST = 8


class Line:
    """One line of a listing."""

    # `step`: the operation or step; None for a title.
    __slots__ = ("code", "depth", "place", "step", "type")

    def __init__(self, depth, code, type="", place="", step=None):
        self.depth = depth
        self.code = code
        self.type = type
        self.place = place
        self.step = step


def listing(graph) -> list[Line]:
    """The lines of a function's graph as it runs, passes applied; graphs of branches, loops and calls are indented."""
    lines: list[Line] = []
    _add_function(graph, 0, lines)
    return lines


def _add_function(graph, depth, lines):
    plan = graph.plan()
    names = _Names(plan)
    count = len(graph.inputs) - len(graph.captures)
    arguments = ", ".join(f"{names[x]}: {type_text(x)}" for x in plan.inputs[:count])
    lines.append(Line(depth, f"def {graph.name}({arguments}):"))
    read = {id(x) for step in plan.steps for x in step.inputs} | {id(x) for x in plan.outputs}
    for tensor in plan.inputs[count:]:
        if id(tensor) in read:
            lines.append(Line(depth + 1, f"captured {names[tensor]}", _captured_text(tensor)))
    _add_steps(plan, names, depth + 1, lines)


def _add_steps(plan, names, depth, lines):
    for step in plan.steps:
        if step.record is CONST:
            continue
        results = step.outputs
        target = ", ".join(names[x] for x in results)
        code = f"{target} = {_call_text(step, names)}" if results else _call_text(step, names)
        types = ", ".join(dict.fromkeys(type_text(x) for x in results))
        lines.append(Line(depth, code, types, place_text(step.location), step))
        if step.record.calls_functions and depth < _DEEPEST:
            _add_inner(step, depth + 1, lines)
    lines.append(Line(depth, f"return {', '.join(names[x] for x in plan.outputs)}".rstrip()))


def _add_inner(step, depth, lines):
    if "f" in step.attrs:
        _add_function(step.attrs["f"], depth, lines)
        return
    branches = step.attrs.get("branches")
    if branches is not None:
        titled = [(f"case {i}" if i < len(branches) - 1 else "otherwise", graph) for i, graph in enumerate(branches)]
    else:
        titled = [(title, step.attrs[name]) for name, title in _TITLES.items() if name in step.attrs]
    for title, graph in titled:
        plan = graph.plan()
        names = _Names(plan)
        arguments = ", ".join(names[x] for x in plan.inputs)
        lines.append(Line(depth, f"{title} ({arguments}):"))
        _add_steps(plan, names, depth + 1, lines)


class _Names:
    """The names of tensors in the text; small constants are written out."""

    def __init__(self, plan):
        self._texts = {}
        for tensor in plan.inputs:
            self._texts[id(tensor)] = tensor.op.name
        for step in plan.steps:
            results = step.outputs
            if step.record is CONST:
                self._texts[id(results[0])] = _constant_text(step.attrs["value"]._a)
                continue
            for i, tensor in enumerate(results):
                self._texts[id(tensor)] = step.name if len(results) == 1 else f"{step.name}:{i}"

    def __getitem__(self, tensor):
        return self._texts[id(tensor)]


def _constant_text(array):
    if array.dtype.hasobject and array.size and not isinstance(array.flat[0], (bytes, str)):
        return "<resource>"
    if array.size <= 6:
        return str(array.tolist())
    return f"<constant {array.dtype.name}{list(array.shape)}>"


def _call_text(step, names):
    attrs = []
    defaults = step.record.defaults
    for name, value in step.attrs.items():
        if name in _IMPLIED or (name in defaults and defaults[name] == value):
            continue
        if hasattr(value, "nodes") or (isinstance(value, (list, tuple)) and any(hasattr(x, "nodes") for x in value)):
            continue
        attrs.append(f"{name}={_attribute_text(value)}")
    return f"{step.record.name}({', '.join([*(names[x] for x in step.inputs), *attrs])})"


def _attribute_text(value):
    name = getattr(value, "name", None)  # of a dtype
    text = name if isinstance(name, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def type_text(tensor) -> str:
    """Dtype and shape, such as `float32[None, 10]`."""
    shape = tensor.shape
    if shape.rank is None:
        return f"{tensor.dtype.name}[...]"
    return f"{tensor.dtype.name}[{', '.join(str(n) for n in shape.as_list())}]"


def _captured_text(tensor):
    known = tensor._known
    if tensor.dtype.name == "resource" and isinstance(known, np.ndarray) and known.shape == ():
        storage = known[()]
        name, dtype, shape = (getattr(storage, what, None) for what in ("name", "dtype", "shape"))
        if dtype is not None and shape is not None:
            return f"variable {name} {dtype.name}{list(shape.as_list()) if shape.rank is not None else '[...]'}"
        return type(storage).__name__
    return type_text(tensor)


def place_text(location) -> str:
    """File and line, short."""
    file, line, _ = location
    return f"{os.path.basename(file)}:{line}" if file else ""


def text_of(lines, marks=None) -> str:
    """The lines as text in columns.

    Args:
        marks: a short text for each line, put before it.
    """
    indented = ["    " * line.depth + line.code for line in lines]
    width = min(max((len(text) for text in indented), default=0), 72)
    types = min(max((len(line.type) for line in lines), default=0), 32)
    result = []
    for i, (line, text) in enumerate(zip(lines, indented)):
        comment = f"{line.type:<{types}}  {line.place}".rstrip()
        row = f"{text:<{width}}  # {comment}" if comment else text
        result.append(f"{marks[i] if marks else ''}{row}".rstrip())
    return "\n".join(result)
