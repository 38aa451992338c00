"""Heads: what a model does with its logits, and what it is measured by. They turn logits into an `EstimatorSpec`."""

from typing import Any

from headrace._src.compat.estimators.export_outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from headrace._src.compat.estimators.named_optimizers import GraphOptimizer, keras_optimizer
from headrace._src.compat.estimators.specs import EstimatorSpec, ModeKeys
from headrace._src.compat.features.columns import NumericColumn
from headrace._src.compat.graph_keys import GraphKeys, get_collection, grouped
from headrace._src.compat.summaries import summary_operations
from headrace._src.compat.training import losses, metrics
from headrace._src.compat.training.steps_and_rates import get_global_step
from headrace._src.core import dtypes
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, filling, joining, measuring, passing, ranking, shaping, splitting
from headrace._src.ops.debugging import assertions
from headrace._src.ops.math import arithmetic, elementwise, reductions
from headrace._src.ops.nn import losses as nn_losses
from headrace._src.ops.nn import softmax as nn_softmax
from headrace._src.ops.strings.numbers import as_string
from headrace._src.state.lookup import StaticHashTable
from headrace._src.state.table_initializers import KeyValueTensorInitializer

_MEAN, _SUM = "sum_over_batch_size", "sum"
_FORMER_SUM = losses.Reduction.SUM


