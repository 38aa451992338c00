"""Drawing some of many classes, for losses that look at a sample of them: samplers and accidental hits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import errors
from headrace._src.core.random_state import draw_seeds, random_state
from headrace._src.core.shapes import TensorShape
from headrace._src.formats import files as filesystem
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.ops.random.bits import Philox
from headrace._src.ops.random.samplers import uniform_float64, uniform_from_words
from headrace._src.ops.random.seeds import take_stream

if TYPE_CHECKING:
    from headrace._src.attached import (
        AllCandidateSampler,
        ComputeAccidentalHits,
        FixedUnigramCandidateSampler,
        LearnedUnigramCandidateSampler,
        LogUniformCandidateSampler,
        UniformCandidateSampler,
    )

# TF: a call reserves this many words for each candidate.
_WORDS_PER_CANDIDATE = 2048


class _Words:
    """Reads a stream word by word, many at a time."""

    def __init__(self, stream: Philox):
        self._stream = stream
        self._position = 0

    def take(self, count: int) -> np.ndarray:
        """The next `count` words."""
        first = self._position
        self._position += count
        skip = first % 4
        return self._stream.skip(first // 4).words(skip + count)[skip:]

    def back(self, count: int) -> None:
        """Puts the last `count` words back."""
        self._position -= count


def _unbiased(draws: np.ndarray, limit: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Random words as numbers below `limit`, and which of them may be used."""
    kind = draws.dtype.type
    if limit & (limit - 1) == 0:
        return draws & kind(limit - 1), np.ones(draws.size, bool)
    remainder = ((1 << bits) - 1) % limit + 1
    return draws % kind(limit), draws >= kind(remainder)


class _UniformClasses:
    def __init__(self, classes: int):
        self.classes = classes

    def sample(self, words: _Words, count: int) -> np.ndarray:
        pairs = words.take(2 * count).reshape(-1, 2)
        draws = pairs[:, 0] | pairs[:, 1].astype(np.uint64) << np.uint64(32)
        numbers, usable = _unbiased(draws, self.classes, 64)
        return numbers[usable].astype(np.int64)

    def probability(self, values: np.ndarray) -> np.ndarray:
        return np.full(values.shape, np.float32(1.0 / self.classes))

    def learn(self, values: np.ndarray) -> None:
        pass


class _LogUniformClasses(_UniformClasses):
    """Zipf-like: class k has probability proportional to log((k + 2) / (k + 1))."""

    def sample(self, words, count):
        draws = uniform_float64(words.take(2 * count).reshape(-1, 2))
        return (np.exp(draws * math.log1p(self.classes)).astype(np.int64) - 1) % self.classes

    def probability(self, values):
        return (np.log((values + 2.0) / (values + 1.0)) / math.log1p(self.classes)).astype(np.float32)


class _LearnedClasses(_UniformClasses):
    """Each class is as frequent as it was among the true classes so far."""

    def __init__(self, classes):
        super().__init__(classes)
        self._weights = np.ones(classes, np.int64)

    def sample(self, words, count):
        cumulative = self._weights.cumsum()
        numbers, usable = _unbiased(words.take(count), int(cumulative[-1]), 32)
        return np.searchsorted(cumulative, numbers[usable].astype(np.int64), side="right")

    def probability(self, values):
        return self._weights[values].astype(np.float32) / np.float32(self._weights.sum())

    def learn(self, values):
        room = 2**31 - 1 - int(self._weights.sum())
        np.add.at(self._weights, values[: max(room, 0)], 1)


