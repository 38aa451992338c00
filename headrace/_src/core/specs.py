"""The specs of tensors: `TensorSpec`, `BoundedTensorSpec`, and `NoneTensorSpec` for None."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from headrace._src.core import dtypes, nest_nodes
from headrace._src.core.batchable_specs import BatchableTypeSpec as BatchableTypeSpec
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.messages import message_class
from headrace._src.core.shapes import TensorShape, as_shape
from headrace._src.core.tensor import Tensor
from headrace._src.core.type_specs import TypeSpec as TypeSpec
from headrace._src.core.type_specs import register_fallback
from headrace._src.core.type_specs import (
    register_type_spec_from_value_converter as register_type_spec_from_value_converter,
)
from headrace._src.core.type_specs import type_spec_from_value as type_spec_from_value


class TensorSpec(BatchableTypeSpec):
    """The shape and dtype of a tensor, and a name for it.

    Args:
        shape: What `tf.TensorShape` accepts; None means an unknown rank.
        dtype: The dtype of the tensor.
        name: What the tensor is called, for instance as argument of a traced function.

    >>> spec = tf.TensorSpec([None, 2], tf.int32)
    >>> spec
    TensorSpec(shape=(None, 2), dtype=tf.int32, name=None)
    >>> spec.is_compatible_with(tf.constant([[1, 2]]))
    True
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A spec with the shape, the dtype and, unless `name` is given, the name of `spec`."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of `tensor`.

        Raises:
            ValueError: It is no `tf.Tensor`.

        >>> tf.TensorSpec.from_tensor(tf.constant([1, 2, 3]))
        TensorSpec(shape=(3,), dtype=tf.int32, name=None)
        """
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        if name is None:
            # TF: only a symbolic tensor hands on its name.
            operation = getattr(tensor, "op", None) if hasattr(tensor, "graph") else None
            name = operation.name if operation is not None else None
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    @property
    def value_type(self) -> type:
        """`tf.Tensor`."""
        return Tensor

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether dtype and shape of a spec or tensor fit this one; names do not matter."""
        if not isinstance(spec_or_tensor, (Tensor, TensorSpec)):
            return False
        return self._dtype.is_compatible_with(spec_or_tensor.dtype) and self._shape.is_compatible_with(
            spec_or_tensor.shape
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor of this spec fits `other`; a name must then be the same."""
        return (
            isinstance(other, TensorSpec)
            and (self._name is None or self._name == other._name)
            and self._dtype == other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """The narrowest spec for the tensors of this one and of `others`; None if dtype or name differ."""
        if not all(
            isinstance(other, TensorSpec) and self._dtype == other._dtype and self._name == other._name
            for other in others
        ):
            return None
        shape = self._shape.most_specific_common_supertype([other._shape for other in others])
        return self._with_shape(shape)

    def _with_shape(self, shape: Any) -> TensorSpec:
        return type(self)(shape, self._dtype, self._name)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and self._shape == other._shape
            and self._dtype == other._dtype
            and self._name == other._name
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self):
        return (type(self), self._serialize())

    def _serialize(self) -> tuple:
        return (self._shape, self._dtype, self._name)

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    def _to_components(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            raise AssertionError(f"{self!r}: expected a tensor, got {type(value).__name__}: {value!r}")
        return value

    def _from_components(self, components: Any) -> Any:
        if isinstance(components, Tensor):
            components.set_shape(self._shape)
        return components

    @property
    def _flat_tensor_specs(self) -> list:
        return [self]

    def _to_tensor_list(self, value: Any) -> list:
        return [self._to_components(value)]

    def _to_batched_tensor_list(self, value: Any) -> list:
        if value.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return [self._to_components(value)]

    def _from_compatible_tensor_list(self, tensor_list: list) -> Any:
        (tensor,) = tensor_list
        return self._from_components(tensor)

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def _with_tensor_ranks_only(self) -> TensorSpec:
        rank = self._shape.rank
        return self._with_shape(TensorShape(None if rank is None else [None] * rank))

    def _without_tensor_names(self) -> TensorSpec:
        return TensorSpec(self._shape, self._dtype) if self._name is not None else self

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """A symbolic tensor, made by the context's graph."""
        return placeholder_context.placeholder(self)

    def flatten(self) -> list:
        """A list of this spec."""
        return [self]

    def to_tensors(self, value: Any) -> list:
        """A list of `value` as a tensor."""
        return [self.cast(value, None)]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """The next tensor of an iterator, now known to have this spec's shape."""
        tensor = next(tensors)
        tensor.set_shape(self._shape)
        return tensor

    def cast(self, value: Any, casting_context: Any) -> Any:
        """`value` as a tensor of this spec.

        Raises:
            AssertionError: It is a spec that is no subtype of this one.
            TypeError: It is a tensor of another shape or dtype, or cannot be converted to one.
        """
        if getattr(casting_context, "allow_specs", False) and isinstance(value, TensorSpec):
            if not (value._dtype == self._dtype and value._shape.is_subtype_of(self._shape)):
                raise AssertionError(f"Can not cast {value!r} to {self!r}")
            return self
        if not isinstance(value, Tensor):
            value = _convert(value, self._dtype)
        spec = TensorSpec(value.shape, value.dtype, self._name)
        if not spec.is_subtype_of(self):
            if not self.is_subtype_of(spec):
                raise TypeError(f"Can not cast {spec!r} to {self!r}")
            value.set_shape(self._shape)
        return value

    def experimental_as_proto(self) -> Any:
        """This spec as a `TensorSpecProto`."""
        return message_class("TensorSpecProto")(
            shape=self._shape.as_proto(), dtype=self._dtype.as_datatype_enum, name=self._name or ""
        )

    @classmethod
    def experimental_from_proto(cls, proto: Any) -> TensorSpec:
        """The spec that a `TensorSpecProto` describes."""
        return TensorSpec(
            TensorShape.experimental_from_proto(proto.shape), dtypes.as_dtype(proto.dtype), proto.name or None
        )

    @classmethod
    def experimental_type_proto(cls) -> type:
        """The class of `experimental_as_proto()`."""
        return message_class("TensorSpecProto")


# A tensor's spec has one component, itself: it is a leaf wherever composites are expanded.
nest_nodes.register_composite(TensorSpec, None)


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec whose values lie between two bounds, both included.

    Args:
        shape: What `tf.TensorShape` accepts.
        dtype: The dtype of the tensor.
        minimum: The least value, as a number or an array that broadcasts to `shape`.
        maximum: The greatest value, likewise.
        name: What the tensor is called.

    Raises:
        ValueError: A bound is None or does not broadcast to `shape`.
    """

    __slots__ = ("_maximum", "_minimum")

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None):
        super().__init__(shape, dtype, name)
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> np.ndarray:
        if value is None:
            raise ValueError(f"`{which}` can not be None.")
        bound = np.array(value, dtype=self._dtype.as_numpy_dtype)
        bound.setflags(write=False)
        dims = self._shape._dims
        if dims is not None:
            tail = dims[len(dims) - bound.ndim :] if bound.ndim <= len(dims) else None
            fits = tail is not None and all(
                n == 1 or d is None or d == n for d, n in zip(tail, bound.shape)
            )
            if not fits:
                raise ValueError(f"`{which}` {value} is not compatible with shape {self._shape}.")
        return bound

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """A bounded spec like `spec`; without bounds of its own, it gets those of the dtype."""
        minimum = getattr(spec, "minimum", None)
        maximum = getattr(spec, "maximum", None)
        return cls(
            spec.shape,
            spec.dtype,
            spec.dtype.min if minimum is None else minimum,
            spec.dtype.max if maximum is None else maximum,
            name or spec.name,
        )

    @property
    def minimum(self) -> np.ndarray:
        """The least value, as a read-only array."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The greatest value, as a read-only array."""
        return self._maximum

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """As for TensorSpec; all must have the same bounds."""
        for other in others:
            if not (
                isinstance(other, BoundedTensorSpec)
                and np.array_equal(self._minimum, other._minimum)
                and np.array_equal(self._maximum, other._maximum)
            ):
                return None
        return super().most_specific_common_supertype(others)

    def _with_shape(self, shape: Any) -> BoundedTensorSpec:
        return BoundedTensorSpec(shape, self._dtype, self._minimum, self._maximum, self._name)

    def __eq__(self, other: object) -> bool:
        return (
            super().__eq__(other)
            and np.array_equal(self._minimum, other._minimum)  # type: ignore[attr-defined]
            and np.array_equal(self._maximum, other._maximum)  # type: ignore[attr-defined]
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype, self._minimum.tobytes(), self._maximum.tobytes()))

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )

    def _serialize(self) -> tuple:
        return (self._shape, self._dtype, self._minimum, self._maximum, self._name)


