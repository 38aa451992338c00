"""Functions that say into how many parts a variable of 1.x is divided."""

import math
from collections.abc import Callable
from typing import Any

from headrace._src.compat.variables.scopes import get_variable, variable_scope
from headrace._src.core import dtypes
from headrace._src.op.api import api


def _along(axis, shape, count):
    partitions = [1] * len(shape)
    partitions[axis] = count
    return partitions


@api("compat.v1.fixed_size_partitioner", dispatch=False)
def fixed_size_partitioner(num_shards, axis=0) -> Callable[..., Any]:
    """A partitioner that divides one axis into so many parts, as far as it is long enough.

    Args:
        num_shards: how many parts.
        axis: which axis.

    >>> tf.compat.v1.fixed_size_partitioner(3)(shape=tf.TensorShape([7, 2]), dtype=tf.float32)
    [3, 1]
    """

    def partitioner(shape, **unused_kwargs):
        return _along(axis, shape, min(num_shards, shape[axis]))

    return partitioner


@api("compat.v1.variable_axis_size_partitioner", dispatch=False)
def variable_axis_size_partitioner(
    max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None
) -> Callable[..., Any]:
    """A partitioner whose parts have at most so many bytes.

    Args:
        max_shard_bytes: the largest size of a part.
        axis: which axis is divided.
        bytes_per_string_element: how large a string is taken to be.
        max_shards: how many parts at most.

    Raises:
        ValueError: a number is not positive.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive. Currently, max_shard_bytes is "
            f"{max_shard_bytes} and bytes_per_string_element is {bytes_per_string_element}"
        )
    if max_shards and max_shards < 1:
        raise ValueError(f"max_shards must be positive. Currently, max_shards is {max_shards}")

    def partitioner(shape, dtype):
        size = bytes_per_string_element if dtype.base_dtype is dtypes.string else dtype.size
        total = shape.num_elements()
        slice_bytes = total // shape[axis] * size
        rows = max(1, math.floor(max_shard_bytes / slice_bytes))  # in a part
        count = max(1, math.ceil(shape[axis] / rows))
        return _along(axis, shape, min(max_shards, count) if max_shards else count)

    return partitioner


@api("compat.v1.min_max_variable_partitioner", dispatch=False)
def min_max_variable_partitioner(
    max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16
) -> Callable[..., Any]:
    """A partitioner with as many parts as possible of at least a given size.

    Args:
        max_partitions: how many parts at most.
        axis: which axis is divided.
        min_slice_size: the smallest size of a part, in bytes.
        bytes_per_string_element: how large a string is taken to be.
    """

    def partitioner(shape, dtype):
        size = bytes_per_string_element if dtype.base_dtype is dtypes.string else dtype.size
        most = math.ceil(shape.num_elements() * size / min_slice_size)
        return _along(axis, shape, max(1, min(shape[axis], max_partitions, most)))

    return partitioner


@api("compat.v1.create_partitioned_variables", dispatch=False)
def create_partitioned_variables(
    shape, slicing, initializer, dtype=dtypes.float32, trainable=True, collections=None, name=None, reuse=None
) -> list:
    """The parts of a variable that is divided. `get_variable` with a partitioner does the same.

    Args:
        shape: of the whole.
        slicing: into how many parts each axis is divided; only one may be divided.
        initializer: makes the value of a part.
        dtype: of the variable.
        trainable: whether optimizers change it.
        collections: the collections that the parts are added to.
        name: "PartitionedVariable" by default.
        reuse: whether it must exist already.

    Raises:
        ValueError: `slicing` does not fit the shape.
    """
    if len(shape) != len(slicing):
        raise ValueError(
            f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, slicing: "
            f"{slicing}"
        )
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        whole = get_variable(
            name="", shape=shape, dtype=dtype, initializer=initializer,
            trainable=trainable, partitioner=lambda **unused_kwargs: slicing, collections=collections,
        )  # fmt: skip
        return list(whole)
