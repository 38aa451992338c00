"""Recurrent cells of 1.x: one step of a network, from input and state to output and new state."""

from typing import Any, NamedTuple

from headrace._src.compat.layers.base import InputSpec, Layer
from headrace._src.compat.variables.initializers import Constant, Zeros
from headrace._src.compat.variables.scopes import get_variable_scope, variable_scope
from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import filling, joining, measuring, splitting
from headrace._src.ops.linalg import matmul
from headrace._src.ops.math import clipping
from headrace._src.ops.math.elementwise import SIGMOID, TANH
from headrace._src.ops.nn import bias as nn_bias
from headrace._src.state.variables import Variable

_WEIGHTS, _BIAS = "kernel", "bias"


def with_batch(batch, size) -> tuple[Any, TensorShape]:
    """The shape of a state, as numbers or a tensor, and as far as it is known.

    Args:
        batch: how many examples: a number, or a scalar tensor.
        size: the shape of one example's state, or its length.
    """
    one = TensorShape([size] if isinstance(size, int) else size).as_list()
    known = batch if isinstance(batch, int) or batch is None else measuring.get_static_value(batch)
    static = TensorShape([None if known is None else int(known), *one])
    if static.is_fully_defined():
        return static.as_list(), static
    return joining.concat([[batch], one], 0), static


def zeros_of(size, batch, dtype) -> Any:
    """A state of zeros.

    Args:
        size: a structure of shapes or lengths.
        batch: how many examples.
        dtype: the dtype, or a structure of dtypes.
    """
    flat = nest.flatten(size)
    kinds = nest.flatten(dtype) if nest.is_nested(dtype) else [dtype] * len(flat)
    states = []
    for one, kind in zip(flat, kinds):
        shape, static = with_batch(batch, one)
        state = filling.zeros(shape, kind)
        if context.graph is not None:
            state.set_shape(static)
        states.append(state)
    return nest.pack_sequence_as(size, states)


def check_cell(label: str, cell) -> None:
    """Refuse what is not a cell.

    Raises:
        TypeError: it has no sizes, or cannot be called.
    """
    lacks = [name for name in ("output_size", "state_size") if not hasattr(cell, name)]
    if not hasattr(cell, "zero_state") and not hasattr(cell, "get_initial_state"):
        lacks.append("zero_state or get_initial_state")
    if not callable(cell):
        lacks.append("__call__")
    if lacks:
        raise TypeError(f"The argument {label!r} ({cell}) is not an RNNCell: it has no {', '.join(lacks)}.")


