"""How programs of TensorFlow 2.0 call Keras, where Keras 3 has other arguments and methods: both ways work.

`replacements.py` says where in Keras each of these goes. A function whose first parameter is `original` stands in
the place of that method or function of Keras.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import inspect
import sys
import types

import numpy as np

from headrace._src.autodiff.gradient_tape import GradientTape
from headrace._src.compat.keras.feature_layers import sequence_features
from headrace._src.compat.keras.former_losses import add_symbolic_metric
from headrace._src.compat.keras.former_models import linear_model, wide_deep_model
from headrace._src.compat.keras.former_names import tell_of_missing

# Arguments of `fit`, `evaluate` and `predict` that say how generators are read; Keras 3 takes them from the data set.
_READING = ("max_queue_size", "workers", "use_multiprocessing")


# Layers and models.


# Arguments of layers in 2.0, with the values that mean what Keras 3 does anyway.
_WITHOUT_EFFECT = {
    "dynamic": (False,), "time_major": (False,), "fused": (None, True, False), "virtual_batch_size": (None,),
    "adjustment": (None,), "causal": (False,),
}  # fmt: skip


def init_with_batch_shape(original, self, *args, batch_input_shape=None, **kwargs):
    """`Layer(batch_input_shape=...)`; `add_layer` uses it. And arguments that are gone, where they change nothing."""
    for name, values in _WITHOUT_EFFECT.items():
        if name in kwargs and any(kwargs[name] is value for value in values):
            del kwargs[name]
    original(self, *args, **kwargs)
    if batch_input_shape is not None:
        self._headrace_batch_shape = tuple(batch_input_shape)


def add_metric(original, self, value, name=None, aggregation=None, **kwargs):
    """`Layer.add_metric` of any tensor, as its mean."""
    keras = importlib.import_module("keras")
    if isinstance(value, keras.KerasTensor):
        return add_symbolic_metric(self, value, name, aggregation)
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


class ShapeOf:
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


def _built(model):
    """The functional model of a `Sequential` that knows its shapes, or the model itself."""
    built = model.__dict__.get("_functional")
    if built is None and type(model).__name__ == "Sequential":
        raise AttributeError(f"{model.name!r} has no inputs yet: it was not called, and has no Input layer.")
    return model if built is None else built


input_names = property(lambda self: [x.name for x in _built(self).inputs], doc="The names of the inputs.")
output_names = property(lambda self: list(_built(self).output_names), doc="The names of the layers of the outputs.")


def init_dense(original, self, *args, **kwargs):
    """`Dense(np.int64(3))`."""
    units = args[0] if args else kwargs.get("units")
    if isinstance(units, np.integer):
        args, kwargs = args[1:], {**kwargs, "units": int(units)}
    original(self, *args, **kwargs)


def add_layer(original, self, layer, *args, **kwargs):
    """`Sequential.add` of a first layer with `batch_input_shape`."""
    shape = getattr(layer, "_headrace_batch_shape", None)
    if shape is not None and not self._layers:
        original(self, importlib.import_module("keras").layers.InputLayer(batch_shape=shape))
    return original(self, layer, *args, **kwargs)


def predict_classes(self, x, batch_size=32, verbose=0):
    """The class that is most likely for each sample."""
    scores = self.predict(x, batch_size=batch_size, verbose=verbose)
    return scores.argmax(axis=-1) if scores.shape[-1] > 1 else (scores > 0.5).astype("int32")


def predict_proba(self, x, batch_size=32, verbose=0):
    """What `predict` gives."""
    return self.predict(x, batch_size=batch_size, verbose=verbose)


def reset_states(self):
    """Set the states of recurrent layers back to zeros."""
    for layer in self._flatten_layers(include_self=False):
        if getattr(layer, "stateful", False) and hasattr(layer, "reset_state"):
            layer.reset_state()


# Training.


def without_reading(original, self, *args, **kwargs):
    """`fit`, `evaluate` and `predict` without the arguments that say how generators are read."""
    for argument in _READING:
        kwargs.pop(argument, None)
    return original(self, *args, **kwargs)


def on_one_batch(original, self, *args, **kwargs):
    """`train_on_batch` and `test_on_batch`, whose metrics are those of that batch alone."""
    self.reset_metrics()
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


weights = property(lambda self: self.variables, doc="The variables of a metric or an optimizer.")


def get_weights(self):
    """The values of the variables of a metric or an optimizer."""
    return [variable.numpy() for variable in self.variables]


def set_weights(self, weights):
    """Set the values of a metric's variables."""
    for variable, value in zip(self.variables, weights, strict=True):
        variable.assign(value)


