"""Choosing the best of overlapping boxes: the search that the ops of non-maximum suppression share."""

from __future__ import annotations

import numpy as np

from headrace._src.core.lazy import jnp, lax

# So many candidates are compared with each other at a time.
_AT_ONCE = 128


def corners(xp, boxes):
    """The lower corner, the upper corner and the area of boxes given by any two opposite corners."""
    low = xp.minimum(boxes[..., :2], boxes[..., 2:])
    high = xp.maximum(boxes[..., :2], boxes[..., 2:])
    side = high - low
    return low[..., 0], low[..., 1], high[..., 0], high[..., 1], side[..., 0] * side[..., 1]


def overlap(xp, a, b):
    """Intersection over union, where `a` and `b` are results of `corners` that broadcast; 0 for empty boxes."""
    top, left, bottom, right, area = a
    other_top, other_left, other_bottom, other_right, other_area = b
    zero = area.dtype.type(0)
    height = xp.maximum(xp.minimum(bottom, other_bottom) - xp.maximum(top, other_top), zero)
    width = xp.maximum(xp.minimum(right, other_right) - xp.maximum(left, other_left), zero)
    shared = height * width
    filled = (area > 0) & (other_area > 0)
    union = xp.where(filled, area + other_area - shared, area.dtype.type(1))
    return xp.where(filled, shared / union, zero)


def _ordered(scores, score_threshold, most):
    """Indices in descending order of scores; at first only those of the best few, if few are wanted."""
    many = 4 * most + 64
    if most and many < len(scores):
        least = np.partition(scores, len(scores) - many)[len(scores) - many]
        best = np.flatnonzero(scores >= max(least, score_threshold))
        best = best[np.argsort(-scores[best], kind="stable")]
        yield best[scores[best] > score_threshold]
        rest = np.flatnonzero((scores < least) & (scores > score_threshold))
        yield rest[np.argsort(-scores[rest], kind="stable")]
    else:
        order = np.argsort(-scores, kind="stable")
        yield order[scores[order] > score_threshold]


def select(scores, score_threshold, most, conflicts):
    """Indices in descending order of scores, without those that conflict with one before them.

    Args:
        scores: a vector; of equal ones the first comes first.
        score_threshold: what scores must exceed.
        most: how many indices there may be.
        conflicts: `conflicts(candidates, chosen)`: whether each candidate (rows) may not stand with each of the
            chosen (columns).
    """
    chosen: list = []
    for order in _ordered(scores, score_threshold, most):
        for start in range(0, len(order), _AT_ONCE):
            if len(chosen) >= most:
                break
            candidates = order[start : start + _AT_ONCE]
            if chosen:
                candidates = candidates[~conflicts(candidates, np.array(chosen)).any(1)]
            if len(candidates):
                _choose(candidates.tolist(), conflicts(candidates, candidates), most, chosen)
    return np.array(chosen, np.int32)


def _choose(candidates, flags, most, chosen):
    """Each candidate removes those after it: bits of integers, so that Python's loop is short."""
    packed = np.packbits(np.ascontiguousarray(flags.T), axis=-1, bitorder="little")
    width, packed = packed.shape[1], packed.tobytes()
    alive = (1 << len(candidates)) - 1
    while alive and len(chosen) < most:
        lowest = alive & -alive
        place = lowest.bit_length() - 1
        chosen.append(candidates[place])
        removed = int.from_bytes(packed[place * width : (place + 1) * width], "little")
        alive &= ~(removed | lowest)


def box_conflicts(boxes, threshold):
    """Whether boxes overlap by more than the threshold, as `select` asks."""

    def conflicts(candidates, chosen):
        b = corners(np, boxes[chosen])
        a = [part[:, None] for part in (b if chosen is candidates else corners(np, boxes[candidates]))]
        if not ((a[4] > 0).all() and (b[4] > 0).all()):
            return overlap(np, a, b) > threshold
        shared = np.minimum(a[2], b[2])
        shared -= np.maximum(a[0], b[0])
        np.clip(shared, 0, np.inf, out=shared)  # faster than maximum
        width = np.minimum(a[3], b[3])
        width -= np.maximum(a[1], b[1])
        np.clip(width, 0, np.inf, out=width)
        shared *= width
        np.add(a[4], b[4], out=width)
        width -= shared
        shared /= width
        return shared > threshold

    return conflicts


def suppress(boxes, scores, most, threshold, score_threshold):
    """Indices of boxes that overlap no better one by more than the threshold."""
    return select(scores, score_threshold, most, box_conflicts(boxes, threshold))


def soft_suppress(boxes, scores, most, threshold, score_threshold, sigma):
    """The same, but a box that overlaps better ones only loses some of its score; indices and scores."""
    parts = corners(np, boxes)
    kind = scores.dtype.type
    factor = kind(-0.5) / kind(sigma)
    current = scores.copy()
    left = scores > score_threshold
    chosen, values = [], []
    while len(chosen) < most and left.any():
        best = int(np.argmax(np.where(left, current, -np.inf)))
        if not current[best] > score_threshold:
            break
        chosen.append(best)
        values.append(current[best])
        left[best] = False
        similar = overlap(np, parts, [part[best] for part in parts])
        current = current * np.exp(factor * similar * similar)
        left &= current > score_threshold
    return np.array(chosen, np.int32), np.array(values, scores.dtype)


def lowered_suppress(boxes, scores, most, threshold, score_threshold, sigma=None):
    """The lowering: indices and scores, padded with zeros, and how many there are."""
    parts = corners(jnp, boxes)
    n = scores.shape[0]
    kind = scores.dtype.type
    nothing = kind(-np.inf)

    def body(i, state):
        current, indices, values, count = state
        best = jnp.argmax(current)
        found = current[best] > score_threshold
        similar = overlap(jnp, parts, [part[best] for part in parts])
        if sigma is None:
            rest = jnp.where(similar > threshold, nothing, current)
        else:
            soft = current * jnp.exp(kind(-0.5) / sigma.astype(kind) * similar * similar)
            hard = jnp.where(similar > threshold, nothing, current)
            rest = jnp.where(sigma > 0, soft, hard)
        rest = jnp.where(jnp.arange(n) == best, nothing, rest)
        indices = indices.at[i].set(jnp.where(found, best, 0).astype(jnp.int32))
        values = values.at[i].set(jnp.where(found, current[best], kind(0)))
        return jnp.where(found, rest, current), indices, values, count + found.astype(jnp.int32)

    start = jnp.where(scores > score_threshold, scores, nothing)
    state = start, jnp.zeros(most, jnp.int32), jnp.zeros(most, scores.dtype), jnp.int32(0)
    if not n:
        return state[1:]
    return lax.fori_loop(0, most, body, state)[1:]
