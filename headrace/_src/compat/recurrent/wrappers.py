"""Cells around cells: dropout, residual connections, a device."""

from typing import Any

from headrace._src.compat.recurrent.cells import LSTMStateTuple, RNNCell, check_cell, with_batch
from headrace._src.core import nest
from headrace._src.core.names import name_scope
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import measuring
from headrace._src.ops.math.elementwise import FLOOR
from headrace._src.ops.nn import dropout as nn_dropout
from headrace._src.ops.random.uniform_and_normal import uniform
from headrace._src.program.device_scopes import device as device_scope


class _Wrapper(RNNCell):
    """A cell with the sizes and the state of another one."""

    def __init__(self, cell, **kwargs) -> None:
        super().__init__(**kwargs)
        check_cell("cell", cell)
        self.cell = cell

    state_size = property(lambda self: self.cell.state_size)
    output_size = property(lambda self: self.cell.output_size)
    wrapped_cell = property(lambda self: self.cell)

    @property
    def variables(self) -> list:
        """The variables of the cell."""
        return list(getattr(self.cell, "variables", ()))

    weights = variables

    @property
    def trainable_variables(self) -> list:
        """The variables of the cell that are trained."""
        return list(getattr(self.cell, "trainable_variables", ()))

    trainable_weights = trainable_variables

    def zero_state(self, batch_size, dtype) -> Any:
        """The cell's.

        Args:
            batch_size: how many examples.
            dtype: the dtype.
        """
        with name_scope(f"{type(self).__name__}ZeroState"):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None) -> Any:
        """The output of one step, and the new state.

        Args:
            inputs: a tensor of shape (batch, ...).
            state: a structure like `state_size`.
            scope: the scope of the cell's variables.
        """
        return self.call(inputs, state, **({} if scope is None else {"scope": scope}))


@api("compat.v1.nn.rnn_cell.DropoutWrapper")
class DropoutWrapper(_Wrapper):
    """Dropout of the inputs, outputs and state of a cell.

    Args:
        cell: the cell.
        input_keep_prob, output_keep_prob, state_keep_prob: the probabilities of keeping an element.
        variational_recurrent: whether all steps drop the same elements.
        input_size: with `variational_recurrent` and `input_keep_prob`, the shape of inputs without the batch.
        dtype: with `variational_recurrent`, the dtype of inputs, outputs and state.
        seed: the seed.
        dropout_state_filter_visitor: a function of a state that says which of its parts are dropped; by default all
            but the cells (`c`) of an LSTM and TensorArrays.
    """

    def __init__(
        self,
        cell,
        input_keep_prob=1.0,
        output_keep_prob=1.0,
        state_keep_prob=1.0,
        variational_recurrent=False,
        input_size=None,
        dtype=None,
        seed=None,
        dropout_state_filter_visitor=None,
        **kwargs,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable. Received: "
                            f"{dropout_state_filter_visitor}")
        self._state_filter = dropout_state_filter_visitor or all_but_cells
        self._input_keep_prob, self._output_keep_prob, self._state_keep_prob = (
            probability(label, value) for label, value in (
                ("input_keep_prob", input_keep_prob), ("output_keep_prob", output_keep_prob),
                ("state_keep_prob", state_keep_prob),
            )
        )  # fmt: skip
        self._seed = seed
        self._noise: dict[str, Any] | None = None
        if variational_recurrent:
            if dtype is None:
                raise ValueError("DropoutWrapper: with variational_recurrent=True, dtype must be given.")
            if input_size is None and drops(self._input_keep_prob):
                raise ValueError("DropoutWrapper: with variational_recurrent=True and input_keep_prob below 1, "
                                 "input_size must be given.")
            sizes = {"state": cell.state_size, "output": cell.output_size, "input": input_size}

            def drawn(size):
                return uniform(with_batch(1, size)[0], seed=seed, dtype=dtype)

            self._noise = self._no_dependency(
                {kind: nest.map_structure(drawn, size) for kind, size in sizes.items() if size is not None}
            )

    def _dropped(self, kind, values, kept):
        if not drops(kept):
            return values
        if self._noise is None:
            return nest.map_structure(lambda x: nn_dropout.dropout(x, 1.0 - kept, seed=self._seed), values)

        def same_in_all_steps(value, noise):
            result = value / to_tensor(kept, value.dtype) * FLOOR(noise + kept)
            result.set_shape(value.shape)
            return result

        return nest.map_structure(same_in_all_steps, values, self._noise[kind])

    def _dropped_state(self, state):
        if not drops(self._state_keep_prob):
            return state
        dropped = self._dropped("state", state, self._state_keep_prob)
        return chosen(self._state_filter, state, dropped)

    def call(self, inputs, state, **kwargs) -> tuple:
        """One step of the cell, with dropout.

        Args:
            inputs, state: what the cell is given.
            kwargs: passed on to the cell.
        """
        inputs = self._dropped("input", inputs, self._input_keep_prob)
        output, state = self.cell(inputs, state, **kwargs)
        return self._dropped("output", output, self._output_keep_prob), self._dropped_state(state)


