"""Convolutions and pools where TensorFlow is no judge: naive loops, transposition and differences are."""

import itertools

import numpy as np
import pytest
from differences import check_gradients
from evaluation import evaluate
from families import rows_of

import headrace as tf
from headrace._src.core import parts
from headrace._src.ops.windows import conv_kernels, depthwise_kernels, pool_kernels
from headrace._src.ops.windows.placement import resolve

OURS = [
    pytest.param(row, id=f"{family}:{row.name}")
    for family in ("conv", "pool", "normalization")
    for row in rows_of(family)
    if row.ours is not None and row.grad and row.fd and row.dtype in ("float32", "float64")
]
REFUSED = (
    "MaxPoolGradWithArgmax",
    "FractionalAvgPoolGrad(",
    "AvgPoolGrad(",
    "FusedBatchNormV3(x=a, scale=s, offset=o",
)


@pytest.mark.parametrize("row", OURS)
def test_what_tensorflow_refuses(row):
    result = evaluate(tf, row)
    if "error" in result:
        # These are the rows on which TensorFlow crashes or reads what is not there.
        assert any(name in row.code for name in REFUSED), result["message"]
        assert "InvalidArgumentError" in result["error"]
        return
    # No op gathers what a window of a fractional pool or a grey-scale dilation chose.
    second = row.second and "fractional" not in row.code and "moments" not in row.code
    if "Fused" not in row.code:
        check_gradients(tf, row, second)


def naive_convolution(x, f, w):
    """Sums over all taps and groups, one output position at a time."""
    inputs, outputs = f.shape[-2:]
    groups = x.shape[-1] // inputs
    each = outputs // groups
    padded = np.pad(x, [(0, 0), *zip(w.before, w.after), (0, 0)])
    y = np.zeros((len(x), *w.output, outputs))
    for o in itertools.product(*map(range, w.output)):
        for k in itertools.product(*map(range, w.window)):
            at = tuple(a * s + b * d for a, s, b, d in zip(o, w.stride, k, w.dilation))
            for g in range(groups):
                part = padded[(slice(None), *at)][:, g * inputs : (g + 1) * inputs]
                y[(slice(None), *o)][:, g * each : (g + 1) * each] += (
                    part @ f[k][:, g * each : (g + 1) * each]
                )
    return y


