"""`Dataset.from_tensors`: a dataset of one element."""

from headrace._src.core import errors
from headrace._src.data.datasets import DatasetV2, build, constructor, dataset_op
from headrace._src.data.running import structures
from headrace._src.data.running.stages import Access, Stage, shapes_of


class _Single(Access):
    size = 1

    def __init__(self, element):
        self._element = element

    def get(self, index):
        return self._element


class SingleStage(Stage):
    """One element."""

    method = "Dataset.from_tensors"
    is_in_memory = True

    def __init__(self, element, shapes):
        super().__init__(shapes)
        self._access = _Single(tuple(element))

    @property
    def access(self):
        return self._access

    def cardinality(self):
        return 1


def _make(components, output_shapes, metadata):
    return SingleStage(components, shapes_of(output_shapes))


TENSOR_DATASET = dataset_op(
    "TensorDataset",
    "components: list(Toutput_types), *, output_shapes: list(shape), metadata: string = ''",
    _make,
    stateful=True,
)


@constructor
def from_tensors(tensors, name=None) -> DatasetV2:
    """A dataset of one element.

    Args:
        tensors: the element, a tensor or a structure of tensors.
        name: a name for the operation.

    >>> list(tf.data.Dataset.from_tensors([1, 2, 3]).as_numpy_iterator())
    [array([1, 2, 3], dtype=int32)]
    """
    value = structures.normalized(tensors, "Dataset.from_tensors")
    spec = structures.spec_of(value)
    components = structures.to_components(spec, value)
    if not components:
        raise errors.invalid_argument("Dataset.from_tensors: the element has no tensors.")
    return build("_TensorDataset", TENSOR_DATASET, components, spec=spec, name=name)
