"""Functions with constants in the place of variables."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat.saving.frozen_functions import convert_variables_to_constants_v2
from headrace._src.graph.messages.frozen_graphs import frozen_graph, name_of

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


class Model(tf.Module):
    """Functions that use variables in all the ways in which they can be read."""

    def __init__(self):
        super().__init__()
        self.v = tf.Variable(X, name="v")
        self.bias = tf.Variable([0.5, -0.5], name="bias")
        self.count = tf.Variable(3, name="count")
        self.inner = tf.function(lambda x: x @ self.v)
        self.constant = tf.constant([10.0, 20.0])

    def read(self, x):
        return x * self.v + self.bias

    def called(self, x):
        return self.inner(self.inner(x)) + self.constant

    def gathered(self, x):
        return tf.gather(self.v, [1, 0]) + tf.gather_nd(self.v, [[0, 0], [1, 1]]) + x

    def looped(self, x):
        for _ in tf.range(self.count):
            x = x + self.bias
            if tf.reduce_sum(x) > 5.0:
                x = x * self.v
        return x

    def chosen(self, x):
        return tf.switch_case(self.count - 2, [lambda: x, lambda: x + self.bias, lambda: x - self.v])

    def shaped(self, x):
        return tf.cast(tf.shape(self.v.read_value())[0], tf.float32) * x, {"n": self.count + 1}

    def nested(self, x):
        return tf.while_loop(lambda x: tf.reduce_sum(x) < 100.0, lambda x: [self.inner(x) + self.bias], [x])[0]


@pytest.fixture
def model():
    return Model()


def concrete_of(model, name):
    spec = tf.TensorSpec([2, 2], tf.float32, "x")
    return tf.function(getattr(model, name), input_signature=[spec]).get_concrete_function()


def flat(results):
    return [np.asarray(x) for x in tf.nest.flatten(results)]


@pytest.mark.parametrize("name", ["read", "called", "gathered", "looped", "chosen", "shaped", "nested"])
def test_means_the_same(model, name):
    function = concrete_of(model, name)
    expected = flat(function(tf.constant(X)))
    frozen = convert_variables_to_constants_v2(function)
    graph = frozen.graph.as_graph_def()
    ops = {node.op for node in graph.node}
    ops |= {node.op for f in graph.library.function for node in f.node_def}
    assert not ops & {"ReadVariableOp", "VarHandleOp", "ResourceGather", "ResourceGatherNd"}
    assert not frozen.variables
    for variable in (model.v, model.bias):
        variable.assign(variable * 100.0)  # it has the values of before
    actual = flat(frozen(tf.constant(X)))
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert tf.nest.map_structure(lambda x: 0, frozen.structured_outputs) == tf.nest.map_structure(
        lambda x: 0, function.structured_outputs
    )


def test_names_are_those_of_the_variables(model):
    frozen = frozen_graph(concrete_of(model, "read"))
    nodes = {node.name: node.op for node in frozen.graph_def.node}
    assert (nodes["v"], nodes["bias"], nodes["x"]) == ("Const", "Const", "Placeholder")
    assert frozen.names == ["x"]


def test_a_session_runs_it(model):
    function = concrete_of(model, "looped")
    expected = function(tf.constant(X)).numpy()
    frozen = frozen_graph(function)
    with tf.Graph().as_default():
        outputs = [tensor.name for tensor in function.graph.outputs]
        (y,) = tf.import_graph_def(frozen.graph_def, return_elements=outputs, name="g")
        with tf.compat.v1.Session() as session:
            np.testing.assert_allclose(session.run(y, {"g/x:0": X}), expected, rtol=1e-6)


def test_some_stay_variables(model):
    frozen = frozen_graph(concrete_of(model, "read"), lambda variable: name_of(variable) == "bias")
    nodes = {node.name: node.op for node in frozen.graph_def.node}
    assert (nodes["v"], nodes["bias"]) == ("Const", "VarHandleOp")
    assert list(frozen.variables) == ["bias"]


def test_what_changes_a_variable_is_refused(model):
    def step(x):
        model.v.assign_add(x)
        return x

    model.step = step
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(AssignAddVariableOp\) does something else with"):
        frozen_graph(concrete_of(model, "step"))


def test_what_is_no_variable_is_named():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    function = tf.function(lambda x: table.lookup(x), input_signature=[tf.TensorSpec([], tf.string)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="which is no variable: a table"):
        frozen_graph(function.get_concrete_function())


def test_calls_are_inlined(model):
    function = concrete_of(model, "called")
    frozen = convert_variables_to_constants_v2(function, aggressive_inlining=True)
    plain = convert_variables_to_constants_v2(function)
    ops, kept = ([node.op for node in x.graph.as_graph_def().node] for x in (frozen, plain))
    assert not any("PartitionedCall" in op for op in ops)
    assert any("PartitionedCall" in op for op in kept)
    for a, b in zip(flat(frozen(tf.constant(X))), flat(plain(tf.constant(X)))):
        np.testing.assert_array_equal(a, b)
