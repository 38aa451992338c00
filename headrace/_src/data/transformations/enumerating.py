"""`Dataset.enumerate`: elements with their numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.data.datasets import DatasetV2, method
from headrace._src.data.transformations.zipping import zipped
from headrace._src.op.api import api


def _enumerate(self, start=0, name=None) -> DatasetV2:
    """The elements, each with its number in front.

    Args:
        start: the number of the first element.
        name: a name for the operation.

    >>> list(tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(5).as_numpy_iterator())
    [(np.int64(5), b'a'), (np.int64(6), b'b')]
    """
    return zipped((DatasetV2.range(start, np.iinfo(np.int64).max, name=name), self), name)


_enumerate.__name__ = "enumerate"  # the name is Python's in this file
method(_enumerate)


@api("data.experimental.enumerate_dataset", dispatch=False)
def enumerate_dataset(start=0) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.enumerate`."""
    return lambda dataset: dataset.enumerate(start)
