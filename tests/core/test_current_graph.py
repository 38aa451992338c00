"""Graphs and tapes offer what lower layers ask of them."""

import inspect

import pytest

import headrace as tf
from headrace._src.autodiff.custom_gradient import VariableWatcher
from headrace._src.autodiff.forward import _Tangents
from headrace._src.autodiff.gradient_tape import VariableTape
from headrace._src.autodiff.tape import Tape
from headrace._src.core.context import CurrentGraph, Recorder, outside_functions
from headrace._src.graph.building.func_graph import FuncGraph

NOT_OF_FUNCTIONS = {"add_to_collection", "make_variable"}


def _methods(cls):
    return [name for name, value in vars(cls).items() if inspect.isfunction(value)]


@pytest.mark.parametrize("name", _methods(CurrentGraph))
def test_methods_of_graphs(name):
    for graph in (tf.Graph(), FuncGraph("f", None)):
        if not (graph.building_function and name in NOT_OF_FUNCTIONS):
            assert getattr(type(graph), name) is not vars(CurrentGraph)[name]


@pytest.mark.parametrize("name", list(CurrentGraph.__annotations__))
def test_attributes_of_graphs(name):
    for graph in (tf.Graph(), FuncGraph("f", None)):
        getattr(graph, name)


def test_graphs_within_each_other():
    outer = tf.Graph()
    with outer.as_default():
        inner = FuncGraph("f")
    assert inner.outer_graph is outer
    assert outside_functions(inner) is outer
    assert outside_functions(FuncGraph("g", None)) is None


@pytest.mark.parametrize("cls", [Tape, VariableTape, _Tangents])
def test_recorders(cls):
    assert issubclass(cls, Recorder)
    recorder = cls(True) if cls is VariableTape else cls()
    assert recorder.ids.isdisjoint([1])
    for name in ("record", "record_one", "variable_read"):
        assert getattr(cls, name) is not getattr(Recorder, name)


def test_a_watcher_records_nothing():
    assert issubclass(VariableWatcher, Recorder)
    assert not VariableWatcher.ids
