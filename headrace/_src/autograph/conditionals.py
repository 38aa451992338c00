"""`if`, conditional expressions, `and`, `or`, `not`, comparisons and `assert` at run time."""

from __future__ import annotations

import operator

from headrace._src.autograph.exits import is_result, is_return_flag
from headrace._src.autograph.staging import condition, is_symbolic
from headrace._src.autograph.variables import UNDEFINED, Variables, variables_of
from headrace._src.core import dtypes, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.func_graph import body_of
from headrace._src.graph.control.conditional import add_branches
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.debugging.assertions import Assert
from headrace._src.ops.math.comparison import LOGICAL_NOT

_PLAIN = (int, str, bytes, bool)


def if_stmt(test, body, orelse, names, reset=()):
    """Run `body` or `orelse`; both as branches of a graph node when `test` is symbolic.

    Args:
        test: The condition.
        body, orelse: Functions without arguments that share the variables `names`; None does nothing.
        names: The variables that are used afterwards.
        reset: Further variables that `body` changes and `orelse` reads.
    """
    if test is True:
        block = body
    elif test is False:
        block = orelse
    elif is_symbolic(test):
        staged_if(condition(test, "if statement"), body, orelse, variables_of(names, body, orelse), reset)
        return
    else:
        block = body if test else orelse
    if block is not None:
        block()


def staged_if(test, body, orelse, variables, reset=()):
    """Make a graph node that runs one of two blocks, and give the variables what comes out of it."""
    before = variables.get()
    others = Variables(reset, body, orelse)
    others_before = others.get()
    graphs, results = [], []
    try:
        for name, block in (("true_fn", body), ("false_fn", orelse)):
            graph = body_of("cond", name)
            with graph.building():
                variables.set(before)
                others.set(others_before)
                if block is not None:
                    block()
                results.append(variables.get())
            graphs.append(graph)
    except BaseException:
        variables.set(before)
        raise
    try:
        variables.set(_merged(test, graphs, variables.names, results))
    except BaseException:
        variables.set(before)
        raise


def _merged(test, graphs, names, results):
    """The values of variables after a conditional, given those after its branches."""
    merged, positions, outputs = [], [], ([], [])
    returned = _returned(names, results)
    for name, a, b in zip(names, *results):
        if _same(a, b):
            merged.append(a)
            continue
        a, b = _filled(name, a, b, graphs, returned)
        leaves = _paired(described(name), a, b, graphs)
        positions.append(len(merged))
        merged.append(a)
        for collected, found in zip(outputs, leaves):
            collected.append(found)
    for graph, found in zip(graphs, outputs):
        graph.structured_outputs = found
        with graph.building():
            graph.outputs = [graph.inside(x) for x in nest.flatten(found, expand_composites=True)]
    for position, value in zip(positions, add_branches(test, graphs, True)):
        merged[position] = value
    return merged


def _same(a, b):
    """Whether both branches leave one and the same value, so that no node is needed to choose."""
    if a is b:
        return True
    return type(a) is type(b) and type(a) in _PLAIN and a == b


def described(name: str) -> str:
    """A variable as messages call it."""
    return "the return value" if is_result(name) else f"'{name}'"


def _returned(names, results):
    """For each branch, whether it is known to end in `return`: none of its other variables are read again."""
    return [any(value is True and is_return_flag(name) for name, value in zip(names, found)) for found in results]


def _filled(name, a, b, graphs, returned):
    """Refuse a variable that only one branch defines, unless nobody will ask for it: it is zero then."""
    branches = (a, b, "main", graphs[0], returned[0]), (b, a, "else", graphs[1], returned[1])
    for value, other, branch, graph, is_over in branches:
        if value is not UNDEFINED and value is not None:
            continue
        unread = (is_over and not is_result(name)) or (is_result(name) and value is UNDEFINED)
        if unread and other is not None and other is not UNDEFINED:
            filler = _zeros(other, graph)
            return (filler, b) if branch == "main" else (a, filler)
        if is_result(name):
            raise ValueError(f"the {branch} branch must also have a return statement.")
        if value is None:
            raise ValueError(f"'{name}' is None at the end of the {branch} branch.")
        raise ValueError(f"'{name}' must also be initialized in the {branch} branch")
    return a, b


def _zeros(value, graph):
    with graph.building():
        return nest.map_structure(lambda x: zeros_of(to_tensor(x)), value, expand_composites=True)


