"""Datasets that take each element from one of several others: `sample_from_datasets`, `choose_from_datasets`."""

import numpy as np

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.specs import TensorSpec
from headrace._src.data.concatenating import common_spec
from headrace._src.data.cursors import InnerCursor
from headrace._src.data.datasets import DatasetV2, build, constructor, dataset_op
from headrace._src.data.stages import INFINITE, UNKNOWN, Stage, shapes_of, stage_of
from headrace._src.data.zipping import zipped
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import REGISTRY
from headrace._src.ops.shaping import get_static_value


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

    def cardinality(self):
        # TF: neither the selector is asked, nor whether the end of one is the end of all.
        sizes = [source.cardinality() for source in self.sources]
        return INFINITE if INFINITE in sizes else UNKNOWN

    def walk(self, run):
        return _DirectedInterleaveCursor(self, run)


class _DirectedInterleaveCursor(InnerCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._sources = [source.cursor(run) for source in stage.sources]  # None for those that have ended
        self._is_over = False

    def next(self):
        while not self._is_over:
            choice = self._inner.next()
            if choice is None:
                break
            number = int(choice[0])
            if not 0 <= number < len(self._sources):
                raise errors.invalid_argument(
                    f"Selector index out of range: {number} >= {len(self._sources)}"
                )
            cursor = self._sources[number]
            if cursor is None:
                continue
            element = cursor.next()
            if element is not None:
                return element
            cursor.close()
            self._sources[number] = None
            if self._stage.stops or not any(self._sources):
                break
        self._is_over = True
        return None

    def state(self):
        sources = [None if cursor is None else cursor.state() for cursor in self._sources]
        return {**super().state(), "sources": sources, "is_over": self._is_over}

    def restore(self, state):
        super().restore(state)
        self._is_over = state["is_over"]
        for number, saved in enumerate(state["sources"]):
            if saved is None:
                self._sources[number] = None
                continue
            if self._sources[number] is None:
                self._sources[number] = self._stage.sources[number].cursor(self._run)
            self._sources[number].restore(saved)

    def close(self):
        for cursor in self._sources:
            if cursor is not None:
                cursor.close()
        super().close()


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
    return REGISTRY["StatelessMultinomial"](logits, to_tensor(1), seed, output_dtype=dtypes.int64)[0, 0]


@constructor
def sample_from_datasets(
    datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=None
):
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
            logits = REGISTRY["ExpandDims"](REGISTRY["Log"](weights), to_tensor(0))
        seeds = DatasetV2.random(seed, rerandomize_each_iteration).batch(2)
        selector = seeds.map(lambda pair: _drawn(logits, pair))
    else:
        seeds = DatasetV2.random(seed, rerandomize_each_iteration).batch(2)
        logarithms = weights.map(lambda *parts: REGISTRY["Log"](to_tensor(parts)))
        selector = zipped((logarithms, seeds)).map(_drawn)
    return _directed(selector, datasets, stop_on_empty_dataset, where)


def _without_impossible(weights, datasets):
    """Leave out the datasets of weight 0, as long as others remain."""
    known = get_static_value(weights)
    if known is None or not (known == 0).any() or (known == 0).all():
        return weights, datasets
    return to_tensor(known[known != 0]), [dataset for dataset, weight in zip(datasets, known) if weight != 0]


@constructor
def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
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
def _sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """Each element from one of several datasets at random: see `tf.data.Dataset.sample_from_datasets`."""
    return sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


@api("data.experimental.choose_from_datasets", dispatch=False)
def _choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """Each element from one of several datasets as told: see `tf.data.Dataset.choose_from_datasets`."""
    return choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)
