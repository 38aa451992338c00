"""Meta graphs are written and read as TensorFlow does: operations, collections, scopes, savers."""

import json
import pathlib

import pytest
import v1_saving_programs as programs

import headrace as tf

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "v1_saving.json"
RECORDED = json.loads(GOLDEN.read_text())["meta graphs"]
v1 = tf.compat.v1


@pytest.mark.parametrize("name", sorted(programs.META_GRAPHS))
def test_programs(name):
    programs.compare(name, programs.result_of(tf, programs.META_GRAPHS[name]), RECORDED[name])


def test_names_of_imported_operations_are_taken():
    with tf.Graph().as_default():
        tf.constant(1.0, name="c")
        message = v1.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        v1.train.import_meta_graph(message)
        assert tf.constant(2.0, name="c").name == "c_1:0"
        assert [op.name for op in graph.get_operations()] == ["c", "c_1"]


def test_unbound_inputs_are_bound():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2], name="x")
        with tf.name_scope("h"):
            tf.add(x * 2.0, x, name="y")
        message = v1.train.export_meta_graph(export_scope="h")
    with tf.Graph().as_default(), v1.Session() as sess:
        other = tf.constant([1.0, 2.0])
        v1.train.import_meta_graph(message, import_scope="q", input_map={"$unbound_inputs_x": other})
        assert sess.run("q/y:0").tolist() == [3.0, 6.0]


@pytest.mark.parametrize("data", [b"\xff\xffjunk", b"meta_info_def { nonsense: 3 }"])
def test_damaged_files(tmp_path, data):
    path = tmp_path / "m.meta"
    path.write_bytes(data)
    with tf.Graph().as_default(), pytest.raises(OSError, match=r"Cannot parse file .*m\.meta: it is no MetaGraphDef"):
        v1.train.import_meta_graph(path)


def test_unknown_ops_are_named():
    message = v1.MetaGraphDef()
    message.graph_def.node.add(name="n", op="NoSuchOp")
    with tf.Graph().as_default() as graph, pytest.raises(tf.errors.NotFoundError, match="NoSuchOp"):
        v1.train.import_meta_graph(message)
    assert not graph.get_operations()


def test_what_cannot_be_written_is_left_out(caplog):
    with tf.Graph().as_default():
        tf.constant(1.0)
        v1.add_to_collection("objects", object())
        message = v1.train.export_meta_graph()
    assert "objects" not in message.collection_def
    assert "Issue encountered when serializing objects" in caplog.text


def test_devices_are_cleared():
    message = v1.MetaGraphDef()
    message.graph_def.node.add(name="n", op="NoOp", device="/job:ps/task:3/device:GPU:1")
    for clear, device in ((False, "/job:ps/task:3/device:GPU:1"), (True, "")):
        with tf.Graph().as_default() as graph:
            v1.train.import_meta_graph(message, clear_devices=clear)
            assert graph.get_operation_by_name("n").device == device
            assert v1.train.export_meta_graph(clear_devices=clear).graph_def.node[0].device == device
    assert message.graph_def.node[0].device


def test_gradients_of_loops_that_wait_for_something():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 5, 3])
        _, state = v1.nn.dynamic_rnn(v1.nn.rnn_cell.BasicLSTMCell(2), x, dtype=tf.float32)
        loss = tf.reduce_mean(state.h)
        with tf.control_dependencies([loss]):
            v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        message = v1.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        v1.train.import_meta_graph(message)
        assert graph.get_operation_by_name("GradientDescent").type == "NoOp"
