"""The state behind stateful random ops: the global seed, and how far each op's stream has been used.

TF: seeds are of the process, not of a thread. In eager execution all calls of an op with the same
attributes and input dtypes share one stream, and `tf.random.set_seed` starts all streams anew. In a graph
each node has a stream of its own, and one more for each place from which other graphs call its graph.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Hashable
from typing import Any

from headrace._src.core.context import context

# The largest op seed.
MAX_SEED = 2**31 - 1
# The global seed that goes with an op seed when there is none.
DEFAULT_GLOBAL_SEED = 87654321


class RandomState:
    """Seeds and streams. All methods may be called from any thread."""

    def __init__(self):
        self.seed = None
        # Set by tf.config.experimental.enable_op_determinism: unknown seeds are then refused.
        self.deterministic = False
        self._op_seeds = None
        self.epoch = 0  # how often the streams were started anew
        self._lock = threading.RLock()
        # For each stream: its random seeds (when it has none of its own), the blocks used, and what else the
        # op keeps from call to call.
        self._streams: dict[Hashable, Stream] = {}

    @property
    def is_exact(self) -> bool:
        """Whether runs must be equal to the last bit, however long compiling takes."""
        return self.seed is not None or self.deterministic

    def set_seed(self, seed) -> None:
        """Sets the global seed (None: no seed) and starts all streams anew."""
        try:
            generator = random.Random(seed)
        except TypeError:  # tensors and NumPy numbers
            seed = int(seed)
            generator = random.Random(seed)
        with self._lock:
            self.seed = seed
            self._op_seeds = generator
            self._streams.clear()
            self.epoch += 1

    def next_op_seed(self) -> int:
        """The op seed for an eager op that was given none, once there is a global seed."""
        with self._lock:
            return self._op_seeds.randint(0, MAX_SEED)

    def _current_streams(self) -> dict:
        """The streams of the operation of a graph that runs, kept with it, or those of eager execution."""
        node = context.random_node
        if node is None:
            return self._streams
        if context.resources is not None:
            # TF: each session has streams of its own.
            return context.resources.setdefault(("random", node, context.random_site), {})
        site = context.random_site
        if site is None:
            epoch, streams = node.random_streams
        else:
            epoch, streams = site.streams.get(node, (None, None))
        current = self.epoch if site is None or site.epoch is None else site.epoch
        if epoch != current:
            streams = {}
            if site is None:
                node.random_streams = (current, streams)
            else:
                site.streams[node] = (current, streams)
        return streams

    def reserve(self, owner: Hashable, seed: int, seed2: int, blocks: int) -> tuple[int, int, int]:
        """Takes the next `blocks` blocks of a stream.

        Args:
            owner: names the stream together with the seeds: the op, its attributes and input dtypes.
            seed, seed2: the op's attributes; both zero stand for seeds that nobody knows.
            blocks: how many blocks the op may use.

        Returns:
            The stream's two seeds, and the number of the first block.
        """
        key = (owner, seed, seed2) if context.random_node is None else (seed, seed2)
        with self._lock:
            streams = self._current_streams()
            stream = streams.get(key)
            if stream is None:
                stream = Stream(seed, seed2)
                # Seeds drawn for one call are not seen again: keeping their streams would only fill memory.
                if context.random_node is not None or context.drawn_seeds != (seed, seed2):
                    streams[key] = stream
            first = stream.used
            stream.used += blocks
            return stream.seed, stream.seed2, first

    def streams_of(self, node, calls=()) -> dict:
        """The streams of an operation of a graph, by their seeds; there is one at most.

        Args:
            node: the operation.
            calls: the calls that lead to its graph from the one that runs, outermost first.
        """
        before = context.random_node, context.random_site
        context.random_node = node
        for call in calls:
            context.random_site = site_within(context.random_site, call)
        try:
            with self._lock:
                return self._current_streams()
        finally:
            context.random_node, context.random_site = before

    def stream_of(self, node, calls=()) -> Stream:
        """The stream of an operation of a graph, for a compiled program that draws from it in the operation's stead."""
        key = (node.attrs["seed"], node.attrs["seed2"])
        streams = self.streams_of(node, calls)
        with self._lock:
            if key not in streams:
                streams[key] = Stream(*key)
            return streams[key]

    def memory(self, owner: Hashable, seed: int, seed2: int, make: Callable[[], Any]) -> Any:
        """What an op keeps from call to call besides its place in the stream; `make()` the first time."""
        if context.random_node is None and context.drawn_seeds == (seed, seed2):
            return make()
        key = (owner, seed, seed2) if context.random_node is None else (seed, seed2)
        with self._lock:
            stream = self._current_streams().setdefault(key, Stream(seed, seed2))
            if stream.memory is None:
                stream.memory = make()
            return stream.memory


class Site:
    """A place from which a graph is called: its operations draw from streams that belong to this place.

    TF: the graph is inlined there, so that each place has operations, and thereby streams, of its own.
    """

    __slots__ = ("epoch", "inner", "streams")

    def __init__(self, epoch=None):
        self.epoch = epoch  # for a place whose streams go on whatever `set_seed` does: when it came to be
        self.inner: dict[Any, Site] = {}  # by the calls in the graph
        self.streams: dict[Any, tuple] = {}  # by the operations of the graph: what `random_streams` is elsewhere


def site_within(site: Site | None, call) -> Site:
    """The place that an operation which calls a graph is, when its own graph is called from `site` (None: directly)."""
    if site is not None:
        return site.inner.get(call) or site.inner.setdefault(call, Site(site.epoch))
    # `setdefault`, as of several threads that come first one must win.
    return call.random_site or vars(call).setdefault("random_site", Site())


class StreamOwner:
    """Base of what random streams may belong to: operations, and the graphs of functions that datasets call."""

    __slots__ = ()
    # The epoch in which its streams began, and the streams by their seeds; see `RandomState._current_streams`.
    random_streams: tuple[int | None, dict] = (None, {})
    # The place that it is when it is called from no other; see `site_within`.
    random_site: Site | None = None


class Stream:
    __slots__ = ("memory", "seed", "seed2", "used")

    def __init__(self, seed, seed2):
        if seed == 0 and seed2 == 0:
            seed, seed2 = random.SystemRandom().getrandbits(64), random.SystemRandom().getrandbits(64)
        self.seed, self.seed2 = seed, seed2
        self.used = 0
        self.memory = None


random_state = RandomState()


def draw_seeds(op_seed) -> tuple[int, int]:
    """The attributes `seed` and `seed2` of a random op that was given `op_seed` (None: none).

    While a graph is built, its `seed` is the global seed and its `next_op_seed()` gives the op seeds.
    """
    graph = context.graph
    global_seed = random_state.seed if graph is None else graph.seed
    drawn = False
    if global_seed is None:
        if op_seed is None:
            if random_state.deterministic:
                raise RuntimeError(
                    "Random ops require a seed to be set when determinism is enabled. "
                    "Please set a seed before running the op, e.g. by calling tf.random.set_seed(1)."
                )
            return 0, 0
        global_seed = DEFAULT_GLOBAL_SEED
    elif op_seed is None:
        drawn = graph is None
        op_seed = random_state.next_op_seed() if drawn else graph.next_op_seed()
    seeds = _shorten(global_seed), _shorten(op_seed)
    if seeds == (0, 0):  # would stand for unknown seeds
        seeds = 0, MAX_SEED
    context.drawn_seeds = seeds if drawn else None
    return seeds


def _shorten(seed):
    return int(seed % MAX_SEED)
