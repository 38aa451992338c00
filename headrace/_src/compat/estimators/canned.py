"""Canned estimators: linear models, networks of dense layers, and both together, over feature columns."""

import logging
from typing import Any

from headrace._src.compat.estimators.estimator import Estimator
from headrace._src.compat.estimators.heads import Head, RegressionHead, head_of, train_with
from headrace._src.compat.estimators.named_optimizers import (
    GraphOptimizer,
    former_optimizer,
    keras_optimizer,
    linear_rate,
    read_in_time,
)
from headrace._src.compat.estimators.specs import EstimatorSpec, ModeKeys
from headrace._src.compat.features.using import input_layer, linear_model
from headrace._src.compat.graph_keys import GraphKeys, get_collection
from headrace._src.compat.layers import dense as dense_layers
from headrace._src.compat.layers.batch_normalization import batch_normalization
from headrace._src.compat.summaries import summary_operations
from headrace._src.compat.training.losses import Reduction
from headrace._src.compat.training.steps_and_rates import get_global_step
from headrace._src.compat.variables.initializers import GlorotUniform
from headrace._src.compat.variables.partitioners import min_max_variable_partitioner
from headrace._src.compat.variables.scopes import variable_scope
from headrace._src.op.api import api
from headrace._src.ops.arrays import joining, shaping
from headrace._src.ops.math.statistics import zero_fraction
from headrace._src.ops.nn import activations
from headrace._src.ops.nn.activations import relu

_MEAN, _FORMER_SUM = "sum_over_batch_size", Reduction.SUM
_MOMENTUM = 0.999  # of batch normalisation
_log = logging.getLogger("headrace")
_ONE_PART = min_max_variable_partitioner(max_partitions=1)  # TF: variables of 1.x are of parts, even if of one


def _check_features(features):
    if not isinstance(features, dict):
        raise ValueError(f"Canned estimators take a dictionary of features, got {type(features).__name__}.")


def _layer_summaries(name, value):
    summary_operations.scalar(f"{name}/fraction_of_zero_values", zero_fraction(value))
    summary_operations.histogram(f"{name}/activation", value)


def linear_logits(features, columns, units: int, sparse_combiner: str) -> Any:
    """Logits of a linear model, and the tensors of its summaries, in the current scope."""
    found: dict = {}
    logits = linear_model(features, columns, units, sparse_combiner, cols_to_vars=found)
    bias = joining.concat([shaping.reshape(one, [-1]) for one in _parts(found.pop("bias"))], 0)
    weights = [shaping.reshape(one, [-1]) for variables in found.values() for one in _parts(variables)]
    return logits, bias, joining.concat(weights, 0)


def _parts(variables):
    """The variables of a list in which some may be of parts."""
    for one in variables:
        yield from one if hasattr(one, "as_tensor") else [one]


def _linear_summaries(bias, weights):
    if bias.shape.num_elements() == 1:
        summary_operations.scalar("bias", bias[0])
    else:
        summary_operations.histogram("bias", bias)
    summary_operations.scalar("fraction_of_zero_weights", zero_fraction(weights))


class Network:
    """A network of dense layers.

    Args:
        hidden_units: how wide its layers are.
        activation: what is between them.
        dropout: how much is dropped in training, or None.
        batch_norm: whether outputs of layers are normalised.
    """

    def __init__(self, hidden_units, activation, dropout, batch_norm):
        if not hidden_units:
            raise ValueError("hidden_units must not be empty: it says how wide each layer is.")
        self._widths = list(hidden_units)
        self._activation = getattr(activations, activation) if isinstance(activation, str) else activation
        self._dropout = dropout
        self._batch_norm = batch_norm

    def logits(self, features, columns, units, mode) -> tuple[Any, list]:
        """Logits, and for summaries the names and outputs of all layers, in the current scope."""
        training, shown = mode == ModeKeys.TRAIN, []
        with variable_scope("input_from_feature_columns"):
            net = input_layer(features, columns)
        for number, width in enumerate(self._widths):
            name = f"hiddenlayer_{number}"
            net = dense_layers.dense(net, width, self._activation, kernel_initializer=GlorotUniform(), name=name)
            if self._dropout is not None and training:
                net = dense_layers.dropout(net, self._dropout, training=True)
            if self._batch_norm:
                with variable_scope(name, auxiliary_name_scope=False):
                    net = batch_normalization(
                        net, momentum=_MOMENTUM, training=training, name=f"batchnorm_{number}"
                    )
            shown.append((name, net))
        logits = dense_layers.dense(net, units, kernel_initializer=GlorotUniform(), name="logits")
        return logits, [*shown, ("logits", logits)]


