"""Models and modules of `tf.keras` that Keras 3 has no more: linear models, `mixed_precision.experimental`.

`replacements.py` puts them there.
"""

from __future__ import annotations

import functools
import importlib


def _keras():
    return importlib.import_module("keras")


@functools.cache
def linear_model():
    """The class `tf.keras.experimental.LinearModel`."""
    keras = _keras()

    @keras.saving.register_keras_serializable(package="headrace")
    class LinearModel(keras.Model):
        """y = w1 x1 + w2 x2 + ... + b, for one input or several."""

        def __init__(self, units=1, activation=None, use_bias=True, kernel_initializer="zeros",
                     bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, **kwargs):  # fmt: skip
            super().__init__(**kwargs)
            self.units, self.use_bias = units, use_bias
            self.activation = keras.activations.get(activation)
            self.kernel_initializer = keras.initializers.get(kernel_initializer)
            self.bias_initializer = keras.initializers.get(bias_initializer)
            self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
            self.bias_regularizer = keras.regularizers.get(bias_regularizer)

        def build(self, input_shape):
            if isinstance(input_shape, dict):
                self._names = sorted(input_shape)
                shapes = [input_shape[name] for name in self._names]
            else:
                shapes = input_shape if isinstance(input_shape[0], (list, tuple)) else [input_shape]
            self.dense_layers = [
                keras.layers.Dense(self.units, use_bias=False, kernel_initializer=self.kernel_initializer,
                                   kernel_regularizer=self.kernel_regularizer)
                for _ in shapes
            ]  # fmt: skip
            for layer, shape in zip(self.dense_layers, shapes):
                layer.build(shape)
            if self.use_bias:
                self.bias = self.add_weight(shape=(self.units,), initializer=self.bias_initializer, name="bias",
                                            regularizer=self.bias_regularizer)  # fmt: skip

        def call(self, inputs):
            if isinstance(inputs, dict):
                inputs = [inputs[name] for name in self._names]
            elif not isinstance(inputs, (list, tuple)):
                inputs = [inputs]
            result = sum(layer(x) for layer, x in zip(self.dense_layers, inputs))
            result = result + self.bias if self.use_bias else result
            return result if self.activation is None else self.activation(result)

        def get_config(self):
            return {
                **super().get_config(), "units": self.units, "use_bias": self.use_bias,
                "activation": keras.activations.serialize(self.activation),
                "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
                "bias_initializer": keras.initializers.serialize(self.bias_initializer),
                "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
                "bias_regularizer": keras.regularizers.serialize(self.bias_regularizer),
            }  # fmt: skip

    return LinearModel


@functools.cache
def wide_deep_model():
    """The class `tf.keras.experimental.WideDeepModel`."""
    keras = _keras()

    @keras.saving.register_keras_serializable(package="headrace")
    class WideDeepModel(keras.Model):
        """The sum of a linear model and a deep one, each with an optimizer of its own if two are given."""

        def __init__(self, linear_model, dnn_model, activation=None, **kwargs):
            super().__init__(**kwargs)
            self.linear_model, self.dnn_model = linear_model, dnn_model
            self.activation = keras.activations.get(activation)

        def compile(self, optimizer="rmsprop", *args, **kwargs):
            pair = list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer, optimizer]
            super().compile(pair[1], *args, **kwargs)
            linear = pair[0] if pair[0] is not pair[1] else None
            self._linear_optimizer = None if linear is None else keras.optimizers.get(linear)

        def call(self, inputs, training=None):
            wide, deep = inputs if isinstance(inputs, (list, tuple)) and len(inputs) == 2 else (inputs, inputs)
            result = self.linear_model(wide) + self.dnn_model(deep, training=training)
            return result if self.activation is None else self.activation(result)

        def train_step(self, data):
            if self._linear_optimizer is None:
                return super().train_step(data)
            x, y, weight = keras.utils.unpack_x_y_sample_weight(data)
            with importlib.import_module("headrace").GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compute_loss(x, y, y_pred, weight)
            self._loss_tracker.update_state(loss)
            wide, deep = self.linear_model.trainable_variables, self.dnn_model.trainable_variables
            gradients = tape.gradient(loss, [v.value for v in [*wide, *deep]])
            self._linear_optimizer.apply_gradients(zip(gradients[: len(wide)], wide))
            self.optimizer.apply_gradients(zip(gradients[len(wide) :], deep))
            return self.compute_metrics(x, y, y_pred, sample_weight=weight)

        def get_config(self):
            serialize = keras.saving.serialize_keras_object
            return {**super().get_config(), "linear_model": serialize(self.linear_model),
                    "dnn_model": serialize(self.dnn_model),
                    "activation": keras.activations.serialize(self.activation)}  # fmt: skip

        @classmethod
        def from_config(cls, config):
            deserialize = keras.saving.deserialize_keras_object
            config = {**config, "linear_model": deserialize(config["linear_model"]),
                      "dnn_model": deserialize(config["dnn_model"])}  # fmt: skip
            return cls(**config)

    return WideDeepModel


def add_mixed_precision(module):
    """`tf.keras.mixed_precision.experimental`: the names before 2.4."""
    folder = type(module)(f"{module.__name__}.experimental")
    folder.Policy, folder.LossScaleOptimizer = module.Policy, module.LossScaleOptimizer
    folder.set_policy, folder.global_policy = module.set_global_policy, module.global_policy
    module.experimental = folder
