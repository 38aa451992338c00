"""One-hot rows, against comparisons with each place."""

import numpy as np
import pytest

import headrace as tf


@pytest.mark.parametrize("kind", ["int32", "int64", "uint8", "int8"])
@pytest.mark.parametrize("depth", [0, 1, 7, 100])
@pytest.mark.parametrize("shape", [(), (0,), (60,), (4, 0), (5, 6)])
def test_one_hot(kind, depth, shape):
    x = np.random.default_rng(0).integers(-3 if kind[0] == "i" else 0, 12, shape).astype(kind)
    places = np.arange(depth)
    for on, off in [(1.0, 0.0), (np.nan, -0.0), (0.0, 3.0), (-0.0, np.inf)]:
        want = np.where(x[..., None] == places, np.float32(on), np.float32(off))
        found = tf.one_hot(x, depth, on, off).numpy()
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(want))
        np.testing.assert_array_equal(tf.one_hot(x, depth, on, off, axis=0), np.moveaxis(want, -1, 0))


@pytest.mark.parametrize("dtype", ["int8", "float16", "bfloat16", "complex128", "float64"])
def test_dtypes_of_one_hot(dtype):
    found = tf.one_hot([2, 0, -1, 5], 3, dtype=dtype)
    assert found.dtype == dtype
    want = [[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 0]]
    np.testing.assert_array_equal(tf.cast(found, "int32"), want)


def test_one_hot_of_strings_and_of_scattered_places():
    assert tf.one_hot([1, 3], 2, b"on", b"", dtype=tf.string).numpy().tolist() == [[b"", b"on"], [b"", b""]]
    x = np.arange(60).reshape(6, 10).T[::2]
    np.testing.assert_array_equal(tf.one_hot(x, 60), x[..., None] == np.arange(60))
