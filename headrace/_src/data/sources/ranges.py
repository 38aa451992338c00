"""`Dataset.range`: numbers that follow each other by a step."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, constant, constructor, dataset_op, integer
from headrace._src.data.running.stages import INFINITE, Access, Stage, shapes_of

_LAST = np.iinfo(np.int64).max


class _Range(Access):
    def __init__(self, start, stop, step, dtype):
        self._start, self._step, self._dtype = start, step, dtype
        self.size = len(range(start, stop, step))

    def get(self, index):
        return (np.array(self._start + index * self._step, self._dtype),)

    def gather(self, indices):
        return ((self._start + indices * self._step).astype(self._dtype),)


class RangeStage(Stage):
    """Numbers that follow each other by a step."""

    method = "Dataset.range"
    is_in_memory = True

    def __init__(self, start, stop, step, dtype, shapes):
        super().__init__(shapes)
        self._access = _Range(start, stop, step, dtype._np)
        self._is_endless = stop == _LAST  # TF: as far as can be counted is without end

    @property
    def access(self):
        return self._access

    def cardinality(self):
        return INFINITE if self._is_endless else self._access.size


def _make(start, stop, step, output_types, output_shapes, metadata, replicate_on_split):
    first, last, by = integer(start, "start"), integer(stop, "stop"), integer(step, "step")
    if by == 0:
        raise errors.invalid_argument("Dataset.range: step must be a non-zero integer.")
    return RangeStage(first, last, by, output_types[0], shapes_of(output_shapes))


RANGE_DATASET = dataset_op(
    "RangeDataset",
    f"start: int64, stop: int64, step: int64, *, {OUTPUTS}, replicate_on_split: bool = False",
    _make,
    stateful=True,
)


def _range(*args, output_type=dtypes.int64, name=None) -> DatasetV2:
    """Numbers from `start` (0) up to, but not including, `stop`, by `step` (1): `range(stop)`, `range(start, stop)`,
    `range(start, stop, step)`.

    Args:
        args: as for Python's `range`.
        output_type: the dtype of the numbers.
        name: a name for the operation.

    >>> [int(x) for x in tf.data.Dataset.range(1, 8, 3)]
    [1, 4, 7]
    """
    if not 1 <= len(args) <= 3:
        raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    numbers = [constant(value, dtypes.int64) for value in (start, stop, step)]
    spec = TensorSpec([], dtypes.as_dtype(output_type))
    return build("_RangeDataset", RANGE_DATASET, *numbers, spec=spec, name=name)


_range.__name__ = "range"  # the name is Python's in this file
constructor(_range)
