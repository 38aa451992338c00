"""The counter-based bit generators behind every random op, on NumPy arrays: Philox4x32-10, ThreeFry2x32-20.

Both are from Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): the n-th block of a
stream is a keyed hash of `counter + n`, so any part of a stream can be computed at once, in any order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from headrace._src.core.lazy import LazyModule

parts = LazyModule("headrace._src.core.parts")  # many programs draw few numbers at a time

_MASK32 = 0xFFFFFFFF
_MASK64 = 0xFFFFFFFFFFFFFFFF
_MASK128 = (1 << 128) - 1

_PHILOX_WEYL = (0x9E3779B9, 0xBB67AE85)
_PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_PHILOX_ROUNDS = 10
# TF: the key by which the two seeds of a stateless op are scrambled.
SCRAMBLING_KEY = 0x02461E293EC8F720

# Blocks computed at a time: the work arrays then stay in the second-level cache, and the cost of the
# ~50 NumPy calls of a pass is spread over enough elements.
_CHUNK = 16384
# The same for several threads: in shorter calls they would wait for each other's interpreter lock.
_CHUNK_OF_THREADS = 65536
# Up to here, plain integers are quicker than ~50 NumPy calls.
_FEW_BLOCKS = 12

_MULTIPLIERS = np.array(_PHILOX_MULTIPLIERS, np.uint64).reshape(2, 1)
_LOW = np.uint64(_MASK32)
_SHIFT = np.uint64(32)


class Philox:
    """A position in a Philox4x32-10 stream: a 64-bit key and a 128-bit counter.

    It never changes; `skip` gives another position. A block is four 32-bit words, and the words of
    consecutive blocks are the stream.
    """

    __slots__ = ("counter", "key")

    def __init__(self, key: int, counter: int):
        self.key = key & _MASK64
        self.counter = counter & _MASK128

    def __repr__(self) -> str:
        return f"Philox(key={self.key:#x}, counter={self.counter:#x})"

    @classmethod
    def from_op_seeds(cls, seed: int, seed2: int) -> Philox:
        """The stream of a stateful op with attributes `seed` (becomes the key) and `seed2`."""
        return cls(seed, (seed2 & _MASK64) << 64)

    @classmethod
    def from_seed_pair(cls, seed) -> Philox:
        """The stream of a stateless op: the two seeds, scrambled by one call with a fixed key."""
        low, high = int(seed[0]), int(seed[1])
        x0, x1, x2, x3 = cls(SCRAMBLING_KEY, (low & _MASK64) | (high & _MASK64) << 64).block()
        return cls(x0 | x1 << 32, x2 << 64 | x3 << 96)

    @classmethod
    def from_key_counter(cls, key, counter) -> Philox:
        """The stream of a V2 stateless op: `key` of one 64-bit number, `counter` of two, low half first."""
        return cls(int(key[0]), (int(counter[0]) & _MASK64) | (int(counter[1]) & _MASK64) << 64)

    def skip(self, blocks: int) -> Philox:
        """The position `blocks` blocks further on."""
        return Philox(self.key, self.counter + blocks)

    def block(self, offset: int = 0) -> tuple[int, int, int, int]:
        """The four words of one block, as Python integers."""
        counter = self.counter + offset
        x0, x1 = counter & _MASK32, counter >> 32 & _MASK32
        x2, x3 = counter >> 64 & _MASK32, counter >> 96 & _MASK32
        key0, key1 = self.key & _MASK32, self.key >> 32
        for _ in range(_PHILOX_ROUNDS):
            product0 = x0 * 0xD2511F53
            product1 = x2 * 0xCD9E8D57
            x0 = product1 >> 32 ^ x1 ^ key0
            x1 = product1 & _MASK32
            x2 = product0 >> 32 ^ x3 ^ key1
            x3 = product0 & _MASK32
            key0 = key0 + 0x9E3779B9 & _MASK32
            key1 = key1 + 0xBB67AE85 & _MASK32
        return x0, x1, x2, x3

    def words(self, count: int) -> np.ndarray:
        """The next `count` words of the stream, as uint32."""
        return self.blocks(-(-count // 4)).reshape(-1)[:count]

    def blocks(self, count: int) -> np.ndarray:
        """The next `count` blocks, as uint32 of shape (count, 4)."""
        out = np.empty((count, 2), np.uint64)

        def store(even, odd, start, stop):
            odd <<= _SHIFT
            np.bitwise_or(even, odd, out=out[start:stop].T)

        self.each_chunk(count, store)
        return _words_of(out)

    def blocks_at(self, offsets: np.ndarray) -> np.ndarray:
        """The blocks `offsets` (uint64, any shape) further on, as uint32 of shape offsets.shape + (4,)."""
        flat = np.ascontiguousarray(offsets, np.uint64).reshape(-1)
        out = np.empty((flat.size, 2), np.uint64)
        low, high = self.counter & _MASK64, self.counter >> 64
        keys = self._round_keys()
        for start in range(0, flat.size, _CHUNK):
            part = flat[start : start + _CHUNK]
            counter_low = part + np.uint64(low)
            counter_high = np.full(part.shape, high, np.uint64)
            if low:
                counter_high += counter_low < part  # the carry
            even = np.stack([counter_low, counter_high])
            odd = even >> _SHIFT
            even &= _LOW
            _philox_rounds(even, odd, keys, np.empty_like(even), np.empty_like(even))
            odd <<= _SHIFT
            np.bitwise_or(even, odd, out=out[start : start + part.size].T)
        return _words_of(out).reshape(offsets.shape + (4,))

    def each_chunk(self, count: int, consume: Callable, stride: int = 1) -> None:
        """Computes `count` blocks, `stride` apart, and hands them over in chunks, in any order and several threads.

        Args:
            count: how many blocks.
            stride: a power of two up to 65536; every `stride`-th block is computed.
            consume: called as `consume(even, odd, start, stop)` for blocks `start` to `stop`: words 0 and 2
                of the blocks are the rows of `even`, words 1 and 3 those of `odd`, 32-bit values in uint64
                arrays of shape (2, stop - start), which the callee may overwrite.
        """
        if count <= _FEW_BLOCKS:
            if count > 0:
                table = np.array([self.block(i * stride) for i in range(count)], np.uint64).T
                consume(table[0::2], table[1::2], 0, count)
            return
        size = min(_CHUNK_OF_THREADS, count)
        keys = self._round_keys()
        ramp = np.arange(0, size * stride, stride, dtype=np.uint64)
        starts = [0]
        while starts[-1] < count:
            # Within a chunk only the lowest word of the counter may change: stop where it would wrap.
            start = starts[-1]
            room = (1 << 32) - (self.counter + start * stride & _MASK32)
            starts.append(min(start + size, count, start - (-room // stride)))

        def compute(number):
            start, stop = starts[number : number + 2]
            even, odd, spare, spare2 = np.empty((4, 2, stop - start), np.uint64)
            self._first_rounds(self.counter + start * stride, ramp[: stop - start], even, odd)
            _philox_rounds(even, odd, keys[2:], spare, spare2)
            consume(even, odd, start, stop)

        if len(starts) > 2:
            parts.in_parts(compute, len(starts) - 1)
        else:
            compute(0)

    def _round_keys(self) -> np.ndarray:
        low, high = self.key & _MASK32, self.key >> 32
        weyl0, weyl1 = _PHILOX_WEYL
        rows = [(low + i * weyl0 & _MASK32, high + i * weyl1 & _MASK32) for i in range(_PHILOX_ROUNDS)]
        return np.array(rows, np.uint64).reshape(_PHILOX_ROUNDS, 2, 1)

    def _first_rounds(self, counter, ramp, even, odd) -> None:
        """Rounds one and two, in which three, then two, of the four words are the same in all blocks."""
        multiplier0, multiplier1 = _PHILOX_MULTIPLIERS
        key0, key1 = self.key & _MASK32, self.key >> 32
        x1, x2, x3 = (counter >> shift & _MASK32 for shift in (32, 64, 96))
        product1 = x2 * multiplier1
        x0 = product1 >> 32 ^ x1 ^ key0
        x1 = product1 & _MASK32
        product0 = (ramp + np.uint64(counter & _MASK32)) * np.uint64(multiplier0)
        second = product0 >> _SHIFT
        second ^= np.uint64(x3 ^ key1)
        fourth = product0
        fourth &= _LOW

        key0, key1 = key0 + _PHILOX_WEYL[0] & _MASK32, key1 + _PHILOX_WEYL[1] & _MASK32
        product0 = x0 * multiplier0
        second *= np.uint64(multiplier1)
        np.right_shift(second, _SHIFT, out=even[0])
        even[0] ^= np.uint64(x1 ^ key0)
        np.bitwise_and(second, _LOW, out=odd[0])
        np.bitwise_xor(fourth, np.uint64(product0 >> 32 ^ key1), out=even[1])
        odd[1] = product0 & _MASK32


def philox_blocks(keys: np.ndarray, counters: np.ndarray, count: int) -> np.ndarray:
    """The first blocks of many streams.

    Args:
        keys: uint64 of shape (streams,).
        counters: uint64 of shape (streams, 2), low half first.
        count: how many blocks of each.

    Returns:
        uint32 of shape (streams, count, 4).
    """
    out = np.empty((len(keys), count, 2), np.uint64)
    ramp = np.arange(count, dtype=np.uint64)
    at_once = max(1, _CHUNK // max(count, 1))
    for start in range(0, len(keys), at_once):
        some = slice(start, start + at_once)
        low = counters[some, :1] + ramp
        high = counters[some, 1:] + (low < ramp)  # with the carry
        even = np.stack([low, high])
        odd = even >> _SHIFT
        even &= _LOW
        first = np.stack([keys[some] & _LOW, keys[some] >> _SHIFT])[:, :, None]
        steps = np.arange(_PHILOX_ROUNDS, dtype=np.uint64)[:, None] * np.array(_PHILOX_WEYL, np.uint64)
        round_keys = (first + steps[:, :, None, None]) & _LOW
        rounds = np.empty_like(even), np.empty_like(even)
        _philox_rounds(even, odd, round_keys, *rounds, multipliers=_MULTIPLIERS[:, :, None])
        odd <<= _SHIFT
        np.bitwise_or(even, odd, out=np.moveaxis(out[some], 2, 0))
    return _words_of(out)


def _words_of(pairs: np.ndarray) -> np.ndarray:
    """Splits uint64 of shape (..., 2) into uint32 of shape (..., 4), low words first."""
    if sys.byteorder == "big":
        pairs = pairs << _SHIFT | pairs >> _SHIFT
    return pairs.view(np.uint32)


def _philox_rounds(even, odd, keys, product, high, multipliers=_MULTIPLIERS) -> None:
    """Runs one Philox round per row of `keys`, in place, on words 0 and 2 (`even`) and 1 and 3 (`odd`)."""
    swapped_product, swapped_high = product[::-1], high[::-1]
    for key in keys:
        np.multiply(even, multipliers, out=product)
        np.right_shift(product, _SHIFT, out=high)
        np.bitwise_xor(swapped_high, odd, out=even)
        np.bitwise_xor(even, key, out=even)
        np.bitwise_and(swapped_product, _LOW, out=odd)




_THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_THREEFRY_PARITY = 0x1BD11BDA


def threefry2x32(key: int, counters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ThreeFry2x32 with 20 rounds.

    Args:
        key: 64 bits.
        counters: uint64 of any shape; the low word is the first word of the block.

    Returns:
        The two words of each block, each uint32 of the shape of `counters`.
    """
    key0, key1 = key & _MASK32, key >> 32 & _MASK32
    schedule = (key0, key1, key0 ^ key1 ^ _THREEFRY_PARITY)
    x0 = (counters & _LOW).astype(np.uint32)
    x1 = (counters >> _SHIFT).astype(np.uint32)
    x0 += np.uint32(key0)
    x1 += np.uint32(key1)
    rotated = np.empty_like(x1)
    for group in range(5):
        for distance in _THREEFRY_ROTATIONS[group % 2]:
            x0 += x1
            np.left_shift(x1, np.uint32(distance), out=rotated)
            x1 >>= np.uint32(32 - distance)
            x1 |= rotated
            x1 ^= x0
        x0 += np.uint32(schedule[(group + 1) % 3])
        x1 += np.uint32(schedule[(group + 2) % 3] + group + 1 & _MASK32)
    return x0, x1


