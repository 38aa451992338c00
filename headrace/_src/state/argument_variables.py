"""Variables that are arguments of a function while it is traced."""

import numpy as np

from headrace._src.state import storage
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization
from headrace._src.state.variables import Variable, unique_numbers


class ArgumentVariable(Variable):
    """A variable that is an argument of a function that is being traced: its handle is an input of the graph."""

    def __init__(self, handle, dtype, shape, trainable):
        self._storage = storage.Storage(None, dtype, shape, "argument")
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