class _Linear(Estimator):
    """A linear model with a head."""

    def __init__(self, head: Head, feature_columns, optimizer, sparse_combiner, former, model_dir, config, warm_start):
        columns = list(feature_columns)
        rate = linear_rate(columns, 0.2)
        optimizer = optimizer if former else read_in_time(optimizer)

        def model_fn(features, labels, mode) -> EstimatorSpec:
            _check_features(features)
            if former:
                return self._former_model(head, features, labels, mode, columns, optimizer, rate, sparse_combiner)
            with variable_scope("linear"):
                logits, bias, weights = linear_logits(features, columns, head.logits_dimension, sparse_combiner)
            _linear_summaries(bias, weights)
            return _trained(head, features, labels, mode, logits, keras_optimizer(optimizer, rate))

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start)

    @staticmethod
    def _former_model(head, features, labels, mode, columns, optimizer, rate, sparse_combiner):
        with variable_scope("linear", partitioner=_ONE_PART):
            logits, bias, weights = linear_logits(features, columns, head.logits_dimension, sparse_combiner)
            _linear_summaries(bias, weights)
            return _formerly_trained(head, features, labels, mode, logits, optimizer, rate)


class _Deep(Estimator):
    """A network of dense layers with a head."""

    def __init__(self, head: Head, network, feature_columns, optimizer, former, model_dir, config, warm_start):
        columns = list(feature_columns)
        optimizer = optimizer if former else read_in_time(optimizer)

        def model_fn(features, labels, mode) -> EstimatorSpec:
            _check_features(features)
            with variable_scope("dnn", partitioner=_ONE_PART if former else None):
                logits, shown = network.logits(features, columns, head.logits_dimension, mode)
                if former:
                    for name, value in shown:
                        _layer_summaries(f"dnn/{name}", value)
                    return _formerly_trained(head, features, labels, mode, logits, optimizer, 0.05)
            for name, value in shown:
                _layer_summaries(f"dnn/{name}", value)
            return _trained(head, features, labels, mode, logits, keras_optimizer(optimizer, None))

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start)



def _trained(head, features, labels, mode, logits, optimizer):
    return head.create_estimator_spec(features, mode, logits, labels, optimizer=optimizer)


def _formerly_trained(head, features, labels, mode, logits, optimizer, rate):
    def train(loss):
        return former_optimizer(optimizer, rate).minimize(loss, get_global_step())

    return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train)


class CombinedEstimator(Estimator):
    """A linear model and a network of dense layers, whose logits are added."""

    def __init__(self, head: Head, linear, deep, network, combiner, former, model_dir, config, warm_start):
        linear_columns, deep_columns = (list(part[0] or ()) for part in (linear, deep))
        linear, deep = ((part[0], part[1] if former else read_in_time(part[1])) for part in (linear, deep))
        if not linear_columns and not deep_columns:
            raise ValueError("Give linear_feature_columns, dnn_feature_columns or both.")
        rate = linear_rate(linear_columns, 0.005) if linear_columns else 0.005
        scope = {"partitioner": _ONE_PART if former else None}

        def model_fn(features, labels, mode) -> EstimatorSpec:
            _check_features(features)
            units, parts = head.logits_dimension, []
            if deep_columns:
                with variable_scope("dnn", **scope):
                    logits, shown = network.logits(features, deep_columns, units, mode)
                    _each_layer(shown, former, inside=True)
                _each_layer(shown, former, inside=False)
                parts.append(logits)
            if linear_columns:
                with variable_scope("linear", **scope):
                    logits, bias, weights = linear_logits(features, linear_columns, units, combiner)
                    if former:
                        _linear_summaries(bias, weights)
                        _layer_summaries("linear", logits)
                if not former:
                    _linear_summaries(bias, weights)
                    _layer_summaries("linear", logits)
                parts.append(logits)
            total = parts[0] if len(parts) == 1 else parts[0] + parts[1]

            def train(loss) -> Any:
                return self._steps(loss, linear_columns and linear[1], deep_columns and deep[1], rate, former)

            return head.create_estimator_spec(features, mode, total, labels, train_op_fn=train)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start)

    @staticmethod
    def _steps(loss, linear, deep, rate, former):
        step, made = get_global_step(), []
        for given, scope, usual in ((deep, "dnn", 0.001 if former else None), (linear, "linear", rate)):
            if not given:
                continue
            optimizer = former_optimizer(given, usual) if former else keras_optimizer(given, usual)
            if isinstance(optimizer, GraphOptimizer) and not made:
                optimizer.iterations = step  # TF: the second one counts for itself
            variables = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)
            made.append(optimizer.minimize(loss, var_list=variables))
            if isinstance(optimizer, GraphOptimizer) and optimizer.iterations is not step:
                made.append(optimizer.iterations.assign_add(1).op)
        return train_with(made, step)


