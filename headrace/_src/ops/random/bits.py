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

# Blocks computed at a time: enough that the cost of ~90 NumPy calls does not count.
_CHUNK = 65536
# The same for several threads: in shorter calls they would wait for each other's interpreter lock.
_CHUNK_OF_THREADS = 131072
# Up to here, plain integers are quicker than ~90 NumPy calls.
_FEW_BLOCKS = 12

# NumPy takes arrays without axes with less ado than its scalars.
_MULTIPLIER_0, _MULTIPLIER_1 = (np.array(number, np.uint64) for number in _PHILOX_MULTIPLIERS)
_LOW = np.array(_MASK32, np.uint64)
_SHIFT = np.array(32, np.uint64)


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

    def words(self, count: int, change: Callable[[np.ndarray], None] | None = None) -> np.ndarray:
        """The next `count` words of the stream, as uint32.

        Args:
            count: how many.
            change: called with one part of them after the other, in several threads if there are many, to make
                something else of them, in place.
        """
        return self.blocks(-(-count // 4), change).reshape(-1)[:count]

    def blocks(self, count: int, change: Callable[[np.ndarray], None] | None = None) -> np.ndarray:
        """The next `count` blocks, as uint32 of shape (count, 4); see `words`."""
        out = np.empty((count, 4), np.uint32)
        pairs = out.view(np.uint64)

        def store(even, odd, start, stop):
            upper = even if sys.byteorder == "big" else odd
            upper <<= _SHIFT
            np.bitwise_or(even, odd, out=pairs[start:stop].T)
            if change is not None:
                change(out[start:stop].reshape(-1))

        self.each_chunk(count, store)
        return out

    def blocks_at(self, offsets: np.ndarray) -> np.ndarray:
        """The blocks `offsets` (uint64, any shape) further on, as uint32 of shape offsets.shape + (4,)."""
        return _words_of(_turned(self.halves_at(offsets)).T).reshape(offsets.shape + (4,))

    def halves_at(self, offsets: np.ndarray) -> np.ndarray:
        """The same blocks as uint64 of shape (2, offsets.size): their first two words, and their last two.

        The first of two words is the more significant one.
        """
        flat = np.ascontiguousarray(offsets, np.uint64).reshape(-1)
        out = np.empty((2, flat.size), np.uint64)
        low, high = self.counter & _MASK64, self.counter >> 64
        keys = self._round_keys()
        for start in range(0, flat.size, _CHUNK):
            part = flat[start : start + _CHUNK]
            halves = out[:, start : start + part.size]
            counter = np.empty_like(halves)
            np.add(part, np.uint64(low), out=counter[0])
            counter[1] = high
            if low:
                counter[1] += counter[0] < part  # the carry
            _turned(counter, halves)
            _philox_rounds(halves, keys, counter)
        return out

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
            odd, even = np.empty((2, 2, stop - start), np.uint64)
            self._first_rounds(self.counter + start * stride, ramp[: stop - start], odd)
            _philox_rounds(odd, keys[1:], even)
            np.right_shift(odd, _SHIFT, out=even)
            odd &= _LOW
            consume(even, odd, start, stop)

        if len(starts) > 2:
            parts.in_parts(compute, len(starts) - 1)
        else:
            compute(0)

    def _round_keys(self) -> list[tuple[np.ndarray, np.ndarray]]:
        low, high = self.key & _MASK32, self.key >> 32
        weyl0, weyl1 = _PHILOX_WEYL
        rows = [(low + i * weyl0 & _MASK32, high + i * weyl1 & _MASK32) for i in range(_PHILOX_ROUNDS)]
        return _in_pairs([[np.array(key, np.uint64) for key in row] for row in rows])

    def _first_rounds(self, counter, ramp, halves) -> None:
        """Rounds one and two, in which three, then two, of the four words are the same in all blocks."""
        multiplier0, multiplier1 = _PHILOX_MULTIPLIERS
        key0, key1 = self.key & _MASK32, self.key >> 32
        x1, x2, x3 = (counter >> shift & _MASK32 for shift in (32, 64, 96))
        product1 = x2 * multiplier1
        x0 = product1 >> 32 ^ x1 ^ key0
        x1 = product1 & _MASK32
        product0 = (ramp + np.uint64(counter & _MASK32)) * _MULTIPLIER_0
        second = product0 >> _SHIFT
        second ^= np.uint64(x3 ^ key1)

        key0, key1 = key0 + _PHILOX_WEYL[0] & _MASK32, key1 + _PHILOX_WEYL[1] & _MASK32
        same0 = x0 * multiplier0
        first_half, second_half = halves
        np.multiply(second, _MULTIPLIER_1, out=first_half)
        first_half ^= np.uint64((x1 ^ key0) << 32)
        np.left_shift(product0, _SHIFT, out=second_half)
        second_half ^= np.uint64(same0 ^ key1 << 32)


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
        halves = _turned(np.stack([low, high]))
        first = np.stack([keys[some] & _LOW, keys[some] >> _SHIFT])[:, :, None]
        steps = np.arange(_PHILOX_ROUNDS, dtype=np.uint64)[:, None] * np.array(_PHILOX_WEYL, np.uint64)
        round_keys = (first + steps[:, :, None, None]) & _LOW
        _philox_rounds(halves, _in_pairs(round_keys), np.empty_like(halves))
        _turned(halves, np.moveaxis(out[some], 2, 0))
    return _words_of(out)


def _words_of(pairs: np.ndarray) -> np.ndarray:
    """Splits uint64 of shape (..., 2) into uint32 of shape (..., 4), low words first."""
    pairs = np.ascontiguousarray(pairs)
    if sys.byteorder == "big":
        pairs = _turned(pairs)
    return pairs.view(np.uint32)


def _turned(numbers: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The upper halves below, and the lower ones above."""
    return np.bitwise_or(numbers << _SHIFT, numbers >> _SHIFT, out=out)


def _in_pairs(keys) -> list[tuple[np.ndarray, np.ndarray]]:
    """The keys of each round, two for two halves of a block, as `_philox_rounds` wants them."""
    return [
        (now[0] << _SHIFT | later[0], now[1] << _SHIFT | later[1]) for now, later in zip(keys[0::2], keys[1::2])
    ]


def _philox_rounds(halves, keys, products) -> None:
    """Runs two Philox rounds per row of `keys`, in place.

    A half of a block has an even word above, and an odd word below. The product of an even word and a multiplier has
    the next odd word of the other half below already, and above what becomes that half's next even word when its odd
    word and the key are added without carry. The odd word also takes the key of the round after this one along.
    """
    first, second = halves
    product0, product1 = products
    for key0, key1 in keys:
        for is_keyed in (True, False):
            np.right_shift(first, _SHIFT, out=product0)
            product0 *= _MULTIPLIER_0
            np.right_shift(second, _SHIFT, out=product1)
            product1 *= _MULTIPLIER_1
            first <<= _SHIFT
            first ^= product1
            second <<= _SHIFT
            second ^= product0
            if is_keyed:
                first ^= key0
                second ^= key1


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
