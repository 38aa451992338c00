"""Ops that `tf.device` places on an accelerator: they run there, or else the host runs them."""

from __future__ import annotations

from typing import Any

from headrace._src.core import device_use, errors
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.apply import run_kernel
from headrace._src.op.attached import open_class


@open_class
class OpRunner:
    """How an op runs on an accelerator: graph/compiling/accelerated_ops.py attaches `run_op`.

    `run_op(accelerator, op, tensors, attrs, types)` returns what `run_kernel` does, None for what only the host can do.
    """

    run_op: Any


_runner = OpRunner()


def check(device: str, name: str, supported: str = "CPU") -> Any:
    """The accelerator that a device scope names.

    Args:
        device: its full name.
        name: of the op, for the message.
        supported: the kinds of devices that can run it.

    Raises:
        InvalidArgumentError: there is none of that name.
    """
    found = device_use.accelerated[device]
    if found is None:
        raise refusal(device, name, supported)
    return found


def refusal(device: str, name: str, supported: str = "CPU") -> errors.OpError:
    """The error of an op that cannot run where it was placed."""
    available = ", ".join(sorted(device_use.available))
    return errors.invalid_argument(
        f"Could not satisfy device specification '{device}'. enable_soft_placement={int(device_use.soft_placement)}. "
        f"Supported device types [{supported}]. All available devices [{available}]. [Op:{name}]"
    )


def run(op: Any, tensors: list, attrs: dict, types: dict, device: str) -> tuple:
    """Apply an op under a device scope that names an accelerator; the same as `run_kernel`.

    Raises:
        InvalidArgumentError: it cannot run there, and soft placement is off.
    """
    accelerator = check(device, op.name)
    outputs = _runner.run_op(accelerator, op, tensors, attrs, types)
    if outputs is not None:
        return outputs
    if not device_use.soft_placement and op.lower is None:
        raise refusal(device, op.name)
    return run_kernel(op, tensors, attrs, types)


def placed(tensor: EagerTensor, device: str) -> EagerTensor:
    """A tensor on the accelerator that a device scope names; as it is when its values can only be the host's."""
    accelerator = device_use.accelerated[device]
    if accelerator is None or tensor.dtype._np.hasobject:
        return tensor
    moved = EagerTensor(accelerator.take(tensor._a), tensor.dtype)
    moved._id = tensor._id
    return moved
