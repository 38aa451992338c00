"""Canned estimators of a linear model and a network together."""

from headrace._src.compat.estimators.canned import CombinedEstimator, Network, tell_of_one_part
from headrace._src.compat.estimators.heads import RegressionHead, head_of
from headrace._src.compat.training.losses import Reduction
from headrace._src.op.api import api
from headrace._src.ops.nn.activations import relu

_MEAN, _FORMER_SUM = "sum_over_batch_size", Reduction.SUM


def _network(hidden_units, activation, dropout, batch_norm, columns):
    return Network(hidden_units, activation, dropout, batch_norm) if columns else None


@api("estimator.DNNLinearCombinedClassifier", dispatch=False)
class DNNLinearCombinedClassifier(CombinedEstimator):
    """A linear model and a network of dense layers, added up, that tell classes apart.

    Args:
        model_dir: the folder of checkpoints.
        linear_feature_columns, dnn_feature_columns: columns of `tf.feature_column` for each of the two.
        linear_optimizer, dnn_optimizer: a name, or an optimizer of Keras: SGD, Adam, Adagrad, Ftrl or RMSprop.
        dnn_hidden_units: how wide the layers are.
        dnn_activation_fn: what is between the layers.
        dnn_dropout: how much is dropped in training.
        n_classes: how many classes.
        weight_column: a feature by which examples are weighted.
        label_vocabulary: the words of classes, where labels are words.
        config: a `RunConfig`.
        warm_start_from: a checkpoint with whose values variables begin.
        loss_reduction: "sum_over_batch_size" or "sum".
        batch_norm: whether outputs of layers are normalised.
        linear_sparse_combiner: how the weights of an example's categories become one: "sum", "mean" or "sqrtn".
    """

    def __init__(
        self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=relu, dnn_dropout=None, n_classes=2,
        weight_column=None, label_vocabulary=None, config=None, warm_start_from=None, loss_reduction=_MEAN,
        batch_norm=False, linear_sparse_combiner="sum",
    ) -> None:  # fmt: skip
        head = head_of(n_classes, weight_column, label_vocabulary, loss_reduction)
        network = _network(dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm, dnn_feature_columns)
        super().__init__(
            head, (linear_feature_columns, linear_optimizer), (dnn_feature_columns, dnn_optimizer), network,
            linear_sparse_combiner, False, model_dir, config, warm_start_from,
        )  # fmt: skip


@api("compat.v1.estimator.DNNLinearCombinedClassifier", dispatch=False)
class FormerDNNLinearCombinedClassifier(CombinedEstimator):
    """The classifier of 1.x of both together: its loss is a sum, its optimizers those of `tf.compat.v1.train`."""

    def __init__(
        self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=relu, dnn_dropout=None, n_classes=2,
        weight_column=None, label_vocabulary=None, input_layer_partitioner=None, config=None, warm_start_from=None,
        loss_reduction=_FORMER_SUM, batch_norm=False, linear_sparse_combiner="sum",
    ) -> None:  # fmt: skip
        tell_of_one_part(input_layer_partitioner)
        head = head_of(n_classes, weight_column, label_vocabulary, loss_reduction)
        network = _network(dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm, dnn_feature_columns)
        super().__init__(
            head, (linear_feature_columns, linear_optimizer), (dnn_feature_columns, dnn_optimizer), network,
            linear_sparse_combiner, True, model_dir, config, warm_start_from,
        )  # fmt: skip


@api("estimator.DNNLinearCombinedRegressor", dispatch=False)
class DNNLinearCombinedRegressor(CombinedEstimator):
    """The same for numbers; its arguments are those of `DNNLinearCombinedClassifier`, without the classes.

    Args:
        label_dimension: how many numbers for each example.
    """

    def __init__(
        self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=relu, dnn_dropout=None, label_dimension=1,
        weight_column=None, config=None, warm_start_from=None, loss_reduction=_MEAN, batch_norm=False,
        linear_sparse_combiner="sum",
    ) -> None:  # fmt: skip
        network = _network(dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm, dnn_feature_columns)
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction), (linear_feature_columns, linear_optimizer),
            (dnn_feature_columns, dnn_optimizer), network, linear_sparse_combiner, False, model_dir, config,
            warm_start_from,
        )  # fmt: skip


@api("compat.v1.estimator.DNNLinearCombinedRegressor", dispatch=False)
class FormerDNNLinearCombinedRegressor(CombinedEstimator):
    """The regressor of 1.x of both together: its loss is a sum, its optimizers those of `tf.compat.v1.train`."""

    def __init__(
        self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=relu, dnn_dropout=None, label_dimension=1,
        weight_column=None, input_layer_partitioner=None, config=None, warm_start_from=None,
        loss_reduction=_FORMER_SUM, batch_norm=False, linear_sparse_combiner="sum",
    ) -> None:  # fmt: skip
        tell_of_one_part(input_layer_partitioner)
        network = _network(dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm, dnn_feature_columns)
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction), (linear_feature_columns, linear_optimizer),
            (dnn_feature_columns, dnn_optimizer), network, linear_sparse_combiner, True, model_dir, config,
            warm_start_from,
        )  # fmt: skip
