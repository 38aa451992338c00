"""Variables as arguments of traced functions: any variable of the same dtype and shape can be passed."""

import weakref
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracing_protocol import TraceType
from headrace._src.op.api import api
from headrace._src.state.storage import Storage
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization
from headrace._src.state.variables import Variable, unique_numbers


class ArgumentVariable(Variable):
    """A variable that is an argument of a function that is being traced: its handle is an input of the graph."""

    def __init__(self, handle, dtype, shape, trainable):
        self._storage = Storage(None, dtype, shape, "argument")
        self._handle = handle
        self._dtype = dtype
        self._name = "argument"
        self._unique_id = f"argument_{next(unique_numbers)}"
        self._trainable = trainable
        self._synchronization = VariableSynchronization.AUTO
        self._aggregation = VariableAggregation.NONE
        self._constraint = None
        box = np.empty((), object)
        box[()] = self._storage
        handle._known = box  # tells the shape of what is read

    @property
    def device(self) -> str:
        return ""

    def numpy(self):
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self._storage.shape} dtype={self._dtype.name}>"

    __str__ = __repr__


@api("__internal__.VariableSpec")
class VariableSpec(TraceType):
    """The type of a variable: dtype, shape, whether it is trained, and which arguments are the same variable."""

    def __init__(self, shape, dtype=dtypes.float32, trainable=True, alias_id=None) -> None:
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.trainable = trainable
        self.alias_id = alias_id
        self.name = None
        self._variable = lambda: None  # a weak reference to the argument that this is the type of

    @classmethod
    def of_argument(cls, variable, alias_id) -> "VariableSpec":
        """The type of a variable that is passed to a function."""
        spec = cls(variable.shape, variable.dtype, variable.trainable, alias_id)
        spec._variable = weakref.ref(variable)
        return spec

    @classmethod
    def from_value(cls, value) -> "VariableSpec":
        return cls(value.shape, value.dtype, value.trainable)

    @property
    def value_type(self) -> type:
        return Variable

    def _key(self):
        return (self.shape, self.dtype, self.trainable, self.alias_id)

    def is_compatible_with(self, other) -> bool:
        """Whether a variable (or its spec) has this dtype and a fitting shape."""
        return self.dtype is other.dtype and self.shape.is_compatible_with(other.shape)

    def is_subtype_of(self, other) -> bool:
        return (
            isinstance(other, VariableSpec)
            and self._key()[1:] == other._key()[1:]
            and self.shape.is_subtype_of(other.shape)
        )

    def most_specific_common_supertype(self, others) -> "VariableSpec | None":
        if not all(isinstance(other, VariableSpec) and self._key()[1:] == other._key()[1:] for other in others):
            return None
        shape = self.shape.most_specific_common_supertype([other.shape for other in others])
        common = VariableSpec(shape, self.dtype, self.trainable, self.alias_id)
        common._variable = self._variable
        return common

    def placeholder_value(self, placeholder_context) -> Variable:
        """A variable whose handle is an input of the graph.

        TF: it is the very variable of the call that is traced, as those who look for it by its identity expect (the
        optimizers of Keras do). A later call that uses the trace passes another one.
        """
        known = placeholder_context.variables.get(self.alias_id)
        if known is not None and self.alias_id is not None:
            return known
        handle = placeholder_context.placeholder(TensorSpec([], dtypes.resource))
        variable = ArgumentVariable(handle, self.dtype, self.shape, self.trainable)
        passed = self._variable()
        if passed is not None and type(passed.handle) is EagerTensor:
            placeholder_context.pass_variable(passed, handle)
            variable = passed
        placeholder_context.variables[self.alias_id] = variable
        return variable

    def to_tensors(self, value) -> list[Tensor]:
        for recorder in context.recorders:
            recorder.variable_used(value)  # which the graph reads, but not before the tape's eyes
        return [value.handle]

    def from_tensors(self, tensors) -> Any:
        return ArgumentVariable(next(tensors), self.dtype, self.shape, self.trainable)

    def flatten(self) -> list:
        return [TensorSpec([], dtypes.resource)]

    def cast(self, value, casting_context) -> Variable:
        if not isinstance(value, Variable) or not self.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        return value

    def __eq__(self, other) -> bool:
        return isinstance(other, VariableSpec) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return (
            f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, trainable={self.trainable!r}, "
            f"alias_id={self.alias_id!r})"
        )
