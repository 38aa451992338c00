"""Remainders by one divisor and quotients without NaN, against NumPy's."""

import numpy as np
import pytest

import headrace as tf


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_remainders_of_integers(dtype):
    limits = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(limits.min, limits.max, 500, dtype, endpoint=True)
    x[:4] = limits.min, limits.max, 0, 1
    for divisor in {1, 2, 3, 100, limits.max, limits.min or 1, -1 if limits.min else 1, -7 if limits.min else 7}:
        y = np.array(divisor, dtype)
        with np.errstate(over="ignore"):
            want = np.mod(x, y)
        for form in (y, y.reshape(1), y.reshape(1, 1)):
            found = tf.math.floormod(x, form).numpy()
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, want.reshape(found.shape))
            assert found.ndim == max(1, form.ndim)


def test_remainders_of_large_and_scattered_arrays():
    x = np.random.default_rng(0).integers(-(10**6), 10**6, (700, 1000)).astype(np.int32)
    for view in (x, x.T, x[::2, ::-3]):
        np.testing.assert_array_equal(tf.math.floormod(view, -7), np.mod(view, -7))
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        tf.math.floormod(x, 0)
    assert tf.math.floormod(x[:0], 0).shape == (0, 1000)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64"])
def test_quotients_are_zero_where_the_divisor_is(dtype):
    x = tf.cast([1.0, -2.0, 0.0, -0.0, np.inf, np.nan, np.nan], dtype)
    y = tf.cast([0.0, 4.0, -0.0, 2.0, 2.0, 0.0, 1.0], dtype)
    found = tf.cast(tf.math.divide_no_nan(x, y), "complex128").numpy()
    np.testing.assert_array_equal(found[[0, 1, 2, 3, 5]], [0, -0.5, 0, 0, 0])
    assert np.isinf(found[4])
    assert np.isnan(found[6])
    assert tf.math.divide_no_nan(x, y).dtype == dtype
    without = tf.math.divide_no_nan(x[:5], tf.cast(2.0, dtype))
    np.testing.assert_array_equal(tf.cast(without, "complex128"), tf.cast(x[:5] / tf.cast(2.0, dtype), "complex128"))
    assert tf.math.divide_no_nan(x[:0], y[:0]).shape == (0,)
    assert tf.math.divide_no_nan(x[:0], y[:1] * 0).shape == (0,)
