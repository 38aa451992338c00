"""`tf.compat.v1.losses`: weighted losses, which are added to a collection of the graph."""

from headrace._src.compat.graph_keys import GraphKeys, add_to_collection, get_collection
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, constants, filling, measuring, passing, shaping
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math import arithmetic, division, reductions
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM, SQUARED_DIFFERENCE
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.elementwise import ABS, LOG
from headrace._src.ops.nn import activations, softmax
from headrace._src.ops.nn import losses as nn_losses


@api("compat.v1.losses.Reduction")
class Reduction:
    """How the losses of all elements become one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple:
        """All of them."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key) -> None:
        """Refuse what is none.

        Raises:
            ValueError: it is none.
        """
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.")


def _sum(x):
    return reductions.reduce_sum(x)


def _safe_mean(total, count):
    return division.divide_no_nan(total, count)


def _number_present(losses, weights, per_batch=False):
    """How many elements (of each example) have a weight that is not zero."""
    present = SELECT_V2(EQUAL(weights, 0.0), ZEROS_LIKE(weights),
                                   filling.ones_like(weights))
    present = present * filling.ones_like(losses)
    if per_batch:
        axes = list(range(1, present.shape.rank))
        return reductions.reduce_sum(present, axes, keepdims=True)
    return _sum(present)


def check_weights(weights, values):
    """Refuse weights whose shape is not that of the values with some axes of length 1, or a scalar.

    Raises:
        ValueError: they are of another shape.
    """
    rank, dims = weights.shape.rank, values.shape.rank
    if rank in (None, 0) or dims is None:
        return
    if rank != dims:
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={dims}. weights.rank={rank}. values.shape="
            f"{values.shape}. weights.shape={weights.shape}."
        )
    for a, b in zip(weights.shape.as_list(), values.shape.as_list()):
        if a is not None and b is not None and a not in (1, b):
            raise ValueError(
                f"weights can not be broadcast to values. Mismatch in dim {a} and {b}. values.shape={values.shape}. "
                f"weights.shape={weights.shape}."
            )


@api("compat.v1.losses.add_loss", dispatch=False)
def add_loss(loss, loss_collection=GraphKeys.LOSSES) -> None:
    """Add a loss to a collection of the graph; eagerly nothing is collected."""
    if loss_collection and context.graph is not None:
        add_to_collection(loss_collection, loss)


@api("compat.v1.losses.get_losses", dispatch=False)
def get_losses(scope=None, loss_collection=GraphKeys.LOSSES) -> list:
    """The losses of the graph; with `scope`, those whose names begin so."""
    return get_collection(loss_collection, scope)


@api("compat.v1.losses.get_regularization_losses", dispatch=False)
def get_regularization_losses(scope=None) -> list:
    """The losses that regularizers of variables have added."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@api("compat.v1.losses.get_regularization_loss", dispatch=False)
def get_regularization_loss(scope=None, name="total_regularization_loss") -> Tensor:
    """The sum of all losses of regularizers; 0 without any."""
    losses = get_regularization_losses(scope)
    return arithmetic.add_n(losses, name=name) if losses else constants.constant(0.0)


@api("compat.v1.losses.get_total_loss", dispatch=False)
def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None) -> Tensor:
    """The sum of all losses of the graph."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return arithmetic.add_n(losses, name=name)


