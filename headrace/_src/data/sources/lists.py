"""`tf.data.experimental.from_list`: a dataset of the elements of a Python list."""

from headrace._src.core import errors
from headrace._src.data.datasets import DatasetV2, build, compatible_spec, dataset_op
from headrace._src.data.running import structures
from headrace._src.data.running.stages import flat_attrs, shapes_of
from headrace._src.data.transformations.windows import ElementsStage
from headrace._src.op.api import api


class ListStage(ElementsStage):
    """Elements that were given one by one."""

    method = "from_list"


def _make(tensors, output_types, output_shapes, metadata):
    width = len(output_types)
    if len(tensors) % width:
        raise errors.invalid_argument(f"{len(tensors)} tensors cannot be divided into elements of {width} components.")
    elements = [tuple(tensors[i : i + width]) for i in range(0, len(tensors), width)]
    return ListStage(shapes_of(output_shapes), elements)


LIST_DATASET = dataset_op(
    "ListDataset",
    "tensors: list(Tinput_types), *, output_types: list(type), output_shapes: list(shape), metadata: string = ''",
    _make,
    stateful=True,
)


@api("data.experimental.from_list", dispatch=False)
def from_list(elements, name=None) -> DatasetV2:
    """A dataset of the elements of a list.

    Args:
        elements: a list of elements of the same structure; their shapes may differ.
        name: a name for the operation.

    >>> dataset = tf.data.experimental.from_list([(1, "a"), (2, "b")])
    >>> list(dataset.as_numpy_iterator())
    [(np.int32(1), b'a'), (np.int32(2), b'b')]
    """
    if not isinstance(elements, list):
        raise TypeError(f"from_list: `elements` must be a list, got {type(elements).__name__}.")
    if not elements:
        raise ValueError("from_list: `elements` should not be empty.")
    values = [structures.normalized(element, "from_list") for element in elements]
    specs = [structures.spec_of(value) for value in values]
    spec = specs[0]
    for number, other in enumerate(specs[1:], 1):
        try:
            spec = compatible_spec(spec, other, "from_list")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"from_list: all elements must be of the same structure and types. The first one is {specs[0]}, the "
                f"one with number {number} is {other}."
            ) from error
    tensors = [tensor for value in values for tensor in structures.to_components(spec, value)]
    attrs = flat_attrs(structures.flat_specs(spec))
    return build("_ListDataset", LIST_DATASET, tensors, spec=spec, name=name, **attrs)
