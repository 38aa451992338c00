"""Fused optimizer ops in compiled functions, on repeated rows, and on variables without handles."""

import numpy as np
import pytest

import headrace as tf

v1 = tf.compat.v1
R = tf.raw_ops


def adam(variables, gradient):
    var, m, v = (variable.handle for variable in variables)
    R.ResourceApplyAdam(
        var=var, m=m, v=v, beta1_power=0.9, beta2_power=0.99, lr=0.1, beta1=0.9, beta2=0.99, epsilon=1e-7, grad=gradient
    )  # fmt: skip


def variables():
    return [tf.Variable(np.full([2, 3], number, np.float32)) for number in (1.0, 0.1, 0.2)]


@pytest.mark.parametrize("compiled", [False, True])
def test_in_functions(compiled):
    """All variables that it changes come out of a compiled program."""
    gradient = tf.constant(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    eager, traced = variables(), variables()

    @tf.function(jit_compile=compiled)
    def step():
        adam(traced, gradient)
        return traced[1] + 0.0

    for _ in range(2):
        adam(eager, gradient)
        after = step()
    for a, b in zip(eager, traced):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    np.testing.assert_allclose(after, eager[1], rtol=1e-6)


def test_rows_that_are_repeated_are_updated_in_order():
    var, accum = tf.Variable(np.zeros([4, 1], np.float32)), tf.Variable(np.ones([4, 1], np.float32))
    gradient = np.arange(1.0, 6.0, dtype=np.float32).reshape(5, 1)
    R.ResourceSparseApplyAdagrad(
        var=var.handle, accum=accum.handle, lr=1.0, grad=gradient, indices=[3, 0, 3, 3, 0]
    )
    expected, kept = np.zeros(4), np.ones(4)
    for row, number in zip([3, 0, 3, 3, 0], gradient.ravel()):
        kept[row] += number**2
        expected[row] -= number / np.sqrt(kept[row])
    np.testing.assert_allclose(var.numpy().ravel(), expected, rtol=1e-6)
    np.testing.assert_allclose(accum.numpy().ravel(), kept, rtol=1e-6)


def test_nothing_changes_when_something_does_not_fit():
    given = variables()
    before = [variable.numpy() for variable in given]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"grad must have shape \(2, 3\), got \(3,\)"):
        adam(given, tf.constant([1.0, 2.0, 3.0]))
    for variable, array in zip(given, before):
        assert (variable.numpy() == array).all()


REFERENCES = """
node { name: "w" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } } } } }
node { name: "first" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value"
  value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2 } } } }
node { name: "rate" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value"
  value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 0.5 } } } }
node { name: "init" op: "Assign" input: "w" input: "first" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "down" op: "ApplyGradientDescent" input: "w" input: "rate" input: "w"
  attr { key: "T" value { type: DT_FLOAT } } }
node { name: "twice" op: "Add" input: "down" input: "w" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "again" op: "ApplyGradientDescent" input: "down" input: "rate" input: "first"
  attr { key: "T" value { type: DT_FLOAT } } }
"""


def test_references():
    """What an op returns is the variable: it can be read, and updated again."""
    message = v1.GraphDef()
    from google.protobuf import text_format

    text_format.Parse(REFERENCES, message)
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        tf.import_graph_def(message, name="")
        sess.run("init")
        assert sess.run("twice:0").tolist() == [1.0, 2.0]
        assert sess.run("w:0").tolist() == [0.5, 1.0]
        assert sess.run("again:0").tolist() == [-0.25, -0.5]
        assert [(x.name, list(x.input)) for x in graph.as_graph_def().node] == [
            (x.name, list(x.input)) for x in message.node
        ]


def test_a_reference_must_be_a_variable():
    message = v1.GraphDef()
    message.node.add(name="c", op="Const")
    message.node[0].attr["dtype"].type = 1
    message.node[0].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(1.0))
    node = message.node.add(name="n", op="ApplyGradientDescent", input=["c", "c", "c"])
    node.attr["T"].type = 1
    with tf.Graph().as_default(), pytest.raises(ValueError, match="ApplyGradientDescent takes a variable, got"):
        tf.import_graph_def(message)
