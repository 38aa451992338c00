"""Pipelines as bytes: the graph of the ops that make them, with the functions that they call, and back.

What makes a pipeline depend on this program cannot travel: Python functions, and variables, tables and other resources.
"""

from __future__ import annotations

import struct

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.data.running.stages import Stage, stage_of
from headrace._src.data.saving import received_graphs
from headrace._src.data.saving.element_bytes import packed, unpacked
from headrace._src.data.sources.generators import PYTHON_GENERATOR_DATASET
from headrace._src.data.transformations.shuffling import DUMMY_SEED_GENERATOR
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.operation import called_graphs
from headrace._src.graph.messages.graph_def import graph_def_of
from headrace._src.graph.messages.graph_import import import_graph_def
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import REGISTRY
from headrace._src.op.traits import CALLS_PYTHON
from headrace._src.ops.arrays.passing import IDENTITY

_SIZES = struct.Struct("<QI")
_GIVEN = "given_{}"
_RESULT = "dataset_result"


def _cannot(reason):
    return errors.UnimplementedError(None, None, f"This dataset cannot be sent to another process: {reason}.")


class _Writer:
    """Makes a graph of stages."""

    def __init__(self, graph):
        self._graph = graph
        self._tensors: dict[int, object] = {}
        self.given: list[np.ndarray] = []  # values that graphs cannot hold: ragged and sparse tensors

    def tensor(self, stage: Stage):
        """The tensor of a dataset."""
        if id(stage) not in self._tensors:
            if not stage.recipe:
                raise _cannot(f"{stage.where()} is part of a pipeline that runs")
            name, inputs, attrs = stage.recipe
            if name == PYTHON_GENERATOR_DATASET.name:
                raise _cannot(f"{stage.where()} calls a Python function")
            for graph in called_graphs(attrs):
                _check(graph, stage)
            op = REGISTRY[name]
            self._tensors[id(stage)] = op(*[self._input(value) for value in inputs], **attrs)
        return self._tensors[id(stage)]

    def _input(self, value):
        if isinstance(value, (list, tuple)):
            return [self._input(part) for part in value]
        if value.dtype != object:
            return to_tensor(value)
        items = value.ravel().tolist()
        if value.ndim == 0 and isinstance(items[0], Stage):
            return self.tensor(items[0])
        if value.ndim == 0 and items[0] is None:  # the resources of ShuffleDatasetV3 and others, which nobody uses
            return DUMMY_SEED_GENERATOR()
        if all(isinstance(item, bytes) for item in items):
            return to_tensor(value, dtypes.string)
        try:
            packed((value,))
        except errors.OpError:
            kinds = sorted({type(item).__name__ for item in items})
            raise _cannot(f"it holds {', '.join(kinds)}, which belong to this process") from None
        self.given.append(value)
        return self._graph.add_input(value.shape, dtypes.variant, _GIVEN.format(len(self.given) - 1))


def _check(graph, stage):
    for node in graph.nodes:
        if CALLS_PYTHON in node.record.traits or node.record is PYTHON_GENERATOR_DATASET:
            raise _cannot(f"the function of {stage.where()} calls Python functions")
        for inner in called_graphs(node.attrs):
            _check(inner, stage)


def made_anew(stage: Stage) -> Tensor:
    """Makes a pipeline once more, in the current graph: the tensor of the dataset.

    Variables, tables and other resources that its functions use are captured.

    Raises:
        UnimplementedError: it depends on this process in other ways.
    """
    return _Rebuilder(context.graph).tensor(stage)


class _Rebuilder(_Writer):
    def _input(self, value):
        if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 0:
            item = value[()]
            if item is not None and not isinstance(item, (Stage, bytes)):
                return EagerTensor(value, dtypes.resource)
        found = super()._input(value)
        if self.given:
            raise _cannot("it holds ragged or sparse tensors, which have no form in a graph")
        return found


def encoded(stage: Stage) -> bytes:
    """A pipeline as bytes.

    Raises:
        UnimplementedError: it depends on this process.
    """
    graph = FuncGraph("dataset", None)
    with graph.building():
        writer = _Writer(graph)
        result = IDENTITY(writer.tensor(stage), name=_RESULT)
        graph.outputs = [result]
    graph_def = graph_def_of(graph)
    reason = received_graphs.refusal(graph_def)
    if reason is not None:
        raise _cannot(reason)
    message = graph_def.SerializeToString()
    given = packed(tuple(writer.given))
    return _SIZES.pack(len(message), len(writer.given)) + message + given


def decoded(data: bytes) -> Stage:
    """The pipeline in bytes, which may come from anywhere.

    Raises:
        DataLossError: there is none in them.
        PermissionDeniedError: it does what pipelines of other processes may not do.
    """
    try:
        size, count = _SIZES.unpack_from(data)
        message = GraphDef.FromString(bytes(data[_SIZES.size : _SIZES.size + size]))
        given = unpacked(data[_SIZES.size + size :])
        if len(given) != count:
            raise ValueError(f"{len(given)} values where {count} were expected")
    except (ValueError, struct.error, errors.OpError) as error:
        raise errors.data_loss(f"These bytes hold no dataset: {error}.") from error
    except Exception as error:
        if type(error).__name__ != "DecodeError":
            raise
        raise errors.data_loss(f"These bytes hold no dataset: {error}.") from error
    received_graphs.check(message)
    graph = FuncGraph("dataset", None)
    try:
        with graph.building():
            inputs = {_GIVEN.format(i): graph.add_input(value.shape, dtypes.variant) for i, value in enumerate(given)}
            (result,) = import_graph_def(message, input_map=inputs, return_elements=[f"{_RESULT}:0"], name="")
            graph.outputs = [result]
        (variant,) = graph.plan().run(list(given))
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        # What an op makes of inputs or attributes that no dataset of this library would give it.
        raise errors.data_loss(f"These bytes hold no dataset: {error}") from error
    return stage_of(variant)