@api("compat.v1.nn.rnn_cell.RNNCell")
class RNNCell(Layer):
    """What cells stand on: `call(inputs, state)` returns the output and the new state.

    A cell says by `state_size` and `output_size` what these look like. Its variables may be made in `build`, or by
    `get_variable` wherever it computes.
    """

    _variables_in_call = True  # get_variable is called while it computes: the cell must see these as its own

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs) -> None:
        super().__init__(trainable, name, dtype, **kwargs)
        self._opened_scope = None

    def __call__(self, inputs, state, scope=None) -> Any:
        """The output of one step, and the new state.

        Args:
            inputs: a tensor of shape (batch, ...).
            state: a structure like `state_size`.
            scope: the scope of its variables.
        """
        if not self._variables_in_call:
            return super().__call__(inputs, state, scope=scope)
        if scope is not None:
            with variable_scope(scope, custom_getter=self._own) as opened:
                return super().__call__(inputs, state, scope=opened)
        if self._opened_scope is None:
            with variable_scope(get_variable_scope(), custom_getter=self._own) as opened:
                self._opened_scope = opened
        with variable_scope(self._opened_scope):
            return super().__call__(inputs, state)

    def _own(self, getter, *args, **kwargs):
        variable = getter(*args, **kwargs)
        if isinstance(variable, Variable) and not any(variable is known for known in self._weights):
            self._weights.append(variable)
            self._trained[id(variable)] = variable.trainable
        return variable

    @property
    def state_size(self) -> Any:
        """The length of the state, its shape, or a structure of these."""
        raise NotImplementedError(f"{type(self).__name__} must define state_size, as every RNNCell.")

    @property
    def output_size(self) -> Any:
        """The length of the output, its shape, or a structure of these."""
        raise NotImplementedError(f"{type(self).__name__} must define output_size, as every RNNCell.")

    def build(self, _) -> None:
        """Nothing: variables are made while it computes; cells may define this."""
        self.built = True

    def zero_state(self, batch_size, dtype) -> Any:
        """A state of zeros.

        Args:
            batch_size: how many examples.
            dtype: the dtype, or a structure of dtypes.
        """
        with name_scope(f"{type(self).__name__}ZeroState"):
            return zeros_of(self.state_size, batch_size, dtype)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None) -> Any:
        """The state before the first step: zeros.

        Args:
            inputs: a tensor whose batch size and dtype are used.
            batch_size: how many examples.
            dtype: the dtype.

        Raises:
            ValueError: neither says how many examples of which dtype, or both do and differ.
        """
        if inputs is not None:
            inputs = to_tensor(inputs)
            if dtype is not None and dtypes.as_dtype(dtype) != inputs.dtype:
                raise ValueError(f"get_initial_state: inputs are {inputs.dtype.name}, but dtype={dtype}.")
            batch_size = measuring.shape(inputs)[0] if inputs.shape[0] is None else inputs.shape[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError("get_initial_state: give inputs, or batch_size and dtype. Received: "
                             f"batch_size={batch_size}, dtype={dtype}.")
        return self.zero_state(batch_size, dtype)


class _BuiltCell(RNNCell):
    """A cell whose variables are made by `build`."""

    _variables_in_call = False

    def _length(self, inputs_shape):
        length = TensorShape(inputs_shape).as_list()[-1]
        if length is None:
            raise ValueError(f"{type(self).__name__}: the length of the inputs' last axis must be known, for the shape "
                             f"of its variables. Got inputs of shape {inputs_shape}.")
        return length


def _activation(given, default):
    if given is None:
        return default
    if not callable(given):
        raise ValueError(f"activation must be a function, such as tf.nn.relu, got {given!r}.")
    return given


@api("compat.v1.nn.rnn_cell.BasicRNNCell")
class BasicRNNCell(_BuiltCell):
    """`output = state = activation(W * input + U * state + B)`.

    Args:
        num_units: how many outputs.
        activation: a function; by default tanh.
        reuse: whether to use variables that are there.
        name: a name for the cell.
        dtype: the dtype of the variables; by default that of the first input.
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._units = num_units
        self._activation = _activation(activation, TANH)

    state_size = output_size = property(lambda self: self._units)

    def build(self, inputs_shape) -> None:
        """Make kernel and bias.

        Args:
            inputs_shape: the shape of the input.
        """
        length = self._length(inputs_shape)
        self._kernel = self.add_weight(_WEIGHTS, [length + self._units, self._units])
        self._bias = self.add_weight(_BIAS, [self._units], initializer=Zeros())
        self.built = True

    def call(self, inputs, state) -> tuple:
        """The output, and the new state, which is the same.

        Args:
            inputs: a tensor of shape (batch, length).
            state: a tensor of shape (batch, units).
        """
        gates = matmul.matmul(joining.concat([inputs, state], 1), self._kernel)
        output = self._activation(nn_bias.bias_add(gates, self._bias))
        return output, output


@api("compat.v1.nn.rnn_cell.GRUCell")
class GRUCell(_BuiltCell):
    """A gated recurrent unit.

    Args:
        num_units: how many outputs.
        activation: a function; by default tanh.
        reuse: whether to use variables that are there.
        kernel_initializer, bias_initializer: initial values; by default the bias of the gates is one.
        name: a name for the cell.
        dtype: the dtype of the variables; by default that of the first input.
    """

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None,
                 name=None, dtype=None, **kwargs) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._units = num_units
        self._activation = _activation(activation, TANH)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    state_size = output_size = property(lambda self: self._units)

    def build(self, inputs_shape) -> None:
        """Make kernels and biases of the gates and of the candidate.

        Args:
            inputs_shape: the shape of the input.
        """
        length, units, given = self._length(inputs_shape), self._units, self._bias_initializer
        self._gate_kernel = self.add_weight(f"gates/{_WEIGHTS}", [length + units, 2 * units],
                                            initializer=self._kernel_initializer)
        self._gate_bias = self.add_weight(f"gates/{_BIAS}", [2 * units],
                                          initializer=Constant(1.0) if given is None else given)
        self._candidate_kernel = self.add_weight(f"candidate/{_WEIGHTS}", [length + units, units],
                                                 initializer=self._kernel_initializer)
        self._candidate_bias = self.add_weight(f"candidate/{_BIAS}", [units],
                                               initializer=Zeros() if given is None else given)
        self.built = True

    def call(self, inputs, state) -> tuple:
        """The output, and the new state, which is the same.

        Args:
            inputs: a tensor of shape (batch, length).
            state: a tensor of shape (batch, units).
        """
        gates = matmul.matmul(joining.concat([inputs, state], 1), self._gate_kernel)
        reset, update = splitting.split(SIGMOID(nn_bias.bias_add(gates, self._gate_bias)), 2, 1)
        candidate = matmul.matmul(joining.concat([inputs, reset * state], 1), self._candidate_kernel)
        candidate = self._activation(nn_bias.bias_add(candidate, self._candidate_bias))
        output = update * state + (1 - update) * candidate
        return output, output


@api("compat.v1.nn.rnn_cell.LSTMStateTuple")
class LSTMStateTuple(NamedTuple):
    """The state of an LSTM.

    >>> state = tf.compat.v1.nn.rnn_cell.LSTMStateTuple(c=1, h=2)
    >>> state.h
    2
    """

    c: Any
    h: Any

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of both.

        Raises:
            TypeError: they differ.
        """
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"LSTMStateTuple: c is {self.c.dtype.name}, but h is {self.h.dtype.name}.")
        return self.c.dtype


