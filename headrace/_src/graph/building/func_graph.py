"""`FuncGraph`: the graph of a function, with inputs, outputs, and what it captures from outside."""

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from headrace._src.core import device_use, errors
from headrace._src.core.context import context
from headrace._src.core.names import fresh_scope
from headrace._src.core.random_state import StreamOwner, random_state
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.building.operation import is_followed
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.running.plan import Plan, plan_of
from headrace._src.op import observers
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import CONST

# Eager tensors up to this size become constants of the graph, larger ones and those with gradients extra inputs.
_INLINED = 128


class _Running:
    """How graphs run that are called: `make_executable(graph)` gives something with `run(arrays)`."""

    make_executable: Callable = staticmethod(lambda graph: graph.plan())  # the interpreter


def register_executables(make_executable):
    """Let `make_executable(graph)` say what runs a graph, instead of the interpreter alone.

    tracing/concrete_function.py registers `executable_of` of graph/compiling: programs without `tf.function` need not
    load the compiler.
    """
    _Running.make_executable = staticmethod(make_executable)


_planned: weakref.WeakSet = weakref.WeakSet()  # the graphs that know how they run


def _forget_plans():
    """Plans hold kernels: after these were replaced, graphs are planned anew."""
    for graph in tuple(_planned):
        graph._plan = graph._executable = graph.loop_plans = None
    _planned.clear()


observers.on_change.append(_forget_plans)


class _CountedCalls:
    """Runs a graph whose numbers are checked, and says in which call a check has failed."""

    def __init__(self, executable, name):
        self._executable = executable
        self._name = name
        self._calls = 0

    def run(self, arrays):
        self._calls += 1
        try:
            return self._executable.run(arrays)
        except errors.InvalidArgumentError as error:
            if "NaN" in error.message:
                error.add_to_message(f" (in call {self._calls} of {self._name})")
            raise

    def __getattr__(self, name):
        return getattr(self._executable, name)


_SURROUNDING = object()  # the graph that is being built where a FuncGraph is made


