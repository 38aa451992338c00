"""Powers with a whole exponent of numbers with signs, against NumPy's one by one."""

import numpy as np
import pytest

import headrace as tf

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -2.0, -1e-40, 1e-40, -1e30, -0.5]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [3.0, 4.0, -3.0, -2.0, 0.0, -0.0, 7.0, 2.0**24, 2.5, np.inf, -np.inf, np.nan])
def test_whole_exponents(dtype, exponent):
    x = np.random.default_rng(0).standard_normal(1200).astype(dtype)
    x[100 : 100 + len(SPECIAL)] = SPECIAL
    with np.errstate(all="ignore"):
        want = np.array([np.power(number, dtype(exponent)) for number in x])
    for size in (12, 1200):
        found = tf.pow(x[-size:], dtype(exponent)).numpy()
        assert found.dtype == dtype
        np.testing.assert_array_max_ulp(np.nan_to_num(found, nan=7.0), np.nan_to_num(want[-size:], nan=7.0), 2)
        known = ~np.isnan(found)
        np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(want[-size:][known]))


def test_large_and_scattered_arrays_have_the_same_powers():
    x = np.random.default_rng(0).standard_normal((600, 1000)).astype(np.float32)
    whole = tf.pow(x, 3.0).numpy()
    np.testing.assert_array_max_ulp(whole, x.astype(np.float64) ** 3, 1, np.float32)
    np.testing.assert_array_max_ulp(tf.pow(x.T, 3.0).numpy(), whole.T, 1)
    np.testing.assert_array_max_ulp(tf.pow(x[::2, ::3], 3.0).numpy(), whole[::2, ::3], 1)
    np.testing.assert_array_equal(tf.pow(np.zeros((0, 3), np.float32), 3.0).shape, (0, 3))
