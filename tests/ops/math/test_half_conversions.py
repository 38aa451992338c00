"""Conversions between float16 and float32 in matrix products, which move bits by hand, against NumPy's own."""

import numpy as np
import pytest

from headrace._src.ops.linalg.product_kernels import Workspace

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)
HALVES = np.arange(1 << 16, dtype=np.uint16).view(HALF)
FINITE = HALVES[np.isfinite(HALVES)].astype(SINGLE)


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def narrow_as_numpy(values):
    found = Workspace().narrow(values, HALF)
    np.testing.assert_array_equal(found.view(np.uint16), values.astype(HALF).view(np.uint16))


def neighbours(values):
    down, up = np.float32(-np.inf), np.float32(np.inf)
    return np.concatenate([values, np.nextafter(values, down), np.nextafter(values, up)])


def test_halves_and_what_lies_beside_them():
    narrow_as_numpy(neighbours(FINITE))


def test_ties_and_what_lies_beside_them():
    magnitudes = np.sort(FINITE[FINITE >= 0])
    ties = (magnitudes[1:] + magnitudes[:-1]) / 2
    narrow_as_numpy(neighbours(np.concatenate([ties, -ties])))


def test_all_exponents():
    bits = np.arange(0, 1 << 32, 65521, dtype=np.uint64).astype(np.uint32)
    values = bits.view(SINGLE)
    narrow_as_numpy(values)
    narrow_as_numpy(values[np.abs(values) < 65536])


@pytest.mark.parametrize(
    "special", [0.0, -0.0, 1e-30, -1e-30, 65519.996, 65520.0, -65536.0, 1e30, np.inf, -np.inf, np.nan]
)
def test_specials_among_others(special):
    values = np.linspace(-100, 100, 2048, dtype=SINGLE)
    values[7] = special
    narrow_as_numpy(values)


@pytest.mark.parametrize("shape", [(1025,), (33, 37), (3, 4, 127), (64, 64), (128, 72)])
def test_shapes(shape):
    narrow_as_numpy(np.random.default_rng(0).standard_normal(shape).astype(SINGLE) * 1e-3)


def test_a_workspace_serves_other_shapes_and_types():
    space = Workspace()
    for shape in [(64, 64), (40, 40), (64, 64), (100, 100)]:
        values = np.random.default_rng(0).standard_normal(shape).astype(SINGLE)
        np.testing.assert_array_equal(space.narrow(values, HALF), values.astype(HALF))


@pytest.mark.parametrize("values", [HALVES, HALVES[np.isfinite(HALVES)], HALVES[:0]], ids=["all", "finite", "none"])
def test_widening(values):
    found = Workspace().cast("left", values, SINGLE)
    np.testing.assert_array_equal(found.view(np.uint32), values.astype(SINGLE).view(np.uint32))