def zeros_of(tensor):
    """Zeros of a tensor's dtype and, as far as it is known, shape."""
    dims = [] if tensor.shape.rank is None else [n or 0 for n in tensor.shape.as_list()]
    filler = "" if tensor.dtype.name == "string" else 0
    if tensor.dtype.name in ("variant", "resource"):
        raise ValueError(f"there is no initial value of dtype {tensor.dtype.name}")
    return FILL(to_tensor(dims, dtypes.int32), to_tensor(filler, tensor.dtype))


def _paired(what, a, b, graphs):
    """The values of both branches with tensors as leaves, after checking that they fit together."""
    try:
        nest.assert_same_structure(a, b, expand_composites=True)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"{what} must have the same nested structure in the main and else branches:\n\n{error}"
        ) from None
    found = []
    for value, graph in zip((a, b), graphs):
        with graph.building():
            found.append(nest.map_structure(lambda x: as_leaf(x, what), value))
    pairs = zip(*(nest.flatten(value, expand_composites=True) for value in found))
    for x, y in pairs:
        if x.dtype is not y.dtype:
            raise TypeError(
                f"{what} has dtype {x.dtype.name} in the main branch, but dtype {y.dtype.name} in the else branch"
            )
    return found


def as_leaf(value, what):
    """A value as a tensor, unless it is made of tensors.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(value, (Tensor, CompositeTensor)) or hasattr(value, "_type_spec"):
        return value
    try:
        return to_tensor(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{what} is a {type(value).__name__}, and the graph can only choose between tensors, numbers, strings "
            f"and structures of these: {error}"
        ) from None


def if_exp(test, body, orelse, text):
    """A conditional expression; `text` is the condition as written, for messages."""
    if is_symbolic(test):
        return _choose(condition(test, "if expression"), body, orelse, f"'{text}'")
    return body() if test else orelse()


def _choose(test, body, orelse, what):
    """A graph node that gives the result of one of two functions without arguments."""
    graphs, results = [], []
    for name, function in (("true_fn", body), ("false_fn", orelse)):
        graph = body_of("cond", name)
        with graph.building():
            results.append(function())
        graphs.append(graph)
    a, b = results
    if a is b and not isinstance(a, Tensor):
        return a
    for value, branch in ((a, "main"), (b, "else")):
        if value is None:
            raise ValueError(f"{what} is None at the end of the {branch} branch.")
    found = _paired(what, a, b, graphs)
    for graph, value in zip(graphs, found):
        graph.structured_outputs = value
        with graph.building():
            graph.outputs = [graph.inside(x) for x in nest.flatten(value, expand_composites=True)]
    return add_branches(test, graphs, True)


def lazy_and(value, other):
    """`value and other()` for a symbolic `value`."""
    test = condition(value, "and")
    return _choose(test, other, lambda: test, "the operands of `and`: the value")


def lazy_or(value, other):
    """`value or other()` for a symbolic `value`."""
    test = condition(value, "or")
    return _choose(test, lambda: test, other, "the operands of `or`: the value")


def and_(value, *others):
    """`value and others[0]() and ...`."""
    if not others:
        return value
    if is_symbolic(value):
        return lazy_and(value, lambda: and_(others[0](), *others[1:]))
    return and_(others[0](), *others[1:]) if value else value


def or_(value, *others):
    """`value or others[0]() or ...`."""
    if not others:
        return value
    if is_symbolic(value):
        return lazy_or(value, lambda: or_(others[0](), *others[1:]))
    return value if value else or_(others[0](), *others[1:])


def not_(value):
    """`not value`."""
    if is_symbolic(value):
        return LOGICAL_NOT(to_tensor(value))
    return not value


_COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "is": operator.is_, "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip


def compare(left, symbol, right, *others):
    """A chain of comparisons, such as `a < b <= c`: the first two operands, then pairs of symbol and function."""
    value = _COMPARISONS[symbol](left, right)
    if not others:
        return value
    if is_symbolic(value):
        return lazy_and(value, lambda: compare(right, others[0], others[1](), *others[2:]))
    return compare(right, others[0], others[1](), *others[2:]) if value else value


def asserted(test, message):
    """The condition of an `assert`: a symbolic one is checked when the graph runs, and passes for now."""
    if not is_symbolic(test):
        return test
    test = condition(test, "assert statement")
    text = message() if message is not None else "assertion failed"
    Assert(test, list(text) if isinstance(text, (list, tuple)) else [text])
    return True
