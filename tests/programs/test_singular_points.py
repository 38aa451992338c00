"""At singular points, values and gradients are NaN, infinite or zero where TensorFlow's are, in every tier."""

import json

import numpy as np
import pytest
import singular_points

import headrace as tf
from headrace._src.graph.compiling.compilation import set_background_compilation

RECORDED = json.loads(singular_points.FILE.read_text())
TIERS = {
    "eager": lambda function: function,
    "interpreted": lambda function: tf.function(function, autograph=False),
    "compiled": lambda function: tf.function(function, autograph=False, jit_compile=True),
}


@pytest.mark.parametrize("tier", ["eager", "interpreted", pytest.param("compiled", marks=pytest.mark.slow)])
def test_singular_points(tier):
    function = TIERS[tier](lambda x: singular_points.of_all(tf, x))
    names = [f"{part} of {text}" for text in singular_points.EXPRESSIONS for part in ("value", "gradient")]
    differing = []
    set_background_compilation(False)  # interpreted means interpreted
    try:
        for point, values in singular_points.POINTS.items():
            for name, result, recorded in zip(names, function(tf.constant(values)), RECORDED[point]):
                if not np.allclose(result.numpy(), recorded, rtol=1e-5, atol=1e-6, equal_nan=True):
                    differing.append((point, name, result.numpy().tolist(), recorded))
    finally:
        set_background_compilation(True)
    assert not differing


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_large_arguments_of_series_have_one_result(dtype):
    """XLA's series are wrong there, and that of the gamma function would take minutes for the last of them."""

    def results(x):
        return [tf.math.igamma(x, x), tf.math.igammac(x, x), tf.math.betainc(x, x, tf.ones_like(x) / 2)]

    x = tf.constant([1e8, 1e11, 1e20], dtype)
    for one, other in zip(results(x), tf.function(results, autograph=False, jit_compile=True)(x)):
        np.testing.assert_array_equal(other.numpy(), one.numpy())


# Of real and imaginary parts. Negative zeros stand for the other side of a cut.
PARTS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e30]
FUNCTIONS = ["acosh", "asin", "exp", "log", "reciprocal", "sqrt", "tanh"]


def of_complex(x):
    return [getattr(tf.math, name)(x) for name in FUNCTIONS] + [x * x, x / x]


compiled_of_complex = tf.function(of_complex, autograph=False, jit_compile=True)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_complex_numbers_that_are_not_finite_have_one_result(part):
    """What XLA makes of them is another one: the interpreter computes where there is such a number."""
    points = tf.constant([complex(part, x) for x in PARTS], tf.complex64)
    for name, one, other in zip([*FUNCTIONS, "product", "quotient"], of_complex(points), compiled_of_complex(points)):
        np.testing.assert_allclose(other.numpy(), one.numpy(), 1e-5, 1e-6, err_msg=name)
