"""The functions of a SavedModel as a library: names that must not meet others, and gradients that came with it."""

from __future__ import annotations

import contextlib
import itertools
import threading
from typing import Any

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.context import context
from headrace._src.core.file_access import FilePolicy
from headrace._src.core.names import fresh_scope
from headrace._src.core.tensor import EagerTensor
from headrace._src.formats.graph_messages import NameAttrList
from headrace._src.graph.control.calls import call_graph
from headrace._src.graph.messages.function_import import Functions, KnownArgument, known_of
from headrace._src.graph.messages.graph_import import add_operation
from headrace._src.ops.arrays.filling import zeros_like
from headrace._src.saved_model.debugging_parts import SavedLines

_loads = itertools.count(1)


class CapturedTensor:
    """A tensor inside of a function, which the gradient function of one of its operations reads."""

    def __init__(self, function: str, name: str) -> None:
        self.function = function
        self.name = name


class SavedLibrary(Functions):
    """The functions of one SavedModel."""

    def __init__(
        self, library: Any, policy: FilePolicy | None = None, number: int | None = None,
        lines: SavedLines | None = None,
    ) -> None:  # fmt: skip
        """
        Args:
            library: the `FunctionDefLibrary`.
            policy: which files its operations may touch; None for any.
            number: which load of this process this is; None for a new one.
            lines: those that made its operations; by default, that which loads it has made them.
        """
        super().__init__(library, add_operation)
        self._library = library
        self._policy = policy
        self._lines = lines
        self._number = next(_loads) if number is None else number
        self._gradients: SavedGradients | None = None
        self._lock = threading.RLock()  # threads may call functions for the first time together

    def adapted(self, attrs, name):
        # Tables and queues that are shared by name are shared within one load, but not between two.
        if "shared_name" in attrs:
            return {**attrs, "shared_name": f"{attrs['shared_name'] or name}_load_{self._number}"}
        return attrs

    def note(self, operation):
        # What can be compiled computes, and does nothing else.
        if self._policy is not None and operation.record.lower is None:
            operation.file_policy = self._policy
        if self._lines is not None and self._open:
            operation.location = self._lines.of(self._open[-1], operation.name)

    def made(self, name: str, known: list) -> Any:
        """The graph of a function for arguments of which something is known, made aside from what goes on."""
        held = contextlib.nullcontext() if self._policy is None else self._policy.held(name)
        with self._lock, held, context.changed(graph=None, recorders=(), device=None), fresh_scope():
            return self.graph(NameAttrList(name=name), None, known)

    def add_gradient(self, op_type: str, function: str, outputs: Any, captured: list) -> None:
        """Let operations that ask for the gradient `op_type` be differentiated by a function of the library."""
        if self._gradients is None:
            # With graphs of their own: operations keep their gradients, and would keep themselves otherwise.
            self._gradients = SavedGradients(SavedLibrary(self._library, self._policy, self._number, self._lines))
        self._gradients.add(op_type, function, outputs, captured)

    def gradient_function(self, name):
        return None if self._gradients is None else self._gradients.get(name)


class SavedGradients:
    """Gradient functions by the names under which operations ask for them."""

    def __init__(self, library: SavedLibrary) -> None:
        self._library = library
        self._library._gradients = self
        self._functions: dict[str, tuple] = {}

    def add(self, op_type: str, function: str, outputs: Any, captured: list) -> None:
        """Add one."""
        self._functions[op_type] = (function, outputs, captured)

    def get(self, op_type: str) -> Any:
        """The gradient function, as `tf.RegisterGradient` takes them; None if there is none."""
        if op_type not in self._functions:
            return None
        return lambda operation, *dys: self._gradients(op_type, operation, dys)

    def _gradients(self, op_type, operation, dys):
        function, outputs, captured = self._functions[op_type]
        arguments = [_gradient_or_zeros(tensor, dy) for tensor, dy in zip(operation.outputs, dys)]
        arguments += [_inside(tensor, operation, op_type) for tensor in captured]
        known = [
            KnownArgument(x.dtype, x.shape, x._a) if isinstance(x, EagerTensor) else known_of(x) for x in arguments
        ]
        results = iter(call_graph(self._library.made(function, known), arguments))
        return [None if leaf is None else next(results) for leaf in nest.flatten(outputs, expand_composites=True)]


def _gradient_or_zeros(tensor, dy):
    if tensor.dtype is dtypes.resource:
        return tensor  # a variable that was passed through; nobody asks for a gradient of the handle
    return zeros_like(tensor) if dy is None else dy


def _inside(tensor, operation, op_type):
    if not isinstance(tensor, CapturedTensor):
        return tensor
    try:
        return operation.graph.get_tensor_by_name(tensor.name)
    except (KeyError, ValueError):
        raise errors.invalid_argument(
            f"The gradient {op_type!r} of operation {operation.name!r} reads the tensor {tensor.name!r} of function "
            f"{tensor.function!r}, which is not in the graph of the operation."
        ) from None
