"""The part of a SavedModel's graph that saves and restores all values: two functions, and calls of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY, gather_values, restorer_of
from headrace._src.checkpoint.ops import MERGE_V2_CHECKPOINTS, RESTORE_V2, SAVE_V2, SHARDED_FILENAME
from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.control.calls import call_graph
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.arrays.selecting import SELECT
from headrace._src.ops.strings.editing import STRING_JOIN
from headrace._src.ops.strings.matching import STATIC_REGEX_FULL_MATCH
from headrace._src.saved_model.model_objects import ModelObjects, is_variable, plain_variable
from headrace._src.saved_model.saving_functions import WithSavingFunctions
from headrace._src.saved_model.serving_graph import ServingGraph
from headrace._src.tracing.variable_specs import ArgumentVariable


class Saver(NamedTuple):
    """Names in the graph: of the tensor for the path, of the tensor to run to save, of the operation to restore."""

    filename: str
    save: str
    restore: str


def add_saver(serving: ServingGraph, objects: ModelObjects) -> Saver:
    """Add the functions that save and restore all values, and calls of them."""
    substitutes: dict[int, Any] = {}
    for number, obj in enumerate(objects.walk.objects):
        if is_variable(obj):
            substitutes[number] = _variable(plain_variable(obj), serving.tensor(number))
        elif number in objects.saving:
            substitutes[number] = WithSavingFunctions(objects.saving[number], serving.call_here)
    graph = serving.graph
    with serving.building():
        filename = serving.placeholder([], dtypes.string, "saver_filename")
        saving, message = _save_function(graph, objects, substitutes)
        restoring = _restore_function(graph, message, substitutes)
        (saved,) = call_graph(saving, [filename, *saving.external_captures])
        (restored,) = call_graph(restoring, [filename, *restoring.external_captures])
    return Saver(filename.name, saved.name, restored.op.name)


def _variable(obj, handle):
    """A variable whose value is saved and restored in the graph."""
    variable = ArgumentVariable(handle, obj.dtype, obj.shape, obj.trainable)
    variable._name = handle.op.name
    return variable


def _save_function(graph, objects, substitutes):
    function = FuncGraph("__inference__traced_save", graph)
    with function.building():
        prefix = function.add_input([], dtypes.string, "file_prefix")
        # TF: parts of a checkpoint are written beside it and moved; not on S3, where moving is copying.
        is_remote = STATIC_REGEX_FULL_MATCH(prefix, pattern="^s3://.*")
        part = SELECT(is_remote, _text(".part"), _text("_temp/part"))
        base = STRING_JOIN([prefix, part])
        values, message, _ = gather_values(objects.walk, substitutes)
        kept = [value for value in values if value.tensor is not None]
        names = [*(value.key for value in kept), OBJECT_GRAPH_KEY]
        slices = [*(value.slice_spec for value in kept), ""]
        tensors = [*(to_tensor(value.tensor) for value in kept), _text(message.SerializeToString())]
        path = SHARDED_FILENAME(base, _number(0), _number(1))
        SAVE_V2(path, _texts(names), _texts(slices), tensors)
        with function.control_dependencies([function.nodes[-1]]):
            paths = PACK([path])
        MERGE_V2_CHECKPOINTS(paths, prefix)
        with function.control_dependencies([function.nodes[-1]]):
            function.outputs = [IDENTITY(prefix)]
    function.structured_outputs = list(function.outputs)
    return function, message


def _restore_function(graph, message, substitutes):
    function = FuncGraph("__inference__traced_restore", graph)
    with function.building():
        prefix = function.add_input([], dtypes.string, "file_prefix")
        restorers = []
        for number, obj in substitutes.items():
            attributes = [(item.name, item.checkpoint_key) for item in message.nodes[number].attributes]
            restorer = restorer_of(obj, attributes)
            if restorer is not None and restorer.wanted:
                restorers.append(restorer)
        wanted = [value for restorer in restorers for value in restorer.wanted]
        begin = len(function.nodes)
        if wanted:
            # TF: one read for all, and one more for the message about objects.
            keys = [*(value.key for value in wanted), OBJECT_GRAPH_KEY]
            kinds = [*(value.spec.dtype for value in wanted), dtypes.string]
            found = RESTORE_V2(prefix, _texts(keys), _texts([""] * len(keys)), dtypes=kinds)
            at = 0
            for restorer in restorers:
                count = len(restorer.wanted)
                restorer.take([_as_wanted(x, w.spec) for x, w in zip(found[at : at + count], restorer.wanted)])
                at += count
        with function.control_dependencies(function.nodes[begin:]):
            function.outputs = [IDENTITY(prefix)]
    function.structured_outputs = list(function.outputs)
    return function


def _as_wanted(tensor, spec):
    if spec.shape is not None:
        tensor.set_shape(spec.shape)
    return tensor


def _text(text):
    return to_tensor(text, dtypes.string)


def _texts(items):
    array = np.empty(len(items), object)
    array[:] = [item if isinstance(item, bytes) else item.encode() for item in items]
    return EagerTensor(array, dtypes.string)


def _number(value):
    return to_tensor(value, dtypes.int32)