def probability(label, value):
    """The probability, checked where its value is known."""
    known = value if isinstance(value, (int, float)) else measuring.get_static_value(value)
    if known is not None and not 0 <= float(known) <= 1:
        raise ValueError(f"DropoutWrapper: {label} must be between 0 and 1, got {float(known)}.")
    return value if known is None else float(known)


def drops(kept):
    """Whether anything is dropped, given the probability of keeping an element."""
    return not isinstance(kept, float) or kept < 1


def all_but_cells(state):
    """Which parts of a state are dropped: all but the cells of an LSTM, whose job is not to forget."""
    return LSTMStateTuple(c=False, h=True) if isinstance(state, LSTMStateTuple) else True


def chosen(visitor, state, dropped):
    """For each part of a state: the one with dropout where the visitor says so."""
    answer = visitor(state)
    if not nest.is_nested(state):
        return dropped if answer else state
    if answer is False:
        return state
    keys = list(state) if isinstance(state, dict) else range(len(state))

    def part(key):
        if answer is True or (answer[key] and nest.is_nested(state[key])):
            return chosen(visitor, state[key], dropped[key])
        return dropped[key] if answer[key] else state[key]

    parts = [part(key) for key in keys]
    if isinstance(state, dict):
        return type(state)(zip(keys, parts))
    return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)


@api("compat.v1.nn.rnn_cell.ResidualWrapper")
class ResidualWrapper(_Wrapper):
    """A cell whose inputs are added to its outputs.

    Args:
        cell: the cell.
        residual_fn: a function of inputs and outputs, instead of their sum.
    """

    def __init__(self, cell, residual_fn=None, **kwargs) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def call(self, inputs, state, **kwargs) -> tuple:
        """One step of the cell, with its inputs added to the outputs.

        Args:
            inputs, state: what the cell is given.
            kwargs: passed on to the cell.
        """
        outputs, state = self.cell(inputs, state, **kwargs)
        return (self._residual_fn or sums)(inputs, outputs), state


def sums(inputs, outputs):
    """The inputs added to the outputs of the same shapes."""
    nest.assert_same_structure(inputs, outputs)

    def added(x, y):
        x.shape.assert_is_compatible_with(y.shape)
        return x + y

    return nest.map_structure(added, inputs, outputs)


@api("compat.v1.nn.rnn_cell.DeviceWrapper")
class DeviceWrapper(_Wrapper):
    """A cell that computes on a device.

    Args:
        cell: the cell.
        device: the device.
    """

    def __init__(self, cell, device, **kwargs) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size, dtype) -> Any:
        """The cell's, on the device.

        Args:
            batch_size: how many examples.
            dtype: the dtype.
        """
        with device_scope(self._device):
            return super().zero_state(batch_size, dtype)

    def call(self, inputs, state, **kwargs) -> tuple:
        """One step of the cell.

        Args:
            inputs, state: what the cell is given.
            kwargs: passed on to the cell.
        """
        with device_scope(self._device):
            return self.cell(inputs, state, **kwargs)
