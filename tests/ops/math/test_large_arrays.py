"""Large arrays go block by block through several threads, and give the bits that they give as a whole."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.core import parts
from headrace._src.op.registry import lookup
from headrace._src.ops.math import half_kernels, large_arrays

SIZE = half_kernels.MANY + 100  # the last block is longer than the others
RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal(SIZE).astype(np.float32)
X[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, -1e-8]
Y = (RANDOM.random(SIZE) + 0.5).astype(np.float32)


@pytest.fixture(params=[1, 3])
def threads(request):
    parts.set_thread_count(request.param)
    yield
    parts.set_thread_count(0)


def equal(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


FUNCTIONS = ["Exp", "Log", "Tanh", "Sigmoid", "Rsqrt", "Sin", "Cos", "Atan"]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_one_array(name, dtype, threads):
    x = X.astype(dtype).reshape(4, -1)
    half = x.shape[1] // 2  # not large enough for several threads
    few = [lookup(name)(tf.constant(part)).numpy() for part in (x[:, :half], x[:, half:])]
    assert equal(lookup(name)(tf.constant(x)).numpy(), np.concatenate(few, 1))


def test_arrays_and_scalars_in_blocks(threads):
    number = np.array(2.5, np.float32)
    assert equal(large_arrays.divided(np.power, Y, number), np.power(Y, number))
    assert equal(large_arrays.divided(np.power, Y, Y), np.power(Y, Y))


@pytest.mark.parametrize("name", ["Erf", "Expm1", "Log1p", "Elu", "Softplus", "TanhGrad", "SigmoidGrad"])
def test_kernels_with_blocks_of_their_own(name, threads):
    op = lookup(name)
    x = np.clip(X, -9, 9)
    arrays = [Y, x][: len(op.signature.inputs)]
    result = op(*map(tf.constant, arrays)).numpy()
    half = SIZE // 2  # not large enough for several threads
    few = [op(*[tf.constant(a[part]) for a in arrays]).numpy() for part in (slice(half), slice(half, SIZE))]
    assert equal(result, np.concatenate(few))


def test_what_does_not_lie_in_one_piece(threads):
    strided = np.repeat(Y, 2)[::2]
    assert equal(large_arrays.divided(np.exp, strided), np.exp(strided))


@pytest.mark.parametrize("width", [2, 16, 17, 100, 5000, half_kernels.MANY // 2])
@pytest.mark.parametrize("reduce", ["sum", "max", "mean", "prod"])
def test_reductions_of_rows(width, reduce, threads):
    rows = Y[: SIZE // width * width].reshape(-1, width)
    rows = np.concatenate([rows, rows])
    result = getattr(tf, f"reduce_{reduce}")(tf.constant(rows), 1).numpy()
    half = len(rows) // 2  # not large enough for several threads
    few = [getattr(tf, f"reduce_{reduce}")(tf.constant(part), 1).numpy() for part in (rows[:half], rows[half:])]
    assert rows.size > half_kernels.MANY
    if (rows[:half].size >= 4096 and half >= 256) or width > 16:
        assert equal(result, np.concatenate(few))


@pytest.mark.parametrize("function", [tf.nn.softmax, tf.nn.log_softmax])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("width", [10, 100])
def test_softmax(function, dtype, width, threads):
    rows = np.nan_to_num(X[: SIZE // width * width], posinf=3, neginf=-3).clip(-9, 9).astype(dtype).reshape(-1, width)
    result = function(tf.constant(rows)).numpy()
    third = len(rows) // 3
    pieces = [rows[:third], rows[third : 2 * third], rows[2 * third :]]
    assert equal(result, np.concatenate([function(tf.constant(piece)).numpy() for piece in pieces]))


def test_random_numbers_do_not_depend_on_threads():
    draws = [
        lambda: tf.random.stateless_normal([SIZE], [1, 2]), lambda: tf.random.stateless_uniform([SIZE], [1, 2]),
        lambda: tf.random.stateless_truncated_normal([SIZE], [1, 2]),
    ]  # fmt: skip
    for draw in draws:
        parts.set_thread_count(1)
        one = draw().numpy()
        parts.set_thread_count(3)
        several = draw().numpy()
        parts.set_thread_count(0)
        assert equal(one, several)
        assert equal(one[:1000], np.asarray(draw())[:1000])
