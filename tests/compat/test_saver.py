"""`tf.compat.v1.train.Saver` does what TensorFlow's does: operations, files, values and errors."""

import json
import pathlib

import pytest
import v1_saving_programs as programs

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[1] / "golden" / "v1_saving.json").read_text())
PROGRAMS = [(family, name) for family in ("savers", "objects") for name in programs.FAMILIES[family]]
v1 = tf.compat.v1


@pytest.mark.parametrize(("family", "name"), PROGRAMS)
def test_programs(family, name):
    programs.compare(name, programs.result_of(tf, programs.FAMILIES[family][name]), RECORDED[family][name])


def test_nothing_is_left_out():
    assert {family: set(table) for family, table in programs.FAMILIES.items()} == {
        family: set(table) for family, table in RECORDED.items()
    }


def two_variables():
    return v1.get_variable("a", initializer=[1.0, 2.0]), v1.get_variable("b", initializer=[3.0])


def test_nothing_changes_when_a_shape_does_not_fit(tmp_path):
    with tf.Graph().as_default(), v1.Session() as sess:
        a, b = two_variables()
        sess.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(sess, tmp_path / "m")
    with tf.Graph().as_default(), v1.Session() as sess:
        a = v1.get_variable("a", initializer=[7.0, 8.0])
        b = v1.get_variable("b", initializer=[[1.0, 2.0]])
        c = v1.get_variable("c", initializer=[0.0, 0.0, 0.0])
        sess.run(v1.global_variables_initializer())
        saver = v1.train.Saver({"a": a, "b": b})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"b is of shape \(1, 2\), b in .* shape \(1,\)"):
            saver.restore(sess, path)
        assert sess.run(a).tolist() == [7.0, 8.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"c is of shape \(3,\), a in .*; b is of shape"):
            v1.train.Saver({"a": c, "b": b}).restore(sess, path)


def test_the_graph_is_there_before_the_state_says_so(tmp_path, monkeypatch):
    """A crash between the two leaves the checkpoint before as the latest."""
    with tf.Graph().as_default(), v1.Session() as sess:
        two_variables()
        sess.run(v1.global_variables_initializer())
        saver = v1.train.Saver(max_to_keep=1)
        first = saver.save(sess, tmp_path / "m", 1)
        monkeypatch.setattr(saver, "export_meta_graph", lambda *args, **kwargs: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            saver.save(sess, tmp_path / "m", 2)
        assert tf.train.latest_checkpoint(tmp_path) == first
        assert (tmp_path / "m-1.meta").exists()


def test_a_session_says_which_graph_is_meant(tmp_path):
    """TensorFlow demands that the graph is also the default one."""
    with tf.Graph().as_default() as graph:
        a, _ = two_variables()
        saver = v1.train.Saver()
    with v1.Session(graph=graph) as sess:
        sess.run(a.initializer)
        sess.run([v.initializer for v in graph.get_collection("variables")])
    sess = v1.Session(graph=graph)
    sess.run([v.initializer for v in graph.get_collection("variables")])
    path = saver.save(sess, tmp_path / "m")
    saver.restore(sess, path)
    assert sess.run(a).tolist() == [1.0, 2.0]


def test_a_damaged_checkpoint_is_named(tmp_path):
    with tf.Graph().as_default(), v1.Session() as sess:
        a, _ = two_variables()
        sess.run(v1.global_variables_initializer())
        saver = v1.train.Saver()
        path = saver.save(sess, tmp_path / "m")
        index = tmp_path / "m.index"
        index.write_bytes(index.read_bytes()[:-9])
        with pytest.raises(tf.errors.DataLossError, match="m.index"):
            saver.restore(sess, path)
        assert sess.run(a).tolist() == [1.0, 2.0]


def test_tables_are_saved(tmp_path):
    with tf.Graph().as_default(), v1.Session() as sess:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        sess.run(table.insert(["a"], [5]))
        saver = v1.train.Saver({"t": table})
        path = saver.save(sess, tmp_path / "m")
        sess.run(table.insert(["a"], [6]))
        saver.restore(sess, path)
        assert sess.run(table.lookup(tf.constant(["a", "b"]))).tolist() == [5, -1]
