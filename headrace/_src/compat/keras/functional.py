"""Functions of `tf` on the symbolic tensors of Keras: each call becomes a step of the model that is being made.

In TensorFlow 2.0, `tf.concat([a, b], -1)` of the outputs of two layers was a layer by itself. Keras 3 refuses it.
`replacements.py` says where in Keras this is put.
"""

from __future__ import annotations

import functools
import importlib
import inspect

from headrace._src.compat.keras.former_graphs import slice_of, sum_of
from headrace._src.core import nest
from headrace._src.op.api import PUBLIC
from headrace._src.op.dispatch import Dispatcher, dispatchable, global_dispatchers

# These are asked for a tensor with a value, which a symbolic one has not.
_CONVERSIONS = frozenset({"convert_to_tensor", "constant", "identity_n"})
# What Keras 2 calls Python's operators in its files.
_OPERATORS = {"__operators__.add": sum_of, "__operators__.getitem": slice_of}


def dispatch_symbolic_tensors(module):
    """Public functions that get a `KerasTensor` become steps of the model."""
    kind = module.KerasTensor

    def handle(function, args, kwargs):
        name = getattr(function, "_public_name", None)
        if name is None or name in _CONVERSIONS:
            return Dispatcher.NOT_SUPPORTED
        try:
            leaves = nest.flatten([args, list(kwargs.values())])
        except RecursionError:  # a list that contains itself: the function says so
            return Dispatcher.NOT_SUPPORTED
        if not any(isinstance(leaf, kind) for leaf in leaves):
            return Dispatcher.NOT_SUPPORTED
        return _operation()(name).symbolic_call(*args, **kwargs)

    global_dispatchers.append(handle)


def dispatch_functions_of_the_backend(module):
    """`K.mean(x)` and the like, which look at what only tensors have before they call functions of `tf`."""
    for name, function in list(vars(module).items()):
        if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
            setattr(module, name, dispatchable(function))
            getattr(module, name)._public_name = f"keras.backend.{name}"


def _function(name):
    """A public function, by its name."""
    if name.startswith("keras.backend."):
        return getattr(importlib.import_module("keras.src.legacy.backend"), name.rpartition(".")[2])
    return _OPERATORS[name] if name in _OPERATORS else PUBLIC[name]


@functools.cache
def _operation():
    """The class of the steps, which can be made only when Keras is there."""
    keras = importlib.import_module("keras")
    backend = importlib.import_module("keras.src.backend")
    naming = importlib.import_module("keras.src.utils.naming")

    def dense(x):
        return keras.KerasTensor(x.shape, x.dtype) if isinstance(x, keras.KerasTensor) else x

    @keras.saving.register_keras_serializable(package="headrace")
    class TensorFlowFunction(keras.Operation):
        """A function of `tf`, as a step of a model."""

        def __init__(self, function, name=None):
            super().__init__(name=naming.uniquify(f"tf.{function}") if name is None else name)
            self.function = function
            self._call = _function(function)

        def call(self, *args, **kwargs):
            return self._call(*args, **kwargs)

        def compute_output_spec(self, *args, **kwargs):
            try:
                return backend.compute_output_spec(self.call, *args, **kwargs)
            except (TypeError, ValueError):
                # Keras takes the product of a dense tensor and a number for a sparse one.
                args, kwargs = keras.tree.map_structure(dense, (args, kwargs))
                return backend.compute_output_spec(self.call, *args, **kwargs)

        def get_config(self):
            return {"function": self.function, "name": self.name}

        @classmethod
        def from_config(cls, config):
            return cls(**config)

    return TensorFlowFunction


def retrieve(original, name, registered_name, *args, **kwargs):
    """The class or function of a saved model: one that has such steps can be loaded before any was made."""
    if registered_name == "headrace>TensorFlowFunction":
        return _operation()
    return original(name, registered_name, *args, **kwargs)
