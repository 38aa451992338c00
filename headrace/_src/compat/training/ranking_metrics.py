"""`tf.compat.v1.metrics` of rankings: precision and recall among the k highest predictions."""

from typing import Any

from headrace._src.compat.training.metrics import finish, local_variable, ratio, refuse_eagerly
from headrace._src.compat.variables.scopes import variable_scope
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, filling, measuring, passing, ranking, shaping
from headrace._src.ops.linalg import matrices
from headrace._src.ops.math import cumulative, division, reductions
from headrace._src.ops.math.arithmetic import MINIMUM
from headrace._src.ops.math.comparison import equal
from headrace._src.ops.sparse import dense as sparse_dense
from headrace._src.ops.sparse.tensor import SparseTensor

_FLOAT = dtypes.float64


def _label_rows(labels):
    """Labels as rows of integers, and which of them count: one that is there twice counts once."""
    if isinstance(labels, SparseTensor):
        labels = SparseTensor(labels.indices, casting.cast(labels.values, dtypes.int64), labels.dense_shape)
        there = sparse_dense.to_dense(
            SparseTensor(labels.indices, filling.ones_like(labels.values), labels.dense_shape)
        )
        labels = sparse_dense.to_dense(labels, default_value=-1)
        rows = _joined(labels)
        return rows, _first_ones(rows) & (_joined(there) > 0)
    rows = _joined(casting.cast(to_tensor(labels), dtypes.int64))
    return rows, _first_ones(rows)


def _joined(tensor) -> Tensor:
    """All axes but the last as one."""
    return shaping.reshape(tensor, [-1, measuring.shape(tensor)[-1]])


def _first_ones(rows):
    same = equal(shaping.expand_dims(rows, 2), shaping.expand_dims(rows, 1))
    earlier = matrices.band_part(casting.cast(same, dtypes.int32), -1, 0)
    return equal(reductions.reduce_sum(earlier, -1), 1)  # only equal to itself


def _with_axis(labels, rank):
    """Labels with an axis for several of an example, also where each example has one."""
    if isinstance(labels, SparseTensor):
        return labels
    labels = to_tensor(labels)
    if labels.shape.rank is not None and rank is not None and labels.shape.rank == rank - 1:
        return shaping.expand_dims(labels, -1)
    return labels


class _Found:
    """Which of the predictions are right, and which labels were found, in rows.

    Args:
        labels: those of examples.
        predictions_idx: the classes with the highest predictions, the best first.
        class_id: a class that alone counts, or None.
    """

    def __init__(self, labels, predictions_idx, class_id):
        guesses = casting.cast(to_tensor(predictions_idx), dtypes.int64)
        self.rows, self.counts = _label_rows(_with_axis(labels, guesses.shape.rank))
        self.is_sparse = isinstance(labels, SparseTensor)
        self.guesses = _joined(guesses)
        self.guessed = filling.ones_like(self.guesses, dtypes.bool)
        if class_id is not None:
            self.counts = self.counts & equal(self.rows, class_id)
            self.guessed = equal(self.guesses, class_id)
        pairs = equal(shaping.expand_dims(self.guesses, 2), shaping.expand_dims(self.rows, 1))
        pairs = pairs & shaping.expand_dims(self.counts, 1) & shaping.expand_dims(self.guessed, 2)
        self.hits = reductions.reduce_any(pairs, 2)
        self.found = reductions.reduce_any(pairs, 1)

    def counted(self, what, weights) -> Tensor:
        """How many of a table of booleans are true, weighted by row."""
        each = reductions.reduce_sum(casting.cast(what, _FLOAT), -1)
        if weights is not None:
            each = each * _row_weights(weights, each)
        return reductions.reduce_sum(each)


def _row_weights(weights, each):
    weights = casting.cast(to_tensor(weights), _FLOAT)
    return shaping.reshape(weights, [-1]) * filling.ones_like(each)


def _named(name, k, class_id):
    label = f"{name}_at_k" if k is None else f"{name}_at_{k}"
    return label if class_id is None else f"{label}_class{class_id}"


