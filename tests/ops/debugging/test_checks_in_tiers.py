"""What checks or records every op does so in every tier: eagerly, interpreted, compiled, traced before or after."""

import pathlib

import pytest

import headrace as tf
from headrace._src.graph.compiling.compilation import set_background_compilation


def loss(x):
    return tf.reduce_sum(tf.math.log(x) * 2.0)


def slope(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sqrt(x))
    return tape.gradient(y, x)


def loop(x):
    for _ in tf.range(3):
        x = tf.math.log(x)
    return x


TIERS = {
    "eager": lambda function: function,
    "interpreted": tf.function,
    "compiled": lambda function: tf.function(function, jit_compile=True),
}
EACH = ["eager", "interpreted", pytest.param("compiled", marks=pytest.mark.slow)]
# A function, arguments that are fine, one that is not, and what the error must say.
CASES = {
    "forward": (loss, [1.0, 4.0], [0.0, 1.0], "Log", "tf.math.log(x) * 2.0"),
    "backward": (slope, [1.0, 4.0], [0.0, 1.0], "SqrtGrad", "tape.gradient(y, x)"),
    "in a loop": (loop, [1e9, 1e9], [2.0, 1.0], "Log", "x = tf.math.log(x)"),
}


@pytest.fixture(autouse=True)
def _undone():
    set_background_compilation(False)  # interpreted means interpreted
    yield
    tf.debugging.disable_check_numerics()
    tf.debugging.experimental.disable_dump_debug_info()
    set_background_compilation(True)


@pytest.mark.parametrize("traced_before", [True, False])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tier", EACH)
def test_the_first_nan_is_found(tier, case, traced_before):
    function, fine, bad, op, line = CASES[case]
    function = TIERS[tier](function)
    if traced_before:
        function(tf.constant(fine))
    tf.debugging.enable_check_numerics()
    function(tf.constant(fine))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        function(tf.constant(bad))
    text = str(caught.value)
    assert f"of op {op}" in text
    if tier != "eager":  # where the traceback itself shows the line
        assert f"(in call 2 of {function.__name__})" in text
        assert line in text
    tf.debugging.disable_check_numerics()
    if traced_before:
        function(tf.constant(bad))  # nothing is checked any more


@pytest.mark.parametrize("tier", EACH)
def test_ops_are_recorded(tier, tmp_path):
    function = TIERS[tier](loss)
    function(tf.constant([1.0, 4.0]))
    tf.debugging.experimental.enable_dump_debug_info(str(tmp_path), "FULL_HEALTH", circular_buffer_size=0)
    for _ in range(3):
        function(tf.constant([1.0, 4.0]))
    tf.debugging.experimental.disable_dump_debug_info()
    function(tf.constant([1.0, 4.0]))
    (file,) = pathlib.Path(tmp_path).glob("*.execution")
    content = file.read_bytes()
    assert {op: content.count(op) for op in (b"Log", b"Mul", b"Sum")} == {b"Log": 3, b"Mul": 3, b"Sum": 3}
