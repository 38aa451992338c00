"""`tf.compat.v1.summary` gives TensorFlow's bytes, and writes them to event files."""

import json
import pathlib
import warnings

import numpy as np
import pytest
import v1_saving_programs as programs

import headrace as tf

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "v1_saving.json"
RECORDED = json.loads(GOLDEN.read_text())
PROGRAMS = [(family, name) for family in ("summaries", "summary writers") for name in programs.FAMILIES[family]]
v1 = tf.compat.v1


@pytest.mark.parametrize(("family", "name"), PROGRAMS)
@pytest.mark.filterwarnings("ignore:Attempting to use a closed FileWriter")
def test_programs(family, name):
    programs.compare(name, programs.result_of(tf, programs.FAMILIES[family][name]), RECORDED[family][name])


def events(folder):
    (path,) = folder.iterdir()
    return list(v1.train.summary_iterator(path))[1:]


def test_a_writer_of_2_takes_summaries_of_1(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=3), tf.name_scope("s"):
        results = [
            v1.summary.scalar("a", 1.0), v1.summary.histogram("b", [1.0, 2.0]), v1.summary.text("c", tf.constant("t")),
            v1.summary.image("d", np.zeros([1, 2, 2, 1], "float32"), family="f"),
            v1.summary.audio("e", np.zeros([1, 5, 1], "float32"), 8000), v1.summary.merge([b""]),
        ]  # fmt: skip
    assert [x.numpy() for x in results] == [b""] * 6
    values = [event.summary.value[0] for event in events(tmp_path)]
    assert [value.tag for value in values] == ["s/a", "s/b", "s/c", "f/s/f/d", "s/e"]
    plugins = ["scalars", "histograms", "text", "images", "audio"]
    assert [value.metadata.plugin_data.plugin_name for value in values] == plugins


def test_a_writer_of_2_needs_a_step(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        with pytest.warns(UserWarning, match="global step not set"):
            data = v1.summary.scalar("a", 1.0).numpy()
    assert v1.Summary.FromString(data).value[0].tag == "a"


def test_writers_of_2_in_a_graph(tmp_path):
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        writer = tf.summary.create_file_writer(str(tmp_path))
        with pytest.raises(RuntimeError, match="No default"):
            v1.summary.initialize(session=sess)
        with writer.as_default():
            tf.summary.scalar("a", 1.0, step=tf.constant(3, tf.int64))
            v1.summary.initialize(graph, sess)
            sess.run(v1.summary.all_v2_summary_ops())
            sess.run(writer.flush())
        found = events(tmp_path)
    assert [event.WhichOneof("what") for event in found] == ["graph_def", "summary"]
    assert found[1].step == 3


def test_what_is_no_message(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="no SummaryMetadata message"):
        tf.raw_ops.TensorSummaryV2(tag="t", tensor=[True], serialized_summary_metadata=b"junk")
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_images must be at least 1, got 0"):
        v1.summary.image("a", np.zeros([1, 2, 2, 1], "float32"), max_outputs=0)
    path = tmp_path / "events"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"junk")
    with pytest.raises(tf.errors.DataLossError, match="events: event 0 is no Event message"):
        list(v1.train.summary_iterator(path))


def test_graphs_that_tensorboard_reads(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant(1.0, name="x"), 2.0, name="y")
        with v1.summary.FileWriter(tmp_path, graph):
            pass
    first, second = events(tmp_path)
    assert [node.name for node in v1.GraphDef.FromString(first.graph_def).node] == ["x", "y/y", "y"]
    meta_graph = v1.MetaGraphDef.FromString(second.meta_graph_def)
    assert [op.name for op in meta_graph.meta_info_def.stripped_op_list.op] == ["AddV2", "Const"]


def test_a_closed_writer_warns(tmp_path):
    with tf.Graph().as_default():
        writer = v1.summary.FileWriter(tmp_path)
        writer.close()
        with pytest.warns(UserWarning, match="closed FileWriter"):
            writer.add_summary(v1.Summary(), 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            writer.flush()
            writer.close()


def test_messages_for_attributes():
    """`tf.make_tensor_proto` works while a graph is built."""
    with tf.Graph().as_default() as graph:
        assert tf.make_ndarray(tf.make_tensor_proto([1, 2])).tolist() == [1, 2]
        assert not graph.get_operations()
        with pytest.raises(TypeError, match="takes values"):
            tf.make_tensor_proto(tf.constant(1))


def test_ops_that_write(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    handle, raw = writer._resource, tf.raw_ops
    red = tf.constant([255, 0, 0, 255], tf.uint8)
    raw.WriteScalarSummary(writer=handle, step=1, tag="a", value=2.5)
    raw.WriteHistogramSummary(writer=handle, step=2, tag="b", values=[1.0, 2.0])
    raw.WriteImageSummary(writer=handle, step=3, tag="c", tensor=tf.zeros([1, 2, 2, 1]), bad_color=red, max_images=1)
    raw.WriteAudioSummary(writer=handle, step=4, tag="d", tensor=tf.zeros([1, 3]), sample_rate=100.0)
    writer.close()
    found = [(event.step, event.summary.value[0]) for event in events(tmp_path)]
    kinds = [(step, value.tag, value.WhichOneof("value")) for step, value in found]
    assert kinds == [(1, "a", "simple_value"), (2, "b", "histo"), (3, "c/image", "image"), (4, "d/audio/0", "audio")]
    with pytest.raises(tf.errors.InvalidArgumentError, match="value must be a scalar"):
        writer = tf.summary.create_file_writer(str(tmp_path))
        raw.WriteScalarSummary(writer=writer._resource, step=1, tag="a", value=[2.5, 1.0])
