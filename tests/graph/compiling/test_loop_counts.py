"""How often loops run, from their jaxprs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headrace._src.graph.compiling.loop_counts import Counts

INT, BYTE = np.int32, np.int8


def counts(test, body, *start):
    shapes = [jax.ShapeDtypeStruct(np.shape(x), np.asarray(x).dtype) for x in start]
    return Counts(jax.make_jaxpr(test)(*shapes), jax.make_jaxpr(body)(*shapes), [np.asarray(x) for x in start])


@pytest.mark.parametrize(
    ("test", "step", "start", "trips"),
    [
        (lambda i: i < 10, lambda i: i + 1, 0, 10),
        (lambda i: i < 10, lambda i: i + 3, 0, 4),
        (lambda i: i <= 9, lambda i: i + 3, 0, 4),
        (lambda i: i < 10, lambda i: 1 + i, 10, 0),
        (lambda i: i > 0, lambda i: i - 1, 40, 40),
        (lambda i: i >= 1, lambda i: i - 2, 7, 4),
        (lambda i: 5 > i, lambda i: i + 1, 2, 3),
        (lambda i: (i < 10) & (i < 7), lambda i: i + 1, 0, 7),
        (lambda i: i < 10, lambda i: i - 1, 0, None),  # for ever
        (lambda i: i < 10, lambda i: i * 2, 1, None),
        (lambda i: i != 10, lambda i: i + 1, 0, None),
        (lambda i: (i < 10) | (i > 20), lambda i: i + 1, 0, None),
        (lambda i: i < i + 1, lambda i: i + 1, 0, None),
    ],
)
def test_trips(test, step, start, trips):
    assert counts(lambda i: (test(i),), lambda i: (step(i),), INT(start)).trips == trips


def test_a_counter_that_does_not_fit_its_type():
    found = counts(lambda i, j: (i < 100,), lambda i, j: (i + INT(1), j + BYTE(3)), INT(0), BYTE(0))
    assert found.trips == 100
    assert found.last == {0: 100}
    assert counts(lambda i: (i <= BYTE(127),), lambda i: (i + BYTE(1),), BYTE(0)).trips is None


def test_what_else_the_condition_asks():
    body = lambda i, x: (i + INT(1), x * 2)
    assert counts(lambda i, x: (i < 10,), body, INT(0), np.float32(1)).last == {0: 10}
    assert counts(lambda i, x: ((i < 10) & (x < 100),), body, INT(0), np.float32(1)).trips is None


def test_a_bound_that_is_not_known():
    found = []

    def run(bound):
        shapes = [jax.ShapeDtypeStruct((), INT)]
        test = jax.make_jaxpr(lambda i: (i < bound,))(*shapes)
        found.append(Counts(test, jax.make_jaxpr(lambda i: (i + INT(1),))(*shapes), [np.asarray(INT(0))]).trips)
        return bound

    jax.make_jaxpr(run)(jnp.int32(7))
    run(INT(7))
    assert found == [None, 7]
