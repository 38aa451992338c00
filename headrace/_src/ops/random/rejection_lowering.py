"""The rejecting samplers on jax values: all outputs go round together until the last one is accepted."""

from __future__ import annotations

import numpy as np

from headrace._src.core.lazy import jax_special, jnp, lax
from headrace._src.ops.random import bounded_normal as random_bounded_normal
from headrace._src.ops.random import rejection
from headrace._src.ops.random.lowering import (
    box_muller_float64,
    log_float32,
    normal_from_words,
    uniform_from_words,
)

_RESERVED_BLOCKS = rejection._RESERVED_BLOCKS
_RESERVED_BLOCKS_INVERSION = rejection._RESERVED_BLOCKS_INVERSION


def _reader(stream, reserved, outputs):
    """The loop state for reading numbers, and `read(state, kind, which)` giving numbers and the new state."""
    state = {"block": jnp.arange(outputs, dtype=jnp.uint64) * jnp.uint64(reserved)}
    for kind in ("uniform", "normal"):
        state[kind] = jnp.zeros((outputs, 2)), jnp.zeros(outputs, jnp.int32)

    def read(state, kind, which):
        buffer, left = state[kind]
        empty = which & (left == 0)
        fresh = uniform_from_words(stream.blocks_at(state["block"]), np.float64)
        if kind == "normal":
            fresh = jnp.stack(box_muller_float64(fresh[:, 0], fresh[:, 1]), axis=-1)
        buffer = jnp.where(empty[:, None], fresh, buffer)
        left = jnp.where(empty, 2, left) - which
        block = state["block"] + empty.astype(jnp.uint64)
        number = jnp.where(left == 1, buffer[:, 1], buffer[:, 0])
        return number, {**state, "block": block, kind: (buffer, left)}

    return state, read


def _loop(body, active, result, state):
    """Repeats `body(active, result, state)` while any output is active; gives the result."""

    def step(carry):
        return body(*carry)

    return lax.while_loop(lambda carry: jnp.any(carry[0]), step, (active, result, state))[1]


def _spread(parameters, samples):
    return [jnp.repeat(parameter.astype(jnp.float64), samples) for parameter in parameters]


def to_dtype(values, dtype):
    if np.dtype(dtype).kind in "iu":
        return jnp.where(jnp.isfinite(values), values, 0.0).astype(dtype)
    if np.dtype(dtype).itemsize == 2:
        return values.astype(jnp.float32).astype(dtype)
    return values.astype(dtype)


