"""Variables that a function makes while it is traced: on its first call only, and outside of the graph."""

import contextlib
from collections.abc import Iterator

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context, outside_functions
from headrace._src.core.names import current_name_scope, fresh_scope
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.control.conditional import cond
from headrace._src.graph.running.plan import Plan
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.state.storage import ASSIGN, IS_INITIALIZED


@api("init_scope", dispatch=False)
@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Within this block, operations run outside of all functions that are being traced, and tapes do not see them."""
    graph = outside_functions(context.graph)
    scope = current_name_scope()
    before = context.change(graph=graph, recorders=())
    creators, context.variable_creators = context.variable_creators, _users_creators()
    try:
        with fresh_scope(scope):
            yield
    finally:
        context.mode = before
        context.variable_creators = creators


def _users_creators():
    return tuple(c for c in context.variable_creators if not isinstance(c, VariableMaker))


@contextlib.contextmanager
def variables_outside():
    """Within this block, variables are made outside of the graph. It is for functions other than `tf.function`s."""

    def outside(next_creator, **keywords):
        with init_scope():
            return next_creator(**keywords)

    creators = context.variable_creators
    context.variable_creators = (outside, *_users_creators())
    try:
        yield
    finally:
        context.variable_creators = creators


@contextlib.contextmanager
def variables_of_body():
    """Within this block, which traces the body of an operation, variables are made as in the function around it."""
    creators = context.variable_creators
    outer = next((c for c in creators if isinstance(c, VariableMaker)), None)
    maker = VariableMaker(outer is None or outer.allowed)
    context.variable_creators = (maker, *_users_creators())
    try:
        yield
    finally:
        context.variable_creators = creators
    if maker.needs_run:
        raise ValueError("Variable: the initial value must not depend on the element that is mapped.")
    if outer is not None:
        outer.variables.extend(maker.variables)


class VariableMaker:
    """The innermost variable creator while a function is traced."""

    def __init__(self, allowed):
        self.allowed = allowed
        self.variables = []
        self.needs_run = False  # some initial value is known only when the function runs

    def __call__(self, next_creator, **keywords):
        if not self.allowed:
            raise ValueError(
                "tf.function-decorated function tried to create variables on non-first call. tf.function only supports "
                "singleton tf.Variables created on the first call. Make sure the tf.Variable is only created once "
                "(for instance under `if self.v is None:`) or created outside tf.function."
            )
        value = keywords["initial_value"]
        if callable(value) and not hasattr(value, "dtype"):
            value = value()
        dtype = keywords.get("dtype")
        if value is None:
            raise ValueError("Variable: initial_value must be given: a tensor, a value, or a function returning one.")
        symbolic = to_tensor(value, None if dtype is None else dtypes.as_dtype(dtype))
        known = _value_of(symbolic)
        with init_scope():
            if known is not None:
                variable = next_creator(**{**keywords, "initial_value": known, "dtype": None})
            else:
                variable = self._uninitialized(next_creator, keywords, symbolic)
        self.variables.append(variable)
        if known is None:
            self.needs_run = True
            ready = IS_INITIALIZED(variable.handle)
            cond(ready, lambda: None, lambda: ASSIGN(variable.handle, symbolic))
        return variable

    def _uninitialized(self, next_creator, keywords, symbolic):
        shape = keywords.get("shape")
        shape = symbolic.shape if shape is None else shape
        if symbolic.shape.rank is None:
            raise ValueError("Variable: the rank of an initial value that depends on the arguments must be known.")
        dims = [1 if n is None else n for n in symbolic.shape.as_list()]
        stand_in = EagerTensor(np.zeros(dims, symbolic.dtype._np), symbolic.dtype)
        variable = next_creator(**{**keywords, "initial_value": stand_in, "dtype": None, "shape": shape})
        variable._storage.value = None
        return variable


def _value_of(tensor):
    """The value of a tensor that does not depend on the arguments of functions; None otherwise.

    It may have been made in the graph of a branch or of the body of a loop, from tensors of the graphs around it.
    """
    if type(tensor) is EagerTensor:
        return tensor
    graph = tensor.graph
    if not graph.building_function:
        return None
    outer_of = {id(inner): outer for outer, inner in graph.captures}
    given, values = [], []
    for step in Plan(graph.nodes, [], [tensor]).steps:
        if step.record is not PLACEHOLDER:
            continue
        inner = step.outputs[0]
        value = _value_of(outer_of[id(inner)]) if id(inner) in outer_of else None
        if value is None:
            return None
        given.append(inner)
        values.append(value._a)
    plan = Plan(graph.nodes, given, [tensor])
    before, context.mode = context.mode, None
    try:
        (array,) = context.run_quietly(plan.run, values)
    finally:
        context.mode = before
    return EagerTensor(array, tensor.dtype)