class NoneTensor(CompositeTensor):
    """The type that stands for None where every element needs a type; its only value is None itself."""

    @property
    def _type_spec(self) -> NoneTensorSpec:
        return NoneTensorSpec()


class NoneTensorSpec(BatchableTypeSpec):
    """The spec of None, which has no components.

    >>> tf.NoneTensorSpec().is_compatible_with(None)
    True
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        """The class `NoneTensor`."""
        return NoneTensor

    @classmethod
    def from_value(cls, value: Any) -> NoneTensorSpec:
        """The spec of None."""
        return cls()

    def most_specific_compatible_shape(self, other: TypeSpec) -> NoneTensorSpec:
        """This spec, when the other one is of None, too."""
        if type(other) is not NoneTensorSpec:
            raise ValueError(f"No `TypeSpec` is compatible with both {self} and {other}")
        return self

    def _serialize(self) -> tuple:
        return ()

    @property
    def _component_specs(self) -> list:
        return []

    def _to_components(self, value: Any) -> list:
        return []

    def _from_components(self, components: Any) -> None:
        return None

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether it is None or another NoneTensorSpec."""
        return spec_or_value is None or type(spec_or_value) is NoneTensorSpec

    def _batch(self, batch_size: int | None) -> NoneTensorSpec:
        return NoneTensorSpec()

    def _unbatch(self) -> NoneTensorSpec:
        return NoneTensorSpec()

    # TF: the spec itself stands for types, shapes and classes.
    def _to_legacy_output_types(self) -> NoneTensorSpec:
        return self

    def _to_legacy_output_shapes(self) -> NoneTensorSpec:
        return self

    def _to_legacy_output_classes(self) -> NoneTensorSpec:
        return self


