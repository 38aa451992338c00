"""The greatest elements of long rows, found among few candidates, and their places in short ones, column by column: the
same as by going through all."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.ops.arrays import ranking

_NUMBERS = np.random.default_rng(0)
SHAPES = [(512,), (1000,), (3, 1000), (5, 4099), (2, 3, 2048), (0, 1000), (100_000,)]
KINDS = {
    "floats": lambda shape: _NUMBERS.normal(size=shape).astype(np.float32),
    "sorted": lambda shape: np.sort(_NUMBERS.normal(size=shape).astype(np.float32)),
    "equal ones": lambda shape: _NUMBERS.integers(0, 200, shape).astype(np.float32),
    "all equal": lambda shape: np.zeros(shape, np.float32),
    "infinite": lambda shape: np.where(_NUMBERS.random(shape) < 0.1, -np.inf, 1.0).astype(np.float32),
    "not a number": lambda shape: np.where(_NUMBERS.random(shape) < 0.01, np.nan, 1.5).astype(np.float32),
    "bytes": lambda shape: _NUMBERS.integers(-128, 127, shape).astype(np.int8),
    "unsigned": lambda shape: _NUMBERS.integers(0, 2**32, shape).astype(np.uint32),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_top_positions(shape, kind):
    x = KINDS[kind](shape)
    order = ranking.descending(x)
    for k in (1, 2, 7, shape[-1] // 64, shape[-1] // 64 + 1):
        np.testing.assert_array_equal(ranking.top_positions(x, k), order[..., :k])


def test_few_candidates_are_enough():
    x = KINDS["floats"]((5, 4099))
    assert ranking._top_of_groups(x, 7) is not None
    assert ranking._top_of_groups(np.zeros_like(x), 7) is None


SHORT_ROWS = [(1024, 2), (1023, 10), (4, 500, 16), (40_000, 10), (3000, 17), (5000, 1)]


def _first_place(x, find, in_place_of_nan):
    """As TensorFlow defines it: NaN is passed over; of a row of nothing else the first place."""
    return find(np.where(np.isnan(x), in_place_of_nan, x) if x.dtype.kind == "f" else x, -1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint32", "int64"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHORT_ROWS, ids=str)
def test_places_in_short_rows(shape, kind, dtype):
    numbers = KINDS[kind](shape)
    if np.dtype(dtype).kind != "f":
        numbers = (np.nan_to_num(numbers, posinf=9, neginf=-9) * 8).astype(np.int64)
    x = numbers.astype(dtype)
    np.testing.assert_array_equal(tf.argmax(x, -1).numpy(), _first_place(x, np.argmax, -np.inf))
    np.testing.assert_array_equal(tf.argmin(x, -1).numpy(), _first_place(x, np.argmin, np.inf))


def test_places_of_equal_zeros():
    x = np.where(_NUMBERS.random((2000, 6)) < 0.5, -0.0, 0.0).astype(np.float32)
    assert not tf.argmax(x, -1).numpy().any()
    assert not tf.argmin(x, -1).numpy().any()


def test_short_rows_go_column_by_column():
    x = KINDS["floats"]((2000, 6))
    places = ranking._place_in_short_rows(np.argmax, x)
    np.testing.assert_array_equal(places, np.argmax(x, 1))
    x[7, 3] = np.nan
    assert ranking._place_in_short_rows(np.argmax, x) is None
