"""How programs of TensorFlow 2.0 call Keras, where Keras 3 has other arguments and methods: both ways work."""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import inspect
import sys
import types

import numpy as np

from headrace._src.autodiff.gradient_tape import GradientTape
from headrace._src.compat.keras_additions import addition

# Arguments of `fit`, `evaluate` and `predict` that say how generators are read; Keras 3 takes them from the data set.
_READING = ("max_queue_size", "workers", "use_multiprocessing")


def _replace(owner, name):
    """Decorator: `function(original, *args, **kwargs)` takes the place of a method, with its signature."""

    def declare(function):
        original = getattr(owner, name, None)
        if original is None:  # another release of Keras, which has it elsewhere
            return function

        @functools.wraps(original)
        def replaced(*args, **kwargs):
            return function(original, *args, **kwargs)

        replaced.__signature__ = inspect.signature(original)  # Keras binds arguments by it
        setattr(owner, name, replaced)
        return function

    return declare


# Layers and models.


@addition("keras.src.layers.layer")
def _layers(module):
    layer = module.Layer

    @_replace(layer, "__init__")
    def init(original, self, *args, batch_input_shape=None, **kwargs):
        original(self, *args, **kwargs)
        if batch_input_shape is not None:
            self._headrace_batch_shape = tuple(batch_input_shape)

    @_replace(layer, "add_metric")
    def add_metric(original, self, value, name=None, aggregation=None, **kwargs):
        keras = importlib.import_module("keras")
        if isinstance(value, keras.KerasTensor):
            return original(self, value, name=name, aggregation=aggregation, **kwargs)
        if aggregation is None and self._metrics:
            return None  # the result of a metric of the layer, which counts already
        if aggregation != "mean" or name is None:
            raise ValueError(
                f"Layer.add_metric: expected a name and aggregation='mean', got {name=} and {aggregation=}. Other "
                "metrics are attributes of the layer."
            )
        metric = next((known for known in self._metrics if known.name == name), None)
        if metric is None:
            metric = keras.metrics.Mean(name=name)
            locked = self._tracker.locked
            self._tracker.unlock()
            self._metrics.append(metric)
            if locked:
                self._tracker.lock()
        metric.update_state(value)
        return None

    layer.input_shape = _ShapeOf("input")
    layer.output_shape = _ShapeOf("output")


class _ShapeOf:
    """The shapes of a layer's inputs or outputs, unless the layer has an attribute of that name."""

    def __init__(self, which):
        self._which = which

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        tensors = getattr(instance, self._which)
        if isinstance(tensors, (list, tuple)):
            return [tuple(tensor.shape) for tensor in tensors]
        return tuple(tensors.shape)


@addition("keras.src.layers.core.dense")
def _dense(module):
    @_replace(module.Dense, "__init__")
    def init(original, self, units, *args, **kwargs):
        original(self, int(units) if isinstance(units, np.integer) else units, *args, **kwargs)


@addition("keras.src.models.sequential")
def _sequential(module):
    sequential = module.Sequential

    @_replace(sequential, "add")
    def add(original, self, layer, *args, **kwargs):
        shape = getattr(layer, "_headrace_batch_shape", None)
        if shape is not None and not self._layers:
            original(self, module.InputLayer(batch_shape=shape))
        return original(self, layer, *args, **kwargs)

    def predict_classes(self, x, batch_size=32, verbose=0):
        """The class that is most likely for each sample."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        return found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")

    def predict_proba(self, x, batch_size=32, verbose=0):
        """What `predict` gives."""
        return self.predict(x, batch_size=batch_size, verbose=verbose)

    sequential.predict_classes, sequential.predict_proba = predict_classes, predict_proba


@addition("keras.src.models.model")
def _models(module):
    def reset_states(self):
        """Set the states of recurrent layers back to zeros."""
        for layer in self._flatten_layers(include_self=False):
            if getattr(layer, "stateful", False) and hasattr(layer, "reset_state"):
                layer.reset_state()

    module.Model.reset_states = reset_states


@addition("keras.src.backend.tensorflow.trainer")
def _trainer(module):
    trainer = module.TensorFlowTrainer
    for name in ("fit", "evaluate", "predict"):

        @_replace(trainer, name)
        def read(original, self, *args, **kwargs):
            for argument in _READING:
                kwargs.pop(argument, None)
            return original(self, *args, **kwargs)

    def fit_generator(self, generator, steps_per_epoch=None, epochs=1, verbose=1, callbacks=None, validation_data=None,
                      validation_steps=None, validation_freq=1, class_weight=None, max_queue_size=10, workers=1,
                      use_multiprocessing=False, shuffle=True, initial_epoch=0):
        """`fit` of a generator."""
        shuffle = shuffle and isinstance(generator, importlib.import_module("keras").utils.PyDataset)
        return self.fit(
            generator, steps_per_epoch=steps_per_epoch, epochs=epochs, verbose=verbose, callbacks=callbacks,
            validation_data=validation_data, validation_steps=validation_steps, validation_freq=validation_freq,
            class_weight=class_weight, shuffle=shuffle, initial_epoch=initial_epoch,
        )  # fmt: skip

    def evaluate_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1,
                           use_multiprocessing=False, verbose=0):
        """`evaluate` of a generator."""
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1,
                          use_multiprocessing=False, verbose=0):
        """`predict` of a generator."""
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    for method in (fit_generator, evaluate_generator, predict_generator):
        setattr(trainer, method.__name__, method)


@addition("keras.src.metrics.metric")
def _metrics(module):
    def get_weights(self):
        """The values of the metric's variables."""
        return [variable.numpy() for variable in self.variables]

    def set_weights(self, weights):
        """Set the values of the metric's variables."""
        for variable, value in zip(self.variables, weights, strict=True):
            variable.assign(value)

    module.Metric.weights = property(lambda self: self.variables)
    module.Metric.get_weights, module.Metric.set_weights = get_weights, set_weights


