"""The public names of `tf.compat.v1.metrics`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.training.metrics import accuracy as accuracy
    from headrace._src.compat.training.metrics import auc as auc
    from headrace._src.compat.training.metrics import false_negatives as false_negatives
    from headrace._src.compat.training.metrics import false_negatives_at_thresholds as false_negatives_at_thresholds
    from headrace._src.compat.training.metrics import false_positives as false_positives
    from headrace._src.compat.training.metrics import false_positives_at_thresholds as false_positives_at_thresholds
    from headrace._src.compat.training.metrics import mean as mean
    from headrace._src.compat.training.metrics import mean_absolute_error as mean_absolute_error
    from headrace._src.compat.training.metrics import mean_cosine_distance as mean_cosine_distance
    from headrace._src.compat.training.metrics import mean_iou as mean_iou
    from headrace._src.compat.training.metrics import mean_per_class_accuracy as mean_per_class_accuracy
    from headrace._src.compat.training.metrics import mean_relative_error as mean_relative_error
    from headrace._src.compat.training.metrics import mean_squared_error as mean_squared_error
    from headrace._src.compat.training.metrics import mean_tensor as mean_tensor
    from headrace._src.compat.training.metrics import percentage_below as percentage_below
    from headrace._src.compat.training.metrics import precision as precision
    from headrace._src.compat.training.metrics import precision_at_thresholds as precision_at_thresholds
    from headrace._src.compat.training.metrics import recall as recall
    from headrace._src.compat.training.metrics import recall_at_thresholds as recall_at_thresholds
    from headrace._src.compat.training.metrics import root_mean_squared_error as root_mean_squared_error
    from headrace._src.compat.training.metrics import sensitivity_at_specificity as sensitivity_at_specificity
    from headrace._src.compat.training.metrics import specificity_at_sensitivity as specificity_at_sensitivity
    from headrace._src.compat.training.metrics import true_negatives as true_negatives
    from headrace._src.compat.training.metrics import true_negatives_at_thresholds as true_negatives_at_thresholds
    from headrace._src.compat.training.metrics import true_positives as true_positives
    from headrace._src.compat.training.metrics import true_positives_at_thresholds as true_positives_at_thresholds
    from headrace._src.compat.training.ranking_metrics import average_precision_at_k as _sparse_average_precision_at_k
    from headrace._src.compat.training.ranking_metrics import average_precision_at_k as average_precision_at_k
    from headrace._src.compat.training.ranking_metrics import precision_at_k as _sparse_precision_at_k
    from headrace._src.compat.training.ranking_metrics import precision_at_k as precision_at_k
    from headrace._src.compat.training.ranking_metrics import precision_at_top_k as precision_at_top_k
    from headrace._src.compat.training.ranking_metrics import recall_at_k as recall_at_k
    from headrace._src.compat.training.ranking_metrics import recall_at_top_k as recall_at_top_k
    sparse_average_precision_at_k = _sparse_average_precision_at_k
    sparse_precision_at_k = _sparse_precision_at_k
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
