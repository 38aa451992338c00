"""The user's functions in pipelines: traced once, then run on the arrays of elements, or of whole blocks."""

from __future__ import annotations

import inspect
from typing import Any

from headrace._src.autograph.calls import convert, with_status
from headrace._src.autograph.status import ENABLED
from headrace._src.core import dtypes, errors, nest
from headrace._src.core.accounts import brief
from headrace._src.core.context import context
from headrace._src.core.random_state import Site, site_within
from headrace._src.core.specs import TensorSpec
from headrace._src.data.running import debug_mode, random_streams, structures
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import called_graphs, is_stateful
from headrace._src.graph.building.variable_creation import variables_outside
from headrace._src.graph.passes.steps import draws_numbers
from headrace._src.graph.vectorizing.walk import BatchWalk
from headrace._src.op.batching import Batched, NoRule, batch_shape, value_of
from headrace._src.op.traits import CALLS_PYTHON, FILE_DATASET, READS_FILES, READS_RESOURCE
from headrace._src.ops.arrays.filling import CONST
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.random import calls as random_calls
from headrace._src.state.storage import Storage
from headrace._src.state.table_storage import StaticStorage, TableStorage

# Elements above this are not gathered into blocks for a function: the caches are full, and threads do better.
LARGEST_VECTORIZED_ELEMENT = 1 << 18
# What may be computed before a dataset of a file is made: its name.
_FOR_NAMES = frozenset([CONST, IDENTITY, PLACEHOLDER, RESHAPE])
# Stateful ops whose calls can be left out, repeated and made in any order: they only read.
_READING = READS_RESOURCE | READS_FILES


class Traced:
    """A user's function as a graph.

    Attributes:
        graph: its inputs are the components of the arguments, then the captures; its outputs components of the result.
        output_spec: the spec of the result, in its structure.
    """

    def __init__(self, graph: FuncGraph, output_spec: Any):
        self.graph = graph
        self.output_spec = output_spec

    @property
    def captures(self) -> list:
        """The tensors from outside: the input `other_arguments` of dataset ops."""
        return self.graph.external_captures

    @property
    def attrs(self) -> dict:
        """The attributes `output_types` and `output_shapes` of the results."""
        specs = structures.flat_specs(self.output_spec)
        return {
            "output_types": [spec.dtype for spec in specs],
            "output_shapes": [None if s.shape.rank is None else tuple(s.shape.as_list()) for s in specs],
        }


def trace(function: Any, *argument_specs: Any, method: str) -> Traced:
    """Trace a function of elements.

    Args:
        function: the user's; a tuple as its only argument is passed as several.
        argument_specs: the spec of each argument, in its structure.
        method: what the user called, such as "Dataset.map", for messages.
    """
    if not callable(function):
        raise TypeError(f"{method}: expected a function, got {brief(function)}.")
    name = getattr(function, "__name__", type(function).__name__).replace("<lambda>", "lambda")
    graph = FuncGraph(f"{method.rpartition('.')[2]}_{name}", context.graph)
    with graph.building():
        arguments = []
        for spec in argument_specs:
            tensors = [graph.add_input(part.shape, part.dtype, "args") for part in structures.flat_specs(spec)]
            arguments.append(structures.from_components(spec, tensors))
        if len(arguments) == 1 and type(arguments[0]) is tuple:
            arguments = list(arguments[0])
        with variables_outside():
            try:
                result = with_status(convert(function), ENABLED)(*arguments)
            except TypeError as error:
                if not _takes(function, arguments):
                    error.add_note(
                        f"{method}: elements have {len(arguments)} component(s), each of which is an argument of the "
                        "function."
                    )
                raise
        if isinstance(result, list):
            result = tuple(result)  # TF: only at the top; further in, a list is a tensor
        try:
            result = structures.normalized(result, method)
            output_spec = structures.spec_of(result)
        except (TypeError, ValueError) as error:
            message = f"Unsupported return value from function passed to {method}: {result!r}. {error}"
            raise TypeError(message) from error
        graph.structured_outputs = result
        graph.outputs = [graph.inside(tensor) for tensor in structures.to_components(output_spec, result)]
    if debug_mode.is_enabled() and graph.outputs:
        graph = debug_mode.python_graph(graph, function, argument_specs, output_spec)
    outer = context.graph
    if outer is not None:
        outer.used_variables.update(graph.used_variables)
    return Traced(graph, output_spec)


