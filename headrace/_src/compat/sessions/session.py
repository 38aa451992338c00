"""`tf.compat.v1.Session`: runs parts of a 1.x graph, and keeps the values of its variables."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.sessions.fetches import Fetches, feeds_of, fetch_key, fetched_objects, parts_fed
from headrace._src.compat.sessions.options import ConfigProto
from headrace._src.compat.sessions.prepared_runs import PreparedRun
from headrace._src.compat.sessions.run_traces import run_traced
from headrace._src.core import device_use, dtypes, errors, nest
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.devices.memory import use_gpu_options
from headrace._src.graph.building.graph import PLACEHOLDER, Graph, sessions
from headrace._src.graph.passes.dead_code import needed
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.passing import PLACEHOLDER_WITH_DEFAULT
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor

# How many combinations of feeds and fetches a session keeps the plans of.
_PLANS = 1000


class _Question:
    """What was asked for, and how it is answered when it is asked again."""

    __slots__ = ("_parts", "feeds", "keys", "prepared", "wanted")

    def __init__(self, session, fetches, fed):
        """
        Args:
            session: the session.
            fetches: a structure of what is wanted.
            fed: what is fed, as keys of `feed_dict`.
        """
        graph = session.graph
        self.wanted = Fetches(graph, fetches, session)
        self.keys = ()  # by whose identities it is known
        self._parts = [feeds_of(graph, key) for key in fed]
        self.feeds = [feed.tensor for feeds in self._parts for feed in feeds]
        self.prepared = None  # until it is run

    def arrays(self, pairs) -> list:
        """The values that are fed as arrays, in the order of `feeds`, given pairs of a key and a value."""
        lends = self.prepared is not None and self.prepared.lends
        arrays = []
        for (key, value), feeds in zip(pairs, self._parts):
            if len(feeds) == 1:
                arrays.append(feeds[0].lent(value) if lends else feeds[0].array(value))
            else:
                arrays.extend(feed.array(part) for feed, part in zip(feeds, parts_fed(key, value)))
        return arrays


class BaseSession:
    """What sessions share."""

    def __init__(self, target="", graph=None, config=None) -> None:
        if not isinstance(target, (str, bytes)):
            raise TypeError(f"Argument `target` must be a string, got {target!r} of type {type(target).__name__}.")
        if target not in ("", b"", "local"):
            raise errors.NotFoundError(
                None, None, f"No session factory registered for the target {target!r}: graphs run in this process."
            )
        graph = get_default_graph() if graph is None else graph
        if not hasattr(graph, "nodes") or graph.building_function:
            raise TypeError(f"Argument `graph` must be a tf.Graph, got {graph!r} of type {type(graph).__name__}.")
        if config is not None and not isinstance(config, ConfigProto):
            raise TypeError(
                f"Argument `config` must be a tf.ConfigProto, got {config!r} of type {type(config).__name__}."
            )
        use_gpu_options(config)
        self._graph = graph
        self._config = config
        self._target = target
        self._closed = False
        self._resources: dict = {}  # variables by name, and random streams by operation
        self._questions: dict[tuple, _Question] = {}
        self._plans: dict[tuple, PreparedRun] = {}
        self._restrictions = graph.restrictions
        self._lock = threading.Lock()
        self._managers: list = []

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a `GraphDef` message."""
        return self._graph.as_graph_def(add_shapes=True)

    @property
    def sess_str(self) -> bytes:
        """The target, as bytes."""
        return self._target if isinstance(self._target, bytes) else self._target.encode()

    def close(self) -> None:
        """Forget the values of the variables; the session cannot run any more."""
        self._closed = True
        self._resources = {}
        self._questions, self._plans = {}, {}

    def list_devices(self) -> list:
        """The names of the devices."""
        return ["/job:localhost/replica:0/task:0/device:CPU:0"]

    @contextlib.contextmanager
    def _default(self):
        sessions.stack.append(self)
        try:
            yield self
        finally:
            if sessions.stack[-1] is not self:
                raise RuntimeError("Sessions must be left in the opposite order in which they were entered.")
            sessions.stack.pop()

    def as_default(self) -> Any:
        """Within this block, `eval()` and `run()` of tensors and operations use this session."""
        return self._default()

    # Running.

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None) -> Any:
        """Compute what is asked for, and what that depends on; nothing else runs.

        Args:
            fetches: a tensor, operation, variable, composite tensor or name, or a nested list, tuple, namedtuple or
                dictionary of them.
            feed_dict: tensors to their values, which replace what the graph would compute.
            options: a `RunOptions`. With a `trace_level`, operations run one by one, and `run_metadata` tells about
                each.
            run_metadata: a `RunMetadata`, for what is traced.

        Returns:
            NumPy values in the structure of `fetches`; None for operations.

        Raises:
            RuntimeError: the session is closed.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not self._graph.nodes:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        feed_dict = self._feeds(feed_dict)
        question = self._question(fetches, feed_dict)
        return self._answer(question, question.arrays(feed_dict.items()), options, run_metadata)

    def _answer(self, question, arrays, options, run_metadata):
        prepared, wanted = question.prepared, question.wanted
        if prepared is None:
            prepared = question.prepared = self._prepared(question.feeds, wanted.tensors, wanted.operations)
        if run_metadata is not None and options is not None and options.trace_level:
            arrays = [array.copy() for array in arrays]
            return wanted.values(self._run(run_traced, prepared, arrays + prepared.handles, run_metadata))
        return wanted.values(self._run(prepared.executable.run, arrays + prepared.handles))

    @staticmethod
    def _feeds(feed_dict):
        if feed_dict is None:
            return {}
        if not hasattr(feed_dict, "items"):
            raise TypeError(f"feed_dict must be a dictionary, got {type(feed_dict).__name__}.")
        return feed_dict

    def _question(self, fetches, feed_dict):
        """What the fetches and the keys of the feeds mean; the same object as the last time."""
        graph = self._graph
        if graph.restrictions != self._restrictions:  # something may not be fed or fetched any more
            self._restrictions = graph.restrictions
            self._questions.clear()
        wanted = fetch_key(fetches)
        if wanted is None:
            return _Question(self, fetches, feed_dict)
        key = (wanted, *[x if type(x) is str else id(x) for x in feed_dict])
        question = self._questions.get(key)
        if question is None:
            question = _Question(self, fetches, feed_dict)
            question.keys = (*feed_dict, *fetched_objects(fetches))
            self._keep(self._questions, key, question)
        return question

    def _keep(self, kept, key, value):
        with self._lock:
            if len(kept) >= _PLANS:
                kept.clear()
            kept[key] = value

    def _run(self, function, *arguments):
        """Call something that runs operations of the graph."""
        before, context.mode = context.mode, None
        outer, context.resources = context.resources, self._resources
        try:
            return context.run_quietly(function, *arguments)
        finally:
            context.mode = before
            context.resources = outer

    def _prepared(self, feeds, fetches, operations, may_compile=True):
        # Operations do not change after they were made, so plans need not be made anew when the graph grows.
        key = (tuple(map(id, feeds)), tuple(map(id, fetches)), tuple(map(id, operations)), may_compile)
        prepared = self._plans.get(key)
        if prepared is None:
            outer, context.resources = context.resources, self._resources
            try:
                prepared = PreparedRun(self._graph, feeds, fetches, operations, may_compile)
            finally:
                context.resources = outer
            self._keep(self._plans, key, prepared)
            if self._config is not None and self._config.log_device_placement:
                device_use.log_placement(prepared.plan.steps)
        return prepared

    def make_callable(self, fetches, feed_list=None, accept_options=False) -> Callable[..., Any]:
        """A function that runs the fetches, and takes the values of the tensors of `feed_list` as arguments.

        Args:
            fetches: as for `run`.
            feed_list: tensors whose values the function takes, in this order.
            accept_options: whether the function also takes `options` and `run_metadata`.
        """
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError(f"Argument `feed_list` must be a list or tuple. Received: feed_list={feed_list}")
        graph = self._graph
        feeds = [graph.as_graph_element(item, allow_operation=False) for item in feed_list or ()]
        question = _Question(self, fetches, feeds)

        def call(*values, options=None, run_metadata=None):
            if len(values) != len(feeds):
                raise TypeError(f"make_callable: expected {len(feeds)} values, got {len(values)}.")
            if self._closed:
                raise RuntimeError("Attempted to use a closed Session.")
            return self._answer(question, question.arrays(zip(feeds, values)), options, run_metadata)

        return call if accept_options else lambda *values: call(*values)

    # Running in parts: what is fed and fetched is said first; each call gives some feeds and asks for some fetches.

    def partial_run_setup(self, fetches, feeds=None) -> Any:
        """Prepare a run in parts.

        Args:
            fetches: all that will be fetched.
            feeds: the tensors that will be fed.

        Returns:
            What `partial_run` wants.
        """
        graph = self._graph
        wanted = Fetches(graph, fetches, self)
        allowed = [graph.as_graph_element(feed, allow_operation=False) for feed in nest.flatten(feeds or [])]
        return _PartialRun(wanted, allowed)

    def partial_run(self, handle, fetches, feed_dict=None) -> Any:
        """Go on with a run in parts: each tensor is computed at most once, with the feeds given so far.

        Raises:
            ValueError: something was not announced in `partial_run_setup`.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        graph = self._graph
        feed_dict = self._feeds(feed_dict)
        question = _Question(self, fetches, feed_dict)
        wanted = question.wanted
        handle.check(wanted, question.feeds)
        for tensor, array in zip(question.feeds, question.arrays(feed_dict.items())):
            handle.known[id(tensor)] = (tensor, array)
        operations = [op for op in wanted.operations if id(op) not in handle.done]
        given = [tensor for tensor, _ in handle.known.values()]
        arrays = [array for _, array in handle.known.values()]
        nodes = needed(graph.nodes, given, wanted.tensors, operations)
        # What is computed now is not computed again: every value is kept for the rest of this run.
        made = [tensor for node in nodes for tensor in node.outputs if id(tensor) not in handle.known]
        total = [*wanted.tensors, *made]
        prepared = self._prepared(given, total, operations, may_compile=False)
        results = self._run(prepared.plan.run, arrays + prepared.handles)
        for tensor, array in zip(total, results):
            handle.known.setdefault(id(tensor), (tensor, array))
        handle.done.update(map(id, nodes))
        return wanted.values(results[: len(wanted.tensors)])


