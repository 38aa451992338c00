"""Functions of float64 arrays round as the C library does, whatever NumPy uses on this processor."""

import math

import numpy as np
import pytest

from headrace._src.ops.random import c_library

X = np.random.Generator(np.random.PCG64(3)).random(50_000)


@pytest.mark.parametrize("numpy_is_trusted", [True, False])
def test_rounds_as_the_c_library(monkeypatch, numpy_is_trusted):
    if not numpy_is_trusted:
        monkeypatch.setattr(c_library, "_numpy_rounds_as_c", lambda *rule: False)
    exponents = 3 * X[::-1].copy()
    np.testing.assert_array_equal(c_library.log(X), [math.log(x) for x in X])
    np.testing.assert_array_equal(c_library.log1p(-X), [math.log1p(-x) for x in X])
    np.testing.assert_array_equal(c_library.power(X, exponents), list(map(math.pow, X, exponents)))


def test_powers_without_a_finite_value(monkeypatch):
    monkeypatch.setattr(c_library, "_numpy_rounds_as_c", lambda *rule: False)
    with np.errstate(all="ignore"):
        got = c_library.power(np.array([0.0, 1e-300, 0.5, 0.5]), np.array([-1.0, -2.0, np.inf, 2.0]))
    np.testing.assert_array_equal(got, [np.inf, np.inf, 0.0, 0.25])