def gamma(stream, alpha, samples: int):
    """As `rejection.gamma`."""
    sets = alpha.size
    (alpha,) = _spread([alpha], samples)
    below = alpha < 1.0
    d = alpha + jnp.where(below, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / jnp.sqrt(d)
    state, read = _reader(stream, _RESERVED_BLOCKS, alpha.size)
    exponential = alpha == 1.0
    first, _ = read(state, "uniform", exponential)
    result = jnp.where(exponential, -jnp.log1p(-first), jnp.nan)

    def body(active, result, state):
        x, state = read(state, "normal", active)
        v = 1.0 + c * x
        tried = active & (v > 0.0)
        v = v * v * v
        u, state = read(state, "uniform", tried)
        squeeze = u < 1.0 - 0.0331 * (x * x) * (x * x)
        accepted = tried & (squeeze | (jnp.log(u) < 0.5 * x * x + d * (1.0 - v + jnp.log(v))))
        factor, state = read(state, "uniform", accepted & below)
        value = jnp.where(below, d * v * factor ** (1.0 / alpha), d * v)
        return active & ~accepted, jnp.where(accepted, value, result), state

    return _loop(body, ~exponential & (d > 0.0), result, state).reshape(sets, samples).T


def poisson(stream, rate, samples: int):
    """As `rejection.poisson`."""
    sets = rate.size
    (rate,) = _spread([rate], samples)
    finite = jnp.isfinite(rate)
    state, read = _reader(stream, _RESERVED_BLOCKS, rate.size)
    result = jnp.where(finite, 0.0, jnp.maximum(rate, 0.0))
    limit = jnp.exp(-rate)

    def multiply(active, result, carry):
        product, state = carry
        u, state = read(state, "uniform", active)
        product = jnp.where(active, product * u, product)
        active = active & (product > limit)
        return active, result + active, (product, state)

    small = (rate < 10.0) & (rate > 0.0)
    result = _loop(multiply, small, result, (jnp.ones_like(rate), state))

    log_rate = jnp.log(rate)
    b = 0.931 + 2.53 * jnp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_limit = 0.9277 - 3.6224 / (b - 2.0)

    def reject(active, result, state):
        u, state = read(state, "uniform", active)
        v, state = read(state, "uniform", active)
        u = u - 0.5
        shifted = 0.5 - jnp.abs(u)
        k = jnp.floor((2.0 * a / shifted + b) * u + rate + 0.43)
        sure = (shifted >= 0.07) & (v <= v_limit)
        possible = (k >= 0.0) & ((shifted >= 0.013) | (v <= shifted))
        height = jnp.log(v * inverse_alpha / (a / (shifted * shifted) + b))
        below = height <= -rate + k * log_rate - jax_special.gammaln(k + 1.0)
        accepted = active & (sure | (possible & below))
        return active & ~accepted, jnp.where(accepted, k, result), state

    return _loop(reject, (rate >= 10.0) & finite, result, state).reshape(sets, samples).T


def binomial(stream, counts, probs, samples: int):
    """As `rejection.binomial`."""
    sets = counts.size
    rarer = jnp.where(probs > 0.5, jnp.ones((), probs.dtype) - probs, probs)
    many = counts * rarer >= 10
    n, prob, p, many = _spread([counts, probs, rarer, many], samples)
    many = many != 0.0
    possible = (n > 0.0) & (prob > 0.0)
    active = possible & (prob < 1.0)
    result = jnp.where(jnp.isnan(prob), jnp.nan, jnp.where(possible & (prob >= 1.0), n, 0.0))

    state, read_few = _reader(stream, _RESERVED_BLOCKS_INVERSION, n.size)
    scale = jnp.log1p(-p)

    def invert(active, result, carry):
        total, state = carry
        u, state = read_few(state, "uniform", active)
        total = jnp.where(active, total + jnp.ceil(jnp.log(u) / scale), total)
        active = active & (total <= n)
        return active, result + active, (total, state)

    result = _loop(invert, active & ~many, result, (jnp.zeros_like(n), state))

    state, read_many = _reader(stream, _RESERVED_BLOCKS, n.size)
    deviation = jnp.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    ratio = p / (1.0 - p)
    mode = jnp.floor((n + 1.0) * p)
    alpha = (2.83 + 5.1 / b) * deviation

    def reject(active, result, state):
        u, state = read_many(state, "uniform", active)
        v, state = read_many(state, "uniform", active)
        u = u - 0.5
        shifted = 0.5 - jnp.abs(u)
        k = jnp.floor((2.0 * a / shifted + b) * u + (n * p + 0.5))
        sure = (shifted >= 0.07) & (v <= 0.92 - 4.2 / b)
        height = jnp.log(v * alpha / (a / (shifted * shifted) + b))
        bound = (
            (mode + 0.5) * jnp.log((mode + 1.0) / (ratio * (n - mode + 1.0)))
            + (n + 1.0) * jnp.log((n - mode + 1.0) / (n - k + 1.0))
            + (k + 0.5) * jnp.log(ratio * (n - k + 1.0) / (k + 1.0))
            + _stirling_tail(mode)
            + _stirling_tail(n - mode)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        accepted = active & (sure | ((k >= 0.0) & (k <= n) & (height <= bound)))
        return active & ~accepted, jnp.where(accepted, k, result), state

    result = _loop(reject, active & many, result, state)
    result = jnp.where(active & (prob > 0.5), n - result, result)
    return result.reshape(sets, samples).T


def _stirling_tail(k):
    square = (k + 1.0) * (k + 1.0)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)
    table = jnp.asarray(rejection._STIRLING_TAIL)
    return jnp.where(k <= 9.0, table[jnp.clip(k, 0.0, 9.0).astype(jnp.int32)], series)


def _log(x):
    if x.dtype == np.float64:
        return jnp.log(x)
    positive = jnp.where(x > 0, x, 1).astype(jnp.float32)
    return jnp.where(x > 0, log_float32(positive), -jnp.inf).astype(x.dtype)


def _proposal(means, deviations, minvals, maxvals):
    """As `_prepare` in `bounded_normal.py`, without its checks: mean, deviation, bounds, method."""
    mirrored = jnp.isneginf(minvals) | (maxvals < means)
    lower, upper = jnp.where(mirrored, maxvals, minvals), jnp.where(mirrored, minvals, maxvals)
    deviations = jnp.where(mirrored, -deviations, deviations)
    low, high = (lower - means) / deviations, (upper - means) / deviations
    root = jnp.sqrt(low * low + 4)
    cutoff = 2 * jnp.exp(0.5 + low * (low - root) / 4) / (low + root)
    wide_limit = jnp.asarray(random_bounded_normal._WIDE, means.dtype)
    wide = ((low < -wide_limit) & (high >= 0)) | ((high > wide_limit) & (low <= 0))
    method = jnp.where(
        wide,
        random_bounded_normal._NORMAL,
        jnp.where(high - low < cutoff, random_bounded_normal._UNIFORM, random_bounded_normal._EXPONENTIAL),
    )
    return means, deviations, low, high, method


def _candidates(method, words, mean, deviation, low, high):
    """As `_candidates` in `bounded_normal.py`; the parameters broadcast against (n, 1)."""
    dtype = mean.dtype
    if method == random_bounded_normal._NORMAL:
        x = normal_from_words(words[:, 0], dtype)
        accepted = (x >= low) & (x <= high)
    elif method == random_bounded_normal._UNIFORM:
        x = uniform_from_words(words[:, 0], dtype) * (high - low) + low
        plus = jnp.where(low < 0, jnp.zeros((), dtype), low * low)
        accepted = uniform_from_words(words[:, 1], dtype) <= jnp.exp((plus - x * x) / 2)
    else:
        draws = uniform_from_words(words[:, 0], dtype)
        alpha = (low + jnp.sqrt(low * low + 4)) / 2
        x = -_log(draws[:, 0::2]) / alpha + low
        distance = jnp.where(low < alpha, alpha - x, low - alpha)
        accepted = (draws[:, 1::2] <= jnp.exp(-distance * distance / 2)) & (x < high)
    return x * deviation + mean, accepted


def bounded_normal(stream, samples: int, means, deviations, minvals, maxvals):
    """As `bounded_normal` in `bounded_normal.py`; also whether every output was found."""
    proposal = _proposal(means, deviations, minvals, maxvals)
    if not samples or not means.size:
        return jnp.empty((means.size, samples), means.dtype), jnp.asarray(True)
    if means.size > random_bounded_normal._FEW_SETS:
        return _take_each(stream, proposal, samples)
    return _take_in_turn(stream, proposal, samples)


def _take_in_turn(stream, proposal, count):
    draws = max(8, count // 2)
    dtype = proposal[0].dtype

    def one_set(start, parameters):
        *scalars, method = parameters

        def with_method(number):
            blocks = random_bounded_normal._blocks_per_draw(number)

            def body(state):
                place, filled, rejected, result = state
                offsets = place + jnp.arange(draws * blocks, dtype=jnp.uint64)
                words = stream.blocks_at(offsets).reshape(draws, blocks, 4)
                values, accepted = _candidates(number, words, *scalars)
                width = values.shape[1]
                values, accepted = values.reshape(-1), accepted.reshape(-1)
                position = filled + jnp.cumsum(accepted) - 1
                write = accepted & (position < count)
                result = result.at[jnp.where(write, position, count)].set(values, mode="drop")
                last = jnp.argmax(write & (position == count - 1))
                enough = filled + accepted.sum() >= count
                used = jnp.where(enough, (last // width + 1) * blocks, draws * blocks)
                trailing = jnp.argmax(accepted[::-1])
                rejected = jnp.where(jnp.any(accepted), trailing, rejected + values.size)
                filled = jnp.minimum(filled + accepted.sum(), count)
                return place + used.astype(jnp.uint64), filled, rejected, result

            def unfinished(state):
                return (state[1] < count) & (state[2] < random_bounded_normal.MAX_PROPOSALS)

            return lambda: lax.while_loop(
                unfinished, body, (start, jnp.int64(0), jnp.int64(0), jnp.zeros(count, dtype))
            )

        place, filled, _, result = lax.switch(method, [with_method(number) for number in range(3)])
        return place, (result, filled == count)

    _, (result, found) = lax.scan(one_set, jnp.uint64(0), proposal)
    return result, jnp.all(found)


def _take_each(stream, proposal, samples):
    mean, deviation, low, high, method = (jnp.repeat(field, samples) for field in proposal)
    parameters = [field[:, None] for field in (mean, deviation, low, high)]
    per_block = 2 if mean.dtype == np.float64 else 4
    index = jnp.arange(mean.size, dtype=jnp.uint64)
    spacing = 2 * random_bounded_normal.MAX_PROPOSALS
    place = (index * jnp.uint64(spacing) + jnp.uint64(per_block - 1)) // jnp.uint64(per_block)

    def body(state):
        draw, active, result = state
        for number in range(3):
            blocks = random_bounded_normal._blocks_per_draw(number)
            steps = jnp.arange(blocks, dtype=jnp.uint64) + draw * jnp.uint64(blocks)
            values, accepted = _candidates(number, stream.blocks_at(place[:, None] + steps), *parameters)
            first = jnp.take_along_axis(values, jnp.argmax(accepted, axis=1)[:, None], axis=1)[:, 0]
            done = active & (method == number) & jnp.any(accepted, axis=1)
            result, active = jnp.where(done, first, result), active & ~done
        return draw + jnp.uint64(1), active, result

    def unfinished(state):
        return jnp.any(state[1]) & (state[0] < random_bounded_normal.MAX_PROPOSALS)

    state = jnp.uint64(0), jnp.ones(mean.size, bool), jnp.zeros(mean.size, mean.dtype)
    _, active, result = lax.while_loop(unfinished, body, state)
    return result.reshape(-1, samples), ~jnp.any(active)
