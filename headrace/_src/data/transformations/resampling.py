"""`Dataset.rejection_resample`: elements left out so that their classes come as often as wished."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.data.datasets import DatasetV2, method
from headrace._src.data.transformations.zipping import zipped
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL, ONE_HOT
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.measuring import SHAPE, get_static_value
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.arrays.splitting import TILE
from headrace._src.ops.math.reductions import MAX, MIN
from headrace._src.ops.random import uniform_and_normal

_ESTIMATED_AT_ONCE = 32  # elements for which one estimate of the distribution is used
_SEEN_BEFORE = 10  # of each class, as if: estimates begin even, and change slowly
_READY = 3  # elements that are chosen ahead of time


def _ratios(initial, target):
    tiny = np.asarray(np.finfo(initial.dtype.as_numpy_dtype).tiny, initial.dtype.as_numpy_dtype)
    return target / (initial + tiny)


def _acceptance(initial, target):
    """How likely elements of each class are kept, and how likely one is taken without choosing.

    Taking some without choosing is possible as far as the rarest class allows, and wastes fewer elements.
    """
    ratios = _ratios(initial, target)
    axis = to_tensor([0])
    largest, smallest = MAX(ratios, axis), MIN(ratios, axis)
    return (ratios - smallest) / (largest - smallest), smallest


def _estimated(target, classes):
    """A dataset of the distribution of classes as it is known at each element."""
    count = target.shape[0]
    if count is None:
        count = SHAPE(target, out_type=dtypes.int32)[0]
    seen_before = FILL(PACK([to_tensor(count)], axis=0), to_tensor(_SEEN_BEFORE, dtypes.int64))

    def update(seen, batch):
        one, zero = to_tensor(1, dtypes.int64), to_tensor(0, dtypes.int64)
        ones = ONE_HOT(batch, to_tensor(count), one, zero, axis=-1)
        seen = seen + SUM(ones, to_tensor([0]))
        wide = CAST(seen, DstT=dtypes.float64)
        share = CAST(wide / SUM(wide, to_tensor([0])), DstT=dtypes.float32)
        rows = TILE(EXPAND_DIMS(share, to_tensor(0)), to_tensor([_ESTIMATED_AT_ONCE, 1]))
        return seen, rows

    return classes.batch(_ESTIMATED_AT_ONCE).scan(seen_before, update).unbatch()


def _class_and_data(class_func):
    def of(*data):
        value = class_func(*data)
        return value, data[0] if len(data) == 1 else data

    return of


def _chosen(dataset, acceptance, class_func, seed):
    """The elements that are kept, with their classes."""

    def with_chance(chances, data):
        value = class_func(*data) if isinstance(data, tuple) else class_func(data)
        return value, GATHER_V2(chances, value, to_tensor(0)), data

    def is_kept(value, chance, data):
        drawn = _random_uniform(seed, chance.dtype)
        return drawn < chance

    pairs = zipped((acceptance, dataset)).map(with_chance).filter(is_kept)
    return pairs.map(lambda value, chance, data: (value, data))


def _random_uniform(seed, dtype):
    return uniform_and_normal.uniform([], seed=seed, dtype=dtype)


@method
def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None) -> DatasetV2:
    """Elements with their classes, some of them left out so that classes come as often as wished.

    Args:
        class_func: a function of an element that returns its class, a scalar int32 tensor.
        target_dist: how often each class shall come: a vector of floats with the sum 1.
        initial_dist: how often each class comes; by default that is estimated on the way.
        seed: an integer for the same choices in each run of the program.
        name: a name for the operation.

    Returns:
        A dataset of pairs of the class and the element.

    >>> dataset = tf.data.Dataset.range(100).rejection_resample(
    ...     lambda x: tf.cast(x >= 80, tf.int32), target_dist=[0.9, 0.1], initial_dist=[0.8, 0.2], seed=3)
    >>> dataset.element_spec[0]
    TensorSpec(shape=(), dtype=tf.int32, name=None)
    """
    target = to_tensor(target_dist)
    labelled = self.map(_class_and_data(class_func))
    if initial_dist is not None:
        initial = to_tensor(initial_dist)
        chances, unchosen = _acceptance(initial, target)
        acceptance = DatasetV2.from_tensors(chances).repeat()
        share = DatasetV2.from_tensors(unchosen).repeat()
        _warn_of_waste(chances, initial)
    else:
        estimates = _estimated(target, self.map(class_func)).map(lambda found: _acceptance(found, target))
        acceptance = estimates.map(lambda chances, unchosen: chances)
        share = estimates.map(lambda chances, unchosen: unchosen)
    chosen = _chosen(self, acceptance, class_func, seed).prefetch(_READY)
    if initial_dist is not None:
        known, wanted = get_static_value(initial), get_static_value(target)
        if known is not None and wanted is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                least = np.min(wanted / known)
            if least == 1:
                return labelled
            if least == 0:
                return chosen
    weights = share.map(lambda unchosen: [(unchosen, 1.0 - unchosen)])
    return DatasetV2.sample_from_datasets([labelled, chosen], weights=weights, seed=seed, stop_on_empty_dataset=True)


def _warn_of_waste(chances, initial):
    chances, initial = get_static_value(chances), get_static_value(initial)
    if chances is None or initial is None:
        return
    rejected = float(((1 - chances) * initial).sum())
    if rejected >= 0.5:
        warnings.warn(
            f"Dataset.rejection_resample: {rejected:.0%} of the elements are rejected to come from the distribution "
            f"{initial.tolist()} to the wanted one.",
            stacklevel=3,
        )


@api("data.experimental.rejection_resample", dispatch=False)
def _rejection_resample(class_func, target_dist, initial_dist=None, seed=None) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.rejection_resample`."""
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)
