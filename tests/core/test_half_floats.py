"""Floats of two bytes to and from float32, with bits moved by hand, against conversions by NumPy and ml_dtypes."""

import numpy as np
import pytest

from headrace._src.core import half_floats
from headrace._src.core.half_floats import BFLOAT16, HALF, SINGLE

NUMBERS = {dtype: np.arange(1 << 16, dtype=np.uint16).view(dtype) for dtype in (HALF, BFLOAT16)}
FINITE = {
    dtype: (wide := numbers.astype(SINGLE))[np.isfinite(wide)] for dtype, numbers in NUMBERS.items()
}
both = pytest.mark.parametrize("dtype", [HALF, BFLOAT16], ids=str)


@pytest.fixture(autouse=True)
def quiet_and_never_one_by_one(monkeypatch):
    monkeypatch.setattr(half_floats, "_FEW_TO_BFLOAT16", 1024)
    with np.errstate(all="ignore"):
        yield


def narrows_as_one_by_one(values, dtype):
    found = np.empty(values.shape, dtype)
    half_floats.narrow(values, found)
    np.testing.assert_array_equal(found.view(np.uint16), values.astype(dtype).view(np.uint16))


def neighbours(values):
    down, up = np.float32(-np.inf), np.float32(np.inf)
    return np.concatenate([values, np.nextafter(values, down), np.nextafter(values, up)])


@both
def test_numbers_and_what_lies_beside_them(dtype):
    narrows_as_one_by_one(neighbours(FINITE[dtype]), dtype)


@both
def test_ties_and_what_lies_beside_them(dtype):
    magnitudes = np.sort(FINITE[dtype][FINITE[dtype] >= 0]).astype(np.float64)
    ties = ((magnitudes[1:] + magnitudes[:-1]) / 2).astype(SINGLE)
    narrows_as_one_by_one(neighbours(np.concatenate([ties, -ties])), dtype)


@both
def test_all_exponents(dtype):
    bits = np.arange(0, 1 << 32, 65521, dtype=np.uint64).astype(np.uint32)
    values = bits.view(SINGLE)
    narrows_as_one_by_one(values, dtype)
    narrows_as_one_by_one(values[np.abs(values) < 65536], dtype)
    narrows_as_one_by_one(values[~np.isnan(values)], dtype)


@both
@pytest.mark.parametrize(
    "special", [0.0, -0.0, 1e-30, -1e-30, 65519.996, 65520.0, -65536.0, 1e30, 3.4e38, np.inf, -np.inf, np.nan, -np.nan]
)
def test_specials_among_others(special, dtype):
    values = np.linspace(-100, 100, 2048, dtype=SINGLE)
    values[7] = special
    narrows_as_one_by_one(values, dtype)


@both
@pytest.mark.parametrize("shape", [(0,), (1,), (1025,), (33, 37), (3, 4, 127), (64, 64), (128, 72)])
def test_shapes(shape, dtype):
    values = np.random.default_rng(0).standard_normal(shape).astype(SINGLE) * 1e-3
    narrows_as_one_by_one(values, dtype)
    turned = np.empty(shape[::-1], dtype)
    half_floats.narrow(values, turned.T)
    np.testing.assert_array_equal(turned.T, values.astype(dtype))


@both
@pytest.mark.parametrize("which", ["all", "finite", "none"])
def test_widening(which, dtype):
    numbers = NUMBERS[dtype]
    values = {"all": numbers, "finite": numbers[np.isfinite(numbers.astype(SINGLE))], "none": numbers[:0]}[which]
    found = np.empty(values.shape, SINGLE)
    half_floats.widen(values, found)
    np.testing.assert_array_equal(found.view(np.uint32), values.astype(SINGLE).view(np.uint32))


def test_halves_become_bfloat16():
    found = np.empty(1 << 16, BFLOAT16)
    half_floats.convert(NUMBERS[HALF], found)
    np.testing.assert_array_equal(found.view(np.uint16), NUMBERS[HALF].astype(BFLOAT16).view(np.uint16))


@both
@pytest.mark.parametrize("function", sorted(half_floats.EXACT_IN_FLOAT32, key=str), ids=lambda f: f.__name__)
def test_arithmetic(function, dtype):
    """Each number with others, among them NaN, infinities and subnormal ones."""
    x = np.tile(NUMBERS[dtype], 4)
    y = np.random.default_rng(0).permutation(x)
    arrays = [x, y][: function.nin]
    found = np.empty(x.shape, dtype)
    half_floats.in_float32(function)(*arrays, out=found)
    want = function(*arrays)
    numbers = ~np.isnan(want.astype(SINGLE))
    np.testing.assert_array_equal(np.isnan(found.astype(SINGLE)), ~numbers)
    np.testing.assert_array_equal(found[numbers].view(np.uint16), want[numbers].view(np.uint16))


def test_arithmetic_with_one_number():
    x, two = NUMBERS[HALF][1000:9000], np.array(2, HALF)
    found = np.empty(x.shape, HALF)
    half_floats.in_float32(np.multiply)(x, two, out=found)
    np.testing.assert_array_equal(found, x * two)
