"""Functions of graphs by name, and graphs of such messages."""

import pytest

import headrace as tf
from headrace._src.graph.messages.graph_functions import function_def_to_graph


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")], autograph=False)
def doubled_until(x):
    return tf.while_loop(lambda y: tf.reduce_sum(y) < 10.0, lambda y: [y * 2.0], [x])[0]


def _imported(graph_def):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    return graph


def test_functions_keep_their_names_when_a_graph_is_read():
    """Tools read a graph, write it, and read it again: they look functions up by the names that they saw first."""
    first = doubled_until.get_concrete_function().graph.as_graph_def()
    names = {function.signature.name for function in first.library.function}
    assert len(names) == 2
    again = _imported(first)
    assert set(again._functions) == names
    (loop,) = [operation for operation in again.get_operations() if "While" in operation.type]
    assert {loop.get_attr("body").name, loop.get_attr("cond").name} == names
    assert set(_imported(again.as_graph_def())._functions) == names


def test_two_functions_of_one_name_are_written_apart():
    def graph_with(number):
        with tf.Graph().as_default() as graph:
            x = tf.compat.v1.placeholder(tf.float32, [], name="x")
            tf.function(lambda y: y + number, autograph=False)(x)
        message = graph.as_graph_def()
        for function in message.library.function:
            function.signature.name = "same"
        for node in message.node:
            if "f" in node.attr:
                node.attr["f"].func.name = "same"
        return message

    with tf.Graph().as_default() as both:
        tf.import_graph_def(graph_with(1.0), name="one")
        tf.import_graph_def(graph_with(2.0), name="two")
    functions = both.as_graph_def().library.function
    assert len({function.signature.name for function in functions}) == len(functions) == 2


def test_graph_of_a_message():
    graph = _imported(doubled_until.get_concrete_function().graph.as_graph_def())
    (loop,) = [operation for operation in graph.get_operations() if "While" in operation.type]
    with graph.as_default():
        definition = graph._functions[loop.get_attr("body").name].definition
        shapes = [tf.TensorShape([4])] * len(definition.signature.input_arg)
        body = function_def_to_graph(definition, input_shapes=shapes)
        said = function_def_to_graph(definition)
    assert body.name == definition.signature.name
    assert body.outputs[0].shape == [4]
    assert "Mul" in [operation.type for operation in body.get_operations()]
    assert len(said.inputs) == len(definition.signature.input_arg)
    with pytest.raises(ValueError, match="shapes"):
        function_def_to_graph(definition, input_shapes=[None] * (len(definition.signature.input_arg) + 1))


def test_variables_of_a_graph():
    v = tf.Variable(1.0)
    graph = tf.function(lambda: v + 1.0, autograph=False).get_concrete_function().graph
    assert [found is v for found in graph.variables] == [True]
