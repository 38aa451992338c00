"""`tf.compat.v1.graph_util`: cutting and simplifying GraphDef messages."""

import pytest
from graph_def_text import FLOAT, PLACEHOLDER, node, nodes_of, parse

import headrace as tf


def test_sub_graphs():
    text = PLACEHOLDER + node("b", "Neg", "a", T=FLOAT) + node("c", "Neg", "b", "^d", T=FLOAT) + node("d", "NoOp")
    extract = tf.compat.v1.graph_util.extract_sub_graph
    assert [x.name for x in extract(parse(text), ["b"]).node] == ["a", "b"]
    assert [x.name for x in extract(parse(text), ["c"]).node] == ["a", "b", "c", "d"]
    with pytest.raises(TypeError, match="list of strings"):
        extract(parse(text), "b")
    with pytest.raises(AssertionError, match="e is not in graph"):
        extract(parse(text), ["e"])


def test_training_nodes():
    text = (
        PLACEHOLDER + node("i", "Identity", "a", T=FLOAT) + node("j", "Identity", "i", T=FLOAT)
        + node("k", "Identity", "j", "^n", T=FLOAT) + node("w", "Identity", "a", T=FLOAT) + node("n", "NoOp", "^w")
        + node("o", "Neg", "j", T=FLOAT) + node("p", "Identity", "i", T=FLOAT)
    )  # fmt: skip
    nodes = nodes_of(tf.compat.v1.graph_util.remove_training_nodes(parse(text), ["p"]))
    assert set(nodes) == {"a", "k", "w", "n", "o", "p"}
    assert list(nodes["o"].input) == list(nodes["p"].input) == ["a"]
    assert list(nodes["k"].input) == ["a", "^n"]


def test_where_nodes_must_run():
    must = tf.compat.v1.graph_util.must_run_on_cpu
    with tf.Graph().as_default():
        number, text = tf.constant(1.0), tf.constant("x")
        assert not must(number.op)
        assert must(text.op.node_def)
        assert must(tf.constant(1).op)
        assert must(tf.cast(tf.constant(1), tf.float32).op)
        assert not must(tf.cast(number, tf.float64).op)
    variable = parse(node("v", "VariableV2")).node[0]
    assert must(variable, pin_variables_on_cpu=True)
    assert not must(variable)


def test_variables_become_constants():
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w, u = tf.Variable(tf.ones([2, 3]), name="w"), tf.Variable([[5.0]], name="u")
        tf.identity(tf.matmul(x, w) + tf.gather(u, [0]) + tf.cast(tf.shape(w)[0], tf.float32), name="y")
        with v1.Session() as session:
            session.run([w.initializer, u.initializer])
            frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
            partly = v1.graph_util.convert_variables_to_constants(
                session, graph.as_graph_def(), ["y"], variable_names_blacklist=["u"]
            )
            with pytest.raises(ValueError, match="AssignVariableOp.* does more with a variable"):
                v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), [w.initializer.name])
    assert not any("Variable" in x.op or "Handle" in x.op for x in frozen.node)
    assert [x.name for x in partly.node if x.op == "VarHandleOp"] == ["u"]
    assert v1.graph_util.tensor_shape_from_node_def_name(graph, "x").as_list() == [None, 2]
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(frozen, return_elements=["x:0", "y:0"])
        with v1.Session() as session:
            assert session.run(y, {x: [[1.0, 2.0]]}).tolist() == [[10.0, 10.0, 10.0]]


@pytest.mark.parametrize("as_text", [True, False])
def test_graphs_in_files(as_text, tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant([1.0, 2.0], name="x")
    path = tf.io.write_graph(graph, tmp_path / "new", "graph.pb", as_text=as_text)
    assert path == str(tmp_path / "new" / "graph.pb")
    data = (tmp_path / "new" / "graph.pb").read_bytes()
    found = parse(data.decode()) if as_text else tf.compat.v1.GraphDef.FromString(data)
    assert found == graph.as_graph_def()
    # Written over, from a message; nothing else is left in the folder.
    assert tf.io.write_graph(found, str(tmp_path / "new"), "graph.pb", as_text) == path
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["graph.pb"]
    with pytest.raises(TypeError, match="GraphDef"):
        tf.io.write_graph(3, tmp_path, "x")
