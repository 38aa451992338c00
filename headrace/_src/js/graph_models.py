"""Graph models of TensorFlow.js: `model.json` with a graph, and the values of its constants in binary files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.core import dtypes, nest
from headrace._src.core.lazy import LazyModule
from headrace._src.formats.tensor_protos import proto_to_array
from headrace._src.graph.messages.frozen_graphs import frozen_graph
from headrace._src.graph.messages.inlined_graphs import inlined
from headrace._src.js.equivalents import EQUIVALENTS
from headrace._src.js.folding import fold_constants
from headrace._src.js.fusing import fuse
from headrace._src.js.model_files import SHARD_BYTES, check_quantization, write_model
from headrace._src.js.rewriting import rewrite
from headrace._src.js.supported_operations import all_nodes, check_ops
from headrace._src.js.tables import initializer_graph, lookup_rules
from headrace._src.saved_model.signatures import argument_keywords
from headrace._src.state.table_storage import TableStorage

_json_format = LazyModule("google.protobuf.json_format")


def save_graph_model(
    concrete: Any, folder: str, quantization: str | None = None, shard_bytes: int = SHARD_BYTES
) -> None:
    """Write a concrete function as a graph model.

    Args:
        concrete: takes and returns tensors; those of structures have their names.
        folder: where to; `model.json` and `group1-shard*.bin` are written there.
        quantization: how numbers of weights are kept: None, "float16", "uint8" or "uint16".
        shard_bytes: how large the binary files are at most.

    Raises:
        InvalidArgumentError: it has operations that TensorFlow.js does not have; all are named.
    """
    check_quantization(quantization)
    frozen = frozen_graph(concrete, keep_tables=TableStorage)
    results = nest.flatten(concrete.graph.structured_outputs)
    graph, outputs = inlined(frozen.graph_def, [tensor.name for tensor in results])
    check_ops(graph, concrete.graph, EQUIVALENTS)
    fold_constants(graph, outputs)
    fuse(graph, outputs)
    filling = initializer_graph(graph, frozen.variables)
    outputs = rewrite(graph, outputs, {**EQUIVALENTS, **lookup_rules(graph, frozen.variables)})
    weights = [*_taken_weights(graph), *_taken_weights(filling)]
    model = {
        "format": "graph-model",
        "signature": {"inputs": _signature(_named_inputs(concrete, frozen.names)),
                      "outputs": _signature(_named_outputs(concrete, results, outputs))},
        "modelTopology": _json_format.MessageToDict(graph),
    }  # fmt: skip
    if filling.node:
        model["modelInitializer"] = _json_format.MessageToDict(filling)
    write_model(folder, model, weights, quantization, shard_bytes)


def _named_inputs(concrete, names):
    keywords = argument_keywords(concrete)
    return {key: (f"{name}:0", tensor) for key, name, tensor in zip(keywords, names, concrete.graph.inputs)}


def _named_outputs(concrete, results, names):
    """Keys of results to the names of their tensors, and these."""
    structured = concrete.graph.structured_outputs
    if isinstance(structured, dict):
        keys = sorted(structured)
    else:
        keys = [f"output_{number}" for number in range(len(results))]
    return {key: (name, tensor) for key, name, tensor in zip(keys, names, results)}


def _signature(named):
    return {
        key: {
            "name": name, "dtype": f"DT_{_DTYPE_NAMES.get(tensor.dtype, tensor.dtype.name.upper())}",
            "tensorShape": _shape(tensor.shape),
        }
        for key, (name, tensor) in named.items()
    }  # fmt: skip


_DTYPE_NAMES = {dtypes.float32: "FLOAT", dtypes.float64: "DOUBLE", dtypes.float16: "HALF"}


def _shape(shape):
    if shape.rank is None:
        return {"unknownRank": True}
    return {"dim": [{"size": str(-1 if size is None else size)} for size in shape.as_list()]}


def _taken_weights(graph) -> Iterator[tuple[str, np.ndarray]]:
    """The constants of a graph, which keeps their dtypes and shapes only. In functions they get names of their own."""
    for function in graph.library.function:
        renamed = {
            node.name: f"{function.signature.name}/{node.name}" for node in function.node_def if node.op == "Const"
        }
        for node in function.node_def:
            node.name = renamed.get(node.name, node.name)
            inputs = [_renamed(name, renamed) for name in node.input]
            del node.input[:]
            node.input.extend(inputs)
        for key in function.ret:
            function.ret[key] = _renamed(function.ret[key], renamed)
    for _, nodes in all_nodes(graph):
        for node in nodes:
            if node.op == "Const":
                array, _ = proto_to_array(node.attr["value"].tensor)
                proto = node.attr["value"].tensor
                for field in list(proto.DESCRIPTOR.fields):
                    if field.name not in ("dtype", "tensor_shape"):
                        proto.ClearField(field.name)
                yield node.name, array


def _renamed(reference, names):
    name, separator, rest = reference.partition(":")
    return names.get(name, name) + separator + rest
