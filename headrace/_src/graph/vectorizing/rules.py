"""Turning the graph of one element into operations on a whole batch: the walk over it, and the table of rules."""

import logging
from typing import NamedTuple

import numpy as np

from headrace._src.autodiff.custom_gradient import record_custom, without_tapes
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import is_stateful
from headrace._src.graph.control.map_fn import map_fn
from headrace._src.graph.control.python_functions import EAGER_PY_FUNC, call_of, call_recorded
from headrace._src.graph.derivatives.functions import dense, structured
from headrace._src.graph.passes.dead_code import needed
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import REGISTRY
from headrace._src.op.traits import ELEMENTWISE, EQUAL_SHAPES, READS_RESOURCE
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO, SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import CONST, RANGE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.passing import IDENTITY_N
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SHAPE
from headrace._src.ops.arrays.slicing import STRIDED_SLICE
from headrace._src.ops.arrays.splitting import TILE
from headrace._src.ops.tensor_lists.whole_lists import TENSOR_LIST_FROM_TENSOR, TENSOR_LIST_STACK

logger = logging.getLogger("headrace")


class Batched(NamedTuple):
    """A value of the element's graph: one for all elements, or stacked along a new first axis."""

    tensor: Tensor
    stacked: bool


class NoRule(Exception):
    """A rule cannot do what is asked; the message says why."""


RULES: dict = {}


def rule(*names):
    """Decorator: `rule(batch, node, *inputs)` converts operations of these names; inputs are `Batched` or lists.

    It returns a tensor or a list of tensors, all stacked, or `Batched` values.
    """

    def declare(function):
        for name in names:
            RULES[name] = function
        return function

    return declare


class ElementGraph(FuncGraph):
    """The graph of one element. Whatever it takes from outside stays a capture, so that tapes can follow it."""

    def capture(self, tensor, name=None):
        entry = self._captures.get(id(tensor))
        if entry is not None:
            return entry[1]
        if type(tensor) is EagerTensor:
            return self.add_capture(tensor, name)
        return super().capture(tensor, name)


class Batch:
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
        return Batch(size, self.fallback, self.warn, self.on_host)

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
        name = node.record.name
        if name == "ReadVariableOp":
            return [Batched(_read_variable(graph, node, flat[0].tensor), False)]
        # What does not depend on the element is computed, or read, once.
        is_same = not node.record.stateful or READS_RESOURCE in node.record.traits
        if is_same and name not in ALWAYS and not any(x.stacked for x in flat):
            return [Batched(x, False) for x in self.apply(node, inputs)]
        found = RULES.get(name) or _elementwise_rule(node.record)
        if found is None:
            raise NoRule("there is no registered converter for this op")
        result = found(self, node, *inputs)
        if not isinstance(result, (list, tuple)) or isinstance(result, Batched):
            result = [result]
        return [x if x is None or isinstance(x, Batched) else Batched(x, True) for x in result]

    def apply(self, node, inputs, attrs=None, op=None) -> list:
        """Apply the op of a node (or another) to `Batched` values or tensors; returns its outputs as a flat list."""
        record = node.record if op is None else REGISTRY[op]
        if record is EAGER_PY_FUNC and context.graph is None:
            return call_recorded(call_of(node.attrs["token"]), [tensor_of(x) for x in flatten(inputs)])
        tensors = [[tensor_of(x) for x in value] if _is_list(value) else tensor_of(value) for value in inputs]
        draws = record.draws and context.graph is None
        if draws:  # TF: the stream of random numbers is the operation's own
            context.random_node = node
        try:
            result = record(*tensors, **(node.attrs if attrs is None else attrs))
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
        """The value stacked, repeated if it is one for all."""
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
        """The rank of the value of one element."""
        rank = value.tensor.shape.rank
        if rank is None:
            raise NoRule("the rank of a tensor is unknown")
        return rank - value.stacked

    def size_vector(self):
        """The number of elements as a vector of length one: a list, or a tensor."""
        return [self.size] if isinstance(self.size, int) else RESHAPE(self.size, [1])

    def with_size(self, vector):
        """A vector of sizes of one element with the number of elements before them."""
        return self.join(self.size_vector(), vector)

    def join(self, *vectors):
        """Vectors of integers, lists or tensors, as one; a list where all of it is known."""
        known = [v if isinstance(v, list) else value_of(v) for v in vectors]
        if all(v is not None for v in known):
            return [int(n) for v in known for n in v]
        dtype = next((v.dtype for v in vectors if isinstance(v, Tensor)), dtypes.int32)
        parts = [to_tensor(v, dtype) if isinstance(v, list) else v for v in vectors]
        parts = [p if p.dtype is dtype else CAST(p, DstT=dtype) for p in parts]
        return CONCAT(parts, 0)

    def shape_of_element(self, value: Batched):
        """The shape of one element: a list of ints, or a tensor."""
        shape = value.tensor.shape
        if shape.rank is not None and shape[value.stacked :].is_fully_defined():
            return shape[value.stacked :].as_list()
        return tail(SHAPE(value.tensor, out_type=dtypes.int32), int(value.stacked))

    def aligned(self, values) -> list:
        """The tensors of values that broadcast against each other, so that they do with the batch as first axis."""
        rank = max(self.rank(value) for value in values)
        return [self.with_rank(value, rank) if value.stacked else value.tensor for value in values]

    def with_rank(self, value: Batched, rank):
        """A stacked value whose elements have that rank, by axes of length one behind the batch."""
        tensor = value.tensor
        missing = rank - self.rank(value)
        if missing and tensor.shape.is_fully_defined():
            dims = tensor.shape.as_list()
            return RESHAPE(tensor, [dims[0], *[1] * missing, *dims[1:]])
        for _ in range(missing):
            tensor = EXPAND_DIMS(tensor, 1)
        return tensor

    def numbers(self):
        """0, 1, 2 ... for the elements, as int32."""
        return RANGE(to_tensor(0), to_tensor(self.size, dtypes.int32), to_tensor(1))

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
        if name not in QUIET:
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


