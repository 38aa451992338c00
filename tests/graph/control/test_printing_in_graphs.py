"""Tests of `tf.print` in graphs: the text is TensorFlow's, and the same as eagerly."""

import collections
import logging
import sys

import numpy as np
import pytest

import headrace as tf

Point = collections.namedtuple("Point", "x y")
V = tf.Variable([1.0, 2.0])


def c(value, dtype=None):
    return tf.constant(value, dtype)


# Name: (the arguments, keyword arguments, the text that TensorFlow 2.21 prints).
CASES = {
    "scalar": (lambda: [c(1)], {}, "1\n"),
    "vector": (lambda: [tf.range(10)], {}, "[0 1 2 ... 7 8 9]\n"),
    "mixed": (lambda: ["a", c([1.0, 2.0]), "b", 3, None, True], {}, "a [1 2] b 3 None True\n"),
    "summarize": (lambda: [tf.range(10)], {"summarize": 2}, "[0 1 ... 8 9]\n"),
    "everything": (lambda: [tf.range(10)], {"summarize": -1}, "[0 1 2 3 4 5 6 7 8 9]\n"),
    "sep_end": (lambda: ["a", c(1), "b"], {"sep": "-", "end": "!"}, "a-1-b!"),
    "dict": (lambda: [{"a": c(1), "b": [c([1.0, 2.0]), "s"]}], {}, "{'a': 1, 'b': [[1 2], 's']}\n"),
    "tuple": (lambda: [(c(1), c("x"))], {}, '(1, "x")\n'),
    "namedtuple": (lambda: [Point(c(1), 2)], {}, "Point(x=1, y=2)\n"),
    "string": (lambda: [c("hello")], {}, "hello\n"),
    "strings": (lambda: [c(["a", "b"])], {}, '["a" "b"]\n'),
    "string_among_others": (lambda: ["x", c("hello")], {}, 'x "hello"\n'),
    "ragged": (lambda: [tf.ragged.constant([[1, 2], [3]])], {}, "[[1, 2], [3]]\n"),
    "sparse": (
        lambda: [tf.sparse.from_dense([[1, 0], [0, 2]])], {},
        "'SparseTensor(indices=[[0 0]\n [1 1]], values=[1 2], shape=[2 2])'\n",
    ),
    "bool": (lambda: [c([True, False])], {}, "[1 0]\n"),
    "empty": (lambda: [tf.zeros([0])], {}, "[]\n"),
    "floats": (
        lambda: [c([1 / 3, 1e10, 1e-10, float("nan"), float("inf")])], {}, "[0.333333343 1e+10 1e-10 nan inf]\n",
    ),
    "braces": (lambda: ["{} %s {0}", c(1)], {}, "{} %s {0} 1\n"),
    "nothing": (list, {}, "\n"),
    "variable": (lambda: [V], {}, "[1 2]\n"),
    "no_end": (lambda: [c(1)], {"end": ""}, "1"),
    "rank_3": (
        lambda: [tf.reshape(tf.range(8), [2, 2, 2])], {}, "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_text(name, tmp_path):
    arguments, keywords, expected = CASES[name]
    for mode in ("eager", "graph"):
        path = tmp_path / mode

        def run(path=path):
            tf.print(*arguments(), output_stream=f"file://{path}", **keywords)

        (run if mode == "eager" else tf.function(run, autograph=False))()
        assert path.read_text() == expected


def test_prints_each_time_in_order(capsys):
    @tf.function(autograph=False)
    def run(x):
        tf.print("first", x, output_stream=sys.stdout)
        tf.print("second", x + 1, output_stream=sys.stdout)
        tf.print("to stderr")
        return x

    run(c(1)), run(c(2))
    captured = capsys.readouterr()
    assert captured.out == "first 1\nsecond 2\nfirst 2\nsecond 3\n"
    assert captured.err == "to stderr\nto stderr\n"


def test_logging_levels(caplog):
    run = tf.function(lambda: tf.print("careful", c(1), output_stream=logging.warning) and None, autograph=False)
    with caplog.at_level(logging.INFO, "headrace"):
        run()
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [(logging.WARNING, "careful 1")]


def test_prints_in_branches_and_loops(capsys):
    @tf.function(autograph=False)
    def run(x):
        tf.cond(x > 0, lambda: [tf.print("positive", output_stream=sys.stdout)] and x, lambda: x)
        return tf.while_loop(
            lambda i: i < 3, lambda i: (tf.print(i, output_stream=sys.stdout, end=";"), i + 1)[1:], (0,)
        )

    run(c(1))
    assert capsys.readouterr().out == "positive\n0;1;2;"


def test_returns_an_operation_in_graphs():
    def build():
        assert tf.print("x", output_stream="file:///dev/null").type == "PrintV2"
        return c(1)

    assert tf.function(build, autograph=False)().numpy() == 1


_REFUSED = [({"foo": 2}, ValueError), ({"output_stream": "x"}, ValueError), ({"end": 3}, TypeError)]


@pytest.mark.parametrize(("keywords", "error"), _REFUSED)
def test_errors(keywords, error):
    with pytest.raises(error):
        tf.function(lambda: tf.print(1, **keywords), autograph=False)()


def test_format_in_graphs():
    f = tf.function(lambda x: tf.strings.format("{} of {}", [x, tf.range(3)]), autograph=False)
    assert f(c(1)).numpy() == b"1 of [0 1 2]"
    assert np.asarray(f(c([1, 2])).numpy()).item() == b"[1 2] of [0 1 2]"
