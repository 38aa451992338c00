"""Tracing: a Python function runs once with symbolic arguments, and gives a graph."""

from headrace._src.core import dtypes, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.operation import Operation
from headrace._src.graph.building.variable_creation import VariableMaker
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.trace_types import Placeholders


def trace(python_function, parameters, kinds, name, may_create, owner=None):
    """Trace a function; returns the concrete function and the maker of its variables."""
    graph = FuncGraph(name, context.graph)
    maker = VariableMaker(may_create)
    creators = context.variable_creators
    context.variable_creators = (maker, *(c for c in creators if not isinstance(c, VariableMaker)))
    try:
        with graph.building():
            placeholders = Placeholders(graph)
            positional, keyword = [], {}
            for parameter, kind in zip(parameters, kinds):
                if parameter.kind is parameter.VAR_POSITIONAL:
                    names = [f"{parameter.name}_{i}" for i in range(len(kind.children))]
                    positional.extend(placeholders.of(child, name) for child, name in zip(kind.children, names))
                elif parameter.kind is parameter.VAR_KEYWORD:
                    values = [placeholders.of(child, key) for key, child in zip(kind.keys, kind.children)]
                    keyword.update(kind.packed(values))
                elif parameter.kind is parameter.KEYWORD_ONLY:
                    keyword[parameter.name] = placeholders.of(kind, parameter.name)
                else:
                    positional.append(placeholders.of(kind, parameter.name))
            result = python_function(*positional, **keyword)
            graph.structured_outputs = _returned(result, name)
            leaves = nest.flatten(graph.structured_outputs, expand_composites=True)
            graph.outputs = [_output(graph.inside(leaf)) for leaf in leaves if leaf is not None]
            at = iter(graph.outputs)
            inner = [None if leaf is None else next(at) for leaf in leaves]
            graph.structured_outputs = nest.pack_sequence_as(graph.structured_outputs, inner, expand_composites=True)
    finally:
        context.variable_creators = creators
    graph.forget_passed_variables()
    outer = context.graph
    if outer is not None:
        outer.used_variables.update(graph.used_variables)
    return ConcreteFunction(graph, parameters, kinds, name, owner), maker


def _output(tensor):
    """TF: outputs have operations of their own, called Identity, Identity_1 and so on. Plans leave them out."""
    return tensor if tensor.dtype is dtypes.resource else IDENTITY(tensor)


def _returned(result, name):
    """What a function returned, with tensors at the leaves."""

    def leaf(value):
        if value is None or isinstance(value, Operation):
            return None
        if isinstance(value, (Tensor, CompositeTensor)) or hasattr(value, "_type_spec"):
            return value
        try:
            return to_tensor(value)
        except (TypeError, ValueError):
            raise TypeError(
                "To be compatible with tf.function, Python functions must return zero or more Tensors or "
                f"ExtensionTypes or None values; in compilation of {name}, found return value of type "
                f"{type(value).__name__}, which is not a Tensor or ExtensionType."
            ) from None

    return nest.map_structure(leaf, result)
