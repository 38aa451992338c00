"""What the current thread is doing: eager or tracing, which tapes record, which device.

Graphs and tapes are written in higher layers. `CurrentGraph` and `Recorder` say what lower layers ask of them; plain
base classes, as a metaclass would be in the way of that of `tf.Graph`.
"""

import contextlib
import contextvars
import threading
from collections.abc import Collection
from typing import Any, Literal

import numpy as np

from headrace._src.core.thread_state import carried

HOST = "/job:localhost/replica:0/task:0/device:CPU:0"
# Accelerators by their full names, once somebody has looked for them: core/accelerators.py.
accelerated: dict[str, Any] = {}


class CurrentGraph:
    """What a graph offers while ops are added to it, to layers that know nothing else of graphs."""

    # Whether it is the graph of a function. Values in other graphs are computed by sessions.
    building_function: bool = False
    # The graph in which this one is used; None at the top.
    outer_graph: "CurrentGraph | None" = None
    # The operations, in the order in which they were made.
    nodes: list
    # Which names are taken: a `core.names.NameTable`.
    names: Any
    # The global random seed of what follows; None without one.
    seed: int | None
    # The variables that its operations use, by the `id` of their handles.
    used_variables: dict[int, Any]

    def add_node(self, op, tensors, attrs, types, name=None) -> tuple:
        """Add an operation.

        Args:
            op: the op.
            tensors: one tensor per input, or a list for an input that is a list.
            attrs: all attributes by name, in canonical form.
            types: the type attributes that the inputs determine.
            name: a wish for the operation's name.

        Returns:
            The outputs, a list for each output that is one.
        """
        raise NotImplementedError

    def constant(self, tensor, name=None) -> Any:
        """A constant of this graph with the value of an eager tensor."""
        raise NotImplementedError

    def next_op_seed(self) -> int:
        """The seed for a random op that has none of its own."""
        raise NotImplementedError

    def cond(self, predicate, true_fn, false_fn) -> Any:
        """What `true_fn()` gives if a scalar boolean is true when the graph runs, otherwise what `false_fn()` does."""
        raise NotImplementedError

    def switch_case(self, index, functions) -> Any:
        """What the function with that number, a scalar int32, returns."""
        raise NotImplementedError

    def while_loop(self, condition, body, values) -> Any:
        """The values, a list of tensors, replaced by `body(*values)` as long as `condition(*values)` is true."""
        raise NotImplementedError

    def map_fn(self, function, elements, signature) -> Any:
        """`function` of each element along the first axis, stacked; `signature`: the dtypes of what it returns."""
        raise NotImplementedError

    def make_variable(self, **keywords) -> Any:
        """A variable whose value sessions keep, given the arguments of `tf.Variable`; not asked of functions."""
        raise NotImplementedError

    def add_to_collection(self, name, value) -> None:
        """Append to a list that the graph keeps under a name; not asked of functions."""
        raise NotImplementedError


def outside_functions(graph: CurrentGraph | None) -> CurrentGraph | None:
    """The graph, or the innermost around it that is not a function's; None if eager code is around the functions."""
    while graph is not None and graph.building_function:
        graph = graph.outer_graph
    return graph


class Recorder:
    """What sees each op that is applied: a tape, a forward accumulator, a watcher of variables.

    Tensors are known by number, `tensor._id`. Before `record` or `record_one` is called, the caller has checked that an
    input is among `ids`.
    """

    __slots__ = ()
    # The numbers of the tensors that it follows; something with `isdisjoint`.
    ids: Collection[int]

    def record(self, node, inputs, ids, outputs):
        """An op was applied.

        Args:
            node: what its gradient will need: an `op.definition.Node`, or something like it.
            inputs: the tensors, as one list.
            ids: their numbers.
            outputs: the tensors, as one list.
        """
        raise NotImplementedError

    def record_one(self, node, ids, output):
        """The same as `record`, for one output and without the inputs: the usual case, which must be fast."""
        raise NotImplementedError

    def variable_read(self, variable, tensor):
        """The variable was read, and has the value `tensor`."""
        raise NotImplementedError

    def variable_used(self, variable):
        """A function that uses the variable is about to be called."""


