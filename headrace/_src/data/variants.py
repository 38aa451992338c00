"""Datasets as tensors: `to_variant`, `from_variant`; and what their elements are: `get_structure`."""

from typing import TYPE_CHECKING, Any

from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.core.type_specs import TypeSpec
from headrace._src.data.datasets import DatasetSpec, DatasetV2, dataset_of
from headrace._src.data.running import structures
from headrace._src.op.api import api, export
from headrace._src.ops.ragged.spec import RaggedTensorSpec
from headrace._src.ops.sparse.tensor import SparseTensorSpec
from headrace._src.state import tensor_array

if TYPE_CHECKING:
    from headrace._src.data.running.optionals import Optional
    from headrace._src.state.tensor_array import TensorArraySpec


@api("data.experimental.to_variant", dispatch=False)
def to_variant(dataset) -> Tensor:
    """The scalar variant tensor that holds a dataset."""
    return dataset._variant_tensor


@api("data.experimental.from_variant", dispatch=False)
def from_variant(variant, structure) -> DatasetV2:
    """The dataset that a scalar variant tensor holds.

    Args:
        variant: made by `to_variant`.
        structure: the spec of the elements.

    >>> variant = tf.data.experimental.to_variant(tf.data.Dataset.range(2))
    >>> [int(x) for x in tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))]
    [0, 1]
    """
    return dataset_of(variant, structure)


@api("data.experimental.get_structure", dispatch=False)
def get_structure(dataset_or_iterator) -> Any:
    """The spec of the elements of a dataset or an iterator.

    >>> tf.data.experimental.get_structure(tf.data.Dataset.range(2))
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    if not hasattr(dataset_or_iterator, "element_spec"):
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator "
            f"object, but got {type(dataset_or_iterator)}."
        )
    return dataset_or_iterator.element_spec


@api("compat.v1.data.get_output_types", dispatch=False)
def get_output_types(dataset_or_iterator) -> Any:
    """The dtypes of the components of elements, in their structure."""
    return structures.legacy_types(get_structure(dataset_or_iterator))


@api("compat.v1.data.get_output_shapes", dispatch=False)
def get_output_shapes(dataset_or_iterator) -> Any:
    """The shapes of the components of elements, in their structure."""
    return structures.legacy_shapes(get_structure(dataset_or_iterator))


@api("compat.v1.data.get_output_classes", dispatch=False)
def get_output_classes(dataset_or_iterator) -> Any:
    """The classes of the parts of elements, in their structure."""
    return structures.legacy_classes(get_structure(dataset_or_iterator))


# The specs under the names that they had in 1.x, with the arguments in the order of then.

Structure = export("compat.v1.data.experimental.Structure")(TypeSpec)
DatasetStructure = export("compat.v1.data.experimental.DatasetStructure")(DatasetSpec)


@api("compat.v1.data.experimental.TensorStructure", dispatch=False)
def TensorStructure(dtype, shape) -> TensorSpec:
    """The spec of tensors: see `tf.TensorSpec`."""
    return TensorSpec(shape, dtype)


@api("compat.v1.data.experimental.SparseTensorStructure", dispatch=False)
def SparseTensorStructure(dtype, shape) -> SparseTensorSpec:
    """The spec of sparse tensors: see `tf.SparseTensorSpec`."""
    return SparseTensorSpec(shape, dtype)


@api("compat.v1.data.experimental.RaggedTensorStructure", dispatch=False)
def RaggedTensorStructure(dtype, shape, ragged_rank) -> RaggedTensorSpec:
    """The spec of ragged tensors: see `tf.RaggedTensorSpec`."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)


@api("compat.v1.data.experimental.TensorArrayStructure", dispatch=False)
def TensorArrayStructure(dtype, element_shape, dynamic_size, infer_shape) -> "TensorArraySpec":
    """The spec of tensor arrays: see `tf.TensorArraySpec`."""
    return tensor_array.TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)


@api("data.experimental.get_next_as_optional", dispatch=False)
def get_next_as_optional(iterator) -> "Optional":
    """The next element of an iterator as an optional: see `tf.data.Iterator.get_next_as_optional`.

    >>> bool(tf.data.experimental.get_next_as_optional(iter(tf.data.Dataset.range(1))).has_value())
    True
    """
    return iterator.get_next_as_optional()
