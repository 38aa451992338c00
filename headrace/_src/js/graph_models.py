"""Graph models of TensorFlow.js: `model.json` with a graph, and the values of its constants in binary files."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.formats.tensor_protos import proto_to_array
from headrace._src.graph.messages.frozen_graphs import frozen_graph
from headrace._src.graph.messages.inlined_graphs import inlined
from headrace._src.saved_model.signatures import argument_keywords
from headrace._src.version import HEADRACE_VERSION

_json_format = LazyModule("google.protobuf.json_format")
_SHARD = 4 << 20
# TensorFlow.js has no other numbers; strings are written apart.
_NARROWED = {
    **dict.fromkeys(map(np.dtype, ("int64", "int16", "int8", "uint16", "uint8")), np.int32),
    **dict.fromkeys(map(np.dtype, ("float64", "float16")), np.float32),
    np.dtype("complex128"): np.complex64,
}
_NAMES = {"f": "float32", "i": "int32", "b": "bool", "c": "complex64"}
QUANTIZATIONS = ("float16", "uint8", "uint16")


def save_graph_model(concrete: Any, folder: str, quantization: str | None = None, shard_bytes: int = _SHARD) -> None:
    """Write a concrete function as a graph model.

    Args:
        concrete: takes and returns tensors; those of structures have their names.
        folder: where to; `model.json` and `group1-shard*.bin` are written there.
        quantization: how numbers of weights are kept: None, "float16", "uint8" or "uint16".
        shard_bytes: how large the binary files are at most.

    Raises:
        InvalidArgumentError: it has operations that TensorFlow.js does not have; all are named.
    """
    if quantization not in (None, *QUANTIZATIONS):
        raise ValueError(f"quantization must be None or one of {', '.join(QUANTIZATIONS)}, got {quantization!r}.")
    frozen = frozen_graph(concrete)
    results = nest.flatten(concrete.graph.structured_outputs)
    graph, outputs = inlined(frozen.graph_def, [tensor.name for tensor in results])
    _check_ops(graph)
    weights = list(_taken_weights(graph))
    manifest, data = _manifest(weights, quantization)
    count = max(1, -(-len(data) // shard_bytes))
    paths = [f"group1-shard{number + 1}of{count}.bin" for number in range(count)]
    topology = _json_format.MessageToDict(graph)
    model = {
        "format": "graph-model", "generatedBy": f"headrace {HEADRACE_VERSION}",
        "convertedBy": f"headrace {HEADRACE_VERSION}",
        "signature": {"inputs": _signature(_named_inputs(concrete, frozen.names)),
                      "outputs": _signature(_named_outputs(concrete, results, outputs))},
        "modelTopology": topology, "weightsManifest": [{"paths": paths, "weights": manifest}],
    }  # fmt: skip
    files.make_directories(folder)
    for number, path in enumerate(paths):
        files.write(files.join(folder, path), data[number * shard_bytes : (number + 1) * shard_bytes])
    files.write(files.join(folder, "model.json"), json.dumps(model).encode())


def supported_ops() -> frozenset[str]:
    """The operations that TensorFlow.js 4.22 carries out."""
    text = importlib.resources.files(__package__).joinpath("supported_ops.txt").read_text()
    return frozenset(text.split())


def _check_ops(graph):
    known = supported_ops()
    lacking: dict[str, list[str]] = {}
    for where, nodes in [
        ("", graph.node),
        *((f" of {one.signature.name}", one.node_def) for one in graph.library.function),
    ]:
        for node in nodes:
            if node.op not in known:
                lacking.setdefault(node.op, []).append(node.name + where)
    if lacking:
        raise errors.invalid_argument(
            "TensorFlow.js has no operations for: "
            + "; ".join(
                f"{op} ({', '.join(sorted(nodes)[:3])}{' ...' if len(nodes) > 3 else ''})"
                for op, nodes in sorted(lacking.items())
            )
            + ". Compute that part otherwise, or outside of the model."
        )


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
    for nodes in (graph.node, *(function.node_def for function in graph.library.function)):
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


def _manifest(weights, quantization):
    """What `model.json` says of the weights, and their bytes one after another."""
    described, parts = [], []
    for name, array in weights:
        entry = {"name": name, "shape": list(array.shape)}
        if array.dtype == object:
            entry["dtype"] = "string"
            data = b"".join(len(item).to_bytes(4, "little") + item for item in array.ravel().tolist())
        else:
            array = np.ascontiguousarray(array, _NARROWED.get(array.dtype, array.dtype))
            if array.dtype.kind not in _NAMES:
                array = array.astype(np.float32)  # bfloat16 and its relatives
            entry["dtype"] = _NAMES[array.dtype.kind]
            if quantization is not None and entry["dtype"] == "float32" and array.size > 1:
                array, entry["quantization"] = _quantized(array, quantization)
            data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        described.append(entry)
        parts.append(data)
    return described, b"".join(parts)


def _quantized(array, kind):
    if kind == "float16":
        return array.astype(np.float16), {"dtype": "float16", "original_dtype": "float32"}
    steps = np.iinfo(kind).max
    low, high = float(array.min()), float(array.max())
    # TF.js: value = number * scale + min; zero should stay zero where it is within the range.
    scale = (high - low) / steps if high > low else 1.0
    if low < 0 < high:
        low = -round(-low / scale) * scale
    numbers = np.clip(np.round((array - low) / scale), 0, steps).astype(kind)
    return numbers, {"dtype": kind, "scale": scale, "min": low, "original_dtype": "float32"}
