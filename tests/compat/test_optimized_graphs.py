"""`tensorflow.python.grappler.tf_optimizer`: smaller graphs that compute the same, for tools that convert graphs."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat.saving.frozen_functions import convert_variables_to_constants_v2
from headrace._src.compat.saving.optimized_graphs import optimize_graph
from headrace._src.compat.tensorflow_names.op_catalogue import ApiDefMap
from headrace._src.formats.model_messages import CollectionDef

WEIGHTS = np.arange(6, dtype=np.float32).reshape(2, 3)


def _optimized(graph_def, wanted, optimizers=("constfold", "function", "dependency"), **settings):
    config = tf.compat.v1.ConfigProto()
    options = config.graph_options.rewrite_options
    options.optimizers[:] = optimizers
    for name, value in settings.items():
        setattr(options, name, value)
    meta_graph = tf.compat.v1.train.export_meta_graph(graph_def=graph_def, graph=tf.Graph())
    fetched = CollectionDef()
    fetched.node_list.value.extend(wanted)
    meta_graph.collection_def["train_op"].CopyFrom(fetched)
    return optimize_graph(config, meta_graph)


def _run(graph_def, feeds, fetch):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.compat.v1.Session(graph=graph) as session:
            return session.run(fetch, feeds)


def _frozen(function, *specs):
    return convert_variables_to_constants_v2(function.get_concrete_function(*specs))


def test_calls_and_constants_are_gone():
    weights = tf.Variable(WEIGHTS)

    @tf.function(autograph=False)
    def inner(x):
        return tf.matmul(x, weights * 2.0)

    outer = tf.function(lambda x: tf.nn.relu(inner(x)) + tf.reshape(tf.range(3.0), [1, 3]), autograph=False)
    frozen = _frozen(outer, tf.TensorSpec([None, 2], tf.float32, name="x"))
    wanted = ["x:0", frozen.outputs[0].name]
    found = _optimized(frozen.graph.as_graph_def(add_shapes=True), wanted)
    ops = sorted(node.op for node in found.node if node.op != "Identity")
    assert ops == ["AddV2", "Const", "Const", "MatMul", "Placeholder", "Relu"]
    assert not found.library.function
    x = np.array([[1.0, -1.0]], np.float32)
    np.testing.assert_allclose(_run(found, {"x:0": x}, wanted[1]), outer(x), rtol=1e-6)


def test_an_output_of_a_call_keeps_its_name():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [2], name="x")
        results = tf.function(lambda y: (y + 1.0, y * 2.0), autograph=False)(x)
    found = _optimized(graph.as_graph_def(), ["x:0", *(tensor.name for tensor in results)])
    values = _run(found, {"x:0": [1.0, 2.0]}, [tensor.name for tensor in results])
    assert [value.tolist() for value in values] == [[2.0, 3.0], [2.0, 4.0]]
    assert "PartitionedCall" not in [node.op for node in found.node]


def test_what_has_state_keeps_its_calls():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        y = tf.function(lambda x: x + tf.random.uniform([], seed=1), autograph=False)(x)
    found = _optimized(graph.as_graph_def(), ["x:0", y.name])
    assert "StatefulPartitionedCall" in [node.op for node in found.node]


def test_emulated_quantization_stays_where_that_is_asked_for():
    with tf.Graph().as_default() as graph:
        y = tf.quantization.fake_quant_with_min_max_args(tf.constant([0.1, 0.2])) + 0.0
    for disabled, ops in ((True, {"Const", "FakeQuantWithMinMaxArgs", "AddV2"}), (False, {"Const", "AddV2"})):
        found = _optimized(
            graph.as_graph_def(), [y.name], experimental_disable_folding_quantization_emulation=disabled
        )
        assert {node.op for node in found.node} == ops


def test_nothing_wanted():
    with pytest.raises(ValueError, match="train_op"):
        _optimized(tf.Graph().as_graph_def(), [])


def test_ops_as_messages():
    ops = ApiDefMap()
    assert {"Conv2D", "While"} <= set(ops.op_names())
    assert [arg.name for arg in ops.get_op_def("TopKV2").output_arg] == ["values", "indices"]
    with pytest.raises(ValueError, match="NoSuchOp"):
        ops.get_op_def("NoSuchOp")


def test_freezing_leaves_out_what_was_taken_out_of_the_captures():
    """As tf2onnx does with tables, whose handles cannot become constants."""
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant(["a"]), tf.constant([1.5])), 0.0
    )
    scale = tf.Variable(2.0)
    function = tf.function(lambda word: table.lookup(word) * scale, autograph=False)
    concrete = function.get_concrete_function(tf.TensorSpec([None], tf.string, name="word"))
    captures, inputs = dict(concrete.graph._captures), list(concrete._captured_inputs)
    handle = table.resource_handle
    key = next(key for key, (outer, _) in captures.items() if outer is handle)
    del concrete.graph._captures[key]
    concrete._captured_inputs.pop(next(i for i, x in enumerate(inputs) if x is handle))
    try:
        frozen = convert_variables_to_constants_v2(concrete)
    finally:
        concrete.graph._captures = captures
        concrete._captured_inputs = inputs
    kinds = [node.attr["dtype"].type for node in frozen.graph.as_graph_def().node if node.op == "Placeholder"]
    assert sorted(kinds) == sorted([tf.string.as_datatype_enum, tf.resource.as_datatype_enum])
    assert concrete(tf.constant(["a", "b"])).numpy().tolist() == [3.0, 0.0]


def test_loops_have_a_counter_and_a_limit():
    """As TensorFlow's have; tf2onnx takes the first two variables of a loop for these."""
    function = tf.function(
        lambda x: tf.while_loop(lambda y: tf.reduce_sum(y) < 10.0, lambda y: [y * 2.0], [x])[0], autograph=False
    )
    frozen = _frozen(function, tf.TensorSpec([None], tf.float32, name="x"))
    (loop,) = [node for node in frozen.graph.as_graph_def().node if "While" in node.op]
    assert [tf.as_dtype(kind).name for kind in loop.attr["T"].list.type] == ["int32", "int32", "float32"]
    assert frozen(tf.constant([1.0, 2.0])).numpy().tolist() == [4.0, 8.0]
