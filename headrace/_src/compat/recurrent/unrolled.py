"""Cells over time, each step with operations of its own: `static_rnn` and its like."""

from headrace._src.compat.recurrent.cells import check_cell, zeros_of
from headrace._src.compat.recurrent.networks import held, initial_state_of, lengths_of
from headrace._src.compat.variables.scopes import variable_scope
from headrace._src.core import nest
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import joining, measuring, passing, rearranging


@api("compat.v1.nn.static_rnn", dispatch=False)
def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None) -> tuple:
    """The outputs of all steps, and the last state, of a cell along sequences of a fixed number of steps.

    Args:
        cell: the cell.
        inputs: a list with a tensor of shape (batch, length), or a structure of such, for each step.
        initial_state: the state before the first step; by default zeros of `dtype`.
        dtype: the dtype of the state.
        sequence_length: the length of each sequence: after it the outputs are zero and the state stays.
        scope: the scope of the variables; by default "rnn".

    Raises:
        TypeError: `cell` is no cell, or `inputs` no list.
        ValueError: there are no inputs, or neither `initial_state` nor `dtype` is given.

    >>> cell = tf.compat.v1.nn.rnn_cell.GRUCell(4)
    >>> outputs, state = tf.compat.v1.nn.static_rnn(cell, [tf.ones([2, 5])] * 3, dtype=tf.float32)
    >>> len(outputs), state.shape
    (3, TensorShape([2, 4]))
    """
    check_cell("cell", cell)
    if not nest.is_nested(inputs):
        raise TypeError(f"static_rnn: inputs must be a sequence with an element for each step. Received: {inputs}")
    if not len(inputs):
        raise ValueError("static_rnn: inputs must not be empty.")
    inputs = [nest.map_structure(to_tensor, one) for one in inputs]
    with variable_scope(scope or "rnn") as opened:
        first = nest.flatten(inputs[0])[0]
        batch = measuring.shape(first)[0] if first.shape.rank is None or first.shape[0] is None else first.shape[0]
        state = initial_state_of(cell, initial_state, batch, dtype)
        lengths = lengths_of(sequence_length)
        if lengths is not None:
            kind = dtype or nest.flatten(state)[0].dtype
            zeros = nest.map_structure(lambda size: zeros_of(size, batch, kind), cell.output_size)
        outputs = []
        for time, one in enumerate(inputs):
            if time:
                opened.reuse_variables()
            output, new = cell(one, state)
            if lengths is not None:
                finished = time >= lengths
                output = nest.map_structure(lambda zero, y, f=finished: held(f, zero, y), zeros, output)
                new = nest.map_structure(lambda old, y, f=finished: held(f, old, y), state, new)
            outputs.append(output)
            state = new
        return outputs, state


@api("compat.v1.nn.static_bidirectional_rnn", dispatch=False)
def static_bidirectional_rnn(
    cell_fw,
    cell_bw,
    inputs,
    initial_state_fw=None,
    initial_state_bw=None,
    dtype=None,
    sequence_length=None,
    scope=None,
) -> tuple:
    """Two cells along sequences, one from the start, the other from the end.

    Args:
        cell_fw, cell_bw: the cells.
        inputs: a list with a tensor of shape (batch, length) for each step.
        initial_state_fw, initial_state_bw: the states before the first step; by default zeros of `dtype`.
        dtype: the dtype of the states.
        sequence_length: the length of each sequence.
        scope: the scope of the variables; by default "bidirectional_rnn".

    Returns:
        The outputs of both side by side for each step, and the last states of both.
    """
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, forward)
        with variable_scope("bw") as backward:
            output_bw, state_bw = static_rnn(cell_bw, _from_end(inputs, sequence_length), initial_state_bw, dtype,
                                             sequence_length, backward)
    both = [nest.map_structure(lambda a, b: joining.concat([a, b], 1), *pair)
            for pair in zip(output_fw, _from_end(output_bw, sequence_length))]
    return both, state_fw, state_bw


def _from_end(values, lengths):
    """The steps of each sequence in the other order."""
    if lengths is None:
        return list(reversed(values))
    columns = []
    for column in zip(*(nest.flatten(value) for value in values)):
        turned = rearranging.reverse_sequence(joining.stack(list(column)), lengths, 0, 1)
        columns.append([turned[i] for i in range(len(values))])
    return [nest.pack_sequence_as(values[0], list(row)) for row in zip(*columns)]


@api("compat.v1.nn.static_state_saving_rnn", dispatch=False)
def static_state_saving_rnn(cell, inputs, state_saver, state_name, sequence_length=None, scope=None) -> tuple:
    """As `static_rnn`, with a state that is read from and written to an object of the user's.

    Args:
        cell: the cell.
        inputs: a list with a tensor of shape (batch, length) for each step.
        state_saver: an object with `state(name)` and `save_state(name, value)`.
        state_name: the name of the state, or a structure of names like that of the state.
        sequence_length: the length of each sequence.
        scope: the scope of the variables; by default "rnn".

    Raises:
        ValueError: the names are not as many as the parts of the state.
    """
    names, size = nest.flatten(state_name), cell.state_size
    if nest.is_nested(size) != nest.is_nested(state_name) or len(names) != len(nest.flatten(size)):
        raise ValueError(f"state_name must have a name for each part of the state, {size}. Received: {state_name}")
    initial = nest.pack_sequence_as(size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state))]
    with control_dependencies(saved):
        last = nest.map_structure(passing.identity, outputs[-1])
        outputs[-1] = last
    return outputs, state
