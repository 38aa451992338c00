"""`tf.experimental.Optional`: a value that may be missing, in a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.data.running import structures
from headrace._src.data.running.stages import flat_attrs
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.math.arithmetic import ADD_N

_OUTPUTS = "output_types: list(type), output_shapes: list(shape)"


class OptionalValue:
    """What the variant tensor of an optional holds: the components of a value, or None."""

    __slots__ = ("components",)

    def __init__(self, components: tuple | None):
        self.components = components

    # For gradients, which go through optionals: TensorFlow's own gradients of tf.cond keep residuals in them.

    def zeros_like(self) -> OptionalValue:
        if self.components is None:
            return self
        return OptionalValue(tuple(ZEROS_LIKE.kernel(x) for x in self.components))

    def __add__(self, other) -> OptionalValue:
        if (self.components is None) != (other.components is None):
            raise errors.invalid_argument("Cannot add an optional with a value and one without.")
        if self.components is None:
            return self
        pairs = zip(self.components, other.components, strict=True)
        return OptionalValue(tuple(ADD_N.kernel([x, y]) for x, y in pairs))


def optional_value(components) -> np.ndarray:
    """The value of the tensor of an optional."""
    box = np.empty((), object)
    box[()] = OptionalValue(None if components is None else tuple(components))
    return box


def _value_of(optional: np.ndarray) -> OptionalValue:
    value = optional[()] if optional.ndim == 0 else None
    if not isinstance(value, OptionalValue):
        raise errors.invalid_argument(
            f"Expected a scalar variant tensor that holds an optional, got {type(value).__name__}."
        )
    return value


def _grad_from_value(node, dy):
    specs = {"output_types": [x.dtype for x in node.components], "output_shapes": [x.shape for x in node.components]}
    return (OPTIONAL_GET_VALUE(dy, **specs),)


OPTIONAL_FROM_VALUE = Op(
    "OptionalFromValue",
    "components: list(Toutput_types) -> optional: variant",
    infer=lambda components: TensorShape([]),
    kernel=optional_value,
    lower=None,
    grad=_grad_from_value,
    saves=("components",),
)

OPTIONAL_NONE = Op(
    "OptionalNone",
    "-> optional: variant",
    infer=lambda: TensorShape([]),
    kernel=lambda: optional_value(None),
    lower=None,
    grad=None,
)

OPTIONAL_HAS_VALUE = Op(
    "OptionalHasValue",
    "optional: variant -> has_value: bool",
    infer=lambda optional: TensorShape([]),
    kernel=lambda optional: np.array(_value_of(optional).components is not None),
    lower=None,
    grad=None,
)


def _get_value(optional, output_types, output_shapes):
    components = _value_of(optional).components
    if components is None:
        raise errors.invalid_argument("The given optional does not have a value.")
    if len(components) != len(output_types):
        raise errors.invalid_argument(
            f"The given optional has {len(components)} components, expected {len(output_types)}."
        )
    return list(components)


OPTIONAL_GET_VALUE = Op(
    "OptionalGetValue",
    f"optional: variant, *, {_OUTPUTS} -> components: list(output_types)",
    infer=lambda optional, output_types, output_shapes: ([TensorShape(shape) for shape in output_shapes],),
    kernel=_get_value,
    lower=None,
    grad=lambda node, dys: (OPTIONAL_FROM_VALUE(dys),),
)


@api("experimental.Optional", "data.experimental.Optional", dispatch=False)
class Optional(CompositeTensor):
    """A value that may be missing.

    >>> tf.experimental.Optional.from_value(42).get_value().numpy()
    np.int32(42)
    >>> tf.experimental.Optional.empty(tf.TensorSpec([])).has_value().numpy()
    np.False_
    """

    def __init__(self, variant_tensor, element_spec) -> None:
        self._variant_tensor = variant_tensor
        self._element_spec = element_spec

    def has_value(self, name=None) -> Tensor:
        """Whether there is a value, as a scalar boolean tensor."""
        return OPTIONAL_HAS_VALUE(self._variant_tensor, name=name)

    def get_value(self, name=None) -> Any:
        """The value.

        Raises:
            InvalidArgumentError: there is none.
        """
        attrs = flat_attrs(structures.flat_specs(self._element_spec))
        components = OPTIONAL_GET_VALUE(self._variant_tensor, name=name, **attrs)
        return structures.from_components(self._element_spec, components)

    @property
    def element_spec(self) -> Any:
        """The spec of the value."""
        return self._element_spec

    @property
    def value_structure(self) -> Any:
        """The same as `element_spec`."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    @staticmethod
    def empty(element_spec) -> Optional:
        """An optional without a value.

        Args:
            element_spec: the spec of the value that it could have.
        """
        return Optional(OPTIONAL_NONE(), element_spec)

    none_from_structure = empty

    @staticmethod
    def from_value(value) -> Optional:
        """An optional with a value, a tensor or a structure of tensors."""
        value = structures.normalized(value, "Optional.from_value")
        spec = structures.spec_of(value)
        return Optional(OPTIONAL_FROM_VALUE(structures.to_components(spec, value)), spec)


@api("OptionalSpec", "data.experimental.OptionalStructure", dispatch=False)
class OptionalSpec(structures.ElementSpecified):
    """The spec of optionals.

    Args:
        element_spec: the spec of the value.
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return Optional

    @property
    def _component_specs(self):
        return TensorSpec([], dtypes.variant)

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        return Optional(components, self._element_spec)
