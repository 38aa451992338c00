"""The random numbers of many calls of an op at once: those that the calls would draw one after another."""

from __future__ import annotations

import math

import numpy as np

from headrace._src.core import dtypes
from headrace._src.ops import random_samplers
from headrace._src.ops.random_bits import Philox
from headrace._src.ops.random_filling import BLOCKS_PER_OUTPUT
from headrace._src.ops.random_seeds import take_stream

_WORDS_PER_BLOCK = 4


def can_draw(op: str, attrs: dict, inputs: list) -> bool:
    """Whether `draw` knows an op with these inputs, which are arrays, or None where they are not known."""
    if op not in _SAMPLERS or any(x is None for x in inputs):
        return False
    shape, *bounds = inputs
    if shape.ndim != 1 or (shape < 0).any() or not 0 < math.prod(shape.tolist()) < 1 << 20:
        return False
    if op == "RandomUniformInt":
        low, high = bounds
        return not low.ndim and not high.ndim and bool(low < high)
    return attrs["dtype"] in dtypes.FLOATING


def draw(op: str, attrs: dict, inputs: list, count: int) -> np.ndarray:
    """What `count` calls of a stateful op give, stacked.

    Args:
        op: its name.
        attrs: its attributes.
        inputs: arrays, for which `can_draw` holds.
        count: the number of calls.
    """
    shape = tuple(inputs[0].tolist())
    size = math.prod(shape)
    distance = size * BLOCKS_PER_OUTPUT  # of the streams of two calls
    dtype = inputs[1].dtype if len(inputs) > 1 else attrs["dtype"]._np
    owner = (op, dtype if len(inputs) > 1 else attrs["dtype"], inputs[0].dtype)
    stream = take_stream(owner, attrs["seed"], attrs["seed2"], count * distance)
    return _SAMPLERS[op](stream, count, distance, size, np.dtype(dtype), *inputs[1:]).reshape(count, *shape)


def _words(stream: Philox, count, distance, words) -> np.ndarray:
    """The first words of each call, as uint32 of shape (count, words)."""
    blocks = -(-words // _WORDS_PER_BLOCK)
    places = np.arange(count, dtype=np.uint64)[:, None] * np.uint64(distance) + np.arange(blocks, dtype=np.uint64)
    return np.ascontiguousarray(stream.blocks_at(places).reshape(count, -1)[:, :words])


def _uniform(stream, count, distance, size, dtype):
    words = _words(stream, count, distance, 2 * size if dtype == np.float64 else size)
    return random_samplers.uniform_from_words(words, dtype)


def _uniform_int(stream, count, distance, size, dtype, low, high):
    words = _words(stream, count, distance, size * dtype.itemsize // 4)
    numbers = random_samplers.full_int_from_words(words, f"u{dtype.itemsize}")
    return random_samplers.within_range(numbers, int(low), int(high), dtype)


def _normal(stream, count, distance, size, dtype):
    outputs = 2 if dtype == np.float64 else 4  # of a block
    words = _words(stream, count, distance, -(-size // outputs) * _WORDS_PER_BLOCK)
    numbers = random_samplers.normal_from_words(words.reshape(-1, _WORDS_PER_BLOCK), dtype)
    return np.ascontiguousarray(numbers.reshape(count, -1)[:, :size])


def _truncated_normal(stream, count, distance, size, dtype):
    calls = [random_samplers.truncated_normal(stream.skip(i * distance), (size,), dtype) for i in range(count)]
    return np.stack(calls) if calls else np.empty((0, size), dtype)


_SAMPLERS = {
    "RandomUniform": _uniform,
    "RandomUniformInt": _uniform_int,
    "RandomStandardNormal": _normal,
    "TruncatedNormal": _truncated_normal,
}
