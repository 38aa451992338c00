"""`BoundedTensorSpec`: a dense tensor with a smallest and a largest value, as actions of agents have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.specs import TensorSpec


class BoundedTensorSpec(TensorSpec):
    """A `tf.TensorSpec` with bounds, each a number or an array that broadcasts to the shape.

    >>> from headrace._src.core.bounded_specs import BoundedTensorSpec
    >>> BoundedTensorSpec([2], tf.float32, 0, [1, 2]).maximum
    array([1., 2.], dtype=float32)

    Raises:
        ValueError: a bound is None, or has another shape.
    """

    __slots__ = ("_maximum", "_minimum")

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None):
        super().__init__(shape, dtype, name)
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which, given):
        if given is None:
            raise ValueError(f"`{which}` can not be None.")
        bound = np.array(given, dtype=self.dtype.as_numpy_dtype)
        if self.shape.rank is not None and not _broadcasts(bound.shape, self.shape.as_list()):
            raise ValueError(f"`{which}` {given} is not compatible with shape {self.shape}.")
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """A spec with the bounds of another one; where it has none, with those of its dtype."""
        dtype = dtypes.as_dtype(spec.dtype)  # also a spec of arrays, which has a dtype of NumPy's
        minimum = getattr(spec, "minimum", dtype.min)
        maximum = getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, minimum, maximum, name or spec.name)

    @property
    def minimum(self) -> np.ndarray:
        """The smallest value, of each element or of all."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The largest value."""
        return self._maximum

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """This spec if all others are the same; bounds have no common ones."""
        return self if all(self == other for other in others) else None

    def _with_shape(self, shape: Any) -> BoundedTensorSpec:
        return type(self)(shape, self.dtype, self._minimum, self._maximum, self.name)

    def __eq__(self, other: object) -> bool:
        return (
            super().__eq__(other)
            and isinstance(other, BoundedTensorSpec)
            and np.array_equal(self._minimum, other._minimum)
            and np.array_equal(self._maximum, other._maximum)
        )

    __hash__ = TensorSpec.__hash__

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )

    def _serialize(self) -> tuple:
        return (self.shape, self.dtype, self._minimum, self._maximum, self.name)


def _broadcasts(bound, sizes):
    """Whether an array of a shape broadcasts to another shape, in which sizes may be unknown."""
    if len(bound) > len(sizes):
        return False
    return all(size == 1 or there is None or size == there for size, there in zip(reversed(bound), reversed(sizes)))