@pytest.mark.parametrize("seed", range(40))
def test_convolution_kernels(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    dims = int(rng.integers(1, 4))
    pick = lambda low, high: tuple(int(n) for n in rng.integers(low, high, dims))
    size, window, dilation = pick(4, 8), pick(1, 4), pick(1, 3)
    stride = (1,) * dims if seed % 3 == 0 else pick(1, 4)
    padding = ("SAME", "VALID", "EXPLICIT")[seed % 3]
    pairs = (
        tuple((int(a), int(b)) for a, b in rng.integers(0, 4, (dims, 2))) if padding == "EXPLICIT" else None
    )
    if padding == "VALID":
        dilation = (1,) * dims
    w = resolve("Conv", size, window, stride, dilation, padding, pairs)
    groups, inputs = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    outputs = groups * int(rng.integers(1, 7))
    # Blocks of all sizes must give the same result: rows of an image, images, everything.
    monkeypatch.setattr(conv_kernels, "_BLOCK_BYTES", int(rng.choice([1, 500, 1 << 22])))
    monkeypatch.setattr(conv_kernels, "_TAPS_BYTES", int(rng.choice([1, 500, 1 << 20])))
    monkeypatch.setattr(conv_kernels, "_SHORT_RUN", int(rng.choice([0, 12])))
    monkeypatch.setattr(conv_kernels, "_LONG_COPY", int(rng.choice([0, 1 << 18])))
    monkeypatch.setattr(conv_kernels, "_DIVIDED", int(rng.choice([0, 1 << 23])))
    monkeypatch.setattr(depthwise_kernels, "_BLOCK_BYTES", int(rng.choice([1, 500, 1 << 20])))
    x, f = rng.normal(size=(3, *size, groups * inputs)), rng.normal(size=(*window, inputs, outputs))
    y = conv_kernels.forward(x, f, w)
    np.testing.assert_allclose(y, naive_convolution(x, f, w), atol=1e-10)
    # The gradients are the transposes of the two linear maps.
    dy, x2, f2 = (rng.normal(size=a.shape) for a in (y, x, f))
    dx = conv_kernels.input_gradient(dy, f, x.shape[-1], w)
    df = conv_kernels.filter_gradient(x, dy, inputs, w)
    np.testing.assert_allclose(np.sum(conv_kernels.forward(x2, f, w) * dy), np.sum(x2 * dx), atol=1e-9)
    np.testing.assert_allclose(np.sum(conv_kernels.forward(x, f2, w) * dy), np.sum(f2 * df), atol=1e-9)
    small = rng.normal(size=(*window, x.shape[-1], 2))
    depthwise = depthwise_kernels.forward(x, small, w)
    grouped = small.reshape(*window, 1, -1)
    np.testing.assert_allclose(depthwise, naive_convolution(x, grouped, w), atol=1e-10)
    dy = rng.normal(size=depthwise.shape)
    dx, df = depthwise_kernels.input_gradient(dy, small, w), depthwise_kernels.filter_gradient(x, dy, 2, w)
    np.testing.assert_allclose(
        np.sum(depthwise_kernels.forward(x2, small, w) * dy), np.sum(x2 * dx), atol=1e-9
    )
    f2 = rng.normal(size=small.shape)
    np.testing.assert_allclose(np.sum(depthwise_kernels.forward(x, f2, w) * dy), np.sum(f2 * df), atol=1e-9)


@pytest.mark.parametrize("case", ["SAME", "VALID", "dilated", "outside", "line", "volume"])
def test_convolutions_by_rows(case, monkeypatch):
    monkeypatch.setattr(conv_kernels, "_DIVIDED", 0)
    rng = np.random.default_rng(0)
    size = {"line": (20,), "volume": (10, 4, 5)}.get(case, (20, 6))
    window, ones = (3 if case == "VALID" else 5,) * len(size), (1,) * len(size)
    pairs, padding = ((4, 5), (0, 6)), {"VALID": "VALID", "outside": "EXPLICIT"}.get(case, "SAME")
    dilation = (2, 1) if case == "dilated" else ones
    w = resolve("Conv", size, window, ones, dilation, padding, pairs if case == "outside" else None)
    x, f = rng.normal(size=(3, *size, 8)), rng.normal(size=(*window, 8, 1))
    assert conv_kernels._blocks_of_rows(x, f, w)
    np.testing.assert_allclose(conv_kernels.forward(x, f, w), naive_convolution(x, f, w), atol=1e-10)


def test_results_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    w = resolve("Conv2D", (30, 30), (3, 3), (1, 1), (1, 1), "SAME", None)
    pool = resolve("MaxPool", (30, 30), (2, 2), (2, 2), (1, 1), "VALID", None)
    x, f = rng.normal(size=(16, 30, 30, 9)).astype("f"), rng.normal(size=(3, 3, 9, 15)).astype("f")

    def results():
        y = conv_kernels.forward(x, f, w)
        assert y.size * f[..., 0].size > conv_kernels._DIVIDED
        pooled = pool_kernels.max_pool(y, (1, 2), pool)
        dy = pool_kernels.max_pool_gradient(y, pooled, (1, 2), pool)
        df, dx = conv_kernels.filter_gradient(x, dy, 9, w), conv_kernels.input_gradient(dy, f, 9, w)
        return [a.tobytes() for a in (y, pooled, dy, df, dx)]

    found = []
    for count in (1, 2, 5):
        parts.set_thread_count(count)
        try:
            found.append(results())
        finally:
            parts.set_thread_count(0)
    assert found[0] == found[1] == found[2]


def test_integer_convolution_wraps_around():
    x = np.full((1, 3, 3, 1), 2**30, np.int32)
    f = np.full((2, 2, 1, 1), 3, np.int32)
    w = resolve("Conv2D", (3, 3), (2, 2), (1, 1), (1, 1), "VALID", None)
    want = np.int64(2**30 * 3 * 4).astype(np.int32)
    assert (conv_kernels.forward(x, f, w) == want).all()
    huge = np.full((2, 2, 1, 1), 2**30 + 1, np.int32)
    want = np.int64((2**30 * (2**30 + 1) * 4) % 2**32).astype(np.int32)
    assert (conv_kernels.forward(x, huge, w) == want).all()


def first(x):
    """Channels last to channels first."""
    return tf.constant(np.moveaxis(x.numpy(), -1, 1))


def last(x):
    return np.moveaxis(x.numpy(), 1, -1)


CHANNELS_FIRST = {
    "conv1d": (1, (4,), lambda x, f, d: tf.nn.conv1d(x, f, 2, "SAME", d[0])),
    "conv2d": (2, (4,), lambda x, f, d: tf.nn.conv2d(x, f, (1, 2), "SAME", d[1])),
    "conv2d dilated": (2, (4,), lambda x, f, d: tf.nn.conv2d(x, f, 1, "VALID", d[1], dilations=2)),
    "conv3d": (3, (4,), lambda x, f, d: tf.nn.conv3d(x, f, [1] * 5, "SAME", d[2])),
    "depthwise": (2, (2,), lambda x, f, d: tf.nn.depthwise_conv2d(x, f, [1] * 4, "SAME", d[1])),
    "max_pool1d": (1, (4,), lambda x, f, d: tf.nn.max_pool1d(x, 2, 1, "SAME", d[0])),
    "max_pool2d": (2, (4,), lambda x, f, d: tf.nn.max_pool2d(x, 3, 2, "SAME", d[1])),
    "max_pool3d": (3, (4,), lambda x, f, d: tf.nn.max_pool3d(x, 2, 2, "SAME", d[2])),
    "avg_pool1d": (1, (4,), lambda x, f, d: tf.nn.avg_pool1d(x, 2, 1, "SAME", d[0])),
    "avg_pool2d": (2, (4,), lambda x, f, d: tf.nn.avg_pool2d(x, 3, 2, "SAME", d[1])),
    "avg_pool3d": (3, (4,), lambda x, f, d: tf.nn.avg_pool3d(x, 2, 2, "SAME", d[2])),
    "space_to_depth": (2, (4,), lambda x, f, d: tf.nn.space_to_depth(x, 2, d[1])),
}


@pytest.mark.parametrize("name", CHANNELS_FIRST)
def test_channels_first_is_channels_last_transposed(name):
    dims, outputs, function = CHANNELS_FIRST[name]
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(2, *(6,) * dims, 3)))
    f = tf.constant(rng.normal(size=(*(3,) * dims, 3, *outputs)))
    results = []
    for data, formats in ((x, ("NWC", "NHWC", "NDHWC")), (first(x), ("NCW", "NCHW", "NCDHW"))):
        with tf.GradientTape() as tape:
            tape.watch([data, f])
            y = function(data, f, formats)
            loss = tf.reduce_sum(y * y)
        dx, df = tape.gradient(loss, [data, f])
        results.append((y, dx, df))
    np.testing.assert_allclose(last(results[1][0]), results[0][0].numpy(), atol=1e-12)
    np.testing.assert_allclose(last(results[1][1]), results[0][1].numpy(), atol=1e-12)
    if results[0][2] is not None:
        np.testing.assert_allclose(results[1][2].numpy(), results[0][2].numpy(), atol=1e-12)


