"""What Keras 2 and others import of `tensorflow.python.data`, `.distribute`, `.saved_model` and `.trackable`."""

import contextlib
from collections.abc import Iterator
from typing import Any

from headrace._src.core.trackable import Trackable
from headrace._src.data.datasets import class_named
from headrace._src.graph.control.map_fn import map_fn
from headrace._src.ops.debugging.assertions import assert_equal

# The classes of datasets, by what made them.
GeneratorDataset = class_named("_FlatMapDataset")
SparseTensorSliceDataset = class_named("_SparseTensorSliceDataset")
TensorSliceDataset = class_named("_TensorSliceDataset")
TensorDataset = class_named("_TensorDataset")
RangeDataset = class_named("_RangeDataset")


class KerasModeKeys:
    """What a model of Keras does."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


class EstimatorModeKeys:
    """What an estimator does."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


@contextlib.contextmanager
def cache_variable_reads() -> Iterator[None]:
    """Within this block, variables are read as always: they are on this machine."""
    yield


def auto_shard_dataset(dataset: Any, num_shards: int, index: int, num_replicas_in_sync: int | None = None) -> Any:
    """The part of a dataset for one of several workers: all of it for the only one.

    >>> from headrace._src.compat.tensorflow_names.former_parts import auto_shard_dataset
    >>> [int(x) for x in auto_shard_dataset(tf.data.Dataset.range(4), 2, 1)]
    [1, 3]
    """
    return dataset if num_shards == 1 else dataset.shard(num_shards, index)


def assert_splits_match(nested_splits_lists: Any) -> list[Any]:
    """Assertions that ragged tensors have the same rows.

    Raises:
        ValueError: they have different numbers of ragged dimensions.
    """
    if len({len(splits) for splits in nested_splits_lists}) != 1:
        raise ValueError(f"Inputs must have identical ragged splits: {nested_splits_lists!r}")
    first = nested_splits_lists[0]
    message = "Inputs must have identical ragged splits"
    return [assert_equal(a, b, message) for other in nested_splits_lists[1:] for a, b in zip(first, other)]


def ragged_map_fn(fn: Any, elems: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`tf.map_fn`, which takes ragged tensors."""
    return map_fn(fn, elems, dtype, *args, **kwargs)


def list_pluggable_devices() -> list[Any]:
    """Devices of plug-ins, of which there are none."""
    return []


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Trackable) -> Iterator[None]:
    """Within this block, what is assigned to the object's attributes does not become a part of it."""
    before = getattr(obj, "_self_setattr_tracking", True)
    obj._self_setattr_tracking = False
    try:
        yield
    finally:
        obj._self_setattr_tracking = before


def make_composite_tensor(cls: type, module_name: str = "tf.linalg") -> type:
    """Decorator: a class of linear operators is a composite tensor; every one is."""
    return cls
