"""Samplers that take a fixed share of a bit stream: uniform, normal, truncated normal, categorical, shuffles.

Every sampler takes a stream (`Philox` or `ThreeFry`) and gives what TensorFlow's CPU kernel gives for it, bit
for bit. ThreeFry, which TensorFlow has only in its XLA kernels, follows those.
"""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from headrace._src.core.lazy import LazyModule, scipy_linalg, scipy_special
from headrace._src.op.lanes import MANY
from headrace._src.ops.random.bits import Philox, ThreeFry, join_pairs, philox_blocks, split_in_pairs
from headrace._src.ops.random.box_muller import box_muller_float32, box_muller_float64

# Many programs draw few numbers at a time.
parts = LazyModule("headrace._src.core.parts")
product_threads = LazyModule("headrace._src.core.product_threads")

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# How many mantissa bits a uniform number has, and the bits of 1.0 to which they are added.
_UNIFORM_BITS = {
    np.dtype(np.float16): (np.uint16, 10, 0x3C00),
    _BFLOAT16: (np.uint16, 7, 0x3F80),
    np.dtype(np.float32): (np.uint32, 23, 0x3F800000),
}
# TF: each output of a sampler that rejects may use this many words (64 blocks) of its own.
_RESERVED_WORDS = 256
_TRUNCATION = 2.0


def _size(shape) -> int:
    return math.prod(int(dim) for dim in shape)


