"""Large arrays go block by block through several threads, and give the bits that they give as a whole."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.core import large_arrays, parts
from headrace._src.core.operating_system import LARGEST_KEPT
from headrace._src.op.lanes import MANY
from headrace._src.op.registry import lookup
from headrace._src.ops.math import reduction_kernels

SIZE = MANY + 100  # the last block is longer than the others
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
    assert equal(large_arrays.divided(np.power, number, Y), np.power(number, Y))
    assert equal(large_arrays.divided(np.power, Y, number.reshape(1)), np.power(Y, number))
    assert equal(large_arrays.divided(np.power, Y, Y), np.power(Y, Y))


@pytest.fixture
def parts_of_few_bytes(monkeypatch):
    """Functions that wait for memory take several parts of arrays that are not too large for a test."""
    for module in (large_arrays, reduction_kernels):
        monkeypatch.setattr(module, "_MANY_BYTES", 0)
        monkeypatch.setattr(module, "_BYTES_OF_A_PART", 1 << 18)


# The name of an op, and of the function of NumPy's that it is; arguments of another dtype than float32 by name.
QUICK = [
    ("AddV2", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("RealDiv", np.divide), ("Maximum", np.maximum),
    ("Minimum", np.minimum), ("Neg", np.negative), ("Abs", np.abs), ("Square", np.square), ("Sqrt", np.sqrt),
    ("Floor", np.floor), ("Greater", np.greater), ("LessEqual", np.less_equal), ("IsNan", np.isnan),
]  # fmt: skip


@pytest.mark.parametrize(("name", "function"), QUICK)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_numpy(name, function, dtype, threads, parts_of_few_bytes):
    arrays = [X.astype(dtype), Y.astype(dtype)][: len(lookup(name).signature.inputs)]
    with np.errstate(all="ignore"):
        assert equal(lookup(name)(*map(tf.constant, arrays)).numpy(), function(*arrays))


SHAPES = [
    ((520, 512), (512,)), ((520, 512), (520, 1)), ((512,), (520, 512)), ((1, 512), (520, 512)), ((520, 512), ()),
    ((520, 512), (1, 1)), ((4, 70_000), (4, 1)), ((2, 300, 500), (300, 1)), ((1,), (300_000,)),
    ((3, 1, 100_000), (4, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_arrays_that_broadcast(left, right, threads, parts_of_few_bytes):
    x, y = (np.resize(X[10:], shape) for shape in (left, right))
    assert equal((tf.constant(x) * tf.constant(y)).numpy(), x * y)


@pytest.mark.parametrize("dtype", ["int32", "bool", "complex64", "float16", "bfloat16", "uint8"])
def test_other_types(dtype, threads, parts_of_few_bytes):
    x = tf.cast(np.nan_to_num(X), dtype)
    for op in ("Equal",) if dtype == "bool" else ("AddV2", "Mul", "Equal"):
        function = {"AddV2": np.add, "Mul": np.multiply, "Equal": np.equal}[op]
        with np.errstate(all="ignore"):
            assert equal(lookup(op)(x, x).numpy(), function(x.numpy(), x.numpy()))


@pytest.mark.parametrize("source", ["float32", "float64", "int32", "bool", "complex64", "uint8"])
@pytest.mark.parametrize("target", ["float32", "float64", "int32", "bool", "complex64", "uint8", "int64"])
def test_casts(source, target, threads, parts_of_few_bytes):
    x = np.nan_to_num(Y).astype(source).reshape(4, -1)
    with np.errstate(all="ignore"):
        want = (x.real if source == "complex64" and target not in ("complex64", "bool") else x).astype(target)
        assert equal(tf.cast(x, target).numpy(), want)
        assert equal(tf.cast(x.T, target).numpy(), want.T)


def test_errors_are_those_of_small_arrays(threads, parts_of_few_bytes):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tf.constant(X) + tf.constant(Y[:-1])


def test_a_layout_that_is_none_of_ours(threads, parts_of_few_bytes):
    x = Y[: 520 * 500].reshape(520, 500).T
    found = large_arrays.divided(np.add, x, x)
    assert equal(found, x + x)
    assert found.strides == (x + x).strides


def test_memory_of_arrays_that_are_gone_is_used_again():
    size = LARGEST_KEPT + 4096
    first = large_arrays.empty((size,), np.dtype(np.uint8))
    place = first.ctypes.data
    second = large_arrays.empty((size,), np.dtype(np.uint8))
    assert second.ctypes.data != place
    part = first[5:100].reshape(5, 19)
    part[:] = 7
    del first
    third = large_arrays.empty((size // 8, 2), np.dtype(np.float32))
    assert third.ctypes.data != place  # a view still reads it
    assert (part == 7).all()
    del part
    fourth = large_arrays.empty((size // 8, 2), np.dtype(np.float32))
    assert fourth.ctypes.data == place
    assert fourth.flags.c_contiguous
    assert fourth.flags.writeable


def test_free_memory_is_bounded():
    free = large_arrays.FreeMemory(1000)
    blocks = [np.empty(400, np.uint8) for _ in range(3)]
    for block in blocks:
        free.put(block)
    assert free.take(401) is None
    assert free.take(300) is None  # it would waste a quarter
    assert free.take(350) is blocks[2]
    assert free.take(400) is blocks[1]
    assert free.take(400) is None  # the oldest had to go
    free.put(np.empty(1001, np.uint8))
    assert free.take(1001) is None


def test_what_the_system_keeps_is_left_to_it():
    assert large_arrays.empty((100,), np.dtype(np.float32)).base is None
    assert large_arrays.empty((0, 5), np.dtype(np.float32)).shape == (0, 5)


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


@pytest.mark.parametrize("width", [2, 16, 17, 100, 5000, MANY // 2])
@pytest.mark.parametrize("reduce", ["sum", "max", "mean", "prod"])
def test_reductions_of_rows(width, reduce, threads, parts_of_few_bytes):
    rows = Y[: SIZE // width * width].reshape(-1, width)
    rows = np.concatenate([rows, rows])
    result = getattr(tf, f"reduce_{reduce}")(tf.constant(rows), 1).numpy()
    half = len(rows) // 2  # not large enough for several threads
    few = [getattr(tf, f"reduce_{reduce}")(tf.constant(part), 1).numpy() for part in (rows[:half], rows[half:])]
    assert rows.size > MANY
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


@pytest.mark.parametrize("function", [tf.nn.softmax, tf.nn.log_softmax])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_of_long_rows(function, dtype, threads):
    rows = np.stack([X, Y]).astype(dtype)[:, 8:]
    result = function(tf.constant(rows)).numpy()
    shifted = rows - rows.max(1, keepdims=True)
    total = np.exp(shifted).sum(1, keepdims=True)
    want = np.exp(shifted) / total if function is tf.nn.softmax else shifted - np.log(total)
    np.testing.assert_allclose(result, want, 4 * np.finfo(dtype).eps)
    assert equal(function(tf.constant(rows[1])).numpy(), result[1])
    parts.set_thread_count(2)
    assert equal(function(tf.constant(rows)).numpy(), result)
    assert np.isnan(function(tf.constant(X.astype(dtype))).numpy()).all()  # one is NaN


def test_random_numbers_do_not_depend_on_threads():
    draws = [
        lambda: tf.random.stateless_normal([SIZE], [1, 2]), lambda: tf.random.stateless_uniform([SIZE], [1, 2]),
        lambda: tf.random.stateless_truncated_normal([SIZE], [1, 2]),
        lambda: tf.random.stateless_poisson([SIZE], [1, 2], 3.0),
        lambda: tf.random.stateless_gamma([SIZE], [1, 2], 2.0),
        lambda: tf.random.experimental.stateless_shuffle(X[8:], [1, 2]),
    ]  # fmt: skip
    for draw in draws:
        parts.set_thread_count(1)
        one = draw().numpy()
        parts.set_thread_count(3)
        several = draw().numpy()
        parts.set_thread_count(0)
        assert equal(one, several)
        assert equal(one[:1000], np.asarray(draw())[:1000])