class ThreeFry:
    """A position in a ThreeFry2x32 stream: a 64-bit key and a 64-bit counter.

    TF: the words go to the elements of an array the way XLA lays them out, which depends on the array's
    shape: pairs of words fill neighbours along the first even (else the longest) dimension.
    """

    __slots__ = ("counter", "key")

    def __init__(self, key: int, counter: int):
        self.key = key & _MASK64
        self.counter = counter & _MASK64

    def __repr__(self) -> str:
        return f"ThreeFry(key={self.key:#x}, counter={self.counter:#x})"

    @classmethod
    def from_key_counter(cls, key, counter) -> ThreeFry:
        """The stream of a V2 stateless op."""
        return cls(int(key[0]), int(counter[0]))

    def words32(self, shape) -> np.ndarray:
        """Random uint32 of the given shape."""
        halves, axis, size = split_in_pairs(shape)
        return join_pairs(threefry2x32(self.key, self._counters(halves)), shape, axis, size)

    def words64(self, shape) -> np.ndarray:
        """Random uint64 of the given shape."""
        low, high = threefry2x32(self.key, self._counters(shape))
        return (low | high.astype(np.uint64) << _SHIFT).reshape(shape)

    def _counters(self, shape) -> np.ndarray:
        ramp = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.uint64)
        ramp += np.uint64(self.counter)
        return ramp.reshape(shape or (1,))


def split_in_pairs(shape) -> tuple[tuple[int, ...], int, int]:
    """How XLA halves an array whose elements are made in pairs.

    Returns:
        The shape of each half, the halved axis, and its length in the whole array.
    """
    if not shape:
        return (1,), 0, 1
    axis = next((i for i, dim in enumerate(shape) if dim % 2 == 0), None)
    if axis is None:
        axis = max(range(len(shape)), key=lambda i: shape[i])
    return (*shape[:axis], (shape[axis] + 1) // 2, *shape[axis + 1 :]), axis, shape[axis]


def join_pairs(pair, shape, axis: int, size: int) -> np.ndarray:
    """Interleaves two halves along `axis` into an array of the given shape: the inverse of the split."""
    first, second = pair
    joined = np.stack([first, second], axis=axis + 1)
    joined = joined.reshape((*first.shape[:axis], 2 * first.shape[axis], *first.shape[axis + 1 :]))
    if joined.shape[axis] != size:
        joined = joined[(slice(None),) * axis + (slice(size),)]
    return np.ascontiguousarray(joined).reshape(shape)
