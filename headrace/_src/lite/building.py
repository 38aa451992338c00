"""How operations of a graph become operators of TensorFlow Lite: the table of converters, and what they write to."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.lite import schema
from headrace._src.lite.models import LiteGraph, LiteOperator, LiteTensor
from headrace._src.ops.arrays.filling import CONST

CONVERTERS: dict[str, Callable] = {}  # by the name of the op: (builder, step)


def converts(*names: str) -> Callable:
    """Register a function `(builder, step)` for ops of these names."""

    def register(function):
        for name in names:
            CONVERTERS[name] = function
        return function

    return register


class Unsupported(Exception):
    """A converter cannot express an operation with these attributes; the message says what is in the way."""


class Surroundings(Protocol):
    """What the builder of a graph knows of the model around it."""

    state: Any  # variables and tables
    graphs: list[LiteGraph]

    def prepared(self, step: Any, attribute: str, number: int | None = None) -> Any:
        """A function of a loop or branch, or one of a list of them, and what it needs."""

    def add_graph(self, name: str, fill: Callable[[GraphBuilder], None]) -> int:
        """Make another graph of the model; returns its number."""

    def add_part(self, part: Any, name: str, given: dict[int, LiteTensor], left_out: Collection[int] = ()) -> int:
        """Make a graph of a part, with constants in the place of some inputs; returns its number."""

    def have_effects(self, numbers: list[int]) -> bool:
        """Whether graphs change a variable."""

    def type_of_list(self, tensor: Any) -> Any:
        """The `ListType` of a tensor."""


class GraphBuilder:
    """Makes one graph of a model.

    Args:
        name: of the graph.
        model: what is around it.
    """

    def __init__(self, name: str, model: Surroundings):
        self.graph = LiteGraph(name)
        self.model = model
        self.handles: dict[str, LiteTensor] = {}  # of variables and tables, by their names
        self._count = 0  # of results that no operation of the graph has
        self._tensors: dict[int, LiteTensor] = {}
        self._steps: dict[int, Any] = {}  # by tensor, the step that computes it
        self._kept: list = []  # whose identities are known

    def input(self, tensor: Any) -> LiteTensor:
        """A tensor that is given."""
        made = self._new(tensor)
        self.graph.inputs.append(made)
        return made

    def given(self, tensor: Any, value: LiteTensor) -> None:
        """Let a constant be what an input of the graph would be."""
        self._tensors[id(tensor)] = value
        self._kept.append(tensor)

    def _new(self, tensor):
        dtype, dims = tensor.dtype, None if tensor.shape.rank is None else tensor.shape.as_list()
        if dtype == dtypes.variant:
            kind = self.model.type_of_list(tensor)
            dtype, dims = kind.dtype, [kind.count, *kind.dims]
        if not schema.has_type(dtype):
            raise Unsupported(f"there are no tensors of {dtype.name}")
        made = self._tensors[id(tensor)] = LiteTensor(tensor.name.removesuffix(":0"), dtype, dims)
        self._kept.append(tensor)
        return made

    def add(self, step: Any) -> None:
        """Convert a step.

        Raises:
            Unsupported: that cannot be.
            KeyError: there is no converter.
        """
        for tensor in step.outputs:
            self._steps[id(tensor)] = step
            self._kept.append(tensor)
        if step.record is CONST:
            (output,) = step.outputs
            value = np.asarray(step.attrs["value"]._a)
            self._tensors[id(output)] = LiteTensor(step.name, output.dtype, list(value.shape), value)
            return
        CONVERTERS[step.type](self, step)

    def tensor(self, tensor: Any) -> LiteTensor:
        """The tensor of the model for one of the graph: that of an earlier step, or an output of this one."""
        if isinstance(tensor, LiteTensor):
            return tensor
        found = self._tensors.get(id(tensor))
        return self._new(tensor) if found is None else found

    def same(self, output: Any, source: Any) -> None:
        """Let an output be the same tensor as another one."""
        self._tensors[id(output)] = self.tensor(source)
        self._kept.append(output)

    def step_of(self, tensor: Any) -> Any:
        """The step that computes a tensor; None for an input."""
        return self._steps.get(id(tensor))

    def value(self, tensor: Any) -> np.ndarray | None:
        """The value of a tensor; None unless it is a constant."""
        found = self._tensors.get(id(tensor))
        return None if found is None else found.value

    def known(self, tensor: Any, what: str) -> np.ndarray:
        """The value of a tensor that must be a constant.

        Raises:
            Unsupported: it is none.
        """
        found = self.value(tensor)
        if found is None:
            raise Unsupported(f"{what} must be known when the model is converted")
        return found

    def constant(self, value: Any, dtype: dtypes.DType | None = None, name: str = "constant") -> LiteTensor:
        """A constant that the graph does not have."""
        array = np.asarray(value, None if dtype is None else dtype.as_numpy_dtype)
        return LiteTensor(name, dtype or dtypes.as_dtype(array.dtype), list(array.shape), array)

    def integers(self, tensor: Any) -> LiteTensor:
        """A tensor of int32, which operators want as shapes, axes and sizes."""
        found = self.tensor(tensor)
        if found.dtype == dtypes.int32:
            return found
        if found.value is not None:
            return self.constant(found.value, dtypes.int32, found.name)
        return self.cast(found, dtypes.int32)

    def cast(self, tensor: LiteTensor, dtype: dtypes.DType) -> LiteTensor:
        """A tensor of another dtype."""
        made = LiteTensor(f"{tensor.name}/cast", dtype, tensor.shape)
        self.emit("CAST", [tensor], [made], "CastOptions")
        return made

    def compute(
        self, code: str, inputs: list, shape: list | None, dtype: dtypes.DType, kind: str = "", version: int = 1,
        **options: Any,
    ) -> LiteTensor:  # fmt: skip
        """Add an operator with one result, which no operation of the graph has."""
        self._count += 1
        made = LiteTensor(f"{self.graph.name}/{code.lower()}_{self._count}", dtype, shape)
        return self.emit(code, inputs, [made], kind, version, **options)[0]

    def vector(self, tensor: LiteTensor) -> LiteTensor:
        """A number as a vector of one."""
        if tensor.value is not None:
            return self.constant(tensor.value.reshape(1), tensor.dtype)
        return self.reshaped(tensor, [1])

    def joined(self, parts: list[LiteTensor]) -> LiteTensor:
        """Vectors one after another."""
        parts = [one for one in parts if one.shape != [0]]
        if len(parts) == 1:
            return parts[0]
        if all(one.value is not None for one in parts):
            return self.constant(np.concatenate([one.value for one in parts]), parts[0].dtype)
        sizes = [one.shape[0] if one.shape else None for one in parts]
        total = None if None in sizes else sum(size for size in sizes if size is not None)
        return self.compute("CONCATENATION", parts, [total], parts[0].dtype, "ConcatenationOptions", axis=0)

    def reshaped(self, tensor: LiteTensor, dims: list) -> LiteTensor:
        """A tensor in another shape, of which one size may be None."""
        wanted = np.array([-1 if size is None else size for size in dims], np.int32)
        if tensor.value is not None:
            return self.constant(tensor.value.reshape(wanted), tensor.dtype, tensor.name)
        return self.compute(
            "RESHAPE", [tensor, self.constant(wanted)], dims, tensor.dtype, "ReshapeOptions", newShape=wanted
        )

    def emit(
        self, code: str, inputs: list, outputs: list, kind: str = "", version: int = 1, has_effects: bool = False,
        **options: Any,
    ) -> list[LiteTensor]:  # fmt: skip
        """Add an operator. Inputs and outputs are tensors of the model or of the graph."""
        given = [self._of_model(x) for x in inputs]
        made = [self._of_model(x) for x in outputs]
        self.graph.operators.append(LiteOperator(code, given, made, kind, options, version, has_effects))
        return made

    def _of_model(self, tensor):
        return None if tensor is None else self.tensor(tensor)


def refuse(problems: dict[str, list[str]]) -> None:
    """Raise one error for all operations that cannot be converted.

    Args:
        problems: by op, for each operation its name, line and reason.

    Raises:
        InvalidArgumentError: there are some.
    """
    if problems:
        lines = [f"  {op}: {'; '.join(sorted(set(found))[:4])}" for op, found in sorted(problems.items())]
        raise errors.invalid_argument(
            "TensorFlow Lite has no operators for these operations:\n" + "\n".join(lines) + "\nCompute that part "
            "otherwise, or outside of the model (operations that need TensorFlow's own runtime are never written)."
        )
