"""Large arrays of float16 and bfloat16: conversions and functions by table, against those of few elements."""

import ml_dtypes
import numpy as np
import pytest

import headrace as tf
from headrace._src.ops.math import half_kernels

HALF = np.dtype(np.float16)


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def all_numbers(dtype):
    return np.arange(1 << 16, dtype=np.uint16).view(dtype)


def test_every_half_becomes_single():
    x = all_numbers(HALF)
    np.testing.assert_array_equal(half_kernels.converted(x, np.dtype(np.float32)), x.astype(np.float32))
    finite = x[np.isfinite(x)]
    found = half_kernels.converted(finite, np.dtype(np.float32))
    np.testing.assert_array_equal(found.view(np.int32), finite.astype(np.float32).view(np.int32))


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 1e4, 1e6])
def test_singles_become_halves(scale):
    x = (np.random.default_rng(0).standard_normal(70_001) * scale).astype(np.float32)
    x[::100] = 0.0
    x[1::100] = -0.0
    x[40_000] = np.nan
    x[40_001] = np.inf
    for view in (x, x[::-1], x[: 70_000].reshape(100, 700).T):
        found = half_kernels.converted(view, HALF)
        want = view.astype(HALF)
        assert found.shape == want.shape
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(want))
    np.testing.assert_array_equal(tf.cast(x, tf.float16).numpy(), x.astype(HALF))
    np.testing.assert_array_equal(tf.cast(x.astype(HALF), tf.float32).numpy(), x.astype(HALF).astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    "function", [tf.exp, tf.tanh, tf.sigmoid, tf.math.log1p, tf.math.erf, tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.sin]
)
def test_functions_by_table(dtype, function):
    x = np.tile(all_numbers(dtype), 3)
    found = function(tf.constant(x)).numpy()
    few = np.concatenate([function(tf.constant(part)).numpy() for part in np.split(x[: 1 << 16], 64)])
    assert found.dtype == dtype
    np.testing.assert_allclose(
        found[: 1 << 16].astype(np.float32), few.astype(np.float32), rtol=2 * ml_dtypes.finfo(dtype).eps, atol=1e-7
    )
    np.testing.assert_array_equal(found[1 << 16 :].view(np.uint16), np.tile(found[: 1 << 16], 2).view(np.uint16))
    turned = function(tf.constant(x)[::-1]).numpy()
    np.testing.assert_array_equal(turned.view(np.uint16), found[::-1].view(np.uint16))


def test_integers_of_two_bytes_are_no_floats():
    x = np.arange(-100_000, 100_000).astype(np.int16)
    np.testing.assert_array_equal(tf.nn.relu(x).numpy(), np.maximum(x, 0))


def test_reductions_softmax_and_bias():
    x = np.random.default_rng(0).normal(0, 2, (300, 40)).astype(HALF)
    x[5, 5] = np.inf
    wide = x.astype(np.float32)
    for name, want in (("sum", wide.sum(1)), ("max", wide.max(1)), ("mean", wide.mean(1)), ("min", wide.min(1))):
        found = getattr(tf, f"reduce_{name}")(x, 1).numpy()
        assert found.dtype == HALF
        np.testing.assert_allclose(found, want.astype(HALF), rtol=2e-3, atol=2e-3)
    finite = np.where(np.isfinite(x), x, HALF.type(0))
    found = tf.nn.softmax(finite).numpy()
    assert found.dtype == HALF
    np.testing.assert_allclose(found, tf.nn.softmax(finite.astype(np.float32)).numpy(), rtol=2e-3, atol=1e-6)
    bias = np.arange(40).astype(HALF)
    np.testing.assert_array_equal(tf.nn.bias_add(x, bias).numpy(), x + bias)
    np.testing.assert_array_equal(tf.nn.bias_add(x[:3], bias).numpy(), x[:3] + bias)
