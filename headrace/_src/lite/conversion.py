"""A function as a model of TensorFlow Lite."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from headrace._src.core import dtypes, nest
from headrace._src.graph.building.graph import Graph
from headrace._src.graph.building.operation import called_graphs
from headrace._src.graph.messages.frozen_graphs import frozen_graph
from headrace._src.graph.messages.graph_import import import_graph_def
from headrace._src.graph.messages.inlined_graphs import inlined
from headrace._src.graph.passes.pipeline import optimized
from headrace._src.lite import (
    composed_operators,
    control_operators,
    einsum_operators,
    index_operators,
    list_operators,
    plain_operators,
    product_operators,
    shape_operators,
    volume_operators,
)
from headrace._src.lite.building import CONVERTERS, GraphBuilder, Unsupported, refuse
from headrace._src.lite.fusing import fuse
from headrace._src.lite.models import LiteGraph, LiteOperator, LiteSignature, LiteTensor, model_bytes
from headrace._src.lite.source_lines import SourceLines
from headrace._src.lite.state_operators import EFFECTS, State
from headrace._src.lite.tensor_lists import ListType, ListTypes
from headrace._src.ops.arrays.filling import CONST
from headrace._src.saved_model.signatures import argument_keywords
from headrace._src.state.table_storage import StaticStorage

_LOADED = (
    composed_operators, control_operators, einsum_operators, index_operators, list_operators, plain_operators,
    product_operators, shape_operators, volume_operators,  # they register converters, as state_operators does
)  # fmt: skip


def converted(functions: dict[str, Any], with_signatures: bool = True) -> bytes:
    """The file of a model with some concrete functions.

    Args:
        functions: by the keys of signatures.
        with_signatures: whether the model names them.

    Raises:
        InvalidArgumentError: there are operations without a counterpart; all are named.
    """
    conversion = _Conversion(functions)
    signatures = [conversion.add(key, concrete) for key, concrete in functions.items()]
    refuse(conversion.problems)
    conversion.add_first_values()
    for graph in conversion.graphs:
        fuse(graph)
    return model_bytes(conversion.graphs, signatures if with_signatures else [])


class Part(NamedTuple):
    """A function of a loop or branch: its graph, the steps that its outputs need, and these."""

    function: Any
    steps: list
    outputs: list
    lines: SourceLines


class _Conversion:
    """The model that is made. Builders of graphs ask it about what is around them."""

    def __init__(self, functions):
        self.graphs: list[LiteGraph] = []
        self.problems: dict[str, list[str]] = {}
        self.state = State(functions.values())
        self._lists = ListTypes()
        self._lines: SourceLines | None = None  # of the graph that is being converted
        self._entries: list[int] = []  # graphs of signatures

    def add(self, key: str, concrete: Any) -> LiteSignature:
        """Convert a function; its graph is the next one."""
        frozen = frozen_graph(concrete, self.state.stays, keep_tables=StaticStorage)
        self.state.name_kept(frozen.variables)
        results = nest.flatten(concrete.graph.structured_outputs)
        graph_def, names = inlined(frozen.graph_def, [tensor.name for tensor in results], EFFECTS)
        wanted = [name if ":" in name else f"{name}:0" for name in names]
        with Graph().as_default() as graph:
            found = import_graph_def(
                graph_def, name="", return_elements=[f"{name}:0" for name in frozen.names] + wanted
            )
        inputs, outputs = found[: len(frozen.names)], found[len(frozen.names) :]
        for tensor, original in zip(inputs, concrete.graph.inputs):
            tensor.set_shape(original.shape)
        self._lists.read(graph.nodes)
        steps, computed = _needed(graph.nodes, inputs, outputs)

        def fill(builder):
            for tensor in inputs:
                builder.input(tensor)
            self._fill(builder, steps, SourceLines(concrete.graph))
            builder.graph.outputs += _distinct(builder, computed)

        number = self.add_graph(key, fill)
        self._entries.append(number)
        made = self.graphs[number]
        made.is_part = False
        structured = concrete.graph.structured_outputs
        keys = sorted(structured) if isinstance(structured, dict) else [f"output_{i}" for i in range(len(results))]
        return LiteSignature(
            key, number, dict(zip(argument_keywords(concrete), made.inputs)), dict(zip(keys, made.outputs))
        )

    def add_first_values(self) -> None:
        """Add a graph that gives variables and tables their first values, which other graphs run once."""
        first = self.state.first_values(GraphBuilder("first_values", self))
        if first is None:
            return
        for number in self._entries:
            once = LiteOperator(
                "CALL_ONCE", [], [], "CallOnceOptions", {"initSubgraphIndex": len(self.graphs)}, has_effects=True
            )
            self.graphs[number].operators.insert(0, once)
        self.graphs.append(first)

    def prepared(self, step: Any, attribute: str, number: int | None = None) -> Part:
        """A function that a step runs, or one of a list of them."""
        function = step.attrs[attribute] if number is None else step.attrs[attribute][number]
        steps, outputs = _needed(function.nodes, function.inputs, function.outputs)
        lines = self._lines or SourceLines(None)
        return Part(function, steps, outputs, lines.of_function(step.name, attribute, number))

    def add_graph(self, name: str, fill: Callable[[GraphBuilder], None]) -> int:
        """Make another graph of the model; returns its number."""
        number = len(self.graphs)
        self.graphs.append(LiteGraph(name))  # its place, before those of graphs that it runs
        builder = GraphBuilder(name, self)
        fill(builder)
        self.graphs[number] = builder.graph
        builder.graph.is_part = True
        return number

    def add_part(self, part: Part, name: str, given: dict[int, LiteTensor], left_out: Collection[int] = ()) -> int:
        """Make a graph of a part; returns its number.

        Args:
            part: what it computes.
            name: of the graph.
            given: by the numbers of inputs, constants: these are no inputs of the graph then.
            left_out: numbers of outputs that nobody wants.
        """

        def fill(builder):
            for place, tensor in enumerate(part.function.inputs):
                if place in given:
                    builder.given(tensor, given[place])
                else:
                    builder.input(tensor)
            self._fill(builder, part.steps, part.lines)
            outputs = [tensor for place, tensor in enumerate(part.outputs) if place not in left_out]
            builder.graph.outputs += _distinct(builder, outputs, same_place=True)

        return self.add_graph(name, fill)

    def have_effects(self, numbers: list[int]) -> bool:
        """Whether graphs change a variable."""
        return any(one.has_effects for number in numbers for one in self.graphs[number].operators)

    def type_of_list(self, tensor: Any) -> ListType:
        """What a list of tensors holds."""
        return self._lists.of(tensor)

    def _fill(self, builder, steps, lines):
        """Convert steps; what cannot be is noted."""
        around, self._lines = self._lines, lines
        for step in steps:
            if step.record is not CONST and step.type not in CONVERTERS:
                if step.type != "Placeholder":
                    self._note(step, "no counterpart")
                continue
            try:
                builder.add(step)
            except Unsupported as error:
                self._note(step, str(error))
        self._lines = around

    def _note(self, step, reason):
        place = self._lines.text(step.name) if self._lines else ""
        self.problems.setdefault(step.type, []).append(f"{step.name}{place}: {reason}")


def _needed(nodes, inputs, outputs):
    """The steps that outputs and effects need, and what computes the outputs."""
    targets = [node for node in nodes if _has_effects(node)]
    steps, found = optimized(nodes, inputs, outputs, targets)
    read = {id(tensor) for tensor in found}
    kept = []
    for step in reversed(steps):  # what is only run because it may fail is not
        if any(id(tensor) in read for tensor in step.outputs) or _has_effects(step):
            kept.append(step)
            read.update(id(tensor) for tensor in step.inputs)
    return kept[::-1], found


def _has_effects(node):
    if node.type in EFFECTS:
        return True
    return node.record.calls_functions and any(
        any(map(_has_effects, graph.nodes)) for graph in called_graphs(node.attrs)
    )


def _distinct(builder, tensors, same_place=False):
    """The outputs, each a tensor that an operator computes: runtimes do not hand on inputs or constants twice.

    Args:
        builder: of their graph.
        tensors: of the function.
        same_place: whether an input may be the output of the same number, as in loops.
    """
    made: list[LiteTensor] = []
    for place, tensor in enumerate(tensors):
        found = builder.tensor(tensor)
        inputs = builder.graph.inputs
        stays = same_place and place < len(inputs) and inputs[place] is found
        if not stays and (found.value is not None or found in inputs or found in made):
            found = _copy(builder, found)
        made.append(found)
    return made


def _copy(builder, tensor):
    """The same tensor once more, computed by an operator."""
    copy = LiteTensor(f"{tensor.name}/output", tensor.dtype, tensor.shape)
    dims = tensor.shape or []
    if sum(size is None for size in dims) <= 1:
        shape = builder.constant([-1 if size is None else size for size in dims], dtypes.int32)
        return builder.emit("RESHAPE", [tensor, shape], [copy], "ReshapeOptions")[0]
    begin, size = (builder.constant([number] * len(dims), dtypes.int32) for number in (0, -1))
    return builder.emit("SLICE", [tensor, begin, size], [copy], "SliceOptions")[0]
