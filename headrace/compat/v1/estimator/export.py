"""The public names of `tf.compat.v1.estimator.export`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.estimators.export_outputs import ClassificationOutput as ClassificationOutput
    from headrace._src.compat.estimators.export_outputs import EvalOutput as EvalOutput
    from headrace._src.compat.estimators.export_outputs import ExportOutput as ExportOutput
    from headrace._src.compat.estimators.export_outputs import PredictOutput as PredictOutput
    from headrace._src.compat.estimators.export_outputs import RegressionOutput as RegressionOutput
    from headrace._src.compat.estimators.receivers import ServingInputReceiver as ServingInputReceiver
    from headrace._src.compat.estimators.receivers import TensorServingInputReceiver as TensorServingInputReceiver
    from headrace._src.compat.estimators.receivers import build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn
    from headrace._src.compat.estimators.receivers import build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
