"""Specs of values that can be stacked into batches: what datasets and `tf.map_fn` need of a type."""

from __future__ import annotations

import abc
from typing import Any

from headrace._src.core import nest
from headrace._src.core.type_specs import TypeSpec


class TypeSpecBatchEncoder(metaclass=abc.ABCMeta):
    """How values of a batchable spec are encoded as tensors that can be stacked and sliced."""

    @abc.abstractmethod
    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """The spec of `batch_size` values of `spec` stacked."""

    @abc.abstractmethod
    def unbatch(self, spec: Any) -> Any:
        """The spec of one element of a value of `spec`."""

    @abc.abstractmethod
    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        """`value` as a structure of tensors (or composites) that have at least `minimum_rank` dimensions."""

    @abc.abstractmethod
    def decode(self, spec: Any, encoded_value: Any) -> Any:
        """The value that `encode` encoded."""

    @abc.abstractmethod
    def encoding_specs(self, spec: Any) -> Any:
        """The specs of `encode(spec, value)`, in the same structure."""


class LegacyTypeSpecBatchEncoder(TypeSpecBatchEncoder):
    """Encodes through the spec's own `_batch`, `_unbatch` and tensor lists."""

    def batch(self, spec, batch_size):
        return spec._batch(batch_size)

    def unbatch(self, spec):
        return spec._unbatch()

    def encode(self, spec, value, minimum_rank=0):
        if minimum_rank == 0:
            return spec._to_tensor_list(value)
        if minimum_rank == 1:
            return spec._to_batched_tensor_list(value)
        raise ValueError(
            f"{type(self).__name__}.encode: minimum_rank must be 0 or 1 for {spec!r}, got {minimum_rank}"
        )

    def decode(self, spec, encoded_value):
        return spec._from_tensor_list(encoded_value)

    def encoding_specs(self, spec):
        return spec._flat_tensor_specs


class BatchableTypeSpec(TypeSpec):
    """A spec whose values can be stacked into batches, and split again."""

    __slots__ = ()
    __batch_encoder__: TypeSpecBatchEncoder = LegacyTypeSpecBatchEncoder()

    @abc.abstractmethod
    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The spec of a batch of such values; the size may be None."""

    @abc.abstractmethod
    def _unbatch(self) -> TypeSpec:
        """The spec of one element of such a value."""

    @property
    def _flat_tensor_specs(self) -> list:
        return nest.flatten(nest.map_structure(_encoded_specs, self._component_specs))

    def _to_tensor_list(self, value: Any) -> list:
        return self._encode_components(value, minimum_rank=0)

    def _to_batched_tensor_list(self, value: Any) -> list:
        """The tensors of `value`, each with the batch as first dimension.

        Raises:
            ValueError: One of them is a scalar.
        """
        tensors = self._encode_components(value, minimum_rank=1)
        if any(tensor.shape.rank == 0 for tensor in tensors):
            raise ValueError(
                f"{self!r} cannot be unbatched: a component of {value!r} is a scalar. "
                "Each component must have the batch as its first dimension."
            )
        return tensors

    def _encode_components(self, value: Any, minimum_rank: int) -> list:
        components = nest.flatten_up_to(self._component_specs, self._to_components(value), check_types=False)
        pairs = zip(nest.flatten(self._component_specs), components)
        return [tensor for spec, part in pairs for tensor in _encode(spec, part, minimum_rank)]

    def _from_compatible_tensor_list(self, tensor_list: list) -> Any:
        rest = list(tensor_list)

        def take(spec):
            count = len(_encoded_specs(spec))
            mine, rest[:] = rest[:count], rest[count:]
            return _decode(spec, mine)

        return self._from_components(nest.map_structure(take, self._component_specs))


def _is_tensor_spec(spec: Any) -> bool:
    # Only the spec of a plain tensor is its own component.
    return spec._component_specs is spec


def _encoded_specs(spec: Any) -> list:
    """The tensor specs that values of `spec` are encoded as."""
    if _is_tensor_spec(spec):
        return [spec]
    if not isinstance(spec, BatchableTypeSpec):
        raise NotImplementedError(f"{type(spec).__name__} cannot be batched: it is no BatchableTypeSpec.")
    encoded = nest.flatten(spec.__batch_encoder__.encoding_specs(spec))
    return [part for one in encoded for part in _encoded_specs(one)]


def _encode(spec: Any, value: Any, minimum_rank: int) -> list:
    if _is_tensor_spec(spec):
        return [value]
    encoder = spec.__batch_encoder__
    encoded = nest.flatten(encoder.encode(spec, value, minimum_rank))
    encoded_specs = nest.flatten(encoder.encoding_specs(spec))
    return [
        tensor for one, part in zip(encoded_specs, encoded) for tensor in _encode(one, part, minimum_rank)
    ]


def _decode(spec: Any, tensors: list) -> Any:
    if _is_tensor_spec(spec):
        return tensors[0]
    encoder = spec.__batch_encoder__
    structure = encoder.encoding_specs(spec)
    parts = []
    for one in nest.flatten(structure):
        count = len(_encoded_specs(one))
        parts.append(_decode(one, tensors[:count]))
        tensors = tensors[count:]
    return encoder.decode(spec, nest.pack_sequence_as(structure, parts))
