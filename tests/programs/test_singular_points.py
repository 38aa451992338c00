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
