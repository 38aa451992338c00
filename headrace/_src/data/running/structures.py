"""Elements as users see them, nested tuples and dicts of tensors, and as pipelines have them: flat components.

TF: a list is a leaf and becomes one tensor; tuples, named tuples, dicts and attrs or data classes are structure.
"""

from __future__ import annotations

import collections.abc
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace._src.core import nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.lazy import LazyModule
from headrace._src.core.specs import NoneTensorSpec, TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.type_specs import TypeSpec, type_spec_from_value
from headrace._src.op.convert import to_tensor

if TYPE_CHECKING:
    from headrace._src.data.running.iterators import IteratorSpec

_sparse = LazyModule("headrace._src.ops.sparse.tensor")
_SPARSE_FIELDS = ("indices", "values", "dense_shape")


def normalized(value: Any, where: str = "Dataset") -> Any:
    """A value with tensors (or composites, or None) at its leaves; lists have become tensors."""
    if getattr(value, "_fields", None) == _SPARSE_FIELDS and isinstance(value, _sparse.SparseTensorValue):
        return _sparse.SparseTensor.from_value(value)
    if isinstance(value, tuple):
        parts = [normalized(part, where) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, collections.abc.Mapping):
        items = {key: normalized(part, where) for key, part in value.items()}
        return _mapping_like(value, items)
    if hasattr(type(value), "__attrs_attrs__"):
        fields = [field.name for field in type(value).__attrs_attrs__]
        return type(value)(*[normalized(getattr(value, name), where) for name in fields])
    if dataclasses.is_dataclass(value) and hasattr(value, "__tf_flatten__"):
        metadata, parts = value.__tf_flatten__()
        return type(value).__tf_unflatten__(metadata, tuple(normalized(part, where) for part in parts))
    if value is None or isinstance(value, (Tensor, CompositeTensor, TypeSpec)) or hasattr(value, "_type_spec"):
        return value
    return to_tensor(value)


def _mapping_like(value, items):
    if isinstance(value, collections.defaultdict):
        return collections.defaultdict(value.default_factory, items)
    return type(value)(items)


def spec_of(value: Any) -> Any:
    """The spec of a normalized value, in its structure."""
    return nest.map_structure(_spec_of_leaf, value)


def _spec_of_leaf(leaf):
    if leaf is None:
        return NoneTensorSpec()
    spec = type_spec_from_value(leaf)
    return spec._without_tensor_names() if isinstance(spec, TensorSpec) else spec


def normalized_spec(spec: Any) -> Any:
    """A spec given by a user: lists have become tuples."""
    if isinstance(spec, list):
        return tuple(normalized_spec(part) for part in spec)
    if isinstance(spec, tuple):
        parts = [normalized_spec(part) for part in spec]
        return type(spec)(*parts) if hasattr(spec, "_fields") else tuple(parts)
    if isinstance(spec, collections.abc.Mapping):
        return _mapping_like(spec, {key: normalized_spec(part) for key, part in spec.items()})
    return NoneTensorSpec() if spec is None else spec


def flat_specs(spec: Any) -> list[TensorSpec]:
    """The specs of the components of elements of a spec."""
    flat = []
    for leaf in nest.flatten(spec):
        flat += [leaf] if type(leaf) is TensorSpec else leaf._flat_tensor_specs
    return flat


def to_components(spec: Any, value: Any) -> list[Tensor]:
    """The components of a normalized value."""
    flat = []
    for leaf, part in zip(nest.flatten(spec), nest.flatten_up_to(spec, value, check_types=False)):
        if isinstance(leaf, TensorSpec):
            flat.append(to_tensor(part))
        else:
            flat += leaf._to_tensor_list(part)
    return flat


def to_batched_components(spec: Any, value: Any) -> list[Tensor]:
    """The components of a value that is sliced along the first axis."""
    flat = []
    for leaf, part in zip(nest.flatten(spec), nest.flatten_up_to(spec, value, check_types=False)):
        flat += [to_tensor(part)] if type(leaf) is TensorSpec else leaf._to_batched_tensor_list(part)
    return flat


