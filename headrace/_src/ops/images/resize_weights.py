"""How the pixels of a resized image are weighted sums of those of the image: indices and weights along one axis."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

f32 = np.float32
_TINY = 1000 * np.finfo(np.float32).tiny


class Pairs(NamedTuple):
    """For each output position two neighbours and how far between them it lies."""

    low: np.ndarray
    high: np.ndarray
    fraction: np.ndarray


class Block(NamedTuple):
    """Weights of adjacent outputs as a dense matrix over the adjacent inputs that they are made of."""

    outputs: slice
    inputs: slice
    matrix: np.ndarray


class Taps:
    """For each output position the input positions that it is made of, [outputs, taps], and their weights.

    Matrices made of them are kept, since images of one size often follow each other.
    """

    def __init__(self, index, weight, inputs):
        self.index = index
        self.weight = weight
        self.inputs = inputs
        self._blocks = {}

    @property
    def outputs(self) -> int:
        return len(self.index)

    def blocks(self, size: int, channels: int = 1) -> list[Block]:
        """The weights as dense matrices, one for each `size` adjacent outputs, for pixels of so many numbers."""
        found = self._blocks.get((size, channels))
        if found is None:
            found = [_spread(block, channels) for block in self._made_blocks(size)]
            self._blocks[size, channels] = found
        return found

    def _made_blocks(self, size):
        for start in range(0, self.outputs, size):
            stop = min(start + size, self.outputs)
            index, weight = self.index[start:stop], self.weight[start:stop]
            kept = weight != 0
            used = index[kept]
            low, high = (int(used.min()), int(used.max()) + 1) if used.size else (0, 1)
            matrix = np.zeros((stop - start, high - low), f32)
            rows = np.broadcast_to(np.arange(stop - start)[:, None], index.shape)
            np.add.at(matrix, (rows[kept], used - low), weight[kept])
            yield Block(slice(start, stop), slice(low, high), matrix)

    @functools.cached_property
    def dense(self) -> np.ndarray:
        """The weights as one matrix, [outputs, inputs]."""
        matrix = np.zeros((self.outputs, self.inputs), f32)
        rows = np.broadcast_to(np.arange(self.outputs)[:, None], self.index.shape)
        np.add.at(matrix, (rows, self.index), self.weight)
        return matrix

    @functools.cached_property
    def transposed(self) -> Taps:
        """The weights of the opposite direction: for each input the outputs that it is part of."""
        rows = np.broadcast_to(np.arange(self.outputs)[:, None], self.index.shape)
        kept = self.weight != 0
        source, target, weight = rows[kept], self.index[kept], self.weight[kept]
        order = np.argsort(target, kind="stable")
        source, target, weight = source[order], target[order], weight[order]
        counts = np.bincount(target, minlength=self.inputs)
        column = np.arange(len(target)) - np.repeat(np.cumsum(counts) - counts, counts)
        index = np.zeros((self.inputs, max(1, int(counts.max(initial=0)))), np.intp)
        weights = np.zeros(index.shape, f32)
        index[target, column], weights[target, column] = source, weight
        return Taps(index, weights, self.outputs)


def _spread(block, channels):
    if channels == 1:
        return block
    outputs, inputs = (slice(part.start * channels, part.stop * channels) for part in block[:2])
    return Block(outputs, inputs, np.kron(block.matrix, np.eye(channels, dtype=f32)))


def scale(inputs: int, outputs: int, align_corners: bool) -> np.float32:
    """How many inputs there are for an output."""
    if align_corners and outputs > 1:
        return f32(inputs - 1) / f32(outputs - 1)
    return f32(inputs) / f32(outputs)


def _positions(inputs, outputs, align_corners, half_pixel_centers):
    """Where the outputs lie among the inputs."""
    x = np.arange(outputs, dtype=f32)
    step = scale(inputs, outputs, align_corners)
    if half_pixel_centers:
        return (x + f32(0.5)) * step - f32(0.5)
    return x * step


@functools.lru_cache(1024)
def nearest(inputs: int, outputs: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """For each output the input that is nearest."""
    x = np.arange(outputs, dtype=f32)
    step = scale(inputs, outputs, align_corners)
    x = (x + f32(0.5)) * step if half_pixel_centers else x * step
    # Halves are rounded away from zero, and there is nothing below zero.
    x = np.floor(x + f32(0.5)) if align_corners else np.floor(x)
    return np.clip(x.astype(np.intp), 0, inputs - 1)


@functools.lru_cache(1024)
def bilinear(inputs: int, outputs: int, align_corners: bool, half_pixel_centers: bool) -> Pairs:
    """Each output lies on a line between two inputs."""
    x = _positions(inputs, outputs, align_corners, half_pixel_centers)
    floor = np.floor(x)
    low = np.maximum(floor.astype(np.intp), 0)
    high = np.clip(np.ceil(x).astype(np.intp), 0, inputs - 1)
    return Pairs(np.minimum(low, inputs - 1), high, x - floor)


@functools.lru_cache(1024)
def bilinear_taps(inputs: int, outputs: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    low, high, fraction = bilinear(inputs, outputs, align_corners, half_pixel_centers)
    return Taps(np.stack([low, high], 1), np.stack([1 - fraction, fraction], 1), inputs)


_STEPS = 1024  # TF: weights come from a table of so many positions between two pixels


@functools.lru_cache(2)
def _cubic_table(a: float) -> np.ndarray:
    """Weights at distance 0 to 1 (first column) and 1 to 2 (second)."""
    x = (np.arange(_STEPS + 1) / _STEPS).astype(f32)
    near = ((f32(a + 2) * x - f32(a + 3)) * x * x + 1).astype(f32)
    x = x + f32(1)
    far = ((f32(a) * x - f32(5 * a)) * x + f32(8 * a)) * x - f32(4 * a)
    return np.stack([near, far.astype(f32)], 1)


@functools.lru_cache(1024)
def bicubic(inputs: int, outputs: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Each output is made of four inputs."""
    x = _positions(inputs, outputs, align_corners, half_pixel_centers)
    floor = np.floor(x)
    step = np.rint((x - floor) * f32(_STEPS)).astype(np.intp)
    table = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    weight = np.stack(
        [table[step, 1], table[step, 0], table[_STEPS - step, 0], table[_STEPS - step, 1]], 1
    )
    wanted = floor.astype(np.intp)[:, None] + np.arange(-1, 3)
    index = np.clip(wanted, 0, inputs - 1)
    if half_pixel_centers:
        # TF: only then is what lies outside left out; otherwise the border is repeated.
        weight = _normalized(np.where(index == wanted, weight, f32(0)))
    return Taps(index, weight, inputs)


