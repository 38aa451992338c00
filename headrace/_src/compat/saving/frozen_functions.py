"""`convert_variables_to_constants_v2`: a concrete function without variables, whose graph can go into a file alone."""

from typing import Any

from headrace._src.core import nest
from headrace._src.core.specs import TensorSpec
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.graph.messages.frozen_graphs import frozen_graph
from headrace._src.graph.messages.graph_def import graph_def_of
from headrace._src.graph.messages.graph_import import import_graph_def
from headrace._src.graph.messages.inlined_graphs import inlined
from headrace._src.saved_model.counted_loops import ADDED, CountingLibrary, lacks_counter
from headrace._src.state.table_ops import LOOKUP_TABLE_IMPORT, LOOKUP_TABLE_INSERT, LOOKUP_TABLE_REMOVE
from headrace._src.tracing.function import function

# What stays in a graph without calls though nobody reads its result.
_STATEFUL = (LOOKUP_TABLE_INSERT.name, LOOKUP_TABLE_IMPORT.name, LOOKUP_TABLE_REMOVE.name)


def convert_variables_to_constants_v2(func, lower_control_flow=True, aggressive_inlining=False) -> Any:
    """A concrete function with the values that the variables of another one have now.

    Loops have a counter and a limit as their first variables, which readers of TensorFlow's graphs expect.

    Args:
        func: a concrete function.
        lower_control_flow: accepted; conditionals and loops stay operations that call functions.
        aggressive_inlining: whether what functions do stands where they were called; checks and prints go then.

    Raises:
        InvalidArgumentError: it changes a variable, or uses something else that is no constant.
    """
    frozen = frozen_graph(func, source=graph_def_of(func.graph, make_library=CountingLibrary))
    outputs = [_name_of(tensor) for tensor in func.graph.outputs]
    inputs = {tensor.op.name: tensor for tensor in func.inputs}
    graph_def = GraphDef()
    graph_def.CopyFrom(frozen.graph_def)
    del graph_def.node[:]
    graph_def.node.extend(node for node in frozen.graph_def.node if node.name not in frozen.names)
    if aggressive_inlining:
        graph_def, outputs = inlined(graph_def, outputs, _STATEFUL)
        outputs = [name if ":" in name else f"{name}:0" for name in outputs]
    specs = [TensorSpec(inputs[name].shape, inputs[name].dtype, name) for name in frozen.names]

    def frozen_function(*tensors):
        mapped = dict(zip(frozen.names, tensors))
        results = import_graph_def(graph_def, input_map=mapped, return_elements=outputs, name="")
        return nest.pack_sequence_as(func.structured_outputs, results, expand_composites=True)

    return function(frozen_function, autograph=False).get_concrete_function(*specs)


def _name_of(tensor):
    """What a tensor is called in the graph in which loops are counted."""
    return f"{tensor.op.name}:{tensor.value_index + (ADDED if lacks_counter(tensor.op) else 0)}"
