"""Cells over time, in loops of the graph: `dynamic_rnn`, `bidirectional_dynamic_rnn`, `raw_rnn`."""

from typing import Any

from headrace._src.compat.functions.control_flow import while_loop
from headrace._src.compat.recurrent.cells import batch_of, check_cell, zeros_of
from headrace._src.compat.variables.scopes import variable_scope
from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, filling, joining, measuring, passing, rearranging
from headrace._src.ops.arrays.selecting import where
from headrace._src.ops.debugging import assertions
from headrace._src.ops.math import reductions
from headrace._src.state.tensor_array import TensorArray


def first_axes_exchanged(x) -> Any:
    """The tensor with its first two axes exchanged; as it is when it has fewer.

    Args:
        x: a tensor.
    """
    x = to_tensor(x)
    rank = x.shape.rank
    if rank is not None:
        return rearranging.transpose(x, [1, 0, *range(2, rank)]) if rank > 1 else x
    return rearranging.transpose(x, joining.concat([[1, 0], filling.range_(2, measuring.rank(x))], 0))


def lengths_of(sequence_length) -> Any:
    """The lengths as a vector of integers; None stays.

    Raises:
        ValueError: it is no vector.
    """
    if sequence_length is None:
        return None
    sequence_length = casting.cast(to_tensor(sequence_length), dtypes.int32)
    if sequence_length.shape.rank not in (None, 1):
        raise ValueError("sequence_length must be a vector with a length for each example, got shape "
                         f"{sequence_length.shape}.")
    return passing.identity(sequence_length, name="sequence_length")


def initial_state_of(cell, initial_state, batch, dtype) -> Any:
    """The state before the first step.

    Raises:
        ValueError: neither a state nor a dtype is given.
    """
    if initial_state is not None:
        return initial_state
    if dtype is None:
        raise ValueError("Give dtype, or initial_state: the state before the first step is zeros of that dtype.")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch, dtype=dtype)
    return cell.zero_state(batch, dtype)


def held(finished, old, new) -> Any:
    """`old` for the examples that are finished, `new` for the others.

    Args:
        finished: a boolean for each example.
        old, new: two tensors, or two of something that is not chosen by example: scalars, TensorArrays.
    """
    if isinstance(old, TensorArray) or old.shape.rank == 0:
        return new
    rank = new.shape.rank
    wide = finished
    for _ in range((rank or 1) - 1):
        wide = wide[..., None]
    result = where(wide, old, new)
    result.set_shape(new.shape)
    return result


@api("compat.v1.nn.dynamic_rnn", dispatch=False)
def dynamic_rnn(
    cell,
    inputs,
    sequence_length=None,
    initial_state=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=False,
    scope=None,
) -> tuple:
    """The outputs of all steps, and the last state, of a cell along sequences.

    Args:
        cell: the cell.
        inputs: a tensor of shape (batch, time, ...), or a structure of such.
        sequence_length: the length of each sequence: after it the outputs are zero and the state stays.
        initial_state: the state before the first step; by default zeros of `dtype`.
        dtype: the dtype of the state, and of the outputs.
        parallel_iterations, swap_memory: accepted.
        time_major: whether inputs and outputs are of shape (time, batch, ...).
        scope: the scope of the variables; by default "rnn".

    Raises:
        TypeError: `cell` is no cell.
        ValueError: the inputs do not fit together, or neither `initial_state` nor `dtype` is given.

    >>> cell = tf.compat.v1.nn.rnn_cell.BasicRNNCell(4)
    >>> outputs, state = tf.compat.v1.nn.dynamic_rnn(cell, tf.ones([2, 3, 5]), dtype=tf.float32)
    >>> outputs.shape, state.shape
    (TensorShape([2, 3, 4]), TensorShape([2, 4]))
    """
    check_cell("cell", cell)
    with variable_scope(scope or "rnn"):
        flat = [to_tensor(x) for x in nest.flatten(inputs)]
        if not time_major:
            flat = [first_axes_exchanged(x) for x in flat]
        lengths = lengths_of(sequence_length)
        batch = batch_of(flat)
        state = initial_state_of(cell, initial_state, batch, dtype)
        if lengths is not None and context.graph is None and lengths.shape[0] != batch:
            raise ValueError(f"sequence_length has {lengths.shape[0]} lengths, but inputs have batch_size {batch}.")
        if lengths is not None and context.graph is not None:
            with control_dependencies([_same_batch(lengths, batch)]):
                lengths = passing.identity(lengths, name="CheckSeqLen")
        outputs, state = _loop(cell, nest.pack_sequence_as(inputs, flat), flat, batch, state, lengths, dtype)
        if not time_major:
            outputs = nest.map_structure(first_axes_exchanged, outputs)
        return outputs, state


