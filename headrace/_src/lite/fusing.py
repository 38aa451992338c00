"""Fewer operators with the same result: factors and biases go into filters, activations into what is before them."""

from __future__ import annotations

import numpy as np

from headrace._src.lite.models import LiteGraph, LiteTensor

_PRODUCTS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0}  # where channels are in the filter
_ACTIVATIONS = {"RELU": 1, "RELU6": 3}
_WITH_ACTIVATION = {
    "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "SUB", "MUL", "DIV", "MAX_POOL_2D", "AVERAGE_POOL_2D",
}  # fmt: skip


def fuse(graph: LiteGraph) -> None:
    """Change a graph in place."""
    _remove_unused(graph)
    while _once(graph):
        pass


def _remove_unused(graph):
    """Leave out operators whose results nobody reads, as those that computed a shape that is known."""
    wanted = {id(tensor) for tensor in graph.outputs}
    kept = []
    for one in reversed(graph.operators):
        if one.has_effects or any(id(output) in wanted for output in one.outputs):
            kept.append(one)
            wanted.update(id(tensor) for tensor in one.inputs)
    graph.operators[:] = reversed(kept)


def _once(graph):
    makers = {id(output): one for one in graph.operators for output in one.outputs}
    readers: dict[int, int] = {}
    for one in graph.operators:
        for tensor in one.inputs:
            readers[id(tensor)] = readers.get(id(tensor), 0) + 1
    for tensor in graph.outputs:
        readers[id(tensor)] = readers.get(id(tensor), 0) + 2  # it must stay
    for one in graph.operators:
        x = one.inputs[0] if one.inputs else None
        before = makers.get(id(x))
        if before is None or readers.get(id(x)) != 1 or before.options.get("fusedActivationFunction"):
            continue
        if _joined(before, one):
            before.outputs = one.outputs
            graph.operators.remove(one)
            return True
    return False


def _joined(before, one):
    """Let an operator do what the next one does; whether that was possible."""
    if one.code in _ACTIVATIONS and before.code in _WITH_ACTIVATION:
        before.options["fusedActivationFunction"] = _ACTIVATIONS[one.code]
        return True
    if (
        before.code not in _PRODUCTS
        or one.code not in ("ADD", "MUL", "SUB")
        or one.options.get("fusedActivationFunction")
    ):
        return False
    axis, weights = _PRODUCTS[before.code], before.inputs[1]
    channels = None if weights is None or weights.value is None else weights.value.shape[axis]
    vector = _per_channel(one.inputs[1], channels)
    shapes = before.outputs[0].shape, one.outputs[0].shape
    if vector is None or None in shapes or len(shapes[0]) != len(shapes[1]):  # it adds axes
        return False
    bias = before.inputs[2]
    old = np.zeros(channels, np.float32) if bias is None else bias.value
    if one.code == "MUL":
        shape = [1] * weights.value.ndim
        shape[axis] = channels
        before.inputs[1] = _constant(weights, weights.value * vector.reshape(shape))
        new = old * vector
    else:
        new = old + (vector if one.code == "ADD" else -vector)
    if bias is not None or new.any():
        before.inputs[2] = _constant(bias or LiteTensor(f"{weights.name}/bias", weights.dtype, None), new)
    return True


def _per_channel(tensor, channels):
    """A constant as one number for each channel; None if it is something else."""
    value = None if tensor is None else tensor.value
    if value is None or channels is None or value.dtype != np.float32:
        return None
    if value.size == 1:
        return np.full(channels, value.ravel()[0], np.float32)
    is_last = value.shape[-1:] == (channels,) and value.size == channels
    return value.reshape(channels) if is_last else None


def _constant(tensor, value):
    value = np.ascontiguousarray(value, np.float32)
    return LiteTensor(tensor.name, tensor.dtype, list(value.shape), value)
