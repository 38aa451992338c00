"""The digamma function of single precision below zero, against double precision."""

import numpy as np
import pytest
import scipy.special

import headrace as tf


@pytest.mark.parametrize("scale", [1e-30, 0.1, 1.0, 30.0, 1e4])
def test_digamma_of_numbers_with_signs(scale):
    x = (np.random.default_rng(0).standard_normal(2000) * scale).astype(np.float32)
    want = scipy.special.psi(x.astype(np.float64)).astype(np.float32)
    pole = (x <= 0) & (x == np.floor(x))
    found = tf.math.digamma(x).numpy()
    np.testing.assert_allclose(found[~pole], want[~pole], rtol=2e-7)
    assert np.isnan(found[pole]).all()


def test_digamma_near_its_roots_and_poles():
    root = np.float32(-0.504083)
    near = root + np.arange(-50, 50, dtype=np.float32) * np.float32(6e-8)
    near = np.concatenate([near, np.nextafter(np.float32([-1, -2, -3, -1, -2]), np.float32([0, 0, 0, -9, -9]))])
    want = scipy.special.psi(near.astype(np.float64))
    np.testing.assert_allclose(tf.math.digamma(near), want, rtol=1e-6)
    special = tf.math.digamma([0.0, -0.0, -1.0, -np.inf, np.nan, np.inf, -1e30]).numpy()
    np.testing.assert_array_equal(np.isnan(special), [True] * 5 + [False, True])
    assert np.isnan(tf.math.digamma(-2.0))
    np.testing.assert_allclose(tf.math.digamma(-2.5), scipy.special.psi(-2.5), rtol=1e-6)
