"""What is known about the matrix of a linear operator: its dtype, hints and shape."""

import contextlib
from typing import TYPE_CHECKING

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.dimensions import Dimension
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import size
from headrace._src.program.module import Module

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType


class DescribedMatrix(Module):
    """The part of `LinearOperator` that says what the matrix is like; see there for the arguments."""

    _TF_MODULE_IGNORED_PROPERTIES = Module._TF_MODULE_IGNORED_PROPERTIES | {"_parameters"}

    def __init__(
        self,
        dtype,
        graph_parents=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
        parameters=None,
    ) -> None:
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._is_square_set_or_implied_by_hints = is_square
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype)
        self._parameters = self._no_dependency(parameters)
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__
        self._scope_name = f"{self._name}/"

    # What is known about the matrix.

    @property
    def parameters(self) -> dict:
        """The arguments of the constructor, by name."""
        return dict(self._parameters or {})

    @property
    def dtype(self) -> "DType":
        """The dtype of the matrix."""
        return self._dtype

    @property
    def name(self) -> str:
        return self._name

    @property
    def graph_parents(self) -> list:
        """For compatibility: an empty list."""
        return []

    @property
    def is_non_singular(self) -> bool | None:
        """Whether the matrix has an inverse: True, False or None."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether the matrix is its own conjugate transpose: True, False or None."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether the matrix is positive definite: True, False or None."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether the matrix is square, by its shape or by hints: True, False or None."""
        hint = self._is_square_set_or_implied_by_hints
        found = self.domain_dimension == self.range_dimension
        if hint is False and found:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return found if hint is None else hint

    def _can_use_cholesky(self):
        return self.is_self_adjoint and self.is_positive_definite

    # Shapes.

    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self):
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The static shape, `[B1, ..., Bb, M, N]`."""
        return self._shape()

    def shape_tensor(self, name="shape_tensor") -> Tensor:
        """The shape as an int32 vector."""
        with self._name_scope(name):
            if self.shape.is_fully_defined():
                return to_tensor(self.shape.as_list(), dtypes.int32)
            return to_tensor(self._shape_tensor())

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape without the last two dimensions."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name="batch_shape_tensor") -> Tensor:
        """The shape without the last two dimensions, as an int32 vector."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return to_tensor(self.batch_shape.as_list(), dtypes.int32)
            return self._shape_tensor()[:-2]

    def _batch(self):
        """The batch shape as a tuple when it is known, otherwise as a vector."""
        return tuple(self.batch_shape.as_list()) if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()

    @property
    def tensor_rank(self) -> int:
        """The number of dimensions: an int, or None."""
        return self.shape.rank

    def tensor_rank_tensor(self, name="tensor_rank_tensor") -> Tensor:
        """The number of dimensions, as an int32 scalar."""
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return to_tensor(self.tensor_rank, dtypes.int32)
            return size(self.shape_tensor())

    @property
    def domain_dimension(self) -> Dimension:
        """The number of columns, as far as it is known."""
        return Dimension(None) if self.shape.rank is None else self.shape.dims[-1]

    def domain_dimension_tensor(self, name="domain_dimension_tensor") -> Tensor:
        """The number of columns, as an int32 scalar."""
        with self._name_scope(name):
            return to_tensor(self._columns(), dtypes.int32)

    @property
    def range_dimension(self) -> Dimension:
        """The number of rows, as far as it is known."""
        return Dimension(None) if self.shape.rank is None else self.shape.dims[-2]

    def range_dimension_tensor(self, name="range_dimension_tensor") -> Tensor:
        """The number of rows, as an int32 scalar."""
        with self._name_scope(name):
            return to_tensor(self._rows(), dtypes.int32)

    def _columns(self):
        """The number of columns: an int when it is known, otherwise a scalar."""
        known = self.domain_dimension.value
        return self.shape_tensor()[-1] if known is None else known

    def _rows(self):
        known = self.range_dimension.value
        return self.shape_tensor()[-2] if known is None else known

    def _name_scope(self, name=None):
        if context.graph is None:
            return contextlib.nullcontext()
        return name_scope(f"{self.name}/{name}" if name else self.name)
