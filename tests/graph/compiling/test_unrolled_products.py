"""Sums of products in compiled programs without loops."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.lazy import jax, jax_programs, jnp
from headrace._src.graph.compiling.products import with_sums_replaced
from headrace._src.graph.compiling.unrolled_products import joined_products


def numbers(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype("f")


def transposed_products(rows, others):
    return [x.T @ y for x, y in zip(rows, others)]


def with_sums_joined(program):
    return with_sums_replaced(program, joined_products)


ROWS = [numbers(3, 16, seed=k) for k in range(5)]
OTHERS = [numbers(3, 8, seed=k) for k in range(5)]
TERM = numbers(16, 8)


def sum_of_five(rows, others):
    return sum(transposed_products(rows, others))


def with_other_terms(rows, others):
    return 2.0 + sum_of_five(rows, others) + TERM


def read_again(rows, others):
    products = transposed_products(rows, others)
    return sum(products), products[1]


def of_two_shapes(rows, others):
    return sum(transposed_products(rows, others)) + sum(x.T @ x[:, :8] for x in rows[:4])


# A function, and how many products it has with its sums joined; None when it stays as it is.
FUNCTIONS = [
    (sum_of_five, 1),
    (with_other_terms, 1),
    (read_again, 2),
    (of_two_shapes, 1),
    (lambda rows, others: sum_of_five(rows[:3], others), None),
    (lambda rows, others: transposed_products(rows, others), None),
    (lambda rows, others: sum(jnp.tanh(x) for x in transposed_products(rows, others)), None),
]


@pytest.mark.parametrize(("function", "count"), FUNCTIONS)
def test_products_of_a_sum_are_one(function, count):
    program = jax.make_jaxpr(lambda *given: function(given[:5], given[5:]))(*ROWS, *OTHERS)
    joined = with_sums_joined(program)
    assert (joined is program) == (count is None)
    if count is None:
        return
    compiled = jax.jit(jax_programs.jaxpr_as_fun(joined)).lower(*ROWS, *OTHERS).compile()
    assert compiled.as_text().count(" dot(") == count
    for result, expected in zip(compiled(*ROWS, *OTHERS), jax_programs.jaxpr_as_fun(program)(*ROWS, *OTHERS)):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_factors_much_larger_than_the_sum_stay():
    rows = [numbers(100, 4, seed=k) for k in range(5)]
    program = jax.make_jaxpr(lambda *xs: sum(x.T @ x for x in xs))(*rows)
    assert with_sums_joined(program) is program


def test_products_of_different_lengths_are_joined():
    rows = [numbers(1 + k, 16) for k in range(5)]
    joined = with_sums_joined(jax.make_jaxpr(lambda *xs: sum(x.T @ x for x in xs))(*rows))
    (result,) = jax.jit(jax_programs.jaxpr_as_fun(joined))(*rows)
    np.testing.assert_allclose(result, sum(x.T @ x for x in rows), rtol=1e-5, atol=1e-5)


def gradients(weights, inputs, **how):
    """Of a recurrent network in a Python loop."""

    @tf.function(**how)
    def f():
        with tf.GradientTape() as tape:
            h = tf.zeros([3, 8])
            for t in range(6):
                h = tf.tanh(inputs[:, t] @ weights[0] + h @ weights[1])
            loss = tf.reduce_sum(h * h)
        return tape.gradient(loss, weights)

    return [x.numpy() for x in f()]


def test_gradients_of_a_network_in_a_python_loop():
    weights = [tf.Variable(0.3 * numbers(5, 8)), tf.Variable(0.3 * numbers(8, 8))]
    inputs = tf.constant(numbers(3, 6, 5))
    interpreted = gradients(weights, inputs)
    compiled, again = (gradients(weights, inputs, jit_compile=True) for _ in range(2))
    for x, y, z in zip(interpreted, compiled, again):
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-5)
        np.testing.assert_array_equal(y, z)