def _elementwise_rule(record):
    """The rule that the trait ELEMENTWISE implies; None for other ops."""
    if ELEMENTWISE not in record.traits:
        return None
    if EQUAL_SHAPES in record.traits:
        return _stacking
    return _unary if len(record.signature.inputs) == 1 else _broadcasting


def _unary(batch, node, x):
    return batch.apply(node, [x])


def _broadcasting(batch, node, *inputs):
    return batch.apply(node, batch.aligned(inputs))


def _stacking(batch, node, *inputs):
    if _is_list(inputs[0]):
        return batch.apply(node, [[batch.stack(x) for x in inputs[0]]])
    return batch.apply(node, [batch.stack(x) for x in inputs])


# Ops that are converted even when no input is stacked: each element has its own result.
ALWAYS: set = set()
# Ops that run element by element as a matter of course.
QUIET = {"PrintV2", "Print", "StringFormat"}


def _is_list(value):
    return isinstance(value, list)


def tensor_of(value):
    return value.tensor if isinstance(value, Batched) else value


def flatten(inputs) -> list:
    """`Batched` values and lists of them as one list."""
    flat: list = []
    for value in inputs:
        flat.extend(value) if _is_list(value) else flat.append(value)
    return flat


def refill(inputs, flat):
    """The opposite of `flatten`."""
    rest = iter(flat)
    return [[next(rest) for _ in value] if _is_list(value) else next(rest) for value in inputs]


def value_of(tensor):
    """The value of a tensor as a NumPy array when it is known now, otherwise None."""
    return tensor._a if isinstance(tensor, EagerTensor) else getattr(tensor, "_known", None)


def tail(vector, count):
    """The elements of a vector from number `count` on."""
    return STRIDED_SLICE(
        vector, [count], [0], [1], begin_mask=0, end_mask=1, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0
    )


def unstacked(value: Batched, what: str) -> Tensor:
    """The tensor of a value that must be the same for all elements."""
    if value.stacked:
        raise NoRule(f"its {what} differs between elements")
    return value.tensor


def shifted_axes(value: Batched) -> Tensor:
    """Axes of one element as those of the batch. Negative ones count from the end, and stay."""
    axes = unstacked(value, "axis")
    known = value_of(axes)
    if known is not None:
        return to_tensor(np.where(known < 0, known, known + 1).astype(known.dtype))
    return SELECT_V2(axes < 0, axes, axes + 1)


def shifted(axis: int) -> int:
    """An axis of one element as that of the batch."""
    return axis if axis < 0 else axis + 1


def batch_shape(size, shape) -> TensorShape:
    """The static shape of a batch of elements of that shape."""
    return TensorShape([size if isinstance(size, int) else None]).concatenate(shape)


def _read_variable(graph, node, handle):
    """Read a variable so that tapes outside notice."""
    base = graph.base
    for variable in base.variables.values():
        if variable.handle is handle:
            return variable.value()
    return node.record(handle, **node.attrs)
