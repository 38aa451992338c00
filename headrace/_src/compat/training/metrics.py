"""`tf.compat.v1.metrics`: means, counts and curves over many batches, kept in local variables.

Each function returns the metric so far, and an operation that takes in a batch and gives the new value.
"""

from headrace._src.compat.graph_keys import GraphKeys, add_to_collections
from headrace._src.compat.training.losses import check_weights
from headrace._src.compat.variables.scopes import variable_scope
from headrace._src.compat.variables.variables import make_variable
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.dependencies import group
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, filling, measuring, ranking, shaping, splitting
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.linalg import diagonals
from headrace._src.ops.math import bincounts, comparison, cumulative, division, reductions
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM, SQUARED_DIFFERENCE
from headrace._src.ops.math.comparison import EQUAL, GREATER, LESS, LOGICAL_AND, LOGICAL_NOT, NOT_EQUAL
from headrace._src.ops.math.elementwise import ABS, LOG, SQRT
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM

_FLOAT = dtypes.float32


def refuse_eagerly(name):
    if context.graph is None:
        raise RuntimeError(f"tf.metrics.{name} is not supported when eager execution is enabled.")


def local_variable(shape, name, dtype=_FLOAT):
    """A variable of zeros that initializers of local variables know."""
    collections = [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES]
    return make_variable(initial_value=lambda: zeros(shape, dtype), trainable=False, collections=collections, name=name)


def _cast(x, dtype=_FLOAT):
    return casting.cast(to_tensor(x), dtype)


def _sum(x, axis=None):
    return reductions.reduce_sum(x, axis)


def ratio(a, b):
    return division.divide_no_nan(a, b)


def finish(value, update, metrics_collections, updates_collections):
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


def _weighted(weights, values):
    """The weights as a tensor of the rank of the values, spread over them."""
    weights = _cast(weights)
    rank, dims = weights.shape.rank, values.shape.rank
    if rank is not None and dims is not None:
        if rank == dims + 1:
            weights = shaping.squeeze(weights, [-1])
        elif 0 < rank == dims - 1:
            weights = shaping.expand_dims(weights, -1)
    check_weights(weights, values)
    return weights * filling.ones_like(_cast(values))


def _matched(labels, predictions):
    """Both without an axis of length 1 that only one of them has at the end."""
    labels, predictions = to_tensor(labels), to_tensor(predictions)
    difference = (predictions.shape.rank or 0) - (labels.shape.rank or 0)
    if difference == 1 and predictions.shape.as_list()[-1] in (1, None):
        predictions = shaping.squeeze(predictions, [-1])
    elif difference == -1 and labels.shape.as_list()[-1] in (1, None):
        labels = shaping.squeeze(labels, [-1])
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def _mean(values, weights, metrics_collections, updates_collections, scope_name, default_name):
    refuse_eagerly(default_name)
    with variable_scope(scope_name, default_name, (values, weights)):
        values = _cast(values)
        total, count = local_variable([], "total"), local_variable([], "count")
        if weights is None:
            amount = casting.cast(measuring.size(values), _FLOAT)
        else:
            weights = _weighted(weights, values)
            values = values * weights
            amount = _sum(weights)
        value = ratio(total.value(), count.value())
        new_total, new_count = total.assign_add(_sum(values)), count.assign_add(amount)
        with context.graph.control_dependencies([new_total, new_count]):
            update = ratio(total.value(), count.value())
        return finish(value, update, metrics_collections, updates_collections)


@api("compat.v1.metrics.mean", dispatch=False)
def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None) -> tuple[Tensor, Tensor]:
    """The weighted mean of all values of all batches.

    Args:
        values: a tensor.
        weights: None, or a tensor that fits the values.
        metrics_collections, updates_collections: collections to add the value and the update to.
        name: a scope for the variables.

    Returns:
        The value so far, and the operation that takes in a batch.
    """
    return _mean(values, weights, metrics_collections, updates_collections, name, "mean")


