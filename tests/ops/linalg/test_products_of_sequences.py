"""The gradient by one matrix that a whole batch is multiplied by."""

import numpy as np
import pytest

import headrace as tf

# Shapes of the factors, and whether each is transposed.
PRODUCTS = [
    ((3, 4, 5), (5, 6), False, False),
    ((2, 3, 4, 5), (6, 5), False, True),
    ((3, 5, 4), (5, 6), True, False),
    ((0, 4, 5), (5, 6), False, False),
    ((3, 4, 0), (0, 6), False, False),
    ((3, 4, 5), (1, 5, 6), False, False),
]


def gradients(x, y, adj_x, adj_y, repeated=None):
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        right = y if repeated is None else tf.broadcast_to(y, repeated)
        z = tf.raw_ops.BatchMatMulV2(x=x, y=right, adj_x=adj_x, adj_y=adj_y)
        loss = tf.reduce_sum(tf.math.real(z * z) ** 2)
    return tape.gradient(loss, [x, y])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("left", "right", "adj_x", "adj_y"), PRODUCTS)
def test_gradients_are_those_of_a_matrix_for_each(left, right, adj_x, adj_y, dtype):
    numbers = np.random.default_rng(0)
    x, y = (tf.constant(numbers.normal(size=shape).astype(dtype)) for shape in (left, right))
    if x.dtype.is_complex:
        x, y = x * (1 + 0.5j), y * (2 - 1j)
    expected = gradients(x, y, adj_x, adj_y, repeated=[*left[:-2], *right[-2:]])
    unknown = [tf.TensorSpec([None] * (len(left) - 1) + [left[-1]], dtype), tf.TensorSpec([None] * len(right), dtype)]
    calls = lambda x, y: gradients(x, y, adj_x, adj_y)
    for run in (calls, tf.function(calls), tf.function(calls, input_signature=unknown)):
        for found, wanted in zip(run(x, y), expected):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
