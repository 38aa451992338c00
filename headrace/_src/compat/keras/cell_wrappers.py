"""`tf.nn.RNNCellDropoutWrapper` and its neighbours: Keras's cells with dropout, a residual connection or a device.

The classes derive from Keras's layers, so they are made when first asked for.
"""

import functools
import inspect
from types import SimpleNamespace

from headrace._src.compat.recurrent import wrappers
from headrace._src.compat.recurrent.cells import with_batch
from headrace._src.compat.tensorflow_names.alias import keras
from headrace._src.core import nest
from headrace._src.op.api import provided
from headrace._src.op.convert import to_tensor
from headrace._src.ops.math.elementwise import FLOOR
from headrace._src.ops.nn import dropout as nn_dropout
from headrace._src.ops.random.uniform_and_normal import uniform
from headrace._src.program.device_scopes import device as device_scope


@functools.cache
def _classes():
    layers, saving = keras().layers, keras().saving

    class CellWrapper(layers.Layer):
        """A cell with the sizes, the state and the weights of another one."""

        def __init__(self, cell, **kwargs):
            super().__init__(**kwargs)
            for name in ("call", "state_size"):
                if not hasattr(cell, name):
                    raise TypeError(f"{type(self).__name__}: a cell has call and state_size, got {cell!r}.")
            self.cell = cell
            self._takes_training = "training" in inspect.signature(cell.call).parameters

        @property
        def wrapped_cell(self):
            return self.cell

        @property
        def state_size(self):
            return self.cell.state_size

        @property
        def output_size(self):
            return self.cell.output_size

        def build(self, input_shape):
            if not getattr(self.cell, "built", True):
                self.cell.build(input_shape)
                self.cell.built = True
            self.built = True

        def get_initial_state(self, batch_size=None, **kwargs):
            return self.cell.get_initial_state(batch_size=batch_size, **kwargs)

        def zero_state(self, batch_size, dtype):
            return nest.map_structure(lambda size: keras().ops.zeros((batch_size, size), dtype), self.state_size)

        def _step(self, inputs, states, training):
            more = {"training": training} if self._takes_training else {}
            return self.cell(inputs, states, **more)

        def get_config(self):
            return {**super().get_config(), "cell": saving.serialize_keras_object(self.cell)}

        @classmethod
        def from_config(cls, config, custom_objects=None):
            config = dict(config)
            return cls(saving.deserialize_keras_object(config.pop("cell"), custom_objects), **config)

    return SimpleNamespace(
        dropout=_dropout_wrapper(CellWrapper), residual=_residual_wrapper(CellWrapper),
        device=_device_wrapper(CellWrapper),
    )  # fmt: skip


def _dropout_wrapper(base):
    class DropoutWrapper(base):
        """A cell with dropout of its inputs, outputs and state, in training and after it.

        Args:
            cell: a cell of Keras.
            input_keep_prob, output_keep_prob, state_keep_prob: the probabilities of keeping an element.
            variational_recurrent: whether all steps drop the same elements.
            input_size: with `variational_recurrent` and `input_keep_prob`, the shape of inputs without the batch.
            dtype: with `variational_recurrent`, the dtype of inputs, outputs and state.
            seed: the seed.
            dropout_state_filter_visitor: a function of a state that says which of its parts are dropped.
        """

        def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0,
                     variational_recurrent=False, input_size=None, dtype=None, seed=None,
                     dropout_state_filter_visitor=None, **kwargs):  # fmt: skip
            super().__init__(cell, dtype=dtype, **kwargs)
            if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
                raise TypeError("dropout_state_filter_visitor must be a function, got "
                                f"{dropout_state_filter_visitor!r}.")
            self._filter = dropout_state_filter_visitor or wrappers.all_but_cells
            self._kept = {kind: wrappers.probability(f"{kind}_keep_prob", value) for kind, value in (
                ("input", input_keep_prob), ("output", output_keep_prob), ("state", state_keep_prob))}  # fmt: skip
            self._seed, self._variational, self._noise = seed, bool(variational_recurrent), None
            if variational_recurrent:
                self._draw(dtype, input_size)

        def _draw(self, dtype, input_size):
            if dtype is None:
                raise ValueError("RNNCellDropoutWrapper: with variational_recurrent=True, dtype must be given.")
            if input_size is None and wrappers.drops(self._kept["input"]):
                raise ValueError("RNNCellDropoutWrapper: with variational_recurrent=True and input_keep_prob below 1, "
                                 "input_size must be given.")
            sizes = {"state": self.cell.state_size, "output": self.cell.output_size, "input": input_size}
            self._noise = SimpleNamespace(**{
                kind: nest.map_structure(lambda n: uniform(with_batch(1, n)[0], seed=self._seed, dtype=dtype), size)
                for kind, size in sizes.items() if size is not None
            })  # fmt: skip

        def _dropped(self, kind, values):
            kept = self._kept[kind]
            if not wrappers.drops(kept):
                return values
            if self._noise is None:
                return nest.map_structure(lambda x: nn_dropout.dropout(x, 1.0 - kept, seed=self._seed), values)
            return nest.map_structure(
                lambda x, noise: x / to_tensor(kept, x.dtype) * FLOOR(noise + kept), values, getattr(self._noise, kind)
            )

        def call(self, inputs, states, training=None):
            output, states = self._step(self._dropped("input", inputs), states, training)
            if wrappers.drops(self._kept["state"]):
                states = wrappers.chosen(self._filter, states, self._dropped("state", states))
            return self._dropped("output", output), states

        def get_config(self):
            return {
                **super().get_config(), **{f"{kind}_keep_prob": kept for kind, kept in self._kept.items()},
                "variational_recurrent": self._variational, "seed": self._seed,
            }  # fmt: skip

    return DropoutWrapper


def _residual_wrapper(base):
    class ResidualWrapper(base):
        """A cell whose inputs are added to its outputs.

        Args:
            cell: a cell of Keras.
            residual_fn: a function of inputs and outputs, instead of their sum.
        """

        def __init__(self, cell, residual_fn=None, **kwargs):
            super().__init__(cell, **kwargs)
            self._residual_fn = residual_fn

        def call(self, inputs, states, training=None):
            outputs, states = self._step(inputs, states, training)
            return (self._residual_fn or wrappers.sums)(inputs, outputs), states

    return ResidualWrapper


def _device_wrapper(base):
    class DeviceWrapper(base):
        """A cell that computes on a device.

        Args:
            cell: a cell of Keras.
            device: the device.
        """

        def __init__(self, cell, device, **kwargs):
            super().__init__(cell, **kwargs)
            self._device = device

        def zero_state(self, batch_size, dtype):
            with device_scope(self._device):
                return super().zero_state(batch_size, dtype)

        def call(self, inputs, states, training=None):
            with device_scope(self._device):
                return self._step(inputs, states, training)

        def get_config(self):
            return {**super().get_config(), "device": self._device}

    return DeviceWrapper


@provided("nn.RNNCellDropoutWrapper")
def dropout_wrapper():
    """The class `tf.nn.RNNCellDropoutWrapper`."""
    return _classes().dropout


@provided("nn.RNNCellResidualWrapper")
def residual_wrapper():
    """The class `tf.nn.RNNCellResidualWrapper`."""
    return _classes().residual


@provided("nn.RNNCellDeviceWrapper")
def device_wrapper():
    """The class `tf.nn.RNNCellDeviceWrapper`."""
    return _classes().device
