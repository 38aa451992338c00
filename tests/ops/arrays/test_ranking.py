"""The greatest elements of long rows: found among few candidates, and the same as by sorting all."""

import numpy as np
import pytest

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