class Mode:
    """Anything beyond plain eager execution. `context.mode` is None while there is nothing of the kind."""

    __slots__ = ("before", "device", "elsewhere", "graph", "place", "recorders")

    def __init__(
        self,
        graph: CurrentGraph | None = None,
        recorders: tuple[Recorder, ...] = (),
        device: str | None = None,
        before: "Mode | Literal[False] | None" = False,
        place: Any = None,
    ):
        self.graph = graph  # ops become nodes of this graph, instead of running
        self.recorders = recorders  # tapes and forward accumulators, outermost first
        self.device = device  # the canonical name of the device asked for with tf.device
        self.before = before  # the mode that was when the last recorder came, if that made this one; False otherwise
        self.place = place  # where of a tf.distribute.Strategy this runs: a `distribute.places.Place`
        # Whether ops do something else than run the host's kernel: they become nodes, or run on an accelerator.
        self.elsewhere = graph is not None or (device is not None and device in accelerated)

    def replace(self, **changes):
        """A mode with other parts; None when nothing is left that is not plain."""
        fields = {
            "graph": self.graph, "recorders": self.recorders, "device": self.device, "place": self.place,
        } | changes  # fmt: skip
        return Mode(**fields) if any(fields.values()) else None

    def with_recorders(self, recorders):
        """The same as `replace(recorders=...)`, in the shortest way: tapes come and go often."""
        if not recorders and self.graph is None and self.device is None and self.place is None:
            return None
        return Mode(self.graph, recorders, self.device, place=self.place)


_PLAIN = Mode()


def quiet_runner():
    """A new `run(f, *args)`, with NumPy's floating-point warnings off for the call.

    Entering `np.errstate` costs 3 us, running in a context that has it costs 0.07 us.
    """
    quiet = contextvars.Context()
    quiet.run(np.seterr, all="ignore")
    return quiet.run


# Runners that nobody uses now. Each can run one function at a time, so a thread takes one for the call, and so does
# an op that is called while another runs (from a signal handler, `__del__` or an object's `__array__`).
idle_runners: list = []


def run_quietly(function, *args, **kwargs):
    """Call the function with NumPy's floating-point warnings off."""
    try:
        run = idle_runners.pop()
    except IndexError:
        run = quiet_runner()
    try:
        return run(function, *args, **kwargs)
    finally:
        idle_runners.append(run)


class Context(threading.local):
    """The state of one thread; each new thread begins with plain eager execution."""

    mode: Mode | None = None
    # For core/random_state.py: the node whose random op runs, the call of a graph within which it does, and the seeds
    # drawn for the op that runs next.
    random_node = None
    random_site = None
    drawn_seeds: tuple[int, int] | None = None

    # Functions of tf.variable_creator_scope, outermost first.
    variable_creators: tuple = ()

    # While a session runs a 1.x graph: where its variables and random streams are kept.
    resources: dict | None = None

    # What calls the functions of tf.py_function in place of this thread: a function of the call and of arrays.
    python_caller = None

    # The device that the function that is called was asked to run on; None when nobody has said.
    called_on: str | None = None

    # How to leave what a graph that runs has entered of tf.CriticalSection, when one of its operations fails: weak
    # references to methods.
    held_locks: tuple = ()

    run_quietly = staticmethod(run_quietly)

    @property
    def graph(self) -> CurrentGraph | None:
        return None if self.mode is None else self.mode.graph

    @property
    def recorders(self) -> tuple[Recorder, ...]:
        return () if self.mode is None else self.mode.recorders

    @property
    def device(self):
        return None if self.mode is None else self.mode.device

    @property
    def place(self):
        return None if self.mode is None else self.mode.place

    def change(self, **changes):
        """Replace parts of the mode; returns the mode that was, to be put back."""
        before = self.mode
        self.mode = (before or _PLAIN).replace(**changes)
        return before

    def add_recorder(self, recorder):
        """Let a tape or accumulator see what follows."""
        before = self.mode
        mode = before or _PLAIN
        self.mode = Mode(mode.graph, (*mode.recorders, recorder), mode.device, before, mode.place)

    def remove_recorder(self, recorder):
        """The opposite of `add_recorder`."""
        mode = self.mode or _PLAIN
        if mode.before is not False and mode.recorders[-1] is recorder:
            self.mode = mode.before
        else:
            self.mode = mode.with_recorders(tuple(r for r in mode.recorders if r is not recorder))

    @contextlib.contextmanager
    def changed(self, **changes):
        before = self.change(**changes)
        try:
            yield
        finally:
            self.mode = before


context = carried(Context())


def executing_eagerly() -> bool:
    """True unless a graph is being built in this thread."""
    return context.graph is None


PUBLIC = {"executing_eagerly": executing_eagerly}
