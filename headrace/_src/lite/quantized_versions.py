"""Versions of operators in quantized models: the quantizer leaves those of floating-point numbers, which old runtimes
would read otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core.lazy import LazyModule
from headrace._src.lite import schema
from headrace._src.lite.runtimes import oldest_runtime, quantized_version

_schema = LazyModule("ai_edge_litert.schema_py_generated")
_flatbuffers = LazyModule("flatbuffers")
# Operators on floating-point numbers with weights of 8 bits.
_WITH_SMALL_WEIGHTS = {"CONV_2D": 5, "DEPTHWISE_CONV_2D": 6, "FULLY_CONNECTED": 9, "BATCH_MATMUL": 4}
_WITH_SCALES_OF_ROWS = 12  # of FULLY_CONNECTED, when each row of its weights has a scale
_BITS = {"INT8": 8, "UINT8": 8, "INT16": 16}


def with_versions(data: bytes) -> bytes:
    """A model whose operators say the versions that their types need, and which runtime has them all."""
    model = _schema.ModelT.InitFromObj(_schema.Model.GetRootAs(bytearray(data), 0))
    for buffer in model.buffers:
        if buffer.offset > 1:  # a large one, after the tables
            buffer.data = np.frombuffer(data, np.uint8, buffer.size, buffer.offset)
            buffer.offset = buffer.size = 0
    codes: dict[tuple, int] = {}
    made: list = []
    needed = set()
    for graph in model.subgraphs:
        for one in graph.operators or []:
            code = model.operatorCodes[one.opcodeIndex]
            number = max(code.deprecatedBuiltinCode, code.builtinCode)
            name = schema.name_of("BuiltinOperator", number) or ""
            version = _version(name, code.version, graph, one)
            key = (number, version, code.customCode)
            if key not in codes:
                codes[key] = len(made)
                made.append(_code(code, version))
            one.opcodeIndex = codes[key]
            needed.add((name, version))
    model.operatorCodes = made
    _set_runtime(model, oldest_runtime(needed))
    builder = _flatbuffers.Builder(len(data) + 4096)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _code(code, version):
    made = _schema.OperatorCodeT()
    made.deprecatedBuiltinCode, made.builtinCode = code.deprecatedBuiltinCode, code.builtinCode
    made.customCode, made.version = code.customCode, version
    return made


def _version(name, version, graph, one):
    """The version for the types of an operator's inputs and outputs."""
    kinds = [_type_of(graph, number) for number in [*one.inputs, *one.outputs] if number >= 0]
    first, weights = kinds[0] if kinds else "", kinds[1] if len(one.inputs) > 1 else ""
    if name == "DEQUANTIZE" and first == "FLOAT16":
        return max(version, 3)
    if first == "FLOAT32" and weights == "INT8":
        return max(
            version, {"CONV_2D": 5, "DEPTHWISE_CONV_2D": 6, "FULLY_CONNECTED": 9, "BATCH_MATMUL": 4}.get(name, 1)
        )
    bits = max((_BITS[kind] for kind in kinds if kind in _BITS), default=0)
    return quantized_version(name, version, bits) if bits else version


def _type_of(graph, number):
    return schema.name_of("TensorType", graph.tensors[number].type)


def _set_runtime(model: Any, runtime: str) -> None:
    for entry in model.metadata or []:
        name = entry.name.decode() if isinstance(entry.name, bytes) else entry.name
        if name == "min_runtime_version":
            model.buffers[entry.buffer].data = np.frombuffer(runtime.encode().ljust(16, b"\0"), np.uint8)