class _FixedClasses(_UniformClasses):
    """Given frequencies, drawn by the alias method."""

    def __init__(self, classes, weights: np.ndarray):
        super().__init__(classes)
        self._weights = weights
        # TF: the sum is kept in float32.
        self._total = weights.cumsum(dtype=np.float32)[-1]
        self._share, self._alias = _alias_table(weights)

    def sample(self, words, count):
        number = self._weights.size
        pairs = words.take(2 * count).reshape(-1, 2)
        places, usable = _unbiased(pairs[:, 1], number, 32)
        if not usable.all():
            # A place that is refused is drawn again from the next word, and all that follows moves by one.
            good = int(np.argmin(usable))
            words.back(2 * (count - good))
            head = self._choose(pairs[:good, 0].copy(), places[:good])
            share = words.take(1)
            while True:
                place, usable = _unbiased(words.take(1), number, 32)
                if usable[0]:
                    return np.concatenate([head, self._choose(share.copy(), place)])
        return self._choose(pairs[:, 0].copy(), places)

    def _choose(self, shares, places):
        keep = uniform_from_words(shares, np.float32) < self._share[places]
        return np.where(keep, places, self._alias[places]).astype(np.int64)

    def probability(self, values):
        return self._weights[values] / self._total


def _alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each place, the share that is its own, and to whom the rest belongs (Walker's alias method)."""
    number = weights.size
    share = weights.astype(np.float32) * np.float32(number) / weights.astype(np.float64).cumsum()[-1]
    share = share.tolist()
    alias = list(range(number))
    low = [i for i in range(number) if share[i] < 1.0]
    high = [i for i in range(number) if share[i] >= 1.0]
    while high and low:
        poor, rich = low.pop(), high.pop()
        alias[poor] = rich
        share[rich] -= 1.0 - share[poor]
        (low if share[rich] < 1.0 else high).append(rich)
    for place in (*high, *low):  # rounding errors aside, these are full
        share[place] = 1.0
        alias[place] = place
    return np.array(share, np.float32), np.array(alias, np.int64)


def _draw(sampler, stream, count, unique):
    """`count` candidates, all different if `unique`, and how many were drawn to get them."""
    words = _Words(stream)
    drawn = np.empty(0, np.int64)
    wanted = count
    while True:
        drawn = np.concatenate([drawn, sampler.sample(words, wanted)])
        if not unique:
            if drawn.size >= count:
                return drawn[:count], count
            wanted = count - drawn.size
            continue
        _, first = np.unique(drawn, return_index=True)
        if first.size >= count:
            first.sort()
            return drawn[first[:count]], int(first[count - 1]) + 1
        wanted = max(64, min(2 * drawn.size, 1 << 20))
        if drawn.size > 2**31:
            raise errors.internal("candidate sampler: no end of drawing different candidates in sight.")


def _expected(probability, count, tries):
    """How often a class is expected among the candidates."""
    if tries == count:
        return probability * np.float32(count)
    miss = np.log1p(-probability.astype(np.float64)).astype(np.float32)
    return -np.expm1((np.float32(tries) * miss).astype(np.float64)).astype(np.float32)


def _sample(name, make, true_classes, num_true, num_sampled, unique, seed, seed2, key=()):
    _check_true_classes(name, true_classes, num_true, num_sampled)
    owner = name, num_true, num_sampled, unique, *key
    sampler = random_state.memory(owner, seed, seed2, make)
    if unique and num_sampled > sampler.classes:
        raise errors.invalid_argument(
            f"{name}: num_sampled must be at most the number of classes, {sampler.classes}, when unique, "
            f"got {num_sampled}."
        )
    _check_range(name, true_classes, sampler.classes)
    stream = take_stream(owner, seed, seed2, num_sampled * _WORDS_PER_CANDIDATE // 4)
    candidates, tries = _draw(sampler, stream, num_sampled, unique)
    true_count = _expected(sampler.probability(true_classes), num_sampled, tries)
    sampled_count = _expected(sampler.probability(candidates), num_sampled, tries)
    sampler.learn(true_classes.ravel())
    return candidates, true_count, sampled_count


def _check_true_classes(name, true_classes, num_true, num_sampled):
    for argument, number in (("num_true", num_true), ("num_sampled", num_sampled)):
        if number < 1:
            raise errors.invalid_argument(f"{name}: {argument} must be at least 1, got {number}.")
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise errors.invalid_argument(
            f"{name}: true_classes must be a matrix with num_true = {num_true} columns, "
            f"got shape {true_classes.shape}."
        )


def _check_range(name, true_classes, classes):
    outside = (true_classes < 0) | (true_classes >= classes)
    if outside.any():
        raise errors.invalid_argument(
            f"{name}: true_classes must be in [0, {classes}), got {true_classes[outside][0]}."
        )


def _infer_sampler(true_classes, num_true, num_sampled, **attrs):
    rows = None if true_classes.shape.rank is None else true_classes.shape[0]
    return TensorShape([num_sampled]), TensorShape([rows, num_true]), TensorShape([num_sampled])


_RESULTS = "sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32"


def _sampler_op(name, kind, limit=None):
    """The record of a sampler with attribute `range_max`."""

    def kernel(true_classes, num_true, num_sampled, unique, range_max, seed, seed2):
        if range_max < 1:
            raise errors.invalid_argument(f"{name}: range_max must be at least 1, got {range_max}.")
        if limit is not None and range_max >= limit:
            raise errors.invalid_argument(f"{name}: range_max must be below {limit}, got {range_max}.")
        make = lambda: kind(range_max)
        key = (range_max,)
        return _sample(name, make, true_classes, num_true, num_sampled, unique, seed, seed2, key)

    return Op(
        name,
        "true_classes: int64, *, num_true: int, num_sampled: int, unique: bool, range_max: int, "
        f"seed: int = 0, seed2: int = 0 -> {_RESULTS}",
        infer=_infer_sampler,
        kernel=kernel,
        lower=None,  # how many draws are needed for different candidates depends on the draws
        grad=None,
        stateful=True,
    )


UNIFORM_CANDIDATE_SAMPLER = _sampler_op("UniformCandidateSampler", _UniformClasses)
LOG_UNIFORM_CANDIDATE_SAMPLER = _sampler_op("LogUniformCandidateSampler", _LogUniformClasses)
LEARNED_UNIGRAM_CANDIDATE_SAMPLER = _sampler_op(
    "LearnedUnigramCandidateSampler", _LearnedClasses, limit=2**31 - 1
)
THREAD_UNSAFE_UNIGRAM_CANDIDATE_SAMPLER = _sampler_op(
    "ThreadUnsafeUnigramCandidateSampler", _LearnedClasses, limit=2**31 - 1
)


def _all_candidates(true_classes, num_true, num_sampled, unique, seed, seed2):
    name = "AllCandidateSampler"
    _check_true_classes(name, true_classes, num_true, num_sampled)
    _check_range(name, true_classes, num_sampled)
    ones = np.ones(num_sampled, np.float32)
    return np.arange(num_sampled, dtype=np.int64), np.ones(true_classes.shape, np.float32), ones


ALL_CANDIDATE_SAMPLER = Op(
    "AllCandidateSampler",
    "true_classes: int64, *, num_true: int, num_sampled: int, unique: bool, "
    f"seed: int = 0, seed2: int = 0 -> {_RESULTS}",
    infer=_infer_sampler,
    kernel=_all_candidates,
    lower=None,  # as the other samplers
    grad=None,
    stateful=True,
)


def _read_weights(vocab_file):
    weights = []
    for line in filesystem.read(vocab_file).decode(errors="replace").splitlines():
        text = line.split(",")[-1]
        try:
            weights.append(float(text))
        except ValueError:
            raise errors.invalid_argument(
                f"FixedUnigramCandidateSampler: the last column of vocab_file must hold numbers, got {line!r}."
            ) from None
    return weights


def _fixed_candidates(
    true_classes,
    num_true,
    num_sampled,
    unique,
    range_max,
    vocab_file,
    distortion,
    num_reserved_ids,
    num_shards,
    shard,
    unigrams,
    seed,
    seed2,
):
    name = "FixedUnigramCandidateSampler"
    if bool(vocab_file) == bool(unigrams):
        raise errors.invalid_argument(f"{name}: one of vocab_file and unigrams must be given, and only one.")
    if num_shards < 1 or shard < 0:
        raise errors.invalid_argument(f"{name}: num_shards must be positive and shard not negative.")

    def make():
        try:
            given = unigrams or _read_weights(vocab_file)
        except OSError as error:
            raise errors.not_found(f"{name}: {vocab_file}: {error.strerror}") from None
        skewed = np.power(np.array(given, np.float32), np.float32(distortion))
        every = np.concatenate([np.zeros(num_reserved_ids, np.float32), skewed])
        reserved = np.arange(num_reserved_ids)
        # TF: ids beyond the reserved ones are counted from how many of those are of this shard.
        mine = np.count_nonzero(reserved % num_shards == shard)
        ids = np.concatenate([reserved, mine + np.arange(skewed.size)])
        weights = every[ids % num_shards == shard]
        if weights.size != range_max:
            raise errors.invalid_argument(
                f"{name}: range_max must be the number of weights, {weights.size}, got {range_max}."
            )
        return _FixedClasses(range_max, weights)

    key = (range_max, vocab_file, distortion, num_reserved_ids, num_shards, shard, tuple(unigrams))
    return _sample(name, make, true_classes, num_true, num_sampled, unique, seed, seed2, key)


FIXED_UNIGRAM_CANDIDATE_SAMPLER = Op(
    "FixedUnigramCandidateSampler",
    "true_classes: int64, *, num_true: int, num_sampled: int, unique: bool, range_max: int, "
    "vocab_file: string = '', distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int = 1, "
    f"shard: int = 0, unigrams: list(float) = [], seed: int = 0, seed2: int = 0 -> {_RESULTS}",
    infer=_infer_sampler,
    kernel=_fixed_candidates,
    lower=None,  # as the other samplers
    grad=None,
    stateful=True,
)


def _candidates(op, true_classes, num_true, num_sampled, unique, range_max, seed, name, **attrs):
    seed, seed2 = draw_seeds(seed)
    return op(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        seed=seed,
        seed2=seed2,
        name=name,
        **attrs,
    )


@api("random.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
) -> UniformCandidateSampler:
    """Draws candidates, all classes being equally likely.

    Args:
        true_classes: int64 of shape (batch, num_true), the classes that are right.
        num_true: how many are right for each example.
        num_sampled: how many candidates to draw.
        unique: whether the candidates must all be different.
        range_max: the number of classes.
        seed: the op's own seed; see `tf.random.set_seed`.
        name: a name for the operation.

    Returns:
        The candidates, and how often each true class and each candidate is expected among them.
    """
    return _candidates(UNIFORM_CANDIDATE_SAMPLER, true_classes, num_true, num_sampled, unique, range_max, seed, name)


@api("random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
) -> LogUniformCandidateSampler:
    """Draws candidates from classes that are sorted by falling frequency, by Zipf's law.

    Arguments and results are those of `tf.random.uniform_candidate_sampler`.
    """
    op = LOG_UNIFORM_CANDIDATE_SAMPLER
    return _candidates(op, true_classes, num_true, num_sampled, unique, range_max, seed, name)


@api("random.learned_unigram_candidate_sampler", "nn.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
) -> LearnedUnigramCandidateSampler:
    """Draws candidates by how frequent they were among the true classes of earlier calls.

    Arguments and results are those of `tf.random.uniform_candidate_sampler`.
    """
    op = LEARNED_UNIGRAM_CANDIDATE_SAMPLER
    return _candidates(op, true_classes, num_true, num_sampled, unique, range_max, seed, name)


@api("random.fixed_unigram_candidate_sampler", "nn.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes,
    num_true,
    num_sampled,
    unique,
    range_max,
    vocab_file="",
    distortion=1.0,
    num_reserved_ids=0,
    num_shards=1,
    shard=0,
    unigrams=(),
    seed=None,
    name=None,
) -> FixedUnigramCandidateSampler:
    """Draws candidates by given frequencies.

    Args:
        true_classes, num_true, num_sampled, unique, range_max: as for `tf.random.uniform_candidate_sampler`.
        vocab_file: a CSV file whose last column holds the frequencies.
        distortion: the power to which the frequencies are raised.
        num_reserved_ids: how many ids before those with a frequency are never drawn.
        num_shards, shard: to use only the ids that leave `shard` when divided by `num_shards`.
        unigrams: the frequencies, instead of a file.
        seed: the op's own seed; see `tf.random.set_seed`.
        name: a name for the operation.
    """
    return _candidates(
        FIXED_UNIGRAM_CANDIDATE_SAMPLER,
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        seed,
        name,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=[float(weight) for weight in unigrams],
    )


@api("random.all_candidate_sampler", "nn.all_candidate_sampler")
def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None) -> AllCandidateSampler:
    """Returns all `num_sampled` classes as candidates, to see what a loss is without sampling.

    Arguments and results are those of `tf.random.uniform_candidate_sampler`.
    """
    seed, seed2 = draw_seeds(seed)
    return ALL_CANDIDATE_SAMPLER(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        seed=seed,
        seed2=seed2,
        name=name,
    )


def _accidental_hits(true_classes, sampled_candidates, num_true, seed, seed2):
    name = "ComputeAccidentalHits"
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise errors.invalid_argument(
            f"{name}: true_classes must be a matrix with num_true = {num_true} columns, "
            f"got shape {true_classes.shape}."
        )
    if sampled_candidates.ndim != 1:
        raise errors.invalid_argument(
            f"{name}: sampled_candidates must be a vector, got shape {sampled_candidates.shape}."
        )
    # The last place of each candidate: the first when read from the end.
    known, from_end = np.unique(sampled_candidates[::-1], return_index=True)
    places = sampled_candidates.size - 1 - from_end
    flat = true_classes.ravel()
    found = np.searchsorted(known, flat)
    if known.size:
        hit = known[np.minimum(found, known.size - 1)] == flat
    else:
        hit = np.zeros(flat.size, bool)
    rows = np.flatnonzero(hit) // max(num_true, 1)
    weights = np.full(rows.size, np.finfo(np.float32).min)
    return rows.astype(np.int32), places[found[hit]].astype(np.int64), weights


COMPUTE_ACCIDENTAL_HITS = Op(
    "ComputeAccidentalHits",
    "true_classes: int64, sampled_candidates: int64, *, num_true: int, seed: int = 0, seed2: int = 0 "
    "-> indices: int32, ids: int64, weights: float32",
    infer=lambda *inputs, **attrs: (TensorShape([None]),) * 3,
    kernel=_accidental_hits,
    lower=None,  # how many hits there are depends on the classes
    grad=None,
)


@api("nn.compute_accidental_hits")
def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None) -> ComputeAccidentalHits:
    """Finds candidates that are true classes of an example.

    Args:
        true_classes: int64 of shape (batch, num_true).
        sampled_candidates: int64, what a candidate sampler drew.
        num_true: how many classes are right for each example.
        seed: not used.
        name: a name for the operation.

    Returns:
        For each hit the example's row, the candidate's place, and the lowest float32, to be added to its
        logit.

    >>> rows, places, _ = tf.nn.compute_accidental_hits([[5], [3]], [3, 8, 5], num_true=1)
    >>> rows.numpy().tolist(), places.numpy().tolist()
    ([0, 1], [2, 0])
    """
    seed, seed2 = draw_seeds(seed)
    return COMPUTE_ACCIDENTAL_HITS(
        true_classes,
        sampled_candidates,
        num_true=num_true,
        seed=seed,
        seed2=seed2,
        name=name,
    )
