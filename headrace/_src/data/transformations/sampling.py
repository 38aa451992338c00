"""Datasets that take each element from one of several others: `sample_from_datasets`, `choose_from_datasets`."""

import numpy as np

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import DatasetV2, build, constructor, dataset_op
from headrace._src.data.running.drawn_choices import drawn_choices
from headrace._src.data.running.stages import (
    INFINITE,
    UNKNOWN,
    AccessCursor,
    Cursor,
    Stage,
    joined,
    shapes_of,
    stacked,
    stage_of,
)
from headrace._src.data.transformations.concatenating import common_spec
from headrace._src.data.transformations.zipping import zipped
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.math.elementwise import LOG
from headrace._src.ops.random.distributions import STATELESS_MULTINOMIAL


class DirectedInterleaveStage(Stage):
    """Each element from the input that a selector names.

    Args:
        selector: its elements are numbers of inputs.
        sources: the inputs.
        stops: whether the end of one of them is the end of all.
        shapes: of the components.
    """

    method = "Dataset.choose_from_datasets"

    def __init__(self, selector, sources, stops, shapes):
        super().__init__(shapes, [selector, *sources])
        self.selector = selector
        self.sources = sources
        self.stops = stops
        self._drawn = drawn_choices(selector)

    def cardinality(self):
        # TF: neither the selector is asked, nor whether the end of one is the end of all.
        sizes = [source.cardinality() for source in self.sources]
        return INFINITE if INFINITE in sizes else UNKNOWN

    @property
    def has_blocks(self):
        if not all(shape.is_fully_defined() for shape in self.shapes):
            return False  # elements of different inputs may not stack
        if not (self._drawn or self.selector.has_blocks) or not all(source.has_blocks for source in self.sources):
            return False
        return not shares_random_numbers(self.inputs)

    def choices(self, run):
        """A new walk through the numbers of inputs."""
        return (self._drawn or self.selector).cursor(run)

    def walk(self, run):
        return _DirectedInterleaveCursor(self, run)


def _random_in(stage, found):
    """The seeds and the drawing functions of a pipeline, by their identities."""
    if stage in found:
        return
    found[stage] = [stage.seeds, *(function.graph.base for function in stage.functions if function.draws)]
    for before in stage.inputs:
        _random_in(before, found)


def shares_random_numbers(stages) -> bool:
    """Whether the order in which elements are asked for, of one stage or another, changes what they are."""
    seen: set = set()
    for stage in stages:
        found: dict = {}
        _random_in(stage, found)
        own = {id(part) for parts in found.values() for part in parts if part is not None}
        if own & seen:
            return True
        seen |= own
    return False


class _Source:
    """The walk through one of the inputs, and elements that were read but not given out."""

    def __init__(self, cursor):
        self.cursor = cursor
        self._rest: tuple | None = None
        self._failure: Exception | None = None  # of the element after these
        self._by_blocks = True

    def next(self):
        """The next element."""
        if self._rest is not None:
            return tuple([part[0, ...] for part in self.take(1)])
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return self.cursor.next()

    def read(self, count) -> int:
        """Read so many elements.

        Returns:
            How many there are, at most `count`: no more than stand before an error, or the end.
        """
        found = 0 if self._rest is None else self._rest[0].shape[0]
        blocks = [] if self._rest is None else [self._rest]
        try:
            while found < count and self._failure is None and (block := self._block(count - found)) is not None:
                blocks.append(block)
                found += block[0].shape[0]
        finally:
            self._rest = joined(blocks) if blocks else None
        return min(found, count)

    def _block(self, count):
        if self._by_blocks:
            try:
                return self.cursor.block(count)
            except Exception:
                if type(self.cursor) is not AccessCursor:
                    raise
                self._by_blocks = False  # it stands where it stood; one by one, it says which element fails
        elements: list = []
        try:
            while len(elements) < count and (element := self.cursor.next()) is not None:
                elements.append(element)
        except Exception as failure:
            self._failure = failure
        return stacked(elements) if elements else None

    def take(self, count) -> tuple:
        """So many of the elements that were read."""
        block = self._rest
        assert block is not None
        if block[0].shape[0] == count:
            self._rest = None
            return block
        self._rest = tuple([part[count:] for part in block])
        return tuple([part[:count] for part in block])

    def state(self):
        if self._failure is not None:
            raise self._failure
        rest = None if self._rest is None else [part.copy() for part in self._rest]
        return {"cursor": self.cursor.state(), "rest": rest}

    def restore(self, state):
        self.cursor.restore(state["cursor"])
        self._rest = None if state["rest"] is None else tuple(state["rest"])
        self._failure = None

    def close(self):
        self.cursor.close()


