"""`tf.gradients`: derivatives of tensors of a graph, as further operations of the graph."""

from typing import Any

from headrace._src.autodiff.gradient_tape import UnconnectedGradients
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.graph_variables import RefVariable
from headrace._src.graph.building.operation import has_gradient
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.derivatives.functions import tape_of, walk, zeros_for
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.shaping import RESHAPE


@api("gradients", dispatch=False)
def gradients(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients="none",
) -> Any:
    """Symbolic derivatives of the sum of `ys` with respect to each of `xs`, in a graph.

    Args:
        ys: a tensor of the graph, or a list of them.
        xs: a tensor or variable, or a list of them.
        grad_ys: for each of `ys` the gradient to begin with; ones by default.
        name: a scope for the operations.
        gate_gradients, aggregation_method: accepted.
        stop_gradients: tensors that count as constants.
        unconnected_gradients: "none" or "zero": what to return for xs that `ys` do not depend on.

    Returns:
        A list of one tensor, `IndexedSlices` or None per element of `xs`.

    Raises:
        RuntimeError: when executing eagerly, where `tf.GradientTape` records what is computed.
    """
    graph = context.graph
    if graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    unconnected = UnconnectedGradients(unconnected_gradients)
    ys, xs = _listed(ys), _listed(xs)
    grad_ys = [None] * len(ys) if grad_ys is None else _listed(grad_ys)
    if len(grad_ys) != len(ys):
        raise ValueError(f"gradients: grad_ys must have as many elements as ys, got {len(grad_ys)} and {len(ys)}.")
    with graph.building() if graph.building_function else graph.as_default(), name_scope(name):
        targets = [graph.inside(to_tensor(y)) for y in ys]
        sources = [_source(graph, x) for x in xs]
        reads = [(x.handle, read) for x in xs if isinstance(x, RefVariable) for read in x.reads]
        known = [source for source in sources if source is not None]
        stops = {id(graph.inside(to_tensor(t))) for t in _listed(stop_gradients or [])}
        tape = tape_of(graph, graph.nodes, known, stops, reads)
        # TF: nothing flows from numbers without a gradient, such as integers.
        places = [i for i, y in enumerate(targets) if has_gradient(y.dtype)]
        dys = [_first_gradient(i, targets[i], grad_ys[i]) for i in places]
        targets = [targets[i] for i in places]
        found = iter(walk(tape, targets, dys, known))
        results = [None if source is None else next(found) for source in sources]
        if unconnected is UnconnectedGradients.ZERO:
            results = [_zeros(x, s) if dx is None else dx for dx, x, s in zip(results, xs, sources)]
    return results


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _source(graph, x):
    """The tensor of the graph that stands for `x`; None when the graph does not use it."""
    tensor = getattr(x, "handle", None)
    if isinstance(x, CompositeTensor):
        raise TypeError(f"gradients: xs must be tensors or variables, got {type(x).__name__}.")
    tensor = to_tensor(x) if tensor is None else tensor
    if type(tensor) is SymbolicTensor and tensor.op._graph is graph.reference:
        return tensor
    captured = graph._captures.get(id(tensor)) or graph._constants.get(id(tensor))
    return None if captured is None else captured[1]


def _first_gradient(i, y, dy):
    if dy is None:
        if y.dtype.is_complex:
            raise TypeError(f"Gradients of complex tensors ({y!r}) must set grad_ys (y.dtype = {y.dtype.name}).")
        with name_scope(f"grad_ys_{i}"):
            return y._ones_like()
    if isinstance(dy, CompositeTensor):
        return dy
    dy = to_tensor(dy, y.dtype)
    if not dy.shape.is_compatible_with(y.shape):
        raise ValueError(f"gradients: grad_ys[{i}] must have the shape {y.shape} of ys[{i}], got {dy.shape}.")
    return dy


def _zeros(x, source):
    if hasattr(x, "handle"):
        return ZEROS_LIKE(x.value())
    return zeros_for(to_tensor(x) if source is None else source)


@api("hessians", dispatch=False)
def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians") -> list[Tensor]:
    """The second derivatives of the sum of `ys` with respect to each of `xs`, in a graph.

    Returns:
        For each of `xs` a tensor with its shape twice.

    Raises:
        RuntimeError: when executing eagerly.
    """
    graph = context.graph
    if graph is None:
        raise RuntimeError("tf.hessians is not supported when eager execution is enabled. Use tf.GradientTape instead.")
    found = []
    for x in _listed(xs):
        (first,) = gradients(ys, x, name=name)
        if first is None:
            raise ValueError(f"hessians: ys do not depend on {x!r}.")
        value = x.value() if hasattr(x, "handle") else x
        found.append(_jacobian(first, x, value, name))
    return found


def _jacobian(first, x, value, name):
    """The derivatives of all elements of `first`, one after another."""
    shape = SHAPE(value)
    flat = RESHAPE(to_tensor(first), [-1])
    size = flat.shape.num_elements()
    if size is None:
        raise ValueError(f"hessians: the number of elements of {x!r} must be known.")
    rows = []
    for i in range(size):
        (row,) = gradients(flat[i], x, name=name, unconnected_gradients="zero")
        rows.append(to_tensor(row))
    stacked = PACK(rows, axis=0)
    return RESHAPE(stacked, CONCAT([shape, shape], 0))

