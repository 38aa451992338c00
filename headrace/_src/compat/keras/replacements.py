"""All names of Keras's modules that are added or replaced in a running program: one table.

Keras's own files stay as they are. When one of the modules below has been imported, `replace_in` goes through the
module's rows, in the order of the table. What is put there stands in the files that the rows name: `additions.py`
(names and rules of TensorFlow 2.0), `former_calls.py` (its arguments and methods), `graph_optimizers.py` (optimizers
of 1.x), `functional.py` (functions of `tf` on symbolic tensors), `tracking.py` and `checkpoints.py` (parts of
checkpoints), `feature_layers.py` (layers over feature columns), `embeddings.py` (what the projector of TensorBoard
shows), `keras_distribution.py` (what to use in its place) and `speed.py` (short ways to the same results). Modules that
are read in another way are in `deferred_imports.py`.

Rows find their names in Keras 3.13 to 3.15, or say in which releases. To see which rows a release of Keras does not
fit, run `tests/compat/keras/test_keras_replacements.py` with it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from types import ModuleType
from typing import Any, NamedTuple

from headrace._src.compat.keras import (
    additions,
    checkpoints,
    embeddings,
    feature_layers,
    former_backend,
    former_models,
    former_names,
    functional,
    graph_optimizers,
    keras_distribution,
    layer_calls,
    loss_calls,
    model_calls,
    saved_models,
    short_operations,
    speed,
    tracking,
    weights,
)
from headrace._src.compat.keras import durable_files as durable
from headrace._src.compat.keras import errors as problems
from headrace._src.compat.keras import former_arguments as arguments
from headrace._src.compat.keras import former_calls as former
from headrace._src.compat.keras import former_configs as configs
from headrace._src.compat.keras import former_graphs as graphs
from headrace._src.compat.keras import former_layouts as layouts
from headrace._src.compat.keras import former_losses as losses
from headrace._src.compat.keras import former_optimizer_files as optimizer_files
from headrace._src.compat.keras import former_optimizers as optimizers
from headrace._src.core.tracebacks import hide_frames

# How a row changes a module.
ADDED = "added"  # `by` is put there under the name
WRAPPED = "wrapped"  # `by(original, *args, **kwargs)` is called in the place of the original, which keeps its signature
MADE = "made"  # `by(original)` gives what takes the original's place
CALLED = "called"  # `by(module)` is called; the name, if there is one, is what it reads


class Replacement(NamedTuple):
    """A row: the module of Keras, the name in it, what is done with it, and why.

    It is for releases of Keras from `since` on, and before `until` when that is given.
    """

    module: str
    name: str
    how: str
    by: Any
    why: str
    since: tuple[int, int] = (3, 13)
    until: tuple[int, int] | None = None

    def is_for(self, release: tuple[int, int]) -> bool:
        return self.since <= release and (self.until is None or release < self.until)


_BACKEND, _COMMON = "keras.src.backend.tensorflow", "keras.src.backend.common"
_LAYERS, _RNN = "keras.src.layers.layer", "keras.src.layers.rnn"
_TRACKING = "keras.src.utils.tracking"
_CHECKPOINT, _BACKUP = "keras.src.callbacks.model_checkpoint", "keras.src.callbacks.backup_and_restore"
_PUBLIC = "keras._tf_keras.keras"  # what TensorFlow calls tf.keras

REPLACEMENTS = tuple(Replacement(*row) for row in (
    # Layers and models.
    (_LAYERS, "Layer.add_variable", WRAPPED, additions.add_variable, "2.0: the name comes first"),
    (_LAYERS, "Layer.__init__", WRAPPED, additions.init_without_shape_warning, "2.0: input_shape needs no warning"),
    (_LAYERS, "Layer.__init__", WRAPPED, former.init_with_batch_shape, "2.0: batch_input_shape"),
    (_LAYERS, "Layer.add_metric", WRAPPED, former.add_metric, "2.0: any tensor, with aggregation='mean'"),
    (_LAYERS, "Layer.input_shape", ADDED, former.ShapeOf("input"), "2.0 has it"),
    (_LAYERS, "Layer.output_shape", ADDED, former.ShapeOf("output"), "2.0 has it"),
    (_LAYERS, "Layer.__init__", WRAPPED, arguments.init_with_weights, "2.0: weights"),
    (_LAYERS, "Layer._post_build", WRAPPED, arguments.set_first_weights, "2.0: weights"),
    (_LAYERS, "Layer.add_weight", WRAPPED, arguments.add_weight, "2.0: the name comes first; arguments that are gone"),
    (_LAYERS, "Layer.add_loss", WRAPPED, losses.add_loss, "2.0: functions without arguments"),
    (_LAYERS, "Layer._get_own_losses", WRAPPED, losses.own_losses, "2.0: functions without arguments"),
    (_LAYERS, "Layer.get_input_at", ADDED, arguments.get_input_at, "2.0 has it"),
    (_LAYERS, "Layer.get_output_at", ADDED, arguments.get_output_at, "2.0 has it"),
    (_LAYERS, "Layer.get_input_shape_at", ADDED, arguments.get_input_shape_at, "2.0 has it"),
    (_LAYERS, "Layer.get_output_shape_at", ADDED, arguments.get_output_shape_at, "2.0 has it"),
    (_LAYERS, "Layer.inbound_nodes", ADDED, arguments.inbound_nodes, "2.0 has it"),
    (_LAYERS, "Layer.outbound_nodes", ADDED, arguments.outbound_nodes, "2.0 has it"),
    (_LAYERS, "Layer.dynamic", ADDED, arguments.is_dynamic, "2.0 has it"),
    (_LAYERS, "Layer.updates", ADDED, arguments.no_updates, "2.0 has it"),
    (_LAYERS, "Layer.get_updates_for", ADDED, arguments.get_updates_for, "2.0 has it"),
    (_LAYERS, "Layer.get_losses_for", ADDED, arguments.get_losses_for, "2.0 has it"),
    (_LAYERS, "Layer._resolve_and_populate_arg", WRAPPED, former_backend.resolve_argument, "2.0: the learning phase"),
    ("keras.src.regularizers.regularizers", "L1.__init__", WRAPPED, arguments.init_l1, "2.0: l"),
    ("keras.src.regularizers.regularizers", "L2.__init__", WRAPPED, arguments.init_l2, "2.0: l"),
    (f"{_COMMON}.keras_tensor", "KerasTensor.op", ADDED, arguments.producer, "2.0 has it"),
    ("keras.src.layers.core.dense", "Dense.__init__", WRAPPED, former.init_dense, "2.0: units may be of NumPy"),
    (f"{_RNN}.lstm", "LSTMCell.get_initial_state", WRAPPED, additions.get_initial_state, "2.0: inputs and dtype"),
    (f"{_RNN}.gru", "GRUCell.get_initial_state", WRAPPED, additions.get_initial_state, "2.0: inputs and dtype"),
    (f"{_RNN}.simple_rnn", "SimpleRNNCell.get_initial_state", WRAPPED, additions.get_initial_state,
     "2.0: inputs and dtype"),
    (f"{_BACKEND}.rnn", "_is_gpu_available", WRAPPED, additions.has_cudnn, "what it means by that is cuDNN's ops"),
    ("keras.src.ops.operation", "Operation.input", MADE, additions.Assignable, "2.0: a subclass may set self.input"),
    ("keras.src.ops.operation", "Operation.output", MADE, additions.Assignable, "2.0: a subclass may set self.output"),
    ("keras.src.models.sequential", "Sequential.input", MADE, additions.OfBuilt, "2.0: there once shapes are known"),
    ("keras.src.models.sequential", "Sequential.output", MADE, additions.OfBuilt, "2.0: there once shapes are known"),
    ("keras.src.models.sequential", "Sequential.__init__", WRAPPED, arguments.init_sequential,
     "2.0: the name comes second"),
    ("keras.src.models.sequential", "Sequential.add", WRAPPED, former.add_layer, "2.0: batch_input_shape"),
    ("keras.src.models.sequential", "Sequential.input_names", ADDED, former.input_names, "2.0 has it"),
    ("keras.src.models.sequential", "Sequential.output_names", ADDED, former.output_names, "2.0 has it"),
    ("keras.src.models.functional", "Functional.input_names", ADDED, former.input_names, "2.0 has it"),
    ("keras.src.models.sequential", "Sequential.predict_classes", ADDED, former.predict_classes, "2.0 has it"),
    ("keras.src.models.sequential", "Sequential.predict_proba", ADDED, former.predict_proba, "2.0 has it"),
    ("keras.src.models.model", "Model.reset_states", ADDED, former.reset_states, "2.0 has it"),
    ("keras.src.models.model", "Model.stateful", ADDED, arguments.is_stateful, "2.0 has it"),
    ("keras.src.models.model", "Model.state_updates", ADDED, arguments.no_updates, "2.0 has it"),
    ("keras.src.models.model", "Model.__init__", WRAPPED, arguments.init_model, "2.0: the name alone"),
    ("keras.src.models.model", "functional_init_arguments", WRAPPED, arguments.has_functional_arguments,
     "2.0: the name comes third"),
    ("keras.src.models.functional", "Functional.add_loss", WRAPPED, losses.add_loss_of_functional,
     "2.0: symbolic tensors"),

    # Training.
    ("keras.src.trainers.trainer", "Trainer.compile", WRAPPED, arguments.compile_model,
     "2.0: metrics come third; arguments that are gone"),
    ("keras.src.trainers.trainer", "Trainer.compute_loss", WRAPPED, losses.with_single_target,
     "2.0: targets by name, also of one output"),
    ("keras.src.trainers.trainer", "Trainer.compute_metrics", WRAPPED, losses.with_single_target,
     "2.0: targets by name, also of one output"),
    ("keras.src.trainers.trainer", "Trainer.metrics_names", ADDED, losses.metrics_names, "2.0: those of evaluate"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.compiled_loss", ADDED, losses.compiled_loss, "2.0: counts as loss"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.compiled_metrics", ADDED, losses.compiled_metrics,
     "2.0: those of compile alone"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.train_on_batch", WRAPPED, former.on_one_batch,
     "2.0: metrics of one batch", (3, 13), (3, 15)),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.test_on_batch", WRAPPED, former.on_one_batch,
     "2.0: metrics of one batch", (3, 13), (3, 15)),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.train_on_batch", WRAPPED, arguments.on_batch, "2.0: reset_metrics"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.test_on_batch", WRAPPED, arguments.on_batch, "2.0: reset_metrics"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.fit", WRAPPED, former.without_reading, "2.0: workers and the like"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.evaluate", WRAPPED, former.without_reading, "2.0: workers and the like"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.predict", WRAPPED, former.without_reading, "2.0: workers and the like"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.fit_generator", ADDED, former.fit_generator, "2.0 has it"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.evaluate_generator", ADDED, former.evaluate_generator, "2.0 has it"),
    (f"{_BACKEND}.trainer", "TensorFlowTrainer.predict_generator", ADDED, former.predict_generator, "2.0 has it"),
    ("keras.src.metrics.metric", "Metric.reset_states", ADDED, additions.reset_states, "2.0's name of reset_state"),
    ("keras.src.metrics.metric", "Metric.weights", ADDED, former.weights, "2.0 has it"),
    ("keras.src.metrics.metric", "Metric.get_weights", ADDED, former.get_weights, "2.0 has it"),
    ("keras.src.metrics.metric", "Metric.set_weights", ADDED, former.set_weights, "2.0 has it"),
    ("keras.src.optimizers", "get", WRAPPED, graph_optimizers.optimizer_of, "2.0: those of 1.x"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.__init__", WRAPPED, former.init_optimizer,
     "2.0: lr and decay"),
    *((f"keras.src.optimizers.{name.lower()}", f"{name}.__init__", WRAPPED, former.init_with_epsilon,
       "2.0: epsilon=None") for name in ("Adam", "Adadelta", "Adagrad", "Adamax", "Nadam", "RMSprop")),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.get_config", WRAPPED, former.config_of_optimizer,
     "2.0: decay"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.decay", ADDED, arguments.decay, "2.0 has it"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.apply_gradients", WRAPPED, arguments.apply_gradients,
     "2.0: name"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.get_gradients", ADDED, arguments.get_gradients,
     "2.0 has it"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.variables", MADE, arguments.CallableVariables,
     "2.0: a method"),
    ("keras.src.losses.loss", "Loss.__init__", WRAPPED, arguments.init_loss, "2.0: Reduction.AUTO"),
    ("keras.src.callbacks.tensorboard", "TensorBoard.__init__", WRAPPED, arguments.init_tensorboard,
     "2.0: arguments that are gone"),
    ("keras.src.callbacks.reduce_lr_on_plateau", "ReduceLROnPlateau.__init__", WRAPPED,
     arguments.init_reduce_on_plateau, "2.0: epsilon"),
    ("keras.src.callbacks.reduce_lr_on_plateau", "ReduceLROnPlateau.on_epoch_end", WRAPPED, arguments.log_rate,
     "2.0: lr in the history"),
    ("keras.src.callbacks.learning_rate_scheduler", "LearningRateScheduler.on_epoch_end", WRAPPED, arguments.log_rate,
     "2.0: lr in the history"),
    ("keras.src.losses", "get", WRAPPED, arguments.loss_of, "2.0: names of losses"),
    ("keras.src.legacy.preprocessing.image", "Iterator.next", ADDED, arguments.next_batch, "2.0 has it"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.lr", ADDED, former.lr, "2.0's name of learning_rate"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.weights", ADDED, former.weights, "2.0 has it"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.minimize", ADDED, former.minimize, "2.0 has it"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.get_weights", ADDED, former.get_weights, "2.0 has it"),
    (f"{_BACKEND}.optimizer", "TFOptimizer._backend_update_step", WRAPPED, speed.update,
     "speed: one traced function updates all variables"),

    # Errors.
    ("keras.src.utils.traceback_utils", "filter_traceback", WRAPPED, problems.filter_traceback,
     "errors show the user's frames only"),
    ("keras.src.api_export", "keras_export.__call__", WRAPPED, problems.export, "errors show the user's frames only"),
    ("keras.src.models.functional", "Functional.__init__", MADE, problems.entered,
     "errors show the user's frames only"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.apply_gradients", MADE, problems.entered,
     "errors show the user's frames only"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.apply", MADE, problems.entered,
     "errors show the user's frames only"),

    # TensorBoard.
    ("keras.src.callbacks.tensorboard", "TensorBoard._configure_embeddings", WRAPPED, embeddings.configure_embeddings,
     "TensorBoard's package is needed to look, not to write"),
    ("keras.src.callbacks.tensorboard", "TensorBoard._log_embeddings", WRAPPED, embeddings.log_embeddings,
     "the projector cannot read the HDF5 file"),

    # Variables and dtypes.
    (f"{_COMMON}.variables", "Variable.__repr__", WRAPPED, additions.repr_of_variable, "2.0: shown as a tf.Variable"),
    (f"{_COMMON}.variables", "standardize_dtype", MADE, speed.with_known_names, "speed: names of dtypes are kept"),
    (f"{_COMMON}.dtypes", "result_type", MADE, speed.with_known_results, "speed: results are kept"),
    (f"{_COMMON}.keras_tensor", "any_symbolic_tensors", MADE, speed.with_eager_tensors, "speed: eager ones are known"),
    ("keras.src.tree.optree_impl", "is_nested", MADE, speed.with_known_leaves, "speed: types of leaves are kept"),
    ("keras.src.tree.optree_impl", "map_structure", MADE, speed.with_short_structures, "speed: arguments of a layer"),
    (f"{_BACKEND}.core", "convert_to_tensor", MADE, speed.with_fitting_tensors, "speed: eager ones are known"),
    # These go through Keras's code by another way, so they are for releases whose code they were compared with.
    (_LAYERS, "Layer.__call__", MADE, layer_calls.short_call, "speed: one eager tensor", (3, 13), (3, 16)),
    ("keras.src.models.functional", "Functional.call", MADE, model_calls.short_call, "speed: one eager tensor",
     (3, 13), (3, 16)),
    ("keras.src.losses.losses", "LossFunctionWrapper.call", MADE, loss_calls.with_eager_pairs, "speed: eager tensors",
     (3, 13), (3, 16)),
    ("keras.src.losses.loss", "Loss.__call__", MADE, loss_calls.short_call, "speed: eager tensors", (3, 13), (3, 16)),
    (f"{_BACKEND}.nn", "sparse_categorical_crossentropy", MADE, loss_calls.with_known_shapes, "speed: eager tensors",
     (3, 13), (3, 16)),
    ("keras.src.losses.loss", "reduce_values", MADE, loss_calls.with_known_sizes, "speed: eager tensors",
     (3, 13), (3, 16)),

    (f"{_BACKEND}.numpy", "matmul", MADE, short_operations.with_matrices, "speed: eager tensors", (3, 13), (3, 16)),
    (f"{_BACKEND}.numpy", "add", MADE, short_operations.with_biases, "speed: eager tensors", (3, 13), (3, 16)),
    (f"{_COMMON}.variables", "Variable.value", MADE, short_operations.ShortValue, "speed: one look for scopes",
     (3, 13), (3, 16)),
    (f"{_COMMON}.variables", "Variable.assign_add", MADE, short_operations.with_sums, "speed: numbers",
     (3, 13), (3, 16)),
    (f"{_COMMON}.variables", "Variable.assign_sub", MADE, short_operations.with_differences, "speed: numbers",
     (3, 13), (3, 16)),

    # Parts of checkpoints.
    (f"{_BACKEND}.trackable", "sticky_attribute_assignment", WRAPPED, tracking.assign_attribute,
     "2.0: layers in lists and dicts are part of checkpoints"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.__setattr__", WRAPPED, tracking.assign_in_optimizer,
     "2.0: lists of optimizers are part of checkpoints"),
    (f"{_BACKEND}.layer", "TFLayer._trackable_children", WRAPPED, tracking.children,
     "lists of numbers are not part of checkpoints"),
    (_TRACKING, "TrackedList.append", WRAPPED, tracking.add_items, "2.0: what is added later is restored then"),
    (_TRACKING, "TrackedList.insert", WRAPPED, tracking.add_items, "2.0: what is added later is restored then"),
    (_TRACKING, "TrackedList.extend", WRAPPED, tracking.add_items, "2.0: what is added later is restored then"),
    (_TRACKING, "TrackedDict.__setitem__", WRAPPED, tracking.add_items, "2.0: what is added later is restored then"),
    (_TRACKING, "TrackedDict.update", WRAPPED, tracking.add_items, "2.0: what is added later is restored then"),
    (_TRACKING, "TrackedOrderedDict.__setitem__", WRAPPED, tracking.add_items,
     "2.0: what is added later is restored then", (3, 14)),
    (_TRACKING, "TrackedOrderedDict.update", WRAPPED, tracking.add_items, "2.0: what is added later is restored then",
     (3, 14)),
    (f"{_BACKEND}.core", "Variable._restored_specs", ADDED, tracking.restored_specs,
     "2.0: a model is restored before it is first called"),
    (f"{_BACKEND}.core", "Variable._restore_from_tensors", WRAPPED, tracking.restore_variable,
     "2.0: a model is restored before it is first called"),
    (f"{_BACKEND}.core", "Variable._serialize_to_tensors", WRAPPED, checkpoints.serialize_variable,
     "a variable without a value has none to save"),
    ("keras.src.metrics.metric", "Metric", CALLED, checkpoints.register_metrics, "metrics in checkpoints"),
    ("keras.src.metrics.metric", "Metric.__setattr__", WRAPPED, checkpoints.set_attribute,
     "a variable that a metric makes later is restored then"),

    # Checkpoints of Keras 2.
    (f"{_BACKEND}.trackable", "KerasAutoTrackable._lookup_dependency", ADDED, tracking.lookup_part,
     "parts that are only restored"),
    (_LAYERS, "Layer", CALLED, layouts.register_layer, "kernel is _kernel today"),
    ("keras.src.models.functional", "Functional", CALLED, layouts.register_functional,
     "layer-0 is _operations/0 today"),
    ("keras.src.models.sequential", "Sequential", CALLED, layouts.register_sequential, "layer-0 is _functional today"),
    ("keras.src.layers.convolutional.base_depthwise_conv", "BaseDepthwiseConv", CALLED, layouts.register_depthwise,
     "depthwise_kernel is kernel today"),
    ("keras.src.layers.preprocessing.normalization", "Normalization", CALLED, layouts.register_normalization,
     "mean is adapt_mean today"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer", CALLED, optimizers.register_optimizer,
     "variables of optimizers are other ones today"),
    ("keras.src.optimizers.loss_scale_optimizer", "LossScaleOptimizer", CALLED, optimizers.register_loss_scale,
     "variables of optimizers are other ones today"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.get_slot", ADDED, optimizers.get_slot, "2.0 has it"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer._create_or_restore_slot_variable", ADDED,
     optimizers.restore_slot, "slots of variables are lists today"),
    (f"{_BACKEND}.optimizer", "TFOptimizer._handle_deferred_dependencies", WRAPPED, optimizers.handle_deferred,
     "slots of variables are lists today"),

    # Functions.
    (f"{_COMMON}.stateless_scope", "in_stateless_scope", CALLED, additions.inline_functions,
     "a @tf.function on `call` is plain Python while Keras finds out shapes"),
    (f"{_COMMON}.keras_tensor", "KerasTensor", CALLED, functional.dispatch_symbolic_tensors,
     "2.0: functions of tf take symbolic tensors"),
    ("keras.src.legacy.backend", "set_value", WRAPPED, former.set_value, "2.0: the value may be of another dtype"),
    ("keras.src.legacy.backend", "", CALLED, former_backend.add_functions, "2.0 has them"),
    ("keras.src.legacy.backend", "", CALLED, functional.dispatch_functions_of_the_backend,
     "2.0: all its functions take symbolic tensors"),
    (f"{_PUBLIC}.backend", "", CALLED, former_backend.add_functions, "2.0 has them"),
    ("keras.mixed_precision", "", CALLED, former_models.add_mixed_precision, "2.0: names before 2.4"),

    # Files.
    ("keras.src.utils.file_utils", "get_file", WRAPPED, additions.get_file,
     "a file in the cache is used; one that cannot be had says where to put it"),
    ("keras.src.losses", "deserialize", WRAPPED, former.deserialize, "HDF5 files: `mse` is found again"),
    ("keras.src.metrics", "deserialize", WRAPPED, former.deserialize, "HDF5 files: `mse` is found again"),
    ("keras.src.legacy.saving.saving_utils", "try_build_compiled_arguments", WRAPPED, former.build_compiled,
     "HDF5 files: training goes on"),
    ("keras.src.saving.serialization_lib", "_retrieve_class_or_fn", WRAPPED, functional.retrieve,
     "a model with functions of tf can be loaded before any was made"),

    ("keras.src.saving.serialization_lib", "deserialize_keras_object", WRAPPED, configs.deserialize,
     "files of Keras 2: arguments that are gone"),
    ("keras.src.legacy.saving.serialization", "deserialize_keras_object", WRAPPED, configs.deserialize,
     "files of Keras 2: arguments that are gone"),
    ("keras.src.legacy.saving.saving_utils", "model_from_config", WRAPPED, configs.model_from_config,
     "files of Keras 2: several axes"),
    ("keras.src.legacy.saving.legacy_h5_format", "load_model_from_hdf5", WRAPPED, configs.load_model_from_hdf5,
     "files of Keras 2: hard_sigmoid was another function"),
    ("keras.src.saving.saving_lib", "_load_model_from_fileobj", WRAPPED, configs.load_model_from_archive,
     "files of Keras 2: hard_sigmoid was another function"),
    ("keras.src.layers.attention.attention", "Attention.__init__", WRAPPED, configs.init_attention,
     "files of Keras 2: score_mode"),
    ("keras.src.models.functional", "functional_from_config", WRAPPED, graphs.functional_from_config,
     "files of Keras 2: models in models, functions of tf"),
    ("keras.src.models.functional", "deserialize_node", WRAPPED, graphs.deserialize_node,
     "files of Keras 2: tensors as arguments by name"),

    ("keras.src.optimizers", "deserialize", WRAPPED, optimizer_files.deserialize, "files of Keras 2: Custom>Adam"),
    ("keras.src.legacy.saving.legacy_h5_format", "load_optimizer_weights_from_hdf5_group", WRAPPED,
     optimizer_files.load_weights, "files of Keras 2: training goes on"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.set_weights", WRAPPED, optimizer_files.set_weights,
     "files of Keras 2: training goes on"),
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer.load_own_variables", WRAPPED,
     optimizer_files.load_own_variables, "files of Keras 2: training goes on"),

    ("keras.src.saving.saving_api", "save_model", WRAPPED, saved_models.save_model, "2.0: folders"),
    ("keras.src.saving.saving_api", "load_model", WRAPPED, saved_models.load_model, "2.0: folders"),
    ("keras.src.models.model", "Model.save_weights", WRAPPED, weights.save_weights, "2.0: checkpoints by path"),
    ("keras.src.models.model", "Model.load_weights", WRAPPED, weights.load_weights, "2.0: checkpoints by path"),
    (_CHECKPOINT, "ModelCheckpoint.__init__", WRAPPED, weights.init_model_checkpoint, "2.0: any path, period"),
    (_CHECKPOINT, "ModelCheckpoint.on_epoch_end", WRAPPED, weights.end_epoch, "2.0: period"),
    ("keras.src.saving.saving_lib", "save_weights_only", WRAPPED, durable.save_weights, "a crash leaves a whole file"),
    ("keras.src.saving.saving_lib", "save_model", WRAPPED, durable.save_archive, "a crash leaves a whole file"),
    ("keras.src.legacy.saving.legacy_h5_format", "save_model_to_hdf5", WRAPPED, durable.save_hdf5,
     "a crash leaves a whole file"),
    (_BACKUP, "BackupAndRestore._save_model", WRAPPED, durable.save_backup, "a crash leaves weights of a known epoch"),
    (_BACKUP, "BackupAndRestore._load_model", WRAPPED, durable.load_backup, "a crash leaves weights of a known epoch"),
    (_BACKUP, "BackupAndRestore.on_train_end", WRAPPED, durable.remove_backup, "of several workers, one removes files"),

    # Public modules.
    (f"{_BACKEND}.distribution_lib", "initialize", ADDED, keras_distribution.initialize, "says what to use instead"),
    (f"{_BACKEND}.distribution_lib", "distribute_tensor", ADDED, keras_distribution.distribute_tensor,
     "says what to use instead"),
    ("keras.src.trainers.data_adapters", "is_tf_dataset", WRAPPED, keras_distribution.is_tf_dataset,
     "fit takes distributed datasets"),
    ("keras.src.distribution.distribution_lib", "set_distribution", WRAPPED, keras_distribution.set_distribution,
     "says where several devices have no effect"),
    (f"{_PUBLIC}.losses", "", CALLED, additions.add_modern_names, "2.0: mean_squared_error beside mse"),
    (f"{_PUBLIC}.metrics", "", CALLED, additions.add_modern_names, "2.0: mean_squared_error beside mse"),
    (f"{_PUBLIC}.layers", "", CALLED, former.add_preprocessing, "2.0: layers.experimental.preprocessing"),
    (_PUBLIC, "", CALLED, additions.load_saving, "tf.keras.saving needs no import of its own"),
    (_PUBLIC, "", CALLED, former.add_experimental, "2.0: tf.keras.experimental.CosineDecay"),
    ("keras.src.models.model", "Model", CALLED, former_names.tell_of_missing_methods,
     "methods of Keras 2 say what to use"),
    *((name, "", CALLED, former_names.tell_of_missing, "names of Keras 2 say what to use") for name in (
        _PUBLIC, f"{_PUBLIC}.layers", f"{_PUBLIC}.losses", f"{_PUBLIC}.metrics", f"{_PUBLIC}.preprocessing",
        # `import tensorflow.keras.utils` makes the second ones those of tf.keras.
        *(f"{package}.{name}" for package in ("keras", _PUBLIC)
          for name in ("callbacks", "initializers", "models", "optimizers", "regularizers", "utils")),
    )),
    (f"{_PUBLIC}.layers", "", CALLED, feature_layers.add_dense_features, "2.0: DenseFeatures"),
))  # fmt: skip

MODULES = tuple(dict.fromkeys(row.module for row in REPLACEMENTS))


def replace_in(module: ModuleType) -> None:
    """Do what the table says for a module of Keras, which has just been imported."""
    for row in REPLACEMENTS:
        if row.module == module.__name__ and row.is_for(_release()):
            _carry_out(row, module)


@functools.cache
def _release() -> tuple[int, int]:
    major, minor = importlib.import_module("keras.src.version").__version__.split(".")[:2]
    return int(major), int(minor)


def _carry_out(row, module):
    if row.how == CALLED:
        row.by(module)
        return
    folder, _, name = row.name.rpartition(".")
    owner = getattr(module, folder) if folder else module
    if row.how == ADDED:
        setattr(owner, name, row.by)
    elif row.how == MADE:
        setattr(owner, name, row.by(getattr(owner, name)))
    elif hasattr(owner, name):  # another release of Keras may have it elsewhere
        setattr(owner, name, _wrapped(row.by, getattr(owner, name)))


def _wrapped(function, original):
    """A function that calls `function(original, ...)`, and looks like the original."""

    @functools.wraps(original)
    def replaced(*args, **kwargs):
        try:
            return function(original, *args, **kwargs)
        except BaseException as error:
            hide_frames(error)
            raise

    replaced.__signature__ = inspect.signature(original)  # Keras binds arguments by it
    return replaced


def missing_targets() -> list[str]:
    """What the table names and the installed Keras does not have, as lines to read."""
    lines = []
    for row in REPLACEMENTS:
        if not row.is_for(_release()):
            continue
        try:
            target = importlib.import_module(row.module)
        except ImportError:
            lines.append(f"{row.module}: no such module; wanted because: {row.why}")
            continue
        folder, _, name = row.name.rpartition(".")
        path = [folder] if row.how == ADDED else [folder, name]
        for part in filter(None, path):
            if not hasattr(target, part):
                lines.append(f"{row.module}: no {row.name}; wanted because: {row.why}")
                break
            target = getattr(target, part)
    return lines
