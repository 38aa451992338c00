"""Checking for NaN and infinity: the ops, and the switch that checks every op."""

import threading

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import Tensor
from headrace._src.core.thread_state import carried
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input
from headrace._src.op.observers import add_observer, node_rewriters, output_arrays, remove_observer
from headrace._src.op.traits import CHANGES_NOTHING, ELEMENTWISE, UNCHECKED


def _wide(array):
    """Small floats as float32, whose predicates NumPy has."""
    return array.astype(np.float32) if array.dtype.itemsize < 4 else array


def _check(tensor, message):
    wide = _wide(tensor)
    if not np.isfinite(wide).all():
        kinds = [name for name, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(wide).any()]
        raise errors.invalid_argument(f"{message} : Tensor had {' and '.join(kinds)} values")
    return tensor


def _check_signed(tensor, message):
    wide = _wide(tensor)
    if not np.isfinite(wide).all():
        tests = (("-Inf", np.isneginf), ("+Inf", np.isposinf), ("NaN", np.isnan))
        kinds = [name for name, test in tests if test(wide).any()]
        raise errors.invalid_argument(f"{message} : Tensor had {' and '.join(kinds)} values")
    return tensor


def _lower_check(ctx, tensor, message):
    finite = jnp.isfinite(tensor).all()
    ctx.check(finite, errors.InvalidArgumentError, f"{message} : Tensor had Inf or NaN values")
    return tensor


def _grad_check(node, dy):
    return (CHECK_NUMERICS(dy, message="NaN or infinity in the gradient of a tensor that was checked"),)


CHECK_NUMERICS = Op(
    "CheckNumerics",
    "tensor: T, *, message: string -> output: T",
    traits=ELEMENTWISE | UNCHECKED | CHANGES_NOTHING,
    T=dtypes.FLOATING,
    infer=same_as_input,
    kernel=_check,
    lower=_lower_check,
    stateful=True,
    grad=_grad_check,
)

CHECK_NUMERICS_V2 = Op(
    "CheckNumericsV2",
    "tensor: T, *, message: string -> output: T",
    traits=ELEMENTWISE | UNCHECKED | CHANGES_NOTHING,
    T=dtypes.FLOATING,
    infer=same_as_input,
    kernel=_check_signed,
    lower=_lower_check,
    stateful=True,
    grad=_grad_check,
)


@api("debugging.check_numerics", of=CHECK_NUMERICS)
def check_numerics(tensor, message, name=None) -> Tensor:
    """`tensor` itself, provided that it holds neither NaN nor infinity. So does its gradient.

    >>> tf.debugging.check_numerics([1.0, 2.0], "my tensor").numpy().tolist()
    [1.0, 2.0]

    Args:
        tensor: floating numbers.
        message: begins the message of the error.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when there is a NaN or an infinity.
    """
    return CHECK_NUMERICS(tensor, message=message, name=name)


@api("debugging.assert_all_finite")
def assert_all_finite(x, message, name=None) -> Tensor:
    """`x` itself, provided that it holds neither NaN nor infinity; the same as `check_numerics`."""
    return CHECK_NUMERICS(to_tensor(x), message=message, name=name)


class _Checking(threading.local):
    on = False


_checking = carried(_Checking())


def _observe(op, arrays, attrs, results):
    if not _checking.on or UNCHECKED in op.traits:
        return
    for number, array in enumerate(output_arrays(op, results)):
        array = np.asarray(array)
        if array.dtype.kind not in "fcV" or array.dtype == object:
            continue
        wide = array if array.dtype.kind == "c" else _wide(array)
        if np.isfinite(wide).all():
            continue
        parts = [wide.real, wide.imag] if wide.dtype.kind == "c" else [wide]
        counts = [
            f"{sum(int(test(part).sum()) for part in parts)} {kind}"
            for kind, test in (("-Inf", np.isneginf), ("+Inf", np.isposinf), ("NaN", np.isnan))
            if any(test(part).any() for part in parts)
        ]
        inputs = ", ".join(f"{len(a)} tensors" if isinstance(a, list) else str(np.shape(a)) for a in arrays)
        raise errors.invalid_argument(
            f"Detected Infinity or NaN in output {number} of op {op.name}: {', '.join(counts)} among "
            f"{array.size} elements, dtype {array.dtype.name}, shape {array.shape}. "
            f"The shapes of its inputs: {inputs}."
        )


def _checked(op, outputs):
    """The outputs of an operation of a graph behind checks."""
    # Operations that run other graphs: these have checks of their own.
    if not _checking.on or UNCHECKED in op.traits or op.calls_functions:
        return outputs
    return tuple(
        [_checked_output(op, item) for item in out] if type(out) is list else _checked_output(op, out)
        for out in outputs
    )


def _checked_output(op, tensor):
    if tensor.dtype not in dtypes.FLOATING:
        return tensor
    message = f"Detected Infinity or NaN in output {tensor.value_index} of graph op {op.name}: {tensor.name}"
    return CHECK_NUMERICS_V2(tensor, message=message)


@api("debugging.enable_check_numerics", dispatch=False)
def enable_check_numerics(stack_height_limit=30, path_length_limit=50) -> None:
    """Check the results of every op of this thread for NaN and infinity, and raise where the first appears.

    In functions that are traced from now on, checks are built in, compiled or not: they remain when this is undone, and
    an error says in which call of the function it happened. Functions that were traced before run op by op meanwhile.
    Ops that only move numbers (reshape, concatenation, slices, `maximum` ...) are not checked.

    Args:
        stack_height_limit, path_length_limit: accepted for compatibility; Python's own traceback shows where.
    """
    if not _checking.on:
        _checking.on = True
        node_rewriters.append(_checked)
        add_observer(_observe, only_unchecked=True)


@api("debugging.disable_check_numerics", dispatch=False)
def disable_check_numerics() -> None:
    """Undo `enable_check_numerics` in this thread."""
    if _checking.on:
        _checking.on = False
        node_rewriters.remove(_checked)
        remove_observer(_observe)
