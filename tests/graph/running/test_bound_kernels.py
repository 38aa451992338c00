"""Steps whose sizes and axes are constants: what is worked out once must fit every shape that comes later."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.op.bound_kernels import _BINDERS
from headrace._src.op.loading import load_everything

X = tf.TensorSpec(None, tf.float32)
CASES = {
    "StridedSlice": lambda x: x[1:, ..., ::2],
    "Slice": lambda x: tf.slice(x, [1, 0], [-1, 2]),
    "Reshape": lambda x: tf.reshape(x, [2, -1]),
    "ExpandDims": lambda x: tf.expand_dims(x, -1),
    "Squeeze": lambda x: tf.raw_ops.Squeeze(input=x, axis=[]),
    "Transpose": lambda x: tf.transpose(x, [1, 0]),
    "ConcatV2": lambda x: tf.concat([x, x], 1),
    "Split": lambda x: tf.stack(tf.raw_ops.Split(axis=1, value=x, num_split=2)),
    "SplitV": lambda x: tf.stack(tf.raw_ops.SplitV(value=x, size_splits=[2, -1], axis=1, num_split=2)),
    "GatherV2": lambda x: tf.gather(x, [1, 0], axis=1),
    "StridedSliceGrad": lambda x: tf.raw_ops.StridedSliceGrad(
        shape=[4, 4], begin=[0, 0], end=[2, 4], strides=[1, 1], dy=x
    ),
}


def outcome(function, x):
    try:
        return function(x).numpy().tolist()
    except Exception as error:
        text = str(error).partition(" Got ")[0].partition(" [Op")[0].partition("\n")[0].rstrip(".")
        return type(error), text.partition(": ")[2].replace("input_", "input")  # eagerly in the public function's words


def test_every_bound_op_has_a_case():
    load_everything()
    assert set(CASES) == set(_BINDERS)


@pytest.mark.parametrize("op", CASES)
def test_results_and_errors_are_those_of_the_op(op):
    traced = tf.function(CASES[op]).get_concrete_function(X)
    steps = {step.record.name for step in traced.graph.plan().steps}
    assert op in steps
    for _ in range(70):  # beyond the runs that are interpreted, into written code
        traced(tf.ones([2, 4]))
    for shape in ([2, 4], [3, 4], [4, 2], [2, 1], [1, 4], [2, 4], [3], [], [2, 3, 4], [0, 4]):
        x = tf.constant(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
        assert outcome(traced, x) == outcome(CASES[op], x), shape


def test_many_shapes_are_forgotten():
    traced = tf.function(lambda x: tf.reshape(x, [-1])).get_concrete_function(X)
    for n in range(200):
        assert traced(tf.ones([n, 2])).shape == [2 * n]