def from_components(spec: Any, tensors: list) -> Any:
    """The value that components stand for."""
    rest = iter(tensors)

    def leaf_value(leaf):
        if type(leaf) is TensorSpec:
            return next(rest)
        if isinstance(leaf, NoneTensorSpec):
            return None
        return leaf._from_compatible_tensor_list([next(rest) for _ in leaf._flat_tensor_specs])

    return nest.pack_sequence_as(spec, [leaf_value(leaf) for leaf in nest.flatten(spec)])


def packer(spec: Any) -> Callable[[tuple], Any]:
    """A function from elements to eager values of a spec, as quick as the spec allows."""
    if type(spec) is TensorSpec:
        dtype = spec.dtype
        return lambda element: EagerTensor(element[0], dtype)
    specs = flat_specs(spec)
    types = [part.dtype for part in specs]
    if type(spec) is tuple and all(type(part) is TensorSpec for part in spec):
        if len(types) == 2:
            first, second = types
            return lambda element: (EagerTensor(element[0], first), EagerTensor(element[1], second))
        return lambda element: tuple([EagerTensor(part, dtype) for part, dtype in zip(element, types)])
    if type(spec) is dict and all(type(part) is TensorSpec for part in spec.values()):
        place = {key: i for i, key in enumerate(sorted(spec))}
        plan = [(key, place[key], spec[key].dtype) for key in spec]
        return lambda element: {key: EagerTensor(element[i], dtype) for key, i, dtype in plan}
    return lambda element: from_components(spec, [EagerTensor(part, dtype) for part, dtype in zip(element, types)])


def batch_spec(spec: Any, size: int | None) -> Any:
    """The spec of batches."""
    return nest.map_structure(lambda leaf: leaf._batch(size), spec)


def unbatch_spec(spec: Any) -> Any:
    """The spec of what is in batches."""
    return nest.map_structure(lambda leaf: leaf._unbatch(), spec)


def legacy_parts(spec: Any, of_tensor: Callable, of_other: str) -> Any:
    """What 1.x asks of the parts of elements, in their structure.

    Args:
        of_tensor: what it is for the spec of a tensor.
        of_other: the method of other specs that says it.
    """

    def leaf(part):
        return of_tensor(part) if isinstance(part, TensorSpec) else getattr(part, of_other)()

    return nest.map_structure(leaf, spec)


def legacy_types(spec: Any) -> Any:
    """The dtypes of the parts of elements, in their structure."""
    return legacy_parts(spec, lambda part: part.dtype, "_to_legacy_output_types")


def legacy_shapes(spec: Any) -> Any:
    """The shapes of the parts of elements, in their structure."""
    return legacy_parts(spec, lambda part: part.shape, "_to_legacy_output_shapes")


def legacy_classes(spec: Any) -> Any:
    """The classes of the parts of elements, in their structure."""
    return legacy_parts(spec, lambda part: Tensor, "_to_legacy_output_classes")


def as_numpy(value: Any) -> Any:
    """A value with NumPy arrays (and scalars) in place of eager tensors."""

    def leaf(part):
        if part is None:
            return None
        if hasattr(part, "dense_shape"):  # TF: sparse tensors become dense
            return part._with_zeros().numpy()
        if hasattr(part, "numpy"):
            return part.numpy()
        raise TypeError(f"as_numpy_iterator: values of type {type(part).__name__} have no NumPy form.")

    return nest.map_structure(leaf, value)


class OwnLegacySpec(TypeSpec):
    """The base of specs that `get_legacy_output_types` and the like give as they are."""

    __slots__ = ()

    def _to_legacy_output_types(self):
        return self

    def _to_legacy_output_shapes(self):
        return self

    def _to_legacy_output_classes(self):
        return self


class ElementSpecified(OwnLegacySpec):
    """The base of specs for a single tensor that holds elements: all that they say is the spec of these elements.

    Args:
        element_spec: the spec of the elements.
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        return self._element_spec

    def _serialize(self):
        return (self._element_spec,)

    @classmethod
    def from_value(cls, value) -> IteratorSpec:
        """The spec of a value."""
        return cls(value.element_spec)
