"""The walk over the graph of one element that turns it into operations on a whole batch, by the rules of its ops."""

import contextlib
import logging

import numpy as np

from headrace._src.autodiff.custom_gradient import record_custom, without_tapes
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.random_state import site_within
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import is_stateful
from headrace._src.graph.control.map_fn import map_fn
from headrace._src.graph.control.python_functions import EAGER_PY_FUNC, call_of, call_recorded, numpy_function
from headrace._src.graph.derivatives.functions import dense, structured
from headrace._src.graph.passes.dead_code import needed
from headrace._src.graph.passes.steps import random_call
from headrace._src.graph.vectorizing import control
from headrace._src.op.batching import (
    Batch,
    Batched,
    NoRule,
    batch_shape,
    flatten,
    refill,
    tensor_of,
    unstacked,
    value_of,
)
from headrace._src.op.convert import to_tensor
from headrace._src.op.traits import READS_RESOURCE
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO, SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import CONST, RANGE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.passing import IDENTITY_N
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.arrays.splitting import TILE
from headrace._src.ops.tensor_lists.whole_lists import TENSOR_LIST_FROM_TENSOR, TENSOR_LIST_STACK
from headrace._src.state.storage import READ_VARIABLE

logger = logging.getLogger("headrace")


class ElementGraph(FuncGraph):
    """The graph of one element. Whatever it takes from outside stays a capture, so that tapes can follow it."""

    def capture(self, tensor, name=None):
        entry = self._captures.get(id(tensor))
        if entry is not None:
            return entry[1]
        if type(tensor) is EagerTensor:
            return self.add_capture(tensor, name)
        return super().capture(tensor, name)


