"""Graphs of one operation, made from applications of ops to arrays."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.op.apply import apply


def dtype_of(op, argument, array):
    """The dtype of the tensor that an array stands for."""
    if argument.dtype is not None:
        return argument.dtype
    array = np.asarray(array)
    if array.dtype != object:
        dtype = dtypes.FROM_NUMPY[array.dtype]
        # Quantized tensors are arrays of plain integers.
        return dtype if dtype in op.types.get(argument.type_attr, dtypes.ANY) else dtypes.as_dtype(f"q{dtype.name}")
    if all(isinstance(item, bytes) for item in array.ravel()):
        return dtypes.string
    return dtypes.variant


def graph_of(op, arrays, attrs):
    """A graph with a placeholder for each array and one application of `op`, whose outputs it returns."""
    graph = FuncGraph("one")
    with graph.building():
        inputs = []
        for argument, array in zip(op.signature.inputs, arrays, strict=True):
            items = list(array) if argument.is_list else [array]
            tensors = [graph.add_input(np.shape(item), dtype_of(op, argument, item), argument.name) for item in items]
            inputs.append(tensors if argument.is_list else tensors[0])
        before = len(graph.nodes)
        apply(op, inputs, attrs)
        assert len(graph.nodes) == before + 1
        graph.outputs = graph.nodes[-1].outputs
    return graph


def flat(arrays):
    """Arrays of inputs or results, lists spread out."""
    if isinstance(arrays, (list, tuple)):
        return [leaf for item in arrays for leaf in flat(item)]
    return [] if arrays is None else [arrays]
