"""Windows on jax values: what is added up tap by tap, and gradients by products."""

import numpy as np
import pytest

import headrace as tf

FILTERS = tf.reshape(tf.range(1.0, 9.0), (2, 2, 1, 2))


@tf.function(jit_compile=True)
def few_products(x):
    return tf.nn.conv2d(x, FILTERS, 1, "SAME")


@tf.function(jit_compile=True)
def depthwise(x):
    return tf.nn.depthwise_conv2d(x, FILTERS, [1, 1, 1, 1], "SAME")


@pytest.mark.parametrize("first", [0.0, -0.0, 1e-45, np.nan, -np.inf])
@pytest.mark.parametrize("function", [few_products, depthwise])
def test_a_sum_that_is_computed_once_does_not_depend_on_the_number_that_keeps_it_apart(function, first):
    x = np.ones((1, 3, 3, 1), np.float32)
    x[0, 0, 0, 0] = first
    found, wanted = function(x).numpy(), function.python_function(x).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found[0, 2, 2].tolist() == FILTERS[0, 0, 0].numpy().tolist()


def _gradients(x, filters, **attributes):
    with tf.GradientTape() as tape:
        tape.watch([x, filters])
        y = tf.nn.conv2d(x, filters, **attributes)
        total = tf.reduce_sum(y * tf.reshape(tf.cast(tf.range(tf.size(y)) % 7, y.dtype), tf.shape(y)))
    return tape.gradient(total, [x, filters])


# Windows of one position, with few and with many channels; filters of more numbers than the images have.
@pytest.mark.parametrize(
    ("images", "filters", "attributes"),
    [
        ((2, 5, 5, 128), (1, 1, 128, 3), {"strides": 1, "padding": "SAME"}),
        ((2, 5, 6, 130), (1, 1, 130, 4), {"strides": (2, 3), "padding": "VALID"}),
        ((2, 5, 5, 3), (1, 1, 3, 4), {"strides": 2, "padding": "SAME"}),
        ((2, 3, 4, 4), (1, 1, 2, 4), {"strides": 1, "padding": "VALID"}),
        ((1, 4, 5, 6), (3, 2, 6, 8), {"strides": 1, "padding": "SAME"}),
        ((1, 7, 5, 6), (3, 3, 6, 8), {"strides": (3, 2), "padding": "VALID"}),
        ((1, 7, 8, 6), (2, 3, 6, 8), {"strides": 1, "padding": [[0, 0], [1, 2], [0, 1], [0, 0]], "dilations": (3, 2)}),
        ((1, 2, 2, 6), (5, 5, 6, 8), {"strides": 1, "padding": "SAME"}),
    ],
)
def test_gradients_by_products(images, filters, attributes):
    random = np.random.default_rng(3)
    x, f = (tf.constant(random.standard_normal(shape), tf.float32) for shape in (images, filters))
    compiled = tf.function(lambda x, f: _gradients(x, f, **attributes), jit_compile=True)
    for found, wanted in zip(compiled(x, f), _gradients(x, f, **attributes), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-4)