class _DirectedInterleaveCursor(Cursor):
    def __init__(self, stage, run):
        self._stage = stage
        self._run = run
        self._selector = stage.choices(run)
        self._ahead: np.ndarray | None = None  # choices that were read but not followed
        self._sources: list = [_Source(source.cursor(run)) for source in stage.sources]  # None for those that ended
        self._is_over = False

    def _choice(self):
        if self._ahead is None:
            element = self._selector.next()
            return None if element is None else int(element[0])
        choice = int(self._ahead[0])
        self._pass(1)
        return choice

    def _pass(self, count):
        """Leave behind so many of the choices that were read."""
        assert self._ahead is not None
        self._ahead = self._ahead[count:] if count < len(self._ahead) else None

    def next(self):
        while not self._is_over:
            number = self._choice()
            if number is None:
                break
            if not 0 <= number < len(self._sources):
                raise errors.invalid_argument(
                    f"Selector index out of range: {number} >= {len(self._sources)}"
                )
            source = self._sources[number]
            if source is None:
                continue
            element = source.next()
            if element is not None:
                return element
            source.close()
            self._sources[number] = None
            if self._stage.stops or not any(self._sources):
                break
        self._is_over = True
        return None

    def block(self, count):
        while not self._is_over:
            if self._ahead is None:
                block = self._selector.block(count)
                if block is None:
                    self._is_over = True
                    return None
                self._ahead = block[0]
            choices = self._ahead[:count]
            places, size = self._places(choices)
            if size and places:
                self._pass(size)
                return self._taken(places)
            if size < len(choices):
                # What stands there ends an input, or is an error.
                element = self.next()
                return None if element is None else tuple([part[None] for part in element])
            self._pass(size)  # all of inputs that have ended
        return None

    def _places(self, choices):
        """Where elements of each input go, and how many of the choices can be followed at once."""
        size = len(choices)
        unknown = (choices < 0) | (choices >= len(self._sources))
        if unknown.any():
            size = int(unknown.argmax())
        places = []
        for number, source in enumerate(self._sources):
            if source is None:
                continue
            where = np.flatnonzero(choices[:size] == number)
            if len(where):
                read = source.read(len(where))
                if read < len(where):
                    size = int(where[read])
                places.append((source, where))
        places = [(source, where[where < size]) for source, where in places]
        return [(source, where) for source, where in places if len(where)], size

    def _taken(self, places):
        if len(places) == 1:
            source, where = places[0]
            return source.take(len(where))
        # Those of inputs that have ended leave no gaps.
        order = np.concatenate([where for _, where in places]).argsort()
        blocks = [source.take(len(where)) for source, where in places]
        return tuple([part[order] for part in joined(blocks)])

    def state(self):
        sources = [None if source is None else source.state() for source in self._sources]
        ahead = None if self._ahead is None else self._ahead.copy()
        return {"inner": self._selector.state(), "ahead": ahead, "sources": sources, "is_over": self._is_over}

    def restore(self, state):
        self._selector.restore(state["inner"])
        self._ahead = state["ahead"]
        self._is_over = state["is_over"]
        for number, saved in enumerate(state["sources"]):
            if saved is None:
                self._sources[number] = None
                continue
            if self._sources[number] is None:
                self._sources[number] = _Source(self._stage.sources[number].cursor(self._run))
            self._sources[number].restore(saved)

    def close(self):
        for source in self._sources:
            if source is not None:
                source.close()
        self._selector.close()


def _make(selector_input_dataset, data_input_datasets, output_types, output_shapes, stop_on_empty_dataset):
    sources = [stage_of(dataset) for dataset in data_input_datasets]
    return DirectedInterleaveStage(
        stage_of(selector_input_dataset), sources, stop_on_empty_dataset, shapes_of(output_shapes)
    )


DIRECTED_INTERLEAVE_DATASET = dataset_op(
    "DirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N*variant, *, output_types: list(type), "
    "output_shapes: list(shape), stop_on_empty_dataset: bool = False",
    _make,
)


def _directed(selector, datasets, stops, where):
    spec = datasets[0].element_spec
    for dataset in datasets[1:]:
        spec = common_spec(_WithSpec(spec), dataset, where)
    variants = [dataset._variant_tensor for dataset in datasets]
    return build(
        "_DirectedInterleaveDataset", DIRECTED_INTERLEAVE_DATASET, selector, variants, stop_on_empty_dataset=stops,
        spec=spec, of=[selector, *datasets],
    )  # fmt: skip


