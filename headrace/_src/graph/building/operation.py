"""`Operation`: one node of a graph."""

import functools
import traceback
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from headrace._src.core import dtypes, types
from headrace._src.core.file_access import FilePolicy
from headrace._src.core.random_state import StreamOwner
from headrace._src.op.api import api
from headrace._src.op.attached import open_class

if TYPE_CHECKING:
    from headrace._src.attached import OperationMethods
else:
    OperationMethods = types.FOR_CHECKERS


class OperationNotes(StreamOwner):
    """What other files note about some operations, and about the steps that stand for them."""

    __slots__ = ()
    # Of a loop, how often it runs at most, where that is known when it is made. Gradients make lists of this size.
    maximum_iterations: int | None = None
    # Of a call, the graph behind the view that is called; a view does not keep its graph alive.
    calls: object = None
    # What `tf.custom_gradient` made: the number of outputs, the name of the function, and its gradient function.
    custom_gradient: tuple[int, str, Callable] | None = None
    # The name of the gradient that `tf.Graph.gradient_override_map` asks for.
    gradient_override: str | None = None
    # Of an imported operation, the gradient function of that name that came with it.
    gradient_function: Callable | None = None
    # Of an operation of a loaded model, which files it may touch.
    file_policy: FilePolicy | None = None
    # Attributes of an imported node that its op does not have, as messages.
    annotations: Mapping[str, object] = {}
    # When an operation was replaced by one with more outputs (control/calls.py: extend): on the new one, those that it
    # replaces, which others may still refer to, and the first of them, which runs when nobody reads the new outputs.
    earlier: tuple["Operation", ...] = ()
    original: "Operation | None" = None
    # Of an operation that was made for a reader of an imported graph: the tensor of that graph in whose place it is. It
    # is not written again.
    stands_for: object = None
    # Of an input of a function: the user's name for it, where an operation cannot have that name.
    argument_name: str | None = None
    # TF: of an operation that was made for another one, such as its gradient, that one. It is not noted here.
    _original_op: "Operation | None" = None
    # Whether a constant was made for an operation yet to come, which will name it after itself.
    is_operand: bool = False


@api("Operation", quick=True)
@open_class
class Operation(OperationMethods, OperationNotes):
    """An application of an op in a graph.

    Edges only lead backwards: an operation holds its inputs, a tensor holds its operation, and the graph holds both;
    the way from an operation to its outputs and to its graph is weak. So reference counting alone frees a graph.
    """

    # `record`: the op. `types`: its type attributes as read off the inputs. `location`: the user's line.
    __slots__ = (
        "__dict__", "__weakref__", "_graph", "_outputs", "attrs", "control_inputs", "device", "index", "inputs",
        "location", "name", "record", "types",
    )  # fmt: skip

    def __init__(self, graph, record, inputs, attrs, types, name, location, device) -> None:
        self._graph = graph.reference
        self.record = record
        self.inputs = inputs
        self.attrs = attrs
        self.types = types
        self.name = name
        self.location = location
        self.device = device
        self.control_inputs = ()
        self.index = 0
        self._outputs = ()

    @property
    def graph(self) -> Any:
        """The graph that this operation belongs to."""
        graph = self._graph()
        if graph is None:
            raise RuntimeError(f"The graph of the operation {self.name!r} is gone.")
        return graph

    @property
    def type(self) -> str:
        """The name of the op, such as "MatMul"."""
        return self.record.name

    @property
    def outputs(self) -> list:
        """The tensors that this operation computes."""
        return [reference() for reference in self._outputs]

    def set_outputs(self, tensors) -> None:
        """Say which tensors this operation computes; the graph keeps them."""
        self._outputs = tuple(map(weakref.ref, tensors))
        self.graph.tensors.extend(tensors)

    def values(self) -> tuple:
        """The outputs as a tuple. TF: kept from 1.x."""
        return tuple(self.outputs)

    @property
    def traceback(self) -> Any:
        """Where the operation was made: a list of the user's frame, as the module `traceback` has them."""
        file, line, function = self.location
        return [traceback.FrameSummary(file, line, function)]

    def colocation_groups(self) -> list:
        """The groups of operations that share a device: only this one. TF: kept from 1.x."""
        return [b"loc:@" + self.name.encode()]

    def run(self, feed_dict=None, session=None) -> None:
        """Run this operation in a session. TF: kept from 1.x."""
        session = session or self.graph.default_session()
        if session is None:
            raise ValueError(
                "Cannot execute operation using `run()`: No default session is registered. Use `with "
                "sess.as_default()` or pass an explicit session to `run(session=sess)`"
            )
        session.run(self, feed_dict)

    @functools.cached_property
    def levels(self) -> dict:
        """For operations that run graphs: by number of outputs, how an operation with these is differentiated.

        To differentiate it, it gets more outputs, the residuals; differentiating that again, still more.
        """
        return {}

    @property
    def is_stateful(self) -> bool:
        """Whether running it does more than compute outputs from inputs."""
        return is_stateful(self)

    def __repr__(self):
        return f"<tf.Operation {self.name!r} type={self.type}>"

    def __str__(self):
        return str(self.node_def)


def is_stateful(operation) -> bool:
    """Whether an operation reads or writes something outside its inputs, or runs a graph that does."""
    record = operation.record
    if record.calls_functions:
        return any(graph.is_stateful for graph in called_graphs(operation.attrs))
    return record.stateful


def called_graphs(attrs) -> list:
    """The graphs among the attributes of an operation."""
    graphs = []
    for value in attrs.values():
        if isinstance(value, (list, tuple)):
            graphs.extend(item for item in value if hasattr(item, "nodes"))
        elif hasattr(value, "nodes"):
            graphs.append(value)
    return graphs


def is_followed(dtype: dtypes.DType) -> bool:
    """Whether gradients flow into tensors of this dtype: numbers, lists of them, and variables."""
    return dtype._kind in "fcrv"


def has_gradient(dtype: dtypes.DType) -> bool:
    """Whether a tensor of this dtype can have a gradient of the same kind: numbers and lists of them."""
    return dtype._kind in "fcv"


def input_counts(node) -> list[int]:
    """How many tensors each input of the op has."""
    counts = []
    for argument in node.record.signature.inputs:
        if argument.type_list:
            counts.append(len(node.types[argument.type_attr]))
        elif argument.is_list:
            counts.append(node.types[argument.number_attr])
        else:
            counts.append(1)
    return counts


def grouped(node, items) -> list:
    """What belongs to the inputs of an operation, one item for each tensor, with a list for each input that is one."""
    result, at = [], 0
    for argument, count in zip(node.record.signature.inputs, input_counts(node)):
        result.append(list(items[at : at + count]) if argument.is_list else items[at])
        at += count
    return result
