"""`Dataset.rebatch`: batches of other sizes."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import DatasetV2, build, dataset_op, integer, method
from headrace._src.data.running import structures
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import Stage, joined, shapes_of, stage_of
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.measuring import get_static_value


class RebatchStage(Stage):
    """The slices of the elements of the input in batches of given sizes, one size after another.

    Args:
        source: the input, whose elements are batches.
        sizes: of the new batches; when all were used, they begin again.
        drops: whether a last batch of fewer slices is left out.
        shapes: of the components.
    """

    method = "Dataset.rebatch"

    def __init__(self, source, sizes, drops, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.sizes = sizes
        self.drops = drops

    def walk(self, run):
        return _RebatchCursor(self, run)


class _RebatchCursor(InnerCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._rest = None  # what is left of the last batch of the input
        self._turn = 0  # which size comes next
        self._is_over = False

    def next(self):
        stage = self._stage
        size = stage.sizes[self._turn]
        parts, missing = [], size
        while (missing or not parts) and self._fill():
            part = tuple([array[:missing] for array in self._rest])
            self._rest = tuple([array[missing:] for array in self._rest])
            missing -= part[0].shape[0]
            parts.append(part)
        if not parts or (missing and stage.drops):
            return None
        self._turn = (self._turn + 1) % len(stage.sizes)
        return joined(parts)

    def _fill(self):
        """See to it that there is a slice left; False at the end."""
        while self._rest is None or not self._rest[0].shape[0]:
            batch = None if self._is_over else self._inner.next()
            if batch is None:
                self._is_over = True
                return False
            for number, part in enumerate(batch):
                if not part.ndim or part.shape[0] != batch[0].shape[0]:
                    raise errors.invalid_argument(
                        "Input element must have the same batch size in each component. Component 0 had size "
                        f"{batch[0].shape[0]} but component {number} had shape {list(part.shape)}."
                    )
            self._rest = batch
        return True

    def state(self):
        rest = None if self._rest is None else list(self._rest)
        return {**super().state(), "rest": rest, "turn": self._turn, "is_over": self._is_over}

    def restore(self, state):
        super().restore(state)
        self._rest = None if state["rest"] is None else tuple(state["rest"])
        self._turn, self._is_over = state["turn"], state["is_over"]


def _make(input_dataset, batch_sizes, drop_remainder, output_types, output_shapes):
    sizes = np.atleast_1d(batch_sizes)
    if batch_sizes.ndim > 1 or not sizes.size:
        raise errors.invalid_argument(
            f"Expected `batch_sizes` to be a scalar or a vector with entries, got shape {list(batch_sizes.shape)}."
        )
    if (sizes < 0).any() or not sizes.any():
        raise errors.invalid_argument(
            f"`batch_sizes` must not be negative, and not all be zero, got {sizes.tolist()}."
        )
    drops = bool(integer(drop_remainder, "drop_remainder"))
    return RebatchStage(stage_of(input_dataset), sizes.tolist(), drops, shapes_of(output_shapes))


REBATCH_DATASET = dataset_op(
    "RebatchDatasetV2",
    "input_dataset: variant, batch_sizes: int64, drop_remainder: bool, *, output_types: list(type), "
    "output_shapes: list(shape)",
    _make,
    vectors=("batch_sizes",),
)


def _static_size(specs, sizes, drops):
    """The size that all new batches have, where that is known."""
    known = get_static_value(sizes)
    if known is None:
        return None
    different = set(np.atleast_1d(known).tolist())
    if len(different) != 1:
        return None
    size = different.pop()
    if drops:
        return size
    before = {spec.shape[0] for spec in specs if isinstance(spec, TensorSpec) and spec.shape.rank} - {None}
    return size if size and len(before) == 1 and before.pop() % size == 0 else None


@method
def rebatch(self, batch_size, drop_remainder=False, name=None) -> DatasetV2:
    """Batches of another size: the same as `unbatch` and `batch`, but faster.

    Args:
        batch_size: how many slices make a new batch; or a vector of sizes that are used in turn.
        drop_remainder: whether the last batch is left out when it has fewer.
        name: a name for the operation.

    >>> for batch in tf.data.Dataset.range(6).batch(2).rebatch(3):
    ...     print(batch.numpy())
    [0 1 2]
    [3 4 5]
    """
    sizes = to_tensor(batch_size)
    if not sizes.dtype.is_integer:
        raise TypeError(f"Dataset.rebatch: batch_size must be of an integer type, got {sizes.dtype.name}.")
    sizes = CAST(sizes, DstT=dtypes.int64)
    flat = structures.flat_specs(self.element_spec)
    if any(spec.shape.rank == 0 for spec in flat):
        raise ValueError("Dataset.rebatch: elements must be batches, but there are scalar components.")
    drops = to_tensor(drop_remainder, dtypes.bool)
    size = _static_size(flat, sizes, bool(np.all(get_static_value(drops))))
    spec = structures.batch_spec(structures.unbatch_spec(self.element_spec), size)
    return build("_RebatchDataset", REBATCH_DATASET, self, sizes, drops, spec=spec, of=[self], name=name)