def _same_batch(lengths, batch):
    return assertions.assert_equal(measuring.shape(lengths)[0], batch,
                                   message="sequence_length must have as many lengths as inputs have examples.")


def _loop(cell, inputs, flat, batch, state, lengths, dtype):
    """All steps, as a loop of the graph."""
    steps = flat[0].shape[0]
    known_steps = steps
    for x in flat:
        if x.shape.rank is None or x.shape.rank < 2:
            raise ValueError("dynamic_rnn: inputs need a known rank of at least 2: (batch, time, ...). Received shape "
                             f"{x.shape}")
        if x.shape[0] is not None and known_steps is not None and x.shape[0] != known_steps:
            raise ValueError(f"dynamic_rnn: one input has {known_steps} steps, another {x.shape[0]}.")
    if steps is None:
        steps = measuring.shape(flat[0])[0]
    flat_state = [to_tensor(x, dtype) if not isinstance(x, TensorArray) else x for x in nest.flatten(state)]
    sizes = nest.flatten(cell.output_size)
    kinds = nest.flatten(dtype) if nest.is_nested(dtype) else [dtype or flat_state[0].dtype] * len(sizes)
    zero_outputs = [zeros_of(size, batch, kind) for size, kind in zip(sizes, kinds)]
    read = [TensorArray(x.dtype, steps, element_shape=x.shape[1:]).unstack(x) for x in flat]
    written = [TensorArray(kind, steps, element_shape=zero.shape) for kind, zero in zip(kinds, zero_outputs)]

    def step(time, written, values):
        given = nest.pack_sequence_as(inputs, [array.read(time) for array in read])
        outputs, new = cell(given, nest.pack_sequence_as(state, list(values)))
        nest.assert_same_structure(state, new)
        outputs, new = nest.flatten(outputs), nest.flatten(new)
        if lengths is not None:
            finished = time >= lengths
            outputs = [held(finished, zero, output) for zero, output in zip(zero_outputs, outputs)]
            new = [held(finished, old, one) for old, one in zip(values, new)]
        written = [array.write(time, output) for array, output in zip(written, outputs)]
        return time + 1, written, new

    last = steps if lengths is None else reductions.reduce_max(lengths)
    limit = to_tensor(steps) if lengths is None else where(last < steps, last, to_tensor(steps))
    _, written, values = while_loop(
        lambda time, *_: time < limit, step, (to_tensor(0), written, flat_state),
        maximum_iterations=known_steps if known_steps is not None else None, return_same_structure=True,
    )  # fmt: skip
    outputs = []
    for array, zero in zip(written, zero_outputs):
        stacked = array.stack() if lengths is None else _with_rest(array, steps, zero, limit)
        stacked.set_shape([known_steps, *zero.shape])
        outputs.append(stacked)
    return nest.pack_sequence_as(cell.output_size, outputs), nest.pack_sequence_as(state, list(values))


def _with_rest(array, steps, zero, limit):
    """All outputs, those of steps that no sequence reaches being zero."""
    shape = measuring.shape(zero)
    reached = array.gather(filling.range_(0, limit))
    rest = filling.zeros(joining.concat([[steps - limit], shape], 0), zero.dtype)
    return joining.concat([reached, rest], 0)


@api("compat.v1.nn.bidirectional_dynamic_rnn", dispatch=False)
def bidirectional_dynamic_rnn(
    cell_fw,
    cell_bw,
    inputs,
    sequence_length=None,
    initial_state_fw=None,
    initial_state_bw=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=False,
    scope=None,
) -> tuple:
    """Two cells along sequences, one from the start, the other from the end.

    Args:
        cell_fw, cell_bw: the cells.
        inputs: a tensor of shape (batch, time, ...), or a structure of such.
        sequence_length: the length of each sequence.
        initial_state_fw, initial_state_bw: the states before the first step; by default zeros of `dtype`.
        dtype: the dtype of states and outputs.
        parallel_iterations, swap_memory: accepted.
        time_major: whether inputs and outputs are of shape (time, batch, ...).
        scope: the scope of the variables; by default "bidirectional_rnn".

    Returns:
        The outputs of both, and the last states of both.
    """
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    time, batch = (0, 1) if time_major else (1, 0)

    def reversed_(x):
        if sequence_length is None:
            return rearranging.reverse(x, [time])
        return rearranging.reverse_sequence(x, sequence_length, time, batch)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = dynamic_rnn(cell_fw, inputs, sequence_length, initial_state_fw, dtype,
                                              parallel_iterations, swap_memory, time_major, forward)
        with variable_scope("bw") as backward:
            from_end = nest.map_structure(reversed_, inputs)
            output_bw, state_bw = dynamic_rnn(cell_bw, from_end, sequence_length, initial_state_bw, dtype,
                                              parallel_iterations, swap_memory, time_major, backward)
    return (output_fw, nest.map_structure(reversed_, output_bw)), (state_fw, state_bw)


