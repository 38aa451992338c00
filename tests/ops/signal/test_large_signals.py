"""Transforms of large arrays, sums of equal pixels, and the greatest elements of long rows, against plain formulas."""

import numpy as np
import pytest

import headrace as tf


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", ["fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d"])
def test_complex_transforms(name, dtype):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(5, 12, 10, 14)) + 1j * rng.normal(size=(5, 12, 10, 14))).astype(dtype)
    axes = tuple(range(-int(name[-2]) if name[-1] == "d" else -1, 0))
    want = (np.fft.ifftn if name[0] == "i" else np.fft.fftn)(x.astype(np.complex128), axes=axes)
    found = getattr(tf.signal, name)(x).numpy()
    assert found.dtype == dtype
    np.testing.assert_allclose(found, want, atol=1e-4 if dtype == np.complex64 else 1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [100, 101, 64])
def test_transforms_of_real_tensors(dtype, length):
    x = np.random.default_rng(0).normal(size=(80, 101)).astype(dtype)
    found = tf.signal.rfft(x, [length])
    want = np.fft.rfft(x[:, :length].astype(np.float64))
    np.testing.assert_allclose(found.numpy(), want, atol=2e-5)
    back = tf.signal.irfft(found, [length]).numpy()
    assert back.dtype == dtype
    np.testing.assert_allclose(back, x[:, :length], atol=1e-5)


@pytest.mark.parametrize(
    ("small", "large"), [((4, 5), (8, 10)), ((4, 5), (12, 5)), ((4, 5), (9, 11)), ((6, 7), (3, 2))]
)
def test_gradient_of_nearest_neighbours(small, large):
    dy = np.random.default_rng(0).integers(0, 9, (2, *large, 3)).astype(np.float32)
    x = tf.zeros((2, *small, 3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.image.resize(x, large, method="nearest")
    found = tape.gradient(y, x, output_gradients=dy).numpy()
    # where pixels come from, asked of the op itself
    places = np.arange(small[0] * small[1], dtype=np.float32).reshape(1, *small, 1)
    source = tf.image.resize(places, large, method="nearest").numpy().reshape(-1).astype(int)
    want = np.zeros((2, small[0] * small[1], 3), np.float32)
    for row, pixel in zip(dy.reshape(2, -1, 3).transpose(1, 0, 2), source):
        want[:, pixel] += row
    np.testing.assert_array_equal(found, want.reshape(2, *small, 3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.float16])
@pytest.mark.parametrize("width", [3, 300])
def test_the_greatest_element(dtype, width):
    x = np.random.default_rng(0).integers(0, 5, (20, width)).astype(dtype)
    values, places = tf.math.top_k(x, 1)
    assert places.dtype == tf.int32
    np.testing.assert_array_equal(values.numpy(), x.max(-1, keepdims=True))
    np.testing.assert_array_equal(places.numpy()[:, 0], x.argmax(-1))


@pytest.mark.parametrize("width", [3, 300])
def test_the_greatest_element_beside_nan(width):
    x = np.tile(np.arange(width, dtype=np.float32), (4, 1))
    x[0, 0] = x[1, width - 1] = np.nan
    x[2] = np.nan
    values, places = tf.math.top_k(x, 1)
    assert places.numpy()[:, 0].tolist() == [width - 1, width - 2, 0, width - 1]
    np.testing.assert_array_equal(values.numpy()[:, 0], [width - 1, width - 2, np.nan, width - 1])