@api("compat.v1.losses.compute_weighted_loss", dispatch=False)
def compute_weighted_loss(
    losses,
    weights=1.0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The weighted losses, made one number, and added to a collection.

    Args:
        losses: a tensor.
        weights: a scalar, or a tensor of the same rank whose axes have the same length or 1.
        scope: a scope for the operations.
        loss_collection: the collection; None for none.
        reduction: one of `Reduction`.
    """
    Reduction.validate(reduction)
    with name_scope(scope or "weighted_loss"):
        losses = to_tensor(losses)
        dtype = losses.dtype
        losses = casting.cast(losses, dtypes.float32)
        weights = casting.cast(to_tensor(weights), dtypes.float32)
        check_weights(weights, losses)
        weighted = losses * weights
        if reduction == Reduction.NONE:
            loss = weighted
        else:
            loss = _sum(weighted)
            if reduction == Reduction.MEAN:
                loss = _safe_mean(loss, _sum(filling.ones_like(losses) * weights))
            elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                loss = _safe_mean(loss, _number_present(losses, weights))
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                loss = _safe_mean(loss, casting.cast(measuring.size(losses), dtypes.float32))
        loss = casting.cast(loss, dtype)
        add_loss(loss, loss_collection)
        return loss


def _pair(labels, predictions, what="predictions"):
    """Both as float32 of one shape."""
    if labels is None:
        raise ValueError("Argument `labels` must not be None.")
    if predictions is None:
        raise ValueError(f"Argument `{what}` must not be None.")
    labels = casting.cast(to_tensor(labels), dtypes.float32)
    predictions = casting.cast(to_tensor(predictions), dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


@api("compat.v1.losses.absolute_difference", dispatch=False)
def absolute_difference(
    labels,
    predictions,
    weights=1.0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`|predictions - labels|`; the other arguments are those of `compute_weighted_loss`."""
    with name_scope(scope or "absolute_difference") as scope:
        labels, predictions = _pair(labels, predictions)
        losses = ABS(predictions - labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@api("compat.v1.losses.mean_squared_error", dispatch=False)
def mean_squared_error(
    labels,
    predictions,
    weights=1.0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`(predictions - labels) ** 2`; the other arguments are those of `compute_weighted_loss`."""
    with name_scope(scope or "mean_squared_error") as scope:
        labels, predictions = _pair(labels, predictions)
        losses = SQUARED_DIFFERENCE(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@api("compat.v1.losses.cosine_distance", dispatch=False)
def cosine_distance(
    labels,
    predictions,
    axis=None,
    weights=1.0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim=None,
) -> Tensor:
    """One minus the inner product along `axis` of vectors of length 1; `dim` is the older name of `axis`."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    with name_scope(scope or "cosine_distance_loss") as scope:
        labels, predictions = _pair(labels, predictions)
        losses = 1 - reductions.reduce_sum(predictions * labels, axis, keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@api("compat.v1.losses.hinge_loss", dispatch=False)
def hinge_loss(
    labels,
    logits,
    weights=1.0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """`relu(1 - logits)` where the label is 1, `relu(1 + logits)` where it is 0."""
    with name_scope(scope or "hinge_loss") as scope:
        labels, logits = _pair(labels, logits, "logits")
        losses = activations.relu(1.0 - (2 * labels - 1.0) * logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@api("compat.v1.losses.huber_loss", dispatch=False)
def huber_loss(
    labels,
    predictions,
    weights=1.0,
    delta=1.0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Half the squared error up to `delta`, linear beyond."""
    with name_scope(scope or "huber_loss") as scope:
        labels, predictions = _pair(labels, predictions)
        error = ABS(predictions - labels)
        quadratic = MINIMUM(error, to_tensor(delta, error.dtype))
        losses = 0.5 * quadratic * quadratic + delta * (error - quadratic)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@api("compat.v1.losses.log_loss", dispatch=False)
def log_loss(
    labels,
    predictions,
    weights=1.0,
    epsilon=1e-7,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The cross entropy of probabilities."""
    with name_scope(scope or "log_loss") as scope:
        labels, predictions = _pair(labels, predictions)
        losses = -labels * LOG(predictions + epsilon) - (1 - labels) * LOG(1 - predictions + epsilon)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@api("compat.v1.losses.mean_pairwise_squared_error", dispatch=False)
def mean_pairwise_squared_error(
    labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES
) -> Tensor:
    """The mean over pairs of elements of an example of the squared error of their differences."""
    with name_scope(scope or "mean_pairwise_squared_error"):
        labels, predictions = _pair(labels, predictions)
        weights = casting.cast(to_tensor(weights), dtypes.float32)
        check_weights(weights, labels)
        differences = predictions - labels
        axes = list(range(1, differences.shape.rank))
        squares = reductions.reduce_sum(differences * differences, axes, keepdims=True)
        count = _number_present(differences, weights, per_batch=True)
        one_less = MAXIMUM(count - 1, ZEROS_LIKE(count))
        first = 2.0 * _safe_mean(squares, one_less)
        total = reductions.reduce_sum(differences, axes, keepdims=True)
        second = 2.0 * _safe_mean(total * total, count * one_less)
        weighted = (first - second) * weights
        present = _number_present(differences, weights)
        loss = SELECT_V2(present > 0, _sum(weighted), ZEROS_LIKE(_sum(weighted)))
        add_loss(loss, loss_collection)
        return loss


def _labels_like(labels, logits):
    """Both as tensors of one shape and of the dtype of the logits."""
    logits = to_tensor(logits)
    labels = casting.cast(to_tensor(labels), logits.dtype)
    logits.shape.assert_is_compatible_with(labels.shape)
    return labels, logits


@api("compat.v1.losses.sigmoid_cross_entropy", dispatch=False)
def sigmoid_cross_entropy(
    multi_class_labels,
    logits,
    weights=1.0,
    label_smoothing=0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The cross entropy of independent classes; `label_smoothing` moves labels towards 1/2."""
    with name_scope(scope or "sigmoid_cross_entropy_loss") as scope:
        labels, logits = _labels_like(multi_class_labels, logits)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_losses.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@api("compat.v1.losses.softmax_cross_entropy", dispatch=False)
def softmax_cross_entropy(
    onehot_labels,
    logits,
    weights=1.0,
    label_smoothing=0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The cross entropy of exclusive classes; `label_smoothing` moves labels towards the uniform distribution."""
    with name_scope(scope or "softmax_cross_entropy_loss") as scope:
        labels, logits = _labels_like(onehot_labels, logits)
        if label_smoothing > 0:
            classes = casting.cast(measuring.shape(labels)[-1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        labels = passing.stop_gradient(labels)
        losses = softmax.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@api("compat.v1.losses.sparse_softmax_cross_entropy", dispatch=False)
def sparse_softmax_cross_entropy(
    labels,
    logits,
    weights=1.0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The cross entropy of exclusive classes, whose labels are numbers."""
    with name_scope(scope or "sparse_softmax_cross_entropy_loss") as scope:
        labels, logits = to_tensor(labels), to_tensor(logits)
        weights = to_tensor(weights)
        # Axes of length 1 too many are removed.
        if labels.shape.rank is not None and logits.shape.rank is not None and labels.shape.rank == logits.shape.rank:
            labels = shaping.squeeze(labels, [-1])
        if weights.shape.rank is not None and labels.shape.rank is not None:
            if weights.shape.rank == labels.shape.rank + 1:
                weights = shaping.squeeze(weights, [-1])
        losses = softmax.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
