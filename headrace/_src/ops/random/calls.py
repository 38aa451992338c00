"""The random numbers of many calls of an op at once: those that the calls would draw one after another."""

from __future__ import annotations

import math

import numpy as np

from headrace._src.core import dtypes
from headrace._src.op.definition import Op
from headrace._src.ops.random.bits import Philox
from headrace._src.ops.random.samplers import MANY_CALLS, WORDS_PER_BLOCK, first_words
from headrace._src.ops.random.seeds import take_stream
from headrace._src.ops.random.uniform_and_normal import (
    BLOCKS_PER_OUTPUT,
    RANDOM_STANDARD_NORMAL,
    RANDOM_UNIFORM,
    RANDOM_UNIFORM_INT,
    TRUNCATED_NORMAL,
)


def can_draw(op: Op, attrs: dict, inputs: list) -> bool:
    """Whether `draw` knows an op with these inputs, which are arrays, or None where they are not known."""
    if op not in _SAMPLERS or any(x is None for x in inputs):
        return False
    shape, *bounds = inputs
    if shape.ndim != 1 or (shape < 0).any() or not 0 < math.prod(shape.tolist()) < 1 << 20:
        return False
    if op is RANDOM_UNIFORM_INT:
        low, high = bounds
        return not low.ndim and not high.ndim and bool(low < high)
    return attrs["dtype"] in dtypes.FLOATING


def draw(op: Op, attrs: dict, inputs: list, count: int) -> np.ndarray:
    """What `count` calls of a stateful op give, stacked.

    Args:
        op: one of those for which `can_draw` holds.
        attrs: its attributes.
        inputs: arrays, for which `can_draw` holds.
        count: the number of calls.
    """
    shape = tuple(inputs[0].tolist())
    size = math.prod(shape)
    distance = size * BLOCKS_PER_OUTPUT  # of the streams of two calls
    dtype = inputs[1].dtype if len(inputs) > 1 else attrs["dtype"]._np
    owner = (op.name, dtype if len(inputs) > 1 else attrs["dtype"], inputs[0].dtype)
    stream = take_stream(owner, attrs["seed"], attrs["seed2"], count * distance)
    calls = _SpacedCalls(stream, count, distance)
    return _SAMPLERS[op](calls, size, np.dtype(dtype), *inputs[1:]).reshape(count, *shape)


class _SpacedCalls:
    """Calls whose parts of one stream begin so many blocks apart."""

    def __init__(self, stream: Philox, count, distance):
        self._stream, self._count, self._distance = stream, count, distance

    def words(self, count) -> np.ndarray:
        """The first words of each call, as uint32 of shape (calls, count), in one piece."""
        first = np.arange(self._count, dtype=np.uint64)[:, None] * np.uint64(self._distance)
        places = first + np.arange(-(-count // WORDS_PER_BLOCK), dtype=np.uint64)
        return first_words(self._stream.blocks_at(places), count)

    def streams(self) -> list:
        """The stream of each call."""
        return [self._stream.skip(i * self._distance) for i in range(self._count)]


_SAMPLERS = {
    RANDOM_UNIFORM: MANY_CALLS["uniform"],
    RANDOM_UNIFORM_INT: MANY_CALLS["uniform_int"],
    RANDOM_STANDARD_NORMAL: MANY_CALLS["normal"],
    TRUNCATED_NORMAL: MANY_CALLS["truncated_normal"],
}