class Head:
    """Base of heads: labels and logits become a loss, metrics, predictions and signatures."""

    def __init__(self, logits_dimension, weight_column, label_vocabulary, loss_reduction, loss_fn, name):
        allowed = (_MEAN, _SUM, *losses.Reduction.all())
        if loss_reduction not in allowed or loss_reduction == losses.Reduction.NONE:
            kind = type(self).__name__
            raise ValueError(f"{kind}: loss_reduction must be {_MEAN!r} or {_SUM!r}, got {loss_reduction!r}.")
        self.logits_dimension = logits_dimension
        self._weight_column = weight_column
        self._words = None if label_vocabulary is None else list(label_vocabulary)
        self.loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self.name = name

    # What the kinds of heads define.

    def _unweighted(self, labels, logits):
        """The loss of each example."""
        raise NotImplementedError(f"{type(self).__name__} must define _unweighted.")

    def _labels(self, labels):
        raise NotImplementedError(f"{type(self).__name__} must define _labels.")

    def _metrics(self, labels, logits, weights):
        raise NotImplementedError(f"{type(self).__name__} must define _metrics.")

    def predictions(self, logits, keys=None) -> dict:
        """Tensors by name that tell what the logits mean."""
        raise NotImplementedError(f"{type(self).__name__} must define predictions.")

    def _outputs(self, predictions) -> dict[str, ExportOutput]:
        raise NotImplementedError(f"{type(self).__name__} must define _outputs.")

    # What they share.

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None) -> Tensor:
        """The loss of a batch."""
        return self._losses(labels, logits, features, regularization_losses)[0]

    def _losses(self, labels, logits, features, regularization=None):
        if labels is None:
            raise ValueError("There are no labels: input_fn must return a pair of features and labels.")
        labels, logits = self._labels(labels), to_tensor(logits)
        each = self._unweighted(labels, logits) if self._loss_fn is None else self._of_user(labels, logits)
        weights = self._weights(features)
        total = self._reduced(each, weights)
        if regularization:
            total = total + arithmetic.add_n(list(regularization))
        return total, each, labels, weights

    def _of_user(self, labels, logits):
        each = self._loss_fn(labels=labels, logits=logits)
        return shaping.expand_dims(each, -1) if each.shape.rank == 1 else each

    def _reduced(self, each, weights):
        if self.loss_reduction not in (_MEAN, _SUM):
            return losses.compute_weighted_loss(
                each, weights, reduction=self.loss_reduction, loss_collection=GraphKeys.LOSSES
            )
        total = reductions.reduce_sum(each * weights)
        return total if self.loss_reduction == _SUM else total / casting.cast(measuring.size(each), dtypes.float32)

    def _weights(self, features):
        column = self._weight_column
        if column is None:
            return to_tensor(1.0)
        key = column.key if isinstance(column, NumericColumn) else column
        if not isinstance(features, dict) or key not in features:
            raise ValueError(f"{type(self).__name__}: there is no feature {key!r} to weight examples with.")
        weights = casting.cast(to_tensor(features[key]), dtypes.float32)
        if isinstance(column, NumericColumn) and column.normalizer_fn is not None:
            weights = column.normalizer_fn(weights)
        return shaping.expand_dims(weights, -1) if weights.shape.rank == 1 else weights

    def metrics(self, labels, logits, features) -> dict:
        """By name, pairs of the value of a metric and its update."""
        _, each, labels, weights = self._losses(labels, logits, features)
        found = self._metrics(labels, logits, weights)
        found["average_loss"] = metrics.mean(each, weights if self._weight_column is not None else None)
        return found if self.name is None else {f"{key}/{self.name}": value for key, value in found.items()}

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, trainable_variables=None, train_op_fn=None,
        update_ops=None, regularization_losses=None,
    ) -> EstimatorSpec:  # fmt: skip
        """What a `model_fn` returns for these logits.

        Args:
            features: those of the batch, for weights.
            mode: one of `tf.estimator.ModeKeys`.
            logits: what the model computes.
            labels: those of the batch.
            optimizer: a Keras optimizer, with `trainable_variables`.
            trainable_variables: what it changes.
            train_op_fn: a function of the loss that returns an operation, in the place of an optimizer.
            update_ops: operations that run with each step.
            regularization_losses: scalars that are added to the loss.

        Raises:
            ValueError: for training, there are both or none of an optimizer and a `train_op_fn`.
        """
        with name_scope("head" if self.name is None else self.name):
            logits = self._checked(logits)
            if mode == ModeKeys.PREDICT:
                predictions = self.predictions(logits)
                return EstimatorSpec(mode, predictions, export_outputs=self._outputs(predictions))
            total, each, _, weights = self._losses(labels, logits, features, regularization_losses)
            if mode == ModeKeys.EVAL:
                found = self.metrics(labels, logits, features)
                return EstimatorSpec(mode, self.predictions(logits), total, eval_metric_ops=found)
            train = self._train(total, optimizer, trainable_variables, train_op_fn, update_ops)
        self._add_summaries(total, each, weights)
        return EstimatorSpec(mode, self.predictions(logits), total, train)

    def _checked(self, logits):
        logits = casting.cast(to_tensor(logits), dtypes.float32)
        if logits.shape.rank is not None and logits.shape.as_list()[-1] not in (self.logits_dimension, None):
            raise ValueError(
                f"{type(self).__name__}: logits must have {self.logits_dimension} columns, got shape {logits.shape}."
            )
        return logits

    def _train(self, loss, optimizer, variables, train_op_fn, update_ops):
        if (optimizer is None) == (train_op_fn is None):
            raise ValueError(f"{type(self).__name__}: for training give an optimizer or a train_op_fn, and not both.")
        updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
        with control_dependencies(updates):
            if train_op_fn is not None:
                return train_op_fn(loss)
            return minimized(optimizer, passing.identity(loss), variables, get_global_step())

    def _add_summaries(self, total, each, weights):
        with name_scope(""):
            ending = "" if self.name is None else f"/{self.name}"
            summary_operations.scalar(f"loss{ending}", total)
            # TF: 1.x also tells the mean when the loss is a sum.
            if self.loss_reduction == _FORMER_SUM:
                count = reductions.reduce_sum(weights * filling.ones_like(each))
                summary_operations.scalar(f"average_loss{ending}", total / count)


