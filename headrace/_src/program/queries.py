"""Small questions about tensors and about what is going on, and DLPack."""

import logging
from typing import Any

import numpy as np

from headrace._src.core.context import context
from headrace._src.core.names import current_name_scope
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import from_numpy, to_tensor
from headrace._src.program.message_log import message_log


@api("is_symbolic_tensor", dispatch=False)
def is_symbolic_tensor(tensor) -> bool:
    """Whether a tensor stands for a value that a graph will compute."""
    return isinstance(tensor, Tensor) and type(tensor) is not EagerTensor


@api("inside_function", dispatch=False)
def inside_function() -> bool:
    """Whether a function is being traced in this thread."""
    return context.graph is not None and context.graph.building_function


@api("get_current_name_scope", dispatch=False)
def get_current_name_scope() -> str:
    """The open name scopes, joined by slashes."""
    return current_name_scope()


@api("get_logger", dispatch=False)
def get_logger() -> logging.Logger:
    """The logger "tensorflow". Where the program has set up no logging, its messages go to standard error."""
    return message_log()


@api("experimental.dlpack.to_dlpack", dispatch=False)
def to_dlpack(tf_tensor) -> Any:
    """A DLPack capsule with the tensor's value.

    Other libraries may write into what they get, so the capsule holds a copy. Pass the tensor itself to their
    `from_dlpack` to share memory with those that respect read-only arrays.
    """
    return to_tensor(tf_tensor).__dlpack__()


class _Capsule:
    """What NumPy's `from_dlpack` wants to see around a bare capsule."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **options):
        return self._capsule

    def __dlpack_device__(self):
        return (1, 0)  # a host array


@api("experimental.dlpack.from_dlpack", dispatch=False)
def from_dlpack(dlcapsule) -> Tensor:
    """A tensor from a DLPack capsule, or from an object that offers `__dlpack__`.

    The value is copied: its owner could change it.
    """
    source = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Capsule(dlcapsule)
    return from_numpy(np.from_dlpack(source))
