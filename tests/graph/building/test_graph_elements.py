"""What a `tf.Graph` holds: elements by name, collections, what may be fed and fetched."""

import pytest

import headrace as tf


@pytest.fixture
def graph():
    made = tf.Graph()
    with made.as_default():
        a = tf.constant(1.0, name="a")
        tf.add(a, 1.0, name="b")
    return made


def test_elements(graph):
    tensor = graph.get_tensor_by_name("a:0")
    assert graph.as_graph_element("a:0") is tensor
    assert graph.as_graph_element(tensor) is tensor
    assert graph.as_graph_element("a") is tensor.op
    with pytest.raises(ValueError, match="that of an Operation, not of a Tensor"):
        graph.as_graph_element("a", allow_operation=False)
    with pytest.raises(ValueError, match="that of a Tensor, not of an Operation"):
        graph.as_graph_element("a:0", allow_tensor=False)
    for missing in ("z", "z:0"):
        with pytest.raises(KeyError, match="'z"):
            graph.as_graph_element(missing)
    with pytest.raises(TypeError, match="Can not convert a int"):
        graph.as_graph_element(3)
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    with pytest.raises(ValueError, match="not an element of this graph"):
        graph.as_graph_element(other)


def test_an_operation_is_printed_with_its_attributes(graph):
    operation = graph.get_operation_by_name("b")
    text = str(operation)
    assert text.startswith('name: "b"\nop: "AddV2"\ninput: "a"\ninput: "b/y"\nattr {\n  key: "T"\n')
    assert text == str(operation.node_def)


def test_collections(graph):
    graph.add_to_collections(["x", "y"], 5)
    graph.add_to_collections("z", 6)
    graph.get_collection_ref("x").append(7)
    assert graph.get_collection("x") == [5, 7]
    assert graph.get_collection("y") == [5]
    assert set(graph.collections) == {"x", "y", "z"}
    graph.clear_collection("x")
    assert graph.get_collection("x") == []


def test_what_may_be_fed_and_fetched(graph):
    a, b = graph.get_tensor_by_name("a:0"), graph.get_tensor_by_name("b:0")
    assert graph.is_feedable(a)
    assert graph.is_fetchable(b)
    graph.prevent_feeding(a)
    graph.prevent_fetching(b.op)
    assert not graph.is_feedable(a)
    assert not graph.is_fetchable(b.op)
    assert not graph.is_fetchable(b)
    with tf.compat.v1.Session(graph=graph) as session:
        with pytest.raises(ValueError, match="not fetchable|not be fetched"):
            session.run(b)
        with pytest.raises(ValueError, match="not feedable|not be fed"):
            session.run(graph.get_operation_by_name("a"), {a: 2.0})


def test_blocks_and_the_end(graph):
    assert not graph.building_function
    assert tf.function(lambda: 1).get_concrete_function().graph.building_function
    with graph.as_default(), graph.container("kept"), graph.colocate_with(graph.get_operation_by_name("a")):
        tf.constant(2.0)
    graph.switch_to_thread_local()
    assert not graph.finalized
    graph.finalize()
    assert graph.finalized
    with graph.as_default(), pytest.raises(RuntimeError, match="finalized and cannot be modified"):
        tf.constant(3.0)