class _PartialRun:
    """A run in parts: what was announced, and the values that are known so far."""

    def __init__(self, wanted, feeds):
        self._tensors = {id(tensor) for tensor in wanted.tensors}
        self._operations = {id(op) for op in wanted.operations}
        self._feeds = {id(tensor) for tensor in feeds}
        self._keep = (wanted, feeds)
        self.known: dict = {}
        self.done: set = set()

    def check(self, wanted, feeds):
        """Refuse what was not announced, or has been fed before."""
        for tensor in feeds:
            if id(tensor) not in self._feeds:
                raise ValueError(f"partial_run: {tensor.name} was not among the feeds of partial_run_setup.")
            if id(tensor) in self.known:
                raise ValueError(f"partial_run: {tensor.name} has been fed or computed already.")
        for tensor in wanted.tensors:
            if id(tensor) not in self._tensors:
                raise ValueError(f"partial_run: {tensor.name} was not among the fetches of partial_run_setup.")
        for op in wanted.operations:
            if id(op) not in self._operations:
                raise ValueError(f"partial_run: {op.name} was not among the fetches of partial_run_setup.")


@api("compat.v1.Session")
class Session(BaseSession):
    """Runs parts of a graph.

    Args:
        target: empty: this process.
        graph: the graph; the default graph if none is given.
        config: a `ConfigProto`.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
    ...     x = tf.compat.v1.placeholder(tf.float32, [2])
    ...     print(sess.run(x * 2.0, {x: [1, 2]}))
    [2. 4.]
    """

    def __enter__(self) -> "Session":
        managers = contextlib.ExitStack()
        # TF: the graph becomes the default as well, unless it is so already.
        managers.enter_context(self._graph.as_default())
        managers.enter_context(self.as_default())
        self._managers.append(managers)
        return self

    def __exit__(self, *exception) -> None:
        self._managers.pop().__exit__(*exception)
        self.close()

    @staticmethod
    def reset(target, containers=None, config=None) -> None:
        """Forget the values in containers that sessions share. Sessions of this process share none."""


