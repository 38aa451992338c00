"""Graphs with control flow of 1.x that TensorFlow wrote: raised to branches and loops, they compute what they did."""

import json
import pathlib
import zipfile

import dataflow_programs
import numpy as np
import pytest
from graph_def_text import FLOAT, PLACEHOLDER, node, nodes_of, parse

import headrace as tf
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.graph.messages.raised_graphs import raised

v1 = tf.compat.v1
ARCHIVE = pathlib.Path(__file__).resolve().parents[2] / "golden" / "graph_defs" / "dataflow.zip"


def recorded(name):
    """The graph that TensorFlow wrote, and its results."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        return GraphDef.FromString(archive.read(f"{name}.pb")), json.loads(archive.read("results.json"))[name]


@pytest.mark.parametrize("name", [program.__name__ for program in dataflow_programs.PROGRAMS])
def test_in_sessions(name):
    graph_def, results = recorded(name)
    with tf.Graph().as_default(), v1.Session() as session:
        tf.import_graph_def(graph_def, name="")
        for feed, expected in zip(dataflow_programs.feeds(), results, strict=True):
            session.run("init")
            np.testing.assert_allclose(session.run("result:0", feed), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["chosen_in_repeated", "slope_of_chosen_in_repeated", "in_arrays", "in_a_function"])
def test_in_wrapped_functions(name):
    graph_def, results = recorded(name)
    wrapped = v1.wrap_function(lambda: tf.import_graph_def(graph_def, name=""), [])
    pruned = wrapped.prune(["x:0", "p:0"], "result:0")
    for feed, expected in zip(dataflow_programs.feeds(), results, strict=True):
        result = pruned(tf.constant(feed["x:0"]), tf.constant(feed["p:0"]))
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_names_of_results_stay():
    nodes = nodes_of(raised(recorded("chosen_in_repeated")[0]))
    assert nodes["while/Exit_1"].op == "Identity"
    assert nodes["while/While"].op == "While"
    assert nodes_of(raised(recorded("chosen")[0]))["cond/Merge"].op == "Identity"


def test_graphs_without_it_are_the_same_message():
    graph_def = parse(PLACEHOLDER)
    assert raised(graph_def) is graph_def


def test_results_that_share_nothing_run_apart():
    """As in TensorFlow, what only the other result needs is not run."""
    graph_def, _ = recorded("changed_in_chosen")
    kinds = [node.op for node in raised(graph_def).node]
    assert kinds.count("If") == 1
    graph_def, _ = recorded("chosen_apart")
    assert [node.op for node in raised(graph_def).node].count("If") == 2


P = node("p", "Placeholder", dtype="type: DT_BOOL")
Q = node("q", "Placeholder", dtype="type: DT_BOOL")
SWITCHES = PLACEHOLDER + P + Q + node("s", "Switch", "a", "p", T=FLOAT) + node("t", "Switch", "a", "q", T=FLOAT)
ENTER = node("e", "Enter", "a", T=FLOAT, frame_name='s: "loop"')
REFUSED = {
    "other conditions": (SWITCHES + node("m", "Merge", "s", "t:1", T=FLOAT), "'m' .Merge.*two sides of one condition"),
    "the same side": (SWITCHES + node("m", "Merge", "s:1", "s:1", T=FLOAT), "'m' .Merge.*two sides of one condition"),
    "no condition": (SWITCHES + node("m", "Merge", "s", "a", T=FLOAT), "'m' .Merge.*'p:0' is False; always"),
    "three inputs": (SWITCHES + node("m", "Merge", "s", "s:1", "t", T=FLOAT), "'m' .Merge.*it has 3 inputs"),
    "number of the input": (
        SWITCHES + node("m", "Merge", "s", "s:1", T=FLOAT) + node("i", "Identity", "m:1", T="type: DT_INT32"),
        "'m' .Merge.*second output",
    ),
    "both ways at once": (
        SWITCHES + node("b", "AddV2", "s", "s:1", T=FLOAT) + node("m", "Merge", "b", "s:1", T=FLOAT),
        "'m' .Merge.*two sides",
    ),
    "no LoopCond": (PLACEHOLDER + ENTER, "'e' .Enter.*the loop 'loop' has 0 LoopCond nodes"),
    "no Enter": (
        PLACEHOLDER + P + ENTER + node("m", "Merge", "e", "n", T=FLOAT) + node("c", "LoopCond", "p")
        + node("s", "Switch", "m", "c", T=FLOAT) + node("b", "AddV2", "s:1", "a", T=FLOAT)
        + node("n", "NextIteration", "b", T=FLOAT) + node("x", "Exit", "s", T=FLOAT),
        "LoopCond nodes",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_understood_is_named(text, message):
    with tf.Graph().as_default() as graph, pytest.raises(ValueError, match=message):
        tf.import_graph_def(parse(text))
    assert graph.get_operations() == []


def test_no_gradient_through_resources_of_loaded_graphs():
    graph_def, _ = recorded("in_arrays")
    with tf.Graph().as_default():
        x, result = tf.import_graph_def(graph_def, return_elements=["x:0", "result:0"], name="")
        with pytest.raises(LookupError, match="TensorArray.*1.x graph"):
            v1.gradients(result, x)


def test_gradients_through_raised_control_flow():
    graph_def, _ = recorded("chosen_in_repeated")
    with tf.Graph().as_default(), v1.Session() as session:
        x, p, result = tf.import_graph_def(graph_def, return_elements=["x:0", "p:0", "result:0"], name="")
        (slope,) = v1.gradients(result, x)
        low, high = (session.run(result, {x: [1.0 + h, 2.0, 3.0], p: True})[0] for h in (-0.01, 0.01))
        np.testing.assert_allclose(session.run(slope, {x: [1.0, 2.0, 3.0], p: True})[0], (high - low) / 0.02, rtol=1e-3)
