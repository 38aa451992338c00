"""`Dataset.from_tensor_slices`: the slices of tensors along their first axis."""

from headrace._src.core import errors, nest
from headrace._src.data.datasets import DatasetV2, build, constructor, dataset_op
from headrace._src.data.running import structures
from headrace._src.data.running.stages import Access, Stage, shapes_of


class _Slices(Access):
    def __init__(self, arrays):
        self._arrays = arrays
        self.size = arrays[0].shape[0]

    def get(self, index):
        return tuple([array[index, ...] for array in self._arrays])

    def gather(self, indices):
        return tuple([array.take(indices, 0) for array in self._arrays])

    def slice(self, start, stop):
        return tuple([array[start:stop] for array in self._arrays])


class SliceStage(Stage):
    """The slices of arrays along their first axis."""

    method = "Dataset.from_tensor_slices"
    is_in_memory = True

    def __init__(self, arrays, shapes):
        super().__init__(shapes)
        self._access = _Slices(arrays)

    @property
    def access(self):
        return self._access

    def cardinality(self):
        return self._access.size


def _make(components, output_shapes, is_files, metadata, replicate_on_split):
    for i, array in enumerate(components):
        if not array.ndim:
            raise errors.invalid_argument(f"All components must be at least 1-dimensional: component {i} is a scalar.")
        if array.shape[0] != components[0].shape[0]:
            raise errors.invalid_argument(
                f"Inconsistent first dimension: component 0 has {components[0].shape[0]} slices, component {i} has "
                f"{array.shape[0]}."
            )
    return SliceStage(components, shapes_of(output_shapes))


TENSOR_SLICE_DATASET = dataset_op(
    "TensorSliceDataset",
    "components: list(Toutput_types), *, output_shapes: list(shape), is_files: bool = False, metadata: string = '', "
    "replicate_on_split: bool = False",
    _make,
    stateful=True,
)


@constructor
def from_tensor_slices(tensors, name=None) -> DatasetV2:
    """A dataset whose elements are the slices of tensors along the first axis.

    Args:
        tensors: a tensor or a structure of tensors with equal first dimensions.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2], ["a", "b"]))
    >>> list(dataset.as_numpy_iterator())
    [(np.int32(1), b'a'), (np.int32(2), b'b')]
    """
    value = structures.normalized(tensors, "Dataset.from_tensor_slices")
    batched = structures.spec_of(value)
    components = structures.to_batched_components(batched, value)
    if not components:
        raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
    for tensor in components:
        if tensor.shape.rank == 0:
            raise ValueError(
                "Dataset.from_tensor_slices: unbatching a tensor is only supported for rank >= 1, got a scalar. "
                "Use from_tensors for a dataset of one element."
            )
    sizes = [tensor.shape[0] for tensor in components if tensor.shape.rank]
    known = {size for size in sizes if size is not None}
    if len(known) > 1:
        raise ValueError(
            f"Dataset.from_tensor_slices: dimensions {min(known)} and {max(known)} are not compatible: "
            "all tensors must have the same first dimension."
        )
    spec = nest.map_structure(lambda leaf: leaf._unbatch(), batched)
    return build("_TensorSliceDataset", TENSOR_SLICE_DATASET, components, spec=spec, name=name)
