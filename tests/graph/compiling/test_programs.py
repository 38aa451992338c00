"""What programs are compiled with."""

import pytest

import headrace as tf
from headrace._src.graph.compiling.blocks import BlockBuilder
from headrace._src.graph.compiling.programs import OPTIONS, options_of

FUSION = "xla_cpu_experimental_ynn_fusion_type"


def attention(x):
    return tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)), x)


def dense(x):
    return tf.nn.softmax(tf.matmul(x[0], x[1], transpose_b=True))


def in_a_branch(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: attention(x), lambda: x)


def in_a_loop(x):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, attention(x)), (0, x))[1]


@pytest.mark.parametrize(
    ("function", "limited"), [(attention, True), (dense, False), (in_a_branch, True), (in_a_loop, False)]
)
def test_reductions_beside_products_of_batches_stay_with_xla(function, limited):
    graph = tf.function(function).get_concrete_function(tf.TensorSpec([2, 4, 4])).graph
    options = options_of(BlockBuilder().of_plan(graph.plan()))
    assert (FUSION in options) == limited
    assert {name: options[name] for name in OPTIONS} == OPTIONS
