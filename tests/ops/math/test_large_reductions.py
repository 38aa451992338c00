"""Reductions of large arrays with short rows, against NumPy's own, and sorted segments of them."""

import itertools

import numpy as np
import pytest

import headrace as tf
from headrace._src.ops.math.reduction_kernels import reduced

SHAPES = [(5000,), (1000, 10), (300, 7, 3), (8, 70, 3, 5), (2, 61, 67, 3), (4097, 2), (1, 5003, 11), (600, 1, 9)]
SHAPES += [(64, 128), (1, 5000), (5000, 1), (3, 3, 1024), (500, 17), (2, 3001, 4), (2, 5000), (4096,)]
SHAPES += [(20, 1000), (16, 256), (40, 257), (20, 255)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum])
def test_all_axes(shape, ufunc):
    rng = np.random.default_rng(0)
    x = rng.uniform(0.99, 1.01, shape) * rng.choice([-1, 1], shape)
    for count in range(len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), count):
            for keep in (False, True):
                found = np.asarray(reduced(ufunc, x, axes, keep))
                want = np.asarray(ufunc.reduce(x, axes, keepdims=keep))
                assert found.shape == want.shape
                assert found.dtype == want.dtype
                np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("shape", [(1000, 10), (8, 700, 3), (1, 5003, 11)])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_values(shape, special):
    x = np.ones(shape, np.float32)
    x.reshape(-1)[shape[-1] * 7 + 1] = special
    for axes in ((0,), (len(shape) - 1,), tuple(range(len(shape) - 1))):
        for ufunc in (np.add, np.multiply, np.maximum, np.minimum):
            np.testing.assert_array_equal(reduced(ufunc, x, axes), ufunc.reduce(x, axes))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.int64])
def test_integers_wrap_in_their_own_width(dtype):
    x = np.random.default_rng(0).integers(0, 100, (2000, 6)).astype(dtype)
    for axes in ((0,), (1,), (0, 1)):
        found = reduced(np.add, x, axes, False, x.dtype)
        np.testing.assert_array_equal(found, np.add.reduce(x, axes, x.dtype))
        assert found.dtype == dtype
        np.testing.assert_array_equal(reduced(np.add, x, axes), np.add.reduce(x, axes))
        np.testing.assert_array_equal(reduced(np.maximum, x, axes), np.maximum.reduce(x, axes))


def test_arrays_that_do_not_lie_in_one_piece():
    x = np.random.default_rng(0).normal(size=(10, 3000))
    for view in (x.T, x[:, ::2].T, np.asfortranarray(x), x[::-1]):
        for axes in ((0,), (1,)):
            np.testing.assert_allclose(reduced(np.add, view, axes), view.sum(axes), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
def test_ops(name):
    x = np.random.default_rng(0).uniform(0.9, 1.1, (2, 40, 50, 3)).astype(np.float32)
    for axis in (-1, (1, 2), (0, 1, 2), None):
        found = getattr(tf, f"reduce_{name}")(x, axis, keepdims=True).numpy()
        want = getattr(np, name)(x.astype(np.float64), axis, keepdims=True)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, want, rtol=3e-5)


@pytest.mark.parametrize("classes", [1, 2, 10, 16, 17])
def test_softmax_of_short_rows(classes):
    x = np.random.default_rng(0).normal(0, 5, (3000, classes)).astype(np.float32)
    x[5] = -np.inf
    x[7, 0] = np.nan
    x[9, 0] = np.inf
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        shifted = wide - wide.max(-1, keepdims=True)
        log_p = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    np.testing.assert_allclose(tf.nn.softmax(x).numpy(), np.exp(log_p), rtol=2e-6, atol=1e-9)
    np.testing.assert_allclose(tf.nn.log_softmax(x).numpy(), log_p, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float16])
@pytest.mark.parametrize("width", [(), (5,), (2, 3), (0,)])
def test_sorted_segments(name, dtype, width):
    rng = np.random.default_rng(0)
    ids = np.sort(rng.choice([0, 1, 3, 4, 9], 40)).astype(np.int32)
    data = rng.integers(1, 3, (40, *width)).astype(dtype)
    found = getattr(tf.math, f"segment_{name}")(data, ids).numpy()
    assert found.dtype == dtype
    assert found.shape == (10, *width)
    for segment in range(10):
        rows = data[ids == segment].astype(np.float64)
        if len(rows):
            want = getattr(rows, name)(0)
            want = np.trunc(want) if dtype == np.int32 else want
            np.testing.assert_allclose(found[segment], want, rtol=1e-3 if dtype == np.float16 else 1e-6)
        else:
            np.testing.assert_array_equal(found[segment], 1 if name == "prod" else 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.complex64])
def test_sums_of_numbers_by_sorted_segment(dtype):
    rng = np.random.default_rng(0)
    x = rng.integers(-20, 20, 5000).astype(dtype)  # of which all sums are exact
    ids = np.sort(rng.integers(3, 40, 5000)) * 2  # every other segment is empty
    want = np.zeros(ids[-1] + 1, np.complex128)
    np.add.at(want, ids, x)
    found = tf.math.segment_sum(x, ids).numpy()
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(
        tf.math.segment_sum(x[::2], ids[:2500]), tf.math.segment_sum(x[::2].copy(), ids[:2500])
    )


def test_special_values_stay_in_their_segment():
    found = tf.math.segment_sum([1.0, np.inf, -np.inf, np.nan, np.inf, 2.0], [0, 1, 1, 2, 4, 5]).numpy()
    np.testing.assert_array_equal(found, np.array([1, np.nan, np.nan, 0, np.inf, 2], np.float32))


def test_products_of_rows_by_pieces_keep_special_values():
    x = np.ones((16, 300), np.float32)
    x[[1, 2, 3, 4, 4, 5, 5], [7, 290, 299, 0, 64, 3, 260]] = [np.nan, np.inf, 0, np.inf, 0, -0.0, -1]
    found = tf.reduce_prod(x, 1).numpy()
    with np.errstate(invalid="ignore"):
        want = np.multiply.reduce(x, 1)
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(np.signbit(found[5]), np.signbit(want[5]))
