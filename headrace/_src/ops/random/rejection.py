"""Samplers that reject: gamma, Poisson, binomial, and normal numbers between given bounds.

Each output has a part of the stream to itself, so outputs are independent of each other and of any order; all
of them go through the rejection steps together, and those not yet accepted go round again.
"""

from __future__ import annotations

import numpy as np

from headrace._src.core.lazy import LazyModule, scipy_special
from headrace._src.op.lanes import MANY
from headrace._src.ops.random import c_library
from headrace._src.ops.random.bits import Philox
from headrace._src.ops.random.box_muller import box_muller_float64
from headrace._src.ops.random.samplers import uniform_of_halves

parts = LazyModule("headrace._src.core.parts")  # many programs draw few numbers at a time

# TF: how many blocks of the stream an output has to itself.
_RESERVED_BLOCKS = 256
_RESERVED_BLOCKS_INVERSION = 42
# Outputs that are worked on at a time in one thread.
_CHUNK = 65536


def _normals(halves):
    return np.stack(box_muller_float64(*uniform_of_halves(halves)))


class _Reader:
    """Reads numbers for many outputs at once, each from its own place in a stream.

    A block gives two numbers. TF: uniform and normal numbers come from separate blocks, taken from the
    output's stream as they are needed, and the second number of a block is used first.
    """

    def __init__(self, stream: Philox, offsets: np.ndarray):
        self._stream = stream
        self._next_block = offsets.astype(np.uint64)
        self._buffers = {}

    def uniform(self, which) -> np.ndarray:
        """The next uniform number for each of the outputs `which`."""
        return self._next("uniform", uniform_of_halves, which)

    def normal(self, which) -> np.ndarray:
        """The next standard normal number for each of the outputs `which`."""
        return self._next("normal", _normals, which)

    def _next(self, kind, convert, which):
        size = self._next_block.size
        if kind not in self._buffers:
            if which.size == size:  # the usual beginning, without looking up who needs what
                values = convert(self._stream.halves_at(self._next_block))
                self._next_block += np.uint64(1)
                self._buffers[kind] = values, np.ones(size, np.int8)
                return values[1].copy()
            self._buffers[kind] = np.empty((2, size)), np.zeros(size, np.int8)
        values, left = self._buffers[kind]
        empty = which[left[which] == 0]
        if empty.size:
            values[:, empty] = convert(self._stream.halves_at(self._next_block[empty]))
            left[empty] = 2
            self._next_block[empty] += np.uint64(1)
        left[which] -= 1
        return values[left[which], which]


def _each_output(parameters, samples: int, draw) -> np.ndarray:
    """Calls `draw(index, *parameters)` on chunks of outputs.

    Args:
        parameters: float64 arrays of one dimension, of equal length.
        samples: how many outputs each set of parameters has. Output number `i` belongs to set `i // samples`.
        draw: takes the outputs' numbers and their parameters, gives their values.

    Returns:
        Float64 of shape (samples, number of sets).
    """
    sets = parameters[0].size
    result = np.empty(sets * samples)

    def fill(part):
        index = np.arange(part.start, part.stop)
        if sets == 1:
            chosen = [np.broadcast_to(parameter, index.shape) for parameter in parameters]
        else:
            own = part if samples == 1 else index // samples
            chosen = [parameter[own] for parameter in parameters]
        result[part] = draw(index, *chosen)

    if result.size > MANY:
        parts.in_long_slices(fill, result.size)
    else:
        for start in range(0, result.size, _CHUNK):
            fill(slice(start, min(start + _CHUNK, result.size)))
    return result.reshape(sets, samples).T


def _in_common(*parameters):
    """Parameters of outputs, and how to pick those of some; where all have the same, it is one number for all."""
    if all(parameter.strides == (0,) for parameter in parameters):
        return [parameter[:1] for parameter in parameters], lambda values, which: values
    return parameters, lambda values, which: values[which]


