"""The Levenshtein distance between sequences that sparse tensors hold."""

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.sparse.tensor import SparseTensor, SparseTensorValue


def _distance(first, second):
    """How many insertions, deletions and substitutions turn one sequence into the other."""
    if len(first) < len(second):
        first, second = second, first
    steps = np.arange(len(second) + 1)
    row = steps
    for i, item in enumerate(first):
        # Deletions and substitutions at once; then insertions, a running minimum along the row.
        best = np.minimum(row[1:] + 1, row[:-1] + (second != item))
        row = np.minimum.accumulate(np.concatenate([[i + 1], best]) - steps) + steps
    return int(row[-1])


def _check(name, indices, values, shape):
    if indices.ndim != 2 or values.ndim != 1 or shape.ndim != 1:
        raise errors.invalid_argument(
            f"EditDistance: {name} must have indices, values and shape of the ranks 2, 1 and 1, got the "
            f"shapes {indices.shape}, {values.shape}, {shape.shape}."
        )
    if indices.shape != (values.size, shape.size):
        raise errors.invalid_argument(
            f"EditDistance: {name} has {values.size} values and rank {shape.size}, so its indices must have "
            f"the shape {(values.size, shape.size)}, got {indices.shape}."
        )
    if (shape < 0).any():
        raise errors.invalid_argument(f"EditDistance: {name}_shape must not be negative, got {shape.tolist()}.")
    if shape.size < 2:
        raise errors.invalid_argument(f"EditDistance: {name} must have rank 2 or more, got {shape.size}.")


def _sequences(name, indices, values, outer):
    """From the place of a sequence, counted along all dimensions but the last, to its values."""
    places = indices[:, :-1]
    if ((places < 0) | (places >= outer)).any():
        raise errors.invalid_argument(
            f"EditDistance: {name} has indices outside the shape {outer.tolist()} of the result."
        )
    if not values.size:
        return {}
    flat = np.ravel_multi_index(tuple(places.T), tuple(outer.tolist()))
    order = np.argsort(flat, kind="stable")
    keys, starts = np.unique(flat[order], return_index=True)
    return dict(zip(keys.tolist(), np.split(values[order], starts[1:])))


def _edit_distance(h_indices, h_values, h_shape, t_indices, t_values, t_shape, normalize):
    _check("hypothesis", h_indices, h_values, h_shape)
    _check("truth", t_indices, t_values, t_shape)
    if h_shape.size != t_shape.size:
        raise errors.invalid_argument(
            f"EditDistance: hypothesis has rank {h_shape.size}, but truth has rank {t_shape.size}."
        )
    outer = np.maximum(h_shape, t_shape)[:-1]
    result = np.zeros(math.prod(outer.tolist()), np.float32)
    hypotheses = _sequences("hypothesis", h_indices, h_values, outer)
    truths = _sequences("truth", t_indices, t_values, outer)
    nothing = h_values[:0]
    for place in hypotheses.keys() | truths.keys():
        hypothesis, truth = hypotheses.get(place, nothing), truths.get(place, nothing)
        distance = _distance(hypothesis, truth)
        if normalize:
            distance = distance / len(truth) if len(truth) else np.inf
        result[place] = distance
    return result.reshape(outer)


def _infer(h_indices, h_values, h_shape, t_indices, t_values, t_shape, normalize):
    if h_shape.value is not None and t_shape.value is not None:
        return TensorShape(np.maximum(h_shape.value, t_shape.value)[:-1].tolist())
    rank = h_shape.shape.num_elements()
    return UNKNOWN if rank is None else TensorShape([None] * max(rank - 1, 0))


EDIT_DISTANCE = Op(
    "EditDistance",
    "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, "
    "truth_values: T, truth_shape: int64, *, normalize: bool = True -> output: float32",
    T=dtypes.ANY - {dtypes.resource, dtypes.variant},
    infer=_infer,
    kernel=_edit_distance,
    lower=None,  # sequences of data-dependent lengths, and the shape of the result is data
    grad=None,
)


@api("edit_distance")
def edit_distance(hypothesis, truth, normalize=True, name="edit_distance") -> Tensor:
    """The Levenshtein distance between the sequences in the last dimension of two sparse tensors.

    >>> hypothesis = tf.sparse.from_dense([["k", "i", "t"]])
    >>> truth = tf.sparse.from_dense([["s", "i", "t"]])
    >>> tf.edit_distance(hypothesis, truth, normalize=False).numpy().tolist()
    [1.0]

    Args:
        hypothesis: a `SparseTensor`.
        truth: another of the same dtype and rank.
        normalize: divide by the length of the true sequence (infinite when that is empty).
        name: a name for the operation.

    Returns:
        A float32 tensor with one dimension less.
    """
    for argument, value in (("hypothesis", hypothesis), ("truth", truth)):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"edit_distance: {argument} must be a SparseTensor, got {type(value).__name__}.")
    hypothesis, truth = SparseTensor.from_value(hypothesis), SparseTensor.from_value(truth)
    return EDIT_DISTANCE(
        hypothesis.indices,
        hypothesis.values,
        hypothesis.dense_shape,
        truth.indices,
        truth.values,
        truth.dense_shape,
        normalize=normalize,
        name=name,
    )
