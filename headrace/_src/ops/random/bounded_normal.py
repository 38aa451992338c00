"""Normal numbers with given mean and standard deviation, between given bounds, by rejection.

Robert, "Simulation of truncated normal variables" (1995): depending on where the bounds lie, proposals are
normal, uniform between the bounds, or exponential above the lower one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headrace._src.core import errors
from headrace._src.ops.random import samplers
from headrace._src.ops.random.bits import Philox
from headrace._src.ops.random.box_muller import log_float32

# TF: an output may use this many proposals, of two numbers each; more is an error.
MAX_PROPOSALS = 1000
# TF: with the mean inside and one bound this many standard deviations away, proposals are normal.
_WIDE = 1.3
# With more parameter sets than this, the outputs have a part of the stream each instead of taking turns.
_FEW_SETS = 32

_NORMAL, _UNIFORM, _EXPONENTIAL = range(3)


class _Proposal(NamedTuple):
    """How to sample one or more parameter sets; each field is a scalar or an array, in the working dtype."""

    mean: np.ndarray
    deviation: np.ndarray  # negative when the bounds were mirrored
    low: np.ndarray  # the bounds, in standard deviations from the mean
    high: np.ndarray
    method: np.ndarray

    def __getitem__(self, which):
        return _Proposal(*(np.asarray(field)[which] for field in tuple(self)))


def _prepare(means, deviations, minvals, maxvals) -> _Proposal:
    valid = (deviations > 0) & (minvals < maxvals) & (np.isfinite(minvals) | np.isfinite(maxvals))
    if not valid.all():
        bad = int(np.flatnonzero(~valid)[0])
        raise errors.invalid_argument(
            "parameterized_truncated_normal: Invalid parameters: stddevs must be positive, minvals below "
            "maxvals, and one of the bounds finite, "
            f"got stddev {deviations[bad]}, minval {minvals[bad]}, maxval {maxvals[bad]}.",
        )
    dtype = means.dtype.type
    # A lone bound is made the lower one, and bounds on one side of the mean are made positive.
    mirrored = np.isneginf(minvals) | (maxvals < means)
    lower, upper = np.where(mirrored, maxvals, minvals), np.where(mirrored, minvals, maxvals)
    deviations = np.where(mirrored, -deviations, deviations)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        low, high = (lower - means) / deviations, (upper - means) / deviations
        root = np.sqrt(low * low + dtype(4))
        cutoff = dtype(2) * np.exp(dtype(0.5) + low * (low - root) / dtype(4)) / (low + root)
        wide = ((low < -dtype(_WIDE)) & (high >= 0)) | ((high > dtype(_WIDE)) & (low <= 0))
        method = np.where(wide, _NORMAL, np.where(high - low < cutoff, _UNIFORM, _EXPONENTIAL))
    return _Proposal(means, deviations, low, high, method)


def _log(x: np.ndarray) -> np.ndarray:
    if x.dtype == np.float64:
        return np.log(x)
    positive = np.where(x > 0, x, 1).astype(np.float32)
    return np.where(x > 0, log_float32(positive), -np.inf).astype(x.dtype)


def _blocks_per_draw(method: int) -> int:
    return 2 if method == _UNIFORM else 1


def _candidates(method: int, words: np.ndarray, proposal: _Proposal) -> tuple[np.ndarray, np.ndarray]:
    """Proposes numbers.

    Args:
        method: one of the three.
        words: uint32 of shape (n, blocks per draw, 4).
        proposal: for all of them, or for each of the n.

    Returns:
        The numbers of each draw, and which of them are accepted, of shape (n, 4), (n, 2) or (n, 1).
    """
    mean, deviation, low, high, _ = (np.asarray(field).reshape(-1, 1) for field in proposal)
    dtype = mean.dtype
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        if method == _NORMAL:
            x = samplers.normal_from_words(words[:, 0], dtype)
            accepted = (x >= low) & (x <= high)
        elif method == _UNIFORM:
            x = samplers.uniform_from_words(words[:, 0].copy(), dtype) * (high - low) + low
            plus = np.where(low < 0, dtype.type(0), low * low)
            height = samplers.uniform_from_words(words[:, 1].copy(), dtype)
            accepted = height <= np.exp((plus - x * x) / dtype.type(2))
        else:
            draws = samplers.uniform_from_words(words[:, 0].copy(), dtype)
            alpha = (low + np.sqrt(low * low + dtype.type(4))) / dtype.type(2)
            x = -_log(draws[:, 0::2]) / alpha + low
            distance = np.where(low < alpha, alpha - x, low - alpha)
            accepted = (draws[:, 1::2] <= np.exp(-distance * distance / dtype.type(2))) & (x < high)
        return x * deviation + mean, accepted


def _fail():
    raise errors.internal(
        f"parameterized_truncated_normal: {MAX_PROPOSALS} proposals in a row were rejected; "
        "the bounds are too far from the mean for the dtype.",
    )


def _take_in_turn(stream: Philox, proposal: _Proposal, count: int) -> tuple[np.ndarray, Philox]:
    """The first `count` accepted numbers of one parameter set, and where the stream goes on after them."""
    method = int(proposal.method)
    blocks = _blocks_per_draw(method)
    taken, rejected = [], 0
    draws = max(8, count // 2)
    while True:
        words = stream.blocks(draws * blocks).reshape(draws, blocks, 4)
        values, accepted = _candidates(method, words, proposal)
        found = np.flatnonzero(accepted)
        if found.size >= count:
            last = found[count - 1]
            taken.append(values.reshape(-1)[found[:count]])
            return np.concatenate(taken), stream.skip((int(last) // values.shape[1] + 1) * blocks)
        rejected = values.size - 1 - int(found[-1]) if found.size else rejected + values.size
        if rejected >= MAX_PROPOSALS:
            _fail()
        taken.append(values.reshape(-1)[found])
        count -= found.size
        stream = stream.skip(draws * blocks)


def _take_each(stream: Philox, proposal: _Proposal, samples: int) -> np.ndarray:
    """`samples` numbers of each parameter set, every one from its own part of the stream."""
    dtype = proposal.mean.dtype
    per_block = 2 if dtype == np.float64 else 4
    result = np.empty(proposal.mean.size * samples, dtype)
    index = np.arange(result.size)
    place = ((index * (2 * MAX_PROPOSALS) + per_block - 1) // per_block).astype(np.uint64)
    for method in (_NORMAL, _UNIFORM, _EXPONENTIAL):
        active = np.flatnonzero(proposal.method[index // samples] == method)
        blocks = _blocks_per_draw(method)
        steps = np.arange(blocks, dtype=np.uint64)
        for draw in range(MAX_PROPOSALS):
            if not active.size:
                break
            words = stream.blocks_at(place[active, None] + np.uint64(draw * blocks) + steps)
            values, accepted = _candidates(method, words, proposal[active // samples])
            done = accepted.any(axis=1)
            result[active[done]] = values[done, accepted[done].argmax(axis=1)]
            active = active[~done]
        if active.size:
            _fail()
    return result.reshape(-1, samples)


def bounded_normal(stream: Philox, samples: int, means, deviations, minvals, maxvals) -> np.ndarray:
    """Draws `samples` numbers for each of the parameter sets (arrays of one dimension, of one dtype).

    TF: the sets use the stream one after the other, as in TensorFlow with one thread (its results depend on
    the number of threads). Beyond a few sets, each output has its own part of the stream, as it would in
    TensorFlow with a thread for every output.

    Returns:
        An array of shape (sets, samples).

    Raises:
        InvalidArgumentError: if a standard deviation is not positive or bounds are in the wrong order.
        InternalError: if no number is accepted.
    """
    proposal = _prepare(means, deviations, minvals, maxvals)
    if not samples or not means.size:
        return np.empty((means.size, samples), means.dtype)
    if means.size > _FEW_SETS:
        return _take_each(stream, proposal, samples)
    result = np.empty((means.size, samples), means.dtype)  # first, so that too many numbers fail at once
    for number in range(means.size):
        result[number], stream = _take_in_turn(stream, proposal[number], samples)
    return result


def bounded_normal_in_parts(stream: Philox, sizes, mean, deviation, minval, maxval) -> np.ndarray:
    """Draws for one parameter set, beginning a new block after each of `sizes` numbers."""
    parameters = [np.reshape(value, 1) for value in (mean, deviation, minval, maxval)]
    proposal = _prepare(*parameters)
    if len(sizes) > _FEW_SETS:
        return _take_each(stream, proposal, sum(sizes))[0]
    proposal = proposal[0]
    parts = []
    for size in sizes:
        part, stream = _take_in_turn(stream, proposal, size)
        parts.append(part)
    return np.concatenate(parts) if parts else np.empty(0, proposal.mean.dtype)