def _each_layer(shown, former, inside):
    if former == inside:
        for name, value in shown:
            _layer_summaries(f"dnn/{name}", value)


# The public classes. Those of 1.x add losses up, have parts of variables, and optimizers of 1.x.


@api("estimator.LinearClassifier", dispatch=False)
class LinearClassifier(_Linear):
    """A linear model that tells classes apart.

    Args:
        feature_columns: columns of `tf.feature_column`.
        model_dir: the folder of checkpoints.
        n_classes: how many classes.
        weight_column: a feature by which examples are weighted.
        label_vocabulary: the words of classes, where labels are words.
        optimizer: a name, or an optimizer of Keras: SGD, Adam, Adagrad, Ftrl or RMSprop.
        config: a `RunConfig`.
        warm_start_from: a checkpoint with whose values variables begin.
        loss_reduction: "sum_over_batch_size" or "sum".
        sparse_combiner: how the weights of an example's categories become one: "sum", "mean" or "sqrtn".

    >>> columns = [tf.feature_column.numeric_column("x")]
    >>> data = lambda: tf.data.Dataset.from_tensors(({"x": [[-1.0], [1.0]]}, [0, 1])).repeat(20)
    >>> estimator = tf.estimator.LinearClassifier(columns).train(data)
    >>> [int(one["class_ids"][0]) for one in estimator.predict(lambda: data().take(1))]
    [0, 1]
    """

    def __init__(
        self, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None, optimizer="Ftrl",
        config=None, warm_start_from=None, loss_reduction=_MEAN, sparse_combiner="sum",
    ) -> None:  # fmt: skip
        head = head_of(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(
            head, feature_columns, optimizer, sparse_combiner, False, model_dir, config, warm_start_from
        )


def tell_of_one_part(partitioner):
    """Say that variables are not divided, where a program asks for that."""
    if partitioner is not None:
        _log.warning("tf.compat.v1.estimator: variables of one process have one part; the partitioner has no effect.")


@api("compat.v1.estimator.LinearClassifier", dispatch=False)
class FormerLinearClassifier(_Linear):
    """The linear classifier of 1.x: its loss is a sum, its optimizer one of `tf.compat.v1.train`."""

    def __init__(
        self, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None, optimizer="Ftrl",
        config=None, partitioner=None, warm_start_from=None, loss_reduction=_FORMER_SUM, sparse_combiner="sum",
    ) -> None:  # fmt: skip
        tell_of_one_part(partitioner)
        head = head_of(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, feature_columns, optimizer, sparse_combiner, True, model_dir, config, warm_start_from)


@api("estimator.LinearRegressor", dispatch=False)
class LinearRegressor(_Linear):
    """A linear model of numbers. Its arguments are those of `LinearClassifier`, without the classes.

    Args:
        label_dimension: how many numbers for each example.

    >>> estimator = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")])
    >>> estimator.config.tf_random_seed is None
    True
    """

    def __init__(
        self, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
        warm_start_from=None, loss_reduction=_MEAN, sparse_combiner="sum",
    ) -> None:  # fmt: skip
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(
            head, feature_columns, optimizer, sparse_combiner, False, model_dir, config, warm_start_from
        )


@api("compat.v1.estimator.LinearRegressor", dispatch=False)
class FormerLinearRegressor(_Linear):
    """The linear regressor of 1.x: its loss is a sum, its optimizer one of `tf.compat.v1.train`."""

    def __init__(
        self, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
        partitioner=None, warm_start_from=None, loss_reduction=_FORMER_SUM, sparse_combiner="sum",
    ) -> None:  # fmt: skip
        tell_of_one_part(partitioner)
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(head, feature_columns, optimizer, sparse_combiner, True, model_dir, config, warm_start_from)


@api("estimator.DNNClassifier", dispatch=False)
class DNNClassifier(_Deep):
    """A network of dense layers that tells classes apart.

    Args:
        hidden_units: how wide its layers are.
        feature_columns: dense columns of `tf.feature_column`.
        model_dir: the folder of checkpoints.
        n_classes: how many classes.
        weight_column: a feature by which examples are weighted.
        label_vocabulary: the words of classes, where labels are words.
        optimizer: a name, or an optimizer of Keras: SGD, Adam, Adagrad, Ftrl or RMSprop.
        activation_fn: what is between the layers.
        dropout: how much is dropped in training.
        config: a `RunConfig`.
        warm_start_from: a checkpoint with whose values variables begin.
        loss_reduction: "sum_over_batch_size" or "sum".
        batch_norm: whether outputs of layers are normalised.

    >>> tf.estimator.DNNClassifier([4], [tf.feature_column.numeric_column("x")]).latest_checkpoint() is None
    True
    """

    def __init__(
        self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
        optimizer="Adagrad", activation_fn=relu, dropout=None, config=None, warm_start_from=None, loss_reduction=_MEAN,
        batch_norm=False,
    ) -> None:  # fmt: skip
        head = head_of(n_classes, weight_column, label_vocabulary, loss_reduction)
        network = Network(hidden_units, activation_fn, dropout, batch_norm)
        super().__init__(head, network, feature_columns, optimizer, False, model_dir, config, warm_start_from)


@api("compat.v1.estimator.DNNClassifier", dispatch=False)
class FormerDNNClassifier(_Deep):
    """The network of 1.x that tells classes apart: its loss is a sum, its optimizer one of `tf.compat.v1.train`."""

    def __init__(
        self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
        optimizer="Adagrad", activation_fn=relu, dropout=None, input_layer_partitioner=None, config=None,
        warm_start_from=None, loss_reduction=_FORMER_SUM, batch_norm=False,
    ) -> None:  # fmt: skip
        tell_of_one_part(input_layer_partitioner)
        head = head_of(n_classes, weight_column, label_vocabulary, loss_reduction)
        network = Network(hidden_units, activation_fn, dropout, batch_norm)
        super().__init__(head, network, feature_columns, optimizer, True, model_dir, config, warm_start_from)


@api("estimator.DNNRegressor", dispatch=False)
class DNNRegressor(_Deep):
    """A network of dense layers for numbers. Its arguments are those of `DNNClassifier`, without the classes.

    Args:
        label_dimension: how many numbers for each example.
    """

    def __init__(
        self, hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Adagrad",
        activation_fn=relu, dropout=None, config=None, warm_start_from=None, loss_reduction=_MEAN, batch_norm=False,
    ) -> None:  # fmt: skip
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        network = Network(hidden_units, activation_fn, dropout, batch_norm)
        super().__init__(head, network, feature_columns, optimizer, False, model_dir, config, warm_start_from)


@api("compat.v1.estimator.DNNRegressor", dispatch=False)
class FormerDNNRegressor(_Deep):
    """The network of 1.x for numbers: its loss is a sum, its optimizer one of `tf.compat.v1.train`."""

    def __init__(
        self, hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Adagrad",
        activation_fn=relu, dropout=None, input_layer_partitioner=None, config=None, warm_start_from=None,
        loss_reduction=_FORMER_SUM, batch_norm=False,
    ) -> None:  # fmt: skip
        tell_of_one_part(input_layer_partitioner)
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        network = Network(hidden_units, activation_fn, dropout, batch_norm)
        super().__init__(head, network, feature_columns, optimizer, True, model_dir, config, warm_start_from)


@api("estimator.LinearEstimator", "compat.v1.estimator.LinearEstimator", dispatch=False)
class LinearEstimator(_Linear):
    """A linear model with a head of the user's choice.

    Args:
        head: such as a `tf.estimator.RegressionHead`.
        feature_columns, model_dir, optimizer, config, sparse_combiner, warm_start_from: as of `LinearClassifier`.
    """

    def __init__(
        self, head, feature_columns, model_dir=None, optimizer="Ftrl", config=None, sparse_combiner="sum",
        warm_start_from=None,
    ) -> None:  # fmt: skip
        super().__init__(
            head, feature_columns, optimizer, sparse_combiner, False, model_dir, config, warm_start_from
        )


@api("estimator.DNNEstimator", "compat.v1.estimator.DNNEstimator", dispatch=False)
class DNNEstimator(_Deep):
    """A network of dense layers with a head of the user's choice.

    Args:
        head: such as a `tf.estimator.RegressionHead`.
        hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, config, warm_start_from,
            batch_norm: as of `DNNClassifier`.
    """

    def __init__(
        self, head, hidden_units, feature_columns, model_dir=None, optimizer="Adagrad", activation_fn=relu,
        dropout=None, config=None, warm_start_from=None, batch_norm=False,
    ) -> None:  # fmt: skip
        network = Network(hidden_units, activation_fn, dropout, batch_norm)
        super().__init__(head, network, feature_columns, optimizer, False, model_dir, config, warm_start_from)