@api("compat.v1.nn.rnn_cell.BasicLSTMCell")
class BasicLSTMCell(_BuiltCell):
    """A long short-term memory without peepholes and projection.

    Args:
        num_units: how many outputs.
        forget_bias: added to the gate that forgets.
        state_is_tuple: whether the state is an `LSTMStateTuple`, not both parts side by side.
        activation: a function; by default tanh.
        reuse: whether to use variables that are there.
        name: a name for the cell.
        dtype: the dtype of the variables; by default that of the first input.
    """

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None,
                 dtype=None, **kwargs) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._units = num_units
        self._forget_bias = forget_bias
        self._tuples = state_is_tuple
        self._activation = _activation(activation, TANH)

    output_size = property(lambda self: self._units)

    @property
    def state_size(self) -> Any:
        """The lengths of both parts of the state."""
        return LSTMStateTuple(self._units, self._units) if self._tuples else 2 * self._units

    def build(self, inputs_shape) -> None:
        """Make kernel and bias.

        Args:
            inputs_shape: the shape of the input.
        """
        length = self._length(inputs_shape)
        self._kernel = self.add_weight(_WEIGHTS, [length + self._units, 4 * self._units])
        self._bias = self.add_weight(_BIAS, [4 * self._units], initializer=Zeros())
        self.built = True

    def call(self, inputs, state) -> tuple:
        """The output, and the new state.

        Args:
            inputs: a tensor of shape (batch, length).
            state: as `state_size`.
        """
        c, h = state if self._tuples else splitting.split(state, 2, 1)
        gates = nn_bias.bias_add(matmul.matmul(joining.concat([inputs, h], 1), self._kernel), self._bias)
        enter, new, forget, leave = splitting.split(gates, 4, 1)
        c = c * SIGMOID(forget + self._forget_bias) + SIGMOID(enter) * self._activation(new)
        h = self._activation(c) * SIGMOID(leave)
        return h, LSTMStateTuple(c, h) if self._tuples else joining.concat([c, h], 1)