def minimized(optimizer, loss, variables, step) -> Any:
    """An operation that takes a step of an optimizer of Keras or of 1.x, and counts it."""
    chosen = keras_optimizer(optimizer, None)
    if isinstance(chosen, GraphOptimizer):
        chosen.iterations = step
    return chosen.minimize(loss, step, variables)


def _column(labels, label):
    """Labels with one row for each example."""
    labels = to_tensor(labels)
    labels = shaping.expand_dims(labels, -1) if labels.shape.rank == 1 else labels
    if labels.shape.rank is not None and labels.shape.rank != 2:
        raise ValueError(f"{label}: labels must have one row for each example, got shape {labels.shape}.")
    return labels


def _mean_metric(values, weights):
    return metrics.mean(values, weights * filling.ones_like(values))


class _ClassHead(Head):
    """What heads of one class out of several share: labels that may be words, and the names of classes."""

    _classes: int

    def _labels(self, labels):
        label = type(self).__name__
        labels = _column(labels, label)
        if self._words is not None:
            if labels.dtype != dtypes.string:
                raise ValueError(f"{label}: with a label_vocabulary labels must be strings, got {labels.dtype.name}.")
            table = StaticHashTable(KeyValueTensorInitializer(
                self._words, list(range(len(self._words))), dtypes.string, dtypes.int64), -1)  # fmt: skip
            labels = table.lookup(labels)
        elif labels.dtype == dtypes.string:
            raise ValueError(f"{label}: labels are strings: say which there are by label_vocabulary.")
        checks = [
            assertions.assert_less_equal(labels, to_tensor(self._classes - 1, labels.dtype),
                                         f"Labels must be at most {self._classes - 1}, the last class."),
            assertions.assert_greater_equal(labels, to_tensor(0, labels.dtype), "Labels must not be negative."),
        ]  # fmt: skip
        with control_dependencies([check for check in checks if check is not None]):
            return passing.identity(labels)

    def _all_classes(self, count):
        """The numbers and the names of all classes, once for each example."""
        numbers = filling.range_(self._classes)
        names = as_string(numbers) if self._words is None else to_tensor(self._words)
        return [splitting.tile(shaping.expand_dims(one, 0), joining.stack([count, 1])) for one in (numbers, names)]

    def _described(self, logits, probabilities, more):
        ids = shaping.expand_dims(ranking.argmax(probabilities, axis=-1), -1)
        numbers, names = self._all_classes(measuring.shape(logits)[0])
        words = as_string(ids) if self._words is None else _looked_up(self._words, ids)
        return {
            "logits": logits, **more, "probabilities": probabilities, "class_ids": ids, "classes": words,
            "all_class_ids": numbers, "all_classes": names,
        }  # fmt: skip

    def _classification(self, predictions):
        return ClassificationOutput(predictions["probabilities"], predictions["all_classes"])


def _looked_up(words, ids):
    table = StaticHashTable(KeyValueTensorInitializer(
        list(range(len(words))), words, dtypes.int64, dtypes.string), "UNK")  # fmt: skip
    return table.lookup(ids)


def _chosen(predictions, keys):
    return predictions if keys is None else {key: predictions[key] for key in keys}