@api("compat.v1.nn.raw_rnn", dispatch=False)
def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None) -> tuple:
    """A loop of steps of a cell, in which a function says what comes next.

    Args:
        cell: the cell.
        loop_fn: a function `(time, cell_output, cell_state, loop_state)` that returns `(elements_finished, next_input,
            next_cell_state, emit_output, next_loop_state)`. In its first call output, state and loop state are None,
            and what it emits is an example of the shape and dtype of one example's output, or None for the cell's.
        parallel_iterations, swap_memory: accepted.
        scope: the scope of the variables; by default "rnn".

    Returns:
        A TensorArray of what was emitted (or a structure of them), the last state, and the last loop state.

    Raises:
        TypeError: `cell` is no cell, or `loop_fn` no function.
    """
    check_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError(f"raw_rnn: loop_fn must be a function. Received: {loop_fn}")
    with variable_scope(scope or "rnn"):
        time = to_tensor(0)
        finished, next_input, state, emitted, loop_state = loop_fn(time, None, None, None)
        flat_input = [to_tensor(x) for x in nest.flatten(next_input)]
        has_loop_state = loop_state is not None
        loop_state = to_tensor(0) if loop_state is None else loop_state
        batch = _batch_of_step(flat_input)
        flat_state = [x if isinstance(x, TensorArray) else to_tensor(x) for x in nest.flatten(state)]
        if emitted is None:
            structure = cell.output_size
            kinds = [flat_state[0].dtype] * len(nest.flatten(structure))
            shapes = [TensorShape([size] if isinstance(size, int) else size) for size in nest.flatten(structure)]
        else:
            structure = emitted
            examples = [to_tensor(x) for x in nest.flatten(emitted)]
            kinds, shapes = [x.dtype for x in examples], [x.shape for x in examples]
        zeros = [zeros_of(shape, batch, kind) for shape, kind in zip(shapes, kinds)]
        arrays = [TensorArray(kind, 0, dynamic_size=True, element_shape=TensorShape([None, *shape]))
                  for kind, shape in zip(kinds, shapes)]

        def step(time, finished, current, arrays, values, loop_state):
            output, new = cell(nest.pack_sequence_as(next_input, list(current)),
                               nest.pack_sequence_as(state, list(values)))
            after = loop_fn(time + 1, output, new, loop_state if has_loop_state else None)
            next_finished, following, new, out, next_loop = after
            out = nest.flatten(output if emitted is None and out is None else out)
            kept = [held(finished, zero, to_tensor(one)) for zero, one in zip(zeros, out)]
            new = [held(finished, old, one) for old, one in zip(values, nest.flatten(new))]
            arrays = [array.write(time, one) for array, one in zip(arrays, kept)]
            following = [to_tensor(x) for x in nest.flatten(following)]
            return (time + 1, to_tensor(next_finished) | finished, following, arrays, new,
                    next_loop if has_loop_state else loop_state)

        def unfinished(time, finished, *_):
            return casting.cast(1 - reductions.reduce_min(casting.cast(finished, dtypes.int32)), dtypes.bool)

        _, _, _, arrays, values, loop_state = while_loop(
            unfinished, step, (time, to_tensor(finished), flat_input, arrays, flat_state, loop_state),
            return_same_structure=True,
        )  # fmt: skip
        return (nest.pack_sequence_as(structure, list(arrays)), nest.pack_sequence_as(state, list(values)),
                loop_state if has_loop_state else None)


def _batch_of_step(flat):
    for x in flat:
        if x.shape.rank is not None and x.shape[0] is not None:
            return x.shape[0]
    return measuring.shape(flat[0])[0]
