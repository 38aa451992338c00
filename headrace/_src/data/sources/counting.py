"""`Dataset.counter`: numbers without end."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.data.datasets import DatasetV2, constructor
from headrace._src.op.api import api


@constructor
def counter(start=0, step=1, dtype=dtypes.int64, name=None) -> DatasetV2:
    """Numbers from `start` on, each `step` more than the one before, without end.

    Args:
        start: the first number.
        step: by how much they grow.
        dtype: of the numbers, an integer or floating type.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.counter(2, 3).take(3)]
    [2, 5, 8]
    """
    kind = dtypes.as_dtype(dtype)
    first, by = (np.asarray(value).astype(kind._np) for value in (start, step))

    def count(number, _):
        return number + by, number

    return DatasetV2.from_tensors(0).repeat(None).scan(first, count, name=name)


@api("data.experimental.Counter", dispatch=False)
def Counter(start=0, step=1, dtype=dtypes.int64) -> DatasetV2:
    """Numbers without end: see `tf.data.Dataset.counter`."""
    return DatasetV2.counter(start, step, dtype)