def uniform(stream: Philox | ThreeFry, shape, dtype) -> np.ndarray:
    """Floating-point numbers uniform on [0, 1)."""
    dtype = np.dtype(dtype)
    if isinstance(stream, ThreeFry):
        return _threefry_uniform(stream, shape, dtype)
    size = _size(shape)
    if dtype == np.float64:
        result = np.empty((-(-size // 2), 2))

        def fill(even, odd, start, stop):
            even <<= np.uint64(32)
            even |= odd
            result[start:stop].T[...] = uniform_of_halves(even)

        stream.each_chunk(len(result), fill)
        return result.reshape(-1)[:size].reshape(shape)
    if dtype == np.float32:
        return stream.words(size, lambda words: uniform_from_words(words, dtype)).view(dtype).reshape(shape)
    return uniform_from_words(stream.words(size), dtype).reshape(shape)


def uniform_from_words(words: np.ndarray, dtype) -> np.ndarray:
    """Numbers uniform on [0, 1): one for each word, or in float64 for each pair.

    The words are contiguous uint32, and are overwritten.
    """
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        return uniform_float64(words.reshape(*words.shape[:-1], words.shape[-1] // 2, 2))
    integer, mantissa, one = _UNIFORM_BITS[dtype]
    words &= np.uint32((1 << mantissa) - 1)
    words |= np.uint32(one)
    result = words.astype(integer, copy=False).view(dtype)
    result -= dtype.type(1)
    return result


def uniform_float64(words: np.ndarray) -> np.ndarray:
    """Float64 numbers uniform on [0, 1) from uint32 of shape (..., 2), the more significant word first."""
    bits = words[..., 0].astype(np.uint64)
    bits &= np.uint64(0xFFFFF)
    bits |= np.uint64(0x3FF00000)
    bits <<= np.uint64(32)
    bits |= words[..., 1]
    result = bits.view(np.float64)
    result -= 1.0
    return result


# Of a float64 from 1 to 2.
_MANTISSA, _EXPONENT = np.array((1 << 52) - 1, np.uint64), np.array(0x3FF << 52, np.uint64)


def uniform_of_halves(halves: np.ndarray) -> np.ndarray:
    """Float64 numbers uniform on [0, 1) from what `Philox.halves_at` gives, which is overwritten."""
    halves &= _MANTISSA
    halves |= _EXPONENT
    numbers = halves.view(np.float64)
    numbers -= 1.0
    return numbers


def _threefry_uniform(stream, shape, dtype):
    if dtype == np.float64:
        return (stream.words64(shape) >> np.uint64(12)).astype(np.float64) * 2.0**-52
    words = stream.words32(shape)
    if dtype == np.float16:
        return uniform_from_words(words, dtype)
    return _narrow((words >> np.uint32(9)).astype(np.float32) * np.float32(2.0**-23), dtype)


def _narrow(x, dtype):
    """Casts. TF: XLA's random ops make bfloat16 of float32 by dropping the lower half of the bits."""
    if dtype != _BFLOAT16:
        return x.astype(dtype, copy=False)
    return (np.asarray(x, np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16).view(dtype)


def uniform_full_int(stream: Philox | ThreeFry, shape, dtype) -> np.ndarray:
    """Integers uniform on the whole range of int32, uint32, int64 or uint64."""
    dtype = np.dtype(dtype)
    if isinstance(stream, ThreeFry):
        words = stream.words64(shape) if dtype.itemsize == 8 else stream.words32(shape)
        return words.view(dtype)
    return full_int_from_words(stream.words(_size(shape) * dtype.itemsize // 4), dtype).reshape(shape)


def full_int_from_words(words: np.ndarray, dtype) -> np.ndarray:
    """Integers of 32 bits, one for each word along the last axis, or of 64 bits, one for each pair."""
    dtype = np.dtype(dtype)
    if dtype.itemsize == 4:
        return words.view(dtype)
    return (words[..., 0::2] | words[..., 1::2].astype(np.uint64) << np.uint64(32)).view(dtype)


def uniform_int(stream: Philox | ThreeFry, shape, minval: int, maxval: int, dtype) -> np.ndarray:
    """Integers uniform on [minval, maxval), slightly biased unless the range is a power of two.

    `minval < maxval` is the caller's to check.
    """
    dtype = np.dtype(dtype)
    if dtype.itemsize == 4 and isinstance(stream, Philox):
        words = stream.words(_size(shape), lambda words: within_range(words, minval, maxval, dtype))
        return words.view(dtype).reshape(shape)
    return within_range(uniform_full_int(stream, shape, f"u{dtype.itemsize}"), minval, maxval, dtype)


def within_range(words: np.ndarray, minval: int, maxval: int, dtype) -> np.ndarray:
    """Unsigned integers, uniform on their whole range, as integers on [minval, maxval). They are overwritten."""
    dtype = np.dtype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}").type
    span = unsigned(int(maxval) - int(minval))
    # Division by a scalar is vectorised in NumPy, the remainder is not.
    quotient = words // span
    quotient *= span
    words -= quotient
    words += unsigned(int(minval) % (1 << 8 * dtype.itemsize))
    return words.view(dtype)


def normal(stream: Philox | ThreeFry, shape, dtype) -> np.ndarray:
    """Standard normal numbers, by the Box-Muller transform."""
    dtype = np.dtype(dtype)
    if isinstance(stream, ThreeFry):
        return _threefry_normal(stream, shape, dtype)
    size = _size(shape)
    if dtype == np.float64:
        return normal_from_words(stream.blocks(-(-size // 2)), dtype).reshape(-1)[:size].reshape(shape)
    blocks = -(-size // 4)
    result = np.empty((blocks, 4), dtype)

    def fill(even, odd, start, stop):
        part = result[start:stop]
        first, second = box_muller_float32(even, odd)
        part[:, 0::2].T[...] = first
        part[:, 1::2].T[...] = second

    stream.each_chunk(blocks, fill)
    return result.reshape(-1)[:size].reshape(shape)


def normal_from_words(words: np.ndarray, dtype) -> np.ndarray:
    """Standard normal numbers from the words of n blocks.

    Args:
        words: uint32 of shape (n, 4).
        dtype: of the result.

    Returns:
        An array of shape (n, 4), or (n, 2) in float64.
    """
    if dtype == np.float64:
        uniforms = uniform_float64(words.reshape(-1, 2, 2))
        return np.stack(box_muller_float64(uniforms[:, 0], uniforms[:, 1]), axis=-1)
    result = np.empty(words.shape, dtype)
    radial, angular = words[:, 0::2].astype(np.uint64), words[:, 1::2].astype(np.uint64)
    result[:, 0::2], result[:, 1::2] = box_muller_float32(radial, angular)
    return result


def _threefry_normal(stream, shape, dtype):
    # TF: XLA's layout, the two numbers of a pair being neighbours along the split axis, and XLA's arithmetic,
    # in which every step is rounded. Its float32 sine, cosine and logarithm are an ulp from these at times.
    halves, axis, size = split_in_pairs(shape)
    working = np.dtype(np.float32) if dtype == _BFLOAT16 else dtype
    both = (*halves[: axis + 1], 2, *halves[axis + 1 :])
    first, second = np.moveaxis(_threefry_uniform(stream, both, working), axis + 1, 0)

    def rounded(function, x):
        return function(x.astype(np.float64)).astype(working)

    length = np.sqrt(working.type(-2) * rounded(np.log, np.maximum(first, working.type(1e-7))))
    angle = working.type(2.0 * math.pi) * second
    pair = [rounded(np.sin, angle) * length, rounded(np.cos, angle) * length]
    return _narrow(join_pairs(pair, shape, axis, size), dtype)


def truncated_normal(stream: Philox | ThreeFry, shape, dtype) -> np.ndarray:
    """Standard normal numbers, redrawn until within two standard deviations.

    Every group of four outputs (two in float64) has 256 words per output of the stream to itself, so that the
    result does not depend on the order in which groups are made.
    """
    dtype = np.dtype(dtype)
    if isinstance(stream, ThreeFry):
        return _threefry_truncated_normal(stream, shape, dtype)
    size = _size(shape)
    group = 2 if dtype == np.float64 else 4
    groups = -(-size // group)
    stride = group * _RESERVED_WORDS // 4
    result = np.empty((groups, group), np.float64 if group == 2 else np.float32)
    incomplete = []

    def fill(even, odd, start, stop):
        columns = _normal_columns(even, odd, dtype)
        outside = np.zeros(stop - start, bool)
        for column, numbers in enumerate(columns):
            result[start:stop, column] = numbers
            outside |= np.abs(numbers) >= _TRUNCATION
        incomplete.append(np.flatnonzero(outside) + start)

    stream.each_chunk(groups, fill, stride)
    if groups:
        _redraw(stream, result, np.sort(np.concatenate(incomplete)), stride)
    return result.reshape(-1)[:size].reshape(shape).astype(dtype, copy=False)


def _normal_columns(even, odd, dtype):
    """The normal numbers of blocks whose words 0 and 2, and 1 and 3, are these: first those that come first in each."""
    if dtype == np.float64:
        return box_muller_float64(*uniform_of_halves(even << np.uint64(32) | odd))
    first, second = box_muller_float32(even, odd)
    return first[0], second[0], first[1], second[1]


def _redraw(stream, result, groups, stride) -> None:
    """Completes the rows `groups` of `result`, where some numbers are to be rejected, from further blocks."""
    width = result.shape[1]
    flat = result.reshape(-1)
    columns = [result[groups, column] for column in range(width)]
    filled, block = np.zeros(groups.size, np.int64), 0
    while groups.size:
        for numbers in columns:
            accepted = np.flatnonzero((np.abs(numbers) < _TRUNCATION) & (filled < width))
            flat[groups[accepted] * width + filled[accepted]] = numbers[accepted]
            filled[accepted] += 1
        block += 1
        unfinished = np.flatnonzero(filled < width)
        groups, filled = groups[unfinished], filled[unfinished]
        halves = stream.halves_at(groups.astype(np.uint64) * np.uint64(stride) + np.uint64(block))
        columns = _normal_columns(halves >> np.uint64(32), halves & np.uint64(0xFFFFFFFF), result.dtype)


def _threefry_truncated_normal(stream, shape, dtype):
    # TF: XLA inverts the distribution function instead of rejecting.
    working = np.dtype(np.float32) if dtype == _BFLOAT16 else dtype
    tiny = np.finfo(working).tiny
    draws = _threefry_uniform(stream, shape, working)
    if working != np.float16:  # TF: XLA's float16 path forgets the smallest value
        draws = draws * (working.type(1) - tiny) + tiny
    below = working.type((1.0 + math.erf(-_TRUNCATION / math.sqrt(2.0))) / 2.0)
    inside = working.type(math.erf(_TRUNCATION / math.sqrt(2.0)))
    argument = (below + inside * draws) * working.type(2) - working.type(1)
    inverse = scipy_special.erfinv(argument.astype(np.float64)).astype(working)
    return _narrow(working.type(math.sqrt(2.0)) * inverse, dtype)


def categorical(stream: Philox, logits: np.ndarray, samples: int, dtype) -> np.ndarray:
    """Draws `samples` classes for each row of unnormalised log-probabilities.

    Classes whose logit is not finite are never drawn. The rows use up the stream one after the other.
    """
    rows = logits.shape[0]
    working = logits.astype(np.float64)
    finite = np.isfinite(working)
    largest = np.where(finite, working, -np.inf).max(axis=1, keepdims=True)
    weights = np.exp(working - largest)
    weights[~finite] = 0.0
    cumulative = weights.cumsum(axis=1)
    if rows == 1 and samples == 1:  # as when datasets are sampled: plain integers are quicker
        high, low = stream.block()[:2]
        draw = ((high & 0xFFFFF) << 32 | low) * 2.0**-52
        return np.array([[np.searchsorted(cumulative[0], draw * cumulative[0, -1], side="right")]], dtype)
    # TF: when several threads share the rows, TensorFlow's generator is advanced by half of what the rows
    # use, so its draws depend on the number of threads. These are the draws of one thread.
    draws = uniform_float64(stream.words(2 * rows * samples).reshape(rows, samples, 2))
    draws *= cumulative[:, -1:]
    result = np.empty((rows, samples), dtype)
    if samples >= 64 or rows <= 4:
        for row in range(rows):
            result[row] = np.searchsorted(cumulative[row], draws[row], side="right")
    else:
        result[...] = _search_rows(cumulative, draws)
    return result


def _search_rows(table: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For each row, how many entries of the sorted `table` are not greater than each of `values`."""
    width = table.shape[1]
    low = np.zeros(values.shape, np.int64)
    high = np.full(values.shape, width, np.int64)
    for _ in range(width.bit_length()):
        middle = (low + high) >> 1
        entry = np.take_along_axis(table, np.minimum(middle, width - 1), axis=1)
        right = (entry <= values) & (low < high)
        low = np.where(right, middle + 1, low)
        high = np.where(right, high, middle)
    return low


# Below so many, LAPACK takes longer to load than it saves; from so many on, its integers do not suffice.
_WORTH_LAPACK, _TOO_MANY_FOR_LAPACK = 4096, 1 << 31


def shuffled(stream: Philox, values: np.ndarray) -> np.ndarray:
    """The values in a random order along their first axis.

    It is the one that swapping each place with a random later one (or itself), from the first on, leads to.
    """
    targets = _swap_targets(stream, len(values))
    if values.ndim == 1 and values.dtype.kind in "fiuc" and values.itemsize in (4, 8):
        copy = values.copy()
        _swap(copy, targets)
        return copy
    order = np.arange(len(values), dtype=np.int32 if len(values) < _TOO_MANY_FOR_LAPACK else np.int64)
    _swap(order, targets)
    return values.take(order, 0, mode="clip")


def _swap_targets(stream, size):
    """With which place each one but the last is swapped."""
    count = size - 1
    words = stream.words(count)
    if size > _TOO_MANY_FOR_LAPACK:
        return words % np.arange(size, 1, -1) + np.arange(count)
    targets = np.empty(count, np.int32)

    def find(part):
        places = np.arange(part.start, part.stop, dtype=np.uint32)
        found = words[part] % np.subtract(np.uint32(size), places)
        np.add(found, places, out=targets[part], casting="unsafe")

    if count <= MANY:
        find(slice(0, count))
    else:
        parts.in_long_slices(find, count)
    return targets


def _swap(values, targets):
    """Swap each value with that at its target, in place, one after the other.

    LAPACK does that with the rows of a matrix, when these change places for the sake of pivots. It moves numbers of
    four and of eight bytes as they are, whatever they mean.
    """
    if not _WORTH_LAPACK <= values.size <= _TOO_MANY_FOR_LAPACK:
        integers = values.view(f"i{values.itemsize}")
        order = integers.tolist()
        for place, target in enumerate(targets.tolist()):
            order[place], order[target] = order[target], order[place]
        integers[...] = order
        return
    lapack = scipy_linalg.lapack
    swap, floating = (lapack.slaswp, np.float32) if values.itemsize == 4 else (lapack.dlaswp, np.float64)
    with product_threads.one_thread_of_scipy:
        swap(values.view(floating).reshape(-1, 1), targets, overwrite_a=True)


# Many calls at once. `calls` has `words(count)` and `streams()`, as `_KeyedCalls` has.

WORDS_PER_BLOCK = 4


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
    return MANY_CALLS[sampler](calls, math.prod(shape), np.dtype(dtype), *bounds).reshape(len(keys), *shape)


class _KeyedCalls:
    """Calls with keys and counters of their own."""

    def __init__(self, keys, counters):
        self._keys, self._counters = keys, counters

    def words(self, count) -> np.ndarray:
        """The first words of each call, as uint32 of shape (calls, count), in one piece."""
        return first_words(philox_blocks(self._keys, self._counters, -(-count // WORDS_PER_BLOCK)), count)

    def streams(self) -> list:
        """The stream of each call."""
        return [Philox.from_key_counter([key], counter) for key, counter in zip(self._keys, self._counters)]


def first_words(blocks: np.ndarray, count: int) -> np.ndarray:
    """The first words of the blocks of each call, in one piece."""
    return np.ascontiguousarray(blocks.reshape(len(blocks), -1)[:, :count])


def _uniform_of_calls(calls, size, dtype):
    return uniform_from_words(calls.words(2 * size if dtype == np.float64 else size), dtype)


def _uniform_full_int_of_calls(calls, size, dtype):
    return full_int_from_words(calls.words(size * dtype.itemsize // 4), dtype)


def _uniform_int_of_calls(calls, size, dtype, low, high):
    numbers = _uniform_full_int_of_calls(calls, size, np.dtype(f"u{dtype.itemsize}"))
    return within_range(numbers, int(low), int(high), dtype)


def _normal_of_calls(calls, size, dtype):
    outputs = 2 if dtype == np.float64 else 4  # of a block
    words = calls.words(-(-size // outputs) * WORDS_PER_BLOCK)
    numbers = normal_from_words(words.reshape(-1, WORDS_PER_BLOCK), dtype)
    return np.ascontiguousarray(numbers.reshape(len(words), -1)[:, :size])


def _truncated_normal_of_calls(calls, size, dtype):
    results = [truncated_normal(stream, (size,), dtype) for stream in calls.streams()]
    return np.stack(results) if results else np.empty((0, size), dtype)


MANY_CALLS = {
    "uniform": _uniform_of_calls,
    "uniform_int": _uniform_int_of_calls,
    "uniform_full_int": _uniform_full_int_of_calls,
    "normal": _normal_of_calls,
    "truncated_normal": _truncated_normal_of_calls,
}
