"""The hooks of `tf.compat.v1.train`, under the names that `tf.estimator` has for them."""

from headrace._src.compat.saving.warm_starting import VocabInfo
from headrace._src.compat.sessions import checkpoint_hook, session_hooks, training_hooks
from headrace._src.op.api import export

_HOOKS = (
    checkpoint_hook.CheckpointSaverHook,
    session_hooks.CheckpointSaverListener,
    session_hooks.SecondOrStepTimer,
    session_hooks.SessionRunArgs,
    session_hooks.SessionRunContext,
    session_hooks.SessionRunHook,
    session_hooks.SessionRunValues,
    training_hooks.FeedFnHook,
    training_hooks.FinalOpsHook,
    training_hooks.GlobalStepWaiterHook,
    training_hooks.LoggingTensorHook,
    training_hooks.NanLossDuringTrainingError,
    training_hooks.NanTensorHook,
    training_hooks.StepCounterHook,
    training_hooks.StopAtStepHook,
    training_hooks.SummarySaverHook,
    VocabInfo,
)
for _hook in _HOOKS:
    export(f"estimator.{_hook.__name__}", f"compat.v1.estimator.{_hook.__name__}")(_hook)
