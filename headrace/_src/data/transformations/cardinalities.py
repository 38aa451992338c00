"""`Dataset.cardinality`: how many elements there are, as far as that is known without walking through them."""

import numpy as np

from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import method
from headrace._src.data.running.stages import stage_of
from headrace._src.op.api import api
from headrace._src.op.definition import Op

DATASET_CARDINALITY = Op(
    "DatasetCardinality",
    "input_dataset: variant, *, cardinality_options: string = '' -> cardinality: int64",
    infer=lambda input_dataset, cardinality_options: TensorShape([]),
    kernel=lambda input_dataset, cardinality_options: np.array(stage_of(input_dataset).cardinality(), np.int64),
    lower=None,
    grad=None,
)


@method
def cardinality(self) -> Tensor:
    """The number of elements, a scalar int64 tensor: `tf.data.INFINITE_CARDINALITY` for a dataset without end,
    `tf.data.UNKNOWN_CARDINALITY` when it is not known.

    >>> int(tf.data.Dataset.range(42).batch(10).cardinality())
    5
    """
    return DATASET_CARDINALITY(self._variant_tensor)


@api("data.experimental.cardinality", dispatch=False)
def _cardinality(dataset) -> Tensor:
    """The number of elements of a dataset: see `tf.data.Dataset.cardinality`."""
    return dataset.cardinality()