def _normalized(weight):
    total = weight.sum(1, keepdims=True)
    usable = np.abs(total) >= _TINY
    return np.where(usable, weight * (f32(1) / np.where(usable, total, f32(1))), weight)


@functools.lru_cache(1024)
def area(inputs: int, outputs: int, align_corners: bool) -> Taps:
    """Each output is the sum over the interval of inputs that it covers."""
    step = scale(inputs, outputs, align_corners)
    x = np.arange(outputs, dtype=f32)
    start, end = x * step, (x + f32(1)) * step
    first, last = np.floor(start).astype(np.intp), np.ceil(end).astype(np.intp)
    place = first[:, None] + np.arange(max(1, int((last - first).max(initial=0))))
    low, high = np.maximum(place.astype(f32), start[:, None]), np.minimum((place + 1).astype(f32), end[:, None])
    within = (place < start[:, None]) & (place + 1 > end[:, None])
    weight = np.where(place < last[:, None], np.where(within, step, high - low), 0).astype(f32)
    return Taps(np.clip(place, 0, inputs - 1), weight, inputs)


def _lanczos(radius):
    def weight(x):
        x = np.maximum(x, f32(1e-3))
        angle = np.pi * x.astype(np.float64)
        value = radius * np.sin(angle) * np.sin(angle / radius) / (angle * angle)
        return np.where(x <= f32(1e-3), 1.0, np.where(x > radius, 0.0, value))

    return weight


def _keys(x):
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _mitchell(x):
    near = ((7 / 6 * x - 2) * x) * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


# Name to (radius, weight of a distance that is not negative).
KERNELS = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: np.where(x >= 1.5, 0, np.exp(-x * x / 0.5))),
    "box": (1.0, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.where(x < 1, 1 - x, 0)),
    "keyscubic": (2.0, _keys),
    "mitchellcubic": (2.0, _mitchell),
}


@functools.lru_cache(1024)
def sampled(inputs: int, outputs: int, scale: float, translation: float, kernel: str, antialias: bool) -> Taps:
    """Each output is a sum over inputs around it, weighted by a kernel that is widened when the image shrinks."""
    radius, weigh = KERNELS[kernel]
    inverse = f32(1) / f32(scale)
    shift = -inverse * f32(translation)
    width = max(inverse, f32(1)) if antialias else f32(1)
    taps = min(2 * math.ceil(f32(radius) * width) + 1, inputs)
    sample = (np.arange(outputs, dtype=f32) + f32(0.5)) * inverse + shift
    reach = f32(radius) * width
    start = np.clip(np.ceil(sample - reach - f32(0.5)).astype(np.intp), 0, inputs - 1)
    end = np.clip(np.floor(sample + reach - f32(0.5)).astype(np.intp), 0, inputs - 1)
    place = start[:, None] + np.arange(taps)
    distance = np.abs((place.astype(f32) + f32(0.5) - sample[:, None]) * (f32(1) / width))
    weight = weigh(distance).astype(f32)
    inside = (sample >= 0) & (sample <= inputs)
    weight = np.where((place <= end[:, None]) & inside[:, None], weight, f32(0))
    # What is beyond the last one has no weight; it stands for one that has, so that no other value is read.
    return Taps(np.where(place <= end[:, None], place, start[:, None]), _normalized(weight), inputs)
