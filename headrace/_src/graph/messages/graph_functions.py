"""The functions that operations of a graph call, by name, as messages; and a graph made of such a message."""

from typing import Any, NamedTuple

from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.names import fresh_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.formats.graph_messages import FunctionDef, FunctionDefLibrary, NameAttrList
from headrace._src.formats.tensor_protos import proto_to_shape
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.messages.function_import import Functions, KnownArgument
from headrace._src.graph.messages.graph_def import graph_def_of
from headrace._src.graph.messages.graph_import import add_operation
from headrace._src.op.attached import attach


class GraphFunction(NamedTuple):
    """A function that operations of a graph call.

    Attributes:
        definition: its `FunctionDef` message.
    """

    definition: Any

    @property
    def name(self) -> str:
        """What the operations call it."""
        return self.definition.signature.name

    @property
    def cached_definition(self) -> Any:
        """The message. TF: the same under another name."""
        return self.definition


def functions_of(graph) -> dict[str, GraphFunction]:
    """The functions that operations of a graph call, and those that these call, by name."""
    library = graph_def_of(graph).library
    return {function.signature.name: GraphFunction(function) for function in library.function}


attach(BaseGraph, "_functions", property(functions_of))


def function_def_to_graph(
    fdef,
    structured_input_signature=None,
    structured_outputs=None,
    input_shapes=None,
    propagate_device_spec=False,
    include_library_functions=False,
) -> FuncGraph:
    """The graph of a function that is given as a message.

    Functions that it calls are those of the current graph.

    Args:
        fdef: a `FunctionDef` message.
        structured_input_signature: accepted.
        structured_outputs: a structure of what it returns; its tensors take the places of the leaves.
        input_shapes: the shapes of the arguments, each a `TensorShape`, a message or None; by default what the message
            says.
        propagate_device_spec: accepted.
        include_library_functions: accepted: graphs have the functions that their operations call.
    """
    library = FunctionDefLibrary()
    definition = FunctionDef.FromString(fdef.SerializeToString())
    library.function.append(definition)
    outer = context.graph
    if outer is not None:
        others = functions_of(outer)
        others.pop(definition.signature.name, None)
        library.function.extend(function.definition for function in others.values())
    known = None if input_shapes is None else _known_arguments(definition.signature, input_shapes)
    with context.changed(graph=None, recorders=(), device=None), fresh_scope():
        graph = Functions(library, add_operation).graph(NameAttrList(name=definition.signature.name), None, known)
    graph.name = definition.signature.name
    if structured_outputs is not None:
        graph.structured_outputs = nest.pack_sequence_as(structured_outputs, graph.outputs, expand_composites=True)
    return graph


def _known_arguments(signature, shapes):
    arguments = signature.input_arg
    if len(shapes) != len(arguments):
        raise ValueError(
            f"function_def_to_graph: {signature.name!r} takes {len(arguments)} arguments, and input_shapes has "
            f"{len(shapes)} shapes."
        )
    return [KnownArgument(dtypes.as_dtype(arg.type), _as_shape(shape)) for arg, shape in zip(arguments, shapes)]


def _as_shape(shape):
    return TensorShape(proto_to_shape(shape) if hasattr(shape, "unknown_rank") else shape)