@api("estimator.BinaryClassHead", "compat.v1.estimator.BinaryClassHead")
class BinaryClassHead(_ClassHead):
    """One of two classes, by a logit.

    Args:
        weight_column: a feature by which examples are weighted.
        thresholds: probabilities at which accuracy, precision and recall are also computed.
        label_vocabulary: the words of both classes, where labels are words.
        loss_reduction: "sum_over_batch_size" or "sum".
        loss_fn: a function of labels and logits in the place of cross entropy.
        name: added to the names of metrics and summaries.

    >>> tf.estimator.BinaryClassHead().logits_dimension
    1
    """

    _classes = 2

    def __init__(self, weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=_MEAN, loss_fn=None,
                 name=None) -> None:  # fmt: skip
        if label_vocabulary is not None and len(label_vocabulary) != 2:
            raise ValueError(f"BinaryClassHead: label_vocabulary must have 2 words, got {len(label_vocabulary)}.")
        super().__init__(1, weight_column, label_vocabulary, loss_reduction, loss_fn, name)
        self._thresholds = tuple(thresholds or ())
        for threshold in self._thresholds:
            if not 0.0 < threshold < 1.0:
                raise ValueError(f"BinaryClassHead: thresholds must be between 0 and 1, got {threshold}.")

    def _labels(self, labels):
        return casting.cast(super()._labels(labels), dtypes.float32)

    def _unweighted(self, labels, logits):
        return nn_losses.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def predictions(self, logits, keys=None) -> dict:
        """Logits, probabilities and classes, by name."""
        logits = self._checked(logits)
        logistic = elementwise.sigmoid(logits)
        both = nn_softmax.softmax(joining.concat([filling.zeros_like(logits), logits], -1))
        return _chosen(self._described(logits, both, {"logistic": logistic}), keys)

    def _outputs(self, predictions):
        classification = self._classification(predictions)
        return {
            "serving_default": classification, "classification": classification,
            "regression": RegressionOutput(predictions["logistic"]), "predict": PredictOutput(predictions),
        }  # fmt: skip

    def _metrics(self, labels, logits, weights):
        found = self.predictions(logits, ("logistic", "class_ids"))
        logistic, classes = found["logistic"], found["class_ids"]
        every = weights * filling.ones_like(labels)
        mean = metrics.mean(labels, every)
        made = {
            "accuracy": metrics.accuracy(labels, casting.cast(classes, dtypes.float32), every),
            "precision": metrics.precision(labels, casting.cast(classes, dtypes.float32), every),
            "recall": metrics.recall(labels, casting.cast(classes, dtypes.float32), every),
            "prediction/mean": _mean_metric(logistic, weights),
            "label/mean": mean,
            "accuracy_baseline": tuple(better_guess(one) for one in metrics.mean(labels, every)),
            "auc": self._area(labels, logistic, every, "ROC"),
            "auc_precision_recall": self._area(labels, logistic, every, "PR"),
        }
        for threshold in self._thresholds:
            guesses = casting.cast(logistic > threshold, dtypes.float32)
            made[f"accuracy/positive_threshold_{threshold:g}"] = metrics.accuracy(labels, guesses, every)
            made[f"precision/positive_threshold_{threshold:g}"] = metrics.precision(labels, guesses, every)
            made[f"recall/positive_threshold_{threshold:g}"] = metrics.recall(labels, guesses, every)
        return made

    def _area(self, labels, logistic, weights, curve):
        if self.loss_reduction not in (_MEAN, _SUM):  # TF: 1.x has its own way to compute areas
            return metrics.auc(labels, logistic, weights, curve=curve)
        method = "careful_interpolation" if curve == "PR" else "trapezoidal"
        return metrics.area_under_curve(labels, logistic, weights, None, curve, method, epsilon=0.0)


def better_guess(mean) -> Tensor:
    """How often the more frequent of two classes is right."""
    return arithmetic.maximum(mean, 1.0 - mean)


