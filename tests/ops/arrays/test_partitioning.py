"""Parting rows by number, against masks."""

import numpy as np
import pytest

import headrace as tf


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 65536, 65537])
@pytest.mark.parametrize("shape", [(3000,), (1000, 3), (0,), (0, 2), (500, 0)])
def test_dynamic_partition(count, shape):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(np.float32)
    x.reshape(-1)[::7] = np.nan
    numbers = rng.integers(max(0, count - 300), count, shape[0]).astype(np.int32)
    numbers[: min(count, 2)] = 0
    found = tf.dynamic_partition(x, numbers, count)
    assert len(found) == count
    for number in {0, count // 2, count - 1}:
        np.testing.assert_array_equal(found[number], x[numbers == number])
    np.testing.assert_array_equal(tf.concat(found, 0), x[np.argsort(numbers, kind="stable")])


def test_dynamic_partition_of_scattered_rows_and_strings():
    x = np.arange(2000.0).reshape(40, 50).T
    numbers = np.arange(50, dtype=np.int32) % 3
    for number, part in enumerate(tf.dynamic_partition(x, numbers, 3)):
        np.testing.assert_array_equal(part, x[numbers == number])
    words = tf.dynamic_partition(["a", "b", "c"], [1, 0, 1], 2)
    assert [part.numpy().tolist() for part in words] == [[b"b"], [b"a", b"c"]]
