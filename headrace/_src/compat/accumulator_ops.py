"""The ops of accumulators: gradients are added up until somebody takes their mean."""

import threading
import weakref

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN

# How long a waiting thread sleeps before it looks for signals such as Ctrl-C.
_LOOK = 0.2
REDUCTIONS = ("MEAN", "SUM")
# Accumulators that were made under a name, to be found again under it as long as somebody has them.
_shared: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class Accumulator:
    """Gradients that were added up since they were last taken, and the step before which a gradient is out of date.

    Args:
        dtype: of the gradients.
        shape: of the gradients, as far as it is known.
        reduction: "MEAN" or "SUM".
    """

    def __init__(self, dtype, shape: TensorShape, reduction: str):
        self.dtype = dtype
        self._shape = shape
        self._mean = reduction == "MEAN"
        self._step = 0
        self._count = 0
        self._changed = threading.Condition()

    def count(self) -> int:
        """How many gradients were added since the last time."""
        with self._changed:
            return self._count

    def set_step(self, step: int) -> None:
        """Say which gradients are out of date."""
        with self._changed:
            self._step = step

    def _add_if_current(self, step, gradient):
        with self._changed:
            if step < self._step:
                return  # TF: a gradient of an earlier step is dropped without a word
            self._add(gradient, first=self._count == 0)
            self._count += 1
            self._changed.notify_all()

    def take(self, required: int):
        """What was added up, as soon as that were so many; begins anew with the next step."""
        if required < 1:
            raise errors.invalid_argument(f"num_required must be at least 1, got {required}.")
        with self._changed:
            while self._count < required:
                self._changed.wait(_LOOK)
            found = self._result(self._count if self._mean else 1)
            self._count = 0
            self._step += 1
            return found

    def _add(self, gradient, first):
        raise NotImplementedError

    def _result(self, divisor):
        raise NotImplementedError


class DenseAccumulator(Accumulator):
    """An accumulator of arrays."""

    def apply(self, step: int, gradient: np.ndarray) -> None:
        """Add a gradient unless it is out of date.

        Raises:
            InvalidArgumentError: it has another shape.
        """
        with self._changed:
            if not self._shape.is_compatible_with(gradient.shape):
                raise errors.invalid_argument(
                    f"Shape mismatch: the accumulator has shape {self._shape}, the gradient {gradient.shape}."
                )
        self._add_if_current(step, gradient)

    def _add(self, gradient, first):
        if first:
            self._sum = gradient.copy()
            # TF: what was said of the shape is filled up by the first gradient.
            self._shape = TensorShape(gradient.shape)
        else:
            self._sum = self._sum + gradient

    def _result(self, divisor):
        total, self._sum = self._sum, None
        return total if divisor == 1 else (total / divisor).astype(total.dtype)


class SparseAccumulator(Accumulator):
    """An accumulator of some rows of arrays. Each row is divided by how often it was added."""

    def apply(self, step: int, indices: np.ndarray, values: np.ndarray, shape: np.ndarray, has_shape: bool) -> None:
        """Add rows unless they are out of date.

        Raises:
            InvalidArgumentError: they do not fit to each other, or to the shape.
        """
        if indices.ndim != 1 or values.ndim < 1 or len(indices) != len(values):
            raise errors.invalid_argument(
                f"SparseAccumulatorApplyGradient: there must be a value for each index, got indices of shape "
                f"{indices.shape} and values of shape {values.shape}."
            )
        if not len(indices):
            raise errors.invalid_argument("SparseAccumulatorApplyGradient: the gradient has no rows.")
        if has_shape and not self._shape.is_compatible_with(tuple(shape)):
            raise errors.invalid_argument(
                f"Shape mismatch: the accumulator has shape {self._shape}, the gradient {tuple(shape)}."
            )
        if self._shape.rank is not None and not self._shape[1:].is_compatible_with(values.shape[1:]):
            raise errors.invalid_argument(
                f"Shape mismatch: the accumulator has rows of shape {self._shape[1:]}, the gradient {values.shape[1:]}."
            )
        self._add_if_current(step, (indices, values))

    def _add(self, gradient, first):
        if first:
            self._rows: dict = {}
        for index, row in zip(gradient[0].tolist(), gradient[1]):
            found = self._rows.get(index)
            self._rows[index] = (row.copy(), 1) if found is None else (found[0] + row, found[1] + 1)

    def _result(self, divisor):
        indices = sorted(self._rows)
        rows = [self._rows[index] for index in indices]
        self._rows = {}
        values = np.stack([row if divisor == 1 else (row / count).astype(row.dtype) for row, count in rows])
        known = self._shape.as_list()[1:] if self._shape.rank is not None else values.shape[1:]
        first = self._shape[0] if self._shape.rank is not None else None
        shape = [-1 if first is None else first, *[n if m is None else m for n, m in zip(values.shape[1:], known)]]
        return np.array(indices, np.int64), values, np.array(shape, np.int64)


