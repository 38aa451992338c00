"""`tf.train.experimental.PythonState`: values of Python that are part of checkpoints."""

import abc
from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor
from headrace._src.core.trackable import RestoredSpec, Trackable
from headrace._src.graph.building.variable_creation import init_scope
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor

PYTHON_STATE = "py_state"  # what checkpoints call it


@api("train.experimental.PythonState", dispatch=False)
class PythonState(Trackable, metaclass=abc.ABCMeta):
    """The base of objects that give checkpoints a string, and take it back.

    >>> class Counter(tf.train.experimental.PythonState):
    ...     count = 0
    ...     def serialize(self):
    ...         return str(self.count)
    ...     def deserialize(self, string_value):
    ...         self.count = int(string_value)
    >>> import os, tempfile
    >>> counter = Counter()
    >>> counter.count = 3
    >>> path = tf.train.Checkpoint(counter=counter).write(os.path.join(tempfile.mkdtemp(), "x"))
    >>> counter.count = 0
    >>> _ = tf.train.Checkpoint(counter=counter).read(path)
    >>> counter.count
    3
    """

    @abc.abstractmethod
    def serialize(self) -> Any:
        """What is to be saved: a str or bytes."""

    @abc.abstractmethod
    def deserialize(self, string_value: Any) -> None:
        """Takes back what `serialize` gave, as bytes."""

    def _serialize_to_tensors(self):
        with init_scope():
            return {PYTHON_STATE: to_tensor(self.serialize(), dtypes.string)}

    def _restored_specs(self):
        return {PYTHON_STATE: RestoredSpec(dtypes.string)}

    def _restore_from_tensors(self, restored_tensors):
        tensor = restored_tensors[PYTHON_STATE]
        if not isinstance(tensor, EagerTensor):
            raise NotImplementedError(
                f"{type(self).__name__}: the state of Python objects is restored outside of functions only."
            )
        self.deserialize(tensor.numpy())