@api("estimator.MultiClassHead", "compat.v1.estimator.MultiClassHead")
class MultiClassHead(_ClassHead):
    """One of several classes, by a logit for each.

    Args:
        n_classes: how many, more than two.
        weight_column: a feature by which examples are weighted.
        label_vocabulary: the words of all classes, where labels are words.
        loss_reduction: "sum_over_batch_size" or "sum".
        loss_fn: a function of labels and logits in the place of cross entropy.
        name: added to the names of metrics and summaries.

    >>> tf.estimator.MultiClassHead(3).logits_dimension
    3
    """

    def __init__(self, n_classes, weight_column=None, label_vocabulary=None, loss_reduction=_MEAN, loss_fn=None,
                 name=None) -> None:  # fmt: skip
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"MultiClassHead: n_classes must be more than 2, got {n_classes}.")
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            count = len(label_vocabulary)
            raise ValueError(f"MultiClassHead: label_vocabulary must have {n_classes} words, got {count}.")
        super().__init__(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)
        self._classes = n_classes

    def _labels(self, labels):
        labels = super()._labels(labels)
        if not labels.dtype.is_integer:
            raise ValueError(f"MultiClassHead: labels must be integers, got {labels.dtype.name}.")
        return casting.cast(labels, dtypes.int64)

    def _unweighted(self, labels, logits):
        each = nn_softmax.sparse_softmax_cross_entropy_with_logits(
            labels=shaping.squeeze(labels, [-1]), logits=logits
        )
        return shaping.expand_dims(each, -1)

    def predictions(self, logits, keys=None) -> dict:
        """Logits, probabilities and classes, by name."""
        logits = self._checked(logits)
        return _chosen(self._described(logits, nn_softmax.softmax(logits), {}), keys)

    def _outputs(self, predictions):
        classification = self._classification(predictions)
        return {
            "serving_default": classification, "classification": classification, "predict": PredictOutput(predictions),
        }  # fmt: skip

    def _metrics(self, labels, logits, weights):
        classes = self.predictions(logits, ("class_ids",))["class_ids"]
        every = weights * filling.ones_like(casting.cast(labels, dtypes.float32))
        return {"accuracy": metrics.accuracy(labels, classes, every)}


@api("estimator.RegressionHead", "compat.v1.estimator.RegressionHead")
class RegressionHead(Head):
    """Numbers, with squared errors.

    Args:
        label_dimension: how many numbers for each example.
        weight_column: a feature by which examples are weighted.
        loss_reduction: "sum_over_batch_size" or "sum".
        loss_fn: a function of labels and logits in the place of squared errors.
        inverse_link_fn: what makes predictions of logits; they are the same by default.
        name: added to the names of metrics and summaries.

    >>> tf.estimator.RegressionHead(2).logits_dimension
    2
    """

    def __init__(self, label_dimension=1, weight_column=None, loss_reduction=_MEAN, loss_fn=None, inverse_link_fn=None,
                 name=None) -> None:  # fmt: skip
        if label_dimension < 1:
            raise ValueError(f"RegressionHead: label_dimension must be positive, got {label_dimension}.")
        super().__init__(label_dimension, weight_column, None, loss_reduction, loss_fn, name)
        self._inverse_link_fn = inverse_link_fn

    def _labels(self, labels):
        labels = casting.cast(_column(labels, "RegressionHead"), dtypes.float32)
        if labels.shape.rank is not None and labels.shape.as_list()[-1] not in (self.logits_dimension, None):
            raise ValueError(
                f"RegressionHead: labels must have {self.logits_dimension} columns, got shape {labels.shape}."
            )
        return labels

    def _unweighted(self, labels, logits):
        return arithmetic.squared_difference(logits, labels)

    def predictions(self, logits, keys=None) -> dict:
        """The numbers, by name."""
        logits = self._checked(logits)
        if self._inverse_link_fn is None:
            return {"predictions": logits}
        return {"predictions": self._inverse_link_fn(logits), "logits": logits}

    def _outputs(self, predictions):
        regression = RegressionOutput(predictions["predictions"])
        return {"serving_default": regression, "regression": regression, "predict": PredictOutput(predictions)}

    def _metrics(self, labels, logits, weights):
        guesses = self.predictions(logits)["predictions"]
        return {"prediction/mean": _mean_metric(guesses, weights), "label/mean": _mean_metric(labels, weights)}


def head_of(n_classes, weight_column, label_vocabulary, loss_reduction) -> Head:
    """The head of a classifier."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, None, label_vocabulary, loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)


def train_with(operations, step) -> Any:
    """An operation that runs others, and then counts a step."""
    with control_dependencies([grouped(operations, "train")]):
        return step.assign_add(to_tensor(1, step.dtype.base_dtype)).op
