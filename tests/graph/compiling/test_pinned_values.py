"""Values that are handed through a branch, so that XLA computes them once."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.lazy import jax, jax_programs, jnp
from headrace._src.graph.compiling.pinned_values import with_values_pinned

X = np.random.default_rng(5).uniform(0.01, 0.1, (64, 32)).astype("f")


def steps(x, count, read=lambda before, x: before * x + before):
    """Each step reads the one before twice."""
    state = x
    for _ in range(count):
        state = read(state, x)
    return state


def with_a_product(x):
    """A product ends what a reader would compute again."""
    state = x
    for _ in range(30):
        state = (state * x + state) @ x[:32]
    return state


# A function, and how many of its values are pinned.
FUNCTIONS = [
    (lambda x: steps(x, 60), range(8, 30)),
    (lambda x: steps(x, 60, lambda before, x: before + x), [0]),  # read once: nothing is computed twice
    (lambda x: steps(x, 4), [0]),
    (lambda x: steps(x[:4], 60), [0]),  # too small
    (lambda x: steps(x.astype(int), 60), [0]),  # no argument of floats would be there in such a program
    (lambda x: steps(x, 60, lambda before, x: jnp.tanh(before * x) - before * x), range(8, 40)),
    (with_a_product, [0]),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_what_is_pinned(number):
    function, counts = FUNCTIONS[number]
    given = X if number != 4 else X.astype(int)
    program = jax.make_jaxpr(function)(given)
    pinned = with_values_pinned(program)
    assert (pinned is program) == (list(counts) == [0])
    assert len(pinned.eqns) - len(program.eqns) in counts
    (expected,), (result,) = (jax.jit(jax_programs.jaxpr_as_fun(p))(given) for p in (program, pinned))
    np.testing.assert_allclose(result, expected, rtol=1e-4)


def test_a_pinned_value_is_still_an_output():
    program = jax.make_jaxpr(lambda x: [steps(x, count) for count in range(20, 40)])(X)
    pinned = with_values_pinned(program)
    assert pinned is not program
    for x, y in zip(*(jax.jit(jax_programs.jaxpr_as_fun(p))(X) for p in (program, pinned))):
        np.testing.assert_allclose(x, y, rtol=1e-4)


def test_a_function_that_is_compiled():
    @tf.function(jit_compile=True)
    def compiled(x):
        return steps(x, 60, lambda before, x: 0.5 * before * x + before)

    expected = steps(X, 60, lambda before, x: np.float32(0.5) * before * x + before)
    np.testing.assert_allclose(compiled(X), expected, rtol=1e-4)