# Conversion of other values to tensors belongs to the op layer, which registers it here.

_converters: list[Callable[[Any, Any], Any]] = []


def register_tensor_converter(function: Callable[[Any, Any], Any]) -> None:
    """Says how `TensorSpec.cast` and `type_spec_from_value` convert: `function(value, dtype or None)`."""
    _converters[:] = [function]


def _convert(value: Any, dtype: Any) -> Any:
    if not _converters:
        raise TypeError(f"{type(value).__name__} cannot be converted to a tensor here: {value!r}")
    return _converters[0](value, dtype)


def _spec_after_conversion(value: Any) -> TypeSpec | None:
    # A spec or a class describes values, but is none.
    if isinstance(value, (TypeSpec, type, dict)):
        return None
    try:
        tensor = _convert(value, None)
    except (TypeError, ValueError):
        return None
    return TensorSpec(tensor.shape, tensor.dtype)


def _tracing_type(self: Tensor, context: Any) -> TensorSpec:
    """The trace type of a tensor is its spec."""
    return TensorSpec(self.shape, self.dtype)


Tensor.__tf_tracing_type__ = _tracing_type  # type: ignore[attr-defined]
register_fallback(_spec_after_conversion)
register_type_spec_from_value_converter(
    Tensor, lambda tensor: TensorSpec(tensor.shape, tensor.dtype), allow_subclass=True
)
register_type_spec_from_value_converter(type(None), lambda value: NoneTensorSpec())


PUBLIC = {
    "NoneTensorSpec": NoneTensorSpec,
    "TensorSpec": TensorSpec,
    "compat.v1.TensorSpec": TensorSpec,
}
