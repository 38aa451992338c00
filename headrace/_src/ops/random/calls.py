"""The random numbers of many calls of an op at once: those that the calls would draw one after another."""

from __future__ import annotations

import math

import numpy as np

from headrace._src.core import dtypes
from headrace._src.op.definition import Op
from headrace._src.ops.random import samplers as random_samplers
from headrace._src.ops.random.bits import SCRAMBLING_KEY, Philox, philox_blocks
from headrace._src.ops.random.seeds import take_stream
from headrace._src.ops.random.uniform_and_normal import (
    BLOCKS_PER_OUTPUT,
    RANDOM_STANDARD_NORMAL,
    RANDOM_UNIFORM,
    RANDOM_UNIFORM_INT,
    TRUNCATED_NORMAL,
)

_WORDS_PER_BLOCK = 4


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


def draw_with_keys(sampler: str, keys: np.ndarray, counters: np.ndarray, shape: tuple, dtype, *bounds) -> np.ndarray:
    """What calls of a stateless op give, one for each key, stacked.

    Args:
        sampler: "uniform", "uniform_int", "uniform_full_int", "normal" or "truncated_normal".
        keys: uint64 of shape (calls, 1).
        counters: uint64 of shape (calls, 2).
        shape: of what each call gives.
        dtype: of the numbers.
        bounds: the lower and the upper bound, for "uniform_int".
    """
    calls = _KeyedCalls(keys[:, 0], counters)
    return _KEYED[sampler](calls, math.prod(shape), np.dtype(dtype), *bounds).reshape(len(keys), *shape)


def keys_and_counters(seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For pairs of seeds, (calls, 2): the keys, (calls, 1), and the counters, (calls, 2), of stateless ops."""
    counters = seeds.astype(np.int64).view(np.uint64)
    words = philox_blocks(np.full(len(seeds), SCRAMBLING_KEY, np.uint64), counters, 1)[:, 0].astype(np.uint64)
    halves = words[:, 0::2] | words[:, 1::2] << np.uint64(32)
    return halves[:, :1], np.stack([np.zeros(len(seeds), np.uint64), halves[:, 1]], 1)


class _SpacedCalls:
    """Calls whose parts of one stream begin so many blocks apart."""

    def __init__(self, stream: Philox, count, distance):
        self._stream, self._count, self._distance = stream, count, distance

    def words(self, count) -> np.ndarray:
        """The first words of each call, as uint32 of shape (calls, count), in one piece."""
        first = np.arange(self._count, dtype=np.uint64)[:, None] * np.uint64(self._distance)
        places = first + np.arange(-(-count // _WORDS_PER_BLOCK), dtype=np.uint64)
        return _cut(self._stream.blocks_at(places), count)

    def streams(self) -> list:
        """The stream of each call."""
        return [self._stream.skip(i * self._distance) for i in range(self._count)]


class _KeyedCalls:
    """Calls with keys and counters of their own."""

    def __init__(self, keys, counters):
        self._keys, self._counters = keys, counters

    def words(self, count) -> np.ndarray:
        """The first words of each call, as uint32 of shape (calls, count), in one piece."""
        return _cut(philox_blocks(self._keys, self._counters, -(-count // _WORDS_PER_BLOCK)), count)

    def streams(self) -> list:
        """The stream of each call."""
        return [Philox.from_key_counter([key], counter) for key, counter in zip(self._keys, self._counters)]


def _cut(blocks, count):
    return np.ascontiguousarray(blocks.reshape(len(blocks), -1)[:, :count])


def _uniform(calls, size, dtype):
    return random_samplers.uniform_from_words(calls.words(2 * size if dtype == np.float64 else size), dtype)


def _uniform_full_int(calls, size, dtype):
    return random_samplers.full_int_from_words(calls.words(size * dtype.itemsize // 4), dtype)


def _uniform_int(calls, size, dtype, low, high):
    numbers = _uniform_full_int(calls, size, np.dtype(f"u{dtype.itemsize}"))
    return random_samplers.within_range(numbers, int(low), int(high), dtype)


def _normal(calls, size, dtype):
    outputs = 2 if dtype == np.float64 else 4  # of a block
    words = calls.words(-(-size // outputs) * _WORDS_PER_BLOCK)
    numbers = random_samplers.normal_from_words(words.reshape(-1, _WORDS_PER_BLOCK), dtype)
    return np.ascontiguousarray(numbers.reshape(len(words), -1)[:, :size])


def _truncated_normal(calls, size, dtype):
    results = [random_samplers.truncated_normal(stream, (size,), dtype) for stream in calls.streams()]
    return np.stack(results) if results else np.empty((0, size), dtype)


_SAMPLERS = {
    RANDOM_UNIFORM: _uniform,
    RANDOM_UNIFORM_INT: _uniform_int,
    RANDOM_STANDARD_NORMAL: _normal,
    TRUNCATED_NORMAL: _truncated_normal,
}
_KEYED = {
    "uniform": _uniform,
    "uniform_int": _uniform_int,
    "uniform_full_int": _uniform_full_int,
    "normal": _normal,
    "truncated_normal": _truncated_normal,
}
