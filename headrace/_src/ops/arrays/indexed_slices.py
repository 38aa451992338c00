"""`IndexedSlices`: the gradient of a gather, some rows of a large tensor."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec, TypeSpec
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import register_tensor_conversion_function, to_tensor
from headrace._src.op.registry import lookup

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType


@api("IndexedSlices")
class IndexedSlices(CompositeTensor):
    """Slices `values[i]` of a tensor at positions `indices[i]` of its first axis; repeated positions add up.

    Args:
        values: the slices.
        indices: 1-D integers.
        dense_shape: the shape of the whole tensor, when it is known.
    """

    is_tensor_like = True

    def __init__(self, values, indices, dense_shape=None) -> None:
        self._values = to_tensor(values)
        self._indices = to_tensor(indices)
        self._dense_shape = None if dense_shape is None else to_tensor(dense_shape)

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The dense shape as far as it is known."""
        if self._dense_shape is None:
            return TensorShape(None)
        array = getattr(self._dense_shape, "_a", None)
        return TensorShape(None) if array is None else TensorShape(array.tolist())

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def op(self) -> Any:
        return self._values.op

    @property
    def dtype(self) -> "DType":
        return self._values.dtype

    @property
    def graph(self) -> Any:
        return self._values.graph

    def consumers(self) -> list:
        return self._values.consumers()

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self):
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    __repr__ = __str__

    @property
    def _type_spec(self):
        indices = self._indices.shape
        return IndexedSlicesSpec(
            self.shape,
            self.dtype,
            self._indices.dtype,
            None if self._dense_shape is None else self._dense_shape.dtype,
            indices,
        )


@api("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """The type of an `IndexedSlices`."""

    __slots__ = ("_dense_shape_dtype", "_dtype", "_indices_dtype", "_indices_shape", "_shape", "_values_shape")

    def __init__(
        self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64, dense_shape_dtype=None, indices_shape=None
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        return IndexedSlices

    def _serialize(self):
        return (self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape)

    @property
    def _component_specs(self):
        values_shape = self._indices_shape.concatenate(self._shape[1:])
        specs = (TensorSpec(values_shape, self._dtype), TensorSpec(self._indices_shape, self._indices_dtype))
        if self._dense_shape_dtype is not None:
            specs += (TensorSpec([self._shape.rank], self._dense_shape_dtype),)
        return specs

    def _to_components(self, value):
        if value.dense_shape is None:
            return (value.values, value.indices)
        return (value.values, value.indices, value.dense_shape)

    def _from_components(self, components):
        if all(isinstance(part, np.ndarray) for part in components) and not nest.flatten(components):
            raise ValueError("IndexedSlices has at least values and indices.")
        return IndexedSlices(*components)


def _to_dense(value, dtype=None, name=None, as_ref=False):
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype {value.dtype.name}."
        )
    if value.dense_shape is None:
        raise ValueError(f"Tensor conversion of IndexedSlices without dense_shape is not possible: {value}")
    rows = lookup("StridedSlice")(
        value.dense_shape, [0], [1], [1], begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
        shrink_axis_mask=1,
    )
    return lookup("UnsortedSegmentSum")(value.values, value.indices, rows, name=name)


register_tensor_conversion_function(IndexedSlices, _to_dense, priority=10)
