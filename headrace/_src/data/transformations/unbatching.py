"""`Dataset.unbatch`: the elements of batches."""

from collections.abc import Callable
from typing import Any

from headrace._src.core import errors, nest
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, dataset_op, method
from headrace._src.data.running import structures
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import UNKNOWN, Stage, shapes_of, stage_of
from headrace._src.op.api import api


class UnbatchStage(Stage):
    """The slices of the elements of the input along the first axis."""

    method = "Dataset.unbatch"

    def __init__(self, source, shapes):
        super().__init__(shapes, [source])
        self.source = source
        sizes = {shape[0] for shape in source.shapes if shape.rank is not None} - {None}
        self.batch = sizes.pop() if len(sizes) == 1 else None  # the size of all batches, where that is known

    def cardinality(self):
        size = self.source.cardinality()
        if size < 0:
            return size
        return size * self.batch if self.batch is not None else UNKNOWN

    @property
    def has_blocks(self):
        return True

    def walk(self, run):
        return _UnbatchCursor(self, run)


class _UnbatchCursor(InnerCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._batch = None
        self._at = self._size = 0

    def _fill(self):
        """See to it that there is a slice left; False at the end."""
        while self._at >= self._size:
            self._batch = self._inner.next()
            if self._batch is None:
                self._at = self._size = 0
                return False
            self._at, self._size = 0, _size_of(self._batch)
        return True

    def next(self):
        if not self._fill():
            return None
        at = self._at
        self._at = at + 1
        return tuple([part[at, ...] for part in self._batch])

    def block(self, count):
        if not self._fill():
            return None
        at = self._at
        self._at = min(at + count, self._size)
        return tuple([part[at : self._at] for part in self._batch])

    def skip(self, count):
        left = count
        while left and self._fill():
            step = min(left, self._size - self._at)
            self._at += step
            left -= step
        return count - left

    def state(self):
        rest = [] if self._at >= self._size else [part[self._at :] for part in self._batch]
        return {**super().state(), "rest": rest}

    def restore(self, state):
        super().restore(state)
        self._batch = tuple(state["rest"]) or None
        self._at, self._size = 0, 0 if self._batch is None else self._batch[0].shape[0]


def _size_of(batch):
    for number, part in enumerate(batch):
        if not part.ndim:
            raise errors.invalid_argument(f"Dataset.unbatch: component {number} is a scalar and has no slices.")
        if part.shape[0] != batch[0].shape[0]:
            raise errors.invalid_argument(
                f"Input element must have the same batch size in each component. Component 0 had size "
                f"{batch[0].shape[0]} but component {number} had size {part.shape[0]}."
            )
    return batch[0].shape[0]


def _make(input_dataset, output_types, output_shapes, metadata):
    return UnbatchStage(stage_of(input_dataset), shapes_of(output_shapes))


UNBATCH_DATASET = dataset_op("UnbatchDataset", f"input_dataset: variant, *, {OUTPUTS}", _make)


def _batched_variants(spec):
    """A function that turns the parts of a batch other than tensors into variants, one for each slice."""

    def encode(*values):
        value = values[0] if len(values) == 1 and not isinstance(spec, tuple) else values
        flat = structures.to_batched_components(spec, value)
        return flat[0] if len(flat) == 1 else tuple(flat)

    return encode


@method
def unbatch(self, name=None) -> DatasetV2:
    """The slices of the elements along the first axis, one after another.

    >>> dataset = tf.data.Dataset.from_tensor_slices([[1, 2, 3], [4, 5, 6]])
    >>> [int(x) for x in dataset.unbatch()]
    [1, 2, 3, 4, 5, 6]
    """
    flat = structures.flat_specs(self.element_spec)
    if any(spec.shape.rank == 0 for spec in nest.flatten(self.element_spec) if hasattr(spec, "shape")):
        raise ValueError("Cannot unbatch an input with scalar components.")
    sizes = {spec.shape[0] for spec in flat if spec.shape.rank} - {None}
    if len(sizes) > 1:
        first, second = sorted(sizes)[:2]
        raise ValueError(
            "`unbatch()` is only supported for datasets of elements whose components have a matching leading "
            f"dimension. Encountered both {first} and {second}."
        )
    source = self
    if any(spec.dtype._kind == "v" for spec in flat):
        # Ragged and sparse tensors are one variant each; here they become one for each row.
        source = self.map(_batched_variants(self.element_spec))
    spec = structures.unbatch_spec(self.element_spec)
    return build("_UnbatchDataset", UNBATCH_DATASET, source, spec=spec, of=[self], name=name)


@api("data.experimental.unbatch", dispatch=False)
def _unbatch() -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.unbatch`."""
    return lambda dataset: dataset.unbatch()