def to_dtype(values: np.ndarray, dtype) -> np.ndarray:
    """Casts float64 samples as C++ does, without NumPy's warning for what does not fit."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(values), values, 0.0).astype(dtype)
    if dtype.itemsize == 2:
        with np.errstate(over="ignore"):
            return values.astype(np.float32).astype(dtype)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def gamma(stream: Philox, alpha: np.ndarray, samples: int) -> np.ndarray:
    """Draws `samples` numbers of the gamma distribution for each of `alpha` (float64, one dimension).

    Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); for alpha below 1, a number
    for alpha + 1 times a power of a uniform number; for alpha = 1, the exponential distribution.

    Returns:
        Float64 of shape (samples, len(alpha)); NaN where alpha is NaN or too negative to have any meaning.
    """

    def draw(index, alpha):
        reader = _Reader(stream, index * _RESERVED_BLOCKS)
        below = alpha < 1.0
        d = alpha + np.where(below, 2.0 / 3, -1.0 / 3)
        with np.errstate(invalid="ignore", divide="ignore"):
            c = 1.0 / 3 / np.sqrt(d)
        result = np.full(index.size, np.nan)
        exponential = np.flatnonzero(alpha == 1.0)
        if exponential.size:
            result[exponential] = -c_library.log1p(-reader.uniform(exponential))
        active = np.flatnonzero((alpha != 1.0) & (d > 0.0))
        while active.size:
            x = reader.normal(active)
            v = 1.0 + c[active] * x
            positive = np.flatnonzero(v > 0.0)
            tried, x, v = active[positive], x[positive], v[positive]
            v = v * v * v
            u = reader.uniform(tried)
            squared = x * x
            accepted = u < 1.0 - 0.0331 * squared * squared
            unsure = np.flatnonzero(~accepted)
            with np.errstate(divide="ignore", invalid="ignore"):
                bound = d[tried[unsure]] * (1.0 - v[unsure] + np.log(v[unsure]))
                accepted[unsure] = np.log(u[unsure]) < 0.5 * x[unsure] * x[unsure] + bound
            done = tried[accepted]
            value = d[done] * v[accepted]
            small = np.flatnonzero(below[done])
            if small.size:
                scaled = done[small]
                with np.errstate(divide="ignore", over="ignore"):
                    value[small] *= c_library.power(reader.uniform(scaled), 1.0 / alpha[scaled])
            result[done] = value
            waiting = np.ones(active.size, bool)
            waiting[positive[accepted]] = False
            active = active[waiting]
        return result

    return _each_output([alpha], samples, draw)


def poisson(stream: Philox, rate: np.ndarray, samples: int) -> np.ndarray:
    """Draws `samples` numbers of the Poisson distribution for each of `rate` (float64, one dimension).

    Below a rate of 10 by multiplying uniform numbers (Knuth), from 10 on by transformed rejection (Hoermann,
    "The transformed rejection method for generating Poisson random variables", 1993).

    Returns:
        Float64 of shape (samples, len(rate)); NaN and infinite rates give NaN and infinity.
    """

    def draw(index, rate):
        result = np.where(np.isfinite(rate), 0.0, np.maximum(rate, 0.0))
        first_block = index * _RESERVED_BLOCKS
        _poisson_product(stream, first_block, rate, np.flatnonzero((rate < 10.0) & (rate > 0.0)), result)
        large = np.flatnonzero((rate >= 10.0) & np.isfinite(rate))
        if large.size:
            _poisson_rejection(_Reader(stream, first_block), rate, large, result)
        return result

    return _each_output([rate], samples, draw)


def _poisson_product(stream, first_block, rate, active, result):
    """How many numbers are multiplied until the product is below a limit, less one.

    All that are active have taken equally many, two of each block.
    """
    block = first_block[active].astype(np.uint64)
    (rate,), pick = _in_common(rate)
    limit, product, taken = np.exp(-pick(rate, active)), np.ones(active.size), 0
    while active.size:
        second, first = uniform_of_halves(stream.halves_at(block))
        product *= first
        result[active] = taken + (product > limit)
        product *= second
        more = np.flatnonzero(product > limit)
        active, block, limit, product = active[more], block[more], pick(limit, more), product[more]
        block += np.uint64(1)
        taken += 2


def _poisson_rejection(reader, rate, active, result):
    (rate,), pick = _in_common(rate)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_rate = np.log(rate)
        b = 0.931 + 2.53 * np.sqrt(rate)
        a = -0.059 + 0.02483 * b
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        v_limit = 0.9277 - 3.6224 / (b - 2.0)
    while active.size:
        u = reader.uniform(active) - 0.5
        v = reader.uniform(active)
        shifted = 0.5 - np.abs(u)
        mean, slope, tail = pick(rate, active), pick(b, active), pick(a, active)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            k = np.floor((2.0 * tail / shifted + slope) * u + mean + 0.43)
            accepted = (shifted >= 0.07) & (v <= pick(v_limit, active))
            possible = ~accepted & (k >= 0.0) & ((shifted >= 0.013) | (v <= shifted))
            unsure = np.flatnonzero(possible)
            inner = pick(tail, unsure) / (shifted[unsure] * shifted[unsure]) + pick(slope, unsure)
            height = np.log(v[unsure] * pick(inverse_alpha, active[unsure]) / inner)
            bound = -pick(mean, unsure) + k[unsure] * pick(log_rate, active[unsure])
            accepted[unsure] = height <= bound - scipy_special.gammaln(k[unsure] + 1.0)
        result[active[accepted]] = k[accepted]
        active = active[~accepted]


def binomial(stream: Philox, counts: np.ndarray, probs: np.ndarray, samples: int) -> np.ndarray:
    """Draws `samples` numbers of the binomial distribution for each pair of `counts` and `probs`.

    Both have one dimension and the same floating-point dtype.

    When fewer than 10 successes (or failures) are expected by summing geometric numbers, otherwise by
    transformed rejection (Hoermann, "The generation of binomial random variates", 1993).

    Returns:
        Float64 of shape (samples, len(counts)); NaN where a probability is NaN.
    """

    one = counts.dtype.type(1)
    # TF: which method is used is decided in the precision of the arguments.
    rarer = np.where(probs > 0.5, one - probs, probs)
    expected_many = counts * rarer >= 10

    def draw(index, count, prob, smaller, many):
        result = np.zeros(index.size)
        result[np.isnan(prob)] = np.nan
        possible = (count > 0.0) & (prob > 0.0)
        result[possible & (prob >= 1.0)] = count[possible & (prob >= 1.0)]
        mirrored = prob > 0.5
        active = possible & (prob < 1.0)
        few = np.flatnonzero(active & (many == 0.0))
        many = np.flatnonzero(active & (many != 0.0))
        _binomial_inversion(_Reader(stream, index * _RESERVED_BLOCKS_INVERSION), count, smaller, few, result)
        _binomial_rejection(_Reader(stream, index * _RESERVED_BLOCKS), count, smaller, many, result)
        flipped = active & mirrored
        result[flipped] = count[flipped] - result[flipped]
        return result

    parameters = [array.astype(np.float64) for array in (counts, probs, rarer, expected_many)]
    return _each_output(parameters, samples, draw)


def _binomial_inversion(reader, count, prob, active, result):
    total = np.zeros(count.size)
    (count, prob), pick = _in_common(count, prob)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.log1p(-prob)
    while active.size:
        with np.errstate(divide="ignore"):
            total[active] += np.ceil(np.log(reader.uniform(active)) / pick(scale, active))
        active = active[total[active] <= pick(count, active)]
        result[active] += 1.0


# log(k!) less Stirling's approximation, for k up to 9.
_STIRLING_TAIL = np.array(
    [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ]
)


def _stirling_tail(k):
    square = (k + 1.0) * (k + 1.0)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)
    return np.where(k <= 9.0, _STIRLING_TAIL[np.clip(k, 0.0, 9.0).astype(np.intp)], series)


def _binomial_rejection(reader, counts, probs, active, result):
    (counts, probs), pick = _in_common(counts, probs)
    while active.size:
        n, p = pick(counts, active), pick(probs, active)
        deviation = np.sqrt(n * p * (1.0 - p))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        ratio = p / (1.0 - p)
        mode = np.floor((n + 1.0) * p)
        u = reader.uniform(active) - 0.5
        v = reader.uniform(active)
        shifted = 0.5 - np.abs(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            k = np.floor((2.0 * a / shifted + b) * u + (n * p + 0.5))
            accepted = (shifted >= 0.07) & (v <= 0.92 - 4.2 / b)
            s = np.flatnonzero(~accepted & (k >= 0.0) & (k <= n))
            a, b, n, mode, ratio = (pick(value, s) for value in (a, b, n, mode, ratio))
            alpha = (2.83 + 5.1 / b) * pick(deviation, s)
            height = np.log(v[s] * alpha / (a / (shifted[s] * shifted[s]) + b))
            k_s = k[s]
            bound = (
                (mode + 0.5) * np.log((mode + 1.0) / (ratio * (n - mode + 1.0)))
                + (n + 1.0) * np.log((n - mode + 1.0) / (n - k_s + 1.0))
                + (k_s + 0.5) * np.log(ratio * (n - k_s + 1.0) / (k_s + 1.0))
                + _stirling_tail(mode)
                + _stirling_tail(n - mode)
                - _stirling_tail(k_s)
                - _stirling_tail(n - k_s)
            )
            accepted[s] = height <= bound
        result[active[accepted]] = k[accepted]
        active = active[~accepted]