class _WithSpec:
    def __init__(self, element_spec):
        self.element_spec = element_spec


def _drawn(logits, seed):
    """One number drawn with probabilities whose logarithms are given."""
    return STATELESS_MULTINOMIAL(logits, to_tensor(1), seed, output_dtype=dtypes.int64)[0, 0]


@constructor
def sample_from_datasets(
    datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=None
) -> DatasetV2:
    """Each element from one of several datasets, chosen at random.

    Args:
        datasets: a list of datasets whose elements have the same structure.
        weights: how likely each is: a tensor, or a dataset of them with one for each element; by default all are
            equally likely.
        seed: an integer for the same choices in each run of the program.
        stop_on_empty_dataset: whether to stop when a dataset has ended, rather than to go on with the others.
        rerandomize_each_iteration: whether each walk through the dataset makes other choices.

    >>> zeros, ones = tf.data.Dataset.from_tensors(0).repeat(), tf.data.Dataset.from_tensors(1).repeat()
    >>> dataset = tf.data.Dataset.sample_from_datasets([zeros, ones], weights=[0.5, 0.5], seed=42)
    >>> len(list(dataset.take(5)))
    5
    """
    datasets = list(datasets)
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    where = "Dataset.sample_from_datasets"
    if not isinstance(weights, DatasetV2):
        if weights is not None:
            weights = to_tensor(weights)
            if weights.dtype not in (dtypes.float32, dtypes.float64):
                raise TypeError(
                    f"Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
                    f"{weights.dtype!r}."
                )
            if weights.shape.rank != 1 or weights.shape[0] not in (None, len(datasets)):
                raise ValueError(
                    "Invalid `weights`. The shape of `weights` should be compatible with "
                    f"`[len(datasets)]` but is {weights.shape}."
                )
            weights, datasets = _without_impossible(weights, datasets)
        if len(datasets) == 1:
            return datasets[0]
        if weights is None:
            logits = to_tensor(np.ones([1, len(datasets)], np.float32))
        else:
            logits = EXPAND_DIMS(LOG(weights), to_tensor(0))
        seeds = DatasetV2.random(seed, rerandomize_each_iteration).batch(2)
        selector = seeds.map(lambda pair: _drawn(logits, pair))
    else:
        seeds = DatasetV2.random(seed, rerandomize_each_iteration).batch(2)
        logarithms = weights.map(lambda *parts: LOG(to_tensor(parts)))
        selector = zipped((logarithms, seeds)).map(_drawn)
    return _directed(selector, datasets, stop_on_empty_dataset, where)


def _without_impossible(weights, datasets):
    """Leave out the datasets of weight 0, as long as others remain."""
    known = get_static_value(weights)
    if known is None or not (known == 0).any() or (known == 0).all():
        return weights, datasets
    return to_tensor(known[known != 0]), [dataset for dataset, weight in zip(datasets, known) if weight != 0]


@constructor
def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True) -> DatasetV2:
    """Each element from one of several datasets, as another dataset says.

    Args:
        datasets: a list of datasets whose elements have the same structure.
        choice_dataset: a dataset of scalar int64 tensors, the numbers of datasets.
        stop_on_empty_dataset: whether to stop when a dataset has ended, rather than to go on with the others.

    >>> datasets = [tf.data.Dataset.from_tensors(word).repeat() for word in ("foo", "bar")]
    >>> choice = tf.data.Dataset.range(2).repeat(2)
    >>> list(tf.data.Dataset.choose_from_datasets(datasets, choice).as_numpy_iterator())
    [b'foo', b'bar', b'foo', b'bar']
    """
    datasets = list(datasets)
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    choice = choice_dataset.element_spec
    if not (nest.flatten(choice) == [choice] and choice.is_compatible_with(TensorSpec([], dtypes.int64))):
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
            f"{choice}."
        )
    return _directed(choice_dataset, datasets, stop_on_empty_dataset, "Dataset.choose_from_datasets")


@api("data.experimental.sample_from_datasets", dispatch=False)
def _sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False) -> DatasetV2:
    """Each element from one of several datasets at random: see `tf.data.Dataset.sample_from_datasets`."""
    return sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


@api("data.experimental.choose_from_datasets", dispatch=False)
def _choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False) -> DatasetV2:
    """Each element from one of several datasets as told: see `tf.data.Dataset.choose_from_datasets`."""
    return choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)
