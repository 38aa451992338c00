"""`GradientTape.jacobian` and `batch_jacobian`: one gradient for each element, all at once where that pays."""

from typing import Any

import numpy as np

from headrace._src.autodiff.gradient_tape import (
    GradientTape,
    UnconnectedGradients,
    as_target,
    as_unconnected,
    gradients_by_handle,
    shape_of,
    source_handle,
)
from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.graph.control.map_fn import map_fn
from headrace._src.graph.vectorizing.vectorized_map import vectorized_map
from headrace._src.op.attached import method_of
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.joining import CONCAT, PACK, UNPACK
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.linalg.diagonals import MATRIX_DIAG_MAIN
from headrace._src.ops.math.reductions import PROD

# Below this, computing row after row takes less time than making a graph of one.
_WORTH_TRACING = 8


@method_of(GradientTape)
def jacobian(
    self,
    target,
    sources,
    unconnected_gradients=UnconnectedGradients.NONE,
    parallel_iterations=None,
    experimental_use_pfor=True,
) -> Any:
    """The derivative of each element of `target` with respect to each element of the sources.

    Returns:
        The structure of `sources`, with tensors of shape `target.shape + source.shape`.
    """
    _require_persistence(self, experimental_use_pfor)
    target = as_target(target)
    tape = self._take_tape()
    flat = nest.flatten(sources)
    handles = [source_handle(leaf) for leaf in flat]
    unconnected = as_unconnected(unconnected_gradients)
    shape = shape_of(target)
    columns = _gradients_by_weight(
        lambda weight: gradients_by_handle(tape, [target], [weight], handles), shape, target.dtype,
        [leaf.dtype for leaf in flat], experimental_use_pfor,
    )  # fmt: skip
    results = []
    for source, column in zip(flat, columns):
        if column is None and unconnected is UnconnectedGradients.NONE and _shape_size(shape) != 0:
            results.append(None)
        elif column is None:
            results.append(zeros(_joined(shape, shape_of(source)), source.dtype))
        else:
            results.append(RESHAPE(column, _joined(shape, shape_of(source))))
    return nest.pack_sequence_as(sources, results)


@method_of(GradientTape)
def batch_jacobian(
    self,
    target,
    source,
    unconnected_gradients=UnconnectedGradients.NONE,
    parallel_iterations=None,
    experimental_use_pfor=True,
) -> Tensor:
    """For each example along the first axis: the Jacobian of its target by its source.

    Returns:
        A tensor of shape `[batch] + target.shape[1:] + source.shape[1:]`.

    Raises:
        ValueError: when the first dimensions differ, or a rank is below 2.
    """
    _require_persistence(self, experimental_use_pfor)
    target, handle = to_tensor(as_target(target)), source_handle(source)
    for role, shape in (("target", target.shape), ("source", source.shape)):
        if shape.rank is not None and shape.rank < 2:
            raise ValueError(f"batch_jacobian: {role} must have a batch axis and at least one more, got shape {shape}.")
    if not target.shape[:1].is_compatible_with(source.shape[:1]):
        raise ValueError(
            f"batch_jacobian: first dimension of target shape {target.shape} and source shape {source.shape} must "
            "match."
        )
    tape = self._take_tape()
    out, inner, into = shape_of(target), _inner_shape(target), _inner_shape(source)
    (column,) = _gradients_by_weight(
        lambda weight: gradients_by_handle(tape, [target], [BROADCAST_TO(weight, out)], [handle]),
        inner, target.dtype, [source.dtype], experimental_use_pfor,
    )  # fmt: skip
    as_unconnected(unconnected_gradients)
    if column is None:  # TF: zeros, whatever `unconnected_gradients` says
        return zeros(_joined(out, into), source.dtype)
    rows = TRANSPOSE(column, [1, 0, *range(2, column.shape.rank)])
    return RESHAPE(rows, _joined(out, into))


def _require_persistence(tape, use_pfor):
    """TF: row after row is several calls of `gradient` there; what is written here runs there too."""
    if not (use_pfor or tape._persistent or context.graph is not None):
        raise RuntimeError("A Jacobian with experimental_use_pfor=False needs tf.GradientTape(persistent=True).")


def _inner_shape(tensor):
    """The shape without the first axis, as `shape_of` gives it."""
    if tensor.shape.rank is not None and tensor.shape[1:].is_fully_defined():
        return tuple(tensor.shape[1:].as_list())
    return shape_of(tensor)[1:]


def _shape_size(shape):
    """How many elements a tensor of that shape has; None when that is not known."""
    return int(np.prod(shape)) if isinstance(shape, tuple) else None


def _joined(*shapes):
    """Shapes one after another."""
    if all(isinstance(shape, tuple) for shape in shapes):
        return sum(shapes, ())
    return CONCAT([to_tensor(shape, dtypes.int32) for shape in shapes], 0)


def _gradients_by_weight(gradients_of, shape, dtype, source_types, use_pfor) -> list:
    """For each source the gradients of all elements of a target, stacked along a first axis; None if it has none.

    Args:
        gradients_of: from a gradient of the target, one at one element and zero elsewhere, to one gradient or None per
            source.
        shape: of the target.
        dtype: of the target.
        source_types: the dtypes of the sources.
        use_pfor: compute all rows at once, by `tf.vectorized_map`.
    """
    size = _shape_size(shape)
    weights = _basis(shape, size, dtype)
    if size == 0:
        return [None] * len(source_types)
    if use_pfor and (context.graph is not None or size >= _WORTH_TRACING):
        try:
            return list(vectorized_map(gradients_of, weights, warn=False))
        except Exception:
            # Gradients written in Python may need values, which only the rows one by one have.
            if context.graph is not None:
                raise
    if size is None:
        return _looped(gradients_of, weights, source_types)
    rows = [gradients_of(weight) for weight in UNPACK(weights, num=size, axis=0)]
    return [
        None if all(grad is None for grad in column) else PACK([to_tensor(g) for g in column], axis=0)
        for column in zip(*rows)
    ]


def _basis(shape, size, dtype):
    """For each element of `shape`: a tensor that is one there and zero elsewhere; all of them stacked."""
    if size is not None:
        return EagerTensor(np.eye(size, dtype=dtype._np).reshape(size, *shape), dtype)
    size = PROD(shape, 0, keep_dims=False)
    ones = FILL(RESHAPE(size, [1]), to_tensor(1, dtype))
    return RESHAPE(MATRIX_DIAG_MAIN(ones), _joined(RESHAPE(size, [1]), shape))


def _looped(gradients_of, weights, source_types):
    """Row after row, in a loop of the graph."""
    missing: list = []

    def row(weight):
        found = gradients_of(weight)
        missing[:] = [grad is None for grad in found]
        return [to_tensor(0, dtype) if g is None else to_tensor(g) for g, dtype in zip(found, source_types)]

    stacked = map_fn(row, weights, fn_output_signature=list(source_types))
    return [None if is_missing else column for column, is_missing in zip(stacked, missing)]
