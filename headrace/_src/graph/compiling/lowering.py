"""From a block to a function of jax values: each op's `lower`, and the state that is handed from op to op.

What is known while compiling stays a NumPy array (constants, shapes, what is computed from these), so that it can be a
static input; all else is a value that jax traces. Variables are handles; their values are part of the state, as are
the places in random streams and whether a check has failed.
"""

from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import run_quietly
from headrace._src.core.lazy import jax, jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.graph.compiling.blocks import is_number
from headrace._src.graph.compiling.lowered_control import LoweredControl
from headrace._src.graph.compiling.lowered_values import Fake, Opaque, VariableHandle
from headrace._src.graph.control.conditional import FAKE_PARAM
from headrace._src.op.definition import REGISTRY, Spec
from headrace._src.op.lowering import NeedsValue, NotLowerable
from headrace._src.op.traits import ABOUT_SHAPES, REPEATS, TAKES_KNOWN, TAKES_STRINGS
from headrace._src.ops.arrays.filling import CONST, FILL

# The result of an op on constants stays a constant unless it is larger than this.
_FOLDED = 4096


class CannotLower(Exception):
    """An instruction of a block that only the host can run, and why.

    `path`: the places of the instructions that lead to it, outermost first.
    `others`: the places of more such instructions in the outermost block.
    `needs_value`: whether it could be compiled if a value were known beforehand.
    """

    def __init__(self, path, op, reason, others=(), needs_value=False):
        super().__init__(f"{op}: {reason}")
        self.path = path
        self.op = op
        self.reason = reason
        self.others = others
        self.needs_value = needs_value

    def __reduce__(self):
        return CannotLower, (self.path, self.op, self.reason, self.others, self.needs_value)


class _Missing:
    """The result of an instruction that cannot be lowered."""