def _takes(function, arguments):
    """Whether a function can be called with as many arguments, as far as it says."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # a built-in function that does not say
        return True
    return True


class ElementFunction:
    """A traced function with the values of its captures, as a stage calls it.

    Args:
        graph: the attribute `f` of the op.
        captured: the values of its captures.
    """

    def __init__(self, graph, captured: list):
        self.graph = graph
        self.captured = list(captured)
        self._plan = graph.plan()
        self.draws = draws_numbers(graph.base)  # random ones

    def __call__(self, element) -> tuple:
        if not self.draws:
            return tuple(self._plan.run([*element, *self.captured]))
        return self.call_at(self.site, element)

    def call_at(self, site, element) -> tuple:
        """Call with the random numbers that come next at a site."""
        before, context.random_site = context.random_site, site
        try:
            return tuple(self._plan.run([*element, *self.captured]))
        finally:
            context.random_site = before

    # Random numbers.

    @property
    def site(self) -> Site:
        """Where this function's streams of random numbers are, in the walk that this thread works for."""
        return site_within(context.random_site, self.graph.base)

    def state(self) -> dict | None:
        """Where the streams stand in the walk that this thread works for; None when there are none."""
        return random_streams.saved(self.site, [self.graph.base]) if self.draws else None

    def restore(self, state: dict | None):
        """Let the streams stand where they stood."""
        if self.draws and state is not None:
            site = context.random_site
            site.inner[self.graph.base] = random_streams.restored(state, [self.graph.base], site.epoch)

    @property
    def may_change(self) -> bool:
        """Whether it reads what others may change between two calls: variables, or tables that are not static."""
        return any(
            value.dtype == object and value.ndim == 0 and isinstance(value[()], (Storage, TableStorage))
            and not isinstance(value[()], StaticStorage)
            for value in self.captured
        )  # fmt: skip

    @property
    def only_reads_files(self) -> bool:
        """Whether it makes a dataset of a file and does nothing else."""
        return all(
            FILE_DATASET in node.record.traits or node.record in _FOR_NAMES for node in self.graph.base.nodes
        )

    @property
    def calls_python(self) -> bool:
        """Whether it calls functions of `tf.py_function` or `tf.numpy_function`."""
        return _calls_python(self.graph.base)

    @property
    def is_stateful(self) -> bool:
        """Whether calls have effects, or differ from each other: then each is made once, and in order."""
        return bool(_effects(self.graph.base))

    def vectorized(self, draws: bool = False) -> ElementFunction | None:
        """The function of whole blocks; None when there is none, or elements are too large to profit.

        Args:
            draws: whether it may draw random numbers: those that calls for one element after another would.
        """
        base = self.graph.base
        if base.vectorized is None:
            drawing = _effects(base)
            drawn = all(map(_can_draw, drawing))
            base.vectorized = (_vectorized(self.graph, drawing) if drawn else None), drawing
        graph, drawing = base.vectorized
        if graph is None or (drawing and not draws):
            return None
        return BlockFunction(graph, self.captured, self, drawing) if drawing else ElementFunction(graph, self.captured)


