"""The bit generators and samplers on jax values: the same bits as the NumPy ones, for compiled programs.

64-bit types must be enabled. `ctx.random_stream(seed, seed2, blocks)` gives a stateful op the key and counter
(uint64 values of shape (1,) and (2,)) from which it may use that many blocks.
"""

from __future__ import annotations

import math

import numpy as np

from headrace._src.core.lazy import jax, jax_special, jnp, lax
from headrace._src.ops.random import box_muller
from headrace._src.ops.random.bits import split_in_pairs

_PHILOX_WEYL = (0x9E3779B9, 0xBB67AE85)
_PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_RESERVED_WORDS = 256
_TRUNCATION = 2.0


def _high(x):
    return (x >> jnp.uint64(32)).astype(jnp.uint32)


def _low(x):
    return x.astype(jnp.uint32)


class Philox:
    """A position in a Philox4x32-10 stream; key and counter are uint64 values of shape (1,) and (2,)."""

    def __init__(self, key, counter):
        self.key = jnp.asarray(key).astype(jnp.uint64).reshape(())
        self.low = jnp.asarray(counter).astype(jnp.uint64)[0]
        self.high = jnp.asarray(counter).astype(jnp.uint64)[1]

    def blocks_at(self, offsets):
        """The blocks `offsets` (uint64) further on, as uint32 of shape offsets.shape + (4,)."""
        offsets = jnp.asarray(offsets).astype(jnp.uint64)
        low = self.low + offsets
        high = self.high + (low < offsets).astype(jnp.uint64)
        x0, x1, x2, x3 = _low(low), _high(low), _low(high), _high(high)
        key0, key1 = _low(self.key), _high(self.key)
        for _ in range(10):
            product0 = x0.astype(jnp.uint64) * jnp.uint64(_PHILOX_MULTIPLIERS[0])
            product1 = x2.astype(jnp.uint64) * jnp.uint64(_PHILOX_MULTIPLIERS[1])
            x0, x1 = _high(product1) ^ x1 ^ key0, _low(product1)
            x2, x3 = _high(product0) ^ x3 ^ key1, _low(product0)
            key0 = key0 + jnp.uint32(_PHILOX_WEYL[0])
            key1 = key1 + jnp.uint32(_PHILOX_WEYL[1])
        return jnp.stack([x0, x1, x2, x3], axis=-1)

    def words(self, count: int):
        """The next `count` words."""
        return self.blocks_at(jnp.arange(-(-count // 4), dtype=jnp.uint64)).reshape(-1)[:count]


def philox_from_seed_pair(seed):
    """The stream of a stateless op with a pair of seeds."""
    key, counter = scramble(seed)
    return Philox(key, counter)


def scramble(seed):
    """The key and counter that belong to a pair of seeds, as uint64 of shape (1,) and (2,)."""
    fixed = Philox(jnp.full((1,), 0x02461E293EC8F720, jnp.uint64), jnp.asarray(seed).astype(jnp.uint64))
    pairs = fixed.blocks_at(jnp.zeros((), jnp.uint64)).reshape(2, 2).astype(jnp.uint64)
    joined = pairs[:, 0] | pairs[:, 1] << jnp.uint64(32)
    return joined[:1], jnp.stack([jnp.zeros((), jnp.uint64), joined[1]])


class ThreeFry:
    """A position in a ThreeFry2x32 stream."""

    def __init__(self, key, counter):
        self.key = jnp.asarray(key).astype(jnp.uint64).reshape(())
        self.counter = jnp.asarray(counter).astype(jnp.uint64)[0]

    def words32(self, shape):
        halves, axis, size = split_in_pairs(shape)
        return join_pairs(self._pairs(halves), shape, axis, size)

    def words64(self, shape):
        low, high = self._pairs(shape)
        return (low.astype(jnp.uint64) | high.astype(jnp.uint64) << jnp.uint64(32)).reshape(shape)

    def _pairs(self, shape):
        counters = self.counter + jnp.arange(math.prod(shape), dtype=jnp.uint64).reshape(shape)
        key0, key1 = _low(self.key), _high(self.key)
        schedule = (key0, key1, key0 ^ key1 ^ jnp.uint32(0x1BD11BDA))
        x0, x1 = _low(counters) + key0, _high(counters) + key1
        for group in range(5):
            for distance in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
                x0 = x0 + x1
                x1 = x1 << jnp.uint32(distance) | x1 >> jnp.uint32(32 - distance)
                x1 = x1 ^ x0
            x0 = x0 + schedule[(group + 1) % 3]
            x1 = x1 + schedule[(group + 2) % 3] + jnp.uint32(group + 1)
        return x0, x1


def join_pairs(pair, shape, axis, size):
    """Interleaves two halves along `axis`."""
    first = pair[0]
    joined = jnp.stack(pair, axis=axis + 1)
    joined = joined.reshape((*first.shape[:axis], 2 * first.shape[axis], *first.shape[axis + 1 :]))
    return lax.slice_in_dim(joined, 0, size, axis=axis).reshape(shape)


def stream_for(key, counter, alg: int):
    """The stream of a V2 stateless op."""
    return ThreeFry(key, counter) if alg == 2 else Philox(key, counter)


def _bits_to(words, integer, dtype):
    return lax.bitcast_convert_type(words.astype(integer), dtype)


def uniform_from_words(words, dtype):
    """Numbers uniform on [0, 1): one for each word, or, in float64, for each pair of words."""
    if dtype == np.float64:
        pairs = words.reshape(*words.shape[:-1], words.shape[-1] // 2, 2).astype(jnp.uint64)
        upper = pairs[..., 0] & jnp.uint64(0xFFFFF) | jnp.uint64(0x3FF00000)
        return _bits_to(upper << jnp.uint64(32) | pairs[..., 1], jnp.uint64, jnp.float64) - 1.0
    if dtype == np.float32:
        bits = words & jnp.uint32(0x7FFFFF) | jnp.uint32(0x3F800000)
        return _bits_to(bits, jnp.uint32, dtype) - jnp.float32(1)
    mask, one = (0x3FF, 0x3C00) if dtype == np.float16 else (0x7F, 0x3F80)
    return _bits_to(words & jnp.uint32(mask) | jnp.uint32(one), jnp.uint16, dtype) - jnp.ones((), dtype)


def _threefry_uniform(stream, shape, dtype):
    if dtype == np.float64:
        return (stream.words64(shape) >> jnp.uint64(12)).astype(jnp.float64) * 2.0**-52
    words = stream.words32(shape)
    if dtype == np.float16:
        return uniform_from_words(words, dtype)
    return _narrow((words >> jnp.uint32(9)).astype(jnp.float32) * jnp.float32(2.0**-23), dtype)


def _narrow(x, dtype):
    if dtype in (np.float16, np.float32, np.float64):
        return x.astype(dtype)
    bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)
    return _bits_to(bits >> jnp.uint32(16), jnp.uint16, dtype)


def uniform(stream, shape, dtype):
    if isinstance(stream, ThreeFry):
        return _threefry_uniform(stream, shape, dtype)
    size = math.prod(shape)
    words = stream.words(2 * size if dtype == np.float64 else size)
    return uniform_from_words(words, dtype).reshape(shape)


def uniform_full_int(stream, shape, dtype):
    dtype = np.dtype(dtype)
    if isinstance(stream, ThreeFry):
        words = stream.words64(shape) if dtype.itemsize == 8 else stream.words32(shape)
    elif dtype.itemsize == 4:
        words = stream.words(math.prod(shape)).reshape(shape)
    else:
        pairs = stream.words(2 * math.prod(shape)).reshape(*shape, 2).astype(jnp.uint64)
        words = pairs[..., 0] | pairs[..., 1] << jnp.uint64(32)
    return lax.bitcast_convert_type(words, dtype)


def uniform_int(stream, shape, minval, maxval, dtype):
    dtype = np.dtype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    low, high = (lax.bitcast_convert_type(value, unsigned) for value in (minval, maxval))
    # An empty range is an error that the caller checks for; division by zero must not be one here.
    span = jnp.maximum(high - low, jnp.ones((), unsigned))
    return lax.bitcast_convert_type(uniform_full_int(stream, shape, unsigned) % span + low, dtype)


def box_muller_float32(radial, angular):
    """As `box_muller.box_muller_float32`, on uint32."""
    mask = jnp.uint32(0x7FFFFF)
    x = (radial & mask).astype(jnp.float32) * jnp.float32(2.0**-23)
    length = jnp.sqrt(jnp.float32(-2) * log_float32(jnp.maximum(x, jnp.float32(1e-7))))
    angle = ((angular & mask).astype(jnp.float64) * (2.0 * math.pi * 2.0**-23)).astype(jnp.float32)
    sine, cosine = _sine_and_cosine(angle)
    return sine.astype(jnp.float32) * length, cosine.astype(jnp.float32) * length


def log_float32(x):
    bits = lax.bitcast_convert_type(x, jnp.int32)
    offset = bits - jnp.int32(box_muller._INTERVALS)
    interval = (offset >> 19) & 15
    z = lax.bitcast_convert_type(bits - (offset & jnp.int32(box_muller._EXPONENT)), jnp.float32)
    r = jnp.asarray(box_muller._RECIPROCALS)[interval] * z.astype(jnp.float64) - 1.0
    p0, p1, p2 = box_muller._LOG1P
    square = r * r
    whole = (offset >> 23).astype(jnp.float64) * box_muller._LN2
    whole = whole + jnp.asarray(box_muller._LOGARITHMS)[interval] + r
    return ((r * p1 + p2 + square * p0) * square + whole).astype(jnp.float32)


def _sine_and_cosine(angle):
    angle = angle.astype(jnp.float64)
    turns = jnp.round(angle * float(box_muller._PER_HALF_PI))
    quadrant = turns.astype(jnp.int32)
    x = angle - turns * box_muller._HALF_PI
    square = x * x
    cube, fourth = x * square, square * square
    s0, s1, s2 = box_muller._SINE
    c0, c1, c2, c3 = box_muller._COSINE
    sine = (x + cube * s0) + cube * square * (s1 + square * s2)
    cosine = (1.0 + square * c0 + fourth * c1) + fourth * square * (c2 + square * c3)
    odd = quadrant % 2 == 1
    sine, cosine = jnp.where(odd, cosine, sine), jnp.where(odd, sine, cosine)
    return (
        jnp.where(quadrant & 2 != 0, -sine, sine),
        jnp.where((quadrant + 1) & 2 != 0, -cosine, cosine),
    )


def box_muller_float64(uniform, angle):
    length = jnp.sqrt(-2.0 * jnp.log(jnp.maximum(uniform, 1e-7)))
    return jnp.sin(2.0 * math.pi * angle) * length, jnp.cos(2.0 * math.pi * angle) * length


def normal_from_words(words, dtype):
    """Standard normal numbers from blocks (..., 4): four of each, or two in float64."""
    if dtype == np.float64:
        uniforms = uniform_from_words(words, np.float64)
        return jnp.stack(box_muller_float64(uniforms[..., 0], uniforms[..., 1]), axis=-1)
    first, second = box_muller_float32(words[..., 0::2], words[..., 1::2])
    return jnp.stack([first, second], axis=-1).reshape(words.shape).astype(dtype)


def normal(stream, shape, dtype):
    if isinstance(stream, ThreeFry):
        return _threefry_normal(stream, shape, dtype)
    size = math.prod(shape)
    blocks = stream.blocks_at(jnp.arange(-(-size // (2 if dtype == np.float64 else 4)), dtype=jnp.uint64))
    return normal_from_words(blocks, dtype).reshape(-1)[:size].reshape(shape)


def _threefry_normal(stream, shape, dtype):
    halves, axis, size = split_in_pairs(shape)
    working = np.dtype(dtype if dtype in (np.float16, np.float32, np.float64) else np.float32)
    both = (*halves[: axis + 1], 2, *halves[axis + 1 :])
    first, second = jnp.moveaxis(_threefry_uniform(stream, both, working), axis + 1, 0)

    def rounded(function, x):
        return function(x.astype(jnp.float64)).astype(working)

    logarithm = rounded(jnp.log, jnp.maximum(first, jnp.asarray(1e-7, working)))
    length = jnp.sqrt(jnp.asarray(-2, working) * logarithm)
    angle = jnp.asarray(2.0 * math.pi, working) * second
    pair = [rounded(jnp.sin, angle) * length, rounded(jnp.cos, angle) * length]
    return _narrow(join_pairs(pair, shape, axis, size), dtype)


def truncated_normal(stream, shape, dtype):
    if isinstance(stream, ThreeFry):
        return _threefry_truncated_normal(stream, shape, dtype)
    size = math.prod(shape)
    width = 2 if dtype == np.float64 else 4
    working = np.dtype(np.float64 if width == 2 else np.float32)
    groups = -(-size // width)
    starts = jnp.arange(groups, dtype=jnp.uint64) * jnp.uint64(width * _RESERVED_WORDS // 4)
    slots = jnp.arange(width)

    def body(state):
        block, filled, result = state
        drawn = normal_from_words(stream.blocks_at(starts + block), working)
        for i in range(width):
            number = drawn[:, i]
            take = (jnp.abs(number) < _TRUNCATION) & (filled < width)
            result = jnp.where((slots == filled[:, None]) & take[:, None], number[:, None], result)
            filled = filled + take
        return block + jnp.uint64(1), filled, result

    state = jnp.uint64(0), jnp.zeros(groups, jnp.int32), jnp.zeros((groups, width), working)
    result = lax.while_loop(lambda state: jnp.any(state[1] < width), body, state)[2]
    return result.reshape(-1)[:size].reshape(shape).astype(dtype)


def _threefry_truncated_normal(stream, shape, dtype):
    working = np.dtype(dtype if dtype in (np.float16, np.float32, np.float64) else np.float32)
    tiny = np.finfo(working).tiny
    draws = _threefry_uniform(stream, shape, working)
    if working != np.float16:
        draws = draws * (working.type(1) - tiny) + tiny
    below = working.type((1.0 + math.erf(-_TRUNCATION / math.sqrt(2.0))) / 2.0)
    inside = working.type(math.erf(_TRUNCATION / math.sqrt(2.0)))
    argument = (below + inside * draws) * working.type(2) - working.type(1)
    inverse = jax_special.erfinv(argument.astype(jnp.float64)).astype(working)
    return _narrow(working.type(math.sqrt(2.0)) * inverse, dtype)


def categorical(stream, logits, samples: int, dtype):
    rows = logits.shape[0]
    working = logits.astype(jnp.float64)
    finite = jnp.isfinite(working)
    largest = jnp.where(finite, working, -jnp.inf).max(axis=1, keepdims=True)
    cumulative = jnp.cumsum(jnp.where(finite, jnp.exp(working - largest), 0.0), axis=1)
    draws = uniform_from_words(stream.words(2 * rows * samples), np.float64).reshape(rows, samples)
    draws = draws * cumulative[:, -1:]
    search = jax.vmap(lambda row, values: jnp.searchsorted(row, values, side="right"))
    return search(cumulative, draws).astype(dtype)


def permutation(stream, size: int):
    """The order in which elements come after a shuffle."""
    if size < 2:
        return jnp.arange(size, dtype=jnp.int64)
    words = stream.words(size - 1)

    def swap(i, order):
        other = i + (words[i] % (size - i).astype(jnp.uint32)).astype(jnp.int64)
        mine, its = order[i], order[other]
        return order.at[i].set(its).at[other].set(mine)

    return lax.fori_loop(jnp.int64(0), jnp.int64(size - 1), swap, jnp.arange(size, dtype=jnp.int64))
