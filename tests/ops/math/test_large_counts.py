"""Histograms and ranges of many numbers, against the formulas that they stand for."""

import numpy as np
import pytest

import headrace as tf


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("bins", [1, 7, 100, 20_000])
def test_histograms(dtype, bins):
    values = (np.random.default_rng(0).normal(0, 50, 40_003)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        values[:4] = np.inf, -np.inf, -0.0, 1e30
    low, high = dtype(-100), dtype(90)
    found = tf.histogram_fixed_width(values, [low, high], bins).numpy()
    step = (float(high) - float(low)) / bins
    places = (np.maximum(values, low).astype(np.float64) - float(low)) / step
    want = np.bincount(np.minimum(places, bins - 1).astype(np.int64), minlength=bins)
    np.testing.assert_array_equal(found, want)
    assert tf.histogram_fixed_width(values[:0], [low, high], bins).numpy().sum() == 0


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int32, tf.int64, tf.float16, tf.bfloat16])
@pytest.mark.parametrize(("start", "limit", "delta"), [(0, 9, 1), (3, 50, 4), (10, -7, -3), (0, 0, 1), (-5, 5, 2)])
def test_ranges(dtype, start, limit, delta):
    found = tf.range(start, limit, delta, dtype)
    assert found.dtype == dtype
    assert [float(x) for x in found] == [float(x) for x in range(start, limit, delta)]


def test_a_range_beyond_exact_numbers():
    found = tf.range(0.0, 2.0**24 + 16, 1.0).numpy()
    np.testing.assert_array_equal(found[-16:], np.arange(2**24, 2**24 + 16).astype(np.float32))


def test_a_range_of_fractions():
    found = tf.range(0.5, 1000.0, 0.1).numpy()
    want = np.arange(found.size).astype(np.float32) * np.float32(0.1) + np.float32(0.5)
    np.testing.assert_array_equal(found, want)
