"""Products of large matrices in parts: the bits do not depend on how many threads take them."""

import ml_dtypes
import numpy as np
import pytest

import headrace as tf
from headrace._src.core import parts
from headrace._src.ops.linalg import large_products

RANDOM = np.random.default_rng(3)
# Rows, inner size and columns: divided by rows or by columns, with a factor that is converted once, or by each part.
SIZES = [(300, 256, 256), (257, 300, 270), (64, 500, 700), (600, 500, 520), (300, 600, 520)]


@pytest.fixture
def thread_count():
    yield parts.set_thread_count
    parts.set_thread_count(0)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, np.float32])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True)])
def test_bits_do_not_depend_on_threads(size, dtype, turned, thread_count):
    rows, inner, columns = size
    a, b = RANDOM.standard_normal((rows, inner)).astype(dtype), RANDOM.standard_normal((inner, columns)).astype(dtype)
    left, right = (m.T.copy().T if turn else m for m, turn in zip((a, b), turned))
    assert large_products.is_divided(left, right)
    results = []
    for count in (1, 2, 3):
        thread_count(count)
        results.append(tf.matmul(tf.constant(left), tf.constant(right)).numpy())
    assert results[0].dtype == dtype
    assert all(result.tobytes() == results[0].tobytes() for result in results)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    error = {2: 2.0**-8 if dtype is not np.float16 else 2.0**-11, 4: 2.0**-18}[np.dtype(dtype).itemsize]
    assert np.abs(results[0].astype(np.float64) - exact).max() <= error * np.abs(exact).max()


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_infinities_and_no_numbers(dtype, thread_count):
    a, b = np.ones((400, 400), dtype), np.ones((400, 400), dtype)
    a[1, 2], a[3, 4], a[5] = np.inf, np.nan, 60000
    thread_count(2)
    found = tf.matmul(tf.constant(a), tf.constant(b)).numpy().astype(np.float32)
    with np.errstate(all="ignore"):
        want = (a.astype(np.float32) @ b.astype(np.float32)).astype(dtype).astype(np.float32)
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize(
    ("rows", "parts"), [(256, 2), (511, 3), (512, 2), (767, 2), (768, 6), (784, 6), (1023, 7), (1024, 4), (2048, 8)]
)
def test_no_product_has_three_long_parts(monkeypatch, rows, parts):
    """Of three, one of two threads would do two."""
    slices = []
    monkeypatch.setattr(large_products, "in_slices", lambda function, size, length: slices.append(size // length))
    large_products.product(np.ones((rows, 512), np.float32), np.ones((512, 128), np.float32))
    assert slices == [parts]
