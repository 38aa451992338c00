"""Running a function once for each replica: a thread for each, of which only one runs at a time.

A replica runs until it ends or asks for something that all must take part in (`merge_call`). Then the next one runs, in
the order of their numbers. When all wait, the thread that called `strategy.run` does what they ask for, once, and hands
each its part of the result. So results never depend on timing, and a graph that is being traced gets its operations in
one order.
"""

from __future__ import annotations

import collections
import threading
from typing import Any

from headrace._src.core import operating_system
from headrace._src.core.context import HOST, context
from headrace._src.core.device_use import available
from headrace._src.core.names import current_name_scope, fresh_scope, name_scope
from headrace._src.core.thread_state import state_of_thread, take_over
from headrace._src.distribute.places import Place
from headrace._src.distribute.values import regroup, select_replica


class _EndedByOthers(BaseException):
    """Raised in the threads of replicas that cannot go on, because another one failed."""


class Replica:
    """One replica of a call: its thread, and what it waits for."""

    def __init__(self, crew: Crew, index: int, replica_context, function, args, kwargs):
        self.crew = crew
        self.index = index
        self.context = replica_context
        self.error: BaseException | None = None
        self.result: Any = None
        self.has_ended = False
        self.request: tuple | None = None  # the function, its arguments and the name scope of a merge call
        self.answer: Any = None
        self._call = (function, args, kwargs)
        self._may_run = threading.Semaphore(0)
        self._control: tuple = ()  # control dependencies that are open in its code
        self.thread = threading.Thread(target=self._run, name=f"replica {index}", daemon=True)

    # In the thread of the caller.

    def go_on(self):
        """Let the replica run until it ends or asks for a merge call."""
        graph = self.crew.graph
        if graph is not None:
            outer, graph._control_inputs = graph._control_inputs, self._control
        if self.thread.ident is None:
            self.thread.start()
        self._may_run.release()
        self.crew.stopped.acquire()
        if graph is not None:
            self._control, graph._control_inputs = graph._control_inputs, outer

    # In its own thread.

    def _run(self):
        self._may_run.acquire()
        try:
            if self.crew.is_given_up:
                return
            function, args, kwargs = self._call
            take_over(self.crew.state)
            context.variable_creators = (*context.variable_creators, self.crew.shared_variables.creator(self.index))
            place = Place(self.crew.strategy, self.context, self.index)
            context.change(place=place, device=self.crew.device(self.index))
            with fresh_scope(self.crew.scope):
                if self.crew.graph is not None and self.index:
                    with name_scope(f"replica_{self.index}"):
                        self.result = function(*args, **kwargs)
                else:
                    self.result = function(*args, **kwargs)
        except BaseException as error:
            self.error = error
        finally:
            self.has_ended = True
            self._call = ()
            self.crew.stopped.release()

    def merge(self, merge_fn, args, kwargs):
        """Wait until all replicas ask for this; returns this replica's part of what the function returns."""
        if context.graph is not self.crew.graph:
            raise RuntimeError(
                "merge_call: replicas cannot wait for each other inside of a graph that only one of them builds: a "
                "nested `@tf.function`, or a branch or loop that becomes graph code. Applying gradients, all_reduce "
                "and assignments with an aggregation wait so. Move them out of it, or put the `@tf.function` around "
                "strategy.run()."
            )
        self.request = (merge_fn, args, kwargs, current_name_scope())
        self.crew.stopped.release()
        self._may_run.acquire()
        if self.crew.is_given_up:
            raise _EndedByOthers
        answer, self.answer = self.answer, None
        return answer

    def end(self):
        """Let a thread that waits end."""
        if not self.has_ended and self.thread.ident is not None:
            self._may_run.release()

    def interrupt(self):
        """Raise KeyboardInterrupt in the thread, at its next line of Python."""
        if not self.has_ended and self.thread.ident is not None:
            operating_system.interrupt_thread(self.thread.ident)


class SharedVariables:
    """Variables that replicas make: the first one makes them, the others get the same ones, in the same order."""

    def __init__(self):
        self._made: dict[Any, list] = collections.defaultdict(list)

    def creator(self, index):
        """The variable creator of a replica."""
        counts: dict[Any, int] = collections.Counter()

        def create(next_creator, **keywords):
            name = keywords.get("name")
            number = counts[name]
            counts[name] += 1
            if index == 0:
                variable = next_creator(**keywords)
                self._made[name].append(variable)
                return variable
            if number >= len(self._made[name]):
                raise RuntimeError(
                    f"Tried to create variable {name!r} on replica {index}, which the first replica has not created. "
                    "All replicas must create the same variables."
                )
            return self._made[name][number]

        return create


class Crew:
    """The replicas of one call of `strategy.run`.

    Args:
        strategy: whose call it is.
        make_context: from a number and the function that merges, the context of a replica.
        devices: of the replicas.
    """

    def __init__(self, strategy, make_context, devices):
        self.strategy = strategy
        self.stopped = threading.Semaphore(0)  # released by a replica that hands over
        self.is_given_up = False
        self.shared_variables = SharedVariables()
        self.graph: Any = context.graph
        self.state = state_of_thread()
        self.scope = current_name_scope()
        self._make_context = make_context
        self._devices = devices

    def device(self, index):
        """The name of a replica's device as the context has it: the host needs no mark."""
        name = self._devices[index]
        return name if name != HOST and name in available else None

    def run(self, function, args, kwargs) -> Any:
        """Call the function on all replicas; returns what they return, regrouped."""
        replicas = []
        for i in range(len(self._devices)):
            mine = select_replica(i, args), select_replica(i, kwargs)
            replica = Replica(self, i, None, function, *mine)
            replica.context = self._make_context(i, replica.merge)
            replicas.append(replica)
        try:
            self._run_all(replicas)
        except BaseException as error:
            self._give_up(replicas, isinstance(error, KeyboardInterrupt))
            raise
        return regroup([replica.result for replica in replicas])

    def _run_all(self, replicas):
        while True:
            for replica in replicas:
                replica.go_on()
                if replica.error is not None:
                    raise replica.error
            if all(replica.has_ended for replica in replicas):
                return
            if any(replica.has_ended for replica in replicas):
                raise RuntimeError(
                    "strategy.run: some replicas have ended while others wait for them in a merge_call. All must take "
                    "part in each all_reduce, aggregating assignment and merge_call."
                )
            self._answer(replicas)

    def _answer(self, replicas):
        """Do once what all replicas ask for."""
        requests = [replica.request for replica in replicas]
        merge_fn, scope = requests[0][0], requests[0][3]
        args = regroup([request[1] for request in requests])
        kwargs = regroup([request[2] for request in requests])
        with fresh_scope(scope), context.changed(place=Place(self.strategy)):
            result = merge_fn(self.strategy, *args, **kwargs)
        for i, replica in enumerate(replicas):
            replica.request, replica.answer = None, select_replica(i, result)

    def _give_up(self, replicas, interrupted):
        self.is_given_up = True
        for replica in replicas:
            if interrupted and replica.request is None:
                replica.interrupt()
            replica.end()
        for replica in replicas:
            if replica.thread.ident is not None:
                replica.thread.join()
