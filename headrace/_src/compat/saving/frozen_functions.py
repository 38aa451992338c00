"""`convert_variables_to_constants_v2`: a concrete function without variables, whose graph can go into a file alone."""

from typing import Any

from headrace._src.core import nest
from headrace._src.core.specs import TensorSpec
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.graph.messages.frozen_graphs import frozen_graph
from headrace._src.graph.messages.graph_import import import_graph_def
from headrace._src.tracing.function import function


def convert_variables_to_constants_v2(func, lower_control_flow=True, aggressive_inlining=False) -> Any:
    """A concrete function with the values that the variables of another one have now.

    Args:
        func: a concrete function.
        lower_control_flow: accepted; conditionals and loops stay operations that call functions.
        aggressive_inlining: accepted; functions stay functions.

    Raises:
        InvalidArgumentError: it changes a variable, or uses something else that is no constant.
    """
    frozen = frozen_graph(func)
    outputs = [tensor.name for tensor in func.graph.outputs]
    inputs = func.inputs[: len(frozen.names)]
    graph_def = GraphDef()
    graph_def.CopyFrom(frozen.graph_def)
    del graph_def.node[:]
    graph_def.node.extend(node for node in frozen.graph_def.node if node.name not in frozen.names)
    specs = [TensorSpec(tensor.shape, tensor.dtype, name) for tensor, name in zip(inputs, frozen.names)]

    def frozen_function(*tensors):
        mapped = dict(zip(frozen.names, tensors))
        results = import_graph_def(graph_def, input_map=mapped, return_elements=outputs, name="")
        return nest.pack_sequence_as(func.structured_outputs, results, expand_composites=True)

    return function(frozen_function, autograph=False).get_concrete_function(*specs)
