"""What `tf.io.parse_example` must be told to get features and labels of canned estimators; more metrics for one."""

from typing import Any

from headrace._src.compat.estimators.calling import argument_names
from headrace._src.compat.estimators.estimator import Estimator
from headrace._src.compat.estimators.specs import EstimatorSpec, ModeKeys
from headrace._src.compat.features.columns import NumericColumn
from headrace._src.compat.features.making import make_parse_example_spec, numeric_column
from headrace._src.core import dtypes
from headrace._src.op.api import api
from headrace._src.ops.parsing.features import FixedLenFeature


def _with_labels(feature_columns, label_key, labels, weight_column):
    found = make_parse_example_spec(feature_columns)
    if label_key in found:
        raise ValueError(f"The label {label_key!r} is also a feature.")
    found[label_key] = labels
    if weight_column is None:
        return found
    column = weight_column if isinstance(weight_column, NumericColumn) else numeric_column(weight_column)
    if column.key in found:
        raise ValueError(f"The weight {column.key!r} is also a feature or the label.")
    return {**found, **column.parse_example_spec}


@api("estimator.classifier_parse_example_spec", "compat.v1.estimator.classifier_parse_example_spec", dispatch=False)
def classifier_parse_example_spec(
    feature_columns, label_key, label_dtype=dtypes.int64, label_default=None, weight_column=None
) -> dict:
    """What `tf.io.parse_example` must be told for a classifier.

    Args:
        feature_columns: columns.
        label_key: the name of the label in examples.
        label_dtype: int64, or string.
        label_default: the label of examples that have none.
        weight_column: a feature by which examples are weighted.

    Raises:
        ValueError: the label or the weight is also a feature.

    >>> columns = [tf.feature_column.numeric_column("x")]
    >>> sorted(tf.estimator.classifier_parse_example_spec(columns, "y"))
    ['x', 'y']
    """
    return _with_labels(feature_columns, label_key, FixedLenFeature((1,), label_dtype, label_default), weight_column)


@api("estimator.regressor_parse_example_spec", "compat.v1.estimator.regressor_parse_example_spec", dispatch=False)
def regressor_parse_example_spec(
    feature_columns, label_key, label_dtype=dtypes.float32, label_default=None, label_dimension=1, weight_column=None
) -> dict:
    """What `tf.io.parse_example` must be told for a regressor.

    Args:
        feature_columns: columns.
        label_key: the name of the label in examples.
        label_dtype: its dtype.
        label_default: the label of examples that have none.
        label_dimension: how many numbers it has.
        weight_column: a feature by which examples are weighted.

    Raises:
        ValueError: the label or the weight is also a feature.

    >>> columns = [tf.feature_column.numeric_column("x")]
    >>> tf.estimator.regressor_parse_example_spec(columns, "y")["y"].shape
    (1,)
    """
    labels = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_labels(feature_columns, label_key, labels, weight_column)


@api("estimator.add_metrics", "compat.v1.estimator.add_metrics", dispatch=False)
def add_metrics(estimator, metric_fn) -> Estimator:
    """An estimator that evaluates by more metrics, and is the same otherwise.

    Args:
        estimator: an `Estimator`.
        metric_fn: a function of any of features, labels, predictions and config that returns metrics by name.

    Raises:
        ValueError: it takes something else.
    """
    names = argument_names(metric_fn)
    unknown = set(names) - {"features", "labels", "predictions", "config"}
    if unknown:
        raise ValueError(f"add_metrics: it may take features, labels, predictions, config; not {sorted(unknown)}.")

    def model_fn(features, labels, mode, config) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given: dict[str, Any] = dict(
            features=features, labels=labels, predictions=spec.predictions, config=estimator.config
        )
        more = metric_fn(**{name: given[name] for name in names})
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **(more or {})})

    return Estimator(model_fn, estimator.model_dir, estimator.config)
