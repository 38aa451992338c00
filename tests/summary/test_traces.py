"""Traces: which graphs are written, how TensorBoard finds them, and the profile beside them."""

import glob
import os
import threading

import pytest
from summary_programs import events_of

import headrace as tf
from headrace._src.formats import event_messages
from headrace._src.profiler.session import end_session


@pytest.fixture(autouse=True)
def _nothing_left():
    yield
    tf.summary.trace_off()


@pytest.fixture
def writer(tmp_path):
    return tf.summary.create_file_writer(str(tmp_path))


def _values(folder):
    (path,) = glob.glob(f"{folder}/events*")
    return [value for data in events_of(path) for value in event_messages.Event.FromString(data).summary.value]


def _graphs(value):
    metadata = event_messages.RunMetadata.FromString(value.tensor.string_val[0])
    return [[node.op for node in graph.pre_optimization_graph.node] for graph in metadata.function_graphs]


def _profiles(folder):
    return glob.glob(f"{folder}/plugins/profile/*/*.xplane.pb")


def test_graphs_of_functions_that_are_called(writer, tmp_path):
    before = tf.function(lambda x: x - 1.0)
    inner = tf.function(lambda x: x * 3.0)
    outer = tf.function(lambda x: inner(x) + 1.0)
    before(tf.constant(1.0))
    with writer.as_default():
        tf.summary.trace_on()
        before(tf.constant(1.0))  # traced before: TensorFlow does not show such ones
        for _ in range(3):
            outer(tf.constant(1.0))
        outer(tf.constant([1.0]))
        with tf.name_scope("scope"):
            tf.summary.trace_export("traced", step=5)
        outer(tf.constant([1.0, 2.0]))
    (value,) = _values(tmp_path)
    assert value.tag == "scope/traced"
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"
    assert value.metadata.plugin_data.content == b"1"
    graphs = _graphs(value)
    assert len(graphs) == 3
    assert "Sub" in graphs[0]
    assert all("PartitionedCall" in graph and "AddV2" in graph for graph in graphs[1:])
    assert not _profiles(tmp_path)


def test_functions_under_a_tape_and_in_other_threads(writer, tmp_path):
    square = tf.function(lambda x: x * x)
    other = tf.function(lambda x: tf.tanh(x))
    with writer.as_default(step=1):
        tf.summary.trace_on(graph=True)
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square(x)
        assert float(tape.gradient(y, x)) == 6.0
        thread = threading.Thread(target=other, args=[x])
        thread.start()
        thread.join()
        tf.summary.trace_export("t")
    graphs = _graphs(_values(tmp_path)[0])
    assert len(graphs) == 3  # forwards, backwards, and the thread's
    assert "Tanh" in graphs[2]


@pytest.mark.parametrize(
    ("on", "export"),
    [
        (lambda folder: dict(profiler=True, profiler_outdir=folder), lambda folder: {}),
        (lambda folder: dict(profiler=True), lambda folder: dict(profiler_outdir=folder)),  # as documents have it
        (lambda folder: dict(profile=True), lambda folder: dict(profiler_outdir=folder)),  # a word that they misspell
        (lambda folder: dict(profiler=True), lambda folder: {}),  # to the folder of the writer
    ],
)
def test_a_profile(writer, tmp_path, on, export):
    folder = str(tmp_path)
    with writer.as_default():
        tf.summary.trace_on(graph=True, **on(folder))
        tf.function(lambda x: x + 1.0)(tf.constant(1.0))
        tf.summary.trace_export(name="model_trace", step=0, **export(folder))
    (value,) = _values(tmp_path)
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata"
    assert len(_graphs(value)) == 1
    (path,) = _profiles(tmp_path)
    assert os.path.getsize(path) > 100


def test_a_profile_without_a_folder(caplog):
    tf.summary.trace_on(profiler=True)
    tf.summary.trace_export("t", step=0)
    assert "pass profiler_outdir" in caplog.text
    with pytest.raises(tf.errors.UnavailableError):
        tf.profiler.experimental.stop()


def test_a_profile_that_somebody_else_ended(writer, caplog, tmp_path):
    with writer.as_default():
        tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path))
        end_session()
        tf.summary.trace_export("t", step=0)
    assert "ended by somebody else" in caplog.text
    assert not _profiles(tmp_path)


def test_misuse(writer, caplog):
    with pytest.raises(ValueError, match="Must enable trace before export"):
        tf.summary.trace_export("t", step=0)
    tf.summary.trace_off()
    tf.summary.trace_on()
    tf.summary.trace_on()
    assert "already" in caplog.text
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.trace_export("t")
        tf.summary.trace_export("t", step=0)  # it goes on

    @tf.function
    def inside():
        tf.summary.trace_on()
        tf.summary.trace_export("t", step=0)

    inside()
    assert "call it in eager code" in caplog.text
    with pytest.raises(TypeError, match="other"):
        tf.summary.trace_on(other=True)


def test_trace_off_puts_everything_back():
    tf.summary.trace_on(profiler=True)
    tf.summary.trace_off()
    tf.profiler.experimental.start("")
    tf.profiler.experimental.stop(save=False)


def test_a_graph(writer, tmp_path):
    f = tf.function(lambda x: x * 2.0)
    graph = f.get_concrete_function(tf.constant(1.0)).graph
    with writer.as_default():
        assert bool(tf.summary.graph(graph))
        assert bool(tf.summary.graph(graph.as_graph_def()))
        with tf.summary.record_if(False):
            assert not bool(tf.summary.graph(graph))
    assert not bool(tf.summary.graph(graph))
    (path,) = glob.glob(f"{tmp_path}/events*")
    events = [event_messages.Event.FromString(data) for data in events_of(path)[1:]]
    read = [tf.compat.v1.GraphDef.FromString(event.graph_def) for event in events]
    assert [[node.op for node in each.node] for each in read] == [["Placeholder", "Const", "Mul", "Identity"]] * 2
    assert "_output_shapes" in read[0].node[0].attr
    with tf.Graph().as_default(), pytest.raises(ValueError, match="inside a graph context"):
        tf.summary.graph(graph)
