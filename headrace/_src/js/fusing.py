"""Fewer operations with the same result: factors and offsets go into filters, activations into what is before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.formats.graph_messages import NodeDef
from headrace._src.js.folding import constant_of, node_of, remove_unused
from headrace._src.js.rewriting import constant_node

_FUSED = {"Conv2D": "_FusedConv2D", "DepthwiseConv2dNative": "FusedDepthwiseConv2dNative", "MatMul": "_FusedMatMul"}
_RANKS = {"Conv2D": 4, "DepthwiseConv2dNative": 4, "MatMul": 2}
_ACTIVATIONS = ("Relu", "Relu6", "Elu")
_SUMS = ("Add", "AddV2", "BiasAdd")
_NORMALIZATIONS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")


@dataclass
class _Product:
    """A product with constant filters, and what follows it so far.

    Attributes:
        node: the operation.
        filters: with a column for each channel of the result.
        shape: that filters have in the model.
        bias: what is added, if anything is.
        last: the last operation of what is done here.
        activation: the op that it is, if it is one.
    """

    node: Any
    filters: np.ndarray
    shape: tuple[int, ...]
    last: Any
    bias: np.ndarray | None = None
    activation: str = ""


def fuse(graph: Any, outputs: list[str]) -> None:
    """Change a graph, without its functions, in place."""
    by_name = {node.name: node for node in graph.node}
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(node_of(name), []).append(node)
    kept = {node_of(name) for name in outputs}
    for node in list(graph.node):
        product = _product(node, by_name)
        if product is None:
            continue
        while not product.activation and product.last.name not in kept:
            following = readers.get(product.last.name, [])
            if len(following) != 1 or not _joined(product, following[0], by_name):
                break
            product.last = following[0]
        _write(graph, product)
    remove_unused(graph, outputs)


def _product(node, by_name):
    if node.op not in _FUSED or node.attr["data_format"].s not in (b"", b"NHWC"):
        return None
    if node.attr["transpose_a"].b or node.attr["transpose_b"].b:
        return None
    filters = constant_of(by_name.get(node_of(node.input[1])))
    if filters is None or filters.ndim != _RANKS[node.op]:
        return None
    # Of a depthwise convolution, the last two axes are those of the result's channels.
    axes = 2 if node.op == "DepthwiseConv2dNative" else 1
    columns = filters.reshape(-1, int(np.prod(filters.shape[-axes:])))
    return _Product(node, columns, filters.shape, node)


def _joined(product, node, by_name):
    """Do what the next operation does as well; whether that is possible."""
    if node.op in _ACTIVATIONS:
        if product.bias is not None:
            product.activation = node.op
        return product.bias is not None
    if node.op in _NORMALIZATIONS:
        return _normalized(product, node, by_name)
    if node.op not in (*_SUMS, "Mul", "Sub") or len(node.input) != 2:
        return False
    place = 0 if node_of(node.input[0]) == product.last.name else 1
    vector = _per_channel(product, constant_of(by_name.get(node_of(node.input[1 - place]))))
    if vector is None or (node.op == "Sub" and place) or node.attr["data_format"].s not in (b"", b"NHWC"):
        return False
    if node.op == "Mul":
        _scale(product, vector)
    else:
        _add(product, -vector if node.op == "Sub" else vector)
    return True


def _normalized(product, node, by_name):
    parts = [constant_of(by_name.get(node_of(name))) for name in node.input[1:]]
    vectors = [_per_channel(product, part) for part in parts]
    is_plain = not node.attr["is_training"].b and node.attr["data_format"].s in (b"", b"NHWC")
    if not is_plain or any(vector is None for vector in vectors):
        return False
    scale, offset, mean, variance = vectors
    factor = scale / np.sqrt(variance + np.float32(node.attr["epsilon"].f))
    _scale(product, factor)
    _add(product, offset - mean * factor)
    return True


def _per_channel(product, value):
    """A constant as a number for each channel; None if it is something else."""
    channels = product.filters.shape[1]
    if value is None or value.ndim > _RANKS[product.node.op]:
        return None
    if value.size == 1:
        return np.full(channels, value.ravel()[0], np.float32)
    return value.reshape(channels) if value.shape[-1:] == (channels,) and value.size == channels else None


def _scale(product, factor):
    product.filters = product.filters * factor
    product.bias = None if product.bias is None else product.bias * factor


def _add(product, offset):
    product.bias = offset if product.bias is None else product.bias + offset


def _write(graph, product):
    """Put one operation in the place of the last one; those before it are not needed any more."""
    if product.last is product.node:
        return
    name, new = product.node.name, NodeDef()
    new.CopyFrom(product.node)
    new.name = product.last.name
    new.input[1] = f"{name}/filters"
    graph.node.append(constant_node(f"{name}/filters", product.filters.reshape(product.shape), dtypes.float32))
    if product.bias is not None:
        new.op = _FUSED[product.node.op]
        new.input.append(f"{name}/bias")
        graph.node.append(constant_node(f"{name}/bias", product.bias, dtypes.float32))
        new.attr["fused_ops"].list.s.extend([b"BiasAdd", product.activation.encode()][: 2 if product.activation else 1])
        new.attr["num_args"].i = 1
        new.attr["epsilon"].f = 0.0
    product.last.CopyFrom(new)