@api("compat.v1.InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default from when it is made until it is closed."""

    def __init__(self, target="", graph=None, config=None) -> None:
        super().__init__(target, graph, config)
        self._entered = contextlib.ExitStack()
        if graph is not None:
            self._entered.enter_context(graph.as_default())
        sessions.stack.append(self)

    def close(self) -> None:
        super().close()
        if self in sessions.stack:
            sessions.stack.remove(self)
        self._entered.close()


@api("compat.v1.get_default_session", dispatch=False)
def get_default_session() -> Session | None:
    """The session of the innermost `with session.as_default()` of this thread; None without one."""
    return sessions.stack[-1] if sessions.stack else None


# Placeholders.


@api("compat.v1.placeholder", dispatch=False)
def placeholder(dtype, shape=None, name=None) -> Tensor:
    """A tensor whose value every run that needs it must feed.

    Args:
        dtype: the element type.
        shape: the shape, as far as it is known.
        name: a name for the operation.

    Raises:
        RuntimeError: when executing eagerly.
    """
    graph = _graph_for("placeholder")
    dtype = dtypes.as_dtype(dtype)
    dims = TensorShape(shape)
    attrs = {"dtype": dtype, "shape": None if dims.rank is None else tuple(dims.as_list())}
    return graph.inside(PLACEHOLDER(name=name, **attrs))


def _graph_for(what):
    graph = context.graph
    if graph is None:
        raise RuntimeError(f"tf.{what}() is not compatible with eager execution.")
    return graph


@api("compat.v1.sparse_placeholder", "compat.v1.sparse.placeholder", dispatch=False)
def sparse_placeholder(dtype, shape=None, name=None) -> SparseTensor:
    """A sparse tensor whose indices, values and shape must be fed together, as a `SparseTensorValue`."""
    _graph_for("sparse_placeholder")
    known = None if shape is None else TensorShape(shape)
    rank = None if known is None else known.rank
    prefix = None if name is None else name + "/"
    if known is not None and known.is_fully_defined():
        size = to_tensor(np.array(known.as_list(), np.int64), name=prefix and prefix + "shape")
    else:
        size = placeholder(dtypes.int64, [rank], prefix and prefix + "shape")
    values = placeholder(dtype, [None], prefix and prefix + "values")
    indices = placeholder(dtypes.int64, [None, rank], prefix and prefix + "indices")
    result = SparseTensor(indices, values, size)
    if known is not None:
        result.set_shape(known)
    return result


@api("compat.v1.ragged.placeholder", dispatch=False)
def ragged_placeholder(dtype, ragged_rank, value_shape=None, name=None) -> RaggedTensor:
    """A ragged tensor whose values and row splits must be fed together, as a `RaggedTensor`.

    Args:
        dtype: the element type.
        ragged_rank: how many dimensions are ragged.
        value_shape: the shape of one of its flat values.
        name: a scope for the operations.
    """
    _graph_for("ragged.placeholder")
    if ragged_rank == 0:
        return placeholder(dtype, value_shape, name)
    with name_scope(name or "RaggedPlaceholder"):
        inner = TensorShape(value_shape)
        values = placeholder(dtype, TensorShape([None]).concatenate(inner), "flat_values")
        splits = [placeholder(dtypes.int64, [None], f"row_splits_{i}") for i in reversed(range(ragged_rank))]
        for part in splits:
            values = RaggedTensor.from_row_splits(values, part, validate=False)
        return values


@api("compat.v1.placeholder_with_default", dispatch=False)
def placeholder_with_default(input, shape, name=None) -> Tensor:
    """A tensor that passes `input` on, unless a run feeds it another value.

    Args:
        input: the value by default.
        shape: the shape, which may be more general than that of `input`.
        name: a name for the operation.
    """
    shape = TensorShape(shape)
    dims = None if shape.rank is None else tuple(shape.as_list())
    value = to_tensor(input)
    if not shape.is_compatible_with(value.shape):
        raise ValueError(f"placeholder_with_default: shape {shape} does not fit the input's shape {value.shape}.")
    result = PLACEHOLDER_WITH_DEFAULT(value, shape=dims, name=name)
    if context.graph is not None:  # what is fed may have any value, and another shape
        result._known, result._partial, result._shape = None, None, shape
    return result
