"""Which graphs functions run, while somebody wants to know it."""

import threading
from typing import Any

from headrace._src.core.lazy import LazyModule
from headrace._src.graph.control import calls
from headrace._src.profiler.timing import Replacements
from headrace._src.tracing.concrete_function import ConcreteFunction

_messages = LazyModule("headrace._src.formats.event_messages")


class GraphCollection:
    """The graphs of the functions that eager code of any thread calls between `begin` and `end`.

    Functions that these call are in their graphs. As in `profiler/timing.py`, functions that take notes are in the
    place of the usual ones meanwhile, so that otherwise nothing is paid.
    """

    def __init__(self):
        self._graphs: dict[int, Any] = {}  # by id, in the order of the first calls
        self._lock = threading.Lock()
        self._replacements = Replacements()

    def begin(self) -> None:
        self._replacements.wrap(calls, "_eager_call", self._noting_call)
        self._replacements.wrap(ConcreteFunction, "call_arrays", self._noting_arrays)

    def end(self) -> None:
        self._replacements.undo()

    def _noting_call(self, usual):
        def _eager_call(graph, tensors):
            self._note(graph.base)
            return usual(graph, tensors)

        return _eager_call

    def _noting_arrays(self, usual):
        def call_arrays(function, arrays):
            self._note(function.graph)
            return usual(function, arrays)

        return call_arrays

    def _note(self, graph):
        with self._lock:
            self._graphs.setdefault(id(graph), graph)

    def run_metadata(self) -> Any:
        """A `RunMetadata` with the graphs, as they were traced."""
        metadata = _messages.RunMetadata()
        for graph in list(self._graphs.values()):
            entry = metadata.function_graphs.add()
            entry.pre_optimization_graph.CopyFrom(graph.as_graph_def(add_shapes=True))
        return metadata
