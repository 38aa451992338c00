"""The public names of `tf.estimator`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.estimators.canned import DNNClassifier as DNNClassifier
    from headrace._src.compat.estimators.canned import DNNEstimator as DNNEstimator
    from headrace._src.compat.estimators.canned import DNNRegressor as DNNRegressor
    from headrace._src.compat.estimators.canned import LinearClassifier as LinearClassifier
    from headrace._src.compat.estimators.canned import LinearEstimator as LinearEstimator
    from headrace._src.compat.estimators.canned import LinearRegressor as LinearRegressor
    from headrace._src.compat.estimators.combined import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
    from headrace._src.compat.estimators.combined import DNNLinearCombinedRegressor as DNNLinearCombinedRegressor
    from headrace._src.compat.estimators.estimator import Estimator as Estimator
    from headrace._src.compat.estimators.estimator import WarmStartSettings as WarmStartSettings
    from headrace._src.compat.estimators.exporters import BestExporter as BestExporter
    from headrace._src.compat.estimators.exporters import Exporter as Exporter
    from headrace._src.compat.estimators.exporters import FinalExporter as FinalExporter
    from headrace._src.compat.estimators.exporters import LatestExporter as LatestExporter
    from headrace._src.compat.estimators.heads import BinaryClassHead as BinaryClassHead
    from headrace._src.compat.estimators.heads import MultiClassHead as MultiClassHead
    from headrace._src.compat.estimators.heads import RegressionHead as RegressionHead
    from headrace._src.compat.estimators.parsing_specs import add_metrics as add_metrics
    from headrace._src.compat.estimators.parsing_specs import classifier_parse_example_spec as classifier_parse_example_spec
    from headrace._src.compat.estimators.parsing_specs import regressor_parse_example_spec as regressor_parse_example_spec
    from headrace._src.compat.estimators.run_config import RunConfig as RunConfig
    from headrace._src.compat.estimators.specs import EstimatorSpec as EstimatorSpec
    from headrace._src.compat.estimators.specs import ModeKeys as ModeKeys
    from headrace._src.compat.estimators.training_loop import EvalSpec as EvalSpec
    from headrace._src.compat.estimators.training_loop import TrainSpec as TrainSpec
    from headrace._src.compat.estimators.training_loop import train_and_evaluate as train_and_evaluate
    from headrace._src.compat.saving.warm_starting import VocabInfo as VocabInfo
    from headrace._src.compat.sessions.checkpoint_hook import CheckpointSaverHook as CheckpointSaverHook
    from headrace._src.compat.sessions.session_hooks import CheckpointSaverListener as CheckpointSaverListener
    from headrace._src.compat.sessions.session_hooks import SecondOrStepTimer as SecondOrStepTimer
    from headrace._src.compat.sessions.session_hooks import SessionRunArgs as SessionRunArgs
    from headrace._src.compat.sessions.session_hooks import SessionRunContext as SessionRunContext
    from headrace._src.compat.sessions.session_hooks import SessionRunHook as SessionRunHook
    from headrace._src.compat.sessions.session_hooks import SessionRunValues as SessionRunValues
    from headrace._src.compat.sessions.training_hooks import FeedFnHook as FeedFnHook
    from headrace._src.compat.sessions.training_hooks import FinalOpsHook as FinalOpsHook
    from headrace._src.compat.sessions.training_hooks import GlobalStepWaiterHook as GlobalStepWaiterHook
    from headrace._src.compat.sessions.training_hooks import LoggingTensorHook as LoggingTensorHook
    from headrace._src.compat.sessions.training_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
    from headrace._src.compat.sessions.training_hooks import NanTensorHook as NanTensorHook
    from headrace._src.compat.sessions.training_hooks import StepCounterHook as StepCounterHook
    from headrace._src.compat.sessions.training_hooks import StopAtStepHook as StopAtStepHook
    from headrace._src.compat.sessions.training_hooks import SummarySaverHook as SummarySaverHook
    from headrace.estimator import experimental as experimental
    from headrace.estimator import export as export
    from headrace.estimator import inputs as inputs
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