@api("compat.v1.nn.rnn_cell.LSTMCell")
class LSTMCell(_BuiltCell):
    """A long short-term memory, with peepholes, a projection of the output and bounds where these are asked for.

    Args:
        num_units: how many cells.
        use_peepholes: whether the gates see the cells.
        cell_clip: the bound of the cells' values.
        initializer: the initial values of the kernels.
        num_proj: the length of the projected output.
        proj_clip: the bound of its values.
        num_unit_shards, num_proj_shards: accepted; give the scope a partitioner instead.
        forget_bias: added to the gate that forgets.
        state_is_tuple: whether the state is an `LSTMStateTuple`, not both parts side by side.
        activation: a function; by default tanh.
        reuse: whether to use variables that are there.
        name: a name for the cell.
        dtype: the dtype of the variables; by default that of the first input.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        num_unit_shards=None,
        num_proj_shards=None,
        forget_bias=1.0,
        state_is_tuple=True,
        activation=None,
        reuse=None,
        name=None,
        dtype=None,
        **kwargs,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._units = num_units
        self._peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._projected = num_proj
        self._projection_clip = proj_clip
        self._forget_bias = forget_bias
        self._tuples = state_is_tuple
        self._activation = _activation(activation, TANH)

    @property
    def output_size(self) -> int:
        """The length of the output."""
        return self._projected or self._units

    @property
    def state_size(self) -> Any:
        """The lengths of both parts of the state."""
        size = LSTMStateTuple(self._units, self.output_size)
        return size if self._tuples else sum(size)

    def build(self, inputs_shape) -> None:
        """Make the variables.

        Args:
            inputs_shape: the shape of the input.
        """
        length, units = self._length(inputs_shape), self._units
        self._kernel = self.add_weight(_WEIGHTS, [length + self.output_size, 4 * units], initializer=self._initializer)
        dtype = self.dtype or dtypes.float32
        self._bias = self.add_weight(_BIAS, [4 * units], initializer=Zeros(dtype=dtype))
        if self._peepholes:
            self._forget_diagonal, self._enter_diagonal, self._leave_diagonal = (
                self.add_weight(f"w_{gate}_diag", [units], initializer=self._initializer) for gate in "fio"
            )
        if self._projected is not None:
            self._projection = self.add_weight(f"projection/{_WEIGHTS}", [units, self._projected],
                                               initializer=self._initializer)
        self.built = True

    def call(self, inputs, state) -> tuple:
        """The output, and the new state.

        Args:
            inputs: a tensor of shape (batch, length).
            state: as `state_size`.
        """
        c, h = state if self._tuples else splitting.split(state, [self._units, self.output_size], 1)
        gates = nn_bias.bias_add(matmul.matmul(joining.concat([inputs, h], 1), self._kernel), self._bias)
        enter, new, forget, leave = splitting.split(gates, 4, 1)
        forget = forget + self._forget_bias
        if self._peepholes:
            forget, enter = forget + self._forget_diagonal * c, enter + self._enter_diagonal * c
        c = SIGMOID(forget) * c + SIGMOID(enter) * self._activation(new)
        if self._cell_clip is not None:
            c = clipping.clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._peepholes:
            leave = leave + self._leave_diagonal * c
        h = SIGMOID(leave) * self._activation(c)
        if self._projected is not None:
            h = matmul.matmul(h, self._projection)
            if self._projection_clip is not None:
                h = clipping.clip_by_value(h, -self._projection_clip, self._projection_clip)
        return h, LSTMStateTuple(c, h) if self._tuples else joining.concat([c, h], 1)


@api("compat.v1.nn.rnn_cell.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """Cells one after another, each with the output of the one before as its input.

    Args:
        cells: the cells.
        state_is_tuple: whether the state is a tuple of theirs, not all side by side.
    """

    def __init__(self, cells, state_is_tuple=True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("MultiRNNCell needs one cell at least.")
        if not nest.is_nested(cells):
            raise TypeError(f"MultiRNNCell: cells must be a list or a tuple of cells, got {cells!r}.")
        self._cells = list(cells)
        self._tuples = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError("MultiRNNCell: with state_is_tuple=False each cell's state must be one tensor. Their "
                             f"sizes are {[cell.state_size for cell in cells]}.")

    @property
    def state_size(self) -> Any:
        """Those of the cells."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._tuples else sum(sizes)

    @property
    def output_size(self) -> Any:
        """That of the last cell."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size, dtype) -> Any:
        """States of zeros.

        Args:
            batch_size: how many examples.
            dtype: the dtype.
        """
        with name_scope(f"{type(self).__name__}ZeroState"):
            if self._tuples:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def variables(self) -> list:
        """The variables of all cells."""
        return [variable for cell in self._cells for variable in getattr(cell, "variables", ())]

    weights = variables

    @property
    def trainable_variables(self) -> list:
        """The variables of all cells that are trained."""
        return [v for cell in self._cells for v in getattr(cell, "trainable_variables", ())] if self.trainable else []

    trainable_weights = trainable_variables

    def call(self, inputs, state) -> tuple:
        """The output of the last cell, and all states.

        Args:
            inputs: a tensor of shape (batch, length).
            state: as `state_size`.
        """
        if self._tuples:
            if not nest.is_nested(state):
                raise ValueError(f"MultiRNNCell: state must be a tuple with one for each of {len(self._cells)} cells, "
                                 f"got {state}.")
            states = list(state)
        else:
            states = splitting.split(state, [cell.state_size for cell in self._cells], 1)
        current, new = inputs, []
        for i, (cell, one) in enumerate(zip(self._cells, states)):
            with variable_scope(f"cell_{i}"):
                current, after = cell(current, one)
                new.append(after)
        return current, tuple(new) if self._tuples else joining.concat(new, 1)


def batch_of(tensors) -> Tensor | int:
    """How many examples there are: a number where that is known.

    Args:
        tensors: tensors of shape (time, batch, ...).
    """
    for tensor in tensors:
        if tensor.shape.rank is not None and tensor.shape[1] is not None:
            return tensor.shape[1]
    return measuring.shape(tensors[0])[1]
