"""Sums of parts that lie beside each other in compiled programs."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.lazy import jax, jax_programs, lax
from headrace._src.graph.compiling.joined_pads import joined_pads
from headrace._src.graph.compiling.products import with_sums_replaced


def numbers(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype("f")


def padded(x, axis, before, after):
    return lax.pad(x, np.float32(0), [(before, after, 0) if i == axis else (0, 0, 0) for i in range(x.ndim)])


A, B, C = numbers(3, 4), numbers(3, 4, seed=1), numbers(3, 12, seed=2)


def beside(a, b, c):
    return padded(a, 1, 0, 8) + padded(b, 1, 8, 0)


def three(a, b, c):
    return padded(a, 1, 0, 8) + (padded(b, 1, 8, 0) + padded(a, 1, 4, 4))


def with_another(a, b, c):
    return padded(b, 1, 5, 3) + c + padded(a, 1, 0, 8) + 2.0


def two_axes(a, b, c):
    rows = padded(a, 0, 0, 3) + padded(b, 0, 3, 0)
    return padded(rows, 1, 0, 4) + padded(rows, 1, 4, 0)


def overlapping(a, b, c):
    return padded(a, 1, 0, 8) + padded(b, 1, 3, 5)


def read_again(a, b, c):
    whole = padded(a, 1, 0, 8)
    return whole + padded(b, 1, 8, 0), whole


def other_filling(a, b, c):
    return lax.pad(a, np.float32(1), [(0, 0, 0), (0, 8, 0)]) + padded(b, 1, 8, 0)


def in_gaps(a, b, c):
    return lax.pad(a, np.float32(0), [(0, 0, 0), (0, 5, 1)]) + padded(b, 1, 8, 0)


def both_axes_of_one(a, b, c):
    return lax.pad(a, np.float32(0), [(0, 3, 0), (0, 4, 0)]) + lax.pad(b, np.float32(0), [(3, 0, 0), (4, 0, 0)])


@pytest.mark.parametrize(
    ("function", "is_joined"),
    [(beside, True), (three, True), (with_another, True), (two_axes, True), (overlapping, False), (read_again, False),
     (other_filling, False), (in_gaps, False), (both_axes_of_one, False)],
)  # fmt: skip
def test_parts_beside_each_other_are_put_together(function, is_joined):
    program = jax.make_jaxpr(function)(A, B, C)
    joined = with_sums_replaced(program, joined_pads)
    assert (joined is not program) == is_joined
    run = jax_programs.jaxpr_as_fun
    for x, y in zip(run(program)(A, B, C), run(joined)(A, B, C)):
        np.testing.assert_allclose(x, y, rtol=1e-6)
    text = jax.jit(run(joined)).lower(A, B, C).as_text()
    assert ("stablehlo.pad" in text) == (not is_joined)


@pytest.mark.parametrize(
    "take",
    [lambda x: (x[:, :4], x[:, 4:8], x[:, 8:]), lambda x: (x[:, :4], x[:, 5:]), lambda x: (x[:2], x[2:]),
     lambda x: (x[:, 0], x[:, 1:]), lambda x: (x[:, -1], x[:, ::2], x[:, 3:3], x[..., tf.newaxis, 2:4], x)],
    ids=["whole", "gap", "rows", "one", "others"],
)  # fmt: skip
def test_gradients_of_slices(take):
    x = tf.constant(C)

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.add_n([tf.reduce_sum(tf.sin(part) * (2.0 + k)) for k, part in enumerate(take(x))])
        return tape.gradient(loss, x)

    np.testing.assert_allclose(gradient(x), tf.function(gradient, jit_compile=True)(x), rtol=1e-6)
