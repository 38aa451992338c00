"""The public names of `tf.compat.v1.train`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.checkpoint.folder_state import checkpoint_exists as checkpoint_exists
    from headrace._src.checkpoint.folder_state import generate_checkpoint_state_proto as generate_checkpoint_state_proto
    from headrace._src.checkpoint.folder_state import get_checkpoint_mtimes as get_checkpoint_mtimes
    from headrace._src.checkpoint.folder_state import get_checkpoint_state as get_checkpoint_state
    from headrace._src.checkpoint.folder_state import latest_checkpoint as latest_checkpoint
    from headrace._src.checkpoint.folder_state import remove_checkpoint as remove_checkpoint
    from headrace._src.checkpoint.folder_state import update_checkpoint_state as update_checkpoint_state
    from headrace._src.checkpoint.manager import CheckpointManager as CheckpointManager
    from headrace._src.checkpoint.options import CheckpointOptions as CheckpointOptions
    from headrace._src.checkpoint.reading import checkpoints_iterator as checkpoints_iterator
    from headrace._src.checkpoint.reading import list_variables as list_variables
    from headrace._src.checkpoint.reading import load_checkpoint as load_checkpoint
    from headrace._src.checkpoint.reading import load_variable as load_variable
    from headrace._src.checkpoint.reading import new_checkpoint_reader as _NewCheckpointReader
    from headrace._src.checkpoint.session_checkpoints import CheckpointV1 as _Checkpoint
    from headrace._src.compat.input.batches import batch as batch
    from headrace._src.compat.input.batches import batch_join as batch_join
    from headrace._src.compat.input.batches import maybe_batch as maybe_batch
    from headrace._src.compat.input.batches import maybe_batch_join as maybe_batch_join
    from headrace._src.compat.input.batches import maybe_shuffle_batch as maybe_shuffle_batch
    from headrace._src.compat.input.batches import maybe_shuffle_batch_join as maybe_shuffle_batch_join
    from headrace._src.compat.input.batches import shuffle_batch as shuffle_batch
    from headrace._src.compat.input.batches import shuffle_batch_join as shuffle_batch_join
    from headrace._src.compat.input.producers import input_producer as input_producer
    from headrace._src.compat.input.producers import limit_epochs as limit_epochs
    from headrace._src.compat.input.producers import range_input_producer as range_input_producer
    from headrace._src.compat.input.producers import slice_input_producer as slice_input_producer
    from headrace._src.compat.input.producers import string_input_producer as string_input_producer
    from headrace._src.compat.input.queue_runners import QueueRunner as QueueRunner
    from headrace._src.compat.input.queue_runners import add_queue_runner as add_queue_runner
    from headrace._src.compat.input.queue_runners import start_queue_runners as start_queue_runners
    from headrace._src.compat.matched_files import match_filenames_once as match_filenames_once
    from headrace._src.compat.saving.initial_checkpoints import init_from_checkpoint as init_from_checkpoint
    from headrace._src.compat.saving.meta_graph_import import import_meta_graph as import_meta_graph
    from headrace._src.compat.saving.meta_graphs import export_meta_graph as export_meta_graph
    from headrace._src.compat.saving.saver import Saver as Saver
    from headrace._src.compat.saving.warm_starting import VocabInfo as VocabInfo
    from headrace._src.compat.saving.warm_starting import warm_start as warm_start
    from headrace._src.compat.sessions.checkpoint_hook import CheckpointSaverHook as CheckpointSaverHook
    from headrace._src.compat.sessions.monitored_sessions import ChiefSessionCreator as ChiefSessionCreator
    from headrace._src.compat.sessions.monitored_sessions import MonitoredSession as MonitoredSession
    from headrace._src.compat.sessions.monitored_sessions import MonitoredTrainingSession as MonitoredTrainingSession
    from headrace._src.compat.sessions.monitored_sessions import SessionCreator as SessionCreator
    from headrace._src.compat.sessions.monitored_sessions import SingularMonitoredSession as SingularMonitoredSession
    from headrace._src.compat.sessions.monitored_sessions import WorkerSessionCreator as WorkerSessionCreator
    from headrace._src.compat.sessions.scaffold import Scaffold as Scaffold
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
    from headrace._src.compat.summaries.event_iterator import summary_iterator as summary_iterator
    from headrace._src.compat.supervision.session_manager import LooperThread as LooperThread
    from headrace._src.compat.supervision.session_manager import SessionManager as SessionManager
    from headrace._src.compat.supervision.supervisor import Supervisor as Supervisor
    from headrace._src.compat.supervision.supervisor import basic_train_loop as basic_train_loop
    from headrace._src.compat.training.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
    from headrace._src.compat.training.optimizer_base import Optimizer as Optimizer
    from headrace._src.compat.training.optimizers import AdadeltaOptimizer as AdadeltaOptimizer
    from headrace._src.compat.training.optimizers import AdagradDAOptimizer as AdagradDAOptimizer
    from headrace._src.compat.training.optimizers import AdagradOptimizer as AdagradOptimizer
    from headrace._src.compat.training.optimizers import AdamOptimizer as AdamOptimizer
    from headrace._src.compat.training.optimizers import FtrlOptimizer as FtrlOptimizer
    from headrace._src.compat.training.optimizers import GradientDescentOptimizer as GradientDescentOptimizer
    from headrace._src.compat.training.optimizers import MomentumOptimizer as MomentumOptimizer
    from headrace._src.compat.training.optimizers import ProximalAdagradOptimizer as ProximalAdagradOptimizer
    from headrace._src.compat.training.optimizers import ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer
    from headrace._src.compat.training.optimizers import RMSPropOptimizer as RMSPropOptimizer
    from headrace._src.compat.training.replica_devices import replica_device_setter as replica_device_setter
    from headrace._src.compat.training.steps_and_rates import assert_global_step as assert_global_step
    from headrace._src.compat.training.steps_and_rates import cosine_decay as cosine_decay
    from headrace._src.compat.training.steps_and_rates import cosine_decay_restarts as cosine_decay_restarts
    from headrace._src.compat.training.steps_and_rates import create_global_step as create_global_step
    from headrace._src.compat.training.steps_and_rates import exponential_decay as exponential_decay
    from headrace._src.compat.training.steps_and_rates import get_global_step as get_global_step
    from headrace._src.compat.training.steps_and_rates import get_or_create_global_step as get_or_create_global_step
    from headrace._src.compat.training.steps_and_rates import global_step as global_step
    from headrace._src.compat.training.steps_and_rates import inverse_time_decay as inverse_time_decay
    from headrace._src.compat.training.steps_and_rates import linear_cosine_decay as linear_cosine_decay
    from headrace._src.compat.training.steps_and_rates import natural_exp_decay as natural_exp_decay
    from headrace._src.compat.training.steps_and_rates import noisy_linear_cosine_decay as noisy_linear_cosine_decay
    from headrace._src.compat.training.steps_and_rates import piecewise_constant as _piecewise_constant_decay
    from headrace._src.compat.training.steps_and_rates import piecewise_constant as piecewise_constant
    from headrace._src.compat.training.steps_and_rates import polynomial_decay as polynomial_decay
    from headrace._src.distribute.cluster_specs import ClusterSpec as ClusterSpec
    from headrace._src.formats.cluster_messages import ClusterDef as ClusterDef
    from headrace._src.formats.cluster_messages import JobDef as JobDef
    from headrace._src.formats.example_messages import BytesList as BytesList
    from headrace._src.formats.example_messages import Example as Example
    from headrace._src.formats.example_messages import Feature as Feature
    from headrace._src.formats.example_messages import FeatureList as FeatureList
    from headrace._src.formats.example_messages import FeatureLists as FeatureLists
    from headrace._src.formats.example_messages import Features as Features
    from headrace._src.formats.example_messages import FloatList as FloatList
    from headrace._src.formats.example_messages import Int64List as Int64List
    from headrace._src.formats.example_messages import SequenceExample as SequenceExample
    from headrace._src.formats.model_messages import SaverDef as SaverDef
    from headrace._src.graph.messages.graph_files import write_graph as write_graph
    from headrace._src.state.coordinator import Coordinator as Coordinator
    from headrace.compat.v1.train import experimental as experimental
    from headrace.compat.v1.train import queue_runner as queue_runner
    Checkpoint = _Checkpoint
    NewCheckpointReader = _NewCheckpointReader
    piecewise_constant_decay = _piecewise_constant_decay
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
