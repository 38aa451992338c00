"""`Dataset.shuffle`: elements in random order, drawn from a buffer."""

import contextlib
import random
import threading

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.random_state import draw_seeds
from headrace._src.core.shapes import TensorShape
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running.cursor_choice import SHUFFLE, chosen
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Access, Cursor, Stage, shapes_of, stage_of
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.random.bits import Philox

_WORDS_AT_ONCE = 4096


class RandomWords:
    """The 32-bit numbers of a Philox stream, one after another.

    Args:
        seed, seed2: of the stream, as for stateful random ops.
    """

    def __init__(self, seed: int, seed2: int):
        self.seeds = (seed, seed2)
        self._stream = Philox.from_op_seeds(seed, seed2)
        self._words: list = []
        self._at = self._first = 0  # the place in `_words`, and how many numbers came before these

    def next(self) -> int:
        """The next number."""
        if self._at >= len(self._words):
            self._refill()
        word = self._words[self._at]
        self._at += 1
        return word

    def take(self, count: int) -> list:
        """The next `count` numbers."""
        words = self._words[self._at : self._at + count]
        self._at += len(words)
        while len(words) < count:
            self._refill()
            more = self._words[: count - len(words)]
            self._at = len(more)
            words += more
        return words

    def _refill(self):
        self._first += len(self._words)
        # Few at first: most streams only give the seeds of others.
        count = 4 if self._first == 0 else _WORDS_AT_ONCE
        self._words = self._stream.skip(self._first // 4).words(count).tolist()
        self._at = 0

    @property
    def used(self) -> int:
        """How many numbers were taken."""
        return self._first + self._at

    def seek(self, used: int):
        """Go to where `used` numbers have been taken."""
        self._first = used - used % 4
        self._words = self._stream.skip(self._first // 4).words(4).tolist()
        self._at = used % 4


class Seeds:
    """The seeds of one walk after another."""

    def __init__(self, seed, seed2, changes):
        if seed == 0 and seed2 == 0:
            seed, seed2 = random.SystemRandom().getrandbits(64), random.SystemRandom().getrandbits(64)
        self._words = RandomWords(seed, seed2)
        self._changes = changes
        self._lock = threading.Lock()
        self._known: list = []  # what the next walks draw, where that was said; None: as usual

    def draw(self) -> tuple[int, int]:
        """The two seeds of a new walk."""
        with self._lock:
            drawn = (self._words.next(), self._words.next()) if self._changes else self._words.seeds
            known = self._known.pop(0) if self._known else None
            return known or drawn

    @property
    def of_picking(self) -> tuple[int, int]:
        """The seeds of the order in which elements are asked for by number."""
        seed, seed2 = self._words.seeds
        return (seed, seed2) if self._changes else (seed, seed)  # TF: so it is

    def begin(self, walks: int, number: int = 0, known: tuple[int, int] | None = None):
        """Go to where so many walks have drawn their seeds.

        Args:
            walks: how many.
            number: of one of the walks that follow, from 0 on.
            known: the seeds of that walk, if they are not those that it would draw.
        """
        with self._lock:
            self._words.seek(2 * walks if self._changes else 0)
            self._known = [None] * number + [known]

    def begin_earlier(self, walks: int):
        """Go to where `walks` walks fewer have drawn their seeds."""
        with self._lock:
            if self._changes:
                self._words.seek(max(0, self._words.used - 2 * walks))
            self._known = [None] * walks + self._known

    def state(self) -> dict:
        return {"seeds": list(self._words.seeds), "used": self._words.used}

    def restore(self, state):
        with self._lock:
            self._words = RandomWords(*state["seeds"])
            self._words.seek(state["used"])

    def memory(self) -> tuple:
        """All that `remember` needs."""
        with self._lock:
            return self.state(), list(self._known)

    def remember(self, memory: tuple):
        """Let the next walks draw what they would have drawn then."""
        self.restore(memory[0])
        self._known = list(memory[1])


@contextlib.contextmanager
def seeds_kept(stage: Stage):
    """Afterwards, the seeds of all shuffles in a pipeline stand where they stood: for walks that nobody sees."""
    kept = [(seeds, seeds.memory()) for seeds in seeds_in(stage)]
    try:
        yield
    finally:
        for seeds, memory in kept:
            seeds.remember(memory)


def seeds_in(stage: Stage) -> list[Seeds]:
    """Those of all shuffles in a pipeline."""
    own = [stage.seeds] if isinstance(stage.seeds, Seeds) else []
    return own + [seeds for before in stage.inputs for seeds in seeds_in(before)]


def saved_seeds(stage: Stage) -> list:
    """Where the seeds of all shuffles in a pipeline stand, for cursors that do not walk through all of it."""
    return [seeds.state() for seeds in seeds_in(stage)]


def restore_seeds(stage: Stage, saved: list):
    """Let the seeds of all shuffles in a pipeline stand where they stood."""
    for seeds, state in zip(seeds_in(stage), saved):
        seeds.restore(state)


class ShuffleStage(Stage):
    """The elements of the input in random order.

    Args:
        source: the input.
        size: how many elements wait to be drawn; None for all.
        seeds: a `Seeds`.
        shapes: of the components.
    """

    method = "Dataset.shuffle"
    passes_on = True
    fuses_with = "Dataset.repeat"

    def __init__(self, source, size, seeds, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.size = size
        self.seeds = seeds
        self._order: np.ndarray | None = None  # of elements that are asked for by number

    def cardinality(self):
        return self.source.cardinality()

    @property
    def has_blocks(self):
        return self.source.access is not None

    @property
    def reads_ahead(self):
        return self.source.reads_ahead

    def walk(self, run):
        return chosen(SHUFFLE, self, run)

    def picked(self):
        source = self.source.picked()
        if source.access is None:
            return self
        if self._order is None:
            self._order = _order_of(source.access.size, self.seeds.of_picking)
        return _PickedShuffle(source, self._order)


class _PickedShuffle(Stage):
    """A shuffle whose elements are asked for by number: one order of all, whatever the size of the buffer."""

    method = "Dataset.shuffle"
    passes_on = True

    def __init__(self, source, order):
        super().__init__(source.shapes, [source])
        self._access = _Reordered(source.access, order)

    def cardinality(self):
        return self._access.size

    @property
    def access(self):
        return self._access


class _Reordered(Access):
    """Elements of another access in an order of their own."""

    def __init__(self, access, order):
        self._access = access
        self._order = order
        self.size = access.size

    def get(self, index):
        return self._access.get(int(self._order[index]))

    def gather(self, indices):
        return self._access.gather(self._order[indices])


def _order_of(count, seeds):
    """TF: each place in turn is exchanged with one that is drawn from it and those after it."""
    order, words = np.arange(count), RandomWords(*seeds)
    for place in range(count):
        drawn = place + words.next() % (count - place)
        order[place], order[drawn] = order[drawn], order[place]
    return order


class _ShuffleCursor(Cursor):
    """A buffer from which one thing after another is drawn, and filled up again.

    The things are in a ring, those from `start` up to `end`. One of them is chosen; the first takes its place.
    """

    def __init__(self, stage):
        self._stage = stage
        self._size = stage.size
        self._buffer: list = []
        self._start = self._end = 0
        self._words = RandomWords(*stage.seeds.draw())

    def _place(self):
        offset = self._words.next() % (self._end - self._start)
        size = self._size or len(self._buffer)
        return (self._start + offset) % size, self._start % size

    def _draw(self):
        place, first = self._place()
        buffer = self._buffer
        drawn, buffer[place] = buffer[place], buffer[first]
        buffer[first] = None
        self._start += 1
        return drawn

    def _put(self, thing):
        if self._size is None or self._end < self._size:
            self._buffer.append(thing)
        else:
            self._buffer[self._end % self._size] = thing
        self._end += 1

    def _is_full(self):
        return self._size is not None and self._end - self._start >= self._size

    def state(self):
        words = self._words
        return {
            "start": self._start, "end": self._end, "seeds": list(words.seeds), "used": words.used,
            "next": self._stage.seeds.state(),
        }  # fmt: skip

    def restore(self, state):
        self._start, self._end = state["start"], state["end"]
        self._words = RandomWords(*state["seeds"])
        self._words.seek(state["used"])
        self._stage.seeds.restore(state["next"])


class IndexShuffle(_ShuffleCursor):
    """A buffer of indices: the elements are only made when they are drawn."""

    def __init__(self, stage, access):
        super().__init__(stage)
        self._access = access
        self._count = access.size

    def _indices(self, count):
        """The indices of the next elements, at most `count` of them."""
        total = self._count
        count = min(count, total - self._start)
        size = total if self._size is None else min(self._size, total)
        buffer, start, end = self._buffer, self._start, self._end
        if not buffer:  # the first time: fill it
            buffer.extend(range(size))
            end = size
        drawn = []
        for word in self._words.take(count):
            place = (start + word % (end - start)) % size
            first = start % size
            drawn.append(buffer[place])
            buffer[place] = buffer[first]
            start += 1
            if end < total:
                buffer[end % size] = end
                end += 1
        self._start, self._end = start, end
        return drawn

    def next(self):
        indices = self._indices(1)
        return self._access.get(indices[0]) if indices else None

    def block(self, count):
        indices = self._indices(count)
        return self._access.gather(np.array(indices)) if indices else None

    def skip(self, count):
        return len(self._indices(count))

    def state(self):
        return {**super().state(), "buffer": np.array(self._buffer, np.int64)}

    def restore(self, state):
        super().restore(state)
        self._buffer = state["buffer"].tolist()


class ElementShuffle(_ShuffleCursor):
    """A buffer of elements."""

    def __init__(self, stage, run):
        super().__init__(stage)
        self._inner = stage.source.cursor(run)
        self._is_over = False

    def next(self):
        while not self._is_over and not self._is_full():
            element = self._inner.next()
            if element is None:
                self._is_over = True
            else:
                self._put(element)
        return None if self._start == self._end else self._draw()

    def state(self):
        kept = [None if element is None else list(element) for element in self._buffer]
        return {**super().state(), "buffer": kept, "is_over": self._is_over, "inner": self._inner.state()}

    def restore(self, state):
        super().restore(state)
        self._buffer = [None if element is None else tuple(element) for element in state["buffer"]]
        self._is_over = state["is_over"]
        self._inner.restore(state["inner"])

    def close(self):
        self._inner.close()


def buffer_size_of(value):
    """The input `buffer_size` of an op; None for all."""
    size = integer(value, "buffer_size")
    if size == UNKNOWN:
        return None
    if size < 1:
        raise errors.invalid_argument(
            f"`buffer_size` must be greater than zero or UNKNOWN_CARDINALITY, got {size}."
        )
    return size


def _make(
    input_dataset, buffer_size, seed, seed2, seed_generator, reshuffle_each_iteration, output_types, output_shapes,
    metadata,
):  # fmt: skip
    source, size = stage_of(input_dataset), buffer_size_of(buffer_size)
    if size is None and source.cardinality() == INFINITE:
        raise errors.invalid_argument("Dataset.shuffle: the whole of an infinite dataset cannot be shuffled.")
    seeds = Seeds(integer(seed, "seed"), integer(seed2, "seed2"), reshuffle_each_iteration)
    return ShuffleStage(source, size, seeds, shapes_of(output_shapes))


def _no_generator():
    return np.empty((), object)


DUMMY_SEED_GENERATOR = Op(
    "DummySeedGenerator",
    "-> handle: resource",
    infer=lambda: TensorShape([]),
    kernel=_no_generator,
    lower=None,
    grad=None,
    stateful=True,
)

SHUFFLE_DATASET = dataset_op(
    "ShuffleDatasetV3",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, seed_generator: resource, *, "
    f"reshuffle_each_iteration: bool = True, {OUTPUTS}",
    _make,
    stateful=True,
)


def seed_inputs(seed) -> list:
    """The inputs `seed` and `seed2` of dataset ops."""
    if isinstance(seed, (float, complex)):
        raise TypeError(f"seed must be an integer, got {seed!r}.")
    return [to_tensor(value, dtypes.int64) for value in draw_seeds(seed)]


@method
def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None) -> DatasetV2:
    """The elements in random order.

    A buffer is filled with the first `buffer_size` elements. Each new element is drawn from it at random, and the next
    one of the input takes its place. So a buffer as large as the dataset shuffles it perfectly, and one of size 1 not
    at all.

    Args:
        buffer_size: how many elements the buffer holds; `dataset.cardinality()` for all.
        seed: an integer for the same order in each run of the program.
        reshuffle_each_iteration: whether each walk through the dataset has another order.
        name: a name for the operation.

    >>> sorted(int(x) for x in tf.data.Dataset.range(5).shuffle(5))
    [0, 1, 2, 3, 4]
    """
    size = constant(buffer_size, dtypes.int64)
    changes = True if reshuffle_each_iteration is None else reshuffle_each_iteration
    return build(
        "_ShuffleDataset", SHUFFLE_DATASET, self, size, *seed_inputs(seed), DUMMY_SEED_GENERATOR(),
        reshuffle_each_iteration=changes, spec=self.element_spec, of=[self], name=name,
    )  # fmt: skip
