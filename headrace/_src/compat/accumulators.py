"""`tf.compat.v1.ConditionalAccumulator`: gradients of several workers, added up until there are enough."""

import itertools
from typing import Any

from headrace._src.compat import accumulator_ops as ops
from headrace._src.core import dtypes
from headrace._src.core.context import context, outside_functions
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.indexed_slices import IndexedSlices

_numbers = itertools.count(1)


@api("compat.v1.ConditionalAccumulatorBase", dispatch=False)
class ConditionalAccumulatorBase:
    """What accumulators share.

    Args:
        dtype: of the gradients.
        shape: of the gradients; None: any.
        accumulator_ref: the resource tensor by which ops know the accumulator.
    """

    _counting: Any = ops.NUM_ACCUMULATED
    _stepping: Any = ops.SET_GLOBAL_STEP

    def __init__(self, dtype, shape, accumulator_ref) -> None:
        self._dtype = dtype
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        # TF: an accumulator made eagerly has this name.
        self._name = "" if isinstance(accumulator_ref, EagerTensor) else accumulator_ref.op.name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Tensor:
        """The resource tensor by which ops know the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the operation that makes it."""
        return self._name

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name=None) -> Tensor:
        """How many gradients were added since they were last taken."""
        return self._counting(self._accumulator_ref, name=name or f"{self._name}_NumAccumulated")

    def set_global_step(self, new_global_step, name=None) -> Any:
        """Say the step from which on gradients count; those of earlier steps are dropped.

        Args:
            new_global_step: the step.
            name: a name for the operation.
        """
        return self._stepping(self._accumulator_ref, _as_int64(new_global_step), name=name)


def _as_int64(numbers):
    """Numbers as int64."""
    numbers = to_tensor(numbers) if hasattr(numbers, "dtype") else to_tensor(numbers, dtypes.int64)
    return numbers if numbers.dtype == dtypes.int64 else CAST(numbers, DstT=dtypes.int64)


def _made(op, dtype, shape, shared_name, name, reduction_type):
    dtype = dtypes.as_dtype(dtype)
    if reduction_type not in ops.REDUCTIONS:
        raise ValueError(f"{name}: reduction_type must be MEAN or SUM, got {reduction_type!r}.")
    graph = outside_functions(context.graph)
    with context.changed(graph=graph):
        if graph is not None and not shared_name:
            shared_name = f"{name}_{next(_numbers)}"
        return dtype, op(dtype=dtype, shape=TensorShape(shape), shared_name=shared_name or "",
                         reduction_type=reduction_type, name=name)


@api("compat.v1.ConditionalAccumulator", dispatch=False)
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Gradients that are added up until somebody takes their mean, or their sum.

    Args:
        dtype: of the gradients.
        shape: of the gradients; None: any.
        shared_name: accumulators with the same shared name are the same, within a session.
        name: a name for the operation.
        reduction_type: "MEAN" or "SUM".

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     accumulator = tf.compat.v1.ConditionalAccumulator(tf.float32, shape=[2])
    ...     for gradient in ([1.0, 2.0], [3.0, 6.0]):
    ...         session.run(accumulator.apply_grad(gradient))
    ...     print(session.run(accumulator.take_grad(2)))
    [2. 4.]
    """

    def __init__(
        self, dtype, shape=None, shared_name=None, name="conditional_accumulator", reduction_type="MEAN"
    ) -> None:
        dtype, handle = _made(ops.CONDITIONAL_ACCUMULATOR, dtype, shape, shared_name, name, reduction_type)
        super().__init__(dtype, shape, handle)

    def apply_grad(self, grad, local_step=0, name=None) -> Any:
        """Add a gradient, unless it is of a step before the accumulator's.

        Args:
            grad: a tensor of the accumulator's dtype and shape.
            local_step: the step that it was computed in.
            name: a name for the operation.

        Raises:
            ValueError: it has another shape.
        """
        grad = to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return ops.APPLY_GRADIENT(self._accumulator_ref, _as_int64(local_step), grad, name=name)

    def take_grad(self, num_required, name=None) -> Tensor:
        """The mean (or sum) of the gradients, as soon as there are `num_required`; the accumulator is empty then, and
        its step one more.

        Raises:
            InvalidArgumentError: `num_required` is below 1.
        """
        found = ops.TAKE_GRADIENT(self._accumulator_ref, to_tensor(num_required, dtypes.int32), dtype=self._dtype,
                                  name=name)
        found.set_shape(self._shape)
        return found


@api("compat.v1.SparseConditionalAccumulator", "compat.v1.sparse.SparseConditionalAccumulator", dispatch=False)
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Gradients of some rows, added up until somebody takes them. A row is divided by how often it was added.

    Args:
        dtype: of the gradients.
        shape: of the whole; None: any.
        shared_name: accumulators with the same shared name are the same, within a session.
        name: a name for the operation.
        reduction_type: "MEAN" or "SUM".
    """

    _counting = ops.SPARSE_NUM_ACCUMULATED
    _stepping = ops.SPARSE_SET_GLOBAL_STEP

    def __init__(
        self, dtype, shape=None, shared_name=None, name="sparse_conditional_accumulator", reduction_type="MEAN"
    ) -> None:
        dtype, handle = _made(ops.SPARSE_CONDITIONAL_ACCUMULATOR, dtype, shape, shared_name, name, reduction_type)
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None) -> Any:
        """Add a gradient given as `tf.IndexedSlices`."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices, grad_values, grad_shape=None, local_step=0, name=None) -> Any:
        """Add rows, unless they are of a step before the accumulator's.

        Args:
            grad_indices: the numbers of the rows.
            grad_values: the rows.
            grad_shape: the shape of the whole, or None.
            local_step: the step that they were computed in.
            name: a name for the operation.
        """
        shape = [] if grad_shape is None else grad_shape
        return ops.SPARSE_APPLY_GRADIENT(
            self._accumulator_ref, _as_int64(local_step), _as_int64(grad_indices), to_tensor(grad_values, self._dtype),
            _as_int64(shape), has_known_shape=grad_shape is not None, name=name,
        )  # fmt: skip

    def take_grad(self, num_required, name=None) -> Any:
        """The numbers of the rows, the rows and the shape, as soon as there are `num_required` gradients.

        Raises:
            InvalidArgumentError: `num_required` is below 1.
        """
        return ops.SPARSE_TAKE_GRADIENT(self._accumulator_ref, to_tensor(num_required, dtypes.int32),
                                        dtype=self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required, name=None) -> IndexedSlices:
        """As `take_grad`, as `tf.IndexedSlices`."""
        found = self.take_grad(num_required, name)
        return IndexedSlices(values=found.values, indices=found.indices, dense_shape=found.shape)