class BatchWalk(Batch):
    """The conversion of a graph for so many elements at once.

    Args:
        size: how many elements there are, an int or a scalar tensor.
        fallback: whether an operation without a rule is run element by element.
        warn: whether that is said.
        on_host: whether the result need not be compiled, so that Python functions of arrays may be part of it.
    """

    def __init__(self, size, fallback=True, warn=True, on_host=False):
        self.size = size
        self.fallback = fallback
        self.warn = warn
        self.on_host = on_host

    def of_size(self, size):
        """The same for another number of elements."""
        return BatchWalk(size, self.fallback, self.warn, self.on_host)

    def run(self, graph, inputs, given=None) -> list:
        """The outputs of `graph` as `Batched` values, given those of its inputs.

        Args:
            graph: of one element.
            inputs: the values of its inputs.
            given: values of other tensors in it, by their id; the operations that make these are left out.
        """
        return self.values_of(graph, inputs, graph.outputs, given)

    def values_of(self, graph, inputs, outputs, given=None) -> list:
        values = {id(tensor): value for tensor, value in zip(graph.inputs, inputs, strict=True)}
        values.update(given or {})
        effects = [node for node in graph.nodes if node.record is not PLACEHOLDER and is_stateful(node)]
        for node in needed(graph.nodes, graph.inputs, outputs, effects):
            if node.record is PLACEHOLDER or (given and all(id(tensor) in given for tensor in node.outputs)):
                continue
            try:
                results = self._convert(graph, node, values)
            except NoRule as reason:
                results = self._element_by_element(node, self._inputs(node, values), reason)
            for tensor, value in zip(node.outputs, results):
                if value is not None:
                    values[id(tensor)] = value
                    self._tell_shape(value, tensor)
        return [values[id(tensor)] for tensor in outputs]

    def _inputs(self, node, values):
        inputs, _ = structured(node)
        return [
            [values[id(x)] for x in value] if isinstance(value, list) else values[id(value)] for value in inputs
        ]

    def _convert(self, graph, node, values):
        if node.record is CONST:
            return [Batched(node.attrs["value"], False)]
        inputs = self._inputs(node, values)
        if node.custom_gradient is not None:
            return self._custom(graph, node, inputs, values)
        flat = flatten(inputs)
        record = node.record
        if record is READ_VARIABLE:
            return [Batched(_read_variable(graph, node, flat[0].tensor), False)]
        rule = record.vectorize
        # What does not depend on the element is computed, or read, once.
        is_same = not record.stateful or READS_RESOURCE in record.traits
        if is_same and not rule.always and not any(x.stacked for x in flat):
            return [Batched(x, False) for x in self.apply(node, inputs)]
        if rule.stacked is None:
            raise NoRule("there is no registered converter for this op")
        result = rule.stacked(self, node, *inputs)
        if not isinstance(result, (list, tuple)) or isinstance(result, Batched):
            result = [result]
        return [x if x is None or isinstance(x, Batched) else Batched(x, True) for x in result]

    def apply(self, node, inputs, attrs=None, op=None) -> list:
        record = node.record if op is None else op
        if record is EAGER_PY_FUNC and context.graph is None:
            return call_recorded(call_of(node.attrs["token"]), [tensor_of(x) for x in flatten(inputs)])
        tensors = [[tensor_of(x) for x in value] if isinstance(value, list) else tensor_of(value) for value in inputs]
        draws = record.draws and context.graph is None
        if draws:  # TF: the stream of random numbers is the operation's own
            context.random_node = node
        policy = node.file_policy
        try:
            with contextlib.nullcontext() if policy is None else policy.held(record.name):
                result = record(*tensors, **(node.attrs if attrs is None else attrs))
            if policy is not None and context.graph is not None:
                context.graph.nodes[-1].file_policy = policy
        finally:
            if draws:
                context.random_node = None
        if result is None or record.number_of_outputs == 0:
            return []
        flat: list = []
        for output in (result,) if record.number_of_outputs == 1 else result:
            flat.extend(output) if isinstance(output, list) else flat.append(output)
        return flat

    # Values.

    def stack(self, value: Batched) -> Tensor:
        if value.stacked:
            return value.tensor
        tensor = value.tensor
        if tensor.dtype is dtypes.variant:
            return self.stack_list(tensor)
        expanded = EXPAND_DIMS(tensor, 0)
        if tensor.shape.is_fully_defined():
            stacked = BROADCAST_TO(expanded, self.with_size(tensor.shape.as_list()))
        elif tensor.shape.rank is None:
            raise NoRule("the rank of a tensor is unknown")
        else:
            stacked = TILE(expanded, self.with_size([1] * tensor.shape.rank))
        self._tell_shape(Batched(stacked, True), tensor)
        return stacked

    def _tell_shape(self, value, inner):
        """Add to what is known of a stacked tensor what is known of the tensor of one element."""
        tensor = value.tensor
        if value.stacked and type(tensor) is not EagerTensor and tensor.dtype._kind not in "rv":
            tensor.set_shape(batch_shape(self.size, inner.shape))

    def stack_list(self, handle):
        """A list of tensors as one of stacked tensors."""
        data = handle._handle_data
        dtype = data.dtype if data is not None else None
        if type(handle) is EagerTensor:
            dtype = handle._a[()].element_dtype if hasattr(handle._a[()], "element_dtype") else None
        if dtype is None:
            raise NoRule("a list of tensors of unknown type is written to")
        items = TENSOR_LIST_STACK(handle, to_tensor(-1, dtypes.int32), element_dtype=dtype, num_elements=-1)
        if items.shape.rank is None:
            raise NoRule("a list of tensors of unknown rank is written to")
        rank = items.shape.rank
        repeated = TILE(
            EXPAND_DIMS(items, 1), self.join([1], self.size_vector(), [1] * (rank - 1))
        )
        return TENSOR_LIST_FROM_TENSOR(repeated, to_tensor(-1, dtypes.int32))

    def rank(self, value: Batched) -> int:
        rank = value.tensor.shape.rank
        if rank is None:
            raise NoRule("the rank of a tensor is unknown")
        return rank - value.stacked

    def size_vector(self):
        return [self.size] if isinstance(self.size, int) else RESHAPE(self.size, [1])

    def with_size(self, vector):
        return self.join(self.size_vector(), vector)

    def join(self, *vectors):
        known = [v if isinstance(v, list) else value_of(v) for v in vectors]
        if all(v is not None for v in known):
            return [int(n) for v in known for n in v]
        dtype = next((v.dtype for v in vectors if isinstance(v, Tensor)), dtypes.int32)
        parts = [to_tensor(v, dtype) if isinstance(v, list) else v for v in vectors]
        parts = [p if p.dtype is dtype else CAST(p, DstT=dtype) for p in parts]
        return CONCAT(parts, 0)

    def shape_of_element(self, value: Batched, dtype=dtypes.int32):
        shape = value.tensor.shape
        if shape.rank is not None and shape[value.stacked :].is_fully_defined():
            return shape[value.stacked :].as_list()
        return SHAPE(value.tensor, out_type=dtype)[int(value.stacked) :]

    def axes(self, value: Batched) -> Tensor:
        axes = unstacked(value, "axis")
        known = value_of(axes)
        if known is not None:
            return to_tensor(np.where(known < 0, known, known + 1).astype(known.dtype))
        return SELECT_V2(axes < 0, axes, axes + 1)

    def aligned(self, values) -> list:
        rank = max(self.rank(value) for value in values)
        return [self.with_rank(value, rank) if value.stacked else value.tensor for value in values]

    def with_rank(self, value: Batched, rank):
        tensor = value.tensor
        missing = rank - self.rank(value)
        if missing and tensor.shape.is_fully_defined():
            dims = tensor.shape.as_list()
            return RESHAPE(tensor, [dims[0], *[1] * missing, *dims[1:]])
        for _ in range(missing):
            tensor = EXPAND_DIMS(tensor, 1)
        return tensor

    def numbers(self):
        return RANGE(to_tensor(0), to_tensor(self.size, dtypes.int32), to_tensor(1))

    def merged(self, value: Batched):
        tensor = self.stack(value)
        shape = self.shape_of_element(Batched(tensor, True))
        length, rest = shape[:1], shape[1:]
        if isinstance(shape, list) and isinstance(self.size, int):
            return RESHAPE(tensor, [self.size * shape[0], *rest]), length
        return RESHAPE(tensor, self.join([-1], rest)), length

    def parted(self, tensor, length):
        rest = tensor.shape[1:].as_list() if tensor.shape[1:].is_fully_defined() else SHAPE(tensor)[1:]
        return RESHAPE(tensor, self.join(self.size_vector(), length, rest))

    def larger(self, sizes, at=0):
        factors = [1] * sizes.shape[0]
        if isinstance(self.size, int):
            factors[at] = self.size
            return sizes * to_tensor(factors, sizes.dtype)
        is_there = to_tensor([i == at for i in range(len(factors))])
        return sizes * SELECT_V2(is_there, CAST(self.size, DstT=sizes.dtype), to_tensor(1, sizes.dtype))

    def call_on_arrays(self, function, inputs, dtype):
        return numpy_function(function, inputs, dtype, False)

    # Functions.

    def call(self, node, graph, inputs):
        call = random_call(node) if context.graph is None else None
        if call is None:
            return self.run(graph, inputs)
        before = context.random_site
        context.random_site = site_within(before, call)
        try:
            return self.run(graph, inputs)
        finally:
            context.random_site = before

    def conditional(self, condition, graphs, inputs):
        return control.conditional(self, condition, graphs, inputs)

    def switch(self, number, graphs, inputs):
        return control.switch(self, number, graphs, inputs)

    def loop(self, condition, body, inputs):
        return control.loop(self, condition, body, inputs)

    # Special cases.

    def _element_by_element(self, node, inputs, reason):
        """Run an operation for one element after the other."""
        name = node.record.name
        flat = flatten(inputs)
        if any(x.tensor.dtype is dtypes.resource for x in flat):
            raise ValueError(
                f"vectorized_map: {name} changes something that all elements share, in an order that vectorization "
                "does not keep. Use tf.map_fn."
            )
        if not node.record.vectorize.quiet:
            if not self.fallback:
                raise ValueError(
                    f"vectorized_map: No pfor vectorization defined for {name} ({reason}), and fallback_to_while_loop "
                    "is False."
                )
            if self.warn:
                logger.warning("Using a while_loop for converting %s cause %s.", name, reason)
        stacked = [i for i, x in enumerate(flat) if x.stacked]
        if any(flat[i].tensor.dtype is dtypes.variant for i in stacked):
            raise ValueError(f"vectorized_map: cannot run {name} element by element, which reads a list of tensors.")
        elems = tuple(flat[i].tensor for i in stacked) or self.numbers()

        def one(parts):
            replaced = list(flat)
            for i, part in zip(stacked, parts if stacked else ()):
                replaced[i] = Batched(part, False)
            return self.apply(node, refill(inputs, replaced)) or [to_tensor(0)]

        signature = [TensorSpec(None, y.dtype) for y in node.outputs] or [TensorSpec([], dtypes.int32)]
        results = map_fn(one, elems, infer_shape=context.graph is not None, fn_output_signature=signature)
        return [Batched(x, True) for x in results][: len(node.outputs)]

    def _custom(self, graph, node, inputs, values):
        """What `tf.custom_gradient` made: hands its inputs on, and has a gradient function of its own."""
        count, name, gradient = node.custom_gradient
        flat = flatten(inputs)
        given = flat[count:]
        with without_tapes():
            outputs = IDENTITY_N([x.tensor for x in flat])[:count]
        outputs = [Batched(y, x.stacked) for y, x in zip(outputs, flat)]

        def grad(*dys):
            inner = ElementGraph(f"{name}_gradient", graph)
            with inner.building():
                places = [inner.add_input(y.shape, y.dtype) for y in node.outputs[:count]]
                found = gradient(*places)
                found = [None if g is None else inner.inside(dense(g)) for g in found]
            inner.outputs = [g for g in found if g is not None]
            captured = [values[id(x)] if id(x) in values else Batched(x, False) for x in inner.external_captures]
            batch = [Batched(dy, y.stacked) for dy, y in zip(dys, outputs)]
            results = iter(self.run(inner, [*batch, *captured]))
            return [None if g is None else self._gradient_of(x, next(results)) for x, g in zip(given, found)]

        record_custom(name, [x.tensor for x in given], [y.tensor for y in outputs], grad)
        if context.graph is not None and outputs:
            outputs[0].tensor.op.custom_gradient = (count, name, grad)
        return [*outputs, *given]

    def _gradient_of(self, source, gradient):
        """The gradient of a value of the batch: summed up for one that all elements share."""
        if source.stacked:
            return self.stack(gradient)
        return SUM(self.stack(gradient), 0, keep_dims=False)


def _read_variable(graph, node, handle):
    """Read a variable so that tapes outside notice."""
    base = graph.base
    for variable in base.used_variables.values():
        if variable.handle is handle:
            return variable.value()
    return node.record(handle, **node.attrs)