class Lowering(LoweredControl):
    """What `lower` gets as `ctx`.

    Attributes:
        variables: for each variable its current value.
        used: for each random stream, how many of its blocks are used.
        streams: for each random stream its two seeds.
        failed: whether a check has failed: False as long as there was none, then a jax boolean.
        windows_are_joined: whether pools are written so that XLA's library computes them with the convolutions before.
    """

    windows_are_joined = False

    def __init__(self, variables, used, streams, failed=False, keeps=False):
        """
        Args:
            variables: see above.
            used: see above.
            streams: see above.
            failed: see above.
            keeps: whether variables keep their values from a failed check on, not only in the end. Not before a loop,
                which might wait for a variable to change.
        """
        self.variables = variables
        self.used = used
        self.streams = streams
        self.failed = failed
        self._before = list(variables) if keeps else None
        self._loops_follow = False
        self._kept: dict[int, tuple] = {}  # by variable: the value that regards a check, and which
        self._instruction = None
        self._converted: dict[int, tuple] = {}
        self._moderate: dict[int, Any] = {}  # complex values that are checked
        # By random stream: how many of its blocks are used, and how many of these by this program.
        self._drawn = {number: (value, 0) for number, value in used.items()}
        self._zeros: dict[int, Any] = {}  # values that are known to be zeros

    def fork(self, variables, used):
        """A context for a part of the program with a state of its own."""
        inner = type(self)(variables, used, self.streams)
        inner.windows_are_joined = self.windows_are_joined
        return inner

    # What lowerings call.

    def check(self, ok, error, message):
        """Let the program fail unless `ok`. The interpreter then says what is wrong, so the arguments are not used."""
        if isinstance(ok, (bool, np.bool_, np.ndarray)):
            if np.all(ok):
                return
            ok = False
        bad = jnp.logical_not(jnp.all(ok))
        self.failed = bad if self.failed is False else jnp.logical_or(self.failed, bad)

    def random_stream(self, seed, seed2, blocks):
        """Key and counter for an op that draws random numbers, up to `blocks` blocks of its stream."""
        number = self._instruction.stream
        first = self.used[number]
        self.used[number] = first + np.uint64(blocks)
        before, count = self._drawn[number]
        if before is first:
            self._drawn[number] = self.used[number], count + blocks
        seeds = self.streams[number]
        return seeds[:1], jnp.stack([first, seeds[1]])

    def drawn(self, number) -> int | None:
        """How many blocks of a random stream the program uses; None where branches or loops decide that."""
        value, count = self._drawn[number]
        return count if self.used[number] is value else None

    def read_variable(self, handle):
        """The value that a variable has at this point."""
        return self.variables[self._index(handle)]

    def assign_variable(self, handle, value):
        """Give a variable a new value from this point on."""
        index = self._index(handle)
        before = self.variables[index]
        value = jnp.asarray(value)
        if value.shape != before.shape or value.dtype != before.dtype:
            raise NotLowerable("an assignment that changes the shape of a variable")
        if self._before is not None and self.failed is not False and not self._loops_follow:
            # At once: what is computed from the new value then reads it, and no longer the old one as well, so that XLA
            # can write the new one over the old one. An optimizer's step else copies all its variables.
            value = jnp.where(self.failed, self._before[index], value)
            self._kept[index] = value, self.failed
        self.variables[index] = value

    def final_failure(self):
        """Whether a check has failed, when all is done: False if there was none, else a jax boolean."""
        return self.failed

    def final_value(self, index, before):
        """The last value of a variable: the one before, if a check has failed."""
        value = self.variables[index]
        kept, failed = self._kept.get(index, (None, None))
        if self.failed is False or (kept is value and failed is self.failed):
            return value
        return jnp.where(self.failed, before, value)

    def _index(self, handle):
        if not isinstance(handle, VariableHandle):
            raise NotLowerable("a resource that is no variable with numbers")
        return handle.index

    # Running blocks.

    def call(self, f, args):
        """Inline a block."""
        return self.run(f, args)

    def run_all(self, block, inputs):
        """The same as `run` for the outermost block; tells at once all that cannot be lowered."""
        values = [None] * block.size
        values[: len(inputs)] = inputs
        first, others = None, []
        for number, instruction in enumerate(block.instructions, 1):
            self._loops_follow = number < block.after_loops
            given = [values[i] for i in instruction.inputs]
            if any(x is _Missing for x in given):
                results = [_Missing] * len(instruction.outputs)
            else:
                try:
                    results = self._lowered(instruction, given)
                except CannotLower as error:
                    if first is None:
                        first = error
                    elif first.needs_value and not error.needs_value:
                        others.append(first.path[0])
                        first = error
                    else:
                        others.append(error.path[0])
                    results = [_Missing] * len(instruction.outputs)
            for i, result in zip(instruction.outputs, results):
                values[i] = result
        if first is not None:
            first.others = tuple(others)
            raise first
        return [values[i] for i in block.outputs]

    def run(self, block, inputs):
        """The outputs of a block as jax values, NumPy arrays, lists or handles."""
        values = [None] * block.size
        values[: len(inputs)] = inputs
        loops_follow = self._loops_follow
        for number, instruction in enumerate(block.instructions, 1):
            self._loops_follow = loops_follow or number < block.after_loops
            results = self._lowered(instruction, [values[i] for i in instruction.inputs])
            for i, result in zip(instruction.outputs, results):
                values[i] = result
        self._loops_follow = loops_follow
        return [values[i] for i in block.outputs]

    def _lowered(self, instruction, given):
        """The outputs of an instruction.

        Raises:
            CannotLower: with the way to what cannot be lowered.
        """
        place = (instruction.place,)
        try:
            return self._apply(instruction, given)
        except CannotLower as error:
            error.path = place + error.path
            raise
        except NotLowerable as error:
            raise CannotLower(place, instruction.op, error.reason, (), isinstance(error, NeedsValue)) from None
        except (errors.OpError, ValueError, TypeError, LookupError, NotImplementedError, ArithmeticError,
                AttributeError) as error:  # fmt: skip
            # Wrong shapes or attributes, for which the interpreter has the words; or more than a rule can do.
            raise CannotLower(place, instruction.op, f"{type(error).__name__}: {error}") from None

    def _apply(self, instruction, given):
        if instruction.op == CONST.name:
            return (instruction.attrs["value"],)
        op = REGISTRY[instruction.op]
        if op.calls_functions:
            return self._run_inner(op, instruction, given)
        if op is FAKE_PARAM:
            return (Fake(instruction.dtypes[0]),)
        if any(isinstance(x, Fake) for x in given):
            raise NotLowerable("a residual of a branch that was not taken")
        if ABOUT_SHAPES in op.traits and all(hasattr(x, "shape") for x in given):
            given = [np.broadcast_to(np.zeros((), x.dtype), x.shape) for x in given]
        if not op.stateful and all(isinstance(x, np.ndarray) for x in given):
            folded = self._folded(op, instruction, given)
            if folded is not None:
                return folded
        if op.lower is None:
            raise NotLowerable("only the host can run it")
        keeps_strings = TAKES_STRINGS in op.traits
        for x in given:
            if (isinstance(x, Opaque) or (isinstance(x, np.ndarray) and not is_number(x))) and not keeps_strings:
                raise NotLowerable("an input that is no array of numbers")
        raw = TAKES_KNOWN in op.traits
        arguments = [
            self._argument(op, argument, items, raw)
            for argument, items in zip(op.signature.inputs, _structured(instruction, given))
        ]
        before, self._instruction = self._instruction, instruction
        try:
            results = op.lower(self, *arguments, **instruction.attrs)
        finally:
            self._instruction = before
        outputs = self._outputs(op, instruction, results)
        if op is FILL and isinstance(given[1], np.ndarray) and not given[1].any():
            self._zeros[id(outputs[0])] = outputs[0]
        for x in (*given, *outputs):
            self._check_complex(x)
        return outputs

    def is_zero(self, x) -> bool:
        """Whether it is known while compiling that all elements are zero."""
        return not x.any() if isinstance(x, np.ndarray) else id(x) in self._zeros

    def _check_complex(self, x):
        """Let the program fail where a complex number is not finite, or so large that its square is not.

        XLA computes with real and imaginary parts where C's functions regard infinities and NaN: the interpreter has
        TensorFlow's results there.
        """
        if not isinstance(x, (np.ndarray, jax.Array)) or x.dtype.kind != "c" or id(x) in self._moderate:
            return
        self._moderate[id(x)] = x  # which also keeps it: another one has another identity
        limit = np.sqrt(np.finfo(x.dtype).max) / 4
        self.check((abs(x.real) <= limit) & (abs(x.imag) <= limit), None, None)

    def _run_inner(self, op, instruction, given):
        before, self._instruction = self._instruction, instruction
        try:
            arguments = [
                items if argument.is_list else items[0]
                for argument, items in zip(op.signature.inputs, _structured(instruction, given))
            ]
            return op.lower(self, *arguments, **instruction.attrs)
        finally:
            self._instruction = before

    def _argument(self, op, argument, items, raw):
        if argument.name in op.static:
            for x in items:
                if not isinstance(x, np.ndarray) and argument.name not in op.flexible:
                    raise NeedsValue(f"the value of {argument.name} is not known beforehand")
        elif not raw:
            items = [self.traced(x) for x in items]
        return items if argument.is_list else items[0]

    def traced(self, x):
        """A NumPy array as a jax value; the same one each time."""
        if not is_number(x):
            return x
        known = self._converted.get(id(x))
        if known is None:
            # Not put on a device: a constant of the program.
            known = self._converted[id(x)] = (x, jnp.asarray(x))
        return known[1]

    def _folded(self, op, instruction, given):
        """The outputs computed with the kernel; None when they would be large, or the kernel fails."""
        arguments = [
            items if argument.is_list else items[0]
            for argument, items in zip(op.signature.inputs, _structured(instruction, given))
        ]
        if TAKES_KNOWN in op.traits or any(dtype._kind in "rv" for dtype in instruction.dtypes):
            return None
        if REPEATS in op.traits and not _is_result_small(op, arguments, instruction.attrs):
            return None
        if sum(x.size for x in given) > _FOLDED and ABOUT_SHAPES not in op.traits:
            return None
        try:
            results = run_quietly(op.kernel, *arguments, **instruction.attrs)
        except Exception:
            return None  # the lowering, or the run, will tell
        results = _flat_results(op, results)
        arrays = [_as_array(x, dtype) for x, dtype in zip(results, instruction.dtypes)]
        if sum(x.size for x in arrays) > _FOLDED and op.lower is not None:
            return None
        return arrays

    def _outputs(self, op, instruction, results):
        if not instruction.outputs:
            return ()
        results = _flat_results(op, results)
        if len(results) != len(instruction.outputs):
            raise errors.InternalError(None, None, f"The lowering of {op.name} gave {len(results)} outputs.")
        outputs = []
        for x, dtype in zip(results, instruction.dtypes):
            if dtype._kind in "rv":
                outputs.append(x)
                continue
            if not isinstance(x, (np.ndarray, jax.Array)):
                x = np.asarray(x, dtype._np)
            if x.dtype != dtype._np:
                raise errors.InternalError(
                    None, None, f"The lowering of {op.name} gave {x.dtype} where {dtype.name} is due."
                )
            outputs.append(x)
        return outputs


def _is_result_small(op, arguments, attrs):
    try:
        specs = [Spec(TensorShape(x.shape), dtypes.as_dtype(x.dtype), x) for x in arguments]
        size = op.infer(*specs, **attrs).num_elements()
    except Exception:
        return False  # the lowering, or the run, will tell
    return size is not None and size <= _FOLDED


def _structured(instruction, given):
    """The inputs, a list for each input of the op."""
    result, at = [], 0
    for count in instruction.counts:
        result.append(given[at : at + count])
        at += count
    return result


def _flat_results(op, results):
    if op.single_output:
        return [results]
    flat = []
    for result in results:
        flat.extend(result) if isinstance(result, (list, tuple)) else flat.append(result)
    return flat


def _as_array(value, dtype):
    if isinstance(value, np.ndarray):
        return value
    array = np.empty((), dtype._np)
    array[()] = value
    return array