# Optimizers.


@addition("keras.src.optimizers.base_optimizer")
def _optimizers(module):
    optimizer = module.BaseOptimizer

    @_replace(optimizer, "__init__")
    def init(original, self, learning_rate, *args, lr=None, decay=None, **kwargs):
        rate = learning_rate if lr is None else lr
        if decay:
            rate = importlib.import_module("keras").optimizers.schedules.InverseTimeDecay(rate, 1, decay)
        original(self, rate, *args, **kwargs)

    def minimize(self, loss, var_list, grad_loss=None, name=None, tape=None):
        """Compute the gradients of a loss, and apply them.

        Args:
            loss: a function without arguments that gives the loss, or the loss itself if there is a `tape`.
            var_list: the variables, or a function that gives them.
            grad_loss: the gradient by the loss; ones by default.
            tape: the tape on which the loss was computed.
        """
        if not callable(loss) and tape is None:
            raise ValueError("Optimizer.minimize: a loss that is a tensor needs the tape on which it was computed.")
        if callable(loss):
            with GradientTape() if tape is None else tape as tape:
                loss = loss()
        variables = var_list() if callable(var_list) else var_list
        gradients = tape.gradient(loss, variables, grad_loss)
        return self.apply_gradients(zip(gradients, variables))

    def get_weights(self):
        """The values of the optimizer's variables."""
        return [variable.numpy() for variable in self.variables]

    optimizer.lr = property(
        lambda self: self.learning_rate, lambda self, value: setattr(self, "learning_rate", value),
        doc="The name of `learning_rate` in TensorFlow 2.0.",
    )  # fmt: skip
    optimizer.weights = property(lambda self: self.variables)
    for method in (minimize, get_weights):
        setattr(optimizer, method.__name__, method)


# Functions.


@addition("keras.src.legacy.backend")
def _backend(module):
    @_replace(module, "set_value")
    def set_value(original, x, value):
        x.assign(np.asarray(value, dtype=getattr(x.dtype, "name", x.dtype)))

    def function(inputs, outputs, updates=None, name=None, **kwargs):
        """A function of lists of arrays that computes the outputs of some layers from the inputs of others."""
        model = importlib.import_module("keras").Model(list(inputs), list(outputs))

        def call(given):
            found = model(list(given))
            return [np.asarray(x) for x in (found if isinstance(found, (list, tuple)) else [found])]

        return call

    module.function = function


@addition("keras._tf_keras.keras.backend")
def _backend_names(module):
    module.function = importlib.import_module("keras.src.legacy.backend").function


def _known_by_short_names(name):
    """`mse` is found again when a model is loaded from an HDF5 file."""

    @addition(f"keras.src.{name}")
    def find(module):
        @_replace(module, "deserialize")
        def deserialize(original, given, *args, **kwargs):
            found = module.ALL_OBJECTS_DICT.get(given) if isinstance(given, str) else None
            return found if inspect.isfunction(found) else original(given, *args, **kwargs)


for _name in ("losses", "metrics"):
    _known_by_short_names(_name)


@addition("keras.src.legacy.saving.saving_utils")
def _loading(module):
    """Training goes on with a model from an HDF5 file: Keras makes its optimizer for none of the layers' variables."""

    @_replace(module, "try_build_compiled_arguments")
    def build(original, model):
        original(model)
        if model.trainable_variables and hasattr(model.optimizer, "build"):
            model.optimizer.build(model.trainable_variables)


# Modules.


def _module(name):
    """An empty module that can be imported by this name."""
    made = types.ModuleType(name)
    made.__path__ = []
    made.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = made
    return made


@addition("keras._tf_keras.keras.layers")
def _preprocessing(module):
    """Layers that prepare data were in `layers.experimental.preprocessing` first."""
    folder = _module(f"{module.__name__}.experimental")
    folder.preprocessing = _module(f"{folder.__name__}.preprocessing")
    for name in (
        "CategoryEncoding CenterCrop Discretization HashedCrossing Hashing IntegerLookup Normalization RandomContrast "
        "RandomCrop RandomFlip RandomHeight RandomRotation RandomTranslation RandomWidth RandomZoom Rescaling Resizing "
        "StringLookup TextVectorization PreprocessingLayer"
    ).split():
        if hasattr(module, name):
            setattr(folder.preprocessing, name, getattr(module, name))
    module.experimental = folder


@addition("keras._tf_keras.keras")
def _experimental(module):
    """Schedules that were in `tf.keras.experimental` first."""
    folder = _module(f"{module.__name__}.experimental")
    schedules = importlib.import_module("keras").optimizers.schedules
    folder.CosineDecay, folder.CosineDecayRestarts = schedules.CosineDecay, schedules.CosineDecayRestarts
    module.experimental = folder
