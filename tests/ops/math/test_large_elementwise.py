"""Kernels of large arrays in blocks, against the formulas that small arrays and other dtypes take."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.ops.math import exponential_kernels, limit_kernels

SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-40, -1e-40, 1e-20, -1e-20, 17.0, -17.4, -17.6, 80.0]
    + [88.7, 88.72, 88.73, 89.0, -87.3, -87.5, -90.0, -103.0, -104.0, -105.0, 3e38, -3e38, -1.0, -1.5, 1.0, 4.0, -4.0],
    np.float32,
)
SIZES = [2048, 2049, 32768, 32769, 100_003]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def numbers(size, seed=0):
    rng = np.random.default_rng(seed)
    near = rng.standard_normal(size // 2) * 3
    tiny = np.exp(rng.uniform(-60, 4, size - size // 2)) * rng.choice([-1, 1], size - size // 2)
    return rng.permutation(np.concatenate([near, tiny])).astype(np.float32)


def units(found, exact):
    """The greatest error in units of the last place of a float32."""
    spacing = np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)
    return np.max(np.abs(found.astype(np.float64) - exact) / spacing)


def _erf(x):
    return tf.math.erf(tf.constant(x, tf.float64)).numpy()


# name, kernel, the function in float64, how far it may be away
FUNCTIONS = {
    "elu": (exponential_kernels.elu, lambda x: np.where(x < 0, np.expm1(x), x), 1.25),
    "selu": (
        exponential_kernels.selu,
        lambda x: np.where(x < 0, 1.7580993408473766 * np.expm1(x), 1.0507009873554805 * x),
        2.25,
    ),
    "softplus": (exponential_kernels.softplus, lambda x: np.logaddexp(x, 0), 2.25),
    "expm1": (exponential_kernels.expm1, np.expm1, 2.0),
    "log1p": (exponential_kernels.log1p, np.log1p, 2.0),
    "erf": (exponential_kernels.erf, _erf, 4.0),
}


@pytest.fixture(params=[False, True])
def vectors(request, monkeypatch):
    """Processors for whose vector instructions NumPy has expm1 and log1p, and others."""
    monkeypatch.setattr(exponential_kernels, "_has_vectors", lambda: request.param)
    return request.param


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", SIZES)
def test_accuracy(name, size, vectors):
    kernel, exact, limit = FUNCTIONS[name]
    x = numbers(size)
    if name == "log1p":
        x = np.maximum(x, np.float32(-0.9999))
    found = kernel(x)
    assert found.shape == x.shape
    assert found.dtype == np.float32
    # Those of NumPy are less exact.
    assert units(found, exact(x.astype(np.float64))) < limit + 1.25 * vectors


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name, vectors):
    kernel, exact, _limit = FUNCTIONS[name]
    for others in (numbers(5000), np.zeros(5000, np.float32)):
        found = kernel(np.concatenate([SPECIAL, others]))[: SPECIAL.size]
        want = exact(SPECIAL.astype(np.float64)).astype(np.float32)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(want))
        number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(want[number]))
        np.testing.assert_allclose(found[number], want[number], rtol=3e-7, atol=0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_that_do_not_lie_in_one_piece(name):
    kernel, _, _ = FUNCTIONS[name]
    x = np.abs(numbers(90 * 60)).reshape(90, 60)
    before = x.copy()
    want = kernel(x)
    np.testing.assert_array_equal(kernel(np.asfortranarray(x)), want)
    np.testing.assert_array_equal(kernel(np.repeat(x, 2, 1)[:, ::2]), want)
    np.testing.assert_array_equal(kernel(x[::-1])[::-1], want)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_types_and_sizes(name):
    kernel, exact, _ = FUNCTIONS[name]
    for shape in ((0,), (), (3, 0), (5,), (50, 60)):
        x = np.full(shape, 0.25)
        assert kernel(x).dtype == np.float64
        np.testing.assert_allclose(kernel(x), exact(x), rtol=1e-12)
        assert kernel(x.astype(np.float32)).shape == shape


@pytest.mark.parametrize("name", ["elu_grad", "selu_grad", "softplus_grad", "sigmoid_grad", "tanh_grad"])
def test_gradients_are_the_same_numbers_as_those_of_few(name):
    kernel = getattr(exponential_kernels, name)
    x = np.concatenate([SPECIAL, numbers(70_000)])
    y = np.concatenate([SPECIAL[::-1], numbers(70_000, 1)])
    few = np.concatenate([kernel(x[at : at + 1000], y[at : at + 1000]) for at in range(0, x.size, 1000)])
    np.testing.assert_allclose(kernel(x, y), few, rtol=1e-6, atol=0)
    np.testing.assert_allclose(kernel(x[::-1], y[::-1])[::-1], few, rtol=1e-6, atol=0)


def same_numbers(found, want):
    """The same, with the sign of zeros left open: NumPy promises none for the extremes of two zeros."""
    assert found.dtype == want.dtype
    assert found.shape == want.shape
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("limit", [0.0, -0.0, 1.5, np.inf, np.nan])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [100, 8192, 20_001])
def test_extremes_with_a_number(limit, dtype, size):
    x = np.concatenate([SPECIAL, numbers(size)]).astype(dtype)
    number = np.array(limit, dtype)
    same_numbers(limit_kernels.maximum(x, number), np.maximum(x, number))
    same_numbers(limit_kernels.minimum(x, number), np.minimum(x, number))
    same_numbers(limit_kernels.minimum(x[::-2], number), np.minimum(x[::-2], number))


def test_extremes_with_one_number_of_an_axis():
    x = numbers(20_000).reshape(100, 200)
    for y in (np.full((1, 1), 0.5, np.float32), np.full((1, 1, 1), 0.5, np.float32)):
        found = limit_kernels.maximum(x, y)
        same_numbers(found, np.maximum(x, y))
    integers = np.arange(-10_000, 10_000, dtype=np.int32)
    np.testing.assert_array_equal(limit_kernels.maximum(integers, np.int32(7)), np.maximum(integers, 7))


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (1.0, -1.0), (0.0, np.nan), (-np.inf, np.inf)])
def test_between(low, high):
    x = np.concatenate([SPECIAL, numbers(20_001)])
    before = x.copy()
    low, high = np.float32(low), np.float32(high)
    same_numbers(limit_kernels.between(x, low, high), np.maximum(np.minimum(x, high), low))
    same_numbers(x, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int8, np.complex64])
@pytest.mark.parametrize("size", [10, 20_001])
def test_kept_and_chosen(dtype, size):
    x, y = numbers(size).astype(dtype), numbers(size, 1).astype(dtype)
    condition = numbers(size, 2) > 0
    np.testing.assert_array_equal(limit_kernels.kept(condition, x), np.where(condition, x, dtype(0)))
    np.testing.assert_array_equal(limit_kernels.chosen(condition, x, y), np.where(condition, x, y))
    turned = np.where(condition[::-1], x[::-1], y[::-1])
    np.testing.assert_array_equal(limit_kernels.chosen(condition[::-1], x[::-1], y[::-1]), turned)
    np.testing.assert_array_equal(limit_kernels.kept(condition[::-1], x[::-1]), np.where(condition, x, dtype(0))[::-1])


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0, 1.5, -0.5, 1e-50])
def test_leaky_relu(alpha):
    x = np.concatenate([SPECIAL, numbers(20_001)])
    slope = np.float32(alpha)
    same_numbers(tf.nn.leaky_relu(x, alpha).numpy(), np.where(x > 0, x, x * slope))
    dy = numbers(x.size, 1)
    found = tf.raw_ops.LeakyReluGrad(gradients=dy, features=x, alpha=alpha).numpy()
    same_numbers(found, np.where(x > 0, dy, dy * slope))


@pytest.mark.parametrize("divided", [False, True])
def test_relu_and_its_gradients(divided, monkeypatch):
    if divided:
        monkeypatch.setattr(limit_kernels, "_DIVIDED", 1)
        monkeypatch.setattr(limit_kernels, "_DIVIDED_GRADIENT", 1)
    x = np.concatenate([SPECIAL, numbers(20_001) * 4])
    dy = np.concatenate([SPECIAL[::-1], numbers(20_001, 1)])
    zero, six = np.float32(0), np.float32(6)
    same_numbers(tf.nn.relu(x).numpy(), np.maximum(x, zero))
    same_numbers(tf.nn.relu6(x).numpy(), np.minimum(np.maximum(x, zero), six))
    same_numbers(tf.raw_ops.ReluGrad(gradients=dy, features=x).numpy(), np.where(x > 0, dy, zero))
    same_numbers(tf.raw_ops.Relu6Grad(gradients=dy, features=x).numpy(), np.where((x > 0) & (x < 6), dy, zero))


@pytest.mark.parametrize("shape", [(9, 31, 40, 3), (4, 10_000, 4), (70, 600), (200, 9, 600), (3, 2, 40_000, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, tf.bfloat16.as_numpy_dtype, np.int32])
def test_biases(shape, dtype):
    value = (numbers(int(np.prod(shape))) * 9).reshape(shape).astype(dtype)
    bias = (numbers(shape[-1], 1) * 9).astype(dtype)
    np.testing.assert_array_equal(tf.nn.bias_add(value, bias).numpy(), value + bias)


@pytest.mark.parametrize("other", [0.0, -0.0, 2.0])
def test_where_beside_a_number(other):
    x = np.concatenate([SPECIAL, numbers(20_001)])
    condition = numbers(x.size, 2) > 0
    same_numbers(tf.where(condition, x, other).numpy(), np.where(condition, x, np.float32(other)))
    rows = condition[:20_000].reshape(100, 200)
    same_numbers(tf.where(rows, x[:200], other).numpy(), np.where(rows, x[:200], np.float32(other)))
    same_numbers(tf.where(rows[:, :1], x[:200], other).numpy(), np.where(rows[:, :1], x[:200], np.float32(other)))


@pytest.mark.parametrize("shape", [(3, 4), (120, 100), (4, 60, 70), (1, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.bool_, np.complex128])
def test_bands(shape, dtype):
    x = np.ones(shape, dtype)
    row, column = np.arange(shape[-2])[:, None], np.arange(shape[-1])
    for lower in (-1, 0, 1):
        for upper in (-1, 0, 1):
            inside = ((lower < 0) | (row - column <= lower)) & ((upper < 0) | (column - row <= upper))
            found = tf.linalg.band_part(x, lower, upper).numpy()
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, np.broadcast_to(inside, shape).astype(dtype))


@pytest.mark.parametrize("options", [{}, {"num_bits": 4}, {"narrow_range": True}, {"min": -1.0, "max": 3.0}])
def test_fake_quantization(options):
    x = np.concatenate([SPECIAL, numbers(20_001)])
    before = x.copy()
    found = tf.quantization.fake_quant_with_min_max_args(x, **options).numpy()
    few = tf.quantization.fake_quant_with_min_max_args(x[:3000], **options).numpy()
    same_numbers(found[:3000], few)
    same_numbers(x, before)
    rows = numbers(20_000).reshape(2000, 10)
    low, high = np.linspace(-3, -1, 10, dtype=np.float32), np.linspace(1, 2, 10, dtype=np.float32)
    found = tf.quantization.fake_quant_with_min_max_vars_per_channel(rows, low, high).numpy()
    few = tf.quantization.fake_quant_with_min_max_vars_per_channel(rows[:100], low, high).numpy()
    same_numbers(found[:100], few)