@api("compat.v1.metrics.accuracy", dispatch=False)
def accuracy(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """How often predictions equal labels."""
    refuse_eagerly("accuracy")
    labels, predictions = _matched(labels, predictions)
    if labels.dtype is not predictions.dtype:
        predictions = casting.cast(predictions, labels.dtype)
    right = _cast(comparison.equal(predictions, labels))
    return _mean(right, weights, metrics_collections, updates_collections, name, "accuracy")


@api("compat.v1.metrics.mean_absolute_error", dispatch=False)
def mean_absolute_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The mean of `|predictions - labels|`."""
    labels, predictions = _matched(_cast(labels), _cast(predictions))
    errors = ABS(predictions - labels)
    return _mean(errors, weights, metrics_collections, updates_collections, name, "mean_absolute_error")


@api("compat.v1.metrics.mean_squared_error", dispatch=False)
def mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The mean of `(predictions - labels) ** 2`."""
    labels, predictions = _matched(_cast(labels), _cast(predictions))
    errors = SQUARED_DIFFERENCE(predictions, labels)
    return _mean(errors, weights, metrics_collections, updates_collections, name, "mean_squared_error")


@api("compat.v1.metrics.root_mean_squared_error", dispatch=False)
def root_mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The root of the mean of squared errors."""
    refuse_eagerly("root_mean_squared_error")
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    value, update = SQRT(value), SQRT(update)
    return finish(value, update, metrics_collections, updates_collections)


@api("compat.v1.metrics.mean_relative_error", dispatch=False)
def mean_relative_error(
    labels, predictions, normalizer, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The mean of absolute errors, divided by `normalizer`."""
    labels, predictions = _matched(_cast(labels), _cast(predictions))
    normalizer = _cast(normalizer)
    errors = ABS(labels - predictions)
    relative = SELECT_V2(EQUAL(normalizer, 0.0), ZEROS_LIKE(labels),
                                    errors / normalizer)
    return _mean(relative, weights, metrics_collections, updates_collections, name, "mean_relative_error")


@api("compat.v1.metrics.mean_cosine_distance", dispatch=False)
def mean_cosine_distance(
    labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """One minus the mean inner product of vectors of length 1 along `dim`."""
    refuse_eagerly("mean_cosine_distance")
    labels, predictions = _matched(_cast(labels), _cast(predictions))
    products = reductions.reduce_sum(predictions * labels, [dim], keepdims=True)
    value, update = _mean(products, weights, None, None, name, "mean_cosine_distance")
    return finish(1 - value, 1 - update, metrics_collections, updates_collections)


@api("compat.v1.metrics.percentage_below", dispatch=False)
def percentage_below(
    values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """Which part of the values is less than the threshold."""
    below = _cast(LESS(to_tensor(values), threshold))
    return _mean(below, weights, metrics_collections, updates_collections, name, "percentage_below_threshold")


@api("compat.v1.metrics.mean_tensor", dispatch=False)
def mean_tensor(
    values, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The mean over batches of each element."""
    refuse_eagerly("mean_tensor")
    with variable_scope(name, "mean", (values, weights)):
        values = _cast(values)
        shape = values.shape.as_list()
        total, count = local_variable(shape, "total_tensor"), local_variable(shape, "count_tensor")
        amount = filling.ones_like(values)
        if weights is not None:
            amount = _weighted(weights, values)
            values = values * amount
        value = ratio(total.value(), count.value())
        changes = [total.assign_add(values), count.assign_add(amount)]
        with context.graph.control_dependencies(changes):
            update = ratio(total.value(), count.value())
        return finish(value, update, metrics_collections, updates_collections)


# Counts of right and wrong answers.


def _count(name, choose):
    """A metric that counts the pairs of label and prediction for which `choose` is true."""

    def metric(
        labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
    ) -> tuple[Tensor, Tensor]:
        refuse_eagerly(label)
        with variable_scope(name, label, (predictions, labels, weights)):
            labels, predictions = _matched(_cast(labels, dtypes.bool), _cast(predictions, dtypes.bool))
            return _counted(choose(labels, predictions), weights, metrics_collections, updates_collections)

    label = name
    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = f"The weighted number of {name.replace('_', ' ')}."
    return api(f"compat.v1.metrics.{name}", dispatch=False)(metric)


def _counted(chosen, weights, metrics_collections=None, updates_collections=None):
    count = local_variable([], "count")
    values = _cast(chosen)
    if weights is not None:
        values = values * _weighted(weights, values)
    value = count.value()
    with context.graph.control_dependencies([count.assign_add(_sum(values))]):
        update = count.value()
    return finish(value, update, metrics_collections, updates_collections)


def _and(a, b):
    return LOGICAL_AND(a, b)


def _not(a):
    return LOGICAL_NOT(a)


_KINDS = {
    "true_positives": lambda labels, predictions: _and(labels, predictions),
    "false_positives": lambda labels, predictions: _and(_not(labels), predictions),
    "true_negatives": lambda labels, predictions: _and(_not(labels), _not(predictions)),
    "false_negatives": lambda labels, predictions: _and(labels, _not(predictions)),
}
true_positives = _count("true_positives", _KINDS["true_positives"])
false_positives = _count("false_positives", _KINDS["false_positives"])
true_negatives = _count("true_negatives", _KINDS["true_negatives"])
false_negatives = _count("false_negatives", _KINDS["false_negatives"])


def _share(name, other):
    """True positives divided by them and another kind of answers."""

    def metric(
        labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
    ) -> tuple[Tensor, Tensor]:
        refuse_eagerly(label)
        with variable_scope(name, label, (predictions, labels, weights)):
            found = [globals()[kind](labels, predictions, weights) for kind in ("true_positives", other)]
            (right, right_update), (wrong, wrong_update) = found
            value = ratio(right, right + wrong)
            update = ratio(right_update, right_update + wrong_update)
            return finish(value, update, metrics_collections, updates_collections)

    label = name
    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = f"True positives, divided by them and the {other.replace('_', ' ')}."
    return api(f"compat.v1.metrics.{name}", dispatch=False)(metric)


precision = _share("precision", "false_positives")
recall = _share("recall", "false_negatives")


# The same at several thresholds.


def _at_thresholds(labels, predictions, thresholds, weights, kinds):
    """For each kind of answers the variable with one count per threshold, and its update."""
    labels, predictions = _matched(_cast(labels, dtypes.bool), _cast(predictions))
    spread = None if weights is None else shaping.reshape(_weighted(weights, predictions), [1, -1])
    labels = shaping.reshape(labels, [1, -1])
    limits = to_tensor([[float(limit)] for limit in thresholds])
    above = GREATER(shaping.reshape(predictions, [1, -1]), limits)
    labels = splitting.tile(labels, [len(thresholds), 1])
    values, updates = {}, {}
    for kind in kinds:
        variable = local_variable([len(thresholds)], kind)
        chosen = _cast(_KINDS[kind](labels, above))
        values[kind] = variable.value()
        change = variable.assign_add(_sum(chosen if spread is None else chosen * spread, 1))
        with context.graph.control_dependencies([change]):
            updates[kind] = variable.value()
    return values, updates


def _counts_at(kind):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None,
               name=None) -> tuple[Tensor, Tensor]:
        refuse_eagerly(label)
        with variable_scope(name, kind, (predictions, labels, weights)):
            values, updates = _at_thresholds(labels, predictions, thresholds, weights, (kind,))
            return finish(values[kind], updates[kind], metrics_collections, updates_collections)

    label = f"{kind}_at_thresholds"
    metric.__name__ = metric.__qualname__ = label
    metric.__doc__ = f"The weighted number of {kind.replace('_', ' ')}, for each threshold."
    return api(f"compat.v1.metrics.{label}", dispatch=False)(metric)


true_positives_at_thresholds = _counts_at("true_positives")
false_positives_at_thresholds = _counts_at("false_positives")
true_negatives_at_thresholds = _counts_at("true_negatives")
false_negatives_at_thresholds = _counts_at("false_negatives")


def _share_at(name, other):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None,
               name=None) -> tuple[Tensor, Tensor]:
        refuse_eagerly(label)
        kinds = ("true_positives", other)
        with variable_scope(name, label, (predictions, labels, weights)):
            both = _at_thresholds(labels, predictions, thresholds, weights, kinds)
            value, update = (part[kinds[0]] / (1e-7 + part[kinds[0]] + part[other]) for part in both)
            return finish(value, update, metrics_collections, updates_collections)

    label = f"{name}_at_thresholds"
    metric.__name__ = metric.__qualname__ = label
    metric.__doc__ = f"The {name}, for each threshold."
    return api(f"compat.v1.metrics.{label}", dispatch=False)(metric)


precision_at_thresholds = _share_at("precision", "false_positives")
recall_at_thresholds = _share_at("recall", "false_negatives")


def _even_thresholds(count):
    """Thresholds at even distances, the first just below 0 and the last just above 1."""
    return [-1e-7, *((i + 1) / (count - 1) for i in range(count - 2)), 1.0 + 1e-7]


@api("compat.v1.metrics.auc", dispatch=False)
def auc(
    labels,
    predictions,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    curve="ROC",
    name=None,
    summation_method="trapezoidal",
    thresholds=None,
) -> tuple[Tensor, Tensor]:
    """The area under a curve, approximated by thresholds.

    Args:
        labels: what is true, as booleans or 0 and 1.
        predictions: numbers in [0, 1].
        weights, metrics_collections, updates_collections, name: as for `mean`.
        num_thresholds: how many thresholds are used.
        curve: "ROC" (true over false positives) or "PR" (precision over recall).
        summation_method: "trapezoidal", "careful_interpolation" (for "PR"), "minoring" or "majoring".
        thresholds: the thresholds between 0 and 1 to use instead.
    """
    refuse_eagerly("auc")
    if curve not in ("ROC", "PR"):
        raise ValueError(f"Curve must be either ROC or PR. Curve {curve} is unknown.")
    if summation_method not in ("trapezoidal", "careful_interpolation", "minoring", "majoring"):
        raise ValueError(f"Invalid summation_method: {summation_method}")
    if summation_method == "careful_interpolation" and curve != "PR":
        raise ValueError("careful_interpolation is only implemented for the PR curve.")
    limits = _even_thresholds(num_thresholds) if thresholds is None else [-1e-7, *sorted(thresholds), 1.0 + 1e-7]
    value, update = area_under_curve(labels, predictions, weights, limits, curve, summation_method, name=name)
    return finish(value, update, metrics_collections, updates_collections)


def area_under_curve(labels, predictions, weights, limits, curve, method, epsilon=1.0e-6, name=None):
    """The area under a curve so far, and the operation that takes in a batch.

    Args:
        limits: thresholds; None for 200 at even distances.
        curve, method: as `auc` has them.
        epsilon: added to counts: metrics of 1.x do so, those of Keras do not.
    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        limits = _even_thresholds(200) if limits is None else limits
        both = _at_thresholds(labels, predictions, limits, weights, tuple(_KINDS))
        value, update = (_area(part, curve, method, epsilon) for part in both)
        return value, update


def _area(counts, curve, method, epsilon):
    tp, fp, tn, fn = (counts[kind] for kind in ("true_positives", "false_positives", "true_negatives",
                                                "false_negatives"))
    if method == "careful_interpolation":
        return _careful_area(tp, fp, fn)
    share = ratio(tp + epsilon, tp + fn + epsilon)
    if curve == "ROC":
        x, y = ratio(fp, fp + tn + epsilon), share
    else:
        x, y = share, ratio(tp + epsilon, tp + fp + epsilon)
    width = x[:-1] - x[1:]
    if method == "trapezoidal":
        return _sum(width * (y[:-1] + y[1:]) / 2.0)
    return _sum(width * (MINIMUM if method == "minoring" else MAXIMUM)(y[:-1], y[1:]))


def _careful_area(tp, fp, fn):
    """Between thresholds true and false positives change in proportion, so precision is no straight line."""
    step = tp[:-1] - tp[1:]
    positive = tp + fp
    slope = ratio(step, MAXIMUM(positive[:-1] - positive[1:], 0.0))
    start = tp[1:] - slope * positive[1:]
    both = _and(positive[:-1] > 0, positive[1:] > 0)
    quotient = ratio(positive[:-1], MAXIMUM(positive[1:], 0.0))
    quotient = SELECT_V2(both, quotient, filling.ones_like(quotient))
    parts = slope * (step + start * LOG(quotient))
    return _sum(ratio(parts, MAXIMUM(tp[1:] + fn[1:], 0.0)))


@api("compat.v1.metrics.sensitivity_at_specificity", dispatch=False)
def sensitivity_at_specificity(
    labels,
    predictions,
    specificity,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
) -> tuple[Tensor, Tensor]:
    """The share of true labels that are found, at the threshold where the specificity is nearest to a given one."""
    refuse_eagerly("sensitivity_at_specificity")
    if not 0 <= specificity <= 1:
        raise ValueError(f"`specificity` must be in the range [0, 1]. Currently, `specificity` got {specificity}.")

    def compute(counts):
        tp, fp, tn, fn = (counts[kind] for kind in _KINDS)
        distances = ABS(tn / (tn + fp + 1e-7) - specificity)
        at = ranking.argmin(distances, 0)
        return tp[at] / (tp[at] + fn[at] + 1e-7)

    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        both = _at_thresholds(labels, predictions, _even_thresholds(num_thresholds), weights, tuple(_KINDS))
        value, update = (compute(part) for part in both)
        return finish(value, update, metrics_collections, updates_collections)


@api("compat.v1.metrics.specificity_at_sensitivity", dispatch=False)
def specificity_at_sensitivity(
    labels,
    predictions,
    sensitivity,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
) -> tuple[Tensor, Tensor]:
    """The share of false labels that are seen as such, where the sensitivity is nearest to a given one."""
    refuse_eagerly("specificity_at_sensitivity")
    if not 0 <= sensitivity <= 1:
        raise ValueError(f"`sensitivity` must be in the range [0, 1]. Currently, `sensitivity` is {sensitivity}.")

    def compute(counts):
        tp, fp, tn, fn = (counts[kind] for kind in _KINDS)
        distances = ABS(tp / (tp + fn + 1e-7) - sensitivity)
        nearest = _cast(EQUAL(distances, reductions.reduce_min(distances)), dtypes.int64)
        at = ranking.argmax(cumulative.cumsum(nearest), 0)  # TF: the last of them
        return tn[at] / (tn[at] + fp[at] + 1e-7)

    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        both = _at_thresholds(labels, predictions, _even_thresholds(num_thresholds), weights, tuple(_KINDS))
        value, update = (compute(part) for part in both)
        return finish(value, update, metrics_collections, updates_collections)


# Metrics by class.


@api("compat.v1.metrics.mean_iou", dispatch=False)
def mean_iou(
    labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The mean over classes of the intersection of labels and predictions over their union.

    Returns:
        The mean so far, and the operation that takes in a batch and gives the confusion matrix.
    """
    refuse_eagerly("mean_iou")
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        labels, predictions = to_tensor(labels), to_tensor(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        matrix = local_variable([num_classes, num_classes], "total_confusion_matrix", dtypes.float64)
        flat = [shaping.reshape(_cast(x, dtypes.int64), [-1]) for x in (labels, predictions)]
        spread = None if weights is None else shaping.reshape(_weighted(weights, labels), [-1])
        spread = None if spread is None else _cast(spread, dtypes.float64)
        current = bincounts.confusion_matrix(*flat, num_classes, weights=spread, dtype=dtypes.float64)
        total = _cast(matrix.value())
        right = diagonals.diag_part(total)
        union = _sum(total, 0) + _sum(total, 1) - right
        valid = _sum(_cast(NOT_EQUAL(union, 0.0)))
        union = SELECT_V2(union > 0, union, filling.ones_like(union))
        value = ratio(_sum(right / union), valid)
        with name_scope("update"):
            update = matrix.assign_add(current)
        with context.graph.control_dependencies([update]):
            update = matrix.value()
        return finish(value, update, metrics_collections, updates_collections)


@api("compat.v1.metrics.mean_per_class_accuracy", dispatch=False)
def mean_per_class_accuracy(
    labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
) -> tuple[Tensor, Tensor]:
    """The mean over classes of how often predictions equal labels of that class."""
    refuse_eagerly("mean_per_class_accuracy")
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = shaping.reshape(_cast(labels, dtypes.int64), [-1])
        predictions = shaping.reshape(_cast(predictions, dtypes.int64), [-1])
        predictions.shape.assert_is_compatible_with(labels.shape)
        total, count = local_variable([num_classes], "total"), local_variable([num_classes], "count")
        amount = filling.ones_like(labels, _FLOAT)
        right = _cast(comparison.equal(labels, predictions))
        if weights is not None:
            amount = shaping.reshape(_weighted(weights, labels), [-1])
            right = right * amount
        value = reductions.reduce_mean(ratio(total.value(), count.value()))
        changes = group(
            total.assign_add(UNSORTED_SEGMENT_SUM(right, labels, num_classes)),
            count.assign_add(UNSORTED_SEGMENT_SUM(amount, labels, num_classes)),
        )
        with context.graph.control_dependencies([changes]):
            update = ratio(total.value(), count.value())  # TF: that of each class
        return finish(value, update, metrics_collections, updates_collections)
