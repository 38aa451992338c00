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
    return tf.cond(tf.reduce_sum(x) > 0, lambda: convolution(x)[..., 0], lambda: x)


def in_a_loop(x):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, convolution(x)[..., 0]), (0, x))[1]


def convolution(x):
    return tf.nn.conv2d(x[..., None], tf.ones((2, 2, 1, 3)), 1, "SAME")


PRODUCTS, REDUCTIONS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT", "LIBRARY_FUSION_TYPE_REDUCE"


@pytest.mark.parametrize(
    ("function", "limit"),
    [
        (attention, None),
        (dense, None),
        (in_a_branch, f"{PRODUCTS},{REDUCTIONS}"),
        (in_a_loop, None),
        (convolution, f"{PRODUCTS},{REDUCTIONS}"),
        (lambda x: attention(x) + convolution(x)[..., 0], f"{PRODUCTS},{REDUCTIONS}"),
    ],
)
def test_what_the_library_behind_products_is_left(function, limit):
    graph = tf.function(function).get_concrete_function(tf.TensorSpec([2, 4, 4])).graph
    options = options_of(BlockBuilder().of_plan(graph.plan()))
    assert options.get(FUSION) == limit
    assert {name: options[name] for name in OPTIONS} == OPTIONS


def test_where_the_last_loop_ends():
    inner = tf.function(lambda x: in_a_loop(x) + 1.0)
    functions = attention, lambda x: attention(in_a_loop(attention(x))), lambda x: attention(inner(attention(x)))
    for function, has_loop in zip(functions, (False, True, True), strict=True):
        graph = tf.function(function).get_concrete_function(tf.TensorSpec([2, 4, 4])).graph
        block = BlockBuilder().of_plan(graph.plan())
        assert block.loops == has_loop
        after = [instruction.op for instruction in block.instructions[block.after_loops :]]
        assert after.count("Softmax") == 1
        assert not {"StatelessWhile", "While", "PartitionedCall"} & set(after)
