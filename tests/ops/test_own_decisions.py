"""Where headrace decides otherwise than TensorFlow in linear algebra and signals, against NumPy and differences."""

import numpy as np
import pytest
from differences import check_gradients
from evaluation import evaluate
from families import rows_of

import headrace as tf

FAMILIES = ("matmul", "einsum", "matrices", "decompositions", "solving", "signal")
CHECKED = ("float32", "float64", "complex64", "complex128")
ROWS = [
    pytest.param(row, id=f"{family}:{row.name}")
    for family in FAMILIES
    for row in rows_of(family)
    if row.ours is not None and row.grad and row.fd and row.dtype in CHECKED
]


@pytest.mark.parametrize("row", ROWS)
def test_gradients(row):
    found = evaluate(tf, row)
    if "error" in found or not found["grads"] or all(grad is None for grad in found["grads"]):
        return
    check_gradients(tf, row, row.second)


OPTIONS = [
    {},
    {"axes": [0]},
    {"axes": [2, 0]},
    {"fft_length": [4, 3]},
    {"fft_length": [2, 5], "axes": [0, -1]},
    {"norm": "ortho"},
    {"norm": "forward", "axes": [1]},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_along_any_axes(name, options):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 3, 4))
    if name != "rfftn":
        x = x + 1j * rng.standard_normal(x.shape)
    axes = options.get("axes")
    if axes is None and "fft_length" in options:
        axes = [1, 2]
    want = getattr(np.fft, name)(x, options.get("fft_length"), axes, options.get("norm"))
    got = getattr(tf.signal, f"{name}d")(tf.constant(x), **options)
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("inner", [3, 300])
def test_integer_products_wrap_around(dtype, inner):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(4)
    a = rng.integers(info.min, info.max, (37, inner), dtype, endpoint=True)
    b = rng.integers(info.min, info.max, (inner, 33), dtype, endpoint=True)
    np.testing.assert_array_equal(tf.matmul(a, b).numpy(), a @ b)


def test_refuses_what_tensorflow_aborts_on():
    with pytest.raises(tf.errors.InvalidArgumentError, match="no input has"):
        tf.raw_ops.Einsum(inputs=[tf.ones([2])], equation="a->b")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        tf.signal.rfft(tf.ones([4]), [0])


def test_quantizing_to_32_bits_saturates():
    output = tf.quantization.quantize([-2.0, 0.0, 2.0], -1.0, 1.0, tf.qint32).output
    assert tf.cast(output, tf.int32).numpy().tolist() == [-(2**31), 0, 2**31 - 1]