def _share(kind, labels, predictions_idx, k, class_id, weights, metrics_collections, updates_collections, name):
    """True positives among all positives (precision) or labels (recall); predictions may be a function."""
    refuse_eagerly(f"{kind}_at_top_k")
    with variable_scope(name, _named(kind, k, class_id)):
        chosen = predictions_idx() if callable(predictions_idx) else predictions_idx
        found = _Found(labels, chosen, class_id)
        if kind == "precision":
            missed, other = found.guessed & ~found.hits, "false_positive"
        else:
            missed, other = found.counts & ~found.found, "false_negative"
        variables = [local_variable([], _named(one, k, class_id), _FLOAT) for one in ("true_positive", other)]
        value = _of_all(*(variable.value() for variable in variables))
        amounts = (found.counted(found.hits, weights), found.counted(missed, weights))
        changes = [variable.assign_add(amount) for variable, amount in zip(variables, amounts)]
        with context.graph.control_dependencies(changes):
            update = _of_all(*(variable.value() for variable in variables))
        return finish(value, update, metrics_collections, updates_collections)


def _of_all(right, wrong):
    return division.divide(right, right + wrong)  # TF: NaN before there is anything to count


def _top(predictions, k):
    return ranking.top_k(to_tensor(predictions), k)[1]


@api("compat.v1.metrics.precision_at_top_k", dispatch=False)
def precision_at_top_k(
    labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Which share of predicted classes is among the labels.

    Args:
        labels: classes of each example: integers with a last axis for several, or a sparse tensor.
        predictions_idx: the classes with the highest predictions.
        k: how many these are, for names.
        class_id: a class that alone counts.
        weights: of each example.
        metrics_collections, updates_collections: collections to add the value and the update to.
        name: a scope for the variables.

    Returns:
        The value so far, and the operation that takes in a batch.
    """
    return _share("precision", labels, predictions_idx, k, class_id, weights, metrics_collections,
                  updates_collections, name)  # fmt: skip


@api("compat.v1.metrics.precision_at_k", "compat.v1.metrics.sparse_precision_at_k", dispatch=False)
def precision_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The same, of predictions for all classes, of which the k highest count."""
    refuse_eagerly("precision_at_k")
    return _share("precision", labels, lambda: _top(predictions, k), k, class_id, weights, metrics_collections,
                  updates_collections, name)  # fmt: skip


@api("compat.v1.metrics.recall_at_top_k", dispatch=False)
def recall_at_top_k(
    labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Which share of the labels is among the predicted classes; arguments as of `precision_at_top_k`."""
    return _share("recall", labels, predictions_idx, k, class_id, weights, metrics_collections,
                  updates_collections, name)  # fmt: skip


@api("compat.v1.metrics.recall_at_k", dispatch=False)
def recall_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The same, of predictions for all classes, of which the k highest count."""
    refuse_eagerly("recall_at_k")
    return _share("recall", labels, lambda: _top(predictions, k), k, class_id, weights, metrics_collections,
                  updates_collections, name)  # fmt: skip


@api("compat.v1.metrics.average_precision_at_k", "compat.v1.metrics.sparse_average_precision_at_k", dispatch=False)
def average_precision_at_k(
    labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The mean over examples of the mean precision at each of the k highest predictions that is right.

    Args:
        labels, weights, metrics_collections, updates_collections, name: as of `precision_at_top_k`.
        predictions: numbers for all classes.
        k: how many of them count.
    """
    refuse_eagerly("average_precision_at_k")
    with variable_scope(name, _named("average_precision", k, None), (predictions, labels, weights)):
        found = _Found(labels, _top(predictions, k), None)
        each, most = _average_precision(found, k), casting.cast(measuring.shape(found.hits)[0], _FLOAT)
        if weights is not None:
            heavy = _row_weights(weights, each)
            each, most = each * heavy, reductions.reduce_sum(heavy)
        with name_scope("max"):  # TF: this scope is there before the variable, which therefore has a number
            most = passing.identity(most)
        largest, total = local_variable([], "max", _FLOAT), local_variable([], "total", _FLOAT)
        value = ratio(total.value(), largest.value())
        changes = [largest.assign_add(most), total.assign_add(reductions.reduce_sum(each))]
        with context.graph.control_dependencies(changes):
            update = ratio(total.value(), largest.value())
        return finish(value, update, metrics_collections, updates_collections)


def _average_precision(found: _Found, k: int) -> Any:
    hits = casting.cast(found.hits, _FLOAT)
    places = casting.cast(filling.range_(1, k + 1), _FLOAT)
    total = reductions.reduce_sum(hits * cumulative.cumsum(hits, -1) / places, -1)
    # TF: of labels that are not sparse all are relevant, also one that is there twice.
    relevant = found.counts if found.is_sparse else filling.ones_like(found.counts)
    relevant = reductions.reduce_sum(casting.cast(relevant, _FLOAT), -1)
    return ratio(total, MINIMUM(relevant, to_tensor(float(k), _FLOAT)))
