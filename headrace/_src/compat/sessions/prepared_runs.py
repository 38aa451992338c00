"""What a session runs for certain feeds and fetches: a plan whose variables are inputs, so that it can be compiled.

In a 1.x graph an operation says which variable it means, by a handle that another operation looks up or by a name among
its own attributes. Here each variable becomes an input of the plan, as the variables of a `tf.function` are; reads and
assignments by name become those by handle. The rest is what functions have: passes, the interpreter, programs.
"""

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.graph.building import graph_variables as references
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.graph_variables import shown_variable
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.compiling.compilation import Executable, executable_of_plan
from headrace._src.graph.passes.pipeline import optimized
from headrace._src.graph.passes.steps import Step, origin
from headrace._src.graph.running.plan import Plan
from headrace._src.state import storage

# The ops that change a variable which their attributes name, and those that do so by a handle.
_CHANGES = {
    references.ASSIGN: storage.ASSIGN,
    references.ASSIGN_ADD: storage.ASSIGN_ADD,
    references.ASSIGN_SUB: storage.ASSIGN_SUB,
}


class PreparedRun:
    """How to compute some fetches from some feeds, and the handles of the variables that this takes.

    Attributes:
        plan: what the interpreter does. Its inputs are the feeds, then the handles.
        executable: what runs it: the plan, or something that compiles it when it runs often.
        handles: the arrays with the variables' storages; the same in every run.
        lends: whether what is fed may be memory of the user's.
    """

    def __init__(self, graph, feeds, fetches, operations=(), may_compile=True):
        """
        Args:
            graph: the graph.
            feeds: the tensors whose values are given.
            fetches: the tensors whose values are wanted.
            operations: what must run besides.
            may_compile: whether it may be compiled.

        It must be made while the resources of the session are the current ones.
        """
        steps, outputs = optimized(graph.nodes, feeds, fetches, operations)
        _check_placeholders(steps)
        lifted = _Lifted(steps, feeds, fetches, outputs)
        self.handles = lifted.handles
        self.plan = Plan.of_steps(lifted.steps, [*feeds, *lifted.inputs], lifted.outputs)
        self._holds = (graph, feeds, fetches, operations)  # by whose identities this is found again
        self.executable = self.plan
        self.lends = False
        if may_compile:
            self.executable = executable_of_plan(self.plan, "a session's run", is_seeded=graph.seed is not None)
            self.lends = isinstance(self.executable, Executable)
            if self.lends:
                self.executable.lent = len(feeds)


class _Lifted:
    """Steps without look-ups of variables by name."""

    def __init__(self, steps, feeds, fetches, outputs):
        self.steps: list = []
        self.inputs: list = []  # the handles, as tensors
        self.handles: list = []  # and as arrays
        self.outputs = list(outputs)
        self._fed = {id(tensor) for tensor in feeds}
        self._named: dict[tuple, SymbolicTensor] = {}  # by container and name, the handle
        self._read = {id(tensor) for tensor in outputs}
        self._read.update(id(tensor) for step in steps for tensor in step.inputs)
        for step in steps:
            self._add(step)
        for position, tensor in enumerate(fetches):
            attributes = None if id(tensor) in self._fed else shown_variable(tensor)
            if attributes is not None:
                # TF: who fetches a variable without a handle sees the value that it has when all has run.
                self.outputs[position] = self._append_read(tensor.op, attributes, _stand_in(tensor))

    def _add(self, step):
        record, attrs = step.record, step.attrs
        if self._fed and any(id(tensor) in self._fed for tensor in step.outputs):
            # It runs for the sake of its other outputs, or because it was asked for.
            step = Step(step, outputs=[_stand_in(x) if id(x) in self._fed else x for x in step.outputs])
        if record is storage.VAR_HANDLE and (attrs["shared_name"] or attrs["debug_name"]):
            self._add_input(step, attrs["container"], attrs["shared_name"] or attrs["debug_name"])
        elif record is storage.VARIABLE_REFERENCE and attrs["shared_name"]:
            self._add_input(step, attrs["container"], attrs["shared_name"])
        elif record is references.VARIABLE and attrs["shared_name"]:
            self._append_read(step, attrs, step.outputs[0])
        elif record in _CHANGES and attrs["shared_name"]:
            self._append_change(step, attrs)
        elif record is references.IS_VARIABLE_INITIALIZED and attrs["shared_name"]:
            handle = self._handle(step, attrs)
            self.steps.append(Step(step, record=storage.IS_INITIALIZED, inputs=(handle,), attrs={}, types={}))
        else:
            self.steps.append(step)

    def _add_input(self, step, container, name):
        """Let the handle that a step makes be an input."""
        kept = storage.session_storage(container, name, step.attrs["dtype"], step.attrs["shape"])
        self.inputs.append(step.outputs[0])
        self.handles.append(storage.boxed(kept))

    def _handle(self, step, attrs):
        """The handle of the variable that the attributes name."""
        key = attrs["container"], attrs["shared_name"]
        handle = self._named.get(key)
        if handle is None:
            handle = self._named[key] = SymbolicTensor(origin(step), 0, TensorShape([]), dtypes.resource)
            self.inputs.append(handle)
            self.handles.append(storage.boxed(storage.session_storage(*key, attrs["dtype"], attrs["shape"])))
        return handle

    def _append_read(self, step, attrs, output):
        self.steps.append(Step(
            step, record=storage.READ_VARIABLE, inputs=(self._handle(step, attrs),), attrs={"dtype": attrs["dtype"]},
            types={}, outputs=[output], kernel=_read,
        ))  # fmt: skip
        return output

    def _append_change(self, step, attrs):
        record = _CHANGES[step.record]
        assigns = record is storage.ASSIGN
        self.steps.append(Step(
            step, record=record, inputs=(self._handle(step, attrs), *step.inputs),
            attrs={"validate_shape": attrs["validate_shape"]} if assigns else {}, types={"dtype": attrs["dtype"]},
            outputs=[], kernel=references.CHANGES_BY_HANDLE[step.record],
        ))  # fmt: skip
        (output,) = step.outputs
        if id(output) in self._read:
            self._append_read(step, attrs, output)


def _read(resource, dtype):
    return references.initialized(resource[()]).read()


def _stand_in(tensor):
    """A tensor that nobody else knows, like another one."""
    return SymbolicTensor(tensor.op, tensor.value_index, tensor.shape, tensor.dtype)


def _check_placeholders(steps):
    """Refuse to run when something depends on a placeholder that is not fed."""
    for step in steps:
        if step.record is PLACEHOLDER:
            shape = step.attrs["shape"]
            text = ""
            if shape is not None:
                text = " and shape [" + ",".join("?" if n is None else str(n) for n in shape) + "]"
            dtype = {"float32": "float", "float64": "double"}.get(step.attrs["dtype"].name, step.attrs["dtype"].name)
            raise errors.InvalidArgumentError(
                None, step, f"You must feed a value for placeholder tensor '{step.name}' with dtype {dtype}{text}"
            )