def test_infinite_gradients_reach_the_maximum_alone():
    x = np.arange(16.0).reshape(1, 4, 4, 1)
    w = resolve("MaxPool", (4, 4), (2, 2), (2, 2), (1, 1), "VALID", None)
    dx = pool_kernels.max_pool_gradient(x, np.full((1, 2, 2, 1), np.inf), (1, 2), w)
    assert np.isinf(dx).sum() == 4
    assert (dx[~np.isinf(dx)] == 0).all()


def test_a_nan_shows_in_the_maximum():
    x = tf.constant([[[[1.0], [np.nan], [2.0], [3.0]]]])
    np.testing.assert_array_equal(tf.nn.max_pool2d(x, (1, 2), (1, 2), "VALID").numpy().ravel(), [np.nan, 3.0])


def test_convolutions_are_deterministic():
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(8, 14, 14, 8)).astype(np.float32))
    f = tf.constant(rng.normal(size=(3, 3, 8, 16)).astype(np.float32))
    once, again = (tf.nn.conv2d(x, f, 1, "SAME").numpy() for _ in range(2))
    assert (once == again).all()


def test_sizes_that_no_machine_has():
    g = tf.ones((1, 1, 1, 1))
    f = tf.ones((1, 1, 1, 1))
    huge = 2**31 - 1
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
        tf.raw_ops.Conv2DBackpropInput(
            input_sizes=[1, huge, huge, 1],
            filter=f,
            out_backprop=g,
            strides=[1, huge, huge, 1],
            padding="SAME",
        )
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
        tf.nn.conv2d(g, f, 1, [[0, 0], [2**40, 0], [2**40, 0], [0, 0]])