class FuncGraph(BaseGraph, StreamOwner):
    """A graph with inputs and outputs.

    Tensors from outside that its operations use become extra inputs, the captures. A call of the function passes their
    values after the arguments.
    """

    building_function = True
    loop_plans = None  # see passes/loop_invariants.py, for the body of a loop
    implements: Any = None  # an `Implementation` of passes/implementations.py, if it is one of several
    stays_interpreted = False  # whether it is never compiled: eager code reads its variables after each call
    # Of the graph of all replicas of a strategy, a `graph/replicas` Replicated: what it was made of.
    replicated: Any = None
    returns_operation = False  # of a branch: whether its function returned an operation
    traced_apart: tuple = ()  # why calls of `strategy.run` in it were traced once for each replica
    inlines_numbers = False  # whether all constants outside become constants here: no gradient is asked for them
    # For data/running: what `ElementFunction.vectorized` and `ragged_function` worked out for this graph, in a tuple.
    vectorized: tuple | None = None
    ragged: tuple | None = None

    def __init__(self, name, outer=_SURROUNDING) -> None:
        if outer is _SURROUNDING:
            outer = context.graph
        super().__init__()
        self.name = name
        self.inputs: list[SymbolicTensor] = []  # arguments, then captures
        self.outputs: list[SymbolicTensor] = []
        self.structured_outputs = None
        self.seed = random_state.seed if outer is None else outer.seed
        self._outer = outer.reference if outer is not None else None
        self._passed: dict[int, tuple] = {}  # the same for the handles of variables that are arguments
        self.jit_compile = None
        self.has_checks = bool(observers.node_rewriters)  # those of tf.debugging.enable_check_numerics
        self._plan = None
        self._executable = None
        self._derivatives: dict = {}

    def default_session(self) -> None:
        """No session runs a function's graph by itself."""

    @property
    def outer_graph(self) -> Any:
        """The graph in which this one is used; None at the top."""
        return None if self._outer is None else self._outer()

    @property
    def base(self) -> Any:
        """The graph that the operations belong to: this one, unless it is a view of another."""
        return self

    def view(self, outputs, inputs=None) -> "FuncGraphView":
        """The same operations as a function with other outputs (and inputs)."""
        return FuncGraphView(self, outputs, inputs)

    @property
    def captures(self) -> list:
        """Pairs of an outer tensor and the input that stands for it."""
        return list(self._captures.values())

    @property
    def external_captures(self) -> list:
        """The outer tensors."""
        return [outer for outer, _ in self._captures.values()]

    @property
    def internal_captures(self) -> list:
        """The inputs that stand for the outer tensors."""
        return [inner for _, inner in self._captures.values()]

    @property
    def variables(self) -> tuple:
        """The variables that its operations use."""
        return tuple(self.used_variables.values())

    @property
    def trainable_variables(self) -> tuple:
        return tuple(v for v in self.used_variables.values() if v.trainable)

    def capture(self, tensor, name=None) -> Tensor:
        """The input that stands for an outer tensor; a small eager one becomes a constant instead.

        Raises:
            InaccessibleTensorError: the tensor belongs to a graph that does not contain this one.
        """
        entry = self._captures.get(id(tensor)) or self._passed.get(id(tensor))
        if entry is not None:
            return entry[1]
        if type(tensor) is EagerTensor:
            is_small = not is_followed(tensor.dtype) and tensor._a.size <= _INLINED
            if (self.inlines_numbers or is_small) and not tensor._stays_outside:
                return self.shared_constant(tensor, name)
        elif type(tensor) is SymbolicTensor:
            self._check_reachable(tensor)
            if tensor.op.record is CONST and (self.inlines_numbers or not is_followed(tensor.dtype)):
                return self.shared_constant(tensor.op.attrs["value"], name)
            known = tensor._known
            if known is not None and tensor.dtype._kind in "iub" and known.size <= _INLINED:
                # Computed from constants, such as the bounds of a slice: it can be a constant here as well.
                if id(tensor) not in self._constants:
                    before, self._control_inputs = self._control_inputs, ()
                    self._constants[id(tensor)] = (tensor, self.constant_array(known, tensor.dtype, name))
                    self._control_inputs = before
                return self._constants[id(tensor)][1]
        else:
            return self.inside(to_tensor(tensor))
        return self.add_capture(tensor, name)

    def add_capture(self, tensor, name=None) -> SymbolicTensor:
        """A new input that stands for `tensor`."""
        before, self._control_inputs = self._control_inputs, ()
        with fresh_scope():
            inner = self.placeholder(tensor.shape, tensor.dtype, name or "capture")
        self._control_inputs = before
        if type(tensor) is EagerTensor:
            inner._known = tensor._a
        else:
            inner._known, inner._partial = tensor._known, tensor._partial
            copy_handle_data(tensor, inner)
        self._captures[id(tensor)] = (tensor, inner)
        self.inputs.append(inner)
        return inner

    def _check_reachable(self, tensor):
        graph = self.outer_graph
        while graph is not None:
            if tensor.op._graph is graph.reference:
                return
            graph = graph.outer_graph
        raise tensor._out_of_scope()

    def pass_variable(self, variable, handle) -> None:
        """Let the input `handle` stand for the handle of a variable that is an argument."""
        self._passed[id(variable.handle)] = (variable.handle, handle)

    def forget_passed_variables(self) -> None:
        """The graph is complete: the variables that are arguments are not among those that it uses itself."""
        for key in self._passed:
            self.used_variables.pop(key, None)
        self._passed.clear()

    def add_input(self, shape, dtype, name=None) -> SymbolicTensor:
        """A new argument. All must be added before anything is captured."""
        tensor = self.placeholder(shape, dtype, name)
        self.inputs.append(tensor)
        return tensor

    @contextlib.contextmanager
    def building(self) -> Iterator[Any]:
        """Within this block, operations are added to this graph, and tapes from outside do not see them."""
        before = context.change(graph=self, recorders=(), device=None)
        try:
            with fresh_scope():
                yield self
        finally:
            context.mode = before

    def plan(self) -> Plan:
        """How to run this graph, made when first asked for."""
        if self._plan is None:
            self._plan = plan_of(self)
            _planned.add(self)
        return self._plan

    def executable(self) -> Any:
        """What runs this graph when it is called: the plan, or a program when there is one."""
        if self._executable is None:
            base = self.base
            if device_use.logs_placement:
                device_use.log_placement(self.plan().steps)
            observed = observers.runs_by_kernels(base.has_checks)
            executable = self.plan() if observed else _Running.make_executable(self)
            # The calls of a branch or a loop's body are counted by the function that it is part of.
            is_counted = (base.has_checks or observed) and not base.body_scope
            self._executable = _CountedCalls(executable, self.name) if is_counted else executable
            _planned.add(self)
        return self._executable

    def __repr__(self):
        return f"FuncGraph(name={self.name}, id={id(self)})"


def body_of(operation, name) -> FuncGraph:
    """A graph for a function that an operation of the current graph will call: a branch, or the body of a loop.

    Args:
        operation: what the operation will be called, as far as the name is free.
        name: a name for the graph.
    """
    outer = context.graph
    graph = FuncGraph(name, outer)
    scope = outer.names.unique_name(operation, mark_as_used=False)
    graph.body_scope = f"{outer.body_scope}/{scope}" if outer.body_scope else scope
    return graph


class FuncGraphView:
    """The operations of a graph as a function with other outputs and inputs."""

    building_function = True
    replicated = None
    loop_plans = None  # see passes/loop_invariants.py, for the body of a loop

    def __init__(self, graph, outputs, inputs=None):
        # Held weakly: the graph holds its derivatives, which are views of it. Code that holds a view holds the graph.
        self._base = weakref.ref(graph.base)
        self.name = graph.name
        self.outputs = list(outputs)
        self.inputs = list(graph.inputs if inputs is None else inputs)
        self._plan = None
        self._executable = None
        self._derivatives: dict = {}

    @property
    def base(self):
        return self._base()

    def view(self, outputs, inputs=None):
        return FuncGraphView(self, outputs, inputs)

    @property
    def nodes(self):
        return self.base.nodes

    @property
    def captures(self):
        return self.base.captures

    @property
    def used_variables(self):
        return self.base.used_variables

    @property
    def is_stateful(self):
        return self.base.is_stateful

    plan = FuncGraph.plan
    executable = FuncGraph.executable

    def __repr__(self):
        return f"{self.base!r} with {len(self.outputs)} outputs"


def copy_handle_data(source, target):
    """Copy what is known about the elements of a list or the content of a resource."""
    if source._handle_data is not None:
        target._handle_data = source._handle_data