def _making_op(name, kind):
    def kernel(dtype, shape, container, shared_name, reduction_type):
        if reduction_type not in REDUCTIONS:
            raise errors.invalid_argument(f"{name}: reduction_type must be MEAN or SUM, got {reduction_type!r}.")
        if not dtype.is_floating:
            raise errors.invalid_argument(f"{name}: gradients are floating numbers, got {dtype.name}.")
        if not shared_name:
            return kind(dtype, TensorShape(shape), reduction_type)
        resources = _shared if context.resources is None else context.resources  # a session keeps its own
        key = ("accumulator", container, shared_name)
        found = resources.get(key)
        return resources.setdefault(key, kind(dtype, TensorShape(shape), reduction_type)) if found is None else found

    return Op(
        name,
        "*, dtype: type, shape: shape, container: string = '', shared_name: string = '', "
        "reduction_type: string = 'MEAN' -> handle: resource",
        infer=lambda **attrs: SCALAR,
        kernel=kernel,
        lower=None,  # accumulators live on the host
        stateful=True,
        grad=None,
    )


def _accumulator(name, handle, kind=Accumulator):
    found = handle[()] if handle.ndim == 0 else None
    if not isinstance(found, kind):
        raise errors.invalid_argument(f"{name}: handle must be the handle of an accumulator.")
    return found


def _step(name, step):
    if step.ndim:
        raise errors.invalid_argument(f"{name}: the step must be a scalar, got shape {step.shape}.")
    return int(step)


def _using_op(name, text, infer, kernel, **types):
    return Op(
        name,
        f"handle: resource, {text}",
        infer=infer,
        kernel=kernel,
        lower=None,  # accumulators live on the host
        stateful=True,
        grad=None,
        quiet=False,  # it may wait for other threads
        **types,
    )


def _counting_op(name):
    return _using_op(
        name, "-> num_accumulated: int32", lambda handle: SCALAR,
        lambda handle: np.int32(_accumulator(name, handle).count()),
    )  # fmt: skip


def _stepping_op(name):
    return _using_op(
        name, "new_global_step: int64 -> ", lambda handle, new_global_step: (),
        lambda handle, new_global_step: _accumulator(name, handle).set_step(_step(name, new_global_step)),
    )  # fmt: skip


def _apply_dense(handle, local_step, gradient):
    name = "ResourceAccumulatorApplyGradient"
    _checked(name, _accumulator(name, handle, DenseAccumulator), gradient).apply(_step(name, local_step), gradient)


def _checked(name, accumulator, gradient):
    if gradient.dtype != accumulator.dtype._np:
        raise errors.invalid_argument(
            f"{name}: the accumulator is of {accumulator.dtype.name}, the gradient of {gradient.dtype}."
        )
    return accumulator


def _apply_sparse(handle, local_step, gradient_indices, gradient_values, gradient_shape, has_known_shape):
    name = "SparseAccumulatorApplyGradient"
    accumulator = _checked(name, _accumulator(name, handle, SparseAccumulator), gradient_values)
    accumulator.apply(_step(name, local_step), gradient_indices, gradient_values, gradient_shape, has_known_shape)


def _taken(name, kind):
    def kernel(handle, num_required, dtype):
        accumulator = _accumulator(name, handle, kind)
        if accumulator.dtype != dtype:
            raise errors.invalid_argument(
                f"{name}: the accumulator is of {accumulator.dtype.name}, asked for {dtype.name}."
            )
        return accumulator.take(_step(name, num_required))

    return kernel


CONDITIONAL_ACCUMULATOR = _making_op("ResourceConditionalAccumulator", DenseAccumulator)
SPARSE_CONDITIONAL_ACCUMULATOR = _making_op("SparseConditionalAccumulator", SparseAccumulator)
NUM_ACCUMULATED = _counting_op("ResourceAccumulatorNumAccumulated")
SPARSE_NUM_ACCUMULATED = _counting_op("AccumulatorNumAccumulated")
SET_GLOBAL_STEP = _stepping_op("ResourceAccumulatorSetGlobalStep")
SPARSE_SET_GLOBAL_STEP = _stepping_op("AccumulatorSetGlobalStep")
APPLY_GRADIENT = _using_op(
    "ResourceAccumulatorApplyGradient", "local_step: int64, gradient: dtype -> ",
    lambda handle, local_step, gradient: (), _apply_dense, dtype=dtypes.NUMBER,
)  # fmt: skip
TAKE_GRADIENT = _using_op(
    "ResourceAccumulatorTakeGradient", "num_required: int32, *, dtype: type -> average: dtype",
    lambda handle, num_required, dtype: UNKNOWN, _taken("ResourceAccumulatorTakeGradient", DenseAccumulator),
)  # fmt: skip
SPARSE_APPLY_GRADIENT = _using_op(
    "SparseAccumulatorApplyGradient",
    "local_step: int64, gradient_indices: int64, gradient_values: dtype, gradient_shape: int64, *, "
    "has_known_shape: bool -> ",
    lambda handle, local_step, gradient_indices, gradient_values, gradient_shape, has_known_shape: (), _apply_sparse,
    dtype=dtypes.NUMBER,
)  # fmt: skip
SPARSE_TAKE_GRADIENT = _using_op(
    "SparseAccumulatorTakeGradient",
    "num_required: int32, *, dtype: type -> indices: int64, values: dtype, shape: int64",
    lambda handle, num_required, dtype: (TensorShape([None]), UNKNOWN, TensorShape([None])),
    _taken("SparseAccumulatorTakeGradient", SparseAccumulator),
)  # fmt: skip
