"""Random orders: shuffling along the first axis, and the place of single indices in a permutation."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.random_state import draw_seeds
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import UNKNOWN, same_as_input
from headrace._src.ops.arrays.joining import concat
from headrace._src.ops.random import lowering, samplers
from headrace._src.ops.random.seeds import (
    checked_algorithm,
    key_counter_alg,
    keyed_stream,
    only_philox,
    take_stream,
)


def _shuffle(value, seed, seed2):
    if value.size <= 1 or value.shape[0] <= 1:
        return value
    # TF: unlike other ops, a shuffle reserves what it uses.
    blocks = -(-(value.shape[0] - 1) // 4)
    stream = take_stream(("RandomShuffle", value.dtype), seed, seed2, blocks)
    return samplers.shuffled(stream, value)


def _lower_shuffle(ctx, value, seed, seed2):
    if value.size <= 1 or value.shape[0] <= 1:
        return value
    stream = lowering.Philox(*ctx.random_stream(seed, seed2, -(-(value.shape[0] - 1) // 4)))
    return value[lowering.permutation(stream, value.shape[0])]


RANDOM_SHUFFLE = Op(
    "RandomShuffle",
    "value: T, *, seed: int = 0, seed2: int = 0 -> output: T",
    infer=same_as_input,
    kernel=_shuffle,
    lower=_lower_shuffle,
    grad=None,  # TF: not differentiable, although it could be
    stateful=True,
)


@api("random.shuffle")
def shuffle(value, seed=None, name=None) -> Tensor:
    """Puts the slices of a tensor along its first axis in a random order.

    Args:
        value: the tensor.
        seed: the op's own seed; see `tf.random.set_seed`.
        name: a name for the operation.

    >>> tf.random.set_seed(7)
    >>> tf.random.shuffle(tf.range(5), seed=1).numpy().tolist()
    [3, 4, 1, 0, 2]
    """
    seed, seed2 = draw_seeds(seed)
    return RANDOM_SHUFFLE(value, seed=seed, seed2=seed2, name=name)


def _stateless_shuffle(value, key, counter, alg):
    stream = keyed_stream("StatelessShuffle", key, counter, alg)
    only_philox("StatelessShuffle", int(alg))
    if value.size <= 1 or value.shape[0] <= 1:
        return value
    return samplers.shuffled(stream, value)


def _lower_stateless_shuffle(ctx, value, key, counter, alg):
    only_philox("StatelessShuffle", checked_algorithm("StatelessShuffle", key, counter, alg))
    if value.size <= 1 or value.shape[0] <= 1:
        return value
    return value[lowering.permutation(lowering.Philox(key, counter), value.shape[0])]


STATELESS_SHUFFLE = Op(
    "StatelessShuffle",
    "value: T, key: uint64, counter: uint64, alg: int32 -> output: T",
    infer=same_as_input,
    kernel=_stateless_shuffle,
    lower=_lower_stateless_shuffle,
    static=("alg",),
    grad=unregistered,  # TF: not differentiable, although it could be
)


@api("random.experimental.stateless_shuffle")
def stateless_shuffle(value, seed, alg="auto_select", name=None) -> Tensor:
    """Puts the slices of a tensor along its first axis in an order that depends on nothing but the seed.

    Args:
        value: the tensor.
        seed: two integers.
        alg: "philox", "auto_select" or a `tf.random.Algorithm`.
        name: a name for the operation.

    >>> tf.random.experimental.stateless_shuffle([[1, 2], [3, 4], [5, 6]], seed=[8, 9]).numpy().tolist()
    [[5, 6], [1, 2], [3, 4]]
    """
    return STATELESS_SHUFFLE(value, *key_counter_alg(seed, alg), name=name)


# Permuting indices one by one: a block cipher (Simon, eprint.iacr.org/2013/404, with few rounds) maps the
# numbers of 2 w bits to each other, and is applied again while the result is beyond the largest index.

_MIN_WORD_BITS = 8
_MAX_ROUNDS = 65536
_MAX_TABLES = 32
_ROUND_CONSTANT = 0xFFFFFFFC
_ROUND_BITS = 0x7369F885192C0EF5


def _rotate_left(x, distance, bits, mask):
    return (x << distance | x >> (bits - distance)) & mask


def _round_keys(key, rounds, bits, mask):
    """The keys of the rounds; `key` has three entries, each a uint64 array, like `bits` and `mask`."""
    u64 = np.uint64
    keys = [part & mask for part in key]
    constant = mask & u64(_ROUND_CONSTANT)
    for i in range(3, rounds):
        bit = u64(0)
        if i - 3 < 64:
            # The bits of the round constant beyond the word are dropped.
            bit = (mask >> u64(i - 3)) & u64(_ROUND_BITS >> (i - 3)) & u64(1)
        mixed = keys[-1] >> u64(3) | keys[-1] << (bits - u64(3))
        mixed = mixed ^ (keys[-1] >> u64(4) | keys[-1] << (bits - u64(4)))
        keys.append((constant ^ bit ^ keys[i - 3] ^ mixed) & mask)
    return keys


def _encrypt(value, keys, bits, mask):
    u64 = np.uint64

    def f(x):
        turned = _rotate_left(x, u64(1), bits, mask) & _rotate_left(x, u64(8), bits, mask)
        return turned ^ _rotate_left(x, u64(2), bits, mask)

    left, right = value >> bits & mask, value & mask
    for i in range(0, len(keys), 2):
        left = left ^ f(right) ^ keys[i]
        right = right ^ f(left) ^ keys[i + 1]
    return left << bits | right


def _word_bits(xp, max_index):
    """Half of the bits that the largest index needs, at least 8."""
    bits = xp.zeros_like(max_index)
    for shift in range(0, 64, 2):
        bits = bits + (max_index >> np.uint64(shift) != 0).astype(bits.dtype)
    return xp.maximum(bits, np.uint64(_MIN_WORD_BITS))


def _check_index_shapes(index, seed, max_index):
    name = "RandomIndexShuffle"
    count = max(index.size, max_index.size, seed.size // 3)
    for argument, value in (("index", index), ("max_index", max_index)):
        if value.ndim and (value.ndim > 1 or value.shape[0] != count):
            raise errors.invalid_argument(
                f"{name}: {argument} must be a scalar or a vector of length {count}, got shape {value.shape}."
            )
    if tuple(seed.shape) not in ((3,), (count, 3)):
        raise errors.invalid_argument(
            f"{name}: seed must have shape (3,) or ({count}, 3), got shape {tuple(seed.shape)}."
        )
    scalar = index.ndim == 0 and seed.ndim == 1 and max_index.ndim == 0
    return () if scalar else (count,)


def _check_rounds(rounds):
    if not 4 <= rounds <= _MAX_ROUNDS or rounds % 2:
        raise errors.invalid_argument(
            f"RandomIndexShuffle: rounds must be even and in [4, {_MAX_ROUNDS}], got {rounds}."
        )


def _walk(value, largest, keys):
    """Each value encrypted until it is in range, in the smallest domain and with one key: a few milliseconds.

    The domain has 65536 numbers, of which a small `largest` accepts so few that arrays would be gone through
    thousands of times; all walks together visit each number once.
    """
    bits, mask = np.uint64(_MIN_WORD_BITS), np.uint64((1 << _MIN_WORD_BITS) - 1)
    table = _encrypt(np.arange(1 << 2 * _MIN_WORD_BITS, dtype=np.uint64), keys, bits, mask).tolist()
    results = []
    for start, limit in zip(value.tolist(), largest.tolist()):
        at = start
        while limit:
            at = table[at]
            if at <= limit:
                break
        results.append(at)
    return np.array(results, np.uint64)


def _index_shuffle(index, seed, max_index, rounds):
    _check_rounds(rounds)
    shape = _check_index_shapes(index, seed, max_index)
    wide = [np.broadcast_to(value, shape or (1,)) for value in (index, max_index)]
    for argument, value in zip(("index", "max_index"), wide):
        if (value < 0).any():
            raise errors.invalid_argument(f"RandomIndexShuffle: {argument} must be >= 0, got {value.min()}.")
    beyond = wide[0] > wide[1]
    if beyond.any():
        bad = np.flatnonzero(beyond)[0]
        raise errors.invalid_argument(
            f"RandomIndexShuffle: max_index must be >= index, but {wide[1][bad]} < {wide[0][bad]}."
        )
    value, largest = (part.astype(np.uint64) for part in wide)
    words = np.broadcast_to(seed, (*value.shape, 3)).astype(np.uint64) & np.uint64(0xFFFFFFFF)
    bits = _word_bits(np, largest)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    seeds, which = np.unique(words, axis=0, return_inverse=True)
    if (bits == _MIN_WORD_BITS).all() and len(seeds) <= _MAX_TABLES:
        for i, part in enumerate(seeds):
            mine = np.flatnonzero(which.reshape(-1) == i)
            value[mine] = _walk(value[mine], largest[mine], _round_keys(list(part), rounds, bits[0], mask[0]))
        return value.astype(index.dtype).reshape(shape)
    keys = np.stack(_round_keys([words[:, i] for i in range(3)], rounds, bits, mask))
    active = np.flatnonzero(largest > 0)
    while active.size:
        value[active] = _encrypt(value[active], list(keys[:, active]), bits[active], mask[active])
        active = active[value[active] > largest[active]]
    return value.astype(index.dtype).reshape(shape)


def _lower_index_shuffle(ctx, index, seed, max_index, rounds):
    _check_rounds(rounds)
    shape = _check_index_shapes(index, seed, max_index)
    ok = jnp.all((index >= 0) & (index <= max_index))
    ctx.check(ok, errors.InvalidArgumentError, "RandomIndexShuffle: index must be in [0, max_index].")
    value = jnp.broadcast_to(index, shape or (1,)).astype(jnp.uint64)
    largest = jnp.broadcast_to(max_index, value.shape).astype(jnp.uint64)
    words = jnp.broadcast_to(seed, (*value.shape, 3)).astype(jnp.uint64) & np.uint64(0xFFFFFFFF)
    bits = _word_bits(jnp, largest)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    keys = _round_keys([words[:, i] for i in range(3)], rounds, bits, mask)

    def body(state):
        value, active = state
        value = jnp.where(active, _encrypt(value, keys, bits, mask), value)
        return value, active & (value > largest)

    # Indices that are out of range could go round for ever; the check above reports them.
    active = (largest > 0) & jnp.broadcast_to((index >= 0) & (index <= max_index), value.shape)
    value, _ = lax.while_loop(lambda state: jnp.any(state[1]), body, (value, active))
    return value.astype(index.dtype).reshape(shape)


def _infer_index_shuffle(index, seed, max_index, rounds):
    ranks = index.shape.rank, seed.shape.rank, max_index.shape.rank
    if None in ranks:
        return UNKNOWN
    if ranks == (0, 1, 0):
        return TensorShape([])
    for spec, rank in ((index, 1), (max_index, 1), (seed, 2)):
        if spec.shape.rank == rank and spec.shape[0] is not None:
            return TensorShape([spec.shape[0]])
    return TensorShape([None])


_INDICES = frozenset({dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64})

RANDOM_INDEX_SHUFFLE = Op(
    "RandomIndexShuffle",
    "index: dtype, seed: Tseed, max_index: dtype, *, rounds: int = 4 -> output: dtype",
    dtype=_INDICES,
    Tseed=_INDICES,
    infer=_infer_index_shuffle,
    kernel=_index_shuffle,
    lower=_lower_index_shuffle,
    grad=None,
)


@api("random_index_shuffle")
def random_index_shuffle(index, seed, max_index, rounds=4, name=None) -> Tensor:
    """The place of `index` in a random permutation of 0 to `max_index`, without making the permutation.

    Args:
        index: an integer from 0 to `max_index`, or a vector of them.
        seed: three integers, or a matrix with three for each index.
        max_index: the largest index, or a vector of them.
        rounds: how thoroughly to mix: an even number, at least 4.
        name: a name for the operation.

    >>> tf.random_index_shuffle(tf.range(5), [1, 2, 3], 4, rounds=6).numpy().tolist()
    [1, 4, 3, 2, 0]
    """
    return RANDOM_INDEX_SHUFFLE(index, seed, max_index, rounds=rounds, name=name)


@api("random.experimental.index_shuffle")
def index_shuffle(index, seed, max_index) -> Tensor:
    """The place of `index` in a random permutation of 0 to `max_index`, without making the permutation.

    Args:
        index: an integer from 0 to `max_index`, or a vector of them.
        seed: two integers, or a matrix with two for each index.
        max_index: the largest index, or a vector of them.

    >>> tf.random.experimental.index_shuffle(tf.range(4), seed=[5, 9], max_index=3).numpy().tolist()
    [2, 0, 1, 3]
    """
    seed = to_tensor(seed)
    # TF: the op wants three seeds; the first is this one.
    first = seed[..., :1] * 0 + 498247692
    return RANDOM_INDEX_SHUFFLE(index, concat([first, seed], axis=-1), max_index, rounds=4)
