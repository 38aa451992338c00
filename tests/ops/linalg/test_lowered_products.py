"""Products of matrices in compiled programs: floats of two bytes, transposed in all ways."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.lazy import jax
from headrace._src.ops.linalg.lowered_products import lowered_product

SHAPES = [
    ((24, 40), (40, 16)),
    ((3, 24, 40), (40, 16)),
    ((2, 3, 24, 40), (2, 3, 40, 16)),
    ((2, 1, 24, 40), (1, 3, 40, 16)),
]
# Orders of axes in front of a product, and axes that come and go: XLA finds some of these again when it is too late.
BEFORE = {
    "as it is": lambda x: x,
    "transposed twice": lambda x: tf.transpose(tf.transpose(x)),
    "an axis of one": lambda x: tf.transpose(tf.squeeze(tf.transpose(x[:, None], [2, 1, 0]), 1)),
    "reshaped": lambda x: tf.transpose(tf.reshape(tf.transpose(x)[..., None], [x.shape[1], x.shape[0]])),
}


def _numbers(shape, dtype):
    return tf.cast(tf.constant(np.random.default_rng(len(shape)).normal(size=shape)), dtype)


def _turned(shape, turn):
    return (*shape[:-2], shape[-1], shape[-2]) if turn else shape


def _is_one_rounding_away(found, wanted):
    found, wanted = (tf.cast(x, tf.float64).numpy() for x in (found, wanted))
    return np.allclose(found, wanted, rtol=2**-7, atol=2**-5)


TURNS = [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_compiled_products_are_those_of_the_interpreter(dtype):
    factors = {
        (shapes, turns): [_numbers(_turned(shape, turn), dtype) for shape, turn in zip(shapes, turns)]
        for shapes in SHAPES
        for turns in TURNS
    }

    def products(factors):
        return [tf.matmul(x, y, transpose_a=a, transpose_b=b) for (_, (a, b)), (x, y) in factors.items()]

    for found, wanted in zip(tf.function(products, jit_compile=True)(factors), products(factors), strict=True):
        assert found.dtype == wanted.dtype
        assert _is_one_rounding_away(found, wanted)


def test_what_stands_before_a_product_does_not_matter():
    x, y = _numbers((64, 48), "bfloat16"), _numbers((64, 32), "bfloat16")

    def products(x, y):
        return [tf.matmul(before(x), y, transpose_a=True) for before in BEFORE.values()]

    for found in tf.function(products, jit_compile=True)(x, y):
        assert _is_one_rounding_away(found, tf.matmul(x, y, transpose_a=True))


def test_einsum_of_small_floats_is_one_product():
    equation = "bqhd,bkhd->bhqk"
    sizes = dict(b=2, q=5, k=6, h=3, d=4)
    x, y = (_numbers([sizes[label] for label in labels], "bfloat16") for labels in equation.split("->")[0].split(","))
    compiled = tf.function(lambda x, y: tf.einsum(equation, x, y), jit_compile=True)
    wide = tf.einsum(equation, tf.cast(x, tf.float32), tf.cast(y, tf.float32))
    for found in (compiled(x, y), tf.einsum(equation, x, y)):
        assert found.dtype == tf.bfloat16
        assert _is_one_rounding_away(found, tf.cast(wide, tf.bfloat16))


@pytest.mark.parametrize(("turn_x", "turn_y"), TURNS)
def test_small_floats_are_multiplied_as_they_are(turn_x, turn_y):
    """No product has what is transposed, or made longer, for an input."""
    shapes = [_turned(shape, turn) for shape, turn in zip(SHAPES[2], (turn_x, turn_y))]
    given = [jax.ShapeDtypeStruct(shape, tf.bfloat16.as_numpy_dtype) for shape in shapes]
    program = jax.make_jaxpr(lambda x, y: lowered_product(x, y, turn_x, turn_y))(*given).jaxpr
    made_by = {result: equation.primitive.name for equation in program.eqns for result in equation.outvars}
    (product,) = [equation for equation in program.eqns if equation.primitive.name == "dot_general"]
    assert [made_by[x] for x in product.invars] == ["optimization_barrier"] * 2
    assert {x.aval.dtype for x in product.invars} == {given[0].dtype}
    assert product.outvars[0].aval.dtype == np.float32
