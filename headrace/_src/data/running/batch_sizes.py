"""How many examples each element of a dataset holds, found without reading it."""

import numpy as np

from headrace._src.core import nest
from headrace._src.core.tensor import EagerTensor
from headrace._src.data.running.stages import Stage, stage_of
from headrace._src.op.convert import to_tensor


def compute_batch_size(dataset) -> EagerTensor:
    """The number of examples in each batch as an int64 scalar; -1 when it is not known.

    Args:
        dataset: a dataset whose components all have a batch dimension.
    """
    sizes = {spec.shape[0] for spec in nest.flatten(dataset.element_spec)}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is None:
        size = _of_stage(stage_of(dataset._variant_tensor._a))
    return to_tensor(np.array(size, np.int64))


def _of_stage(stage: Stage) -> int:
    if stage.batch_size is not None:
        return stage.batch_size
    if not stage.passes_on:
        return -1
    sizes = {_of_stage(source) for source in stage.inputs}
    return sizes.pop() if len(sizes) == 1 else -1