def init_optimizer(original, self, learning_rate, *args, lr=None, decay=None, **kwargs):
    """`Optimizer(lr=..., decay=...)`."""
    rate = learning_rate if lr is None else lr
    if not decay:
        original(self, rate, *args, **kwargs)
        return
    keras = importlib.import_module("keras")
    first = keras.Variable(rate, trainable=False, name="learning_rate")  # `optimizer.lr`, which programs change
    self.__dict__.update(_headrace_rate=first, _headrace_decay=float(decay))
    original(self, lambda: first / (1.0 + decay * keras.ops.cast(self.iterations, first.dtype)), *args, **kwargs)


def init_with_epsilon(original, self, *args, **kwargs):
    """`Adam(epsilon=None)`: the one of the backend."""
    given = inspect.signature(original).bind(self, *args, **kwargs)
    if given.arguments.get("epsilon", 0.0) is None:
        given.arguments["epsilon"] = importlib.import_module("keras").config.epsilon()
    return original(*given.args, **given.kwargs)


def config_of_optimizer(original, self):
    """A decay is saved as the schedule that does the same."""
    if "_headrace_rate" not in self.__dict__:
        return original(self)
    rates = importlib.import_module("keras").optimizers
    schedule = rates.schedules.InverseTimeDecay(float(self._headrace_rate.numpy()), 1, self._headrace_decay)
    changed, self._learning_rate = self._learning_rate, schedule
    try:
        return original(self)
    finally:
        self._learning_rate = changed


def _set_rate(self, value):
    if "_headrace_rate" in self.__dict__:
        self._headrace_rate.assign(value)
    else:
        self.learning_rate = value


lr = property(
    lambda self: self.__dict__["_headrace_rate"] if "_headrace_rate" in self.__dict__ else self.learning_rate,
    _set_rate, doc="The name of `learning_rate` in TensorFlow 2.0.",
)  # fmt: skip


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


# Functions.


def set_value(original, x, value):
    """`K.set_value` of a value of any dtype."""
    x.assign(np.asarray(value, dtype=getattr(x.dtype, "name", x.dtype)))


def deserialize(original, config, *args, **kwargs):
    """A loss or metric by its short name, such as `mse`, which HDF5 files have."""
    known = importlib.import_module(original.__module__).ALL_OBJECTS_DICT
    same = known.get(config) if isinstance(config, str) else None
    return same if inspect.isfunction(same) else original(config, *args, **kwargs)


def build_compiled(original, model):
    """Training goes on with a model from an HDF5 file: Keras makes its optimizer for none of the layers' variables."""
    original(model)
    if model.trainable_variables and hasattr(model.optimizer, "build"):
        model.optimizer.build(model.trainable_variables)


# Modules.


def _module(name):
    """An empty module that can be imported by this name."""
    module = types.ModuleType(name)
    module.__path__ = []
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = module
    return module


def add_preprocessing(module):
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
    tell_of_missing(folder)
    module.experimental = folder


def add_experimental(module):
    """Schedules that were in `tf.keras.experimental` first."""
    folder = _module(f"{module.__name__}.experimental")
    schedules = importlib.import_module("keras").optimizers.schedules
    folder.CosineDecay, folder.CosineDecayRestarts = schedules.CosineDecay, schedules.CosineDecayRestarts
    folder.__getattr__ = _model_by_name  # these derive from Keras's classes, which may not all be there yet
    module.experimental = folder


def _model_by_name(name):
    made = {"LinearModel": linear_model, "WideDeepModel": wide_deep_model, "SequenceFeatures": sequence_features}
    if name not in made:
        raise AttributeError(f"module 'tf.keras.experimental' has no attribute {name!r}")
    return made[name]()
