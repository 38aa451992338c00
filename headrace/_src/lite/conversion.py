"""A function as a model of TensorFlow Lite."""

from __future__ import annotations

from typing import Any

from headrace._src.core import dtypes, nest
from headrace._src.graph.building.graph import Graph
from headrace._src.graph.messages.frozen_graphs import frozen_graph
from headrace._src.graph.messages.graph_import import import_graph_def
from headrace._src.graph.messages.inlined_graphs import inlined
from headrace._src.graph.passes.pipeline import optimized
from headrace._src.lite import control_operators, plain_operators, product_operators, shape_operators
from headrace._src.lite.building import CONVERTERS, GraphBuilder, Unsupported, refuse
from headrace._src.lite.fusing import fuse
from headrace._src.lite.models import LiteGraph, LiteSignature, LiteTensor, model_bytes
from headrace._src.ops.arrays.filling import CONST
from headrace._src.saved_model.signatures import argument_keywords

_LOADED = (control_operators, plain_operators, product_operators, shape_operators)  # they register converters
_WITH_BRANCHES = "1.15.0"


def converted(functions: dict[str, Any], with_signatures: bool = True) -> bytes:
    """The file of a model with some concrete functions.

    Args:
        functions: by the keys of signatures.
        with_signatures: whether the model names them.

    Raises:
        InvalidArgumentError: there are operations without a counterpart; all are named.
    """
    conversion = _Conversion()
    signatures = [conversion.add(key, concrete) for key, concrete in functions.items()]
    refuse(conversion.problems)
    for graph in conversion.graphs:
        fuse(graph)
    minimum = _WITH_BRANCHES if len(conversion.graphs) > len(functions) else "1.11.0"
    return model_bytes(conversion.graphs, signatures if with_signatures else [], minimum)


class _Conversion:
    def __init__(self):
        self.graphs: list[LiteGraph] = []
        self.problems: dict[str, list[str]] = {}

    def add(self, key, concrete) -> LiteSignature:
        """Convert a function; its graph is the next one."""
        frozen = frozen_graph(concrete)
        results = nest.flatten(concrete.graph.structured_outputs)
        graph_def, names = inlined(frozen.graph_def, [tensor.name for tensor in results])
        wanted = [name if ":" in name else f"{name}:0" for name in names]
        with Graph().as_default() as graph:
            found = import_graph_def(
                graph_def, name="", return_elements=[f"{name}:0" for name in frozen.names] + wanted
            )
        inputs, outputs = found[: len(frozen.names)], found[len(frozen.names) :]
        for tensor, original in zip(inputs, concrete.graph.inputs):
            tensor.set_shape(original.shape)
        number = len(self.graphs)
        self.graphs.append(LiteGraph(key))  # its place; loops and branches come after it
        made_inputs, made_outputs = self._fill(number, key, graph.nodes, inputs, outputs)
        structured = concrete.graph.structured_outputs
        keys = sorted(structured) if isinstance(structured, dict) else [f"output_{i}" for i in range(len(results))]
        return LiteSignature(
            key, number, dict(zip(argument_keywords(concrete), made_inputs)), dict(zip(keys, made_outputs))
        )

    def _fill(self, number, name, nodes, inputs, outputs):
        """Convert the operations that outputs need."""
        steps, found = optimized(nodes, inputs, outputs)
        builder = GraphBuilder(name, self._branch)
        for tensor in inputs:
            builder.input(tensor)
        for step in steps:
            if step.record is not CONST and step.type not in CONVERTERS:
                if step.type != "Placeholder":
                    self._note(step, "no counterpart")
                continue
            try:
                builder.add(step)
            except Unsupported as error:
                self._note(step, str(error))
        builder.graph.outputs += self._distinct(builder, found)
        self.graphs[number] = builder.graph
        return builder.graph.inputs, builder.graph.outputs

    def _distinct(self, builder, tensors):
        """The outputs, each a tensor that an operator computes: runtimes do not hand on inputs or constants twice."""
        made: list[LiteTensor] = []
        for tensor in tensors:
            found = builder.tensor(tensor)
            if found.value is not None or found in builder.graph.inputs or found in made:
                copy = LiteTensor(f"{found.name}/output", found.dtype, found.shape)
                shape = builder.constant([-1 if size is None else size for size in found.shape or []], dtypes.int32)
                builder.emit("RESHAPE", [found, shape], [copy], "ReshapeOptions")
                found = copy
            made.append(found)
        return made

    def _branch(self, function, name):
        number = len(self.graphs)
        self.graphs.append(LiteGraph(name))
        self._fill(number, name, function.nodes, function.inputs, function.outputs)
        return number

    def _note(self, step, reason):
        location = getattr(step, "location", None)
        place = f" ({location[0]}:{location[1]})" if location else ""
        self.problems.setdefault(step.type, []).append(f"{step.name}{place}: {reason}")
