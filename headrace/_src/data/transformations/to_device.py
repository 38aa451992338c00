"""`copy_to_device` and `prefetch_to_device`: datasets on the device where they are used."""

from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes
from headrace._src.data.datasets import build, constant
from headrace._src.data.transformations.prefetching import PREFETCH_DATASET
from headrace._src.op.api import api


def _on_device(kind, dataset, buffer_size):
    # Arrays are in the memory of the host for all devices; what devices compute on is copied when they do.
    size = constant(buffer_size, dtypes.int64)
    return build(kind, PREFETCH_DATASET, dataset, size, spec=dataset.element_spec, of=[dataset])


@api("data.experimental.copy_to_device", dispatch=False)
def copy_to_device(target_device, source_device="/cpu:0") -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: the same elements, on a device.

    Args:
        target_device: the name of the device.
        source_device: where the elements are made.

    >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.copy_to_device("/cpu:0"))
    >>> [int(x) for x in dataset]
    [0, 1, 2]
    """
    return lambda dataset: _on_device("_CopyToDeviceDataset", dataset, 0)


@api("data.experimental.prefetch_to_device", dispatch=False)
def prefetch_to_device(device, buffer_size=None) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: the same elements, made ahead of time and put on a device.

    Args:
        device: the name of the device.
        buffer_size: how many elements may wait; by default as many as pay.

    >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.prefetch_to_device("/cpu:0"))
    >>> [int(x) for x in dataset]
    [0, 1, 2]
    """
    return lambda dataset: _on_device("_PrefetchDataset", dataset, -1 if buffer_size is None else buffer_size)
