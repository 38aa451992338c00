"""`tf.vectorized_map`: a function of one element, run on the whole batch at once."""

from typing import Any

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.operation import Operation
from headrace._src.graph.building.variable_creation import variables_of_body
from headrace._src.graph.derivatives.functions import dense
from headrace._src.graph.vectorizing.walk import BatchWalk, ElementGraph
from headrace._src.op.api import api
from headrace._src.op.batching import Batched, batch_shape
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.math.arithmetic import MAXIMUM


class _BodyGraph(ElementGraph):
    """The graph of one element; TF: random ops draw their seeds from the graph around it."""

    def next_op_seed(self):
        outer = self.outer_graph
        return super().next_op_seed() if outer is None else outer.next_op_seed()


@api("vectorized_map", dispatch=False, told=True)
def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True) -> Any:
    """Apply a function to each element along the first axis, all elements at once.

    The function is traced for one element; each of its operations then becomes one on the whole batch. That is far
    faster than `tf.map_fn`, but operations with side effects do not run in the order of a loop.

    Args:
        fn: a function of one element, in the structure of `elems`.
        elems: a tensor or a structure of tensors with equal first dimensions (or of length one, which are repeated).
        fallback_to_while_loop: whether an operation that has no rule runs element by element.
        warn: whether that is logged.

    Returns:
        The results, stacked.

    Raises:
        ValueError: an operation has no rule and `fallback_to_while_loop` is False.

    >>> a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.vectorized_map(lambda row: tf.tensordot(row, row, 1), a).numpy().tolist()
    [5.0, 25.0]
    """
    if not callable(fn):
        raise TypeError(f"vectorized_map: fn must be callable, got {fn!r}.")
    flat = []
    for leaf in nest.flatten(elems):
        if isinstance(leaf, CompositeTensor):
            raise TypeError(f"vectorized_map: elems must be dense tensors, got {type(leaf).__name__}. Use tf.map_fn.")
        flat.append(to_tensor(leaf))
    if not flat:
        raise ValueError(f"vectorized_map: elems must contain a tensor, got {elems!r}.")
    size, flat = _same_size(flat)
    graph = _BodyGraph("vectorized_map_body", context.graph)
    with graph.building(), variables_of_body():
        places = [graph.add_input(x.shape[1:], x.dtype) for x in flat]
        result = nest.map_structure(_result, fn(nest.pack_sequence_as(elems, places)))
        leaves = nest.flatten(result)
        graph.outputs = [graph.inside(leaf) for leaf in leaves if leaf is not None]
    outer = context.graph
    if outer is not None:
        outer.used_variables.update(graph.used_variables)
    batch = BatchWalk(size, fallback_to_while_loop, warn)
    inputs = [Batched(x, True) for x in flat] + [Batched(x, False) for x in graph.external_captures]
    outputs = []
    for value, inner in zip(batch.run(graph, inputs), graph.outputs):
        tensor = batch.stack(value)
        if not isinstance(tensor, EagerTensor):
            tensor.set_shape(batch_shape(size, inner.shape))
        outputs.append(tensor)
    found = iter(outputs)
    return nest.pack_sequence_as(result, [None if leaf is None else next(found) for leaf in leaves])


def _result(value):
    if value is None or isinstance(value, Operation):
        return None
    if isinstance(value, IndexedSlices):
        return dense(value)
    if isinstance(value, CompositeTensor):
        raise ValueError(f"vectorized_map: No pfor vectorization defined for {type(value).__name__}. Use tf.map_fn.")
    return to_tensor(value)


def _same_size(tensors):
    """The number of elements, an int or a scalar tensor, and the tensors repeated to that."""
    for tensor in tensors:
        if tensor.shape.rank is None:
            raise ValueError("vectorized_map: the rank of elems must be known.")
        if not tensor.shape.rank:
            raise ValueError("vectorized_map: elems must have a first axis to map over, got a scalar.")
    sizes = [tensor.shape[0] for tensor in tensors]
    known = {n for n in sizes if n not in (None, 1)}
    if len(known) > 1:
        # TF: reading beyond the end of the shorter one.
        raise errors.invalid_argument(f"vectorized_map: the first dimensions of elems must be equal, got {sizes}.")
    if None in sizes:
        lengths = [SHAPE(x, out_type=dtypes.int32)[0] for x in tensors]
        size = lengths[0]
        for length in lengths[1:]:
            size = MAXIMUM(size, length)
        if len(tensors) > 1:
            tensors = [_repeated(x, size) for x in tensors]
        return size, tensors
    size = next(iter(known)) if known else 1
    return size, [x if x.shape[0] == size else _repeated(x, size) for x in tensors]


def _repeated(tensor, size):
    rest = tensor.shape[1:].as_list() if tensor.shape[1:].is_fully_defined() else SHAPE(tensor)[1:]
    return BROADCAST_TO(tensor, BatchWalk(size).with_size(rest))
