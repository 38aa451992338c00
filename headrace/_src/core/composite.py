"""`CompositeTensor`: the base of values that stand for several tensors (ragged, sparse, extension types).

A composite says through its type spec how it is taken apart into components and put together again. nest,
tapes, traced functions and control flow use nothing else, so a new kind of composite works in all of them.
"""

from __future__ import annotations

from typing import Any

from headrace._src.core import nest
from headrace._src.core.nest_nodes import Composite, register_composite


class CompositeTensor:
    """A value made of tensors. Subclasses give `_type_spec`; the spec does the rest.

    Not an abstract class in Python's sense, so that `isinstance` stays cheap and subclasses may have any
    metaclass.
    """

    # What to do with one where a dense tensor is expected, for the error.
    _instead_of_dense = "convert it, for instance with its to_tensor() or tf.sparse.to_dense"

    @property
    def _type_spec(self) -> Any:
        """The `TypeSpec` of this value."""
        raise NotImplementedError(f"{type(self).__name__}._type_spec")

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        """The spec of values like this one with static shape `shape`, for `tf.while_loop(shape_invariants=)`.

        Raises:
            NotImplementedError: The class does not define shape invariants.
        """
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    def _consumers(self) -> list:
        """The graph operations that consume a component of this value, each once."""
        components = nest.flatten(self, expand_composites=True)
        operations = [op for part in components if hasattr(part, "graph") for op in part.consumers()]
        return list(dict.fromkeys(operations))

    def consumers(self) -> list:
        """The graph operations that consume a component of this value; none for eager values."""
        return self._consumers()

    def __tf_tracing_type__(self, context: Any) -> Any:
        return self._type_spec

    def _convert_variables_to_tensors(self) -> Any:
        """This value with variables among its components replaced by their values; itself if it has none."""
        return self


register_composite(
    CompositeTensor,
    Composite(
        components=lambda value: value._type_spec._to_components(value),
        rebuild=lambda value, components: value._type_spec._from_components(components),
        type_spec=lambda value: value._type_spec,
    ),
)


PUBLIC = {"__internal__.CompositeTensor": CompositeTensor}