class BlockFunction(ElementFunction):
    """A function of blocks that draws random numbers: each operation that does, for all elements at once.

    Args:
        graph: whose last inputs are these numbers.
        captured: the values of its captures.
        function: the function of one element.
        drawing: the operations of that one which draw.
    """

    def __init__(self, graph, captured, function: ElementFunction, drawing: list):
        super().__init__(graph, captured)
        self._function = function
        self._drawing = [(node, node.record, node.attrs, _known_inputs(node)) for node in drawing]

    def __call__(self, element) -> tuple:
        site = self._function.site
        before = random_streams.copied(site)
        try:
            return self._call_at(site, element)
        except Exception:
            site.streams = before.streams  # as if nothing had been drawn
            raise

    def _call_at(self, site, element):
        count = element[0].shape[0]
        outer = context.random_site, context.random_node
        context.random_site = site
        numbers = []
        try:
            for node, op, attrs, inputs in self._drawing:
                context.random_node = node
                numbers.append(random_calls.draw(op, attrs, inputs, count))
        finally:
            context.random_site, context.random_node = outer
        return tuple(self._plan.run([*element, *self.captured, *numbers]))


def _effects(graph) -> list:
    """The operations of a graph that do more than compute and read."""
    nodes = [node for node in graph.nodes if node.record is not PLACEHOLDER]
    return [node for node in nodes if is_stateful(node) and not node.record.traits & _READING]


def _known_inputs(node) -> list:
    return [value_of(tensor) for tensor in node.inputs]


def _can_draw(node) -> bool:
    return random_calls.can_draw(node.record, node.attrs, _known_inputs(node))


def _calls_python(graph) -> bool:
    return any(
        CALLS_PYTHON in node.record.traits or any(map(_calls_python, called_graphs(node.attrs))) for node in graph.nodes
    )


def _vectorized(graph, drawing) -> FuncGraph | None:
    """A graph of blocks that does to each element what `graph` does to one.

    Args:
        graph: of one element.
        drawing: operations of it whose outputs, for all elements, are further inputs of the result.
    """
    count = len(graph.inputs) - len(graph.base.external_captures)
    elements, captures = graph.inputs[:count], graph.inputs[count:]
    if not elements or not all(_is_small_number(x) for x in elements):
        return None
    # Dimensions that may differ from element to element cannot be stacked.
    if not all(x.shape.is_fully_defined() and x.dtype._kind not in "vr" for x in graph.outputs):
        return None
    result = FuncGraph(f"{graph.name}_of_blocks", None)
    result.inlines_numbers = True
    try:
        with result.building():
            inputs = [Batched(result.add_input(batch_shape(None, x.shape), x.dtype), True) for x in elements]
            inputs += [Batched(result.add_input(x.shape, x.dtype), False) for x in captures]
            drawn = [x for node in drawing for x in node.outputs]
            given = {id(x): Batched(result.add_input(batch_shape(None, x.shape), x.dtype), True) for x in drawn}
            size = SHAPE(inputs[0].tensor, out_type=dtypes.int32)[0]
            batch = BatchWalk(size, fallback=False, warn=False, on_host=True)
            outputs = []
            for value in batch.run(graph, inputs, given):
                outputs.append(result.inside(batch.stack(value)))
            result.outputs = outputs
    except (NoRule, errors.OpError, ValueError, TypeError, NotImplementedError):
        return None  # it is called for each element instead, and says itself what is wrong
    result.used_variables.update(graph.base.used_variables)
    return result


def _is_small_number(tensor) -> bool:
    shape = tensor.shape
    if tensor.dtype._kind in "vr" or not shape.is_fully_defined():
        return False
    return (shape.num_elements() or 1) * tensor.dtype.size <= LARGEST_VECTORIZED_ELEMENT


def check_scalar(traced: Traced, dtype: dtypes.DType, method: str, what: str):
    """Refuse a function that does not return one scalar of a dtype."""
    spec = traced.output_spec
    if not (isinstance(spec, TensorSpec) and spec.dtype == dtype and spec.shape.is_compatible_with([])):
        raise ValueError(
            f"{method}: {what} must return a scalar {dtype.name} tensor, but it returns "
            f"{nest.map_structure(lambda leaf: leaf, spec)}."
        )
