"""`Step`: an operation as passes change it, without changing the user's graph."""

from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.operation import OperationNotes, called_graphs
from headrace._src.op.traits import PLAIN_CALL
from headrace._src.ops.arrays.filling import CONST


class Step(OperationNotes):
    """What runs in the place of an operation: another op, other inputs, or a constant.

    It has the attributes of an `Operation` that running and compiling need. Its outputs are tensors of the graph,
    but the `.op` of these may be another operation: only the list of steps says which step computes a tensor.
    """

    __slots__ = (
        "__dict__", "attrs", "control_inputs", "device", "inputs", "kernel", "location", "name", "node", "outputs",
        "record", "types",
    )  # fmt: skip

    def __init__(self, node, *, record=None, inputs=None, attrs=None, types=None, kernel=None, outputs=None):
        """
        Args:
            node: the operation (or step) that this one replaces. Arguments that are None are taken from it.
            kernel: what the interpreter calls instead of the op's own kernel.
        """
        self.node = origin(node)  # whose line is shown when something fails
        self.record = node.record if record is None else record
        self.inputs = node.inputs if inputs is None else inputs
        self.attrs = node.attrs if attrs is None else attrs
        self.types = node.types if types is None else types
        self.outputs = node.outputs if outputs is None else outputs
        self.kernel = kernel_of(node) if kernel is None and record is None else kernel
        self.control_inputs = node.control_inputs
        self.device = node.device
        self.location = node.location
        self.name = node.name
        if type(node) is not Step and record is None:
            vars(self).update(vars(node))  # the notes: most operations have none
            if self.original is not None:
                self.original = None  # which of the two runs is decided

    @property
    def type(self) -> str:
        """The name of the op."""
        return self.record.name

    @property
    def graph(self):
        return self.node.graph

    def __repr__(self):
        return f"<step {self.name!r} type={self.type}>"


def origin(node):
    """The operation of the user's graph that a step stands for."""
    return node.node if type(node) is Step else node


def draws_numbers(graph) -> bool:
    """Whether an operation of a graph, or of one that it runs, draws random numbers."""
    if not graph.is_stateful:
        return False
    return any(
        any(map(draws_numbers, called_graphs(node.attrs))) if node.record.calls_functions else node.record.draws
        for node in graph.nodes
    )


def random_call(node):
    """For a call of a graph that draws random numbers, the operation by which its streams are found; else None."""
    if PLAIN_CALL not in node.record.traits or not draws_numbers(node.attrs["f"]):
        return None
    call = origin(node)
    return call.original or call  # the same with residuals and without


def kernel_of(node):
    """What the interpreter calls instead of the op's own kernel; None for almost all."""
    if type(node) is Step:
        return node.kernel
    policy = node.file_policy
    return None if policy is None else policy.guarding(node.record.name, node.record.kernel)


def constant_step(node, tensor, array) -> Step:
    """A constant in the place of the operation that computes `tensor`."""
    attrs = {"value": EagerTensor(array, tensor.dtype), "dtype": tensor.dtype}
    return Step(node, record=CONST, inputs=(), attrs=attrs, types={}, outputs=[tensor])


class Known:
    """What is known of the tensors at some point of the program: who computes them, and which are constants."""

    __slots__ = ("constants", "large_bytes", "producers")

    def __init__(self):
        self.large_bytes = 0  # of large results that were computed beforehand
        self.constants: dict = {}  # id of a tensor to its array
        self.producers: dict = {}  # id of a tensor to the step or operation that computes it

    def add(self, step):
        """Take note of a step."""
        if step.record is CONST:
            self.constants[id(step.outputs[0])] = step.attrs["value"]._a
        producers = self.producers
        for tensor in step.outputs:
            producers[id(tensor)] = step

    def constant(self, tensor):
        """The array that a tensor always is; None when that is not known."""
        return self.constants.get(id(tensor))

    def producer(self, tensor, *ops):
        """The step that computes a tensor, when its op is one of `ops`; None otherwise."""
        step = self.producers.get(id(tensor))
        return step if step is not None and step.record in ops else None
