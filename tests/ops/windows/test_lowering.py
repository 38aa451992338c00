"""Windows on jax values: what is added up tap by tap."""

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
